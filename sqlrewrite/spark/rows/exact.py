"""Columns made comparable: GROUP BY over them equates exactly those values that look the same.

GROUP BY by itself is coarser (docs/spark.md, "What can be compared, and what GROUP BY makes one"):
it equates -0.0 with 0.0, and strings that their collation equates. It refuses VARIANT, and in Spark
3 maps. A type that is not listed here is refused.
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
"""Types whose values GROUP BY equates exactly if they are the same."""

_COMPARED_AS_TEXT = frozenset((*FLOATS, "char", "varchar", "time"))
"""Types that are compared by their text, which differs for each double, except for NaN, whose bits
no expression shows. (A setting decides whether TIME can be grouped by.)"""


def spelled(kind: DataType) -> str:
    """A type in full, without nullability; ``simpleString`` cuts long ones off."""
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
    """A column as one that Spark can group by exactly. Raises SparkError for an unknown type."""
    if not with_variant(spelled(kind)):
        return _exact(kind, column, name)
    # Only Python shows the bytes of a VARIANT; all other values are passed to it as text.
    value = _exact(kind, column, name, text=True)
    seen = f.udf(_bytes(), "binary", useArrow=False)
    return f.when(column.isNotNull(), f.struct(seen(value), f.to_json(value)))


def with_variant(kind: str) -> bool:
    """Whether values of a type, or what is in them, are VARIANT."""
    return re.search(r"\bvariant\b", kind) is not None


def _bytes() -> Callable[[object], bytes]:
    """A function from a value to bytes, local so that a cluster does not need this package."""
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
        shape = (f.call_function(it, column) for it in ("st_srid", "st_asbinary"))
        return f.when(column.isNotNull(), f.struct(*shape))
    if word in _COMPARED_AS_TEXT or word.startswith("interval"):
        return column.cast("string")
    if word == "variant" and text:
        return column
    if word not in _PLAIN:
        raise SparkError(f"the column {name}: values of type {name_of_type} cannot be compared")
    if text and word == "timestamp":  # the hour that a clock repeats has the same text twice
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
    """The entries of a map as an array, sorted by their keys."""

    def entry(it: Column) -> Column:
        key = inside(kind.keyType, it["key"]).alias("key")
        return f.struct(key, inside(kind.valueType, it["value"]).alias("value"))

    def order(one: Column, other: Column) -> Column:
        a, b = one["key"], other["key"]
        return f.when(a < b, f.lit(-1)).when(a > b, f.lit(1)).otherwise(f.lit(0))

    return f.array_sort(f.transform(f.map_entries(column), entry), order)


_NESTED: Mapping[str, Callable[..., Column]] = {"array": _array, "struct": _struct, "map": _map}
