"""The straight line, from text to text.

text → statements → plan → pairs → verdicts → predicates → insertions → checked → text. Each stage
takes the value before it and returns a new one; a query can be followed from ``rewrite`` to the end
of this page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlrewrite.eligibility import Case, examine
from sqlrewrite.eligibility.case import relation_name
from sqlrewrite.model import (
    MARKER,
    Candidate,
    ConfigError,
    Edit,
    JoinUse,
    Outcome,
    PlanDiff,
    Problem,
    Rewrite,
    RuleResult,
    TableUse,
    Verdict,
)
from sqlrewrite.plan.expressions import ColumnRef
from sqlrewrite.plan.nodes import Derived, Plan
from sqlrewrite.plan.render import diff
from sqlrewrite.pruning import placement, postcheck
from sqlrewrite.pruning.candidates import Pair, find_pairs
from sqlrewrite.pruning.predicates import in_predicate
from sqlrewrite.rulebook import Engine
from sqlrewrite.rulebook import engine as engine_named
from sqlrewrite.schema import Catalog
from sqlrewrite.source import Lines, apply
from sqlrewrite.sql.anchors import AnchorError, Anchors
from sqlrewrite.sql.bind import Bound, bind
from sqlrewrite.sql.definitions import apply as apply_definition
from sqlrewrite.sql.managed import Stripped, strip
from sqlrewrite.sql.parse import NOT_PARSED, Failure, Statement, lex, statements

Place = Callable[[int], tuple[int, int]]

BUG = "DPP999"
PREDICATES = ("in",)


@dataclass(frozen=True, slots=True)
class _Options:
    engine: Engine
    hint: bool
    disabled: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A pair with its verdict; ``predicate`` and ``slot`` where it is to be written."""

    case: Case
    rules: tuple[RuleResult, ...]
    verdict: Verdict
    predicate: str | None = None
    slot: placement.Slot | None = None


@dataclass(frozen=True, slots=True)
class _Result:
    """What became of one statement."""

    statement: Statement
    plan: Plan
    judged: tuple[_Judged, ...]
    edits: tuple[Edit, ...]
    bugs: tuple[tuple[int, str], ...] = ()


def rewrite(
    sql: str,
    catalog: Catalog,
    *,
    engine: str = "spark",
    predicate: str = "in",
    hint: bool = True,
    disabled: frozenset[str] = frozenset(),
) -> Rewrite:
    """Writes pruning predicates into a text of Spark SQL statements.

    ``catalog`` says what is known of the tables; CREATE, DROP and USE in the text itself are
    followed. ``engine`` names the rule set, ``predicate`` the form, ``hint`` asks for a broadcast
    hint in the key query. ``disabled`` rules are taken as passed, which makes the result unsound:
    it is for tests. Returns the new text, every candidate with its verdict, and what could not be
    read. Never raises for bad SQL; raises ConfigError for an engine or a form that is not there.
    """
    if predicate not in PREDICATES:
        known = ", ".join(PREDICATES)
        raise ConfigError(f"no predicate form is called {predicate!r}: known: {known}")
    options = _Options(engine_named(engine), hint, disabled)
    lexed = lex(sql)
    text = strip(sql, lexed.tokens)
    if text.removed:
        lexed = lex(text.text)
    results: list[_Result] = []
    errors: list[tuple[int, str, str]] = []
    skipped: list[tuple[int, str, str]] = []
    count = 0
    for statement in statements(text.text, lexed):
        count += 1
        result = _statement(statement, text.text, catalog, options)
        if isinstance(result, Failure):
            into = skipped if result.parsed else errors
            into.append((result.offset, NOT_PARSED, result.message))
        elif result is not None:
            results.append(result)
            errors += [(offset, BUG, message) for offset, message in result.bugs]
        catalog = apply_definition(statement, text.text, catalog, "the text")
    rewritten = apply(text.text, [edit for result in results for edit in result.edits])
    return _report(text, rewritten, count, results, errors, skipped)


def _statement(
    statement: Statement, text: str, catalog: Catalog, options: _Options
) -> _Result | Failure | None:
    """One statement from its tree to its edits; None where it holds no query."""
    if statement.failure is not None or statement.tree is None:
        return statement.failure
    try:
        bound = bind(statement.tree, text, catalog)
    except RecursionError:
        return Failure(statement.start, "nested too deeply to be read", parsed=True)
    if bound is None:
        return None
    plan = bound.plan
    pairs = find_pairs(plan)
    if not pairs:
        return _Result(statement, plan, (), ())
    anchors = Anchors(text, statement.tokens)
    names = frozenset(token.text.lower() for token in statement.tokens)
    judged = tuple(_judge(plan, pair, pairs, anchors, names, options) for pair in pairs)
    return _edit(statement, bound, judged, anchors)


def _judge(
    plan: Plan,
    pair: Pair,
    pairs: tuple[Pair, ...],
    anchors: Anchors,
    names: frozenset[str],
    options: _Options,
) -> _Judged:
    """One pair through all rules, and its predicate where they pass."""
    case, rules, verdict = examine(
        plan, pair, pairs, options.engine, hint=options.hint, disabled=options.disabled
    )
    judged = _Judged(case, rules, verdict)
    if verdict is not Verdict.REWRITTEN:
        return judged
    try:
        slot = placement.slot(case, anchors)
        written = in_predicate(
            case, anchors, placement.style(slot, anchors), names, hint=options.hint
        )
    except AnchorError as error:
        failing = tuple(
            replace(rule, outcome=Outcome.FAIL, message=f"no place in the text: {error}")
            if rule.code == "DPP116"
            else rule
            for rule in rules
        )
        return _Judged(case, failing, Verdict.REJECTED)
    return replace(judged, predicate=written, slot=slot)


def _edit(
    statement: Statement, bound: Bound, judged: tuple[_Judged, ...], anchors: Anchors
) -> _Result:
    """The insertions of a statement, clause by clause, each checked; a bad one is discarded."""
    slots: dict[placement.Slot, list[str]] = {}
    for item in judged:
        if item.slot is not None and item.predicate is not None:
            predicates = slots.setdefault(item.slot, [])
            if item.predicate not in predicates:
                predicates.append(item.predicate)
    edits: list[Edit] = []
    bugs: list[tuple[int, str]] = []
    # Where an ON and a new WHERE go to the same place in the text, the ON comes first.
    for slot, predicates in sorted(slots.items(), key=lambda item: item[0].clause.keyword is None):
        made = placement.edits(slot, predicates, anchors)
        wrong = postcheck.check(slot, predicates, made, anchors, bound)
        if wrong is None:
            edits += made
            continue
        bugs.append((made[0].offset, f"a predicate was discarded, please report this: {wrong}"))
        judged = tuple(
            replace(item, verdict=Verdict.REJECTED, predicate=None, slot=None)
            if item.slot == slot
            else item
            for item in judged
        )
    return _Result(statement, bound.plan, judged, tuple(edits), tuple(bugs))


# --- the report -----------------------------------------------------------------------------------


def _report(
    text: Stripped,
    rewritten: str,
    count: int,
    results: Sequence[_Result],
    errors: Sequence[tuple[int, str, str]],
    skipped: Sequence[tuple[int, str, str]],
) -> Rewrite:
    lines = Lines(text.original)

    def place(offset: int) -> tuple[int, int]:
        return lines.place(text.original_offset(offset))

    def problems(found: Sequence[tuple[int, str, str]]) -> tuple[Problem, ...]:
        return tuple(Problem(code, message, *place(offset)) for offset, code, message in found)

    before = text.insertions()
    candidates: list[Candidate] = []
    plans: list[PlanDiff] = []
    for result in results:
        kept = _kept(result.edits, before)
        candidates += [_candidate(result, item, kept, place) for item in result.judged]
        if result.edits:
            added: dict[int, tuple[str, ...]] = {}
            for item in result.judged:
                if item.predicate is not None:
                    target = item.case.pair.target.relation
                    added[target] = tuple(dict.fromkeys((*added.get(target, ()), item.predicate)))
            line = place(result.statement.start)[0]
            plans.append(PlanDiff(result.statement.index, line, diff(result.plan, added)))
    return Rewrite(
        original=text.original,
        sql=rewritten,
        statements=count,
        candidates=tuple(candidates),
        errors=problems(errors),
        skipped=problems(skipped),
        plans=tuple(plans),
    )


def _kept(edits: Sequence[Edit], before: dict[int, str]) -> str:
    """All insertions that an earlier run had made just so, as one text to look predicates up in."""
    return "\n".join(edit.text for edit in edits if before.get(edit.offset) == edit.text)


def _candidate(result: _Result, item: _Judged, kept: str, place: Place) -> Candidate:
    pair, plan = item.case.pair, result.plan
    verdict = item.verdict
    if verdict is Verdict.REWRITTEN and f"{item.predicate} {MARKER}" in kept:
        verdict = Verdict.ALREADY_PRUNED
    at_fact = _offset(pair.target, pair.fact, result)
    at_dimension = _offset(pair.dimension, pair.key, result)
    at_join = next(
        (ref.span.start for ref in (pair.fact, pair.key) if ref.span is not None), at_fact
    )
    shown = relation_name(pair.target) if isinstance(pair.target, Derived) else None
    name = ".".join(pair.scan.parts) if shown is None else shown
    key_relation = plan.relations[pair.key.relation]
    return Candidate(
        statement=result.statement.index,
        fact=TableUse(name, pair.target.alias, pair.target_column, *place(at_fact)),
        dimension=TableUse(
            item.case.dimension_name, key_relation.alias, pair.key.name, *place(at_dimension)
        ),
        join=JoinUse(_join_name(pair), *place(at_join)),
        verdict=verdict,
        rules=item.rules,
        predicate=item.predicate,
    )


def _join_name(pair: Pair) -> str:
    """The join in the words of SQL, as it was written where that is a join type."""
    join = pair.tie.join
    if join is not None and pair.side in ("left", "right"):
        return join.declared.value
    return pair.tie.shape


def _offset(relation: object, ref: ColumnRef, result: _Result) -> int:
    """Where a relation stands in the text: its name, its alias, or a column of it."""
    span = getattr(relation, "span", None)
    if span is not None:
        return int(span.start)
    anchor = getattr(relation, "anchor", None)
    if anchor is not None:
        return int(anchor)
    return ref.span.start if ref.span is not None else result.statement.start
