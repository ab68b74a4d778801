"""``--output-file``: writes the output to a file instead of stdout, completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from io import BytesIO, TextIOWrapper
from typing import Any

import click

from sqlrewrite.cli.common import CommandFailure, Decorator, OutputError, write_stdout
from sqlrewrite.report.printer import Printer
from sqlrewrite.text.source import write_file


def output_option(what: str) -> Decorator:
    """``--output``, where this is written to."""
    usual = f"Write the {what} to this file.  [default: -, stdout]"
    return click.option("-o", "--output", metavar="FILE", default="-", help=usual)


def refuse_read(path: str | None, read: Iterable[str], option: str = "--output-file") -> None:
    """Raises UsageError where the file to write is one of those that are read: what stood in it
    would be lost."""
    if path is None or not os.path.isfile(path):  # a device, or nothing yet
        return
    if any(os.path.exists(it) and os.path.samefile(it, path) for it in read):
        raise click.UsageError(
            f"{option} {path}: this file is read, and what stands in it would be lost; give "
            "another name"
        )


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Ends with a sentence where the file, or the folder, cannot be written."""
    try:
        yield
    except OSError as error:
        raise CommandFailure(f"{path}: cannot be written: {error.strerror or error}") from error


def write_to(path: str, text: str) -> None:
    """Writes a text to a file, or to stdout, which is ``-``."""
    if path == "-":
        write_stdout(text.encode("utf-8"))
        return
    with writing(path):
        write_file(path, text.encode("utf-8"))


@contextmanager
def progress(
    err: Printer, what: str, total: int | None = None, *, done: int = 0, hidden: bool = False
) -> Iterator[Callable[..., None]]:
    """A bar on stderr where someone sits and waits, and what changes it, as ``Progress.update`` of
    rich does; nothing at all where ``hidden``."""
    if hidden or not err.stream.isatty():
        yield lambda **changes: None
        return
    from rich import progress as rich

    columns = (rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn())
    said = rich.TextColumn("{task.description}")
    own: dict[str, Any] = {"redirect_stdout": False, "redirect_stderr": False, "transient": True}
    with rich.Progress(*columns, said, console=err.console, **own) as bar:
        yield partial(bar.update, bar.add_task(what, total=total, completed=done))


@contextmanager
def output_to(path: str | None) -> Iterator[None]:
    """Within it stdout is kept, and at its end written to the file; without a path it is stdout.
    Where something could not be done at all, the file stays as it was."""
    if path is None or path == "-":
        yield
        return
    if os.path.isdir(path):
        raise OutputError(f"--output-file {path}: it is a directory; give the name of a file")
    folder = os.path.dirname(path) or "."
    if not path or not os.path.isdir(folder):
        why = f"there is no folder {folder}" if path else "it is no name of a file"
        raise OutputError(f"--output-file {path!r}: {why}")
    kept = BytesIO()
    text = TextIOWrapper(kept, "utf-8", "backslashreplace", newline="", write_through=True)
    with redirect_stdout(text):
        yield
    try:
        write_file(path, kept.getvalue())
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error
