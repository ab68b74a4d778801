"""The log of ``enable``: Python's logging, under the name ``sqlrewrite.spark``.

INFO has a line for each rewritten query, WARNING one for each place of ours that failed, DEBUG the
queries left as written, and why. Each record carries ``dpp_text`` (a string) and ``dpp_verdicts``
(a tuple of strings), which OpenTelemetry's handler passes on as attributes.
"""

from __future__ import annotations

import logging
import sys
import traceback

from sqlrewrite.results import Rewrite, Verdict

LOGGER = logging.getLogger("sqlrewrite.spark")

_SHOWN = 60
_MOST_PLACES = 1_000


class Events:
    """Logs one session's events from ``level`` on, None: none; to stderr where logging is not set
    up."""

    def __init__(self, level: str | int | None) -> None:
        self._before = LOGGER.level
        self._handler: logging.Handler | None = None
        self._failed: set[str] = set()
        LOGGER.setLevel(logging.CRITICAL + 1 if level is None else level)
        if level is not None and not LOGGER.hasHandlers():
            self._handler = logging.StreamHandler(sys.stderr)
            self._handler.setFormatter(logging.Formatter("dpp-rewrite: %(message)s"))
            LOGGER.addHandler(self._handler)

    def close(self) -> None:
        """Leaves the logger as it was."""
        LOGGER.setLevel(self._before)
        if self._handler is not None:
            LOGGER.removeHandler(self._handler)

    def rewritten(self, text: str, found: Rewrite) -> None:
        """Logs that a query is run with predicates."""
        verdict = "; ".join(
            f"{it.fact.table}.{it.fact.column} bounded by {it.dimension.table}"
            for it in found.candidates
            if it.verdict is Verdict.REWRITTEN
        )
        LOGGER.info("%s: %s", _shortened(text), verdict, extra=_extra(text, found))

    def left(self, text: str, why: str, found: Rewrite | None = None) -> None:
        """Logs that a query is run as it is written, and why."""
        LOGGER.debug("%s: as written: %s", _shortened(text), why, extra=_extra(text, found))

    def failed(self, text: str, error: BaseException) -> None:
        """Logs a failure, once for each place in the code."""
        where = traceback.extract_tb(error.__traceback__)[-1:]
        place = f"{where[0].filename}:{where[0].lineno}" if where else "Spark"
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        if place in self._failed or len(self._failed) > _MOST_PLACES:
            return
        self._failed.add(place)
        line = "%s: as written, since dpp-rewrite failed: %s (%s)"
        LOGGER.warning(line, _shortened(text), reason, place, extra=_extra(text, None))


def _shortened(text: str) -> str:
    words = " ".join(text[: 4 * _SHOWN].split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def _extra(text: str, found: Rewrite | None) -> dict[str, object]:
    verdicts = []
    for it in found.candidates if found is not None else ():
        verdict = f"{it.fact.table}.{it.fact.column} by {it.dimension.table}: {it.verdict.value}"
        verdicts.append(
            f"{verdict}: {it.reason.code} {it.reason.message}" if it.reason else verdict
        )
    return {"dpp_text": text, "dpp_verdicts": tuple(verdicts)}
