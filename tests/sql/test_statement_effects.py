"""What a statement leaves changed, as `enable` must hear of it."""

from __future__ import annotations

import pytest

from sqlrewrite.sql.parse.statements import statements
from sqlrewrite.sql.statements.effects import ANYTHING, NOTHING, effect


@pytest.mark.parametrize(
    "text",
    ["SELECT 1", "WITH a AS (SELECT 1) SELECT * FROM a", "FROM t SELECT *", "VALUES (1)",
     "DESCRIBE TABLE t", "SHOW TABLES", "EXPLAIN SELECT 1"],
)  # fmt: skip
def test_reading_changes_nothing(text: str) -> None:
    (statement,) = statements(text)
    assert effect(statement) is NOTHING


@pytest.mark.parametrize("text", ["SET a.b = c", "RESET", "USE retail", "USE CATALOG lake"])
def test_what_sets_and_uses_changes_settings(text: str) -> None:
    (statement,) = statements(text)
    assert effect(statement).settings


@pytest.mark.parametrize(
    "text",
    ["INSERT INTO dw.sales SELECT * FROM x", "DROP TABLE sales", "REFRESH TABLE dw.sales",
     "ALTER TABLE sales ADD COLUMN x INT", "CREATE OR REPLACE TEMP VIEW sales AS SELECT 1",
     "TRUNCATE TABLE sales", "MSCK REPAIR TABLE sales", "UNCACHE TABLE sales",
     "ANALYZE TABLE sales COMPUTE STATISTICS",
     "MERGE INTO sales USING x ON sales.a = x.a WHEN MATCHED THEN DELETE"],
)  # fmt: skip
def test_the_relation_is_among_the_words(text: str) -> None:
    (statement,) = statements(text)
    words = effect(statement).words
    assert words is not None
    assert "sales" in words


@pytest.mark.parametrize("text", ["CALL lake.system.rollback('t')", "EXECUTE IMMEDIATE x"])
def test_what_is_not_known_may_change_anything(text: str) -> None:
    (statement,) = statements(text)
    assert effect(statement) == ANYTHING


@pytest.mark.parametrize(
    ("text", "kept"),
    [("CREATE VIEW v AS SELECT 1", True), ("CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1", True),
     ("CREATE TABLE v AS SELECT 1", False), ("ALTER VIEW v AS SELECT 1", True)],
)  # fmt: skip
def test_texts_that_spark_keeps(text: str, kept: bool) -> None:
    (statement,) = statements(text)
    assert effect(statement).stored is kept
