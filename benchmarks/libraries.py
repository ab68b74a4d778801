"""What a library would take or save in place of what is written here: docs/design.md, "Libraries".

    python -m benchmarks.libraries

Prints a row for each use that was thought of: what importing the library adds to a run, what the
use takes with it and with what is there without it, both in milliseconds of processor time, and the
lines of ours that it would do. Each number is the least of several, since other programs only add.
Two more rows are printed after ``pip install patiencediff cydifflib``.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pathspec
import platformdirs

from sqlrewrite import frozen
from sqlrewrite.catalog import snapshot
from sqlrewrite.linting.findings import Finding, Fix, Place, Replacement, Severity
from sqlrewrite.run import cache, files
from sqlrewrite.text.edits import Span
from sqlrewrite.warehouse import Column, Table, Warehouse

BEFORE = "import sqlrewrite.cli, sqlrewrite.cli.rewrite, sqlrewrite.catalog"
"""What any run has imported, so that only what comes on top of it is counted."""

CLASSES = 120
VALUES = 10_000
FOLDERS, FILES = 200, 50


@dataclass(frozen=True)
class Use:
    """A use of a library: with it, without it, and what of ours it does."""

    library: str
    what: str
    theirs: Callable[[], object]
    ours: Callable[[], object]
    instead_of: tuple[Any, ...] = ()

    def row(self) -> str:
        """The line of the table."""
        imported = added(self.library)
        theirs, ours = least(self.theirs), least(self.ours)
        lines = sum(len(inspect.getsource(it).splitlines()) for it in self.instead_of)
        return (
            f"{self.library:<14}{self.what:<46}{imported:>9.1f}{theirs:>9.1f}{ours:>9.1f}{lines:>7}"
        )


def main() -> None:
    """Prints the table."""
    print(f"{'library':<14}{'use':<46}{'import':>9}{'with':>9}{'without':>9}{'lines':>7}")
    with tempfile.TemporaryDirectory() as name:
        for use in uses(Path(name)):
            print(use.row(), flush=True)


def uses(folder: Path) -> Iterator[Use]:
    """All that was thought of, in the order of docs/design.md."""
    yield classes()
    yield values()
    yield from records()
    yield snapshots()
    yield manifests()
    yield excludes()
    yield ignored(folder)
    yield place()
    yield from diffs()


def least(done: Callable[[], object], times: int = 7) -> float:
    """The milliseconds that the processor needs for it, its children included."""
    return 1000 * min(_took(done) for _ in range(times))


def _took(done: Callable[[], object]) -> float:
    before = os.times()
    start = time.process_time()
    done()
    own, after = time.process_time() - start, os.times()
    children = (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
    return own + children


def added(library: str, times: int = 15) -> float:
    """The milliseconds in which a process that has all else imports a library."""
    timed = f"{BEFORE}; import time; t = time.process_time(); import {library}"
    code = f"{timed}; print(time.process_time() - t)"
    done = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(times)
    )
    return 1000 * min(float(it.stdout) for it in done)


# Values


def classes() -> Use:
    """Making classes of three fields, as each process does with all of them."""
    fields = {"table": str, "line": int, "names": tuple[str, ...]}

    def theirs() -> object:
        return [msgspec.defstruct(f"V{n}", fields.items(), frozen=True) for n in range(CLASSES)]

    def ours() -> object:
        made = (type(f"V{n}", (), {"__annotations__": fields}) for n in range(CLASSES))
        return [frozen.dataclass(frozen=True, slots=True)(it) for it in made]

    return Use("msgspec", f"values: making {CLASSES} classes", theirs, ours, (frozen,))


def values() -> Use:
    """Making values, as binding does."""
    span = msgspec.defstruct("Span", [("start", int), ("end", int)], frozen=True)
    return Use(
        "msgspec",
        f"values: making {VALUES:,} spans",
        lambda: [span(n, n) for n in range(VALUES)],
        lambda: [Span(n, n) for n in range(VALUES)],
    )


# What is read from disk


def records() -> Iterator[Use]:
    """What is kept of a thousand files with a finding each, and of as many without."""
    place = Place(Span(10, 20), 1, 2, 3, 4)
    fix = Fix((Replacement(place, "AND s.day IN (SELECT c.day FROM calendar AS c)"),))
    found = Finding("DPP001", "a message " * 9, place, "sales", "0" * 16, Severity.WARNING, "", fix)
    kind = tuple[tuple[Finding, ...], tuple[tuple[int, str], ...]]
    some, none = ((found,), ((1, "SELECT 1"),)), ((), ())

    def use(what: str, value: object) -> Use:
        kept, pickled = cache.packed(value), pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        return Use(
            "msgspec",
            f"cache: 1,000 files {what}",
            lambda: [cache.unpacked(kept, kind) for _ in range(1000)],
            lambda: [pickle.loads(pickled) for _ in range(1000)],
        )

    yield use("with a finding", some)
    yield use("with none", none)


def snapshots() -> Use:
    """A snapshot of a thousand tables, read to the values of a catalog; by hand each value is
    checked with its path, which an error would name."""
    kinds = ("int", "bigint", "string", "date", "decimal(7,2)", "array<struct<a:int>>")
    columns = tuple(Column(f"c{n}", kinds[n % len(kinds)]) for n in range(30))
    tables = (Table(("lake", "mart", f"t{n}"), columns, size_in_bytes=n) for n in range(1000))
    text = snapshot.write(Warehouse({it.name: it for it in tables}))

    def checked(value: Any, key: str, kind: type, path: str) -> Any:
        if not isinstance(value.get(key), kind):
            raise TypeError(f"{path}.{key}: expected {kind}")
        return value[key]

    def column(value: Any, path: str) -> Column:
        kind = snapshot._type(checked(value, "type", str, path))
        return Column(checked(value, "name", str, path), kind)

    def table(value: Any, path: str) -> Table:
        listed = enumerate(checked(value, "columns", list, path))
        return Table(
            tuple(checked(value, "name", str, path).split(".")),
            tuple(column(it, f"{path}.columns[{n}]") for n, it in listed),
            size_in_bytes=checked(value, "size_in_bytes", int, path),
        )

    def ours() -> object:
        return [table(it, f"tables[{n}]") for n, it in enumerate(json.loads(text)["tables"])]

    return Use("msgspec", "snapshot: 1,000 tables", lambda: snapshot.read(text, ""), ours)


class _DbtNode(TypedDict, total=False):
    name: Any
    relation_name: Any
    config: Any
    columns: Any
    raw_code: Any
    compiled_code: Any


class _Manifest(TypedDict, total=False):
    metadata: Any
    nodes: dict[str, _DbtNode]


def manifests() -> Use:
    """A dbt manifest of two thousand models to what is asked of it."""
    query = "SELECT a, b FROM {{ ref('x') }} WHERE c = 1\n" * 60
    described = {"description": "what it is " * 5, "data_type": "int", "meta": {}, "tags": []}
    node = {
        "name": "fct_sales",
        "relation_name": "lake.mart.fct_sales",
        "config": {"materialized": "table"},
        "columns": {f"c{n}": {"name": f"c{n}", **described} for n in range(20)},
        "raw_code": query,
        "compiled_code": query,
        "depends_on": {"macros": ["macro.dbt.x"] * 5, "nodes": ["model.shop.a"] * 5},
    }
    text = json.dumps({"metadata": {}, "nodes": {f"model.shop.{n}": node for n in range(2000)}})
    return Use(
        "msgspec",
        f"dbt: a manifest of {len(text) >> 20} MB",
        lambda: msgspec.json.decode(text, type=_Manifest),
        lambda: json.loads(text),
    )


# Which files


def excludes() -> Use:
    """Ten thousand paths against three patterns of ``exclude``."""
    patterns = ["archive", "etl/*.sql", "**/tmp/"]
    folders = [f"queries/{n:03}" for n in range(FOLDERS)]
    paths = [f"{folder}/{n:03}.sql" for folder in folders for n in range(FILES)]

    def theirs() -> object:
        spec = pathspec.GitIgnoreSpec.from_lines(patterns)
        return [spec.match_file(path) for path in paths]

    def ours() -> object:
        spec = files.Patterns(patterns, ".")
        found = {folder: spec.within(folder) for folder in folders}
        return [found[path[: path.rfind("/")]](path[path.rfind("/") + 1 :]) for path in paths]

    done = (files.Patterns, files._spelled_out, files._matcher, files._never)
    return Use("pathspec", f"exclude: {FOLDERS * FILES:,} paths", theirs, ours, done)


def ignored(folder: Path) -> Use:
    """A repository of ten thousand files, of which its .gitignore leaves out some."""
    for number in range(FOLDERS):
        inner = folder / "queries" / f"{number:03}"
        inner.mkdir(parents=True)
        for name in range(FILES):
            (inner / f"{name:03}.sql").touch()
    (folder / ".gitignore").write_text("*.log\nqueries/01*/\n!queries/011/\n")
    subprocess.run(["git", "-C", str(folder), "init", "-q"], check=True)

    def theirs() -> object:
        lines = (folder / ".gitignore").read_text().splitlines()
        return [*pathspec.GitIgnoreSpec.from_lines(lines).match_tree_files(folder, negate=True)]

    done = (files._Search._listed, files.ask_git, files.refusal)
    what = f".gitignore: {FOLDERS * FILES:,} files"
    return Use("pathspec", what, theirs, lambda: files.find([str(folder)]), done)


def place() -> Use:
    """Where the cache is; by hand that is right on Linux only."""

    def ours() -> str:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        return os.path.join(home, "x")

    return Use("platformdirs", "the cache's folder", lambda: platformdirs.user_cache_dir("x"), ours)


def diffs() -> Iterator[Use]:
    """The diff of a file of 8,000 lines with 1,000 insertions; libraries that are installed."""
    query = "SELECT s.id,\n  sum(s.amount)\nFROM sales s\nJOIN calendar c ON s.day = c.day\n"
    wheres = [f"WHERE c.year = {n}\n" for n in range(1000)]
    rest = "GROUP BY s.id\nORDER BY s.id;\n\n"
    inserted = "  AND s.day IN (SELECT day FROM calendar)\n"
    old = "".join(query + where + rest for where in wheres).splitlines(keepends=True)
    new = "".join(query + where + inserted + rest for where in wheres).splitlines(keepends=True)

    def use(name: str) -> Use:
        module = import_module(name)
        how = {"sequencematcher": module.PatienceSequenceMatcher} if name == "patiencediff" else {}
        return Use(
            name,
            f"--diff: {len(old):,} lines",
            lambda: [*module.unified_diff(old, new, "a", "a", **how)],
            lambda: [*difflib.unified_diff(old, new, "a", "a")],
        )

    return (use(name) for name in ("patiencediff", "cydifflib") if find_spec(name) is not None)


if __name__ == "__main__":
    main()
