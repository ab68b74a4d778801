"""Lines of styled text, and the one who prints them.

Reports say what a line is made of; whether that becomes colour is decided here. rich is imported
only where it does: without a terminal, as in a hook, a line is its plain text, and start-up quick.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

Line = tuple[tuple[str, str], ...]
"""Pieces of one line, each a text with its style in rich's words (``bold red``, or nothing)."""


def plain(line: Line) -> str:
    """A line without its styles."""
    return "".join([text for text, _ in line])


def counted(count: int, noun: str) -> str:
    """``1 file``, ``1,234 files``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def shown(path: str) -> str:
    """A file's name with what would move a terminal's cursor as escapes: a stranger may have given
    it."""
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

    def line(self, *pieces: tuple[str, str]) -> None:
        """Prints one line of these pieces."""
        self.print([pieces])

    def print(self, lines: Iterable[Line]) -> None:
        """Prints each line; long ones are left to the terminal to wrap, so that they copy whole."""
        if self._console is None and not self.colour:
            text = "".join([f"{plain(line)}\n" for line in lines])
            self.stream.write(printable(text, self.stream))
        else:
            from rich.text import Text

            for line in lines:
                self.console.print(Text.assemble(*line), soft_wrap=True)
        self.stream.flush()


def printable(text: str, stream: TextIO) -> str:
    """``text`` as far as the stream's encoding can say it: a report must not fail on an arrow."""
    if text.isascii():
        return text
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
