"""JSON whose strings know where they stand: Python's own parser forgets it.

In comes a text, out go its values, as ``json.loads`` gives them but with a ``Text`` for each
string. Raises ValueError for what is no JSON, RecursionError for what is nested too deeply.
"""

from __future__ import annotations

import json
import re
from array import array
from typing import Any

from sqlrewrite.text.hosts.region import Embedded

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_CHARACTER = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u.{4}|\\.|.")


class Text(str):
    """A string's value; it stands between the quotes before ``start`` and at ``end``."""

    __slots__ = ("end", "start")
    start: int
    end: int


def embedded(text: str, string: Text) -> Embedded:
    """A string's value, with where each of its characters is written."""
    written = text[string.start : string.end]
    if "\\" not in written:
        return Embedded(str(string), range(string.start, string.end + 1))
    starts = [string.start + match.start() for match in _CHARACTER.finditer(written)]
    if len(starts) != len(string):
        raise ValueError("a string of JSON with half a character")
    return Embedded(str(string), array("q", [*starts, string.end]))


def parse(text: str) -> Any:
    """The value of a whole text."""
    value, end = _value(text, _skip(text, 0))
    if _skip(text, end) != len(text):
        raise ValueError("there is more behind the JSON")
    return value


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _value(text: str, at: int) -> tuple[Any, int]:
    match text[at : at + 1]:
        case '"':
            return _string(text, at)
        case "{":
            return _object(text, at)
        case "[":
            return _array(text, at)
    return _DECODER.raw_decode(text, at)


def _string(text: str, at: int) -> tuple[Text, int]:
    value, end = _DECODER.raw_decode(text, at)
    found = Text(value)
    found.start, found.end = at + 1, end - 1
    return found, end


def _object(text: str, at: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise ValueError(f"no key at character {at}")
        key, at = _string(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"no colon at character {at}")
        found[str(key)], at = _value(text, _skip(text, at + 1))
        at = _next(text, at, "}")
    return found, at + 1


def _array(text: str, at: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        value, at = _value(text, at)
        found.append(value)
        at = _next(text, at, "]")
    return found, at + 1


def _next(text: str, at: int, end: str) -> int:
    """Where the next value begins, or the end of all."""
    at = _skip(text, at)
    if text[at : at + 1] == end:
        return at
    behind = _skip(text, at + 1)
    if text[at : at + 1] != "," or text[behind : behind + 1] == end:
        raise ValueError(f"no comma at character {at}")
    return behind
