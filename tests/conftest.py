"""Options of the whole test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-goldens`` writes the goldens of ``fixtures/`` anew; review the diff."""
    parser.addoption("--update-goldens", action="store_true", help="write fixtures' goldens anew")


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be written, not compared."""
    return bool(request.config.getoption("--update-goldens"))
