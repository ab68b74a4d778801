"""The keys of a key query as literals, for engines and statements that prune by constants alone.

In come a session and the text of a key query, out goes a ``Resolved``: the keys in order, or, over
a first cap, only the smallest and the largest. Over a second cap nothing is resolved: a range over
so many keys would hardly prune. The literals hold for as long as the dimension stays as it is; the
one who writes them down says so beside them (``key_query``, ``at``).
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.spark.target import SparkError

COLLAPSE_OVER = 1_000
REFUSE_OVER = 1_000_000

_PLAIN_TEXT = re.compile(r"[^\\'\x00-\x1f\x7f]*")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The keys as literals of SQL, sorted and each once, NULL left out: an empty tuple where there
    are none. ``collapsed``: they are the bounds of a range, both inside it."""

    key_query: str
    at: datetime.datetime
    literals: tuple[str, ...]
    count: int
    collapsed: bool = False


def resolve(
    session: Session,
    key_query: str,
    *,
    collapse_over: int = COLLAPSE_OVER,
    refuse_over: int = REFUSE_OVER,
) -> Resolved:
    """Runs a key query of one column. Raises SparkError, also for keys over the cap and for types
    and strings whose literals do not mean the same to every engine."""
    at = datetime.datetime.now(datetime.UTC)
    with spark_errors("the key query cannot be run"):
        keys = session.spark.sql(key_query)
        if len(keys.columns) != 1:
            raise SparkError(f"a key query has one column, this one {len(keys.columns)}")
        kind = keys.schema.fields[0].dataType.simpleString()
        write = _writer(kind)
        keys = keys.toDF("k").where("k IS NOT NULL").distinct()
        found = [row[0] for row in keys.limit(collapse_over + 1).collect()]
        if len(found) <= collapse_over:
            literals = tuple(write(it) for it in sorted(found))
            return Resolved(key_query, at, literals, len(found))
        low, high, count = keys.selectExpr("min(k)", "max(k)", "count(*)").collect()[0]
    if count > refuse_over:
        raise SparkError(
            f"the key query gives {count:,} keys; more than {refuse_over:,} are refused"
        )
    return Resolved(key_query, at, (write(low), write(high)), count, collapsed=True)


def _writer(kind: str) -> Callable[[Any], str]:
    write = _WRITERS.get(kind.partition("(")[0])
    if write is None:
        raise SparkError(f"keys of type {kind} cannot be written as literals")
    return write


def _text(value: str) -> str:
    """A string that every engine reads alike: they do not agree on what a backslash is."""
    if not _PLAIN_TEXT.fullmatch(value):
        raise SparkError(f"the key {value!r} cannot be written as a literal that all engines read")
    return f"'{value}'"


def _date(value: datetime.date) -> str:
    return f"DATE '{value.isoformat()}'"


def _decimal(value: decimal.Decimal) -> str:
    return format(value, "f")


_WRITERS: Mapping[str, Callable[[Any], str]] = {
    "tinyint": str,
    "smallint": str,
    "int": str,
    "bigint": str,
    "decimal": _decimal,
    "date": _date,
    "string": _text,
}
"""Types whose literals mean the same everywhere; a timestamp's depends on the session's zone."""
