"""Which conditions on the dimension the key query may repeat; the others are left out of it.

Leaving one out only widens the bound, so this is where doubt costs least. DPP114 guards lives here:
a condition that can raise an error is never copied, because what kept it from raising (``x <> 0 AND
1 / x > 2``, or the join itself) might not come with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlrewrite.eligibility.case import Case, Judgement, called, passed
from sqlrewrite.eligibility.key_types import TYPES, unlike
from sqlrewrite.eligibility.repeatable import (
    DETERMINISM,
    PARAMETERS,
    Reason,
    against,
    cannot_stand_alone,
    of_expression,
    of_whole,
)
from sqlrewrite.eligibility.selective_predicate import restricts
from sqlrewrite.plan.columns import type_of
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
from sqlrewrite.plan.facts.casts import never_fails
from sqlrewrite.plan.facts.coercion import is_numeric
from sqlrewrite.plan.facts.types import DATE, TIMESTAMP, Type, parse, valued
from sqlrewrite.plan.nodes import Output, Plan, Query
from sqlrewrite.pruning.restrictions import AnyOf, Conjunct, Restriction, SemiJoin, any_of
from sqlrewrite.sql.templates import is_template

GUARDS = "DPP114"
NO_TEXT = "DPP000"

# Arithmetic fails on overflow and division by zero, in ANSI mode; between constants it is folded,
# and fails or not whatever the rows are.
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "div"})

# These bring their operands to one type, and a cast of a string to another can fail.
_COERCING = frozenset(
    "= <> < <= > >= <=> equal_null between in is coalesce nvl ifnull greatest least".split()
)
# How many of a function's arguments are text, whatever they are given.
_TEXT_ARGUMENTS = {
    **dict.fromkeys(("like", "ilike", "rlike", "substr", "substring", "left", "right"), 1),
    **dict.fromkeys(("locate", "instr"), 2),
}
_TRUTH = _COERCING - {"coalesce", "nvl", "ifnull", "greatest", "least"} | {"and", "or", "not"}

# These take a date; a string would be cast to one.
_OF_DATES = frozenset(
    """
    year month day dayofmonth dayofweek dayofyear weekofyear weekday quarter last_day date_trunc
    trunc datediff date_diff date_format
    """.split()
)
# Date arithmetic in days wraps and never fails.
_DATE_SHIFTS = frozenset({"date_add", "date_sub"})
_OF_DATES_TAKE = ("datetime", "'…'", "DATE '…'")


def sift(
    case: Case, found: tuple[Restriction, ...]
) -> tuple[tuple[Restriction, ...], tuple[Reason, ...]]:
    """The restrictions that may be repeated, and the reasons why others may not."""
    left_out: list[Reason] = []
    kept = _sifted(case, found, left_out)
    return kept, tuple(dict.fromkeys(left_out))


def _sifted(
    case: Case, found: tuple[Restriction, ...], left_out: list[Reason]
) -> tuple[Restriction, ...]:
    kept: list[Restriction] = []
    for item in found:
        match item:
            case Conjunct():
                if not _left_out(case, _of_conjunct(case, item), left_out):
                    kept.append(item)
            case AnyOf(branches=branches):
                # Less in a branch is a wider bound; a branch with nothing left is no bound at all.
                kept += any_of([_sifted(case, branch, left_out) for branch in branches])
            case SemiJoin(inner=inner):
                if _left_out(case, _of_neighbour(case, item), left_out):
                    continue
                join = replace(item, inner=_sifted(case, inner, left_out))
                if restricts(case, join):
                    kept.append(join)
    return tuple(kept)


def _left_out(case: Case, reasons: Iterator[Reason], left_out: list[Reason]) -> bool:
    against = [reason for reason in reasons if reason[0] not in case.options.disabled]
    left_out += against[:1]
    return bool(against)


def judge_guards(case: Case) -> Judgement:
    """Always passes: it tells of the conditions that were left out because they can fail."""
    reasons = [reason for code, reason in case.left_out if code == GUARDS]
    if reasons:
        return passed("left out of the key query: " + "; ".join(reasons))
    return passed("no condition in the key query can raise an error")


def _of_conjunct(case: Case, item: Conjunct) -> Iterator[Reason]:
    if item.condition.clause is None:
        yield NO_TEXT, "a condition of USING or of a view has no text here"
    yield from of_value(case, item.expression)


def _of_neighbour(case: Case, item: SemiJoin) -> Iterator[Reason]:
    """The reasons why a neighbour may not be read by the key query, as for the dimension itself."""
    yield from of_whole(case, item.relation)
    yield from cannot_stand_alone(case, item.relation)
    why = unlike(case.plan, item.key, item.other)
    if why is not None:
        yield TYPES, why


def of_value(case: Case, expression: Expression) -> Iterator[Reason]:
    """The reasons why an expression may not be computed again, for rows that it might never have
    been computed for."""
    yield from of_expression(case.engine, expression)
    for node in walk(expression):
        if not _total(case, node):
            yield GUARDS, f"{_shown(node)} can raise an error"
        match node:
            case Unknown(reason=reason):
                yield DETERMINISM, reason
            case Parameter(positional=True):
                yield PARAMETERS, "a positional parameter (?) cannot be repeated"
            case Subquery(query=query):
                yield from against(case, query.blocks)
                if _entangled(case, query.blocks):
                    yield GUARDS, "a subquery in it would itself be bounded by the dimension"
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
    """Whether a node computes a value from any values of its operands, in ANSI mode too."""
    match node:
        case Cast(operand=operand, type=kind, safe=safe):
            given, wanted = type_of(case.plan, operand), parse(kind)
            return safe or (given is not None and wanted is not None and never_fails(given, wanted))
        case Call(name=name, args=args) if name in _ARITHMETIC:
            return all(_constant(arg) for arg in args)
        case Call(name=name, args=args) if name in _TEXT_ARGUMENTS:
            # The rest are positions, lengths or patterns: constants, or a cast could fail.
            return all(isinstance(arg, Literal) for arg in args[_TEXT_ARGUMENTS[name] :])
        case Call(name=name, args=args) if name in _COERCING:
            return comparable(case.plan, args)
        case Call(name=name, args=(day, Literal(kind="number"))) if name in _DATE_SHIFTS:
            return _kind(case.plan, day) in _OF_DATES_TAKE
        case Call(name=name, args=args) if name in _OF_DATES:
            return all(_kind(case.plan, arg) in _OF_DATES_TAKE for arg in args)
        case Call(name=name):
            return name in case.engine.total
        case Subquery(outer=(_, *_)):
            return False  # it computes for rows that the query may have ruled out before
        case Subquery(kind="in", operand=operand, query=query) if operand is not None:
            found = [output.expression for output in _first_outputs(case.plan, query)]
            return comparable(case.plan, (operand, *found))
        case _:
            return True


def comparable(plan: Plan, operands: tuple[Expression, ...]) -> bool:
    """Whether operands meet in one type without a cast of a column that could fail: a string
    against a number is one, a string constant against anything is a cast of the constant."""
    kinds = {_kind(plan, operand) for operand in operands} - {_NULL}
    if None in kinds:
        return False
    columns = kinds - {_STRING_CONSTANT, _NUMBER_CONSTANT, _OTHER_CONSTANT}
    if len(columns) > 1:
        return False
    text = any(kind is not None and kind.startswith("string") for kind in columns)
    return not (text and kinds & {_NUMBER_CONSTANT, _OTHER_CONSTANT})


_NULL, _STRING_CONSTANT, _NUMBER_CONSTANT, _OTHER_CONSTANT = "null", "'…'", "0", "DATE '…'"


def _kind(plan: Plan, operand: Expression) -> str | None:
    """The family of an operand's type, or which sort of constant it is; None if not known."""
    match operand:
        case Literal(kind="null"):
            return _NULL
        case Literal(kind="string"):
            return _STRING_CONSTANT
        case Literal(kind="number"):
            return _NUMBER_CONSTANT
        case Literal(kind="boolean"):
            return "boolean"
        case Literal() | Parameter():
            return _OTHER_CONSTANT
        case Call() if _constant(operand):
            return _OTHER_CONSTANT
        case Subquery(kind="scalar", query=query):
            kinds = {_kind(plan, output.expression) for output in _first_outputs(plan, query)}
            return kinds.pop() if len(kinds) == 1 else None
        case Call(name=name) if name in _TRUTH:
            return "boolean"
        case Call(name="+" | "-", args=args):
            kinds = {_kind(plan, arg) for arg in args} - {_NUMBER_CONSTANT}
            return "numeric" if kinds <= {"numeric"} else None
        case _:
            kind = type_of(plan, operand)
            return None if kind is None else _family(kind)


def _family(kind: Type) -> str:
    """What types have in common that meet without a cast that could fail."""
    if is_numeric(kind):
        return "numeric"
    return "datetime" if kind in (DATE, TIMESTAMP) else str(valued(kind))


def _first_outputs(plan: Plan, query: Query) -> list[Output]:
    blocks = [plan.blocks[number] for number in query.top]
    return [block.outputs[0] for block in blocks if block.outputs and block.complete]


def _constant(expression: Expression) -> bool:
    return all(isinstance(node, Literal | Call) for node in walk(expression))


def _shown(node: Expression) -> str:
    match node:
        case Call(name=name):
            plain = name.isidentifier() or is_template(name)
            return called(name) if plain else f"the operator {name}"
        case Cast(type=kind):
            return f"a cast to {kind}"
        case Subquery():
            return "a correlated subquery"
        case _:
            return "an expression"
