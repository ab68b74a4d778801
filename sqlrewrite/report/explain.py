"""Spark's plans before and after a rewriting: for people, as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from sqlrewrite.report import MARKS, Line, attributes, dumps, shown, size
from sqlrewrite.report.html_pages import page, table
from sqlrewrite.spark.plans.empty_tables import ASSUMED_LARGE, ASSUMED_SMALL, Stock
from sqlrewrite.spark.plans.explain import By, Explained, Pruning, ScanState

VERSION = 1

_STYLES = {By.STATIC: "cyan", By.NATIVE: "cyan", By.OURS: "bold green"}
_CLASSES = {"+": "add", "-": "del"}


def explained_lines(explained: Explained) -> Iterator[Line]:
    """The scans of one statement, and the change of its plan."""
    place = f"{shown(explained.path)}:{explained.line}: "
    note = "" if explained.changed else ": nothing was inserted"
    yield ((place, "bold"), (f"scans of partitioned tables in Spark's plan{note}", ""))
    for scan in explained.scans:
        yield ((f"    {_short(scan.table)}", "bold"),)
        if scan.before == scan.after and scan.before is not None:
            yield from _state("", scan.before)
            continue
        yield from _state("before  ", scan.before)
        yield from _state("after   ", scan.after)
    if not explained.scans:
        why = "Spark knows none of the tables as partitioned"
        if any("Execute Create" in change.text for change in explained.diff):
            why = "Spark plans the query of CREATE TABLE … AS only when it runs: explain the query"
        yield ((f"    none: {why}", "yellow"),)
    if explained.exchanges[0] != explained.exchanges[1]:
        note = "exchanges: {} before, {} after".format(*explained.exchanges)
        fewer = explained.exchanges[0] > explained.exchanges[1]
        yield ((f"    {note}", "bold green" if fewer else "bold yellow"),)
    yield ()
    yield ((f"physical plan of the statement at {place.removesuffix(': ')}", "bold"),)
    for line in explained.diff:
        yield ((f"{line.mark} {line.text}", MARKS.get(line.mark, "dim")),)


def stock_lines(stock: Stock) -> Iterator[Line]:
    """Notes on how the empty tables differ from production."""
    if stock.assumed:
        names = ", ".join(map(_short, stock.assumed))
        large, small = size(ASSUMED_LARGE), size(ASSUMED_SMALL)
        sizes = f"the catalog has no size of {names}: planned as {large} where partitioned"
        yield (("note: ", "bold yellow"), (f"{sizes}, else {small} (see catalog pull)", ""))
    for name, why in stock.missing:
        yield (("note: ", "bold yellow"), (f"{_short(name)}: {why}", ""))


def pruned_by(state: ScanState | None) -> str:
    """``our predicate, planned; dynamic pruning, possible``."""
    if state is None:
        return "not read"
    words = (*map(_words, state.pruned_by), *((read_of_files(state),) if state.row_groups else ()))
    return "; ".join(words) or "nothing"


def explained_json(statements: Iterable[Explained], stock: Stock) -> str:
    """All statements as one object, with a newline at its end."""
    return dumps(
        {
            "version": VERSION,
            "assumed_sizes": stock.assumed,
            "not_made": [{"name": name, "reason": why} for name, why in stock.missing],
            "statements": [_data(explained) for explained in statements],
        }
    )


def explained_page(statements: Iterable[Explained]) -> str:
    """The scans of each statement, and its plan diff."""
    return page("What Spark's scans are pruned by", map(_section, statements))


def _section(explained: Explained) -> str:
    place = escape(f"{explained.path}:{explained.line}")
    rows = [(scan.table, pruned_by(scan.before), pruned_by(scan.after)) for scan in explained.scans]
    lines = "\n".join(
        f'<span class="{_CLASSES.get(line.mark, "")}">{escape(f"{line.mark} {line.text}")}</span>'
        for line in explained.diff
    )
    headings = ("scan", "pruned before by", "pruned after by")
    return f"<h2>{place}</h2>{table(headings, rows)}<pre>{lines}</pre>"


def _data(explained: Explained) -> dict[str, Any]:
    return {
        **attributes(explained, "path line changed"),
        "scans": [
            {
                "table": scan.table,
                "before": _state_data(scan.before),
                "after": _state_data(scan.after),
            }
            for scan in explained.scans
        ],
        "exchanges": {"before": explained.exchanges[0], "after": explained.exchanges[1]},
        "plan_before": explained.before,
        "plan_after": explained.after,
    }


def _state_data(state: ScanState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    groups = state.row_groups
    return {
        "row_groups": groups and {"of": groups.total, "read": groups.read, "rows": groups.rows},
        "partition_filters": state.filters,
        "pruned_by": [
            {"by": pruning.by.value, "certainty": "planned" if pruning.planned else "possible"}
            for pruning in state.pruned_by
        ],
    }


def _state(word: str, state: ScanState | None) -> Iterator[Line]:
    indent = (f"        {word}", "dim")
    if state is None:
        yield (indent, ("not read", ""))
        return
    pieces: list[tuple[str, str]] = [indent, ("pruned by ", "")]
    for number, pruning in enumerate(state.pruned_by):
        style = _STYLES[pruning.by] if pruning.planned else "yellow"
        pieces += [("; " if number else "", ""), (_words(pruning), style)]
    if not state.pruned_by:
        pieces.append(("nothing: all partitions are read", "bold yellow"))
    yield tuple(pieces)
    for detail in (*state.filters, *((read_of_files(state),) if state.laid_out else ())):
        yield ((f"                {detail}", "dim"),)


def read_of_files(state: ScanState) -> str:
    """How many row groups a scan must read of a table with sorted or clustered files, if known."""
    groups = state.row_groups
    if groups is None:
        return "row groups and rows: known only after a run (see `dpp-rewrite verify`)"
    return (
        f"row groups of its files: {groups.read:,} of {groups.total:,}, with {groups.rows:,} rows"
    )


def _words(pruning: Pruning) -> str:
    words: str = pruning.by.value
    if pruning.by is By.STATIC:
        return words
    return f"{words}, {'planned' if pruning.planned else 'possible'}"


def _short(name: str) -> str:
    return name.removeprefix("spark_catalog.").removeprefix("default.")
