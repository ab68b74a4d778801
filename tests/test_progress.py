"""What is said of a long run."""

from __future__ import annotations

import pytest

from benchmarks.progress import watched


def test_a_run_says_where_it_is_and_only_every_so_often(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(watched(["q1", "q2"], "queries", every=0)) == ["q1", "q2"]
    told = capsys.readouterr()
    assert told.out == ""
    first, second = told.err.splitlines()
    assert first.startswith("1 of 2 queries in 0.0 min: q1")
    assert second.endswith("q2")
    assert list(watched(range(1000), "queries")) == [*range(1000)]
    assert capsys.readouterr().err == ""
