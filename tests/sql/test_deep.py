"""Work that is done once more with a larger stack."""

from __future__ import annotations

import sys
import threading

import pytest

from sqlrewrite.sql.python_runtime import deep


def _depth(calls: int) -> int:
    return 1 + _depth(calls - 1) if calls else 0


def test_what_fits_is_done_here() -> None:
    assert deep(threading.current_thread) is threading.current_thread()


def test_what_does_not_is_done_again_with_more() -> None:
    calls, stack = sys.getrecursionlimit(), threading.stack_size()
    assert deep(lambda: _depth(20_000)) == 20_000
    assert deep(lambda: deep(lambda: _depth(20_000))) == 20_000
    assert (sys.getrecursionlimit(), threading.stack_size()) == (calls, stack)


def test_what_is_never_enough_ends() -> None:
    for work in (lambda: _depth(10**7), lambda: deep(lambda: _depth(10**7))):
        with pytest.raises(RecursionError):
            deep(work)


def test_another_error_is_passed_on() -> None:
    def fail() -> None:
        _depth(20_000)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        deep(fail)


def test_without_memory_for_a_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    calls = sys.getrecursionlimit()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RecursionError, match="no memory for a larger stack"):
        deep(lambda: _depth(20_000))
    assert sys.getrecursionlimit() == calls
