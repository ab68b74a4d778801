"""Options of the whole test suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

ON_SPARK = (
    "tests/spark/",
    "tests/referee/",
    "tests/test_rules_needed.py::test_switched_off_spark",
)
"""How the names of the tests begin that need a Spark."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-goldens`` writes the goldens of ``fixtures/`` anew; review the diff."""
    parser.addoption("--update-goldens", action="store_true", help="write fixtures' goldens anew")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n 2`` one process takes all tests on Spark, so that one Spark is up, and the other
    process the rest."""
    from xdist.scheduler import LoadScopeScheduling

    class ByEngine(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if nodeid.startswith(ON_SPARK) else nodeid

    return ByEngine(config, log)


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPP_REWRITE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be written, not compared."""
    return bool(request.config.getoption("--update-goldens"))
