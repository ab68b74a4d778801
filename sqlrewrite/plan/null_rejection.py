"""Null-rejecting conditions: false or NULL wherever a relation's columns are all NULL.

Such a condition above an outer join makes it an inner join (Galindo-Legaria and Rosenthal 1997;
Spark's EliminateOuterJoin). What is not listed here is taken not to reject.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal, Subquery, Unknown
from sqlrewrite.plan.facts.functions import function, tagged

# Kinds of constants that are never NULL; a constant that is cast (`CAST('x' AS INT)`) can be.
_NEVER_NULL = ("string", "number", "boolean")

_NULL, _TRUE, _FALSE = Literal("null"), Literal("boolean", "true"), Literal("boolean", "false")
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq, "<=>": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip

# Integers that every numeric type, FLOAT too, holds exactly if it can hold them.
_WHOLE = re.compile(r"\d{1,7}", re.ASCII)
_DAY = re.compile(r"[12]\d{3}-\d\d-\d\d", re.ASCII)
# Texts that cast to no other type, except for the words in _VALUES.
_WORDS = re.compile(r"[A-Za-z]*(?:[ _/-][A-Za-z]+)*", re.ASCII)
_VALUES = frozenset("t true y yes f false n no nan inf infinity interval epoch now today".split())
_PRINTED = re.compile(r"[ -\[\]-~]*", re.ASCII)


def rejects_null(condition: Expression, relations: frozenset[int]) -> bool:
    """Whether a condition cannot hold where every column of ``relations`` is NULL."""
    match condition:
        case Call(name="and", args=args):
            return any(rejects_null(arg, relations) for arg in args)
        case Call(name="or", args=args):
            return all(rejects_null(arg, relations) for arg in args)
        case Call(name="not", args=(Call(name="isnull", args=(inner,)),)):
            return null_from(inner, relations)
        case Call(name="<=>", args=(one, other)):
            if any(
                null_from(a, relations) and isinstance(b, Literal) and b.kind in _NEVER_NULL
                for a, b in ((one, other), (other, one))
            ):
                return True
        case Call(name="between", args=args):
            if any(null_from(arg, relations) for arg in args):
                return True
        case Subquery(kind="in", operand=operand) if operand is not None:
            return null_from(operand, relations)
        case _:
            if null_from(condition, relations):
                return True
    return _value(condition, relations) in (_NULL, _FALSE)


def null_from(expression: Expression, relations: frozenset[int]) -> bool:
    """Whether an expression is certainly NULL where every column of ``relations`` is NULL."""
    match expression:
        case ColumnRef(relation=relation):
            return relation in relations
        case Cast(operand=operand):
            return null_from(operand, relations)
        case Call(name="not", args=(Subquery(),)):
            return False  # NULL NOT IN (an empty set) is true
        case Call(name=name, args=args):
            row = function(name)
            if row is None or row.kind not in ("operator", "scalar"):
                return False
            if any(isinstance(arg, Unknown) or getattr(arg, "name", "") == "any" for arg in args):
                return False  # NULL > ALL (an empty set) is true
            return any(
                row.null_from(at) and null_from(arg, relations) for at, arg in enumerate(args)
            )
        case _:
            return False


def _value(expression: Expression, relations: frozenset[int]) -> Literal | None:
    """The constant that an expression gives if every column of ``relations`` is NULL; None if that
    is not known. It evaluates ``coalesce``, CASE and comparisons."""
    match expression:
        case Literal():
            return expression
        case Call(name="not", args=(inner,)):
            negated = {_TRUE: _FALSE, _FALSE: _TRUE, _NULL: _NULL}
            value = _value(inner, relations)
            return None if value is None else negated.get(value)
        case Call(name="isnull", args=(inner,)):
            value = _value(inner, relations)
            return None if value is None else _TRUE if value == _NULL else _FALSE
        case Call(name="case", args=args):
            return _of_case(args, relations)
        case Call(name="if", args=(_, _, _) as args):
            return _of_case((Call("if", args[:2]), args[2]), relations)
        case Call(name="nvl2", args=(one, then, otherwise)):
            value = _value(one, relations)
            return (
                None if value is None else _value(otherwise if value == _NULL else then, relations)
            )
        case Call(name="between", args=(one, low, high)):
            value, least, most = (_value(operand, relations) for operand in (one, low, high))
            if _FALSE in (_compare(">=", value, least), _compare("<=", value, most)):
                return _FALSE
        case Call(name="in", args=(one, *others)):
            value, *items = (_value(operand, relations) for operand in (one, *others))
            if all(_compare("=", value, item) == _FALSE for item in items):
                return _FALSE
        case Call(name=name, args=(one, other)) if name in _COMPARED:
            value = _compare(name, _value(one, relations), _value(other, relations))
            if value is not None:
                return value
        case Call(name=name, args=args) if name in tagged("instead"):
            for arg in args:
                value = _value(arg, relations)
                if value != _NULL:
                    return value
    return _NULL if null_from(expression, relations) else None


def _of_case(args: tuple[Expression, ...], relations: frozenset[int]) -> Literal | None:
    """The value of a CASE without an operand."""
    for arg in args:
        if not (isinstance(arg, Call) and arg.name == "if" and len(arg.args) == 2):
            return _value(arg, relations) if arg is args[-1] else None
        when, then = arg.args
        if not rejects_null(when, relations):
            return _value(then, relations) if _value(when, relations) == _TRUE else None
    return _NULL


def _compare(name: str, one: Literal | None, other: Literal | None) -> Literal | None:
    """The result of comparing two constants, if it is the same whatever type they are cast to."""
    if one is None or other is None:
        return None
    if _NULL in (one, other):
        return (_TRUE if one == other else _FALSE) if name == "<=>" else _NULL
    values: tuple[object, object]
    match one.kind, other.kind:
        case "number", "number" if all(
            _WHOLE.fullmatch(constant.text) for constant in (one, other)
        ):
            values = int(one.text), int(other.text)
        case "boolean", "boolean":
            values = one.text, other.text
        case "typed", "typed" if one.type == other.type == "date" and all(
            _DAY.fullmatch(constant.text) for constant in (one, other)
        ):
            values = one.text[:4], other.text[:4]
            if values[0] == values[1]:
                return None
        case "string", "string" if name in ("=", "<=>") and _differ(one.text, other.text):
            return _FALSE
        case _:
            return None
    return _TRUE if _COMPARED[name](*values) else _FALSE


def _differ(one: str, other: str) -> bool:
    """Whether two texts differ under any collation, and as values of any type."""
    if not (_PRINTED.fullmatch(one) and _PRINTED.fullmatch(other)):
        return False
    if one.strip().lower() == other.strip().lower():
        return False
    return any(
        _WORDS.fullmatch(text) and text.lower().split(" ")[0] not in _VALUES
        for text in (one, other)
    )
