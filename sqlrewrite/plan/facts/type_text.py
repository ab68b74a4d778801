"""Reads the text of a data type, as DDL, a cast or a catalog has it, to a ``Type``.

None is a text that Spark 4.3 does not read as a type of its own (a user's type, another engine's).
Nullability, comments and defaults of nested fields are read and forgotten: no comparison depends on
them. Sources: ``dataTypes`` of Spark's SqlBaseParser.g4, ``DataTypeAstBuilder``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.collations import collation
from sqlrewrite.plan.facts.types import Type

_PLAIN = {
    **{
        kind.name: kind
        for kind in (
            types.BOOLEAN,
            types.BINARY,
            types.VARIANT,
            types.VOID,
            types.TINYINT,
            types.SMALLINT,
            types.INT,
        )
    },
    **{kind.name: kind for kind in (types.BIGINT, types.FLOAT, types.DOUBLE, types.DATE)},
    "byte": types.TINYINT,
    "short": types.SMALLINT,
    "integer": types.INT,
    "long": types.BIGINT,
    "real": types.FLOAT,
}
_DECIMALS = frozenset({"decimal", "dec", "numeric"})
_TIMESTAMPS = {
    "timestamp": types.TIMESTAMP,
    "timestamp_ltz": types.TIMESTAMP,
    "timestamp_ntz": types.TIMESTAMP_NTZ,
}
_LENGTHS = {"char": "char", "character": "char", "varchar": "varchar"}
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
            return types.string(self.collation())
        if name in _LENGTHS:
            return self.with_length(_LENGTHS[name])
        if name in _TIMESTAMPS:
            return self.timestamp(name)
        if name == "time":
            return self.time()
        if name == "interval":
            return self.interval()
        if name in types.SRIDS:
            return self.spatial(name)
        if name == "array":
            return types.array(*self.within(1))
        if name == "map":
            return types.map_of(*self.within(2))
        if name == "struct":
            return self.struct()
        raise _UnreadableError

    def decimal(self) -> Type:
        """What follows DECIMAL."""
        precision, scale = (*self.numbers(2), None, None)[:2]
        if precision is None:
            return types.decimal(10, 0)
        if precision > types.MAX_PRECISION or (scale or 0) > precision:
            raise _UnreadableError
        return types.decimal(precision, scale or 0)

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
            return types.TIMESTAMP_NTZ
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
        for fields in (types.YEAR_MONTH, types.DAY_TIME):
            for number, start in enumerate(fields):
                if not self.words(start):
                    continue
                if not self.words("to"):
                    return types.interval(start)
                end = self.word()
                if end not in fields[number + 1 :]:
                    raise _UnreadableError
                return types.interval(start, end)
        return types.INTERVAL

    def spatial(self, name: str) -> Type:
        """What follows GEOMETRY and GEOGRAPHY."""
        self.sign("(")
        if self.words("any"):
            self.sign(")")
            return Type(name)
        self.at -= 1
        numbers = self.numbers(1)
        if not numbers or numbers[0] not in types.SRIDS[name]:
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
        return types.struct(*fields)

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
