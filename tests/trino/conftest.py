"""Run only where ``.ci/trino`` says where the jars are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.trino.server import Trino

JARS = os.environ.get("TRINO_JARS", "")
collect_ignore_glob = [] if JARS else ["test_*.py"]


@pytest.fixture(scope="session")
def trino(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    """A Trino in a process of its own."""
    from tests.trino.server import Trino

    server = Trino(Path(JARS), tmp_path_factory.mktemp("trino"))
    yield server
    server.close()
