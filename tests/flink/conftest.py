"""Run only where ``.ci/flink`` says where the jars are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.flink.server import Flink

JARS = os.environ.get("FLINK_JARS", "")
collect_ignore_glob = [] if JARS else ["test_*.py"]


@pytest.fixture(scope="session")
def flink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flink]:
    """A Flink in a process of its own."""
    from tests.flink.server import Flink

    server = Flink(JARS, tmp_path_factory.mktemp("flink") / "log")
    yield server
    server.close()
