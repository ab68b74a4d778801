"""Only the findings in statements that have changed.

In: what was found in a file, with its text, and the lines that have changed. Out: the same without
the findings of statements in which no line has. A whole statement counts: a condition that somebody
adds in its WHERE is what lets a scan be pruned lines above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.run import Linted
from sqlrewrite.run.surveyed import documents_of, surveyed
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Warehouse


def in_changed(result: Linted, changed: Sequence[tuple[int, int]], limits: Limits) -> Linted:
    """The result with the findings in statements that hold one of the stretches of lines."""
    statements = surveyed(documents_of(result.path, result.text, Warehouse(), limits))
    spans = [(it.line, it.end_line) for it in statements]

    def counts(finding: Finding) -> bool:
        place = finding.place
        own = (place.line, place.end_line)
        first, last = next((it for it in spans if it[0] <= own[0] <= it[1]), own)
        return any(first <= high and low <= last for low, high in changed)

    return replace(result, findings=tuple(filter(counts, result.findings)))
