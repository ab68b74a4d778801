"""Creates the tables of a catalog, empty, in an embedded Spark, so that it plans a query as
production would.

ANALYZE … NOSCAN computes a table's size by adding up the lengths of its files: so each table gets
files that have a length and no content (docs/spark.md, "Explaining without data").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct

from sqlrewrite.settings.spark_conf import known_setting
from sqlrewrite.spark.script import use
from sqlrewrite.spark.session import Session, literal_text, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.warehouse import Name, Table, TableOrView, View, Warehouse, literal_name, quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ASSUMED_LARGE = 100 << 30
ASSUMED_SMALL = 1 << 20

# Excluded: with this rule, a condition on a partition column would make the table as small as its
# matching partitions, and there is only one.
EXCLUDED = "spark.sql.optimizer.excludedRules"
PRUNING_RULE = "org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions"

_LONGEST_FILE = 1 << 40
_WORD = re.compile(r"\w+")
_VALUES = {"date": "DATE'2000-01-01'", "timestamp": "TIMESTAMP'2000-01-01'", "boolean": "true"}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


class Stock(Struct, frozen=True):
    """The differences from production: sizes ``assumed``, relations ``missing`` with the reason."""

    assumed: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()


def together(stocks: Iterable[Stock]) -> Stock:
    """The differences from production for several texts, each once."""
    every = tuple(stocks)
    assumed = dict.fromkeys(name for stock in every for name in stock.assumed)
    missing = dict.fromkeys(relation for stock in every for relation in stock.missing)
    return Stock(tuple(assumed), tuple(missing))


@contextmanager
def warehouse(session: Session, catalog: Warehouse, texts: Iterable[str]) -> Iterator[Stock]:
    """Creates the relations that the texts name, and drops them at the end. On a Spark with tables
    of its own, it only makes the catalog's current schema the session's. Names have no catalog:
    ``lake.raw.clicks`` is created as ``raw.clicks``."""
    if not session.target.embedded:
        use(session, catalog)
        yield Stock()
        return
    spark = session.spark
    with ExitStack() as ends:
        temporary = TemporaryDirectory(prefix="dpp-rewrite-warehouse-", ignore_cleanup_errors=True)
        folder = Path(ends.enter_context(temporary))
        with spark_errors("the empty tables cannot be made"):
            excluded = spark.conf.get(EXCLUDED, "")
            spark.conf.set(EXCLUDED, f"{excluded},{PRUNING_RULE}" if excluded else PRUNING_RULE)
            set_by_user = {key.lower() for key, _ in session.target.conf}
            for key, value in catalog.settings.items():
                if known_setting(key) and key.lower() not in set_by_user:
                    spark.conf.set(key, value)
            used = list(_used(catalog, texts))
            for schema in sorted(
                {relation.name[-2] for relation in used} | {catalog.namespace[-1]}
            ):
                _make_schema(spark, schema, folder, ends)
        missing: list[tuple[str, str]] = []
        tables = [relation for relation in used if isinstance(relation, Table)]
        for table in tables:
            try:
                _make_table(spark, table, folder, ends)
            except SparkError as error:
                missing.append((".".join(table.name), str(error)))
        missing += _make_views(
            spark, [relation for relation in used if isinstance(relation, View)], ends
        )
        with spark_errors(f"USE {catalog.namespace[-1]}"):
            spark.sql(f"USE {quoted(catalog.namespace[-1])}")
        missing += (
            (
                ".".join(table.name),
                "made without its partitions: a local Spark has no partition transforms",
            )
            for table in tables
            if any(field.transform != "identity" for field in table.partitioned_by)
        )
        sized = tuple(
            sorted(".".join(table.name) for table in tables if table.size_in_bytes is None)
        )
        yield Stock(sized, tuple(missing))


def _used(catalog: Warehouse, texts: Iterable[str]) -> Iterator[TableOrView]:
    """The relations that the texts name, and those that views among them read."""
    others = [relation for name, relation in sorted(catalog.relations.items()) if len(name) > 1]
    words = {word for text in texts for word in _WORD.findall(text.lower())}
    while True:
        named = [relation for relation in others if set(_WORD.findall(relation.name[-1])) <= words]
        if not named:
            return
        yield from named
        others = [relation for relation in others if relation not in named]
        for relation in named:
            if isinstance(relation, View):
                words |= set(_WORD.findall(relation.query.lower()))


def _make_schema(spark: SparkSession, schema: str, folder: Path, ends: ExitStack) -> None:
    name = quoted(schema)
    if spark.catalog.databaseExists(schema):
        return
    spark.sql(f"CREATE DATABASE {name} LOCATION {_place(folder / 'schemas' / schema)}")
    ends.callback(_quietly, spark, f"DROP DATABASE IF EXISTS {name} CASCADE")


def _make_table(spark: SparkSession, table: Table, folder: Path, ends: ExitStack) -> None:
    """Creates a table of that size, with one partition if it is partitioned. Raises SparkError."""
    partitions = [field.column for field in table.partitioned_by if field.transform == "identity"]
    size = table.size_in_bytes
    if size is None:
        size = ASSUMED_LARGE if table.partitioned_by else ASSUMED_SMALL
    place = folder / "tables" / "_".join(re.sub(r"\W", "-", part) for part in table.name)
    below = place / "partition" if partitions else place
    name = literal_name(table.name[-2:])
    columns = ", ".join(
        f"{quoted(column.name)} {column.type or 'string'}" for column in table.columns
    )
    with spark_errors("cannot be made here"):
        spark.sql(
            f"CREATE TABLE {name} ({columns}) USING parquet"
            + (f" PARTITIONED BY ({', '.join(map(quoted, partitions))})" if partitions else "")
            + _buckets(table)
            + f" LOCATION {_place(place)}"
        )
        ends.callback(_quietly, spark, f"DROP TABLE IF EXISTS {name}")
        _make_files(below, size)
        if partitions:
            values = (
                f"{quoted(partition)} = {_value(table, partition)}" for partition in partitions
            )
            only = f"PARTITION ({', '.join(values)}) LOCATION {_place(below)}"
            spark.sql(f"ALTER TABLE {name} ADD {only}")
        spark.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS NOSCAN")


def _buckets(table: Table) -> str:
    if table.buckets is None:
        return ""
    columns = ", ".join(map(quoted, table.buckets.columns))
    return f" CLUSTERED BY ({columns}) INTO {table.buckets.count} BUCKETS"


def _make_files(folder: Path, size: int) -> None:
    """Creates sparse files of that many bytes in all, which use no space on the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    longest, number = _LONGEST_FILE, 0
    while size > 0:
        length = min(size, longest)
        with open(folder / f"part-{number}.parquet", "wb") as file:
            try:
                file.truncate(length)
            except OSError as error:
                if longest <= 1 << 30:
                    raise SparkError(f"cannot be made here: {error.strerror or error}") from error
                longest >>= 2  # the file system allows only shorter files
                continue
        size, number = size - length, number + 1


def _make_views(
    spark: SparkSession, views: list[View], ends: ExitStack
) -> Iterator[tuple[str, str]]:
    """Creates the views in the order of their dependencies; yields those that fail, with the
    reason."""
    while views:
        failed: dict[Name, tuple[View, str]] = {}
        for view in views:
            name = literal_name(view.name[-2:])
            names = f" ({', '.join(map(quoted, view.columns))})" if view.columns else ""
            try:
                with spark_errors("cannot be made here"):
                    spark.sql(f"USE {quoted(view.namespace[-1])}")
                    spark.sql(f"CREATE VIEW {name}{names} AS {view.query}")
                    ends.callback(_quietly, spark, f"DROP VIEW IF EXISTS {name}")
            except SparkError as error:
                failed[view.name] = (view, str(error))
        if len(failed) == len(views):
            yield from ((".".join(name), why) for name, (_, why) in failed.items())
            return
        views = [view for view, _ in failed.values()]


def _value(table: Table, name: str) -> str:
    """Any value of a partition column's type, as SQL; nothing reads it."""
    column = table.column(name)
    type_ = column.type if column and column.type else "string"
    if type_.startswith(_NUMBERS):
        return "0"
    return _VALUES.get(type_, "'0'")


def _place(path: Path) -> str:
    """A path as a string of SQL: not a URI, in which Spark would take ``%`` literally."""
    return literal_text(str(path))


def _quietly(spark: SparkSession, statement: str) -> None:
    with suppress(SparkError), spark_errors("not dropped"):
        spark.sql(statement)
