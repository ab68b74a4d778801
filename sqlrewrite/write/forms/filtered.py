"""What follows from a filter: ``ts >= '2024-03-01'`` says ``dt >= date_format(…, 'yyyy-MM-dd')``.

It stands beside the author's condition. A constant is the author's own text, cast as Spark casts it
to compare it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.find.derived_columns import THROUGH
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.filters import compared_type, constants, read_constant, within_years
from sqlrewrite.plan.algebra import Expression, Literal, Subquery
from sqlrewrite.plan.expressions import walk
from sqlrewrite.sql.bind.formulas import is_call
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.write.derived_values import (
    checked_bound,
    derived_value,
    or_stray_rows,
    smaller_units_of,
    unit_bound,
)
from sqlrewrite.write.fact_values import disjunction, fact_values
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries
from sqlrewrite.write.names import AuthorText


def write(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The predicates of one comparison: one, or that of either end."""
    proposal, author = proposals[0], queries.author
    columns, found = fact_values(proposal, author), checked_bound(proposal)
    texts = _constant_texts(proposal, author)
    operator = proposal.pair.operator
    if operator in ("=", "in"):
        if found.ranged and len(texts) > 1:
            raise NoPlaceError("several values that may each be some days apart")
        ends = (">", "<") if found.ranged else ("",)
    else:
        ends = (operator[0],)
    subqueries = (
        ()
        if proposal.pair.key_side.operand is None
        else tuple(_subqueries(proposal, author.places))
    )
    return [
        Predicate(
            disjunction(
                author, [_predicate_text(proposal, author, it, texts, end) for it in columns]
            ),
            columns[0],
            subqueries,
        )
        for end in ends
    ]


def _subqueries(proposal: Proposal, places: Places) -> Iterator[str]:
    """The subqueries of what the column is compared with, outermost ones alone."""
    if not any(isinstance(it, Subquery) for one in constants(proposal) for it in walk(one)):
        return
    for constant in constants(proposal):
        yield from map(places.copy, places.subqueries(places.span(constant)))


def _predicate_text(
    proposal: Proposal,
    author: AuthorText,
    column: str,
    texts: Sequence[tuple[Expression, str]],
    end: str,
) -> str:
    found, in_range = checked_bound(proposal), all(within_years(it) for it, _ in texts)
    if end:
        moment = _compared_moment(proposal, *texts[0], end)
        if smaller_units_of(proposal):
            return unit_bound(proposal, author, column, end, moment, in_range=in_range)
        bound = _as_call(
            proposal, author, derived_value(proposal, author, moment, end, in_range=in_range)
        )
        return or_stray_rows(
            proposal, author, column, f"{column} {end}= {bound}", end, in_range=in_range
        )
    days = [str(day) for day in range(-found.days, found.days + 1)]
    every = (derived_value(proposal, author, text, day=day) for _, text in texts for day in days)
    values = list(dict.fromkeys(every))
    predicate = f"{column} {author.word('IN')} ({', '.join(values)})"
    if len(values) == 1:
        predicate = f"{column} = {_as_call(proposal, author, values[0])}"
    return or_stray_rows(proposal, author, column, predicate)


def _as_call(proposal: Proposal, author: AuthorText, bound: str) -> str:
    """A bound as a call, by which a later run tells that it is ours."""
    derived = proposal.pair.derived
    kind = derived.type if derived is not None else None
    kind = compared_type(proposal) if checked_bound(proposal).step == THROUGH else kind
    if is_call(bound) or kind is None:
        return bound
    return author.word(f"CAST({{}} AS {kind.ddl.upper()})").replace("{}", bound)


def _compared_moment(proposal: Proposal, constant: Expression, text: str, end: str) -> str:
    side = compared_type(proposal)
    read = None if side is None else read_constant(proposal, constant, side)
    return f"date_add({text}, 1)" if read is not None and read.later and end == "<" else text


def _constant_texts(proposal: Proposal, author: AuthorText) -> list[tuple[Expression, str]]:
    """The constants, each with its text as a value of the type that it is compared as."""
    pair, side = proposal.pair, compared_type(proposal)
    if pair.key_side.operand is None:  # a day, or a text, that the condition comes down to
        end = pair.key_side.expression
        assert isinstance(end, Literal)
        typed = author.word("DATE") + " " if end.type == "date" else ""
        return [(end, f"{typed}'{end.text}'")]
    found: list[tuple[Expression, str]] = []
    for constant in constants(proposal):
        read = None if side is None else read_constant(proposal, constant, side)
        if read is None:
            raise NoPlaceError("a constant of a type that is not known")
        text = author.places.copy(author.places.span(constant))
        if read.cast:
            text = author.word(read.cast.upper()).replace("{}", text)
        found.append((constant, text))
    return found
