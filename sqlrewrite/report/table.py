"""A table of strings: rich's in a terminal, aligned columns where the output goes to a program."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.report.printer import Printer, printable


def print_table(printer: Printer, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints rows under headings; those that begin with ``>`` align to the right."""
    names = [heading.removeprefix(">") for heading in headings]
    right = [heading.startswith(">") for heading in headings]
    if printer.stream.isatty() or printer.colour:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
        for name, is_right in zip(names, right, strict=True):
            table.add_column(name, justify="right" if is_right else "left", overflow="fold")
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
