"""Python literals that hold SQL: their value, and where each of its characters is in the file.

In: literals side by side, or joined with variables by ``+``, and how their holes are filled
(``f"{x}"``, ``.format``, ``%``). Out: the SQL with ``${x}`` for each hole: a constant of unknown
value, the same for all holes that are written alike. Raises Unmapped, with the reason, if the place
of a character is not certain. Insertions are escaped as the literal needs; Unwritable is raised for
one that it cannot hold (a quote that would end a raw literal).
"""

from __future__ import annotations

import ast
import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from sqlrewrite.text.hosts.region import Embedded, Escape, Unwritable, joined
from sqlrewrite.text.source import LINE_END


class Unmapped(Exception):  # noqa: N818 - named as Unwritable is
    """The places of a text's characters in the file are not known; the message says why."""


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
_PERCENT = re.compile(r"%%|%(?P<body>(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[a-zA-Z])|%")
_KEY = r"""\[(?:'[^'\\]*'|"[^"\\]*"|\d+)\]"""
_BODIES = {
    "f": re.compile(rf"\s*(?P<name>{_DOTTED}(?:{_KEY})*)\s*(?:![rsa])?(?::[^'\"\\]*)?"),
    "{": re.compile(rf"(?P<name>{_DOTTED}|\d+)?(?:![rsa])?(?::[^'\"\\]*)?"),
    "%": re.compile(r"(?:\((?P<name>\w+)\))?.+"),
}
_HOLES = {"f": _BRACES, "{": _BRACES, "%": _PERCENT}
_DOUBLED = {"f": "{}", "{": "{}", "%": "%", "": ""}
_VARIABLE = "variable"
_NAME = rf"{_DOTTED}(?:{_KEY})*"
_ADDED = re.compile(rf"(?P<name>{_NAME})|str\(\s*(?P<inner>{_NAME})\s*\)")
_BETWEEN = re.compile(r"(?:\s|\\\r?\n|#[^\r\n]*)*")


class Operand(Struct, frozen=True, eq=False):
    """An operand of ``+``: literals side by side (``"a" f"{b}"``), or a variable."""

    source: Embedded
    literal: bool = True


_Part = tuple[Embedded, str]
"""A part of a text and how its holes are filled: ``f``, ``{``, ``%``, an empty string for no holes,
``variable`` for one that is a hole itself."""


def sql_of(operands: Sequence[Operand], filled: str, line_end: str) -> tuple[Embedded, str]:
    """The SQL of a sum of operands, with ``${name}`` for each hole; and the same with NUL for each.
    ``filled``: ``{`` (by ``format``), ``%``, or empty if only f-strings have holes. Raises
    Unmapped."""
    holes: dict[str, str] = {}
    added = (operand.source for operand in operands if not operand.literal)
    splices = {_shown(variable.text, _added(variable), holes): variable.text for variable in added}
    parts: list[_Part] = []
    for operand in operands:
        if operand.literal:
            parts += _literals(operand.source, filled, line_end, splices)
        else:
            parts.append((operand.source, _VARIABLE))
    if filled:  # a hole may begin in one literal and end in the next
        parts = [(joined([value for value, _ in parts]), filled)]
    return _with_holes(parts, holes, splices)


def _added(source: Embedded) -> str:
    """The name of a variable between literals. Raises Unmapped for another expression."""
    match = _ADDED.fullmatch(source.text)
    if match is None:
        raise Unmapped(f"`{' '.join(source.text.split())[:60]}` is not a variable")
    return match["name"] or match["inner"]


def _literals(
    source: Embedded, filled: str, line_end: str, splices: Mapping[str, str]
) -> Iterator[_Part]:
    """The values of literals side by side, holes not filled yet. Raises Unmapped."""
    at, end = 0, len(source.text)
    while at < end:
        opens = _OPENS.match(source.text, at)
        close = _end(source.text, opens.end(), opens["quote"]) if opens is not None else -1
        if opens is None or close < 0:
            raise Unmapped("it is not a string literal")
        quote, prefix = opens["quote"], (opens["prefix"] or "").lower()
        inner = source.cut(opens.end(), close - len(quote))
        raw, own = "r" in prefix, "f" if "f" in prefix else filled
        written = partial(_in_raw_literal if raw else _in_literal, quote, line_end)
        both = (written, partial(_write_spliced, opens.group(), quote, splices))
        yield _unescaped(inner, raw, both, braces=own == "f"), own
        between = _BETWEEN.match(source.text, close)
        assert between is not None
        at = between.end()


def _end(text: str, at: int, quote: str) -> int:
    """The end of a literal. In a raw literal too, a backslash escapes a quote."""
    signs = re.compile(rf"\\.|{quote}", re.DOTALL).finditer(text, at)
    return next((sign.end() for sign in signs if sign.group() == quote), -1)


def _unescaped(inner: Embedded, raw: bool, outer: tuple[Escape, ...], *, braces: bool) -> Embedded:
    """A literal's value. Raises Unmapped if ``braces`` begin holes and an escape stands for a
    brace."""
    pieces, indexes = list[str](), array("q")
    for match in (_RAW_PIECE if raw else _PIECE).finditer(inner.text):
        value = _value(match)
        if braces and match.lastgroup != "char" and ("{" in value or "}" in value):
            raise Unmapped(f"the escape `{match.group()}` stands for a brace")
        if value:
            pieces.append(value)
            indexes.append(match.start())
    indexes.append(len(inner.text))
    return inner.read_as("".join(pieces), indexes, *outer)


def _value(match: re.Match[str]) -> str:
    kind, written = match.lastgroup, match[match.lastgroup or 0]
    match kind:
        case "char":
            return written
        case "end":
            return "\n"  # Python reads each line end in a literal as \n
        case "line":
            return ""
        case "sign":
            return _SIGNS[written]
        case "octal":
            return chr(int(written, 8))
        case "name":
            try:
                return unicodedata.lookup(written)
            except KeyError:
                raise Unmapped(f"the escape `{match.group()}` names no character") from None
    return chr(int(written, 16))


def _with_holes(
    parts: Sequence[_Part], holes: dict[str, str], splices: Mapping[str, str]
) -> tuple[Embedded, str]:
    """The parts as one text, with a name for each hole; and the same with NUL for each."""
    split = [[*_split_at_holes(*part, holes)] for part in parts]
    texts = list[Embedded]()
    for (value, filled), pieces in zip(parts, split, strict=True):
        indexes = array("q")
        for shown, start, hole in pieces:
            # All characters of a hole have the offset of its first: nothing is inserted inside.
            indexes.extend([start] * len(shown) if hole else range(start, start + len(shown)))
        indexes.append(len(value.text))
        # A plain literal beside an f"…" cannot use that one's variables.
        fitting = {name: hole if filled else "" for name, hole in holes.items()}
        written = {**fitting, **{name: name for name in splices}}
        way = partial(_write_filled, written, _DOUBLED.get(filled, ""))
        outer = _outside if filled == _VARIABLE else way
        texts.append(value.read_as("".join(piece for piece, _, _ in pieces), indexes, outer))
    skeleton = "".join("\0" if hole else piece for pieces in split for piece, _, hole in pieces)
    if holes and re.search(r"\$[{\0]", skeleton):
        raise Unmapped("it has both Spark's variables, as `${x}`, and values that Python fills in")
    return joined(texts), skeleton


def _split_at_holes(
    value: Embedded, filled: str, holes: dict[str, str]
) -> Iterator[tuple[str, int, bool]]:
    """The pieces of a part: the SQL, its offset in the value, and whether it is a hole. A hole that
    is filled by position gets a name of its own, and cannot be repeated."""
    text, end = value.text, 0
    if filled == _VARIABLE:
        yield _shown(text, _added(value), holes), 0, True
        return
    for match in _HOLES[filled].finditer(text) if filled else ():
        yield text[end : match.start()], end, False
        end, written = match.end(), match.group()
        if written in ("{{", "}}", "%%"):
            yield written[0], match.start(), False
            continue
        body = match["body"]
        hole = _BODIES[filled].fullmatch(body) if body is not None else None
        if hole is None:
            raise Unmapped(f"`{written}` is not a variable")
        if hole["name"]:
            yield _shown(written, hole["name"], holes), match.start(), True
        else:
            yield _shown("", str(len(holes) + 1), holes), match.start(), True
    yield text[end:], end, False


def _shown(written: str, name: str, holes: dict[str, str]) -> str:
    """The name of a hole in the SQL. Holes with different expressions have different names."""
    plain = re.sub(r"[^\w.]+", "_", name).strip("_")
    number, shown = 1, f"${{{plain}}}"
    while holes.setdefault(shown, written) != written:
        number += 1
        shown = f"${{{plain}_{number}}}"
    return shown


def line_end(text: str) -> str:
    """The line end of a text's first line."""
    end = LINE_END.search(text)
    return end.group() if end else "\n"


def _in_literal(quote: str, line_end: str, text: str) -> str:
    """An insertion escaped for a literal in one or three of ``quote``; ``line_end`` is the
    file's."""
    text = text.replace("\\", "\\\\").replace("\r\n", "\n").replace("\r", "\\r")
    sign = quote[0]
    if len(quote) == 1:
        return text.replace(sign, f"\\{sign}").replace("\n", "\\n")
    # A lone quote does not end a literal in three quotes; one beside another quote might.
    text = re.sub(rf"(?<![^{sign}]){sign}|{sign}(?![^{sign}])", rf"\\{sign}", text)
    return text.replace("\n", line_end)


def _in_raw_literal(quote: str, line_end: str, text: str) -> str:
    """An insertion for a raw literal: unchanged. Raises Unwritable if Python would read another
    text."""
    plain = LINE_END.sub("\n", text)
    try:
        same = ast.literal_eval(f"r{quote} {plain} {quote}") == f" {plain} "
    except (SyntaxError, ValueError):
        same = False
    if not same:
        raise Unwritable(f"a raw literal between {quote} cannot hold its quotes")
    return plain.replace("\n", line_end)


def _write_filled(holes: Mapping[str, str], doubled: str, text: str) -> str:
    """An insertion for a text with holes: each ``${name}`` becomes its hole again, and characters
    of ``doubled`` (braces or ``%``), which would begin a hole, are doubled. Raises Unwritable for a
    hole that cannot be repeated there."""
    signs = [*map(re.escape, holes), *([f"[{doubled}]"] if doubled else [])]

    def written(match: re.Match[str]) -> str:
        hole = holes.get(match.group())
        if hole == "":
            raise Unwritable(
                "a value given by position, or in another literal, has no name to repeat"
            )
        return match.group() * 2 if hole is None else hole

    return re.sub("|".join(signs), written, text) if signs else text


def _write_spliced(opens: str, quote: str, variables: Mapping[str, str], text: str) -> str:
    """An insertion with variables joined by ``+``: the literal ends before each, and ``opens``
    after it."""
    for shown, variable in variables.items():
        text = text.replace(shown, f"{quote} + {variable} + {opens}")
    return text


def _outside(_: str) -> str:
    """Raises Unwritable: a variable beside literals has no text to insert into."""
    raise Unwritable("a variable stands there, and no string literal")
