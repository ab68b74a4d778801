"""A key is compared in the join by ``=`` or an order, in a predicate by IN, array_contains, or an
order against the least key: for each pair of types that we take, on values chosen to tell them
apart, Spark itself finds no row that the join has and the predicate has not."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from sqlrewrite.plan.facts.coercion import compare_alike, listed_alike, lossless, stored_alike
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import Type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.usefixtures("settings_kept"),
]

# Ends of ranges, rounding, padding, letter case, days with and without a time, and NULL.
VALUES = {
    "boolean": "true|false|NULL",
    "tinyint": "-128|-1|0|1|2|127|NULL",
    "smallint": "-32768|-1|0|1|2|32767|NULL",
    "int": "-2147483648|-1|0|1|2|127|2147483647|20240101|NULL",
    "bigint": "-9223372036854775808|-1|0|1|2|2147483647|9223372036854775807|2147483648|NULL",
    "decimal(3,1)": "-99.9|-1.0|0.0|1.0|1.5|2.0|99.9|NULL",
    "decimal(10,2)": "-1.00|0.00|1.00|1.01|1.50|2.00|99999999.99|NULL",
    "decimal(38,0)": "-1|0|1|2|9223372036854775807|99999999999999999999999999999999999999|NULL",
    "decimal(38,37)": "-1.0|0.0|1.0|1.5|2.0|1.0000000000000000000000000000000000001|9.9|NULL",
    "string": "'1'|'01'|' 1'|'a'|'A'|'a  '|'true'|'2024-01-01'|'2024-1-1'|NULL",
    "varchar(12)": "'1'|'01'|' 1'|'a'|'A'|'a  '|'true'|'2024-01-01'|'2024-1-1'|NULL",
    "binary": "X''|X'00'|X'61'|X'6100'|X'FF'|X'31'|NULL",
    "date": "'2024-01-01'|'2024-03-31'|'2024-10-27'|'0001-01-01'|'9999-12-31'|'1582-10-15'|NULL",
    "timestamp": "'2024-01-01'|'2024-01-01 00:00:01'|'2024-03-31 03:00:00'|'2024-10-27 02:30:00'"
    "|'2024-10-27'|'0001-01-01'|NULL",
    "timestamp_ntz": "'2024-01-01'|'2024-01-01 00:00:01'|'2024-03-31 02:30:00'"
    "|'2024-03-31 03:00:00'|'2024-10-27 02:30:00'|'2024-10-27'|NULL",
    "time(3)": "'00:00:00'|'10:00:00.001'|'10:00:00'|'23:59:59.999'|NULL",
    "time(6)": "'00:00:00'|'10:00:00.001'|'10:00:00'|'10:00:00.000001'|NULL",
    "interval day": "interval '1' day|interval '-1' day|interval '0' day|NULL",
    "double": "-0D|0D|double('NaN')|1D|1.5D|double('infinity')|NULL",
    "string collate UNICODE_CI": "'a'|'A'|'b'|'B'|NULL",
}
TYPES = tuple(VALUES)
ZONE = "Europe/Zurich"  # it has an hour twice, and one never

# What the predicate says of a row for which the join says p = k; j is any key that there is.
FORMS = {
    "in": "(p IN (k)) IS NOT TRUE",
    "set": "array_contains(array_compact(array(k)), p) IS NOT TRUE",
    "from": "j <= k AND (p >= j) IS NOT TRUE",
    "to": "j >= k AND (p <= j) IS NOT TRUE",
}


@pytest.fixture(scope="module")
def values(spark: SparkSession) -> SparkSession:
    """A view of one row, with the values of each type as an array: ``a0``, ``a1``, …"""
    spark.conf.set("spark.sql.timeType.enabled", "true")
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    spark.conf.set("spark.sql.ansi.enabled", "true")
    columns = []
    for number, (kind, texts) in enumerate(VALUES.items()):
        cast = "string" if kind.startswith("varchar") else kind
        items = ", ".join(f"CAST({text} AS {cast})" for text in texts.split("|"))
        columns.append(f"array({items}) AS a{number}")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_types AS SELECT {', '.join(columns)}")
    return spark


def _pairs(wanted: bool) -> list[tuple[int, int]]:
    numbers = range(len(TYPES))
    return [
        (a, b) for a, b in product(numbers, numbers) if compare_alike(_type(a), _type(b)) is wanted
    ]


def _type(number: int) -> Type:
    parsed = parse(TYPES[number])
    assert parsed is not None
    return parsed


def _among(pair: tuple[int, int], condition: str) -> str:
    """Whether there are such a row ``p`` and such keys ``k`` and ``j``."""
    one, other = pair
    return f"exists(a{one}, p -> exists(a{other}, k -> exists(a{other}, j -> {condition})))"


def _row(spark: SparkSession, texts: list[str]) -> list[object]:
    shown = ", ".join(f"{text} AS x{number}" for number, text in enumerate(texts))
    (row,) = spark.sql(f"SELECT {shown} FROM of_types").collect()
    return list(row)


@pytest.mark.parametrize("ansi", [True, False])
def test_no_form_loses_a_row(values: SparkSession, ansi: bool) -> None:
    values.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    pairs = _pairs(True)
    assert len(pairs) > 50
    lost = f"p = k AND ({' OR '.join(FORMS.values())})"
    row = _row(values, [_among(pair, text) for pair in pairs for text in ("p = k", lost)])
    kept = dict(zip(pairs, zip(row[::2], row[1::2], strict=True), strict=True))
    wrong = [pair for pair, (equal, lost) in kept.items() if lost or not equal]
    assert [(TYPES[a], TYPES[b]) for a, b in wrong] == []


@pytest.mark.parametrize(
    ("one", "other", "forms"),
    [
        ("string", "int", {"in"}),
        ("int", "string", {"in", "to"}),
        ("date", "string", {"in", "from", "to"}),
        ("timestamp", "timestamp_ntz", {"from"}),
    ],
)
def test_pairs_that_are_refused_lose_rows(
    values: SparkSession, one: str, other: str, forms: set[str]
) -> None:
    values.conf.set("spark.sql.ansi.enabled", "false")
    pair = (TYPES.index(one), TYPES.index(other))
    assert pair in _pairs(False)
    # array_contains takes no two types of which one would become a string.
    judged = [name for name in FORMS if name != "set"]
    row = _row(values, [_among(pair, f"p = k AND {FORMS[name]}") for name in judged])
    assert {name for name, lost in zip(judged, row, strict=True) if lost} == forms


@pytest.mark.parametrize("ansi", [True, False])
def test_no_list_loses_a_row(values: SparkSession, ansi: bool) -> None:
    values.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    triples = [
        (one, a, b)
        for one, a, b in product(range(len(TYPES)), repeat=3)
        if a != b and listed_alike(_type(one), (_type(a), _type(b)))
    ]
    assert len(triples) > 50
    row = _row(values, [_lost_in_list(*triple) for triple in triples])
    wrong = [triple for triple, lost in zip(triples, row, strict=True) if lost]
    assert [[TYPES[number] for number in triple] for triple in wrong] == []


def _lost_in_list(one: int, a: int, b: int) -> str:
    """Whether a value equals a key, and is not in a list of it and another."""
    lost = "p = k AND (p IN (k, j)) IS NOT TRUE"
    return f"exists(a{one}, p -> exists(a{a}, k -> exists(a{b}, j -> {lost})))"


def test_a_list_that_is_refused_loses_rows(values: SparkSession) -> None:
    values.conf.set("spark.sql.ansi.enabled", "false")
    day, text = TYPES.index("date"), TYPES.index("string")
    assert not listed_alike(_type(day), (_type(text), _type(day)))
    assert _row(values, [_lost_in_list(day, text, day)]) == [True]


@pytest.mark.parametrize("ansi", [True, False])
def test_exact_casts_keep_values_apart_and_in_order(values: SparkSession, ansi: bool) -> None:
    values.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    numbers = range(len(TYPES))
    pairs = [(a, b) for a, b in product(numbers, numbers) if lossless(_type(a), _type(b))]
    texts = [
        f"exists(a{a}, x -> exists(a{a}, y -> (x < y) <> (CAST(x AS {to}) < CAST(y AS {to}))"
        f" OR x IS NOT NULL AND CAST(x AS {to}) IS NULL))"
        for a, b in pairs
        for to in [TYPES[b]]
    ]
    wrong = [pair for pair, count in zip(pairs, _row(values, texts), strict=True) if count]
    assert [(TYPES[a], TYPES[b]) for a, b in wrong] == []


@pytest.mark.parametrize(
    ("stored", "joined", "key", "expected"),
    [
        ("int", "bigint", "bigint", True),
        ("int", "decimal(12,2)", "decimal(3,1)", True),
        ("date", "timestamp", "timestamp", True),
        ("decimal(38,37)", "decimal(38,28)", "decimal(38,37)", False),  # rounded on its way
        ("bigint", "int", "int", False),
        ("date", "string", "string", False),
    ],
)
def test_a_column_cast_on_its_way(stored: str, joined: str, key: str, expected: bool) -> None:
    kinds = [kind for kind in map(parse, (stored, joined, key)) if kind is not None]
    assert stored_alike(*kinds) is expected
