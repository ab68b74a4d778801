"""The shape of a text: what it leaves out, what it keeps, and that what is decided goes with it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import duckdb
import pytest

from benchmarks.tpcds_data import load_tpcds, spark_queries
from sqlrewrite import Catalog, rewrite
from sqlrewrite.sql.statements.fingerprint import fingerprint, shape
from tests.support.turns import turn
from tests.tpcds.support import catalog as tpcds_catalog

QUERIES = Path(__file__).resolve().parents[2] / "fixtures" / "queries"
TEXTS = turn(sorted(QUERIES.rglob("*.sql")), 15)
PLAIN = "SELECT a FROM t WHERE d = 5 AND s IN ('one', 'two') AND x BETWEEN 3 AND 9"


@pytest.mark.parametrize(
    "other",
    [
        "select a\n  from t -- why\n where d = 7 and s in ('three') and x between 2 and 8;",
        "SELECT a FROM t WHERE d = 1 AND s IN ('c', 'd', 'e') AND x BETWEEN /* or so */ 4 AND 6",
        "SELECT a FROM t WHERE d = 123456 AND s IN ('c') AND x BETWEEN 1234 AND 16",
    ],
    ids=["spelling", "values", "digits"],
)
def test_texts_of_one_shape(other: str) -> None:
    assert shape(other) == shape(PLAIN)
    assert len(fingerprint(shape(other))) == 32


@pytest.mark.parametrize("one", ["a = 5", "a IN (5, 6)"])
def test_a_number_of_rows_is_compared_with_none(one: str) -> None:
    other = one.replace("5", "7").replace("6", "5")
    for end in ("LIMIT 5", "LIMIT 9 OFFSET 5"):
        assert shape(f"SELECT x FROM t WHERE {one} {end}") == shape(
            f"SELECT x FROM t WHERE {other} {end}"
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("d = 5", "d = 0"),
        ("d = 5", "d = 1234567890"),
        ("d = 5", "d = -5"),
        ("d = 0.5", "d = 0.25"),
        ("1 = 1", "1 = 0"),
        ("d = 5", "d = 5.0"),
        ("d = 5", "d = '5'"),
        ("d = 5", "d <> 5"),
        ("d = 5", "d = 5 + 1"),
        ("d + 5 = 6", "d + 4 = 6"),
        ("d = DATE '2024-01-31'", "d = DATE '2024-01-32'"),
        ("s = 'abc'", "s = 'now'"),
        ("s = 'abc'", "s = '123'"),
        ("a = 5 AND b = 5", "a = 5 AND b = 6"),
        ("a = 5 AND b + 5 > 1", "a = 6 AND b + 5 > 1"),
        ("a IN (1, 2)", "a IN (1, 0)"),
        ("a IN (1, 2)", "a NOT IN (1, 2)"),
        ("a IN (1, 2)", "a IN (1, NULL)"),
        ("s = 'a' || 'b'", "s = 'a' || 'c'"),
        ("a = 5 LIMIT 5", "a = 5 LIMIT 6"),
        ("`A b` = 1", "`A c` = 1"),
        ("a = 5 -- dpp-rewrite: ignore", "a = 5"),
        ("s = 'it''s'", "s = 'it''t'"),
    ],
)
def test_shapes_that_are_not_one(one: str, other: str) -> None:
    before = "SELECT * FROM t WHERE "
    assert shape(before + one) != shape(before + other)


_LITERAL = re.compile(r"(?<![\w.'])(?:\d+(?:\.\d+)?|'[^'\\]*')(?![\w.'])")


def _other(text: str, chance: random.Random) -> str:
    """The text with another value in the place of each literal of which its shape knows none."""
    expected = shape(text)
    for value in sorted(set(_LITERAL.findall(text))):
        digits = value * chance.randint(1, 2) if value.isdigit() and len(value) < 5 else value
        new = "".join(_letter(digit, chance) for digit in digits)
        if re.fullmatch(r"'\d{4}-\d\d-\d\d'", value):
            new = f"'20{chance.randint(10, 29)}-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}'"
        changed = re.sub(rf"(?<![\w.']){re.escape(value)}(?![\w.'])", new, text)
        if new not in text and shape(changed) == expected:
            text = changed
    return text


def _letter(sign: str, chance: random.Random) -> str:
    letters = "123456789" if sign.isdigit() else "qwxz" if sign.isalpha() else sign
    return chance.choice(letters)


def _decided(text: str, catalog: Catalog) -> list[object]:
    result = rewrite(text, catalog)
    verdicts = [
        (
            candidate.statement,
            (candidate.fact.table.lower(), candidate.fact.column.lower()),
            (candidate.dimension.table.lower(), candidate.dimension.column.lower()),
            candidate.verdict,
            [(rule.code, rule.outcome) for rule in candidate.rules],
            None
            if candidate.predicate is None
            else re.sub(r"\?(, \?)+", "?", _LITERAL.sub("?", candidate.predicate)),
        )
        for candidate in result.candidates
    ]
    return [verdicts, len(result.errors), len(result.skipped)]


@pytest.mark.parametrize("source", ["fixtures", "tpcds"])
def test_of_one_shape_the_same_is_decided(source: str) -> None:
    chance, changed = random.Random(18), 0
    if source == "tpcds":
        catalog = tpcds_catalog()
        with duckdb.connect() as connection:
            load_tpcds(connection, 0)
            texts = turn(list(spark_queries(connection).values()), 9)
    else:
        catalog = Catalog.load(str(QUERIES / "ddl.sql"))
        texts = tuple(path.read_text("utf-8") for path in TEXTS)
    for text in texts:
        other = _other(text, chance)
        if other != text:
            changed += 1
            assert shape(other) == shape(text)
            assert _decided(other, catalog) == _decided(text, catalog), other
    assert changed > 2
