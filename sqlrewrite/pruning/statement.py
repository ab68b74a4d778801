"""One statement, from its tree to its insertions: the middle of the line.

plan → pairs → verdicts → predicates → insertions → checked. Apart from ``rewriter`` so that a text
that names no partitioned table costs neither this work nor the imports for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlrewrite.eligibility import CLAUSE, Case, examine
from sqlrewrite.eligibility.form import chosen
from sqlrewrite.model import Edit, Outcome, RuleResult, Verdict
from sqlrewrite.options import Options
from sqlrewrite.plan.nodes import Plan
from sqlrewrite.pruning import placement, postcheck
from sqlrewrite.pruning.candidates import find_pairs
from sqlrewrite.pruning.predicates import Predicate, write
from sqlrewrite.schema import Catalog
from sqlrewrite.sql.anchors import AnchorError, Anchors
from sqlrewrite.sql.bind import Bound, bind
from sqlrewrite.sql.parse import Statement


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A pair with its verdict; ``predicates`` and ``slot`` where it is to be written."""

    case: Case
    rules: tuple[RuleResult, ...]
    verdict: Verdict
    predicates: tuple[Predicate, ...] = ()
    slot: placement.Slot | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """What became of one statement."""

    statement: Statement
    plan: Plan
    judged: tuple[Judged, ...]
    edits: tuple[Edit, ...]
    bugs: tuple[tuple[int, str], ...] = ()


def prune(statement: Statement, text: str, catalog: Catalog, options: Options) -> Pruned | None:
    """One statement from its tree to its edits; None where it holds no query.

    Raises RecursionError for one that is nested too deeply.
    """
    bound = bind(statement.tree, text, catalog) if statement.tree is not None else None
    if bound is None:
        return None
    plan = bound.plan
    pairs = find_pairs(plan)
    if not pairs:
        return Pruned(statement, plan, (), ())
    anchors = Anchors(text, statement.tokens)
    written = text[statement.start : statement.tokens[-1].end + 1].lower()
    judged = [Judged(*examine(plan, pair, pairs, options)) for pair in pairs]
    return _edit(statement, bound, _written(judged, anchors, written), anchors)


def _written(judged: Sequence[Judged], anchors: Anchors, text: str) -> tuple[Judged, ...]:
    """The pairs with the predicates of those that passed; ``text`` is the statement's, lower case.
    Several partition columns of a fact that one dimension bounds share one."""
    done = list(judged)
    groups: dict[object, list[int]] = {}
    for number, item in enumerate(judged):
        if item.verdict is not Verdict.REWRITTEN:
            continue
        try:
            done[number] = item = replace(item, slot=placement.slot(item.case, anchors))
        except AnchorError as error:
            done[number] = _refused(item, f"no place in the text: {error}")
            continue
        groups.setdefault(_group(item), []).append(number)
    for numbers in groups.values():
        items = [done[number] for number in numbers]
        slot = items[0].slot
        assert slot is not None
        try:
            cases = [item.case for item in items]
            found = tuple(write(cases, anchors, placement.style(slot, anchors), text))
            written = [replace(item, predicates=found) for item in items]
        except AnchorError as error:
            written = [_refused(item, f"no place in the text: {error}") for item in items]
        for number, item in zip(numbers, written, strict=True):
            done[number] = item
    return tuple(done)


def _group(item: Judged) -> object:
    """What the pairs that share a predicate have in common."""
    pair = item.case.pair
    if chosen(item.case) != "in":
        return pair
    return (item.slot, pair.target.relation, pair.dimension.relation, item.case.kept)


def _refused(judged: Judged, message: str) -> Judged:
    """A pair whose rules passed and which has no place in the text after all."""
    rules = tuple(
        replace(rule, outcome=Outcome.FAIL, message=message) if rule.code == CLAUSE.code else rule
        for rule in judged.rules
    )
    return Judged(judged.case, rules, Verdict.REJECTED)


def _edit(
    statement: Statement, bound: Bound, judged: tuple[Judged, ...], anchors: Anchors
) -> Pruned:
    """The insertions of a statement, clause by clause, each checked; a bad one is discarded."""
    slots: dict[placement.Slot, list[Predicate]] = {}
    for item in judged:
        if item.slot is not None:
            predicates = slots.setdefault(item.slot, [])
            predicates += [found for found in item.predicates if found not in predicates]
    edits: list[Edit] = []
    bugs: list[tuple[int, str]] = []
    known: set[str] = set()
    # Where an ON and a new WHERE go to the same place in the text, the ON comes first.
    for slot, predicates in sorted(slots.items(), key=lambda item: item[0].clause.keyword is None):
        made = placement.edits(slot, predicates, anchors)
        wrong = postcheck.check(slot, predicates, made, anchors, bound, known)
        if wrong is None:
            edits += made
            continue
        message = f"a predicate was discarded, please report this: {wrong}"
        bugs.append((made[0].offset, message))
        judged = tuple(_refused(item, message) if item.slot == slot else item for item in judged)
    return Pruned(statement, bound.plan, judged, tuple(edits), tuple(bugs))
