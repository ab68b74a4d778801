"""Finds the files of a folder that describe tables: DDL, dbt projects, snapshots, Spark's settings.

In: a folder. Out: the files, with paths relative to it; ``cli/init.py`` makes settings of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from sqlrewrite.run.search import find
from sqlrewrite.text.hosts import SUFFIXES
from sqlrewrite.text.source import FOREIGN

DEEPEST = 5
"""How many levels of folders are searched for projects and settings."""

_MANY = 6
"""A folder with definitions in more places than this is named as a whole."""

_DEFINES = re.compile(
    rb"^[ \t]*create\s+(?:or\s+(?:replace|refresh)\s+)?"
    rb"(?:(?:external|managed|transient|streaming|live)\s+)*table\b",
    re.IGNORECASE | re.MULTILINE,
)
_RUNS_SQL = re.compile(rb"\.sql\(|%sql\b")
"""The sign of SQL in a Python file or a notebook."""
_READ = 1 << 20
_SETTING = re.compile(r"^\s*(spark\.[\w.]+)(?:\s*=\s*|\s+)(\S.*?)\s*$", re.MULTILINE)


class Discovered(Struct, frozen=True):
    """The files found. ``python``: the number of Python files and notebooks with SQL. ``ddl``:
    folders and files with definitions of tables. ``projects``: folders of dbt projects.
    ``snapshots``: files that ``catalog pull`` wrote. ``spark``: settings of Spark by name, with
    their value and file."""

    files: int
    python: int
    ddl: tuple[str, ...]
    projects: tuple[str, ...]
    snapshots: tuple[str, ...]
    spark: Mapping[str, tuple[str, str]]


def discover(folder: str) -> Discovered:
    """The files that describe tables, in a folder and below it. Skips files that cannot be read."""
    sql = [os.path.relpath(path, folder) for path in find([folder]).files]
    defining = [path for path in sql if _DEFINES.search(_head(os.path.join(folder, path)))]
    named: dict[str, list[str]] = {}
    for path in _others(folder):
        named.setdefault(_kind(path), []).append(os.path.relpath(path, folder))
    projects = tuple(os.path.dirname(path) or "." for path in named.get("dbt", ()))
    spark = {
        key: (value, path)
        for path in named.get("spark", ())
        for key, value in _SETTING.findall(
            _head(os.path.join(folder, path)).decode("utf-8", "replace")
        )
    }
    snapshots = (
        path
        for path in named.get("json", ())
        if b'"by": "dpp-rewrite' in _head(os.path.join(folder, path))[:400]  # of ``catalog pull``
    )
    python = sum(
        bool(_RUNS_SQL.search(_head(os.path.join(folder, path))))
        for path in named.get("python", ())
    )
    return Discovered(
        len(sql),
        python,
        tuple(_defining_places("", sql, defining)),
        projects,
        tuple(snapshots),
        spark,
    )


def _defining_places(folder: str, files: list[str], defining: list[str]) -> list[str]:
    """The innermost folders of which at least half of the files hold definitions, and the files
    elsewhere that do."""
    if not defining:
        return []
    defines = set(defining)
    below: dict[str, list[str]] = {}
    for path in files:
        rest = path[len(folder) :].lstrip(os.sep)
        below.setdefault(rest.partition(os.sep)[0], []).append(path)
    holding = [name for name, inside in below.items() if not defines.isdisjoint(inside)]
    alone = len(holding) == 1 and below[holding[0]] != [os.path.join(folder, holding[0])]
    if not alone and 2 * len(defining) >= len(files) and (folder or len(files) > 1):
        return [folder or "."]
    pieces: list[str] = []
    for name in holding:
        path, inside = os.path.join(folder, name), below[name]
        mine = [path for path in inside if path in defines]
        pieces += mine if inside == [path] else _defining_places(path, inside, mine)
    return pieces if len(pieces) <= _MANY else [folder or "."]


def _others(folder: str) -> Iterator[str]:
    """The files that are not SQL but may describe tables."""
    top = os.path.abspath(folder)
    for at, folders, names in os.walk(top):
        deep = at[len(top) :].count(os.sep)
        kept = (name for name in folders if not name.startswith(".") and name not in FOREIGN)
        folders[:] = sorted(kept) if deep < DEEPEST else []
        yield from (os.path.join(at, name) for name in sorted(names) if _kind(name))


def _kind(path: str) -> str:
    name = os.path.basename(path)
    if name in ("dbt_project.yml", "dbt_project.yaml"):
        return "dbt"
    if name == "spark-defaults.conf":
        return "spark"
    if name.lower().endswith(SUFFIXES):
        return "python"
    return "json" if name.endswith(".json") else ""


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_READ)
    except OSError:
        return b""
