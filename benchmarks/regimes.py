"""What is measured on Spark, and the log of it: regimes, runs, and one line of JSON a run.

A regime is a way of setting up Spark, with the predicates that are to prune there. A run is one
query in one regime, the original and the rewritten text one after the other. The log only grows, so
a measurement that was cut off goes on where it stopped, and more runs may be added another day; a
run of texts that have changed since is passed over.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlrewrite.spark.plans.scans import TableScan

SAME = "same"


@dataclass(frozen=True, slots=True)
class Regime:
    """Settings of Spark to measure under; ``choices`` are those of ``sqlrewrite.rewrite``."""

    name: str
    title: str
    settings: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    database: str = "tpcds"


NARROW = "tpcds_int"
"""The tables once more, with INT partition columns against the BIGINT keys of the calendar."""

REGIMES = {
    regime.name: regime
    for regime in (
        Regime("default", "Spark's defaults"),
        Regime("missed", "Spark's defaults, --when missed", choices={"when": "missed"}),
        Regime("sort-merge", "no broadcast joins", {"spark.sql.autoBroadcastJoinThreshold": "-1"}),
        Regime(
            "no-dpp",
            "no dynamic pruning, --predicate set",
            {"spark.sql.optimizer.dynamicPartitionPruning.enabled": "false"},
            {"predicate": "set"},
        ),
        Regime("int-keys", "INT partition columns, BIGINT keys", database=NARROW),
    )
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two texts in one run: its seconds, and what its scans read."""

    seconds: float
    scans: tuple[TableScan, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a query in a regime, its texts named by their digest; ``rows`` is ``SAME``, or
    says how they differ."""

    regime: str
    query: int
    number: int
    texts: str
    rows: str
    original: Side
    rewritten: Side


@dataclass(frozen=True, slots=True)
class Setup:
    """What the runs of a log have in common; ``partitions`` are those of each fact table."""

    spark: str
    scale: float
    partitions: Mapping[str, int]


def digest(original: str, rewritten: str) -> str:
    """A name for a pair of texts."""
    return sha256(f"{original}\0{rewritten}".encode()).hexdigest()[:16]


def read_log(path: Path) -> tuple[Setup | None, list[Run]]:
    """What has been measured. A last line that was cut off is passed over."""
    if not path.exists():
        return None, []
    whole = [line for line in path.read_text("utf-8").splitlines(keepends=True) if line[-1] == "\n"]
    records = [json.loads(line) for line in whole]
    runs = [
        Run(
            **{
                **record,
                "original": _side(record["original"]),
                "rewritten": _side(record["rewritten"]),
            }
        )
        for record in records[1:]
    ]
    return (Setup(**records[0]), runs) if records else (None, [])


def _side(record: Mapping[str, Any]) -> Side:
    return Side(record["seconds"], tuple(TableScan(**scan) for scan in record["scans"]))


def begin_log(path: Path, setup: Setup) -> list[Run]:
    """The runs of the log so far; a new one where there is none. Exits for another set-up's."""
    logged, runs = read_log(path)
    if logged is None:
        path.write_text(json.dumps(asdict(setup)) + "\n", "utf-8")
    elif logged != setup:
        sys.exit(
            f"{path} is the log of Spark {logged.spark} at scale {logged.scale:g}: name another"
        )
    else:  # without a last line that was cut off
        lines = [asdict(logged), *map(asdict, runs)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return runs


def append(path: Path, run: Run) -> None:
    """Adds a run to the log."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run)) + "\n")


def current(runs: Iterable[Run], texts: Mapping[tuple[str, int], tuple[str, str]]) -> list[Run]:
    """The runs of today's texts, which are given by regime and query."""
    names = {key: digest(*pair) for key, pair in texts.items()}
    return [run for run in runs if names.get((run.regime, run.query)) == run.texts]
