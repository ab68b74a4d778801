"""The kinds of values that settings have, read from a TOML file or from the text of an option.

A kind's ``schema`` is JSON Schema; the command line takes the choices of an option from it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from msgspec import Struct

from sqlrewrite.plan.facts.functions import DECLARED
from sqlrewrite.settings.spark_conf import SETTINGS, known_setting
from sqlrewrite.text.limits import NESTING_MOST

Pairs = tuple[tuple[str, Any], ...]
"""Names or patterns, each with its value, in order."""


def _same(value: Any) -> Any:
    return value


class ValueKind(Struct, frozen=True, eq=False):
    """A kind of value. ``description``: what a value must be, in words. ``accepts``: whether a
    value from TOML is valid. ``convert``: from that value to the setting. ``parse``: from an
    option's text to the value that TOML would have; it returns unreadable text as it is, or raises
    ValueError with what it must be."""

    description: str
    schema: Mapping[str, Any]
    accepts: Callable[[Any], bool]
    convert: Callable[[Any], Any] = _same
    parse: Callable[[str], Any] = _same

    def read(self, value: Any) -> Any:
        """The setting for a value from TOML. Raises ValueError with what the value must be."""
        if not self.accepts(value):
            raise ValueError(self.description)
        return self.convert(value)

    def read_text(self, text: str) -> Any:
        """The setting for an option's text. Raises ValueError as ``read``."""
        return self.read(self.parse(text))


def one_of(choices: tuple[str, ...]) -> ValueKind:
    """One of a few words."""
    what = " or ".join(map(repr, choices))
    return ValueKind(what, {"enum": [*choices]}, lambda it: isinstance(it, str) and it in choices)


def number(least: int, most: int | None = None) -> ValueKind:
    """A whole number within bounds."""
    what = f"a whole number, {least} or more"
    bounds = {"minimum": least}
    if most is not None:
        what, bounds["maximum"] = f"a whole number from {least} to {most}", most

    def holds(value: Any) -> bool:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and least <= value and (most is None or value <= most)

    def parse(text: str) -> int | str:
        return int(text) if re.fullmatch("[0-9]{1,18}", text) else text

    return ValueKind(what, {"type": "integer", **bounds}, holds, parse=parse)


def fraction(what: str, holds: Callable[[float], bool]) -> ValueKind:
    """A number with or without a fraction."""

    def parse(text: str) -> float | str:
        try:
            return float(text)
        except ValueError:
            return text

    return ValueKind(what, {}, lambda it: isinstance(it, float) and holds(it), parse=parse)


SECONDS = fraction("a number of seconds above 0", lambda it: 0 < it < inf)
TOLERANCE = fraction("a number from 0 up to, but not including, 1", lambda it: 0 <= it < 1)


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda it: isinstance(it, str) and re.fullmatch(pattern, it) is not None


_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_SIZE = r"\s*([0-9]{1,18})\s*([kKmMgG]?)[bB]?\s*"


def _bytes(value: int | str) -> int:
    match = re.fullmatch(_SIZE, str(value))
    assert match is not None
    return int(match[1]) << 10 * " kmg".index(match[2].lower() or " ")


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_by_name(value: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(holds(item) for item in value.values())


def _codes(value: list[str]) -> tuple[str, ...]:
    return tuple(code.upper() for code in value)


def _items(text: str) -> list[str]:
    return [item for part in text.split(",") if (item := part.strip())]


def _pattern_and_code(text: str) -> dict[str, list[str]]:
    """The TOML table for ``PATTERN:CODE,PATTERN:CODE``."""
    codes: dict[str, list[str]] = {}
    for item in _items(text):
        pattern, colon, code = item.rpartition(":")
        if not (colon and pattern and code):
            raise ValueError("PATTERN:CODE, with commas between several")
        codes.setdefault(pattern, []).append(code)
    return codes


def _name_and_word(text: str, form: str = "NAME=WORD") -> dict[str, str]:
    """The TOML table for ``NAME=WORD,NAME=WORD``."""
    pairs = [item.partition("=") for item in _items(text)]
    if not all(name and equals and word for name, equals, word in pairs):
        raise ValueError(f"{form}, with commas between several")
    return {name: word for name, _, word in pairs}


_TEXT: Mapping[str, Any] = {"type": "string"}
_LIST: Mapping[str, Any] = {"type": "array", "items": _TEXT}

_WORD = "[A-Za-z_][A-Za-z0-9_]*"
STRING = ValueKind("a string", _TEXT, lambda it: isinstance(it, str))
_ZONE = r"[A-Za-z][A-Za-z0-9_+:/-]*|[+-][0-9]{1,2}(:?[0-9]{2}){0,2}"
ZONE = ValueKind(
    "a time zone, as 'Europe/Berlin', 'UTC' or '+02:00'",
    {**_TEXT, "pattern": f"^({_ZONE})$"},
    _matches(_ZONE),
)
_VERSION = r"(3\.[5-9]|[4-9]\.[0-9]+)(\..*)?"
SPARK_VERSION = ValueKind(
    "a version of Spark from 3.5 on, as '3.5' or '4.1'",
    {**_TEXT, "pattern": f"^({_VERSION})$"},
    _matches(_VERSION),
)
BOOLEAN = ValueKind(
    "true or false",
    {"type": "boolean"},
    lambda it: isinstance(it, bool),
    parse=lambda text: _TRUTHS.get(text.lower(), text),
)
COUNT = number(0)
AT_LEAST_ONE = number(1)
AT_LEAST_TWO = number(2)
GROUPS = number(2, 64)
NESTING = number(1, NESTING_MOST)
SIZE = ValueKind(
    "a size like 33554432 or 32MB",
    {"anyOf": [COUNT.schema, {**_TEXT, "pattern": "^ *[0-9]+ *[kKmMgG]?[bB]? *$"}]},
    lambda it: COUNT.accepts(it) or _matches(_SIZE)(it),
    _bytes,
)
STRINGS = ValueKind("a list of strings", _LIST, _are_strings, tuple, _items)
CODES = ValueKind(
    "a list of strings", _LIST, _are_strings, _codes, lambda text: text.replace(",", " ").split()
)
PATHS = ValueKind(
    "a string or a list of strings",
    {"anyOf": [_TEXT, _LIST]},
    lambda it: isinstance(it, str) or _are_strings(it),
    lambda it: (it,) if isinstance(it, str) else tuple(it),
    lambda text: [part for part in text.split(os.pathsep) if part],
)
CODES_BY_PATTERN = ValueKind(
    "a table of patterns, each with a list of codes",
    {"type": "object", "additionalProperties": _LIST},
    lambda it: _are_by_name(it, _are_strings),
    lambda it: tuple((pattern, _codes(codes)) for pattern, codes in it.items()),
    _pattern_and_code,
)


def _column_and_expression(text: str) -> dict[str, dict[str, str]]:
    """The TOML tables for ``TABLE.COLUMN=EXPRESSION;…``."""
    tables: dict[str, dict[str, str]] = {}
    for item in filter(None, map(str.strip, text.split(";"))):
        name, equals, expression = item.partition("=")
        table, dot, column = name.strip().rpartition(".")
        if not (equals and dot and table and column and expression.strip()):
            raise ValueError("TABLE.COLUMN=EXPRESSION, with semicolons between several")
        tables.setdefault(table, {})[column] = expression.strip()
    return tables


def _by_table(value: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The columns of each table; those of one that is spelled in two cases together."""
    tables: dict[str, dict[str, str]] = {}
    for table, columns in value.items():
        tables.setdefault(table.lower(), {}).update(columns)
    return tables


DERIVED = ValueKind(
    "a table of tables, each with its columns and the expressions that they are computed by",
    {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _TEXT}},
    lambda it: _are_by_name(it, lambda columns: _are_by_name(columns, STRING.accepts)),
    _by_table,
    _column_and_expression,
)
SEVERITIES = ValueKind(
    "a table of codes, each with its severity",
    {"type": "object", "additionalProperties": _TEXT},
    lambda it: _are_by_name(it, STRING.accepts),
    lambda it: tuple((code.upper(), severity) for code, severity in it.items()),
    lambda text: _name_and_word(text, "CODE=LEVEL"),
)
VARIABLES = ValueKind(
    "a table of variables, each with a name of letters, digits and _",
    {"type": "object", "additionalProperties": {**_TEXT, "pattern": f"^{_WORD}$"}},
    lambda it: _are_by_name(it, _matches(_WORD)),
    dict,
    _name_and_word,
)
CONF = ValueKind(
    f"a table of settings of Spark, of {', '.join(SETTINGS)}",
    {"type": "object", "propertyNames": {"enum": [*SETTINGS]}},
    lambda it: (
        _are_by_name(it, lambda value: isinstance(value, str | int | float))
        and all(map(known_setting, it))
    ),
    lambda it: {known_setting(name): str(value).lower() for name, value in it.items()},
    _name_and_word,
)
FUNCTIONS = ValueKind(
    f"a table of functions, each with {' or '.join(map(repr, DECLARED))}",
    {"type": "object", "additionalProperties": {"enum": [*DECLARED]}},
    lambda it: _are_by_name(
        it, lambda declaration: isinstance(declaration, str) and declaration in DECLARED
    ),
    lambda it: {name.lower(): what for name, what in it.items()},
    _name_and_word,
)
