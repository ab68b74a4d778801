"""Every statement of a text is told, with what it reads and why nothing is to be done."""

from __future__ import annotations

from typing import Any

import pytest

from sqlrewrite import Catalog
from sqlrewrite.document import read
from sqlrewrite.find.summary import StatementSummary, summarize
from sqlrewrite.run.file_rewriting import Request, run
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.text.limits import Limits

CATALOG = Catalog.from_ddl(
    "CREATE TABLE dw.orders (id INT) PARTITIONED BY (dt DATE); CREATE TABLE cal (d DATE, id INT)"
)

UNBOUND = "no join bounds a partition column: `orders` is partitioned by `dt`, the join is on `id`"


def told(text: str, *candidates: tuple[int, int]) -> list[StatementSummary]:
    document = read(text, CATALOG, Limits(), named=True)
    return list(summarize(document.statements, text, document.place, candidates))


@pytest.mark.parametrize(
    ("text", "kind", "relations", "reason"),
    [
        (
            "SELECT 1 FROM dw.orders o JOIN cal c ON o.id = c.id",
            "query",
            (("dw.orders", True), ("cal", True)),
            UNBOUND,
        ),
        (
            "INSERT INTO made SELECT 1 FROM cal a JOIN users u ON a.id = u.id",
            "insert",
            (("cal", True), ("users", False)),
            "`users` is not in the catalog",
        ),
        (
            "WITH q AS (SELECT id FROM cal) SELECT 1 FROM q JOIN cal ON q.id = cal.id",
            "query",
            (("cal", True),),
            "no table in it is partitioned",
        ),
        (
            "SELECT 1 FROM cal a, (SELECT 1 AS id) b WHERE a.id = b.id",
            "query",
            (("cal", True),),
            "no table in it is partitioned",
        ),
        (
            "SELECT 1 FROM cal a JOIN cal b ON a.id = b.id",
            "query",
            (("cal", True),),
            "no table in it is partitioned",
        ),
        (
            "SELECT 1 FROM cal a JOIN IDENTIFIER(:c || '.orders') b ON a.id = b.id",
            "query",
            (("cal", True), ("${c}.orders", True)),
            UNBOUND,
        ),
        (
            "SELECT 1 FROM cal a JOIN IDENTIFIER(lower(:c) || '.orders') b ON a.id = b.id",
            "query",
            (("cal", True),),
            "the table that IDENTIFIER(…) names is not in the catalog",
        ),
        ("SELECT 1 FROM cal", "query", (("cal", True),), "it joins nothing"),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", "create view", (), None),
        ("SET x = 1", "other", (), ""),
        ("SELECT 1", "query", (), ""),
    ],
)
def test_a_statement(
    text: str, kind: str, relations: tuple[tuple[str, bool], ...], reason: str | None
) -> None:
    (sentence,) = told(text)
    assert (sentence.kind, sentence.understood, set(sentence.relations)) == (
        kind,
        True,
        set(relations),
    )
    assert reason is None or sentence.reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "o JOIN cal c ON o.id = c.id WHERE o.dt = '2024-01-01'",
            "the query restricts `dt` of `orders` itself",
        ),
        (
            "o JOIN cal c ON o.id = c.id WHERE o.dt IN ('${a}', '${b}')",
            "the query restricts `dt` of `orders` itself",
        ),
        (
            "o JOIN cal c ON o.id = c.id AND o.dt > '${a}'",
            "the query restricts `dt` of `orders` itself",
        ),
        (
            "o JOIN dw.orders p ON o.id = p.id AND o.dt = '1' AND p.dt = '2'",
            "the query restricts `dt` of `orders` itself",
        ),
        ("o JOIN dw.orders p ON o.id = p.id WHERE o.dt = '1'", None),
        ("o JOIN cal c ON o.id = c.id WHERE o.dt IS NOT NULL", None),
        ("o JOIN cal c ON o.id = c.id WHERE o.dt = '1' OR o.id = 2", None),
        ("o JOIN cal c ON o.id = c.id WHERE ${condition}", None),
        ("o LEFT JOIN cal c ON o.id = c.id AND o.dt = '1'", None),
    ],
)
def test_a_scan_that_holds_its_partition_is_already_pruned(text: str, reason: str | None) -> None:
    (sentence,) = told(f"SELECT 1 FROM dw.orders {text}")
    assert sentence.reason == (UNBOUND if reason is None else f"already-pruned: {reason}")


def test_what_is_not_read_is_reported_with_its_failure() -> None:
    first, second = told("SELECT FROM (;\n\nSELECT 1\nFROM cal\n")
    assert (first.understood, first.line, first.end_line) == (False, 1, 1)
    assert first.reason
    assert (second.understood, second.line, second.end_line) == (True, 3, 4)


def test_a_statement_with_a_candidate_needs_no_reason() -> None:
    text = "SELECT 1;\nSELECT 1 FROM dw.orders o\nJOIN cal c ON o.dt = c.d"
    assert [statement.reason for statement in told(text, (2, 15))] == ["", ""]


def test_a_statement_in_the_same_line_has_its_own_reason() -> None:
    """As all of a notebook may be in one line of JSON."""
    text = "SELECT 1 FROM dw.orders o JOIN cal c ON o.dt = c.d; SELECT 1 FROM cal; "
    reasons = [statement.reason for statement in told(text, (1, 15), (1, 28))]
    assert reasons == ["", "it joins nothing"]


def test_what_the_text_makes_is_known_behind_it() -> None:
    _, second = told("CREATE TABLE made (a INT); SELECT 1 FROM made")
    assert second.relations == (("made", True),)


def test_a_file_is_read_once_for_its_rewriting_and_its_statements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []

    def noted(text: str, *given: Any) -> Any:
        texts.append(text)
        return lex(text, *given)

    monkeypatch.setattr("sqlrewrite.document.lex", noted)
    text = "SELECT 1 FROM cal;\nSELECT 1 FROM cal a JOIN cal b ON a.id = b.id"
    result = run("q.sql", text.encode(), Request(CATALOG), with_statements=True)
    assert ([statement.line for statement in result.statements], texts) == ([1, 2], [text])
