"""The names and types of what the 99 queries return, told without a setting."""

from __future__ import annotations

import pytest

from sqlrewrite import outputs
from tests.tpcds.support import NUMBERS, catalog, queries


@pytest.mark.parametrize("number", NUMBERS)
def test_every_column_has_a_name_and_a_type(number: int) -> None:
    [columns] = outputs(queries()[number].strip().rstrip(";"), catalog())
    assert columns is not None
    assert all(name and kind for name, kind in columns)
