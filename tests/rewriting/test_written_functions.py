"""DuckDB has each function that a rewritten text may call, by itself or in our words: a query of
the tests that met another would fail for what is no fault of the rewriter's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb

from sqlrewrite.plan.facts.functions import function
from tests.support.duckdb_text import CALLS, behave_as_spark

PACKAGE = Path(__file__).parents[2] / "sqlrewrite"
ROOMS = ("decision", "find", "judge", "plan", "write")
"""The rooms of the rewriter in which what is written is made."""

SYNTAX = {"coalesce", "if"}
"""What DuckDB's grammar has, and its list of functions has not."""

NOT_DRAWN = {"array", "explode", "timestampadd", "try_to_timestamp"}
"""What is written of keys given as values, of TIMESTAMPs with units and of texts of a time: the
random queries have none of these."""


def test_each_function_that_is_written_is_known() -> None:
    connection = duckdb.connect()
    behave_as_spark(connection)
    rows = connection.execute("SELECT DISTINCT lower(function_name) FROM duckdb_functions()")
    have = {name for (name,) in rows.fetchall()} | set(CALLS) | SYNTAX
    written = {
        name for room in ROOMS for path in (PACKAGE / room).rglob("*.py") for name in _called(path)
    }
    assert {"collect_set", "nvl2", "pmod"} <= written
    assert written - have == NOT_DRAWN


def _called(path: Path) -> Iterator[str]:
    """The functions of Spark that the texts in a module call, its docstrings left out."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in documented
    )
    for text in (text.value for text in texts if isinstance(text.value, str)):
        names = re.findall(r"\b([a-z_0-9]+)\(", text)
        yield from (name for name in names if function(name) is not None)
