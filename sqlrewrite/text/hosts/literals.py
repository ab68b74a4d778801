"""Literals of Python that hold SQL: their value, and where each of its characters is written.

In: a literal as it stands in a text, and how it is filled (``f"{x}"``, ``.format``, ``%``). Out:
the SQL, in which a hole is ``${x}``, a constant of which nothing is known but that it is the same
wherever it stands. What cannot be mapped exactly raises Unmapped, with the reason.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator

from sqlrewrite.text.hosts.region import Embedded
from sqlrewrite.text.hosts.ways import Filled, Literal
from sqlrewrite.text.source import LINE_END


class Unmapped(Exception):  # noqa: N818 - says what is so of the text, not what went wrong
    """A text of which it is not known where each character is written; the message says why."""


_OPENS = re.compile(r"(?i:(?P<prefix>u|r|f|rf|fr)?)(?P<quote>\"\"\"|'''|\"|')")
_PIECE = re.compile(
    r"\\(?P<line>\r\n|\r|\n)|\\N\{(?P<name>[^}]*)\}"
    r"|\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8}))"
    r"|\\(?P<octal>[0-7]{1,3})|\\(?P<sign>[\\'\"abfnrtv])|(?P<end>\r\n|\r|\n)|(?P<char>.)",
    re.DOTALL,
)
_RAW_PIECE = re.compile(r"(?P<end>\r\n|\r|\n)|(?P<char>.)", re.DOTALL)
_SIGNS = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_BRACES = re.compile(r"\{\{|\}\}|\{(?P<body>[^{}]*)\}|[{}]")
_PERCENT = re.compile(r"%%|%(?P<body>\(\w+\)[-#0 +]*\d*(?:\.\d+)?[a-zA-Z])|%")
_KEY = r"""\[(?:'[^'\\]*'|"[^"\\]*"|\d+)\]"""
_BODIES = {
    "f": re.compile(rf"\s*(?P<name>{_DOTTED}(?:{_KEY})*)\s*(?:![rsa])?(?::[^'\"\\]*)?"),
    "{": re.compile(rf"(?P<name>{_DOTTED}|\d+)(?:![rsa])?(?::[^'\"\\]*)?"),
    "%": re.compile(r"\((?P<name>\w+)\).*"),
}
_WANTED = {
    "f": "is not a variable",
    "{": "is told by its order: give it a name",
    "%": "is told by its order: write %(name)s",
}


def value(text: Embedded, filled: str, line_end: str) -> Embedded:
    """The value of a literal, as Python has it before it is ``filled``: by holes of its own
    (``f``), by ``{`` (format), by ``%``, or by nothing. Raises Unmapped."""
    opens = _OPENS.match(text.text)
    if opens is None:
        raise Unmapped("it is not one literal")
    quote, raw = opens["quote"], "r" in (opens["prefix"] or "").lower()
    if _end(text.text, opens.end(), quote) != len(text.text):
        raise Unmapped("it is put together of several literals")
    inner = text.cut(opens.end(), len(text.text) - len(quote))
    return _unescaped(inner, quote, raw, line_end, braces=filled == "f")


def _end(text: str, at: int, quote: str) -> int:
    """Where a literal ends; a backslash takes the next character with it, in a raw one too."""
    found = re.compile(rf"\\.|{quote}", re.DOTALL).finditer(text, at)
    return next((it.end() for it in found if it.group() == quote), -1)


def _unescaped(inner: Embedded, quote: str, raw: bool, line_end: str, *, braces: bool) -> Embedded:
    """The value of a literal's inside; where ``braces`` mean something none may come of an
    escape."""
    pieces, indexes = list[str](), array("q")
    for match in (_RAW_PIECE if raw else _PIECE).finditer(inner.text):
        value = _value(match)
        if braces and match.lastgroup != "char" and ("{" in value or "}" in value):
            raise Unmapped(f"{match.group()} stands for a brace")
        if value:
            pieces.append(value)
            indexes.append(match.start())
    indexes.append(len(inner.text))
    return inner.read_as("".join(pieces), indexes, Literal(quote, raw, line_end))


def _value(match: re.Match[str]) -> str:
    kind, found = match.lastgroup, match[match.lastgroup or 0]
    match kind:
        case "char":
            return found
        case "end":
            return "\n"  # as Python reads any end of a line
        case "line":
            return ""
        case "sign":
            return _SIGNS[found]
        case "octal":
            return chr(int(found, 8))
        case "name":
            try:
                return unicodedata.lookup(found)
            except KeyError:
                raise Unmapped(f"{match.group()} names no character") from None
    return chr(int(found, 16))


def with_holes(value: Embedded, filled: str) -> tuple[Embedded, str]:
    """The text that a filled one is, with ``${name}`` for each hole, and its stretches between the
    holes, with NUL for each. Raises Unmapped."""
    pieces, indexes, holes = list[str](), array("q"), dict[str, str]()
    between = list[str]()
    for piece, start, hole in _pieces(value.text, filled):
        shown = _shown(piece, hole, holes) if hole else piece
        pieces.append(shown)
        between.append("\0" if hole else piece)
        # All of a hole stands where it begins: nothing is inserted inside of it.
        indexes.extend([start] * len(shown) if hole else range(start, start + len(piece)))
    indexes.append(len(value.text))
    skeleton = "".join(between)
    if holes and re.search(r"\$[{\0]", skeleton):
        raise Unmapped("a variable of Spark's stands beside the holes of Python")
    way = Filled(tuple(holes.items()), "%" if filled == "%" else "{}")
    return value.read_as("".join(pieces), indexes, way), skeleton


def _pieces(text: str, filled: str) -> Iterator[tuple[str, int, str]]:
    """The stretches of a text that is filled: what stands there, where, and the name of a hole."""
    done = 0
    for match in (_PERCENT if filled == "%" else _BRACES).finditer(text):
        yield text[done : match.start()], done, ""
        done, written = match.end(), match.group()
        if written in ("{{", "}}", "%%"):
            yield written[0], match.start(), ""
            continue
        body = match["body"]
        name = _BODIES[filled].fullmatch(body) if body is not None else None
        if name is None:
            raise Unmapped(f"{written} {_WANTED[filled]}")
        yield written, match.start(), name["name"]
    yield text[done:], done, ""


def _shown(written: str, name: str, holes: dict[str, str]) -> str:
    """What a hole is read as; holes that are written otherwise may have other values."""
    plain = re.sub(r"[^\w.]+", "_", name).strip("_")
    number, shown = 1, f"${{{plain}}}"
    while holes.setdefault(shown, written) != written:
        number += 1
        shown = f"${{{plain}_{number}}}"
    return shown


def line_end(text: str) -> str:
    """How a text ends its lines: as its first one."""
    found = LINE_END.search(text)
    return found.group() if found else "\n"
