"""Reports as one HTML page that stands by itself: no script, no address, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from sqlrewrite.report.physical import pruned_by
from sqlrewrite.spark.explain import Explained

_STYLE = """
:root { color-scheme: light dark; --line: #8885; --old: #c33; --new: #2a8; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2.5rem }
table { border-collapse: collapse } td, th { padding: .3rem .8rem; text-align: left;
  border-bottom: 1px solid var(--line); vertical-align: top } td.n { text-align: right }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: .4rem;
  font-size: 13px; line-height: 1.4 } .add { color: var(--new) } .del { color: var(--old) }
.bar { height: .8rem; border-radius: .2rem; min-width: 1px } .bar.old { background: var(--old) }
.bar.new { background: var(--new) } .track { width: 20rem }
"""
_MARKS = {"+": "add", "-": "del"}


def explained_page(found: Iterable[Explained]) -> str:
    """The scans of each statement, and its plan diff."""
    sections = []
    for it in found:
        rows = [(scan.table, pruned_by(scan.before), pruned_by(scan.after)) for scan in it.scans]
        lines = "\n".join(
            f'<span class="{_MARKS.get(line.mark, "")}">{escape(f"{line.mark} {line.text}")}</span>'
            for line in it.diff
        )
        sections.append(
            f"<h2>{escape(f'{it.path}:{it.line}')}</h2>"
            f"{table(('scan', 'pruned before by', 'pruned after by'), rows)}<pre>{lines}</pre>"
        )
    return page("What Spark's scans are pruned by", sections)


def page(title: str, sections: Iterable[str]) -> str:
    """A whole page around sections of HTML."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>\n"
        + "\n".join(sections)
        + "\n</body></html>\n"
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain strings."""
    head = "".join(f"<th>{escape(it)}</th>" for it in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
