"""Derived columns, compared with the rows of a live Spark.

``check`` counts for each declaration the rows of its table for which it does not hold. ``proposed``
tries usual expressions over a few rows of some partitions, and returns those that hold for all of
them. All is SQL, so it works over Connect, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlrewrite.catalog.names import literal_name, quoted
from sqlrewrite.spark.catalog.describe import partitions
from sqlrewrite.spark.session import Session, literal_text, spark_errors, tried
from sqlrewrite.spark.target import SparkError, SparkGoneError
from sqlrewrite.warehouse import Column, Derivation, Name, Table, derivation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 1_000
"""On how many rows of a partition an expression is tried."""

_DATES = ("date", "timestamp", "timestamp_ntz")
_FORMATS = ("yyyy-MM-dd", "yyyyMMdd", "yyyy-MM", "yyyyMM", "yyyy", "yyyyMMddHH", "yyyy-MM-dd-HH")

# By the types of the partition column and of the column that it may be computed from.
_EXPRESSIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("date", "date"): ("trunc({}, 'MM')", "trunc({}, 'week')", "trunc({}, 'year')"),
    ("date", "string"): ("to_date({})",),
    ("string", "string"): ("substring({}, 1, 4)", "substring({}, 1, 7)", "substring({}, 1, 10)"),
    ("bigint", "bigint"): ("{} DIV 1000", "{} DIV 3600", "{} DIV 86400", "{} DIV 86400000"),
    ("bigint", "int"): ("{} DIV 1000", "{} DIV 3600", "{} DIV 86400"),
}
for _kind in _DATES:
    _EXPRESSIONS["string", _kind] = tuple(f"date_format({{}}, '{it}')" for it in _FORMATS)
    _EXPRESSIONS["int", _kind] = (
        *("year({})", "month({})", "day({})"),
        *(f"CAST(date_format({{}}, '{it}') AS INT)" for it in ("yyyyMMdd", "yyyyMM")),
        *(("hour({})",) if _kind != "date" else ()),
    )
    _EXPRESSIONS["bigint", _kind] = (
        *(f"CAST(date_format({{}}, '{it}') AS BIGINT)" for it in ("yyyyMMdd", "yyyyMMddHH")),
    )
    if _kind != "date":
        _EXPRESSIONS["date", _kind] = ("CAST({} AS DATE)", "trunc({}, 'MM')")


@dataclass(frozen=True, slots=True)
class Checked:
    """The check of a declaration: how many rows its table has, and for how many it is ``wrong``; or
    ``why`` they could not be counted."""

    table: Name
    derivation: Derivation
    rows: int = 0
    wrong: int = 0
    why: str = ""


def check(session: Session, name: Name, derived: Iterable[Derivation]) -> tuple[Checked, ...]:
    """Checks the declarations of one table in one scan of it. Raises SparkGoneError."""
    found = tuple(derived)
    counts = ", ".join(f"count_if(NOT ({quoted(it.column)} <=> ({it.expression})))" for it in found)
    try:
        with spark_errors("cannot be counted"):
            text = f"SELECT count(*), {counts} FROM {literal_name(name)}"
            rows, *wrong = session.spark.sql(text).collect()[0]
    except SparkGoneError:
        raise
    except SparkError as error:
        if len(found) > 1:  # one of them is broken: check each by itself
            return tuple(it for one in found for it in check(session, name, [one]))
        why = str(error).removeprefix("cannot be counted: ")
        return tuple(Checked(name, it, why=why) for it in found)
    return tuple(Checked(name, it, rows, bad) for it, bad in zip(found, wrong, strict=True))


def proposed(session: Session, table: Table) -> tuple[Derivation, ...]:
    """For each partition column the first expression that gives it in some rows of the table.
    Nothing if all these rows are of one partition, where any expression could hold by chance."""
    declared = {it.column.lower() for it in table.derived}
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
    holds = _hold(session.spark, table, [(it, text) for it, _, text in candidates])
    found: dict[str, Derivation] = {}
    for (column, source, text), good in zip(candidates, holds, strict=True):
        if good:
            plain = text.replace(quoted(source.name), source.name)
            expression = plain if source.name.isidentifier() else text
            names = [it.name for it in table.columns]
            found.setdefault(column.name, derivation(column.name, expression, "the rows", names))
    return tuple(found.values())


def _hold(spark: SparkSession, table: Table, candidates: list[tuple[Column, str]]) -> list[bool]:
    """Whether each expression gives its column in all rows of the sample."""
    counts = ", ".join(
        f"count_if(NOT ({quoted(column.name)} <=> try_cast({text} AS {column.type}))) = 0"
        f" AND count(DISTINCT {quoted(column.name)}) > 1"
        for column, text in candidates
    )
    with tried():
        text = f"SELECT {counts} FROM ({_some_rows(spark, table)})"
        return [bool(it) for it in spark.sql(text).collect()[0]]
    return [False] * len(candidates)


def _some_rows(spark: SparkSession, table: Table) -> str:
    """A query for rows of a table's first, middle and last partition."""
    name = literal_name(table.name)
    whole = f"(SELECT * FROM {name} LIMIT {ROWS})"
    with tried():
        found = partitions(spark, name)
        if found:
            some = sorted({0, len(found) // 2, len(found) - 1})
            return " UNION ALL ".join(
                f"(SELECT * FROM {name} WHERE {_condition(found[it])} LIMIT {ROWS})" for it in some
            )
    return whole


def _condition(partition: Mapping[str, str | None]) -> str:
    """A partition's values by column as a condition."""
    return " AND ".join(
        f"CAST({quoted(column)} AS STRING) <=> {literal_text(value)}"
        for column, value in partition.items()
    )
