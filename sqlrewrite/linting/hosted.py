"""The findings of a file in which SQL stands in another language, in the file's own places.

In: a ``Host``. Out: what the linter finds in its regions, with their fixes as they are written
there, and a finding for each call or cell that is left alone.
"""

from __future__ import annotations

from dataclasses import replace

from sqlrewrite.embedded import documents
from sqlrewrite.linting.findings import BY_CODE, Finding, Fix, Place, Replacement, Suppression
from sqlrewrite.linting.linter import findings
from sqlrewrite.linting.subject import place_of
from sqlrewrite.results import NOT_PARSED, Problem
from sqlrewrite.settings.options import Options
from sqlrewrite.text.edits import Span
from sqlrewrite.text.hosts.region import Host, Region, Unwritable
from sqlrewrite.warehouse import Warehouse


def lint(
    host: Host, catalog: Warehouse, wanted: Options
) -> tuple[tuple[Finding, ...], tuple[Problem, ...]]:
    """The findings of a file, and what went wrong while looking for them."""
    found: list[Finding] = []
    bugs: list[Problem] = []
    read = list(documents(host, catalog, wanted.limits, heed=False))
    whole = next((it for _, it in read if it.directives.whole_file is not None), None)
    for part, document in read:
        own, wrong = findings(document, wanted)
        bugs += wrong
        for it in own:
            it = in_file(host, part.region, it)
            if whole is not None and it.suppression is None and document is not whole:
                asked = whole.directives.whole_file
                by = Suppression("inSource", asked.reason or str(asked) if asked else "")
                it = replace(it, suppression=by, counts=False)
            found.append(it)
    found += (_left(host, at, why) for at, why in host.left)
    found.sort(key=lambda it: (it.place.span.start, it.code))
    return tuple(found), tuple(bugs)


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
