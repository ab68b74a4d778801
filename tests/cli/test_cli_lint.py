"""``dpp-rewrite lint``: streams, exit statuses, what counts, the baseline, and settings."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, invoke
from tests.linting.conftest import DDL

JOIN = "SELECT s.id FROM sales s CROSS JOIN calendar c WHERE s.day = c.day AND c.year = 2000\n"
PRUNED_BY_SPARK = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2000\n"
WHOLE = "SELECT id FROM sales\n"
FINE = "SELECT id FROM sales WHERE day = DATE '2024-01-01'\n"
WHOLE_SAID = (
    "q.sql:1:16: DPP007 `sales` is read whole: no condition bounds its partition column `day`\n"
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs the program in a folder with a catalog."""
    monkeypatch.chdir(tmp_path)
    Path("ddl").mkdir()
    Path("ddl/tables.sql").write_text(DDL)
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = "ddl"\n')

    return invoke


def _settings(text: str) -> None:
    with Path("pyproject.toml").open("a") as file:
        file.write(text + "\n")


@pytest.mark.parametrize(
    ("options", "text", "status"),
    [
        ((), FINE, 0),
        ((), WHOLE, 1),
        ((), JOIN, 1),
        (("--exit-zero",), WHOLE, 0),
        (("--ignore", "DPP007"), WHOLE, 0),
        (("--select", "DPP001,DPP002"), WHOLE, 0),
        (("--select", "dpp007"), WHOLE, 1),
        (("--per-file-ignores", "q.sql:DPP007"), WHOLE, 0),
        (("--per-file-ignores", "p.sql:DPP007"), WHOLE, 1),
        (("--per-file-ignores", "q.sql:dpp007"), WHOLE, 0),
        (("--severity", "dpp007=note"), WHOLE, 0),
        (("--severity", "dpp007=note", "--strict"), WHOLE, 1),
        ((), PRUNED_BY_SPARK, 0),
        (("--strict",), PRUNED_BY_SPARK, 1),
        (("--severity", "dpp017=note"), WHOLE, 2),
        ((), "SELECT FROM WHERE", 0),
        (("--strict",), "SELECT FROM WHERE", 1),
        (("--strict",), "SELECT {{ x }}", 0),
        (("--select", "DPP7"), FINE, 2),
        (("--severity", "DPP007:note"), FINE, 2),
        (("--baseline", "none.json"), FINE, 2),
        (("none.sql",), FINE, 2),
        (("--format", "sarif", "--statistics"), FINE, 2),
        (("-q", "-v"), FINE, 2),
    ],
)
def test_the_exit_status_follows_options_and_findings(
    run: Callable[..., Ran], options: tuple[str, ...], text: str, status: int
) -> None:
    Path("q.sql").write_text(text)
    ran = run("lint", *options, "q.sql")
    assert (ran.status, "Traceback" in ran.err) == (status, False)
    assert Path("q.sql").read_text() == text


def test_findings_are_on_stdout_and_the_rest_on_stderr(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(WHOLE)
    ran = run("lint", "--format", "concise", "q.sql", "none.sql")
    assert ran.out.decode() == WHOLE_SAID
    assert ran.err == (
        "none.sql: error: cannot be read: no such file or directory\n"
        "1 finding in 1 file, 1 file not checked\n"
    )
    assert run("lint", "-q", "--format", "concise", "q.sql").err == ""
    assert run("lint", "none.sql").err.endswith("no findings in 0 files, 1 file not checked\n")


def test_stdin_is_named_by_its_option(run: Callable[..., Ran]) -> None:
    ran = run("lint", "--format", "concise", "--stdin-filename", "x/y.sql", "-", stdin=WHOLE)
    assert ran.out.decode().startswith("x/y.sql:1:16: DPP007 ")


def test_stdin_of_an_excluded_name_has_no_findings(run: Callable[..., Ran]) -> None:
    _settings('exclude = ["out"]')
    named = ("lint", "--stdin-filename", "out/q.sql", "-")
    assert run(*named, stdin=WHOLE).status == 1
    ran = run(*named, "--force-exclude", stdin=WHOLE)
    assert (ran.status, ran.out, ran.err) == (0, b"", "")
    assert json.loads(run(*named, "--force-exclude", "--format", "gitlab", stdin=WHOLE).out) == []


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab"])
def test_machine_forms_are_all_there_is_on_stdout(run: Callable[..., Ran], form: str) -> None:
    Path("q.sql").write_text(WHOLE)
    assert json.loads(run("lint", "--format", form, "q.sql").out)


def test_statistics_count_codes(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(f"{WHOLE};{WHOLE};{JOIN}")
    assert (
        run("lint", "--statistics", "q.sql")
        .out.decode()
        .startswith("2  DPP007  unbounded-scan\n1  DPP001  missing-predicate\n\nstatements ")
    )


def test_suppressed_findings_are_shown_when_asked_for(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text("SELECT id FROM sales -- dpp-rewrite: ignore[DPP007] all of it\n")
    assert run("lint", "q.sql").out == b""
    ran = run("lint", "-v", "--format", "concise", "q.sql")
    assert (ran.status, ran.out.decode()) == (
        0,
        WHOLE_SAID.replace("\n", " (suppressed: all of it)\n"),
    )


def test_a_file_of_broken_bytes_stops_no_other(run: Callable[..., Ran]) -> None:
    Path("a.sql").write_bytes(b"\xff\xfes\x00")
    Path("q.sql").write_text(WHOLE)
    ran = run("lint", "--format", "concise", ".")
    assert (ran.status, ran.out.decode()) == (2, WHOLE_SAID)
    assert "a.sql: error: UTF-16 text is not supported" in ran.err


def test_a_folder_that_cannot_be_read(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("d/e").mkdir(parents=True)
    Path("d/q.sql").write_text(FINE)
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if os.path.normpath(path) == os.path.join("d", "e"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    for command in (("lint",), ("rewrite", "--check")):
        ran = run(*command, "d")
        assert ran.status == 2
        assert ran.err.startswith("d/e: error: cannot be read: permission denied\n")


def test_a_repository_that_git_refuses(run: Callable[..., Ran]) -> None:
    Path("d/.git").mkdir(parents=True)
    Path("d/q.sql").write_text(FINE)
    for command in (("lint",), ("rewrite", "--check")):
        ran = run(*command, "d")
        assert ran.status == 0
        assert ran.err.startswith(
            "d: warning: git cannot list the files, so .gitignore leaves none out: not a git "
            "repository"
        )
        assert "warning" not in run(*command, "-q", "d").err


# --- the baseline ---------------------------------------------------------------------------------


def test_a_baseline_hides_what_was_there(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(WHOLE)
    ran = run("lint", "--write-baseline", "--baseline", "known.json", "q.sql")
    assert (ran.status, ran.out) == (0, b"")
    assert ran.err == "1 findings written to known.json\n"
    assert run("lint", "q.sql").status == 1
    _settings('baseline = "known.json"')
    assert run("lint", "q.sql").status == 0
    # Moved lines and other spacing are the same statement; another one, or another file, is new.
    Path("q.sql").write_text(f"-- moved\n\nselect  id\nfrom sales;\n{FINE}")
    assert run("lint", "q.sql").status == 0
    Path("q.sql").write_text(f"{WHOLE};{WHOLE}")
    assert run("lint", "--format", "concise", "q.sql").out.count(b"\n") == 1
    Path("p.sql").write_text(WHOLE)
    assert run("lint", "p.sql").status == 1


def test_the_baseline_by_default(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(WHOLE)
    assert run("lint", "q.sql").status == 1
    assert run("lint", "--write-baseline", "q.sql").status == 0
    assert run("lint", "q.sql").status == 0
    data = Path(".dpp-rewrite-baseline.json").read_bytes()
    ran = run("lint", "--write-baseline", "q.sql", "no.sql")
    assert ran.status == 2
    assert "the baseline is not written" in ran.err
    assert Path(".dpp-rewrite-baseline.json").read_bytes() == data


def test_a_baseline_of_some_files_keeps_what_is_known_of_others(run: Callable[..., Ran]) -> None:
    """As a hook runs it, with the changed files alone: the others' findings are no new ones."""
    Path("in").mkdir()
    for name in ("in/a.sql", "in/b.sql", "in/gone.sql"):
        Path(name).write_text(f"{WHOLE};{WHOLE}")
    assert run("lint", "--write-baseline", "in").err.startswith("6 findings written to ")
    Path("in/gone.sql").unlink()
    Path("in/b.sql").write_text(WHOLE)
    name = ".dpp-rewrite-baseline.json"
    ran = run("lint", "--write-baseline", "in/../in/b.sql")
    assert ran.err == f"1 findings written to ./{name}, 2 of other files kept\n"
    assert run("lint", "in").status == 0
    findings = json.loads(Path(name).read_text())["findings"]
    assert [(finding["path"], finding["count"]) for finding in findings] == [
        ("in/a.sql", 2),
        ("in/b.sql", 1),
    ]
    Path("in/b.sql").write_text(FINE)
    run("lint", "--write-baseline", "in/b.sql")
    findings = json.loads(Path(name).read_text())["findings"]
    assert [finding["path"] for finding in findings] == ["in/a.sql"]
    Path(name).write_text("<<<<<<<")
    assert run("lint", "--write-baseline", "in/a.sql").status == 0
    assert run("lint", "in").status == 0


def test_a_name_that_is_not_utf_8(run: Callable[..., Ran]) -> None:
    name = os.fsdecode(b"lat\xe9.sql")
    try:
        Path(name).write_text(WHOLE)
    except OSError:
        pytest.skip("the file system takes no such name")
    for form in ("sarif", "json", "gitlab", "github", "junit", "text", "concise"):
        ran = run("lint", "--format", form, name)
        assert ran.status == 1, form
        assert b"DPP007" in ran.out


@pytest.mark.parametrize("repository", [True, False])
def test_a_file_has_one_name_in_reports_wherever_one_stands(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: bool
) -> None:
    """From the repository, where there is one, else from the settings."""
    if repository:
        subprocess.run(["git", "init", "-q"], check=True)
    Path("a b").mkdir()
    Path("x").mkdir()
    Path("a b/q.sql").write_text(WHOLE)

    def told(path: str) -> tuple[object, ...]:
        forms = ("sarif", "gitlab", "json", "github", "junit")
        texts = [run("lint", "--format", form, path).out.decode() for form in forms]
        sarif, gitlab, report = map(json.loads, texts[:3])
        (result,) = sarif["runs"][0]["results"]
        ((issue,), (finding,)) = gitlab, report["findings"]
        assert result["partialFingerprints"]["dppRewriteStatement/v1"] == finding["fingerprint"]
        assert issue["fingerprint"] == finding["fingerprint"]
        assert finding["path"] == path  # as it was given
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]
        return (uri, issue["location"]["path"], finding["fingerprint"], *texts[3:])

    first = told("a b/q.sql")
    assert first[:2] == ({"uri": "a%20b/q.sql", "uriBaseId": "%SRCROOT%"}, "a b/q.sql")
    assert told("./a b//q.sql") == first
    assert told(str(tmp_path / "a b" / "q.sql")) == first
    for folder, path in (("a b", "q.sql"), ("../x", "../a b/q.sql")):
        monkeypatch.chdir(folder)
        assert told(path) == first


def test_a_file_outside_is_named_in_full(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("x").mkdir()
    Path("q.sql").write_text(WHOLE)
    Path("x/pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = "../ddl"\n')
    report = json.loads(
        run("lint", "--config", "x/pyproject.toml", "--format", "sarif", "q.sql").out
    )
    location = report["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": f"file://{tmp_path}/q.sql"}


def test_a_name_that_would_move_the_cursor(run: Callable[..., Ran]) -> None:
    name, shown = "a\x1b[2J\n\u202e.sql", "a\\x1b[2J\\n\\u202e.sql"
    Path(name).write_text(f"{JOIN};\nSELECT FROM WHERE;\nSELECT {{{{ x }}}}")
    for form in ("text", "concise"):
        ran = run("lint", "--format", form, name, f"no{name}")
        assert ran.out.decode().startswith(f"{shown}:1:18: DPP001 ")
        assert ran.err.startswith(f"no{shown}: error: cannot be read: ")
    ran = run("--check", "-v", "--explain", "logical", name, f"no{name}")
    lines = [line for line in ran.err.splitlines() if ".sql" in line]
    assert len(lines) == 5
    assert all(shown in line for line in lines)
    report = json.loads(run("lint", "--format", "json", name).out)
    assert report["findings"][0]["path"] == name
    ran = run("lint", "--write-baseline", "--baseline", "b\x1b.json", name)
    assert ran.err.endswith(" written to b\\x1b.json\n")
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("text", ["", "[]", '{"version": 9, "findings": []}', '{"version": 1}'])
def test_a_baseline_of_another_form(run: Callable[..., Ran], text: str) -> None:
    Path("known.json").write_text(text)
    ran = run("lint", "--baseline", "known.json", "ddl")
    assert ran.status == 2
    assert "known.json" in ran.err


# --- settings -------------------------------------------------------------------------------------


def test_settings_of_a_file_hold(run: Callable[..., Ran]) -> None:
    for folder in ("old", "new", "out"):
        Path(folder).mkdir()
        Path(folder, "q.sql").write_text(WHOLE)
    _settings(
        'exclude = ["out"]\nignore = ["DPP001"]\n'
        '[tool.dpp-rewrite.per-file-ignores]\n"old/*" = ["DPP007"]\n'
        '[tool.dpp-rewrite.severity]\nDPP007 = "note"'
    )
    report = json.loads(run("lint", "--format", "json", "old", "new", "out").out)
    codes = [
        (finding["path"], finding["code"], finding["severity"]) for finding in report["findings"]
    ]
    assert codes == [("new/q.sql", "DPP007", "note")]


@pytest.mark.parametrize(
    "options", [("--predicate", "set"), ("--predicate", "range"), ("--no-hint",)]
)
def test_what_was_written_with_an_option_is_fine_with_it(
    run: Callable[..., Ran], options: tuple[str, ...]
) -> None:
    Path("q.sql").write_text(JOIN)
    run("rewrite", *options, "-w", "q.sql")
    assert run("lint", "q.sql").status == 1
    assert run("lint", *options, "q.sql").status == 0


def test_force_exclude_leaves_out_named_files(run: Callable[..., Ran]) -> None:
    Path("out").mkdir()
    Path("out/q.sql").write_text(JOIN)
    _settings('exclude = ["out"]')
    for command in (("lint",), ("rewrite", "--check")):
        assert run(*command, "out/q.sql").status == 1
        assert run(*command, "--force-exclude", "out/q.sql").status == 0
    _settings("force-exclude = true")
    assert run("lint", "out/q.sql").status == 0
    assert run("lint", "--no-force-exclude", "out/q.sql").status == 1


def test_settings_of_the_environment_hold(run: Callable[..., Ran]) -> None:
    Path("q.sql").write_text(WHOLE)
    assert run("lint", "q.sql", DPP_REWRITE_IGNORE="DPP007, DPP001").status == 0
    assert run("lint", "q.sql", DPP_REWRITE_PER_FILE_IGNORES="*.sql:DPP007").status == 0
    ran = run("lint", "q.sql", DPP_REWRITE_IGNROE="DPP007")
    assert ran.status == 2
    assert "DPP_REWRITE_IGNROE is no setting; did you mean DPP_REWRITE_IGNORE?" in ran.err


def test_help_has_examples_and_the_exit_status(run: Callable[..., Ran]) -> None:
    text = run("lint", "-h").out.decode()
    for part in ("Examples:", "-- dpp-rewrite: ignore[DPP007] why", "Exit status:", "--baseline"):
        assert part in text


# --- the scenario that matters most ---------------------------------------------------------------


def test_an_author_forgets_the_predicate(run: Callable[..., Ran]) -> None:
    """``year = 2000`` becomes 2001 in the join's filter, and the predicate is forgotten: as it
    stands the query returns nothing. --check and lint fail, --write mends it, and all is well."""
    query = Path("q.sql")
    query.write_text(JOIN)
    assert run("-w", "q.sql").status == 0
    assert (run("--check", "q.sql").status, run("lint", "q.sql").status) == (0, 0)
    forgotten = query.read_text().replace("c.year = 2000", "c.year = 2001")
    assert forgotten.count("2001") == 1
    assert forgotten.count("2000") == 1
    query.write_text(forgotten)
    ran = run("--check", "q.sql")
    assert ran.status == 1
    assert "refreshed s.day IN (SELECT" in ran.err
    ran = run("lint", "--format", "concise", "q.sql")
    assert ran.status == 1
    assert (
        ": DPP002 [*] the predicate on `s.day` is out of date: the filter has changed"
        in ran.out.decode()
    )
    assert run("-w", "q.sql").status == 0
    assert query.read_text().count("2001") == 2
    assert "2000" not in query.read_text()
    assert (run("--check", "q.sql").status, run("lint", "q.sql").status) == (0, 0)
    assert run("--strip", "-w", "q.sql").status == 0
    assert query.read_text() == JOIN.replace("2000", "2001")


def test_a_predicate_made_the_author_s_is_left_alone(run: Callable[..., Ran]) -> None:
    query = Path("q.sql")
    query.write_text(JOIN)
    run("-w", "q.sql")
    own = (
        query.read_text()
        .replace(".year = 2000)", ".year = 1999)")
        .replace(" /* dpp-rewrite */", "")
    )
    query.write_text(own)
    run("-w", "q.sql")
    assert own.strip() in query.read_text()
