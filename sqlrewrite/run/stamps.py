"""Whether a file is as it was: told by what the file system says of it, without reading it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

Stamp = tuple[int, int, int, int]
"""What is compared of a file: size, times of change in nanoseconds, inode."""

_SETTLED = 2_000_000_000
"""A file changed less than so many nanoseconds ago may change again and have the same times: some
file systems count in twos of seconds. git calls such files racily clean, and looks into them."""


def stamp(status: os.stat_result) -> Stamp:
    """What is compared of a file."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def settled(status: os.stat_result) -> Stamp | None:
    """The stamp of a file that is just being read, None where it changed so short a time ago that
    the next change might have the same."""
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    return stamp(status) if changed + _SETTLED < time.time_ns() else None


def stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    """The stamp of each file that exists. Two that are equal say that no file has come, gone or
    changed in between."""
    found: dict[str, Stamp] = {}
    for path in paths:
        try:
            found[path] = stamp(os.stat(path))
        except OSError:
            continue
    return found
