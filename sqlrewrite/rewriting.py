"""Rewrites a text and reports what was done: text → ``Document`` → ``Decision`` → edits → text.

In: a text, a catalog, options. Out: a ``Rewrite``: the new text, every candidate with its verdict,
and what was not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from sqlrewrite.copies import replace
from sqlrewrite.decision.statement_decision import (
    StatementDecision,
    bounded_columns,
    left_to_engine,
    stale,
)
from sqlrewrite.document import Decision, Document, decide, read
from sqlrewrite.find.reading import BUG, in_dialect, to_spark
from sqlrewrite.results import NOT_PARSED, Candidate, PlanDiff, Problem, Removed, Rewrite, Verdict
from sqlrewrite.settings.forms import IN, VALUES
from sqlrewrite.settings.options import Options, Resolve, make_options
from sqlrewrite.settings.spark_conf import VERSION
from sqlrewrite.sql.lex.tokens import comparable
from sqlrewrite.sql.parse.statements import Failure, Lexed, Statement, lex
from sqlrewrite.sql.python_runtime import at_rest
from sqlrewrite.sql.statements.directives import directives
from sqlrewrite.stripping import foreign
from sqlrewrite.text.edits import Edit, Span, apply
from sqlrewrite.text.limits import SPARK, Limits
from sqlrewrite.text.markers import MARKER, noted_queries
from sqlrewrite.warehouse import Warehouse

if TYPE_CHECKING:
    from sqlrewrite.text.blocks import Rendering

_IN_A_BLOCK = (
    "the predicate on `{}` would stand in a template block, or be wrong in another text that the "
    "block renders to: left alone (rewrite what dbt compiles, in target/compiled)"
)

DocumentObserver = Callable[[Document], None]
"""A function that gets each document before it is decided."""


def rewrite(
    sql: str,
    catalog: Warehouse,
    *,
    engine: str = "spark",
    dialect: str = SPARK,
    predicate: str = IN,
    when: str | None = None,
    hint: bool = True,
    depth: int = 3,
    through_facts: bool | None = None,
    key_limit: int | None = None,
    disabled: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    functions: Mapping[str, str] | None = None,
    time_zone: str | None = None,
    spark_version: str | None = None,
    resolve: Resolve | None = None,
    strategy: str = "predicates",
    groups: int | None = None,
) -> Rewrite:
    """Writes pruning predicates into a text of SQL statements.

    ``catalog`` says what is known of the tables; CREATE, DROP and USE in the text itself are
    followed. ``engine`` names the rule set, ``dialect`` the SQL of the text. ``predicate`` is the
    form: ``in``, ``set``, ``range``, ``auto``, or ``values``, for which ``resolve`` returns the
    keys of a key query. ``when`` is ``eligible``, ``missed`` (only predicates that the engine would
    not derive by itself), or ``auto`` (what pays under Spark's settings: the default if the catalog
    has these). ``hint`` asks for a broadcast hint in the key query. A dimension's neighbours are
    followed ``depth`` joins outward, and through partitioned tables if ``through_facts``, or, if
    that is None, where it pays by the statistics. Keys of more than ``key_limit`` bytes (default:
    the engine's) are not collected. Statements over the ``limits`` are left alone. ``functions``
    declares user-defined functions by name as ``deterministic``, or as ``total``, which never raise
    an error either. ``time_zone`` is that of all sessions that write and read columns derived from
    a TIMESTAMP; ``spark_version`` is Spark's, as ``4.1``, if the catalog does not say it.
    ``disabled`` rules count as passed, which is unsound and for tests only. With the ``strategy``
    ``partition-wise``, joins are written by ``groups`` of partitions, and no predicates.

    Never raises for bad SQL; raises ConfigError for an unknown engine, form or ``when``, and for
    ``values`` without ``resolve``.
    """
    options = make_options(
        engine=engine,
        dialect=dialect,
        predicate=predicate,
        when=when,
        hint=hint,
        depth=depth,
        through_facts=through_facts,
        key_limit=key_limit,
        disabled=disabled,
        limits=limits,
        functions=functions,
        time_zone=time_zone,
        spark_version=spark_version,
        resolve=resolve,
        strategy=strategy,
        groups=groups,
    )
    if spark_version is not None:
        catalog = replace(catalog, settings={**catalog.settings, VERSION: spark_version})
    return rewrite_with_options(sql, catalog, options)


def rewrite_with_options(
    sql: str, catalog: Warehouse, options: Options, observe: DocumentObserver | None = None
) -> Rewrite:
    """``rewrite`` with ``Options``; ``observe`` gets the document."""
    with at_rest(sql):  # ends when only the result is left
        return _rewritten(sql, catalog, options, observe)


def _rewritten(
    sql: str, catalog: Warehouse, options: Options, observe: DocumentObserver | None
) -> Rewrite:
    if options.strategy == "partition-wise":
        from sqlrewrite.grouping import by_groups  # not imported at each start

        return by_groups(sql, catalog, options)
    in_blocks = rendered(sql, catalog, options, observe) if "{%" in sql else None
    if in_blocks is not None:
        return in_blocks
    document = read(sql, catalog, options.limits, named=observe is not None)
    if observe is not None:
        observe(document)
    return result(decide(document, options))


def rendered(
    sql: str, catalog: Warehouse, options: Options, observe: DocumentObserver | None = None
) -> Rewrite | None:
    """The rewrite of a text with ``{% if %}`` blocks, outside of these; None if a rendering cannot
    be read, or an earlier run's predicate in a block would have to change. ``observe`` gets the
    document of the last rendering, the longest.

    An insertion outside of blocks is in all renderings. It may separate a clause from its
    continuation in a block (``ON … WHERE`` before ``{% if x %} AND …``, parentheses around an OR),
    so it must be right in each of them and leave the author's statements the same.
    """
    if options.form == VALUES:
        return None
    from sqlrewrite.text.blocks import blocks, renderings  # not imported at each start

    @cache
    def decided(text: str) -> Decision:
        return decide(read(text, catalog, options.limits, named=observe is not None), options)

    every = renderings(sql)
    limits = options.limits
    directive_sets = {
        directives(rendering.text, _lexed(rendering.text, limits).tokens).in_order
        for rendering in every
    }
    if len(directive_sets) != 1 or not all(_is_read(rendering, decided) for rendering in every):
        return None  # a directive in a block holds in some renderings only
    text, now = sql, every
    for number in range(len(every)):
        planned = list(changes(decided(now[number].text)))
        outside = not any(_is_within(span, block) for block in blocks(text) for span, _ in planned)
        new = apply(text, planned) if outside else text
        if new != text and _holds_in_all(now, renderings(new), decided):
            text, now = new, renderings(new)
    if any(_taken_out(decided(rendering.text)) for rendering in now):
        return None
    if observe is not None:
        observe(decided(every[-1].text).document)
    results = [result(decided(rendering.text)) for rendering in every]
    unwritten = [bool(list(changes(decided(rendering.text)))) for rendering in now]
    return _of_renderings(replace(results[-1], sql=text, original=sql), results, unwritten)


def _of_renderings(last: Rewrite, results: Sequence[Rewrite], unwritten: Sequence[bool]) -> Rewrite:
    """The result for a text from those for its renderings; a predicate that could not be written
    for all of them is in ``skipped``."""
    both = [
        (candidate, lacks)
        for one, lacks in zip(results, unwritten, strict=True)
        for candidate in one.candidates
    ]
    candidates = {
        (candidate.statement, candidate.fact, candidate.dimension): candidate
        for candidate, lacks in both
        if not lacks
    }
    written = {value.fact for value in candidates.values() if value.verdict is Verdict.REWRITTEN}
    skipped = dict.fromkeys(last.skipped)
    for candidate, lacks in both:
        fact = candidate.fact
        if lacks and candidate.verdict is Verdict.REWRITTEN and fact not in written:
            why = _IN_A_BLOCK.format(f"{fact.alias}.{fact.column}")
            skipped[Problem(NOT_PARSED, why, fact.line, fact.column_number)] = None
    if unwritten[-1]:
        last = replace(last, plans=(), removed=())
    return replace(last, candidates=tuple(candidates.values()), skipped=tuple(skipped))


def _is_within(span: Span, block: Span) -> bool:
    return span.start < block.end and block.start < span.end


def _holds_in_all(
    before: Sequence[Rendering], after: Sequence[Rendering], decided: Callable[[str], Decision]
) -> bool:
    """Whether each rendering keeps its statements, and loses no more of its text than it had lost
    before."""
    from sqlrewrite.sql.edited_clauses import same_statements

    for one, other in zip(before, after, strict=True):
        if not _is_read(other, decided):
            return False
        old, new = decided(one.text), decided(other.text)
        if len(_taken_out(new)) > len(_taken_out(old)):
            return False
        if not same_statements(_written(old.document), _written(new.document)):
            return False
    return True


def _taken_out(decision: Decision) -> list[Span]:
    """The spans that a decision removes or replaces."""
    return [span for span, _ in changes(decision) if span.start < span.end]


def _written(document: Document) -> list[Statement]:
    """The author's statements, without our predicates."""
    return [statement.statement for statement in document.statements]


def _is_read(rendering: Rendering, decided: Callable[[str], Decision]) -> bool:
    """Whether a rendering has the tokens that Jinja renders, all its statements parse, and each
    statement with a predicate of ours was decided."""
    decision = decided(rendering.text)
    document = decision.document
    if not all(_alike(rendering.text, text, document.limits) for text in rendering.rendered):
        return False
    failed = [statement for statement in decision.statements if statement.failure]
    spans = document.stripped.predicates
    with_predicate = (
        failure.reading.statement.start <= span.start
        and span.start <= failure.reading.statement.end
        for failure in failed
        for span in spans
    )
    marked = document.original.count(MARKER) == len(spans)
    parse = all(failure.failure is not None and failure.failure.parsed for failure in failed)
    return marked and parse and not any(with_predicate)


def _alike(one: str, other: str, limits: Limits) -> bool:
    """Whether two texts have the same tokens."""
    both = (_lexed(text, limits).tokens for text in (one, other))
    first, second = ([(token.token_type, token.text) for token in tokens] for tokens in both)
    return first == second


def _lexed(sql: str, limits: Limits) -> Lexed:
    """A text's tokens, as Spark's grammar has them."""
    transliteration = to_spark(sql, limits)
    return lex(sql if transliteration is None else transliteration.text)


def result(decision: Decision) -> Rewrite:
    """The result of a decision: the new text, the candidates, and what was not read."""
    return in_dialect(_result(decision), decision.document.limits)


def _result(decision: Decision) -> Rewrite:
    document, statements = decision.document, decision.statements
    if document.suppressed is not None and document.directives.whole_file is not None:
        return _left_alone(document)
    text = document.stripped
    edits = (edit for statement in statements for edit in statement.edits)
    failures = [one.failure for one in statements if one.failure is not None]
    matter = [one for one in statements if one.matters]
    by_statement = {one.reading.statement.index: candidates(document, one) for one in matter}
    return Rewrite(
        original=document.original,
        sql=apply(document.original, text.changes(edits)),
        statements=len(statements),
        candidates=tuple(candidate for listed in by_statement.values() for candidate in listed),
        errors=errors(decision),
        skipped=tuple(document.problem(failure) for failure in failures if failure.parsed),
        plans=tuple(plan for one in matter if (plan := _plan_diff(document, one)) is not None),
        removed=tuple(_removed(decision, by_statement)),
        notes=foreign(document.stripped, document.directives.lines),
    )


def changes(decision: Decision) -> Iterator[Edit]:
    """The edits of the original that a rewrite makes."""
    edits = (edit for statement in decision.statements for edit in statement.edits)
    for span, text in decision.document.stripped.changes(edits):
        yield Edit(span, in_dialect(text, decision.document.limits))


def candidates(document: Document, decided: StatementDecision) -> list[Candidate]:
    """The candidates of one statement: its pairs with their verdicts."""
    if not decided.proposals:
        return []
    from sqlrewrite.decision.record import candidates  # only where something was judged

    return candidates(decided, document.place)


def errors(decision: Decision) -> tuple[Problem, ...]:
    """The statements that could not be read, and those on which a bug of ours raised an error."""
    failures = (statement.failure for statement in decision.statements)
    bugs = (
        Failure(at, why, code=BUG) for decided in decision.statements for at, why in decided.bugs
    )
    unparsed = (failure for failure in failures if failure is not None and not failure.parsed)
    return tuple(decision.document.problem(failure) for failure in (*unparsed, *bugs))


def _plan_diff(document: Document, decided: StatementDecision) -> PlanDiff | None:
    if not decided.proposals:
        return None
    from sqlrewrite.decision.record import plan_diff  # only where something was judged

    return plan_diff(decided, document.place)


def _removed(
    decision: Decision, by_statement: Mapping[int, Sequence[Candidate]]
) -> Iterator[Removed]:
    """The predicates of an earlier run that were not written again as they were."""
    text, lines = decision.document.stripped, decision.document.directives.lines
    predicates = text.removed_predicates
    for decided in decision.statements if predicates else ():
        index = decided.reading.statement.index
        reasons = left_to_engine(by_statement.get(index, ()))
        written = "\n".join(edit.text for edit in decided.edits)
        for span, by in sorted(stale(text, decided).items(), key=lambda item: item[0].start):
            before, columns = predicates[span].text, bounded_columns(predicates[span].value)
            gone = Removed(index, before, *lines.place(span.start), by)
            if _noted(before) & _noted(written):
                gone = replace(gone, reason="its key query returns other keys now")
            why = [reasons[column] for column in columns if column in reasons and not by]
            yield replace(gone, reason=why[0]) if why else gone


def _noted(text: str) -> set[tuple[str, ...]]:
    """The key queries in the notes behind predicates of literals."""
    return set(map(comparable, noted_queries(text)))


def _left_alone(document: Document) -> Rewrite:
    """The result for a text whose directive suppresses the whole file."""
    whole, sql = document.directives.whole_file, document.original
    assert whole is not None
    place = document.directives.lines.place(whole.span.start)
    skipped = Problem("", f"the whole file is left alone, as `{whole}` asks", *place)
    return Rewrite(sql, sql, 1, skipped=(skipped,))
