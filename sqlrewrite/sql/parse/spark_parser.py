"""A parser of Spark's SQL that translates nothing: a tree says what was written.

sqlglot's own Spark parser translates on the way: ``substr`` becomes SUBSTRING, ``day(x)`` a cast of
``x``, ``if`` a CASE, and two functions may become one class. Here every call is an
``exp.Anonymous`` under the name as written, and only what Spark's own grammar gives a syntax of its
own (``primaryExpression`` in SqlBaseParser.g4) is a node of its own: CASE, CAST, EXISTS with a
query, EXTRACT, POSITION with IN, TRIM with FROM, typed literals. A name without parentheses
(``current_date``) is a column, as in Spark, where a column of that name comes before the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.spark import Spark

from sqlrewrite.sql.parse.pipe_grammar import PipeParser

SPELLED = "spelled"
"""The key in the ``meta`` of a cast for how it is written: ``cast``, ``::`` or ``suffix`` (``1L``).
``DATE '…'`` has none."""

BY_WORDS = "by words"
"""The key in the ``meta`` of a call whose arguments are separated by words, not commas."""

DIALECT = Spark()
_SUFFIXES = frozenset(Spark.Tokenizer.NUMERIC_LITERALS)
_UNITS = frozenset(
    "year quarter month week day dayofyear hour minute second millisecond microsecond".split()
)
_SIDES = frozenset({"BOTH", "LEADING", "TRAILING"})
_TEXTS = (exp.DataType.Type.CHAR, exp.DType.VARCHAR)
_HIVE: Any = next(parser for parser in PipeParser.__mro__ if parser.__name__ == "HiveParser")


class SparkSqlParser(PipeParser):
    """A parser of Spark's SQL; see the module."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "CASE": PipeParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
    }
    # `->` stands between a lambda's parameters and its body alone, `?` for a parameter.
    COLUMN_OPERATORS: ClassVar[dict[TokenType, Any]] = {
        kind: PipeParser.COLUMN_OPERATORS[kind] for kind in (TokenType.DOT, TokenType.DCOLON)
    }
    # sqlglot's Hive reads CAST as TRY_CAST.
    STRICT_CAST: ClassVar[bool] = True

    def _parse_function_call(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        token, kind = self._curr, self._curr.token_type
        after_dot = self._prev.token_type is TokenType.DOT
        if kind is TokenType.CASE and optional_parens and not after_dot:
            self._advance()
            return self._parse_case()
        if self._next.token_type is not TokenType.L_PAREN:
            return None
        if kind in self.RESERVED_TOKENS if any_token else kind not in self.FUNC_TOKENS:
            return None
        index = self._index
        self._advance(2)
        plain = after_dot or kind is TokenType.IDENTIFIER
        special = None if plain else _SPECIAL.get(token.text.upper())
        call = special(self, token) if special is not None else None
        if call is None:
            self._retreat(index + 2)
            call = _call(token, self._parse_function_args(True))
        self._match_r_paren(call)
        self._placed(token.start, call)
        if kind is TokenType.VAR and token.text.upper() == "TRANSFORM":
            script = self._curr.token_type is TokenType.USING
            if script or self._match_text_seq("ROW", "FORMAT", advance=False):
                self._retreat(index + 1)
                return self._parse_transform()
        return self._parse_window(call)

    def build_cast(self, strict: bool, **kwargs: Any) -> exp.Expr:
        """A cast, marked with how it was written. The number before a suffix (``1L``) stays as
        written."""
        suffix = self._prev.text.upper() in _SUFFIXES
        cast = super().build_cast(strict, **kwargs)
        if suffix:
            cast.set("this", kwargs["this"])
        cast.meta[SPELLED] = "suffix" if suffix else "::"
        return cast

    def _parse_merge(self) -> exp.Merge:
        """``MERGE WITH SCHEMA EVOLUTION INTO``, whose extra words change no row of the target."""
        self._match_text_seq("WITH", "SCHEMA", "EVOLUTION")
        return super()._parse_merge()

    def _parse_property(self) -> exp.Expr | list[exp.Expr] | None:
        """OPTIONS (…) as a list of properties, which sqlglot skips before 30.30."""
        if not self._match_text_seq("OPTIONS", "(", advance=False):
            return super()._parse_property()
        self._advance()
        return self._parse_wrapped_csv(self._parse_option)

    def _parse_option(self) -> exp.Expr | None:
        """``expressionProperty`` of SqlBaseParser.g4: ``key = value``, or without the ``=``."""
        key = self._parse_string() or self._parse_column()
        self._match(TokenType.EQ)
        return self.expression(exp.Property(this=key, value=self._parse_disjunction()))

    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expr | None:
        """A type; outside of a schema CHAR and VARCHAR are read as STRING. sqlglot's Hive parser
        does the same, but parses two more types for each, which takes ten times as long."""
        kind: exp.Expr | None = super(_HIVE, self)._parse_types(
            check_func, schema, allow_identifiers, with_collation
        )
        for node in kind.find_all(exp.DataType) if kind is not None and not schema else ():
            if node.this in _TEXTS:
                node.set("this", exp.DataType.Type.TEXT)
                node.set("expressions", None)
        return kind

    def _parse_dcolon(self) -> exp.Expr | None:
        return self._parse_types(with_collation=True)


def parser() -> SparkSqlParser:
    """A parser, for one text at a time."""
    return SparkSqlParser(dialect=DIALECT)


def _call(token: Token, arguments: Sequence[exp.Expr | None]) -> exp.Expr:
    name: str | exp.Expr = token.text
    if token.token_type is TokenType.IDENTIFIER:
        name = exp.Identifier(this=name, quoted=True).update_positions(token)
    return exp.Anonymous(this=name, expressions=list(arguments)).update_positions(token)


# --- calls with a syntax of their own -------------------------------------------------------------
# Each begins after the opening parenthesis, takes the token of the name, and returns None for a
# plain call.


def _cast(it: SparkSqlParser, token: Token) -> exp.Expr | None:
    operand = it._parse_disjunction()
    if not it._match(TokenType.ALIAS):
        return None
    to = it._parse_types(with_collation=True)
    if to is None:
        it.raise_error("Expected a type after AS")
    kind = exp.Cast if token.text.upper() == "CAST" else exp.TryCast
    cast = kind(this=operand, to=to)
    cast.meta[SPELLED] = "cast"
    return cast


def _exists(it: SparkSqlParser, token: Token) -> exp.Expr | None:
    """EXISTS (query), in any number of parentheses; EXISTS(array, x -> …) is a plain call."""
    nested = it._curr.token_type is TokenType.L_PAREN
    query = it._parse_primary() if nested else it._parse_select()
    return exp.Exists(this=query) if isinstance(query, exp.Query) else None


def _extract(it: SparkSqlParser, token: Token) -> exp.Expr | None:
    unit = it._parse_var_or_string()
    if unit is None or not it._match(TokenType.FROM):
        return None
    return exp.Extract(this=unit, expression=it._parse_bitwise())


def _position(it: SparkSqlParser, token: Token) -> exp.Expr | None:
    substring = it._parse_bitwise()
    if not it._match(TokenType.IN):
        return None
    return exp.StrPosition(this=it._parse_bitwise(), substr=substring)


def _trim(it: SparkSqlParser, token: Token) -> exp.Expr | None:
    side = it._curr.text.upper() if it._match_texts(_SIDES, advance=False) else None
    if side is not None:
        it._advance()
    characters = None if it._curr.token_type is TokenType.FROM else it._parse_bitwise()
    if not it._match(TokenType.FROM):
        return None
    return exp.Trim(this=it._parse_bitwise(), expression=characters, position=side)


def _by_words(*words: str) -> _Special:
    """Arguments separated by words, not commas: ``SUBSTRING(x FROM 1 FOR 2)``."""

    def special(it: SparkSqlParser, token: Token) -> exp.Expr | None:
        arguments = [it._parse_bitwise()]
        arguments += [it._parse_bitwise() for word in words if it._match_text_seq(word)]
        comma = it._curr.token_type is TokenType.COMMA
        if comma or len(arguments) == 1:
            return None
        call = _call(token, arguments)
        call.meta[BY_WORDS] = True
        return call

    return special


def _with_unit(it: SparkSqlParser, token: Token) -> exp.Expr | None:
    """``DATEADD(day, 1, x)``, whose unit is a word and no column."""
    unit = it._curr
    if it._next.token_type is not TokenType.COMMA or unit.text.lower() not in _UNITS:
        return None
    it._advance(2)
    arguments = it._parse_function_args()
    if len(arguments) != 2 or unit.token_type is TokenType.IDENTIFIER:
        return None  # a column called day
    return _call(token, [exp.Var(this=unit.text), *arguments])


_Special = Callable[[SparkSqlParser, Token], exp.Expr | None]

_SPECIAL: dict[str, _Special] = {
    "CAST": _cast,
    "TRY_CAST": _cast,
    "EXISTS": _exists,
    "EXTRACT": _extract,
    "OVERLAY": _by_words("PLACING", "FROM", "FOR"),
    "POSITION": _position,
    "SUBSTR": _by_words("FROM", "FOR"),
    "SUBSTRING": _by_words("FROM", "FOR"),
    "TRIM": _trim,
    **dict.fromkeys(("DATEADD", "DATE_ADD", "TIMESTAMPADD"), _with_unit),
    **dict.fromkeys(("DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF", "TIMEDIFF"), _with_unit),
}
