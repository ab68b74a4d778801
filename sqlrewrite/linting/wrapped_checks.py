"""DPP004: conditions on a function or cast of a partition column.

Spark 4.3 evaluates any deterministic expression over partition columns for each partition, before
it reads a file, and by the keys of a broadcast join, too (docs/spark.md, "Functions of a partition
column"): there a finding is a note, about what the metastore can do with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from msgspec import Struct

from sqlrewrite.find.reducers import conditions_reaching, own_conditions
from sqlrewrite.find.restrictions import plain_conditions
from sqlrewrite.judge.benefit.already_pruned import binds_to_one_value
from sqlrewrite.judge.benefit.keys import repeats
from sqlrewrite.linting.checked_statement import CheckedStatement
from sqlrewrite.linting.findings import Finding, Severity
from sqlrewrite.linting.scan_checks import bounds, hidden_times, partitions, read_whole, scans
from sqlrewrite.plan.algebra import (
    Call,
    Cast,
    ColumnRef,
    Condition,
    Expression,
    Literal,
    Plan,
    Scan,
    Subquery,
    Unknown,
)
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.expressions import columns, relations, walk
from sqlrewrite.results import Outcome
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.options import ALONE
from sqlrewrite.text.edits import Span

_COMPARISONS = frozenset(
    {"=", "<=>", "<>", "<", "<=", ">", ">=", "between", "in", "like", "ilike", "rlike", "isnull"}
)
_TEMPORAL = ("date", "timestamp")
_NUMBERS_SHOWN = 3
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_AS_MOMENT = tuple(f"the cast to {kind}" for kind in _TEMPORAL)
_AS_NUMBER = "the cast to a number that a comparison with a number implies"
_NO_METASTORE = "delta"
"""A format whose partitions are in its own log: Spark evaluates the condition on these."""


class _Inside(Struct, frozen=True):
    """The partition columns in an operand, each with its place. ``by``: the function or cast around
    them. ``idle``: they stand in an OR. ``computed``: the engine evaluates it for each partition.
    ``numbers`` are the texts of the number literals that they are compared with."""

    columns: tuple[tuple[str, Span], ...]
    by: str
    idle: bool
    computed: bool = True
    numbers: tuple[str, ...] = ()


class _Wrapped(Struct, frozen=True):
    """A condition on wrapped partition columns. ``idle``: an OR around them keeps the columns
    themselves from pruning, too. ``tied``: they are compared with another relation's values."""

    first: _Inside
    names: tuple[str, ...]
    idle: bool
    tied: bool
    computed: bool


def wrapped_partition_column(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP004: each condition that compares an expression on a partition column of a scan."""
    for scan in scans(checked.plan):
        names = partitions(scan, checked.engine)
        if scan.span is None or not names:
            continue
        wrapped = list(_all(checked.plan, scan, names))
        wrapped = [one for one in wrapped if not (one.tied and _adds_nothing(checked, scan, one))]
        idle_too = any(one.idle for one in wrapped) and read_whole(checked, scan, names)
        for one in wrapped:
            prunes = one.computed and not one.idle and _computes(checked.engine, scan)
            if (idle_too or not one.idle) and not (prunes and scan.table.provider == _NO_METASTORE):
                yield _finding(checked, scan, one, prunes)


def day_as_text(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP004: each condition that compares the day of a column with hidden partitions as a text:
    Iceberg chooses partitions by ranges of the column alone."""
    for scan in scans(checked.plan):
        names = hidden_times(scan)
        if scan.span is None or not names:
            continue
        compared = [
            operands
            for condition in conditions_reaching(checked.plan, scan.relation)
            if condition.relations == {scan.relation}
            for operands, in_or in _operands(condition.expression, scan.relation)
            if not in_or
        ]
        plain = {
            operand.name
            for operands in compared
            for operand in operands
            if isinstance(operand, ColumnRef)
        }
        for operands in compared:
            column = next(filter(None, map(_column_of_day, operands)), None)
            if column is None or column.name not in names - plain or column.span is None:
                continue
            line, place = checked.lines.place(column.span.start)
            shown = f"{scan.alias}.{column.name}"
            why = (
                f"`{shown}` becomes a text (line {line}, column {place}): Iceberg finds hidden "
                f"partitions by ranges of `{column.name}`, not by a text computed from it"
            )
            yield checked.finding("DPP004", scan.span, shown, why, _as_range(column.name, operands))


def _column_of_day(operand: Expression) -> ColumnRef | None:
    """The column whose day an operand gives as a text, or None."""
    match operand:
        case (
            Cast(operand=Cast(operand=ColumnRef() as column, type="date"), type="string")
            | Call(
                name="from_unixtime",
                args=(
                    Call(
                        name="unix_timestamp" | "to_unix_timestamp", args=(ColumnRef() as column,)
                    ),
                    *_,
                ),
            )
        ):
            return column
        case _:
            return None


def _as_range(column: str, operands: Sequence[Expression]) -> str:
    """The advice to compare the column with a range: that of the day, where one is given."""
    other = next((one.text for one in operands if isinstance(one, Literal)), "")
    patterns = [one.args[1] for one in operands if isinstance(one, Call) and len(one.args) > 1]
    by_days = all(isinstance(one, Literal) and one.text == "yyyy-MM-dd" for one in patterns)
    general = f"compare `{column}` itself with a range of timestamps"
    if len(operands) != 2 or not by_days or not _DAY.fullmatch(other):
        return general
    try:
        day = date.fromisoformat(other)
        behind = day + timedelta(days=1)
    except (ValueError, OverflowError):
        return general
    start, end = (f"TIMESTAMP '{each}'" for each in (day, behind))
    return f"{general}: `{column} >= {start} AND {column} < {end}` for that day"


def _computes(engine: Engine, scan: Scan) -> bool:
    """Whether the engine evaluates functions of a table's partition columns before it reads."""
    return (scan.table.provider or "default") in engine.computes_partitions


def _all(plan: Plan, scan: Scan, names: frozenset[str]) -> Iterator[_Wrapped]:
    for condition in conditions_reaching(plan, scan.relation):
        inside = list(_of_condition(plan, condition, scan.relation, names))
        if not inside:
            continue
        prunes = bounds(condition.expression, scan.relation, names)
        placed = not any(isinstance(node, Unknown) for node in walk(condition.expression))
        tied = condition.relations != {scan.relation} or not placed
        if tied and not _equates(condition.expression):
            continue  # no engine prunes by an inequality with the values of each row
        first = min(inside, key=lambda it: it.columns[0][1].start)
        about = dict.fromkeys(name for one in inside for name, _ in one.columns)
        idle, computed = (
            any(one.idle for one in inside),
            all(one.computed for one in inside),
        )
        yield _Wrapped(first, tuple(about), idle and not prunes, tied, computed)


def _equates(expression: Expression) -> bool:
    """Whether a condition compares by equality, somewhere in it."""
    equalities = ("=", "<=>", "in")
    return any(
        isinstance(node, Subquery) or (isinstance(node, Call) and node.name in equalities)
        for node in walk(expression)
    )


def _of_condition(
    plan: Plan, condition: Condition, relation: int, names: frozenset[str]
) -> Iterator[_Inside]:
    for operands, in_or in _operands(condition.expression, relation):
        for operand in operands:
            by, computed = _wrapping(plan, operand, operands, names)
            places = _places(operand, relation, names) if by else {}
            if places:
                numbers = tuple(
                    other.text
                    for other in operands
                    if isinstance(other, Literal) and other.kind == "number"
                )
                yield _Inside(tuple(places.items()), by, in_or, computed, numbers)


def _adds_nothing(checked: CheckedStatement, scan: Scan, wrapped: _Wrapped) -> bool:
    """Whether a join on a wrapped column needs no finding: the column is bound to one value, or
    the join's keys bound it by a predicate, or they are of a type for which none can (DPP005)."""
    return _bound(checked.plan, scan, wrapped) or any(
        proposal.pair.scan is scan
        and proposal.pair.path.column in wrapped.names
        and (
            (candidate.fact, candidate.dimension) in checked.already_written
            or any(
                rule.code == "DPP112" and rule.outcome is Outcome.FAIL for rule in proposal.rules
            )
        )
        for candidate, proposal in zip(checked.candidates, checked.decided.proposals, strict=True)
    )


def _bound(plan: Plan, scan: Scan, wrapped: _Wrapped) -> bool:
    """Whether another condition binds a column to one value."""
    own = plain_conditions(own_conditions(plan, scan.relation, ALONE))
    return any(binds_to_one_value(condition, name) for condition in own for name in wrapped.names)


def _finding(checked: CheckedStatement, scan: Scan, wrapped: _Wrapped, prunes: bool) -> Finding:
    assert scan.span is not None
    named = [f"{scan.alias}.{name}" for name in wrapped.names]
    shown, at = ", ".join(f"`{name}`" for name in named), wrapped.first.columns[0][1]
    bare = ", ".join(f"`{name}`" for name in wrapped.names)
    line, column = checked.lines.place(at.start)
    engine = checked.engine.title
    are = "are" if len(named) > 1 else "is"
    where = f"{shown} {are} inside {wrapped.first.by} (line {line}, column {column})"
    itself = "itself" if len(named) == 1 else "themselves"
    help_ = f"compare {bare} {itself}, with a range of values if need be"
    unknown = f": the engine finds partitions by the values of {bare}, not by a value computed "
    unknown += "from them"
    if wrapped.idle:
        why = f", under an OR with a branch that does not bound {bare}{unknown}"
        help_ = f"bound {bare} {itself}, in each branch of the OR"
    elif prunes and wrapped.tied:
        why = f": {engine} prunes by that only if the join is a broadcast join"
    elif prunes:
        why = f": {engine} prunes by that, but only after the metastore has listed every partition"
    elif wrapped.first.by == _AS_NUMBER and _computes(checked.engine, scan):
        why = f": under ANSI a value of {bare} that is no number raises an error, and the"
        why += " metastore cannot filter by the cast"
        help_ = _as_strings(wrapped.first.numbers)
    else:
        why = unknown
        if wrapped.first.by == _AS_NUMBER:
            help_ = _as_strings(wrapped.first.numbers)
    if wrapped.first.by.startswith(_AS_MOMENT):
        help_ = (
            f"compare {bare} with a string in its own format, such as date_format(…, 'yyyyMMdd')"
        )
    severity = Severity.NOTE if prunes else None
    span = scan.span
    return checked.finding("DPP004", span, named[0], where + why, help_, severity=severity)


def _as_strings(numbers: Sequence[str]) -> str:
    """The advice to write numbers as strings, the first few of them as they would be written."""
    shown = ", ".join(f"`'{number}'`" for number in numbers[:_NUMBERS_SHOWN])
    more = " and so on" if len(numbers) > _NUMBERS_SHOWN else ""
    what = "the number as a string" if len(numbers) == 1 else "the numbers as strings"
    return f"write {what}: {shown}{more}"


def _operands(
    expression: Expression, relation: int, negated: bool = False, in_or: bool = False
) -> Iterator[tuple[tuple[Expression, ...], bool]]:
    """The sides of each comparison in a condition, or its negation, that might rule out partitions
    of a relation, and whether an OR stands above it. ``<>`` and NOT IN of a query rule
    out none by another relation's values, IS NOT NULL none at all."""
    match expression:
        case Call(name="not", args=(inner,)):
            yield from _operands(inner, relation, not negated, in_or)
        case Call(name="and" | "or" as name, args=args):
            for arg in args:
                below = in_or or (name == "or") is not negated
                yield from _operands(arg, relation, negated, below)
        case Call(name="isnull") | Subquery() if negated:
            return
        case Call(name=name, args=args) if name in _COMPARISONS:
            if not (negated or name == "<>") or relations(expression) == {relation}:
                yield tuple(value for arg in args for value in _values(arg)), in_or
        case Subquery(kind="in", operand=operand) if operand is not None:
            yield _values(operand), in_or
        case _:
            return


def _values(operand: Expression) -> tuple[Expression, ...]:
    """The values that an operand compares, which are several for ``(a, b)``."""
    return operand.args if isinstance(operand, Call) and operand.name == "tuple" else (operand,)


def _wrapping(
    plan: Plan, operand: Expression, beside: tuple[Expression, ...], names: frozenset[str]
) -> tuple[str, bool]:
    """The function or cast in which an operand wraps its columns, empty for a plain column; and
    whether the engine evaluates it by itself."""
    match operand:
        case ColumnRef(name=name):
            return _implicit(plan, operand, beside) if name in names else ("", True)
        case Cast(operand=ColumnRef() as column, type=kind):
            # A cast to its own type changes nothing.
            same = expression_type(plan, column) == kind
            return "" if same else f"a cast to {kind}", True
        case Cast():
            return "a cast", _deterministic(operand)
        case Call():
            return _shown(operand), _deterministic(operand)
        case _:
            return "", True


def _implicit(plan: Plan, column: ColumnRef, beside: tuple[Expression, ...]) -> tuple[str, bool]:
    """The cast that the engine puts around a string which is compared with another type. Of a
    number it is reported as a mistake: under ANSI a value that is no number is an error."""
    if str(expression_type(plan, column)) != "string" or len(columns(Call("", beside))) != 1:
        return "", True
    for other in beside:
        if other is column or (isinstance(other, Literal) and other.kind == "null"):
            continue
        kind = str(expression_type(plan, other) or "")
        if kind.startswith(_TEMPORAL):
            return f"the cast to {kind} that a comparison with {kind} implies", True
        if isinstance(other, Literal) and other.kind == "number":
            return _AS_NUMBER, False
    return "", True


def _deterministic(operand: Expression) -> bool:
    """Whether an expression is made of functions known to repeat. Functions of the user may run in
    a process of their own, which Spark starts only for the rows of files."""
    return not any(
        isinstance(node, Unknown)
        or (isinstance(node, Call) and node.name[:1].isalpha() and not repeats(node.name))
        for node in walk(operand)
    )


def _places(operand: Expression, relation: int, names: frozenset[str]) -> dict[str, Span]:
    """The partition columns in an operand, each with its first place."""
    places: dict[str, Span] = {}
    for ref in columns(operand):
        if ref.relation == relation and ref.name in names and ref.span is not None:
            first = places.get(ref.name, ref.span)
            places[ref.name] = min(first, ref.span, key=lambda span: span.start)
    return dict(sorted(places.items(), key=lambda it: it[1].start))


def _shown(call: Call) -> str:
    """A function as a person would name it, with the schema of a user's own left out."""
    if call.name == "." and isinstance(call.args[-1], Call):
        return _shown(call.args[-1])
    if call.name == ".":
        return "the field of a struct"
    name = call.name.rpartition(".")[2]
    return f"{name}()" if name.isidentifier() else f"an expression with {name}"
