"""What could raise an error is written in another form, and the rule says so. Which conditions
could is in ``fixtures/queries/raising``."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite

CATALOG = Catalog.from_ddl(
    "CREATE TABLE f (id INT, p DATE) USING parquet PARTITIONED BY (p);"
    "CREATE TABLE d (k DATE, t STRING, i INT, b BIGINT)"
)


@pytest.mark.parametrize(
    ("joined", "code", "words"),
    [
        ("f.p = d.k WHERE d.i / d.b > 3", "DPP114", "IS NOT FALSE keeps those rows"),
        ("f.p = d.t WHERE d.i = 3", "DPP112", "`try_cast`, which gives NULL where the join's cast"),
        ("f.p = CAST(d.t AS DATE) WHERE d.i = 3", "DPP114", "the key is written so that"),
    ],
)
def test_a_form_that_the_author_did_not_write_is_explained(
    joined: str, code: str, words: str
) -> None:
    """For ``-v`` and the hover."""
    (candidate,) = rewrite(f"SELECT f.id FROM f JOIN d ON {joined}", CATALOG).candidates
    assert words in next(rule.message for rule in candidate.rules if rule.code == code)


def test_a_form_of_the_facts_side_is_explained() -> None:
    catalog = Catalog.from_ddl(
        "CREATE TABLE f (id INT, p STRING) USING parquet PARTITIONED BY (p);"
        "CREATE TABLE d (k DATE, y INT)"
    )
    text = "SELECT f.id FROM f JOIN d ON CAST(f.p AS DATE) = d.k WHERE d.y = 2024"
    (candidate,) = rewrite(text, catalog).candidates
    assert candidate.predicate is not None
    assert "try_cast(f.p AS DATE)" in candidate.predicate
    message = next(rule.message for rule in candidate.rules if rule.code == "DPP114")
    assert "the fact's side is written so that it gives NULL instead" in message
