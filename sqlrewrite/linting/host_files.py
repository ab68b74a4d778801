"""The findings of a file in which SQL stands in another language, in the file's own places.

In: a ``Host``. Out: what the linter finds in its regions, with their fixes as they are written
there, and a finding for each call or cell that is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlrewrite.document import Document
from sqlrewrite.embedded import documents
from sqlrewrite.linting.findings import (
    Finding,
    Fix,
    LintResult,
    Place,
    Replacement,
    Suppression,
    of_no_statement,
)
from sqlrewrite.linting.linter import findings
from sqlrewrite.linting.statement import place_of
from sqlrewrite.linting.suppression import UNUSED
from sqlrewrite.results import NOT_PARSED, Problem
from sqlrewrite.settings.options import Options
from sqlrewrite.sql.statements.directives import Directive
from sqlrewrite.text.edits import Span
from sqlrewrite.text.hosts.region import Host, Region, Unwritable
from sqlrewrite.warehouse import Warehouse


@dataclass(frozen=True, slots=True, eq=False)
class RegionFindings:
    """The findings of a region, in its own offsets; ``ignore_file`` is the comment in it that asks
    to leave the whole file alone, if there is one."""

    region: Region
    findings: tuple[Finding, ...]
    bugs: tuple[Problem, ...] = ()
    ignore_file: Directive | None = None


def lint(host: Host, catalog: Warehouse, options: Options) -> LintResult:
    """The findings of a file, and what went wrong while looking for them."""
    read = documents(host, catalog, options.limits, heed=False)
    done = [region_findings(it.region, document, options) for it, document in read]
    return tuple(file_findings(host, done)), tuple(bug for it in done for bug in it.bugs)


def region_findings(region: Region, document: Document, options: Options) -> RegionFindings:
    """The findings of a region, which is read as a document."""
    return RegionFindings(region, *findings(document, options), document.directives.whole_file)


def file_findings(host: Host, done: Sequence[RegionFindings]) -> list[Finding]:
    """The findings of all regions, and one for each call or cell that is not read, in the order of
    the file; suppressed are those that a region asks to leave alone."""
    whole = next((it for it in done if it.ignore_file is not None), None)
    left = ((place_of(host.lines, Span(at, at)), f"not read: {why}") for at, why in host.left)
    every = [of_no_statement(NOT_PARSED, why, place, counts=False) for place, why in left]
    for it in done:
        own = it.findings
        if whole is not None and whole.ignore_file is not None:
            used = any(other.findings for other in done if other is not whole)
            own = tuple(_suppressed(whole.ignore_file, own, its_own=it is whole, used=used))
        every += (in_file(host, it.region, found) for found in own)
    return sorted(every, key=lambda it: (it.place.span.start, it.code))


def _suppressed(
    ignore_file: Directive, found: Sequence[Finding], *, its_own: bool, used: bool
) -> Iterator[Finding]:
    """The findings of a region in a file that it, or another region, asks to leave alone."""
    by = Suppression("inSource", ignore_file.reason or str(ignore_file))
    for it in found:
        if not its_own and it.suppression is None:
            yield replace(it, suppression=by, counts=False)
        elif not (its_own and used and it.code == UNUSED and it.place.span == ignore_file.span):
            yield it


def in_file(host: Host, region: Region, found: Finding) -> Finding:
    """A finding of a region as one of the file. A fix that cannot be written there is none."""
    fix = None
    if found.fix is not None:
        try:
            fix = Fix(tuple(_replacement(host, region, it) for it in found.fix.replacements))
        except Unwritable:
            fix = None
    return replace(found, place=_place(host, region, found.place.span), fix=fix)


def _replacement(host: Host, region: Region, it: Replacement) -> Replacement:
    span, new = host.in_file(region, (it.place.span, it.text))
    return Replacement(place_of(host.lines, span), new)


def _place(host: Host, region: Region, span: Span) -> Place:
    offsets = region.sql.offsets
    start, end = (offsets[min(at, len(offsets) - 1)] for at in (span.start, span.end))
    return place_of(host.lines, Span(start, end))
