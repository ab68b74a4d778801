"""Many files over several processes: the same results, in the same order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlrewrite.run.jobs import WORTH, PoolError, map_in_order
from tests.cli.conftest import invoke

ROOT = Path(__file__).resolve().parents[2]
DDL = ROOT / "fixtures" / "queries" / "ddl.sql"


def _double(number: int) -> int:
    return 2 * number


def _process(_: int) -> int:
    return os.getpid()


def _die(number: int) -> int:
    if number == WORTH // 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _fail(number: int) -> int:
    if number == WORTH // 2:
        raise ValueError("half")
    return number


def test_results_come_in_order() -> None:
    items = range(10 * WORTH)
    assert list(map_in_order(_double, items, 3)) == [_double(item) for item in items]


def test_processes_are_started_where_they_are_worth_it() -> None:
    assert set(map_in_order(_process, range(WORTH - 1), 2)) == {os.getpid()}
    assert set(map_in_order(_process, range(WORTH), 1)) == {os.getpid()}
    assert os.getpid() not in set(map_in_order(_process, range(WORTH), 2))


def test_what_work_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="half"):
        list(map_in_order(_fail, range(WORTH), 2))


def test_a_worker_that_dies() -> None:
    with pytest.raises(PoolError, match="try -j 1"):
        list(map_in_order(_die, range(WORTH), 2))


@pytest.mark.parametrize(
    "options",
    [
        ("rewrite",),
        ("rewrite", "--check", "-v"),
        ("rewrite", "--diff"),
        ("rewrite", "--format", "json"),
        ("lint",),
        ("lint", "--format", "sarif"),
    ],
)
def test_the_output_is_the_same(options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = (*options, "-c", str(DDL), "--no-cache", "fixtures/queries/lexing")
    assert invoke(*words, "-j", "1") == invoke(*words, "-j", "3")


def test_files_are_written_by_several_processes(tmp_path: Path) -> None:
    query = "SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE d.year = 2024\n"
    for number in range(WORTH):
        (tmp_path / f"{number}.sql").write_text(query)
    assert invoke("-c", str(DDL), "-j", "2", "-w", "-q", "--no-cache", str(tmp_path)).status == 0
    texts = {path.read_text() for path in tmp_path.iterdir()}
    assert len(texts) == 1
    assert "/* dpp-rewrite */" in texts.pop()


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    begun = tmp_path / "workers"
    program = (
        "import os, time\n"
        "from sqlrewrite.run.jobs import WORTH, map_in_order\n"
        "def work(_):\n"
        f"    with open({str(begun)!r}, 'a') as file: file.write(f'{{os.getpid()}}\\n')\n"
        "    time.sleep(30)\n"
        "list(map_in_order(work, range(WORTH), 2))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    assert _eventually(lambda: begun.exists() and len(begun.read_text().split()) == 2)
    parent.terminate()
    parent.wait()
    workers = [int(part) for part in begun.read_text().split()]
    assert _eventually(lambda: not any(map(_is_running, workers)))


def _eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")  # one that has ended may wait to be collected
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
