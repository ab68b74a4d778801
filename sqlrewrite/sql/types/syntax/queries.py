"""Queries, by Spark's rules ``query`` and ``queryTerm``.

ORDER BY and LIMIT are read, since the text must be Spark's, and dropped.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sqlrewrite.sql.types.syntax import tree
from sqlrewrite.sql.types.syntax.cursor import WORD, UnsupportedSyntaxError
from sqlrewrite.sql.types.syntax.relations import RelationReader

ScriptColumns = tuple[tuple[str, str | None], ...]
_WIDER = ("UNION", "EXCEPT", "MINUS", "SETMINUS")


class QueryReader(RelationReader):
    """Reads queries."""

    def query(self) -> tree.WrittenQuery:
        """A query with its common table expressions, and the pipe's operators behind it."""
        ctes: tuple[tree.WrittenCte, ...] = ()
        recursive = False
        if self.take("WITH"):
            recursive = self.take("RECURSIVE")
            ctes = self.comma_separated(self._cte)
        body = self._set_operation()
        windows = self._organization()
        if windows and isinstance(body, tree.Select):
            body = replace(body, windows=body.windows + windows)
        while self.take("|>"):
            body = self._pipe(body)
        return tree.WrittenQuery(body, ctes, recursive)

    def _cte(self) -> tree.WrittenCte:
        name = self.name()
        columns = (
            self.parenthesized(self.name) if self.peek("(") and not self._query_behind(0) else ()
        )
        if self.take("MAX", "RECURSION", "LEVEL"):
            self.primary()
        self.take("AS")
        return tree.WrittenCte(name, columns, self.in_parentheses(self.query))

    def _set_operation(self) -> tree.Body:
        found = self._intersection()
        while True:
            if self.any_of(*_WIDER) is None:
                return found
            self.any_of("DISTINCT", "ALL")
            found = tree.WrittenSetOperation(found, self._intersection(), self.take("BY", "NAME"))

    def _intersection(self) -> tree.Body:
        found = self._primary_query()
        while self.take("INTERSECT"):
            self.any_of("DISTINCT", "ALL")
            found = tree.WrittenSetOperation(found, self._primary_query())
        return found

    def _primary_query(self) -> tree.Body:
        if self.peek("("):
            return self.in_parentheses(self.query)
        if self.peek("FROM"):
            return self._from_first()
        if self.take("TABLE"):
            return tree.TableName(self.reference())
        if self.peek("VALUES"):
            return self.values()
        if self.peek("MAP") or self.peek("REDUCE"):
            return self._select(self._transform())
        if self.peek("SELECT", "TRANSFORM", "("):
            script = self.attempt(self._transform)
            if script is not None:
                return self._select(script)
        self.expect("SELECT")
        self.any_of("DISTINCT", "ALL")
        return self._select(None)

    def _select(self, script: ScriptColumns | None) -> tree.Select:
        items = () if script is not None else self.comma_separated(self.item)
        source = self.source() if self.take("FROM") else None
        return self._rest(items, source, script)

    def _rest(
        self,
        items: tuple[tree.WrittenItem, ...],
        source: tree.WrittenRelation | None,
        script: ScriptColumns | None,
    ) -> tree.Select:
        """What follows the relations of a SELECT."""
        while self.peek("LATERAL", "VIEW"):
            source = self.lateral_view(source or tree.Values(()))
        conditions: list[tree.Expr] = []
        if self.take("WHERE"):
            conditions.append(self.expression())
        groups = self._groups() if self.take("GROUP", "BY") else ()
        if self.take("HAVING"):
            conditions.append(self.expression())
        windows = self._windows() if self.take("WINDOW") else ()
        return tree.Select(items, source, windows, groups, tuple(conditions), script)

    def _from_first(self) -> tree.Body:
        """``FROM t SELECT …``, or a bare ``FROM t``."""
        self.expect("FROM")
        source = self.source()
        if self.take("SELECT"):
            self.any_of("DISTINCT", "ALL")
            return self._rest(self.comma_separated(self.item), source, None)
        if self.peek("MAP") or self.peek("REDUCE"):
            return self._rest((), source, self._transform())
        if self.token.kind is None or self.peek("|>") or self.peek(")"):
            return source
        raise UnsupportedSyntaxError("a FROM without SELECT")

    def _organization(self) -> tuple[tuple[str, tree.WrittenWindow], ...]:
        """The windows that a query names behind its body, where ORDER BY and LIMIT stand."""
        if self.take("ORDER", "BY"):
            self.comma_separated(self.sort_key)
        if self.take("CLUSTER", "BY"):
            self.comma_separated(self.expression)
        if self.take("DISTRIBUTE", "BY"):
            self.comma_separated(self.expression)
        if self.take("SORT", "BY"):
            self.comma_separated(self.sort_key)
        windows = self._windows() if self.take("WINDOW") else ()
        if self.take("LIMIT") and not self.take("ALL"):
            self.expression()
        if self.take("OFFSET"):
            self.expression()
        return windows

    def _windows(self) -> tuple[tuple[str, tree.WrittenWindow], ...]:
        def one() -> tuple[str, tree.WrittenWindow]:
            name = self.name()
            self.expect("AS")
            return name, self.window()

        return self.comma_separated(one)

    def _groups(self) -> tuple[tree.Expr, ...]:
        """The keys of GROUP BY, those of its grouping sets too."""
        found: list[tree.Expr] = []

        def key() -> None:
            if self.any_of("ROLLUP", "CUBE") or self.take("GROUPING", "SETS"):
                sets()
            elif self.take("(", ")"):
                pass
            else:
                it = self.expression()
                found.extend(
                    [i.value for i in it.items] if isinstance(it, tree.WrittenRow) else [it]
                )

        def sets() -> None:
            self.parenthesized(key)

        self.comma_separated(key)
        if self.take("WITH"):
            if not self.any_of("ROLLUP", "CUBE"):
                raise UnsupportedSyntaxError("ROLLUP or CUBE wanted")
        elif self.take("GROUPING", "SETS"):
            sets()
        return tuple(found)

    def _transform(self) -> ScriptColumns:
        if self.take("SELECT"):
            self.expect("TRANSFORM", "(")
            self.any_of("DISTINCT", "ALL")
            self.comma_separated(self.expression)
            self.expect(")")
        else:
            self.any_of("MAP", "REDUCE")
            self.comma_separated(self.expression)
        self._row_format()
        self.expect("USING")
        self.string()
        if not self.take("AS"):
            self._row_format()
            return ()
        closed = self.take("(")
        columns = self.comma_separated(self._script_column)
        if closed:
            self.expect(")")
        self._row_format()
        return columns

    def _script_column(self) -> tuple[str, str | None]:
        name = self.name()
        if self.token.kind == WORD and self.token.word not in ("FROM", "ROW", "WHERE"):
            return name, self.type_text()
        return name, None

    def _row_format(self) -> None:
        if not self.take("ROW", "FORMAT"):
            return
        while not (self.peek("USING") or self.peek("FROM") or self.peek("AS") or self.peek(")")):
            if self.token.kind is None:
                return
            self.at += 1

    def _pipe(self, source: tree.Body) -> tree.Body:
        """One operator of the pipe syntax."""
        if self.take("SELECT"):
            self.any_of("DISTINCT", "ALL")
            items = self.comma_separated(self.item)
            windows = self._windows() if self.take("WINDOW") else ()
            return tree.Piped(source, "SELECT", items, windows=windows)
        if self.take("EXTEND"):
            return tree.Piped(source, "EXTEND", self.comma_separated(self.item))
        if self.take("SET"):
            assigned = self.comma_separated(self.expression)
            return tree.Piped(source, "SET", tuple(map(_assignment, assigned)))
        if self.take("DROP"):
            return tree.Piped(source, "DROP", names=self.comma_separated(self.name))
        if self.take("AS"):
            return tree.Piped(source, "AS", names=(self.name(),))
        if self.take("AGGREGATE"):
            items = () if self.peek("GROUP") else self.comma_separated(self.item)
            groups = self.comma_separated(self.item) if self.take("GROUP", "BY") else ()
            return tree.Piped(source, "AGGREGATE", items, groups)
        if self.take("WHERE"):
            self.expression()
            return tree.Piped(source, "WHERE")
        if self.any_of("INTERSECT", *_WIDER):
            self.any_of("DISTINCT", "ALL")
            return tree.WrittenSetOperation(source, self._primary_query())
        if self.peek("TABLESAMPLE"):
            self.sample()
            return tree.Piped(source, "WHERE")
        before = self.at
        self._organization()
        if self.at > before:
            return tree.Piped(source, "WHERE")
        relation = self.extended(tree.PipeInput())
        if self.at == before:
            raise UnsupportedSyntaxError("an unknown operator of the pipe syntax")
        return tree.Piped(source, "RELATION", relation=relation)


@lru_cache(maxsize=8)
def query_in(text: str, double_quoted: bool = False) -> tree.WrittenQuery:
    """The tree of a text that is one query; kept, since it is typed under several settings.

    Raises UnsupportedSyntaxError.
    """
    reader = QueryReader(text, double_quoted=double_quoted)
    query = reader.query()
    if reader.token.kind is not None:
        raise UnsupportedSyntaxError(f"more than a query at {reader.token.start}")
    return query


def _assignment(it: tree.Expr) -> tree.WrittenItem:
    """``a = expression`` of SET; the first ``=`` assigns."""
    if isinstance(it, tree.Operation) and it.operator == "=":
        left, right = it.operands
        if not isinstance(left, tree.WrittenLiteral | tree.Operation):
            return tree.WrittenItem(right, (getattr(left, "text", ""),))
    raise UnsupportedSyntaxError("an assignment wanted")
