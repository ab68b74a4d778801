"""A text of another dialect than Spark's, from its author's words to Spark's grammar and back.

In: a text and its dialect. Out: what is read in its place (``dialects``); each of its statements,
where it says the same in its own dialect; and what is told of it, in its author's words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from sqlrewrite.sql.managed import Stripped
from sqlrewrite.sql.parse.statements import Failure, Statement, statements
from sqlrewrite.text.limits import SPARK, Limits
from sqlrewrite.warehouse import View, Warehouse

if TYPE_CHECKING:
    from sqlrewrite.dialects import Dialect, Heard

T = TypeVar("T")


def heard(sql: str, limits: Limits) -> Heard | None:
    """A text as Spark's grammar has it; None for one of Spark's own."""
    found = _dialect(limits)
    return None if found is None else found.hear(sql)


def spoken(value: T, limits: Limits) -> T:
    """What is told of a document, its words as its author has them."""
    found = _dialect(limits)
    return value if found is None else found.said(value)


def understood(
    statement: Statement, text: Stripped, said: Heard, limits: Limits, catalog: Warehouse
) -> Statement:
    """The statement, or one left alone where its dialect's own parser reads another."""
    from sqlrewrite.sql.statements.second_reading import otherwise

    start, end = map(text.original_offset, (statement.start, statement.end))
    why = next((it for at, it in said.unheard if start <= at < end), None)
    failed = statement.failure is not None or statement.tree is None
    if why is None and not failed and not statement.words.isdisjoint(catalog.prunable):
        why = otherwise(statement, text.text, limits.dialect)
    return statement if why is None else left(statement, why)


def with_views(catalog: Warehouse, text: str, limits: Limits) -> Warehouse:
    """The catalog, the views that a text may name as Spark's grammar has them: their queries are in
    the text's dialect. Of one that says something else there nothing is known."""
    found = _dialect(limits)
    if found is None:
        return catalog
    named = text.lower()
    for name, view in catalog.relations.items():
        if isinstance(view, View) and name[-1] in named:
            query = _heard_query(found, view.query)
            heard = None if query is None else replace(view, query=query)
            catalog = catalog.without(name) if heard is None else catalog.with_relation(heard)
    return catalog


def _heard_query(dialect: Dialect, query: str) -> str | None:
    """The query of a view as it is heard; None where it is not understood."""
    from sqlrewrite.sql.statements.second_reading import otherwise

    said = dialect.hear(query)
    if said.strange or said.unheard:
        return None
    read = list(statements(said.text))
    alone = len(read) == 1 and read[0].tree is not None and read[0].failure is None
    return said.text if alone and otherwise(read[0], said.text, dialect.name) is None else None


def left(statement: Statement, why: str) -> Statement:
    """A statement that is left alone."""
    return replace(statement, tree=None, failure=Failure(statement.start, why, True))


def _dialect(limits: Limits) -> Dialect | None:
    if limits.dialect == SPARK:
        return None
    from sqlrewrite.dialects import dialect  # of which no other text has need

    return dialect(limits.dialect)
