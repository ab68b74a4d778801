"""The keys of a key query as literals, for engines and statements that prune only by constants.

Above a first limit there are only the smallest and the largest key; above a second they are
refused, because a range over so many keys would hardly prune.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlrewrite.settings.options import Keys, RefusedError, Resolve, ResolveError
from sqlrewrite.settings.table import Settings
from sqlrewrite.spark.session import copied, current_namespace, in_namespace, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.text.templates import holds_template
from sqlrewrite.warehouse import literal_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# Engines differ in quotes and backslashes, comments may begin or end in a text of another language,
# and bytes that are not UTF-8 arrive as U+FFFD.
_NOT_ALIKE = re.compile(r"[\\'\ufffd]|/\*|\*/")
_DAY = re.compile(r"(?!0000)\d{4}-\d\d-\d\d")
_MOST_DIGITS = 38
"""The most digits of a decimal in Spark, Trino and DuckDB; some engines count the 0 before the
point."""

_DEFAULTS = Settings()


def resolver(
    spark: SparkSession,
    *,
    collapse_over: int = _DEFAULTS.collapse_over,
    refuse_over: int = _DEFAULTS.refuse_over,
) -> Resolve:
    """A function that asks a session for the keys of a key query, once for each query."""

    @cache
    def ask_once(query: str, namespace: tuple[str, ...]) -> Keys | RefusedError | ResolveError:
        try:
            return resolve(
                spark, query, namespace, collapse_over=collapse_over, refuse_over=refuse_over
            )
        except RefusedError as error:
            return error
        except SparkError as error:
            return ResolveError(f"{error} (in {query})")

    def answer(query: str, namespace: tuple[str, ...]) -> Keys:
        keys = ask_once(query, namespace)
        if isinstance(keys, Exception):
            raise keys
        return keys

    return answer


def resolve(
    spark: SparkSession,
    query: str,
    namespace: tuple[str, ...] = (),
    *,
    collapse_over: int = _DEFAULTS.collapse_over,
    refuse_over: int = _DEFAULTS.refuse_over,
) -> Keys:
    """Runs a key query of one column, with short names in the namespace. Raises SparkError if it
    cannot be run, and RefusedError for more keys than ``refuse_over``, and for types and strings
    whose literals differ between engines."""
    at = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with spark_errors("the key query cannot be run"), _session_in(spark, namespace) as session:
        keys = session.sql(query)
        if len(keys.columns) != 1:
            raise SparkError(f"a key query has one column, this one {len(keys.columns)}")
        kind = keys.schema.fields[0].dataType.simpleString()
        write = _writer(kind)
        keys = keys.toDF("k").where("k IS NOT NULL").distinct()
        # Python's dates go from the year 1 to 9999; Spark's go further.
        value = "CAST({} AS STRING)" if kind == "date" else "{}"
        values = [
            row[0] for row in _rows(keys.limit(collapse_over + 1).selectExpr(value.format("k")))
        ]
        count = len(values)
        if count > collapse_over:
            ends = [value.format(end) for end in ("min(k)", "max(k)")]
            ((low, high, count),) = _rows(keys.selectExpr(*ends, "count(*)"))
            values = [low, high]
    if count > refuse_over:
        raise RefusedError(
            f"there are {count:,}, and more than {refuse_over:,} are refused (setting refuse-over)"
        )
    return Keys(tuple(map(write, sorted(values))), kind, at, collapsed=count > collapse_over)


def _rows(frame: DataFrame) -> list[Row]:
    """The rows of a frame. Raises RefusedError for values that Python cannot represent."""
    try:
        return frame.collect()
    except (ValueError, ArithmeticError) as error:
        raise RefusedError(f"its keys cannot be read: {error}") from error


@contextmanager
def _session_in(spark: SparkSession, namespace: tuple[str, ...]) -> Iterator[SparkSession]:
    """A session with this current schema: a copy, or over Connect the session itself, for a
    while."""
    if namespace in ((), current_namespace(spark)):
        yield spark
    elif hasattr(spark, "_jsparkSession"):
        session = copied(spark)
        session.sql(f"USE {literal_name(namespace)}")
        yield session
    else:
        with in_namespace(spark, namespace):
            yield spark


def _writer(kind: str) -> Callable[[Any], str]:
    write = _WRITERS.get(kind.partition("(")[0])
    if write is None:
        raise RefusedError(f"not every engine reads literals of type {kind} alike")
    return write


def _text(value: str) -> str:
    """A string literal that every engine reads alike. Raises RefusedError for other strings."""
    if not value.isprintable() or _NOT_ALIKE.search(value) or holds_template(value):
        raise RefusedError(f"the key {value!r} is a literal that not every engine reads alike")
    return f"'{value}'"


def _day(value: str) -> str:
    """The literal of a date. Raises RefusedError for one outside of the years 1 to 9999."""
    if not _DAY.fullmatch(value):
        raise RefusedError(
            f"the key {value} is a day that not every engine reads: of no year of four digits"
        )
    return f"DATE '{value}'"


def _decimal(value: Decimal) -> str:
    """The literal of a decimal. Raises RefusedError for more digits than engines allow."""
    written = format(value, "f")
    if sum(map(str.isdigit, written)) > _MOST_DIGITS:
        raise RefusedError(f"the key {written} has more than {_MOST_DIGITS} digits")
    return written


_WRITERS: Mapping[str, Callable[[Any], str]] = {
    "tinyint": str,
    "smallint": str,
    "int": str,
    "bigint": str,
    "decimal": _decimal,
    "date": _day,
    "string": _text,
}
"""Types whose literals mean the same everywhere; a timestamp depends on the session's time zone."""
