"""The tokens of a plain text, as sqlglot gives them, by one regular expression.

Where it is not compiled, sqlglot's tokenizer goes from character to character, which is a third of
what parsing takes. A text that is ``plain`` (``lexemes.py``) leaves no lexer a choice, and its
tokens are told apart here in a third of that time. `tests/test_lex.py` compares both.
"""

from __future__ import annotations

import re

import sqlglot.parser
from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

COMPILED = not str(sqlglot.parser.__file__).endswith(".py")
"""Whether sqlglot's own tokenizer is the quicker one."""

_KEYWORDS = Spark.Tokenizer.KEYWORDS
_COMMANDS = Spark.Tokenizer.COMMANDS
_VAR, _SEMICOLON = TokenType.VAR, TokenType.SEMICOLON
_SIGNS = {**Spark.Tokenizer.SINGLE_TOKENS, **_KEYWORDS}

_WORD, _SIGN, _LINE, _NUMBER, _STRING, _NAME, _COMMENT, _ODD = range(1, 9)
_TOKEN = re.compile(
    r"""
    [ \t]*+
    (?: ([A-Za-z_]\w*+)
      | ([(),;+%=.] | [<>!]= | <> | [<>*] | ::? | \|\| | -(?!-) | /(?!\*))
      | (\r?\n|\r)
      | ([0-9][0-9.]*+)
      | ('[^']*+')
      | (`[^`]++`)
      | (--[^\r\n]*+ | /\*.*?\*/)
      | (.)
    )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

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
    """sqlglot's tokens of a plain text; None for one with an escape, a line's end inside a token, a
    command whose rest sqlglot takes for one string, or a sign that is none of these."""
    if "\\" in text:
        return None
    tokens: list[Token] = []
    comments: list[str] = []
    line, begins = 1, 0  # the number of a line, and its offset
    behind, last = 0, -1  # the last token's end, and its line
    for match in _TOKEN.finditer(text):
        group = match.lastindex or _ODD
        start, end = match.span(group)
        if start < behind:
            continue
        if group == _LINE:
            line, begins = line + 1, end
            continue
        said = text[start:end]
        if group == _WORD:
            kind = _KINDS.get(said.upper(), _VAR)
            if kind is None:
                found = _phrase(text, start, end)
                if found is None:
                    return None
                kind, said, end = found
        elif group == _SIGN:
            kind = _SIGNS[said]
        elif group == _COMMENT:
            comments.append(said[2:] if said[0] == "-" else said[2:-2])
            within = said.count("\n")
            if said.startswith("/*+"):
                if within or not tokens or tokens[-1].token_type is not TokenType.SELECT:
                    return None
                comments[-1], behind, last = said[3:-2], end, line
                tokens.append(Token(TokenType.HINT, said, line, end - begins, start, end - 1))
            beside = line == last
            line, begins = line + within, start + said.rfind("\n") + 1 if within else begins
            if beside:
                tokens[-1].comments.extend(comments)
                comments, last = [], line
            continue
        elif group == _NUMBER:
            kind = TokenType.NUMBER
        elif group == _ODD:
            return None
        else:
            kind, said = TokenType.STRING if group == _STRING else TokenType.IDENTIFIER, said[1:-1]
            if "\n" in said:
                return None
        if kind is _SEMICOLON and comments and tokens:
            tokens[-1].comments.extend(comments)
            comments = []
        tokens.append(Token(kind, said, line, end - begins, start, end - 1, comments))
        comments, behind, last = [], end, line
    if tokens:
        tokens[-1].comments.extend(comments)
    return tokens


def _phrase(text: str, start: int, end: int) -> tuple[TokenType, str, int] | None:
    """The kind, text and end of what begins with a word that may be the first of several."""
    word = text[start:end].upper()
    several = re.compile(_REST[word], re.I | re.A) if word in _REST else None
    rest = several.match(text, end) if several is not None else None
    said = word if rest is None else " ".join((word + rest[0].upper()).split())
    kind = _KEYWORDS.get(said, TokenType.VAR)
    blank = rest is None or (rest[0][0] == " " and rest[0].isprintable())
    if kind in _COMMANDS or not blank:  # USER-DEFINED may end inside a word
        return None
    return (kind, text[start:end], end) if rest is None else (kind, said, rest.end())
