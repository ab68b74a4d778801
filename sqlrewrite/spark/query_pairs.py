"""The statements of a rewritten text, each before and after the rewriting.

Insertions add no statement, so the n-th statement before is the n-th one after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlrewrite.catalog.names import literal_name
from sqlrewrite.results import Candidate, Rewrite
from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.sql.ddl.definitions import apply, created_query
from sqlrewrite.sql.parse.statements import statements
from sqlrewrite.sql.statements.execution import StatementKind, StatementText, statement_texts
from sqlrewrite.warehouse import DEFAULT_NAMESPACE, Warehouse


@dataclass(frozen=True, slots=True)
class QueryPair:
    """One statement of a file, before and after, and its candidates."""

    path: str
    before: StatementText
    after: StatementText
    candidates: tuple[Candidate, ...] = ()

    @property
    def place(self) -> str:
        """``path:line`` in the text before."""
        return f"{self.path}:{self.before.line}"

    @property
    def changed(self) -> bool:
        """Whether anything was inserted."""
        return self.before.text != self.after.text


def pairs(path: str, rewrite: Rewrite) -> tuple[QueryPair, ...]:
    """All statements of a text, in order."""
    found: dict[int, list[Candidate]] = {}
    for candidate in rewrite.candidates:
        found.setdefault(candidate.statement, []).append(candidate)
    both = zip(statement_texts(rewrite.original), statement_texts(rewrite.sql), strict=True)
    return tuple(QueryPair(path, old, new, tuple(found.get(old.index, ()))) for old, new in both)


def enter(session: Session, pair: QueryPair) -> bool:
    """Runs a statement that only changes the session (USE, SET, a temporary view), on which later
    ones depend; returns whether it was one. Raises SparkError."""
    if pair.before.kind is not StatementKind.SESSION:
        return False
    with spark_errors(f"{pair.place}: Spark does not take this statement"):
        session.spark.sql(pair.before.text)
    return True


def of_view(pair: QueryPair) -> QueryPair:
    """The pair of the queries in two statements that create a temporary view."""
    both = []
    for made in (pair.before, pair.after):
        (statement,) = statements(made.text)
        (query,) = statement_texts(created_query(statement.tokens, made.text)[1])
        both.append(replace(query, index=made.index, line=made.line))
    return replace(pair, before=both[0], after=both[1])


def known_after(path: str, text: str, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in the text itself."""
    for statement in statements(text):
        catalog = apply(statement, text, catalog, path)
    return catalog


def use(session: Session, catalog: Warehouse) -> None:
    """Makes the catalog's current schema the session's, too. Raises SparkError."""
    if catalog.namespace != DEFAULT_NAMESPACE:
        with spark_errors(f"USE {'.'.join(catalog.namespace)}"):
            session.spark.sql(f"USE {literal_name(catalog.namespace)}")


def partitioned(catalog: Warehouse) -> frozenset[str]:
    """The last names of all partitioned tables."""
    return frozenset(table.name[-1] for table in catalog.tables if table.partitioned_by)


def layout_columns(catalog: Warehouse) -> Mapping[str, frozenset[str]]:
    """By the last name of a table, the columns by which its files leave parts of it out: those it
    is clustered by, and those of which a partition is a transform."""
    found: dict[str, frozenset[str]] = {}
    for table in catalog.tables:
        fields = (it for it in table.partitioned_by if it.transform != "identity")
        columns = {*table.clustered_by, *(it.column.lower() for it in fields)}
        if columns:
            found[table.name[-1]] = found.get(table.name[-1], frozenset()) | columns
    return found
