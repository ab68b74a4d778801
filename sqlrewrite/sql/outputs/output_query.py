"""The text of one query to the names and types of its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import Token, TokenType, exp

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.types import ExactSettings, Type
from sqlrewrite.plan.memo import within
from sqlrewrite.plan.relations import one_row
from sqlrewrite.results import Output
from sqlrewrite.sql.bind.binder import bind
from sqlrewrite.sql.interpreter import deep
from sqlrewrite.sql.outputs.output_binder import output_columns
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.sql.statements.two_readings import is_double_quoted
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Warehouse

_LIMITS = Limits()


def query_output(
    query: str,
    catalog: Warehouse,
    settings: Sequence[ExactSettings],
    type_text: Callable[[Type], str] = str,
) -> Output | None:
    """The names and types of a query's columns that hold under all settings; None if it is not
    understood."""
    answers = []
    for quoted in sorted({setting.names_quoted for setting in settings}):
        possible = tuple(setting for setting in settings if setting.names_quoted is quoted)
        answers.append(_output(query, catalog, possible, type_text))
    return _agreed(answers)


def returns_one_row(query: str, catalog: Warehouse) -> bool:
    """Whether a query is understood, and certainly returns one row at most."""
    tree = _tree(query, catalog, False)
    if tree is None:
        return False
    try:
        bound = deep(lambda: within(_LIMITS.steps, lambda: bind(tree, query, catalog)))
        return bound is not None and one_row(bound.plan, bound.plan.query)
    except Exception:  # as in _output
        return False


def _output(
    query: str,
    catalog: Warehouse,
    settings: tuple[ExactSettings, ...],
    type_text: Callable[[Type], str],
) -> Output | None:
    tree = _tree(query, catalog, settings[0].names_quoted)
    if tree is None:
        return None
    try:
        columns = deep(
            lambda: within(_LIMITS.steps, lambda: output_columns(tree, query, catalog, settings))
        )
    except Exception:  # a bug, too many steps or too deep: it costs only this query
        return None
    if columns is None:
        return None
    return tuple((name, None if kind is None else type_text(kind)) for name, kind in columns)


def _tree(query: str, catalog: Warehouse, double_quoted: bool) -> exp.Expr | None:
    """The tree of a text that is one query; None if it is not understood."""
    lexed = lex(query, catalog.refer)
    if double_quoted and '"' in query:
        names = tuple(_as_name(query, token) for token in lexed.tokens)
        lexed = replace(lexed, tokens=names)
    pieces = list(statements(query, lexed, _LIMITS))
    return pieces[0].tree if len(pieces) == 1 and pieces[0].failure is None else None


def _as_name(text: str, token: Token) -> Token:
    """The token, or a name in its place if it is text in double quotes."""
    if token.token_type is not TokenType.STRING or not is_double_quoted(text, token):
        return token
    name = token.text
    return Token(TokenType.IDENTIFIER, name, token.line, token.col, token.start, token.end)


def _agreed(answers: Sequence[Output | None]) -> Output | None:
    """The common part of several answers: None in place of a name or type that differs, and None if
    an answer is None or has another number of columns."""
    known_answers = [answer for answer in answers if answer is not None]
    if len(known_answers) < len(answers) or len({len(answer) for answer in known_answers}) != 1:
        return None
    return tuple(
        (_same({name for name, _ in each}), _same({kind for _, kind in each}))
        for each in zip(*known_answers, strict=True)
    )


def _same(values: set[str | None]) -> str | None:
    return values.pop() if len(values) == 1 else None
