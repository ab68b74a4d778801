"""``dpp-rewrite [rewrite]``: streams, exit statuses, and what becomes of the files."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sqlrewrite.catalog import Catalog
from sqlrewrite.cli.commands import program
from sqlrewrite.results import Problem, Rewrite
from sqlrewrite.rewriting import DocumentObserver
from sqlrewrite.settings.options import Options, make_options

PRUNE = b"SELECT 1 PRUNE WHERE 1\n"
DONE = (
    b"SELECT 1 PRUNE WHERE s.day IN (SELECT c1.day FROM calendar AS c1) /* dpp-rewrite */ AND 1\n"
)
BAD = b"SELECT BAD\n"
REWRITTEN = "retail.sales s.day ← calendar.day (inner join)"
PLAN = """
plan of the statement at q.sql:1
  Join inner
- ├─ Scan sales s
+ ├─ Filter s.day IN (…)
"""


def test_the_new_text_is_printed_and_no_file_written(run: Any, tmp_path: Path) -> None:
    Path("q.sql").write_bytes(PRUNE)
    ran = run("q.sql")
    assert (ran.status, ran.out) == (0, DONE)
    assert ran.err == (
        f"q.sql:1:10: rewritten {REWRITTEN}\n{PLAN}\n1 rewritten, 0 unchanged, 0 skipped\n"
    )
    assert Path("q.sql").read_bytes() == PRUNE


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"select 1", id="no final newline"),
        pytest.param(b"select 1;\r\nselect 2\r\n", id="crlf"),
        pytest.param(b"\xef\xbb\xbfselect 1\n", id="bom"),
        pytest.param(b"select 1 -- caf\xe9\n", id="latin-1 in a comment"),
        pytest.param(b"select 1\x00\x0c\x1a\r\r\n", id="control characters"),
        pytest.param(b"\xff\xfes\x00", id="utf-16"),
        pytest.param(b"BOOM", id="a mistake of ours"),
        pytest.param(b"SELECT {{ x }}; BAD", id="nothing understood"),
    ],
)
def test_nothing_to_insert_is_byte_for_byte(run: Any, data: bytes) -> None:
    Path("q.sql").write_bytes(data)
    assert run("q.sql").out == data
    assert run("-", stdin=data).out == data
    assert run("-q", "-w", "q.sql").out == b""
    assert Path("q.sql").read_bytes() == data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"\xef\xbb\xbf" + PRUNE, b"\xef\xbb\xbf" + DONE, id="bom"),
        pytest.param(PRUNE.replace(b"\n", b"\r\n"), DONE.replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(b"--\xe9\xff\n" + PRUNE, b"--\xe9\xff\n" + DONE, id="not utf-8"),
    ],
)
def test_bytes_around_the_predicate_stay(run: Any, before: bytes, after: bytes) -> None:
    Path("q.sql").write_bytes(before)
    assert run("-q", "q.sql").out == after
    assert run("-q", "--write", "q.sql").status == 0
    assert Path("q.sql").read_bytes() == after


@pytest.mark.parametrize(
    ("options", "data", "status"),
    [
        ((), PRUNE, 0),
        ((), DONE, 0),
        ((), BAD, 2),
        ((), b"select {{ x }}", 0),
        ((), b"\xff\xfe", 2),
        ((), b"BOOM", 2),
        (("--exit-zero",), BAD, 0),
        (("--diff",), PRUNE, 0),
        (("--diff",), BAD, 2),
        (("--write",), PRUNE, 0),
        (("--write",), BAD, 2),
        (("--check",), PRUNE, 1),
        (("--check",), DONE, 0),
        (("--check",), BAD, 0),
        (("--check", "--diff"), PRUNE, 1),
        (("--check", "--strict"), BAD, 1),
        (("--check", "--strict"), DONE, 0),
        (("--check", "--exit-zero"), PRUNE, 0),
        (("--check",), b"\xff\xfe", 2),
        (("--check",), b"BOOM", 2),
        (("--check", "--format", "json"), PRUNE, 1),
        (("--format", "json"), BAD, 2),
        (("--write", "--check"), PRUNE, 2),
        (("--write", "--diff"), PRUNE, 2),
        (("--diff", "--format", "json"), PRUNE, 2),
        (("-q", "-v"), PRUNE, 2),
        (("--engine", "nope"), PRUNE, 2),
        (("--config", "none.toml"), PRUNE, 2),
        (("--catalog", "none.sql"), PRUNE, 2),
        (("--predicate", "sets"), PRUNE, 2),
    ],
)
def test_the_exit_status_follows_options_and_text(
    run: Any, options: tuple[str, ...], data: bytes, status: int
) -> None:
    Path("q.sql").write_bytes(data)
    assert run(*options, "q.sql").status == status


def test_check_tells_and_writes_nothing(run: Any) -> None:
    Path("q.sql").write_bytes(PRUNE + b"; KEEP")
    ran = run("--check", "q.sql")
    assert (ran.status, ran.out) == (1, b"")
    assert ran.err == (
        f"q.sql:1:10: would be rewritten {REWRITTEN}\n"
        "would rewrite q.sql\n1 would be rewritten, 1 unchanged, 0 skipped\n"
    )
    assert "rejected" in run("--check", "-v", "q.sql").err
    assert PLAN in run("--check", "--explain", "logical", "q.sql").err


def test_quiet_leaves_errors(run: Any) -> None:
    Path("q.sql").write_bytes(PRUNE + b"; BAD; {{ x }}")
    ran = run("-q", "q.sql")
    assert ran.err == "q.sql:2:3: error DPP000 expected an expression\n"
    assert run("-q", "--check", "q.sql").status == 1


def test_verbose_says_every_rule(run: Any) -> None:
    Path("q.sql").write_bytes(b"SELECT KEEP\n")
    ran = run("-v", "q.sql")
    assert ran.err == (
        "q.sql:1:8: rejected retail.sales s.day ← calendar.day (left join): "
        "DPP101 left join keeps every row of sales\n"
        "    fail    DPP101 join-type: left join keeps every row of sales\n"
        "    pass    DPP120 benefit: 0.5 × 10 GiB > 2 MiB\n"
        "0 rewritten, 1 unchanged, 0 skipped\n"
    )


def test_a_diff_keeps_line_ends_and_bytes(run: Any) -> None:
    Path("q.sql").write_bytes(PRUNE.replace(b"\n", b"\r\n") + b"-- \xe9")
    ran = run("--diff", "q.sql")
    assert ran.out == (
        b"--- q.sql\n+++ q.sql\n@@ -1,2 +1,2 @@\n-"
        + PRUNE.replace(b"\n", b"\r\n")
        + b"+"
        + DONE.replace(b"\n", b"\r\n")
        + b" -- \xe9\n\\ No newline at end of file\n"
    )
    assert ran.err.endswith("1 would be rewritten, 0 unchanged, 0 skipped\n")


def test_write_keeps_mode_and_link(run: Any) -> None:
    Path("q.sql").write_bytes(PRUNE)
    os.chmod("q.sql", 0o640)
    os.symlink("q.sql", "link.sql")
    ran = run("-w", "link.sql")
    assert (ran.status, ran.out) == (0, b"")
    assert Path("q.sql").read_bytes() == DONE
    assert stat.S_IMODE(os.stat("q.sql").st_mode) == 0o640
    assert os.path.islink("link.sql")
    before = os.stat("q.sql")
    assert "already-pruned" in run("-w", "q.sql").err
    assert os.stat("q.sql") == before  # not even touched


def test_write_failure_is_reported_and_others_go_on(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlrewrite.run import file_rewriting

    def fail_on_a(path: str, data: bytes) -> None:
        if path == "a.sql":
            raise PermissionError(13, "Permission denied")
        Path(path).write_bytes(data)

    monkeypatch.setattr(file_rewriting, "write_atomically", fail_on_a)
    for name in ("a.sql", "b.sql"):
        Path(name).write_bytes(PRUNE)
    ran = run("-q", "-w", "a.sql", "b.sql")
    assert ran.status == 2
    assert ran.err == "a.sql: error: cannot be written: Permission denied\n"
    assert Path("b.sql").read_bytes() == DONE


def test_stdin_is_written_to_stdout(run: Any) -> None:
    ran = run("-w", "-", stdin=PRUNE)
    assert ran.out == DONE  # like black: standard input is written to standard output
    assert ran.err.startswith("<stdin>:1:10: rewritten")
    named = run("--check", "--stdin-filename", "models/q.sql", "-", stdin=PRUNE)
    assert "would rewrite models/q.sql\n" in named.err


@pytest.mark.parametrize("options", [(), ("-w",), ("-v",)])
def test_stdin_of_an_excluded_name_is_passed_on(run: Any, options: tuple[str, ...]) -> None:
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\nexclude = ["out"]\n')
    named = ("--stdin-filename", "out/q.sql", *options)
    data = b"\xef\xbb\xbf" + PRUNE + b"BAD \xff"
    assert run(*named, "-", stdin=PRUNE).out == DONE
    ran = run(*named, "--force-exclude", "-", stdin=data)
    assert (ran.status, ran.out, ran.err) == (0, data, "")
    assert run(*named, "--force-exclude", "--check", "-", stdin=PRUNE).out == b""
    report = run(*named, "--force-exclude", "--format", "json", "-", stdin=PRUNE).out
    assert json.loads(report)["files"] == []
    assert run("--force-exclude", "-", stdin=PRUNE).out == DONE  # it has no name


def test_several_files_are_never_one_text(run: Any) -> None:
    Path("d").mkdir()
    Path("d/a.sql").write_bytes(PRUNE)
    for paths in (("d",), ("d/a.sql", "d/a.sql"), ("-", "d/a.sql")):
        ran = run(*paths)
        assert (ran.status, ran.out) == (2, b"")
        assert "several files cannot be printed as one text: give one file" in ran.err
    assert "lnt: no such file or directory; did you mean" in run("lnt", "d/a.sql").err
    for words in (("--check",), ("--diff",), ("--format", "json"), ("--statistics",), ("-w",)):
        assert "several files" not in run(*words, "d").err


def test_none_of_several_files_stops_the_others(run: Any) -> None:
    Path("d").mkdir()
    for name, data in (("d/b.sql", PRUNE), ("d/a.sql", b"select 1"), ("x.sql", b"BOOM")):
        Path(name).write_bytes(data)
    ran = run("--write", "none.sql", "x.sql", "d", "./d/b.sql")
    assert (ran.status, ran.out) == (2, b"")
    assert [Path(name).read_bytes() for name in ("x.sql", "d/a.sql", "d/b.sql")] == [
        b"BOOM",
        b"select 1",
        DONE,
    ]
    lines = ran.err.splitlines()
    assert lines[0] == "none.sql: error: cannot be read: no such file or directory"
    assert lines[1].startswith("x.sql: error: internal error (KeyError: 'boom' at conftest.py:")
    assert lines[-1] == "1 rewritten, 1 unchanged, 2 skipped"


@pytest.mark.parametrize("command", ["rewrite", "lint"])
def test_a_file_that_may_not_be_read_does_not_stop_the_others(
    run: Any, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.sql").write_bytes(PRUNE)
    Path("secret.sql").write_bytes(PRUNE)
    opened = open

    def refusing(name: Any, *args: Any, **more: Any) -> Any:
        if str(name).endswith("secret.sql"):
            raise PermissionError(13, "Permission denied")
        return opened(name, *args, **more)

    monkeypatch.setattr("builtins.open", refusing)
    monkeypatch.setattr(os, "access", lambda name, *_, **__: not str(name).endswith("secret.sql"))
    words = (command, "--diff") if command == "rewrite" else (command,)
    ran = run(*words, "secret.sql", "a.sql")
    assert ran.status == 2
    assert "secret.sql: error: cannot be read: Permission denied" in ran.err
    if command == "rewrite":
        assert b"+" + DONE in ran.out
    else:
        assert "in 1 file, 1 file not checked" in ran.err


def test_json_has_each_file_and_a_summary(run: Any) -> None:
    Path("q.sql").write_bytes(b"\xef\xbb\xbf" + PRUNE + b"; KEEP; BAD \xe9 {{")
    ran = run("--format", "json", "q.sql", "none.sql")
    assert ran.err == ""
    report = json.loads(ran.out)
    assert report["version"] == 1
    assert report["summary"] == {
        "files": 2,
        "changed": 1,
        "statements": 3,
        "candidates": 2,
        "rewritten": 1,
        "errors": 2,
    }
    missing, file = report["files"]
    assert missing == {
        "path": "none.sql",
        "changed": False,
        "rewritten": None,
        "errors": [
            {
                "code": "io-error",
                "message": "cannot be read: no such file or directory",
                "line": 1,
                "column": 1,
            }
        ],
        "skipped": [],
        "removed": [],
        "notes": [],
        "candidates": [],
        "statements": [],
    }
    assert (file["path"], file["changed"]) == ("q.sql", True)
    assert file["rewritten"].encode("utf-8", "surrogateescape") == run("-q", "q.sql").out
    assert [error["line"] for error in file["errors"]] == [2]
    assert [problem["message"] for problem in file["skipped"]] == ["template text"]
    rewritten, rejected = file["candidates"]
    assert rewritten["predicate"] == "s.day IN (…)"
    assert rejected == {
        "statement": 0,
        "fact": {
            "table": "retail.sales",
            "alias": "s",
            "column": "day",
            "line": 2,
            "column_number": 3,
        },
        "dimension": {
            "table": "calendar",
            "alias": "calendar",
            "column": "day",
            "line": 2,
            "column_number": 13,
        },
        "join": {"type": "left", "line": 2, "column_number": 8},
        "verdict": "rejected",
        "rules": [
            {
                "code": "DPP101",
                "name": "join-type",
                "outcome": "fail",
                "message": "left join keeps every row of sales",
            },
            {
                "code": "DPP120",
                "name": "benefit",
                "outcome": "pass",
                "message": "0.5 × 10 GiB > 2 MiB",
            },
        ],
        "predicate": None,
        "engine": "unknown",
        "engine_reason": "",
        "estimate": None,
    }


def test_colour_follows_options_and_environment(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("q.sql").write_bytes(PRUNE)
    assert "\x1b[" not in run("q.sql").err
    assert "\x1b[1;32mrewritten" in run("--color", "q.sql").err
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("q.sql").err
    assert "\x1b[" not in run("--no-color", "q.sql").err
    assert b"\x1b[" not in run("--diff", "q.sql").out  # a patch stays a patch
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("q.sql").err


def test_colour_leaves_brackets_and_long_lines_alone(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    Path("[bold] :warning:.sql").write_bytes(b"SELECT KEEP\n")
    err = run("--color", "[bold] :warning:.sql").err
    assert err.count("\n") == 2
    assert "[bold] :warning:.sql:1:8:" in err


def test_says_why_nothing_was_found(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("empty").mkdir()
    err = run("--diff", "empty").err
    assert err.startswith("no files of SQL found (*.sql, ")
    assert "--include-python" in err
    assert err.endswith("\n0 would be rewritten, 0 unchanged, 0 skipped\n")


NO_TABLES = "no tables are known: pass -c, or run dpp-rewrite init\n"


@pytest.mark.parametrize(
    ("words", "text", "status"),
    [
        (("rewrite",), "SELECT 1", 0),
        (("--check",), "SELECT 1", 2),
        (("--check", "-q"), "SELECT 1", 2),
        (("--check", "--exit-zero"), "SELECT 1", 0),
        (("lint",), "SELECT 1", 2),
        (("lint", "--format", "json"), "SELECT 1", 2),
        (("lint", "-q"), "SELECT 1", 2),
        (("lint", "--exit-zero"), "SELECT 1", 0),
        (("--check",), "CREATE TABLE t (a INT)", 0),
        (("lint",), "CREATE TABLE t (a INT)", 0),
    ],
)
def test_where_no_table_is_known(
    run: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], text: str, status: int
) -> None:
    """What checks nothing is no success in CI."""
    monkeypatch.delenv("DPP_REWRITE_CATALOG")
    Path("q.sql").write_text(text)
    for ran in (run(*words, "q.sql"), run(*words, "-", stdin=text)):
        assert ran.status == status
        assert ran.err.endswith(NO_TABLES) == (text == "SELECT 1")
    assert NO_TABLES not in run("--strip", "--check", "q.sql").err


def test_settings_and_options(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[Options] = []

    def note(
        sql: str, catalog: Catalog, options: Options, observe: DocumentObserver | None = None
    ) -> Rewrite:
        requests.append(options)
        return Rewrite(sql, sql, 1, (), (Problem("DPP000", "no", 1, 1),), (), ())

    monkeypatch.setattr("sqlrewrite.run.file_rewriting.rewrite_with_options", note)
    Path("pyproject.toml").write_text(
        '[tool.dpp-rewrite]\nhint = false\nexplain = "none"\nstrict = true\nengine = "flink"\n'
    )
    Path("d").mkdir()
    Path("d/q.sql").write_bytes(PRUNE + b";BAD")
    assert "plan" not in run("d/q.sql").err
    assert run("--check", "d/q.sql").status == 1
    run("--hint", "--engine", "trino", "d/q.sql")
    assert requests[0] == make_options(engine="flink", hint=False)
    assert requests[-1] == make_options(engine="trino")


def test_a_bad_key_in_the_settings(run: Any) -> None:
    Path("pyproject.toml").write_text("[tool.dpp-rewrite]\ncatalogs = []\n")
    Path("q.sql").write_bytes(PRUNE)
    ran = run("q.sql")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err == (
        "Error: pyproject.toml: [tool.dpp-rewrite] has no key 'catalogs'; did you mean 'catalog'?\n"
    )


def test_a_file_over_the_limit_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Printed as it is, skipped with the setting's name; neither read nor a reason to fail."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\nfile-limit = "1kB"\n')
    text = "CREATE TABLE t (a INT);\n" + "SELECT 1;\n" * 200
    Path("q.sql").write_text(text)
    why = "skipped the file is 2 kB, over the file-limit of 1 kB (raise it to read this)"

    def run(*words: str, **given: Any) -> Result:
        return CliRunner().invoke(program, list(words), **given)

    printed = run("q.sql")
    assert (printed.stdout, printed.exit_code) == (text, 0)
    assert why in printed.stderr
    assert run("-", input=text).stdout == text
    checked = run("--check", "q.sql")
    assert (checked.stdout, checked.exit_code) == ("", 0)
    assert "1 skipped" in checked.stderr
    assert json.loads(run("--format", "json", "q.sql").stdout)["files"][0]["skipped"]
    linted = run("lint", "--strict", "q.sql")
    assert "q.sql:1:1: DPP000 note: not read: the file is 2 kB" in linted.stdout
    assert linted.exit_code == 0
    monkeypatch.setenv("DPP_REWRITE_FILE_LIMIT", "2kB")
    assert why not in run("q.sql").stderr
