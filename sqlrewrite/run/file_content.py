"""A file's content: its bytes, their hash, and the stamp that identifies an unchanged file.

In: a file's name. Out: its bytes or text, or an UnreadFileError that says why not.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

from sqlrewrite.results import Problem
from sqlrewrite.text.hosts import kind_of
from sqlrewrite.text.limits import over
from sqlrewrite.text.source import Source, SourceError, decode

Stamp = tuple[int, int, int, int]
"""The stamp of a file, equal if it is unchanged: size, modification and change time in nanoseconds,
inode."""

_RACY = 2_000_000_000
"""A file changed less than so many nanoseconds ago may change again without a change of its times:
some file systems count in steps of two seconds. Such files are always read (git calls them racily
clean)."""


class UnreadFileError(Exception):
    """A file was not read; ``problem`` says why. It has no code if the file is too large."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(code, message, 1, 1)


def stamp(status: os.stat_result) -> Stamp:
    """The stamp in a file's status."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def lasting_stamp(status: os.stat_result) -> Stamp | None:
    """The stamp of a file; None if it changed so recently that its next change might not show."""
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    return stamp(status) if changed + _RACY < time.time_ns() else None


def stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    """The stamps of those files that exist. If two results are equal, no file was added, deleted or
    changed in between."""
    by_path: dict[str, Stamp] = {}
    for path in paths:
        try:
            by_path[path] = stamp(os.stat(path))
        except OSError:
            continue
    return by_path


def read_file(path: str, limit: int = sys.maxsize) -> tuple[bytes, os.stat_result]:
    """A file's bytes, and its status before they were read, so that a change meanwhile shows.
    Raises UnreadFileError."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            check_size(status.st_size, limit)
            return file.read(), status
    except OSError as error:
        raise UnreadFileError("io-error", f"cannot be read: {error.strerror or error}") from error


def read_source(data: bytes, limit: int) -> Source:
    """The text in a file's bytes. Raises UnreadFileError."""
    check_size(len(data), limit)
    try:
        return decode(data)
    except SourceError as error:
        raise UnreadFileError("io-error", str(error)) from error


def check_size(size: int, limit: int) -> None:
    """Raises UnreadFileError for a file above the limit."""
    if size > limit:
        raise UnreadFileError("", over("file", size, limit))


def content_hash(data: bytes, path: str) -> bytes:
    """A hash of a file's bytes and of the language that its name implies."""
    from hashlib import sha256  # not imported for a small run

    return sha256(kind_of(path).encode() + data).digest()
