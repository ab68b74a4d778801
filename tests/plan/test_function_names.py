"""What functions do is asked of the table alone: no module has a list of their names."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from sqlrewrite.plan.facts.functions import function, names

PACKAGE = Path(__file__).resolve().parents[2] / "sqlrewrite"

# Types, units of time and words of the grammar that are functions' names too.
WORDS = frozenset(
    """
    bigint binary boolean date decimal double float int smallint string time timestamp tinyint array
    map struct year quarter month week day dayofyear hour minute second min window left right if any
    some user filter collate get reduce replace
    """.split()
)

# Lists of names that say nothing of what a function does, and why they are needed.
ELSEWHERE = {
    "plan/facts/result_types.py": "whose type spark.sql.timestampType decides",
    "sql/parse/spark_parser.py": "calls that the grammar gives a syntax of their own",
    "sql/ddl/clauses.py": "words that end a column's type in a CREATE TABLE",
    "sql/bind/plan_names.py": "functions that are called without parentheses",
    "text/template_kinds.py": "methods of Python and macros of Airflow, which are none of SQL's",
    "sql/outputs/": "how the analyzer prints a call, as the name of a column",
}

FEW = 3
"""So many names together are a list."""


def _texts(node: ast.AST) -> list[str]:
    """The words that a literal holds together."""
    match node:
        case ast.Set(elts=items) | ast.List(elts=items) | ast.Tuple(elts=items):
            nodes = items
        case ast.Dict(keys=keys):
            nodes = [key for key in keys if key is not None]
        case ast.MatchOr(patterns=patterns):
            nodes = [pattern.value for pattern in patterns if isinstance(pattern, ast.MatchValue)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
            return text.split()
        case _:
            return []
    return [
        item.value
        for item in nodes
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]


@cache
def _lists(path: Path) -> list[list[str]]:
    lists = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [name for text in _texts(node) if _is_function(name := text.lower())]
        if len(names) >= FEW:
            lists.append(names)
    return lists


def _is_function(name: str) -> bool:
    row = function(name)
    return row is not None and row.kind not in ("operator", "syntax") and name not in WORDS


def test_no_module_has_a_list_of_functions() -> None:
    lists_by_module = {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        lists = _lists(path)
        if lists and not any(name.startswith(place) for place in ELSEWHERE):
            lists_by_module[name] = lists
    assert lists_by_module == {}


def test_each_exception_is_needed() -> None:
    with_lists = [
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if _lists(path)
    ]
    assert [
        place for place in ELSEWHERE if not any(name.startswith(place) for name in with_lists)
    ] == []


def test_the_words_are_names_of_functions_too() -> None:
    assert WORDS - {"week"} <= set(names())
