"""One statement, from its tree to its insertions: the middle of the line.

plan → pairs → verdicts → predicates → insertions → checked. Apart from ``document`` so that a text
that names no partitioned table costs neither this work nor the imports for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.decision.statement_decision import (
    StatementDecision,
    as_they_stand,
    stands_in,
)
from sqlrewrite.find.pairs import Pair, at_reference, coverings
from sqlrewrite.find.reading import Reading, StatementContext
from sqlrewrite.find.reducers import alternatives, may_be_restricted
from sqlrewrite.find.restrictions import any_of, same_rows
from sqlrewrite.judge.benefit.keys import has_one_key, is_whole_in_query
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Predicate, Proposal, Slot
from sqlrewrite.judge.rules import (
    CLAUSE,
    LITERALS,
    MISSED,
    NOT_SUPPRESSED,
    OF_THE_DIMENSION,
    SELECTIVE,
    SHARED,
    Rule,
    judge_pair,
)
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.settings.forms import IN, VALUES
from sqlrewrite.settings.options import NotAskedError, Options, RefusedError
from sqlrewrite.sql.bind.binder import Bound
from sqlrewrite.sql.managed.recognition import normalized_value
from sqlrewrite.sql.managed.strip import KeptPredicate, ManagedClause
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Edit
from sqlrewrite.write import placement
from sqlrewrite.write.derived_values import days_around
from sqlrewrite.write.predicates import write

_MOST_ALTERNATIVES = 20
"""The most other dimensions that are judged for a fact's column, the nearest first. Without a
limit, a chain of CTEs that each join a fact would judge all of them for each."""
_OF_ONE = frozenset((SHARED.code, MISSED.code))
"""Rules that may fail for one reference to a CTE and hold for all of them together."""


def decide_statement(
    reading: Reading,
    options: Options,
    context: StatementContext,
    clauses: Mapping[int, ManagedClause],
) -> StatementDecision:
    """The decision on one statement. ``clauses`` are those into which an earlier run wrote, by
    their offsets.

    Raises RecursionError for one that is nested too deeply, ConfigError and ResolveError.
    """
    bound, pairs = reading.bound, reading.pairs
    assert bound is not None
    if options.form != VALUES and not context.literals:  # a MERGE needs literals in its ON
        pairs = tuple(pair for pair in pairs if pair.bounds or not pair.constants_only)
    plan = bound.plan
    if not pairs:
        return StatementDecision(reading, matters=True, failure=reading.unread_join)
    proposals = [judge_pair(plan, pair, pairs, options, context) for pair in pairs]
    proposals = _with_alternatives(plan, proposals, pairs)
    unions = _unions(plan, proposals)
    proposals = list(_at_references(plan, proposals, unions, pairs))
    groups = _groups(proposals) + unions
    statement, words = reading.statement, reading.words
    places = Places(context.text.text, statement.tokens, bound)
    kept = context.text.kept_between(statement.start, statement.end)
    if kept:  # an alias in one is seen nowhere else, and what is derived is the same without them
        words = statement.words_outside([predicate.span for predicate in kept])
    text = _Text(places, words, clauses, statement.end, kept)
    return _insertions(reading, bound, _with_predicates(proposals, groups, text), text)


class _Text(Struct, frozen=True, eq=False):
    """The text of a statement, up to its ``end``: its places, its ``words`` in lower case, the
    ``clauses`` into which an earlier run wrote, by their offsets, and the predicates of ours that a
    directive keeps."""

    places: Places
    words: frozenset[str]
    clauses: Mapping[int, ManagedClause]
    end: int
    kept: Sequence[KeptPredicate]

    def managed_clause(self, slot: Slot) -> ManagedClause | None:
        """The predicates of an earlier run in a slot's clause; None if there are none. A WHERE that
        held nothing else is looked for where a new one would go."""
        clause = slot.clause
        if not self.clauses:
            return None
        if clause.keyword is not None:
            return self.clauses.get(clause.keyword)
        start = clause.condition.end
        end = self.places.next(start, self.end)
        return next((self.clauses[at] for at in range(start, end + 1) if at in self.clauses), None)


def _with_alternatives(
    plan: Plan, proposals: Sequence[Proposal], pairs: tuple[Pair, ...]
) -> list[Proposal]:
    """The proposals, and for each of them whose dimension does not bound the fact's column, another
    with the nearest dimension of the same key that does."""
    bounded = {
        _column(proposal.pair)
        for proposal in proposals
        if proposal.verdict is not Verdict.REJECTED or proposal.failing == {MISSED.code}
    }
    seen = {(pair.target.relation, pair.dimension.relation, pair.key.name) for pair in pairs}
    all_proposals, further = list(proposals), list[Proposal]()
    for number, proposal in enumerate(proposals):
        if _column(proposal.pair) in bounded or not proposal.failing <= OF_THE_DIMENSION:
            continue
        others = alternatives(plan, proposal.pair, partial(_may_bound, proposal))
        for pair in islice(others, _MOST_ALTERNATIVES):
            if (pair.target.relation, pair.dimension.relation, pair.key.name) in seen:
                continue
            other = judge_pair(plan, pair, pairs, proposal.options, proposal.context)
            if other.verdict is Verdict.REWRITTEN:
                bounded.add(_column(pair))
                further.append(other)
                break
        else:
            if next(others, None) is not None:
                all_proposals[number] = _with_some_untried(proposal)
    return [*all_proposals, *further]


def _with_some_untried(proposal: Proposal) -> Proposal:
    """A rejected proposal that says that there are more relations with its key."""
    first = next(rule for rule in proposal.rules if rule.code in proposal.failing)
    why = (
        f"{first.message}; the {_MOST_ALTERNATIVES} nearest relations with the same key do not "
        "bound it either, those further away were not tried"
    )
    rules = (replace(rule, message=why) if rule is first else rule for rule in proposal.rules)
    return proposal.decided(rules=tuple(rules))


def _may_bound(proposal: Proposal, relation: int) -> bool:
    """Whether a relation may pass ``SELECTIVE`` in place of the dimension. A quick test: most
    relations with the same key are far from every condition."""
    pair, options = proposal.pair, proposal.options
    needs_none = SELECTIVE.code in options.disabled or pair.edge.query is not None
    needs_none = needs_none or pair.constants_only
    return needs_none or may_be_restricted(proposal.plan, pair, relation, options.reach)


def _column(pair: Pair) -> tuple[int, str]:
    return pair.target.relation, pair.target_column


class _Group(Struct, frozen=True):
    """The numbers of proposals that share a predicate: columns of one tuple, or, with ``union``,
    several references to a CTE, of which each allows some keys."""

    numbers: tuple[int, ...]
    union: bool = False


def _groups(proposals: Sequence[Proposal]) -> list[_Group]:
    """The groups of the proposals that passed: those that bound several partition columns by one
    dimension are one group."""
    groups: dict[object, list[int]] = {}
    for number, proposal in enumerate(proposals):
        if proposal.verdict is Verdict.REWRITTEN:
            groups.setdefault(_group_key(proposal), []).append(number)
    return [_Group(tuple(numbers)) for numbers in groups.values()]


def _group_key(proposal: Proposal) -> object:
    """The key of the group that a proposal belongs to."""
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


def _unions(plan: Plan, proposals: Sequence[Proposal]) -> list[_Group]:
    """Groups of proposals that fail only because their fact is in a CTE with several references:
    one proposal for each reference, of which the engine misses at least one. A predicate for the
    value of a single reference (``p = (SELECT max(p) …)``), or for its whole IN, holds for no
    other, so it is in no group."""
    numbers = {
        proposal.pair: number
        for number, proposal in enumerate(proposals)
        if SHARED.code in proposal.failing <= _OF_ONE
        and not (has_one_key(proposal) or is_whole_in_query(proposal))
    }
    sets = coverings(plan, tuple(numbers)) if numbers else []
    groups = [_Group(tuple(numbers[pair] for pair in pairs), True) for pairs in sets]
    return [
        group
        for group in groups
        if any(proposals[n].failing == {SHARED.code} for n in group.numbers)
    ]


def _at_references(
    plan: Plan, proposals: Sequence[Proposal], unions: Sequence[_Group], pairs: tuple[Pair, ...]
) -> Iterator[Proposal]:
    """The proposals. One that fails because other references to its CTE are not bounded is replaced
    by one that is written at its own reference, if that passes."""
    together = {number for group in unions for number in group.numbers}
    for number, proposal in enumerate(proposals):
        alone = SHARED.code in proposal.failing and number not in together
        pair = at_reference(plan, proposal.pair) if alone else None
        if pair is None:
            yield proposal
            continue
        other = judge_pair(plan, pair, pairs, proposal.options, proposal.context)
        yield proposal if SHARED.code in other.failing else other


def _with_predicates(
    proposals: Sequence[Proposal], groups: Sequence[_Group], text: _Text
) -> tuple[Proposal, ...]:
    """The proposals, those in ``groups`` with their predicates."""
    places = text.places
    decided = list(proposals)
    for group in groups:
        members = [decided[number] for number in group.numbers]
        try:
            slots = {placement.slot(proposal, places) for proposal in members}
            slot = slots.pop()
            if slots:
                raise NoPlaceError("the predicates for its columns would go into different clauses")
            author = placement.author_text(slot, places)
            merged = _merged(members, group)
            union = group.union and len(merged) > 1
            predicates = tuple(write(merged, author, text.words, union=union))
        except NoPlaceError as error:
            members = [_without_place(proposal, f"not written: {error}") for proposal in members]
        except RefusedError as error:
            unasked = normalized_value(error.fact) if isinstance(error, NotAskedError) else None
            members = [
                _rejected(
                    proposal,
                    LITERALS,
                    f"the keys of {proposal.quoted_dimension} are not written as literals: {error}",
                ).decided(unasked=unasked)
                for proposal in members
            ]
        else:
            comment = _forbidding_comment(merged, predicates, slot, text)
            members = [
                _accepted(proposal, predicates, slot)
                if comment is None
                else _rejected(proposal, NOT_SUPPRESSED, comment)
                for proposal in members
            ]
        for number, proposal in zip(group.numbers, members, strict=True):
            decided[number] = proposal
    return tuple(decided)


def _merged(proposals: list[Proposal], group: _Group) -> list[Proposal]:
    """The proposals of a group as one, with an OR of their conditions, if they ask for keys of the
    same rows; else the proposals as they are."""
    first = proposals[0]
    if not group.union or not all(
        proposal.pair.key_plain
        and proposal.pair.key.name == first.pair.key.name
        and same_rows(proposal.pair.dimension, first.pair.dimension)
        for proposal in proposals
    ):
        return proposals
    return [replace(first, restrictions=any_of([proposal.restrictions for proposal in proposals]))]


def _accepted(proposal: Proposal, predicates: tuple[Predicate, ...], slot: Slot) -> Proposal:
    """The proposal as rewritten, with these predicates in this slot."""
    rules = proposal.rules
    if proposal.verdict is Verdict.REJECTED:  # as one of several references
        why = "every reference to the CTE has a bound: the predicate keeps what any of them needs"
        rules = tuple(
            replace(rule, outcome=Outcome.PASS, message=why) if rule.code in _OF_ONE else rule
            for rule in rules
        )
    return proposal.decided(
        rules=rules, verdict=Verdict.REWRITTEN, predicates=predicates, slot=slot
    )


def _forbidding_comment(
    proposals: Sequence[Proposal], predicates: tuple[Predicate, ...], slot: Slot, text: _Text
) -> str | None:
    """Why an author's comment forbids the predicates; None if none does."""
    context = proposals[0].context
    if context.suppressed is None:
        return None
    mends = all(predicate.bounded in context.mended for predicate in predicates)
    for proposal in proposals:
        at = proposal.pair.at
        if at is not None and not mends and (why := context.suppresses(at)):
            return why
    bounded = {one.value for one in text.kept if one.span in slot.clause.conjuncts}
    if any(normalized_value(predicate.value) in bounded for predicate in predicates):
        return "a comment keeps the predicate that an earlier run wrote for this column"
    clause = text.managed_clause(slot)
    if clause is not None and all(stands_in(predicate, clause) for predicate in predicates):
        return None  # all of them are there already
    offsets = [edit.span.start for edit in placement.edits(slot, predicates, text.places)]
    return next((why for offset in offsets if (why := context.keeps(offset, mends))), None)


def _rejected(proposal: Proposal, rule: Rule, why: str) -> Proposal:
    """A proposal whose rules passed, rejected by a rule that only the written predicate can
    fail."""
    result = RuleResult(rule.code, rule.name, Outcome.FAIL, why)
    return proposal.decided(rules=(*proposal.rules, result), verdict=Verdict.REJECTED)


def _without_place(proposal: Proposal, message: str) -> Proposal:
    """A proposal whose rules passed, rejected because no place in the text takes its predicate. For
    a filter's proposal no rule judges the clause before this."""
    result = RuleResult(CLAUSE.code, CLAUSE.name, Outcome.FAIL, message)
    rules = tuple(result if rule.code == CLAUSE.code else rule for rule in proposal.rules)
    if result not in rules:
        rules = (*rules, result)
    return proposal.decided(rules=rules, verdict=Verdict.REJECTED, predicates=(), slot=None)


def _insertions(
    reading: Reading, bound: Bound, proposals: tuple[Proposal, ...], text: _Text
) -> StatementDecision:
    """The insertions of a statement, clause by clause, each checked; a bad one is discarded. Where
    an earlier run wrote the same into a clause, it stays as and where the author has it."""
    slots: dict[Slot, list[Predicate]] = {}
    for proposal in proposals:
        if proposal.slot is not None:
            predicates = slots.setdefault(proposal.slot, [])
            predicates += [one for one in proposal.predicates if one not in predicates]
    places, refer = text.places, reading.statement.refer
    edits: list[Edit] = []
    bugs: list[tuple[int, str]] = []
    queries: set[str] = set()
    standing: dict[Slot, Mapping[Predicate, Predicate]] = {}
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
        bugs.append((insertions[0].span.start, message))
        proposals = tuple(
            _without_place(proposal, message) if proposal.slot == slot else proposal
            for proposal in proposals
        )
    proposals = tuple(
        proposal.decided(
            predicates=tuple(standing[proposal.slot][one] for one in proposal.predicates),
            stands=True,
        )
        if proposal.slot in standing
        else proposal
        for proposal in proposals
    )
    return StatementDecision(reading, True, proposals, tuple(edits), tuple(bugs), written)
