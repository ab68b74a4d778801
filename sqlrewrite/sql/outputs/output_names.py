"""The names that Spark gives to columns without one (``toPrettySQL``), from tree and plan.

As ``usePrettyExpression`` has it: strings without quotes, no implicit casts, no qualifiers. How
calls are printed is in ``rules/printed.toml``; each row was asked of Spark 4.3. What is not known
for certain has no name here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import Type, valued
from sqlrewrite.plan.relations import numbers
from sqlrewrite.sql.bind.plan_names import (
    CAST_FUNCTIONS,
    LITERAL_FUNCTIONS,
    OPERATORS,
    function_name,
    type_name,
)
from sqlrewrite.sql.bind.translate import Translator
from sqlrewrite.sql.bind.trees import chained, within_casts
from sqlrewrite.sql.outputs.call_names import CallPrinter, inside
from sqlrewrite.sql.outputs.literal_names import (
    Printed,
    binary,
    interval,
    number,
    printed_interval,
    summed_interval,
    typed_constant,
)
from sqlrewrite.sql.outputs.printed_forms import (
    bare_call,
    cast_text,
    datetime_arithmetic,
    filled,
    is_datetime,
    replaced_by_analyzer,
)
from sqlrewrite.sql.parse.spans import SPAN
from sqlrewrite.sql.parse.spark_parser import SPELLED

BARE = LITERAL_FUNCTIONS.keys() | {"current_catalog", "current_database", "current_schema"}
"""Functions that are called without parentheses."""

UNNAMED = Printed(None)
"""An expression whose text and type are unknown."""

_COMPARISONS = (exp.EQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)
_BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_SIGNS: dict[type[exp.Expr], str] = {
    **{
        kind: OPERATORS[kind] for kind in (*_COMPARISONS, *_ARITHMETIC, exp.Mod, exp.IntDiv, *_BITS)
    },
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_FORMS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Between: ("between({}, {}, {})", ("this", "low", "high")),
    exp.DPipe: ("concat({}, {})", ("this", "expression")),
    exp.RegexpLike: ("RLIKE({}, {})", ("this", "expression")),
    exp.StrPosition: ("locate({}, {}, 1)", ("substr", "this")),
}
"""Nodes that are always printed by one format, with the arguments that fill it."""


class NamePrinter(CallPrinter):
    """Prints the expressions of one SELECT, which its ``translator`` has translated.

    ``meanings``: their plans, by the ids of their trees; ``type_of``: the type of a plan.
    ``understood``: whether all that a subquery refers to is known.
    """

    def __init__(
        self,
        translator: Translator,
        meanings: Mapping[int, tuple[exp.Expr, ra.Expression]],
        type_of: Callable[[ra.Expression], Type | None],
        understood: Callable[[ra.Query], bool],
    ) -> None:
        self.translator = translator
        self.meanings = meanings
        self.type_of = type_of
        self.understood = understood

    def label(self, item: exp.Expr) -> str | None:
        """The name of the column that an item of a SELECT list makes; None if unknown."""
        if isinstance(item, exp.Alias):
            return item.alias
        node = inside(item)
        if isinstance(node, exp.Column) and self._bare(node):
            return bare_call(node.name.lower())
        return self.own_name(node) or self.text(node)

    def own_name(self, node: exp.Expr) -> str | None:
        """The name that an expression has of its own: of a column, of a field, of a column under a
        cast; None for others, whose name is their printed text."""
        node = inside(node)
        match node:
            case exp.Column() | exp.Identifier():
                return node.name or None
            case exp.Cast() | exp.TryCast():
                return self._name_under(node.this)
            case exp.Anonymous() if function_name(node) in CAST_FUNCTIONS:
                return self._name_under(node.expressions[0]) if node.expressions else None
            case exp.JSONExtract():
                return _last_name(node) if self.kind(node) == types.VARIANT else None
            case _:
                return None

    def _name_under(self, node: exp.Expr) -> str | None:
        """The name of the operand of a cast: of a column, also under more casts, or of a path into
        a column; None for anything else."""
        node = inside(node)
        if not isinstance(node, exp.Column):
            return None if isinstance(node, exp.Identifier) else self.own_name(node)
        meaning = self.meaning(node)
        merged = isinstance(meaning, ra.Unknown) and bool(meaning.args)
        column = isinstance(meaning, ra.ColumnRef) or merged
        return node.name if column and not self._is_alias(node) else None

    def meaning(self, node: exp.Expr) -> ra.Expression | None:
        """The plan's expression for a tree; None if it was not translated."""
        noted = self.meanings.get(id(inside(node)))
        return None if noted is None else noted[1]

    def kind(self, node: exp.Expr) -> Type | None:
        """The type of a tree's value; None if unknown."""
        meaning = self.meaning(node)
        kind = None if meaning is None else self.type_of(meaning)
        return None if kind is None else valued(kind)

    def printed(self, node: exp.Expr) -> Printed:
        """An expression as Spark prints it, with its type."""
        node = inside(node)
        kind = type(node)
        if kind in _SIGNS:
            sign, compares = _SIGNS[kind], kind in _COMPARISONS
            return self._compared(sign, node) if compares else self._computed(sign, node)
        if kind in _FORMS:
            form, names = _FORMS[kind]
            return Printed(filled(form, *self._all(map(node.args.get, names))), self.kind(node))
        handler = _HANDLERS.get(kind)
        result = None if handler is None else handler(self, node)
        return result if isinstance(result, Printed) else Printed(result, self.kind(node))

    # --- names --------------------------------------------------------------------------------

    def _is_alias(self, node: exp.Expr) -> bool:
        """Whether a column refers to an alias in the same SELECT list."""
        alias = self.translator.aliases.get(node.name.lower())
        return alias is not None and not node.args.get("table") and self.meaning(node) is alias

    def _bare(self, node: exp.Expr) -> bool:
        """Whether a bare name is the call of a function (``current_date``) and not a column."""
        meaning = self.meaning(node)
        called = isinstance(meaning, ra.Call) and not meaning.args and node.name.lower() in BARE
        return called and not self._is_alias(node)

    def _column(self, node: exp.Column) -> str | None:
        meaning, name = self.meaning(node), node.name
        if self._is_alias(node):
            return f"lateralAliasReference({name})"
        names = [part.name for part in node.parts]
        if isinstance(meaning, ra.Unknown):
            return name if meaning.args and len(names) <= 2 else None
        return self._path(meaning, names)

    def _path(self, meaning: ra.Expression | None, names: list[str]) -> str | None:
        """A column, a lambda's parameter, or a field in one, by the names as written."""
        match meaning:
            case ra.Variable():
                return "namedlambdavariable()"
            case ra.ColumnRef():
                own = meaning.relation in numbers(self.translator.scope.source)
                return names[-1] if own else None  # `outer(…)`, with all qualifiers
            case ra.Call(name=".", args=(base, _)):
                before = self._path(base, names[:-1])
                return None if before is None else self._field_of(base, before, names[-1])
            case _:
                return None

    def _field_of(self, base: ra.Expression, text: str, name: str) -> str | None:
        kind = self.type_of(base)
        if kind is None:
            return None
        return f"{text}[{name}]" if kind.name == "map" else f"{text}.{name}"

    def _field(self, node: exp.Expr) -> str | None:
        if isinstance(node.expression, exp.Anonymous):
            return self._call(node.expression)
        meaning = self.meaning(node)
        text = self.text(node.this)
        if text is None or not isinstance(meaning, ra.Call) or not meaning.args:
            return None
        return self._field_of(meaning.args[0], text, node.expression.name)

    # --- constants ----------------------------------------------------------------------------

    def _literal(self, node: exp.Expr) -> Printed:
        if not node.args["is_string"]:
            return self._number(node)
        kind = self.kind(node)
        return UNNAMED if kind != types.STRING else Printed(node.name, kind, node.name)

    def _strings(self, node: exp.Expr) -> Printed:
        """Adjacent string literals, which are one string."""
        if not all(isinstance(part, exp.Literal) and part.is_string for part in node.expressions):
            return UNNAMED
        text = "".join(part.name for part in node.expressions)
        return Printed(text, types.STRING, text)

    def _number(self, node: exp.Expr, sign: str = "") -> Printed:
        """A number as written, perhaps with a suffix (``1L``), behind a sign."""
        meaning = self.meaning(node)
        if not isinstance(meaning, ra.Literal):
            return UNNAMED
        kind = self.type_of(ra.Literal(meaning.kind, f"{sign}{meaning.text}", meaning.type))
        return number(f"{sign}{meaning.text}", kind) or UNNAMED

    def _negative(self, node: exp.Expr) -> Printed:
        within, casts = within_casts(node.this)
        literal = isinstance(within, exp.Literal) and not within.is_string
        if not literal and within.meta.get(SPELLED) != "suffix":
            return self._signed("-", node.this)
        constant = self._number(within, "-")
        for cast in reversed(casts):
            constant = _cast_of(constant, cast, self.kind(cast) or _type_in(cast))
        return constant

    def _signed(self, sign: str, operand: exp.Expr) -> Printed:
        part = self.printed(operand)
        form = "~{}" if sign == "~" else f"({sign} {{}})"
        return Printed(filled(form, part), self.kind(operand))

    def _cast(self, node: exp.Expr) -> Printed:
        spelled = node.meta.get(SPELLED)
        if spelled == "suffix":
            return self._number(node)
        within, casts = within_casts(node.this)
        if spelled is not None or not isinstance(within, exp.Literal):
            return _cast_of(self.printed(node.this), node, self.kind(node))
        # DATE '…': in the plan its type is hidden by casts after it.
        written = ra.Literal("typed", within.name, type_name(node.args["to"]))
        kind = self.type_of(written) if casts else self.kind(node)
        constant = Printed(typed_constant(within.name, kind), kind)
        for cast in reversed(casts):
            constant = _cast_of(constant, cast, _type_in(cast))
        return constant

    def _interval(self, node: exp.Expr) -> Printed:
        return (printed_interval(node) if self.kind(node) is not None else None) or UNNAMED

    # --- operators ----------------------------------------------------------------------------

    def _connective(self, node: exp.Expr) -> str | None:
        """Operands of AND or OR, which Spark arranges in a balanced tree."""
        word = "AND" if isinstance(node, exp.And) else "OR"
        parts = self._all(chained(node, type(node)))

        def joined(low: int, high: int) -> Printed:
            if low == high:
                return parts[low]
            middle = low + (high - low) // 2 if high - low > 1 else low
            left, right = joined(low, middle), joined(middle + 1, high)
            return Printed(filled("({} {} {})", left, word, right), types.BOOLEAN)

        return joined(0, len(parts) - 1).text

    def _compared(self, sign: str, node: exp.Expr) -> Printed:
        left, right = self.printed(node.this), self.printed(node.expression)
        replaced = replaced_by_analyzer(sign, left, right)
        text = None if replaced else filled("({} {} {})", left, sign, right)
        return Printed(text, types.BOOLEAN)

    def _different(self, node: exp.Expr) -> str | None:
        sign = "=" if isinstance(node, exp.NEQ) else "<=>"
        text = self._compared(sign, node).text
        return None if text is None else f"(NOT {text})"

    def _not(self, node: exp.Expr) -> str | None:
        # IS NOT NULL is parsed as NOT over an IS NULL without a span.
        negated = isinstance(node.this, exp.Is) and SPAN not in node.this.meta
        if negated and isinstance(node.this.expression, exp.Null):
            return filled("({} IS NOT NULL)", self.printed(node.this.this))
        return filled("(NOT {})", self.printed(node.this))

    def _is(self, node: exp.Expr) -> str | None:
        operand = self.printed(node.this)
        if isinstance(node.expression, exp.Null):
            return filled("({} IS NULL)", operand)
        truth = self.printed(node.expression)
        replaced = replaced_by_analyzer("<=>", operand, truth)
        return None if replaced else filled("({} <=> {})", operand, truth)

    def _in(self, node: exp.Expr) -> str | None:
        if node.args.get("query") is not None:
            return self._subquery(node)
        parts = self._all([node.this, *node.expressions])
        listed = ", ".join(["{}"] * (len(parts) - 1))
        return filled(f"({{}} IN ({listed}))", *parts)

    def _computed(self, sign: str, node: exp.Expr) -> Printed:
        """An arithmetic or bitwise operator with its operands."""
        amounts = summed_interval(node)
        if amounts is not None:
            return (interval(amounts) if self.kind(node) is not None else None) or UNNAMED
        left, right = self.printed(node.this), self.printed(node.expression)
        kind = self.kind(node)
        text = filled("({} {} {})", left, sign, right)
        if isinstance(node, _ARITHMETIC):
            if left.kind is None or right.kind is None:
                text = None
            elif is_datetime(left.kind) or is_datetime(right.kind):
                text = datetime_arithmetic(sign, left, right)
        return Printed(text, kind)

    def _element(self, node: exp.Expr) -> str | None:
        if len(node.expressions) != 1:
            return None
        base, index = self.printed(node.this), self.printed(node.expressions[0])
        if base.kind is not None and base.kind.name == "struct":
            constant = index.constant
            return f"{base.text}.{constant}" if base.text and isinstance(constant, str) else None
        return filled("{}[{}]", base, index)


_HANDLERS: dict[type[exp.Expr], Callable[[NamePrinter, Any], Printed | str | None]] = {
    exp.Column: NamePrinter._column,
    exp.Identifier: lambda it, node: it._path(it.meaning(node), [node.name]),
    exp.Dot: NamePrinter._field,
    exp.Literal: NamePrinter._literal,
    exp.RawString: lambda _, node: Printed(node.name, types.STRING, node.name),
    exp.Concat: NamePrinter._strings,
    exp.Null: lambda _, __: Printed("NULL", types.VOID),
    exp.Boolean: lambda _, node: Printed(str(node.this).lower(), types.BOOLEAN, bool(node.this)),
    exp.HexString: lambda _, node: Printed(binary(node.name), types.BINARY),
    exp.Neg: NamePrinter._negative,
    exp.BitwiseNot: lambda it, node: it._signed("~", node.this),
    **dict.fromkeys((exp.Cast, exp.TryCast), NamePrinter._cast),
    exp.Interval: NamePrinter._interval,
    **dict.fromkeys((exp.And, exp.Or), NamePrinter._connective),
    **dict.fromkeys((exp.NEQ, exp.NullSafeNEQ), NamePrinter._different),
    exp.Not: NamePrinter._not,
    exp.Is: NamePrinter._is,
    exp.In: NamePrinter._in,
    **dict.fromkeys((exp.Like, exp.ILike, exp.Escape), NamePrinter._like),
    exp.Bracket: NamePrinter._element,
    exp.Case: NamePrinter._case,
    **dict.fromkeys((exp.Subquery, exp.Exists), NamePrinter._subquery),
    exp.Anonymous: NamePrinter._call,
    exp.Tuple: NamePrinter._row,
    exp.Lambda: NamePrinter._lambda,
    exp.Extract: lambda it, node: filled(
        "extract({} FROM {})", node.this.name, it.printed(node.expression)
    ),
    exp.Trim: NamePrinter._trim,
    exp.Collate: lambda it, node: filled(
        "collate({}, {})", it.printed(node.this), node.expression.name
    ),
    exp.Filter: NamePrinter._filter,
    exp.WithinGroup: NamePrinter._within_group,
    **dict.fromkeys((exp.IgnoreNulls, exp.RespectNulls), lambda it, node: it.text(node.this)),
    exp.Window: NamePrinter._window,
}


def _last_name(node: exp.Expr) -> str | None:
    """The last name in a path into a VARIANT."""
    keys = [
        expression
        for expression in node.expression.expressions
        if isinstance(expression, exp.JSONPathKey)
    ]
    name = str(keys[-1].this) if keys else ""
    return name if name and "." not in name else None


def _type_in(cast: exp.Expr) -> Type | None:
    """The type of a cast's value, by its text alone."""
    kind = parse(type_name(cast.args["to"]))
    return None if kind is None else valued(kind)


def _cast_of(operand: Printed, cast: exp.Expr, kind: Type | None) -> Printed:
    return cast_text(operand, kind, safe=isinstance(cast, exp.TryCast))
