"""Switches for the lexer: each alternative of the expressions taken away or widened, each step by
which lexemes become tokens passed over. A text of ``tests/sql/test_lexemes.py`` must be read
otherwise then; that they are read as Spark does is asked of Spark by ``tests.referee.tokens``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlrewrite.sql.lex import lexemes, tokens
from tests.sql import test_lexemes

NEVER = "(?!)"
_OF_TOKENS = ("_continued_comment", "_rest_of_command", "_closes", "_HEX", "string_value")

# What stands in the expression of the lexemes, and what it is made.
LEXEME = {
    "white space beyond ASCII": (r"\f\r\v\u00A0\u1680\u2000-\u200A\u2028\u202F\u205F\u3000", r"\r"),
    "a line comment goes on behind a backslash": (r"(?:\\\n|[^\r\n])", r"[^\r\n]"),
    "a hint is no comment": (r"/\*(?!\+)[^*/]", r"/\*[^*/]"),
    "a comment in a comment": (r"(?:\*(?!/)|/(?!\*))", r"(?:\*(?!/)|/)"),
    "a point behind digits": (r"[0-9]++\.[0-9]*+|\.", r"[0-9]++\.[0-9]++|\."),
    "a point before digits": (r"|\.[0-9]++)", ")"),
    "an exponent behind a fraction": (r"\.[0-9]++) (?:[eE][+-]?[0-9]++)?", r"\.[0-9]++)"),
    "no letter behind a fraction": (r"(?![\wſı])", ""),
    "an exponent with a sign": (r"[eE][+-][0-9]++", NEVER),
    "a suffix of an integer": ("[lLsSyY]", NEVER),
    "an exponent without a sign": (r"(?:[eE][0-9]++)?", ""),
    "a name begins with digits": (r"(?!\w|[^\x00-\x7f]) ) )", ") )"),
    "a raw string is no name": (r"""(?![rR]['"])""", ""),
    "a name with letters beyond ASCII": (r"(?![^\x00-\x7f]|://)", "(?!://)"),
    "a link": (r"(?![^\x00-\x7f]|://)", r"(?![^\x00-\x7f])"),
    "the end of a hint": (r"(?<!\*(?=/))", ""),
    "<=>": ("<=> |", ""),
    "<< <= <>": ("<[=<>]?", "<"),
    "== =>": ("==|=>|=", "="),
    "!= !< !>": ("![=<>]?", "!"),
    ">=": (">=|", ""),
    "no >>=": (">(?!>*=)", ">"),
    "|| |>": (r"\|[|>]?", r"\|"),
    "->": ("->?", "-"),
    "::": ("::?", ":"),
    "@v": ("@[vV]?", "@"),
    "*/": (r"\*/ | /(?!\*)", r"/(?!\*)"),
    "a comment without its end": (r"\*/ | /(?!\*) )", r"\*/ | / )"),
    "a backslash in a string": (r"""'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'""", "'[^']*+'"),
    "a doubled quote": (r"(?:\\.|'')", r"(?:\\.)"),
    "a raw string": (r"""[rR](?:'[^']*+'|"[^"]*+")""", NEVER),
    "a string in double quotes": (r'''"[^"\\]*+(?:(?:\\.|"")[^"\\]*+)*+"''', NEVER),
    "a doubled double quote": (r"""(?:\\.|"")""", r"(?:\\.)"),
    "a name in backquotes": ("`[^`]*+(?:``[^`]*+)*+`", "`[^`]*+`"),
    "a semicolon": ("( ; )", f"( {NEVER} )"),
    "a hint": (r"( /\*\+ )", f"( {NEVER} )"),
}


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing that is read otherwise: its name, and how."""

    name: str
    off: Callable[[], Any]


def switches() -> Iterator[Switch]:
    """All of them."""
    yield from _of_expressions("lexeme", LEXEME, _lexeme)
    for module, label, names in (
        (lexemes, "odd", ("_comment", "_CODE", "_SHIFTED", "_NUMBER", "_in_link")),
        (tokens, "tokens", _OF_TOKENS),
    ):
        for name in names:
            yield Switch(f"{label}: {name}", partial(_replaced, module, name, _NONE[name]))
    words = tokens._OF_TWO_WORDS
    for first, seconds in words.items():
        for second in seconds:
            fewer = {pair: kind for pair, kind in seconds.items() if pair != second}
            less = partial(_replaced, tokens, "_OF_TWO_WORDS", words | {first: fewer})
            yield Switch(f"tokens: two words {first} {second}", less)


def _of_expressions(
    label: str, changes: dict[str, tuple[str, str]], changed: Callable[[str, str], Any]
) -> Iterator[Switch]:
    for name, (old, new) in changes.items():
        yield Switch(f"{label}: {name}", partial(changed, old, new))


def _nothing(*_: object) -> None:
    return None


_NONE: dict[str, Any] = {
    "_comment": lambda text, at: (lexemes.LexemeKind.UNKNOWN, len(text)),
    "_CODE": re.compile(NEVER),
    "_SHIFTED": re.compile(NEVER),
    "_NUMBER": re.compile(NEVER),
    "_in_link": lambda sign: False,
    "_continued_comment": _nothing,
    "_rest_of_command": lambda text, part, at: ([], at),
    "_closes": lambda *_: True,
    "_HEX": re.compile(NEVER),
    "string_value": lambda written: written[1:-1],
}


@contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


@contextmanager
def _lexeme(old: str, new: str) -> Iterator[None]:
    assert lexemes._LEXEME.count(old) == 1, old
    changed = re.compile(lexemes._LEXEME.replace(old, new), re.VERBOSE | re.DOTALL | re.ASCII)
    with _replaced(lexemes, "_lexeme", lambda: changed):
        yield


def reading() -> dict[str, object]:
    """How each text of ``tests/sql/test_lexemes.py`` is read, as far as its tests ask."""
    answers: dict[str, object] = {}
    for text in test_lexemes.LEXED:
        answers[f"lexemes {text}"] = [text[start:end] for _, start, end in lexemes.lexemes(text)]
    for text, _ in test_lexemes.KINDS:
        answers[f"kind {text}"] = lexemes.lexemes(text)
    for text in (*test_lexemes.READ, *test_lexemes.UNREADABLE):
        read, unreadable = tokens.read(text)
        places = [(place.offset, place.endless) for place in unreadable]
        answers[f"read {text}"] = (places, [(token.start, token.end, token.text) for token in read])
    return answers
