"""Limits on the size of files and statements, on the depth of nesting, and on steps."""

from __future__ import annotations

from dataclasses import dataclass

SPARK = "spark"
"""The dialect in which all texts are judged, and read unless a setting says otherwise."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read at most: bytes of a file and of a statement, levels of nesting, and steps to
    judge a statement (``plan/memo.py``). ``double_quoted`` says whether
    Spark reads ``"…"`` as a name (True) or as a string (False); where it is not known (None), what
    may be either is left alone. ``dialect`` is the one that the texts are in."""

    file: int = 4 << 20
    statement: int = 1 << 20
    nesting: int = 250
    steps: int = 1_000_000
    double_quoted: bool | None = None
    dialect: str = SPARK


NESTING_MOST = 1000
"""Deeper than this sqlglot's compiled parser may run out of its stack, and end the program."""


def over(what: str, taken: int, limit: int) -> str:
    """The reason for leaving a file or statement of too many bytes alone, with the setting."""
    size = f"the {what} is {_shown(taken)}, over the {what}-limit of {_shown(limit)}"
    return f"{size} (raise it to read this)"


def over_steps(limit: int) -> str:
    """Why a statement that takes too many steps is left alone, with the setting and the value."""
    why = f"to judge it takes more than {limit:,} steps, over the step-limit (raise it, or split "
    return why + "the statement: views and CTEs that read each other several times multiply)"


def _shown(size: int) -> str:
    """Bytes, as a person reads them."""
    for unit, factor in (("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}".replace(".0 ", " ")
    return f"{size} bytes"
