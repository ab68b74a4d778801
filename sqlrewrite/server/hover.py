"""The hover text of a fact scan: what prunes it, and the verdict of each rule.

In: an analysis and an offset in the file. Out: Markdown and the span that it is about; None if no
partitioned table is named there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.document import Decision
from sqlrewrite.linting.scan_checks import partitions, scans
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.results import Candidate, Outcome, Verdict
from sqlrewrite.rewriting import candidates
from sqlrewrite.server.analysis import Analysis, local
from sqlrewrite.text.edits import Span

_SIGNS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.UNKNOWN: "?"}


def hover(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """The hover text at an offset of the file, with its span."""
    spans: dict[str, Span] = {}
    for region, decision in analysis.decisions:
        offsets = region.sql.offsets
        if offsets[0] <= offset <= offsets[-1]:
            for text, span in _hover_text(decision, local(region, offset)):
                spans[text] = Span(offsets[span.start], offsets[span.end])
    if not spans:
        return None
    text = "\n\n---\nOr, where its template blocks render otherwise:\n\n".join(spans)
    return text, next(iter(spans.values()))


def _hover_text(decision: Decision, at: int) -> Iterator[tuple[str, Span]]:
    """The hover text for the scan at an offset of a document, and the scan's span; nothing if there
    is no scan there."""
    document = decision.document
    for decided in decision.statements:
        if not decided.matters:
            continue
        for scan in scans(decided.plan):
            span = scan.span
            columns = partitions(scan, decision.options.engine)
            if span is None or not columns or not span.start <= at < span.end:
                continue
            place = document.directives.lines.place(span.start)
            of_scan = [
                candidate
                for candidate in candidates(document, decided)
                if (candidate.fact.line, candidate.fact.column_number) == place
            ]
            yield "\n".join(_lines(scan, sorted(columns), of_scan)), span
            return


def _lines(scan: Scan, columns: Sequence[str], of_scan: Sequence[Candidate]) -> Iterator[str]:
    alias = f" `{scan.alias}`" if scan.aliased else ""
    names = ", ".join(f"`{column}`" for column in columns)
    yield f"**{'.'.join(scan.parts)}**{alias} is partitioned by {names}"
    if not of_scan:
        yield ""
        yield "No join bounds a partition column."
    for candidate in of_scan:
        fact, dimension = candidate.fact.column, candidate.dimension.table
        yield ""
        yield f"---\n`{fact}` by the {candidate.join.type} join with **{dimension}**"
        yield ""
        yield _verdict(candidate)
        yield ""
        yield "| | rule | |\n|---|---|---|"
        for rule in candidate.rules:
            message = rule.message.replace("|", "\\|").replace("\n", " ")
            yield f"| {_SIGNS[rule.outcome]} | {rule.code} {rule.name} | {message} |"


def _verdict(candidate: Candidate) -> str:
    predicate = f" by\n```sql\n{candidate.predicate}\n```"
    match candidate.verdict:
        case Verdict.REWRITTEN:
            return f"Could be pruned{predicate}"
        case Verdict.ALREADY_PRUNED:
            return f"Already pruned{predicate if candidate.predicate else ''}"
        case Verdict.REJECTED:
            why = candidate.reason
            return f"Left alone: {why.code} {why.message}" if why else "Left alone"
