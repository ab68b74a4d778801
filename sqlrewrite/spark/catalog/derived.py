"""Derived columns, held against the rows of a live Spark.

``check`` counts for each declaration the rows of its table for which it does not hold; ``proposed``
tries expressions that people partition by, over a few rows of some partitions, and gives those that
hold for all of them. All is SQL, so it works over Connect too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sqlrewrite.catalog.names import literal_name, quoted
from sqlrewrite.frozen import dataclass
from sqlrewrite.spark.catalog.describe import partitions
from sqlrewrite.spark.session import Session, literal_text, spark_errors, tried
from sqlrewrite.spark.target import SparkError, SparkGoneError
from sqlrewrite.warehouse import Column, Derivation, Name, Table, derivation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 1_000
"""How many rows of a partition a proposal is tried on."""

_DATES = ("date", "timestamp", "timestamp_ntz")
_FORMATS = ("yyyy-MM-dd", "yyyyMMdd", "yyyy-MM", "yyyyMM", "yyyy", "yyyyMMddHH", "yyyy-MM-dd-HH")

# What is tried, by the type of the partition column, that of the column it may be computed from.
_TRIED: dict[tuple[str, str], tuple[str, ...]] = {
    ("date", "date"): ("trunc({}, 'MM')", "trunc({}, 'week')", "trunc({}, 'year')"),
    ("date", "string"): ("to_date({})",),
    ("string", "string"): ("substring({}, 1, 4)", "substring({}, 1, 7)", "substring({}, 1, 10)"),
    ("bigint", "bigint"): ("{} DIV 1000", "{} DIV 3600", "{} DIV 86400", "{} DIV 86400000"),
    ("bigint", "int"): ("{} DIV 1000", "{} DIV 3600", "{} DIV 86400"),
}
for _kind in _DATES:
    _TRIED["string", _kind] = tuple(f"date_format({{}}, '{it}')" for it in _FORMATS)
    _TRIED["int", _kind] = (
        *("year({})", "month({})", "day({})"),
        *(f"CAST(date_format({{}}, '{it}') AS INT)" for it in ("yyyyMMdd", "yyyyMM")),
        *(("hour({})",) if _kind != "date" else ()),
    )
    _TRIED["bigint", _kind] = (
        *(f"CAST(date_format({{}}, '{it}') AS BIGINT)" for it in ("yyyyMMdd", "yyyyMMddHH")),
    )
    if _kind != "date":
        _TRIED["date", _kind] = ("CAST({} AS DATE)", "trunc({}, 'MM')")


@dataclass(frozen=True, slots=True)
class Checked:
    """A declaration as it was found: how many rows there are, for how many of them it is ``wrong``;
    or ``why`` that could not be counted."""

    table: Name
    derivation: Derivation
    rows: int = 0
    wrong: int = 0
    why: str = ""


def check(session: Session, name: Name, derived: Iterable[Derivation]) -> tuple[Checked, ...]:
    """The declarations of one table, in one reading of it. Raises SparkGoneError."""
    found = tuple(derived)
    counts = ", ".join(f"count_if(NOT ({quoted(it.column)} <=> ({it.expression})))" for it in found)
    try:
        with spark_errors("cannot be counted"):
            text = f"SELECT count(*), {counts} FROM {literal_name(name)}"
            rows, *wrong = session.spark.sql(text).collect()[0]
    except SparkGoneError:
        raise
    except SparkError as error:
        if len(found) > 1:  # one of them is broken: each for itself
            return tuple(it for one in found for it in check(session, name, [one]))
        why = str(error).removeprefix("cannot be counted: ")
        return tuple(Checked(name, it, why=why) for it in found)
    return tuple(Checked(name, it, rows, bad) for it, bad in zip(found, wrong, strict=True))


def proposed(session: Session, table: Table) -> tuple[Derivation, ...]:
    """What some rows of a table show its partition columns to be computed by, the first expression
    for each of them. Nothing where all rows read are of one partition, of which any could hold."""
    declared = {it.column.lower() for it in table.derived}
    parts = frozenset(table.identities)
    tried_ = [
        (column, source, form.format(quoted(source.name)))
        for column in table.columns
        if column.name.lower() in parts - declared
        for source in table.columns
        if source.name.lower() not in parts
        for form in _TRIED.get((column.type or "", source.type or ""), ())
    ]
    if not tried_:
        return ()
    holds = _hold(session.spark, table, [(it, text) for it, _, text in tried_])
    found: dict[str, Derivation] = {}
    for (column, source, text), good in zip(tried_, holds, strict=True):
        if good:
            plain = text.replace(quoted(source.name), source.name)
            said = plain if source.name.isidentifier() else text
            known = derivation(column.name, said, "the rows", [it.name for it in table.columns])
            found.setdefault(column.name, known)
    return tuple(found.values())


def _hold(spark: SparkSession, table: Table, tried_: list[tuple[Column, str]]) -> list[bool]:
    """Whether each expression is its column in all rows that are read."""
    counts = ", ".join(
        f"count_if(NOT ({quoted(column.name)} <=> try_cast({text} AS {column.type}))) = 0"
        f" AND count(DISTINCT {quoted(column.name)}) > 1"
        for column, text in tried_
    )
    with tried():
        text = f"SELECT {counts} FROM ({_some_rows(spark, table)})"
        return [bool(it) for it in spark.sql(text).collect()[0]]
    return [False] * len(tried_)


def _some_rows(spark: SparkSession, table: Table) -> str:
    """A query for rows of the first, the middle and the last of a table's partitions."""
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
