"""The rules as a list, and a rule's page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlrewrite.report.printer import Printer, print_table, printable
from sqlrewrite.rulebook import Page

_NAMED_BLOCK = re.compile(r"^```(\w+) (.+)$", re.MULTILINE)


def print_rules(printer: Printer, pages: Sequence[Page]) -> None:
    """One line a rule."""
    rows = [(page.code, page.name, page.kind, page.summary) for page in pages]
    print_table(printer, ("code", "name", "kind", "summary"), rows)


def print_page(printer: Printer, page: Page) -> None:
    """A rule's page: set for a terminal, else the Markdown it is written in."""
    if not (printer.stream.isatty() or printer.colour):
        printer.stream.write(printable(page.text.rstrip("\n") + "\n", printer.stream))
        printer.stream.flush()
        return
    from rich.markdown import Markdown

    width = min(printer.console.width, 100)  # prose wider than this is hard to read
    text = _NAMED_BLOCK.sub(r"*\2*\n```\1", page.text)  # rich would not show "before" and "after"
    printer.console.print(Markdown(text, code_theme="ansi_dark"), width=width)
