"""Random texts of several statements, as written and as rewritten, give the same rows on Spark."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.referee.generator_scripts import random_world, script
from tests.referee.scripts import run

SEED, FIRST, SCRIPTS = 1, 55, 3
"""Number 56 finds a name of the ``session`` that is read as a table's, should that come back."""


@pytest.mark.spark
@pytest.mark.long
def test_rewritten_scripts_give_the_same_rows(spark: Any, tmp_path: Path) -> None:
    count, _ = run(spark.newSession(), str(tmp_path / "rows"), SEED, FIRST, SCRIPTS)
    assert not count.wrong, "\n".join(count.wrong)
    assert count.rewritten * 10 >= count.queries, count


def test_a_script_depends_on_its_number_alone() -> None:
    def text(number: int) -> str:
        rng = random.Random(f"1/script/{number}")
        return f"{random_world(rng)} {script(rng)}"

    assert text(7) == text(7)
    assert len({text(number) for number in range(50)}) == 50
