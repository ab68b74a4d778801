"""One relation as Spark describes it (DESCRIBE, SHOW PARTITIONS, EXPLAIN COST), as catalog values.

Types are taken from DESCRIBE's rows: its JSON (from Spark 4.0) calls CHAR(3) a string, and those
two compare differently. Delta's generated columns are read from the table's own log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from msgspec import Struct

from sqlrewrite.spark.session import tried
from sqlrewrite.warehouse import (
    GENERATED,
    Buckets,
    Column,
    Derivation,
    Name,
    PartitionField,
    Table,
    View,
    derivation,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_STATISTICS = re.compile(r"(\d+) bytes(?:, (\d+) rows)?")
_PLAN_SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.]+) ([KMGTP]i)?B\b")
_UNITS = {"": 0, "Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5}
_TRANSFORM = re.compile(r"(\w+)\((.*)\)")
_TRANSFORMS = frozenset({"years", "months", "days", "hours", "bucket", "truncate"})
# Clustering in a table's properties: Delta's ``[["a"],["b"]]``, and Iceberg's first sort column.
_CLUSTERING = re.compile(r"clusteringColumns=(\[\[.*?\]\])")
_CLUSTERED = re.compile(r'\["([^"]+)"\]')
_SORT_ORDER = re.compile(r"sort-order=(\w+) (?:ASC|DESC)\b")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`|([^`.,\[\]\s]+)")

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""The value NULL in the name of a partition's folder."""


class NotDescribedError(Exception):
    """A description that lacks something a sound rewrite needs; the message says what."""


class Description(Struct, frozen=True):
    """The parts of DESCRIBE's rows: columns, partition fields, and the details."""

    columns: tuple[Column, ...]
    partitioned_by: tuple[PartitionField, ...]
    details: Mapping[str, str]

    @property
    def is_view(self) -> bool:
        """Whether it is a view, and not a materialized one."""
        return self.details.get("Type", "").upper() == "VIEW"

    @property
    def size_and_rows(self) -> tuple[int | None, int | None]:
        """The bytes and rows that ANALYZE has counted."""
        match = _STATISTICS.match(self.details.get("Statistics", ""))
        if match is None:
            return None, None
        return int(match[1]), int(match[2]) if match[2] else None


# Asking


def described(spark: SparkSession, table: str) -> Description:
    """The result of DESCRIBE for a relation; ``table`` is its name as SQL."""
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
    return description_of([(row[0], row[1]) for row in rows])


def as_json(spark: SparkSession, table: str) -> dict[str, Any] | None:
    """The description as JSON; None before Spark 4.0, and for tables whose connector gives none."""
    with suppress(ValueError), tried():
        data = json.loads(spark.sql(f"DESCRIBE TABLE EXTENDED {table} AS JSON").collect()[0][0])
        return data if isinstance(data, dict) else None
    return None


def partitions(spark: SparkSession, table: str) -> list[dict[str, str | None]]:
    """The values of a table's partitions by column, from its metadata."""
    shown = spark.sql(f"SHOW PARTITIONS {table}").collect()
    return [partition_values(str(row[0])) for row in shown]


def planned_size(spark: SparkSession, table: str) -> int | None:
    """The planner's estimate of a table's size in bytes; None if it has none."""
    with tried():
        explained = spark.sql(f"EXPLAIN COST SELECT * FROM {table}").collect()[0][0]
        return size_in_plan(explained)
    return None


# Reading the answers


def partition_values(shown: str) -> dict[str, str | None]:
    """The values by column in a line of SHOW PARTITIONS: ``dt=2024-01-01/region=a%2Fb``."""
    parts = (part.partition("=") for part in shown.split("/"))
    return {
        unquote(name): None if value == NULL_PARTITION else unquote(value)
        for name, _, value in parts
    }


def description_of(rows: Sequence[tuple[str, str]]) -> Description:
    """The description in the first two columns of DESCRIBE's rows. Columns come first; a part ends
    with an empty row or the next heading (``# Partition Information``)."""
    parts: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for name, value in rows:
        if name.startswith("# col_name"):
            continue
        if name.startswith("# "):
            heading = name
        elif name:
            parts.setdefault(heading, []).append((name, value or ""))
    columns = tuple(Column(name, kind.strip().lower() or None) for name, kind in parts.get("", ()))
    fields = [PartitionField(name) for name, _ in parts.get("# Partition Information", ())]
    fields += [_field(value, columns) for _, value in parts.get("# Partitioning", ())]
    details = parts.get("# Detailed Table Information") or parts.get("# Detailed View Information")
    return Description(columns, tuple(fields), dict(details or ()))


def _clustered(details: Mapping[str, str]) -> tuple[str, ...]:
    """The columns by which rows are clustered, from the details of Delta, Iceberg or Spark's
    buckets."""
    properties = details.get("Table Properties", "")
    delta, iceberg = _CLUSTERING.search(properties), _SORT_ORDER.search(properties)
    if delta is not None:
        return tuple(match.lower() for match in _CLUSTERED.findall(delta[1]))
    if iceberg is not None:
        return (iceberg[1].lower(),)
    return tuple(part.lower() for part in parts_of(details.get("Sort Columns", ""))[:1])


def _buckets(details: Mapping[str, str]) -> Buckets | None:
    """The buckets of a table of Spark's own."""
    columns = tuple(part.lower() for part in parts_of(details.get("Bucket Columns", "")))
    count = details.get("Num Buckets", "")
    return Buckets(columns, int(count)) if columns and count.isdigit() and int(count) else None


def table(name: Name, description: Description, data: Mapping[str, Any] | None) -> Table:
    """The table; only ``data``, the JSON, says which columns are NOT NULL."""
    filled = {
        column["name"].lower()
        for column in (data or {}).get("columns", ())
        if column.get("nullable") is False
    }
    size, rows = description.size_and_rows
    return Table(
        name=name,
        columns=tuple(
            Column(column.name, column.type, nullable=column.name.lower() not in filled)
            for column in description.columns
        ),
        partitioned_by=description.partitioned_by,
        clustered_by=_clustered(description.details),
        provider=description.details.get("Provider", "").lower() or None,
        size_in_bytes=size,
        row_count=rows,
        buckets=_buckets(description.details),
    )


def view(name: Name, description: Description) -> View:
    """The view. Raises NotDescribedError.

    Spark resolves a view's columns by the names that its query had when the view was created. So
    the columns of a view that renames a ``*`` are not known by position: its table may have changed
    since.
    """
    details = description.details
    query = details.get("View Text") or details.get("View Original Text")
    if not query:
        raise NotDescribedError("a view whose text is not shown")
    names = tuple(column.name for column in description.columns)
    inner = parts_of(details.get("View Query Output Columns", ""))
    renamed = [part.lower() for part in inner] != [part.lower() for part in names]
    if renamed and "*" in query:
        raise NotDescribedError("a view that renames the columns of a `*`")
    namespace = parts_of(details.get("View Catalog and Namespace", "")) or name[:-1]
    return View(
        name=name,
        query=query,
        columns=names if renamed else (),
        namespace=tuple(part.lower() for part in namespace),
    )


def size_in_plan(explained: str) -> int | None:
    """The bytes at the leaf of the plan of EXPLAIN COST; None if they are not known."""
    plan = explained.partition("== Physical Plan ==")[0]
    leaves = _PLAN_SIZE.findall(plan)
    if not leaves or "EiB" in plan:  # 8 EiB stands for an unknown size
        return None
    number, unit = leaves[-1]
    return round(float(number) * float(1024 ** _UNITS[unit]))


def _field(described: str, columns: Sequence[Column]) -> PartitionField:
    """The partition field in ``days(ts)`` or ``bucket(16, id)``, or a column itself."""
    match = _TRANSFORM.fullmatch(described.strip())
    names_by_key = {column.name.lower(): column.name for column in columns}
    if match is None:
        name = described.strip().strip("`")
        return PartitionField(names_by_key.get(name.lower(), name))
    used = [part.strip().strip("`") for part in match[2].split(",")]
    names = [names_by_key[part.lower()] for part in used if part.lower() in names_by_key]
    transform = match[1].lower()
    if len(names) != 1 or transform not in _TRANSFORMS:
        return PartitionField(names[0] if len(names) == 1 else described.strip(), "unknown")
    numbers = [int(part) for part in used if part.isdigit()]
    return PartitionField(names[0], transform, numbers[0] if len(numbers) == 1 else None)


def parts_of(text: str) -> tuple[str, ...]:
    """The parts of a name or a list of names: ``[`a`, `b`]`` or ``spark_catalog.default``."""
    return tuple(
        quoted.replace("``", "`") if quoted else plain for quoted, plain in _QUOTED.findall(text)
    )


_EXPRESSION = "delta.generationExpression"
_WRITER = re.compile(r"delta\.minWriterVersion=(\d+)")
_FEATURE = "delta.feature.generatedColumns"
_FIRST_VERSION = 4
"""The first writer version with generated columns; from 7 on they are a named table feature."""

_COMMITS = (
    "SELECT get_json_object(value, '$.metaData.schemaString') FROM text.`{}/_delta_log/*.json` "
    "WHERE value LIKE '{{\"metaData\"%' ORDER BY input_file_name() DESC LIMIT 1"
)
_CHECKPOINTS = (
    "SELECT metaData.schemaString FROM parquet.`{}/_delta_log/*.checkpoint*.parquet` "
    "WHERE metaData IS NOT NULL ORDER BY input_file_name() DESC LIMIT 1"
)


def generated(spark: SparkSession, details: Mapping[str, str]) -> tuple[Derivation, ...]:
    """The generated columns of a table with these details; none if its log cannot be read."""
    place, properties = details.get("Location", ""), details.get("Table Properties", "")
    version = _WRITER.search(properties)
    older = version is not None and _FIRST_VERSION <= int(version[1]) < 7
    if not place or "`" in place or not (older or _FEATURE in properties):
        return ()
    for query in (_COMMITS, _CHECKPOINTS):
        with tried():
            rows = spark.sql(query.format(place)).collect()
            if rows and rows[0][0]:
                return tuple(expressions(rows[0][0]))
    return ()


def expressions(schema: str) -> Iterator[Derivation]:
    """The generated columns in Delta's JSON of a schema."""
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        fields = json.loads(schema)["fields"]
        names = [str(field["name"]) for field in fields]
        for field in fields:
            formula = field.get("metadata", {}).get(_EXPRESSION)
            if isinstance(formula, str):
                yield derivation(str(field["name"]), formula, GENERATED, names)
