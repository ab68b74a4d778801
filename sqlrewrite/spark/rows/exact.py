"""Values as they are compared: each column of a result as one that Spark can group by, so that two
values are one exactly if nobody who reads the result can tell them apart.

GROUP BY by itself is coarser than that (docs/spark.md, "What can be compared, and what GROUP BY
makes one"): it takes -0.0 for 0.0 and strings as their collation does. And it refuses VARIANT, and
in Spark 3 maps. A type that is not named here is refused, not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sqlrewrite.spark import functions as f
from sqlrewrite.spark.target import SparkError

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

    _Nested = Callable[[DataType, Column], Column]

FLOATS = ("float", "double")
"""The types of which ``--float-tolerance`` speaks."""

_PLAIN = frozenset(
    "void boolean tinyint smallint int bigint decimal date timestamp timestamp_ntz binary".split()
)
"""Types whose values are equal to GROUP BY exactly if they are the same."""

_TOLD_BY_TEXT = frozenset((*FLOATS, "char", "varchar", "time"))
"""Types whose values are told apart by their text: that of a double is another for each double, but
for NaN, whose bits no expression shows. (TIME can be grouped by only where a setting allows it.)"""


def spelled(kind: DataType) -> str:
    """A type in full, but for what may be NULL in it: ``simpleString`` cuts long ones off."""
    name = kind.typeName()
    if name == "struct":
        fields: list[StructField] = kind.fields  # type: ignore[attr-defined]
        return f"struct<{','.join(f'{it.name}:{spelled(it.dataType)}' for it in fields)}>"
    if name == "array":
        return f"array<{spelled(kind.elementType)}>"  # type: ignore[attr-defined]
    if name == "map":
        key, value = kind.keyType, kind.valueType  # type: ignore[attr-defined]
        return f"map<{spelled(key)},{spelled(value)}>"
    return kind.simpleString()


def exact(column: Column, kind: DataType, name: str) -> Column:
    """A column that Spark can group by. Raises SparkError for a type of which nothing is known."""
    if not with_variant(spelled(kind)):
        return _exact(kind, column, name)
    # Python alone sees the bytes of a VARIANT; only what it reads without loss is given to it.
    value = _exact(kind, column, name, text=True)
    seen = f.udf(_bytes(), "binary", useArrow=False)
    return f.when(column.isNotNull(), f.struct(seen(value), f.to_json(value)))


def with_variant(kind: str) -> bool:
    """Whether values of a type, or what is in them, are VARIANT."""
    return re.search(r"\bvariant\b", kind) is not None


def _bytes() -> Callable[[object], bytes]:
    """What makes bytes of a value; made here, so that a cluster needs nothing of ours to run it."""
    return lambda value: repr(value).encode("utf-8", "surrogatepass")


def _exact(kind: DataType, column: Column, name: str, text: bool = False) -> Column:
    """``text``: all but strings, bytes and VARIANT as text, which Python reads without loss."""

    def inside(kind: DataType, column: Column) -> Column:
        return _exact(kind, column, name, text)

    said = spelled(kind)
    word = said.partition("(")[0].partition("<")[0]
    if word in _NESTED:
        return _NESTED[word](kind, column, inside)
    if word == "string" or word.startswith("string collate"):
        return column if said == "string" else column.cast("binary")
    if word in ("geometry", "geography"):
        shape = (f.call_function(it, column) for it in ("st_srid", "st_asbinary"))
        return f.when(column.isNotNull(), f.struct(*shape))
    if word in _TOLD_BY_TEXT or word.startswith("interval"):
        return column.cast("string")
    if word == "variant" and text:
        return column
    if word not in _PLAIN:
        raise SparkError(f"the column {name}: values of type {said} cannot be compared")
    if text and word == "timestamp":  # the text of an hour that comes twice a year is the same
        return f.unix_micros(column)
    return column.cast("string") if text and word not in ("binary", "void") else column


def _array(kind: ArrayType, column: Column, inside: _Nested) -> Column:
    return f.transform(column, lambda it: inside(kind.elementType, it))


def _struct(kind: StructType, column: Column, inside: _Nested) -> Column:
    """Fields by number: two may have one name. A NULL is not a struct of NULLs."""
    from pyspark.sql.types import StructField, StructType

    fields = [StructField(f"f{at}", it.dataType) for at, it in enumerate(kind.fields)]
    if not fields:
        return f.when(column.isNotNull(), f.lit(True))
    numbered = column.cast(StructType(fields))
    values = [inside(it.dataType, numbered[it.name]).alias(it.name) for it in fields]
    return f.when(column.isNotNull(), f.struct(*values))


def _map(kind: MapType, column: Column, inside: _Nested) -> Column:
    """The entries in the order of their keys, which are all that a map has of an order."""

    def entry(it: Column) -> Column:
        key = inside(kind.keyType, it["key"]).alias("key")
        return f.struct(key, inside(kind.valueType, it["value"]).alias("value"))

    def order(one: Column, other: Column) -> Column:
        a, b = one["key"], other["key"]
        return f.when(a < b, f.lit(-1)).when(a > b, f.lit(1)).otherwise(f.lit(0))

    return f.array_sort(f.transform(f.map_entries(column), entry), order)


_NESTED: Mapping[str, Callable[..., Column]] = {"array": _array, "struct": _struct, "map": _map}
