"""The settings of a Spark session on which types and comparisons depend, as far as they are known.

What does not hold under all the values that a setting may have does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sqlrewrite.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of a session; None where one is not known.

    ``ansi`` is spark.sql.ansi.enabled, ``precision_loss`` is
    spark.sql.decimalOperations.allowPrecisionLoss, ``ntz`` says whether spark.sql.timestampType is
    TIMESTAMP_NTZ.
    """

    ansi: bool | None = None
    precision_loss: bool | None = None
    ntz: bool | None = None

    def worlds(self) -> Iterator[World]:
        """Each session that this may be."""
        known = [
            (False, True) if it is None else (it,)
            for it in (self.ansi, self.precision_loss, self.ntz)
        ]
        return (World(*it) for it in product(*known))


@dataclass(frozen=True, slots=True)
class World:
    """The settings of one session, named as in ``SessionSettings``. Besides, ``legacy_interval`` is
    spark.sql.legacy.interval.enabled, which alone may be unknown (None), and ``double_quoted`` is
    spark.sql.ansi.doubleQuotedIdentifiers."""

    ansi: bool
    precision_loss: bool = True
    ntz: bool = False
    legacy_interval: bool | None = None
    double_quoted: bool = False
