"""Spark's grammar of expressions, where sqlglot silently reads another tree.

``booleanExpression``, ``predicate`` and ``valueExpression`` of SqlBaseParser.g4, rule for rule. A
comparison binds tighter than BETWEEN, IN, LIKE and IS, whose operands may be comparisons; ``!`` is
NOT; COLLATE belongs to the operand before it; ``|``, ``^`` and ``&`` have levels of their own.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from sqlglot import Token, TokenType, exp

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.parse.spans import SPAN, span_of
from sqlrewrite.sql.parse.sqlglot_parser import SparkParser
from sqlrewrite.text.templates import is_template

E = TypeVar("E", bound=exp.Expr)

_UNARY = 8
_SHIFT = 5

# The binary operators of valueExpression: how tight each binds, and what it becomes. All are
# left-associative, comparisons too.
_BINARY: dict[TokenType, tuple[int, type[exp.Expr]]] = {
    TokenType.EQ: (1, exp.EQ),
    TokenType.NEQ: (1, exp.NEQ),
    TokenType.LT: (1, exp.LT),
    TokenType.LTE: (1, exp.LTE),
    TokenType.GT: (1, exp.GT),
    TokenType.GTE: (1, exp.GTE),
    TokenType.NULLSAFE_EQ: (1, exp.NullSafeEQ),
    TokenType.PIPE: (2, exp.BitwiseOr),
    TokenType.CARET: (3, exp.BitwiseXor),
    TokenType.AMP: (4, exp.BitwiseAnd),
    TokenType.PLUS: (6, exp.Add),
    TokenType.DASH: (6, exp.Sub),
    TokenType.DPIPE: (6, exp.DPipe),
    TokenType.STAR: (7, exp.Mul),
    TokenType.SLASH: (7, exp.Div),
    TokenType.MOD: (7, exp.Mod),
    TokenType.DIV: (7, exp.IntDiv),
}
_SHIFTS: dict[TokenType, type[exp.Expr]] = {
    TokenType.LT: exp.BitwiseLeftShift,
    TokenType.GT: exp.BitwiseRightShift,
}
_PREFIXES: dict[TokenType, type[exp.Expr] | None] = {
    TokenType.DASH: exp.Neg,
    TokenType.TILDE: exp.BitwiseNot,
    TokenType.PLUS: None,
}
_PREDICATES = token_types("not between in rlike like ilike is")
_LIKES: dict[TokenType, type[exp.Expr]] = {TokenType.LIKE: exp.Like, TokenType.ILIKE: exp.ILike}
_QUANTIFIERS = {TokenType.ANY: exp.Any, TokenType.SOME: exp.Any, TokenType.ALL: exp.All}


class ExpressionParser(SparkParser):
    """Reads conditions and values; see the module."""

    # `payload:a.b`, a path into a VARIANT.
    COLON_IS_VARIANT_EXTRACT: ClassVar[bool] = True
    # `array(a, b)[0]` and `list[0]` take an element: no name before a bracket makes an array.
    ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}

    # --- booleanExpression ---------------------------------------------------------------------

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:
        """An operand of AND or OR."""
        start = self._curr.start
        if self._match(TokenType.NOT):
            return self._placed(start, exp.Not(this=self._needed(self._parse_equality())))
        value = self._value(0)
        if self._curr.token_type in _PREDICATES:
            return self._placed(start, self._predicate(value))
        return value

    def _placed(self, start: int, node: E | None) -> E | None:
        """The node, with its span noted: from ``start`` to the last token that was read."""
        if node is not None and type(node) is not exp.Column:
            node.meta[SPAN] = start, self._prev.end + 1
        return node

    def _predicate(self, value: exp.Expr | None) -> exp.Expr | None:
        index = self._index
        negated = self._match(TokenType.NOT)
        kind = self._curr.token_type
        predicate: exp.Expr | None
        if kind is TokenType.IS and not negated:
            return self._is(value)
        if kind not in _PREDICATES or kind in (TokenType.NOT, TokenType.IS):
            self._retreat(index)
            return value
        self._advance()
        value = self._needed(value)
        if kind is TokenType.IN:
            predicate = self._parse_in(value)
        elif kind is TokenType.BETWEEN:
            predicate = self._between(value)
        elif kind is TokenType.RLIKE:
            predicate = exp.RegexpLike(this=value, expression=self._operand(0))
        else:
            predicate = self._like(_LIKES[kind], value)
            if negated:  # x NOT LIKE ANY (…) is not NOT (x LIKE ANY (…))
                like = predicate.this if isinstance(predicate, exp.Escape) else predicate
                like.set("negate", True)
            return predicate
        return exp.Not(this=predicate) if negated else predicate

    def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
        start = self._curr.start
        if not self._match(TokenType.L_PAREN):
            return exp.In(this=this, expressions=[self._list_of_template()])
        # A query in parentheses of its own is a value: IN ((SELECT …)) is a list of one.
        alone = self._curr.token_type is not TokenType.L_PAREN
        items = self._parse_csv(self._parse_select_or_expression)
        if alone and len(items) == 1 and isinstance(items[0], exp.Query):
            membership = exp.In(this=this, query=items[0].subquery(copy=False))
        else:
            membership = exp.In(this=this, expressions=items)
        self._match_r_paren()
        self._placed(start, membership.args.get("query"))
        return membership

    def _list_of_template(self) -> exp.Expr:
        """``IN ${days}``, ``IN {{ days }}``: the template renders to the list with its
        parentheses."""
        if self._curr.token_type is TokenType.VAR and is_template(self._curr.text):
            return self._needed(self._parse_function())
        placeholder = (
            self._parse_placeholder() if self._curr.token_type is TokenType.COLON else None
        )
        named = isinstance(placeholder, exp.Placeholder) and is_template(str(placeholder.this))
        if placeholder is None or not named:
            self.raise_error("Expected ( after IN")
        return self._needed(placeholder)

    def _between(self, value: exp.Expr | None) -> exp.Expr:
        low = self._operand(0)
        if not self._match(TokenType.AND):
            self.raise_error("Expected AND after the lower bound of BETWEEN")
        return exp.Between(this=value, low=low, high=self._operand(0))

    def _like(self, kind: type[exp.Expr], value: exp.Expr | None) -> exp.Expr:
        quantifier = _QUANTIFIERS.get(self._curr.token_type)
        if quantifier is not None and self._next.token_type is TokenType.L_PAREN:
            self._advance()
            patterns = exp.Tuple(expressions=self._parse_wrapped_csv(self._parse_disjunction))
            return kind(this=value, expression=quantifier(this=patterns))
        like: exp.Expr = kind(this=value, expression=self._operand(0))
        if self._match(TokenType.ESCAPE):
            like = exp.Escape(this=like, expression=self._parse_string())
        return like

    def _is(self, value: exp.Expr | None) -> exp.Expr | None:
        index = self._index
        self._advance()
        negated = self._match(TokenType.NOT)
        if self._match_text_seq("DISTINCT", "FROM"):
            kind = exp.NullSafeEQ if negated else exp.NullSafeNEQ
            return kind(this=value, expression=self._operand(0))
        constant = self._parse_null() or self._parse_boolean()
        if constant is None:
            self._retreat(index)
            return value
        test = exp.Is(this=value, expression=constant)
        return exp.Not(this=test) if negated else test

    # --- valueExpression -----------------------------------------------------------------------

    def _value(self, least: int) -> exp.Expr | None:
        """A value whose operators all bind tighter than the level ``least``."""
        start = self._curr.start
        value = self._parse_unary()
        while True:
            kind = self._curr.token_type
            level, operator = _BINARY.get(kind, (0, None))
            if kind in _SHIFTS and self._next.token_type is kind:
                if least >= _SHIFT:
                    return value
                value = self._placed(start, self._shift(self._needed(value), kind))
                continue
            if operator is None or level <= least:
                return value
            index = self._index
            self._advance()
            right = self._value(level)
            if right is None and kind is TokenType.DIV:  # a name
                self._retreat(index)
                return value
            value = self.expression(operator(this=value, expression=self._needed(right)))
            self._placed(start, value)

    def _operand(self, least: int) -> exp.Expr:
        """The value that must come next; raises an error if there is none."""
        return self._needed(self._value(least))

    def _needed(self, value: exp.Expr | None) -> exp.Expr:
        if value is None:
            self.raise_error("Expected an operand")
            raise AssertionError("errors are raised at once")  # ErrorLevel.IMMEDIATE
        return value

    def _shift(self, value: exp.Expr, kind: TokenType) -> exp.Expr:
        self._advance(2)
        if kind is TokenType.GT and self._match(TokenType.GT):
            operands = [value, self._operand(_SHIFT)]
            return exp.Anonymous(this="shiftrightunsigned", expressions=operands)
        return _SHIFTS[kind](this=value, expression=self._operand(_SHIFT))

    def _parse_unary(self) -> exp.Expr | None:
        start = self._curr.start
        return self._placed(start, self._unary())

    def _unary(self) -> exp.Expr | None:
        kind = self._curr.token_type
        if kind in _PREFIXES:
            self._advance()
            operand, sign = self._operand(_UNARY - 1), _PREFIXES[kind]
            if sign is None:
                return exp.Anonymous(this="positive", expressions=[operand])
            return self.expression(sign(this=operand))
        # Columns and literals first, as in sqlglot, but with fewer calls in between.
        column = kind in self.IDENTIFIER_TOKENS or kind is TokenType.L_PAREN
        value = self._parse_column() if column else self._parse_atom()
        value = value or self._parse_type()
        while self._curr.token_type is TokenType.COLLATE and self._match(TokenType.COLLATE):
            value = exp.Collate(this=value, expression=self._parse_id_var())
        return value

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """``this`` with the element in brackets after it; sqlglot calls this again for the next
        one."""
        start = None if this is None else span_of(this)
        if start is None and isinstance(this, exp.Bracket):
            start = span_of(this.this)
            self._placed(start.start, this) if start is not None else None
        if self._curr.token_type not in self.BRACKETS:
            return this
        bracket: exp.Expr | None = super()._parse_bracket(this)
        return bracket if start is None else self._placed(start.start, bracket)

    def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:
        """An argument of a call."""
        start = self._curr.start
        return self._placed(start, super()._parse_lambda(alias))

    def _parse_cast(self, strict: bool, safe: bool | None = None) -> exp.Expr:
        cast = super()._parse_cast(strict, safe)
        self._needed(cast.args.get("this"))
        return cast

    def _parse_column_parts_fast(self) -> exp.Column | exp.Dot | None:
        """A column that is a name, perhaps with its table's, as most are; others are left to
        sqlglot, which goes from dot to dot."""
        token, behind, table = self._curr, self._next, None
        if token.token_type not in self.IDENTIFIER_TOKENS:
            return None
        if behind.token_type is TokenType.DOT:
            ahead = self._tokens[self._index + 2 : self._index + 4]
            if len(ahead) < 2 or token.comments or behind.comments or ahead[0].comments:
                return super()._parse_column_parts_fast()
            table, (token, behind) = token, ahead
            if token.token_type not in self.IDENTIFIER_TOKENS or behind.token_type is TokenType.DOT:
                return super()._parse_column_parts_fast()
        if behind.token_type in self.COLUMN_OPERATORS:
            return None
        if behind.token_type in self.COLUMN_POSTFIX_TOKENS:
            return None
        if (table or token).text.upper() in self.NO_PAREN_FUNCTION_PARSERS:
            return None
        if table is not None:
            self._advance(3)
            return exp.Column(this=_name(token), table=_name(table))
        self._advance()
        column = exp.Column(this=_name(token))
        if self._prev_comments:
            column.add_comments(self._prev_comments)
            self._prev_comments = []
        return column

    def _parse_colon_as_variant_extract(self, this: exp.Expr | None) -> exp.Expr | None:
        """A path into a VARIANT. It is called for every column, so the colon is checked first."""
        if self._curr.token_type is not TokenType.COLON:
            return this
        return super()._parse_colon_as_variant_extract(this)

    # What the rest of the parser calls to read an operand.

    def _parse_comparison(self, this: exp.Expr | None = None) -> exp.Expr | None:
        return self._value(0)

    def _parse_range(self, this: exp.Expr | None = None, parse_is: bool = False) -> Any:
        return self._value(0)

    def _parse_bitwise(self) -> exp.Expr | None:
        return self._value(0)

    def _parse_term(self, parse_mod: bool = True) -> exp.Expr | None:
        return self._value(_SHIFT)

    def _parse_factor(self, parse_mod: bool = True) -> exp.Expr | None:
        return self._value(_UNARY - 2)


def _name(token: Token) -> exp.Identifier:
    quoted = token.token_type is TokenType.IDENTIFIER
    return exp.Identifier(this=token.text, quoted=quoted).update_positions(token)
