"""Switches for the two lexers: each alternative of the expressions taken away or widened, each
reason for which the lexers part passed over. A text of ``tests/sql/test_lexemes.py`` must be read
otherwise then; that those texts are read as Spark does is asked of Spark by
``tests.referee.tokens``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import TokenType

from sqlrewrite.sql.lex import agreement, lexemes, tokens
from tests.sql import test_lexemes

NEVER = "(?!)"
_OF_AGREEMENT = (
    *("with_joined_tokens", "may_join_words", "difference", "continued_comment"),
    *("_same", "_rest_of_command", "_goes_on", "_of_two_words", "_behind_hint"),
)

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

# The same of the expression of the texts that no two lexers read differently.
PLAIN = {
    "a name before a colon, a quote or a letter beyond ASCII": (
        r"""(?!:[^:]|['"]|[^\x00-\x7f])""",
        "",
    ),
    "*/ is none": (r"[(),;+%] | \*(?!/)", r"[(),;+%] | \*"),
    "/* and // are none": (r"/(?![/*])", "/"),
    "-- and -> are none": (r"-(?![->|])", "-"),
    "a point before a digit": (r"\.(?=[A-Za-z_`*])", r"\."),
    "a string before a quote": ("""*+'(?!['"])""", "*+'"),
    ":: before a colon or =": (r"::(?![:=])", "::"),
    "a number before a letter or a point": (r"(?![\w.]|[^\x00-\x7f])", ""),
    "== and => are none": ("| =(?![=>])", "| ="),
    "<=> is none": ("[<>!]=(?![=>])", "[<>!]="),
    "<>= is none": ("<>(?!=)", "<>"),
    "<< is none": ("<(?![<>=-])", "<"),
    ">> is none": (">(?![>=])", ">"),
    "||| is none": (r"\|\|(?![|>])", r"\|\|"),
    "a doubled backquote": ("`[^`]++`(?!`)", "`[^`]++`"),
    "a backslash in a line comment": (r"--[^\r\n\\]*+", r"--[^\r\n]*+"),
    "a comment that begins like another": (r"/\*(?![+/*])", r"/\*(?!\+)"),
    "a comment in a comment": (
        r"/\*(?![+/*])[^*/]*+(?:(?:\*(?!/)|/(?!\*))",
        r"/\*(?![+/*])[^*/]*+(?:(?:\*(?!/)|/)",
    ),
    "a hint elsewhere": (r"(?i:(?<=\bSELECT\ ))", ""),
    "a string in a hint": (r"[\w\s(),.]*+", r"[\w\s(),.'*/]*?"),
}


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing that is read otherwise: its name, and how."""

    name: str
    off: Callable[[], Any]


def switches() -> Iterator[Switch]:
    """All of them."""
    yield from _of_expressions("lexeme", LEXEME, _lexeme)
    yield from _of_expressions("plain", PLAIN, _plain)
    for module, label, names in (
        (lexemes, "odd", ("_comment", "_CODE", "_SHIFTED", "_NUMBER", "_in_link")),
        (agreement, "agreement", _OF_AGREEMENT),
    ):
        for name in names:
            yield Switch(f"{label}: {name}", partial(_replaced, module, name, _NONE[name]))
    words = agreement._OF_WORDS
    for word in sorted(words, key=str):
        less = partial(_replaced, agreement, "_OF_WORDS", words - {word})
        yield Switch(f"agreement: two words {word.name}", less)
    for kind in (TokenType.HEX_STRING, TokenType.RAW_STRING, TokenType.IDENTIFIER):
        kinds = {it: meant for it, meant in agreement._KINDS.items() if it is not kind}
        less = partial(_replaced, agreement, "_KINDS", kinds)
        yield Switch(f"agreement: kind {kind.name}", less)


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
    "with_joined_tokens": lambda text, found: found,
    "may_join_words": lambda text: False,
    "difference": _nothing,
    "continued_comment": _nothing,
    "_same": lambda *_: True,
    "_rest_of_command": lambda *_: False,
    "_goes_on": lambda *_: False,
    "_of_two_words": _nothing,
    "_behind_hint": lambda text, found, at: at,
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


@contextmanager
def _plain(old: str, new: str) -> Iterator[None]:
    pattern = lexemes._PLAIN
    assert pattern.pattern.count(old) == 1, old
    changed = re.compile(pattern.pattern.replace(old, new), pattern.flags)
    with _replaced(lexemes, "_PLAIN", changed):
        yield


def reading() -> dict[str, object]:
    """How each text of ``tests/sql/test_lexemes.py`` is read, as far as its tests ask."""
    found: dict[str, object] = {}
    for text in test_lexemes.LEXED:
        found[f"lexemes {text}"] = [text[start:end] for _, start, end in lexemes.lexemes(text)]
    for text, _ in test_lexemes.KINDS:
        found[f"kind {text}"] = lexemes.lexemes(text)
    for text in (*test_lexemes.ALIKE, *test_lexemes.PART):
        read, differences = tokens.read(text)
        told = [(difference.offset, difference.endless) for difference in differences]
        found[f"read {text}"] = (told, [(token.start, token.end, token.text) for token in read])
    for text in (*test_lexemes.PLAIN, *test_lexemes.NOT_PLAIN):
        found[f"plain {text}"] = lexemes.plain(text)
    return found
