"""What kinds of values a setting may have.

A ``Kind`` reads a value as a TOML file has it, and as the text of an option or of a variable of the
environment. Its ``schema`` says the same in JSON Schema; the options of the command line take their
choices and bounds from it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.functions import DECLARED
from sqlrewrite.settings.spark_conf import SETTINGS, setting
from sqlrewrite.text.limits import NESTING_MOST

Pairs = tuple[tuple[str, Any], ...]
"""What stands by a name or a pattern, in order."""


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """``what`` a value must be, in words; whether one ``holds``; what a setting is made of it.

    ``parse`` turns a text into the value that a TOML file would have; what it cannot turn it gives
    back, or raises ValueError with what it must be.
    """

    what: str
    schema: Mapping[str, Any]
    holds: Callable[[Any], bool]
    make: Callable[[Any], Any] = _same
    parse: Callable[[str], Any] = _same

    def read(self, value: Any) -> Any:
        """The setting. Raises ValueError with what the value must be."""
        if not self.holds(value):
            raise ValueError(self.what)
        return self.make(value)

    def read_text(self, text: str) -> Any:
        """The setting that one word says. Raises ValueError as ``read``."""
        return self.read(self.parse(text))


def one_of(choices: tuple[str, ...]) -> Kind:
    """One of a few words."""
    what = " or ".join(map(repr, choices))
    return Kind(what, {"enum": [*choices]}, lambda it: isinstance(it, str) and it in choices)


def number(least: int, most: int | None = None) -> Kind:
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

    return Kind(what, {"type": "integer", **bounds}, holds, parse=parse)


def fraction(what: str, holds: Callable[[float], bool]) -> Kind:
    """A number with or without a fraction."""

    def parse(text: str) -> float | str:
        try:
            return float(text)
        except ValueError:
            return text

    return Kind(what, {}, lambda it: isinstance(it, float) and holds(it), parse=parse)


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
    return isinstance(value, list) and all(isinstance(it, str) for it in value)


def _are_by_name(value: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(holds(it) for it in value.values())


def _codes(value: list[str]) -> tuple[str, ...]:
    return tuple(code.upper() for code in value)


def _items(text: str) -> list[str]:
    return [item for part in text.split(",") if (item := part.strip())]


def _pattern_and_code(text: str) -> dict[str, list[str]]:
    """``PATTERN:CODE,PATTERN:CODE`` as the table that says the same."""
    found: dict[str, list[str]] = {}
    for item in _items(text):
        pattern, colon, code = item.rpartition(":")
        if not (colon and pattern and code):
            raise ValueError("PATTERN:CODE, with commas between several")
        found.setdefault(pattern, []).append(code)
    return found


def _name_and_word(text: str, form: str = "NAME=WORD") -> dict[str, str]:
    """``NAME=WORD,NAME=WORD`` as the table that says the same."""
    pairs = [item.partition("=") for item in _items(text)]
    if not all(name and equals and word for name, equals, word in pairs):
        raise ValueError(f"{form}, with commas between several")
    return {name: word for name, _, word in pairs}


_TEXT: Mapping[str, Any] = {"type": "string"}
_LIST: Mapping[str, Any] = {"type": "array", "items": _TEXT}

_WORD = "[A-Za-z_][A-Za-z0-9_]*"
STRING = Kind("a string", _TEXT, lambda it: isinstance(it, str))
_ZONE = r"[A-Za-z][A-Za-z0-9_+:/-]*|[+-][0-9]{1,2}(:?[0-9]{2}){0,2}"
ZONE = Kind(
    "a time zone, as 'Europe/Berlin', 'UTC' or '+02:00'",
    {**_TEXT, "pattern": f"^({_ZONE})$"},
    _matches(_ZONE),
)
BOOLEAN = Kind(
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
SIZE = Kind(
    "a size like 33554432 or 32MB",
    {"anyOf": [COUNT.schema, {**_TEXT, "pattern": "^ *[0-9]+ *[kKmMgG]?[bB]? *$"}]},
    lambda it: COUNT.holds(it) or _matches(_SIZE)(it),
    _bytes,
)
STRINGS = Kind("a list of strings", _LIST, _are_strings, tuple, _items)
CODES = Kind(
    "a list of strings", _LIST, _are_strings, _codes, lambda text: text.replace(",", " ").split()
)
PATHS = Kind(
    "a string or a list of strings",
    {"anyOf": [_TEXT, _LIST]},
    lambda it: isinstance(it, str) or _are_strings(it),
    lambda it: (it,) if isinstance(it, str) else tuple(it),
    lambda text: [it for it in text.split(os.pathsep) if it],
)
CODES_BY_PATTERN = Kind(
    "a table of patterns, each with a list of codes",
    {"type": "object", "additionalProperties": _LIST},
    lambda it: _are_by_name(it, _are_strings),
    lambda it: tuple((pattern, _codes(codes)) for pattern, codes in it.items()),
    _pattern_and_code,
)


def _column_and_expression(text: str) -> dict[str, dict[str, str]]:
    """``TABLE.COLUMN=EXPRESSION;…`` as the tables that say the same."""
    found: dict[str, dict[str, str]] = {}
    for item in filter(None, map(str.strip, text.split(";"))):
        name, equals, expression = item.partition("=")
        table, dot, column = name.strip().rpartition(".")
        if not (equals and dot and table and column and expression.strip()):
            raise ValueError("TABLE.COLUMN=EXPRESSION, with semicolons between several")
        found.setdefault(table, {})[column] = expression.strip()
    return found


DERIVED = Kind(
    "a table of tables, each with its columns and the expressions that they are computed by",
    {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _TEXT}},
    lambda it: _are_by_name(it, lambda columns: _are_by_name(columns, STRING.holds)),
    lambda it: {table.lower(): dict(columns) for table, columns in it.items()},
    _column_and_expression,
)
SEVERITIES = Kind(
    "a table of codes, each with its severity",
    {"type": "object", "additionalProperties": _TEXT},
    lambda it: _are_by_name(it, STRING.holds),
    lambda it: tuple((code.upper(), severity) for code, severity in it.items()),
    lambda text: _name_and_word(text, "CODE=LEVEL"),
)
VARIABLES = Kind(
    "a table of variables, each with a name of letters, digits and _",
    {"type": "object", "additionalProperties": {**_TEXT, "pattern": f"^{_WORD}$"}},
    lambda it: _are_by_name(it, _matches(_WORD)),
    dict,
    _name_and_word,
)
CONF = Kind(
    f"a table of settings of Spark, of {', '.join(SETTINGS)}",
    {"type": "object", "propertyNames": {"enum": [*SETTINGS]}},
    lambda it: (
        _are_by_name(it, lambda value: isinstance(value, str | int | float))
        and all(map(setting, it))
    ),
    lambda it: {setting(name): str(value).lower() for name, value in it.items()},
    _name_and_word,
)
FUNCTIONS = Kind(
    f"a table of functions, each with {' or '.join(map(repr, DECLARED))}",
    {"type": "object", "additionalProperties": {"enum": [*DECLARED]}},
    lambda it: _are_by_name(it, lambda said: isinstance(said, str) and said in DECLARED),
    lambda it: {name.lower(): said for name, said in it.items()},
    _name_and_word,
)
