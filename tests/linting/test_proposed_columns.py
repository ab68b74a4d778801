"""DPP007 where a query filters a column that a partition column is computed from: what to declare,
or to add, if the statements that write the table agree; nothing of it is ever written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog
from sqlrewrite import lint as library_lint
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.linter import lint
from sqlrewrite.linting.proposed_columns import Proposals

DDL = """CREATE TABLE orders (id BIGINT, order_date DATE, amount INT, order_month DATE)
USING parquet PARTITIONED BY (order_month)"""
LOAD = "INSERT INTO orders SELECT s.id, s.order_date, s.amount, {} FROM s;\n"
MONTH = "trunc(s.order_date, 'MM')"


def unbounded(tmp_path: Path, where: str, *values: str) -> Finding:
    path = tmp_path / "load.sql"
    path.write_text("".join(LOAD.format(value) for value in values))
    catalog = Catalog.from_ddl(DDL)
    sql = f"SELECT sum(amount) FROM orders o WHERE {where}"
    findings, bugs = lint(sql, catalog, proposals=Proposals([str(path)], catalog))
    assert not bugs
    (finding,) = findings
    assert finding.code == "DPP007"
    return finding


@pytest.mark.parametrize(
    ("where", "predicate"),
    [
        (
            "o.order_date >= DATE '2024-03-15' AND o.order_date < DATE '2024-04-15'",
            "o.order_month >= trunc(DATE '2024-03-15', 'MM') AND "
            "o.order_month <= trunc(DATE '2024-04-15', 'MM')",
        ),
        ("o.order_date = DATE '2024-03-15'", "o.order_month = trunc(DATE '2024-03-15', 'MM')"),
    ],
)
def test_a_filter_of_the_source_column_gets_advice(
    tmp_path: Path, where: str, predicate: str
) -> None:
    finding = unbounded(tmp_path, where, MONTH)
    place = f"{tmp_path}/load.sql:1"
    assert (
        f"filters `order_date`, from which `order_month` is computed ({place})" in finding.message
    )
    assert f"add `{predicate}`, or declare " in finding.help
    assert "`order_month = \"trunc(order_date, 'MM')\"`" in finding.help
    assert '`[tool.dpp-rewrite.derived."default.orders"]`' in finding.help
    assert finding.fix is None


@pytest.mark.parametrize(
    ("where", "values"),
    [
        ("o.amount > 3", (MONTH,)),
        ("o.order_date <> DATE '2024-03-15'", (MONTH,)),  # bounds nothing
        ("o.order_date > DATE '2024-03-15'", (MONTH, "DATE '2024-01-01'")),
        ("o.order_date > DATE '2024-03-15'", ("trunc(s.shipped, 'MM')",)),
        ("o.order_date > DATE '2024-03-15'", ()),
    ],
)
def test_a_filter_that_bounds_nothing_gets_no_advice(
    tmp_path: Path, where: str, values: tuple[str, ...]
) -> None:
    finding = unbounded(tmp_path, where, *values)
    assert finding.message.endswith("no condition bounds its partition column `order_month`")
    assert "declare" not in finding.help


MODEL = """{{{{ config(materialized='incremental', partition_by=['order_month']) }}}}
SELECT r.id, r.order_date, {} AS order_month FROM {{{{ source('raw', 'r') }}}} AS r
{{% if is_incremental() %}}WHERE r.order_date >= '{{{{ var("from") }}}}'{{% endif %}}
"""
PROJECT = """models:
  - name: orders
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: int}
      - {name: order_date, data_type: date}
      - {name: order_month, data_type: date}
"""


@pytest.mark.parametrize(
    ("model", "other", "proposed"),
    [
        (MODEL.format("trunc(r.order_date, 'MM')"), "", True),
        (MODEL.format("CAST('{{ ds }}' AS DATE)"), "", False),
        (
            MODEL.format("trunc(r.order_date, 'MM')"),
            "INSERT INTO orders SELECT 1, x, y FROM z",
            False,
        ),
        (
            MODEL.format(
                "{% if is_incremental() %}trunc(r.order_date, 'MM'){% else %}r.month{% endif %}"
            ),
            "",
            False,
        ),
    ],
)
def test_a_model_of_dbt_writes_its_table(
    tmp_path: Path, model: str, other: str, proposed: bool
) -> None:
    """By its query, in each way in which its blocks may render."""
    (tmp_path / "models").mkdir()
    for name, text in {
        "dbt_project.yml": "name: shop\nmodels: {+materialized: table}\n",
        "models/schema.yml": PROJECT,
        "models/orders.sql": model,
        "models/other.sql": other or "SELECT 1 AS one",
    }.items():
        (tmp_path / name).write_text(text)
    catalog = Catalog.load(str(tmp_path / "dbt_project.yml"))
    files = [str(path) for path in (tmp_path / "models").glob("*.sql")]
    sql = "SELECT id FROM {{ ref('orders') }} WHERE order_date >= DATE '2024-05-03'"
    (finding,), _ = lint(sql, catalog, proposals=Proposals(files, catalog))
    place = f"from which `order_month` is computed ({tmp_path}/models/orders.sql:2)"
    assert (place in finding.message) is proposed
    assert ("add `order_month >= trunc(DATE '2024-05-03', 'MM')`" in finding.help) is proposed


def test_in_the_library(tmp_path: Path) -> None:
    path = tmp_path / "load.sql"
    path.write_text(LOAD.format(MONTH))
    sql = "SELECT sum(amount) FROM orders WHERE order_date > DATE '2024-03-15'"
    catalog = Catalog.from_ddl(DDL)
    (without,) = library_lint(sql, catalog)
    (finding,) = library_lint(sql, catalog, files=[str(path), str(tmp_path / "none.sql")])
    assert "order_month = " not in without.help
    assert "`order_month = \"trunc(order_date, 'MM')\"`" in finding.help
