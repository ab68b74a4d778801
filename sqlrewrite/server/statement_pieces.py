"""Splits a text at its semicolons, so that a keystroke costs only the statement that it is in.

In: a text, and its pieces before the last change. Out: its pieces, which joined are the text and
each of which means the same as within it. Where that is not certain the text is one piece.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind, lexemes
from sqlrewrite.sql.lex.tokens import lexemes_of_statements
from sqlrewrite.sql.statements.directives import SIGN

# A template for a value or a name, in which a lexer of SQL meets nothing that continues after it:
# no comment, no semicolon, no string without its end.
_CALL = re.compile(
    r"\{\{(?!-)(?:[\w\s.,=()|]|-(?!-|\}\})|'(?:[\w\s.%:]|-(?!-))*+'|\"(?:[\w\s.%:]|-(?!-))*+\")*+\}\}"
)

# What affects the statements around it: template blocks, scripts, notes beside literals, and the
# line that would make a notebook of a piece that begins with it.
_WHOLE = re.compile(
    r"\{[{%#]|\bbegin\b|\$\{?[^\w{]|/\* keys as of |(?<=\S)\s*-- Databricks notebook source",
    re.IGNORECASE,
)
_SIGN = re.compile(rf"{SIGN}[ \t]*(?P<kind>[\w-]*)")
_LINE_END = re.compile(r"[\r\n]")


def pieces(text: str, before: Sequence[str] = ()) -> list[str]:
    """The pieces of a text. Those at its beginning and end that it had ``before`` are not lexed
    again."""
    if _WHOLE.search(_CALL.sub("", text)) or not _has_local_comments(text):
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


def _has_local_comments(text: str) -> bool:
    """Whether each of our comments stands in the statement that it is about."""
    if SIGN not in text:
        return True
    at = 0
    for sign in _SIGN.finditer(text):
        before = _LINE_END.split(text[at : sign.start()])[-1]
        if sign["kind"] != "ignore" or ";" in before:
            return False
        at = sign.end()
    return True


def _cut(text: str) -> tuple[list[str], bool]:
    """The pieces of a text, and whether the last of them ends there."""
    found, start = list[str](), 0
    for part in lexemes_of_statements(text, lexemes(text)):
        kind, _, end = part[-1]
        if kind == LexemeKind.SEMICOLON and not _ends_in_hint(text, part):
            found.append(text[start:end])
            start = end
    if start < len(text):
        found.append(text[start:])
    return found, start == len(text)


def _ends_in_hint(text: str, part: Sequence[Lexeme]) -> bool:
    """Whether a hint is still open at the end of a statement, and so includes what follows."""
    inside = False
    for kind, begins, _ in part:
        inside = kind == LexemeKind.HINT or (inside and not text.startswith("*/", begins))
    return inside
