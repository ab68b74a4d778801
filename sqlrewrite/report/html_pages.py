"""Results as HTML pages: the parts that these share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; --line: #8885; --old: #c33; --new: #2a8; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2.5rem }
table { border-collapse: collapse } td, th { padding: .3rem .8rem; text-align: left;
  border-bottom: 1px solid var(--line); vertical-align: top } td.n { text-align: right }
td:first-child { overflow-wrap: anywhere }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: .4rem;
  font-size: 13px; line-height: 1.4 } .add { color: var(--new) } .del { color: var(--old) }
.track { width: 20rem; white-space: nowrap } .bar { display: inline-block; height: .8rem;
  min-width: 1px; background: #8888 } .bar.old, .bar.rewritten { background: var(--old) }
.bar.new, .bar.pruned { background: var(--new) } .bar.rejected { background: #d92 }
"""


def page(title: str, sections: Iterable[str]) -> str:
    """A self-contained HTML page around sections: no script, no link to other sites, light or
    dark."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>\n"
        + "\n".join(sections)
        + "\n</body></html>\n"
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain strings as HTML."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def cells(row: Iterable[str]) -> str:
    """Plain strings as the cells of a table's row."""
    return "".join(f"<td>{escape(cell)}</td>" for cell in row)


def bar(parts: Iterable[tuple[float, str]]) -> str:
    """A cell with a bar of several parts, each given by its share of the width and its CSS
    class."""
    blocks = (
        f'<div class="bar {kind}" style="width:{100 * share:.1f}%"></div>' for share, kind in parts
    )
    return f'<td class="track">{"".join(blocks)}</td>'
