"""Whether text in double quotes may be read otherwise than as a string.

Spark reads ``"winter"`` as a string, or under ``spark.sql.ansi.doubleQuotedIdentifiers`` as a name.
We read a string. Where the setting is not known that is right in three cases: no name of that kind
can be meant, since none is in sight; or only a name can stand there (``AS "x"``) and is read as
one; or the setting says that it is a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import Token, TokenType, exp

from sqlrewrite.sql.parse import Failure, Statement
from sqlrewrite.warehouse import Table, Warehouse

_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)

# Names that a query may use and that stand nowhere: what generators, ranges, VALUES and files have.
_UNWRITTEN = re.compile(r"col\d*|_c\d+|pos|key|value|id|_metadata|input_file_name")

# Behind and before these an operand stands; elsewhere only a name, an alias or a part of one.
_BEFORE_OPERAND = frozenset(
    {
        *(TokenType.EQ, TokenType.NEQ, TokenType.NULLSAFE_EQ, TokenType.LT, TokenType.LTE),
        *(TokenType.GT, TokenType.GTE, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE),
        *(TokenType.BETWEEN, TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.IN),
        *(TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.CASE, TokenType.DPIPE),
        *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD),
        *(TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.COMMA, TokenType.SELECT),
        *(TokenType.DISTINCT, TokenType.WHERE, TokenType.ON, TokenType.HAVING, TokenType.FARROW),
        *(TokenType.ORDER_BY, TokenType.GROUP_BY, TokenType.ESCAPE, TokenType.ARROW),
    }
)


def doubtful(
    statement: Statement, text: str, catalog: Warehouse, double_quoted: bool | None
) -> Failure | None:
    """Why a statement is left alone for what is in double quotes in it, if it is. ``double_quoted``
    says whether that is a name, None that nobody knows."""
    if double_quoted is False or '"' not in text[statement.start : statement.end]:
        return None
    tokens = statement.tokens
    quoted = [n for n, it in enumerate(tokens) if is_double_quoted(text, it)]
    if not quoted:
        return None
    if double_quoted:
        start = tokens[quoted[0]].start
        return Failure(start, "names in double quotes are not supported: write `…`", True)
    operands = [n for n in quoted if _is_operand(statement, n)]
    named = {it.text.lower() for n, it in enumerate(tokens) if n not in operands}
    named |= set(_columns(named, catalog))
    unknown = _reads_unknown(statement, catalog)
    for index in operands:
        said = tokens[index].text.lower()
        beside = {it.token_type for it in (*tokens[index - 1 : index], *tokens[index + 1 :][:1])}
        if (
            unknown
            or said in named
            or _UNWRITTEN.fullmatch(said)
            or not beside.isdisjoint(_STRINGS)
        ):
            return Failure(tokens[index].start, _why(text, tokens[index]), True)
    return None


def is_double_quoted(text: str, token: Token) -> bool:
    """Whether a token is text in double quotes."""
    return token.token_type is TokenType.STRING and text.startswith('"', token.start)


def _why(text: str, token: Token) -> str:
    shown = " ".join(text[token.start : token.end + 1][:40].split())
    return (
        f"{shown} is a string or, where spark.sql.ansi.doubleQuotedIdentifiers is set, maybe a "
        "column: say which with double-quoted-identifiers in the settings"
    )


def _is_operand(statement: Statement, index: int) -> bool:
    """Whether a string may stand where a token does. Beside another it is one with that."""
    before = statement.tokens[index - 1].token_type if index else None
    return before in _BEFORE_OPERAND or before in _STRINGS


def _columns(named: set[str], catalog: Warehouse) -> Iterator[str]:
    """The columns of the tables that a statement may name."""
    for relation in catalog.relations.values():
        if isinstance(relation, Table) and relation.name[-1].lower() in named:
            yield from (column.name.lower() for column in relation.columns)


def _reads_unknown(statement: Statement, catalog: Warehouse) -> bool:
    """Whether a statement names a relation whose columns are not all known."""
    assert statement.tree is not None
    ctes = {it.alias.lower() for it in statement.tree.find_all(exp.CTE)}
    for table in statement.tree.find_all(exp.Table):
        parts = tuple(part.name for part in table.parts if isinstance(part, exp.Identifier))
        if len(parts) == 1 and parts[0].lower() in ctes:
            continue
        relation = catalog.resolve(parts) if parts else None
        if not isinstance(relation, Table) or not relation.complete:
            return True
    return False
