"""``--statistics``: what was understood, why not more, and what to do first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite.text.markers import MARKER
from tests.cli.conftest import Ran, beside_catalog

DDL = """\
CREATE TABLE dw.orders (id INT, day DATE, dt BLOB) USING parquet PARTITIONED BY (day, dt);
CREATE TABLE dw.clicks (id INT) USING parquet PARTITIONED BY (day);
CREATE TABLE a.cal (day DATE, year INT) USING parquet;
CREATE TABLE dw.cal (day DATE, dt STRING, year INT) USING parquet;
CREATE TABLE b.other (day DATE) USING parquet;
CREATE TABLE c.other (day DATE) USING parquet;
"""
ON_DAY = "SELECT o.id FROM dw.orders o CROSS JOIN dw.cal c WHERE o.day = c.day AND c.year = 2000;\n"
TEXTS = {
    "pruned": ON_DAY.replace("WHERE", "WHERE o.day = date'2000-01-01' AND"),
    "typeless": ON_DAY.replace("o.day = c.day", "o.dt = c.dt"),
    "unknown": "SELECT * FROM dw.none n JOIN dw.cal c ON n.day = c.day;\n",
    "either": "SELECT * FROM other n, dw.cal c WHERE n.day = c.day AND c.year = 1;\n",
    "undeclared": ON_DAY.replace("orders", "clicks"),
    "called": ON_DAY.replace("o.id", "mine(o.id)"),
    "template": ON_DAY.replace("WHERE", "{% for x in y %} {% endfor %} WHERE"),
    "plain": "SELECT 1 FROM dw.cal;\n",
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    return beside_catalog(monkeypatch, tmp_path, DDL)


def told(run: Callable[..., Ran], text: str, command: str = "rewrite") -> dict[str, Any]:
    Path("q.sql").write_text(text)
    ran = run(command, "--statistics", "--format", "json", "q.sql")
    statistics: dict[str, Any] = json.loads(ran.out)["statistics"]
    return statistics


@pytest.mark.parametrize("command", ["rewrite", "lint"])
def test_what_is_counted(run: Callable[..., Ran], command: str) -> None:
    sentences = told(run, ON_DAY + "".join(TEXTS.values()), command)
    assert {name: count for name, count in sentences.items() if isinstance(count, int)} == {
        "files": 1,
        "statements": 9,
        "joins": 8,
        "understood": 7,
        "candidates": 4,
        "rewritten": 1,
        "already_pruned": 1,
    }


@pytest.mark.parametrize(
    ("name", "reason", "remedy"),
    [
        ("pruned", None, None),
        (
            "typeless",
            "DPP112 key-types: the type of dw.orders.dt is not known",
            "declare the type of dw.orders.dt",
        ),
        (
            "unknown",
            "`dw.none` is not in the catalog",
            "declare `dw.none` in the catalog, with what it is partitioned by",
        ),
        (
            "either",
            "`other` is not in the catalog",
            "say which schema is meant, with --schema: b or c",
        ),
        (
            "undeclared",
            "the partition column of dw.clicks is none of its columns",
            "declare the partition column of dw.clicks",
        ),
        (
            "called",
            "DPP108 determinism: mine() is not known to be deterministic",
            "say of mine() in [tool.dpp-rewrite.functions] whether it is",
        ),
        (
            "template",
            "`{% for %}` changes the statement",
            "rewrite what dbt compiles: target/compiled",
        ),
        ("plain", None, None),
    ],
)
def test_why_not_and_what_to_do(
    run: Callable[..., Ran], name: str, reason: str | None, remedy: str | None
) -> None:
    sentences = told(run, TEXTS[name] * 2)
    if reason is None:
        assert (sentences["reasons"], sentences["first"]) == ([], None)
        return
    assert [sentence["count"] for sentence in sentences["reasons"]] == [2]
    assert sentences["reasons"][0]["reason"].removeprefix("left alone: ").startswith(reason)
    assert sentences["first"] == {"do": remedy, "scans": 2}


def test_the_most_frequent_comes_first(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(TEXTS["unknown"] + TEXTS["typeless"] * 2 + ON_DAY)
    ran = run("--statistics", "q.sql")
    lines = ran.out.decode().splitlines()
    assert lines[4].split() == ["would", "be", "rewritten", "1"]
    assert lines[-5:] == [
        "why nothing was written, most frequent first",
        "  2  DPP112 key-types: the type of dw.orders.dt is not known",
        "  1  `dw.none` is not in the catalog",
        "",
        "do first: 2 scans: declare the type of dw.orders.dt",
    ]
    assert ran.err.startswith("1 would be rewritten, 3 unchanged, 0 skipped\n")


def test_findings_are_counted_by_code(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(ON_DAY * 2)
    ran = run("lint", "--statistics", "q.sql")
    assert ran.status == 1
    lines = ran.out.decode().splitlines()
    assert lines[0] == "2  DPP001  missing-predicate"
    assert lines[2].split()[:2] == ["statements", "2"]


def test_writing_goes_on(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(ON_DAY)
    ran = run("-w", "--statistics", "q.sql")
    assert "\nrewritten           1\n" in ran.out.decode()
    assert "1 rewritten, 0 unchanged" in ran.err
    assert MARKER in Path("q.sql").read_text()
    assert run("--check", "--statistics", "q.sql").status == 0


def test_many_files_by_several_processes(run: Callable[..., Ran]) -> None:
    """And a cache, which has none of it."""
    for n in range(60):
        Path(f"q{n}.sql").write_text(TEXTS["unknown"])
    for command in ("rewrite", "lint", "rewrite"):
        ran = run(command, "-j", "2", "--statistics", ".")
        assert "do first: 60 scans: declare `dw.none`" in ran.out.decode()
        check = ("--check",) * (command == "rewrite")
        assert run(command, *check, "-q", "--exclude", "ddl.sql", ".").status in (0, 1)


def test_python_is_counted(run: Callable[..., Ran]) -> None:
    Path("q.py").write_text(f'spark.sql("""{TEXTS["unknown"]}""")\nx = 1\n')
    for command in ("rewrite", "lint"):
        lines = run(command, "--statistics", "q.py").out.decode().splitlines()
        assert [line.split()[-1] for line in lines if line.startswith("with a join")] == ["1"]
        assert lines[-1].startswith("do first: 1 scan: declare `dw.none`")


def test_the_same_of_stdin(run: Callable[..., Ran]) -> None:
    assert b"do first: 1 scan: " in run("--statistics", "-", stdin=TEXTS["unknown"]).out
    assert b"do first: 1 scan: " in run("lint", "--statistics", "-", stdin=TEXTS["unknown"]).out


@pytest.mark.parametrize(
    "arguments",
    [("--diff",), ("--strip",), ("lint", "--format", "sarif")],
)
def test_what_it_cannot_go_with(run: Callable[..., Ran], arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, "--statistics", "ddl.sql")
    assert ran.status == 2
    assert f"--statistics cannot go with {' '.join(arguments).removeprefix('lint ')}" in ran.err
