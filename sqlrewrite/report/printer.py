"""Prints lines of styled text and tables to a stream, in colour or plain.

rich is imported only for colour and for what needs a terminal: without one, as in a hook, a line is
its plain text, and the start is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

LATIN_1 = {0xDC00 + byte: chr(byte) for byte in range(0x80, 0x100)}
"""From the surrogates that stand for bytes that are no UTF-8 to what the bytes are in Latin-1."""

Line = tuple[tuple[str, str], ...]
"""Pieces of one line, each a text with its style in rich's words (``bold red``, or nothing)."""


def plain(line: Line) -> str:
    """A line without its styles."""
    return "".join([text for text, _ in line])


def counted(count: int, noun: str) -> str:
    """``1 file``, ``1,234 files``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def shown(path: str) -> str:
    """A file's name for people, with escapes for what would move a terminal's cursor."""
    if path.isprintable():
        return path
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in path
    )


class Printer:
    """Prints lines to one stream, in colour or not."""

    def __init__(self, stream: TextIO, *, colour: bool) -> None:
        self.stream = stream
        self.colour = colour
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """The stream as rich sees it, for what is more than lines: tables, Markdown, progress."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=self.stream,
                force_terminal=True if self.colour else None,
                color_system="standard" if self.colour else None,
                no_color=not self.colour,
                highlight=False,
                markup=False,
                emoji=False,
            )
        return self._console

    @property
    def width(self) -> int | None:
        """The columns of a terminal; None for a file, whose lines may be of any length."""
        return self.console.width if self.stream.isatty() else None

    def line(self, *pieces: tuple[str, str]) -> None:
        """Prints one line of these pieces."""
        self.print([pieces])

    def print(self, lines: Iterable[Line]) -> None:
        """Prints each line. A terminal gets long ones broken between words, a file gets them
        whole."""
        terminal = self.stream.isatty()
        if self._console is None and not (self.colour or terminal):
            text = "".join([f"{plain(line)}\n" for line in lines])
            self.stream.write(printable(text, self.stream))
        else:
            from rich.text import Text

            for line in lines:
                pieces = ((text.translate(LATIN_1), style) for text, style in line)
                assembled = Text.assemble(*pieces, overflow="ignore")
                self.console.print(assembled, soft_wrap=not terminal, crop=False)
        self.stream.flush()


def printable(text: str, stream: TextIO) -> str:
    """``text`` with Latin-1's characters for bytes that are no UTF-8, and escapes for what the
    stream's encoding lacks: a report must not fail on an arrow."""
    if text.isascii():
        return text
    text = text.translate(LATIN_1)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


_GAP = 3
"""Blanks between two columns of a table."""


def _longest_word(column: Iterable[str]) -> int:
    return max((len(word) for cell in column for word in cell.split()), default=0)


def _records(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[Line]:
    """Each row as a heading, and a line for each of its other values."""
    width = max(map(len, names))
    for first, *others in rows:
        if first:
            yield ((first, "bold"),)
        for name, cell in zip(names[1:], others, strict=True):
            if cell:
                yield ((f"  {name:<{width}}  ", "dim"), (cell, ""))


def print_table(printer: Printer, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints rows under headings: as a table in a terminal, or one value a line where it is too
    narrow for the words of a table; else in aligned columns. Those whose heading begins with ``>``
    align to the right."""
    names = [heading.removeprefix(">") for heading in headings]
    right = [heading.startswith(">") for heading in headings]
    if printer.stream.isatty() or printer.colour:
        from rich.table import Table

        words = [_longest_word(column) for column in zip(names, *rows, strict=True)]
        if sum(words) + _GAP * (len(words) - 1) > printer.console.width:
            printer.print(_records(names, rows))
            return
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
        for name, is_right, least in zip(names, right, words, strict=True):
            table.add_column(name, justify="right" if is_right else "left", min_width=least)
        for row in rows:
            table.add_row(*row)
        printer.console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    for row in (names, *rows):
        cells = (
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        )
        printer.stream.write(printable("   ".join(cells).rstrip() + "\n", printer.stream))
    printer.stream.flush()
