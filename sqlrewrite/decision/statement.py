"""One statement, from its tree to its insertions: the middle of the line.

plan → pairs → verdicts → predicates → insertions → checked. Apart from ``document`` so that a text
that names no partitioned table costs neither this work nor the imports for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlrewrite.decision.decided import Decided, PairDecision
from sqlrewrite.find.context import StatementContext
from sqlrewrite.find.pairs import Pair, at_reference
from sqlrewrite.find.reading import Reading
from sqlrewrite.find.reducers import alternatives
from sqlrewrite.find.restrictions import any_of, same_rows
from sqlrewrite.find.shared_ctes import coverings
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge.examination import examine
from sqlrewrite.judge.form import chosen
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.rules import (
    CLAUSE,
    LITERALS,
    MISSED,
    NOT_SUPPRESSED,
    OF_THE_DIMENSION,
    SHARED,
    Rule,
)
from sqlrewrite.judge.single import is_single, of_whole_query
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.settings.forms import IN, VALUES
from sqlrewrite.settings.options import NotAskedError, Options, RefusedError
from sqlrewrite.sql.bind.binder import Bound
from sqlrewrite.sql.managed import Earlier
from sqlrewrite.sql.marked import has_managed, plain, predicates
from sqlrewrite.sql.places.anchors import AnchorError, Anchors
from sqlrewrite.text.edits import MARKER, Edit
from sqlrewrite.write import placement, postcheck
from sqlrewrite.write.derived import spread
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.predicates import write
from sqlrewrite.write.settled import earlier_in, settled, stands

Known = Callable[[placement.Slot], Earlier | None]
"""What an earlier run wrote into a clause."""


_OF_ONE = frozenset((SHARED.code, MISSED.code))
"""What may speak against one of several references to a CTE, and not against them all together."""


def decide_statement(
    reading: Reading, options: Options, context: StatementContext, earlier: Mapping[int, Earlier]
) -> Decided:
    """What is decided of one statement. ``earlier`` is what an earlier run wrote, by the offset of
    its clause.

    Raises RecursionError for one that is nested too deeply, ConfigError and ResolveError.
    """
    bound, pairs = reading.bound, reading.pairs
    if bound is None:
        return Decided(reading, failure=reading.told)
    if options.form != VALUES and not context.noted:  # of which alone a MERGE makes use in its ON
        pairs = tuple(pair for pair in pairs if pair.edge.block.role != "merge")
    plan = bound.plan
    if not pairs:
        return Decided(reading, matters=True, failure=reading.told)
    statement, words = reading.statement, reading.words
    anchors = Anchors(context.text.text, statement.tokens)
    judged = [PairDecision(*examine(plan, pair, pairs, options, context)) for pair in pairs]
    judged += _by_others(plan, judged, pairs)
    unions = _unions(plan, judged)
    judged = list(_at_references(plan, judged, unions, pairs))
    groups = _groups(judged) + unions
    known = partial(earlier_in, anchors=anchors, earlier=earlier, end=statement.end)
    if context.suppressed is not None:
        words = _outside(anchors, words)
    done = _written(judged, groups, anchors, words, known)
    return _edit(reading, bound, done, anchors, known)


def _outside(anchors: Anchors, words: frozenset[str]) -> frozenset[str]:
    """A statement's words without those in predicates of ours that a comment keeps: an alias in one
    of them is seen nowhere else, and what is derived beside them is to be the same without them."""
    ours = list(predicates(anchors)) if MARKER in anchors.text else []
    if not ours:
        return words
    inside = {index for found in ours for index in range(*found.tokens)}
    return frozenset(t.text.lower() for n, t in enumerate(anchors.tokens) if n not in inside)


def _by_others(
    plan: Plan, judged: Sequence[PairDecision], pairs: tuple[Pair, ...]
) -> Iterator[PairDecision]:
    """For each fact's column that a relation ties and does not bound, the first one in its place
    that does."""
    bounded = {
        _column(item.proposal.pair)
        for item in judged
        if item.verdict is not Verdict.REJECTED or item.failing == {MISSED.code}
    }
    known = {(pair.target.relation, pair.dimension.relation, pair.key.name) for pair in pairs}
    for item in judged:
        if _column(item.proposal.pair) in bounded or not item.failing <= OF_THE_DIMENSION:
            continue
        for pair in alternatives(plan, item.proposal.pair):
            if (pair.target.relation, pair.dimension.relation, pair.key.name) in known:
                continue
            other = PairDecision(
                *examine(plan, pair, pairs, item.proposal.options, item.proposal.context)
            )
            if other.verdict is Verdict.REWRITTEN:
                bounded.add(_column(pair))
                yield other
                break


def _column(pair: Pair) -> tuple[int, str]:
    return pair.target.relation, pair.target_column


@dataclass(frozen=True, slots=True)
class _Group:
    """Pairs, by their numbers, that share their predicates; as columns of a tuple, or as what each
    of several references to a CTE allows (``union``)."""

    numbers: tuple[int, ...]
    union: bool = False


def _groups(judged: Sequence[PairDecision]) -> list[_Group]:
    """The pairs that passed; several partition columns that one dimension bounds are one group."""
    groups: dict[object, list[int]] = {}
    for number, item in enumerate(judged):
        if item.verdict is Verdict.REWRITTEN:
            groups.setdefault(_shared(item.proposal), []).append(number)
    return [_Group(tuple(numbers)) for numbers in groups.values()]


def _shared(proposal: Proposal) -> object:
    """What the pairs that share a predicate have in common."""
    pair = proposal.pair
    if chosen(proposal) != IN or pair.operator != "=":
        return pair
    # The days around a key are those of one column.
    of = pair.path.column if spread(proposal) else ""
    return (
        pair.target.relation,
        pair.edge.block.number,
        pair.dimension.relation,
        proposal.restrictions,
        of,
    )


def _unions(plan: Plan, judged: Sequence[PairDecision]) -> list[_Group]:
    """The pairs that fail only because their fact is in a CTE with several references, where there
    is one for each of these, and one at least that the engine misses. What is said of the value of
    one reference (``p = (SELECT max(p) …)``), or of its whole IN, is said of no other."""
    numbers = {
        item.proposal.pair: number
        for number, item in enumerate(judged)
        if SHARED.code in item.failing <= _OF_ONE
        and not (is_single(item.proposal) or of_whole_query(item.proposal))
    }
    found = coverings(plan, tuple(numbers)) if numbers else []
    groups = [_Group(tuple(numbers[pair] for pair in pairs), True) for pairs in found]
    return [it for it in groups if any(judged[n].failing == {SHARED.code} for n in it.numbers)]


def _at_references(
    plan: Plan, judged: Sequence[PairDecision], unions: Sequence[_Group], pairs: tuple[Pair, ...]
) -> Iterator[PairDecision]:
    """The pairs, each that fails because its fact is in a CTE with several references, which are
    not all bounded, as one whose predicate stands at its own reference."""
    together = {number for group in unions for number in group.numbers}
    for number, item in enumerate(judged):
        alone = SHARED.code in item.failing and number not in together
        pair = at_reference(plan, item.proposal.pair) if alone else None
        if pair is None:
            yield item
            continue
        other = PairDecision(
            *examine(plan, pair, pairs, item.proposal.options, item.proposal.context)
        )
        yield item if SHARED.code in other.failing else other


def _written(
    judged: Sequence[PairDecision],
    groups: Sequence[_Group],
    anchors: Anchors,
    words: frozenset[str],
    known: Known,
) -> tuple[PairDecision, ...]:
    """The pairs with the predicates of those in ``groups``; ``words`` are the statement's, in lower
    case."""
    done = list(judged)
    for group in groups:
        items = [done[number] for number in group.numbers]
        proposals = [item.proposal for item in items]
        try:
            slots = {placement.slot(proposal, anchors) for proposal in proposals}
            slot = slots.pop()
            if slots:
                raise AnchorError("the columns have different places")
            look = placement.style(slot, anchors)
            proposals = _merged(proposals, group)
            union = group.union and len(proposals) > 1
            found = tuple(write(proposals, anchors, look, words, union=union))
        except AnchorError as error:
            written = [_refused(item, f"not written: {error}") for item in items]
        except RefusedError as error:
            unasked = error.fact if isinstance(error, NotAskedError) else None
            written = [
                _failed(
                    item,
                    LITERALS,
                    f"no literals of {item.proposal.dimension_name}: {error}",
                    unasked,
                )
                for item in items
            ]
        else:
            why = _comment(proposals, found, slot, anchors, known)
            written = [
                _accepted(item, found, slot) if why is None else _failed(item, NOT_SUPPRESSED, why)
                for item in items
            ]
        for number, item in zip(group.numbers, written, strict=True):
            done[number] = item
    return tuple(done)


def _merged(proposals: list[Proposal], group: _Group) -> list[Proposal]:
    """References that ask for keys of the same rows ask for them under any of their conditions."""
    first = proposals[0]
    if not group.union or not all(
        proposal.pair.key_plain
        and proposal.pair.key.name == first.pair.key.name
        and same_rows(proposal.pair.dimension, first.pair.dimension)
        for proposal in proposals
    ):
        return proposals
    return [replace(first, restrictions=any_of([proposal.restrictions for proposal in proposals]))]


def _accepted(
    item: PairDecision, found: tuple[Predicate, ...], slot: placement.Slot
) -> PairDecision:
    """A pair whose predicates are to be written."""
    rules = item.rules
    if item.verdict is Verdict.REJECTED:  # as one of several references
        why = "each reference bounds it: what any of them allows is let through"
        rules = tuple(
            replace(rule, outcome=Outcome.PASS, message=why) if rule.code in _OF_ONE else rule
            for rule in rules
        )
    return PairDecision(item.proposal, rules, Verdict.REWRITTEN, found, slot)


def _comment(
    proposals: Sequence[Proposal],
    found: tuple[Predicate, ...],
    slot: placement.Slot,
    anchors: Anchors,
    known: Known,
) -> str | None:
    """Why a comment of the author's forbids predicates, if one does."""
    context = proposals[0].context
    if context.suppressed is None:
        return None
    mends = all(plain(item.value) in context.mended for item in found)
    for proposal in proposals:
        at = proposal.pair.at
        if at is not None and not mends and (why := context.suppresses(at)):
            return why
    if any(has_managed(anchors, slot.clause.condition, item.value) for item in found):
        return "an earlier predicate for it is kept as it is"
    before = known(slot)
    if before is not None and all(stands(it, before) for it in found):
        return None  # and nothing is written at another place
    offsets = [edit.offset for edit in placement.edits(slot, found, anchors)]
    return next((why for offset in offsets if (why := context.keeps(offset, mends))), None)


def _failed(judged: PairDecision, rule: Rule, why: str, unasked: str | None = None) -> PairDecision:
    """A pair whose rules passed, and which one that is only judged now speaks against."""
    result = RuleResult(rule.code, rule.name, Outcome.FAIL, why)
    return PairDecision(judged.proposal, (*judged.rules, result), Verdict.REJECTED, unasked=unasked)


def _refused(judged: PairDecision, message: str) -> PairDecision:
    """A pair whose rules passed and which has no place in the text after all."""
    rules = tuple(
        replace(rule, outcome=Outcome.FAIL, message=message) if rule.code == CLAUSE.code else rule
        for rule in judged.rules
    )
    return PairDecision(judged.proposal, rules, Verdict.REJECTED)


def _edit(
    reading: Reading, bound: Bound, judged: tuple[PairDecision, ...], anchors: Anchors, known: Known
) -> Decided:
    """The insertions of a statement, clause by clause, each checked; a bad one is discarded. Where
    an earlier run wrote the same into a clause, it stays as and where the author has it."""
    slots: dict[placement.Slot, list[Predicate]] = {}
    for item in judged:
        if item.slot is not None:
            predicates = slots.setdefault(item.slot, [])
            predicates += [found for found in item.predicates if found not in predicates]
    refer = reading.statement.refer
    edits: list[Edit] = []
    bugs: list[tuple[int, str]] = []
    queries: set[str] = set()
    standing: dict[placement.Slot, Mapping[Predicate, Predicate]] = {}
    written: dict[int, tuple[Predicate, ...]] = {}
    # Where an ON and a new WHERE go to the same place in the text, the ON comes first.
    for slot, predicates in sorted(slots.items(), key=lambda item: item[0].clause.keyword is None):
        made = placement.edits(slot, predicates, anchors)
        wrong = postcheck.check(slot, predicates, made, anchors, bound, queries, refer)
        if wrong is None:
            before = known(slot)
            theirs = settled(before, predicates) if before is not None else None
            if before is not None:
                written[before.at] = tuple(predicates if theirs is None else theirs.values())
            if before is not None and theirs is not None:
                made, standing[slot] = list(before.edits), theirs
            edits += made
            continue
        message = f"a predicate was discarded, please report this: {wrong}"
        bugs.append((made[0].offset, message))
        judged = tuple(_refused(item, message) if item.slot == slot else item for item in judged)
    judged = tuple(
        replace(
            item, predicates=tuple(standing[item.slot][it] for it in item.predicates), stands=True
        )
        if item.slot in standing
        else item
        for item in judged
    )
    return Decided(reading, True, judged, tuple(edits), tuple(bugs), written)
