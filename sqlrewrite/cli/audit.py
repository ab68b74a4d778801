"""``dpp-rewrite audit``: a history of queries, judged as a whole."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlrewrite.audit.history_columns import PARTS
from sqlrewrite.cli.command_options import (
    Command,
    ValueKindType,
    combined,
    setting_options,
    settings_at,
)
from sqlrewrite.cli.spark_options import (
    REPORT,
    REWRITES,
    Report,
    report_options,
    spark_options,
    timeout_option,
)
from sqlrewrite.cli.streams import CommandFailure, progress, report_unwritable
from sqlrewrite.report import Printer
from sqlrewrite.run.catalogs import load_catalog, of_version
from sqlrewrite.run.file_rewriting import Request
from sqlrewrite.settings.value_kinds import COUNT
from sqlrewrite.spark.target import Target
from sqlrewrite.text.source import write_file
from sqlrewrite.warehouse import Warehouse

if TYPE_CHECKING:
    from sqlrewrite.audit.audit_summary import AuditSummary

_HELP = {
    "text": "The column with the query text.",
    "schema": "The column with the current schema of each query.",
    "time": "The column with the time at which the query was run.",
    "user": "The column with the user who ran the query.",
    "bytes": "The column with the bytes that the query read.",
    "runtime": "The column with the query's seconds, or its milliseconds if the name ends in _ms.",
}
_FORMATS = ("parquet", "orc", "json", "csv", "sql", "dbt", "table", "eventlog")


_APPLIED = re.compile(r"[0-9]{3,}-[0-9a-f]{12}\.sql")
"""The names of the files that ``--apply`` writes."""


@click.command(
    "audit",
    cls=Command,
    sections={
        "What the history is": ("input_format", *(f"{part}_column" for part in PARTS)),
        **REWRITES,
        "How it is done": ("out", "timeout", "measure"),
        "What is reported": ("top", "apply", *REPORT),
    },
    short_help="Judge a whole history of queries, as a Spark job.",
    epilog="""\b
Examples:
  dpp-rewrite audit -c warehouse.json history.parquet
  dpp-rewrite audit -c warehouse.json --master yarn -o hdfs:///audit \\
      --html audit.html system.query.history
  dpp-rewrite audit -c target/manifest.json target/run_results.json""",
)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option(
    "--input-format",
    type=click.Choice(_FORMATS),
    help="The format of each INPUT.  [default: by its name or the files in it, else a table]",
)
@combined(
    *(
        click.option(
            "--schema-column" if part == "schema" else f"--{part}",
            f"{part}_column",
            metavar="COLUMN",
            help=f"{_HELP[part]}  [default: by its usual names]",
        )
        for part in PARTS
    )
)
@setting_options("audit")
@spark_options
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    help="Keep the judged shapes here, as Parquet: the next audit judges only new ones.",
)
@timeout_option("Skip a query that takes more processor time than this to judge.", 10.0)
@click.option(
    "--measure",
    is_flag=True,
    help="Ask Spark how many partitions each predicate of the reported shapes keeps.",
)
@click.option(
    "--top",
    metavar="N",
    type=ValueKindType(COUNT),
    default=10,
    show_default=True,
    help="Report this many shapes, those whose runs read the most.",
)
@click.option(
    "--apply",
    metavar="DIR",
    help="Write the rewritten text of each reported shape into this folder.",
)
@report_options
def audit_command(
    inputs: tuple[str, ...],
    input_format: str | None,
    where: Target,
    out: str | None,
    timeout: float,
    measure: bool,
    top: int,
    apply: str | None,
    report: Report,
    **given: Any,
) -> None:
    """Shows which queries of a history read partitions needlessly, and what to change first.

    INPUT is a history of queries: Parquet, ORC, JSON or CSV files, the name of a table, a folder of
    *.sql, or dbt's run_results.json; or Spark's event logs, which have plans but no query texts.
    Queries of one shape, which differ in literals alone, are judged once. See docs/audit.md.
    """
    columns = {part: given.pop(f"{part}_column") for part in PARTS}
    settings = settings_at(".", given)
    todo = Request(load_catalog(settings), settings)
    local = _is_local(where)
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from sqlrewrite.spark.histories import is_event_log

    if input_format == "eventlog" or (input_format is None and all(map(is_event_log, inputs))):
        _of_event_logs(inputs, where, todo.catalog, report)
        return
    if not todo.catalog.relations:
        raise CommandFailure("no tables are known: give --catalog, or run dpp-rewrite init")
    if out is None and not local:
        raise CommandFailure(
            "the results need a folder that all machines of the cluster can reach: give -o DIR"
        )
    with tempfile.TemporaryDirectory(prefix="dpp-rewrite-audit-") as folder:
        read = (inputs, columns, input_format)
        summary = _judged(where, todo, out or folder, timeout, read, report.err, top, measure)
    from sqlrewrite.report.audit import audit_json, audit_page, print_audit

    if report.format == "text":
        print_audit(report.out, summary)
    report.end(lambda: audit_json(summary), lambda: audit_page(summary))
    if apply is not None:
        _write_texts(Path(apply), summary)


def _is_local(where: Target) -> bool:
    """Whether a Spark runs on this machine alone."""
    return where.embedded or (where.master or "").startswith("local")


def _judged(
    where: Target,
    todo: Request,
    place: str,
    timeout: float,
    read: tuple[Sequence[str], Mapping[str, str | None], str | None],
    err: Printer,
    top: int,
    measure: bool,
) -> AuditSummary:
    """Judges the history; the result is also written to ``place``."""
    from sqlrewrite.spark import audit, histories
    from sqlrewrite.spark.session import session

    with session(where) as running, _shown(err, running) as show:
        catalog = todo.catalog
        if not _is_local(where):  # else the queries ran on another Spark, of whatever version
            catalog = of_version(catalog, running.spark.version)
        job = audit.AuditJob(catalog, todo.options(), place, timeout)
        history = histories.history(running, *read)
        counts = audit.decide_shapes(running, history, job, show)
        show("adding up")
        result = audit.summarize(running, place, counts, top)
        if measure:
            show("asking for partitions")
            result = audit.measured(running, result)
        return result


def _of_event_logs(
    inputs: Sequence[str], where: Target, catalog: Warehouse, report: Report
) -> None:
    """Reports what pruned the scans in event logs."""
    from sqlrewrite.report.audit import print_scanned, scanned_json, scanned_page
    from sqlrewrite.spark.histories import scanned
    from sqlrewrite.spark.session import session

    names = [".".join(table.name) for table in catalog.tables if table.partitioned_by]
    with session(where) as running:
        scans = scanned(running, inputs, names)
    if report.format == "text":
        print_scanned(report.out, scans)
    report.end(lambda: scanned_json(scans), lambda: scanned_page(scans))


def _write_texts(folder: Path, summary: AuditSummary) -> None:
    """Writes the rewritten text of each top shape to a file; deletes those of an earlier run."""
    with report_unwritable(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if _APPLIED.fullmatch(path.name):
                path.unlink()
        for number, shape in enumerate(summary.top, 1):
            path = folder / f"{number:03}-{shape.shape[:12]}.sql"
            write_file(str(path), shape.rewritten.encode("utf-8", "surrogatepass"))


@contextmanager
def _shown(err: Printer, running: Any) -> Iterator[Callable[[str], None]]:
    """A function that shows a step and its progress on stderr, if that is a terminal."""
    if not err.stream.isatty():
        yield lambda what: None
        return
    from sqlrewrite.spark.session import watched

    with (
        progress(err, "starting") as update,
        watched(running, lambda done, count: update(completed=done, total=count)),
    ):
        yield lambda what: update(completed=0, description=what)
