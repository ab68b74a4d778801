"""The statements of a file, in SQL or in a host language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlrewrite.document import Document, read
from sqlrewrite.find.reading import in_dialect
from sqlrewrite.find.summary import StatementSummary, summarize
from sqlrewrite.results import Rewrite
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Warehouse

Silent = tuple[int, tuple[StatementSummary, ...]]
"""What the cache keeps of a file with nothing to report: how many statements it has, and those with
a reason why they stay as they are."""


def summaries(
    documents: Iterable[Document], done: Rewrite | None = None
) -> tuple[StatementSummary, ...]:
    """A summary of each statement in a file's documents; ``done`` is the file's rewriting."""
    found = done.candidates if done else ()
    places = [(use.line, use.column_number) for it in found for use in (it.fact, it.join)]
    return tuple(
        summary
        for it in documents
        for summary in in_dialect(
            tuple(summarize(it.statements, it.stripped.text, it.place, places)), it.limits
        )
    )


def documents_of(path: str, text: str, catalog: Warehouse, limits: Limits) -> Iterator[Document]:
    """The documents of a file as it stands: one, or one for each region. Of a text with
    ``{% if %}`` it is the rendering that has most in it."""
    host = host_of(path, text)
    if host is None:
        if "{%" in text:
            from sqlrewrite.text.blocks import renderings  # few texts need it

            text = next((it.text for it in reversed(renderings(text))), text)
        yield read(text, catalog, limits, heed=False, named=True)
        return
    from sqlrewrite import embedded  # a file of SQL does not need it

    for _, document in embedded.documents(host, catalog, limits, heed=False, named=True):
        yield document
