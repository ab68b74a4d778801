"""A stand-in for the rewriter, so that the command line is tested for what it does itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlrewrite.catalog import Catalog
from sqlrewrite.cli.commands import program
from sqlrewrite.document import read
from sqlrewrite.results import (
    Candidate,
    JoinUse,
    Outcome,
    PlanDiff,
    PlanLine,
    Problem,
    Rewrite,
    RuleResult,
    TableUse,
    Verdict,
)
from sqlrewrite.rewriting import DocumentObserver
from sqlrewrite.settings.options import Options
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import Lines

PREDICATE = f"s.day IN (SELECT c1.day FROM calendar AS c1) {MARKER} AND "


def stand_in(
    sql: str, catalog: Catalog, options: Options, observe: DocumentObserver | None = None
) -> Rewrite:
    """Inserts after ``PRUNE WHERE``; ``KEEP`` is a rejected join; ``BAD``, ``{{``, ``BOOM``."""
    if observe is not None:
        observe(read(sql, catalog, options.limits, named=True))
    if "BOOM" in sql:
        raise KeyError("boom")
    text, candidates, plans = sql, [], []
    at = sql.find("PRUNE WHERE ")
    if at >= 0 and MARKER not in sql:
        end = at + len("PRUNE WHERE ")
        text = sql[:end] + PREDICATE + sql[end:]
        candidates.append(candidate(sql, at, Verdict.REWRITTEN))
        before = (PlanLine(" ", "Join inner"), PlanLine("-", "├─ Scan sales s"))
        lines = (*before, PlanLine("+", "├─ Filter s.day IN (…)"))
        plans.append(PlanDiff(0, 1, lines))
    elif at >= 0:
        candidates.append(candidate(sql, at, Verdict.ALREADY_PRUNED))
    if "KEEP" in sql:
        candidates.append(candidate(sql, sql.find("KEEP"), Verdict.REJECTED))
    errors = _problems(sql, "BAD", "expected an expression")
    skipped = _problems(sql, "{{", "template text")
    count = sum(bool(statement.strip()) for statement in sql.split(";"))
    return Rewrite(sql, text, count, tuple(candidates), errors, skipped, tuple(plans))


def _problems(sql: str, word: str, message: str) -> tuple[Problem, ...]:
    at = sql.find(word)
    return () if at < 0 else (Problem("DPP000", message, *Lines(sql).place(at)),)


def candidate(sql: str, at: int, verdict: Verdict) -> Candidate:
    """A candidate at that offset."""
    line, column = Lines(sql).place(at)
    rejected = verdict is Verdict.REJECTED
    join_type = RuleResult(
        "DPP101",
        "join-type",
        Outcome.FAIL if rejected else Outcome.PASS,
        "left join keeps every row of sales" if rejected else "inner join",
    )
    benefit = RuleResult("DPP120", "benefit", Outcome.PASS, "0.5 × 10 GiB > 2 MiB")
    return Candidate(
        statement=0,
        fact=TableUse("retail.sales", "s", "day", line, column),
        dimension=TableUse("calendar", "calendar", "day", line, column + 10),
        join=JoinUse("left" if rejected else "inner", line, column + 5),
        verdict=verdict,
        rules=(join_type, benefit),
        predicate=None if rejected else "s.day IN (…)",
    )


@dataclass(frozen=True)
class Ran:
    """What a run of the program left behind."""

    status: int
    out: bytes
    err: str


def invoke(*args: str, stdin: str | bytes | None = None, **env: str) -> Ran:
    """Runs the program; what it does not turn into a message is raised."""
    result = CliRunner().invoke(program, args, input=stdin, env=env, prog_name="dpp-rewrite")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout_bytes, result.stderr)


def beside_catalog(monkeypatch: pytest.MonkeyPatch, folder: Path, ddl: str) -> Callable[..., Ran]:
    """Runs the program in a folder with a catalog."""
    monkeypatch.chdir(folder)
    Path("ddl.sql").write_text(ddl)
    Path("dpp-rewrite.toml").write_text('catalog = "ddl.sql"\n')
    return invoke


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Ran]]:
    """Runs the program in an empty folder, with the stand-in for the rewriter and a catalog of one
    table."""
    ddl = tmp_path_factory.mktemp("catalog") / "ddl.sql"
    ddl.write_text("CREATE TABLE retail.sales (id INT, day DATE) PARTITIONED BY (day)")
    monkeypatch.setenv("DPP_REWRITE_CATALOG", str(ddl))
    monkeypatch.setattr("sqlrewrite.run.file_rewriting.rewrite_with_options", stand_in)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    yield invoke
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
