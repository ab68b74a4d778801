"""A long benchmark says where it is, also where no bar can move."""

from __future__ import annotations

import pytest

from benchmarks.progress import progress_bar, stage, with_progress


def test_a_line_for_what_is_done_and_only_every_so_often(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(with_progress(["q1", "q2"], "queries", interval=0)) == ["q1", "q2"]
    printed = capsys.readouterr()
    assert printed.out == ""
    first, second = printed.err.splitlines()
    assert first.startswith("1 of 2 queries in 0.0 min: q1")
    assert second.endswith("q2")
    assert list(with_progress(range(1000), "queries")) == [*range(1000)]
    assert capsys.readouterr().err == ""


def test_without_a_terminal_a_bar_and_a_spinner_are_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stage("making tables"):
        pass
    assert capsys.readouterr().err.endswith(" making tables …\n")
    with progress_bar(100, "queries", interval=0) as advance:
        advance("no wrong one", 50)
    assert capsys.readouterr().err == "50 of 100 queries in 0.0 min: no wrong one\n"
