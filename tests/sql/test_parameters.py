"""Parameter markers: literals in their place to be read, and insertions back beside the markers."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest

from sqlrewrite.sql.statements.parameters import filled, literals
from sqlrewrite.text.edits import Edit, apply


@pytest.mark.parametrize(
    ("text", "args", "wanted"),
    [
        ("WHERE a = :y AND b > :x", {"y": 6, "x": "q"}, "WHERE a = (6) AND b > 'q'"),
        ("WHERE a = ? OR b = ?", [True, None], "WHERE a = true OR b = NULL"),
        ("SELECT ':y', `:y` /* :y */, :y", {"y": 1}, "SELECT ':y', `:y` /* :y */, (1)"),
        ("WHERE a -:y", {"y": -5}, "WHERE a -(-5)"),
        ("SELECT v:y, d::int, f(:y)", {"y": 2}, "SELECT v:y, d::int, f((2))"),
        ("WHERE day = :end", {"end": datetime.date(2024, 1, 31)}, "WHERE day = DATE'2024-01-31'"),
        ("WHERE x > ?", [1.5], "WHERE x > (1.5D)"),
    ],
    ids="named positional not-in-strings negative fields keyword double".split(),
)  # fmt: skip
def test_literals_stand_for_the_markers(text: str, args: Any, wanted: str) -> None:
    texts = literals(args)
    assert texts is not None
    filled_text = filled(text, texts)
    assert filled_text is not None
    assert filled_text.text == wanted


@pytest.mark.parametrize(
    "args",
    [
        [decimal.Decimal("1.5")],
        [datetime.datetime(2024, 1, 1)],
        ["it's"],
        ["back\\slash"],
        [1 << 70],
        [float("nan")],
        [[1, 2]],
        {"a": object()},
    ],
    ids=lambda args: type(next(iter(args))).__name__ if isinstance(args, dict) else repr(args),
)
def test_what_no_literal_surely_means_is_not_guessed_at(args: Any) -> None:
    assert literals(args) is None


@pytest.mark.parametrize(
    ("text", "args"),
    [("a = :y", {"x": 1}), ("a = ?", [1, 2]), ("a = ? AND b = ?", [1]), ("a = :y", [1])],
    ids="missing too-many too-few mixed".split(),
)
def test_markers_without_their_parameters(text: str, args: Any) -> None:
    texts = literals(args)
    assert texts is not None
    assert filled(text, texts) is None


def test_insertions_go_back_to_their_places() -> None:
    text = "SELECT ? FROM t WHERE a = ? AND b = ?"
    filled_text = filled(text, ("'a long one'", "2", "(-300)"))
    assert filled_text is not None
    places = [
        0,
        filled_text.text.index("FROM"),
        filled_text.text.index(" AND"),
        len(filled_text.text),
    ]
    edits = [Edit.at(at, f"<{number}>") for number, at in enumerate(places)]
    assert (
        apply(text, filled_text.original(edits))
        == "<0>SELECT ? <1>FROM t WHERE a = ?<2> AND b = ?<3>"
    )
