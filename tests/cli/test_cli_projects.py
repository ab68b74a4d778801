"""A repository of several projects: each file has the settings of the nearest pyproject.toml."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlrewrite.catalog import ddl
from sqlrewrite.run.jobs import WORTH
from sqlrewrite.text.markers import MARKER
from sqlrewrite.warehouse import Warehouse
from tests.cli.conftest import Ran, invoke

JOIN = "SELECT s.id FROM sales s CROSS JOIN calendar c WHERE s.day = c.day AND c.year = 2000\n"
WHOLE = "SELECT id FROM sales\n"
SALES = "CREATE TABLE sales (id INT, day DATE) USING parquet"
CALENDAR = "CREATE TABLE calendar (day DATE, year INT) USING parquet"
PARTITIONED = f"{SALES} PARTITIONED BY (day);\n{CALENDAR};\n"
NOT_PARTITIONED = f"{SALES};\n{CALENDAR};\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs the program above two projects: in ``a`` sales is partitioned, in ``b`` it is not."""
    monkeypatch.chdir(tmp_path)
    for name, tables in (("a", PARTITIONED), ("b", NOT_PARTITIONED)):
        Path(name).mkdir()
        Path(name, "ddl.sql").write_text(tables)
        Path(name, "q.sql").write_text(JOIN)
        _settings(name, 'catalog = "ddl.sql"')

    return invoke


def _settings(folder: str, text: str) -> None:
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "pyproject.toml").write_text(f"[tool.dpp-rewrite]\n{text}\n")


def _written() -> list[str]:
    """The folders whose query has a predicate."""
    return [name for name in "ab" if MARKER in Path(name, "q.sql").read_text()]


@pytest.mark.parametrize("paths", [("a/q.sql", "b/q.sql"), ("b/q.sql", "a/q.sql"), (".",)])
def test_each_file_is_judged_by_its_own_catalog(run: Callable[..., Ran], paths: str) -> None:
    ran = run("lint", "--format", "concise", *paths)
    assert ran.status == 1
    assert ran.out.decode().startswith("a/q.sql:1:18: DPP001 [*] ")
    assert ran.out.count(b"\n") == 1
    assert run("--check", *paths).status == 1
    assert run("-w", *paths).status == 0
    assert _written() == ["a"]


def test_names_with_the_other_separator(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows a hook names files with forward slashes."""
    monkeypatch.setattr(os, "altsep", "|")
    assert run("lint", "--format", "concise", "b|q.sql", "a|q.sql").out.startswith(b"a/q.sql:1:18:")
    assert run("lint", "--stdin-filename", "a|x.sql", "-", stdin=JOIN).status == 1


def test_the_report_is_one(run: Callable[..., Ran]) -> None:
    Path("b/p.sql").write_text("SELECT id FROM none")
    lint = ("lint", "--format", "json", "none.sql", "a", "b")
    summary = json.loads(run(*lint).out)["summary"]
    assert (summary["files"], summary["findings"], summary["errors"]) == (6, 1, 1)
    report = json.loads(run("--format", "json", "--check", "none.sql", "a", "b").out)
    assert report["summary"]["files"] == 6
    assert [file["path"] for file in report["files"]] == [
        "none.sql",
        *("a/ddl.sql", "a/q.sql", "b/ddl.sql", "b/p.sql", "b/q.sql"),
    ]
    assert run("--check", "a", "b").err.splitlines()[-1] == (
        "1 would be rewritten, 6 unchanged, 0 skipped"
    )


def test_one_file_of_settings_for_all(run: Callable[..., Ran]) -> None:
    assert run("--config", "b/pyproject.toml", "--check", "a", "b").status == 0
    assert run("--check", "a", "b", DPP_REWRITE_CONFIG="b/pyproject.toml").status == 0
    assert run("--config", "a/pyproject.toml", "-w", "a/q.sql", "b/q.sql").status == 0
    assert _written() == ["a", "b"]


def test_a_catalog_that_is_named_is_read_once(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    original = ddl.read

    def noted(path: Path, start: Warehouse) -> Warehouse:
        read.append(path)
        return original(path, start)

    monkeypatch.setattr(ddl, "read", noted)
    assert run("-c", "a/ddl.sql", "-w", "a/q.sql", "b/q.sql").status == 0
    assert _written() == ["a", "b"]
    assert len(read) == 1


def test_what_counts_is_settled_by_project(run: Callable[..., Ran]) -> None:
    for name in "ab":
        Path(name, "q.sql").write_text("SELECT FROM WHERE;\n" + WHOLE)
    _settings("a", 'catalog = "ddl.sql"\nignore = ["DPP007"]')
    _settings("b", 'catalog = "../a/ddl.sql"\nseverity = { DPP007 = "error" }')
    report = json.loads(run("lint", "--format", "json", "--select", "DPP", "a", "b").out)
    codes = [
        (finding["path"], finding["code"], finding["severity"]) for finding in report["findings"]
    ]
    assert ("b/q.sql", "DPP007", "error") in codes
    assert run("lint", "a").status == 0
    assert run("lint", "a", "b").status == 1
    _settings("a", "strict = true")
    for paths in (("a",), ("b", "a"), ("a", "b")):
        assert run("--check", *paths).status == 1
    assert run("--check", "b").status == 0


def test_what_is_excluded_is_settled_by_project(run: Callable[..., Ran]) -> None:
    _settings("a", 'catalog = "ddl.sql"\nexclude = ["q.sql"]')
    assert run("lint", ".").status == 0
    assert run("lint", "a/q.sql", "b/q.sql").status == 1
    assert run("lint", "--force-exclude", "b/q.sql", "a/q.sql").status == 0
    _settings("a", 'catalog = "ddl.sql"\nexclude = ["q.sql"]\nforce-exclude = true')
    assert run("lint", "b/q.sql", "a/q.sql").status == 0
    assert run("lint", ".").err == "no findings in 3 files\n"


def test_a_project_that_the_one_around_it_excludes(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a folder of that one: left out where that is searched, and not where it is itself."""
    _settings(".", 'exclude = ["a"]')
    assert run("lint", ".").status == 0
    assert run("lint", "a").status == 1
    assert run("lint", "--force-exclude", "a/q.sql").status == 1
    monkeypatch.chdir("a")
    assert run("lint", ".").status == 1
    assert run("lint", "..").status == 0
    assert run("lint", "../a").status == 1


def test_a_nested_project_s_settings_are_its_own(run: Callable[..., Ran]) -> None:
    """What the outer one excludes by name is not left out within the inner."""
    _settings(".", 'exclude = ["q.sql"]\nignore = ["DPP"]')
    Path("q.sql").write_text(WHOLE)
    assert run("lint", "--format", "concise", ".").out.startswith(b"a/q.sql:")


def test_a_broken_project_stops_all_before_anything_is_written(run: Callable[..., Ran]) -> None:
    _settings("b", 'catalog = "none.sql"')
    ran = run("-w", "a/q.sql", "b/q.sql")
    assert (ran.status, _written()) == (2, [])
    assert "none.sql" in ran.err
    assert "(catalog of b/pyproject.toml)" in ran.err


def test_each_project_has_its_baseline(run: Callable[..., Ran]) -> None:
    _settings("b", 'catalog = "../a/ddl.sql"\nbaseline = "known.json"')
    for name in "ab":
        Path(name, "q.sql").write_text(WHOLE)
    ran = run("lint", "--write-baseline", "a", "b")
    assert (ran.status, ran.out) == (0, b"")
    assert ran.err == (
        "1 findings written to a/.dpp-rewrite-baseline.json\n1 findings written to b/known.json\n"
    )
    for path in ("a/.dpp-rewrite-baseline.json", "b/known.json"):
        assert [load["path"] for load in json.loads(Path(path).read_text())["findings"]] == [
            "q.sql"
        ]
    assert run("lint", ".").status == 0
    assert run("lint", "b/q.sql").status == 0
    Path("a/p.sql").write_text(WHOLE)
    assert run("lint", "--format", "concise", ".").out.startswith(b"a/p.sql:")


def test_a_baseline_that_is_named_is_of_all_projects(run: Callable[..., Ran]) -> None:
    _settings("b", 'catalog = "../a/ddl.sql"')
    for name in "ab":
        Path(name, f"{name}.sql").write_text(WHOLE)
    ran = run("lint", "--write-baseline", "--baseline", "known.json", "a", "b")
    assert (ran.status, ran.err) == (0, "4 findings written to known.json\n")
    assert run("lint", "--baseline", "known.json", "a", "b").status == 0


@pytest.mark.parametrize("repository", [True, False])
def test_reports_name_files_from_their_common_folder(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, repository: bool
) -> None:
    if repository:
        subprocess.run(["git", "init", "-q"], check=True)
    _settings("b", 'catalog = "../a/ddl.sql"')
    monkeypatch.chdir("a")
    issues = json.loads(run("lint", "--format", "gitlab", "../b", ".").out)
    assert [issue["location"]["path"] for issue in issues] == ["b/q.sql", "a/q.sql"]
    assert len({issue["fingerprint"] for issue in issues}) == 2


def test_many_small_projects_share_a_cache(run: Callable[..., Ran], tmp_path: Path) -> None:
    for number in range(WORTH):
        Path("ab"[number % 2], f"{number}.sql").write_text(WHOLE)
    cache = str(tmp_path / "cache")
    result = run("lint", "a", "b", DPP_REWRITE_CACHE_DIR=cache)
    assert os.path.isdir(cache)
    assert run("lint", "a", "b", DPP_REWRITE_CACHE_DIR=cache) == result


def test_the_name_of_stdin_has_a_project(run: Callable[..., Ran]) -> None:
    for name, status in (("a", 1), ("b", 0)):
        ran = run("lint", "--stdin-filename", f"{name}/x.sql", "-", stdin=JOIN)
        assert ran.status == status
    for name, count in (("a", 1), ("b", 0)):
        ran = run("--stdin-filename", f"{name}/x.sql", "-", stdin=JOIN)
        assert ran.out.count(MARKER.encode()) == count


def test_in_a_baseline_of_several_projects_files_of_one_name_are_two(
    run: Callable[..., Ran],
) -> None:
    _settings("b", 'catalog = "../a/ddl.sql"')
    named = ("lint", "--baseline", "known.json")
    run(*named, "--write-baseline", "a")
    assert run(*named, "a").status == 0
    assert run(*named, "b").status == 1
    run(*named, "--write-baseline", "b")
    assert run(*named, "a", "b").status == 0
    Path("a/q.sql").write_text(WHOLE)
    assert run(*named, "a", "b").status == 1


def test_unknown_codes_are_reported_with_their_file(run: Callable[..., Ran]) -> None:
    _settings("b", 'catalog = "ddl.sql"\nignore = ["DPP123"]')
    ran = run("lint", "a", "b")
    assert ran.status == 2
    assert ran.err.startswith("Error: b/pyproject.toml: no finding has a code that begins with")
    assert run("lint", "--ignore", "DPP123", "a").err.startswith("Error: no finding has a code")
