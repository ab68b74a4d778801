"""Who imports whom, the rooms against the imports that there are (docs/design.md, "The rooms"); and
what names may not be given."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "sqlrewrite"

# From the top down: a room imports itself and the rooms below it, never one above it.
ROOMS = (
    "__main__",
    "cli",
    "server",
    "report",
    "spark",
    "__init__",  # the public face
    "library",
    "audit",
    "linting",
    "run",
    "embedded",
    "rewriting",
    "grouping",
    "output_columns",
    "document",
    "stripping",
    "decision",
    "write",
    "judge",
    "find",
    "catalog",
    "sql",
    "settings",
    "dialects",
    "plan",
    "rulebook",
    "text",
    "warehouse",
    "relation_maps",
    "results",
    "copies",
)

# Who may import what is not ours. A name ending in a dot is a folder.
ELSEWHERE = {
    "sqlglot": {"sqlrewrite.sql."},
    "pyspark": {"sqlrewrite.spark."},
    "py4j": {"sqlrewrite.spark."},  # pyspark's own two ways to reach Spark, for their errors
    "grpc": {"sqlrewrite.spark."},
    "click": {"sqlrewrite.cli."},
    "msgspec": {"sqlrewrite."},  # values are its Structs
    "platformdirs": {"sqlrewrite.run."},
    "pygls": {"sqlrewrite.server."},
    "lsprotocol": {"sqlrewrite.server."},
    "rich": {"sqlrewrite.report.", "sqlrewrite.cli."},
    "yaml": {"sqlrewrite.catalog."},
}


def _modules() -> dict[str, Path]:
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = path
    return modules


MODULES = _modules()


@cache
def _imports(module: str) -> frozenset[str]:
    """The modules that one imports, wherever in its text and if only for types."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in MODULES else node.module)
    return frozenset(names)


def _room(module: str) -> int:
    """The number of the room that a module stands in, from the top."""
    parts = module.split(".")
    return ROOMS.index(parts[1] if len(parts) > 1 else "__init__")


def test_imports_point_down() -> None:
    both = ((module, imported) for module in MODULES for imported in _imports(module))
    ours = ((module, imported) for module, imported in both if imported in MODULES)
    assert not {(one, other) for one, other in ours if _room(other) < _room(one)}


def test_no_two_files_import_each_other() -> None:
    """Every file can be read after those that it imports: there is no circle, however long."""
    ours = {module: _imports(module) & MODULES.keys() for module in MODULES}
    list(TopologicalSorter(ours).static_order())  # raises CycleError, which names the circle


def test_each_type_has_a_name_of_its_own() -> None:
    """One name, one concept: of classes and of names for types."""
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            for name in _types(node):
                places.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def _types(node: ast.stmt) -> list[str]:
    """The public types that a statement defines; those that only stand for any type are none."""
    match node:
        case ast.ClassDef(name=name):
            names = [name]
        case ast.Assign(value=ast.Call()):
            names = []
        case ast.Assign(targets=targets):
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        case _:
            names = []
    return [name for name in names if re.fullmatch("[A-Z][A-Za-z]*[a-z][A-Za-z]*", name)]


EMPTY_NAMES = frozenset("it found done said told made given asked held left known wanted".split())
"""Names that say nothing of what they name. ``left`` is one unless ``right`` stands beside it."""


@pytest.mark.parametrize("folder", ["sqlrewrite", "tests", "benchmarks"])
def test_a_name_says_what_it_names(folder: str) -> None:
    """A loop variable is the singular of its collection, a result is called what it is."""
    places = [
        f"{path.relative_to(PACKAGE.parent)}:{name.lineno}: {name.id}"
        for path in sorted((PACKAGE.parent / folder).rglob("*.py"))
        for name in _empty_names(ast.parse(path.read_bytes()))
    ]
    assert not places, "\n".join(places)


def _empty_names(scope: ast.AST) -> Iterator[ast.Name]:
    """Where a name of a module, class, function or comprehension is bound to a value."""
    names, scopes = list[ast.Name](), list[ast.AST]()
    nodes = list(ast.iter_child_nodes(scope))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scopes.append(node)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node)
        nodes.extend(ast.iter_child_nodes(node))
    sides = any(name.id == "right" for name in names)
    yield from (n for n in names if n.id in EMPTY_NAMES and not (n.id == "left" and sides))
    for inner in scopes:
        yield from _empty_names(inner)


def test_every_room_is_there() -> None:
    assert {_room(module) for module in MODULES} == set(range(len(ROOMS)))


@pytest.mark.parametrize("package", ELSEWHERE)
def test_a_package_is_known_in_its_place_only(package: str) -> None:
    places = tuple(ELSEWHERE[package])
    users = {
        module
        for module in MODULES
        if any(name.split(".")[0] == package for name in _imports(module))
    }
    assert {module for module in users if not f"{module}.".startswith(places)} == set()


def test_only_known_packages_are_used() -> None:
    used = {name.split(".")[0] for module in MODULES for name in _imports(module)}
    assert used - set(sys.stdlib_module_names) <= {"sqlrewrite", *ELSEWHERE}


def test_importing_the_library_is_light() -> None:
    code = (
        "import sqlrewrite, sys;"
        "print(*sorted({'pyspark', 'rich', 'click', 'duckdb'} & set(sys.modules)))"
    )
    root = str(PACKAGE.parent)
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []
