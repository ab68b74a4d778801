"""What ``enable`` tells of its work: Python's logging, under the name ``sqlrewrite.spark``.

INFO has a line a rewritten query, WARNING one for each way in which something of ours failed, DEBUG
what was left alone and why. Each record carries ``dpp_text`` and ``dpp_verdicts``, strings and a
tuple of strings, which OpenTelemetry's handler sends on as attributes.
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
    """Where one session's events go, from ``level`` on; None: nowhere. Where nobody has set up
    logging they go to stderr."""

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
        """That a query is run with predicates."""
        said = "; ".join(
            f"{it.fact.table}.{it.fact.column} bounded by {it.dimension.table}"
            for it in found.candidates
            if it.verdict is Verdict.REWRITTEN
        )
        LOGGER.info("%s: %s", _begin(text), said, extra=_extra(text, found))

    def left(self, text: str, why: str, found: Rewrite | None = None) -> None:
        """That a query is run as it is written."""
        LOGGER.debug("%s: as written: %s", _begin(text), why, extra=_extra(text, found))

    def failed(self, text: str, error: BaseException) -> None:
        """That something went wrong, once for each place where it does."""
        where = traceback.extract_tb(error.__traceback__)[-1:]
        place = f"{where[0].filename}:{where[0].lineno}" if where else "Spark"
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        if place in self._failed or len(self._failed) > _MOST_PLACES:
            return
        self._failed.add(place)
        line = "%s: as written, since dpp-rewrite failed: %s (%s)"
        LOGGER.warning(line, _begin(text), reason, place, extra=_extra(text, None))


def _begin(text: str) -> str:
    words = " ".join(text[: 4 * _SHOWN].split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def _extra(text: str, found: Rewrite | None) -> dict[str, object]:
    verdicts = []
    for it in found.candidates if found is not None else ():
        said = f"{it.fact.table}.{it.fact.column} by {it.dimension.table}: {it.verdict.value}"
        verdicts.append(f"{said}: {it.reason.code} {it.reason.message}" if it.reason else said)
    return {"dpp_text": text, "dpp_verdicts": tuple(verdicts)}
