"""Lints one text.

In: a text, the catalog, the options. Out: findings in the order of the text; those that a comment
suppresses say so. ``CHECKS`` are the checks of a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress as suppress_errors

from sqlrewrite.catalog.sources import at_file
from sqlrewrite.copies import replace
from sqlrewrite.document import Document, decide, heeded, read
from sqlrewrite.find.reading import in_dialect
from sqlrewrite.linting import (
    dbt_checks,
    join_checks,
    merge_checks,
    predicate_checks,
    scan_checks,
    wrapped_checks,
)
from sqlrewrite.linting.checked_statement import (
    CheckedStatement,
    checked_statements,
    fix_of,
    place_of,
)
from sqlrewrite.linting.findings import Finding, LintResult, of_no_statement
from sqlrewrite.linting.proposed_columns import Proposals, Supposition
from sqlrewrite.linting.suppression import suppress
from sqlrewrite.results import NOT_PARSED, Rewrite
from sqlrewrite.rewriting import errors, rendered
from sqlrewrite.settings.options import Options, make_options
from sqlrewrite.settings.spark_conf import affects_pruning
from sqlrewrite.settings.table import LEAVING
from sqlrewrite.sql.python_runtime import at_rest, deep
from sqlrewrite.stripping import FOREIGN, foreign
from sqlrewrite.text.blocks import renderings
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import Lines
from sqlrewrite.warehouse import Warehouse

CHECKS: tuple[Callable[[CheckedStatement], Iterator[Finding]], ...] = (
    join_checks.missing_predicate,
    join_checks.key_types_differ,
    join_checks.outer_join_undone,
    wrapped_checks.wrapped_partition_column,
    wrapped_checks.day_as_text,
    scan_checks.unbounded_scan,
    merge_checks.merge_reads_all,
    join_checks.latest_partition,
    join_checks.build_side,
    join_checks.exchanged_alike,
)


def lint(
    sql: str,
    catalog: Warehouse,
    options: Options | None = None,
    path: str = "",
    proposals: Proposals | None = None,
) -> LintResult:
    """The findings of a text, and what went wrong while looking for them.

    ``options`` says what a rewrite would insert, by default what ``rewrite`` does; ``path`` is that
    of its file, which may be a model of dbt; ``proposals`` are derivations from the files that may
    write the tables. Raises nothing for bad SQL.
    """
    chosen, catalog = options or make_options(), at_file(path, catalog)

    def found(text: str) -> LintResult:
        # Suppressed scans too: a finding there shows that its comment is used.
        document = read(text, catalog, chosen.limits, heed=False)
        return findings(document, chosen, of_file, proposals)

    with at_rest(sql):  # ends when only the findings are left
        of_file = tuple(dbt_checks.dbt_merge(path, sql, catalog))
        rewritten = rendered(sql, catalog, chosen) if "{%" in sql else None
        if rewritten is None:
            return found(sql)
        return lint_renderings(sql, rewritten, found)


def findings(
    document: Document,
    options: Options,
    of_file: Sequence[Finding] = (),
    proposals: Proposals | None = None,
) -> LintResult:
    """The findings of a document, read without heeding its comments; ``of_file`` are findings of
    its file that belong to no statement."""
    decision = unrestricted = rewriting = decide(document, options)
    conf_known = any(
        affects_pruning(statement.catalog.settings) for statement in document.statements
    )
    if (options.when in LEAVING or conf_known) and document.stripped.predicates:
        # Distinguishes predicates that are not needed from those that no longer follow.
        unrestricted = decide(document, options.with_all())
    if document.directives.in_order:
        rewriting = decide(heeded(document), options)
    all_findings = list(of_file)
    supposed = None if proposals is None else Supposition(document, options, proposals)
    for checked in checked_statements(decision, unrestricted, rewriting, supposed):
        all_findings += _statement(checked)
    all_findings += _foreign(document)
    bugs = tuple(error for error in errors(decision) if error.code != NOT_PARSED)
    all_findings = list(suppress(all_findings, document))
    all_findings.sort(key=lambda it: (it.place.span.start, it.code))
    return in_dialect((tuple(all_findings), bugs), document.limits)


def _statement(checked: CheckedStatement) -> list[Finding]:
    """All findings of one statement; an unbounded scan is reported only if nothing else is."""
    if checked.decided.failure is not None:
        return [_not_parsed(checked)]
    all_findings = list(predicate_checks.check(checked))
    decided = checked.decided
    if not decided.matters:
        return all_findings
    with suppress_errors(RecursionError):  # nested too deep for the checks
        all_findings += deep(lambda: [finding for check in CHECKS for finding in check(checked)])
    reported = {
        finding.place.span for finding in all_findings if finding.code not in ("DPP006", "DPP007")
    }
    kept = (
        finding
        for finding in all_findings
        if finding.code != "DPP007" or finding.place.span not in reported
    )
    # The same may be found twice: by two dimensions, or in two operands.
    return list(
        {
            (finding.code, finding.place.span, finding.message, finding.help): finding
            for finding in kept
        }.values()
    )


def _not_parsed(checked: CheckedStatement) -> Finding:
    failure, text = checked.decided.failure, checked.stripped.text
    assert failure is not None
    tokens = checked.decided.reading.statement.tokens
    end = next(
        (token.end + 1 for token in tokens if token.start == failure.offset),
        min(failure.offset + 1, len(text)),
    )
    span = Span(failure.offset, max(end, failure.offset))
    finding = checked.finding(NOT_PARSED, span, "", f"not read: {failure.message}")
    # A statement left alone on purpose never counts, one that does not parse only under --strict.
    return replace(finding, counts=not failure.parsed)


def _foreign(document: Document) -> Iterator[Finding]:
    """DPP009: our markers on predicates that the author wrote."""
    notes = foreign(document.stripped, document.directives.lines)
    for at, note in zip(document.stripped.foreign, notes, strict=True):
        place = place_of(document.directives.lines, Span(at, at + len(MARKER)))
        yield of_no_statement(FOREIGN, note.message, place)


def lint_renderings(sql: str, rewritten: Rewrite, of: Callable[[str], LintResult]) -> LintResult:
    """The findings of a text with ``{% if %}``, from those of each of its renderings.

    A finding counts if every rendering that shows its place has it.
    """
    every = [(rendering, *of(rendering.text)) for rendering in renderings(sql)]
    keys_by_rendering = [
        (rendering, {_key(finding) for finding in findings}) for rendering, findings, _ in every
    ]
    kept: dict[tuple[str, Span], Finding] = {}
    for finding in (finding for _, findings, _ in every for finding in findings):
        key = _key(finding)
        if finding.code == NOT_PARSED or all(
            key in keys
            for rendering, keys in keys_by_rendering
            if rendering.shows(finding.place.span)
        ):
            kept[key] = finding
    fix = fix_of(Lines(sql), [_change(sql, rewritten.sql)]) if rewritten.changed else None
    fixed = [replace(finding, fix=finding.fix and fix, choice=None) for finding in kept.values()]
    fixed.sort(key=lambda it: (it.place.span.start, it.code))
    return tuple(fixed), tuple(dict.fromkeys(bug for *_, bugs in every for bug in bugs))


def _key(finding: Finding) -> tuple[str, Span]:
    return finding.code, finding.place.span


def _change(before: str, after: str) -> Edit:
    """The change from one text to the other: all between their common beginning and end."""
    pairs = list(zip(before, after, strict=False))
    start = next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs))
    rest = min(len(before), len(after)) - start
    ends = zip(reversed(before), reversed(after), strict=False)
    same = next((n for n, (a, b) in enumerate(ends) if n >= rest or a != b), rest)
    return Edit(Span(start, len(before) - same), after[start : len(after) - same])
