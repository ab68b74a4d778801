"""Each rule of the lexers, taken away, is missed by a text of ``tests/sql/test_lexemes.py``."""

from __future__ import annotations

import pytest

from tests.referee.sabotage_lexer import Switch, reading, switches

AS_IT_IS = reading()


@pytest.mark.parametrize("switch", list(switches()), ids=lambda one: one.name)
def test_a_text_misses_it(switch: Switch) -> None:
    with switch.off():
        assert reading() != AS_IT_IS


def test_nothing_is_taken_away_for_good() -> None:
    assert reading() == AS_IT_IS
