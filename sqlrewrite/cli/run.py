"""``dpp-rewrite run``: a file's statements on Spark, each rewritten first."""

from __future__ import annotations

import time
from pathlib import Path

import click

from sqlrewrite.catalog import Catalog
from sqlrewrite.cli.options import Command, setting_option
from sqlrewrite.cli.spark import SPARK, spark_options
from sqlrewrite.cli.streams import CommandFailure, read_stdin, write_stdout
from sqlrewrite.run.search import STDIN
from sqlrewrite.settings.forms import AUTO
from sqlrewrite.spark.target import Target

_LEVELS = ("debug", "info", "warning", "none")
_PREDICATE, _WHEN = AUTO, "missed"


@click.command(
    "run",
    cls=Command,
    sections={
        "What is known": ("catalog",),
        "What is inserted": ("predicate", "when"),
        "Which Spark": SPARK,
        "What is reported": ("log", "quiet"),
    },
    short_help="Run a file's statements on Spark, rewritten.",
    epilog="""\b
Examples:
  dpp-rewrite run --master yarn job.sql              as spark-sql -f job.sql
  dpp-rewrite run --remote sc://host --log debug job.sql  why each was left

\b
Exit status:
  0  all statements have run
  2  one failed, and those behind it were not run""",
)
@click.argument("path", metavar="FILE")
@setting_option("catalog", "what Spark's own catalog says of them")
@setting_option("predicate", _PREDICATE)
@setting_option("when", _WHEN)
@spark_options
@click.option(
    "--log",
    type=click.Choice(_LEVELS),
    default="info",
    show_default=True,
    help="Log on stderr. info: a line for each rewritten query. debug: also why others are not.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not print the times of statements on stderr.")
def command(
    path: str,
    catalog: tuple[str, ...],
    predicate: str | None,
    when: str | None,
    where: Target,
    log: str,
    quiet: bool,
) -> None:
    """Runs the statements of FILE, or of - for stdin, in order, and prints their rows.

    Each statement is rewritten as `sqlrewrite.spark.enable` does, with what the session's own
    catalog and settings say. Rows are printed as by `spark-sql -f`: values separated by tabs.
    """
    text = _read(path)
    known = Catalog.load(*catalog) if catalog else None
    from sqlrewrite.spark import enable, script
    from sqlrewrite.spark.session import session

    level = None if log == "none" else log.upper()
    name = "<stdin>" if path == STDIN else path
    forms = when or _WHEN, predicate or _PREDICATE
    with session(where) as running, enable(running.spark, known, *forms, level):
        begun = time.perf_counter()
        for ran in script.run(running, name, text, lambda row: write_stdout(f"{row}\n".encode())):
            now = time.perf_counter()
            if not quiet:
                count = f"{ran.rows} row{'s' * (ran.rows != 1)}"
                click.echo(f"{ran.name}:{ran.line}: {count}, {now - begun:.1f} s", err=True)
            begun = now


def _read(path: str) -> str:
    try:
        data = read_stdin() if path == STDIN else Path(path).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise CommandFailure(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CommandFailure(f"{path}: byte {error.start}: not UTF-8") from error
