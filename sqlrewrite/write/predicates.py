"""The predicates of proposals that share one, each in its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlrewrite.judge.errors.copied import raising_for_constant
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Predicate, Proposal
from sqlrewrite.plan.relations import joins
from sqlrewrite.settings.forms import FILTERED, HINTED, IN, RANGE, RANKED, SET, SINGLE, VALUES
from sqlrewrite.settings.options import NotAskedError
from sqlrewrite.sql.places import NoPlaceError
from sqlrewrite.text.limits import SPARK
from sqlrewrite.write import literal_forms, query_forms
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.key_queries import KeyQueries, KeyQueryWriter
from sqlrewrite.write.repeated_text import AuthorText

WRITERS: Mapping[str, Callable[[Sequence[Proposal], KeyQueries], list[Predicate]]] = {
    IN: query_forms.write_in,
    SET: query_forms.write_set,
    RANGE: query_forms.write_range,
    SINGLE: query_forms.write_single,
    HINTED: query_forms.write_hinted,
    RANKED: query_forms.write_ranked,
    FILTERED: query_forms.write_filtered,
}
"""The function of each form. ``constants`` and ``values`` are not here: they may write nothing."""


def write(
    proposals: Sequence[Proposal], author: AuthorText, words: frozenset[str], *, union: bool = False
) -> list[Predicate]:
    """The predicates for proposals, each on one line, without markers.

    Several proposals are the columns of a tuple, with one dimension and ``in`` as their form; with
    ``union``, one column for several references, each of which allows some keys. ``words`` are
    those of the statement, in lower case. Raises NoPlaceError if the text lacks a part of one.
    """
    first = proposals[0]
    if not union:
        proposals = _distinct(proposals, author, words)
    if first.pair.bounds:
        return _in_dialect(query_forms.write_bounds(first, author), first)
    form, queries = chosen_form(first), KeyQueries(author, words, union)
    predicates = literal_forms.write_constants(proposals, queries)
    if not predicates and (form == VALUES or _may_stay(first)):
        predicates = literal_forms.write_values(proposals, queries)
    if predicates:
        return _in_dialect(predicates, first)
    if first.pair.constants_only:  # the ON of a MERGE takes no subquery
        raise NotAskedError(fact_value(first, author))
    return _in_dialect(WRITERS[form](proposals, queries), first)


def _may_stay(proposal: Proposal) -> bool:
    """Whether literals of an earlier run may stay where another form is asked for."""
    return (
        bool(proposal.context.literals)
        and proposal.options.form != VALUES
        and not proposal.pair.filtered
        and raising_for_constant(proposal) is None
    )


def _in_dialect(predicates: list[Predicate], proposal: Proposal) -> list[Predicate]:
    """The predicates in the dialect of the text. Raises NoPlaceError for one that cannot be written
    in it."""
    name, pair = proposal.options.limits.dialect, proposal.pair
    if name == SPARK:
        return predicates
    if pair.derived is not None:
        raise NoPlaceError(f"`{pair.pruned}` is computed in Spark's SQL, not in {name}'s")
    from sqlrewrite.dialects import dialect  # not imported for Spark's own texts

    written_in = dialect(name)
    assert written_in is not None
    merged = {column for join in joins(proposal.target_block.source) for column in join.using}
    if not written_in.qualifies_merged and pair.target_column in merged:
        merged_by = f"`{pair.target_column}` is merged by USING"
        raise NoPlaceError(f"{merged_by}, and {name} allows no table's name before it")
    for why in filter(None, (written_in.why_unwritable(item.text) for item in predicates)):
        raise NoPlaceError(why)
    quoted = written_in.with_quotes
    return [
        Predicate(
            quoted(item.text), quoted(item.value), tuple(map(quoted, item.queries)), item.note
        )
        for item in predicates
    ]


def _distinct(
    proposals: Sequence[Proposal], author: AuthorText, words: frozenset[str]
) -> Sequence[Proposal]:
    """The proposals without repetitions of an earlier one: an equality written twice, an expression
    over two partition columns, a column that a view selects twice."""
    if len(proposals) == 1:
        return proposals
    writer = KeyQueryWriter(author, words)
    by_sides: dict[tuple[str, str], Proposal] = {}
    for proposal in proposals:
        key = writer.value(proposal.pair.key_side, proposal)("")
        by_sides.setdefault((fact_value(proposal, author), key), proposal)
    return list(by_sides.values())
