"""Who imports whom: the layers against the imports that there are (docs/design.md, "One straight
line")."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "sqlrewrite"

# From the bottom up: a module imports its own line and the lines before it, never one after it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("sqlrewrite.frozen", "sqlrewrite.collector", "sqlrewrite.deep", "sqlrewrite.nearest"),
    ("sqlrewrite.model", "sqlrewrite.schema"),
    ("sqlrewrite.source",),
    ("sqlrewrite.rulebook", "sqlrewrite.files", "sqlrewrite.pool"),
    ("sqlrewrite.plan.facts.functions",),
    ("sqlrewrite.options",),
    ("sqlrewrite.config",),
    ("sqlrewrite.projects",),
    ("sqlrewrite.plan",),
    ("sqlrewrite.sql.templates",),
    ("sqlrewrite.sql.template_tokens",),
    ("sqlrewrite.sql.limits", "sqlrewrite.sql.interpreted"),
    ("sqlrewrite.sql.grammar",),
    ("sqlrewrite.sql.dialect",),
    ("sqlrewrite.sql.lex.lexemes",),
    ("sqlrewrite.sql.lex.agreement",),
    ("sqlrewrite.sql.lex.tokens",),
    ("sqlrewrite.sql.parse", "sqlrewrite.sql.keywords", "sqlrewrite.sql.trees"),
    ("sqlrewrite.sql.anchors", "sqlrewrite.sql.quoted"),
    ("sqlrewrite.sql.scope",),
    ("sqlrewrite.sql.translate",),
    ("sqlrewrite.sql.relations",),
    ("sqlrewrite.sql.understood",),
    ("sqlrewrite.sql.bind",),
    ("sqlrewrite.sql.table_definition",),
    ("sqlrewrite.sql.definitions",),
    ("sqlrewrite.sql.types.tree", "sqlrewrite.sql.types.typed", "sqlrewrite.sql.types.tokens"),
    ("sqlrewrite.sql.types.cursor", "sqlrewrite.sql.types.literals", "sqlrewrite.sql.types.scope"),
    ("sqlrewrite.sql.types.call_syntax", "sqlrewrite.sql.types.printed"),
    ("sqlrewrite.sql.types.expressions",),
    ("sqlrewrite.sql.types.queries", "sqlrewrite.sql.types.stars", "sqlrewrite.sql.types.windows"),
    ("sqlrewrite.sql.types.calls",),
    ("sqlrewrite.sql.types.expression",),
    ("sqlrewrite.sql.types.relations",),
    ("sqlrewrite.sql.types.analysis",),
    ("sqlrewrite.sql.types.text",),
    ("sqlrewrite.sql.queries", "sqlrewrite.sql.references", "sqlrewrite.sql.notes"),
    ("sqlrewrite.sql.written",),
    ("sqlrewrite.sql.directives", "sqlrewrite.sql.marked"),
    ("sqlrewrite.sql.managed",),
    ("sqlrewrite.sql.suppressed",),
    ("sqlrewrite.sql.verify",),
    ("sqlrewrite.catalog",),
    ("sqlrewrite.pruning.candidates", "sqlrewrite.pruning.restrictions"),
    ("sqlrewrite.pruning.reducers",),
    ("sqlrewrite.pruning.shared",),
    ("sqlrewrite.eligibility",),
    ("sqlrewrite.pruning.literals",),
    ("sqlrewrite.pruning.predicates",),
    ("sqlrewrite.pruning.placement",),
    ("sqlrewrite.pruning.postcheck", "sqlrewrite.pruning.settled"),
    ("sqlrewrite.pruning.statement",),
    ("sqlrewrite.pruning.record",),
    ("sqlrewrite.rewriter",),
    ("sqlrewrite.runner", "sqlrewrite.cache"),
    ("sqlrewrite.work",),
    ("sqlrewrite.linting",),
    ("sqlrewrite.library",),
    ("sqlrewrite",),  # the public face: its __init__ alone
    ("sqlrewrite.spark",),
    ("sqlrewrite.report",),
    ("sqlrewrite.cli",),
    ("sqlrewrite.__main__",),
)

# Imports against the order, each with its reason; inside a function, when it is needed.
UPWARD = {
    # Catalog.load and Catalog.from_ddl, the public spelling of loading.
    ("sqlrewrite.schema", "sqlrewrite.catalog"),
    ("sqlrewrite.schema", "sqlrewrite.catalog.ddl"),
}

# Who may import what is not ours. A name ending in a dot is a folder.
ELSEWHERE = {
    "sqlglot": {"sqlrewrite.sql."},
    "pyspark": {"sqlrewrite.spark."},
    "py4j": {"sqlrewrite.spark."},  # pyspark's own two ways to reach Spark, for their errors
    "grpc": {"sqlrewrite.spark."},
    "click": {"sqlrewrite.cli."},
    "msgspec": {"sqlrewrite.cache."},
    "rich": {"sqlrewrite.report.", "sqlrewrite.cli."},
}

STDLIB_ALONE = ("sqlrewrite.frozen", "sqlrewrite.model", "sqlrewrite.schema")


def _modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path
    return found


MODULES = _modules()


@cache
def _imports(module: str) -> frozenset[str]:
    """The modules that one imports, wherever in its text and if only for types."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else node.module)
    return frozenset(found)


def _layer(module: str) -> int:
    """The number of the line in LAYERS with the longest name that the module is or lies in."""
    if module == "sqlrewrite":
        return LAYERS.index(("sqlrewrite",))
    names = [name for layer in LAYERS for name in layer if name != "sqlrewrite"]
    inside = [name for name in names if f"{module}.".startswith(f"{name}.")]
    # A folder whose modules have lines of their own: its __init__ is below them all.
    below = [name for name in names if name.startswith(f"{module}.")]
    assert inside or below, f"{module} has no line in LAYERS"
    wanted = max(inside, key=len) if inside else below[0]
    return next(number for number, layer in enumerate(LAYERS) if wanted in layer)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_its_own_layer_and_those_below(module: str) -> None:
    upward = {
        imported
        for imported in _imports(module)
        if imported in MODULES
        and _layer(imported) > _layer(module)
        and (module, imported) not in UPWARD
    }
    assert not upward


@pytest.mark.parametrize("package", ELSEWHERE)
def test_a_package_is_known_in_its_place_only(package: str) -> None:
    places = tuple(ELSEWHERE[package])
    users = {
        module
        for module in MODULES
        if any(name.split(".")[0] == package for name in _imports(module))
    }
    assert {module for module in users if not f"{module}.".startswith(places)} == set()


@pytest.mark.parametrize("module", STDLIB_ALONE)
def test_the_values_stand_on_the_standard_library(module: str) -> None:
    foreign = {
        name
        for name in _imports(module)
        if name.split(".")[0] not in sys.stdlib_module_names
        and name not in STDLIB_ALONE
        and (module, name) not in UPWARD
    }
    assert not foreign


def test_only_known_packages_are_used() -> None:
    used = {name.split(".")[0] for module in MODULES for name in _imports(module)}
    assert used - set(sys.stdlib_module_names) <= {"sqlrewrite", *ELSEWHERE}


def test_every_exception_is_needed() -> None:
    assert all(imported in _imports(module) for module, imported in UPWARD)


def test_importing_the_library_is_light() -> None:
    code = (
        "import sqlrewrite, sys;"
        "print(*sorted({'pyspark', 'rich', 'click', 'duckdb'} & set(sys.modules)))"
    )
    root = str(PACKAGE.parent)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
