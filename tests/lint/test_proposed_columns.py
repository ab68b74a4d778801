"""DPP007 where a query filters a column that a partition column is computed from: what to declare,
or to add, if the statements that write the table agree; nothing of it is ever written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog
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
def test_advice(tmp_path: Path, where: str, predicate: str) -> None:
    finding = unbounded(tmp_path, where, MONTH)
    place = f"{tmp_path}/load.sql:1"
    assert f"filters `order_date`, of which `order_month` is computed ({place})" in finding.message
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
def test_no_advice(tmp_path: Path, where: str, values: tuple[str, ...]) -> None:
    finding = unbounded(tmp_path, where, *values)
    assert finding.message.endswith("no condition bounds its partition column `order_month`")
    assert "declare" not in finding.help
