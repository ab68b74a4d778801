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
    return _sqlglot_tokens(text, _is_unambiguous(text))


def _is_unambiguous(text: str) -> bool:
    """Whether all lexers read a text alike."""
    return plain(text) and not agreement.may_join_words(text)


def _sqlglot_tokens(text: str, unambiguous: bool) -> list[Token]:
    """sqlglot's tokens. Where a text is ``unambiguous`` one regular expression finds them, if it
    can; else the tokenizer of this thread, as making one takes as long as lexing a line."""
    found = quick(text) if unambiguous and not COMPILED else None
    if found is not None:
        return agreement.with_joined_tokens(text, found)
    try:
        tokenizer = _OF_THREAD.tokenizer
    except AttributeError:
        tokenizer = _OF_THREAD.tokenizer = DIALECT.tokenizer()
    return agreement.with_joined_tokens(text, tokenizer.tokenize(text))


def read(text: str) -> tuple[list[Token], tuple[agreement.Difference, ...]]:
    """The tokens of a text, and where Spark's lexer differs, at most once a statement. Raises
    nothing."""
    unambiguous = _is_unambiguous(text)
    tokens = _sqlglot_tokens_or_none(text, unambiguous)
    if tokens is not None and unambiguous:
        return tokens, ()
    found = lexemes(text)
    if tokens is not None and _difference(text, tokens, found, 0, len(text)) is None:
        return tokens, ()
    tokens, differences = [], []
    start = line = 0
    for part in lexemes_of_statements(text, found):
        end = part[-1][2] if part[-1] != found[-1] else len(text)
        theirs = _sqlglot_tokens_or_none(text[start:end])
        mine = [_shifted(it, start, line) for it in theirs or ()]
        if theirs is None:
            difference: agreement.Difference | None = agreement.why_no_tokens(text, part)
        else:
            difference = _difference(text, mine, part, start, end)
        if difference is not None:
            differences.append(difference)
            mine = agreement.tokens_of_lexemes(text, part)
        tokens += mine
        line += text.count("\n", start, end)
        start = end
    return tokens, tuple(differences)


def _difference(
    text: str, tokens: Sequence[Token], found: Sequence[Lexeme], start: int, end: int
) -> agreement.Difference | None:
    """Where tokens and lexemes of a stretch of text differ, or would behind an insertion."""
    difference = agreement.difference(text, tokens, found)
    if difference is None and text.find("\\", start, end) >= 0:
        difference = agreement.continued_comment(text, found, start, end)
    return difference


def _sqlglot_tokens_or_none(text: str, unambiguous: bool = False) -> list[Token] | None:
    try:
        return _sqlglot_tokens(text, unambiguous)
    except _LEXER_ERRORS:
        return None


def lexemes_of_statements(text: str, found: Sequence[Lexeme]) -> Iterator[Sequence[Lexeme]]:
    """The lexemes of each statement with its semicolon; a hint without its end takes in the
    rest."""
    start, hint = 0, False
    for index, (kind, begins, _) in enumerate(found):
        hint = kind == LexemeKind.HINT or (hint and not text.startswith("*/", begins))
        if kind == LexemeKind.SEMICOLON and not hint:
            yield found[start : index + 1]
            start = index + 1
    if start < len(found):
        yield found[start:]


def _shifted(token: Token, offset: int, line: int) -> Token:
    """A token of a part of the text, as a token of the whole."""
    place = token.line + line, token.col, token.start + offset, token.end + offset
    return Token(token.token_type, token.text, *place, token.comments)
