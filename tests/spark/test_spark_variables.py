"""Each style of variable in each place: rendered, the original and the rewritten text give the same
rows on Spark, and different rows where what is repeated were left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog, rewrite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DDL = """
CREATE TABLE fv (p INT, x INT, s STRING) USING parquet PARTITIONED BY (p);
CREATE TABLE dv (k INT, c STRING, n INT) USING parquet;
"""
VIEWS = {
    "fv": "VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'a'), (4, 40, 'c') AS v(p, x, s)",
    "dv": "VALUES (1, 'winter', 1), (2, 'summer', 2), (3, 'winter-1', 2), (9, '', 4) AS v(k, c, n)",
    "ev": "VALUES (1, 'e'), (2, 'f'), (9, 'g') AS v(k, e)",
}
BRACES = ("${?}", "${hiveconf:?}", "${hivevar:?}", "{?}", "#{?}", "{{ ? }}")
STYLES = (*BRACES, "$?", "@?@", "%(?)s", "&?")
CONSTANTS = tuple(style for style in STYLES if style != "{{ ? }}")
CALLS = ("{{ var('?') }}", "{{ ? | replace('-', '') }}", "{{ macros.ds_add(?, -1) }}")

JOINED = "SELECT fv.x FROM fv JOIN dv ON fv.p = dv.k WHERE "
BESIDE = "SELECT fv.x, z.e FROM fv JOIN dv ON fv.p = dv.k JOIN ? z ON z.k = fv.p WHERE dv.n = 2"

# A text, what its variable renders to, and the styles in which it is rewritten.
PLACES = {
    "string": (JOINED + "dv.c = '?'", "winter", (*STYLES, *CALLS)),
    "part of a string": (JOINED + "dv.c LIKE '?-%' OR dv.c = '?'", "winter", STYLES),
    "operand": (JOINED + "dv.n >= ?", "2", (*CONSTANTS, "{{ ds_nodash }}")),
    "bound": (JOINED + "dv.n BETWEEN 0 AND ? AND dv.c = 'winter'", "2", CONSTANTS),
    "beside a text": (JOINED + "dv.c = ? AND dv.n > 0", "'winter'", CONSTANTS),
    "bounds of a text": (JOINED + "dv.c BETWEEN ? AND 'x'", "'u'", CONSTANTS),
    "in a list": (JOINED + "dv.n IN (0, ?)", "1, 2", CONSTANTS),
    "list": (JOINED + "dv.n IN ?", "(1, 2)", CONSTANTS),
    "branch": (
        "SELECT CASE WHEN fv.x > ? THEN ? END AS y FROM fv JOIN dv ON fv.p = dv.k WHERE dv.n = 2",
        "15",
        CONSTANTS,
    ),
    "name": (BESIDE, "ev", STYLES),
    "part of a name": (BESIDE.replace("?", "e?"), "v", BRACES),
    "in parentheses": (JOINED + "(?) AND dv.n = 2", "fv.x = 30 OR dv.n = 1", ("${?}",)),
}
# Rendered to what may not be repeated, or not be told from what stands around it.
LEFT_ALONE = {
    "condition": (JOINED + "? AND dv.n = 2", "fv.x = 10 OR dv.k > 0"),
    "item": (JOINED.replace("fv.x", "?") + "dv.n = 2", "fv.x, rand(1)"),
    "key": (
        "SELECT q.p FROM (SELECT p, count(*) AS m FROM fv GROUP BY p, ?) q "
        "JOIN dv ON coalesce(q.p, 1) = dv.k WHERE dv.n = 1",
        "x WITH ROLLUP",
    ),
}


def _rows(spark: SparkSession, sql: str) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in spark.sql(sql).collect()), key=str)


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    for name, rows in VIEWS.items():
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM {rows}")
    yield spark
    for name in VIEWS:
        spark.catalog.dropTempView(name)


@pytest.mark.turns(3)
@pytest.mark.parametrize("place", PLACES)
def test_rendered_the_rows_are_the_same(tables: SparkSession, place: str) -> None:
    text, value, styles = PLACES[place]
    catalog = Catalog.from_ddl(DDL)
    before = _rows(tables, text.replace("?", value))
    rendered = set()
    for style in styles:
        variable = style.replace("?", "given")
        result = rewrite(text.replace("?", variable), catalog)
        assert result.changed, style
        rendered.add(result.sql.replace(variable, value))
    for sql in rendered:  # one, since each style is written in the same way
        assert _rows(tables, sql) == before, sql


@pytest.mark.parametrize(
    "value",
    [
        *("0", "NULL", "DATE '2024-01-01'"),
        pytest.param(
            "'' COLLATE UTF8_LCASE", marks=pytest.mark.since("4.0", "there is no COLLATE")
        ),
    ],
)
def test_a_constant_that_is_no_text_casts_none_in_the_key_query(
    tables: SparkSession, value: str
) -> None:
    """Beside such a one each text would be cast, and some could not be."""
    result = rewrite(JOINED + "dv.n = 9 AND dv.c = ${given}", Catalog.from_ddl(DDL))
    (predicate,) = (candidate.predicate for candidate in result.candidates)
    assert predicate is not None
    keys = predicate[predicate.index("SELECT") : -1].replace("d.n = 9 AND", "")
    rows = _rows(tables, keys.replace("${given}", value))
    assert rows == _rows(tables, "SELECT k FROM dv")


@pytest.mark.parametrize("place", LEFT_ALONE)
def test_what_may_be_more_than_one_is_left_alone(tables: SparkSession, place: str) -> None:
    text, value = LEFT_ALONE[place]
    assert _rows(tables, text.replace("?", value))
    catalog = Catalog.from_ddl(DDL)
    for style in ("${?}", "{?}", "{{ ? }}"):
        result = rewrite(text.replace("?", style.replace("?", "given")), catalog)
        assert not result.changed, style
        assert result.candidates, style


@pytest.mark.parametrize("head", ["SET given = fv", "SET hivevar:given = fv"])
def test_a_text_gives_its_variable_a_value(tables: SparkSession, head: str) -> None:
    text = f"{head};\n{JOINED.replace('FROM fv', 'FROM ${given} fv')}dv.n = 2"
    result = rewrite(text, Catalog.from_ddl(DDL))
    assert result.changed  # of fv alone it is known how it is partitioned
    values = []
    for sql in (text, result.sql):
        sets, query = sql.split(";\n")
        tables.sql(sets)
        values.append(_rows(tables, query))
    tables.sql("RESET given")
    assert values[0] == values[1] != []


@pytest.mark.parametrize(
    "other",
    [
        "ev",
        pytest.param("c", marks=pytest.mark.since("4.0", "IDENTIFIER(:other) finds no CTE")),
    ],
)
def test_names_that_are_computed(tables: SparkSession, other: str) -> None:
    """A table by a text or a parameter, which may be the CTE too."""
    text = (
        "WITH c AS (SELECT p AS k, x FROM fv) SELECT c.x FROM c "
        "JOIN IDENTIFIER('d' || 'v') d ON c.k = d.k WHERE d.n = 2 "
        "UNION ALL SELECT k FROM IDENTIFIER(:other)"
    )
    result = rewrite(text, Catalog.from_ddl(DDL))
    assert result.changed
    names = [
        sorted(row[0] for row in tables.sql(sql, {"other": other}).collect())
        for sql in (text, result.sql)
    ]
    assert names[0] == names[1] != []
