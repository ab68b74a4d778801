"""Compares the rows of two queries as bags, on the cluster: order does not count, duplicates do.

Columns are made comparable first: GROUP BY equates -0.0 with 0.0, and strings that a collation
equates (docs/spark.md, "What can be compared, and what GROUP BY makes one"). Rows that only one
side has are then matched with rows that differ only a little in floats, because a sum depends on
the order of its terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sqlrewrite.spark import column_functions as f
from sqlrewrite.spark.target import SparkError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

    _Nested = Callable[[DataType, Column], Column]

FLOATS = ("float", "double")
"""The types to which ``--float-tolerance`` applies."""

_PLAIN = frozenset(
    "void boolean tinyint smallint int bigint decimal date timestamp timestamp_ntz binary".split()
)
"""Types of which GROUP BY equates only identical values."""

_COMPARED_AS_TEXT = frozenset((*FLOATS, "char", "varchar", "time"))
"""Types that are compared as text. The text is different for each double, except NaN, whose bits no
expression shows. (Whether TIME can be grouped by depends on a setting.)"""


def spelled(kind: DataType) -> str:
    """A type in full, without nullability; ``simpleString`` cuts long ones off."""
    name = kind.typeName()
    if name == "struct":
        fields: list[StructField] = kind.fields  # type: ignore[attr-defined]
        return f"struct<{','.join(f'{field.name}:{spelled(field.dataType)}' for field in fields)}>"
    if name == "array":
        return f"array<{spelled(kind.elementType)}>"  # type: ignore[attr-defined]
    if name == "map":
        key, value = kind.keyType, kind.valueType  # type: ignore[attr-defined]
        return f"map<{spelled(key)},{spelled(value)}>"
    return kind.simpleString()


def exact(column: Column, kind: DataType, name: str) -> Column:
    """A column as one that GROUP BY compares exactly. Raises SparkError for an unknown type."""
    if not with_variant(spelled(kind)):
        return _exact(kind, column, name)
    # Only Python shows the bytes of a VARIANT; other values are passed to it as text.
    value = _exact(kind, column, name, text=True)
    seen = f.udf(_bytes(), "binary", useArrow=False)
    return f.when(column.isNotNull(), f.struct(seen(value), f.to_json(value)))


def with_variant(kind: str) -> bool:
    """Whether a type is VARIANT or contains it."""
    return re.search(r"\bvariant\b", kind) is not None


def _bytes() -> Callable[[object], bytes]:
    """A function from a value to bytes, defined locally so that a cluster does not need this
    package."""
    return lambda value: repr(value).encode("utf-8", "surrogatepass")


def _exact(kind: DataType, column: Column, name: str, text: bool = False) -> Column:
    """A comparable column; with ``text`` all but strings, binaries and VARIANT are cast to text."""

    def inside(kind: DataType, column: Column) -> Column:
        return _exact(kind, column, name, text)

    name_of_type = spelled(kind)
    word = name_of_type.partition("(")[0].partition("<")[0]
    if word in _NESTED:
        return _NESTED[word](kind, column, inside)
    if word == "string" or word.startswith("string collate"):
        return column if name_of_type == "string" else column.cast("binary")
    if word in ("geometry", "geography"):
        shape = (f.call_function(function, column) for function in ("st_srid", "st_asbinary"))
        return f.when(column.isNotNull(), f.struct(*shape))
    if word in _COMPARED_AS_TEXT or word.startswith("interval"):
        return column.cast("string")
    if word == "variant" and text:
        return column
    if word not in _PLAIN:
        raise SparkError(f"the column {name}: values of type {name_of_type} cannot be compared")
    if (
        text and word == "timestamp"
    ):  # the repeated hour at the end of summer time has the same text twice
        return f.unix_micros(column)
    return column.cast("string") if text and word not in ("binary", "void") else column


def _array(kind: ArrayType, column: Column, inside: _Nested) -> Column:
    return f.transform(column, lambda it: inside(kind.elementType, it))


def _struct(kind: StructType, column: Column, inside: _Nested) -> Column:
    """The fields by number, as two may have one name. A NULL struct is not a struct of NULLs."""
    from pyspark.sql.types import StructField, StructType

    fields = [StructField(f"f{at}", field.dataType) for at, field in enumerate(kind.fields)]
    if not fields:
        return f.when(column.isNotNull(), f.lit(True))
    numbered = column.cast(StructType(fields))
    values = [inside(field.dataType, numbered[field.name]).alias(field.name) for field in fields]
    return f.when(column.isNotNull(), f.struct(*values))


def _map(kind: MapType, column: Column, inside: _Nested) -> Column:
    """The entries of a map as an array, sorted by their keys."""

    def entry(it: Column) -> Column:
        key = inside(kind.keyType, it["key"]).alias("key")
        return f.struct(key, inside(kind.valueType, it["value"]).alias("value"))

    def order(one: Column, other: Column) -> Column:
        a, b = one["key"], other["key"]
        return f.when(a < b, f.lit(-1)).when(a > b, f.lit(1)).otherwise(f.lit(0))

    return f.array_sort(f.transform(f.map_entries(column), entry), order)


_NESTED: Mapping[str, Callable[..., Column]] = {"array": _array, "struct": _struct, "map": _map}


SHOWN = 5
"""How many differing rows of each side are shown."""

ROUNDING = {"double": 1e-9, "float": 1e-6}
"""The largest relative difference that adding floats in another order explains."""


BagColumns = tuple[tuple[str, str], ...]
"""The name and type of each column of a result."""


class Comparison(Struct, frozen=True):
    """The numbers of rows ``before`` and ``after``, of rows that only one side has (``lost``,
    ``added``), and some of those. ``tolerance`` is the user's; ``rounding`` is one with which both
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
    return tuple((field.name, spelled(field.dataType)) for field in frame.schema.fields)


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
        old, new, lost, added = (int(total or 0) for total in totals)
        unmatched, rounding = counted.where("surplus <> 0"), None
        floats = [number for number, kind in enumerate(kinds) if kind in FLOATS]
        if floats and lost == added and lost:
            usual = max(ROUNDING[kinds[number]] for number in floats)
            if tolerance:
                unmatched = _unmatched(unmatched, names, kinds, floats, tolerance)
                lost, added = _surplus(unmatched)
            elif not any(_surplus(_unmatched(unmatched, names, kinds, floats, usual))):
                rounding = usual
        return Comparison(
            tuple(before.columns),
            old,
            new,
            lost,
            added,
            _sample(unmatched, "surplus > 0", kinds) if lost else (),
            _sample(unmatched, "surplus < 0", kinds) if added else (),
            tolerance,
            rounding,
        )
    finally:
        counted.unpersist()


def _side(frame: DataFrame, names: Sequence[str], side: int) -> DataFrame:
    """The rows of one side as comparable values, with the number of the side."""
    fields = zip(names, frame.schema.fields, strict=True)
    values = [exact(f.col(name), field.dataType, field.name).alias(name) for name, field in fields]
    return frame.toDF(*names).select(*values, f.lit(side).alias("side"))


def _unmatched(
    rest: DataFrame,
    names: Sequence[str],
    kinds: Sequence[str],
    floats: Sequence[int],
    tolerance: float,
) -> DataFrame:
    """The rows that remain after close rows of both sides have been matched one to one. Among rows
    that are equal in all other columns, each side is sorted by its floats, and the n-th rows of
    both are matched if they are close."""
    from pyspark.sql import Window

    same_in = [  # a column of type VOID has only NULLs
        name
        for number, name in enumerate(names)
        if number not in floats and kinds[number] != "void"
    ]
    values = {number: f.col(f"c{number}").cast(kinds[number]) for number in floats}
    rough = [f.format_string("%.5e", value.cast("double")) for value in values.values()]
    order = [*(f.coalesce(value, f.lit("")) for value in rough), *values.values()]
    rows = rest.withColumn("copy", f.explode(f.sequence(f.lit(1), f.abs("surplus").cast("int"))))
    rows = rows.withColumn("surplus", f.signum("surplus").cast("int"))
    place = Window.partitionBy("surplus", *same_in).orderBy(*order)
    rows = rows.withColumn("place", f.row_number().over(place))
    rows = rows.select(*names, "surplus", "place")
    mine, other = rows.where("surplus > 0").alias("a"), rows.where("surplus < 0").alias("b")
    same = f.col("a.place") == f.col("b.place")
    for name in same_in:
        same = same & f.col(f"a.{name}").eqNullSafe(f.col(f"b.{name}"))
    for number in floats:
        a, b = (f.col(f"{side}.c{number}") for side in "ab")
        same = same & _close(a, b, kinds[number], tolerance)
    lost = mine.join(other, same, "left_anti").drop("place")
    added = other.join(mine, same, "left_anti").drop("place")
    return lost.unionAll(added)


def _close(one: Column, other: Column, kind: str, tolerance: float) -> Column:
    """Whether two floats, given as text, are the same or differ by no more than the tolerance."""
    a, b = one.cast(kind).cast("double"), other.cast(kind).cast("double")
    larger = f.greatest(f.abs(a), f.abs(b))  # NaN is larger than any number
    near = (larger < f.lit(float("inf"))) & (f.abs(a - b) <= larger * f.lit(tolerance))
    return one.eqNullSafe(other) | f.coalesce(near, f.lit(False))


def _surplus(rest: DataFrame) -> tuple[int, int]:
    lost, added = rest.selectExpr("count_if(surplus > 0)", "count_if(surplus < 0)").collect()[0]
    return int(lost), int(added)


def _sample(rest: DataFrame, where: str, kinds: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """A few rows, as text."""

    def text(number: int, kind: str) -> Column:
        column = f.col(f"c{number}")
        if not with_variant(kind):
            return column.cast("string")
        # Its JSON and a hash of its bytes: 1 and 1.0 have the same JSON.
        return f.concat(column["col2"], f.lit(" #"), f.substring(f.md5(column["col1"]), 1, 8))

    shown = rest.where(where).limit(SHOWN).select(*map(text, range(len(kinds)), kinds))
    rows: list[Any] = shown.collect()
    return tuple(tuple(map(_shown, row, kinds)) for row in rows)


def _shown(value: str | None, kind: str) -> str:
    """A value for people, in quotes if it is blank, unprintable or looks like NULL."""
    if value is None:
        return "NULL"
    odd = value.strip() != value or not value.isprintable() or value in ("", "NULL")
    return repr(value) if odd and kind.startswith(("string", "char", "varchar")) else value
