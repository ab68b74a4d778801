"""Limits on the size of files and statements, on the depth of nesting, and on steps."""

from __future__ import annotations

from msgspec import Struct

SPARK = "spark"
"""The default dialect, to which texts of other dialects are transliterated."""


class Limits(Struct, frozen=True):
    """Limits: bytes of a ``file`` and a ``statement``, levels of ``nesting``, and ``steps`` to
    judge a statement (``plan/memo.py``). ``double_quoted``: whether Spark reads ``"…"`` as a name
    (True) or a string (False); None if unknown: ambiguous texts are left alone then."""

    file: int = 4 << 20
    statement: int = 1 << 20
    nesting: int = 250
    steps: int = 1_000_000
    double_quoted: bool | None = None
    dialect: str = SPARK


NESTING_MOST = 1000
"""The largest setting for nesting: deeper, sqlglot's compiled parser may overflow the stack."""


def over(what: str, taken: int, limit: int) -> str:
    """The message for a file or statement that is too large, with the setting to raise."""
    size = f"the {what} is {_shown(taken)}, over the {what}-limit of {_shown(limit)}"
    return f"{size} (raise it to read this)"


def over_steps(limit: int) -> str:
    """The message for a statement that takes too many steps to judge."""
    why = (
        f"judging it takes more than {limit:,} steps, over the step-limit: raise it, or split the "
    )
    return why + "statement (views and CTEs that read each other several times multiply)"


def _shown(size: int) -> str:
    """A number of bytes in the largest fitting unit."""
    for unit, factor in (("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}".replace(".0 ", " ")
    return f"{size} bytes"
