"""Notebooks: Jupyter's files, and Databricks' notebooks as source files.

A Jupyter notebook (``.ipynb``) is JSON. Its text is kept but for insertions into the strings of a
cell's source; if the source is a list of lines, an inserted line is one more string. In Databricks'
files ``# MAGIC %sql`` opens a cell of SQL in a ``.py`` file, ``-- MAGIC %sql`` one in a ``.sql``
file, and ``# COMMAND ----------`` separates cells; an inserted line begins with the same ``MAGIC``.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from sqlrewrite.text.hosts import python
from sqlrewrite.text.hosts.program import Cells
from sqlrewrite.text.hosts.region import Embedded, Host, Region, joined, plain
from sqlrewrite.text.masking import CELL_END, LANGUAGE
from sqlrewrite.text.source import LINE_END

_PYTHON = re.compile(r"\ufeff?# Databricks notebook source")
_CELL_END = re.compile(r"^#[ \t]*COMMAND[ \t]+-+[^\r\n]*", re.MULTILINE)
_MAGIC = {
    sign: re.compile(rf"^(?P<magic>{sign}[ \t]*MAGIC(?:[ \t]|(?=[\r\n]|\Z)))", re.MULTILINE)
    for sign in ("#", "--")
}
_LANGUAGE = re.compile(r"[ \t]*%(\w+)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)?")

_CELL_MAGIC = re.compile(r"\s*(?P<sign>%%?)(?P<name>\w+)[ \t]*(?P<rest>[^\r\n]*)\r?\n?")
_LINE_MAGIC = re.compile(r"^[ \t]*%(?P<name>\w+)[ \t]+(?P<rest>[^\n]*)", re.MULTILINE)
_DATABRICKS = "application/vnd.databricks.v1+notebook"
_COMMAND = re.compile(r"^(?P<before>[ \t]*)(?P<command>[%!?][^\n]*)", re.MULTILINE)
_COMMAND_IN_IT = "a line of this SQL looks like a command of the notebook: it is left alone"
_OPTIONS = re.compile(r"(?:-{1,2}\w[\w-]*(?:[ =][\w.]+)?\s*)*")
_SQL = frozenset({"sql", "sparksql", "spark_sql"})
_PYTHON_MAGIC = frozenset({"python", "py", "pyspark", "time", "capture"})
_LANGUAGES = frozenset({*_SQL, "python", "py", "scala", "r", "md", "sh", "run", "fs"})
_CHARACTER = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u.{4}|\\.|.")


def is_python(text: str) -> bool:
    """Whether a Python text is a Databricks notebook."""
    return _PYTHON.match(text) is not None


def read_python(text: str) -> Host:
    """A Databricks notebook in Python: its cells of SQL, and the SQL that its Python runs."""
    # An insertion at a cell's end becomes part of its last line.
    lines = (_lines(text, *cell, "#") for cell in _between(_CELL_END, text))
    wholes = (joined(line) for line in lines if line)
    cells = [Region(whole.cut(0, len(whole.text.rstrip("\r\n")))) for whole in wholes]
    program = python.read(plain(text), notebook=True)
    if any(
        at == 0 for at, _ in program.unread
    ):  # the whole is not valid Python: read each cell by itself
        shared, single = Cells(), (plain(text, *cell) for cell in _between(_CELL_END, text))
        read = [_python_cell(cell, shared) for cell in single]
        regions = chain.from_iterable(cell.regions for cell in read)
        unread = chain.from_iterable(cell.unread for cell in read)
        program = python.Read(tuple(regions), tuple(unread))
    ordered = sorted((*cells, *program.regions), key=lambda it: it.at)
    return Host(text, tuple(ordered), program.unread)


def read_sql(text: str) -> Host:
    """A Databricks notebook in SQL, cell by cell: one unreadable cell does not affect the
    others."""
    cells = (_sql_cell(text, *cell) for cell in _between(CELL_END, text))
    regions = (Region(cell.cut(0, len(cell.text.rstrip()))) for cell in cells if cell is not None)
    return Host(text, tuple(regions))


def _between(ends: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each cell of a text, given the lines that separate cells."""
    since = 0
    for end in ends.finditer(text):
        yield since, end.start()
        since = end.end()
    yield since, len(text)


def _sql_cell(text: str, start: int, end: int) -> Embedded | None:
    """A cell of a notebook in SQL; None for a cell in another language."""
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
    """The lines of a cell of SQL without their ``MAGIC``; empty for a cell in another language."""
    embedded: list[Embedded] = []
    for magic in _MAGIC[sign].finditer(text, start, end):
        line = _LINE.match(text, magic.end(), end)
        assert line is not None
        at = magic.end()
        if not embedded:
            language = _LANGUAGE.match(text, at, line.end())
            if language is None or language[1].lower() != "sql":
                return []
            at = language.end()
        way = (0, (partial(_prefixed, text[magic.start() : magic.end()].rstrip() + " "),))
        embedded.append(Embedded(text[at : line.end()], range(at, line.end() + 1), (way,)))
    return embedded


def _prefixed(prefix: str, text: str) -> str:
    """An insertion for SQL in comment lines: each new line begins with ``prefix``."""
    return LINE_END.sub(lambda end: end.group() + prefix, text)


def read_jupyter(text: str) -> Host:
    """The SQL in a Jupyter notebook. Raises nothing."""
    try:
        notebook = _parse(text)
        metadata = notebook.get("metadata") or {}
        usual, databricks = _language(metadata), _DATABRICKS in metadata
        cells = [cell for cell in notebook["cells"] if cell.get("cell_type") == "code"]
        sources = [_source(text, cell["source"]) for cell in cells]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        return Host(text, unread=((0, f"not a notebook that can be read: {_why(error)}"),))
    shared = Cells()
    regions, unread = list[Region](), list[tuple[int, str]]()
    for source in sources:
        cell = _cell(source, usual, databricks, shared)
        regions += cell.regions
        unread += cell.unread
    return Host(text, tuple(regions), tuple(unread))


def _why(error: Exception) -> str:
    """Why a notebook cannot be read."""
    if isinstance(error, ValueError):
        return str(error)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it has no list of cells, each with a source, as nbformat 4 has"


def _language(metadata: Any) -> str:
    """The language of cells that do not name one."""
    places = (_DATABRICKS, "language"), ("language_info", "name"), ("kernelspec", "language")
    languages = [(metadata.get(key) or {}).get(name) for key, name in places]
    return next((language.lower() for language in languages if isinstance(language, str)), "python")


def _source(text: str, source: Any) -> Embedded:
    """A cell's text: one string, or a list of lines."""
    strings: list[_Text] = [source] if isinstance(source, _Text) else source
    parts = [_embedded(text, string) for string in strings]
    if not parts:
        return Embedded("", range(1))
    line_end = r"\n"
    if not isinstance(source, _Text):
        line_end += _between_strings(text, strings)
    whole, way = joined(parts), partial(_in_json, line_end, text.isascii())
    return Embedded(whole.text, whole.offsets, ((0, (way,)),))


def _between_strings(text: str, strings: list[_Text]) -> str:
    """The JSON text between two strings of a list, with their quotes."""
    if len(strings) > 1:
        return text[strings[0].end : strings[1].start]
    start = text.rfind("[", 0, strings[0].start)
    return f'",{text[start + 1 : strings[0].start]}'


def _cell(source: Embedded, language: str, databricks: bool, cells: Cells) -> python.Read:
    """The SQL in a cell, whose default language is ``language``."""
    magic = _CELL_MAGIC.match(source.text)
    named = magic["name"].lower() if magic is not None else ""
    if magic is not None and (magic["sign"] == "%%" or (named in _LANGUAGES and databricks)):
        language = "python" if named in _PYTHON_MAGIC else named
    elif magic is not None and named in _SQL and not magic["rest"].strip():
        language = "sql"
    elif language == "sql":
        return python.Read((Region(source),))
    if magic is not None and language in _SQL:
        return _magic(source, magic)
    return _python_cell(source, cells) if language == "python" else python.Read()


def _python_cell(source: Embedded, cells: Cells) -> python.Read:
    """A cell in Python; its lines of SQL (``%sql SELECT …``) are regions too."""
    lines = [match for match in _LINE_MAGIC.finditer(source.text) if match["name"].lower() in _SQL]
    regions = [Region(source.cut(line.start("rest"), line.end())) for line in lines]
    # Commands of the notebook (``%…``, ``!…``) become ``pass``: the rest can then be parsed.
    commands = list(_COMMAND.finditer(source.text))
    blank = _COMMAND.sub(_nothing, source.text)
    program = python.read(Embedded(blank, source.offsets, source.escapes), cells)
    taken = [source.offsets[command.start("command")] for command in commands]
    clear = [region for region in program.regions if not _within(region, taken)]
    inside = [region for region in program.regions if _within(region, taken)]
    unread = [(region.sql.offsets[0], _COMMAND_IN_IT) for region in inside]
    ordered = sorted((*regions, *clear), key=lambda it: it.at)
    return python.Read(tuple(ordered), (*program.unread, *unread))


def _nothing(command: re.Match[str]) -> str:
    width = len(command["command"])
    return command["before"] + ("pass" if width >= len("pass") else "").ljust(width)


def _within(region: Region, offsets: Sequence[int]) -> bool:
    """Whether one of ``offsets``, which are in the file, is inside a region."""
    first, last = region.sql.offsets[0], region.sql.offsets[-1]
    return any(first <= offset < last for offset in offsets)


def _magic(source: Embedded, magic: re.Match[str]) -> python.Read:
    """A cell whose first line, ``%sql`` or ``%%sql``, makes it SQL."""
    if _OPTIONS.fullmatch(magic["rest"]):
        return python.Read((Region(source.cut(magic.end(), len(source.text))),))
    if magic["sign"] == "%":  # the statement begins behind it
        return python.Read((Region(source.cut(magic.start("rest"), len(source.text))),))
    why = f"what %%{magic['name']} means by `{magic['rest'].strip()}` is not known"
    return python.Read(unread=((source.offsets[0], why),))


def _in_json(line_end: str, ascii_only: bool, text: str) -> str:
    """An insertion escaped for a JSON string. ``line_end`` is what a line end becomes: in a list of
    lines, the end of one string and the beginning of the next."""
    written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
    # Pairs from the left: in ``\\n`` the second backslash begins no escape.
    return re.sub(r"\\(.)", lambda pair: line_end if pair[1] == "n" else pair.group(), written)


class _Text(str):
    """The value of a JSON string; ``start`` and ``end`` are inside its quotes."""

    __slots__ = ("end", "start")
    start: int
    end: int


def _embedded(text: str, string: _Text) -> Embedded:
    """A JSON string's value, with the place of each character in the file."""
    written = text[string.start : string.end]
    if "\\" not in written:
        return Embedded(str(string), range(string.start, string.end + 1))
    starts = [string.start + match.start() for match in _CHARACTER.finditer(written)]
    if len(starts) != len(string):
        raise ValueError("a JSON string with half of a character")
    return Embedded(str(string), array("q", [*starts, string.end]))


def _parse(text: str) -> Any:
    """The value of a whole JSON text."""
    return _Decoder().decode(text)


class _Decoder(json.JSONDecoder):
    """Python's JSON decoder, which calls ``_string`` for each string."""

    def __init__(self) -> None:
        super().__init__()
        self.parse_string = _string
        self.scan_once = py_make_scanner(self)


def _string(text: str, start: int, strict: bool) -> tuple[_Text, int]:
    value, end = scanstring(text, start, strict)
    string = _Text(value)
    string.start, string.end = start, end - 1
    return string, end
