"""Goldens that sqlfmt or sqlfluff has formatted: what an earlier run wrote is found in them again.

``--long`` asks a sample of the cases, ``--longest`` all (``.ci/formatters``, an hour of sqlfluff).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from sqlglot import TokenType

from sqlrewrite.sql.lex.tokens import comparable
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.stripping import stripped, taken_out
from sqlrewrite.text.markers import MARKER
from tests.support.cases import Case, query_cases, read, retail_cases, rewritten
from tests.support.turns import turn

CASES = [case for case in [*query_cases(), *retail_cases()] if MARKER in read(case.golden)]
SHAPES = {
    *("text/managed_where_or", "text/one_line_semicolon", "text/crlf", "joins/range_between"),
    "templates/var_default",
}
"""Of which sqlfluff, which takes seconds for each, is asked under ``--long``."""

BROKEN = {
    *("operators/pipe_syntax", "statements/pipes", "statements/pipes_at_a_reference"),
    *("templates/cells", "templates/part_of_a_string"),
}
"""sqlfmt writes ``| >`` for a pipe, ``% py`` for a cell, and blanks into a string."""

NOT_THE_SAME_TWICE = {"found/trailing_blank"}
"""sqlfmt takes the blank at the end of a comment away when it formats a second time."""

ELSEWHERE = {
    *("found/cte_by_stream", "templates/block_around_a_statement", "templates/comments"),
    "text/managed_in_the_middle",
}
"""What stands stays where it is; from nothing it is written elsewhere, or in another layout."""

_EDITS = 2


@cache
def _sqlfmt() -> Callable[[str], str | None]:
    from sqlfmt.api import Mode, format_string
    from sqlfmt.exception import SqlfmtError

    def formatted(text: str) -> str | None:
        try:
            return str(format_string(text, Mode()))
        except SqlfmtError:
            return None

    return formatted


@cache
def _sqlfluff() -> Callable[[str], str | None]:
    from sqlfluff.core import FluffConfig, Linter

    linter: Any = Linter(config=FluffConfig(overrides={"dialect": "sparksql"}))

    def formatted(text: str) -> str | None:
        linted = linter.lint_string(text, fix=True)
        return linted.fix_string()[0] if linted.templated_file else None

    return formatted


FORMATTERS = {"sqlfmt": _sqlfmt, "sqlfluff": _sqlfluff}


@pytest.mark.long
@pytest.mark.parametrize("case", turn(CASES, 72), ids=lambda case: case.name)
def test_ours_is_found_behind_sqlfmt(case: Case) -> None:
    _check(case, "sqlfmt")


@pytest.mark.long
@pytest.mark.parametrize("case", [c for c in CASES if c.name in SHAPES], ids=lambda c: c.name)
def test_ours_is_found_behind_sqlfluff(case: Case) -> None:
    _check(case, "sqlfluff")


@pytest.mark.longest
@pytest.mark.parametrize("formatter", FORMATTERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ours_is_found_in_every_golden(case: Case, formatter: str) -> None:
    _check(case, formatter)


def _check(case: Case, formatter: str) -> None:
    formatted, golden = FORMATTERS[formatter](), read(case.golden)
    text, bare = formatted(golden), formatted(stripped(golden).sql)
    if text is None or bare is None or case.name in BROKEN:
        return  # it formats no such text, or breaks it
    sql = stripped(text).sql
    if sql.count(MARKER) > stripped(golden).sql.count(MARKER):
        # sqlfluff has moved the marker behind `;`, and the author's own predicate looks like ours.
        assert formatter == "sqlfluff"
        assert "which predicate" in " ".join(
            problem.message for problem in rewritten(case, text).skipped
        )
        return
    assert comparable(sql) == comparable(bare)
    if formatter == "sqlfmt" and case.name not in NOT_THE_SAME_TWICE:
        assert formatted(sql) == bare
        assert rewritten(case, text).sql == text
    # sqlfluff makes CTEs of derived tables, whose keys are then another query.
    again = rewritten(case, text).sql
    assert rewritten(case, again).sql == again
    if case.name in ELSEWHERE:
        return
    assert comparable(again) == comparable(rewritten(case, sql).sql)
    for edited in _edited(text):
        anew = rewritten(case, edited).sql
        assert comparable(anew) == comparable(rewritten(case, stripped(edited).sql).sql)


def _edited(text: str) -> list[str]:
    """The text with another constant in place of one of the author's, for some of these."""
    bare = taken_out(text)[1]
    texts = []
    for token in lex(bare.text).tokens:
        if token.token_type in (TokenType.NUMBER, TokenType.STRING):
            end, last = token.end, text[token.end]
            new = f"x{last}" if token.token_type is TokenType.STRING else f"{last}1"
            texts.append(text[:end] + new + text[end + 1 :])
    return texts[-_EDITS:]
