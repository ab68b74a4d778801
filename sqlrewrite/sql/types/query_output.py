"""The text of one query to the names and types of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlrewrite.plan.facts.session import ExactSettings
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.results import Output
from sqlrewrite.sql.types.expressions import typed
from sqlrewrite.sql.types.queries import analyze
from sqlrewrite.sql.types.scope import AnalysisContext, TypeScope, UnknownOutputError
from sqlrewrite.sql.types.syntax.cursor import UnsupportedSyntaxError
from sqlrewrite.sql.types.syntax.queries import query_in
from sqlrewrite.warehouse import Warehouse


def query_output(
    query: str,
    catalog: Warehouse,
    settings: Iterable[ExactSettings],
    type_text: Callable[[Type], str] = str,
) -> Output | None:
    """What a query returns that holds under all of the settings; None where it is not
    understood."""
    return agreed([_output(query, catalog, it, type_text) for it in settings])


def _output(
    query: str, catalog: Warehouse, settings: ExactSettings, type_text: Callable[[Type], str]
) -> Output | None:
    try:
        tree = query_in(query, settings.double_quoted)
        columns = analyze(tree, TypeScope(AnalysisContext(catalog, settings, analyze, typed)))
    except (UnsupportedSyntaxError, UnknownOutputError, RecursionError):
        return None
    # Spark's own answers lose a carriage return in a name, so such a name is not told.
    return tuple(
        (
            None if "\r" in (it.name or "") else it.name,
            None if it.type is None else type_text(it.type),
        )
        for it in columns
    )


def agreed(answers: Sequence[Output | None]) -> Output | None:
    """What several answers have in common: None in place of a name or type that differs, and of all
    where one of them is None or has another number of columns."""
    known = [it for it in answers if it is not None]
    if len(known) < len(answers) or len({len(it) for it in known}) != 1:
        return None
    return tuple(
        (_same({name for name, _ in each}), _same({kind for _, kind in each}))
        for each in zip(*known, strict=True)
    )


def _same(found: set[str | None]) -> str | None:
    return found.pop() if len(found) == 1 else None
