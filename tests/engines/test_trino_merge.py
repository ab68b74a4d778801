"""MERGE as Trino writes it: what it reads of its target, and the constants of its source."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.settings.options import make_options
from sqlrewrite.stripping import stripped
from sqlrewrite.text.limits import Limits

CATALOG = Catalog.from_ddl(
    """
    CREATE TABLE web.sales (id bigint, v bigint, day date) WITH (partitioned_by = ARRAY['day']);
    CREATE TABLE web.src (id bigint, v bigint, day date);
    """,
    schema="web",
)
OPTIONS = make_options(engine="trino", dialect="trino")
WHEN = """
WHEN MATCHED AND s.v = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET v = s.v
WHEN NOT MATCHED THEN INSERT (id, v, day) VALUES (s.id, s.v, s.day)"""


def _merge(source: str, on: str = "t.id = s.id AND t.day = s.day") -> str:
    return f"MERGE INTO sales AS t USING {source} AS s ON {on}{WHEN}"


@pytest.mark.parametrize(
    ("source", "bound"),
    [
        ("(SELECT * FROM src WHERE day = date '2024-01-01')", "= date '2024-01-01'"),
        ("(SELECT * FROM src WHERE day >= date '{{ ds }}')", ">= date '{{ ds }}'"),
        ("(SELECT id, v, {{ ds }} AS day FROM src)", None),
        ("(SELECT * FROM src WHERE day = odd_one(3))", None),
        ("(SELECT * FROM src WHERE v = 3)", None),
        ("src", None),
    ],
)
def test_the_target_is_bounded_by_constants(source: str, bound: str | None) -> None:
    text = _merge(source)
    findings, _ = lint(text, CATALOG, OPTIONS)
    assert [finding.code for finding in findings] == ["DPP010"]
    assert (findings[0].fix is not None) == (bound is not None)
    result = rewrite(text, CATALOG, dialect="trino", engine="trino", when="eligible")
    if bound is None:
        assert result.sql == text
        return
    written = f"{_merge(source, f't.id = s.id AND t.day = s.day AND t.day {bound}')}"
    assert result.sql == written.replace(WHEN, f" /* dpp-rewrite */{WHEN}")
    assert not lint(result.sql, CATALOG, OPTIONS)[0]
    assert stripped(result.sql, Limits(dialect="trino")).sql == text


def test_a_target_that_is_bounded_is_not_told() -> None:
    text = _merge("src", "t.id = s.id AND t.day = date '2024-01-01'")
    assert lint(text, CATALOG, OPTIONS)[0] == ()


def test_a_target_that_is_read_for_its_id_alone_is_told() -> None:
    findings, _ = lint(_merge('"src"', 't."id" = s.id'), CATALOG, OPTIONS)
    assert 'reads the whole target: nothing in its ON restricts "day"' in findings[0].message
