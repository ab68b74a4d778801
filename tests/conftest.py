"""Options of the whole test suite."""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pytest

ON_SPARK = ("tests/spark/", "tests/referee/")
"""The folders of all tests that need a Spark, and what else is there."""

NOT_ON_SPARK = (
    "tests/referee/test_duckdb_rows.py",
    "tests/referee/test_names.py",
    "tests/referee/test_sabotage.py",
)

TPCDS = "tests/tpcds/"

LONG = (
    TPCDS,
    "tests/test_fixtures.py",
    "tests/test_corpus.py",
    "tests/rewriting/test_by_hand.py",
    "tests/referee/test_names.py",
    "tests/rewriting/test_broken_texts.py",
)
"""What takes longest of the rest: begun first, so that it is not what one process ends with."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Else each process that a test starts would compile the whole program, which takes a second."""

TODAY = int(os.environ.setdefault("TURN", str(date.today().toordinal())))
"""Of ``tests/support/turns.py``: the same for all processes of a run, also around midnight."""

gc.disable()
"""While tests are collected, as in ``pytest_collection_finish``."""

LENGTHS = ("longest", "long")
"""Marks of tests that run only where they are asked for, each by the option of its name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-goldens`` writes the goldens of ``fixtures/`` anew; review the diff. ``--long``
    runs what is marked ``long`` in place of what is not, ``--longest`` what is marked so."""
    parser.addoption("--update-goldens", action="store_true", help="write fixtures' goldens anew")
    parser.addoption("--long", action="store_true", help="run the tests marked long, and no other")
    parser.addoption("--all-turns", action="store_true", help="run all cases of sweeps")
    parser.addoption("--longest", action="store_true", help="run those marked longest, no other")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spark first, then what is long. Of the three lengths only the one that is asked for."""
    astray = [
        item.nodeid
        for item in items
        if "spark" in getattr(item, "fixturenames", ()) and not _on_spark(item.nodeid)
    ]
    if astray:
        raise pytest.UsageError(f"tests on Spark stand in {' or '.join(ON_SPARK)}: {astray}")
    items.sort(key=lambda item: (not _on_spark(item.nodeid), not item.nodeid.startswith(LONG)))
    first = next((length for length in LENGTHS if config.getoption(length)), "")
    chosen = [item for item in items if _length(item) == first]
    if not _all_turns(config):
        chosen = _todays(chosen)
    config.hook.pytest_deselected(items=[*{*items} - {*chosen}])
    items[:] = chosen


def pytest_collection_finish() -> None:
    """Collects garbage as seldom as the program itself does, and visits no collected test: else a
    tenth of the time of the shorter tests goes there."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def _all_turns(config: pytest.Config) -> bool:
    """Whether every case runs: who names tests, or writes goldens, wants all that they are."""
    by_name = config.option.keyword or any("::" in argument for argument in config.args)
    return bool(by_name or config.getoption("all_turns") or config.getoption("update_goldens"))


def _todays(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items without the cases of ``turns(n)`` that have their turn on another day."""
    numbers: defaultdict[str, count[int]] = defaultdict(count)
    chosen = []
    for item in items:
        mark = item.get_closest_marker("turns")
        number = next(numbers[item.nodeid.partition("[")[0]])
        if mark is None or number % mark.args[0] == TODAY % mark.args[0]:
            chosen.append(item)
    return chosen


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of a length that is asked for, files without a test of it are not read at all."""
    first = next((length for length in LENGTHS if config.getoption(length)), "")
    if not first or not collection_path.match("test_*.py"):
        return None
    return f"mark.{first}" not in collection_path.read_text("utf-8") or None


def _length(item: pytest.Item) -> str:
    return next((length for length in LENGTHS if item.get_closest_marker(length)), "")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n 2`` one process has all tests on Spark, so that one Spark is started and warmed up;
    the other takes file after file of the rest, and so does the first when Spark is done."""
    from xdist.scheduler import LoadScopeScheduling

    class OneSpark(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            if _on_spark(nodeid):
                return "spark"
            # The rows of TPC-DS are generated once for all of its modules.
            return TPCDS if nodeid.startswith(TPCDS) else nodeid.partition("::")[0]

    config.option.loadscopereorder = False  # by number of tests: the order here is by their time
    return OneSpark(config, log)


def _on_spark(nodeid: str) -> bool:
    return nodeid.startswith(ON_SPARK) and not nodeid.startswith(NOT_ON_SPARK)


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPP_REWRITE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def others_give_way() -> None:
    """With ``-n 2`` the process that has Spark takes longest: the other one comes second."""
    first = os.environ["PYTEST_CURRENT_TEST"]
    if "PYTEST_XDIST_WORKER" in os.environ and not _on_spark(first) and hasattr(os, "nice"):
        os.nice(5)


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be written, not compared."""
    return bool(request.config.getoption("--update-goldens"))
