"""SQL embedded in a file: in Python's literals, in comments, in JSON strings.

An ``Embedded`` text knows the offset in the file of each of its characters, and how an insertion is
escaped there. A ``Host`` is a file with its regions of SQL; it maps edits of a region to edits of
the file. Raises Unwritable for an insertion that the file cannot hold.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.source import Lines

Escape = Callable[[str], str]
"""One step of escaping an inserted text for its file; it may raise Unwritable."""


class Unwritable(Exception):  # noqa: N818 - an adjective that describes a text
    """A text cannot be written at a place in a file; the message says why."""


class Embedded(Struct, frozen=True, eq=False):
    """A text, with the offset in the file of each of its characters and of its end. ``escapes``:
    from an offset in the text on, the steps that escape an insertion, in order."""

    text: str
    offsets: Sequence[int]
    escapes: tuple[tuple[int, tuple[Escape, ...]], ...] = ((0, ()),)

    def cut(self, start: int, end: int) -> Embedded:
        """The text from ``start`` to ``end``."""
        before = [escape for escape in self.escapes if escape[0] <= start][-1:]
        behind = [escape for escape in self.escapes if start < escape[0] < end]
        escapes = tuple((max(0, since - start), escape) for since, escape in (*before, *behind))
        return Embedded(self.text[start:end], self.offsets[start : end + 1], escapes)

    def read_as(self, text: str, indexes: Sequence[int], *escapes: Escape) -> Embedded:
        """A text derived from this one; ``indexes`` are the places here of its characters and its
        end."""
        offsets = array("q", map(self.offsets.__getitem__, indexes))
        both = ((bisect_left(indexes, since), (*escapes, *outer)) for since, outer in self.escapes)
        return Embedded(text, offsets, tuple(both))

    def write(self, offset: int, text: str) -> str:
        """An inserted text as it is escaped in the file at an offset. Raises Unwritable."""
        index = bisect_right(self.escapes, offset, key=lambda escape: escape[0]) - 1
        for escape in self.escapes[max(0, index)][1]:
            text = escape(text)
        return text


def plain(text: str, start: int = 0, end: int | None = None) -> Embedded:
    """A part of a file's text without any escaping."""
    stop = len(text) if end is None else end
    return Embedded(text[start:stop], range(start, stop + 1))


def joined(parts: Sequence[Embedded]) -> Embedded:
    """Several texts of a file as one, in order."""
    offsets, escapes, at = array("q"), list[tuple[int, tuple[Escape, ...]]](), 0
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        offsets.extend(part.offsets if last else part.offsets[:-1])
        escapes += [(at + since, escape) for since, escape in part.escapes]
        at += len(part.text)
    return Embedded(
        "".join(part.text for part in parts), offsets or array("q", [0]), tuple(escapes)
    )


class Region(Struct, frozen=True, eq=False):
    """A text of SQL in a file. ``block`` has a number for each function, branch and loop around it;
    it is empty if the text runs once, in the order of the file. If not ``written``, the file has a
    call (``createOrReplaceTempView``), and the text is a statement with the same effect. ``runs``:
    the offset in the file at which it runs, if it is elsewhere. Regions with the same ``session``
    surely run in the same one."""

    sql: Embedded
    block: tuple[int, ...] = ()
    written: bool = True
    runs: int | None = None
    session: str | None = "spark"

    @property
    def text(self) -> str:
        """The SQL."""
        return self.sql.text

    @property
    def at(self) -> int:
        """The offset in the file at which it runs."""
        return self.sql.offsets[0] if self.runs is None else self.runs


class HostLines(Lines):
    """Lines and columns of a file for the offsets of a text in it."""

    def __init__(self, lines: Lines, embedded: Embedded) -> None:
        super().__init__(embedded.text)
        self._lines = lines
        self._offsets = embedded.offsets

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column in the file of an offset of the text."""
        return self._lines.place(self._offsets[min(offset, len(self._offsets) - 1)])


@dataclass(frozen=True, eq=False)
class Host:
    """A file's text, its regions of SQL in order, and the offset and reason of each text left
    alone."""

    text: str
    regions: tuple[Region, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()

    @cached_property
    def lines(self) -> Lines:
        """The lines of the file."""
        return Lines(self.text)

    def lines_of(self, region: Region) -> Lines:
        """The file's lines for the offsets of a region."""
        return HostLines(self.lines, region.sql)

    def in_file(self, region: Region, edit: Edit) -> Edit:
        """An edit of a region's SQL as one of the file's text. Raises Unwritable."""
        (start, end), new = edit
        span = Span(region.sql.offsets[start], region.sql.offsets[end])
        return Edit(span, region.sql.write(start, new) if new else "")
