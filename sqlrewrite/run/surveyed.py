"""The statements of a file, be it SQL itself or a host of it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.find.survey import Surveyed, survey
from sqlrewrite.results import Candidate
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Warehouse


def surveyed(
    path: str, text: str, catalog: Warehouse, limits: Limits, found: Sequence[Candidate] = ()
) -> tuple[Surveyed, ...]:
    """Each statement of a file, with what it reads and what became of it, which ``found`` says."""
    lines = [line for it in found for line in (it.fact.line, it.join.line)]
    host = host_of(path, text)
    if host is None:
        return tuple(survey(text, catalog, limits, lines))
    from sqlrewrite import embedded  # a file of SQL has no need of it

    return tuple(embedded.survey(host, catalog, limits, lines))
