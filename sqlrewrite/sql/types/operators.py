"""The names and types of operators."""

from __future__ import annotations

from decimal import Decimal

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.result_types import result_type
from sqlrewrite.plan.facts.signatures import Arguments
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.sql.types.call_names import filled
from sqlrewrite.sql.types.calls import constant_text
from sqlrewrite.sql.types.scope import UNTYPED, TypedExpression, TypeScope, field_access
from sqlrewrite.sql.types.syntax import tree

_COMPARED = frozenset({"=", "<=>", "<", "<=", ">", ">=", "<>"})
_INFIX = _COMPARED - {"<>"} | {"AND", "OR"}
_QUANTIFIED_LIKES = frozenset(
    f"{negated}LIKE {word}" for negated in ("", "NOT ") for word in ("ANY", "SOME", "ALL")
)


def operation(
    it: tree.Operation, parts: list[TypedExpression], scope: TypeScope
) -> TypedExpression:
    """The name and type of an operator; ``parts`` are its operands."""
    operator = it.operator
    patterns = it.operands[1:]
    if (operator in _COMPARED and replaced_by_analyzer(operator, *parts)) or (
        operator in _QUANTIFIED_LIKES and not all(map(tree.is_string, patterns))
    ):
        return TypedExpression(None, types.BOOLEAN)
    if operator in _INFIX:
        left, right = parts
        return TypedExpression(filled("({} {} {})", left, operator, right), types.BOOLEAN)
    if operator == "IN":
        listed = ", ".join(["{}"] * len(patterns))
        return TypedExpression(filled(f"({{}} IN ({listed}))", *parts), types.BOOLEAN)
    if operator in _FORMS:
        form = _FORMS[operator]
        text = None if form is None else filled(form, *parts[: form.count("{}")])
        return TypedExpression(text, types.BOOLEAN)
    if operator == "[]":
        return _element(*parts)
    return _computed(operator.removeprefix("unary "), *parts, scope=scope)


def replaced_by_analyzer(operator: str, one: TypedExpression, other: TypedExpression) -> bool:
    """Whether the analyzer replaces a comparison, and so prints another: of an integer with a
    constant decimal (``DecimalPrecision``), of a boolean with a constant number
    (``BooleanEquality``)."""
    for literal, operand in ((one, other), (other, one)):
        number = isinstance(literal.constant, Decimal | int) and literal.type != types.BOOLEAN
        if not number or isinstance(operand.constant, str):
            continue
        kind = operand.type
        if kind is None or kind == types.BOOLEAN:
            return True
        if isinstance(literal.constant, Decimal) and is_integral(kind):
            return operator not in ("=", "<=>", "<>")
    return False


_FORMS = {
    "NOT": "(NOT {})",
    "<>": "(NOT ({} = {}))",
    "IS NULL": "({} IS NULL)",
    "IS NOT NULL": "({} IS NOT NULL)",
    "IS NOT UNKNOWN": "({} IS NOT UNKNOWN)",
    "BETWEEN": "between({}, {}, {})",
    "LIKE": "{} LIKE {}",
    "ILIKE": "ilike({}, {})",
    "RLIKE": "RLIKE({}, {})",
    **dict.fromkeys(("LIKE ANY", "LIKE SOME"), "likeany({})"),
    **dict.fromkeys(("NOT LIKE ANY", "NOT LIKE SOME"), "notlikeany({})"),
    "LIKE ALL": "likeall({})",
    "NOT LIKE ALL": "notlikeall({})",
    **dict.fromkeys(("ILIKE ANY", "ILIKE SOME", "ILIKE ALL")),
    **dict.fromkeys(("NOT ILIKE ANY", "NOT ILIKE SOME", "NOT ILIKE ALL")),
}
"""How an operator that gives a BOOLEAN is printed, with as many of its operands as the form takes;
None where that is not known."""


def _element(base: TypedExpression, index: TypedExpression) -> TypedExpression:
    kind = base.type
    text = filled("{}[{}]", base, index)
    if kind is None:
        return TypedExpression(text)
    if kind.name in ("array", "map"):
        return TypedExpression(text, kind.items[-1])
    if kind.name == "struct" and isinstance(index.constant, str):
        return field_access(base, index.constant) or UNTYPED
    return UNTYPED


def _computed(operator: str, *parts: TypedExpression, scope: TypeScope) -> TypedExpression:
    """An operator of arithmetic, bits or texts."""
    kinds, settings = tuple(part.type for part in parts), scope.settings
    kind = result_type(
        operator.lower(), Arguments(kinds, settings, tuple(map(constant_text, parts)))
    )
    if len(parts) == 1:
        form = "{}{}" if operator == "~" else "({} {})"
        return TypedExpression(filled(form, operator, *parts), kind)
    left, right = parts
    if operator == "||":
        text = filled("concat({}, {})", left, right)
    else:
        text = filled("({} {} {})", left, operator.lower(), right)
    one, other = kinds
    if one is None or other is None:
        return TypedExpression(None if operator in "+-*/" else text)
    if operator in "+-*/" and (_is_datetime(one) or _is_datetime(other)):
        text = _datetime_arithmetic(operator, *parts)
    return TypedExpression(text, kind)


def _is_datetime(kind: Type) -> bool:
    return kind.name.startswith(("date", "time", "interval"))


def _datetime_arithmetic(
    operator: str, left: TypedExpression, right: TypedExpression
) -> str | None:
    """How arithmetic with dates, times and intervals is printed, which
    ``BinaryArithmeticWithDatetimeResolver`` replaces; None where that is not known."""
    one, other = left.type, right.type
    assert one is not None
    assert other is not None
    spans = types.fields_of(one) is not None, types.fields_of(other) is not None
    if types.VOID in (one, other) or types.INTERVAL in (one, other):
        return None
    if "time" in (one.name, other.name):
        return None
    if operator == "+" and (spans == (True, False) or (is_integral(one) and other == types.DATE)):
        return _datetime_arithmetic(operator, right, left)
    if operator == "*" and spans == (False, True):
        return _datetime_arithmetic(operator, right, left)
    if operator in "*/" or spans == (True, True) or (operator == "-" and spans == (False, False)):
        if one == types.DATE and is_integral(other):
            return filled("date_sub({}, {})", left, right)
        return filled("({} {} {})", left, operator, right)
    if one == types.DATE and is_integral(other):
        return filled("date_add({}, {})", left, right)
    if one == types.DATE and other == types.interval("day"):
        if operator == "-":
            return filled("date_add({}, (- extractansiintervaldays({})))", left, right)
        return filled("date_add({}, extractansiintervaldays({}))", left, right)
    if spans == (False, True):
        return filled("{} {} {}", left, operator, right)
    return None
