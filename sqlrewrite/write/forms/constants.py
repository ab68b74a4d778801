"""``p IN (1, 2)``, the constants that the author's own condition compares the key with: they bound
the fact without reading the dimension, on every engine and whatever form is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan.algebra import Call, ColumnRef, Expression, Literal
from sqlrewrite.plan.expressions import operands
from sqlrewrite.plan.facts.coercion import compare_alike
from sqlrewrite.sql.places import Places
from sqlrewrite.text.edits import Span
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries


def write(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The one predicate; none where anything else is asked of the dimension."""
    if len(proposals) > 1:
        return []
    lists: set[str] = set()
    proposal, author = proposals[0], queries.author
    for item in proposal.restrictions:
        if not isinstance(item, Conjunct) or not _is_constant(proposal, item.expression):
            return []
        if proposal.pair.fact.relation in item.condition.relations:
            return []  # the fact's own, which it would be asked twice
        lists.add(_constants(author.places, item.condition.expression))
    if len(lists) != 1:
        return []
    value = fact_value(proposal, author)
    return [Predicate(f"{value} {author.word('IN')} ({lists.pop()})", value)]


def _constants(places: Places, condition: Expression) -> str:
    """The text right of ``=``, or in the parentheses of IN."""
    _, *values = operands(condition)
    return places.copy(Span(places.span(values[0]).start, places.span(values[-1]).end))


def _is_constant(proposal: Proposal, expression: Expression) -> bool:
    """Whether a condition compares just the key with constants that IN compares the fact with in
    the same way: ``k = 5``, ``k IN (1, 2)``."""
    pair = proposal.pair
    if pair.operator != "=" or not (pair.key_plain and pair.fact_plain) or pair.derived is not None:
        return False
    fact, other, key = (proposal.type_of(ref) for ref in (pair.stored, pair.fact, pair.key))
    if fact is None or not fact == other == key:
        return False  # against another type the same constant might compare otherwise
    match expression:
        case Call(name="=" | "in" as name, args=(ColumnRef(name=column), *values)):
            if column != pair.key.name:
                return False
            if not all(isinstance(value, Literal) and value.kind != "null" for value in values):
                return False
            kinds = [proposal.type_of(value) for value in values]
            return name == "in" or all(
                kind is not None and compare_alike(fact, kind) for kind in kinds
            )
        case _:
            return False
