"""What Spark's analyzer makes of many expressions over typed columns, a few statements for all.

Statements with thousands of expressions are analysed without Spark's last check, so that those it
cannot resolve are told from the others; the rest are then asked for in a second one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "typed_columns"


def create(spark: SparkSession, types: Sequence[str]) -> None:
    """Makes a view with a column ``c0``, ``c1``, … of each type."""
    spark.conf.set("spark.sql.timeType.enabled", "true")
    spark.conf.set("spark.sql.debug.maxToStringFields", "100000")
    columns = [
        f"CAST(NULL AS {kind}) AS c{number}" if kind != "void" else f"NULL AS c{number}"
        for number, kind in enumerate(types)
    ]
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {VIEW} AS SELECT {', '.join(columns)}")


def result_types(spark: SparkSession, texts: Sequence[str]) -> list[str | None]:
    """The type of each expression, None where Spark refuses it."""

    def of(kept: Sequence[str]) -> Iterator[str]:
        schema: Any = spark.sql(_select(kept))._jdf.schema()
        return (schema.apply(n).dataType().catalogString() for n in range(len(kept)))

    # Two collations with the same say: there is a type, and nothing can be done with it.
    each = _each(spark, texts, of)
    return [None if text == "string collate null" else text for text in each]


def analysed(spark: SparkSession, texts: Sequence[str]) -> list[str | None]:
    """Each expression as the analyzer leaves it, casts and all; None where Spark refuses it."""

    def of(kept: Sequence[str]) -> Iterator[str]:
        plan = _plan(spark, _select(kept)).toString().split("\n")[0]
        inside = plan[plan.index("[") + 1 : plan.rindex("]")]
        return iter(re.split(r" AS x\d+#\d+L?(?:, )?", inside)[:-1])

    return _each(spark, texts, of)


def _each(
    spark: SparkSession, texts: Sequence[str], of: Callable[[Sequence[str]], Iterator[str]]
) -> list[str | None]:
    """What is found of each text that Spark resolves. Some errors end the analysis of them all:
    then they are asked for in halves."""
    try:
        resolved = _resolved(spark, texts)
        kept = [text for text, resolves in zip(texts, resolved, strict=True) if resolves]
        results = of(kept) if kept else iter(())
        return [next(results) if resolves else None for resolves in resolved]
    except Exception:
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return _each(spark, texts[:half], of) + _each(spark, texts[half:], of)


def _select(texts: Sequence[str]) -> str:
    shown = ", ".join(f"{text} AS x{number}" for number, text in enumerate(texts))
    return f"SELECT {shown} FROM {VIEW}"


def _plan(spark: SparkSession, text: str) -> Any:
    state: Any = spark._jsparkSession.sessionState()
    return state.analyzer().execute(state.sqlParser().parsePlan(text))


def _resolved(spark: SparkSession, texts: Sequence[str]) -> list[bool]:
    shown = _plan(spark, _select(texts)).output().mkString("|").split("|")
    assert len(shown) == len(texts)
    return [not name.startswith("'") for name in shown]
