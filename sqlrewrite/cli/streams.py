"""The streams and files that commands read and write, and how a run ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from io import BytesIO, TextIOWrapper
from typing import Any, NoReturn, TextIO, cast

import click

from sqlrewrite.report import Printer
from sqlrewrite.text.source import write_file


class CommandFailure(click.ClickException):
    """Something could not be done: the message goes to stderr, the exit status is 2."""

    exit_code = 2


def printer(*, err: bool, color: bool | None) -> Printer:
    """The printer for stdout or stderr, in colour if the option or the environment asks for it."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # closed by the parent process
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the run
    if color is None:
        forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")
        color = forced or (stream.isatty() and os.environ.get("TERM") != "dumb")
        color = color and not os.environ.get("NO_COLOR")
    return Printer(cast(TextIO, _Stream(stream)), colour=color)


class OutputError(Exception):
    """Standard output or error cannot be written; the message says why."""


@contextmanager
def _output_errors() -> Iterator[None]:
    """Turns OSError on stdout and stderr into OutputError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        what = f"the output cannot be written: {error.strerror or error}"
        raise OutputError(what) from error


class _Stream:
    """A stream that raises OutputError where it cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _output_errors():
            return self._stream.write(text)

    def flush(self) -> None:
        with _output_errors():
            self._stream.flush()


def read_stdin() -> bytes:
    """The whole of stdin. Raises CommandFailure where it is closed."""
    if sys.stdin is None:
        raise CommandFailure("standard input is closed: nothing can be read for `-`")
    return sys.stdin.buffer.read()


def write_stdout(data: bytes) -> None:
    """Writes bytes to stdout, unchanged and at once, so that they keep their order with stderr."""
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    stream, rest = sys.stdout.buffer, memoryview(data)
    with _output_errors():
        while rest:  # under PYTHONUNBUFFERED the stream is raw, and one call may write only a part
            rest = rest[stream.write(rest) :]
        stream.flush()


def copy_to_stdout(path: str) -> None:
    """Copies a file to stdout in blocks."""
    try:
        with open(path, "rb") as file:
            while data := file.read(1 << 20):
                write_stdout(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error


def refuse_read(path: str | None, read: Iterable[str], option: str = "--output-file") -> None:
    """Raises UsageError where the file to write is one of those that are read."""
    if path is None or not os.path.isfile(path):  # a device, or nothing yet
        return
    if any(os.path.exists(file) and os.path.samefile(file, path) for file in read):
        raise click.UsageError(
            f"{option} {path}: this file is read too, and would be overwritten: give another name"
        )


@contextmanager
def report_unwritable(path: str) -> Iterator[None]:
    """Raises CommandFailure where the file, or the folder, cannot be written."""
    try:
        yield
    except OSError as error:
        raise CommandFailure(f"{path}: cannot be written: {error.strerror or error}") from error


def write_to(path: str, text: str) -> None:
    """Writes a text to a file, or to stdout, which is ``-``."""
    if path == "-":
        write_stdout(text.encode("utf-8"))
        return
    with report_unwritable(path):
        write_file(path, text.encode("utf-8"))


@contextmanager
def progress(
    err: Printer, what: str, total: int | None = None, *, done: int = 0, hidden: bool = False
) -> Iterator[Callable[..., None]]:
    """A progress bar on a terminal's stderr, and its update function, as of ``rich.Progress``."""
    if hidden or not err.stream.isatty():
        yield lambda **changes: None
        return
    from rich import progress as rich

    columns = (rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn())
    description = rich.TextColumn("{task.description}")
    own: dict[str, Any] = {"redirect_stdout": False, "redirect_stderr": False, "transient": True}
    with rich.Progress(*columns, description, console=err.console, **own) as bar:
        yield partial(bar.update, bar.add_task(what, total=total, completed=done))


@contextmanager
def output_to(path: str | None) -> Iterator[None]:
    """Collects stdout, and writes it to the file in the end, whole or not at all."""
    if path is None or path == "-":
        yield
        return
    if os.path.isdir(path):
        raise OutputError(f"--output-file {path}: is a folder: give the name of a file")
    folder = os.path.dirname(path) or "."
    if not path or not os.path.isdir(folder):
        why = f"there is no folder {folder}" if path else "give the name of a file"
        raise OutputError(f"--output-file {path!r}: {why}")
    kept = BytesIO()
    text = TextIOWrapper(kept, "utf-8", "backslashreplace", newline="", write_through=True)
    with redirect_stdout(text):
        yield
    try:
        write_file(path, kept.getvalue())
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error


@contextmanager
def clean_exit() -> Iterator[None]:
    """Ends the program without a traceback after Ctrl-C, or when its reader has gone (``|
    head``)."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        _discard_output()
        sys.exit(141)
    except OutputError as error:
        fail(f"error: {error}")


def fail(message: str) -> NoReturn:
    """Prints why the program cannot go on, if that is possible, and ends it with status 2."""
    with suppress(OSError):
        click.echo(message, err=True)
    _discard_output()
    sys.exit(2)


def _discard_output() -> None:
    """Discards buffered output, so that Python's last flush does not fail again."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # closed, or no real file
            os.dup2(null, stream.fileno())
