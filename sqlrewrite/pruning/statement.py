"""One statement, from its tree to its insertions: the middle of the line.

plan → pairs → verdicts → predicates → insertions → checked. Apart from ``rewriter`` so that a text
that names no partitioned table costs neither this work nor the imports for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlrewrite.eligibility import CLAUSE, NOT_SUPPRESSED, Case, examine
from sqlrewrite.model import Edit, Outcome, RuleResult, Verdict
from sqlrewrite.plan.nodes import Plan
from sqlrewrite.pruning import placement, postcheck
from sqlrewrite.pruning.candidates import Pair, find_pairs
from sqlrewrite.pruning.predicates import Predicate, in_predicate
from sqlrewrite.rulebook import Engine
from sqlrewrite.schema import Catalog
from sqlrewrite.sql.anchors import AnchorError, Anchors
from sqlrewrite.sql.bind import Bound, bind
from sqlrewrite.sql.managed import has_managed
from sqlrewrite.sql.parse import Statement


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """How to rewrite; ``disabled`` rules are taken as passed, for tests.

    ``suppressed`` says why the scan at an offset of the text is to be left as it is, if it is, and
    ``frozen`` why nothing may be inserted there.
    """

    engine: Engine
    hint: bool
    disabled: frozenset[str]
    suppressed: Callable[[int], str | None] | None = None
    frozen: Callable[[int], str | None] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A pair with its verdict; ``predicate`` and ``slot`` where it is to be written."""

    case: Case
    rules: tuple[RuleResult, ...]
    verdict: Verdict
    predicate: Predicate | None = None
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
    judged = tuple(_judge(plan, pair, pairs, anchors, written, options) for pair in pairs)
    return _edit(statement, bound, judged, anchors)


def _judge(
    plan: Plan,
    pair: Pair,
    pairs: tuple[Pair, ...],
    anchors: Anchors,
    text: str,
    options: Options,
) -> Judged:
    """One pair through all rules, and its predicate where they pass."""
    case, rules, verdict = examine(
        plan, pair, pairs, options.engine, hint=options.hint, disabled=options.disabled
    )
    judged = Judged(case, rules, verdict)
    if verdict is not Verdict.REWRITTEN:
        return judged
    span = pair.target.span
    if options.suppressed and span and (why := options.suppressed(span.start)):
        return _suppressed(judged, why)
    try:
        slot = placement.slot(case, anchors)
        style = placement.style(slot, anchors)
        predicate = in_predicate(case, anchors, style, text, hint=options.hint)
    except AnchorError as error:
        return _refused(judged, f"no place in the text: {error}")
    if options.frozen is not None:
        if has_managed(anchors, slot.clause.condition, predicate.text):
            return _suppressed(judged, "an earlier predicate for it is kept as it is")
        for edit in placement.edits(slot, [predicate], anchors):
            if why := options.frozen(edit.offset):
                return _suppressed(judged, why)
    return replace(judged, predicate=predicate, slot=slot)


def _suppressed(judged: Judged, why: str) -> Judged:
    """A pair whose rules passed and which a comment of the author's asks to leave alone."""
    rule = RuleResult(NOT_SUPPRESSED.code, NOT_SUPPRESSED.name, Outcome.FAIL, why)
    return Judged(judged.case, (*judged.rules, rule), Verdict.REJECTED)


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
        if item.slot is not None and item.predicate is not None:
            predicates = slots.setdefault(item.slot, [])
            if item.predicate not in predicates:
                predicates.append(item.predicate)
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
