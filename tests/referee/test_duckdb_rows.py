"""Random queries, as written and as rewritten, give the same rows on DuckDB."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from typing import Any

import pytest

from sqlrewrite import Catalog, Rewrite
from sqlrewrite import rewrite as library
from tests.referee import duckdb_rows
from tests.referee.duckdb_rows import run


@pytest.mark.long
def test_rewritten_queries_give_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    seed = int(os.environ.get("DPP_SEED") or secrets.randbelow(2**32))
    with capsys.disabled():
        print(f"\nrandom queries on DuckDB: DPP_SEED={seed}")
    count = run(seed, 0, 300)
    assert not count.wrong, "\n".join(count.wrong)
    assert count.judged >= 7


@pytest.mark.long
def test_rewritten_merges_leave_the_same_rows() -> None:
    count = run(1, 0, 300, merges=True)
    assert not count.wrong, "\n".join(count.wrong)
    assert count.judged >= 40


def test_a_constant_too_few_in_a_merge_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(sql: str, catalog: Catalog, **options: Any) -> Rewrite:
        result = library(sql, catalog, **options)
        return replace(result, sql=result.sql.replace("AS s ON ", "AS s ON 1 < 0 AND ", 1))

    monkeypatch.setattr(duckdb_rows, "rewrite", losing)
    monkeypatch.setattr(duckdb_rows, "shrunk", lambda sql, _: sql)
    assert run(1, 120, 40, merges=True).wrong


def test_lost_rows_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(sql: str, catalog: Catalog, **options: Any) -> Rewrite:
        result = library(sql, catalog, **options)
        return replace(result, sql=f"SELECT * FROM ( {sql} ) WHERE false")

    monkeypatch.setattr(duckdb_rows, "rewrite", losing)
    monkeypatch.setattr(duckdb_rows, "shrunk", lambda sql, _: sql)
    assert run(5, 0, 80).wrong
