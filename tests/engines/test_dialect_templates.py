"""Templates in texts of other dialects: read as in Spark's."""

from __future__ import annotations

from functools import cache

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.dialects import dialect
from sqlrewrite.linting.linter import lint
from sqlrewrite.settings.options import make_options
from sqlrewrite.stripping import stripped
from sqlrewrite.text.limits import Limits
from tests.support.cases import Case, catalog, query_cases

TEMPLATES = [case for case in query_cases() if case.name.startswith("templates/")]
OTHERWISE = {
    "templates/constant_beside_text": "typeof() is not theirs",
    "templates/set_to_what_varies": "SET x:y is not theirs",
    "templates/sqlmesh_model": "MODEL (…) has a colon, which is not theirs",
    "templates/stale": "the predicate has a hint of Spark's",
}
"""Cases that are no texts of the dialects, or are not written in them as in Spark's."""
CATALOG = Catalog.from_ddl(
    """
    CREATE TABLE web.sales (id bigint, day date) WITH (partitioned_by = ARRAY['day']);
    CREATE TABLE web.dim (day date, "group" varchar, yr integer);
    """,
    schema="web",
)


@cache
def _as_spark(case: Case) -> str:
    return rewrite(case.text(), catalog(case.ddl), hint=False).sql


@pytest.mark.parametrize("case", TEMPLATES, ids=lambda case: case.name)
@pytest.mark.parametrize("name", ["trino", "duckdb", "flink"])
def test_they_are_read_as_in_sparks_texts(name: str, case: Case) -> None:
    text, written_in = case.text(), dialect(name)
    assert written_in is not None
    assert written_in.from_spark(written_in.to_spark(text).text) == text
    result = rewrite(text, catalog(case.ddl), dialect=name)
    if case.name not in OTHERWISE:
        sparks = _as_spark(case)
        assert result.changed == (sparks != text)
        assert name == "flink" or result.sql == sparks
    assert rewrite(result.sql, catalog(case.ddl), dialect=name).sql == result.sql


def _trino(text: str) -> str:
    return rewrite(text, CATALOG, dialect="trino", engine="trino", when="eligible").sql


@pytest.mark.parametrize(
    ("condition", "repeated"),
    [
        ("d.yr = {{ var('y') }}", "d2.yr = {{ var('y') }}"),
        ("d.day >= date '{{ ds }}'", "d2.day >= date '{{ ds }}'"),
        ('d."group" = \'{{ var("g") }}\'', 'd2."group" = \'{{ var("g") }}\''),
        ("d.\"group\" = '{{ var('g') }}'", "d2.\"group\" = '{{ var('g') }}'"),
        ("d.yr = 3\n{% if is_incremental() %} AND s.id > 3 {% endif %}", "d2.yr = 3"),
    ],
)
def test_a_condition_with_a_template_is_repeated(condition: str, repeated: str) -> None:
    text = (
        "{{ config(materialized='table') }}\nSELECT date_trunc('week', s.day) "
        "FROM {{ ref('sales') }} s JOIN {{ source('web', 'dim') }} d ON s.day = d.day WHERE "
    )
    predicate = (
        f"s.day IN (SELECT d2.day FROM {{{{ source('web', 'dim') }}}} AS d2 WHERE {repeated})"
    )
    first, _, block = condition.partition("\n")
    block = block and f"\n{block}"
    written = _trino(text + condition)
    assert written == f"{text}{first} AND {predicate} /* dpp-rewrite */{block}"
    assert stripped(written, Limits(dialect="trino")).sql == text + condition


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1 FROM sales s {{ kind }} JOIN dim d ON s.day = d.day WHERE d.yr = 3", None),
        ("SELECT {{ f }}(1) FROM sales s JOIN dim d ON s.day = d.day WHERE d.yr = 3", "a word"),
        ("SELECT 1 FROM sales s JOIN dim d ON s.day = d.day WHERE d.yr = 3 {{ rest }}", None),
        ("SELECT 1 FROM sales s JOIN dim d ON s.day = d.day WHERE d.yr = {{ x", "not understood"),
        (
            "SELECT 1 FROM sales s JOIN dim d ON s.day = d.day WHERE d.yr = 3 "
            "{% if var('x') %} OR true {% endif %}",
            "would stand in a template block",
        ),
    ],
)
def test_what_may_change_the_statement_is_left_alone(text: str, reason: str | None) -> None:
    result = rewrite(text, CATALOG, dialect="trino", engine="trino", when="eligible")
    assert result.sql == text
    assert result.skipped
    assert reason is None or reason in result.skipped[0].message


def test_findings_are_those_of_all_renderings() -> None:
    text = "SELECT id FROM {{ ref('sales') }}{% if is_incremental() %} WHERE id > 3{% endif %}"
    findings, _ = lint(text, CATALOG, make_options(engine="trino", dialect="trino"))
    assert [finding.code for finding in findings] == ["DPP007"]
