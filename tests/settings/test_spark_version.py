"""What depends on the version of Spark: where it is not known, what holds for all from 3.5 is said.
What each version does: docs/spark.md, "By version"."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from sqlrewrite import Candidate, Catalog, ConfigError, outputs, rewrite
from sqlrewrite.plan.facts.functions import attempts, function
from sqlrewrite.rulebook import at_least, engine
from sqlrewrite.run.catalogs import load_catalog
from sqlrewrite.settings.config import load
from sqlrewrite.settings.spark_conf import (
    PUSHED,
    STORED,
    TIME_PARSER_POLICY,
    VERSION,
    engine_under,
    is_on,
)

DDL = """
CREATE TABLE sales (id INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE sorted (id INT, day DATE) USING parquet CLUSTER BY (day);
CREATE TABLE days (day DATE, year INT, label STRING) USING parquet;
"""
SALES = "SELECT s.id FROM sales s JOIN days d ON s.day = d.day WHERE "
BY_PATTERN = f"{SALES}to_date(d.label, 'yyyy-MM-dd') > DATE '2024-01-01'"


def under(**settings: str) -> Catalog:
    """The tables under settings; ``version`` is that of Spark."""
    names = {"version": VERSION, "policy": TIME_PARSER_POLICY}
    conf = {names[name]: value for name, value in settings.items()}
    return replace(Catalog.from_ddl(DDL), settings=conf)


def only(sql: str, catalog: Catalog) -> Candidate:
    (candidate,) = rewrite(sql, catalog).candidates
    return candidate


@pytest.mark.parametrize(
    ("version", "other", "expected"),
    [
        ("3.5", "4.0", False),
        ("4.0.5", "4.0", True),
        ("4.10", "4.9", True),
        ("4.3.0-SNAPSHOT", "4.3", True),
        ("", "3.5", None),
    ],
)
def test_versions_are_compared(version: str, other: str, expected: bool | None) -> None:
    assert at_least(version, other) is expected


@pytest.mark.parametrize(
    ("settings", "written"),
    [
        ({}, False),
        ({"version": "3.5.9"}, False),
        ({"version": "4.0"}, True),
        ({"policy": "CORRECTED"}, True),
        ({"version": "3.5", "policy": "legacy"}, True),
        ({"version": "4.3", "policy": "EXCEPTION"}, False),
        ({"version": "4.3", "policy": "${policy}"}, False),
    ],
)
def test_a_date_by_a_pattern_is_attempted_where_no_parser_raises(
    settings: dict[str, str], written: bool
) -> None:
    """Under EXCEPTION, Spark's default before 4.0, try_to_timestamp raises an error as well."""
    candidate = only(BY_PATTERN, under(**settings))
    assert (candidate.predicate is not None) is written
    if not written:
        assert candidate.reason is not None
        assert "say `spark-version`" in candidate.reason.message


@pytest.mark.parametrize(
    ("before", "version", "written"),
    [
        (f"SET {TIME_PARSER_POLICY} = LEGACY", "3.5", True),
        (f"SET {TIME_PARSER_POLICY} = LEGACY; RESET {TIME_PARSER_POLICY}", "3.5", False),
        (f"SET {TIME_PARSER_POLICY} = LEGACY; RESET {TIME_PARSER_POLICY}", "4.3", True),
        (f"BEGIN IF x THEN SET {TIME_PARSER_POLICY} = LEGACY; END IF; END", "3.5", False),
        (f"BEGIN IF x THEN SET {TIME_PARSER_POLICY} = EXCEPTION; END IF; END", "4.3", False),
    ],
)
def test_a_text_sets_the_policy(before: str, version: str, written: bool) -> None:
    assert rewrite(f"{before};\n{BY_PATTERN}", under(version=version)).changed is written


@pytest.mark.parametrize(
    ("version", "written", "message"),
    [
        ("", True, "whole files and row groups are skipped (from Spark 4.0 on)"),
        ("3.5", False, "Spark before 4.0 skips files by constants only: `--predicate values`"),
        ("4.0", True, "whole files and row groups are skipped"),
    ],
)
def test_ends_reach_row_groups_from_4_0_on(version: str, written: bool, message: str) -> None:
    sql = "SELECT s.id FROM sorted s JOIN days d ON s.day = d.day WHERE d.year = 2024"
    candidate = only(sql, under(version=version) if version else under())
    assert (candidate.predicate is not None) is written
    (column,) = [rule for rule in candidate.rules if rule.code == "DPP103"]
    assert column.message.endswith(message)


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        ("VALUES (DATE'2024-01-01'), (DATE'2024-01-02')", True),
        (
            "SELECT col1 FROM VALUES (DATE'2024-01-01', 1), (DATE'2024-01-02', 2) WHERE col2 > 1",
            True,
        ),
        ("SELECT DISTINCT col1 FROM VALUES (DATE'2024-01-01'), (DATE'2024-01-02')", False),
        ("SELECT d.day FROM days d JOIN VALUES (1) v(k) ON d.year = v.k", False),
    ],
)
@pytest.mark.parametrize("version", ["", "3.5", "4.1", "4.3"])
def test_literal_rows_prune_by_themselves_from_4_3_on(rows: str, left: bool, version: str) -> None:
    catalog = under(version=version) if version else under()
    sql = f"SELECT s.id FROM sales s JOIN ({rows}) AS d(day) ON s.day = d.day"
    assert rewrite(sql, catalog).changed
    assert rewrite(sql, catalog, when="missed").changed is not (left and version == "4.3")


@pytest.mark.parametrize(
    ("version", "kind"), [("", None), ("3.5", None), ("4.0", "bigint"), ("4.3", "bigint")]
)
def test_a_reset_of_ansi_mode(version: str, kind: str | None) -> None:
    """What is set at the start, or the default, which is on from 4.0: then both are."""
    text = "SET spark.sql.ansi.enabled = false; RESET spark.sql.ansi.enabled; "
    text += "SELECT coalesce(1, '1') AS a"
    catalog = under(version=version) if version else under()
    (*_, columns) = outputs(text, catalog, ansi=True)
    assert columns == (("a", kind),)


@pytest.mark.parametrize(
    ("version", "stored", "pushed"),
    [
        ("", None, None),
        ("3.5", False, False),
        ("4.0", False, True),
        ("4.1", True, True),
    ],
)
def test_defaults_of_storage_partitioned_joins(
    version: str, stored: bool | None, pushed: bool | None
) -> None:
    conf = {VERSION: version} if version else {}
    assert (is_on(conf, STORED), is_on(conf, PUSHED)) == (stored, pushed)


def test_where_the_version_is_said(tmp_path: Path) -> None:
    """In the settings, else in a snapshot."""
    (tmp_path / "warehouse.json").write_text(
        '{"version": 1, "settings": {"spark.version": "3.5.9"}, "tables": []}', "utf-8"
    )
    for line, version in (("", "3.5.9"), ('spark-version = "4.1"', "4.1")):
        file = tmp_path / "dpp-rewrite.toml"
        file.write_text(f'catalog = ["warehouse.json"]\n{line}', "utf-8")
        catalog = load_catalog(load(str(file)))
        assert engine_under(engine("spark"), catalog.settings).version == version


def test_the_library_takes_a_version() -> None:
    assert rewrite(BY_PATTERN, under(version="3.5"), spark_version="4.0").changed
    with pytest.raises(ConfigError, match=r"a version of Spark from 3\.5 on"):
        rewrite(BY_PATTERN, under(), spark_version="2.4")


LAKE = """
CREATE TABLE f (a INT, p INT, big BIGINT) USING iceberg PARTITIONED BY (p);
CREATE TABLE e (a INT, day DATE) USING iceberg PARTITIONED BY (day);
CREATE TABLE t (a INT, name STRING) USING iceberg PARTITIONED BY (name);
CREATE TABLE n (a INT, price DECIMAL(9, 2)) USING iceberg PARTITIONED BY (price);
"""
_OF = "IN (SELECT /*+ BROADCAST(q) */ q.k FROM {} AS q(k) WHERE q.k <= {} OR q.k >= {}) "


@pytest.mark.parametrize(
    ("text", "keys", "constant"),
    [
        ("SELECT a FROM f WHERE p IN (SELECT max(p) FROM f)", "(SELECT max(p) FROM f)", "0"),
        (
            "SELECT e.a FROM e JOIN (SELECT max(day) AS m FROM e) x ON e.day = x.m",
            "(SELECT x2.m FROM (SELECT max(day) AS m FROM e) AS x2)",
            "DATE '2000-01-01'",
        ),
        (
            "SELECT a FROM t WHERE name IN (SELECT DISTINCT name FROM t ORDER BY name LIMIT 3)",
            "(SELECT DISTINCT name FROM t ORDER BY name LIMIT 3)",
            "''",
        ),
        (
            "CREATE TABLE mx AS SELECT max(p) AS m FROM f; SELECT a FROM f JOIN mx ON f.p = mx.m",
            "(SELECT m2.m FROM mx AS m2)",
            "0",
        ),
        # A condition that can fail, which Spark copies to the keys of an IN in a scalar subquery.
        ("SELECT (SELECT max(a) FROM f WHERE 10 / p > 1 AND p IN (SELECT max(p) FROM f))", "", ""),
        ("SELECT a FROM n WHERE price IN (SELECT max(price) FROM n)", "", ""),
        ("SELECT a FROM f WHERE p IN (SELECT max(big) FROM f)", "", ""),
        ("SELECT f.a FROM f JOIN (SELECT max(p) AS m FROM f) x ON f.p >= x.m", "", ""),
    ],
)
def test_the_latest_partition_of_iceberg_before_4_3(text: str, keys: str, constant: str) -> None:
    """A hinted IN, where it is safe and compares as the join does; else as on any other."""
    catalog = Catalog.from_ddl(LAKE)
    written = rewrite(text, catalog, spark_version="4.1")
    assert written.changed
    assert ("BROADCAST(q)" in written.sql) is bool(keys)
    assert not keys or _OF.format(keys, constant, constant) in written.sql
    for version in ("4.3", None):
        assert "BROADCAST(q)" not in rewrite(text, catalog, spark_version=version).sql
    assert rewrite(written.sql, catalog, spark_version="4.1").sql == written.sql
    assert "BROADCAST(q)" not in rewrite(text, catalog, spark_version="4.1", hint=False).sql


def test_what_is_written_is_there_in_every_version() -> None:
    """The forms of what is attempted call functions of 3.5, or no younger ones than their own."""
    for name, (_, _, form) in attempts().items():
        row = function(name.partition("/")[0])
        own = "3.5" if row is None else row.since
        for called in re.findall(r"(\w+)\(", form):
            inner = function(called.lower())  # none of try_cast, which is syntax
            since = "3.5" if inner is None else inner.since
            assert at_least("3.5", since) or at_least(own, since), (name, called)
