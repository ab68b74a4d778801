"""``--output-file``: what would go to stdout goes to a file, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import BytesIO, TextIOWrapper
from typing import Any, TypeVar

import click

from sqlrewrite.cli.common import OutputError
from sqlrewrite.text.source import write_file

_Function = TypeVar("_Function", bound=Callable[..., Any])


def output_option(function: _Function) -> _Function:
    """``--output-file``."""
    return click.option(
        "-o",
        "--output-file",
        type=click.Path(),
        metavar="FILE",
        help="Write to this file what would go to stdout.",
    )(function)


@contextmanager
def output_to(path: str | None) -> Iterator[None]:
    """Within it stdout is kept, and at its end written to the file; without a path it is stdout.
    Where something could not be done at all, the file stays as it was."""
    if path is None or path == "-":
        yield
        return
    kept = BytesIO()
    text = TextIOWrapper(kept, "utf-8", "backslashreplace", newline="", write_through=True)
    with redirect_stdout(text):
        yield
    try:
        write_file(path, kept.getvalue())
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error
