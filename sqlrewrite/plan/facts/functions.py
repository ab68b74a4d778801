"""The table of functions: what each function and operator of Spark does.

``function`` takes a lower-case name to its row in ``rules/functions/spark.toml``; None: nothing is
known of it, not even whether it is an aggregate, so it must not be copied, moved or reasoned about.
The other sections of the file have a function each here. The file is read at the first question,
and a row when it is asked for. A name that begins with a letter of another dialect's alphabet is
looked up in that dialect's table (``dialects.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

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
"""The letters of other dialects' alphabets come after this one."""
_LETTERS = 26

_BUILTIN = ("system.builtin.", "builtin.")


class Function(Struct, frozen=True):
    """A row of the table, whose head explains ``again``, ``nulls`` and ``raises``.

    ``unless`` names a check on literal arguments; if they pass it, no error can be raised.
    ``signature`` is the text of its parameters and result (``signatures.py``).
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
