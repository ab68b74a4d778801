"""Queries and relations, by the rules ``query``, ``queryTerm`` and ``relation``.

ORDER BY, LIMIT and samples are read, since the text must be Spark's, and dropped.
"""

from __future__ import annotations

from dataclasses import replace

from sqlrewrite.sql.types.cursor import CLAUSES, STRICT
from sqlrewrite.sql.types.expressions import Expressions
from sqlrewrite.sql.types.tokens import UnreadError
from sqlrewrite.sql.types.tree import (
    Alias,
    Body,
    Expr,
    Grouped,
    LateralView,
    Operation,
    Piped,
    Pivot,
    Row,
    Select,
    TableFunction,
    TableName,
    Transform,
    Unpivot,
    Values,
    WrittenCte,
    WrittenItem,
    WrittenJoin,
    WrittenLiteral,
    WrittenPiece,
    WrittenQuery,
    WrittenRelation,
    WrittenSetOperation,
    WrittenSubquery,
    WrittenTable,
    WrittenWindow,
)

_JOINS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("INNER",), "inner"),
    (("CROSS",), "cross"),
    (("LEFT", "OUTER"), "left"),
    (("LEFT", "SEMI"), "semi"),
    (("LEFT", "ANTI"), "anti"),
    (("LEFT",), "left"),
    (("SEMI",), "semi"),
    (("ANTI",), "anti"),
    (("RIGHT", "OUTER"), "right"),
    (("RIGHT",), "right"),
    (("FULL", "OUTER"), "full"),
    (("FULL",), "full"),
    ((), "inner"),
)
_WIDER = ("UNION", "EXCEPT", "MINUS", "SETMINUS")
_NO_ALIAS = CLAUSES | STRICT


class Queries(Expressions):
    """Reads queries."""

    def query(self) -> WrittenQuery:
        """A query with its common table expressions, and the pipe's operators behind it."""
        ctes: tuple[WrittenCte, ...] = ()
        recursive = False
        if self.take("WITH"):
            recursive = self.take("RECURSIVE")
            ctes = self.several(self._cte)
        body = self._set_operation()
        windows = self._organization()
        if windows and isinstance(body, Select):
            body = replace(body, windows=body.windows + windows)
        while self.take("|>"):
            body = self._pipe(body)
        return WrittenQuery(body, ctes, recursive)

    def _cte(self) -> WrittenCte:
        name = self.name()
        columns = self.parenthesized(self.name) if self.peek("(") and not self._holds() else ()
        if self.take("MAX", "RECURSION", "LEVEL"):
            self.primary()
        self.take("AS")
        self.need("(")
        query = self.query()
        self.need(")")
        return WrittenCte(name, columns, query)

    def _holds(self) -> bool:
        return self._query_behind(0)

    def _set_operation(self) -> Body:
        found = self._intersection()
        while True:
            operator = self.any_of(*_WIDER)
            if operator is None:
                return found
            self.any_of("DISTINCT", "ALL")
            found = WrittenSetOperation(
                operator, found, self._intersection(), self.take("BY", "NAME")
            )

    def _intersection(self) -> Body:
        found = self._primary_query()
        while self.take("INTERSECT"):
            self.any_of("DISTINCT", "ALL")
            found = WrittenSetOperation("INTERSECT", found, self._primary_query())
        return found

    def _primary_query(self) -> Body:
        if self.take("("):
            found = self.query()
            self.need(")")
            return found
        if self.peek("FROM"):
            return self._from_first()
        if self.take("TABLE"):
            return WrittenTable(TableName(self.reference(), Alias()))
        if self.peek("VALUES"):
            return WrittenTable(self._values())
        if self.peek("MAP") or self.peek("REDUCE"):
            return self._select(self._transform())
        if self.peek("SELECT", "TRANSFORM", "("):
            found_transform = self.tried(self._transform)
            if found_transform is not None:
                return self._select(found_transform)
        self.need("SELECT")
        self.any_of("DISTINCT", "ALL")
        return self._select(None)

    def _select(self, transform: Transform | None) -> Select:
        items = () if transform is not None else self.several(self.item)
        source = self._from() if self.take("FROM") else None
        return self._rest(items, source, transform)

    def _rest(
        self,
        items: tuple[WrittenItem, ...],
        source: WrittenRelation | None,
        transform: Transform | None,
    ) -> Select:
        """What follows the relations of a SELECT."""
        while self.peek("LATERAL", "VIEW"):
            source = self._lateral_view(source or Values((), Alias()))
        conditions: list[Expr] = []
        if self.take("WHERE"):
            conditions.append(self.expression())
        groups = self._groups() if self.take("GROUP", "BY") else ()
        if self.take("HAVING"):
            conditions.append(self.expression())
        windows = self._windows() if self.take("WINDOW") else ()
        return Select(items, source, windows, groups, tuple(conditions), transform)

    def _from_first(self) -> Body:
        """``FROM t SELECT …``, or a bare ``FROM t``."""
        self.need("FROM")
        source = self._from()
        if self.take("SELECT"):
            self.any_of("DISTINCT", "ALL")
            return self._rest(self.several(self.item), source, None)
        if self.peek("MAP") or self.peek("REDUCE"):
            return self._rest((), source, self._transform())
        if self.token.kind == "end" or self.peek("|>") or self.peek(")"):
            return WrittenTable(source)
        raise UnreadError("a FROM without SELECT")

    def _organization(self) -> tuple[tuple[str, WrittenWindow], ...]:
        """ORDER BY and all that may follow it; the windows that it names."""
        if self.take("ORDER", "BY"):
            self.several(self.sort_key)
        if self.take("CLUSTER", "BY"):
            self.several(self.expression)
        if self.take("DISTRIBUTE", "BY"):
            self.several(self.expression)
        if self.take("SORT", "BY"):
            self.several(self.sort_key)
        windows = self._windows() if self.take("WINDOW") else ()
        if self.take("LIMIT") and not self.take("ALL"):
            self.expression()
        if self.take("OFFSET"):
            self.expression()
        return windows

    def _windows(self) -> tuple[tuple[str, WrittenWindow], ...]:
        def one() -> tuple[str, WrittenWindow]:
            name = self.name()
            self.need("AS")
            return name, self.window()

        return self.several(one)

    def _groups(self) -> tuple[Expr, ...]:
        """The keys of GROUP BY, those of its grouping sets too."""
        found: list[Expr] = []

        def key() -> None:
            if self.any_of("ROLLUP", "CUBE") or self.take("GROUPING", "SETS"):
                sets()
            elif self.take("(", ")"):
                pass
            else:
                it = self.expression()
                found.extend([i.value for i in it.items] if isinstance(it, Row) else [it])

        def sets() -> None:
            self.parenthesized(key)

        self.several(key)
        if self.take("WITH"):
            if not self.any_of("ROLLUP", "CUBE"):
                raise UnreadError("ROLLUP or CUBE wanted")
        elif self.take("GROUPING", "SETS"):
            sets()
        return tuple(found)

    def _transform(self) -> Transform:
        if self.take("SELECT"):
            self.need("TRANSFORM", "(")
            self.any_of("DISTINCT", "ALL")
            self.several(self.expression)
            self.need(")")
        else:
            self.any_of("MAP", "REDUCE")
            self.several(self.expression)
        self._row_format()
        self.need("USING")
        self.string()
        if not self.take("AS"):
            self._row_format()
            return Transform(None)
        closed = self.take("(")
        columns = self.several(self._script_column)
        if closed:
            self.need(")")
        self._row_format()
        return Transform(columns)

    def _script_column(self) -> tuple[str, str | None]:
        name = self.name()
        if self.token.kind == "word" and self.token.word not in ("FROM", "ROW", "WHERE"):
            return name, self.type_text()
        return name, None

    def _row_format(self) -> None:
        if not self.take("ROW", "FORMAT"):
            return
        while not (self.peek("USING") or self.peek("FROM") or self.peek("AS") or self.peek(")")):
            if self.token.kind == "end":
                return
            self.at += 1

    # --- relations --------------------------------------------------------------------------------

    def reference(self) -> tuple[str, ...]:
        """``identifierReference``: the name of a table."""
        if self.peek("IDENTIFIER", "("):
            raise UnreadError("a computed name")
        return self.qualified()

    def _from(self) -> WrittenRelation:
        found = self._relation()
        while self.take(","):
            found = WrittenJoin(found, self._relation(), "cross")
        while self.peek("LATERAL", "VIEW"):
            found = self._lateral_view(found)
        return self._extended(found)

    def _relation(self) -> WrittenRelation:
        lateral = self.peek("LATERAL") and not self.peek("LATERAL", "VIEW") and self.take("LATERAL")
        return self._extended(self._relation_primary(bool(lateral)))

    def _extended(self, found: WrittenRelation) -> WrittenRelation:
        """A relation with the joins and pivots that follow it."""
        while True:
            if self.peek("PIVOT", "("):
                found = self._pivot(found)
            elif self.peek("UNPIVOT"):
                found = self._unpivot(found)
            else:
                joined = self._join(found)
                if joined is None:
                    return found
                found = joined

    def _join(self, left: WrittenRelation) -> WrittenRelation | None:
        before = self.at
        natural = self.take("NATURAL")
        kind = next(kind for words, kind in _JOINS if not words or self.take(*words))
        if not self.take("JOIN"):
            self.at = before
            return None
        right = self._relation_primary(self.take("LATERAL"))
        using: tuple[str, ...] = ()
        condition = None
        if self.take("ON"):
            condition = self.expression()
        elif self.take("USING"):
            using = self.parenthesized(self.name)
        return WrittenJoin(left, right, kind, natural, using, condition)

    def _relation_primary(self, lateral: bool) -> WrittenRelation:
        if self.peek("("):
            return self._in_parentheses(lateral)
        if self.peek("VALUES") and self.ahead(1).text != ".":
            return self._values()
        if self.token.kind not in self.names:
            raise UnreadError(f"a relation wanted at {self.token.start}")
        parts = self.reference()
        if self.peek("("):
            return TableFunction(self.call(parts), self._alias())
        self.take("FOR")
        if self.any_of("VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME"):
            self.need("AS", "OF")
            self.value()
        self._sample()
        return TableName(parts, self._alias())

    def _in_parentheses(self, lateral: bool) -> WrittenRelation:
        def derived() -> WrittenRelation:
            self.need("(")
            query = self.query()
            self.need(")")
            self._sample()
            return WrittenSubquery(query, self._alias(), lateral)

        def grouped() -> WrittenRelation:
            self.need("(")
            relation = self._relation()
            self.need(")")
            self._sample()
            return Grouped(relation, self._alias())

        found = self.tried(derived)
        return grouped() if found is None else found

    def _alias(self) -> Alias:
        name = self.alias_name(_NO_ALIAS)
        if name is None:
            return Alias()
        return Alias(name, self.parenthesized(self.name) if self.peek("(") else ())

    def _sample(self) -> None:
        if not self.take("TABLESAMPLE"):
            return
        if not self.peek("("):
            raise UnreadError("a sample without its size")
        self.until_closed()
        if self.take("REPEATABLE"):
            self.until_closed()

    def _values(self) -> Values:
        self.need("VALUES")
        return Values(self.several(self.expression), self._alias())

    def _lateral_view(self, source: WrittenRelation) -> WrittenRelation:
        self.need("LATERAL", "VIEW")
        self.take("OUTER")
        call = self.call(self.qualified())
        table = self.name()
        columns: tuple[str, ...] = ()
        if self.take("AS") or (self.token.kind in self.names and self.token.word not in _NO_ALIAS):
            columns = self.several(self.name)
        return LateralView(source, call, table, columns)

    def _pivot(self, source: WrittenRelation) -> WrittenRelation:
        self.need("PIVOT", "(")
        aggregates = self.several(self.item)
        self.need("FOR")
        columns = self.parenthesized(self.name) if self.peek("(") else (self.name(),)
        self.need("IN")
        values = self.parenthesized(self.item)
        self.need(")")
        return Pivot(source, aggregates, columns, values, self._alias())

    def _unpivot(self, source: WrittenRelation) -> WrittenRelation:
        self.need("UNPIVOT")
        if self.any_of("INCLUDE", "EXCLUDE"):
            self.need("NULLS")
        self.need("(")
        several = self.peek("(")
        values = self.parenthesized(self.name) if several else (self.name(),)
        self.need("FOR")
        name = self.name()
        self.need("IN")

        def one() -> tuple[tuple[str, ...], ...]:
            found = self.parenthesized(self.qualified) if several else (self.qualified(),)
            self.alias_name(_NO_ALIAS)
            return found

        sets = self.parenthesized(one)
        self.need(")")
        return Unpivot(source, values, name, sets, self._alias())

    # --- pipe syntax ------------------------------------------------------------------------------

    def _pipe(self, source: Body) -> Body:
        """One operator of the pipe syntax."""
        if self.take("SELECT"):
            self.any_of("DISTINCT", "ALL")
            items = self.several(self.item)
            windows = self._windows() if self.take("WINDOW") else ()
            return Piped(source, "SELECT", items, windows=windows)
        if self.take("EXTEND"):
            return Piped(source, "EXTEND", self.several(self.item))
        if self.take("SET"):
            assigned = self.several(self.expression)
            return Piped(source, "SET", tuple(map(_assignment, assigned)))
        if self.take("DROP"):
            return Piped(source, "DROP", names=self.several(self.name))
        if self.take("AS"):
            return Piped(source, "AS", names=(self.name(),))
        if self.take("AGGREGATE"):
            items = () if self.peek("GROUP") else self.several(self.item)
            groups = self.several(self.item) if self.take("GROUP", "BY") else ()
            return Piped(source, "AGGREGATE", items, groups)
        if self.take("WHERE"):
            self.expression()
            return Piped(source, "WHERE")
        operator = self.any_of("INTERSECT", *_WIDER)
        if operator is not None:
            self.any_of("DISTINCT", "ALL")
            return WrittenSetOperation(operator, source, self._primary_query())
        if self.peek("TABLESAMPLE"):
            self._sample()
            return Piped(source, "WHERE")
        before = self.at
        self._organization()
        if self.at > before:
            return Piped(source, "WHERE")
        relation = self._extended(WrittenPiece())
        if self.at == before:
            raise UnreadError("an unknown operator of the pipe syntax")
        return Piped(source, "RELATION", relation=relation)


def _assignment(it: Expr) -> WrittenItem:
    """``a = expression`` of SET; the first ``=`` assigns."""
    if isinstance(it, Operation) and it.operator == "=":
        left, right = it.operands
        if not isinstance(left, WrittenLiteral | Operation):
            return WrittenItem(right, (getattr(left, "text", ""),))
    raise UnreadError("an assignment wanted")
