"""The straight line, from text to text.

text → statements → plan → pairs → verdicts → predicates → insertions → checked → text. Each stage
takes the value before it and returns a new one; a query can be followed from ``rewrite`` through
``pruning.statement.prune``, which does a single statement, to the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlrewrite.model import (
    Candidate,
    ConfigError,
    Edit,
    PlanDiff,
    Problem,
    Rewrite,
)
from sqlrewrite.options import FORMS, Options, Reach
from sqlrewrite.rulebook import engine as engine_named
from sqlrewrite.schema import Catalog
from sqlrewrite.source import Lines, apply
from sqlrewrite.sql.definitions import apply as apply_definition
from sqlrewrite.sql.managed import strip
from sqlrewrite.sql.parse import NOT_PARSED, Failure, Statement, lex, statements

BUG = "DPP999"
_TOO_DEEP = "nested too deeply to be rewritten"


@dataclass(slots=True)
class _Record:
    """What is gathered along the line, statement by statement."""

    edits: list[Edit] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    plans: list[PlanDiff] = field(default_factory=list)


def rewrite(
    sql: str,
    catalog: Catalog,
    *,
    engine: str = "spark",
    predicate: str = "in",
    hint: bool = True,
    depth: int = 3,
    through_facts: bool = False,
    key_limit: int | None = None,
    disabled: frozenset[str] = frozenset(),
) -> Rewrite:
    """Writes pruning predicates into a text of Spark SQL statements.

    ``catalog`` says what is known of the tables; CREATE, DROP and USE in the text itself are
    followed. ``engine`` names the rule set; ``predicate`` is the form: ``in``, ``set``, ``range``
    or ``auto``; ``hint`` asks for a broadcast hint in the key query. A dimension's neighbours are
    followed ``depth`` joins outward, and through partitioned tables if ``through_facts``. Keys of
    more than ``key_limit`` bytes (default: the engine's) are not collected. ``disabled`` rules are
    taken as passed, which makes the result unsound: it is for tests.

    Returns the new text, every candidate with its verdict, and what could not be read. Never raises
    for bad SQL; raises ConfigError for an engine or a form that is not there.
    """
    if predicate not in FORMS:
        known = ", ".join(FORMS)
        raise ConfigError(f"no predicate form is called {predicate!r}: known: {known}")
    reach = Reach(depth, through_facts)
    options = Options(engine_named(engine), predicate, hint, reach, key_limit, disabled)
    lexed = lex(sql)
    text = strip(sql, lexed.tokens)
    if text.removed:
        lexed = lex(text.text)
    lines, earlier, record = Lines(sql), text.insertions(), _Record()
    count = 0

    def place(offset: int) -> tuple[int, int]:
        return lines.place(text.original_offset(offset))

    for statement in statements(text.text, lexed):
        count += 1
        failure = statement.failure
        if failure is None and statement.tree is not None and _concerns(statement, catalog):
            # Only here, so that a text without a partitioned table does not wait for the imports.
            from sqlrewrite.pruning.record import candidates, plan_diff
            from sqlrewrite.pruning.statement import prune

            try:
                result = prune(statement, text.text, catalog, options)
                plan = plan_diff(result, place) if result is not None else None
            except RecursionError:
                failure, result = Failure(statement.start, _TOO_DEEP, parsed=True), None
            if result is not None:
                record.edits += result.edits
                record.candidates += candidates(result, earlier, place)
                record.errors += [Problem(BUG, why, *place(at)) for at, why in result.bugs]
                record.plans += [plan] if plan is not None else []
        if failure is not None:
            # Left as it was: what was taken out of it goes back to its place.
            end = statement.tokens[-1].end + 1 if statement.tokens else statement.start
            record.edits += [
                Edit(at, taken) for at, taken in earlier.items() if statement.start <= at <= end
            ]
            problem = Problem(NOT_PARSED, failure.message, *place(failure.offset))
            (record.skipped if failure.parsed else record.errors).append(problem)
        catalog = apply_definition(statement, text.text, catalog, "the text")
    return Rewrite(
        original=sql,
        sql=apply(text.text, record.edits),
        statements=count,
        candidates=tuple(record.candidates),
        errors=tuple(record.errors),
        skipped=tuple(record.skipped),
        plans=tuple(record.plans),
    )


def _concerns(statement: Statement, catalog: Catalog) -> bool:
    """Whether a statement names a partitioned table or a view at all."""
    names = catalog.prunable
    return bool(names) and any(token.text.lower() in names for token in statement.tokens)
