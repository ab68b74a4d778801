"""One statement, from its tree to its insertions: the middle of the line.

plan → pairs → verdicts → predicates → insertions → checked. Apart from ``document`` so that a text
that names no partitioned table costs neither this work nor the imports for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlrewrite.decision.statement_decision import (
    PairDecision,
    StatementDecision,
    as_they_stand,
    stands_in,
)
from sqlrewrite.find.pairs import Pair, at_reference, coverings
from sqlrewrite.find.reading import Reading, StatementContext
from sqlrewrite.find.reducers import alternatives
from sqlrewrite.find.restrictions import any_of, same_rows
from sqlrewrite.judge.benefit.keys import has_one_key, is_whole_in_query
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.rules import (
    CLAUSE,
    LITERALS,
    MISSED,
    NOT_SUPPRESSED,
    OF_THE_DIMENSION,
    SHARED,
    Rule,
    examine,
)
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.settings.forms import IN, VALUES
from sqlrewrite.settings.options import NotAskedError, Options, RefusedError
from sqlrewrite.sql.bind.binder import Bound
from sqlrewrite.sql.managed.recognition import (
    has_managed_predicate,
    managed_predicates,
    normalized_value,
)
from sqlrewrite.sql.managed.strip import ManagedClause
from sqlrewrite.sql.managed.token_walk import Walk
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Edit
from sqlrewrite.text.markers import MARKER
from sqlrewrite.write import placement
from sqlrewrite.write.derived_values import days_around
from sqlrewrite.write.predicates import write
from sqlrewrite.write.query_forms import Predicate

_OF_ONE = frozenset((SHARED.code, MISSED.code))
"""What may speak against one of several references to a CTE, and not against them all together."""


def decide_statement(
    reading: Reading,
    options: Options,
    context: StatementContext,
    clauses: Mapping[int, ManagedClause],
) -> StatementDecision:
    """What is decided of one statement. ``clauses`` are those into which an earlier run wrote, by
    their offsets.

    Raises RecursionError for one that is nested too deeply, ConfigError and ResolveError.
    """
    bound, pairs = reading.bound, reading.pairs
    if bound is None:
        return StatementDecision(reading, failure=reading.unread_join)
    if options.form != VALUES and not context.literals:  # the ON of a MERGE takes these alone
        pairs = tuple(pair for pair in pairs if pair.edge.block.role != "merge")
    plan = bound.plan
    if not pairs:
        return StatementDecision(reading, matters=True, failure=reading.unread_join)
    judged = [PairDecision(*examine(plan, pair, pairs, options, context)) for pair in pairs]
    judged += _alternatives(plan, judged, pairs)
    unions = _unions(plan, judged)
    judged = list(_at_references(plan, judged, unions, pairs))
    groups = _groups(judged) + unions
    statement, words = reading.statement, reading.words
    places = Places(context.text.text, statement.tokens, bound)
    walk = None
    if context.suppressed is not None and MARKER in places.text:
        walk = Walk(places.text, statement.tokens)
        words = _unmanaged_words(walk, words)
    text = _Text(places, words, clauses, statement.end, walk)
    return _insertions(reading, bound, _with_predicates(judged, groups, text), text)


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """The text of a statement, up to its ``end``: its places, its ``words`` in lower case, and the
    ``clauses`` into which an earlier run wrote, by their offsets; its tokens, where predicates of
    ours may stay in it."""

    places: Places
    words: frozenset[str]
    clauses: Mapping[int, ManagedClause]
    end: int
    walk: Walk | None

    def managed_clause(self, slot: placement.Slot) -> ManagedClause | None:
        """What an earlier run wrote into the clause of a slot. A WHERE that was all ours is looked
        for where a new one would go."""
        clause = slot.clause
        if not self.clauses:
            return None
        if clause.keyword is not None:
            return self.clauses.get(clause.keyword)
        start = clause.condition.end
        end = self.places.next(start, self.end)
        return next((self.clauses[at] for at in range(start, end + 1) if at in self.clauses), None)


def _unmanaged_words(walk: Walk, words: frozenset[str]) -> frozenset[str]:
    """A statement's words without those in predicates of ours that a comment keeps: an alias in one
    of them is seen nowhere else, and what is derived beside them is to be the same without them."""
    inside = {index for managed in managed_predicates(walk) for index in range(*managed.tokens)}
    if not inside:
        return words
    return frozenset(t.text.lower() for n, t in enumerate(walk.tokens) if n not in inside)


def _alternatives(
    plan: Plan, judged: Sequence[PairDecision], pairs: tuple[Pair, ...]
) -> Iterator[PairDecision]:
    """For each fact's column that a relation ties and does not bound, the first one in its place
    that does."""
    bounded = {
        _column(item.proposal.pair)
        for item in judged
        if item.verdict is not Verdict.REJECTED or item.failing == {MISSED.code}
    }
    seen = {(pair.target.relation, pair.dimension.relation, pair.key.name) for pair in pairs}
    for item in judged:
        if _column(item.proposal.pair) in bounded or not item.failing <= OF_THE_DIMENSION:
            continue
        for pair in alternatives(plan, item.proposal.pair):
            if (pair.target.relation, pair.dimension.relation, pair.key.name) in seen:
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
            groups.setdefault(_group_key(item.proposal), []).append(number)
    return [_Group(tuple(numbers)) for numbers in groups.values()]


def _group_key(proposal: Proposal) -> object:
    """What the pairs that share a predicate have in common."""
    pair = proposal.pair
    if chosen_form(proposal) != IN or pair.operator != "=":
        return pair
    # The days around a key are those of one column.
    of = pair.path.column if days_around(proposal) else ""
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
        and not (has_one_key(item.proposal) or is_whole_in_query(item.proposal))
    }
    sets = coverings(plan, tuple(numbers)) if numbers else []
    groups = [_Group(tuple(numbers[pair] for pair in pairs), True) for pairs in sets]
    return [
        group for group in groups if any(judged[n].failing == {SHARED.code} for n in group.numbers)
    ]


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


def _with_predicates(
    judged: Sequence[PairDecision], groups: Sequence[_Group], text: _Text
) -> tuple[PairDecision, ...]:
    """The pairs with the predicates of those in ``groups``."""
    places = text.places
    decisions = list(judged)
    for group in groups:
        items = [decisions[number] for number in group.numbers]
        proposals = [item.proposal for item in items]
        try:
            slots = {placement.slot(proposal, places) for proposal in proposals}
            slot = slots.pop()
            if slots:
                raise NoPlaceError("the columns have different places")
            author = placement.author_text(slot, places)
            proposals = _merged(proposals, group)
            union = group.union and len(proposals) > 1
            predicates = tuple(write(proposals, author, text.words, union=union))
        except NoPlaceError as error:
            written = [_without_place(item, f"not written: {error}") for item in items]
        except RefusedError as error:
            names = [item.proposal.dimension_name for item in items]
            written = [
                _rejected(item, LITERALS, f"no literals of {name}: {error}")
                for item, name in zip(items, names, strict=True)
            ]
            if isinstance(error, NotAskedError):
                unasked = normalized_value(error.fact)
                written = [replace(item, unasked=unasked) for item in written]
        else:
            comment = _forbidding_comment(proposals, predicates, slot, text)
            written = [
                _accepted(item, predicates, slot)
                if comment is None
                else _rejected(item, NOT_SUPPRESSED, comment)
                for item in items
            ]
        for number, item in zip(group.numbers, written, strict=True):
            decisions[number] = item
    return tuple(decisions)


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


def _forbidding_comment(
    proposals: Sequence[Proposal], found: tuple[Predicate, ...], slot: placement.Slot, text: _Text
) -> str | None:
    """Why a comment of the author's forbids predicates, if one does."""
    context = proposals[0].context
    if context.suppressed is None:
        return None
    mends = all(item.bounded in context.mended for item in found)
    for proposal in proposals:
        at = proposal.pair.at
        if at is not None and not mends and (why := context.suppresses(at)):
            return why
    walk, conjuncts = text.walk, slot.clause.conjuncts
    if walk and any(has_managed_predicate(walk, conjuncts, predicate.value) for predicate in found):
        return "an earlier predicate for it is kept as it is"
    clause = text.managed_clause(slot)
    if clause is not None and all(stands_in(predicate, clause) for predicate in found):
        return None  # and nothing is written at another place
    offsets = [edit.offset for edit in placement.edits(slot, found, text.places)]
    return next((why for offset in offsets if (why := context.keeps(offset, mends))), None)


def _rejected(judged: PairDecision, rule: Rule, why: str) -> PairDecision:
    """A pair whose rules passed, rejected by one that can only be judged of what is written."""
    result = RuleResult(rule.code, rule.name, Outcome.FAIL, why)
    return PairDecision(judged.proposal, (*judged.rules, result), Verdict.REJECTED)


def _without_place(judged: PairDecision, message: str) -> PairDecision:
    """A pair whose rules passed and which has no place in the text after all. A filter's pair has
    not been asked for its clause before."""
    result = RuleResult(CLAUSE.code, CLAUSE.name, Outcome.FAIL, message)
    rules = tuple(result if rule.code == CLAUSE.code else rule for rule in judged.rules)
    if result not in rules:
        rules = (*rules, result)
    return PairDecision(judged.proposal, rules, Verdict.REJECTED)


def _insertions(
    reading: Reading, bound: Bound, judged: tuple[PairDecision, ...], text: _Text
) -> StatementDecision:
    """The insertions of a statement, clause by clause, each checked; a bad one is discarded. Where
    an earlier run wrote the same into a clause, it stays as and where the author has it."""
    slots: dict[placement.Slot, list[Predicate]] = {}
    for item in judged:
        if item.slot is not None:
            predicates = slots.setdefault(item.slot, [])
            predicates += [one for one in item.predicates if one not in predicates]
    places, refer = text.places, reading.statement.refer
    edits: list[Edit] = []
    bugs: list[tuple[int, str]] = []
    queries: set[str] = set()
    standing: dict[placement.Slot, Mapping[Predicate, Predicate]] = {}
    written: dict[int, Mapping[str, str]] = {}
    # Where an ON and a new WHERE go to the same place in the text, the ON comes first.
    for slot, predicates in sorted(slots.items(), key=lambda item: item[0].clause.keyword is None):
        insertions = placement.edits(slot, predicates, places)
        wrong = placement.check(slot, predicates, insertions, places, bound, queries, refer)
        if wrong is None:
            clause = text.managed_clause(slot)
            if clause is not None:
                same = as_they_stand(clause, predicates)
                if same is None:
                    written[clause.at] = {
                        predicate.marked: predicate.bounded for predicate in predicates
                    }
                else:
                    written[clause.at] = {
                        predicate.text: predicate.value for predicate in clause.predicates
                    }
                    insertions, standing[slot] = list(clause.edits), same
            edits += insertions
            continue
        message = f"a predicate was discarded, please report this: {wrong}"
        bugs.append((insertions[0].offset, message))
        judged = tuple(
            _without_place(item, message) if item.slot == slot else item for item in judged
        )
    judged = tuple(
        replace(
            item,
            predicates=tuple(standing[item.slot][predicate] for predicate in item.predicates),
            stands=True,
        )
        if item.slot in standing
        else item
        for item in judged
    )
    return StatementDecision(reading, True, judged, tuple(edits), tuple(bugs), written)
