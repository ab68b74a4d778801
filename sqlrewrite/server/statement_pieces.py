"""A text cut at its semicolons, so that a keystroke costs the statement that it is in.

In: a text, and the pieces that it had before. Out: its pieces, which make the text again and each
of which reads as it reads in the whole. Where that is not sure the text is one piece.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind, lexemes
from sqlrewrite.sql.lex.tokens import statements
from sqlrewrite.sql.statements.directives import SIGN

# A template that stands for a value or a name, in which a lexer of SQL meets nothing that goes on
# behind it: no comment, no semicolon, each string with its end.
_CALL = re.compile(
    r"\{\{(?!-)(?:[\w\s.,=()|]|-(?!-|\}\})|'(?:[\w\s.%:]|-(?!-))*+'|\"(?:[\w\s.%:]|-(?!-))*+\")*+\}\}"
)

# What bears on statements around it: blocks of templates, scripts, notes beside literals, and the
# line that would make a notebook of a piece that begins with it.
_WHOLE = re.compile(
    r"\{[{%#]|\bbegin\b|\$\{?[^\w{]|/\* keys as of |(?<=\S)\s*-- Databricks notebook source",
    re.IGNORECASE,
)
_SIGN = re.compile(rf"(?P<before>[^\r\n]*){SIGN}[ \t]*(?P<kind>[\w-]*)")


def pieces(text: str, before: Sequence[str] = ()) -> list[str]:
    """The pieces of a text; those at its beginning and end that are as they were ``before`` are not
    looked through again."""
    if _WHOLE.search(_CALL.sub("", text)) or not _of_its_own(text):
        return [text]
    first, start, most = 0, 0, len(before) - 1  # the last one may go on
    while first < most and text.startswith(before[first], start):
        start += len(before[first])
        first += 1
    last, end = len(before), len(text)
    while last > first and end - len(before[last - 1]) >= start:
        if not text.endswith(before[last - 1], start, end):
            break
        last -= 1
        end -= len(before[last])
    found, closed = _cut(text[start:end])
    if last < len(before) and not closed:  # it goes on in what was behind it
        found, last = _cut(text[start:])[0], len(before)
    return [*before[:first], *found, *before[last:]]


def _of_its_own(text: str) -> bool:
    """Whether each comment that speaks to us stands in the statement that it is about."""
    if SIGN not in text:
        return True
    return all(it["kind"] == "ignore" and ";" not in it["before"] for it in _SIGN.finditer(text))


def _cut(text: str) -> tuple[list[str], bool]:
    """The pieces of a text, and whether the last of them ends there."""
    found, start = list[str](), 0
    for part in statements(text, lexemes(text)):
        kind, _, end = part[-1]
        if kind == LexemeKind.SEMICOLON and not _hints(text, part):
            found.append(text[start:end])
            start = end
    if start < len(text):
        found.append(text[start:])
    return found, start == len(text)


def _hints(text: str, part: Sequence[Lexeme]) -> bool:
    """Whether a hint is open at the end of a statement, and takes in what is behind it."""
    inside = False
    for kind, begins, _ in part:
        inside = kind == LexemeKind.HINT or (inside and not text.startswith("*/", begins))
    return inside
