"""Derived columns: where they are declared, and what becomes of a declaration."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog, CatalogError, rewrite
from sqlrewrite.catalog import snapshot
from sqlrewrite.warehouse import Derivation, Warehouse

DDL = """
CREATE TABLE logs.clicks (id BIGINT GENERATED ALWAYS AS IDENTITY, ts TIMESTAMP, note STRING,
  dt DATE NOT NULL GENERATED ALWAYS AS (CAST(`ts` AS DATE)) COMMENT 'the day, generated',
  y INT GENERATED ALWAYS AS (YEAR(ts))) USING delta PARTITIONED BY (dt, y)
"""
FILTERED = "SELECT id FROM logs.clicks WHERE ts >= '2024-03-01'"


def _derived(known: Warehouse) -> dict[str, Derivation]:
    (table,) = known.tables
    return {column.column: column for column in table.derived}


def test_generated_columns_are_derived() -> None:
    derived = _derived(Catalog.from_ddl(DDL))
    assert derived == {
        "dt": Derivation("dt", "CAST(`ts` AS DATE)", ("ts",), "GENERATED ALWAYS AS"),
        "y": Derivation("y", "YEAR(ts)", ("ts",), "GENERATED ALWAYS AS"),
    }


def test_what_is_declared_replaces_what_is_generated() -> None:
    catalog = Catalog.from_ddl(DDL).deriving({"logs.clicks": {"y": "year(to_date(ts))"}})
    assert _derived(catalog)["y"].origin == "the settings"
    assert _derived(catalog)["dt"].origin == "GENERATED ALWAYS AS"


@pytest.mark.parametrize(
    ("derived", "message"),
    [
        ({"clicks": {"no": "year(ts)"}}, "has no column no: it has id, ts, note, dt, y"),
        ({"clicks": {"dt": "year(ts"}}, "cannot be read as an expression"),
        ({"clicks": {"dt": "year(ts) -- the year"}}, "holds a comment"),
        ({"a..b": {"y": "year(ts)"}}, "derived: not a table: 'a..b'"),
    ],
)
def test_what_cannot_be_declared(derived: dict[str, dict[str, str]], message: str) -> None:
    with pytest.raises(CatalogError, match=message.replace(".", r"\.")):
        Catalog.from_ddl(DDL).deriving(derived)


def test_a_snapshot_keeps_them_and_passes_over_proposals(tmp_path: Path) -> None:
    catalog = Catalog.from_ddl(DDL)
    (name,) = catalog.relations
    proposed = {name: (Derivation("note", "CAST(ts AS STRING)"),)}
    file = tmp_path / "warehouse.json"
    file.write_text(snapshot.write(catalog, None, proposed))
    assert '"proposed"' in file.read_text()
    derived = _derived(Catalog.load(str(file)))
    assert {column.column: column.expression for column in derived.values()} == {
        "dt": "CAST(`ts` AS DATE)",
        "y": "YEAR(ts)",
    }
    assert {column.origin for column in derived.values()} == {"the snapshot"}


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("DROP COLUMN ts", set()),
        ("RENAME COLUMN ts TO t", set()),
        ("ALTER COLUMN ts TYPE TIMESTAMP_NTZ", set()),
        ("ALTER COLUMN y TYPE BIGINT", {"dt"}),
        ("ADD COLUMN more INT", {"dt", "y"}),
    ],
)
def test_a_changed_column_is_derived_no_more(change: str, left: set[str]) -> None:
    catalog = Catalog.from_ddl(f"{DDL}; ALTER TABLE logs.clicks {change}")
    assert set(_derived(catalog)) == left


@pytest.mark.parametrize(
    "text", ["SET TIME ZONE 'UTC'", "SET spark.sql.session.timeZone = Asia/Tokyo"]
)
def test_behind_another_time_zone_none_is_declared(text: str) -> None:
    catalog = Catalog.from_ddl(DDL)
    alone = rewrite(FILTERED, catalog, time_zone="UTC").sql
    assert alone.endswith(
        "AND dt >= CAST(CAST('2024-03-01' AS TIMESTAMP) AS DATE) /* dpp-rewrite */ "
        "AND y >= YEAR(CAST('2024-03-01' AS TIMESTAMP)) /* dpp-rewrite */"
    )
    behind = rewrite(f"{text};\n{FILTERED}", catalog, time_zone="UTC").sql
    assert behind == f"{text};\n{rewrite(FILTERED, catalog).sql}"


@pytest.mark.parametrize(
    ("zone", "bound"),
    [
        ("UTC", "CAST(CAST('2024-03-01' AS TIMESTAMP) AS DATE)"),
        ("+05:30", "CAST(CAST('2024-03-01' AS TIMESTAMP) AS DATE)"),
        ("Etc/GMT+5", "CAST(CAST('2024-03-01' AS TIMESTAMP) AS DATE)"),
        ("America/St_Johns", "date_sub(CAST(CAST('2024-03-01' AS TIMESTAMP) AS DATE), 1)"),
        (None, "date_sub(CAST(CAST('2024-03-01' AS TIMESTAMP) AS DATE), 2)"),
    ],
)
def test_how_wide_a_bound_is(zone: str | None, bound: str) -> None:
    written = rewrite(FILTERED, Catalog.from_ddl(DDL), time_zone=zone).sql
    assert f"AND dt >= {bound} /* dpp-rewrite */" in written


def test_a_verdict_quotes_the_declaration() -> None:
    catalog = Catalog.from_ddl(DDL)
    candidate = rewrite(FILTERED, catalog).candidates[0]
    messages = {rule.code: rule.message for rule in candidate.rules}
    assert messages["DPP103"] == (
        "`dt` is a partition column: dt = CAST(`ts` AS DATE), declared by GENERATED ALWAYS AS"
    )
    assert messages["DPP118"] == "widened by 2 days, as sessions may use different time zones"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("concat(note, ts)", "over several columns"),
        ("note", ""),
        ("rand()", ""),
        ("my_own(ts)", "another value when it is computed again"),
        ("uuid() || ts", "another value when it is computed again"),
    ],
)
def test_an_expression_that_bounds_nothing_and_why(expression: str, why: str) -> None:
    ddl = "CREATE TABLE c (id INT, ts TIMESTAMP, note STRING, p STRING) PARTITIONED BY (p)"
    catalog = Catalog.from_ddl(ddl).deriving({"c": {"p": expression}})
    result = rewrite("SELECT id FROM c WHERE ts >= '2024-03-01'", catalog)
    assert not result.changed
    reasons = [
        candidate.reason.message for candidate in result.candidates if candidate.reason is not None
    ]
    assert (why in reasons[0]) if why else reasons == []
