"""What the runs of ``benchmarks.tpcds`` come to: tables, JSON, and a plot.

In: the runs of a log. Out: per query and regime the medians of both sides and what they read, and
per regime the sums, the geometric mean of the ratios, and the queries that got slower by more than
the runs differ among themselves. Beside them stands what Trino published for its own dynamic
partition pruning, query by query (``TRINO``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.regimes import REGIMES, SAME, Regime, Run, Setup, Side

VERSION = 1
SLOWEST = 10
"""So many of the queries that got slower are shown."""


@dataclass(frozen=True, slots=True)
class Read:
    """What the scans of a fact table read in the last run; ``pruned``: by a dynamic filter."""

    scans: int
    partitions: int
    bytes: int
    pruned: bool


@dataclass(frozen=True, slots=True)
class Text:
    """One of the two texts: the seconds of each run, and what it read, by fact table."""

    seconds: tuple[float, ...]
    reads: Mapping[str, Read]

    @property
    def median(self) -> float:
        """The median seconds of a run."""
        return median(self.seconds)

    @property
    def partitions(self) -> int:
        """The partitions read, over all facts."""
        return sum(read.partitions or 0 for read in self.reads.values())

    @property
    def bytes(self) -> int:
        """The bytes of the files read, over all facts."""
        return sum(read.bytes for read in self.reads.values())


@dataclass(frozen=True, slots=True)
class Compared:
    """A query in a regime, over all its runs."""

    query: int
    rows: str
    original: Text
    rewritten: Text

    @property
    def ratio(self) -> float:
        """The seconds of the rewritten text, the original's being 1."""
        return self.rewritten.median / self.original.median

    @property
    def repeated(self) -> bool:
        """Whether there are runs enough to tell noise from anything else."""
        return len(self.original.seconds) > 1

    @property
    def slower(self) -> bool:
        """Whether it is slower by more than noise: each run than each of the original's."""
        return self.repeated and min(self.rewritten.seconds) > max(self.original.seconds)

    @property
    def faster(self) -> bool:
        """Whether it is faster by more than noise."""
        return self.repeated and max(self.rewritten.seconds) < min(self.original.seconds)


def compared(runs: Iterable[Run]) -> dict[str, list[Compared]]:
    """The queries of each regime, in order."""
    groups: dict[tuple[str, int], list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.number):
        groups.setdefault((run.regime, run.query), []).append(run)
    comparisons: dict[str, list[Compared]] = {}
    for name in REGIMES:
        for query in range(1, 100):
            if group := groups.get((name, query)):
                rows = next((run.rows for run in group if run.rows != SAME), SAME)
                sides = (
                    _text([run.original for run in group]),
                    _text([run.rewritten for run in group]),
                )
                comparisons.setdefault(name, []).append(Compared(query, rows, *sides))
    return comparisons


def _text(sides: Sequence[Side]) -> Text:
    scans = sides[-1].scans
    reads = {}
    for table in sorted({scan.table for scan in scans}):
        mine = [scan for scan in scans if scan.table == table]
        reads[table] = Read(
            scans=len(mine),
            partitions=sum(scan.partitions or 0 for scan in mine),
            bytes=sum(scan.bytes or 0 for scan in mine),
            pruned=any(scan.pruned for scan in mine),
        )
    return Text(tuple(side.seconds for side in sides), reads)


def mean_ratio(queries: Sequence[Compared]) -> float:
    """The geometric mean of the queries' ratios."""
    return exp(sum(log(query.ratio) for query in queries) / len(queries))


# --- tables ---------------------------------------------------------------------------------------


def show(console: Console, setup: Setup, runs: Sequence[Run]) -> None:
    """The regimes, and the slowest regressions of each; other rows first of all."""
    comparison = compared(runs)
    for name, queries in comparison.items():
        for query in queries:
            if query.rows != SAME:
                console.print(f"[bold red]{name} q{query.query}, other rows:[/]", query.rows)
    console.print(f"Spark {setup.spark}, TPC-DS at scale {setup.scale:g}")
    console.print(sums(comparison))
    for name, queries in comparison.items():
        slower = sorted((query for query in queries if query.ratio > 1), key=lambda it: -it.ratio)
        console.print(_slowest(REGIMES[name], slower[:SLOWEST]))
    console.print(buckets(comparison))
    console.print(against_trino(comparison))


def sums(found: Mapping[str, Sequence[Compared]]) -> Table:
    """A line for each regime."""
    table = Table("regime", title="all queries that are rewritten", box=SIMPLE_HEAD)
    for heading in (
        "queries",
        "runs",
        "partitions",
        "GB",
        "seconds",
        "mean ratio",
        "faster",
        "slower",
    ):
        table.add_column(heading, justify="right")
    for name, queries in found.items():
        table.add_row(REGIMES[name].title, *_sums(queries))
    return table


def _sums(queries: Sequence[Compared]) -> Iterator[str]:
    sides = [[query.original for query in queries], [query.rewritten for query in queries]]
    runs = sorted({len(query.original.seconds) for query in queries})
    yield f"{len(queries)}"
    yield "–".join(map(str, dict.fromkeys((runs[0], runs[-1]))))
    yield " → ".join(f"{sum(run.partitions or 0 for run in side):,}" for side in sides)
    yield " → ".join(f"{sum(run.bytes for run in side) / 1e9:.2f}" for side in sides)
    yield " → ".join(f"{sum(run.median for run in side):.0f}" for side in sides)
    yield f"{mean_ratio(queries):.2f}"
    repeated = all(query.repeated for query in queries)
    yield f"{sum(query.faster for query in queries)}" if repeated else "?"
    yield f"{sum(query.slower for query in queries)}" if repeated else "?"


def _slowest(regime: Regime, queries: Iterable[Compared]) -> Table:
    table = Table("query", title=f"slower: {regime.title}", title_justify="left", box=SIMPLE_HEAD)
    for heading in ("original", "rewritten", "ratio", "partitions", ""):
        table.add_column(heading, justify="right")
    for query in queries:
        table.add_row(
            f"q{query.query}",
            _seconds(query.original),
            _seconds(query.rewritten),
            f"{query.ratio:.2f}",
            f"{query.original.partitions:,} → {query.rewritten.partitions:,}",
            "more than noise" if query.slower else "",
        )
    return table


def _seconds(text: Text) -> str:
    low, high = min(text.seconds), max(text.seconds)
    spread = f" ({low:.1f}–{high:.1f})" if len(text.seconds) > 1 else ""
    return f"{text.median:.1f} s{spread}"


# --- Trino ----------------------------------------------------------------------------------------

TRINO_SOURCE = "https://trino.io/blog/2020/06/14/dynamic-partition-pruning.html"
TRINO: Mapping[int, tuple[float, float, float, float]] = {
    1: (10.96, 8.50, 17.91, 14.53),
    4: (21.63, 10.80, 34.81, 12.99),
    5: (41.38, 14.94, 54.81, 11.45),
    7: (12.35, 9.26, 30.28, 17.31),
    8: (10.48, 6.43, 10.19, 3.52),
    11: (20.04, 14.82, 25.37, 9.72),
    17: (24.05, 9.87, 30.18, 9.75),
    18: (13.98, 6.00, 20.29, 8.81),
    25: (18.91, 8.04, 37.54, 11.12),
    27: (11.98, 5.58, 26.69, 10.12),
    29: (24.11, 15.46, 30.18, 13.50),
    31: (27.81, 12.77, 39.53, 13.73),
    32: (11.51, 8.15, 15.05, 12.76),
    33: (15.95, 4.31, 31.26, 6.67),
    35: (15.10, 5.22, 4.83, 1.70),
    36: (11.68, 6.43, 24.28, 12.78),
    38: (21.08, 16.20, 5.65, 3.15),
    40: (37.40, 11.98, 17.02, 9.20),
    46: (11.57, 9.06, 18.51, 14.19),
    48: (20.48, 12.65, 20.71, 11.54),
    49: (26.69, 16.01, 68.67, 30.57),
    50: (46.90, 33.22, 21.30, 16.77),
    54: (43.05, 11.39, 17.71, 11.52),
    56: (16.23, 4.12, 31.26, 6.72),
    60: (16.39, 6.02, 31.26, 7.42),
    61: (17.18, 5.50, 42.63, 9.37),
    66: (13.67, 6.59, 19.63, 8.34),
    69: (9.89, 7.46, 4.83, 3.16),
    71: (17.32, 6.11, 31.26, 8.06),
    74: (16.86, 9.44, 22.59, 8.08),
    75: (122.04, 69.45, 110.86, 63.91),
    77: (23.94, 7.51, 49.95, 12.20),
    80: (43.46, 18.57, 37.25, 11.78),
    85: (20.97, 16.54, 14.65, 10.52),
}
"""Seconds before and after, data read before and after, of the queries that the article lists:
those that dynamic partition pruning made faster by more than 20 %."""


TRINO_SUMS = {"over 50 %": (18, 0.66), "30 to 50 %": (7, 0.54), "10 to 30 %": (29, 0.27)}
"""How many of Trino's queries got faster by so much, and how much less data these read."""
_FASTER = {"over 50 %": (0.5, 1.0), "30 to 50 %": (0.3, 0.5), "10 to 30 %": (0.1, 0.3)}


def buckets(found: Mapping[str, Sequence[Compared]]) -> Table:
    """How many queries got faster by how much, and how much less they read, beside Trino's."""
    table = Table("", title="queries that got faster (bytes less)", box=SIMPLE_HEAD)
    for heading in _FASTER:
        table.add_column(heading, justify="right")
    trino = (f"{count} ({less:.0%})" for count, less in TRINO_SUMS.values())
    table.add_row("Trino, as published", *trino)
    for name, queries in found.items():
        groups = [
            [query for query in queries if low < 1 - query.ratio <= high]
            for low, high in _FASTER.values()
        ]
        table.add_row(REGIMES[name].title, *map(_group, groups))
    return table


def _group(queries: Sequence[Compared]) -> str:
    before = sum(query.original.bytes for query in queries)
    after = sum(query.rewritten.bytes for query in queries)
    return f"{len(queries)} ({1 - after / before:.0%})" if before else f"{len(queries)}"


def against_trino(found: Mapping[str, Sequence[Compared]]) -> Table:
    """The queries of Trino's table: what part of the time and of the data is left, in each regime
    that was measured; a dash where nothing was, or nothing is inserted."""
    names = [name for name in found if name != "missed"]
    table = Table(
        "query",
        title=f"seconds and bytes left of 100, of the queries in {TRINO_SOURCE}",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    for heading in ("Trino", *names):
        table.add_column(heading, justify="right")
    by_query = {
        name: {comparison.query: comparison for comparison in found[name]} for name in names
    }
    for query, (before, after, old, new) in TRINO.items():
        cells = (_left(by_query[name].get(query)) for name in names)
        table.add_row(f"q{query}", f"{after / before:4.0%} {new / old:4.0%}", *cells)
    return table


def _left(comparison: Compared | None) -> str:
    if comparison is None:
        return "–"
    data = (
        comparison.rewritten.bytes / comparison.original.bytes if comparison.original.bytes else 1
    )
    return f"{comparison.ratio:4.0%} {data:4.0%}"


# --- files ----------------------------------------------------------------------------------------


def save(folder: Path, setup: Setup, runs: Sequence[Run]) -> None:
    """Writes ``tpcds.json`` and ``tpcds.svg``."""
    comparison = compared(runs)
    folder.mkdir(exist_ok=True)
    (folder / "tpcds.json").write_text(as_json(setup, comparison), "utf-8")
    plot(comparison, setup, folder / "tpcds.svg")


def as_json(setup: Setup, found: Mapping[str, Sequence[Compared]]) -> str:
    """All that was measured, a query a line, so that two measurements differ readably."""
    regimes = []
    for name, queries in found.items():
        lines = ",\n".join(f"    {json.dumps(_query(query))}" for query in queries)
        head = {"name": name, "title": REGIMES[name].title, **_settings(REGIMES[name])}
        regimes.append(f'  {json.dumps(head)[:-1]}, "queries": [\n{lines}\n  ]}}')
    head = {
        "version": VERSION,
        "spark": setup.spark,
        "scale": setup.scale,
        "partitions": dict(setup.partitions),
    }
    return f'{json.dumps(head)[:-1]}, "regimes": [\n' + ",\n".join(regimes) + "\n]}\n"


def _settings(regime: Regime) -> dict[str, Any]:
    return {"settings": dict(regime.settings), "choices": dict(regime.choices)}


def _query(it: Compared) -> dict[str, Any]:
    return {
        "query": it.query,
        "rows": it.rows,
        "original": _side(it.original),
        "rewritten": _side(it.rewritten),
    }


def _side(text: Text) -> dict[str, Any]:
    reads = {
        table: {
            "scans": read.scans,
            "partitions": read.partitions,
            "bytes": read.bytes,
            "pruned": read.pruned,
        }
        for table, read in text.reads.items()
    }
    return {"median": text.median, "seconds": list(text.seconds), "reads": reads}


def plot(found: Mapping[str, Sequence[Compared]], setup: Setup, path: Path) -> None:
    """The ratio of each query in each regime, fastest first, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "", "font.size": 9})
    from matplotlib import pyplot

    names = [name for name in found if len(found[name]) > SLOWEST]
    if not names:
        return  # a few queries are no picture
    figure, panels = pyplot.subplots(
        len(names), 1, figsize=(10, 2.2 * len(names)), sharey=True, squeeze=False
    )
    for panel, name in zip(panels[:, 0], names, strict=True):
        queries = sorted(found[name], key=lambda it: it.ratio)
        speed = [1 / query.ratio for query in queries]
        colours = ["#2a9d6f" if value >= 1 else "#c0392b" for value in speed]
        panel.bar(range(len(speed)), [value - 1 for value in speed], 0.7, bottom=1, color=colours)
        panel.axhline(1, color="#555", linewidth=0.8)
        panel.set_yscale("log", base=2)
        panel.set_yticks([0.5, 1, 2, 4, 8], ["½", "1", "2", "4", "8"])
        panel.set_ylabel("times as fast")
        labels = [f"q{query.query}" for query in queries]
        panel.set_xticks(range(len(queries)), labels, rotation=90, fontsize=5)
        panel.margins(x=0.01)
        panel.set_title(f"{REGIMES[name].title}: {mean_ratio(queries):.2f} of the time", loc="left")
    panels[-1, 0].set_xlabel(
        f"the queries that are rewritten, TPC-DS at scale {setup.scale:g}, Spark {setup.spark}"
    )
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
