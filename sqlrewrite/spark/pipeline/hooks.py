"""The hooks of ``enable`` on PySpark's methods, and its log.

``listen`` wraps the methods that set settings, make or drop temporary views, and write tables. It
also wraps ``sql`` of sessions that are not enabled: another object may stand for the same session,
and all sessions share the tables. The log is Python's, ``sqlrewrite.spark``: INFO has a line for
each rewritten query, WARNING one for each place in our code that failed, DEBUG the queries that are
run as written.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any

from sqlrewrite.results import Rewrite, Verdict
from sqlrewrite.sql.statements.effects import ANYTHING, NOTHING, Effect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Listener = Callable[[Effect], None]

_READS_ALONE = ("get", "list", "current", "is", "cache", "uncache", "clear")
_EXISTS = "Exists"
_VIEWS = (
    "createTempView",
    "createOrReplaceTempView",
    "createGlobalTempView",
    "createOrReplaceGlobalTempView",
    "registerTempTable",
)
_TABLES = ("saveAsTable", "insertInto")
_WRITES = ("create", "replace", "createOrReplace", "append", "overwrite", "overwritePartitions")

_QUERY = re.compile(r"\s*+\(*+\s*+(?:select|values|table|show|describe|explain)\b", re.IGNORECASE)

_lock = threading.RLock()
_listeners: list[Listener] = []
_originals: dict[tuple[type, str], Any] = {}


def listen(spark: SparkSession, listener: Listener) -> None:
    """Calls ``listener`` after each method of the session that may change something, with the
    effect of the call."""
    with _lock:
        _listeners.append(listener)
        for kind, name, effect_of in _methods(spark):
            own = vars(kind).get(name)
            if callable(own) and (kind, name) not in _originals:
                _originals[kind, name] = own
                setattr(kind, name, _reporting(own, effect_of))


def stop(listener: Listener) -> None:
    """Stops calling the listener; after the last one, PySpark's classes are as they were."""
    with _lock:
        _listeners.remove(listener)
        while _originals and not _listeners:
            (kind, name), own = _originals.popitem()
            setattr(kind, name, own)


def _methods(spark: SparkSession) -> Iterator[tuple[type, str, Callable[..., Effect]]]:
    """The methods that change something: class, name, and what a call changes."""
    frame = spark.range(0)
    anything, settings = _always(ANYTHING), _always(Effect(settings=True))
    for name in ("set", "unset"):
        yield type(spark.conf), name, settings
    yield type(spark).Builder, "getOrCreate", settings
    yield type(spark), "sql", _effect_of_sql
    catalog = type(spark.catalog)
    for name in vars(catalog):
        if not name.startswith(("_", *_READS_ALONE)) and not name.endswith(_EXISTS):
            yield catalog, name, anything
    for name in _VIEWS:
        yield type(frame), name, _effect_on_name
    for name in _TABLES:
        yield type(frame.write), name, _effect_on_name
    for name in _WRITES:
        yield type(frame.writeTo("t")), name, anything


def _reporting(method: Callable[..., Any], effect_of: Callable[..., Effect]) -> Callable[..., Any]:
    @wraps(method)
    def reporting(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        finally:
            effect = effect_of(*args, **kwargs)
            for listener in tuple(_listeners) if effect is not NOTHING else ():
                listener(effect)

    return reporting


def _always(effect: Effect) -> Callable[..., Effect]:
    return lambda *args, **kwargs: effect


def _effect_of_sql(self: Any, text: Any = None, *args: Any, **kwargs: Any) -> Effect:
    """The effect of ``spark.sql``; an enabled session reports it itself."""
    query = isinstance(text, str) and _QUERY.match(text) is not None
    return NOTHING if query or "sql" in vars(self) else ANYTHING


def _effect_on_name(self: Any, name: Any = None, *args: Any, **kwargs: Any) -> Effect:
    """The effect of a method on one view or table, named by the first argument."""
    target = name if isinstance(name, str) else next(iter(kwargs.values()), None)
    if not isinstance(target, str):
        return ANYTHING
    return Effect(words=frozenset(part.strip("`").lower() for part in target.split(".")))


LOGGER = logging.getLogger("sqlrewrite.spark")

_SHOWN = 60
_MOST_PLACES = 1_000


class Events:
    """The log of one session, from ``level`` on; nothing is logged for None."""

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

    def rewritten(self, text: str, rewrite: Rewrite) -> None:
        """Logs that a query is run with predicates."""
        verdict = "; ".join(
            f"{candidate.fact.table}.{candidate.fact.column} bounded by {candidate.dimension.table}"
            for candidate in rewrite.candidates
            if candidate.verdict is Verdict.REWRITTEN
        )
        LOGGER.info("%s: %s", _shortened(text), verdict, extra=_extra(text, rewrite))

    def not_rewritten(self, text: str, why: str, rewrite: Rewrite | None = None) -> None:
        """Logs that a query is run as it is written, and why."""
        LOGGER.debug("%s: as written: %s", _shortened(text), why, extra=_extra(text, rewrite))

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


def _extra(text: str, rewrite: Rewrite | None) -> dict[str, object]:
    verdicts = []
    for candidate in rewrite.candidates if rewrite is not None else ():
        fact, reason = candidate.fact, candidate.reason
        verdict = f"{fact.table}.{fact.column} by {candidate.dimension.table}"
        verdict += f": {candidate.verdict.value}"
        verdicts.append(f"{verdict}: {reason.code} {reason.message}" if reason else verdict)
    return {"dpp_text": text, "dpp_verdicts": tuple(verdicts)}
