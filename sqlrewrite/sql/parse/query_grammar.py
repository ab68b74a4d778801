"""Spark's grammar of statements and queries, where sqlglot's differs or lacks a rule.

``dmlStatementNoWith`` and ``queryPrimary`` of SqlBaseParser.g4: the targets of INSERT, and queries
that begin with FROM. Of the latter each SELECT is a query of its own over a copy of the one FROM:
Spark makes a UNION ALL of the SELECTs, and of the INSERTs one statement that runs them all
(AstBuilder.visitFromStatement, visitMultiInsertQuery).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import TokenType, exp

from sqlrewrite.sql.parse.expression_grammar import ExpressionParser
from sqlrewrite.sql.parse.spans import FROM_END, SPAN

SELECT_OFFSET = "select offset"
"""The key in the ``meta`` of a SELECT behind its FROM: the offset of its word SELECT."""

SHARED = "shared"
"""The key in the ``meta`` of a SELECT that shares its FROM with others, and of each derived table
in that FROM: the same value in all copies of one text."""

NO_WHERE = "no where"
"""The key in the ``meta`` of a SELECT whose text has no place for a new WHERE; the value says
why."""

BARE = "FROM without SELECT takes no WHERE: write SELECT * FROM"

_ENDS = ("order", "sort", "cluster", "distribute", "limit", "offset")
_NOT_OF_TABLE = ("joins", "laterals", "where", "group", "having", "qualify")
_DIRECTORY = ("OVERWRITE", "LOCAL", "DIRECTORY")
_WORDS = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_NO_QUERY = _WORDS | {TokenType.NUMBER, TokenType.STRING, TokenType.CASE}
_BEHIND_STREAM = _WORDS | {TokenType.DOT, TokenType.ALIAS, TokenType.L_PAREN}


_Clause = tuple[str, exp.Expr | list[exp.Expr] | None]


def _placed_clause(parse: Callable[[Any], _Clause]) -> Callable[[Any], _Clause]:
    """A function that parses a clause as ``parse`` does, and notes its span."""

    def placed(parser: QueryParser) -> _Clause:
        start = parser._curr.start
        name, clause = parse(parser)
        for node in clause if isinstance(clause, list) else (clause,):
            parser._placed(start, node)
        return name, clause

    return placed


class QueryParser(ExpressionParser):
    """Reads statements and queries; see the module."""

    QUERY_MODIFIER_PARSERS: ClassVar[dict[TokenType, Any]] = {
        kind: _placed_clause(parse)
        for kind, parse in ExpressionParser.QUERY_MODIFIER_PARSERS.items()
    }

    def _warn_unsupported(self) -> None:
        """Does nothing, where sqlglot logs syntax that it does not parse: our reports name it."""

    def _parse_insert(self) -> exp.Insert | exp.MultitableInserts:
        index = self._index
        words = [word for word in _DIRECTORY if self._match_text_seq(word)]
        if words[:1] + words[-1:] != ["OVERWRITE", "DIRECTORY"]:
            self._retreat(index)
            return super()._parse_insert()
        target = self._directory("LOCAL" in words)
        query = self._parse_derived_table_values() or self._parse_ddl_select()
        return exp.Insert(this=target, overwrite=True, expression=query)

    def _directory(self, local: bool) -> exp.Expr:
        """A directory with the format of its files: of a data source, or of Hive."""
        path = self._parse_string()
        if not self._match(TokenType.USING):
            rows = self._parse_row_format(match_row=True)
            stored = self._match_text_seq("STORED") and self._parse_stored()
            return exp.Directory(this=path, local=local, row_format=rows or stored)
        self._parse_table_parts()
        options = self._match_text_seq("OPTIONS") and self._parse_wrapped_csv(self._option)
        return exp.Directory(this=path, local=local, row_format=exp.Tuple(expressions=options))

    def _option(self) -> exp.Expr | None:
        """The value of an option: ``'sep' '\\t'``, ``header = true``, ``a.b 1``."""
        if self._parse_string() is None:
            self._parse_table_parts()
        self._match(TokenType.EQ)
        return self._parse_unary()

    def _parse_insert_table(self) -> exp.Expr | None:
        computed = self._curr.text.upper() == "IDENTIFIER"
        if computed and self._next.token_type is TokenType.L_PAREN:
            target: exp.Expr | None = exp.Table(this=self._parse_function())
            if target is not None and self._curr.token_type is TokenType.PARTITION:
                target.set("partition", self._parse_partition())
            target = self._parse_schema(this=target)
        else:
            target = super()._parse_insert_table()
        self._parse_exists(not_=True)  # PARTITION (…) IF NOT EXISTS
        return target

    def _parse_table(self, *args: Any, **options: Any) -> exp.Expr | None:
        """A table. ``STREAM t AS a`` and ``STREAM f(…)`` are read as what they mean, ``STREAM(t)``
        and ``STREAM(f(…))``; ``STREAM t`` is read as an alias (``streamed`` in
        ``bind/trees.py``)."""
        if self._curr.text.upper() != "STREAM" or self._next.token_type not in _WORDS:
            return super()._parse_table(*args, **options)
        behind = self._tokens[self._index + 2 : self._index + 3]
        if not behind or behind[0].token_type not in _BEHIND_STREAM:
            return super()._parse_table(*args, **options)
        self._advance()
        table = super()._parse_table(*args, **options)
        if isinstance(table, exp.Table):
            what = table.this
            if isinstance(what, exp.Identifier):
                keys = {"table": "db", "db": "catalog"}
                parts = {column: table.args.get(key) for column, key in keys.items()}
                what = exp.Column(this=what, **parts)
                table.set("db", None)
                table.set("catalog", None)
            table.set("this", exp.Anonymous(this="stream", expressions=[what]))
        return table

    def _parse_derived_table_values(self, *args: Any, **options: Any) -> exp.Values | None:
        start = self._curr
        values = super()._parse_derived_table_values(*args, **options)
        if values is not None and values.expressions:
            end = values.expressions[-1].meta[SPAN][1]
            if start.token_type is TokenType.L_PAREN:  # it closes right behind the last row
                end = next(token.end + 1 for token in self._tokens if token.start >= end)
            values.meta[SPAN] = start.start, end
        return values

    def _parse_value(self, values: bool = True) -> exp.Tuple | None:
        """A row of VALUES. An alias after a row without parentheses is that of all rows."""
        start = self._curr.start
        if self._curr.token_type is TokenType.L_PAREN:
            row = super()._parse_value(values)
        else:
            cell = self._parse_assignment()
            row = exp.Tuple(expressions=[cell]) if cell is not None else None
        return self._placed(start, row)

    def _parse_select_query(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
    ) -> exp.Expr | None:
        if self._curr.token_type in _NO_QUERY:
            return None
        if self._is_table_query():
            query = self._table_statement()
        elif self._curr.token_type is TokenType.FROM:
            query = self._from_statement()
        else:
            return super()._parse_select_query(
                nested, table, parse_subquery_alias, parse_set_operation
            )
        if parse_set_operation and isinstance(query, exp.Query):
            return self._parse_set_operations(query)
        return query

    def _parse_query_modifiers(self, this: Any) -> Any:
        """The clauses after the list of a SELECT, or after another query."""
        if isinstance(this, exp.Select) and FROM_END in this.meta:
            # sqlglot would add joins behind WHERE to the FROM, which Spark's grammar refuses.
            behind = self._curr
            if next(self._parse_joins(), None) or self._parse_lateral():
                self.raise_error("Expected the end of the query, not more of its FROM", behind)
        elif isinstance(this, exp.Select):
            for join in self._parse_joins():
                this.append("joins", join)
            for lateral in iter(self._parse_lateral, None):
                this.append("laterals", lateral)
            this.meta[FROM_END] = self._prev.end + 1
        return super()._parse_query_modifiers(this)

    def _parse_from(self, *args: Any, **options: Any) -> exp.From | None:
        start = self._curr.start
        from_: exp.From | None = super()._parse_from(*args, **options)
        return self._placed(start, from_)

    def _parse_statement(self) -> exp.Expr | None:
        if self._is_table_query():
            query: exp.Expr | None = self._parse_query_modifiers(self._parse_select())
            return query
        if self._match(TokenType.REPLACE):
            return self._parse_create()
        if self._match_pair(TokenType.ALTER, TokenType.VIEW):
            view, _ = self._parse_table_parts(), self._match(TokenType.ALIAS)
            return exp.Create(this=view, kind="VIEW", expression=self._parse_ddl_select())
        return super()._parse_statement()

    def _parse_wrapped_select(self, table: bool = False) -> exp.Expr | None:
        if self._is_table_query():
            select = self._parse_select(nested=True, parse_set_operation=False)
            query: exp.Expr | None = self._parse_query_modifiers(self._parse_set_operations(select))
            return query
        return super()._parse_wrapped_select(table)

    def _is_table_query(self) -> bool:
        name = self._next.token_type
        table = self._curr.token_type is TokenType.TABLE
        return table and (name is TokenType.IDENTIFIER or name in self.ID_VAR_TOKENS)

    def _table_statement(self) -> exp.Expr:
        """``TABLE t``, read as SELECT * FROM t."""
        self._advance()
        select = exp.Select(
            expressions=[exp.Star()], from_=exp.From(this=self._parse_table_parts())
        )
        select.meta[NO_WHERE] = "TABLE t takes no WHERE: write SELECT * FROM t"
        self._parse_query_modifiers(select)
        if any(select.args.get(key) for key in _NOT_OF_TABLE):
            self.raise_error("Expected the end of TABLE t, or ORDER BY or LIMIT")
        return select

    def _from_statement(self) -> exp.Expr:
        """``FROM …`` with the SELECTs or INSERTs after it, each of which gets the FROM as its
        own."""
        start = self._curr.start
        relations = exp.Select(from_=self._parse_from(), joins=list(self._parse_joins()))
        relations.set("laterals", list(iter(self._parse_lateral, None)))
        if self._curr.token_type is TokenType.INSERT:
            return self._inserts(relations, start)
        bodies: list[exp.Expr] = []
        while self._begins_body():
            bodies.append(self._body())
        if not bodies:  # FROM t alone
            relations.set("expressions", [exp.Star()])
            relations.meta[NO_WHERE] = BARE
            return relations
        return _all_of(_over(relations, bodies, start))

    def _inserts(self, relations: exp.Select, start: int) -> exp.Insert:
        """Several INSERT … SELECT …: one statement that runs all of their queries."""
        bodies: list[exp.Expr] = []
        targets: list[exp.Expr | None] = []
        while self._match(TokenType.INSERT):
            self._match(TokenType.OVERWRITE) or self._match(TokenType.INTO)
            if self._match_text_seq("DIRECTORY"):
                targets.append(self._directory(False))
            else:
                self._match(TokenType.TABLE)
                targets.append(self._parse_insert_table())
                self._match_text_seq("BY", "NAME")
            if not self._begins_body():
                self.raise_error("Expected SELECT after the target of INSERT")
            bodies.append(self._body())
        query = _all_of(_over(relations, bodies, start))
        return exp.Insert(this=exp.Tuple(expressions=targets), expression=query)

    def _begins_body(self) -> bool:
        return self._curr.token_type is TokenType.SELECT or self._begins_script()

    def _begins_script(self) -> bool:
        word = self._curr.text.upper()
        return word in _SCRIPTS and self._next.token_type is not TokenType.L_PAREN

    def _script(self) -> exp.Expr:
        """``MAP a, b USING '…' AS (…)`` or REDUCE: TRANSFORM by another name."""
        self._advance()
        transform = exp.QueryTransform(expressions=self._parse_csv(self._parse_lambda))
        transform.set("row_format_before", self._parse_row_format(match_row=True))
        if self._match_text_seq("RECORDWRITER"):
            transform.set("record_writer", self._parse_string())
        if not self._match(TokenType.USING):
            self.raise_error("Expected USING after the values that a script reads")
        transform.set("command_script", self._parse_string())
        if self._match(TokenType.ALIAS):
            wrapped = self._curr.token_type is TokenType.L_PAREN
            fields = None if wrapped else self._parse_csv(self._parse_field_def)
            transform.set("schema", self._parse_schema() or exp.Schema(expressions=fields))
        transform.set("row_format_after", self._parse_row_format(match_row=True))
        if self._match_text_seq("RECORDREADER"):
            transform.set("record_reader", self._parse_string())
        query = self._parse_query_modifiers(exp.Select(expressions=[transform]))
        return query or transform

    def _body(self) -> exp.Expr:
        """A SELECT without a FROM of its own."""
        start = self._curr.start
        if self._begins_script():
            return self._script()
        body = super()._parse_select_query(parse_set_operation=False)
        if not isinstance(body, exp.Select) or body.args.get("from_") or body.args.get("joins"):
            self.raise_error("Expected SELECT without a FROM of its own, after the first FROM")
            raise AssertionError("errors are raised at once")  # ErrorLevel.IMMEDIATE
        body.meta[SELECT_OFFSET] = start
        # ORDER BY and LIMIT are the SELECT's own, also behind a UNION.
        return body.subquery(copy=False) if any(map(body.args.get, _ENDS)) else body


# ``transformClause`` of SqlBaseParser.g4: words that begin a script, as SELECT TRANSFORM (…) does.
_SCRIPTS = frozenset({"MAP", "REDUCE"})


def _over(relations: exp.Select, bodies: list[exp.Expr], start: int) -> list[exp.Expr]:
    """The SELECTs, each with the relations as its FROM."""
    several = len(bodies) > 1
    for number, table in enumerate(relations.find_all(exp.Subquery) if several else ()):
        table.meta[SHARED] = (start, number)
    for body in (nested.unnest() for nested in bodies):
        if several:
            body.meta[SHARED] = start
        copied = relations.copy()
        body.set("from_", copied.args["from_"])
        body.set("joins", copied.args["joins"])
        body.set("laterals", [*copied.args["laterals"], *(body.args.get("laterals") or [])])
    return bodies


def _all_of(queries: list[exp.Expr]) -> exp.Expr:
    """The UNION ALL of queries."""
    union, *rest = queries
    for query in rest:
        union = exp.Union(this=union, expression=query, distinct=False)
    return union
