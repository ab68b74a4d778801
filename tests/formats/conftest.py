"""Run only where ``.ci/formats`` says where the jars are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.formats.lake import Lake

JARS = os.environ.get("FORMATS_JARS", "")
PAGE = os.environ.get("FORMATS_PAGE", "")
collect_ignore_glob = [] if JARS else ["test_*.py"]

_HEAD = """# On Delta and Iceberg themselves

For users of Delta and Iceberg tables. Made by `.ci/formats`, which gets the jars from Maven, runs
`tests/formats` and writes this page.
{versions}.

One core, no broadcast joins (`spark.sql.autoBroadcastJoinThreshold=-1`), each statement as it is
and as it is rewritten on tables made anew; the catalog is what `catalog pull` reads of them.
Counted are the scans of one table in all that the statement runs, by Spark's own metrics: a MERGE,
DELETE or UPDATE may read its target once to find the files and once to write them anew. The rows
are the same in each pair. Iceberg counts no partitions, and its bytes are those it planned, before
a filter at run time.

| statement | format | | files | partitions | rows | bytes |
|---|---|---|---|---|---|---|
"""


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A Spark with both formats."""
    from tests.formats.lake import Lake

    lake = Lake(Path(JARS), tmp_path_factory.mktemp("lake"))
    yield lake
    lake.spark.stop()


@pytest.fixture(scope="session")
def page(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The rows of the page, which is written where all tests have passed."""
    rows: list[str] = []
    yield rows
    if PAGE and not request.session.testsfailed:
        Path(PAGE).write_text(_HEAD.format(versions=_versions()) + "\n".join(rows) + "\n", "utf-8")


def _versions() -> str:
    named = (path.stem for path in sorted(Path(JARS).glob("*.jar")))
    jars = (name for name in named if name.startswith(("delta-spark", "iceberg-spark")))
    return ", ".join([f"PySpark {version('pyspark')}", *(f"`{jar}`" for jar in jars)])
