"""The steps that each rule of sqlglot's grammar takes, and what it tries in vain most often.

Half of what parsing takes are a few methods that all others call. Here they do the same, without
what sqlglot does for those who want it: a limit of nodes, errors that are collected, several
statements at once. And what no rule can read here, by the kind of the next token, is not tried.
`tests/sql/test_parse.py` holds that the trees stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from sqlglot import Token, TokenType, exp

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.parse.interpreted_parser import SparkParser

E = TypeVar("E", bound=exp.Expr)

# With none of these an alias, a join or a set operation begins.
_NO_MORE = token_types("comma r_paren from where group_by order_by sentinel")
_NO_JOIN = _NO_MORE - {TokenType.COMMA}


class QuickParser(SparkParser):
    """sqlglot's parser for one statement at a time; see the module."""

    def _parse(
        self,
        parse_method: Callable[[Any], exp.Expr | None],
        raw_tokens: list[Token],
        sql: str | None = None,
    ) -> list[exp.Expr | None]:
        self.reset()
        self.sql, self._chunks = sql or "", [raw_tokens]
        return self._parse_batch_statements(parse_method, sep_first_statement=False)

    def _match(
        self, token_type: TokenType, advance: bool = True, expression: exp.Expr | None = None
    ) -> bool:
        if self._curr.token_type is not token_type:
            return False
        if advance:
            self._advance()
        if expression is not None:
            self._add_comments(expression)
        return True

    def expression(
        self, instance: E, token: Token | None = None, comments: list[str] | None = None
    ) -> E:
        if token:
            instance.update_positions(token)
        if comments:
            instance.add_comments(comments)
        elif self._prev_comments:
            self._add_comments(instance)
        if not instance.is_primitive:
            given = instance.args.get
            for name in instance.required_args:
                if not given(name):  # or it is False, which is checked there
                    return self.validate_expression(instance)
        return instance

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        if self._curr.token_type in _NO_MORE:
            return this
        return super()._parse_alias(this, explicit)

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        if self._curr.token_type in _NO_JOIN and not skip_join_token:
            return None
        return super()._parse_join(skip_join_token, parse_bracket, alias_tokens)

    def parse_set_operation(self, *args: Any, **given: Any) -> exp.SetOperation | None:
        if self._curr.token_type in _NO_MORE:
            return None
        return super().parse_set_operation(*args, **given)
