"""What follows from a filter: ``ts >= '2024-03-01'`` says ``dt >= date_format(…, 'yyyy-MM-dd')``.

It stands beside the author's condition. A constant is the author's own text, cast as Spark casts it
to compare it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.find.derived import THROUGH
from sqlrewrite.judge.case import Case
from sqlrewrite.judge.filters import compared_type, constants, read_constant, within_years
from sqlrewrite.plan.algebra import Expression, Literal, Subquery
from sqlrewrite.plan.expressions import walk
from sqlrewrite.sql.bind.formulas import is_call
from sqlrewrite.sql.places.anchors import AnchorError, Anchors, Range
from sqlrewrite.write.derived import compared, units, value, way_of, with_elsewhere
from sqlrewrite.write.fact import either, facts
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries
from sqlrewrite.write.names import Style


def write(cases: Sequence[Case], queries: KeyQueries) -> list[Predicate]:
    """The predicates of one comparison: one, or that of either end."""
    case, anchors, style = cases[0], queries.anchors, queries.style
    columns, found = facts(case, anchors, style), way_of(case)
    texts = _texts(case, anchors, style)
    operator = case.pair.operator
    if operator in ("=", "in"):
        if found.ranged and len(texts) > 1:
            raise AnchorError("several values that may each be some days apart")
        ends = (">", "<") if found.ranged else ("",)
    else:
        ends = (operator[0],)
    asked = () if case.pair.key_side.operand is None else tuple(_queries(case, anchors))
    return [
        Predicate(
            either(style, [_one(case, anchors, style, it, texts, end) for it in columns]), asked
        )
        for end in ends
    ]


def _queries(case: Case, anchors: Anchors) -> Iterator[str]:
    """The subqueries of what the column is compared with, outermost ones alone."""
    if not any(isinstance(it, Subquery) for one in constants(case) for it in walk(one)):
        return
    for tokens in _constants(case, anchors):
        yield from map(anchors.copy, anchors.subqueries(tokens))


def _one(
    case: Case,
    anchors: Anchors,
    style: Style,
    column: str,
    texts: Sequence[tuple[Expression, str]],
    end: str,
) -> str:
    found, known = way_of(case), all(within_years(it) for it, _ in texts)
    if end:
        moment = _later(case, *texts[0], end)
        if units(case):
            return compared(case, (anchors, style), column, end, moment, known=known)
        bound = _called(case, style, value(case, style, moment, end, known=known))
        return with_elsewhere(case, style, column, f"{column} {end}= {bound}", end, known=known)
    days = [str(day) for day in range(-found.days, found.days + 1)]
    every = (value(case, style, text, day=day) for _, text in texts for day in days)
    values = list(dict.fromkeys(every))
    said = f"{column} {style.word('IN')} ({', '.join(values)})"
    if len(values) == 1:
        said = f"{column} = {_called(case, style, values[0])}"
    return with_elsewhere(case, style, column, said)


def _called(case: Case, style: Style, bound: str) -> str:
    """A bound as a call, by which a later run tells that it is ours."""
    derived = case.pair.derived
    kind = derived.type if derived is not None else None
    kind = compared_type(case) if way_of(case).step == THROUGH else kind
    if is_call(bound) or kind is None:
        return bound
    return style.word(f"CAST({{}} AS {kind.ddl.upper()})").replace("{}", bound)


def _later(case: Case, constant: Expression, text: str, end: str) -> str:
    side = compared_type(case)
    read = None if side is None else read_constant(case, constant, side)
    return f"date_add({text}, 1)" if read is not None and read.later and end == "<" else text


def _texts(case: Case, anchors: Anchors, style: Style) -> list[tuple[Expression, str]]:
    """The constants, each with its text as a value of the type that it is compared as."""
    pair, side = case.pair, compared_type(case)
    if pair.key_side.operand is None:  # a day, or a text, that the condition comes down to
        end = pair.key_side.expression
        assert isinstance(end, Literal)
        typed = style.word("DATE") + " " if end.type == "date" else ""
        return [(end, f"{typed}'{end.text}'")]
    tokens = _constants(case, anchors)
    found: list[tuple[Expression, str]] = []
    for constant, its in zip(constants(case), tokens, strict=True):
        read = None if side is None else read_constant(case, constant, side)
        if read is None:
            raise AnchorError("a constant of a type that is not known")
        text = anchors.copy(its)
        if read.cast:
            text = style.word(read.cast.upper()).replace("{}", text)
        found.append((constant, text))
    return found


def _constants(case: Case, anchors: Anchors) -> list[Range]:
    """Where the text has what the column is compared with."""
    tie = case.pair.tie
    if case.pair.operator == "in":
        return anchors.listed(anchors.conjunct(tie.condition))
    return [anchors.operand(tie.condition, case.pair.key_side.operand)]
