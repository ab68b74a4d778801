"""The program as a whole: which command is meant, help, and real processes."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite.cli import main
from sqlrewrite.cli.commands import COMMANDS


@pytest.mark.parametrize(
    "args",
    [
        ("rewrite", "rules"),
        ("./rules",),
        ("-q", "rules"),
        ("--check", "--exit-zero", "rules"),
        ("--", "rules"),
    ],
)
def test_a_path_means_rewrite(run: Any, args: tuple[str, ...]) -> None:
    Path("rules").write_bytes(b"SELECT 1 PRUNE WHERE 1")
    ran = run(*args)
    assert ran.status == 0
    assert b"PRUNE" in ran.out or "would rewrite rules" in ran.err


OF_CATALOG = [("catalog", command) for command in ("show", "infer", "pull", "check")]


@pytest.mark.parametrize(
    "command", [(), *((command,) for command in COMMANDS), *OF_CATALOG], ids=" ".join
)
def test_help_fits_eighty_columns(
    run: Any, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = run(*command, "--help")
    assert ran.status == 0
    assert run(*command, "-h").out == ran.out
    assert ran.out.startswith(b"Usage: dpp-rewrite")
    assert all(len(line) <= 80 for line in ran.out.decode().splitlines())


def test_a_misspelt_command(run: Any) -> None:
    assert "did you mean the command `dpp-rewrite rules`?" in run("rulse").err


def process(args: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """A run in a process of its own, of this checkout."""
    paths = (os.environ.get("PYTHONPATH"), str(Path(__file__).parents[2]))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    env.update(options.pop("env", {}))
    return subprocess.run(args, capture_output=True, env=env, check=False, **options)


PROGRAM = [sys.executable, "-P", "-m", "sqlrewrite"]


def test_bytes_through_a_real_pipe() -> None:
    data = b"\xef\xbb\xbfselect 1 -- \xe9\r\n;select 2"
    completed = process([*PROGRAM, "-"], input=data)
    assert (completed.returncode, completed.stdout) == (0, data)
    assert b"0 rewritten, 2 unchanged, 0 skipped\n" in completed.stderr


def test_version_is_that_of_the_package() -> None:
    from sqlrewrite import __version__

    assert process([*PROGRAM, "--version"]).stdout.decode() == f"dpp-rewrite {__version__}\n"


def test_an_ascii_console_and_a_name_that_is_not_utf_8() -> None:
    completed = process([*PROGRAM, os.fsdecode(b"n\xf6.sql")], env={"PYTHONIOENCODING": "ascii"})
    assert completed.returncode == 2
    assert completed.stderr.startswith(b"n\\udcf6.sql: error: cannot be read")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away(tmp_path: Path, unbuffered: str) -> None:
    (tmp_path / "q.sql").write_bytes(b"select 1 -- " + b"x" * 1_000_000 + b"\n")
    reader = shlex.join([sys.executable, "-c", "import os; os.read(0, 5)"])
    command = f"{shlex.join(PROGRAM)} q.sql 2>err | {reader}; echo ${{PIPESTATUS[0]}}"
    completed = process(["bash", "-c", command], cwd=tmp_path, env={"PYTHONUNBUFFERED": unbuffered})
    assert completed.stdout == b"141\n"
    assert (tmp_path / "err").read_bytes() == b""


@pytest.fixture
def full(tmp_path: Path) -> Callable[[str, str], tuple[int, str]]:
    """The status of a run with its streams led elsewhere, and the last line in ``err``."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    (tmp_path / "q.sql").write_text(
        "CREATE TABLE sales (id INT, day DATE) USING parquet PARTITIONED BY (day);\n"
        "CREATE TABLE calendar (day DATE, year INT) USING parquet;\n"
        "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2024;\n"
    )

    def call(words: str, streams: str) -> tuple[int, str]:
        command = f"{shlex.join(PROGRAM)} {words} {streams}; exit $?"
        completed = process(["bash", "-c", command], cwd=tmp_path)
        lines = (tmp_path / "err").read_text().splitlines() if "2>err" in streams else [""]
        return completed.returncode, lines[-1]

    return call


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    "words",
    [
        "lint q.sql",
        "lint --color --format concise q.sql",
        "lint --statistics q.sql",
        "lint --format json q.sql",
        "q.sql",
        "--diff q.sql",
        "--format json q.sql",
        "catalog show -c q.sql",
        "rules DPP101",
        "-h",
    ],
)
def test_a_report_that_cannot_be_written(
    full: Callable[[str, str], tuple[int, str]], words: str
) -> None:
    why = "error: the output cannot be written: No space left on device"
    assert full(words, ">/dev/full 2>err") == (2, why)


@pytest.mark.turns(3)
@pytest.mark.parametrize("words", ["lint q.sql", "--color q.sql", "q.sql none.sql", "--nope"])
@pytest.mark.parametrize("streams", ["2>/dev/full", ">/dev/full 2>&1"])
def test_nowhere_to_say_it(
    full: Callable[[str, str], tuple[int, str]], words: str, streams: str
) -> None:
    assert full(words, streams) == (2, "")


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    def interrupted(*args: object, **given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sqlrewrite.run.file_rewriting.rewrite_with_options", interrupted)
    ran = run("-", stdin=b"select 1")
    assert (ran.status, ran.out, ran.err) == (130, b"", "interrupted\n")


def test_ctrl_c_while_the_program_is_still_being_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Loading:
        @property
        def program(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "sqlrewrite.cli.commands", Loading())
    with pytest.raises(SystemExit) as end:
        main([])
    assert (end.value.code, capsys.readouterr().err) == (130, "interrupted\n")


def test_a_mistake_of_ours_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sqlrewrite.cli.rewrite._run", lambda *_: 1 // 0)
    with pytest.raises(SystemExit) as end:
        main(["-"])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("Error: internal error (ZeroDivisionError: ")


def test_a_start_imports_only_what_it_needs(tmp_path: Path) -> None:
    """In a hook nothing is imported that the run does not need."""
    (tmp_path / "q.sql").write_bytes(b"create table t (a int); select 1")
    code = """
import sys
from sqlrewrite.cli import main
from sqlrewrite.cli.commands import COMMANDS
try:
    main(["--check", "q.sql"])
except SystemExit as end:
    assert not end.code
heavy = {"rich", "subprocess", "pyspark"}
print(sorted(heavy & set(sys.modules)))
"""
    completed = process([sys.executable, "-P", "-c", code], cwd=tmp_path)
    assert completed.stdout == b"[]\n", completed.stderr
