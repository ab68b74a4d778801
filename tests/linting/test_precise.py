"""What must not be found, beside its neighbours that must."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.files import lint_file
from sqlrewrite.linting.findings import Finding, Severity
from sqlrewrite.linting.linter import lint
from sqlrewrite.results import Verdict
from sqlrewrite.run.file_rewriting import Request
from sqlrewrite.settings.options import make_options
from sqlrewrite.warehouse import Column, Table

DDL = """
CREATE TABLE sales (id INT, amount INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE clicks (id INT, dt STRING, h STRING) PARTITIONED BY (dt, h);
CREATE TABLE lake (id INT, dt STRING) USING iceberg PARTITIONED BY (dt);
CREATE TABLE log (id INT, dt STRING) USING delta PARTITIONED BY (dt);
CREATE TABLE f (id INT, k INT) USING parquet PARTITIONED BY (k);
CREATE TABLE d (k INT, big BIGINT, text STRING, x INT) USING parquet;
CREATE TABLE snap (pd STRING) USING parquet PARTITIONED BY (pd);
CREATE TABLE kept (id INT, day DATE, open BOOLEAN) USING delta PARTITIONED BY (open);
CREATE TABLE kept_by_day (id INT, day DATE, open BOOLEAN) PARTITIONED BY (open, day);
"""


@pytest.fixture(scope="module")
def known() -> Catalog:
    """The tables, of one of which only the partition column is known."""
    catalog = Catalog.from_ddl(DDL)
    name = next(relation for relation in catalog.relations if relation[-1] == "snap")
    snap = catalog.relations[name]
    assert isinstance(snap, Table)
    half = replace(snap, columns=(Column("pd"),), complete=False)
    return catalog.with_relation(half)


def _found(text: str, catalog: Catalog) -> list[Finding]:
    findings, failures = lint(text, catalog)
    assert failures == ()
    assert all(len(finding.message) < 300 for finding in findings)
    return list(findings)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM snap WHERE pd = '2024-01-01'",
        "SELECT id FROM snap WHERE pd = (SELECT max(pd) FROM snap)",
        "SELECT s.id FROM snap s JOIN other o ON s.id = o.id WHERE pd = '3'",
        "WITH t AS (SELECT * FROM snap) SELECT * FROM t WHERE pd = '1'",
        "SELECT id FROM (SELECT * FROM snap) t WHERE t.pd = '3'",
        "SELECT id FROM sales WHERE day = (SELECT max(day) FROM sales)",
        "SELECT id FROM sales WHERE day >= (SELECT date_sub(max(day), 3) FROM sales)",
        "SELECT id FROM sales WHERE ${cond}",
        "SELECT id FROM sales WHERE id = 1 AND {{ macro('day') }}",
        "SELECT id FROM sales WHERE ({{ cond }} OR id = 2)",
        "SELECT id FROM sales WHERE ${col} = '2024'",
        "SELECT id FROM STREAM(sales)",
        "{{ config(materialized='view') }} SELECT * FROM sales",
        "{{ config(tags=['a'], materialized = \"ephemeral\") }} SELECT * FROM sales",
        "SELECT * FROM sales LIMIT 10",
        "SELECT day, count(*) FROM sales GROUP BY day HAVING day > DATE '2024-01-01'",
        "SELECT day, sum(id) AS n FROM sales GROUP BY ALL HAVING n > 1 AND year(day) = 2024",
        "CREATE TABLE copy AS SELECT * FROM sales WHERE 1 = 0",
        "SELECT * FROM (SELECT * FROM sales) WHERE false AND id = 1",
        "WITH s AS (SELECT * FROM sales) SELECT * FROM s WHERE 1 <> 1",
        "SELECT count(*) FROM kept",
        "SELECT max(day) FROM sales",
        "SELECT min(s.day) AS first, MAX(s.day) FROM sales s",
        "SELECT max(pd) FROM snap",
        "CREATE TABLE newest AS SELECT max(day) AS day FROM sales",
        "SELECT * FROM sales TABLESAMPLE (10 ROWS)",
        "SELECT s.id, d.x FROM sales TABLESAMPLE (10 ROWS) s JOIN d ON s.id = d.k WHERE s.id = 1",
    ],
)
def test_no_scan_is_called_unbounded_that_may_be_bounded(known: Catalog, text: str) -> None:
    assert not [finding for finding in _found(text, known) if finding.code == "DPP007"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM sales WHERE id = ${x}",
        "SELECT id FROM sales WHERE day = (SELECT max(day) FROM sales WHERE amount > 0)",
        "{{ config(materialized='table') }} SELECT * FROM sales",
        "SELECT * FROM sales ORDER BY id LIMIT 10",
        "SELECT day, count(*) FROM sales GROUP BY day",
        "SELECT id, max(day) FROM sales GROUP BY id HAVING max(day) > DATE '2024-01-01'",
        "SELECT day, count(*) FROM sales GROUP BY day HAVING my_udf(day) > 1",
        "SELECT day, count(*) FROM sales GROUP BY ROLLUP (day) HAVING day > DATE '2024-01-01'",
        "SELECT id, count(*) OVER () FROM sales QUALIFY day > DATE '2024-01-01'",
        "SELECT * FROM sales WHERE 1 = 1",
        "SELECT * FROM sales WHERE 1 = 0 OR id = 1",
        "WITH s AS (SELECT * FROM sales) SELECT * FROM s WHERE false UNION ALL SELECT * FROM s",
        "SELECT count(*) FROM kept_by_day",
        "SELECT * FROM sales TABLESAMPLE (10 PERCENT)",
        "SELECT * FROM sales TABLESAMPLE (BUCKET 1 OUT OF 4)",
        "SELECT max(id) FROM sales",
        "SELECT max(day), max(id) FROM sales",
        "SELECT max(day), count(*) FROM sales",
        "SELECT max(day), sum(amount) FROM sales",
        "SELECT max(day) FROM sales WHERE id = 3",
        "SELECT max(day) FROM sales GROUP BY id",
        "SELECT max(day) OVER (PARTITION BY id) FROM sales",
    ],
)
def test_what_is_known_to_be_read_whole_is_still_found(known: Catalog, text: str) -> None:
    assert "DPP007" in [finding.code for finding in _found(text, known)]


def test_a_sample_of_rows_is_a_limit_to_spark_alone(known: Catalog) -> None:
    text = "SELECT * FROM sales TABLESAMPLE (10 ROWS)"
    codes_by_engine = {
        engine: [finding.code for finding in lint(text, known, make_options(engine=engine))[0]]
        for engine in ("spark", "duckdb")
    }
    assert codes_by_engine == {"spark": [], "duckdb": ["DPP007"]}


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("SELECT day, count(*) FROM sales GROUP BY day", Severity.NOTE),
        ("SELECT day, count(*) FROM sales GROUP BY 1", Severity.NOTE),
        ("SELECT id, count(*) FROM sales GROUP BY id", Severity.WARNING),
        ("SELECT year(day), count(*) FROM sales GROUP BY year(day)", Severity.WARNING),
        ("SELECT sum(amount) OVER (PARTITION BY day) FROM sales", Severity.WARNING),
        ("INSERT OVERWRITE TABLE f PARTITION (k) SELECT id, amount FROM sales", Severity.NOTE),
        ("INSERT INTO clicks PARTITION (dt = '1', h) SELECT id, id FROM sales", Severity.NOTE),
        (
            "WITH s AS (SELECT * FROM sales) INSERT OVERWRITE f PARTITION (k) SELECT * FROM s",
            Severity.NOTE,
        ),
        ("CREATE TABLE n PARTITIONED BY (day) AS SELECT * FROM sales", Severity.NOTE),
        ("INSERT OVERWRITE TABLE f PARTITION (k = 1) SELECT id FROM sales", Severity.WARNING),
        ("INSERT INTO f SELECT id, amount FROM sales", Severity.WARNING),
        ("CREATE TABLE n AS SELECT * FROM sales", Severity.WARNING),
        ("CREATE TABLE partitioned_n AS SELECT * FROM sales", Severity.WARNING),
        ("CREATE TABLE n COMMENT 'partitioned by hand' AS SELECT * FROM sales", Severity.WARNING),
        (
            "CREATE TABLE n AS SELECT sum(amount) OVER (PARTITION BY id) FROM sales",
            Severity.WARNING,
        ),
    ],
)
def test_what_handles_each_partition_reads_them_all_on_purpose(
    known: Catalog, text: str, severity: Severity
) -> None:
    assert [finding.severity for finding in _found(text, known) if finding.code == "DPP007"] == [
        severity
    ]


@pytest.mark.parametrize(
    ("condition", "severity"),
    [
        ("clicks WHERE CAST(dt AS DATE) = DATE '2024-01-05'", Severity.NOTE),
        ("clicks WHERE concat(dt, '-', h) = '2024-01-05-01'", Severity.NOTE),
        ("clicks WHERE dt >= date_sub(current_date(), 3)", Severity.NOTE),
        ("clicks WHERE dt = 20240105", Severity.WARNING),
        ("clicks WHERE dt IN (20240105, 20240106)", Severity.WARNING),
        ("clicks WHERE dt BETWEEN 20240105 AND 20240106", Severity.WARNING),
        ("clicks WHERE my_udf(dt) = 1", Severity.WARNING),
        ("clicks WHERE a.my_udf(dt) = 1", Severity.WARNING),
        ("clicks JOIN d ON substr(dt, 1, 4) = d.text WHERE d.x = 1", Severity.NOTE),
        ("lake WHERE CAST(dt AS DATE) = DATE '2024-01-05'", Severity.WARNING),
        ("log WHERE CAST(dt AS DATE) = DATE '2024-01-05'", None),
        ("clicks WHERE dt = '20240105'", None),
        ("clicks WHERE dt IN ('20240105', NULL)", None),
    ],
)
def test_a_wrapped_column_is_a_note_where_spark_prunes_by_it(
    known: Catalog, condition: str, severity: Severity | None
) -> None:
    severities = [
        finding
        for finding in _found(f"SELECT * FROM {condition}", known)
        if finding.code == "DPP004"
    ]
    assert [finding.severity for finding in severities] == [severity] * (severity is not None)
    assert not [problem for problem in severities if "expression with ." in problem.message]
    by_values = "finds partitions by the values" in "".join(
        problem.message for problem in severities
    )
    assert by_values == ("lake" in condition or "my_udf" in condition)


@pytest.mark.parametrize(
    "query",
    [
        "f JOIN d ON f.k = d.k WHERE d.k IN (3, 4)",
        "f, d WHERE f.k = d.k AND d.k > 3",
        "d LEFT JOIN f ON f.k = d.k WHERE d.k BETWEEN 3 AND 4",
        "d LEFT JOIN f ON f.k = d.k AND d.k > 3",
        "f RIGHT JOIN d ON f.k = d.k WHERE d.k > 3",
        "f LEFT SEMI JOIN d ON f.k = d.k AND d.k > 3",
        "f JOIN (SELECT k FROM d WHERE k > 3) e ON f.k = e.k",
        "f JOIN d ON f.k = d.big WHERE d.big > 3",
    ],
)
def test_constants_that_spark_carries_over_need_no_predicate(known: Catalog, query: str) -> None:
    text = f"SELECT * FROM {query}"
    assert not [finding for finding in _found(text, known) if finding.code == "DPP001"]
    (candidate,) = rewrite(text, known).candidates
    assert candidate.verdict is Verdict.ALREADY_PRUNED


@pytest.mark.parametrize(
    "query",
    [
        "f JOIN d ON f.k = d.k WHERE d.k > 3 AND d.x = 1",
        "f JOIN d ON f.k = d.k WHERE d.k > 3 OR d.x = 1",
        "f JOIN d ON f.k = d.k + 1 WHERE d.k > 3",
        "f WHERE k IN (SELECT k FROM d WHERE k > 3)",
        "f WHERE EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND d.k > 3)",
        "f JOIN d ON f.k = d.k WHERE d.k > (SELECT max(x) FROM d)",
    ],
)
def test_what_spark_does_not_carry_over_is_still_found(known: Catalog, query: str) -> None:
    assert "DPP001" in [finding.code for finding in _found(f"SELECT * FROM {query}", known)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM sales WHERE day IN (SELECT max(day) FROM sales)",
        "SELECT s.id FROM sales s JOIN (SELECT max(day) AS m FROM sales) q ON s.day = q.m",
    ],
)
def test_the_latest_partition_is_found_once_with_what_is_written(text: str, known: Catalog) -> None:
    """The advice of DPP011 is the predicate, and behind it the finding is gone."""
    (finding,) = (
        finding for finding in _found(text, known) if finding.code in ("DPP001", "DPP011")
    )
    assert finding.code == "DPP011"
    assert finding.fix is not None
    result = rewrite(text, known)
    assert finding.help.split("`")[1] in result.sql
    assert not [
        finding for finding in _found(result.sql, known) if finding.code in ("DPP001", "DPP011")
    ]


@pytest.mark.parametrize(
    ("condition", "severity", "read"),
    [
        ("", Severity.WARNING, "every partition is read"),
        (" WHERE s.id > 1", Severity.WARNING, "every partition is read"),
        (
            " WHERE s.day > DATE'2024-01-01'",
            Severity.NOTE,
            "that the other conditions leave is read",
        ),
    ],
)
def test_the_latest_of_bounded_partitions_is_a_note(
    condition: str, severity: Severity, read: str, known: Catalog
) -> None:
    latest = "(SELECT max(day) AS m FROM kept_by_day)"
    text = f"SELECT s.id FROM sales s JOIN {latest} q ON s.day = q.m{condition}"
    (finding,) = (finding for finding in _found(text, known) if finding.code == "DPP011")
    assert finding.severity is severity
    assert finding.message.endswith(read)


@pytest.mark.parametrize(
    ("text", "joins"),
    [
        (
            "{% macro m() %} {# a join #} {{ x | join(',') }} {% set y = x %} {% endmacro %}",
            0,
        ),
        ("{% macro m() %} {# from a to b, c #} f({{ x }}, 1) {% endmacro %}", 0),
        ("{% docs d %} What comes from a, b and a join. {% enddocs %}", 0),
        ("{% macro m() %} {# c #} SELECT 1 FROM {{ a }}, {{ b }} {% endmacro %}", 1),
        ("{% macro m() %} SELECT 1 FROM a JOIN {{ b }} {% endmacro %}", 1),
    ],
)
def test_a_macro_joins_only_in_its_sql(text: str, joins: int, known: Catalog) -> None:
    assert len([finding for finding in _found(text, known) if finding.code == "DPP000"]) == joins


def test_a_join_on_a_wrapped_column_is_no_note_beside_what_prunes_or_cannot(known: Catalog) -> None:
    text = "SELECT * FROM sales s JOIN d ON year(s.day) = d.k WHERE d.x = 1"
    assert "DPP004" in [finding.code for finding in _found(text, known)]
    assert _found(rewrite(text, known).sql, known) == []
    text = (
        "SELECT * FROM sales s JOIN d ON array(s.day) = array(CAST(d.text AS DATE)) WHERE d.x = 1"
    )
    assert [finding.code for finding in _found(text, known)] == ["DPP005"]


@pytest.mark.parametrize(
    ("condition", "severity"),
    [("b.id = 1", Severity.NOTE), ("b.id = 1 AND b.h > '05'", Severity.WARNING)],
)
def test_a_key_query_over_all_of_the_same_table_is_in_doubt(
    known: Catalog, condition: str, severity: Severity
) -> None:
    text = f"SELECT a.id FROM clicks a JOIN clicks b ON a.dt = b.dt WHERE {condition}"
    findings = [finding for finding in _found(text, known) if finding.code == "DPP001"]
    assert [finding.severity for finding in findings][:1] == [severity]


def test_a_model_that_its_project_makes_a_view_is_not_read_whole(tmp_path: Path) -> None:
    models = {
        "staging/stg.sql": "select * from {{ ref('orders') }}",
        "staging/by_macro.sql": "select {{ columns() }} from {{ ref('orders') }}",
        "marts/orders.sql": "select 1 as id, day from raw.events",
        "marts/copied.sql": "select * from {{ ref('orders') }}",
    }
    for name, text in models.items():
        (tmp_path / "models" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / name).write_text(text)
    (tmp_path / "dbt_project.yml").write_text(
        "name: shop\nmodels:\n  shop:\n    staging: {+materialized: view}\n"
        "    marts: {+materialized: table, +partition_by: day}\n"
    )
    catalog = Catalog.load(str(tmp_path))
    request = Request(catalog)
    codes_by_name = {
        name: [finding.code for finding in lint_file(name, text.encode(), request).findings]
        for name, text in models.items()
    }
    assert [name for name, codes in codes_by_name.items() if "DPP007" in codes] == [
        "marts/copied.sql"
    ]


@pytest.mark.parametrize(
    ("table", "source", "whole"),
    [
        ("lake", "(SELECT 1 AS id, '20240105' AS dt)", False),
        ("lake", "(SELECT id, '20240105' AS dt FROM clicks)", False),
        ("lake", "(SELECT id, dt FROM clicks WHERE dt = '20240105')", False),
        ("lake", "(SELECT id, dt FROM clicks WHERE dt IN ('20240105', '20240106'))", False),
        ("lake", "(SELECT id, dt FROM clicks WHERE dt >= '20240105')", False),
        ("lake", "(SELECT id, dt FROM clicks WHERE dt = '7' UNION SELECT 1, '8')", False),
        ("lake", "(SELECT id, max(dt) AS dt FROM clicks WHERE dt > '7' GROUP BY id)", True),
        ("lake", "(SELECT id, CAST(current_date() AS STRING) AS dt FROM clicks)", False),
        ("lake", "(SELECT * FROM VALUES (1, '7') AS v(id, dt))", True),
        ("lake", "(SELECT * FROM VALUES (1, '7') AS v(id, dt) UNION ALL SELECT 2, '8')", True),
        ("lake", "clicks", True),
        ("log", "(SELECT id, dt FROM clicks WHERE dt = '20240105')", True),
        ("log", "(SELECT 1 AS id, '20240105' AS dt)", True),
    ],
)
def test_a_merge_of_constants_is_carried_over_by_iceberg_alone(
    known: Catalog, table: str, source: str, whole: bool
) -> None:
    text = (
        f"MERGE INTO {table} t USING {source} s ON t.id = s.id AND t.dt = s.dt "
        "WHEN MATCHED THEN UPDATE SET id = 1"
    )
    assert ("DPP010" in [finding.code for finding in _found(text, known)]) is whole


@pytest.mark.parametrize(
    ("condition", "advice"),
    [
        ("clicks WHERE dt = 20240105", "write the number as a string: `'20240105'`"),
        ("lake WHERE dt IN (1, 2)", "write the numbers as strings: `'1'`, `'2'`"),
        ("log WHERE dt BETWEEN 7 AND 9", "write the numbers as strings: `'7'`, `'9'`"),
        ("lake WHERE dt IN (1, 2, 3, 4)", "`'1'`, `'2'`, `'3'` and so on"),
        ("lake WHERE dt >= date_sub(current_date(), 3)", "date_format(…, 'yyyyMMdd')"),
    ],
)
def test_a_hidden_cast_is_told_with_the_literal_that_is_right(
    known: Catalog, condition: str, advice: str
) -> None:
    findings = _found(f"SELECT * FROM {condition}", known)
    (finding,) = [finding for finding in findings if finding.code == "DPP004"]
    assert advice in finding.help
