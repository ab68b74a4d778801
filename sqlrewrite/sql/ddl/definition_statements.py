"""The definitions in a text of any kind: statements as tokens, not parsed.

A statement that cannot be read does not affect the others: whatever is not SQL has been blanked
(``without_foreign_text``), and a definition at the beginning of a line begins a statement even
without a semicolon before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import Token

from sqlrewrite.sql.lex.computed_names import computes_names, with_computed_names
from sqlrewrite.sql.lex.keywords import word
from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind, lexemes
from sqlrewrite.sql.lex.template_tokens import with_variables
from sqlrewrite.sql.lex.tokens import plain_tokens
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.text.masking import mask, untouched
from sqlrewrite.text.templates import Refer, no_name

_STARTS = frozenset({"create", "use", "insert"})
_STARTS_WITH_KIND = frozenset({"alter", "drop"})
_DEFINING = frozenset({"create", "replace", "alter", "use", "set", "cache", "insert", "load"})
_SIGNS = {"(": 1, ")": -1}


def definition_statements(text: str, refer: Refer = no_name) -> Iterator[Statement]:
    """The statements that define something, or insert into something, in a text of SQL alone
    (``without_foreign_text``). Templates stay as written, except variables whose values ``refer``
    knows. Raises nothing."""
    mask_ = mask(text)
    masked = mask_.text
    as_written = untouched(mask_, text)
    computed, index = computes_names(text), 0
    for part in _between_semicolons(masked):
        if _DEFINING.isdisjoint(masked[start:end].lower() for _, start, end in part):
            continue
        for piece in _cut_at_line_starts(text, plain_tokens(masked, part)):
            if not as_written:
                piece = [with_variables(token, text, refer) for token in piece]
            if computed:
                piece = with_computed_names(piece, text, refer)
            yield Statement(index, piece[0].start, piece, None, end=piece[-1].end)
            index += 1


def _between_semicolons(text: str) -> Iterator[Sequence[Lexeme]]:
    """The lexemes between two semicolons."""
    all_lexemes = lexemes(text)
    start = 0
    for index, (kind, _, _) in enumerate(all_lexemes):
        if kind == LexemeKind.SEMICOLON:
            if index > start:
                yield all_lexemes[start:index]
            start = index + 1
    if start < len(all_lexemes):
        yield all_lexemes[start:]


def _cut_at_line_starts(text: str, tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The statements in a sequence of tokens: one that begins a line may lack the semicolon before
    it."""
    start = depth = 0
    for index in range(len(tokens)):
        if index > start and depth <= 0 and _starts_statement(text, tokens, index):
            yield tokens[start:index]
            start, depth = index, 0
        depth += _SIGNS.get(word(tokens, index), 0)
    yield tokens[start:]


def _starts_statement(text: str, tokens: Sequence[Token], at: int) -> bool:
    """Whether a token at the beginning of its line begins a statement."""
    first, start = word(tokens, at), tokens[at].start
    table = first in _STARTS_WITH_KIND and word(tokens, at + 1) in ("table", "view")
    begins = table or first in _STARTS
    return begins and not text[text.rfind("\n", 0, start) + 1 : start].strip()
