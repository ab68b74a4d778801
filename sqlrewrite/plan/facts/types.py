"""Spark's data types as values: ``parse`` reads the text of one, ``str`` writes it as Spark does.

In: type text as DDL, a cast or a catalog has it. Out: a ``Type``, or None for a text that Spark 4.3
does not read as a type of its own (a user's type, another engine's). Nullability, comments and
defaults of nested fields are read and forgotten: no comparison depends on them.

Sources: ``dataTypes`` of Spark's SqlBaseParser.g4, ``DataTypeAstBuilder``, ``CollationFactory``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlrewrite.frozen import dataclass


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
    def element(self) -> Type:
        """The element of an array, or the key of a map."""
        return self.items[0]


BOOLEAN, BINARY, VARIANT, VOID = Type("boolean"), Type("binary"), Type("variant"), Type("void")
TINYINT, SMALLINT, INT, BIGINT = Type("tinyint"), Type("smallint"), Type("int"), Type("bigint")
FLOAT, DOUBLE = Type("float"), Type("double")
STRING = Type("string")
DATE, TIMESTAMP, TIMESTAMP_NTZ = Type("date"), Type("timestamp"), Type("timestamp_ntz")
INTERVAL = Type("interval")

MAX_PRECISION = 38
"""Of a decimal."""

YEAR_MONTH = ("year", "month")
DAY_TIME = ("day", "hour", "minute", "second")
"""The fields of the two kinds of ANSI intervals, longest first."""

BINARY_COLLATION = "UTF8_BINARY"


def decimal(precision: int, scale: int) -> Type:
    """``decimal(precision,scale)``."""
    return Type("decimal", (precision, scale))


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
    """The type of a computed value: what a column has as CHAR or VARCHAR is a string then."""
    return string(kind.collation) if kind.name in ("char", "varchar") else kind


def fields_of(kind: Type) -> tuple[str, str] | None:
    """The first and last field of an ANSI interval; None of any other type."""
    words = kind.name.split()
    if len(words) < 2 or words[0] != "interval":
        return None
    return words[1], words[-1]


def is_year_month(kind: Type) -> bool:
    """Whether a type is an interval of years and months."""
    found = fields_of(kind)
    return found is not None and found[0] in YEAR_MONTH


def is_day_time(kind: Type) -> bool:
    """Whether a type is an interval of days down to seconds."""
    found = fields_of(kind)
    return found is not None and found[0] in DAY_TIME


# --- writing --------------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _quoted(name: str) -> str:
    return name if _NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _shown(kind: Type, field: object) -> str:
    assert callable(field)
    if kind.name == "struct":
        pairs = zip(kind.names, kind.items, strict=True)
        return f"struct<{','.join(f'{field(name)}:{_shown(it, field)}' for name, it in pairs)}>"
    if kind.items:
        return f"{kind.name}<{','.join(_shown(it, field) for it in kind.items)}>"
    if kind.name in _SRIDS:
        return f"{kind.name}({kind.numbers[0] if kind.numbers else 'any'})"
    numbers = f"({','.join(map(str, kind.numbers))})" if kind.numbers else ""
    collation = f" collate {kind.collation}" if kind.collation else ""
    return f"{kind.name}{numbers}{collation}"


# --- reading --------------------------------------------------------------------------------------

_PLAIN = {
    **{kind.name: kind for kind in (BOOLEAN, BINARY, VARIANT, VOID, TINYINT, SMALLINT, INT)},
    **{kind.name: kind for kind in (BIGINT, FLOAT, DOUBLE, DATE)},
    "byte": TINYINT,
    "short": SMALLINT,
    "integer": INT,
    "long": BIGINT,
    "real": FLOAT,
}
_DECIMALS = frozenset({"decimal", "dec", "numeric"})
_TIMESTAMPS = {
    "timestamp": TIMESTAMP,
    "timestamp_ltz": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP_NTZ,
}
_LENGTHS = {"char": "char", "character": "char", "varchar": "varchar"}
# Spark knows more reference systems than these: a type of another one is unknown here.
_SRIDS = {"geometry": (0, 3857, 4326), "geography": (4326,)}
_MICROSECONDS = 6

_TOKEN = re.compile(
    r"""\s*(?:(r'[^']*'|r"[^"]*"|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"|([A-Za-z0-9_]+)|`((?:[^`]|``)+)`|([<>(),:]))",
    re.ASCII | re.DOTALL | re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def parse(text: str) -> Type | None:
    """The type that a text names, or None where it names none of Spark's."""
    reader = _Reader.over(text)
    try:
        return None if reader is None else reader.whole()
    except _UnreadableError:
        return None


class _UnreadableError(Exception):
    """The text is none that Spark reads as a type."""


@dataclass(slots=True)
class _Reader:
    """Reads a type from its tokens: pairs of a kind (``word``, ``quoted``, ``sign``, ``string``)
    and a text."""

    tokens: list[tuple[str, str]]
    at: int = 0

    @classmethod
    def over(cls, text: str) -> _Reader | None:
        """A reader of a text; None where it holds what no type does."""
        tokens: list[tuple[str, str]] = []
        at, text = 0, text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                return None
            kind = ("string", "word", "quoted", "sign")[(found.lastindex or 1) - 1]
            tokens.append((kind, found[found.lastindex or 1]))
            at = found.end()
        return cls(tokens)

    def whole(self) -> Type:
        """The type that all of the text is."""
        found = self.type()
        if self.at < len(self.tokens):
            raise _UnreadableError
        return found

    def type(self) -> Type:
        """The type that begins here."""
        name = self.word()
        if name in _PLAIN:
            return _PLAIN[name]
        if name in _DECIMALS:
            return self.decimal()
        if name == "string":
            return string(self.collation())
        if name in _LENGTHS:
            return self.with_length(_LENGTHS[name])
        if name in _TIMESTAMPS:
            return self.timestamp(name)
        if name == "time":
            return self.time()
        if name == "interval":
            return self.interval()
        if name in _SRIDS:
            return self.spatial(name)
        if name == "array":
            return array(*self.within(1))
        if name == "map":
            return map_of(*self.within(2))
        if name == "struct":
            return self.struct()
        raise _UnreadableError

    def decimal(self) -> Type:
        """What follows DECIMAL."""
        precision, scale = (*self.numbers(2), None, None)[:2]
        if precision is None:
            return decimal(10, 0)
        if precision > MAX_PRECISION or (scale or 0) > precision:
            raise _UnreadableError
        return decimal(precision, scale or 0)

    def with_length(self, name: str) -> Type:
        """What follows CHAR and VARCHAR."""
        numbers = self.numbers(1)
        if not numbers:
            raise _UnreadableError
        return Type(name, numbers, self.collation())

    def timestamp(self, name: str) -> Type:
        """What follows one of the timestamps; their only precision is that of microseconds."""
        if self.numbers(1) not in ((), (_MICROSECONDS,)):
            raise _UnreadableError
        if name == "timestamp" and self.words("without", "time", "zone"):
            return TIMESTAMP_NTZ
        if name == "timestamp":
            self.words("with", "local", "time", "zone")
        return _TIMESTAMPS[name]

    def time(self) -> Type:
        """What follows TIME."""
        numbers = self.numbers(1) or (_MICROSECONDS,)
        if numbers[0] > _MICROSECONDS:
            raise _UnreadableError
        self.words("without", "time", "zone")
        return Type("time", numbers)

    def interval(self) -> Type:
        """What follows INTERVAL."""
        for fields in (YEAR_MONTH, DAY_TIME):
            for number, start in enumerate(fields):
                if not self.words(start):
                    continue
                if not self.words("to"):
                    return interval(start)
                end = self.word()
                if end not in fields[number + 1 :]:
                    raise _UnreadableError
                return interval(start, end)
        return INTERVAL

    def spatial(self, name: str) -> Type:
        """What follows GEOMETRY and GEOGRAPHY."""
        self.sign("(")
        if self.words("any"):
            self.sign(")")
            return Type(name)
        self.at -= 1
        numbers = self.numbers(1)
        if not numbers or numbers[0] not in _SRIDS[name]:
            raise _UnreadableError
        return Type(name, numbers)

    def within(self, count: int) -> tuple[Type, ...]:
        """So many types in angle brackets."""
        self.sign("<")
        found = [self.type()]
        while len(found) < count:
            self.sign(",")
            found.append(self.type())
        self.sign(">")
        return tuple(found)

    def struct(self) -> Type:
        """What follows STRUCT."""
        self.sign("<")
        fields: list[tuple[str, Type]] = []
        while not self.signs(">"):
            if fields:
                self.sign(",")
            kind, name = self.next()
            if kind not in ("word", "quoted"):
                raise _UnreadableError
            self.signs(":")
            fields.append((name.replace("``", "`") if kind == "quoted" else name, self.type()))
            self.words("not", "null")
            if self.words("comment"):
                self.strings()
        return struct(*fields)

    def collation(self) -> str | None:
        """The collation that a COLLATE names, as Spark spells it."""
        if not self.words("collate"):
            return None
        kind, name = self.next()
        found = collation(name) if kind in ("word", "quoted") else None
        if found is None:
            raise _UnreadableError
        return found

    def numbers(self, most: int) -> tuple[int, ...]:
        """Numbers in parentheses, if there are any."""
        if not self.signs("("):
            return ()
        found: list[int] = []
        while not found or self.signs(","):
            number = self.word()
            if not number.isdigit() or len(found) == most:
                raise _UnreadableError
            found.append(int(number))
        self.sign(")")
        return tuple(found)

    def strings(self) -> None:
        """One string, or several side by side."""
        before = self.at
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "string":
            self.at += 1
        if self.at == before:
            raise _UnreadableError

    def next(self) -> tuple[str, str]:
        """The next token, which is then read."""
        if self.at >= len(self.tokens):
            raise _UnreadableError
        self.at += 1
        return self.tokens[self.at - 1]

    def word(self) -> str:
        """The next token as a word, lower case."""
        kind, text = self.next()
        if kind != "word":
            raise _UnreadableError
        return text.lower()

    def words(self, *wanted: str) -> bool:
        """Whether these words follow, which are then read."""
        found = self.tokens[self.at : self.at + len(wanted)]
        if [(kind, text.lower()) for kind, text in found] != [("word", it) for it in wanted]:
            return False
        self.at += len(wanted)
        return True

    def sign(self, wanted: str) -> None:
        """Reads a sign that must follow."""
        if not self.signs(wanted):
            raise _UnreadableError

    def signs(self, wanted: str) -> bool:
        """Whether a sign follows, which is then read."""
        if self.at >= len(self.tokens) or self.tokens[self.at] != ("sign", wanted):
            return False
        self.at += 1
        return True


# --- collations -----------------------------------------------------------------------------------

# `SELECT name FROM collations()` of 4.3, without what a locale may carry behind it.
_LOCALES = {
    name.lower(): name
    for name in """
    UNICODE
    af am ar ar_SAU as az be bg blo bn bo br bs bs_Cyrl ca ceb chr cs cy da de de_AUT dsb dz ee el
    en en_USA eo es et fa fa_AFG ff ff_Adlm fi fil fo fr fr_CAN fy ga gl gu ha haw he he_ISR hi hr
    hsb hu hy id id_IDN ig is it ja ka kk kk_Arab kl km kn ko kok ku ky lb lij lkt ln lo lt lv mk ml
    mn mr ms mt my nb nb_NOR ne nl nn no nso om or pa pa_Guru pa_Guru_IND pl ps pt ro ru sa se si sk
    sl smn sq sr sr_Cyrl sr_Cyrl_BIH sr_Cyrl_MNE sr_Cyrl_SRB sr_Latn sr_Latn_BIH sr_Latn_SRB st sv
    sw ta te th tk tn to tr ug uk ur uz vi wae wo xh yi yo zh zh_Hans zh_Hans_CHN zh_Hans_SGP
    zh_Hant zh_Hant_HKG zh_Hant_MAC zh_Hant_TWN zu
    """.split()
}
_BYTEWISE = ("UTF8_BINARY", "UTF8_LCASE")
_MODIFIERS = (("ci", "cs"), ("ai", "as"), ("rtrim",))


@lru_cache(maxsize=256)
def collation(text: str) -> str | None:
    """A collation's name as Spark spells it: ``unicode_CI`` is ``UNICODE_CI``; None: it is none."""
    wanted = text.lower()
    for name in _BYTEWISE:
        if wanted in (name.lower(), f"{name.lower()}_rtrim"):
            return name + text[len(name) :].upper()
    parts, given = wanted.split("_"), []
    while parts and any(parts[-1] in kinds for kinds in _MODIFIERS) and len(parts) > 1:
        given.append(parts.pop())
    locale = _LOCALES.get("_".join(parts))
    if locale is None:
        return None
    for kinds in _MODIFIERS:
        if sum(given.count(kind) for kind in kinds) > 1:
            return None
    kept = [kinds[0].upper() for kinds in _MODIFIERS if kinds[0] in given]
    return "_".join([locale, *kept])
