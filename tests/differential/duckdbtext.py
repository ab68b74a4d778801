"""Spark SQL as DuckDB reads it.

In: the text of a query. Out: text of the same meaning, the few tokens that differ exchanged. Not
through sqlglot: the rewriter reads with it, and a misreading on both sides would not show. (It also
turns ``a, b RIGHT JOIN c`` into ``a CROSS JOIN b RIGHT JOIN c``, which means something else.)
"""

from __future__ import annotations

import re

_STRING = r"'[^']*'"
_COMMENT = re.compile(rf"{_STRING} | --[^\n]* | /\*.*?\*/", re.S | re.X)
_TOKEN = re.compile(
    rf"""{_STRING} | `[^`]*` | <=> | \bLEFT\s+(?=SEMI\b|ANTI\b)
    | \bMINUS\b | \bRAND\b | \bdefault(?=\.) | \bcollect_set\b""",
    re.X | re.I,
)
_SPELLING = {
    "<=>": " IS NOT DISTINCT FROM ",
    "minus": "EXCEPT",
    "rand": "RANDOM",
    "default": '"default"',
    "collect_set": "LIST",
}
_TRAILING = re.compile(r"\bGROUP\s+BY\s+([\w.,\s\"]+?)\s+WITH\s+(ROLLUP|CUBE)\b", re.I)


def respelled(spark_sql: str) -> str:
    """Token by token; hints go with the comments, and ``WITH ROLLUP`` takes its standard form."""
    bare = _COMMENT.sub(lambda m: m.group() if m.group()[0] == "'" else " ", spark_sql)
    return _TRAILING.sub(r"GROUP BY \2(\1)", _TOKEN.sub(_respell, bare))


def _respell(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] == "`":
        return f'"{token[1:-1]}"'
    if token[:4].lower() == "left":
        return ""
    return _SPELLING.get(token.lower(), token)
