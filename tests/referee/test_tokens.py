"""Spark's lexer against ours: the fixtures, a corpus where it is at hand, and texts made to break
lexers. ``python -m tests.referee.tokens`` does the last at length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .tokens import SparkLexer, check, random_text, sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lexer(spark: SparkSession) -> SparkLexer:
    return SparkLexer(spark._jvm)


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.longest)])
def test_whole_files_have_the_tokens_of_spark(lexer: SparkLexer, every: int) -> None:
    texts = list(sources().items())
    problems = check(texts[::every], lexer)
    assert not problems.wrong, "\n".join(problems.wrong[:5])
    assert problems.texts - problems.reported > 300 / every


def test_broken_texts_have_the_tokens_of_spark(lexer: SparkLexer) -> None:
    texts = [(f"--seed 7 --from {number}", random_text(7, number)) for number in range(500)]
    problems = check(texts, lexer)
    assert not problems.wrong, "\n".join(problems.wrong[:5])
    some = problems.texts / 4 < problems.reported < problems.texts * 3 / 4
    assert some, "nothing was broken, or all"
