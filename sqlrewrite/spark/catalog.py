"""``catalog pull`` and ``check``: reads the relations of a live Spark catalog; tests derived
columns on rows.

A relation that cannot be read does not affect the others. ``Partial`` keeps what has been read, so
that an interrupted pull continues there. All of it is SQL, so it works over Connect too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sqlrewrite.catalog import snapshot
from sqlrewrite.copies import replace
from sqlrewrite.settings.spark_conf import SETTINGS, VERSION
from sqlrewrite.spark import describe
from sqlrewrite.spark.describe import generated, partitions
from sqlrewrite.spark.session import Session, current_namespace, literal_text, spark_errors, tried
from sqlrewrite.spark.target import SparkError, SparkGoneError
from sqlrewrite.warehouse import (
    CatalogError,
    Column,
    Derivation,
    Name,
    Table,
    TableOrView,
    Warehouse,
    derivation,
    literal_name,
    quoted,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_NESTED = ("array<", "map<", "struct<", "variant")
_GLOB = frozenset("*?[")


class Pulled(Struct, frozen=True):
    """A relation of the live catalog, or ``why`` it could not be read."""

    name: Name
    relation: TableOrView | None
    why: str = ""


# Names


def names(session: Session, patterns: Sequence[str]) -> tuple[list[Name], list[Pulled]]:
    """The qualified names that match one of the patterns, sorted (all of the current catalog
    without patterns), and the matching schemas that cannot be listed, each with the reason. A
    pattern is a name as in SQL with ``*`` and ``?`` in its parts: ``sales_*`` in the current
    schema, ``retail.*``, ``lake.*.clicks``. Raises SparkError for a pattern that matches nothing.
    """
    unread: dict[Name, Pulled] = {}
    with spark_errors("the catalog cannot be listed"):
        current = namespace(session)
        relations: set[Name] = set()
        for pattern in patterns or ("*.*",):
            fitting = set(_fitting(session.spark, pattern, current, unread))
            if not fitting:
                why = "; ".join(
                    f"{'.'.join(schema.name)}: {schema.why}" for schema in unread.values()
                )
                message = f"no table or view fits {pattern!r} in {session.target.name}"
                raise SparkError(f"{message}; {why}" if why else message)
            relations |= fitting
    return sorted(relations), list(unread.values())


def namespace(session: Session) -> Name:
    """The session's current catalog and schema."""
    with spark_errors("Spark does not tell its current schema"):
        return current_namespace(session.spark)


def _fitting(
    spark: SparkSession, pattern: str, current: Name, unread: dict[Name, Pulled]
) -> Iterator[Name]:
    parts = tuple(pattern.lower().replace("`", "").split("."))
    if len(parts) < 3:
        parts = (*current[: 3 - len(parts)], *parts)
    for catalog in _matching(spark, parts[0], "SHOW CATALOGS"):
        shown = f"SHOW NAMESPACES IN {quoted(catalog)}"
        for schema in _matching(spark, ".".join(parts[1:-1]), shown):
            where = (catalog, *schema.split("."))
            try:
                with spark_errors("cannot be listed"):
                    listed = _relations(spark, where)
            except SparkGoneError:
                raise
            except SparkError as error:  # the user may not list it
                if not _GLOB & set(pattern):  # a name without wildcards needs no list
                    yield (*where, parts[-1])
                    continue
                unread[where] = Pulled(where, None, str(error))
                continue
            yield from ((*where, name) for name in listed if fnmatchcase(name, parts[-1]))


def _matching(spark: SparkSession, pattern: str, listing: str) -> list[str]:
    """The names in a listing that match. A name without wildcards needs no listing: the user may
    not be allowed to list, and SHOW CATALOGS shows only catalogs that are already in use."""
    if not _GLOB & set(pattern):
        return [pattern]
    listed = (str(row[0]).lower().replace("`", "") for row in spark.sql(listing).collect())
    return sorted(name for name in listed if fnmatchcase(name, pattern))


def _relations(spark: SparkSession, schema: Name) -> set[str]:
    """The tables and views of a schema; SHOW TABLES of a v2 catalog lists no views."""
    where = literal_name(schema)
    rows = list(spark.sql(f"SHOW TABLES IN {where}").collect())
    with tried():
        rows += spark.sql(f"SHOW VIEWS IN {where}").collect()
    return {str(row[1]).lower() for row in rows if not row["isTemporary"]}


def settings(session: Session) -> dict[str, str]:
    """The version of Spark, and the readable settings of the session on which pruning depends."""
    values = {VERSION: session.spark.version}
    for name in SETTINGS:
        with tried():
            values[name] = str(session.spark.conf.get(name))
    return values


# Relations


def read_relations(session: Session, names: Iterable[Name]) -> Iterator[Pulled]:
    """Reads each relation. Raises SparkGoneError."""
    for name in names:
        try:
            with spark_errors("cannot be read"):
                yield Pulled(name, _relation(session.spark, name))
        except SparkGoneError as error:
            raise SparkGoneError(f"{'.'.join(name)}: {error}") from error
        except (SparkError, describe.NotDescribedError) as error:
            yield Pulled(name, None, str(error).removeprefix("cannot be read: "))


def _relation(spark: SparkSession, name: Name) -> TableOrView:
    table = literal_name(name)
    description = describe.described(spark, table)
    if description.is_view:
        return describe.view(name, description)
    read = describe.table(name, description, describe.as_json(spark, table))
    if read.row_count is not None:
        read = _with_distinct_counts(spark, read)
    if read.partitioned_by:
        read = _with_partitions(spark, read)
    if read.partitioned_by and read.provider == "delta":
        read = replace(read, derived=generated(spark, description.details))
    return replace(read, size_in_bytes=read.size_in_bytes or describe.planned_size(spark, table))


def _with_distinct_counts(spark: SparkSession, table: Table) -> Table:
    """The table with the distinct counts of ANALYZE … FOR COLUMNS."""
    columns = []
    for column in table.columns:
        count = None
        if column.type is not None and not column.type.startswith(_NESTED):
            count = _distinct_count(spark, table, column.name)
        columns.append(replace(column, distinct_count=count))
    return replace(table, columns=tuple(columns))


def _distinct_count(spark: SparkSession, table: Table, column: str) -> int | None:
    with suppress(ValueError), tried():
        shown = f"DESCRIBE TABLE EXTENDED {literal_name(table.name)} {quoted(column)}"
        rows = {row[0]: row[1] for row in spark.sql(shown).collect()}
        return int(rows["distinct_count"]) if str(rows.get("distinct_count")).isdigit() else None
    return None


def _with_partitions(spark: SparkSession, table: Table) -> Table:
    """The table with the number of its partitions, and of distinct values in each partition
    column."""
    if any(field.transform != "identity" for field in table.partitioned_by):
        return table
    with tried():
        values = [
            "count(DISTINCT nullif(split_part(split(partition, '/')"
            f"[{index}], '=', 2), '{describe.NULL_PARTITION}'))"
            for index in range(len(table.partitioned_by))
        ]
        shown = spark.sql(f"SHOW PARTITIONS {literal_name(table.name)}")
        partitions, *counts = shown.selectExpr("count(*)", *values).collect()[0]
        of = {
            field.column.lower(): count
            for field, count in zip(table.partitioned_by, counts, strict=True)
        }
        columns = tuple(
            replace(column, distinct_count=of.get(column.name.lower(), column.distinct_count))
            for column in table.columns
        )
        return replace(table, columns=columns, partition_count=partitions)
    return table


# A pull that was cut off


class Partial(Struct, frozen=True):
    """The file beside the snapshot to which a pull appends each relation that it has read."""

    path: Path
    source: str

    def read(self) -> dict[Name, TableOrView]:
        """The relations that an interrupted pull from the same source has read."""
        relations: dict[Name, TableOrView] = {}
        with suppress(OSError, ValueError, CatalogError, RecursionError):
            header, *lines = self.path.read_text("utf-8").splitlines()
            if json.loads(header) != {"pulled from": self.source}:
                return {}
            for line in lines:  # the last line may be incomplete; those before it count
                relations.update(snapshot.read(line, str(self.path)).relations)
        return relations

    def begin(self, kept: Iterable[TableOrView]) -> None:
        """Begins the file with the relations that are already known. Raises OSError."""
        lines = [json.dumps({"pulled from": self.source}), *map(_line, kept)]
        self.path.write_text("".join(f"{line}\n" for line in lines), "utf-8")

    def add(self, relation: TableOrView) -> None:
        """Appends a relation. Raises OSError."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{_line(relation)}\n")

    def end(self) -> None:
        """Removes the file once the snapshot is written."""
        with suppress(OSError):
            os.unlink(self.path)


def _line(relation: TableOrView) -> str:
    return json.dumps(json.loads(snapshot.write(Warehouse().with_relation(relation))))


ROWS = 1_000
"""How many rows of a partition an expression is tested on."""

_DATES = ("date", "timestamp", "timestamp_ntz")
_FORMATS = ("yyyy-MM-dd", "yyyyMMdd", "yyyy-MM", "yyyyMM", "yyyy", "yyyyMMddHH", "yyyy-MM-dd-HH")

# Expressions to try, by the types of the partition column and of the column it may be computed
# from.
_EXPRESSIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("date", "date"): ("trunc({}, 'MM')", "trunc({}, 'week')", "trunc({}, 'year')"),
    ("date", "string"): ("to_date({})",),
    ("string", "string"): ("substring({}, 1, 4)", "substring({}, 1, 7)", "substring({}, 1, 10)"),
    ("bigint", "bigint"): ("{} DIV 1000", "{} DIV 3600", "{} DIV 86400", "{} DIV 86400000"),
    ("bigint", "int"): ("{} DIV 1000", "{} DIV 3600", "{} DIV 86400"),
}
for _kind in _DATES:
    _EXPRESSIONS["string", _kind] = tuple(f"date_format({{}}, '{form}')" for form in _FORMATS)
    _EXPRESSIONS["int", _kind] = (
        *("year({})", "month({})", "day({})"),
        *(f"CAST(date_format({{}}, '{form}') AS INT)" for form in ("yyyyMMdd", "yyyyMM")),
        *(("hour({})",) if _kind != "date" else ()),
    )
    _EXPRESSIONS["bigint", _kind] = (
        *(f"CAST(date_format({{}}, '{form}') AS BIGINT)" for form in ("yyyyMMdd", "yyyyMMddHH")),
    )
    if _kind != "date":
        _EXPRESSIONS["date", _kind] = ("CAST({} AS DATE)", "trunc({}, 'MM')")


class Checked(Struct, frozen=True):
    """The check of a declared expression: all rows, and the ``wrong`` ones; or ``why`` it
    failed."""

    table: Name
    derivation: Derivation
    rows: int = 0
    wrong: int = 0
    why: str = ""


def check(session: Session, name: Name, derived: Iterable[Derivation]) -> tuple[Checked, ...]:
    """Checks the declared expressions of one table in one scan. Raises SparkGoneError."""
    declared = tuple(derived)
    counts = ", ".join(
        f"count_if(NOT ({quoted(derivation.column)} <=> ({derivation.expression})))"
        for derivation in declared
    )
    try:
        with spark_errors("cannot be counted"):
            text = f"SELECT count(*), {counts} FROM {literal_name(name)}"
            rows, *wrong = session.spark.sql(text).collect()[0]
    except SparkGoneError:
        raise
    except SparkError as error:
        if len(declared) > 1:  # one expression is invalid: check each by itself
            return tuple(checked for one in declared for checked in check(session, name, [one]))
        why = str(error).removeprefix("cannot be counted: ")
        return tuple(Checked(name, derivation, why=why) for derivation in declared)
    return tuple(
        Checked(name, derivation, rows, bad)
        for derivation, bad in zip(declared, wrong, strict=True)
    )


def proposed(session: Session, table: Table) -> tuple[Derivation, ...]:
    """For each partition column, an expression over another column that equals it in all rows of a
    sample; none if the sample is of one partition, where that may be chance."""
    declared = {derived.column.lower() for derived in table.derived}
    parts = frozenset(table.identities)
    candidates = [
        (column, source, form.format(quoted(source.name)))
        for column in table.columns
        if column.name.lower() in parts - declared
        for source in table.columns
        if source.name.lower() not in parts
        for form in _EXPRESSIONS.get((column.type or "", source.type or ""), ())
    ]
    if not candidates:
        return ()
    holds = _hold(session.spark, table, [(column, text) for column, _, text in candidates])
    derivations: dict[str, Derivation] = {}
    for (column, source, text), good in zip(candidates, holds, strict=True):
        if good:
            plain = text.replace(quoted(source.name), source.name)
            expression = plain if source.name.isidentifier() else text
            names = [other.name for other in table.columns]
            derivations.setdefault(
                column.name, derivation(column.name, expression, "the rows", names)
            )
    return tuple(derivations.values())


def _hold(spark: SparkSession, table: Table, candidates: list[tuple[Column, str]]) -> list[bool]:
    """Whether each expression equals its column in all rows of the sample."""
    counts = ", ".join(
        f"count_if(NOT ({quoted(column.name)} <=> try_cast({text} AS {column.type}))) = 0"
        f" AND count(DISTINCT {quoted(column.name)}) > 1"
        for column, text in candidates
    )
    with tried():
        text = f"SELECT {counts} FROM ({_some_rows(spark, table)})"
        return [bool(holds) for holds in spark.sql(text).collect()[0]]
    return [False] * len(candidates)


def _some_rows(spark: SparkSession, table: Table) -> str:
    """A query for rows of a table's first, middle and last partition."""
    name = literal_name(table.name)
    whole = f"(SELECT * FROM {name} LIMIT {ROWS})"
    with tried():
        values = partitions(spark, name)
        if values:
            some = sorted({0, len(values) // 2, len(values) - 1})
            return " UNION ALL ".join(
                f"(SELECT * FROM {name} WHERE {_condition(values[index])} LIMIT {ROWS})"
                for index in some
            )
    return whole


def _condition(partition: Mapping[str, str | None]) -> str:
    """A condition that selects a partition by its values."""
    return " AND ".join(
        f"CAST({quoted(column)} AS STRING) <=> {literal_text(value)}"
        for column, value in partition.items()
    )
