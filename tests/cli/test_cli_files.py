"""Which files a run is over, and where its output goes: what people know from ruff."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlrewrite.text.markers import MARKER
from tests.cli.conftest import Ran, invoke

DDL = """\
CREATE TABLE sales (id INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE calendar (day DATE, year INT) USING parquet;
"""
ONE = "SELECT s.id\nFROM sales s\nCROSS JOIN calendar c\nWHERE s.day = c.day AND c.year = {};\n"
TWO = ONE.format(1) + "\n" + ONE.format(2)


def git(*arguments: str) -> None:
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "-c",
            "commit.gpgsign=false",
            *arguments,
        ],
        check=True,
        capture_output=True,
    )


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs the program in a repository of which all is committed but what git ignores."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "ddl/tables.sql": DDL,
        "etl/a.sql": TWO,
        "etl/b.sql": TWO,
        "build/c.sql": TWO,
        ".gitignore": "build\n",
        "dpp-rewrite.toml": 'catalog = ["ddl"]\nexclude = ["ddl"]\n',
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "all")
    return invoke


def files(ran: Ran) -> list[str]:
    return ran.out.decode().split()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), ["etl/a.sql", "etl/b.sql"]),
        (("--extend-exclude", "a.sql"), ["etl/b.sql"]),
        (("--extend-exclude", "etl/b.sql,etl/a.sql"), []),
        (("--exclude", "a.sql"), ["ddl/tables.sql", "etl/b.sql"]),
        (("--exclude", "a.sql", "--exclude", "b.sql"), ["ddl/tables.sql"]),
        (("--no-respect-gitignore",), ["build/c.sql", "etl/a.sql", "etl/b.sql"]),
    ],
)
@pytest.mark.parametrize("command", ["rewrite", "lint"])
def test_options_choose_the_files(
    run: Callable[..., Ran], command: str, options: tuple[str, ...], found: list[str]
) -> None:
    ran = run(command, *options, "--show-files", ".")
    assert (ran.status, files(ran), ran.err) == (0, found, "")


def test_the_same_in_a_file_of_settings(run: Callable[..., Ran]) -> None:
    Path("dpp-rewrite.toml").write_text(
        'extend-exclude = ["b.sql"]\nrespect-gitignore = false\nexclude = ["ddl"]\n'
    )
    assert files(run("--show-files", ".")) == ["build/c.sql", "etl/a.sql"]
    more = run("--show-files", "--extend-exclude", "etl/*", ".")
    assert files(more) == ["build/c.sql"]
    assert files(run("--show-files", ".", DPP_REWRITE_RESPECT_GITIGNORE="1")) == ["etl/a.sql"]


def test_files_that_are_not_there(run: Callable[..., Ran]) -> None:
    ran = run("--show-files", "etl", "none.sql")
    assert ran.status == 2
    assert ran.err == "none.sql: no such file or directory\n"
    assert files(ran) == ["etl/a.sql", "etl/b.sql"]


def test_output_goes_to_a_file(run: Callable[..., Ran]) -> None:
    printed = run("lint", "--format", "sarif", ".")
    ran = run("lint", "--format", "sarif", "-o", "out.sarif", ".")
    assert (printed.status, ran.status, ran.out) == (1, 1, b"")
    assert Path("out.sarif").read_bytes() == printed.out
    assert run("-q", "--output-file", "out.sql", "etl/a.sql").status == 0
    assert Path("out.sql").read_bytes() == run("-q", "etl/a.sql").out
    Path("text").write_text("as it was")
    assert run("lint", "-o", "text", "--select", "DPP999", ".").status == 2
    assert Path("text").read_text() == "as it was"
    assert run("lint", "-o", os.devnull, ".").status == 1
    assert not Path(os.devnull).is_file()


def changed(run: Callable[..., Ran], *options: str) -> list[str]:
    ran = run("lint", "--format", "concise", "--changed-since", "main", *options, ".")
    return [":".join(line.split(":")[:2]) for line in ran.out.decode().splitlines()]


def test_findings_of_what_a_branch_changed(run: Callable[..., Ran]) -> None:
    """What main got meanwhile is no change of the branch; what is not committed is one."""
    git("checkout", "-b", "branch")
    Path("etl/a.sql").write_text(TWO.replace("year = 2", "year = 3"))
    git("commit", "-am", "one")
    git("checkout", "main")
    Path("etl/b.sql").write_text(TWO.replace("year = 1", "year = 0"))
    git("commit", "-am", "two")
    git("checkout", "branch")
    assert changed(run) == ["etl/a.sql:7"]  # the table, of which only the WHERE below is another
    Path("etl/new.sql").write_text(TWO)
    assert changed(run) == ["etl/a.sql:7", "etl/new.sql:2", "etl/new.sql:7"]
    # The build is not git's; the DDL is left out.
    assert run("--show-files", "--changed-since", "main", ".").out == b"etl/a.sql\netl/new.sql\n"
    assert run("-q", "-w", "--changed-since", "main", ".").status == 0
    assert [MARKER in Path("etl", name).read_text() for name in ("a.sql", "b.sql")] == [True, False]


def test_lines_that_were_taken_out(run: Callable[..., Ran]) -> None:
    """A line less within a statement changes it; a statement less changes no neighbour."""
    first, second = ONE.format(1), ONE.format(2).replace("\nWHERE", "\n-- of one year\nWHERE")
    Path("etl/a.sql").write_text(first + "\n" + second)
    git("commit", "-am", "a line more")
    Path("etl/a.sql").write_text(second)
    assert changed(run) == []
    Path("etl/a.sql").write_text(TWO)
    assert changed(run) == ["etl/a.sql:7"]


def test_changes_in_python(run: Callable[..., Ran]) -> None:
    """By statement there, too."""
    text = f'spark.sql("""{ONE.format(1)}""")\nspark.sql("""{ONE.format(2)}""")\n'
    Path("etl/job.py").write_text(text)
    git("add", ".")
    git("commit", "-m", "a job")
    Path("etl/job.py").write_text(text.replace("year = 2", "year = 3"))
    assert changed(run, "--include-python") == ["etl/job.py:7"]


def test_nothing_has_changed(run: Callable[..., Ran]) -> None:
    ran = run("lint", "--format", "json", "--changed-since", "main", ".")
    assert (ran.status, ran.err) == (0, "no file of SQL has changed since main\n")
    assert json.loads(ran.out)["summary"]["files"] == 0
    assert run("--check", "--changed-since", "main", ".").status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lint", "--changed-since", "none", "."), "--changed-since none: "),
        (("lint", "--changed-since", "-x", "."), "--changed-since -x: "),
        (("lint", "--changed-since", "main", "-"), "git does not track stdin"),
        (("lint", "--changed-since", "main", "--write-baseline", "."), "--write-baseline cannot"),
    ],
)
def test_changed_since_that_cannot_be_answered(
    run: Callable[..., Ran], arguments: tuple[str, ...], message: str
) -> None:
    ran = run(*arguments)
    assert ran.status == 2
    assert message in ran.err


def test_a_folder_without_git(
    run: Callable[..., Ran], tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("plain")
    (other / "q.sql").write_text(TWO)
    ran = run("lint", "--changed-since", "main", str(other))
    assert ran.status == 2
    assert "q.sql is in no git repository" in ran.err


@pytest.mark.parametrize("command", ["lint", "rewrite"])
@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("etl/a.sql", "this file is read"),
        ("ddl.sql", "this file is read"),
        ("etl/../etl/b.sql", "this file is read"),
        ("etl", "is a folder"),
        ("none/report", "there is no folder none"),
        ("", "give the name of a file"),
    ],
)
def test_an_output_that_would_lose_something_or_has_no_place(
    run: Callable[..., Ran], command: str, output: str, why: str
) -> None:
    Path("ddl.sql").write_text("CREATE TABLE t (a INT, day INT) PARTITIONED BY (day);\n")
    before = {path: path.read_bytes() for path in Path().rglob("*.sql")}
    words = (command, "--diff") if command == "rewrite" else (command,)
    ran = run(*words, "-c", "ddl.sql", "-o", output, "etl")
    assert (ran.status, ran.out) == (2, b"")
    assert why in ran.err
    assert {path: path.read_bytes() for path in Path().rglob("*.sql")} == before
