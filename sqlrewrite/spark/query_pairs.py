"""The statements of a rewritten text, each before and after the rewriting.

Insertions add no statement, so the n-th statement before is the n-th one after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlrewrite.results import Candidate, Rewrite
from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.sql.ddl.definitions import apply, created_query
from sqlrewrite.sql.parse.statements import statements
from sqlrewrite.sql.statements.execution import StatementKind, StatementText, statement_texts
from sqlrewrite.warehouse import DEFAULT_NAMESPACE, Warehouse, literal_name


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
    candidates: dict[int, list[Candidate]] = {}
    for candidate in rewrite.candidates:
        candidates.setdefault(candidate.statement, []).append(candidate)
    both = zip(statement_texts(rewrite.original), statement_texts(rewrite.sql), strict=True)
    return tuple(
        QueryPair(path, old, new, tuple(candidates.get(old.index, ()))) for old, new in both
    )


def enter(session: Session, pair: QueryPair) -> bool:
    """Runs a statement that only changes the session; returns whether it was one."""
    if pair.before.kind is not StatementKind.SESSION:
        return False
    with spark_errors(f"{pair.place}: Spark does not take this statement"):
        session.spark.sql(pair.before.text)
    return True


def of_view(pair: QueryPair) -> QueryPair:
    """The pair of the queries in two statements that create a temporary view."""
    both = []
    for created in (pair.before, pair.after):
        (statement,) = statements(created.text)
        (query,) = statement_texts(created_query(statement.tokens, created.text)[1])
        both.append(replace(query, index=created.index, line=created.line))
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
    """By a table's last name, the columns by which its files leave parts of it out."""
    columns_of: dict[str, frozenset[str]] = {}
    for table in catalog.tables:
        fields = (field for field in table.partitioned_by if field.transform != "identity")
        columns = {*table.clustered_by, *(field.column.lower() for field in fields)}
        if columns:
            columns_of[table.name[-1]] = columns_of.get(table.name[-1], frozenset()) | columns
    return columns_of
