"""``--when``, the setting ``when`` and its variable, for ``rewrite`` and ``lint``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlrewrite.cli.commands import program
from tests.cli.conftest import Ran
from tests.linting.conftest import DDL

LEFT = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2024\n"
MISSED = "SELECT c.n FROM calendar c LEFT JOIN sales s ON s.day = c.day WHERE c.year = 2024\n"

WAYS = {
    "option": (("--when", "missed"), "", {}),
    "setting": ((), 'when = "missed"\n', {}),
    "variable": ((), "", {"DPP_REWRITE_WHEN": "missed"}),
    "the option wins": (("--when", "missed"), 'when = "eligible"\n', {}),
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs the program on a query that Spark prunes by itself, and one that it does not."""
    monkeypatch.chdir(tmp_path)
    Path("ddl.sql").write_text(DDL)
    Path("left.sql").write_text(LEFT)
    Path("missed.sql").write_text(MISSED)

    def call(*args: str, settings: str = "", **env: str) -> Ran:
        Path("pyproject.toml").write_text(f'[tool.dpp-rewrite]\ncatalog = "ddl.sql"\n{settings}')
        result = CliRunner().invoke(program, args, env=env, prog_name="dpp-rewrite")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout_bytes, result.stderr)

    return call


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_say_missed_leaves_to_spark_what_it_prunes(
    run: Callable[..., Ran], way: str
) -> None:
    options, settings, env = WAYS[way]
    ran = run(*options, "left.sql", settings=settings, **env)
    assert (ran.status, ran.out) == (0, LEFT.encode())
    assert "Spark prunes by the join with `calendar` by itself" in ran.err
    ran = run(*options, "missed.sql", settings=settings, **env)
    assert b"/* dpp-rewrite */" in ran.out


@pytest.mark.parametrize("way", WAYS)
def test_lint_tells_only_what_is_missed(run: Callable[..., Ran], way: str) -> None:
    options, settings, env = WAYS[way]
    ran = run("lint", *options, "left.sql", "missed.sql", settings=settings, **env)
    assert ran.status == 1
    assert b"missed.sql:1:38: DPP001" in ran.out
    assert b"left.sql" not in ran.out


def test_eligible_is_the_default(run: Callable[..., Ran]) -> None:
    assert b"/* dpp-rewrite */" in run("left.sql").out
    assert run("left.sql").out == run("--when", "eligible", "left.sql").out
    wins = run("--when", "eligible", "left.sql", settings='when = "missed"\n')
    assert wins.out == run("left.sql").out


def test_a_predicate_that_is_not_needed(run: Callable[..., Ran]) -> None:
    run("--write", "left.sql")
    assert run("lint", "left.sql").status == 0
    ran = run("lint", "--when", "missed", "left.sql")
    assert ran.status == 1
    assert b"DPP003 [*] the predicate on `s.day` is not needed" in ran.out
    run("--write", "--when", "missed", "left.sql")
    assert Path("left.sql").read_text() == LEFT


def test_another_word_is_refused(run: Callable[..., Ran]) -> None:
    ran = run("--when", "mised", "left.sql")
    assert ran.status == 2
    assert "'eligible', 'missed'" in ran.err
    ran = run("left.sql", settings='when = "mised"\n')
    assert ran.status == 2
    assert "when must be 'eligible' or 'missed'" in ran.err
