"""The comparison of rows: the smallest difference of each type is one, and what is equal is so
(docs/spark.md, "What can be compared, and what GROUP BY makes one")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import pytest

from sqlrewrite.spark.rows import bags
from sqlrewrite.spark.rows.bags import columns, compare, exact, spelled
from sqlrewrite.spark.target import SparkError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

# Two values of one type, which differ by as little as they can.
DIFFERENT: dict[str, tuple[str, str]] = {
    "int": ("1", "2"),
    "null and zero": ("CAST(NULL AS INT)", "0"),
    "decimal": ("1.00BD", "1.01BD"),
    "double by an ulp": ("0.1D + 0.2D", "0.3D"),
    "tiny doubles": ("1e-300D", "2e-300D"),
    "float by an ulp": ("FLOAT('0.1')", "FLOAT('0.10000001')"),
    "negative zero": ("0.0D", "-0.0D"),
    "NaN and a number": ("DOUBLE('NaN')", "0D"),
    "infinities": ("DOUBLE('inf')", "DOUBLE('-inf')"),
    "case of a string": ("'a'", "'A'"),
    "trailing space": ("'a'", "'a '"),
    "empty and null": ("''", "CAST(NULL AS STRING)"),
    "binary": ("X'00'", "X''"),
    "date": ("DATE'2024-01-01'", "DATE'2024-01-02'"),
    "timestamp by a microsecond": (
        "TIMESTAMP'2024-01-01 00:00:00.000001Z'",
        "TIMESTAMP'2024-01-01 00:00:00.000002Z'",
    ),
    "timestamp by its zone": (
        "TIMESTAMP'2024-01-01 00:00:00Z'",
        "TIMESTAMP'2024-01-01 00:00:00+01:00'",
    ),
    "timestamp without a zone": (
        "TIMESTAMP_NTZ'2024-01-01 00:00:00'",
        "TIMESTAMP_NTZ'2024-01-01 00:00:01'",
    ),
    "days and time": ("INTERVAL '1' SECOND", "INTERVAL '1.000001' SECOND"),
    "months": ("INTERVAL '1' MONTH", "INTERVAL '2' MONTH"),
    "order of an array": ("array(1, 2)", "array(2, 1)"),
    "array and null": ("array(CAST(NULL AS INT))", "CAST(array() AS ARRAY<INT>)"),
    "value of a map, a number": ("map('a', 1)", "map('a', 2)"),
    "negative zero in an array": ("array(0.0D)", "array(-0.0D)"),
    "value of a map": ("map('a', 0.0D)", "map('a', -0.0D)"),
    "key of a map": ("map('a', 1)", "map('b', 1)"),
    "struct and null": ("named_struct('x', CAST(NULL AS INT))", "CAST(NULL AS STRUCT<x: INT>)"),
    "two fields of one name": ("named_struct('x', 1, 'x', 0D)", "named_struct('x', 1, 'x', -0D)"),
    "nested": ("map('k', array(named_struct('x', 1D)))", "map('k', array(named_struct('x', 2D)))"),
}
OF_SPARK_4: dict[str, tuple[str, str]] = {
    "a month and its days": ("make_interval(0, 1)", "make_interval(0, 0, 0, 30)"),
    "case under a collation": ("'a' COLLATE UTF8_LCASE", "'A' COLLATE UTF8_LCASE"),
    "case in an array": ("array('a' COLLATE UTF8_LCASE)", "array('A' COLLATE UTF8_LCASE)"),
    "case of a key": ("map('a' COLLATE UTF8_LCASE, 1)", "map('A' COLLATE UTF8_LCASE, 1)"),
    "number in a variant": ("parse_json('1')", "parse_json('1.0')"),
    "order in a variant": ("parse_json('[1, 1.0]')", "parse_json('[1.0, 1]')"),
    "variant null": ("parse_json('null')", "CAST(NULL AS VARIANT)"),
    "variant in an array": ("array(parse_json('1'))", "array(parse_json('1.0'))"),
    "an hour twice beside a variant": (
        "named_struct('t', TIMESTAMP'2024-10-27 00:30:00Z', 'v', parse_json('1'))",
        "named_struct('t', TIMESTAMP'2024-10-27 01:30:00Z', 'v', parse_json('1'))",
    ),
}
OF_SPARK_41: dict[str, tuple[str, str]] = {
    "space under a collation": ("'a' COLLATE UNICODE_RTRIM", "'a ' COLLATE UNICODE_RTRIM"),
    "time by a microsecond": ("TIME'12:00:00'", "TIME'12:00:00.000001'"),
    "geometry": (
        "st_geomfromwkb(X'0101000000000000000000F03F000000000000F03F')",
        "st_geomfromwkb(X'0101000000000000000000F03F000000000000F0BF')",
    ),
}
"""What is there from 4.1."""

# The same, written in two ways.
SAME: dict[str, tuple[str, str]] = {
    "NaN": ("DOUBLE('NaN')", "DOUBLE('inf') - DOUBLE('inf')"),
    "NULL": ("NULL", "NULL"),
    "order of a map": ("map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)"),
    "map of maps": ("map(1, map(2, 3, 4, 5))", "map(1, map(4, 5, 2, 3))"),
    "one instant": ("TIMESTAMP'2024-01-01 00:00:00+01:00'", "TIMESTAMP'2023-12-31 23:00:00Z'"),
}
SAME_ON_SPARK_4: dict[str, tuple[str, str]] = {
    "variants in a map": (
        "map('a', parse_json('1'), 'b', parse_json('[2]'))",
        "map('b', parse_json('[2]'), 'a', parse_json('1'))",
    ),
}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    own.conf.set("spark.sql.adaptive.enabled", "false")  # a fifth of the time
    own.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    own.conf.set("spark.sql.geospatial.enabled", "true")  # off by default in 4.1
    return own


def _told_apart(session: SparkSession, cases: Mapping[str, tuple[str, str]]) -> set[str]:
    """The names of the pairs of which the comparison sees that they differ."""
    from pyspark.sql import functions as f

    # As literals of one query 0.0 and -0.0 would be one expression to Spark, computed once.
    names = ", ".join(f"a{at}, b{at}" for at in range(len(cases)))
    values = ", ".join(f"{one}, {other}" for one, other in cases.values())
    both = session.sql(f"SELECT * FROM VALUES ({values}) AS t({names})")
    same = []
    for at, name in enumerate(cases):
        old, new = both.schema[f"a{at}"].dataType, both.schema[f"b{at}"].dataType
        assert spelled(old) == spelled(new), name
        one, other = exact(f.col(f"a{at}"), old, name), exact(f.col(f"b{at}"), new, name)
        same.append(one.eqNullSafe(other))
    (row,) = both.select(same).collect()
    return {name for name, same in zip(cases, row, strict=True) if not same}


@pytest.mark.parametrize(
    ("different", "same"),
    [
        pytest.param(DIFFERENT, SAME, id="3.5"),
        pytest.param(
            OF_SPARK_4,
            SAME_ON_SPARK_4,
            id="4.0",
            marks=pytest.mark.since("4.0", "no VARIANT, no COLLATE, no interval in PySpark"),
        ),
        pytest.param(
            OF_SPARK_41,
            {},
            id="4.1",
            marks=pytest.mark.since("4.1", "there is no TIME, no GEOMETRY, no RTRIM"),
        ),
    ],
)
def test_each_value_is_told_from_the_others(
    session: SparkSession,
    different: dict[str, tuple[str, str]],
    same: dict[str, tuple[str, str]],
) -> None:
    assert _told_apart(session, different | same) == set(different)
    values = {number: value for number, (value, _) in enumerate((different | same).values())}
    columns = ", ".join(f"{value} AS v{at}" for at, value in values.items())
    frame = session.sql(f"SELECT {columns}")
    assert compare(frame, frame).same  # all of it can be grouped by, too


def test_what_is_not_known_is_refused(spark: SparkSession) -> None:
    from pyspark.sql import functions as f
    from pyspark.sql.types import DataType

    class Unheard(DataType):
        def simpleString(self) -> str:  # noqa: N802 - Spark's name
            return "unheard"

    spark.range(0)
    with pytest.raises(SparkError, match="the column x: values of type unheard cannot be compared"):
        exact(f.col("x"), Unheard(), "x")


def test_each_row_counts(session: SparkSession) -> None:
    rows = "SELECT * FROM VALUES ('a', 1D), ('a', 1D), (NULL, 2D) AS t(k, x)"
    assert compare(session.sql(rows), session.sql(f"{rows} ORDER BY x DESC")).same
    comparison = compare(session.sql(rows), session.sql(f"SELECT DISTINCT * FROM ({rows})"))
    assert (comparison.before, comparison.after, comparison.lost, comparison.added) == (3, 2, 1, 0)
    assert comparison.lost_rows == (("a", "1.0"),)


def test_types_are_named_in_full(session: SparkSession) -> None:
    """Spark itself cuts the name of a long type off."""
    fields = [f"'f{number}', {number}" for number in range(40)]
    old, new = (
        session.sql(f"SELECT named_struct({', '.join([*fields, last])}) AS s")
        for last in ("'z', 1", "'z', '1'")
    )
    assert columns(old) != columns(new)
    assert columns(old)[0][1].endswith("f39:int,z:int>")


# Rows before and after, of columns k, x and y, and whether a tolerance forgives what differs.
TOLERATED: dict[str, tuple[str, str, bool]] = {
    "last digit": ("('a', 0.1D + 0.2D, 1D)", "('a', 0.3D, 1D)", True),
    "fourth digit": ("('a', 0.3001D, 1D)", "('a', 0.3D, 1D)", False),
    "large": ("('a', 1e20D, 1D)", "('a', 1.0000000000001e20D, 1D)", True),
    "tiny": ("('a', 1e-20D, 1D)", "('a', 2e-20D, 1D)", False),
    "NaN": ("('a', DOUBLE('NaN'), 1D)", "('a', 1D, 1D)", False),
    "infinity": ("('a', DOUBLE('inf'), 1D)", "('a', 1e308D, 1D)", False),
    "missing": ("('a', CAST(NULL AS DOUBLE), 1D)", "('a', 0D, 1D)", False),
    "exchanged": (
        "('a', 0.1D + 0.2D, 1D), ('b', 7D, 1D)",
        "('b', 0.3D, 1D), ('a', 7D, 1D)",
        False,
    ),
    "NULL as key": (
        "(NULL, 0.1D + 0.2D, 1D), ('a', 1D, 1D)",
        "('a', 1D, 1D), (NULL, 0.3D, 1D)",
        True,
    ),
    "NULL as key, exchanged": (
        "(NULL, 0.1D + 0.2D, 1D), ('a', 1D, 1D)",
        "(NULL, 1D, 1D), ('a', 0.3D, 1D)",
        False,
    ),
    "copies": (
        "('a', 0.1D + 0.2D, 1D), ('a', 0.1D + 0.2D, 1D), ('a', 5D, 2D)",
        "('a', 0.3D, 1D), ('a', 5D, 2D), ('a', 0.3D, 1D)",
        True,
    ),
    "two columns": (
        "('a', 0.1D + 0.2D, 5D), ('a', 0.3D, 3D)",
        "('a', 0.3D, 5D), ('a', 0.3D, 3D)",
        True,
    ),
    "other copies": (
        "('a', 0.1D + 0.2D, 1D), ('a', 0.1D + 0.2D, 1D)",
        "('a', 0.3D, 1D), ('a', 0.3D, 2D)",
        False,
    ),
}
FORGIVEN = [name for name, (_, _, same) in TOLERATED.items() if same]


def _rows_of(session: SparkSession, names: Collection[str], side: int) -> DataFrame:
    """The rows of some cases, before (0) or after (1), each with the name of its case."""
    rows = [
        f"('{name}', {row}"
        for name in names
        for row in TOLERATED[name][:2][side].removeprefix("(").split(", (")
    ]
    return session.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS t(of, k, x, y)")


def test_a_tolerance_matches_rows_one_to_one(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within rows that are equal in all other columns."""
    monkeypatch.setattr(bags, "SHOWN", 100)
    before, after = (_rows_of(session, TOLERATED, side) for side in (0, 1))
    comparison = compare(before, after, tolerance=1e-9)
    for rows in (comparison.lost_rows, comparison.added_rows):
        assert {name for name, *_ in rows} == set(TOLERATED) - set(FORGIVEN)
    before, after = (_rows_of(session, ["last digit"], side) for side in (0, 1))
    assert not compare(before, after, tolerance=1e-17).same


def test_differences_that_are_rounding_are_reported_as_such(session: SparkSession) -> None:
    """Where no tolerance was asked for, and none but rows that one would forgive differ."""
    for names, rounding in ((FORGIVEN, 1e-9), (["last digit", "fourth digit"], None)):
        comparison = compare(_rows_of(session, names, 0), _rows_of(session, names, 1))
        assert not comparison.same
        assert comparison.rounding == rounding
