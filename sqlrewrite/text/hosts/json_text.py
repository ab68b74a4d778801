"""JSON whose strings know where they stand: Python's own parser forgets it.

In comes a text, out go its values, as ``json.loads`` gives them but with a ``Text`` for each
string that is no key. Raises ValueError for what is no JSON, RecursionError for what is nested too
deeply.
"""

from __future__ import annotations

import json
import re
from array import array
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from sqlrewrite.text.hosts.region import Embedded

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
    return _Decoder().decode(text)


class _Decoder(json.JSONDecoder):
    """Python's own decoder, by its scanner in Python, which asks for each string."""

    def __init__(self) -> None:
        super().__init__()
        self.parse_string = _string
        self.scan_once = py_make_scanner(self)


def _string(text: str, start: int, strict: bool) -> tuple[Text, int]:
    value, end = scanstring(text, start, strict)
    found = Text(value)
    found.start, found.end = start, end - 1
    return found, end
