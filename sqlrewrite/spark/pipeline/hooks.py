"""What PySpark's own methods change in a session, heard by those who keep what its catalog said.

``listening`` wraps, on the classes of a session's objects and for as long as somebody listens, the
methods that make or drop temporary views, set settings, and write tables. Methods of ``Catalog``
that are not known to read alone count as changing everything, and so do texts that are no queries
of sessions that are not enabled: another object may stand for the same session
(``SparkSession.getActiveSession()``), and tables are there for all.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any

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

_QUERY = re.compile(r"\s*\(*\s*(?:select|values|table|show|describe|explain)\b", re.IGNORECASE)

_lock = threading.RLock()
_listeners: list[Listener] = []
_originals: dict[tuple[type, str], Any] = {}


def listen(spark: SparkSession, listener: Listener) -> None:
    """Tells the listener what a method may have changed, after each call."""
    with _lock:
        _listeners.append(listener)
        for kind, name, told in _methods(spark):
            own = vars(kind).get(name)
            if callable(own) and (kind, name) not in _originals:
                _originals[kind, name] = own
                setattr(kind, name, _heard(own, told))


def stop(listener: Listener) -> None:
    """Ends what ``listen`` began; after the last one PySpark's classes are as they were."""
    with _lock:
        _listeners.remove(listener)
        while _originals and not _listeners:
            (kind, name), own = _originals.popitem()
            setattr(kind, name, own)


def _methods(spark: SparkSession) -> Iterator[tuple[type, str, Callable[..., Effect]]]:
    """The methods that change something: their class, their name, and what a call of one changes.
    Over Connect the classes are others than in a classic session."""
    frame = spark.range(0)
    anything, settings = _always(ANYTHING), _always(Effect(settings=True))
    for name in ("set", "unset"):
        yield type(spark.conf), name, settings
    yield type(spark).Builder, "getOrCreate", settings
    yield type(spark), "sql", _elsewhere
    catalog = type(spark.catalog)
    for name in vars(catalog):
        if not name.startswith(("_", *_READS_ALONE)) and not name.endswith(_EXISTS):
            yield catalog, name, anything
    for name in _VIEWS:
        yield type(frame), name, _named
    for name in _TABLES:
        yield type(frame.write), name, _named
    for name in _WRITES:
        yield type(frame.writeTo("t")), name, anything


def _heard(method: Callable[..., Any], told: Callable[..., Effect]) -> Callable[..., Any]:
    @wraps(method)
    def heard(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        finally:
            effect = told(*args, **kwargs)
            for listener in tuple(_listeners) if effect is not NOTHING else ():
                listener(effect)

    return heard


def _always(effect: Effect) -> Callable[..., Effect]:
    return lambda *args, **kwargs: effect


def _elsewhere(self: Any, text: Any = None, *args: Any, **kwargs: Any) -> Effect:
    """A text of a session; one that has its own ``sql`` tells of its own."""
    told = "sql" in vars(self) or (isinstance(text, str) and _QUERY.match(text) is not None)
    return NOTHING if told else ANYTHING


def _named(self: Any, name: Any = None, *args: Any, **kwargs: Any) -> Effect:
    """A view or table by its name, which is the first argument, whatever that is called."""
    given = name if isinstance(name, str) else next(iter(kwargs.values()), None)
    if not isinstance(given, str):
        return ANYTHING
    return Effect(words=frozenset(part.strip("`").lower() for part in given.split(".")))
