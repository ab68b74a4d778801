"""What Spark answers to a text: the columns with their exact types and every row, or the error.

In: a session and a text. Out: an ``Answer``. Rows are compared as Spark keeps them, the bytes of
its own row format, so that nothing is rounded, shortened or converted on the way: NaN, -0.0, the
digits of a decimal and the spaces of a CHAR all count. A session made ``quick`` is interpreted: a
query of the referee runs once, and compiling it would take ten times as long as running it.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.exchange.reuse": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""One partition and no broadcast: most queries then run without a job."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The columns of a result as JSON and its rows as a bag; or the error, and its condition."""

    columns: str = ""
    rows: Counter[str] = field(default_factory=Counter)
    condition: str = ""
    error: str = ""

    @property
    def names(self) -> tuple[tuple[str, Any], ...]:
        """Name and type of each column."""
        if not self.columns:
            return ()
        return tuple((one["name"], one["type"]) for one in json.loads(self.columns)["fields"])


def quick(session: Any, **settings: str) -> Any:
    """The session, made quick, with these settings on top; each is a key of Spark's."""
    logging.getLogger("SQLQueryContextLogger").disabled = True
    for key, value in {**QUICK, **settings}.items():
        session.conf.set(key, value)
    return session


def lay(session: Any, name: str, query: str) -> None:
    """The query as a view, its rows one literal already: else each use would fold them anew."""
    inner = session._jsparkSession
    plan = inner.sql(query).queryExecution().optimizedPlan()
    classic(session._jvm).Dataset.ofRows(inner, plan).createOrReplaceTempView(name)


@contextmanager
def laid(spark: Any, rows: Mapping[str, str]) -> Iterator[Any]:
    """A quick session with views of these rows, which are gone behind it."""
    session = quick(spark.newSession())
    for name, values in rows.items():
        lay(session, name, f"SELECT * FROM VALUES {values}")
    yield session
    for name in rows:
        session.catalog.dropTempView(name)


def texts_of(path: Path, expected: str) -> list[Any]:
    """The texts of a file of which this is expected, as parameters of a test; before each stands a
    line ``-- expected: name`` or ``-- expected, name``."""
    pattern = rf"^-- {expected}[:,] (.*)\n((?:.+\n)+)"
    matches = re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    assert matches, f"{path.name} has no text of {expected}"
    return [pytest.param(text, id=name) for name, text in matches]


_OLDER_JAVA = {
    "org.apache.spark.sql.classic.": ("4.0", "org.apache.spark.sql."),
    "getCondition": ("4.0", "getErrorClass"),
    "new scala.math.BigDecimal(java.math.BigDecimal.ONE)": ("4.2", "1"),
}
"""How a piece of Java is written before a version of Spark."""


def compiled(jvm: Any, path: Path) -> Any:
    """The class of a file of Java, compiled in Spark's process."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    source = path.read_text(encoding="utf-8")
    for newer, (since, older) in _OLDER_JAVA.items():
        source = source if spark_since(since) else source.replace(newer, older)
    compiler.cook(source)
    return compiler.getClassLoader().loadClass(path.stem)


def spark_since(version: str) -> bool:
    """Whether the Spark that is installed is of this version, as ``4.0``, or later."""
    here = metadata.version("pyspark").split(".")
    return [int(part) for part in here[:2]] >= [int(part) for part in version.split(".")]


def classic(jvm: Any) -> Any:
    """The package of Java with Spark's own ``Dataset`` and ``SparkSession``."""
    sql = jvm.org.apache.spark.sql
    return sql.classic if spark_since("4.0") else sql


@cache
def _referee(jvm: Any) -> Any:
    return compiled(jvm, Path(__file__).with_name("Referee.java")).newInstance()


def understands(session: Any, sql: str) -> str:
    """Empty if Spark's parser and analyzer take the text, else the condition of the error."""
    return str(_referee(session._jvm).refusal(session._jsparkSession, sql))


def answer(session: Any, sql: str) -> Answer:
    """What the session answers; an error is an answer too, without columns if the text is refused
    before it runs."""
    reply = str(_referee(session._jvm).answer(session._jsparkSession, sql))
    columns, condition, rest = reply.split("\n", 2)
    if condition:
        return Answer(columns, condition=condition, error=rest)
    return Answer(columns, Counter(rest.splitlines()))


def differ(before: Answer, after: Answer) -> str:
    """How the second answer is not the first; empty if it is. An error that went away, or became
    another, is no difference: ``gone`` tells the first."""
    if before.error:
        return ""
    if after.error:
        return f"new error {after.condition}"
    if _shape(before) != _shape(after):
        return "other columns"
    if before.rows != after.rows:
        lost = (before.rows - after.rows).total()
        return f"{lost} rows lost, {(after.rows - before.rows).total()} rows new"
    return ""


def gone(before: Answer, after: Answer) -> bool:
    """Whether the first is an error that the second does not have."""
    return bool(before.error) and not after.error


def _shape(given: Answer) -> Any:
    """Names and types, but not whether a column may be NULL: a filter may rule that out."""
    return _without_nullable(json.loads(given.columns))


def _without_nullable(value: Any) -> Any:
    if isinstance(value, dict):
        dropped = {"nullable", "containsNull", "valueContainsNull"}
        return {k: _without_nullable(v) for k, v in value.items() if k not in dropped}
    return [_without_nullable(one) for one in value] if isinstance(value, list) else value
