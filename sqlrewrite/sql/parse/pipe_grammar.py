"""Spark's pipe syntax: ``FROM t |> JOIN d ON … |> WHERE … |> SELECT …``.

``operatorPipeRightSide`` of SqlBaseParser.g4. Operators in the order of one SELECT (FROM, JOIN,
WHERE, SELECT) become one SELECT; each other operator becomes a SELECT over all before it. Aliases
of relations stay visible behind operators: such a derived table has an unknown alias.
"""

from __future__ import annotations

from sqlglot import TokenType, exp

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.parse.query_grammar import BARE, NO_WHERE, QueryParser

PIPED = "piped"
"""The key in the ``meta`` of a derived table that stands for all before a ``|>``."""

_OPEN = "open"
_NO_WHERE = "the query has no |> WHERE that could take the predicate: add one"
_JOINS = token_types("join inner left right full cross semi anti natural")
_ORDERS = token_types("order_by sort_by cluster_by distribute_by limit offset")
_SETS = frozenset({TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT})
_GROUPINGS = frozenset({"ALL", "CUBE", "GROUPING", "ROLLUP", "WITH"})
_OF_A_SELECT = frozenset({"expressions", "distinct", "hint", "windows"})


class PipeParser(QueryParser):
    """Reads queries with pipes; see the module."""

    def _parse_select(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
        consume_pipe: bool = True,
    ) -> exp.Expr | None:
        return self._parse_select_query(nested, table, parse_subquery_alias, parse_set_operation)

    def _parse_set_operations(self, this: exp.Expr | None) -> exp.Expr | None:
        operation = super()._parse_set_operations(this)
        while isinstance(operation, exp.Query) and self._match(TokenType.PIPE_GT):
            operation = super()._parse_set_operations(self._pipe(operation))
        return operation

    def _pipe(self, query: exp.Query) -> exp.Expr:
        """The query with the operator behind a pipe applied to it."""
        kind = self._curr.token_type
        if kind in _JOINS:
            piped = _opened(query, "where", "laterals")
            piped.append("joins", self._parse_join())
        elif kind is TokenType.WHERE:
            piped = _opened(query, "where")
            piped.set("where", self._parse_where())
        elif kind is TokenType.SELECT:
            piped = self._selected(_opened(query))
        elif kind in _ORDERS:
            piped = self._parse_query_modifiers(_closed(_over(query)))
        elif kind in _SETS:
            return self.parse_set_operation(query) or query
        elif kind is TokenType.ALIAS:
            self._advance()
            alias = exp.TableAlias(this=self._parse_id_var())
            return _all(exp.Subquery(this=query, alias=alias))
        elif kind in (TokenType.PIVOT, TokenType.UNPIVOT, TokenType.TABLE_SAMPLE):
            pivots, sample = self._parse_pivots(), self._parse_table_sample()
            return _all(_derived(query, pivots=pivots, sample=sample))
        elif self._match_text_seq("EXTEND"):
            piped = _closed(_over(query))
            piped.set("expressions", [exp.Star(), *self._parse_csv(self._parse_expression)])
        else:
            piped = self._other(query)
        return piped

    def _selected(self, select: exp.Select) -> exp.Select:
        """The SELECT with the list and the windows that follow ``|> SELECT``."""
        listed = super()._parse_select_query(parse_set_operation=False)
        clauses = {key for key, value in listed.args.items() if value} if listed else set()
        if not isinstance(listed, exp.Select) or not clauses <= _OF_A_SELECT:
            self.raise_error("Expected only a list after |> SELECT")
        else:
            for key in clauses:
                select.set(key, listed.args[key])
        return _closed(select)

    def _other(self, query: exp.Query) -> exp.Select:
        """A SELECT for AGGREGATE, SET or DROP over a query; only ``sql/outputs`` works out its
        columns."""
        word = self._curr.text.upper()
        piped = _closed(_over(query))
        items: list[exp.Expr | None] = []
        if self._match_text_seq("AGGREGATE"):
            if self._curr.token_type is not TokenType.GROUP_BY:
                items = self._parse_csv(self._parse_expression)
            piped.set("group", self._named_keys() or self._parse_group())
        elif self._match(TokenType.SET) or self._match_text_seq("SET"):
            items = self._parse_csv(self._parse_expression)
        elif self._match(TokenType.DROP):
            items = self._parse_csv(self._parse_id_var)
        else:
            self.raise_error("Expected an operator after |>")
        # `closed_world` lists neither `kind` nor `rename`: elsewhere the operator is unknown.
        piped.set("kind", word)
        piped.set("expressions", [exp.Star(rename=[exp.Identifier(this=word)]), *items])
        return piped

    def _named_keys(self) -> exp.Group | None:
        """GROUP BY with keys that may have aliases; None for grouping sets and no GROUP BY."""
        index = self._index
        if not self._match(TokenType.GROUP_BY):
            return None
        keys = self._parse_csv(self._parse_expression)
        calls = (key.name.upper() for key in keys if isinstance(key, exp.Anonymous))
        if keys and not _GROUPINGS.intersection((self._curr.text.upper(), *calls)):
            return exp.Group(expressions=keys)
        self._retreat(index)
        return None


def _opened(query: exp.Query, *without: str) -> exp.Select:
    """The SELECT that an operator extends: ``query``, or a new one over it if it already has one of
    the clauses ``without``, which are evaluated after the operator's own."""
    if not isinstance(query, exp.Select) or any(query.args.get(clause) for clause in without):
        return _all(_derived(query))
    return query if query.meta.get(_OPEN) else _over(query)


def _over(query: exp.Query) -> exp.Select:
    """A SELECT of all columns of a query, or of a FROM that has no SELECT yet."""
    if isinstance(query, exp.Select) and query.meta.get(NO_WHERE) == BARE:
        return _marked(query)
    return _all(_derived(query))


def _all(table: exp.Subquery) -> exp.Select:
    """A SELECT of all columns of a derived table."""
    return _marked(exp.Select(expressions=[exp.Star()], from_=exp.From(this=table)))


def _marked(select: exp.Select) -> exp.Select:
    select.meta[NO_WHERE], select.meta[_OPEN] = _NO_WHERE, True
    return select


def _closed(select: exp.Select) -> exp.Select:
    """The SELECT, marked as one that later operators do not extend."""
    select.meta.pop(_OPEN, None)
    return select


def _derived(query: exp.Query, **more: object) -> exp.Subquery:
    derived = exp.Subquery(this=query, **more)
    derived.meta[PIPED] = True
    return derived
