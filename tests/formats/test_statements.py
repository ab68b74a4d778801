"""Each statement gives the same rows as it is rewritten, and reads less."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sqlrewrite import rewrite
from sqlrewrite.spark.values import resolver
from tests.formats.cases import CASES, LAYOUTS, SCHEMAS, TABLES, Case
from tests.formats.lake import Lake, Read

pytestmark = pytest.mark.formats


def _make(lake: Lake, kind: str, names: Mapping[str, str], *wanted: str) -> None:
    for name in wanted:
        lake.run(f"DROP TABLE IF EXISTS {names[name]}")
        lake.run(f"CREATE TABLE {names[name]} {TABLES[name].format(**LAYOUTS[kind])}")


@pytest.fixture(scope="session", params=list(SCHEMAS))
def format_of(request: pytest.FixtureRequest, lake: Lake) -> tuple[str, dict[str, str]]:
    """A format, and its tables' names."""
    kind: str = request.param
    schema = SCHEMAS[kind]
    lake.run(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    names = {name: f"{schema}.{name}" for name in TABLES}
    _make(lake, kind, names, *TABLES)
    return kind, names


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_rows_by_fewer_files(
    lake: Lake, format_of: tuple[str, dict[str, str]], case: Case, page: list[str]
) -> None:
    kind, names = format_of
    if kind not in case.formats:
        pytest.skip(f"{kind} takes no such statement, or does not say what it reads")
    text = case.text.format(**names)
    done = rewrite(
        text, lake.warehouse(*names.values()), predicate=case.form, resolve=resolver(lake.spark)
    )
    assert not done.errors
    assert done.changed
    before = _run(lake, kind, names, case, text)
    after = _run(lake, kind, names, case, done.sql)
    assert before[0] == after[0]
    assert before[1].files > 0
    for title, read in (("as it is", before[1]), ("rewritten", after[1])):
        page.append(f"| {case.name} | {kind} | {title} | {read} |")
    assert after[1].files * 4 <= before[1].files  # a MERGE reads once more what it writes anew
    assert after[1].rows * 4 <= before[1].rows


def _run(
    lake: Lake, kind: str, names: Mapping[str, str], case: Case, text: str
) -> tuple[list[str], Read]:
    """The rows that a statement gives, or leaves in the table that it changes, and what it read;
    that table is made anew first."""
    counted = names[case.counted]
    counted = counted if kind == "iceberg" else f"spark_catalog.{counted}"
    if not case.changes:
        rows, read = lake.measured(text, counted)
        return sorted(map(str, rows)), read
    _make(lake, kind, names, case.changes)
    read = lake.measured(text, counted)[1]
    return lake.rows(names[case.changes]), read
