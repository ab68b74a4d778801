"""The tokens of a plain text, as sqlglot gives them, by one regular expression.

Where it is not compiled, sqlglot's tokenizer goes from character to character, which is a third of
what parsing takes. A text that is ``plain`` (``lexemes.py``) leaves no lexer a choice, and its
tokens are told apart here in a third of that time. `tests/sql/test_lexemes.py` compares both.
"""

from __future__ import annotations

import re
from functools import cache

import sqlglot.parser
from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

COMPILED = not str(sqlglot.parser.__file__).endswith(".py")
"""Whether sqlglot's own tokenizer is the quicker one."""

_KEYWORDS = Spark.Tokenizer.KEYWORDS
_COMMANDS = Spark.Tokenizer.COMMANDS
_VAR, _NUMERIC, _SEMICOLON = TokenType.VAR, TokenType.NUMBER, TokenType.SEMICOLON
_SIGNS = {**Spark.Tokenizer.SINGLE_TOKENS, **_KEYWORDS}

_WORD, _SIGN, _NUMBER, _STRING, _NAME, _COMMENT, _ODD, _END = range(1, 9)
_TOKEN = re.compile(
    r"""
    [ \t\r\n]*+
    (?: ([A-Za-z_]\w*+)
      | ([(),;+%=.] | [<>!]= | <> | [<>*] | ::? | \|\| | -(?!-) | /(?!\*))
      | ([0-9][0-9.]*+)
      | ('[^']*+')
      | (`[^`]++`)
      | (--[^\r\n]*+ | /\*.*?\*/)
      | (.)
      | (\Z)
    )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_LINE_END = re.compile(r"[\r\n]")

# The keywords of several words, by the first: an expression of what follows it.
_REST: dict[str, str] = {}
for _words in sorted(_KEYWORDS):  # the longest last, so that it comes first in its expression
    _first, _space, _rest = re.split(r"(\W|\Z)", _words, maxsplit=1)
    if _first and _space:
        _rest = rf"\s+{_rest}(?!\w)" if _space == " " else _space + _rest
        _REST[_first] = _rest + (f"|{_REST[_first]}" if _first in _REST else "")

# What a word is; None where that takes more than the word.
_KINDS: dict[str, TokenType | None] = {
    word: None if word in _REST or kind in _COMMANDS else kind
    for word, kind in (dict.fromkeys(_REST, TokenType.VAR) | _KEYWORDS).items()
}


def quick(text: str) -> list[Token] | None:
    """sqlglot's tokens of a plain text, as if it were one line; None for one with an escape, a hint
    of several lines, a command whose rest sqlglot takes for one string, or a sign that is none of
    these."""
    if "\\" in text:
        return None
    tokens: list[Token] = []
    comments: list[str] = []
    behind = 0  # the end of the last token, with the comments in its line
    for match in _TOKEN.finditer(text):
        group = match.lastindex or _END
        start, end = match.span(group)
        if start < behind:
            continue
        said = match[group]
        if group == _WORD:
            kind = _KINDS.get(said.upper(), _VAR)
            if kind is None:
                found = _phrase(text, start, end)
                if found is None:
                    return None
                kind, said, end = found
        elif group == _SIGN:
            kind = _SIGNS[said]
        elif group == _NUMBER:
            kind = _NUMERIC
        elif group == _COMMENT:
            comments.append(said[2:] if said[0] == "-" else said[2:-2])
            if said.startswith("/*+"):
                if "\n" in said or not tokens or tokens[-1].token_type is not TokenType.SELECT:
                    return None
                comments[-1], behind = said[3:-2], start
                tokens.append(Token(TokenType.HINT, said, 1, end, start, end - 1))
            if tokens and not _LINE_END.search(text, behind, start):
                tokens[-1].comments.extend(comments)
                comments, behind = [], end
            continue
        elif group == _ODD:
            return None
        elif group == _END:
            break
        else:
            kind, said = TokenType.STRING if group == _STRING else TokenType.IDENTIFIER, said[1:-1]
        if comments and kind is _SEMICOLON and tokens:
            tokens[-1].comments.extend(comments)
            comments = []
        tokens.append(Token(kind, said, 1, end, start, end - 1, comments))
        comments, behind = [], end
    if tokens:
        tokens[-1].comments.extend(comments)
    return tokens


def _phrase(text: str, start: int, end: int) -> tuple[TokenType, str, int] | None:
    """The kind, text and end of what begins with a word that may be the first of several."""
    word = text[start:end].upper()
    rest = _others(word).match(text, end) if word in _REST else None
    said = word if rest is None else " ".join((word + rest[0].upper()).split())
    kind = _KEYWORDS.get(said, TokenType.VAR)
    blank = rest is None or (rest[0][0] == " " and rest[0].isprintable())
    if kind in _COMMANDS or not blank:  # USER-DEFINED may end inside a word
        return None
    return (kind, text[start:end], end) if rest is None else (kind, said, rest.end())


@cache
def _others(word: str) -> re.Pattern[str]:
    return re.compile(_REST[word], re.I | re.A)
