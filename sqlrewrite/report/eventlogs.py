"""What pruned the scans in event logs: for people, as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlrewrite.audit.summary import ScanCounts
from sqlrewrite.report.json_text import dumps
from sqlrewrite.report.page import page, table
from sqlrewrite.report.printer import Printer, print_table

VERSION = 1
_HEADINGS = ("table", "scans", "by a condition", "by join keys", "join keys dropped", "unpruned")


def print_scanned(printer: Printer, found: Sequence[ScanCounts]) -> None:
    """A row a table."""
    if not found:
        printer.line(("no partitioned table was scanned", "yellow"))
        return
    print_table(printer, (_HEADINGS[0], *(f">{it}" for it in _HEADINGS[1:])), _rows(found))


def scanned_json(found: Sequence[ScanCounts]) -> str:
    """The same as one object, with a newline at its end."""
    return dumps({"version": VERSION, "tables": [asdict(it) for it in found]})


def scanned_page(found: Sequence[ScanCounts]) -> str:
    """The same as a page."""
    return page("What pruned the scans of partitioned tables", [table(_HEADINGS, _rows(found))])


def _rows(found: Sequence[ScanCounts]) -> list[tuple[str, ...]]:
    return [
        (it.table, *(f"{n:,}" for n in (it.scans, it.static, it.dynamic, it.dropped, it.unpruned)))
        for it in found
    ]
