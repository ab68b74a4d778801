"""Expectations of Delta live tables, which stand in the list of columns and are none."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog
from sqlrewrite.warehouse import Table

SOURCE = "CREATE TABLE src (id BIGINT, day DATE) USING delta;"
EXPECTED = "CONSTRAINT v EXPECT (id > 0) ON VIOLATION DROP ROW"


@pytest.mark.parametrize("columns", [EXPECTED, f"id BIGINT, day DATE, {EXPECTED}"])
def test_an_expectation_is_no_column(columns: str) -> None:
    create = f"CREATE OR REFRESH LIVE TABLE t ({columns}) PARTITIONED BY (day) AS SELECT * FROM src"
    table = Catalog.from_ddl(SOURCE + create).resolve(("t",))
    assert isinstance(table, Table)
    assert [(column.name, column.type) for column in table.columns] == [
        ("id", "bigint"),
        ("day", "date"),
    ]
    assert table.complete
    assert [(field.column, field.transform) for field in table.partitioned_by] == [
        ("day", "identity")
    ]


def test_columns_of_such_names_are_columns() -> None:
    table = Catalog.from_ddl("CREATE TABLE t (constraint STRING, expect INT)").resolve(("t",))
    assert isinstance(table, Table)
    assert [column.name for column in table.columns] == ["constraint", "expect"]
