"""The table of functions: what each function and operator of Spark does, and its signature.

``function`` takes a lower-case name to its row in ``rules/functions/spark.toml``; None: nothing is
known of it, not even whether it is an aggregate, so it must not be copied, moved or reasoned about.
The other sections of the file have a function each here. The file is read at the first question,
and a row when it is asked for. A name that begins with a letter of another dialect's alphabet is
looked up in that dialect's table (``dialects.py``).

``signature`` reads what the table writes as ``array<a> (a,int?)=>b -> array<b>``. In a call each
letter stands for the common type of its arguments, as Spark's analyzer finds it
(``findWiderCommonType``), from which the type of the result and of a lambda's parameters follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from sqlrewrite.plan.facts.coercion import common_of_known
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import ExactSettings, Type
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.text.data_files import read_toml

KINDS = ("operator", "scalar", "aggregate", "window", "generator", "table", "syntax")
AGAIN = ("same", "zone", "query", "exact", "order", "varies")
RAISES = ("never", "ansi", "always")
DECLARED = ("deterministic", "total")
"""What the settings can declare of a user's function: ``deterministic``, it gives one value for one
input, wherever and how often it is computed; ``total``, it also never raises an error. Neither is
an aggregate."""

_LAST_LETTER = "\U0001d000"
"""The character before the letters of all other dialects' alphabets."""
_LETTERS = 26

_BUILTIN = ("system.builtin.", "builtin.")


class Function(Struct, frozen=True):
    """A row of the table, whose head explains ``again``, ``nulls`` and ``raises``.

    ``unless`` names a check on literal arguments; if they pass it, no error can be raised.
    ``signature`` is the text of its parameters and result.
    """

    name: str
    kind: str
    again: str
    nulls: str
    raises: str
    unless: str
    since: str
    signature: str

    @property
    def deterministic(self) -> bool:
        """Whether it always gives the same value for the same arguments."""
        return self.again != "varies"

    @property
    def repeatable(self) -> bool:
        """Whether a second computation over the same rows gives the same, for all types; with
        ``again`` ``exact`` it does for integers and decimals."""
        return self.again in ("same", "zone", "query")

    @property
    def total(self) -> bool:
        """Whether no arguments make it raise an error, in ANSI mode either."""
        return self.raises == "never"

    @property
    def aggregate(self) -> bool:
        """Whether it makes one row of many, unless it stands under OVER."""
        return self.kind == "aggregate"

    @property
    def generator(self) -> bool:
        """Whether it makes several rows or columns of one."""
        return self.kind == "generator"

    def null_from(self, position: int) -> bool:
        """Whether NULL as the argument at a position, counted from 0, makes the result NULL."""
        return self.nulls == "all" or str(position + 1) in self.nulls.split(",")


@cache
def function(name: str) -> Function | None:
    """The row of a function or operator, by its lower-case name as written in a call.

    A name qualified by ``builtin.`` is Spark's; any other qualified name is a user's: None.
    """
    if name > _LAST_LETTER:
        return _foreign().get(name)
    for qualifier in _BUILTIN:
        name = name.removeprefix(qualifier)
    row = _rows().get(name.replace(" ", "_"))
    return None if row is None else _function(*row)


def of_one_row(name: str) -> bool:
    """Whether a function or operator computes a value from the values of one row."""
    row = function(name)
    return row is not None and row.kind in ("operator", "scalar")


@cache
def tagged(tag: str) -> frozenset[str]:
    """The functions with a tag in the table."""
    rows = (row.split() for row in _table()["tags"].splitlines())
    return frozenset(name for own, *listed in rows for name in listed if own == tag)


@cache
def reaggregation(name: str) -> str | None:
    """The expression (``{}``) that computes an aggregate over all rows from its values over groups
    of rows; None unless it is right for all types of its argument."""
    rows = (row.split(None, 1) for row in _table()["groups"].splitlines())
    return next((whole for aggregate, whole in rows if aggregate == name), None)


@cache
def part_range(name: str) -> tuple[int, int] | None:
    """The least and the greatest value of a function that gives a field of a date or time; None for
    any other."""
    for part, least, most in map(str.split, _table()["part"].splitlines()):
        if part == name:
            return int(least), int(most)
    return None


@cache
def attempts() -> dict[str, tuple[str, str, str]]:
    """The rows of the table's ``attempt`` by name: what a function gives without ANSI mode, for
    which types, and its form."""
    rows = (row.split(None, 3) for row in _table()["attempt"].splitlines())
    return {name: (legacy, of, text) for name, legacy, of, text in rows}


@cache
def zones() -> frozenset[str]:
    """Names of time zones."""
    return frozenset(_table()["zone"].split())


def declared_function(name: str, declaration: str) -> Function:
    """A user's function that the settings declare to be ``declaration``, one of ``DECLARED``."""
    raises = "never" if declaration == "total" else "always"
    return Function(name, "scalar", "same", "-", raises, "", "", "any* -> any")


def names() -> tuple[str, ...]:
    """The names of all rows."""
    return tuple(_rows())


def _function(kind: str, row: str) -> Function:
    name, again, nulls, raises, since, signature = row.split(None, 5)
    raises, _, unless = raises.partition("/")
    return Function(name, kind, again, nulls, raises, unless, since, signature)


class DialectNames(Struct, frozen=True):
    """The functions of another dialect: those that are the ``same`` as Spark's of that name, its
    ``own``, and the small and capital letters that names of its own begin with here."""

    same: frozenset[str]
    own: frozenset[str]
    alphabet: str


@cache
def dialect_names(dialect: str) -> DialectNames:
    """The functions of a dialect, from its file in ``rules/functions``."""
    table = read_toml(rules_folder() / "functions" / f"{dialect}.toml")
    small = ord(table["alphabet"])
    letters = [chr(small + at) for at in range(_LETTERS)]
    letters += [chr(small - _LETTERS + at) for at in range(_LETTERS)]
    own = frozenset(name for name, _, _ in _read(table))
    return DialectNames(frozenset(table["same"].split()), own, "".join(letters))


@cache
def _foreign() -> dict[str, Function]:
    """The functions of all other dialects, by their names in its alphabet, in both cases."""
    functions = {}
    for path in sorted((rules_folder() / "functions").glob("*.toml")):
        if path.stem == "spark":
            continue
        table = read_toml(path)
        alphabet = dialect_names(path.stem).alphabet
        for name, kind, row in _read(table):
            at = ord(name[0]) - ord("a")
            for first in (alphabet[at], alphabet[at + _LETTERS]):
                functions[first + name[1:]] = _function(kind, first + row[1:])
    return functions


@cache
def _rows() -> dict[str, tuple[str, str]]:
    """The kind and the text of each row, by its name."""
    return {name: (kind, row) for name, kind, row in _read(_table())}


@cache
def _table() -> dict[str, str]:
    return read_toml(rules_folder() / "functions" / "spark.toml")


def _read(sections: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """The name, kind and text of each row of a table."""
    for kind in KINDS:
        for row in sections.get(kind, "").splitlines():
            yield row[: row.index(" ")], kind, row


Argument = Type | None
"""The type of an argument or a result; None: not known."""


class Arguments(Struct, frozen=True):
    """The arguments of a call, as far as its result type depends on them: their types, the texts of
    literals, and the names that they have as columns or by an alias."""

    types: tuple[Argument, ...]
    settings: ExactSettings
    literals: tuple[str | None, ...] = ()
    names: tuple[str | None, ...] = ()

    @property
    def first(self) -> Argument:
        """The type of the first argument."""
        return self.types[0] if self.types else None

    def literal(self, position: int) -> str | None:
        """The text of a literal argument, counted from 0."""
        return self.literals[position] if position < len(self.literals) else None

    def number(self, position: int, default: int) -> int | None:
        """A literal argument as a whole number; the default if there is no such argument."""
        if position >= len(self.types):
            return default
        text = self.literal(position)
        return int(text) if text is not None and text.lstrip("-").isdigit() else None

    def known(self, start: int = 0, step: int = 1) -> tuple[Type, ...] | None:
        """The types of every ``step``-th argument from ``start`` on; None if one is not known."""
        some = self.types[start::step]
        known_kinds = tuple(kind for kind in some if kind is not None)
        return known_kinds if len(known_kinds) == len(some) else None


_NESTED = re.compile(r"(array|map)<(.*)>")
_LAMBDA = re.compile(r"\(?([\w,?]+)\)?=>(.+)")


class SignatureParameter(Struct, frozen=True):
    """A parameter in a signature: a pattern of types, which may be optional or repeated; for a
    lambda the pattern of its value, and those of its ``lambda_parameters``."""

    pattern: str
    optional: bool = False
    repeated: bool = False
    lambda_parameters: tuple[str, ...] = ()


class Signature(Struct, frozen=True):
    """The parameters of a function, and the pattern or the rule of its result."""

    parameters: tuple[SignatureParameter, ...]
    result: str

    def parameter(self, position: int, count: int) -> SignatureParameter | None:
        """The parameter for the argument at a position, of ``count`` arguments; None if there is
        none."""
        if position < len(self.parameters):
            return self.parameters[position]
        last = self.parameters[-1] if self.parameters else None
        return last if last is not None and last.repeated and position < count else None

    def takes(self, count: int) -> bool:
        """Whether a call may have ``count`` arguments."""
        least = sum(not (parameter.optional or parameter.repeated) for parameter in self.parameters)
        last = self.parameters[-1] if self.parameters else None
        many = last is not None and last.repeated
        return least <= count and (many or count <= len(self.parameters))


@cache
def signature(text: str) -> Signature:
    """The signature in a text of the table."""
    parameters, _, result = f" {text}".partition(" -> ")
    return Signature(tuple(_parameter(word) for word in parameters.split()), result.strip())


def _parameter(word: str) -> SignatureParameter:
    pattern = word.rstrip("?*")
    marks = word[len(pattern) :]
    function = _LAMBDA.fullmatch(pattern)
    names: tuple[str, ...] = ()
    if function is not None:
        names, pattern = tuple(part.rstrip("?") for part in function[1].split(",")), function[2]
    return SignatureParameter(pattern, "?" in marks, "*" in marks, names)


def letter_types(
    signature: Signature, arguments: Sequence[Argument], settings: ExactSettings
) -> Mapping[str, Argument]:
    """The type of each letter of a signature in a call; None: not known."""
    letters: dict[str, list[Argument]] = {}
    for position, kind in enumerate(arguments):
        parameter = signature.parameter(position, len(arguments))
        if parameter is not None:
            _match(parameter.pattern, kind, letters)
    return {letter: common_of_known(kinds, settings.ansi) for letter, kinds in letters.items()}


def _match(pattern: str, kind: Argument, letters: dict[str, list[Argument]]) -> None:
    """Adds to ``letters`` the type that stands in ``kind`` at the place of each letter of a
    pattern."""
    if len(pattern) == 1:
        letters.setdefault(pattern, []).append(kind)
        return
    nested = _NESTED.fullmatch(pattern)
    if nested is None:
        return
    inner = _parts(nested[2])
    items: Sequence[Argument] = (None,) * len(inner)
    if kind is not None and kind.name == nested[1]:
        items = kind.items
    for part, item in zip(inner, items, strict=True):
        _match(part, item, letters)


def type_of_pattern(pattern: str, letters: Mapping[str, Argument]) -> Argument:
    """The type of a pattern with these types for its letters."""
    if len(pattern) == 1:
        return letters.get(pattern)
    nested = _NESTED.fullmatch(pattern)
    if nested is None:
        return parse(pattern)
    if pattern == "array<struct<key:k,value:v>>":
        return _entries(letters)
    items = [type_of_pattern(part, letters) for part in _parts(nested[2])]
    known_items = tuple(item for item in items if item is not None)
    return Type(nested[1], items=known_items) if len(known_items) == len(items) else None


def _entries(letters: Mapping[str, Argument]) -> Argument:
    key, value = letters.get("k"), letters.get("v")
    if key is None or value is None:
        return None
    return Type("array", items=(Type("struct", items=(key, value), names=("key", "value")),))


def _parts(text: str) -> list[str]:
    """The parts of a text between commas outside of brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"<": 1, ">": -1}.get(sign, 0)
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
