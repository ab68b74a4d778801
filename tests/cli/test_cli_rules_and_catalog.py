"""``rules`` and ``catalog show``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from sqlrewrite.catalog import Catalog
from sqlrewrite.rulebook import Page
from sqlrewrite.warehouse import Column, Name, PartitionField, Table, TableOrView, View

PAGES = (
    Page(
        "DPP101", "join-type", "The join lets the fact's rows go.", "soundness", "# Join\n\n*a*\n"
    ),
    Page("DPP120", "benefit", "It must pay.", "benefit", "# Benefit\n"),
)


@pytest.fixture(autouse=True)
def rulebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlrewrite.rulebook.pages", lambda: PAGES)


def test_rules_are_listed(run: Any) -> None:
    assert run("rules").out.decode() == (
        "code     name        kind        summary\n"
        "DPP101   join-type   soundness   The join lets the fact's rows go.\n"
        "DPP120   benefit     benefit     It must pay.\n"
    )


@pytest.mark.parametrize("code", ["DPP101", "dpp101", "join-type"])
def test_a_rule_s_page_is_printed(run: Any, code: str) -> None:
    assert run("rules", code).out == b"# Join\n\n*a*\n"
    assert b"*a*" not in run("rules", "--color", code).out  # set, not quoted


@pytest.mark.parametrize(
    ("code", "near"),
    [("DPP102", "; did you mean DPP101?"), ("benefits", "; did you mean benefit?")],
)
def test_an_unknown_rule(run: Any, code: str, near: str) -> None:
    ran = run("rules", code)
    assert (ran.status, ran.out) == (2, b"")
    assert f"there is no rule {code!r}{near}" in ran.err


def relations() -> Mapping[Name, TableOrView]:
    listed: tuple[TableOrView, ...] = (
        Table(
            ("spark_catalog", "default", "sales"),
            (Column("day", "date"), Column("amount")),
            (PartitionField("day"),),
            size_in_bytes=40_150_000_000,
            row_count=123_456_789,
            source="ddl.sql:3",
        ),
        Table(
            ("lake", "raw", "clicks"),
            (Column("ts"),),
            (PartitionField("ts", "days"), PartitionField("user", "bucket[16]")),
            streaming=True,
            size_in_bytes=512,
        ),
        View(("spark_catalog", "mart", "daily"), "select 1", ("day",), source="ddl.sql:9"),
    )
    return MappingProxyType({relation.name: relation for relation in listed})


def test_show_has_a_line_for_each_relation(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Catalog, "load", lambda *_, **__: Catalog().with_relations(relations()))
    assert run("catalog", "show", "-c", "x").out.decode() == (
        "name              kind     columns   partitioned by"
        "                      rows       size   source\n"
        "lake.raw.clicks   stream         1   days(ts), bucket[16](user)"
        "                    512 B\n"
        "sales             table          2   day"
        "                          123,456,789   37.4 GiB   ddl.sql:3\n"
        "mart.daily        view           1"
        "                                                         ddl.sql:9\n"
        "\n2 tables (2 partitioned), 1 view; current schema spark_catalog.default\n"
    )


def test_catalog_show_in_a_narrow_terminal(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Catalog, "load", lambda *_, **__: Catalog().with_relations(relations()))
    monkeypatch.setenv("COLUMNS", "60")
    out = run("catalog", "show", "-c", "x", "--color").out.decode()
    assert "…" not in out  # folded, never cut off


def test_catalog_show_without_a_catalog(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPP_REWRITE_CATALOG")
    ran = run("catalog", "show")
    assert (ran.status, ran.out) == (2, b"")
    assert "no catalog: give --catalog" in ran.err


def test_catalog_show_json_is_a_catalog_again(run: Any) -> None:
    Path("ddl.sql").write_text(
        "create table sales (amount int, day date) using parquet partitioned by (day);"
    )
    ran = run("catalog", "show", "-c", "ddl.sql", "--format", "json")
    assert ran.status == 0
    Path("snapshot.json").write_bytes(ran.out)
    again = run("catalog", "show", "-c", "snapshot.json", "--format", "json")
    assert again.out == ran.out


def test_catalog_show_knows_its_dialects(run: Any) -> None:
    Path("ddl.sql").write_text("CREATE TABLE t (a INT);")
    assert run("catalog", "show", "-c", "ddl.sql", "--dialect", "flink").status == 0
    ran = run("catalog", "show", "-c", "ddl.sql", "--dialect", "flunk")
    assert ran.status == 2
    assert "no dialect is called 'flunk': did you mean flink?" in ran.err


def test_a_broken_catalog_of_the_settings_is_named(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPP_REWRITE_CATALOG")
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = ["none.sql"]\n')
    ran = run("catalog", "show")
    assert ran.status == 2
    assert ran.err.startswith("Error: none.sql: ")
    assert ran.err.endswith(" (catalog of pyproject.toml)\n")


def test_infer_writes_ddl_and_marks_its_guesses(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.hql").write_text("USE dw; INSERT INTO t PARTITION (dt = '1') SELECT 1")
    (tmp_path / "b.sql").write_text("CREATE TABLE bad (a INT")
    ran = run("catalog", "infer", str(tmp_path), "-o", str(tmp_path / "found.ddl"))
    assert ran.status == 0
    assert "b.sql:1:1: default.bad cannot be read: a parenthesis is not closed" in ran.err
    assert "found.ddl, 1 guessed" in ran.err
    text = (tmp_path / "found.ddl").read_text()
    assert "  dt UNKNOWN -- a guess: declare the type of dt, with values like '1'\n" in text
    (tmp_path / "a.hql").write_text("SELECT 1")
    ran = run("catalog", "infer", str(tmp_path / "a.hql"), "-o", str(tmp_path / "found.ddl"))
    assert ran.status == 2
    assert "nothing is written: " in ran.err
    assert (tmp_path / "found.ddl").read_text() == text


def test_what_a_catalog_leaves_out_is_reported(run: Any, tmp_path: Path) -> None:
    (tmp_path / "ddl.sql").write_text("CREATE TABLE good (a INT); CREATE TABLE bad (a INT")
    (tmp_path / "q.sql").write_text("SELECT 1;\n")
    catalog = str(tmp_path / "ddl.sql")
    why = "ddl.sql:1:28: default.bad cannot be read: a parenthesis is not closed"
    assert why in run("catalog", "show", "-c", catalog).out.decode()
    for command in ("rewrite", "lint"):
        ran = run(command, "-c", catalog, str(tmp_path / "q.sql"))
        assert "catalog: 1 place could not be read; `dpp-rewrite catalog show" in ran.err
        assert "catalog:" not in run(command, "-q", "-c", catalog, str(tmp_path / "q.sql")).err


def test_catalog_infer_overwrites_nothing_that_it_reads(run: Any, tmp_path: Path) -> None:
    ddl = tmp_path / "ddl.sql"
    ddl.write_text("-- ours\nCREATE TABLE a (b INT);\n")
    for output, why in ((ddl, "this file is read too"), (tmp_path, "cannot be written: Is a dir")):
        ran = run("catalog", "infer", str(tmp_path), "-o", str(output))
        assert ran.status == 2
        assert why in ran.err
        assert "internal error" not in ran.err
    assert ddl.read_text() == "-- ours\nCREATE TABLE a (b INT);\n"
