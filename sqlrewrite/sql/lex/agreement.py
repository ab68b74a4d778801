"""sqlglot's tokens laid against Spark's lexemes: where they part, and what is read instead.

Two lexers agree if each token begins and ends where a lexeme does and both say what it is. What
one of them cuts finer is known to mean the same: two words (ORDER BY), a hint, ``x'1F'``, ``1L``,
``.5``, ``<<``. A quote doubled in a string, and a comment between the words of ORDER BY, of which
sqlglot makes two tokens, are read as Spark reads them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind

_KINDS = {
    TokenType.NUMBER: (LexemeKind.NUMBER,),
    TokenType.STRING: (LexemeKind.STRING, LexemeKind.DOUBLE_QUOTED),
    TokenType.RAW_STRING: (LexemeKind.STRING,),
    TokenType.IDENTIFIER: (LexemeKind.QUOTED_NAME,),
    TokenType.SEMICOLON: (LexemeKind.SEMICOLON,),
    TokenType.HEX_STRING: (),
    TokenType.HINT: (),
}
_WORDS = (LexemeKind.NAME, LexemeKind.OPERATOR)
_TYPES = {
    LexemeKind.NUMBER: TokenType.NUMBER,
    LexemeKind.STRING: TokenType.STRING,
    LexemeKind.DOUBLE_QUOTED: TokenType.STRING,
    LexemeKind.QUOTED_NAME: TokenType.IDENTIFIER,
    LexemeKind.SEMICOLON: TokenType.SEMICOLON,
    LexemeKind.NAME: TokenType.VAR,
}
_KEYWORDS = Spark.Tokenizer.KEYWORDS
_QUOTES = "'\"`rR"
# Of several words to Spark, too. Of others (DOUBLE PRECISION, USER-DEFINED) each is a name to it.
_OF_WORDS = token_types(
    "group_by order_by sort_by cluster_by distribute_by partition_by grouping_sets"
    " primary_key foreign_key command"
)
_GLUED = tuple(
    keyword.lower().replace("-", " ").split()
    for keyword, kind in _KEYWORDS.items()
    if re.fullmatch(r"\w+[ -]\w+", keyword) and kind not in _OF_WORDS
)
_SECOND: dict[str, dict[str, TokenType]] = {}
"""The keywords of two words that a query has, by their first and then their second."""
for _words, _kind in _KEYWORDS.items():
    if _kind in _OF_WORDS and _words.endswith((" BY", " SETS")):
        _SECOND.setdefault(_words.split()[0], {})[_words.split()[1]] = _kind
_INTERRUPTED = re.compile(rf"(?i)\b(?:{'|'.join(_SECOND)})\s*(?:/\*|--)")
_COMMANDS = Spark.Tokenizer.COMMANDS
_BEFORE_COMMAND = Spark.Tokenizer.COMMAND_PREFIX_TOKENS

_CONTINUED = re.compile(r"--[^\r\n]*\\(?:\n|\Z)")
_NOTHING_MORE = re.compile(r"[ \t]*(?:--|\r?\n|\Z)")
_GOES_ON = "a line comment that ends in a backslash goes on in the next line"
_KIND_NAMES = {
    LexemeKind.NUMBER: "a number",
    LexemeKind.NAME: "a name",
    LexemeKind.STRING: "a string",
    LexemeKind.DOUBLE_QUOTED: "a string or name",
    LexemeKind.QUOTED_NAME: "a name",
    LexemeKind.HINT: "the beginning of a hint",
    LexemeKind.CODE: "code in dollar signs",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two lexers part, and why; ``endless`` where a quote or comment has no end."""

    offset: int
    why: str
    endless: bool = False


def may_join_words(text: str) -> bool:
    """Whether sqlglot may make one token of two words: both stand in the text."""
    lowered = text.lower()
    return any(first in lowered and second in lowered for first, second in _GLUED)


def with_joined_tokens(text: str, tokens: list[Token]) -> list[Token]:
    """The tokens, with one in place of two where sqlglot splits what is one to Spark: a string with
    a doubled quote, ``'it''s'``, and a keyword of two words with a comment between them."""
    interrupted = ("--" in text or "/*" in text) and _INTERRUPTED.search(text)
    if "''" not in text and '""' not in text and not interrupted:
        return tokens
    found: list[Token] = []
    for token in tokens:
        before = found[-1] if found else None
        if before is None:
            found.append(token)
        elif _goes_on(text, before, token):
            written = f"{before.text}{text[token.start]}{token.text}"
            found[-1] = _one(TokenType.STRING, written, before, token)
        elif kind := _of_two_words(text, before, token):
            found[-1] = _one(kind, f"{before.text} {token.text}", before, token)
        else:
            found.append(token)
    return found


def _one(kind: TokenType, written: str, before: Token, token: Token) -> Token:
    comments = [*before.comments, *token.comments]
    return Token(kind, written, token.line, token.col, before.start, token.end, comments)


def _of_two_words(text: str, before: Token, token: Token) -> TokenType | None:
    """The keyword that two tokens are together, or None."""
    first = _SECOND.get(before.text.upper())
    kind = first and first.get(token.text.upper())
    if not kind or text[before.start] == "`" or text[token.start] == "`":
        return None
    return kind


def _goes_on(text: str, before: Token, token: Token) -> bool:
    """Whether a string continues in the next token, which begins with the quote that ended it."""
    if before.token_type is not TokenType.STRING or token.token_type is not TokenType.STRING:
        return False
    touch = before.end + 1 == token.start and text[before.start] == text[token.start]
    return touch and text[token.start] in "'\""


def difference(text: str, tokens: Sequence[Token], lexemes: Sequence[Lexeme]) -> Difference | None:
    """The first place where tokens and lexemes differ, or None."""
    index = at = 0
    while index < len(tokens) and at < len(lexemes):
        token, (_, begins, ends) = tokens[index], lexemes[at]
        first, start, stop = index, at, token.end + 1
        if _rest_of_command(tokens, index):
            at = next((n for n in range(at, len(lexemes)) if lexemes[n][1] >= stop), len(lexemes))
            if lexemes[at - 1][2] != stop:
                return _parted(text, token, lexemes, at - 1)
            index += 1
            continue
        if token.start > begins and (behind := _behind_hint(text, lexemes, at)) > at:
            at = behind
            continue
        index, at = _behind(tokens, index), at + 1
        while stop != ends and begins == token.start:
            if stop > ends and at < len(lexemes):
                ends, at = lexemes[at][2], at + 1
            elif stop < ends and index < len(tokens) and tokens[index].start == stop:
                stop, index = tokens[index].end + 1, _behind(tokens, index)
            else:
                break
        alike = begins == token.start and stop == ends
        if not alike or not _same(text, tokens[first:index], lexemes[start:at]):
            return _parted(text, token, lexemes, start)
    if at == len(lexemes) and index == len(tokens):
        return None
    return _parted(text, tokens[index] if index < len(tokens) else None, lexemes, at)


def _behind_hint(text: str, lexemes: Sequence[Lexeme], at: int) -> int:
    """The index behind a second hint in a row, which is a comment to sqlglot and changes no rows;
    ``at`` where there is none."""
    ends = [text[begins:end] == "*/" for _, begins, end in lexemes[at - 1 :]]
    if not at or not ends[0] or lexemes[at][0] != LexemeKind.HINT or True not in ends[1:]:
        return at
    return at + ends.index(True, 1)


def continued_comment(
    text: str, lexemes: Sequence[Lexeme], start: int, end: int
) -> Difference | None:
    """A line comment that a backslash continues in the next line: an insertion behind its line
    would become a part of it. Nothing is inserted before a statement begins, and a next line that
    is blank or a comment is harmless."""
    ends = [start, *(lexeme[2] for lexeme in lexemes)]
    starts = [*(lexeme[1] for lexeme in lexemes), end]
    kinds = [LexemeKind.SEMICOLON, *(lexeme[0] for lexeme in lexemes)]
    for kind, since, until in zip(kinds, ends, starts, strict=True):
        for match in _CONTINUED.finditer(text, since, until):
            if kind == LexemeKind.SEMICOLON and _NOTHING_MORE.match(text, match.end()):
                continue
            return Difference(match.start(), _GOES_ON)
    return None


def why_no_tokens(text: str, lexemes: Sequence[Lexeme]) -> Difference:
    """Why there are no tokens for these lexemes: mostly one of them has no end."""
    telling = (
        n
        for n, lexeme in enumerate(lexemes)
        if lexeme[0] in (LexemeKind.COMMENT, LexemeKind.UNKNOWN)
    )
    at = next(telling, None)
    if at is None:
        return Difference(lexemes[0][1], "cannot be lexed")
    return _parted(text, None, lexemes, at)


def _behind(tokens: Sequence[Token], index: int) -> int:
    """The index of the next token that ends elsewhere: ``1L`` is ``1 :: BIGINT`` to sqlglot."""
    end = tokens[index].end
    index += 1
    while index < len(tokens) and tokens[index].end == end:
        index += 1
    return index


def _rest_of_command(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token is the whole rest of a command, of which only the end is compared."""
    if index == 0 or tokens[index - 1].token_type not in _COMMANDS:
        return False
    first = index == 1 or tokens[index - 2].token_type in _BEFORE_COMMAND
    return first and tokens[index].token_type is TokenType.STRING


def _same(text: str, tokens: Sequence[Token], lexemes: Sequence[Lexeme]) -> bool:
    """Whether tokens and lexemes over the same stretch of text mean the same."""
    kind, start, end = lexemes[0]
    expected = tokens[0].token_type
    if len(lexemes) == 1:
        if tokens[-1].start == start:
            return kind in _KINDS.get(expected, _WORDS)
        dotted = kind == LexemeKind.NUMBER and expected is TokenType.DOT
        return dotted or text[start:end] == "<<"
    kinds = [lexeme[0] for lexeme in lexemes]
    if len(tokens) > 1:
        return False
    if expected is TokenType.HINT:
        ends = [text[lexeme[1] : lexeme[2]] == "*/" for lexeme in lexemes]
        return (
            kind == LexemeKind.HINT and LexemeKind.HINT not in kinds[1:] and True not in ends[:-1]
        )
    if expected is TokenType.HEX_STRING:
        return kinds == [LexemeKind.NAME, LexemeKind.STRING] and end == start + 1 == lexemes[1][1]
    return expected in _OF_WORDS and set(kinds) == {LexemeKind.NAME}


def _parted(text: str, token: Token | None, lexemes: Sequence[Lexeme], at: int) -> Difference:
    """The difference between a token and a lexeme, with the reason."""
    before = lexemes[at - 1][2] if at else 0
    if token is not None and (at == len(lexemes) or token.start < lexemes[at][1]):
        comment = max(text.rfind(sign, before, token.start) for sign in ("--", "/*"))
        why = "Spark ends this comment at another place than the parser does"
        if text.startswith("--", comment):
            why = _GOES_ON
        return Difference(max(comment, before), why)
    kind, start, end = lexemes[at]
    shown = text[start : min(end, start + 40)]
    if kind == LexemeKind.COMMENT or (
        kind == LexemeKind.UNKNOWN and end == len(text) and shown[0] in _QUOTES
    ):
        return Difference(start, "cannot be lexed: a quote or comment without its end?", True)
    odd = start if kind == LexemeKind.UNKNOWN else end  # the letter that a name breaks off at
    if "\udc80" <= text[odd : odd + 1] <= "\udcff":
        byte = ord(text[odd]) - 0xDC00
        return Difference(odd, f"the byte 0x{byte:02X} is no UTF-8: save the file as UTF-8")
    if kind == LexemeKind.UNKNOWN:
        return Difference(start, f"no token of Spark begins with {shown!r}")
    if kind == LexemeKind.HINT and text[before - 2 : before] == "*/":
        why = "a second hint block is not supported: write one /*+ … */ with a comma"
        return Difference(start, why)
    if shown.startswith("@"):
        why = "time travel written as t@v1 is not supported: write VERSION AS OF"
        return Difference(start, why)
    called = _KIND_NAMES.get(LexemeKind(kind), "an operator")
    return Difference(start, f"Spark reads {shown} as {called}, the parser does not")


def tokens_of_lexemes(text: str, lexemes: Sequence[Lexeme]) -> list[Token]:
    """The lexemes as tokens, where sqlglot's cannot be used: names and literals; only the first may
    be a keyword."""
    found = [_token(text, *lexeme) for lexeme in lexemes]
    for token in found[:-1]:
        if token.token_type is TokenType.SEMICOLON:  # in a hint without its end
            token.token_type = TokenType.UNKNOWN
    if lexemes[0][0] == LexemeKind.NAME:
        found[0].token_type = _KEYWORDS.get(found[0].text.upper(), TokenType.VAR)
    return found


def _token(text: str, kind: int, start: int, end: int) -> Token:
    written = text[start:end]
    found = TokenType.DOT if written == "." else _TYPES.get(LexemeKind(kind), TokenType.UNKNOWN)
    if found in (TokenType.STRING, TokenType.IDENTIFIER):
        written = written.lstrip("rR")[1:-1]
    return Token(found, written, start=start, end=end - 1)
