"""SQL in Python on Spark: with each way to fill a text, the same rows before and after."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sqlrewrite import Catalog
from sqlrewrite.embedded import rewrite
from sqlrewrite.settings.options import make_options
from sqlrewrite.text.hosts import host_of
from tests.text.hosts.programs import ROWS, TABLES, random_program
from tests.text.hosts.test_python import CATALOG, MARKER

pytestmark = pytest.mark.spark

_QUERY = "SELECT s.item, d.name FROM sales s JOIN dates d ON d.day = s.day WHERE d.season = {}"
_NOT_X = "AND d.name <> '{{x}}'"  # a brace where Python fills the text
_WAYS = {
    "plain": f"""'{_QUERY.format('"winter"')}'""",
    "f-string": f"""f"{_QUERY.format("'{season}'")} {_NOT_X}" """,
    "a value": f"""f"{_QUERY.format("'{season}'")} AND d.day < {{last}}" """,
    "format": f"""'''{_QUERY.format("'{season}'")} {_NOT_X} '''.format(season=season)""",
    "percent": f"""'''{_QUERY.format("'%(season)s'")} AND d.name LIKE '%%' ''' % vars()""",
    "keywords": f"""'{_QUERY.format('"winter"')} AND d.day < {{last}}', last=last""",
    "parameters": f"""'{_QUERY.format('"winter"')} AND d.day < :last', {{"last": last}}""",
    "escapes": "'" + _QUERY.format(r'"win\x74er"') + r"""\n AND d.name <> "a\\"b\u00e9"'""",
}


@pytest.fixture(scope="module")
def tables(spark: Any) -> Any:
    spark.sql(
        "SELECT * FROM VALUES (1, 1.0D, 10), (2, 2.0D, 20), (3, 3.0D, 30), (4, 4.0D, 10)"
        " AS t(item, amt, day)"
    ).createOrReplaceTempView("sales")
    spark.sql(
        "SELECT * FROM VALUES (10, 'winter', 'a'), (20, 'summer', 'b'), (30, 'winter', NULL),"
        " (30, 'winter', '{x}') AS t(day, season, name)"
    ).createOrReplaceTempView("dates")
    yield spark
    for name in ("sales", "dates"):
        spark.catalog.dropTempView(name)


@pytest.mark.turns(3)
@pytest.mark.parametrize("way", _WAYS)
def test_each_way_to_fill_a_text_gives_the_same_rows(tables: Any, way: str) -> None:
    text = f"season, last = 'winter', 25\nfound = spark.sql({_WAYS[way]}).collect()\n"
    host = host_of("job.py", text)
    assert host is not None
    result = rewrite("job.py", host, CATALOG, make_options())
    assert result.sql.count(MARKER) == 1, result.skipped
    before, after = (_run(tables, each) for each in (text, result.sql))
    assert before
    assert sorted(before, key=repr) == sorted(after, key=repr)


def _run(spark: Any, text: str) -> list[Any]:
    names: dict[str, Any] = {"spark": spark}
    exec(compile(text, "job.py", "exec"), names)
    return list(names["found"])


PROGRAMS = 16


def test_random_programs_give_the_same_rows(spark: Any) -> None:
    """Each in a session of its own, those that are rewritten and a few that are not."""
    session, catalog = spark.newSession(), Catalog.from_ddl(";".join(TABLES))
    session.sql("CREATE DATABASE programs")
    session.sql("USE programs")
    for text in (*TABLES, *ROWS):
        session.sql(text)
    rewritten = 0
    try:
        for number in range(PROGRAMS):
            text, hides = random_program(random.Random(f"program {number}"))
            host = host_of("job.py", text)
            assert host is not None
            result = rewrite("job.py", host, catalog, make_options()).sql
            rewritten += MARKER in result
            if MARKER in result or (hides and number < 4):
                before, after = (_rows(spark, program) for program in (text, result))
                assert before == after, result
    finally:
        spark.sql("DROP DATABASE programs CASCADE")
    assert rewritten >= 3


def _rows(spark: Any, program: str) -> list[Any]:
    session = spark.newSession()
    session.sql("USE programs")
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    names: dict[str, Any] = {"spark": session}
    exec(compile(program, "job.py", "exec"), names)
    return sorted(names["rows"])
