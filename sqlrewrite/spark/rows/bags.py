"""Compares the rows of two queries as bags: order does not count, duplicates do.

In: two DataFrames. Out: a ``Comparison``. All is computed on the cluster; only a few rows that
differ leave it. Rows are counted by their exact values. Rows of one side alone are then matched
with rows of the other that differ only a little in floating-point columns, since a sum of doubles
depends on the order of its terms. With a tolerance such rows count as the same, without one as a
note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrewrite.spark import functions as f
from sqlrewrite.spark.rows.exact import FLOATS, exact, spelled, with_variant

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SHOWN = 5
"""How many rows that differ are shown of each side."""

ROUNDING = {"double": 1e-9, "float": 1e-6}
"""How far apart, relative to their size, sums of the same values in another order may be."""


BagColumns = tuple[tuple[str, str], ...]
"""The name and type of each column of a result."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The number of rows ``before`` and ``after``, how many are on one side alone (``lost``,
    ``added``), and some of those. ``tolerance`` is the user's; ``rounding`` is one under which both
    sides are the same, if there is one."""

    columns: tuple[str, ...]
    before: int
    after: int
    lost: int
    added: int
    lost_rows: tuple[tuple[str, ...], ...] = ()
    added_rows: tuple[tuple[str, ...], ...] = ()
    tolerance: float = 0.0
    rounding: float | None = None

    @property
    def same(self) -> bool:
        """Whether both sides have the same rows."""
        return not (self.lost or self.added)


def columns(frame: DataFrame) -> BagColumns:
    """The columns of a result."""
    return tuple((it.name, spelled(it.dataType)) for it in frame.schema.fields)


def compare(before: DataFrame, after: DataFrame, tolerance: float = 0.0) -> Comparison:
    """Compares the rows of two DataFrames of the same types, floating-point columns up to the
    ``tolerance``, relative to the larger value. Raises SparkError for a type that cannot be
    compared, and what Spark raises."""
    kinds = [kind for _, kind in columns(before)]
    names = [f"c{number}" for number in range(len(kinds))]
    counted = (
        _side(before, names, 1)
        .unionAll(_side(after, names, -1))
        .groupBy(*names)
        .agg(
            f.sum("side").alias("surplus"),
            f.count_if(f.col("side") == 1).alias("old"),
            f.count_if(f.col("side") == -1).alias("new"),
        )
    )
    counted = counted.persist()
    try:
        totals = counted.agg(
            f.sum("old"),
            f.sum("new"),
            f.sum(f.greatest(f.col("surplus"), f.lit(0))),
            f.sum(f.greatest(-f.col("surplus"), f.lit(0))),
        ).collect()[0]
        old, new, lost, added = (int(it or 0) for it in totals)
        left, rounding = counted.where("surplus <> 0"), None
        floats = [number for number, kind in enumerate(kinds) if kind in FLOATS]
        if floats and lost == added and lost:
            usual = max(ROUNDING[kinds[number]] for number in floats)
            if tolerance:
                left = _unmatched(left, names, kinds, floats, tolerance)
                lost, added = _surplus(left)
            elif not any(_surplus(_unmatched(left, names, kinds, floats, usual))):
                rounding = usual
        return Comparison(
            tuple(before.columns),
            old,
            new,
            lost,
            added,
            _sample(left, "surplus > 0", kinds) if lost else (),
            _sample(left, "surplus < 0", kinds) if added else (),
            tolerance,
            rounding,
        )
    finally:
        counted.unpersist()


def _side(frame: DataFrame, names: Sequence[str], side: int) -> DataFrame:
    """The rows of one side as comparable values, with the number of the side."""
    fields = zip(names, frame.schema.fields, strict=True)
    values = [exact(f.col(name), it.dataType, it.name).alias(name) for name, it in fields]
    return frame.toDF(*names).select(*values, f.lit(side).alias("side"))


def _unmatched(
    left: DataFrame,
    names: Sequence[str],
    kinds: Sequence[str],
    floats: Sequence[int],
    tolerance: float,
) -> DataFrame:
    """The rows that are left after close rows of both sides have been matched one to one.

    Among rows that are equal in all other columns, each side is sorted by its floats and the n-th
    row is matched with the n-th if they are close.
    """
    from pyspark.sql import Window

    same_in = [  # a column of type VOID holds NULL alone
        name
        for number, name in enumerate(names)
        if number not in floats and kinds[number] != "void"
    ]
    values = {number: f.col(f"c{number}").cast(kinds[number]) for number in floats}
    rough = [f.format_string("%.5e", it.cast("double")) for it in values.values()]
    order = [*(f.coalesce(it, f.lit("")) for it in rough), *values.values()]
    rows = left.withColumn("copy", f.explode(f.sequence(f.lit(1), f.abs("surplus").cast("int"))))
    rows = rows.withColumn("surplus", f.signum("surplus").cast("int"))
    place = Window.partitionBy("surplus", *same_in).orderBy(*order)
    rows = rows.withColumn("place", f.row_number().over(place))
    rows = rows.select(*names, "surplus", "place")
    mine, other = rows.where("surplus > 0").alias("a"), rows.where("surplus < 0").alias("b")
    same = f.col("a.place") == f.col("b.place")
    for name in same_in:
        same = same & f.col(f"a.{name}").eqNullSafe(f.col(f"b.{name}"))
    for number in floats:
        a, b = (f.col(f"{it}.c{number}") for it in "ab")
        same = same & _close(a, b, kinds[number], tolerance)
    lost = mine.join(other, same, "left_anti").drop("place")
    added = other.join(mine, same, "left_anti").drop("place")
    return lost.unionAll(added)


def _close(one: Column, other: Column, kind: str, tolerance: float) -> Column:
    """Whether two floats, given as text, are the same (NaN, infinities and NULL, too), or finite
    and within the tolerance."""
    a, b = one.cast(kind).cast("double"), other.cast(kind).cast("double")
    larger = f.greatest(f.abs(a), f.abs(b))  # NaN is larger than any number
    near = (larger < f.lit(float("inf"))) & (f.abs(a - b) <= larger * f.lit(tolerance))
    return one.eqNullSafe(other) | f.coalesce(near, f.lit(False))


def _surplus(left: DataFrame) -> tuple[int, int]:
    lost, added = left.selectExpr("count_if(surplus > 0)", "count_if(surplus < 0)").collect()[0]
    return int(lost), int(added)


def _sample(left: DataFrame, where: str, kinds: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """A few rows, as text."""

    def text(number: int, kind: str) -> Column:
        column = f.col(f"c{number}")
        if not with_variant(kind):
            return column.cast("string")
        # Its JSON, and a hash of its bytes: 1 and 1.0 are two values of the same JSON.
        return f.concat(column["col2"], f.lit(" #"), f.substring(f.md5(column["col1"]), 1, 8))

    shown = left.where(where).limit(SHOWN).select(*map(text, range(len(kinds)), kinds))
    rows: list[Any] = shown.collect()
    return tuple(tuple(map(_shown, row, kinds)) for row in rows)


def _shown(value: str | None, kind: str) -> str:
    """A value for people, in quotes if it is blank, unprintable or looks like NULL."""
    if value is None:
        return "NULL"
    odd = value.strip() != value or not value.isprintable() or value in ("", "NULL")
    return repr(value) if odd and kind.startswith(("string", "char", "varchar")) else value
