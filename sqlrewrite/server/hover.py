"""The hover text of a fact scan: what prunes it, and the verdict of each rule.

In: an analysis and an offset of the file. Out: Markdown, and the span of the file that it is about;
None where no partitioned table is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.document import Document, decide
from sqlrewrite.linting.scans import partitions, scans
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.results import Candidate, Outcome, Verdict
from sqlrewrite.rewriting import candidates
from sqlrewrite.server.analysis import Analysis
from sqlrewrite.settings.options import Options
from sqlrewrite.text.edits import Span

_SIGNS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.UNKNOWN: "?"}


def hover(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """The hover text at an offset of the file, with its span."""
    found = analysis.piece_at(offset)
    if found is None:
        return None
    piece, at = found
    spans_by_text: dict[str, Span] = {}
    for document in analysis.documents(piece):
        spans_by_text |= _hover_text(document, analysis.options, at)
    if not spans_by_text:
        return None
    offsets, span = piece.region.sql.offsets, next(iter(spans_by_text.values()))
    text = "\n\n---\nOr, where its template blocks render otherwise:\n\n".join(spans_by_text)
    return text, Span(offsets[span.start], offsets[span.end])


def _hover_text(document: Document, options: Options, at: int) -> dict[str, Span]:
    """The text on the scan at an offset of a document, with its span; empty where there is none."""
    for decided in decide(document, options).statements:
        if not decided.matters:
            continue
        for scan in scans(decided.plan):
            span = scan.span and document.stripped.original_span(scan.span)
            columns = partitions(scan, options.engine)
            if span is None or not columns or not span.start <= at < span.end:
                continue
            place = document.directives.lines.place(span.start)
            its = [
                it
                for it in candidates(document, decided)
                if (it.fact.line, it.fact.column_number) == place
            ]
            return {"\n".join(_lines(scan, sorted(columns), its)): span}
    return {}


def _lines(scan: Scan, columns: Sequence[str], found: Sequence[Candidate]) -> Iterator[str]:
    alias = f" `{scan.alias}`" if scan.aliased else ""
    names = ", ".join(f"`{it}`" for it in columns)
    yield f"**{'.'.join(scan.parts)}**{alias} is partitioned by {names}"
    if not found:
        yield ""
        yield "No join bounds a partition column."
    for it in found:
        yield ""
        yield f"---\n`{it.fact.column}` by the {it.join.type} join with **{it.dimension.table}**"
        yield ""
        yield _verdict(it)
        yield ""
        yield "| | rule | |\n|---|---|---|"
        for rule in it.rules:
            message = rule.message.replace("|", "\\|").replace("\n", " ")
            yield f"| {_SIGNS[rule.outcome]} | {rule.code} {rule.name} | {message} |"


def _verdict(it: Candidate) -> str:
    match it.verdict:
        case Verdict.REWRITTEN:
            return f"Could be pruned by{_predicate(it)}"
        case Verdict.ALREADY_PRUNED:
            return f"Already pruned{' by' + _predicate(it) if it.predicate else ''}"
        case Verdict.REJECTED:
            why = it.reason
            return f"Left alone: {why.code} {why.message}" if why else "Left alone"


def _predicate(it: Candidate) -> str:
    return f"\n```sql\n{it.predicate}\n```"
