"""Each statement gives the same rows as it is rewritten, and reads less; verify says so, too."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sqlrewrite import rewrite
from sqlrewrite.results import Rewrite
from sqlrewrite.spark.plans.explain import By, Explained, explain_text
from sqlrewrite.spark.rows.verify import Verified, VerifyOutcome, verify_text
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from sqlrewrite.spark.values import resolver
from sqlrewrite.warehouse import Table, Warehouse
from tests.formats.cases import CASES, GENERATED, SCHEMAS, TABLES, Case, made
from tests.formats.lake import Lake, Read

pytestmark = pytest.mark.formats


class Kind:
    """A format: its name, its tables, and what `catalog pull` reads of them."""

    def __init__(self, lake: Lake, name: str) -> None:
        self.lake, self.name = lake, name
        self.tables: Mapping[str, str] = {table: f"{SCHEMAS[name]}.{table}" for table in TABLES}
        lake.run(f"CREATE SCHEMA IF NOT EXISTS {SCHEMAS[name]}")
        for table in TABLES:
            self.make(table)
        self.catalog: Warehouse = lake.warehouse(*self.tables.values())

    def make(self, table: str) -> None:
        for statement in made(self.name, table, self.tables[table]):
            if statement == GENERATED:
                self.lake.generate(self.tables[table], "p", "id DIV 200")
            else:
                self.lake.run(statement)

    def rewritten(self, text: str, form: str = "in") -> Rewrite:
        result = rewrite(text, self.catalog, predicate=form, resolve=resolver(self.lake.spark))
        assert not result.errors
        assert result.changed
        return result

    def ran(self, case: Case, text: str) -> tuple[list[str], Read]:
        """The rows that a statement gives, or leaves in the table that it changes, which is made
        anew first; and what it read."""
        if case.changes:
            self.make(case.changes)
        counted = self.tables[case.counted]
        counted = counted if self.name == "iceberg" else f"spark_catalog.{counted}"
        rows, read = self.lake.measured(text, counted)
        if case.changes:
            return self.lake.rows(self.tables[case.changes]), read
        return sorted(map(str, rows)), read


@pytest.fixture(scope="session", params=list(SCHEMAS))
def kind(request: pytest.FixtureRequest, lake: Lake) -> Kind:
    """A format, its tables made."""
    return Kind(lake, request.param)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_rows_and_less_is_read(kind: Kind, case: Case, page: list[str]) -> None:
    if kind.name not in case.formats:
        pytest.skip(f"{kind.name} takes no such statement, or does not say what it reads")
    text = case.text.format(**kind.tables)
    before = kind.ran(case, text)
    after = kind.ran(case, kind.rewritten(text, case.form).sql)
    assert before[0] == after[0]
    for title, read in (("as it is", before[1]), ("rewritten", after[1])):
        page.append(f"| {case.name} | {kind.name} | {title} | {read} |")
    assert before[1].rows > 0
    assert after[1].rows * 4 <= before[1].rows  # a MERGE reads once more what it writes anew
    assert after[1].files * 4 <= before[1].files or case.counted == "c"


def test_what_catalog_pull_reads(kind: Kind) -> None:
    """Partitions, formats, and what orders the rows."""
    relations = {
        name: kind.catalog.resolve(tuple(table.split("."))) for name, table in kind.tables.items()
    }
    facts, ordered = relations["f"], relations["c"]
    assert isinstance(facts, Table)
    assert isinstance(ordered, Table)
    assert facts.provider == ordered.provider == kind.name
    assert [(column.column, column.transform) for column in facts.partitioned_by] == [
        ("p", "identity")
    ]
    assert ordered.clustered_by == ("k",)


def test_catalog_pull_reads_generated_columns(kind: Kind) -> None:
    if kind.name == "iceberg":
        pytest.skip("it has transforms in their place")
    table = kind.catalog.resolve(("lake", "g"))
    assert isinstance(table, Table)
    assert [(column.column, column.sources) for column in table.derived] == [("p", ("id",))]


def test_verify_reads_these_scans(kind: Kind) -> None:
    kind.make("f")
    sql = CASES[0].text.format(**kind.tables)
    pairs: list[Verified] = []
    verify_text(_session(kind), "q.sql", kind.rewritten(sql), kind.catalog, pairs.append)
    (verified,) = pairs
    assert verified.outcome is VerifyOutcome.SAME
    (scan,) = [scan for scan in verified.scans if scan.table.endswith(".f")]
    assert scan.before is not None
    assert scan.after is not None
    assert (scan.before.files, scan.after.files) == (20, 2)
    assert (scan.before.rows, scan.after.rows) == (4000, 400)


@pytest.mark.parametrize("form", ["in", "values"])
def test_explain_reads_these_scans(kind: Kind, form: str) -> None:
    sql = CASES[0].text.format(**kind.tables)
    pairs: list[Explained] = []
    explain_text(_session(kind), "q.sql", kind.rewritten(sql, form), kind.catalog, pairs.append)
    (explained,) = pairs
    (scan,) = [scan for scan in explained.scans if scan.table.endswith(".f")]
    assert scan.after is not None
    assert (By.OURS if form == "in" else By.STATIC) in [
        pruning.by for pruning in scan.after.pruned_by
    ]


def _session(kind: Kind) -> Session:
    return Session(kind.lake.spark, Target(master="local[1]"), classic=True)
