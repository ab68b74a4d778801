"""Parses the text of a data type, as in DDL, a cast or a catalog, to a ``Type``; None if Spark 4.3
does not read it as one (a user's type, another engine's).

Nullability, comments and defaults of nested fields are dropped: no comparison depends on them.
Sources: ``dataTypes`` of Spark's SqlBaseParser.g4, ``DataTypeAstBuilder``, ``CollationFactory``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.types import Type

_PLAIN = {
    **{
        kind.name: kind
        for kind in (types.BOOLEAN, types.BINARY, types.VARIANT, types.VOID, types.DATE)
    },
    **{kind.name: kind for kind in (*types.BITS, *types.FLOATING)},
    "byte": types.TINYINT,
    "short": types.SMALLINT,
    "integer": types.INT,
    "long": types.BIGINT,
    "real": types.FLOAT,
}
_TOKEN = re.compile(
    r"""\s*(?:(r'[^']*'|r"[^"]*"|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"|([A-Za-z0-9_]+)|`((?:[^`]|``)+)`|([<>(),:]))",
    re.ASCII | re.DOTALL | re.IGNORECASE,
)


_SIGNS = frozenset("<>(),:")

# `SELECT name FROM collations()` of Spark 4.3, without the modifiers of a locale.
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
_BYTEWISE_COLLATIONS = ("UTF8_BINARY", "UTF8_LCASE")
_MODIFIERS = (("ci", "cs"), ("ai", "as"), ("rtrim",))


@lru_cache(maxsize=4096)
def parse(text: str) -> Type | None:
    """The type that a text names, or None where it names none of Spark's."""
    try:
        reader = _Reader(text)
        kind = reader.type()
    except _UnreadableError:
        return None
    return kind if reader.at == len(reader.tokens) else None


class _UnreadableError(Exception):
    """The text is no type of Spark's."""


class _Reader:
    """A recursive-descent parser. Tokens are words and signs as written, a quoted name begins with
    a backquote, and ``'`` stands for any string."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        self.at = 0
        place, text = 0, text.rstrip()
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None:
                raise _UnreadableError
            string, word, quoted, sign = token.groups()
            self.tokens.append("'" if string else word or sign or f"`{quoted}")
            place = token.end()

    def type(self) -> Type:
        """Reads a type."""
        name = self.word()
        match name:
            case "decimal" | "dec" | "numeric":
                return self.decimal()
            case "string":
                return types.string(self.collation())
            case "char" | "character" | "varchar":
                length = self.numbers(1)
                self.check(bool(length))
                return Type(name.removesuffix("acter"), length, self.collation())
            case "timestamp" | "timestamp_ltz" | "timestamp_ntz":
                return self.timestamp(name)
            case "time":
                numbers = self.numbers(1) or (types.MICROSECONDS,)
                self.check(numbers[0] <= types.MICROSECONDS)
                self.take("without", "time", "zone")
                return types.time(*numbers)
            case "interval":
                return self.interval()
            case "geometry" | "geography":
                if self.take("(", "any", ")"):
                    return Type(name)
                numbers = self.numbers(1)
                self.check(numbers[:1] != () and numbers[0] in types.SRIDS[name])
                return Type(name, numbers)
            case "array":
                return types.array(*self.within(1))
            case "map":
                return types.map_of(*self.within(2))
            case "struct":
                return self.struct()
        self.check(name in _PLAIN)
        return _PLAIN[name]

    def decimal(self) -> Type:
        """Reads what follows DECIMAL."""
        precision, scale = (*(self.numbers(2) or (10,)), 0)[:2]
        self.check(precision <= types.MAX_PRECISION and scale <= precision)
        return types.decimal(precision, scale)

    def timestamp(self, name: str) -> Type:
        """Reads what follows TIMESTAMP etc.; only the precision of microseconds is valid."""
        self.check(self.numbers(1) in ((), (types.MICROSECONDS,)))
        if name == "timestamp_ntz" or (
            name == "timestamp" and self.take("without", "time", "zone")
        ):
            return types.TIMESTAMP_NTZ
        if name == "timestamp":
            self.take("with", "local", "time", "zone")
        return types.TIMESTAMP

    def interval(self) -> Type:
        """Reads what follows INTERVAL."""
        for fields in (types.YEAR_MONTH, types.DAY_TIME):
            for number, start in enumerate(fields):
                if not self.take(start):
                    continue
                if not self.take("to"):
                    return types.interval(start)
                end = self.word()
                self.check(end in fields[number + 1 :])
                return types.interval(start, end)
        return types.INTERVAL

    def within(self, count: int) -> tuple[Type, ...]:
        """Reads ``count`` types in angle brackets."""
        self.need("<")
        items = [self.type()]
        while len(items) < count:
            self.need(",")
            items.append(self.type())
        self.need(">")
        return tuple(items)

    def struct(self) -> Type:
        """Reads what follows STRUCT."""
        self.need("<")
        fields: list[tuple[str, Type]] = []
        while not self.take(">"):
            if fields:
                self.need(",")
            name = self.name()
            self.take(":")
            fields.append((name, self.type()))
            self.take("not", "null")
            if self.take("comment"):
                self.need("'")
                while self.take("'"):
                    pass
        return types.struct(*fields)

    def collation(self) -> str | None:
        """Reads a COLLATE clause, if there is one: the collation as Spark spells it."""
        if not self.take("collate"):
            return None
        name = collation(self.name())
        self.check(name is not None)
        return name

    def numbers(self, most: int) -> tuple[int, ...]:
        """Reads numbers in parentheses, if there are any; at most ``most``."""
        if not self.take("("):
            return ()
        numbers: list[int] = []
        while not numbers or self.take(","):
            number = self.word()
            self.check(number.isdigit() and len(numbers) < most)
            numbers.append(int(number))
        self.need(")")
        return tuple(numbers)

    def name(self) -> str:
        """Reads a name, which may be quoted."""
        self.check(self.at < len(self.tokens))
        token = self.tokens[self.at]
        self.check(token != "'" and token not in _SIGNS)
        self.at += 1
        return token[1:].replace("``", "`") if token[0] == "`" else token

    def word(self) -> str:
        """Reads a word, lower case."""
        self.check(self.tokens[self.at : self.at + 1] != [] and self.tokens[self.at][0] != "`")
        return self.name().lower()

    def take(self, *wanted: str) -> bool:
        """Reads words and signs if they come next; returns whether they did."""
        tokens = self.tokens[self.at : self.at + len(wanted)]
        if [token.lower() for token in tokens] != [*wanted]:
            return False
        self.at += len(wanted)
        return True

    def need(self, sign: str) -> None:
        """Reads a sign that must follow."""
        self.check(self.take(sign))

    def check(self, holds: bool) -> None:
        """Raises _UnreadableError unless ``holds``."""
        if not holds:
            raise _UnreadableError


@lru_cache(maxsize=256)
def collation(text: str) -> str | None:
    """A collation's name as Spark spells it: ``unicode_CI`` is ``UNICODE_CI``; None for other
    names."""
    lower = text.lower()
    for name in _BYTEWISE_COLLATIONS:
        if lower in (name.lower(), f"{name.lower()}_rtrim"):
            return name + text[len(name) :].upper()
    parts, modifiers = lower.split("_"), []
    while parts and any(parts[-1] in kinds for kinds in _MODIFIERS) and len(parts) > 1:
        modifiers.append(parts.pop())
    locale = _LOCALES.get("_".join(parts))
    if locale is None:
        return None
    for kinds in _MODIFIERS:
        if sum(modifiers.count(kind) for kind in kinds) > 1:
            return None
    kept = [kinds[0].upper() for kinds in _MODIFIERS if kinds[0] in modifiers]
    return "_".join([locale, *kept])
