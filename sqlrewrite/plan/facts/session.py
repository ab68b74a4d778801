"""The settings of a Spark session on which types and comparisons depend.

``SessionSettings`` is what is known of them, ``ExactSettings`` one combination of values. A fact
holds only if it holds under every combination that is possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of a session; None where one is not known.

    ``ansi`` is spark.sql.ansi.enabled, ``precision_loss`` is
    spark.sql.decimalOperations.allowPrecisionLoss, ``ntz`` says whether spark.sql.timestampType is
    TIMESTAMP_NTZ. ``legacy_interval`` is spark.sql.legacy.interval.enabled, and ``double_quoted``
    spark.sql.ansi.doubleQuotedIdentifiers, which is always known.
    """

    ansi: bool | None = None
    precision_loss: bool | None = None
    ntz: bool | None = None
    legacy_interval: bool | None = None
    double_quoted: bool = False

    def possible(self) -> Iterator[ExactSettings]:
        """Each combination of values that the session may have."""
        values = [
            (False, True) if setting is None else (setting,)
            for setting in (self.ansi, self.precision_loss, self.ntz)
        ]
        return (
            ExactSettings(ansi, precision_loss, ntz, self.legacy_interval, self.double_quoted)
            for ansi, precision_loss, ntz in product(*values)
        )


@dataclass(frozen=True, slots=True)
class ExactSettings:
    """One combination of values, named as in ``SessionSettings``; ``legacy_interval`` alone may be
    unknown."""

    ansi: bool
    precision_loss: bool = True
    ntz: bool = False
    legacy_interval: bool | None = None
    double_quoted: bool = False


USUAL_SETTINGS = tuple(SessionSettings(ntz=False, legacy_interval=False).possible())
"""The defaults of spark.sql.timestampType, which TIMESTAMP in a catalog means, too, and of
spark.sql.legacy.interval.enabled, under any values of the others."""
