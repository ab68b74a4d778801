"""The tokens of a text, as Spark reads it: sqlglot's where both agree, and where they do not.

A statement in which they part has tokens all the same, spelled from Spark's lexemes: where it ends,
what is a string in it and what a comment is right in any case.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from sqlglot import Token
from sqlglot.errors import SqlglotError

from sqlrewrite.sql.lex import agreement
from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind, lexemes, plain
from sqlrewrite.sql.lex.quick import COMPILED, quick
from sqlrewrite.sql.parse.dialect import DIALECT

_OF_THREAD = threading.local()
_LEXER_ERRORS = (SqlglotError, ValueError, IndexError)


def tokenize(text: str) -> list[Token]:
    """sqlglot's tokens. Raises its TokenError."""
    return _tokenized(text, _certain(text))


def _certain(text: str) -> bool:
    """Whether a text leaves no lexer a choice."""
    return plain(text) and not agreement.glued(text)


def _tokenized(text: str, certain: bool) -> list[Token]:
    """sqlglot's tokens: those of a text that is ``certain`` by one expression where it can be, and
    others by the one tokenizer of this thread: to make one takes as long as to lex a line."""
    found = quick(text) if certain and not COMPILED else None
    if found is not None:
        return agreement.joined(text, found)
    try:
        tokenizer = _OF_THREAD.tokenizer
    except AttributeError:
        tokenizer = _OF_THREAD.tokenizer = DIALECT.tokenizer()
    return agreement.joined(text, tokenizer.tokenize(text))


def read(text: str) -> tuple[list[Token], tuple[agreement.Difference, ...]]:
    """The tokens of a text, and where Spark's differ, at most once a statement. Raises nothing."""
    certain = _certain(text)
    tokens = _tried(text, certain)
    if tokens is not None and certain:
        return tokens, ()
    found = lexemes(text)
    if tokens is not None and _parted(text, tokens, found, 0, len(text)) is None:
        return tokens, ()
    tokens, differences = [], []
    start = line = 0
    for part in statements(text, found):
        end = part[-1][2] if part[-1] != found[-1] else len(text)
        theirs = _tried(text[start:end])
        mine = [_shifted(it, start, line) for it in theirs or ()]
        if theirs is None:
            parted: agreement.Difference | None = agreement.unread(text, part)
        else:
            parted = _parted(text, mine, part, start, end)
        if parted is not None:
            differences.append(parted)
            mine = agreement.spelled(text, part)
        tokens += mine
        line += text.count("\n", start, end)
        start = end
    return tokens, tuple(differences)


def _parted(
    text: str, tokens: Sequence[Token], found: Sequence[Lexeme], start: int, end: int
) -> agreement.Difference | None:
    """Where tokens and lexemes of a stretch of text part, or would behind an insertion."""
    parted = agreement.difference(text, tokens, found)
    if parted is None and text.find("\\", start, end) >= 0:
        parted = agreement.continued(text, found, start, end)
    return parted


def _tried(text: str, certain: bool = False) -> list[Token] | None:
    try:
        return _tokenized(text, certain)
    except _LEXER_ERRORS:
        return None


def statements(text: str, found: Sequence[Lexeme]) -> Iterator[Sequence[Lexeme]]:
    """The lexemes of each statement with its semicolon; an endless hint takes in all behind."""
    start, hint = 0, False
    for index, (kind, begins, _) in enumerate(found):
        hint = kind == LexemeKind.HINT or (hint and not text.startswith("*/", begins))
        if kind == LexemeKind.SEMICOLON and not hint:
            yield found[start : index + 1]
            start = index + 1
    if start < len(found):
        yield found[start:]


def _shifted(token: Token, offset: int, line: int) -> Token:
    """A token of a part of the text as one of the whole."""
    place = token.line + line, token.col, token.start + offset, token.end + offset
    return Token(token.token_type, token.text, *place, token.comments)
