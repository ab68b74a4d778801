"""Names and types of outputs, as Spark's own tests have them."""

from __future__ import annotations

import pytest

from tests.referee.names import CORPUS, agrees, run


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside the checkout")
def test_no_name_and_no_type_is_wrong() -> None:
    score = run()
    assert score.wrong == []
    assert score.told >= 0.9 * score.queries
    assert score.types >= 0.9 * score.columns


def test_an_answer_is_compared_in_number_names_and_types() -> None:
    answer = "struct<a:int,f(x, y):decimal(3,1)>"
    assert agrees((("a", "int"), ("f(x, y)", "decimal(3,1)")), answer)
    assert agrees((("a", None), (None, "decimal(3,1)")), answer)
    assert not agrees((("a", "int"),), answer)
    assert not agrees((("b", "int"), (None, None)), answer)
    assert not agrees((("a", "bigint"), (None, None)), answer)
