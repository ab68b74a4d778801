"""Tells listeners when a method of PySpark may have changed settings, views or tables.

While somebody listens, ``listen`` wraps, on PySpark's classes, the methods that set settings, make
or drop temporary views, and write tables. A method of ``Catalog`` that is not known to only read
counts as changing everything. So does a text, other than a query, that runs in a session that is
not enabled: it may be the same session by another object (``SparkSession.getActiveSession()``), and
all sessions share the tables.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any

from sqlrewrite.sql.statements.execution import ANYTHING, NOTHING, Effect

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
    """Calls the listener, after each call of such a method, with what it may have changed."""
    with _lock:
        _listeners.append(listener)
        for kind, name, effect_of in _methods(spark):
            own = vars(kind).get(name)
            if callable(own) and (kind, name) not in _originals:
                _originals[kind, name] = own
                setattr(kind, name, _reporting(own, effect_of))


def stop(listener: Listener) -> None:
    """Ends what ``listen`` began; the last listener leaves PySpark's classes as they were."""
    with _lock:
        _listeners.remove(listener)
        while _originals and not _listeners:
            (kind, name), own = _originals.popitem()
            setattr(kind, name, own)


def _methods(spark: SparkSession) -> Iterator[tuple[type, str, Callable[..., Effect]]]:
    """The methods that change something: class, name, and what a call with its arguments changes.
    The classes are taken from objects, since Connect has classes of its own."""
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
    """The effect of ``spark.sql``: nothing of a query, and of an enabled session, which reports the
    effects of its texts itself."""
    query = isinstance(text, str) and _QUERY.match(text) is not None
    return NOTHING if query or "sql" in vars(self) else ANYTHING


def _effect_on_name(self: Any, name: Any = None, *args: Any, **kwargs: Any) -> Effect:
    """The effect of a method on one view or table, named by the first argument."""
    given = name if isinstance(name, str) else next(iter(kwargs.values()), None)
    if not isinstance(given, str):
        return ANYTHING
    return Effect(words=frozenset(part.strip("`").lower() for part in given.split(".")))
