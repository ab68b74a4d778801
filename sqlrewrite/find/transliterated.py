"""A text of another dialect than Spark's, on its way to Spark's grammar and back.

In: a text and its limits, which name its dialect. Out: the text that is read in its place
(``dialects``); each of its statements, if the dialect's own parser reads the same in it; and
results in the author's own words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from sqlrewrite.sql.managed.strip import Stripped
from sqlrewrite.sql.parse.statements import Failure, Statement, statements
from sqlrewrite.text.limits import SPARK, Limits
from sqlrewrite.warehouse import View, Warehouse

if TYPE_CHECKING:
    from sqlrewrite.dialects import Dialect, Transliteration

T = TypeVar("T")

_FLINK = "flink"


def to_spark(sql: str, limits: Limits) -> Transliteration | None:
    """A text as Spark's grammar has it; None for one of Spark's own."""
    found = _dialect(limits)
    return None if found is None else found.to_spark(sql)


def in_dialect(result: T, limits: Limits) -> T:
    """A result of reading a text, every string in it back in the author's dialect."""
    found = _dialect(limits)
    return result if found is None else found.in_dialect(result)


def cross_checked(
    statement: Statement,
    text: Stripped,
    transliteration: Transliteration,
    limits: Limits,
    catalog: Warehouse,
) -> Statement:
    """The statement, or a failed one where its dialect's own parser reads something else."""
    from sqlrewrite.sql.statements.second_reading import disagreement

    start, end = map(text.original_offset, (statement.start, statement.end))
    why = next((it for at, it in transliteration.unreadable if start <= at < end), None)
    failed = statement.failure is not None or statement.tree is None
    if why is None and not failed and not statement.words.isdisjoint(catalog.prunable):
        why = disagreement(statement, text.text, limits.dialect)
    return statement if why is None else left_alone(statement, why)


def with_views_of(text: str, catalog: Warehouse, limits: Limits) -> Warehouse:
    """The catalog, with the queries of views that the text may name as Spark's grammar has them.

    The queries are in the text's dialect; a view whose query does not pass is unknown."""
    found = _dialect(limits)
    if found is None:
        return catalog
    lowered = text.lower()
    for name, view in catalog.relations.items():
        if isinstance(view, View) and name[-1] in lowered:
            query = _view_query(found, view.query)
            known = None if query is None else replace(view, query=query)
            catalog = catalog.without(name) if known is None else catalog.with_relation(known)
    return catalog


def with_temporaries_of(before: Warehouse, after: Warehouse, limits: Limits) -> Warehouse:
    """The catalog after a statement, as far as its dialect agrees on temporary views.

    Flink's stand in the schema that was current, and hide the table there from each of its names;
    Spark's stand in none."""
    if limits.dialect != _FLINK or after is before:
        return after
    temporaries = [name for name in after.relations if len(name) == 1]
    for name in temporaries:
        if after.namespace != before.namespace:
            after = after.without(name)
        elif name not in before.relations:
            after = after.without(after.qualify(name))
    return after


def _view_query(dialect: Dialect, query: str) -> str | None:
    """The query of a view as Spark's grammar has it; None where it is not understood."""
    from sqlrewrite.sql.statements.second_reading import disagreement

    found = dialect.to_spark(query)
    if found.failure or found.unreadable:
        return None
    read = list(statements(found.text))
    alone = len(read) == 1 and read[0].tree is not None and read[0].failure is None
    same = alone and disagreement(read[0], found.text, dialect.name) is None
    return found.text if same else None


def left_alone(statement: Statement, why: str) -> Statement:
    """The statement without its tree, and the reason why."""
    return replace(statement, tree=None, failure=Failure(statement.start, why, True))


def _dialect(limits: Limits) -> Dialect | None:
    if limits.dialect == SPARK:
        return None
    from sqlrewrite.dialects import dialect  # Spark's own texts do without this import

    return dialect(limits.dialect)
