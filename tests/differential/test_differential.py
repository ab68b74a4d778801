"""Some random queries in every run: none wrong, and enough of them rewritten. Many more of them:
``python -m tests.differential --n 100000``."""

from __future__ import annotations

import os
import secrets
import time

import pytest

from .__main__ import explained, summary
from .check import Manner, Rewritten, Unchanged, library, run

N = 600


def _seed() -> int:
    return int(os.environ.get("DPP_SEED") or secrets.randbelow(2**32))


@pytest.mark.long
def test_rewritten_queries_give_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    seed = _seed()
    with capsys.disabled():
        print(f"\ndifferential test: DPP_SEED={seed}")
    started = time.monotonic()
    report = run(seed, N, jobs=2)  # in processes of their own: DuckDB may die, once in a long while
    shown = "\n".join(explained(seed, wrong, library) for wrong in report.wrong[:3])
    assert not report.wrong, f"DPP_SEED={seed}: {len(report.wrong)} wrong\n{shown}"
    counts = summary(report, time.monotonic() - started)
    assert report.share >= 0.25, f"DPP_SEED={seed}: too few are rewritten\n{counts}"
    assert report.unjudged + report.crashed <= N / 20, (
        f"DPP_SEED={seed}: too few are judged\n{counts}"
    )


def test_a_case_depends_on_seed_and_index_alone() -> None:
    seen: list[tuple[str, Manner]] = []

    def remember(sql: str, manner: Manner) -> Rewritten:
        seen.append((sql, manner))
        return Unchanged(sql)

    run(7, 60, remember)
    run(7, 3, remember, first=55)
    assert seen[60:] == seen[55:58]


def test_an_unsound_rewriter_is_caught() -> None:
    def lose_a_row(sql: str, manner: Manner) -> Rewritten:
        return Unchanged(f"{sql.rstrip().rstrip(';')}\nEXCEPT SELECT 1 WHERE 1 = 0")

    report = run(7, 100, lose_a_row)
    assert report.wrong
