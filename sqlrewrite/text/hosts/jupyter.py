"""Jupyter notebooks (``.ipynb``): cells of SQL, and the SQL that cells of Python run.

The file is JSON and stays as it is, byte for byte, but for what is inserted into the strings of a
cell's source: a line that is inserted is one more string where the source is a list of lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlrewrite.text.hosts import json_text, python
from sqlrewrite.text.hosts.escapes import in_json
from sqlrewrite.text.hosts.json_text import Text
from sqlrewrite.text.hosts.region import Embedded, Host, Region, joined
from sqlrewrite.text.hosts.sessions import Cells

_MAGIC = re.compile(r"\s*(?P<sign>%%?)(?P<name>\w+)[ \t]*(?P<rest>[^\r\n]*)\r?\n?")
_LINE_MAGIC = re.compile(r"^[ \t]*%(?P<name>\w+)[ \t]+(?P<rest>[^\n]*)", re.MULTILINE)
_DATABRICKS = "application/vnd.databricks.v1+notebook"
_COMMAND = re.compile(r"^(?P<before>[ \t]*)(?P<command>[%!?][^\n]*)", re.MULTILINE)
_COMMAND_IN_IT = "a line of this SQL looks like a command of the notebook: it is left alone"
_OPTIONS = re.compile(r"(?:-{1,2}\w[\w-]*(?:[ =][\w.]+)?\s*)*")
_SQL = frozenset({"sql", "sparksql", "spark_sql"})
_PYTHON = frozenset({"python", "py", "pyspark", "time", "capture"})
_LANGUAGES = frozenset({*_SQL, "python", "py", "scala", "r", "md", "sh", "run", "fs"})


def read(text: str) -> Host:
    """What a notebook holds. Raises nothing."""
    try:
        notebook = json_text.parse(text)
        metadata = notebook.get("metadata") or {}
        usual, databricks = _language(metadata), _DATABRICKS in metadata
        cells = [cell for cell in notebook["cells"] if cell.get("cell_type") == "code"]
        sources = [_source(text, cell["source"]) for cell in cells]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        return Host(text, left=((0, f"not a notebook that can be read: {_why(error)}"),))
    shared = Cells()
    regions, left = list[Region](), list[tuple[int, str]]()
    for source in sources:
        found = _cell(source, usual, databricks, shared)
        regions += found.regions
        left += found.left
    return Host(text, tuple(regions), tuple(left))


def _why(error: Exception) -> str:
    """What is wrong with the JSON, or with what it holds."""
    if isinstance(error, ValueError):
        return str(error)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it has no list of cells, each with a source, as nbformat 4 has"


def _language(metadata: Any) -> str:
    """The language of cells that say none."""
    places = (_DATABRICKS, "language"), ("language_info", "name"), ("kernelspec", "language")
    said = [(metadata.get(key) or {}).get(name) for key, name in places]
    return next((it.lower() for it in said if isinstance(it, str)), "python")


def _source(text: str, source: Any) -> Embedded:
    """A cell's text: one string, or a list of lines."""
    strings: list[Text] = [source] if isinstance(source, Text) else source
    parts = [json_text.embedded(text, string) for string in strings]
    if not parts:
        return Embedded("", range(1))
    line_end = r"\n"
    if not isinstance(source, Text):
        line_end += _between(text, strings)
    whole, way = joined(parts), partial(in_json, line_end, text.isascii())
    return Embedded(whole.text, whole.offsets, ((0, (way,)),))


def _between(text: str, strings: list[Text]) -> str:
    """What stands between two strings of a list, quotes included."""
    if len(strings) > 1:
        return text[strings[0].end : strings[1].start]
    start = text.rfind("[", 0, strings[0].start)
    return f'",{text[start + 1 : strings[0].start]}'


def _cell(source: Embedded, language: str, databricks: bool, cells: Cells) -> python.Read:
    """What a cell holds, in a ``language`` unless it says another."""
    magic = _MAGIC.match(source.text)
    named = magic["name"].lower() if magic is not None else ""
    if magic is not None and (magic["sign"] == "%%" or (named in _LANGUAGES and databricks)):
        language = "python" if named in _PYTHON else named
    elif magic is not None and named in _SQL and not magic["rest"].strip():
        language = "sql"
    elif language == "sql":
        return python.Read((Region(source),))
    if magic is not None and language in _SQL:
        return _magic(source, magic)
    return python_cell(source, cells) if language == "python" else python.Read()


def python_cell(source: Embedded, cells: Cells) -> python.Read:
    """A cell of Python, with lines of SQL and other commands in it."""
    lines = [it for it in _LINE_MAGIC.finditer(source.text) if it["name"].lower() in _SQL]
    regions = [Region(source.cut(it.start("rest"), it.end())) for it in lines]
    # Commands of the notebook stand between Python's: as lines that do nothing it can be parsed.
    commands = list(_COMMAND.finditer(source.text))
    blank = _COMMAND.sub(_nothing, source.text)
    found = python.read(Embedded(blank, source.offsets, source.escapes), cells)
    taken = [source.offsets[it.start("command")] for it in commands]
    clear = [it for it in found.regions if not _within(it, taken)]
    left = [(it.sql.offsets[0], _COMMAND_IN_IT) for it in found.regions if _within(it, taken)]
    ordered = sorted((*regions, *clear), key=lambda it: it.at)
    return python.Read(tuple(ordered), (*found.left, *left))


def _nothing(command: re.Match[str]) -> str:
    width = len(command["command"])
    return command["before"] + ("pass" if width >= len("pass") else "").ljust(width)


def _within(region: Region, offsets: Sequence[int]) -> bool:
    """Whether one of the offsets in the file is inside of a region."""
    first, last = region.sql.offsets[0], region.sql.offsets[-1]
    return any(first <= offset < last for offset in offsets)


def _magic(source: Embedded, magic: re.Match[str]) -> python.Read:
    """A cell whose first line says that it is SQL."""
    if _OPTIONS.fullmatch(magic["rest"]):
        return python.Read((Region(source.cut(magic.end(), len(source.text))),))
    if magic["sign"] == "%":  # the statement begins behind it
        return python.Read((Region(source.cut(magic.start("rest"), len(source.text))),))
    why = f"what %%{magic['name']} means by `{magic['rest'].strip()}` is not known"
    return python.Read(left=((source.offsets[0], why),))
