"""Bytes to text and back, offsets to lines and columns, and writing files.

In: the bytes of a file. Out: a ``Source``: the text without its byte-order mark, from which
``encode`` makes the same bytes. Line ends never change, and bytes that are not UTF-8 are kept as
surrogates, so that a Latin-1 letter in a comment does no harm and stays.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

_BOM = b"\xef\xbb\xbf"
OTHER_BOMS = (  # UTF-32 first: its little-endian mark begins like UTF-16's
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
"""Byte-order marks other than UTF-8's, each with its encoding."""
_NO_UTF_8 = re.compile("[\udc80-\udcff]")
_QUOTED = re.compile(r'^ |[\x00-\x1f\x7f"\\]')
FOREIGN = frozenset({"node_modules", "venv", "dbt_packages", "site-packages", "__pycache__"})
"""Folders of installed packages, where no definitions are looked for."""
SQL_SUFFIXES = (".sql", ".hql", ".ddl", ".sparksql", ".sql.j2")
"""Suffixes of SQL files, in lower case."""
LINE_END = re.compile(r"\r\n|\n|\r")
"""What ends a line."""


class SourceError(Exception):
    """A file whose bytes cannot be read as text; the message says why and what to do."""


class Source(Struct, frozen=True):
    """A file's text, and whether it begins with a UTF-8 byte-order mark."""

    text: str
    bom: bool = False

    @property
    def is_utf_8(self) -> bool:
        """Whether all its bytes are UTF-8."""
        return self.text.isascii() or _NO_UTF_8.search(self.text) is None

    def encode(self, text: str | None = None) -> bytes:
        """The bytes of this source, or of another text with the same byte-order mark."""
        data = (self.text if text is None else text).encode("utf-8", "surrogateescape")
        return _BOM + data if self.bom else data


def decode(data: bytes) -> Source:
    """The text in ``data``. Raises SourceError for UTF-16 and UTF-32."""
    for mark, name in OTHER_BOMS:
        if data.startswith(mark):
            raise SourceError(f"{name} text is not supported: save the file as UTF-8")
    bom = data.startswith(_BOM)
    return Source(data.removeprefix(_BOM).decode("utf-8", "surrogateescape"), bom)


class Lines:
    """The lines of a text: the line and column of an offset."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _starts(self) -> list[int]:
        """The offsets at which lines begin, computed on demand: most texts need none."""
        if "\r" in self._text:
            return [0, *(match.end() for match in LINE_END.finditer(self._text))]
        lengths = [len(line) + 1 for line in self._text.split("\n")]
        return list(accumulate(lengths[:-1], initial=0))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; columns count code points."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int) -> int:
        """The offset at which a line begins."""
        return self._starts[line - 1]


def unified_diff(before: str, after: str, path: str) -> str:
    """The output of ``diff -u``; ``patch`` and ``git apply -p0`` can apply it, CRLF and all."""
    from difflib import unified_diff as diff

    name = _named(path)
    lines = diff(_split(before), _split(after), name, name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _named(path: str) -> str:
    """A path as a diff names it: without ``./``, which git refuses; with special characters as a C
    string; with a tab behind it if it has spaces, which would end it."""
    path = os.path.normpath(path)
    if _QUOTED.search(path):
        return '"' + _QUOTED.sub(lambda found: rf"\{ord(found[0]):03o}", path) + '"'
    return f"{path}\t" if " " in path else path


def _split(text: str) -> list[str]:
    """Lines as ``patch`` sees them: only a line feed ends one, unlike in ``splitlines``."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def write_file(path: str, data: bytes) -> None:
    """Writes a new or existing file, whole or not at all; a device or pipe, such as ``/dev/null``,
    is just written to. Raises OSError."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    if os.path.lexists(path):
        write_atomically(path, data)
        return

    def new(temporary: str) -> None:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)

    _replace(path, data, new)


def write_atomically(path: str, data: bytes) -> None:
    """Replaces a file's content whole or not at all; its mode is kept, and a link is followed. If
    it raises OSError, the file is unchanged and no temporary file remains."""
    target = os.path.realpath(path)
    if not os.access(target, os.W_OK):  # renaming would replace a read-only file too
        raise PermissionError(13, "the file is read-only", path)
    status = os.stat(target)

    def as_it_was(temporary: str) -> None:
        with suppress(OSError, AttributeError):  # only the superuser may give a file away
            os.chown(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, status.st_mode & 0o7777)

    _replace(target, data, as_it_was)


def _replace(path: str, data: bytes, finish: Callable[[str], None]) -> None:
    """Writes a temporary file beside a path, calls ``finish`` with its name, and renames it to the
    path."""
    from tempfile import mkstemp

    folder, name = os.path.split(path)
    with _undisturbed():
        descriptor, temporary = mkstemp(prefix=f".{name}.", suffix=".tmp", dir=folder or ".")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            finish(temporary)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delays signals that end the process while a temporary file exists (in the main thread, which
    alone receives signals)."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    ending = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {
        number: signal.signal(number, lambda number, _: heard.append(number)) for number in ending
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for number in heard:
            signal.raise_signal(number)
