"""Tokens by the rules of Spark's ``SqlBaseLexer.g4``, without comments and hints."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlrewrite.frozen import dataclass


class UnreadError(Exception):
    """The text is not in the part of Spark's grammar that is read here."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``word`` is a keyword or plain name in upper case, else ``""``.

    ``kind`` is ``word``, ``quoted`` (a name in backquotes), ``string``, ``double`` (a string in
    double quotes), ``number``, ``sign``, ``unknown`` or ``end``; ``text`` is what it stands for,
    and ``start`` and ``end`` where it stands.
    """

    kind: str
    text: str
    word: str
    start: int
    end: int


_NUMBER = r"(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF])?(?!\w)"
_TOKEN = re.compile(
    rf"""(?P<space>\s+|--(?:\\\n|[^\r\n])*)
    |(?P<block>/\*)
    |(?P<raw>[rR](?:'[^']*'|"[^"]*"))
    |(?P<string>'(?:[^'\\]|\\.|'')*')
    |(?P<double>"(?:[^"\\]|\\.|"")*")
    |(?P<quoted>`(?:[^`]|``)*`)
    |(?P<number>{_NUMBER})
    |(?P<word>\w+)
    |(?P<sign><=>|<=|<>|>=|>>>|>>|<<|==|!=|!<|!>|\|\||\|>|->|=>|::|[-+*/%~&|^<>=!(){{}}\[\],.;:?])""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


@lru_cache(maxsize=8)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, the last of kind ``end``. A statement is read more than once: for its
    first word, for its head, and for its query."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # no rule of the grammar reads it
            found.append(Token("unknown", text[at], "", at, at + 1))
            at += 1
            continue
        kind, said = match.lastgroup, match[0]
        if kind == "block":
            at = _behind_comment(text, at)
            continue
        end = match.end()
        if kind == "raw":
            quote = "string" if said[1] == "'" else "double"
            found.append(Token(quote, said[2:-1], "", at, end))
        elif kind in ("string", "double"):
            found.append(Token(kind, _unescaped(said), "", at, end))
        elif kind == "quoted":
            found.append(Token(kind, said[1:-1].replace("``", "`"), "", at, end))
        elif kind == "number" and found and said[0] == "." and _touches(found[-1], at):
            end = at + 1  # `a.1b`: a name may begin with a digit
            found.append(Token("sign", ".", "", at, end))
        elif kind in ("word", "number", "sign"):
            found.append(Token(kind, said, said.upper() if kind == "word" else "", at, end))
        at = end
    found.append(Token("end", "", "", len(text), len(text)))
    return tuple(found)


def _touches(before: Token, at: int) -> bool:
    return before.end == at and before.kind in ("word", "quoted")


def _behind_comment(text: str, at: int) -> int:
    """The place behind a bracketed comment, which may hold others."""
    depth = 0
    for it in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if it[0] == "/*" else -1
        if depth == 0:
            return it.end()
    return len(text)


def _unescaped(said: str) -> str:
    """What a string stands for: Spark's ``unescapeSQLString``, with a doubled quote as one."""
    quote, body = said[0], said[1:-1]

    def one(found: re.Match[str]) -> str:
        code = found[1]
        if code in "%_":
            return found[0]
        if len(code) == 3:
            return chr(int(code, 8))
        if len(code) > 3:
            return chr(int(code[1:], 16))
        return _ESCAPED.get(code, code)

    if "\\" not in body:
        return body.replace(quote * 2, quote)
    pattern = re.compile(rf"{_ESCAPE.pattern}|({quote}{quote})", re.DOTALL)
    return pattern.sub(lambda it: quote if it[2] else one(it), body)
