"""``enable(spark)``: rewrites what ``spark.sql`` is given, and views that ``spark.table`` reads.

A text is decided once, by the session's catalog and settings, until one of them may have changed.
If our code fails or takes too long, Spark gets the text as it was written (docs/pipeline.md).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from sqlrewrite.catalog import Catalog
from sqlrewrite.catalog.names import literal_name
from sqlrewrite.document import decide, read
from sqlrewrite.frozen import dataclass
from sqlrewrite.results import Rewrite
from sqlrewrite.rewriting import result, rewrite
from sqlrewrite.settings.forms import AUTO, VALUES
from sqlrewrite.settings.options import Options, make_options
from sqlrewrite.spark.pipeline import hooks, views
from sqlrewrite.spark.pipeline.events import Events
from sqlrewrite.spark.pipeline.live import Live
from sqlrewrite.spark.pipeline.settings import State, state
from sqlrewrite.spark.values import resolver
from sqlrewrite.sql.collector import at_rest
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.sql.statements.effects import ANYTHING, NOTHING, Effect, effect
from sqlrewrite.sql.statements.parameters import FilledText, Literals, filled, literals
from sqlrewrite.sql.statements.references import relations_in, relations_of
from sqlrewrite.text.edits import MARKER
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.source import apply
from sqlrewrite.warehouse import Name, Warehouse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_MOST_TEXTS = 5_000
_MOST_CHARACTERS = 64 << 20
_TABLES = "CREATE TABLE f (a INT, p INT) PARTITIONED BY (p); CREATE TABLE d (k INT, y INT)"
_ANY = "SELECT a FROM f JOIN d ON p = k WHERE y = 1"
_TALKATIVE = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of Spark's client that tell of each error, also of one that we expect."""


def enable(
    spark: SparkSession,
    catalog: Warehouse | None = None,
    when: str = "missed",
    predicate: str = AUTO,
    log: str | int | None = "INFO",
    *,
    ttl: float = 60.0,
    budget: float = 1.0,
) -> Enabled:
    """Rewrites what ``spark.sql`` of this session is given. Calling the result ends it, as does
    the end of a ``with``.

    Without a ``catalog`` the tables that a text names are looked up in the session's, and again
    after ``ttl`` seconds or when they change. ``when`` and ``predicate`` are those of ``rewrite``;
    ``auto`` becomes ``set`` where the session does not prune dynamically. ``log`` is the level of
    the logger ``sqlrewrite.spark``, None for silence. A text that takes us more than ``budget``
    seconds is run as it is written. Raises ConfigError for a ``when`` or ``predicate`` that is not
    there.
    """
    asked = make_options(when=when, predicate=predicate, resolve=resolver(spark))
    rewrite(_ANY, Catalog.from_ddl(_TABLES))  # brings all modules, which no text's budget is for
    known = replace(catalog, settings={}) if catalog else catalog  # the session's own are in force
    return Enabled(spark, Live(spark, ttl, known), asked, Events(log), budget)


@dataclass(frozen=True, slots=True)
class _Entry:
    """What was decided of a text: what is run in its place, if anything; what running it changes;
    what that was decided from; and until when it holds. ``analyzed``: Spark has accepted it."""

    sql: str | None
    effect: Effect
    epoch: int
    until: float = float("inf")
    basis: object = None
    analyzed: bool = False


@dataclass(frozen=True, slots=True)
class _Parsed:
    """What a text names and changes; ``why`` it is left alone, if it is."""

    effect: Effect
    names: tuple[Name, ...] = ()
    why: str = ""


class Enabled(AbstractContextManager["Enabled"]):
    """A session whose texts are rewritten, until this is called."""

    def __init__(
        self, spark: SparkSession, live: Live, asked: Options, events: Events, budget: float
    ) -> None:
        self._spark, self._live, self._asked = spark, live, asked
        self._events, self._budget = events, budget
        self._state: State | None = None
        self._epoch = 0
        self._entries: dict[Hashable, _Entry] = {}
        self._characters = 0
        self._over: set[Hashable] = set()
        self._deciding = threading.RLock()
        self._changing = threading.Lock()
        self._thread = threading.local()
        self._original, self._plain = spark.sql, spark.table
        self._active = True
        own: dict[str, Any] = {
            "sql": wraps(spark.sql)(lambda *args, **kwargs: self._sql(*args, **kwargs))
        }
        if views.replaceable(spark):
            own["table"] = wraps(spark.table)(lambda *args, **kw: self._table(*args, **kw))
        self._installed = own
        self._before = {name: vars(spark).get(name) for name in own}
        vars(spark).update(own)
        self._talkative = tuple(map(_logger, _TALKATIVE))
        for it in self._talkative:
            it.addFilter(self._asked_by_others)
        hooks.listen(spark, self._changed)

    def __call__(self) -> None:
        """Leaves the session, PySpark's classes and the logger as they were."""
        if not self._active:
            return
        self._active = False  # where another has wrapped ours since, it passes all on
        hooks.stop(self._changed)
        self._events.close()
        for it in self._talkative:
            it.removeFilter(self._asked_by_others)
        for name, installed in self._installed.items():
            if vars(self._spark).get(name) is not installed:
                continue
            del vars(self._spark)[name]
            if self._before[name] is not None:
                vars(self._spark)[name] = self._before[name]

    disable = __call__

    def __exit__(self, *raised: object) -> None:
        self()

    # --- running

    def _sql(self, sqlQuery: str, args: Any = None, **kwargs: Any) -> DataFrame:  # noqa: N803
        """``spark.sql``."""
        if not self._active or getattr(self._thread, "ours", False):
            return self._original(sqlQuery, args, **kwargs)
        most = self._asked.limits.statement
        if kwargs or not isinstance(sqlQuery, str) or len(sqlQuery) > most:
            try:
                return self._original(sqlQuery, args, **kwargs)
            finally:
                self._changed(ANYTHING)
        given = literals(args) if args else ()
        key: Hashable = sqlQuery if not args else (sqlQuery, _hashable(given))
        entry = self._entry(key, sqlQuery, lambda now: self._judged(key, sqlQuery, given, now))
        try:
            if entry.sql is None:
                return self._original(sqlQuery, args)
            return self._run(key, entry, sqlQuery, args)
        finally:
            if entry.effect is not NOTHING:
                self._changed(entry.effect)

    def _table(self, *args: Any, **kwargs: Any) -> DataFrame:
        """``spark.table``; a view that is cached is read from there."""
        frame = self._plain(*args, **kwargs)
        if not self._active or getattr(self._thread, "ours", False):
            return frame
        try:
            found = views.text_of(frame)
            if found is None:
                return frame
            entry = self._entry(found, found[1], lambda now: self._viewed(*found, now))
            if entry.sql is None or self._spark.catalog.isCached(literal_name(found[0])):
                return frame
            ours = views.with_text(self._spark, frame, entry.sql)
            return ours if ours.schema == frame.schema else frame
        except Exception as error:
            self._events.failed(str(args), error)
            return frame

    def _run(self, key: Hashable, entry: _Entry, text: str, args: Any) -> DataFrame:
        """Runs a rewritten text; what Spark does not accept is run as it was written, and nothing
        of it has run by then. Over Connect Spark is asked, since it analyzes later."""
        from pyspark.errors import AnalysisException, ParseException

        assert entry.sql is not None
        try:
            frame = self._original(entry.sql, args)
            if not entry.analyzed:
                _ = frame.schema
                self._entries[key] = replace(entry, analyzed=True)
            return frame
        except (AnalysisException, ParseException) as error:
            frame = self._original(text, args)  # raises the author's own error
            self._entries[key] = replace(entry, sql=None)
            try:
                _ = frame.schema
            except (AnalysisException, ParseException):
                return frame
            self._events.failed(text, error)
            return frame

    def _changed(self, effect: Effect) -> None:
        """Hears that something has changed."""
        with self._changing:
            self._epoch += 1
            if effect.settings:
                self._state = None
            self._live.forget(effect.words)

    # --- deciding

    def _entry(self, key: Hashable, text: str, judge: Callable[[int], _Entry]) -> _Entry:
        """What was decided of a text, where it still holds, else what is decided now."""
        known, epoch = self._entries.get(key), self._epoch
        if known is not None and known.epoch == epoch and known.until >= time.monotonic():
            return known
        with self._deciding, self._ours():
            try:
                entry = judge(epoch)
            except TimeoutError:
                self._over.add(key)
                self._events.left(text, f"it takes more than {self._budget} s")
                entry = _Entry(None, ANYTHING, epoch)
            except Exception as error:
                self._events.failed(text, error)
                entry = _Entry(None, ANYTHING, epoch)
        self._keep(key, text, entry)
        return entry

    def _judged(self, key: Hashable, text: str, given: Literals | None, epoch: int) -> _Entry:
        if key in self._over:
            return _Entry(None, ANYTHING, epoch)
        state = self._current()
        limits = replace(self._asked.limits, double_quoted=state.double_quoted)
        full = filled(text, given) if given else FilledText(text)
        whole = full or FilledText(text)
        parsed = self._within(lambda: _parsed(whole.text, limits))
        why = parsed.why or state.obstacle
        if full is None or given is None or (given and MARKER in text):
            why = why or "of a parameter no literal is known that means the same"
        if why:
            self._events.left(text, why)
            return _Entry(None, parsed.effect, epoch)
        known, until = self._live.warehouse(parsed.names, state.namespace)
        basis = (known, state)
        before = self._entries.get(key)
        asks = self._asked.form == VALUES  # the keys are asked for each time
        if before is not None and before.basis == basis and not asks:
            return replace(before, epoch=epoch, until=until)
        if not known.prunable:
            self._events.left(text, "it names no partitioned table that is known")
            return _Entry(None, parsed.effect, epoch, until, basis)
        sql = self._rewritten(text, whole, known, self._options(state, limits))
        return _Entry(sql, parsed.effect, epoch, 0.0 if asks else until, basis)

    def _viewed(self, name: Name, text: str, epoch: int) -> _Entry:
        """What is decided of a view, whose text speaks of its own namespace."""
        state, (view, until) = self._current(), self._live.view(name)
        limits = replace(self._asked.limits, double_quoted=state.double_quoted)
        if state.obstacle or view is None or view.query != text or len(text) > limits.statement:
            self._events.left(text, state.obstacle or "the view's text is not certain")
            return _Entry(None, NOTHING, epoch, until)
        place = Warehouse(namespace=view.namespace)
        names = [place.qualify(it) for it in self._within(lambda: relations_in(text))]
        known, until = self._live.warehouse(names, view.namespace)
        sql = self._rewritten(text, FilledText(text), known, self._options(state, limits))
        return _Entry(sql, NOTHING, epoch, 0.0 if self._asked.form == VALUES else until)

    def _rewritten(
        self, text: str, full: FilledText, known: Warehouse, wanted: Options
    ) -> str | None:
        """The text with its predicates; None where there are none."""

        def work() -> tuple[Rewrite, str]:
            with at_rest(full.text):
                decision = decide(read(full.text, known, wanted.limits), wanted)
                found = result(decision)
                edits = [edit for it in decision.statements for edit in it.edits]
                return found, found.sql if full.text is text else apply(text, full.original(edits))

        found, sql = work() if wanted.form == VALUES else self._within(work)
        if not found.changed:
            self._events.left(text, "nothing follows", found)
            return None
        self._events.rewritten(text, found)
        return sql

    def _options(self, state: State, limits: Limits) -> Options:
        asked = replace(self._asked, engine=state.engine, limits=limits)
        return replace(asked, resolve=resolver(self._spark)) if asked.form == VALUES else asked

    def _current(self) -> State:
        found = self._state
        if found is None:
            epoch, found = self._epoch, state(self._spark)
            with self._changing:
                if epoch == self._epoch:
                    self._state = found
        return found

    def _keep(self, key: Hashable, text: str, entry: _Entry) -> None:
        if key not in self._entries:
            self._characters += len(text) + len(entry.sql or "")
        self._entries[key] = entry
        if len(self._entries) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
            self._entries, self._over, self._characters = {}, set(), 0

    @contextmanager
    def _ours(self) -> Iterator[None]:
        """What this thread asks Spark inside is our own: it is not rewritten."""
        self._thread.ours = True
        try:
            yield
        finally:
            self._thread.ours = False

    def _asked_by_others(self, record: logging.LogRecord) -> bool:
        """Whether what Spark's client logs of an error is not about a question of ours."""
        return not getattr(self._thread, "ours", False)

    def _within(self, work: Callable[[], T]) -> T:
        """What ``work`` gives. Raises TimeoutError where it takes too long; it goes on then, and
        nobody looks at what it gives."""
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=run, name="dpp-rewrite", daemon=True).start()
        return done.result(self._budget)


def _logger(name: str) -> logging.Logger:
    """A logger of PySpark's client, made as that makes it: it hands it fields of its own."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # before Spark 4
        return logging.getLogger(name)
    return PySparkLogger.getLogger(name)


def _parsed(text: str, limits: Limits) -> _Parsed:
    tokens = lex(text).tokens
    found = list(statements(text, limits=limits))
    if len(found) != 1 or found[0].start != tokens[0].start:
        return _Parsed(ANYTHING, why="it is not one statement")
    changes, tree = effect(found[0]), found[0].tree
    if found[0].failure is not None:
        return _Parsed(changes, why=found[0].failure.message)
    if tree is None or changes.kept:
        return _Parsed(changes, why="it reads nothing, or Spark keeps its text")
    return _Parsed(changes, relations_of(tree))


def _hashable(given: Literals | None) -> Hashable:
    return tuple(sorted(given.items())) if isinstance(given, Mapping) else given
