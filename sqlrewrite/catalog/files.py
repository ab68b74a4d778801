"""A catalog file's text, the SQL in it, and how a place in it is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sqlrewrite.frozen import dataclass
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.readable import readable
from sqlrewrite.text.source import Lines
from sqlrewrite.warehouse import CatalogError

_BOMS = (  # UTF-32 first: its little-endian mark begins like UTF-16's
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# GB 18030 reads what it reads and fails else; Latin-1 reads anything. Names are ASCII in most DDL,
# and the same in all of them.
_OTHERS = ("gb18030", "latin-1")


def read_text(path: Path) -> str:
    """A file's text, without a byte-order mark. Raises CatalogError."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 at byte {error.start}: save the file as UTF-8"
        raise CatalogError(message) from error


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises CatalogError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror or error}") from error


def decoded(data: bytes) -> tuple[str, str]:
    """A text in whatever encoding it is, and the encoding's name."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data.decode(name, "replace"), name
    for name in ("utf-8-sig", *_OTHERS):
        try:
            return data.decode(name), name
        except UnicodeDecodeError:
            continue
    raise AssertionError("Latin-1 reads any bytes")


def texts(text: str, source: str) -> Iterator[tuple[str, Where]]:
    """The SQL of a file, fit to look for definitions in, and what names places in it: one text, or
    several where it stands in another language."""
    host = host_of(source, text)
    if host is None:
        yield readable(text), Where(Lines(text), source)
        return
    for region in host.regions:
        if region.written:
            yield readable(region.text), Where(host.lines_of(region), source)


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """The lines of a file, and its name."""

    lines: Lines
    source: str

    def __call__(self, offset: int) -> str:
        """``source:line:column`` of an offset."""
        line, column = self.lines.place(offset)
        return f"{self.source}:{line}:{column}"
