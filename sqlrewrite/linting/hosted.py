"""The findings of a file in which SQL stands in another language, in the file's own places.

In: a ``Host``. Out: what the linter finds in its regions, with their fixes as they are written
there, and a finding for each call or cell that is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlrewrite.document import Document
from sqlrewrite.embedded import documents
from sqlrewrite.linting.findings import BY_CODE, Finding, Fix, Place, Replacement, Suppression
from sqlrewrite.linting.linter import findings
from sqlrewrite.linting.subject import place_of
from sqlrewrite.linting.suppression import UNUSED
from sqlrewrite.results import NOT_PARSED, Problem
from sqlrewrite.settings.options import Options
from sqlrewrite.text.edits import Span
from sqlrewrite.text.hosts.region import Host, Region, Unwritable
from sqlrewrite.warehouse import Warehouse


def lint(
    host: Host, catalog: Warehouse, wanted: Options
) -> tuple[tuple[Finding, ...], tuple[Problem, ...]]:
    """The findings of a file, and what went wrong while looking for them."""
    read = list(documents(host, catalog, wanted.limits, heed=False))
    done = [(part, document, *findings(document, wanted)) for part, document in read]
    asked = next((it for _, it in read if it.directives.whole_file is not None), None)
    found = [_left(host, at, why) for at, why in host.left]
    for part, document, own, _ in done:
        if asked is not None:
            others = any(found for _, other, found, _ in done if other is not asked)
            own = tuple(_suppressed(asked, document, own, used=others))
        found += (in_file(host, part.region, it) for it in own)
    found.sort(key=lambda it: (it.place.span.start, it.code))
    return tuple(found), tuple(it for *_, bugs in done for it in bugs)


def _suppressed(
    asked: Document, document: Document, found: Sequence[Finding], *, used: bool
) -> Iterator[Finding]:
    """The findings of a document in a file that another, or itself, asks to leave alone."""
    whole = asked.directives.whole_file
    assert whole is not None
    by = Suppression("inSource", whole.reason or str(whole))
    for it in found:
        if document is not asked and it.suppression is None:
            yield replace(it, suppression=by, counts=False)
        elif not (used and it.code == UNUSED and it.place.span == whole.span):
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


def _left(host: Host, at: int, why: str) -> Finding:
    place = place_of(host.lines, Span(at, at))
    severity = BY_CODE[NOT_PARSED].severity
    return Finding(NOT_PARSED, f"not read: {why}", place, "", "", severity, counts=False)
