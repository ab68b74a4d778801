"""Conditions that fix a prefix of a string column: ``name LIKE 'ab%'``, ``left(name, 2) = 'ab'``.

In: such a condition, and a partition column that is a prefix of the same string. Out: comparisons
that follow for it (docs/soundness.md, "Derived partition columns").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlrewrite.find.derived_columns import DerivedColumn
from sqlrewrite.plan.algebra import Call, ColumnRef, Expression, Literal
from sqlrewrite.plan.facts.functions import tagged

# Characters that stand for themselves in a string and in a pattern of LIKE.
_PLAIN = re.compile(r"[\w .-]*")
_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)

PrefixBound = tuple[str, Expression, Literal]
"""An operator, the compared expression, and the string that it is compared with."""


def prefix_bounds(condition: Expression, derived: DerivedColumn) -> Iterator[PrefixBound]:
    """The comparisons that a prefix of a column implies: the value of the derived column, if the
    prefix is long enough, else the bounds of the column itself."""
    found = _prefix_of(condition, derived.source)
    formula = None if derived.formula is None else derived.formula.expression
    if found is None or not isinstance(formula, Call) or formula.name not in tagged("beginning"):
        return
    column, text = found
    length = _prefix_length(formula)
    if length is not None and length <= len(text):
        own = Call(formula.name, (column, *formula.args[1:]))
        yield "=", own, Literal("string", text[:length])
    elif text:
        yield ">=", column, Literal("string", text)
        behind = ord(text[-1]) + 1
        if behind not in _SURROGATES and behind <= _LAST:
            yield "<", column, Literal("string", text[:-1] + chr(behind))


def _prefix_of(condition: Expression, column: str) -> tuple[ColumnRef, str] | None:
    """The column as the condition names it, and its prefix."""
    match condition:
        case Call(name="like", args=(ColumnRef() as ref, Literal(kind="string", text=text))):
            text = re.split(r"[%_]", text, maxsplit=1)[0]
        case Call(name="startswith", args=(ColumnRef() as ref, Literal(kind="string", text=text))):
            pass
        case Call(
            name="=",
            args=(Call(args=(ColumnRef() as ref, *_)) as part, Literal(kind="string", text=text))
            | (Literal(kind="string", text=text), Call(args=(ColumnRef() as ref, *_)) as part),
        ) if part.name in tagged("beginning"):
            if len(text) > (_prefix_length(part) or 0):
                return None
        case _:
            return None
    plain = _PLAIN.match(text)
    return (ref, plain[0]) if ref.name == column and plain is not None else None


def _prefix_length(beginning: Call) -> int | None:
    """The length of the prefix that a call takes; None for ``substring(x, 1)``, which is all of
    x."""
    match beginning:
        case Call(name="left", args=(_, Literal(kind="number", text=length))):
            pass
        case Call(
            name="substring" | "substr",
            args=(_, Literal(kind="number", text="1"), Literal(kind="number", text=length)),
        ):
            pass
        case _:
            return None
    return int(length) if length.isdecimal() else None
