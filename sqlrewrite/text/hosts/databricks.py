"""Databricks' notebooks as source files: cells of SQL in comments of Python, or of SQL.

``# MAGIC %sql`` opens a cell of SQL in a ``.py`` file, ``-- MAGIC %sql`` one in a ``.sql`` file;
``# COMMAND ----------`` stands between cells. A line that is inserted gets the same ``MAGIC``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from sqlrewrite.text.blanking import CELL_END, LANGUAGE
from sqlrewrite.text.hosts import jupyter, python
from sqlrewrite.text.hosts.escapes import prefixed
from sqlrewrite.text.hosts.region import Embedded, Host, Region, joined, plain
from sqlrewrite.text.hosts.sessions import Cells

_PYTHON = re.compile(r"\ufeff?# Databricks notebook source")
_CELL_END = re.compile(r"^#[ \t]*COMMAND[ \t]+-+[^\r\n]*", re.MULTILINE)
_MAGIC = {
    sign: re.compile(rf"^(?P<magic>{sign}[ \t]*MAGIC(?:[ \t]|(?=[\r\n]|\Z)))", re.MULTILINE)
    for sign in ("#", "--")
}
_LANGUAGE = re.compile(r"[ \t]*%(\w+)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)?")


def is_python(text: str) -> bool:
    """Whether a text of Python is a notebook's."""
    return _PYTHON.match(text) is not None


def read_python(text: str) -> Host:
    """A notebook of Python: its cells of SQL, and the SQL that its Python runs."""
    # What is inserted at a cell's end goes into its last line.
    lines = (_lines(text, *cell, "#") for cell in _between(_CELL_END, text))
    wholes = (joined(it) for it in lines if it)
    cells = [Region(it.cut(0, len(it.text.rstrip("\r\n")))) for it in wholes]
    found = python.read(plain(text), notebook=True)
    if found.left[:1] and found.left[0][0] == 0:  # it is no Python as a whole: what its cells hold
        shared, single = Cells(), (plain(text, *cell) for cell in _between(_CELL_END, text))
        read = [jupyter.python_cell(it, shared) for it in single]
        regions, left = chain(*(it.regions for it in read)), chain(*(it.left for it in read))
        found = python.Read(tuple(regions), tuple(left))
    ordered = sorted((*cells, *found.regions), key=lambda it: it.at)
    return Host(text, tuple(ordered), found.left)


def read_sql(text: str) -> Host:
    """A notebook of SQL, cell by cell, so that one that cannot be read costs no other."""
    cells = (_sql_cell(text, *cell) for cell in _between(CELL_END, text))
    found = (Region(it.cut(0, len(it.text.rstrip()))) for it in cells if it is not None)
    return Host(text, tuple(found))


def _between(ends: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where each cell of a text begins and ends, by the lines that stand between them."""
    since = 0
    for end in ends.finditer(text):
        yield since, end.start()
        since = end.end()
    yield since, len(text)


def _sql_cell(text: str, start: int, end: int) -> Embedded | None:
    """A cell of a notebook of SQL, None for one in another language."""
    language = LANGUAGE.match(text[start:end])
    if language is None:
        return plain(text, start, end)
    if language[3].lower() != "sql":
        return None
    if language[1] is None:
        return plain(text, start + language.end(), end)
    lines = _lines(text, start, end, "--")
    return joined(lines) if lines else None


def _lines(text: str, start: int, end: int, sign: str) -> list[Embedded]:
    """The lines of a cell of SQL without what makes comments of them; none of another cell."""
    found: list[Embedded] = []
    for magic in _MAGIC[sign].finditer(text, start, end):
        line = _LINE.match(text, magic.end(), end)
        assert line is not None
        at = magic.end()
        if not found:
            language = _LANGUAGE.match(text, at, line.end())
            if language is None or language[1].lower() != "sql":
                return []
            at = language.end()
        way = (0, (partial(prefixed, text[magic.start() : magic.end()].rstrip() + " "),))
        found.append(Embedded(text[at : line.end()], range(at, line.end() + 1), (way,)))
    return found
