"""The head of a CREATE: the name of what it makes, which may be an expression, and its query.

Engines allow more between a table's name and its query (SERDEs, clustering, masks, expectations,
schedules) than any parser knows, and it does not concern the query: it is skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import Token, TokenType

from sqlrewrite.sql.ddl.clauses import read_clauses
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.text.templates import is_template
from sqlrewrite.warehouse import ANY_NAME, Name, has_template, may_be_temporary

GLOBAL = "global_temp"
SCHEMAS = frozenset({"schema", "database", "namespace"})

# Objects other than tables whose CREATE or DROP may contain TABLE: CREATE POLICY p ON TABLE t.
_OTHER_KINDS = frozenset({"function", "index", "on", "procedure", *SCHEMAS})
_BEFORE_NAME = frozenset({"(", "as", "select"})

# Words before the name of a table or view that is created or dropped.
_HEAD = frozenset(
    "create or replace drop global local temp temporary materialized external view table if not"
    " exists".split()
)
_TEMPLATE_SIGNS = frozenset("():")

_QUERY = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.VALUES})

# Words that begin another statement, where a semicolon is missing.
_OTHER_STATEMENT = frozenset({TokenType.CREATE, TokenType.INSERT})


def name_index(cursor: Cursor) -> int:
    """The index of the name of a defined table or view; 0 if a statement defines neither."""
    for index in range(cursor.end):
        word = cursor.word_at(index)
        if word == "(" and cursor.word_at(index + 1) == ")" and _is_template(cursor, index - 1):
            continue  # a template is read as a function call
        if word in _BEFORE_NAME or word in _OTHER_KINDS:
            break
        if word in {"table", "view"}:
            after = index + 1
            while cursor.word_at(after) in {"if", "not", "exists"}:
                after += 1
            return after
    return 0


def _is_template(cursor: Cursor, index: int) -> bool:
    return index >= 0 and is_template(cursor.tokens[index].text)


def opens_with_template(cursor: Cursor) -> bool:
    """Whether a statement may be a CREATE or DROP whose first words come from a template."""
    head = (cursor.word_at(index) for index in range(name_index(cursor)))
    words = [word for word in head if word and word not in _TEMPLATE_SIGNS]
    return _is_template(cursor, 0) and bool(words) and _HEAD.issuperset(words[1:])


def take_head(cursor: Cursor) -> tuple[frozenset[str], Name]:
    """The words before the name of a defined table or view, and the name; moves behind both."""
    cursor.index = name_index(cursor)
    head = frozenset(map(cursor.word_at, range(cursor.index)))
    return head, cursor.name() if cursor.index else ()


def in_global_schema(parts: Name, head: Collection[str]) -> Name:
    """The name as written; that of a global temporary view with ``global_temp`` before it."""
    return (GLOBAL, *parts) if len(parts) == 1 and "global" in head else parts


def returned_query(tokens: Sequence[Token]) -> int | None:
    """The index of the query that a CREATE FUNCTION in SQL returns; None for an expression and for
    other statements. A name in the query is a parameter only if no relation has a column of that
    name, and never in a subquery (docs/spark.md)."""
    if tokens[0].token_type is not TokenType.CREATE:
        return None
    if not any(token.token_type is TokenType.FUNCTION for token in tokens[:5]):
        return None
    depth = 0
    for index, token in enumerate(tokens[:-1]):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        word, behind = token.text.lower(), tokens[index + 1]
        if depth or word not in ("language", "return"):
            continue
        if word == "language" and behind.text.lower() != "sql":
            return None
        if word == "return":
            return index + 1 if _is_query(tokens[index + 1 :]) else None
    return None


def _is_query(tokens: Sequence[Token]) -> bool:
    """Whether tokens are one query, perhaps in parentheses."""
    kinds = [token.token_type for token in tokens]
    if kinds[0] is not TokenType.L_PAREN:
        return kinds[0] in _QUERY
    depth = 0
    for index, kind in enumerate(kinds):
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0:
            return index == len(kinds) - 1 and _is_query(tokens[1:-1])
    return False


def without_clauses(tokens: Sequence[Token], text: str) -> list[Token]:
    """A CREATE with a query as ``CREATE TABLE name AS query``; other statements as they are."""
    returned = returned_query(tokens)
    if returned is not None:
        name = (
            next(n for n, token in enumerate(tokens) if token.token_type is TokenType.FUNCTION) + 1
        )
        function = tokens[name - 1]
        view = Token(
            TokenType.VIEW, "VIEW", function.line, function.col, function.start, function.end
        )
        return _create(tokens, view, (name, name + 1), returned)
    cursor = Cursor(tokens, text)
    start = name_index(cursor) if cursor.word in ("create", "replace") else 0
    if not start:
        return list(tokens)
    cursor.index = start
    if cursor.name():
        behind = cursor.index
    else:  # IDENTIFIER(:schema || '.t'): the name is not known
        behind = cursor.index = start + 1
        cursor.group()
    query = read_clauses(cursor).query
    if query is None or any(token.token_type in _OTHER_STATEMENT for token in tokens[behind:query]):
        return list(tokens)
    kind = next(token for token in tokens if token.token_type in (TokenType.TABLE, TokenType.VIEW))
    return _create(tokens, kind, (start, behind), query)


def _create(tokens: Sequence[Token], kind: Token, name: tuple[int, int], query: int) -> list[Token]:
    """The tokens of ``CREATE kind name AS query``, without all other clauses."""
    first, before = tokens[0], tokens[query - 1]
    create = Token(TokenType.CREATE, "CREATE", first.line, first.col, first.start, first.end)
    word = Token(TokenType.ALIAS, "AS", before.line, before.col, before.start, before.end)
    return [create, kind, *tokens[slice(*name)], word, *tokens[query:]]


_NAMING = frozenset({"create", "replace", "cache", "drop", "alter"})


def open_names(tokens: Sequence[Token], text: str) -> list[Name]:
    """The names with templates in them of temporary views that a statement creates, renames or
    drops."""
    cursor = Cursor(tokens, text)
    kind, start = cursor.word, name_index(cursor)
    if not start or not (kind in _NAMING or opens_with_template(cursor)):
        return []
    cursor.index = start
    names = [item.name() for item in cursor.items()] if kind == "drop" else [cursor.name()]
    if cursor.index == start and kind == "alter":  # a computed name
        cursor.index += 1
        cursor.group()
    renames = kind == "alter" and cursor.take("rename", "to")
    if renames:
        names.append(cursor.name()[-1:])
    if kind == "alter" and not renames and cursor.word != "as":
        return []
    if kind == "cache" and read_clauses(cursor).query is None:
        return []
    between = text[tokens[start - 1].end + 1 : tokens[min(start, len(tokens) - 1)].start]
    if "{%" in between or () in names:
        names = [ANY_NAME]  # computed: ``IDENTIFIER(x)``
    head = frozenset(map(cursor.word_at, range(start)))
    names = [in_global_schema(name, head) for name in names if has_template(name[-1])]
    if not head.isdisjoint(("temp", "temporary")):
        names = [name[-1:] if may_be_temporary(name) else name for name in names]
    return [name for name in names if len(name) == 1 or name[:-1] == (GLOBAL,)]
