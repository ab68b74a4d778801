"""Spark's data types as values; ``str`` writes one as Spark does, ``type_text`` reads it. And the
settings of a Spark session on which types and comparisons depend: a fact holds only if it holds
under every combination that is possible."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from msgspec import Struct


@dataclass(frozen=True, slots=True)
class Type:
    """A data type of Spark.

    ``name`` is the type without its arguments. ``numbers`` are precision and scale of a decimal,
    the length of char and varchar, the precision of a time, the SRID of a geometry or geography
    (none: any). ``collation`` is that of a string, char or varchar, None where the text names none.
    ``items`` are the element of an array, key and value of a map, the fields of a struct; ``names``
    the names of these fields.
    """

    name: str
    numbers: tuple[int, ...] = ()
    collation: str | None = None
    items: tuple[Type, ...] = ()
    names: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.name)  # quick: types are looked up often, and most have only a name

    def __str__(self) -> str:
        """The type as Spark's ``DataType.catalogString`` and ``typeof`` write it."""
        return _shown(self, lambda name: name)

    @property
    def ddl(self) -> str:
        """The type as DDL, which ``parse`` reads: names of fields in backquotes where needed."""
        return _shown(self, _quoted)

    @property
    def is_string(self) -> bool:
        """Whether it is a string of any collation; CHAR and VARCHAR are not."""
        return self.name == "string"

    @property
    def collated(self) -> bool:
        """Whether it has, or contains, a string with a named collation."""
        return self.collation is not None or any(item.collated for item in self.items)

    @property
    def collations(self) -> frozenset[str]:
        """The collations of the strings in it."""
        own = {self.collation or BINARY_COLLATION} if self.is_string else ()
        return frozenset(own).union(*(item.collations for item in self.items))

    @property
    def element(self) -> Type:
        """The type of an array's elements, or of a map's keys."""
        return self.items[0]


BOOLEAN, BINARY, VARIANT, VOID = Type("boolean"), Type("binary"), Type("variant"), Type("void")
TINYINT, SMALLINT, INT, BIGINT = Type("tinyint"), Type("smallint"), Type("int"), Type("bigint")
FLOAT, DOUBLE = Type("float"), Type("double")
STRING = Type("string")
DATE, TIMESTAMP, TIMESTAMP_NTZ = Type("date"), Type("timestamp"), Type("timestamp_ntz")
INTERVAL = Type("interval")

MOMENTS = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
FLOATING = (FLOAT, DOUBLE)
BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}
"""The integers, with their numbers of bits."""
SHORT = (TINYINT, SMALLINT, INT)
"""The integers whose values an INT holds."""
MAX_PRECISION = 38
"""The most digits of a decimal."""
MICROSECONDS = 6
"""The most digits of a second's fraction, and the default precision of a TIME."""

YEAR_MONTH = ("year", "month")
DAY_TIME = ("day", "hour", "minute", "second")
"""The fields of the two kinds of ANSI intervals, longest first."""

BINARY_COLLATION = "UTF8_BINARY"


def ends_of(kind: Type) -> tuple[int, int]:
    """The least and the greatest value of an integer's type."""
    most = 1 << (BITS[kind] - 1)
    return -most, most - 1


def decimal(precision: int, scale: int) -> Type:
    """``decimal(precision,scale)``."""
    return Type("decimal", (precision, scale))


def time(digits: int = MICROSECONDS) -> Type:
    """``time(digits)``."""
    return Type("time", (digits,))


def array(element: Type) -> Type:
    """``array<element>``."""
    return Type("array", items=(element,))


def map_of(key: Type, value: Type) -> Type:
    """``map<key,value>``."""
    return Type("map", items=(key, value))


def struct(*fields: tuple[str, Type]) -> Type:
    """``struct<name:type,…>``."""
    return Type(
        "struct", items=tuple(kind for _, kind in fields), names=tuple(name for name, _ in fields)
    )


def string(collation: str | None) -> Type:
    """``string`` of a collation, spelled as Spark spells it."""
    return Type("string", collation=collation)


def interval(start: str, end: str | None = None) -> Type:
    """An ANSI interval from one field to another: ``interval day to second``."""
    return Type(f"interval {start}" if end in (None, start) else f"interval {start} to {end}")


def valued(kind: Type) -> Type:
    """The type of a computed value: CHAR and VARCHAR become a string, also within another type."""
    if kind.name in ("char", "varchar"):
        return string(kind.collation)
    if not kind.items:
        return kind
    return Type(kind.name, kind.numbers, kind.collation, tuple(map(valued, kind.items)), kind.names)


def field_of(kind: Type | None, name: str) -> Type | None:
    """The type of ``value.name`` (lower case): a struct's field, the array of the fields of an
    array of structs, or the value of a map from STRING. None if there is no such field, or several,
    or the type is none of these."""
    match kind:
        case Type(name="array", items=(Type(name="struct") as inner,)):
            inside = field_of(inner, name)
            return None if inside is None else array(inside)
        case Type(name="map", items=(key, value)) if key == STRING:
            return valued(value)
        case Type(name="struct", names=fields, items=items):
            names = [field.lower() for field in fields]
            return valued(items[names.index(name)]) if names.count(name) == 1 else None
        case _:
            return None


def fields_of(kind: Type) -> tuple[str, str] | None:
    """The first and the last field of an ANSI interval; None for any other type."""
    words = kind.name.split()
    if len(words) < 2 or words[0] != "interval":
        return None
    return words[1], words[-1]


def is_year_month(kind: Type) -> bool:
    """Whether a type is an interval of years and months."""
    fields = fields_of(kind)
    return fields is not None and fields[0] in YEAR_MONTH


def is_day_time(kind: Type) -> bool:
    """Whether a type is an interval of days down to seconds."""
    fields = fields_of(kind)
    return fields is not None and fields[0] in DAY_TIME


# Some of Spark's spatial reference systems; a type of any other is unknown here.
SRIDS = {"geometry": (0, 3857, 4326), "geography": (4326,)}
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _quoted(name: str) -> str:
    return name if _NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _shown(kind: Type, field: Callable[[str], str]) -> str:
    if kind.name == "struct":
        pairs = zip(kind.names, kind.items, strict=True)
        return f"struct<{','.join(f'{field(name)}:{_shown(item, field)}' for name, item in pairs)}>"
    if kind.items:
        return f"{kind.name}<{','.join(_shown(item, field) for item in kind.items)}>"
    if kind.name in SRIDS:
        return f"{kind.name}({kind.numbers[0] if kind.numbers else 'any'})"
    numbers = f"({','.join(map(str, kind.numbers))})" if kind.numbers else ""
    collation = f" collate {kind.collation}" if kind.collation else ""
    return f"{kind.name}{numbers}{collation}"


class SessionSettings(Struct, frozen=True):
    """What is known of the settings of a session; None where one is not known.

    ``ansi`` is spark.sql.ansi.enabled, ``precision_loss`` is
    spark.sql.decimalOperations.allowPrecisionLoss, ``ntz`` says whether spark.sql.timestampType is
    TIMESTAMP_NTZ. ``legacy_interval`` is spark.sql.legacy.interval.enabled, and ``double_quoted``
    spark.sql.ansi.doubleQuotedIdentifiers, which is always known.
    """

    ansi: bool | None = None
    precision_loss: bool | None = None
    ntz: bool | None = None
    legacy_interval: bool | None = None
    double_quoted: bool = False

    def possible(self) -> Iterator[ExactSettings]:
        """Each combination of values that the session may have."""
        values = [
            (False, True) if setting is None else (setting,)
            for setting in (self.ansi, self.precision_loss, self.ntz)
        ]
        return (
            ExactSettings(ansi, precision_loss, ntz, self.legacy_interval, self.double_quoted)
            for ansi, precision_loss, ntz in product(*values)
        )


class ExactSettings(Struct, frozen=True):
    """One combination of values, named as in ``SessionSettings``; ``legacy_interval`` alone may be
    unknown."""

    ansi: bool
    precision_loss: bool = True
    ntz: bool = False
    legacy_interval: bool | None = None
    double_quoted: bool = False

    @property
    def names_quoted(self) -> bool:
        """Whether `"…"` is a name: outside of ANSI mode it is a string whatever is set."""
        return self.ansi and self.double_quoted


USUAL_SETTINGS = tuple(SessionSettings(ntz=False, legacy_interval=False).possible())
"""The default spark.sql.timestampType, which TIMESTAMP in a catalog means too, and the default
spark.sql.legacy.interval.enabled, under any values of the other settings."""
