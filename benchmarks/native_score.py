"""How well is predicted what Spark prunes by itself? For each of the 99 TPC-DS queries and each
fact table that it reads, the prediction of `--when missed` against what Spark really pruned.

    python -m benchmarks.native_score

Measured were the scans of executed plans, with Spark's defaults (`fixtures/tpcds/
native_pruning.json`, made by `benchmarks.native_pruning`). A table of a query counts as pruned if
one of its scans is. The exit status is 1 if a prediction is wrong. Needs duckdb for the queries.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import duckdb
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.tpcds import FIXTURES, load_tpcds, spark_queries
from sqlrewrite import Catalog, Outcome
from sqlrewrite.eligibility import MISSED
from sqlrewrite.options import options
from sqlrewrite.plan.nodes import Scan
from sqlrewrite.rewriter import examine

Use = tuple[int, str]
"""A query's number and a fact table that it reads."""


@dataclass(frozen=True, slots=True)
class Score:
    """The uses of fact tables: all, those measured as pruned, and those predicted to be; ``why``
    are the reasons for which the engine is taken to miss the others."""

    uses: frozenset[Use]
    measured: frozenset[Use]
    predicted: frozenset[Use]
    why: Mapping[Use, str]

    def counts(self) -> dict[tuple[bool, bool], int]:
        """How many uses are (measured, predicted) to be pruned."""
        return {
            (was, said): sum(
                (it in self.measured, it in self.predicted) == (was, said) for it in self.uses
            )
            for was in (True, False)
            for said in (True, False)
        }

    @property
    def wrong(self) -> list[Use]:
        """The uses of which the prediction is wrong."""
        return sorted(self.measured ^ self.predicted)


def score(
    queries: Mapping[int, str],
    catalog: Catalog,
    measured: frozenset[Use],
    engine: str = "spark",
) -> Score:
    """The prediction for each query against what was measured."""
    uses: set[Use] = set()
    predicted: set[Use] = set()
    why: dict[Use, str] = {}
    for number, sql in queries.items():
        for table, pruned, reason in _predictions(sql, catalog, engine):
            uses.add((number, table))
            if pruned:
                predicted.add((number, table))
            elif reason:
                why.setdefault((number, table), reason)
    return Score(frozenset(uses), measured, frozenset(predicted), why)


def _predictions(sql: str, catalog: Catalog, engine: str) -> Iterator[tuple[str, bool, str]]:
    """Each fact scan of a query with whether the engine is taken to prune it, and if not, why; the
    scans that nothing is joined to on their partition column first, with no reason."""
    for part in examine(sql, catalog, options(engine=engine, when="missed")).parts:
        if part.pruned is None:
            continue
        for relation in part.pruned.plan.relations.values():
            if isinstance(relation, Scan) and relation.table.partitioned_by:
                yield relation.parts[-1], False, ""
        for item in part.pruned.judged:
            rule = next(it for it in item.rules if it.code == MISSED.code)
            table = item.case.pair.scan.parts[-1]
            yield table, rule.outcome is Outcome.FAIL, rule.message


def measured_pairs() -> frozenset[Use]:
    """What Spark pruned by itself."""
    found = json.loads((FIXTURES / "native_pruning.json").read_text("utf-8"))
    return frozenset((int(n), table) for n, tables in found["pruned"].items() for table in tables)


def main() -> None:
    argparse.ArgumentParser(
        prog="python -m benchmarks.native_score",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()
    with duckdb.connect() as connection:
        load_tpcds(connection, 0)
        queries = spark_queries(connection)
    found = score(queries, Catalog.load(str(FIXTURES / "ddl.sql")), measured_pairs())
    console = Console()
    console.print(confusion(found))
    if found.wrong:
        console.print(wrong_ones(found))
    else:
        console.print("No prediction is wrong.", style="green")
    sys.exit(bool(found.wrong))


def confusion(found: Score) -> Table:
    """The confusion table."""
    counts = found.counts()
    table = Table(
        "Spark, as measured",
        title=f"{len(found.uses)} fact tables in 99 TPC-DS queries",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    for heading in ("predicted: pruned", "predicted: missed"):
        table.add_column(heading, justify="right")
    for was, name in ((True, "pruned"), (False, "read whole")):
        cells = [
            f"[{'green' if was == said else 'red' if counts[was, said] else 'dim'}]"
            f"{counts[was, said]}[/]"
            for said in (True, False)
        ]
        table.add_row(name, *cells)
    return table


def wrong_ones(found: Score) -> Table:
    """The predictions that are wrong, with the reason of those that were taken to be missed."""
    table = Table("query", "fact", "Spark", "predicted", box=SIMPLE_HEAD)
    for use in found.wrong:
        was = "pruned" if use in found.measured else "read whole"
        said = "pruned" if use in found.predicted else found.why.get(use, "no join on its key")
        table.add_row(f"q{use[0]:02}", use[1], was, said)
    return table


if __name__ == "__main__":
    main()
