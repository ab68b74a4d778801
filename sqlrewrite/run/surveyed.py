"""The statements of a file, be it SQL itself or a host of it."""

from __future__ import annotations

from sqlrewrite.find.survey import Surveyed, survey
from sqlrewrite.results import Rewrite
from sqlrewrite.text.blocks import renderings
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Warehouse


def surveyed(
    path: str, text: str, catalog: Warehouse, limits: Limits, done: Rewrite | None = None
) -> tuple[Surveyed, ...]:
    """Each statement of a file, with what it reads, and what became of it where that is ``done``.
    Of a text with ``{% if %}`` it is what it renders to at most, if it was read so."""
    found = done.candidates if done else ()
    lines = [line for it in found for line in (it.fact.line, it.join.line)]
    host = host_of(path, text)
    if host is None:
        left = any("{% if %}" in it.message for it in (done.skipped if done else ()))
        every = () if left else renderings(text)
        text = every[-1].text if every else text
        return tuple(survey(text, catalog, limits, lines))
    from sqlrewrite import embedded  # a file of SQL has no need of it

    return tuple(embedded.survey(host, catalog, limits, lines))
