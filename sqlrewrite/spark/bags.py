"""Are the rows of two queries the same? As bags, on the cluster: order is not looked at, duplicates
are counted, and only a handful of rows that differ ever leaves it.

In come two DataFrames, out goes a ``Comparison``. Rows are counted by their exact values first.
What is left over and has floating-point columns is then matched within the rows that are equal in
all other columns, because a sum of doubles depends on the order in which they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlrewrite.frozen import dataclass
from sqlrewrite.spark.target import SparkError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SHOWN = 5
"""So many rows that differ are shown of each side."""

# How far apart two results may be that were summed in another order, relative to their size.
_TOLERANCE = {"double": 1e-9, "float": 1e-6}
_NEAR_ZERO = 1e-12


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of both sides, how many are on one side alone, and some of those."""

    columns: tuple[str, ...]
    before: int
    after: int
    lost: int
    added: int
    lost_rows: tuple[tuple[str, ...], ...] = ()
    added_rows: tuple[tuple[str, ...], ...] = ()

    @property
    def same(self) -> bool:
        """Whether both sides have the same rows."""
        return not (self.lost or self.added)


def compare(before: DataFrame, after: DataFrame) -> Comparison:
    """Compares the rows of two DataFrames. Raises SparkError for columns that differ, and what
    Spark raises."""
    from pyspark.sql import functions as f

    kinds = [it.dataType.simpleString() for it in before.schema.fields]
    if kinds != [it.dataType.simpleString() for it in after.schema.fields]:
        raise SparkError("the rewritten query has other columns than the query")
    names = [f"c{number}" for number in range(len(kinds))]
    sides = [
        frame.toDF(*names)
        .select(*[_exact(name, kind) for name, kind in zip(names, kinds, strict=True)])
        .withColumn("side", f.lit(side))
        for frame, side in ((before, 1), (after, -1))
    ]
    counted = (
        sides[0]
        .unionAll(sides[1])
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
        left = counted.where("surplus <> 0")
        floats = [number for number, kind in enumerate(kinds) if kind in _TOLERANCE]
        if floats and lost == added and lost:
            left = _unmatched(left, names, kinds, floats)
            lost, added = _surplus(left)
        return Comparison(
            tuple(before.columns),
            old,
            new,
            lost,
            added,
            _sample(left, "surplus > 0", names) if lost else (),
            _sample(left, "surplus < 0", names) if added else (),
        )
    finally:
        counted.unpersist()


def _exact(name: str, kind: str) -> Column:
    """A column as it is grouped by: a collation must not make two strings one, and a map, which
    Spark 3 cannot group by and no Spark compare, is the list of its entries."""
    from pyspark.sql import functions as f

    if kind.startswith("map<") and kind.count("map<") == 1:
        return f.array_sort(f.map_entries(name)).alias(name)
    if kind.startswith("string collate"):
        return f.col(name).cast("binary").alias(name)
    return f.col(name)


def _unmatched(
    left: DataFrame, names: Sequence[str], kinds: Sequence[str], floats: Sequence[int]
) -> DataFrame:
    """The rows left over after rows of both sides that are close have been matched one to one.

    Among rows equal in all exact columns each side is put in order and the n-th matched with the
    n-th, so what is matched is close, always; a group that does not match as a whole is left.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    exact = [  # a column of the type of NULL holds nothing else
        name
        for number, name in enumerate(names)
        if number not in floats and kinds[number] != "void"
    ]
    rough = [f.expr(f"format_string('%.5e', c{number})") for number in floats]
    order = [*(f.coalesce(it, f.lit("")) for it in rough), *(f.col(f"c{it}") for it in floats)]
    rows = left.withColumn("copy", f.explode(f.sequence(f.lit(1), f.abs("surplus").cast("int"))))
    rows = rows.withColumn("surplus", f.signum("surplus").cast("int"))
    place = Window.partitionBy("surplus", *exact).orderBy(*order)
    rows = rows.withColumn("place", f.row_number().over(place))
    rows = rows.select(*names, "surplus", "place")
    mine, other = rows.where("surplus > 0").alias("a"), rows.where("surplus < 0").alias("b")
    same = f.col("a.place") == f.col("b.place")
    for name in exact:
        same = same & f.col(f"a.{name}").eqNullSafe(f.col(f"b.{name}"))
    for number in floats:
        same = same & _close(f"a.c{number}", f"b.c{number}", _TOLERANCE[kinds[number]])
    lost = mine.join(other, same, "left_anti").drop("place")
    added = other.join(mine, same, "left_anti").drop("place")
    return lost.unionAll(added)


def _close(one: str, other: str, tolerance: float) -> Column:
    """Whether two floats are equal (NaN, infinities and NULL too), or nearly so."""
    from pyspark.sql import functions as f

    a, b = f.col(one), f.col(other)
    room = f.greatest(f.abs(a), f.abs(b)) * f.lit(tolerance)
    infinite = f.greatest(f.abs(a), f.abs(b)) == f.lit(float("inf"))
    near = f.abs(a - b) <= f.greatest(room, f.lit(_NEAR_ZERO))
    return a.eqNullSafe(b) | f.coalesce(near & ~infinite & ~f.isnan(a) & ~f.isnan(b), f.lit(False))


def _surplus(left: DataFrame) -> tuple[int, int]:
    lost, added = left.selectExpr("count_if(surplus > 0)", "count_if(surplus < 0)").collect()[0]
    return int(lost), int(added)


def _sample(left: DataFrame, where: str, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    rows: list[Any] = left.where(where).limit(SHOWN).select(*names).collect()
    return tuple(tuple("NULL" if it is None else str(it) for it in row) for row in rows)
