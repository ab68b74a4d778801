"""What texts show by themselves, with no catalog given: used, told as a guess, and written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.catalog.infer import ddl, infer
from sqlrewrite.copies import replace
from sqlrewrite.warehouse import Table, TableOrView, Warehouse


def shown(tmp_path: Path, text: str, schema: str | None = None) -> Catalog:
    path = tmp_path / "a.hql"
    path.write_text(text)
    return Catalog.seen(str(path), schema=schema)


def told(found: TableOrView | None) -> tuple[str, str, bool]:
    assert isinstance(found, Table)
    columns = " ".join(f"{c.name}:{c.type}" for c in found.columns)
    return columns, " ".join(column.column for column in found.partitioned_by), found.complete


@pytest.mark.parametrize(
    "text",
    [
        "INSERT OVERWRITE TABLE t PARTITION (dt = '2024-01-01', hr) SELECT a FROM s",
        "insert into t partition(dt='${dt}',hr=${hr}) values (1)",
        "WITH s AS (SELECT 1) INSERT INTO TABLE t PARTITION (dt, hr) SELECT * FROM s",
        "FROM s INSERT OVERWRITE TABLE t PARTITION (dt, hr) SELECT 1 INSERT INTO u SELECT 2",
        "ALTER TABLE t ADD IF NOT EXISTS PARTITION (dt = '2024', hr = 3) LOCATION '/x'",
        "LOAD DATA INPATH '/x' OVERWRITE INTO TABLE t PARTITION (dt = '2024', hr = 3)",
        "CREATE TABLE t LIKE elsewhere; INSERT INTO t PARTITION (dt, hr) SELECT 1",
    ],
)
def test_a_partition_that_is_written(tmp_path: Path, text: str) -> None:
    assert told(shown(tmp_path, text).resolve(("t",))) == ("dt:None hr:None", "dt hr", False)


def test_what_is_declared_is_not_guessed(tmp_path: Path) -> None:
    text = "CREATE TABLE t (a INT, dt DATE); INSERT INTO t PARTITION (dt) SELECT 1"
    assert told(shown(tmp_path, text).resolve(("t",))) == ("a:int dt:date", "", True)


def test_partitions_that_contradict_each_other_show_none(tmp_path: Path) -> None:
    text = "INSERT INTO t PARTITION (dt) SELECT 1; INSERT INTO t PARTITION (dt, hr) SELECT 1"
    assert shown(tmp_path, text).resolve(("t",)) is None


def test_the_schema_of_use(tmp_path: Path) -> None:
    catalog = shown(tmp_path, "USE dw; INSERT INTO t PARTITION (dt) SELECT 1")
    assert set(catalog.relations) == {("spark_catalog", "dw", "t")}


def test_no_predicate_without_the_type(tmp_path: Path) -> None:
    text = "CREATE TABLE cal (d STRING, y INT); INSERT INTO t PARTITION (dt) SELECT 1"
    catalog = shown(tmp_path, text)
    query = "SELECT * FROM t JOIN cal c ON t.dt = c.d WHERE c.y = 2024"
    result = rewrite(query, catalog)
    assert result.sql == query
    (candidate,) = result.candidates
    assert candidate.reason is not None
    assert candidate.reason.message == "the type of `t.dt` is not known: declare the type of `dt`"


SCRIPT = """USE dw;
CREATE TABLE cal (d STRING NOT NULL, y INT, `odd name` STRUCT<a: INT>) STORED AS ORC;
CREATE TABLE lake.raw.e (a INT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts), bucket(4, a));
CREATE TABLE made PARTITIONED BY (y) AS SELECT y, f(d) AS x FROM cal;
CREATE TABLE ${db}.copy LIKE elsewhere;
CREATE TABLE log (at TIMESTAMP, id INT, day DATE GENERATED ALWAYS AS (CAST(at AS DATE)) NOT NULL,
  PRIMARY KEY (id)) USING delta PARTITIONED BY (day);
CREATE VIEW v (a) AS SELECT d FROM cal;
INSERT INTO t PARTITION (dt = '2024-01-01') SELECT 1;
"""


def test_written_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    path.write_text(SCRIPT)
    inferred, guessed = infer([str(path)], Warehouse())
    text = ddl(inferred, guessed)
    again = Catalog.from_ddl(text)
    assert set(again.relations) == set(inferred.relations)
    for name, relation in inferred.relations.items():
        read = again.relations[name]
        if isinstance(relation, Table) and not relation.columns:
            relation = replace(relation, complete=False)
        assert replace(read, source="") == replace(relation, source="")
    assert "declare the type of dt, with values like '2024-01-01'" in text
    assert list(guessed) == [("spark_catalog", "dw", "t")]
