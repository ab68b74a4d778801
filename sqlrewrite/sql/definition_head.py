"""The head of a CREATE: where the name of what it makes begins, and the statement without the rest.

What engines write between a table's name and its query (SERDEs, clustering, masks, expectations,
schedules) is more than any parser knows, and says nothing of the query: it is not parsed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token, TokenType

from sqlrewrite.sql.definition_clauses import read
from sqlrewrite.sql.definition_tokens import Cursor

SCHEMAS = frozenset({"schema", "database", "namespace"})

# What a CREATE or DROP may be of before the word TABLE comes, in CREATE POLICY p ON TABLE t.
_OTHER_KINDS = frozenset({"function", "index", "on", "procedure", *SCHEMAS})
_BEFORE_NAME = frozenset({"(", "as", "select"})

# Words of another statement, where a semicolon is missing.
_OF_ANOTHER = frozenset({TokenType.CREATE, TokenType.INSERT})


def after_kind(at: Cursor) -> int:
    """The index where the name of a defined table or view begins, 0 if nothing of the kind is."""
    for index in range(at.end):
        word = at.word_at(index)
        if word in _BEFORE_NAME or word in _OTHER_KINDS:
            break
        if word in {"table", "view"}:
            after = index + 1
            while at.word_at(after) in {"if", "not", "exists"}:
                after += 1
            return after
    return 0


def without_head(tokens: Sequence[Token], text: str) -> list[Token]:
    """``CREATE TABLE name AS query`` of any CREATE or REPLACE that has a query; other statements as
    they are."""
    at = Cursor(tokens, text)
    start = after_kind(at) if at.word in ("create", "replace") else 0
    if not start:
        return list(tokens)
    at.at = start
    if at.name():
        behind = at.at
    else:  # IDENTIFIER(:schema || '.t'): it makes something, and nobody knows what
        behind = at.at = start + 1
        at.group()
    query = read(at).query
    if query is None or any(it.token_type in _OF_ANOTHER for it in tokens[behind:query]):
        return list(tokens)
    first, before = tokens[0], tokens[query - 1]
    made = Token(TokenType.CREATE, "CREATE", first.line, first.col, first.start, first.end)
    kind = next(it for it in tokens if it.token_type in (TokenType.TABLE, TokenType.VIEW))
    word = Token(TokenType.ALIAS, "AS", before.line, before.col, before.start, before.end)
    return [made, kind, *tokens[start:behind], word, *tokens[query:]]
