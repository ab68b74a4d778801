"""Spark's lexer: a text in, its lexemes out, in order, each with its kind and where it stands.

The rules are those of SqlBaseLexer.g4 in Spark 4.3: the longest match wins, and then the first.
Keywords are names here; the parser knows which of them mean something. Four things differ from
Spark: ``>>`` is two lexemes (one or two tokens in Spark, depending on the types named before it),
``>>=`` is unknown for the same reason, ``$$ … $$`` is one lexeme, and an unclosed quote includes
the rest of the text.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache


class LexemeKind(IntEnum):
    """The kind of a lexeme; up to ``ODD`` its value is the number of its group in ``_LEXEME``."""

    NUMBER = 1
    NAME = 2
    OPERATOR = 3
    STRING = 4
    DOUBLE_QUOTED = 5  # a name under spark.sql.ansi.doubleQuotedIdentifiers, else a string
    QUOTED_NAME = 6
    SEMICOLON = 7
    HINT = 8  # only the /*+: the words in a hint are lexemes of their own, the */ an operator
    ODD = 9  # what the expression alone cannot decide; ``lexemes`` never returns this kind
    COMMENT = 10  # an unclosed one: any other is white space
    CODE = 11  # $$ … $$, in statements of other engines
    UNKNOWN = 12  # begins no lexeme: Spark refuses a statement with one


Lexeme = tuple[int, int, int]
"""A kind, and where it begins and ends, exclusive."""

_SUFFIX = r"(?:[bB][dD]|[dDfF])?"

# White space and comments, then a lexeme: numbers before names, the longest operator first. Letters
# beyond ASCII, `http://…`, a comment in a comment, and what does not end are odd. Before a letter,
# a digit or an underscore (`ſ` counts as S, `ı` as I) digits with a point are no number, and digits
# without one begin a name. What is not ASCII is [^\x00-\x7f] here: a range up to the last character
# would take ten times as long to compile.
_LEXEME = rf"""
    (?: [ \t\n\f\r\v\u00A0\u1680\u2000-\u200A\u2028\u202F\u205F\u3000]++
      | --(?:\\\n|[^\r\n])*+\r?\n?
      | /\*(?!\+)[^*/]*+(?:(?:\*(?!/)|/(?!\*))[^*/]*+)*+\*/
    )*+
    (?: ( (?:[0-9]++\.[0-9]*+|\.[0-9]++) (?:[eE][+-]?[0-9]++)? {_SUFFIX} (?![\wſı])
        | [0-9]++ (?: [eE][+-][0-9]++ {_SUFFIX}
                    | (?:[lLsSyY]|(?:[eE][0-9]++)?{_SUFFIX}) (?!\w|[^\x00-\x7f]) ) )
      | ( (?![rR]['"]) \w++ (?![^\x00-\x7f]|://) )
      | ( [(),.*+%\[\]~&^?](?<!\*(?=/)) | <=> | <[=<>]? | ==|=>|= | ![=<>]? | >=|>(?!>*=)
        | \|[|>]? | ->? | ::? | @[vV]? | \*/ | /(?!\*) )
      | ( '[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+' | [rR](?:'[^']*+'|"[^"]*+") )
      | ( "[^"\\]*+(?:(?:\\.|"")[^"\\]*+)*+" )
      | ( `[^`]*+(?:``[^`]*+)*+` )
      | ( ; )
      | ( /\*\+ )
      | ( . )
      | \Z
    )
    """

_NESTED = re.compile(r"/\*(?!\+)|\*/")
_CODE = re.compile(r"\$[A-Za-zſı]*\$")
_SHIFTED = re.compile(r">>+=[<>=!]*")
_NUMBER = re.compile(rf"[0-9]+(?:[lLsSyYſ]|(?:[eE][0-9]+)?{_SUFFIX})", re.ASCII)
_LINK_SIGNS = frozenset("/-.?=&#%")


@cache
def _lexeme() -> re.Pattern[str]:
    """``_LEXEME``, compiled for the first text that is not plain: it takes some milliseconds."""
    return re.compile(_LEXEME, re.VERBOSE | re.DOTALL | re.ASCII)


def lexemes(text: str) -> list[Lexeme]:
    """The lexemes of a text, without its comments, except for one that has no end. Raises
    nothing."""
    lexed: list[Lexeme] = []
    at, odd = 0, LexemeKind.ODD
    while at < len(text):
        for match in _lexeme().finditer(text, at):
            kind = match.lastindex
            if kind is None:
                return lexed
            if kind == odd:
                at = match.start(kind)
                break
            lexed.append((kind, *match.span(kind)))
        else:
            return lexed
        kind, end = _odd(text, at)
        if kind != odd:
            lexed.append((kind, at, end))
        at = end
    return lexed


def _odd(text: str, at: int) -> tuple[int, int]:
    """The kind and end of what begins at an offset; ``ODD`` for a comment."""
    sign = text[at]
    if sign == "/":
        return _comment(text, at)
    if sign in "'\"`" or (sign in "rR" and text[at + 1 : at + 2] in ("'", '"')):
        return LexemeKind.UNKNOWN, len(text)
    if sign == "$" and (tag := _CODE.match(text, at)):
        end = text.find(tag.group(), tag.end())
        return LexemeKind.CODE, end + len(tag.group()) if end >= 0 else len(text)
    if shifted := _SHIFTED.match(text, at):
        return LexemeKind.UNKNOWN, shifted.end()
    end = at
    while end < len(text) and text[end].isalpha():
        end += 1
    if end > at and text.startswith("://", end) and _in_link(text[end + 3 : end + 4]):
        end += 3
        while _in_link(text[end : end + 1]):
            end += 1
        return LexemeKind.NAME, end
    while _in_name(text[end : end + 1]):
        end += 1
    if end == at:
        return LexemeKind.UNKNOWN, at + 1
    return LexemeKind.NUMBER if _NUMBER.fullmatch(text, at, end) else LexemeKind.NAME, end


def _comment(text: str, at: int) -> tuple[int, int]:
    """The kind and end of a comment, not a hint, that may contain others, each with its ``*/``."""
    depth = 0
    for match in _NESTED.finditer(text, at):
        depth += 1 if match.group() == "/*" else -1
        if not depth:
            return LexemeKind.ODD, match.end()
    return LexemeKind.COMMENT, len(text)


def _in_name(sign: str) -> bool:
    return sign.isalpha() or (sign.isascii() and sign.isalnum()) or sign == "_"


def _in_link(sign: str) -> bool:
    return _in_name(sign) or sign in _LINK_SIGNS
