"""Spark SQL as DuckDB reads it.

In: the text of a query. Out: text of the same meaning, the few tokens that differ exchanged. Not
through sqlglot: the rewriter reads with it, and a misreading on both sides would not show. (It also
turns ``a, b RIGHT JOIN c`` into ``a CROSS JOIN b RIGHT JOIN c``, which means something else.)
"""

from __future__ import annotations

import re
from collections.abc import Callable

import duckdb

_STRING = r"'[^']*'"
_COMMENT = re.compile(rf"{_STRING} | `[^`]*` | --[^\n]* | /\*.*?\*/", re.S | re.X)
_TOKEN = re.compile(
    rf"""{_STRING} | `[^`]*` | <=> | \bLEFT\s+(?=SEMI\b|ANTI\b)
    | \bMINUS\b | \bRAND\b | \bdefault(?=\.)""",
    re.X | re.I,
)
_SPELLING = {
    "<=>": " IS NOT DISTINCT FROM ",
    "minus": "EXCEPT",
    "rand": "RANDOM",
    "default": '"default"',
}
_TRAILING = re.compile(r"\bGROUP\s+BY\s+([\w.,\s\"]+?)\s+WITH\s+(ROLLUP|CUBE)\b", re.I)

CALLS: dict[str, Callable[..., str]] = {
    # Of nothing an empty array and not NULL, without NULLs; sorted, so that two runs compare equal.
    "collect_set": lambda x: (
        f"COALESCE(LIST_SORT(LIST(DISTINCT {x}) FILTER (WHERE {x} IS NOT NULL)), [])"
    ),
    # What ranks are bounded by: the first n of the values, or of them from the largest down.
    "array_max": lambda values: f"LIST_MAX({values})",
    "array_min": lambda values: f"LIST_MIN({values})",
    "slice": lambda values, start, n: f"LIST_SLICE({values}, {start}, {start} + {n} - 1)",
    "sort_array": lambda values, ascending="true": (
        f"{'LIST_SORT' if ascending == 'true' else 'LIST_REVERSE_SORT'}({values})"
    ),
    "date_add": lambda day, n: f"(({day}) + CAST({n} AS INT))",
    "date_sub": lambda day, n: f"(({day}) - CAST({n} AS INT))",
    "date_format": lambda day, pattern: f"STRFTIME({day}, {_pattern(pattern)})",
    "decode": lambda value, *pairs: _cases(value, *pairs),
    "regexp_substr": lambda text, pattern: f"nullif(regexp_extract({text}, {pattern}), '')",
    # What is shifted out on the left is lost in Spark; no value here is as large as that.
    "shiftleft": lambda x, bits: f"(({x})::HUGEINT * (1::HUGEINT << {bits}))",
    "shiftright": lambda x, bits: f"(({x}) // (1::HUGEINT << {bits}))",
    # DuckDB's CONCAT leaves NULLs out, its || gives NULL, as Spark's CONCAT does.
    "concat": lambda *parts: f"({' || '.join(parts)})",
}
_CALL = re.compile(rf"{_STRING} | `[^`]*` | (?<![\w.])({'|'.join(CALLS)})\s*\(", re.X | re.I)
_PARTS = re.compile(rf"{_STRING} | `[^`]*` | [(),]", re.X)
_PATTERN = {"yyyy": "%Y", "MM": "%m", "dd": "%d"}


_LACKED = (
    "try_add(a, b) AS a + b",
    "try_subtract(a, b) AS a - b",
    "try_multiply(a, b) AS a * b",
    "try_divide(a, b) AS a / nullif(b, 0)",
    "try_mod(a, b) AS a % nullif(b, 0)",
    # Of decimals % would make doubles first.
    "pmod(a, b) AS (a::HUGEINT % b + b) % b",
    "nanvl(a, b) AS CASE WHEN isnan(a) THEN b ELSE a END",
    "nvl2(a, b, c) AS CASE WHEN a IS NULL THEN c ELSE b END",
)
"""What DuckDB has none of, of the forms that stand in place of what can raise an error."""


def behave_as_spark(connection: duckdb.DuckDBPyConnection) -> None:
    """Gives the current schema of a DuckDB Spark's order of NULLs and the functions it lacks."""
    connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
    for macro in _LACKED:
        connection.execute(f"CREATE MACRO {macro}")


def spark_like() -> duckdb.DuckDBPyConnection:
    """A DuckDB of its own that behaves as Spark, with Spark's names for catalog and schema."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    # DuckDB 1.5 takes the filter that a join pushes down below an inner LIMIT: wrong rows.
    connection.execute("SET disabled_optimizers = 'join_filter_pushdown'")
    connection.execute("ATTACH ':memory:' AS spark_catalog")
    connection.execute('CREATE SCHEMA spark_catalog."default"')
    connection.execute('USE spark_catalog."default"')
    behave_as_spark(connection)
    return connection


def as_duckdb(spark_sql: str) -> str:
    """Token by token; hints go with the comments, and ``WITH ROLLUP`` takes its standard form."""
    bare = _COMMENT.sub(lambda m: m.group() if m.group()[0] in "'`" else " ", spark_sql)
    return _TRAILING.sub(r"GROUP BY \2(\1)", _TOKEN.sub(_respell, _called(bare)))


def _cases(value: str, *pairs: str) -> str:
    """``decode`` with searches and their results, and perhaps a default."""
    whens = (
        f"WHEN {value} IS NOT DISTINCT FROM {pairs[at]} THEN {pairs[at + 1]}"
        for at in range(0, len(pairs) - 1, 2)
    )
    return f"(CASE {' '.join(whens)} ELSE {pairs[-1] if len(pairs) % 2 else 'NULL'} END)"


def _called(text: str) -> str:
    """The calls of ``CALLS`` as DuckDB has them, those inside their arguments too."""
    result, at = "", 0
    while match := _CALL.search(text, at):
        result += text[at : match.start()]
        at = match.end()
        if match.group(1) is None:
            result += match.group()
            continue
        arguments, at = _arguments(text, at)
        result += CALLS[match.group(1).lower()](*map(_called, arguments))
    return result + text[at:]


def _arguments(text: str, at: int) -> tuple[list[str], int]:
    """The arguments of a call whose parenthesis opens right before, and where it ends."""
    arguments, depth, start = list[str](), 1, at
    for part in _PARTS.finditer(text, at):
        token = part.group()
        depth += (token == "(") - (token == ")")
        if depth == 0 or (depth == 1 and token == ","):
            arguments.append(text[start : part.start()].strip())
            start = part.end()
        if depth == 0:
            return arguments, start
    raise ValueError(f"a call that does not end: {text[at:]}")


def _pattern(literal: str) -> str:
    for spark, theirs in _PATTERN.items():
        literal = literal.replace(spark, theirs)
    return literal


def _respell(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] == "`":
        return f'"{token[1:-1]}"'
    if token[:4].lower() == "left":
        return ""
    return _SPELLING.get(token.lower(), token)
