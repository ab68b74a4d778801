"""``benchmarks.growth``: how an exponent is measured, and that each axis can be run."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.growth import AXES, CATALOGS, TEXTS, Axis, Measurement, exponent, growth_table
from sqlrewrite import Catalog


def measurements(power: float) -> list[Measurement]:
    return [Measurement(size, 0.1 * (size / 100) ** power, 0.1, 50) for size in (100, 200, 400)]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_is_the_slope_of_the_cost(power: float) -> None:
    assert exponent(measurements(power)) == pytest.approx(power)


def test_one_size_and_short_times_have_no_exponent() -> None:
    assert exponent(measurements(2)[:1]) is None
    assert exponent([Measurement(size, 0.001, None, 50) for size in (1, 2)]) is None


def test_a_line_says_how_an_axis_grows() -> None:
    stream = io.StringIO()
    rows = [(AXES["UNION ALL"], measurements(2)), (AXES["markers"], [])]
    Console(file=stream, width=160).print(growth_table(rows))
    assert "100 → 400" in stream.getvalue()
    assert "0.10 → 1.60" in stream.getvalue()
    assert "n^2.00" in stream.getvalue()
    assert "16.0 ×" in stream.getvalue()


@pytest.mark.parametrize("axis", [*CATALOGS, *TEXTS], ids=lambda axis: axis.name)
def test_each_axis_runs(axis: Axis, tmp_path: Path) -> None:
    result = axis.prepare(tmp_path, 3)()
    assert not getattr(result, "errors", ())
    assert not getattr(result, "left_out", ())
    if axis in CATALOGS:
        assert isinstance(result, Catalog)
        assert len(result.relations) >= 3
