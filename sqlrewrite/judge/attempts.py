"""What can raise an error in a condition is attempted: written in a form that gives NULL instead.

In: a condition on a dimension's rows. Out: the places in it to be written otherwise, each with its
form. The key query then keeps a row unless the condition is surely false: where a form gives NULL
the condition is unknown, and unknown for any value that the original may have there, as every
operator above it says nothing more of NULL than of any value (docs/soundness.md, "What can raise an
error is attempted"). No guard, no mode and no optimizer can make that wrong, since none of them
decides what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.restrictions import Attempts, Path
from sqlrewrite.judge.case import Case
from sqlrewrite.judge.raising import total
from sqlrewrite.plan.algebra import Call, Cast, Expression, Literal, Subquery
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import children, walk
from sqlrewrite.plan.facts.attempts import (
    Attempt,
    attempt,
    attempted_cast,
    wrapping_cast,
    wrapping_sum,
)
from sqlrewrite.plan.facts.type_text import parse

_LOGIC = frozenset({"and", "or", "not", "in", "between"})
"""Operators that say of NULL among their operands no more than of any value there: what is true or
false with it is that with each value (Kleene's logic)."""


def attempts(case: Case, condition: Expression) -> Attempts | None:
    """The nodes of a condition that can raise an error, by the operands on the way down to each,
    with the text that gives NULL instead. None where one of them has no such form, or stands where
    NULL is told from other values: under IS NULL, coalesce, the WHEN of a CASE."""
    if all(total(case, node) for node in walk(condition)):
        return ()
    if _asks(condition):
        return None
    found: list[tuple[Path, str]] = []
    for path, node, told in _raising(case, condition, (), False):
        form = _form(case, node)
        if form is None or told:
            return None
        found.append((path, form.text))
    return tuple(found)


def exact_attempts(case: Case, key: Expression) -> Attempts | None:
    """The nodes of a key that can raise an error, with forms that give just what they give without
    ANSI mode: then a key is the one that the join computes, in either mode, or none where the join
    raises an error. None where one has no such form."""
    if _asks(key):
        return None
    found: list[tuple[Path, str]] = []
    for path, node, _ in _raising(case, key, (), False):
        form = _wrapped(case, node) or _form(case, node)
        if form is None or not form.exact:
            return None
        found.append((path, form.text))
    return tuple(found)


def _asks(expression: Expression) -> bool:
    """Whether there is a subquery in it: no form is written beside or into one, nor in what it is
    compared with."""
    return any(isinstance(node, Subquery) for node in walk(expression))


def _wrapped(case: Case, node: Expression) -> Attempt | None:
    """The form of integer arithmetic that wraps around, as it does without ANSI mode."""
    match node:
        case Cast(operand=operand, type=kind):
            return wrapping_cast(type_of(case.plan, operand), parse(kind))
        case Call(name=name, args=args):
            return wrapping_sum(name, [type_of(case.plan, arg) for arg in args])
        case _:
            return None


def _raising(
    case: Case, node: Expression, path: Path, told: bool
) -> Iterator[tuple[Path, Expression, bool]]:
    """The nodes that can raise an error, each with whether something above it tells NULL from other
    values."""
    if not total(case, node):
        yield path, node, told
    for at, child in enumerate(children(node)):
        yield from _raising(case, child, (*path, at), told or not _passes(case, node, at))


def _passes(case: Case, node: Expression, at: int) -> bool:
    """Whether NULL as an operand says nothing more than any value would."""
    match node:
        case Cast():
            return True
        case Call(name=name) if name in _LOGIC:
            return True
        case Call(name="if"):
            return at > 0
        case Call(name="case", args=args):
            return at > 0 or _is_branch(args[0])  # an operand is told NULL from its WHENs
        case Call(name=name):
            found = case.options.function(name)
            return (
                found is not None
                and found.kind in ("operator", "scalar")
                and name != "<=>"
                and found.null_from(at)
            )
        case _:
            return False


def _is_branch(node: Expression) -> bool:
    """Whether an argument of CASE is a WHEN with its THEN: without an operand the first one is."""
    match node:
        case Call(name="if", args=(_, _)):
            return True
        case _:
            return False


def _form(case: Case, node: Expression) -> Attempt | None:
    match node:
        case Cast(operand=operand, type=kind):
            return attempted_cast(type_of(case.plan, operand), parse(kind))
        case Call(name="element_at", args=(_, index)) if not _is_counted(index):
            return None  # the elements are counted from 1, and 0 is an error in any form
        case Call(name=name, args=args):
            return attempt(name, [type_of(case.plan, arg) for arg in args])
        case _:
            return None


def _is_counted(index: Expression) -> bool:
    """Whether an index is surely not 0."""
    match index:
        case Literal(text=text) | Call(name="-", args=(Literal(text=text),)):
            return bool(text.strip("-0"))
        case _:
            return False
