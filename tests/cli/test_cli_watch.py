"""``lint --watch``, and what a shell completes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, invoke

DDL = """\
CREATE TABLE sales (id INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE calendar (day DATE, year INT) USING parquet;
"""
JOIN = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2000\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs the program in a folder with a catalog."""
    monkeypatch.chdir(tmp_path)
    Path("ddl").mkdir()
    Path("ddl/t.sql").write_text(DDL)
    Path("q.sql").write_text("SELECT 1\n")
    Path("dpp-rewrite.toml").write_text('catalog = "ddl"\nextend-exclude = ["ddl"]\n')
    return invoke


def test_again_after_each_change(run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a text, a new file, the settings (which may be wrong for a while), and the catalog."""
    waited: list[float] = []

    changes = iter(
        [
            ("q.sql", JOIN),
            ("q.sql.bak", "of no interest"),
            ("new.sql", JOIN),
            ("dpp-rewrite.toml", "catalogue = 1\n"),
            ("dpp-rewrite.toml", 'catalog = "ddl"\n'),
            ("ddl/t.sql", DDL.replace(" PARTITIONED BY (day)", "")),
        ]
    )

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        path, text = next(changes, ("", ""))
        if not path:
            raise KeyboardInterrupt
        Path(path).write_text(text)

    monkeypatch.setattr("sqlrewrite.cli.watch.sleep", sleep)
    ran = run("lint", "--watch", "--format", "concise", ".")
    assert (ran.status, len(waited)) == (130, 7)
    said = [
        line.removesuffix("; did you mean 'catalog'?")
        for line in ran.err.splitlines()
        if "watching" not in line and "[*]" not in line
    ]
    assert said == [
        "no findings in 1 file",
        "1 finding in 1 file",
        "2 findings in 2 files",
        "error: dpp-rewrite.toml: has no key 'catalogue'",
        "2 findings in 3 files",
        "no findings in 3 files",
        "interrupted",
    ]
    assert ran.out.decode().count("DPP001") == 5
    assert min(waited) >= 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "sarif", "."), "--watch prints to the terminal"),
        (("-o", "report", "."), "--watch prints to the terminal"),
        (("-",), "--watch needs files"),
    ],
)
def test_what_it_cannot_go_with(
    run: Callable[..., Ran], options: tuple[str, ...], message: str
) -> None:
    ran = run("lint", "--watch", *options)
    assert ran.status == 2
    assert message in ran.err


def completed(words: str) -> list[str]:
    """What click tells bash: a type and a value a line."""
    ran = invoke(
        _DPP_REWRITE_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
    )
    return ran.out.decode().splitlines()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("dpp-rewrite li", ["plain,lint"]),
        ("dpp-rewrite q", ["file,q"]),
        ("dpp-rewrite --che", ["plain,--check"]),
        ("dpp-rewrite lint --ext", ["plain,--extend-select", "plain,--extend-exclude"]),
        ("dpp-rewrite lint --format sa", ["plain,sarif"]),
        ("dpp-rewrite lint -c dd", ["file,dd"]),
        ("dpp-rewrite lint q", ["file,q"]),
        ("dpp-rewrite lint --select dpp000", ["plain,DPP000"]),
        ("dpp-rewrite --engine fl", ["plain,flink"]),
        ("dpp-rewrite --engine rules/x", ["file,rules/x"]),
        ("dpp-rewrite --dialect sp", ["plain,spark"]),
        ("dpp-rewrite rules DPP101", ["plain,DPP101"]),
        ("dpp-rewrite catalog sh", ["plain,show"]),
    ],
)
def test_completion(words: str, found: list[str]) -> None:
    assert completed(words) == found


def test_a_shell_gets_its_script() -> None:
    assert b"complete" in invoke(_DPP_REWRITE_COMPLETE="zsh_source").out
