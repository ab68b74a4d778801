"""Runs a statement on a sample of its facts' partitions, if these are too big to be read whole.

In both texts, the facts and the views over them are replaced by temporary views that filter by the
partition columns. These have new names: ``spark_catalog.db.t`` would ignore a temporary view ``t``.
The sample has partitions that each predicate keeps and as many that it drops, chosen by a hash: the
same each time, and the same days of two facts that are joined by day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import cycle

from msgspec import Struct, field

from sqlrewrite.copies import replace
from sqlrewrite.results import Candidate
from sqlrewrite.spark.describe import partitions
from sqlrewrite.spark.script import QueryPair
from sqlrewrite.spark.session import Session, in_namespace, literal_text, spark_errors, tried
from sqlrewrite.spark.target import SparkError
from sqlrewrite.sql.statements.effects import StatementText, references, renamed, statement_texts
from sqlrewrite.warehouse import Name, Table, View, Warehouse, literal_name, quoted

Partition = tuple[str | None, ...]
"""The values of the partition columns as text."""

_CONSIDERED = 10_000
"""How many partitions of a table are considered: each is a row in the query for a predicate."""

_MOST_VIEWS = 20


class Sampled(Struct, frozen=True):
    """The sample of a table, with the number of partitions that a predicate keeps (``kept``); or
    why it is read ``whole``."""

    table: str
    partitions: int
    taken: tuple[str, ...] = ()
    kept: int | None = None
    whole: str = ""


class _Fact(Struct, frozen=True):
    """A fact with its partition columns, and its partitions in the order in which they are
    sampled."""

    table: Table
    columns: tuple[str, ...]
    types: tuple[str, ...]
    partitions: tuple[Partition, ...]
    count: int

    def literals(self, partition: Partition) -> tuple[str, ...]:
        """The values of a partition as SQL."""
        both = zip(partition, self.types, strict=True)
        return tuple(f"CAST({literal_text(value)} AS {kind})" for value, kind in both)

    def condition(self, taken: Sequence[Partition]) -> str:
        """The condition for these partitions: IN, because Spark does not prune dynamically beside
        ``=``."""
        names = [quoted(column) for column in self.columns]
        if len(names) > 1:
            rows = (zip(self.literals(partition), names, strict=True) for partition in taken)
            listed = (_json(map("{0[0]} AS {0[1]}".format, row)) for row in rows)
            return f"{_json(names)} IN ({', '.join(listed)})"
        listed = (self.literals(partition)[0] for partition in taken if partition != (None,))
        null = f" OR {names[0]} IS NULL" if (None,) in taken else ""
        return f"{names[0]} IN ({', '.join(listed) or 'NULL'}){null}"

    def shown(self, partition: Partition) -> str:
        """``day=1/region=x``."""
        values = ("NULL" if value is None else value for value in partition)
        return "/".join(map("{}={}".format, self.columns, values))


class _Views(Struct):
    """The temporary views created so far, by the relation that each replaces."""

    session: Session
    names: dict[Name, str] = field(default_factory=dict)

    def make(self, name: Name, query: str, columns: Sequence[str] = ()) -> None:
        """Creates the view that replaces a relation."""
        view = f"dpp_rewrite_sample_{len(self.names) + 1}"
        listed = f" ({', '.join(quoted(column) for column in columns)})" if columns else ""
        self.session.spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {view}{listed} AS {query}")
        self.names[name] = view

    def drop(self) -> None:
        """Drops the views."""
        for view in self.names.values():
            self.session.spark.sql(f"DROP VIEW IF EXISTS {view}")


@contextmanager
def sampled(
    session: Session, pair: QueryPair, catalog: Warehouse, count: int
) -> Iterator[tuple[QueryPair, tuple[Sampled, ...]]]:
    """The pair, reading only ``count`` partitions of each of its facts. Raises SparkError."""
    views, samples = _Views(session), list[Sampled]()
    taken_before: frozenset[Partition] = frozenset()
    try:
        with spark_errors(f"{pair.place}: no sample can be taken"):
            for table, why in _facts(pair, catalog).items():
                name = ".".join(table.name)
                if why:
                    samples.append(Sampled(name, 0, whole=why))
                    continue
                fact = _fact(session, table)
                splits = _splits(session, fact, pair, catalog)
                # For a fact without a predicate: the partitions sampled from facts that it is
                # joined with.
                taken = _chosen(fact, splits or [taken_before], count)
                taken_before |= frozenset(taken)
                kept = (
                    sum(any(partition in split for split in splits) for partition in taken)
                    if splits
                    else None
                )
                samples.append(Sampled(name, fact.count, tuple(map(fact.shown, taken)), kept))
                if len(taken) < fact.count:
                    rows = f"SELECT * FROM {literal_name(table.name)}"
                    views.make(table.name, f"{rows} WHERE {fact.condition(taken)}")
            texts = [_text(query, catalog, views) for query in (pair.before, pair.after)]
        yield replace(pair, before=texts[0], after=texts[1]), tuple(samples)
    finally:
        with suppress(SparkError), spark_errors("not dropped"):
            views.drop()


# The facts


def _facts(pair: QueryPair, catalog: Warehouse) -> dict[Table, str]:
    """The facts of a statement, each with the reason why it cannot be sampled, if any."""
    named = [
        behind
        for query in (pair.before, pair.after)
        for reference in references(query.text)
        for behind in _tables_behind(catalog, reference.parts, reference.plain)
    ]
    facts: dict[Table, str] = {}
    for candidate in sorted(pair.candidates, key=lambda it: it.predicate is None):
        for table, _ in _tables_behind(catalog, _name(candidate)):
            facts[table] = ""
            if any(field.transform != "identity" for field in table.partitioned_by):
                facts[table] = "it is partitioned by a transform of a column"
            if (table, False) in named:
                facts[table] = (
                    "the query reads a version or files of it, or names a column as db.t.column"
                )
    return facts


def _name(candidate: Candidate) -> Name:
    return tuple(candidate.fact.table.split("."))


def _tables_behind(
    catalog: Warehouse, name: Name, plain: bool = True, depth: int = _MOST_VIEWS
) -> Iterator[tuple[Table, bool]]:
    """The partitioned tables that a name reads, and whether each can be replaced by a view."""
    match catalog.resolve(name):
        case Table() as table if table.partitioned_by:
            yield table, plain
        case View() as view if depth:
            inner = catalog.within(view)
            for reference in references(view.query):
                yield from _tables_behind(
                    inner, reference.parts, plain and reference.plain, depth - 1
                )


def _fact(session: Session, table: Table) -> _Fact:
    """The fact and its partitions, by SHOW PARTITIONS, or from its rows if its format has no
    partitions."""
    columns = tuple(field.column for field in table.partitioned_by)
    name = literal_name(table.name)
    schema = session.spark.table(name).schema
    kinds = {field.name.lower(): field.dataType.simpleString() for field in schema.fields}
    missing = [column for column in columns if column.lower() not in kinds]
    if missing:
        raise SparkError(f"{'.'.join(table.name)} has no column {missing[0]}")
    values: set[Partition] | None = None
    with tried():
        values = {tuple(partition.values()) for partition in partitions(session.spark, name)}
    if values is None:
        names = ", ".join(f"CAST({quoted(column)} AS STRING)" for column in columns)
        rows = session.spark.sql(f"SELECT DISTINCT {names} FROM {name}").collect()
        values = {tuple(row) for row in rows}
    types = tuple(kinds[column.lower()] for column in columns)
    ordered = sorted(values, key=_order)
    return _Fact(table, columns, types, tuple(ordered[:_CONSIDERED]), len(ordered))


def _order(partition: Partition) -> tuple[bool, str]:
    """The sort key: partitions with NULL first, because a predicate drops them and an outer join
    keeps them."""
    return None not in partition, sha256(repr(partition).encode()).hexdigest()


def _json(fields: Iterable[str]) -> str:
    """Several values as one text, in which NULL differs from every other value."""
    return f"to_json(struct({', '.join(fields)}))"


# The choice


def _splits(
    session: Session, fact: _Fact, pair: QueryPair, catalog: Warehouse
) -> list[frozenset[Partition]]:
    """The partitions that each predicate on the fact keeps, if Spark can evaluate it by itself."""
    splits: dict[tuple[str, str], frozenset[Partition]] = {}
    for candidate in pair.candidates:
        tables = [table for table, _ in _tables_behind(catalog, _name(candidate))]
        key = (candidate.fact.alias, candidate.predicate or "")
        if candidate.predicate is None or fact.table not in tables or key in splits:
            continue
        columns = fact.columns
        if not isinstance(catalog.resolve(_name(candidate)), Table):
            if len(columns) > 1 or len(tables) > 1:
                continue
            columns = (candidate.fact.column,)  # its name in the view
        with tried():
            splits[key] = _kept(session, fact, candidate, columns)
    return list(splits.values())


def _kept(
    session: Session, fact: _Fact, candidate: Candidate, columns: Sequence[str]
) -> frozenset[Partition]:
    number = "dpp_rewrite_partition"
    rows = (
        f"({at}, {', '.join(fact.literals(partition))})"
        for at, partition in enumerate(fact.partitions)
    )
    listed = ", ".join(quoted(column) for column in (number, *columns))
    alias = quoted(candidate.fact.alias)
    source = f"VALUES {', '.join(rows)} AS {alias}({listed})"
    sql = f"SELECT {number} FROM {source} WHERE {candidate.predicate}"
    return frozenset(fact.partitions[row[0]] for row in session.spark.sql(sql).collect())


def _chosen(
    fact: _Fact, splits: Sequence[frozenset[Partition]], count: int
) -> tuple[Partition, ...]:
    """Up to ``count`` partitions: for each set, alternately one that is in it and one that is
    not."""
    groups = [
        iter([partition for partition in fact.partitions if (partition in split) is inside])
        for split in splits
        for inside in (True, False)
    ]
    taken: dict[Partition, None] = {}
    for group in cycle(groups):
        if len(taken) == min(count, len(fact.partitions)):
            break
        partition = next((partition for partition in group if partition not in taken), None)
        if partition is not None:
            taken[partition] = None
    return tuple(taken)


# The texts


def _text(query: StatementText, catalog: Warehouse, views: _Views) -> StatementText:
    """The query over the sample."""
    (statement,) = statement_texts(_renamed(query.text, catalog, views))
    return replace(statement, index=query.index, line=query.line)


def _renamed(text: str, catalog: Warehouse, views: _Views, depth: int = _MOST_VIEWS) -> str:
    """A text in which facts, and views over them, are named by their samples."""
    names = []
    for reference in references(text):
        relation = catalog.resolve(reference.parts)
        if relation is None:
            continue
        if isinstance(relation, View) and relation.name not in views.names and depth:
            _make_again(relation, catalog, views, depth)
        if relation.name in views.names:
            names.append((reference, views.names[relation.name]))
    return renamed(text, names)


def _make_again(view: View, catalog: Warehouse, views: _Views, depth: int) -> None:
    """Creates a view over a fact again, over the fact's sample, in the view's own namespace."""
    inner = catalog.within(view)
    query = _renamed(view.query, inner, views, depth - 1)
    if query == view.query:
        return
    with in_namespace(views.session.spark, view.namespace):
        views.make(view.name, query, view.columns)
