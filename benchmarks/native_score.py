"""How well is predicted what Spark prunes by itself? For each of the 99 TPC-DS queries and each
fact table that it reads, the prediction of `--when missed` against what Spark really pruned.

    python -m benchmarks.native_score

Measured were the scans of executed plans in three settings: Spark's defaults, no broadcast joins,
and INT partition columns against BIGINT keys (`docs/tpcds.json`, made by `benchmarks.tpcds`). A
table of a query counts as pruned if one of its scans is. The queries in which nothing can be pruned
have not been run; of the others, one that a setting has not seen is left out there. The exit status
is 1 if a prediction is wrong. Needs duckdb for the queries.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.regimes import NARROW, REGIMES
from benchmarks.tpcds_data import (
    FIXTURES,
    load_tpcds,
    narrow_keys,
    spark_queries,
    table_ddl,
    write_ddl,
)
from sqlrewrite import Catalog, Outcome
from sqlrewrite.document import decide, read
from sqlrewrite.judge.rules import MISSED
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.settings.options import make_options

MEASURED = FIXTURES.parent.parent / "docs" / "tpcds.json"
SETTINGS = ("default", "sort-merge", "int-keys")
"""The regimes that differ in what Spark prunes by itself and is not told to leave."""

_THRESHOLD = "broadcast_threshold = 10485760"

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
            (was, predicted): sum(
                (use in self.measured, use in self.predicted) == (was, predicted)
                for use in self.uses
            )
            for was in (True, False)
            for predicted in (True, False)
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
    options = make_options(engine=engine, when="missed")
    for decided in decide(read(sql, catalog, options.limits), options).statements:
        if not decided.matters:
            continue
        for relation in decided.plan.relations.values():
            if isinstance(relation, Scan) and relation.table.partitioned_by:
                yield relation.parts[-1], False, ""
        for proposal in decided.proposals:
            rule = next(rule for rule in proposal.rules if rule.code == MISSED.code)
            table = proposal.pair.scan.parts[-1]
            yield table, rule.outcome is Outcome.FAIL, rule.message


@cache
def _measured(regime: str) -> Mapping[int, frozenset[str]]:
    """The queries that were run, each with the tables that Spark pruned."""
    regimes = json.loads(MEASURED.read_text("utf-8"))["regimes"]
    return {
        query["query"]: frozenset(
            table for table, read in query["original"]["reads"].items() if read["pruned"]
        )
        for query in next(each["queries"] for each in regimes if each["name"] == regime)
    }


@cache
def measured_pairs(regime: str = "default") -> frozenset[Use]:
    """What Spark pruned by itself."""
    runs = _measured(regime).items()
    return frozenset((query, table) for query, pruned in runs for table in pruned)


def score_in(regime: str, queries: Mapping[int, str], ddl: Mapping[str, str]) -> Score:
    """The prediction under a regime's settings and tables against what was measured in it, for the
    queries that were run in it, and those that are never run because nothing can be pruned."""
    out = _measured("default").keys() - _measured(regime).keys()
    queries = {number: sql for number, sql in queries.items() if number not in out}
    threshold = REGIMES[regime].settings.get("spark.sql.autoBroadcastJoinThreshold")
    with tempfile.TemporaryDirectory(prefix="dpp-rewrite-") as folder:
        tables, engine = Path(folder) / "ddl.sql", Path(folder) / "spark.toml"
        write_ddl(narrow_keys(ddl) if REGIMES[regime].database == NARROW else ddl, tables)
        text = (rules_folder() / "engines" / "spark.toml").read_text("utf-8")
        assert _THRESHOLD in text
        if threshold is not None:
            text = text.replace(_THRESHOLD, f"broadcast_threshold = {threshold}")
        engine.write_text(text, "utf-8")
        catalog = Catalog.load(str(tables))
        return score(queries, catalog, measured_pairs(regime), str(engine))


def main() -> None:
    argparse.ArgumentParser(
        prog="python -m benchmarks.native_score",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()
    with duckdb.connect() as connection:
        load_tpcds(connection, 0)
        queries, ddl = spark_queries(connection), table_ddl(connection)
    console = Console()
    wrong = False
    for regime in SETTINGS:
        prediction = score_in(regime, queries, ddl)
        console.print(confusion(prediction, REGIMES[regime].title))
        if prediction.wrong:
            wrong = True
            console.print(wrong_ones(prediction))
    if not wrong:
        console.print("No prediction is wrong.", style="green")
    sys.exit(wrong)


def confusion(prediction: Score, setting: str) -> Table:
    """The confusion table."""
    counts = prediction.counts()
    table = Table(
        "Spark, as measured",
        title=f"{setting}: {len(prediction.uses)} fact tables in 99 TPC-DS queries",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    for heading in ("predicted: pruned", "predicted: missed"):
        table.add_column(heading, justify="right")
    for was, name in ((True, "pruned"), (False, "read whole")):
        cells = [
            f"[{'green' if was == predicted else 'red' if counts[was, predicted] else 'dim'}]"
            f"{counts[was, predicted]}[/]"
            for predicted in (True, False)
        ]
        table.add_row(name, *cells)
    return table


def wrong_ones(prediction: Score) -> Table:
    """The predictions that are wrong, with the reason of those that were taken to be missed."""
    table = Table("query", "fact", "Spark", "predicted", box=SIMPLE_HEAD)
    for use in prediction.wrong:
        was = "pruned" if use in prediction.measured else "read whole"
        predicted = (
            "pruned"
            if use in prediction.predicted
            else prediction.why.get(use, "no join on its key")
        )
        table.add_row(f"q{use[0]:02}", use[1], was, predicted)
    return table


if __name__ == "__main__":
    main()
