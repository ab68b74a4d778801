"""What the placements show Spark to prune by itself is what ``--when missed`` leaves to it.

``test_spark_placements`` measures ``natively`` on the scans; the prediction is held against it.
"""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite

from .test_spark_placements import CASES, DDL, Case


@pytest.fixture(scope="module")
def placements() -> Catalog:
    return Catalog.from_ddl(DDL)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_was_measured_is_predicted(case: Case, placements: Catalog) -> None:
    assert rewrite(case.sql, placements).changed
    assert rewrite(case.sql, placements, when="missed").changed is not case.natively
