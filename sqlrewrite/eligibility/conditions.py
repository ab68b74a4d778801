"""Which conditions on the dimension the key query may repeat; the others are left out of it.

Leaving one out only widens the bound, so this is where doubt costs least. DPP114 guards lives here:
a condition that can raise an error is never copied, because what kept it from raising (``x <> 0 AND
1 / x > 2``, or the join itself) might not come with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.eligibility.case import Case, Judgement, passed
from sqlrewrite.eligibility.repeatable import (
    DETERMINISM,
    PARAMETERS,
    Reason,
    against,
    of_expression,
)
from sqlrewrite.plan.expressions import (
    Call,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Parameter,
    Subquery,
    Unknown,
    walk,
)
from sqlrewrite.pruning.reducers import AnyOf, Conjunct, Restriction

GUARDS = "DPP114"
NO_TEXT = "DPP000"

# Arithmetic fails on overflow and division by zero, in ANSI mode; between constants it is folded,
# and fails or not whatever the rows are.
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "div"})


def sift(
    case: Case, found: tuple[Restriction, ...]
) -> tuple[tuple[Restriction, ...], tuple[Reason, ...]]:
    """The restrictions that may be repeated, and the reasons why others may not."""
    kept: list[Restriction] = []
    left_out: list[Reason] = []
    for item in found:
        reasons = [r for r in _against(case, item) if r[0] not in case.disabled]
        if reasons:
            left_out.append(reasons[0])
        else:
            kept.append(item)
    return tuple(kept), tuple(dict.fromkeys(left_out))


def judge_guards(case: Case) -> Judgement:
    """Always passes: it tells of the conditions that were left out because they can fail."""
    reasons = [reason for code, reason in case.left_out if code == GUARDS]
    if reasons:
        return passed("left out of the key query: " + "; ".join(reasons))
    return passed("no condition in the key query can raise an error")


def _against(case: Case, item: Restriction) -> Iterator[Reason]:
    match item:
        case AnyOf(branches=branches):
            # One branch less would make the disjunction too narrow: all of it or nothing.
            for branch in branches:
                for inner in branch:
                    yield from _against(case, inner)
        case Conjunct(condition=condition, expression=expression):
            if condition.clause is None:
                yield NO_TEXT, "a condition of USING or of a view has no text here"
            yield from _of_expression(case, expression)


def _of_expression(case: Case, expression: Expression) -> Iterator[Reason]:
    yield from of_expression(case.engine, expression)
    for node in walk(expression):
        match node:
            case Unknown(reason=reason):
                yield DETERMINISM, reason
            case Parameter(positional=True):
                yield PARAMETERS, "a positional parameter (?) cannot be repeated"
            case Subquery(query=query):
                yield from against(case, query.blocks)
                if _entangled(case, query.blocks):
                    yield GUARDS, "a subquery in it would itself be bounded by the dimension"
            case _ if not _total(case, node):
                yield GUARDS, f"{_shown(node)} can raise an error"
            case ColumnRef(span=None):
                yield NO_TEXT, "a column that the text does not name"
            case _:
                pass


def _entangled(case: Case, blocks: tuple[int, ...]) -> bool:
    """Whether a predicate from outside may be written into a subquery: its value would then differ
    on rows that do not count, and a condition that rests on it could let one of them pass."""
    owner = case.plan.owner
    return any(
        owner[pair.target.relation] in blocks and owner[pair.dimension.relation] not in blocks
        for pair in case.pairs
    )


def _total(case: Case, node: Expression) -> bool:
    """Whether a node computes a value from any values of its operands."""
    match node:
        case Cast():
            return False
        case Call(name=name, args=args) if name in _ARITHMETIC:
            return all(isinstance(arg, Literal | Call) and _constant(arg) for arg in args)
        case Call(name=name):
            return name in case.engine.total
        case _:
            return True


def _constant(expression: Expression) -> bool:
    return all(isinstance(node, Literal | Call) for node in walk(expression))


def _shown(node: Expression) -> str:
    match node:
        case Call(name=name):
            return f"{name}()" if name.isidentifier() else f"the operator {name}"
        case Cast(type=kind):
            return f"a cast to {kind}"
        case _:
            return "an expression"
