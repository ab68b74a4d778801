"""Results as text for people and as JSON for programs: the parts that reports share.

rich is imported only for colour and for terminals: elsewhere, as in a hook, lines are printed as
plain text, and the start is fast.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

LATIN_1 = {0xDC00 + byte: chr(byte) for byte in range(0x80, 0x100)}
"""From surrogates, which stand for bytes that are not UTF-8, to the characters of these bytes in
Latin-1."""

Line = tuple[tuple[str, str], ...]
"""Pieces of one line, each a text with its style as rich writes it (``bold red``, or empty)."""

MARKS = {"+": "green", "-": "red"}
"""The colour of a line of a diff, by its mark."""


def plain(line: Line) -> str:
    """A line without its styles."""
    return "".join([text for text, _ in line])


def counted(count: int, noun: str) -> str:
    """``1 file``, ``1,234 files``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def size(count: int | None) -> str:
    """Bytes for people: ``37.4 GiB``; empty if unknown."""
    if count is None or count < 1024:
        return "" if count is None else f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} PiB"


def shown(path: str) -> str:
    """A file's name for people, with escapes for control characters."""
    if path.isprintable():
        return path
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in path
    )


def clean(text: str) -> str:
    """A text with blanks for control characters, which text quoted from a file may have."""
    return "".join(char if char.isprintable() else " " for char in text)


class Printer:
    """Prints lines to one stream, in colour or not."""

    def __init__(self, stream: TextIO, *, colour: bool) -> None:
        self.stream = stream
        self.colour = colour
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """The stream for rich, to print tables, Markdown and progress."""
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
    def rich(self) -> bool:
        """Whether the output goes to a terminal, or is in colour."""
        return self.colour or self.stream.isatty()

    @property
    def width(self) -> int | None:
        """The columns of a terminal; None for a file, whose lines may have any length."""
        return self.console.width if self.stream.isatty() else None

    def line(self, *pieces: tuple[str, str]) -> None:
        """Prints one line of these pieces."""
        self.print([pieces])

    def print(self, lines: Iterable[Line]) -> None:
        """Prints lines. A terminal breaks long ones between words, a file gets them whole."""
        if self._console is None and not self.rich:
            self.write("".join([f"{plain(line)}\n" for line in lines]))
            return
        from rich.text import Text

        for line in lines:
            pieces = ((text.translate(LATIN_1), style) for text, style in line)
            assembled = Text.assemble(*pieces, overflow="ignore")
            self.console.print(assembled, soft_wrap=not self.stream.isatty(), crop=False)
        self.stream.flush()

    def write(self, text: str) -> None:
        """Writes plain text, with Latin-1 characters for bytes that are not UTF-8, and escapes for
        characters that the stream's encoding lacks: a report must not fail at an arrow."""
        if not text.isascii():
            encoding = getattr(self.stream, "encoding", None) or "utf-8"
            text = text.translate(LATIN_1)
            text = text.encode(encoding, "backslashreplace").decode(encoding)
        self.stream.write(text)
        self.stream.flush()


_GAP = 3
"""Blanks between two columns of a table."""


def print_table(printer: Printer, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints rows under headings; columns whose heading begins with ``>`` are aligned to the right.
    If a terminal is too narrow for the table, each value is printed on a line of its own."""
    names = [heading.removeprefix(">") for heading in headings]
    right = [heading.startswith(">") for heading in headings]
    if printer.rich:
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
        printer.write((" " * _GAP).join(cells).rstrip() + "\n")


def _longest_word(column: Iterable[str]) -> int:
    return max((len(word) for cell in column for word in cell.split()), default=0)


def _records(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[Line]:
    """Each row as a heading and a line for each other value."""
    width = max(map(len, names))
    for first, *others in rows:
        if first:
            yield ((first, "bold"),)
        for name, cell in zip(names[1:], others, strict=True):
            if cell:
                yield ((f"  {name:<{width}}  ", "dim"), (cell, ""))


_NAMED_BLOCK = re.compile(r"^```(\w+) (.+)$", re.MULTILINE)


def print_markdown(printer: Printer, text: str) -> None:
    """Prints Markdown: formatted on a terminal, else as it is."""
    if not printer.rich:
        printer.write(text.rstrip("\n") + "\n")
        return
    from rich.markdown import Markdown

    width = min(printer.console.width, 100)  # prose wider than this is hard to read
    text = _NAMED_BLOCK.sub(r"*\2*\n```\1", text)  # rich would omit "before" and "after"
    printer.console.print(Markdown(text, code_theme="ansi_dark"), width=width)


def attributes(value: object, names: str) -> dict[str, Any]:
    """Attributes of a value, in the order of ``names``; an enumeration as its value."""
    pairs = {name: getattr(value, name) for name in names.split()}
    return {
        name: value_.value if isinstance(value_, Enum) else value_ for name, value_ in pairs.items()
    }


def dumps(whole: object) -> str:
    """A report as JSON, with a newline at its end: in ASCII, which any console shows; bytes that
    are not UTF-8 as the lone surrogates of Python's ``surrogateescape``."""
    return json.dumps(whole, indent=2) + "\n"
