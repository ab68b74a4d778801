"""The 99 TPC-DS queries: as they are, with looser conditions, rewritten, and run in DuckDB.

In: the number of a query. Out: its texts and their rows, each computed once in a test session. At
the small scale of a test many results are empty or hide a lost row behind a LIMIT; ``loosened``
takes off what hides it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from benchmarks.tpcds_data import FIXTURES, load_tpcds, spark_queries, table_ddl
from sqlrewrite import Catalog, Rewrite, rewrite
from tests.support.duckdb_text import as_duckdb, behave_as_spark

SCALE = 0.1
NUMBERS = range(1, 100)

# Without its conditions q4 joins six copies of all customers' years: billions of rows.
NOT_LOOSENED = frozenset({4})


@cache
def database(scale: float = SCALE) -> duckdb.DuckDBPyConnection:
    """TPC-DS in DuckDB, with Spark's order of NULLs and its functions."""
    connection = duckdb.connect()
    behave_as_spark(connection)
    load_tpcds(connection, scale)
    return connection


@cache
def queries() -> dict[int, str]:
    return spark_queries(database(0))


@cache
def catalog() -> Catalog:
    return Catalog.load(str(FIXTURES / "ddl.sql"))


@cache
def tables() -> dict[str, str]:
    return table_ddl(database(0))


@cache
def rewritten(sql: str) -> Rewrite:
    return rewrite(sql, catalog())


def rows(spark_sql: str, at_most: int | None = None) -> list[tuple[Any, ...]]:
    """What DuckDB returns for a Spark query: all of it, or the first so many rows."""
    result = database().execute(as_duckdb(spark_sql))
    return result.fetchall() if at_most is None else result.fetchmany(at_most)


@cache
def loosened(number: int) -> str:
    """A query without HAVING, LIMIT, and the conditions that only compare with constants.

    Those on the calendar stay: they are what the facts are pruned by.
    """
    tree = sqlglot.parse_one(queries()[number], read="spark")
    for where in list(tree.find_all(exp.Where)):
        condition = where.this
        conjuncts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
        kept = [conjunct for conjunct in conjuncts if _is_kept(conjunct)]
        if kept:
            where.set("this", exp.and_(*kept))
        else:
            where.pop()
    for having in list(tree.find_all(exp.Having)):
        having.pop()
    tree.set("limit", None)
    return tree.sql("spark", pretty=True)


def _is_kept(conjunct: exp.Expr) -> bool:
    """Whether it is a join condition, holds a query, or is about the calendar."""
    joins = any(
        isinstance(equality.this, exp.Column) and isinstance(equality.expression, exp.Column)
        for equality in conjunct.find_all(exp.EQ)
    )
    calendar = any(column.name.lower().startswith("d_") for column in conjunct.find_all(exp.Column))
    return joins or calendar or conjunct.find(exp.Query) is not None


def tables_pruned(result: Rewrite) -> set[str]:
    """The tables that got a predicate or had as tight a one of their own."""
    return {
        candidate.fact.table
        for candidate in result.candidates
        if candidate.verdict.value in ("rewritten", "already-pruned")
    }
