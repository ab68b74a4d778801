"""Are the rows of two queries the same? As bags, on the cluster: order is not looked at, duplicates
are counted, and only a handful of rows that differ ever leaves it.

In come two DataFrames, out goes a ``Comparison``. Rows are counted by their exact values. What is
left over is then matched within the rows that are equal in all columns that are not floating-point
ones: a sum of doubles depends on the order in which they come. What matches so is the same where a
tolerance was asked for, and only told where none was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlrewrite.frozen import dataclass
from sqlrewrite.spark import functions as f
from sqlrewrite.spark.rows.exact import FLOATS, exact, spelled, with_variant

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SHOWN = 5
"""So many rows that differ are shown of each side."""

ROUNDING = {"double": 1e-9, "float": 1e-6}
"""How far apart, relative to their size, two sums may come to be by another order of the same."""


BagColumns = tuple[tuple[str, str], ...]
"""The columns of a result, each by its name and type."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of both sides, how many are on one side alone, and some of those. ``tolerance`` was
    asked for; ``rounding`` is one under which both were the same, where that is so."""

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
    """The rows of one side as they are compared, and which side that is."""
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
    """The rows left over after rows of both sides that are close have been matched one to one.

    Among rows equal in all exact columns each side is put in order and the n-th matched with the
    n-th, so what is matched is close, always; a group that does not match as a whole is left.
    """
    from pyspark.sql import Window

    same_in = [  # a column of the type of NULL holds nothing else
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
    """Whether two floats, given as text, are the same (NaN, infinities and NULL too), or finite and
    nearly so."""
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
        # Its JSON, and what tells two of the same JSON apart: 1 and 1.0 are two values.
        return f.concat(column["col2"], f.lit(" #"), f.substring(f.md5(column["col1"]), 1, 8))

    shown = left.where(where).limit(SHOWN).select(*map(text, range(len(kinds)), kinds))
    rows: list[Any] = shown.collect()
    return tuple(tuple(map(_shown, row, kinds)) for row in rows)


def _shown(value: str | None, kind: str) -> str:
    """A value for people: one that looks like another, or like nothing, stands in quotes."""
    if value is None:
        return "NULL"
    odd = value.strip() != value or not value.isprintable() or value in ("", "NULL")
    return repr(value) if odd and kind.startswith(("string", "char", "varchar")) else value
