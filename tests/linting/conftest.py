"""The tables that the lint tests share."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog

DDL = """
CREATE TABLE sales (id INT, amount INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE clicks (id INT, day STRING) USING parquet PARTITIONED BY (day);
CREATE TABLE stock (id INT, d INT, h INT) USING parquet PARTITIONED BY (d, h);
CREATE TABLE calendar (day DATE, year INT, label STRING, n INT) USING parquet;
CREATE VIEW recent AS SELECT * FROM sales;
"""


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)
