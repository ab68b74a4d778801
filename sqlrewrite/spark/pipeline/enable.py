"""``enable(spark)``: rewrites the texts of ``spark.sql``, and the views of ``spark.table``.

A decision on a text is kept until the session's catalog or settings may have changed. If our code
fails or takes too long, Spark gets the original text (docs/pipeline.md).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from sqlrewrite.catalog import Catalog
from sqlrewrite.copies import replace
from sqlrewrite.document import decide, read
from sqlrewrite.results import Rewrite
from sqlrewrite.rewriting import result, rewrite
from sqlrewrite.settings.forms import AUTO, VALUES
from sqlrewrite.settings.options import Options, make_options
from sqlrewrite.spark.pipeline import hooks
from sqlrewrite.spark.pipeline.hooks import Events
from sqlrewrite.spark.pipeline.live import (
    LiveCatalog,
    SessionProfile,
    state,
    view_text,
    views_replaceable,
    with_view_text,
)
from sqlrewrite.spark.values import resolver
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.sql.python_runtime import at_rest
from sqlrewrite.sql.statements.effects import (
    ANYTHING,
    NOTHING,
    Effect,
    effect,
    relations_in,
    relations_of,
)
from sqlrewrite.sql.statements.parameters import FilledText, Literals, filled, literals
from sqlrewrite.text.edits import apply
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.markers import MARKER
from sqlrewrite.warehouse import Name, Warehouse, literal_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_MOST_TEXTS = 5_000
_MOST_CHARACTERS = 64 << 20
_TABLES = "CREATE TABLE f (a INT, p INT) PARTITIONED BY (p); CREATE TABLE d (k INT, y INT)"
_ANY = "SELECT a FROM f JOIN d ON p = k WHERE y = 1"
_CLIENT_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of Spark's client that report each error, also those that we expect."""


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
    """Rewrites the texts that ``spark.sql`` of this session runs, until the result is called or its
    ``with`` ends.

    Without a ``catalog``, the tables that a text names are looked up in the session's catalog, and
    again after ``ttl`` seconds or when they change. ``when`` and ``predicate`` are those of
    ``rewrite``; ``auto`` becomes ``set`` if the session does not prune dynamically. ``log`` is the
    level of the logger ``sqlrewrite.spark``, None for no log. A text whose rewriting takes more
    than ``budget`` seconds is run as it is written. Raises ConfigError for a ``when`` or
    ``predicate`` that does not exist.
    """
    options = make_options(when=when, predicate=predicate, resolve=resolver(spark))
    rewrite(_ANY, Catalog.from_ddl(_TABLES))  # imports all modules, so that the first text is quick
    tables = replace(catalog, settings={}) if catalog else None  # the session's settings are used
    return Enabled(spark, LiveCatalog(spark, ttl, tables), options, Events(log), budget)


class _Decided(Struct, frozen=True):
    """The decision on a text: ``sql`` to run instead, None if none; the ``effect`` of running it;
    the ``basis`` of the decision, and until when it is valid. ``analyzed``: Spark has accepted
    ``sql``."""

    sql: str | None
    effect: Effect
    epoch: int
    until: float = float("inf")
    basis: object = None
    analyzed: bool = False


class _ParsedText(Struct, frozen=True):
    """The relations that a text names, and its effect; ``why`` it is not rewritten, if so."""

    effect: Effect
    names: tuple[Name, ...] = ()
    why: str = ""


class Enabled(AbstractContextManager["Enabled"]):
    """A session whose texts are rewritten until this object is called. A decision is valid until
    something changes in the session (``_epoch`` counts changes), or the catalog's answers are too
    old."""

    def __init__(
        self,
        spark: SparkSession,
        live: LiveCatalog,
        options: Options,
        events: Events,
        budget: float,
    ) -> None:
        self._spark, self._live, self._given = spark, live, options
        self._events, self._budget = events, budget
        self._state: SessionProfile | None = None
        self._epoch = 0
        self._decisions: dict[Hashable, _Decided] = {}
        self._characters = 0
        self._too_slow: set[Hashable] = set()
        self._deciding = threading.RLock()
        self._changing = threading.Lock()
        self._thread = threading.local()
        self._own_sql, self._own_table = spark.sql, spark.table
        self._active = True
        own: dict[str, Any] = {
            "sql": wraps(spark.sql)(lambda *args, **kwargs: self._sql(*args, **kwargs))
        }
        if views_replaceable(spark):
            own["table"] = wraps(spark.table)(lambda *args, **kw: self._table(*args, **kw))
        self._installed = own
        self._replaced = {name: vars(spark).get(name) for name in own}
        vars(spark).update(own)
        self._client_loggers = tuple(map(_logger, _CLIENT_LOGGERS))
        for client_logger in self._client_loggers:
            client_logger.addFilter(self._not_ours)
        hooks.listen(spark, self._note_change)

    def __call__(self) -> None:
        """Restores the session, PySpark's classes and the logger."""
        if not self._active:
            return
        self._active = False  # methods that others have wrapped now only pass calls on
        hooks.stop(self._note_change)
        self._events.close()
        for client_logger in self._client_loggers:
            client_logger.removeFilter(self._not_ours)
        for name, installed in self._installed.items():
            if vars(self._spark).get(name) is not installed:
                continue
            del vars(self._spark)[name]
            if self._replaced[name] is not None:
                vars(self._spark)[name] = self._replaced[name]

    disable = __call__

    def __exit__(self, *raised: object) -> None:
        self()

    # --- running

    def _sql(self, sqlQuery: str, args: Any = None, **kwargs: Any) -> DataFrame:  # noqa: N803
        """Replaces ``spark.sql``."""
        if not self._active or getattr(self._thread, "ours", False):
            return self._own_sql(sqlQuery, args, **kwargs)
        most = self._given.limits.statement
        if kwargs or not isinstance(sqlQuery, str) or len(sqlQuery) > most:
            try:
                return self._own_sql(sqlQuery, args, **kwargs)
            finally:
                self._note_change(ANYTHING)
        parameters = literals(args) if args else ()
        key: Hashable = sqlQuery if not args else (sqlQuery, _hashable(parameters))
        decided = self._decision(
            key, sqlQuery, lambda now: self._decide_query(key, sqlQuery, parameters, now)
        )
        try:
            if decided.sql is None:
                return self._own_sql(sqlQuery, args)
            return self._run_rewritten(key, decided, sqlQuery, args)
        finally:
            if decided.effect is not NOTHING:
                self._note_change(decided.effect)

    def _table(self, *args: Any, **kwargs: Any) -> DataFrame:
        """Replaces ``spark.table``. A cached view is read from the cache."""
        frame = self._own_table(*args, **kwargs)
        if not self._active or getattr(self._thread, "ours", False):
            return frame
        try:
            view = view_text(frame)
            if view is None:
                return frame
            decided = self._decision(view, view[1], lambda now: self._decide_view(*view, now))
            if decided.sql is None or self._spark.catalog.isCached(literal_name(view[0])):
                return frame
            ours = with_view_text(self._spark, frame, decided.sql)
            return ours if ours.schema == frame.schema else frame
        except Exception as error:
            self._events.failed(str(args), error)
            return frame

    def _run_rewritten(self, key: Hashable, decided: _Decided, text: str, args: Any) -> DataFrame:
        """Runs a rewritten text, or the author's if Spark refuses to analyze the rewritten one."""
        from pyspark.errors import AnalysisException, ParseException

        assert decided.sql is not None
        try:
            frame = self._own_sql(decided.sql, args)
            if not decided.analyzed:
                _ = frame.schema
                self._decisions[key] = replace(decided, analyzed=True)
            return frame
        except (AnalysisException, ParseException) as error:
            frame = self._own_sql(text, args)  # so that Spark raises the error of the author's text
            self._decisions[key] = replace(decided, sql=None)
            try:
                _ = frame.schema
            except (AnalysisException, ParseException):
                return frame
            self._events.failed(text, error)
            return frame

    def _note_change(self, effect: Effect) -> None:
        """Records a change, after which earlier decisions are checked again."""
        with self._changing:
            self._epoch += 1
            if effect.settings:
                self._state = None
            self._live.forget(effect.words)

    # --- deciding

    def _decision(self, key: Hashable, text: str, judge: Callable[[int], _Decided]) -> _Decided:
        """The decision on a text: an earlier one if it is still valid, else a new one."""
        earlier, epoch = self._decisions.get(key), self._epoch
        if earlier is not None and earlier.epoch == epoch and earlier.until >= time.monotonic():
            return earlier
        with self._deciding, self._asking():
            try:
                decided = judge(epoch)
            except TimeoutError:
                self._too_slow.add(key)
                self._events.not_rewritten(text, f"it takes more than {self._budget} s")
                decided = _Decided(None, ANYTHING, epoch)
            except Exception as error:
                self._events.failed(text, error)
                decided = _Decided(None, ANYTHING, epoch)
        self._remember(key, text, decided)
        return decided

    def _decide_query(
        self, key: Hashable, text: str, parameters: Literals | None, epoch: int
    ) -> _Decided:
        if key in self._too_slow:
            return _Decided(None, ANYTHING, epoch)
        state = self._session_state()
        options = self._options_in(state)
        full = filled(text, parameters) if parameters else FilledText(text)
        whole = full or FilledText(text)
        parsed = self._in_time(lambda: _parsed(whole.text, options.limits))
        why = parsed.why or state.obstacle
        if full is None or parameters is None or (parameters and MARKER in text):
            why = why or "it is not certain how to write the value of a parameter as a literal"
        if why:
            self._events.not_rewritten(text, why)
            return _Decided(None, parsed.effect, epoch)
        catalog, until = self._live.warehouse(parsed.names, state.namespace)
        basis = (catalog, state)
        before = self._decisions.get(key)
        asks = options.form == VALUES  # keys as literals are looked up each time
        if before is not None and before.basis == basis and not asks:
            return replace(before, epoch=epoch, until=until)
        if not catalog.relations.any_prunable:
            self._events.not_rewritten(text, "it names no known partitioned table")
            return _Decided(None, parsed.effect, epoch, until, basis)
        sql = self._rewritten(text, whole, catalog, options)
        return _Decided(sql, parsed.effect, epoch, 0.0 if asks else until, basis)

    def _decide_view(self, name: Name, text: str, epoch: int) -> _Decided:
        """The decision on a view; its short names are looked up in the namespace in which it was
        created."""
        state, (view, until) = self._session_state(), self._live.view(name)
        options = self._options_in(state)
        too_long = len(text) > options.limits.statement
        if state.obstacle or view is None or view.query != text or too_long:
            self._events.not_rewritten(
                text, state.obstacle or "it is not certain that this is the view's text"
            )
            return _Decided(None, NOTHING, epoch, until)
        place = Warehouse(namespace=view.namespace)
        names = [place.qualify(parts) for parts in self._in_time(lambda: relations_in(text))]
        catalog, until = self._live.warehouse(names, view.namespace)
        sql = self._rewritten(text, FilledText(text), catalog, options)
        return _Decided(sql, NOTHING, epoch, 0.0 if options.form == VALUES else until)

    def _rewritten(
        self, text: str, full: FilledText, catalog: Warehouse, options: Options
    ) -> str | None:
        """The text with its predicates; None if there are none."""

        def work() -> tuple[Rewrite, str]:
            with at_rest(full.text):
                decision = decide(read(full.text, catalog, options.limits), options)
                rewrite = result(decision)
                edits = [edit for statement in decision.statements for edit in statement.edits]
                return rewrite, rewrite.sql if full.text is text else apply(
                    text, full.original(edits)
                )

        rewrite, sql = work() if options.form == VALUES else self._in_time(work)
        if not rewrite.changed:
            self._events.not_rewritten(text, "no predicate can be written, or none pays", rewrite)
            return None
        self._events.rewritten(text, rewrite)
        return sql

    def _options_in(self, state: SessionProfile) -> Options:
        limits = replace(self._given.limits, double_quoted=state.double_quoted)
        options = replace(self._given, engine=state.engine, limits=limits)
        return (
            replace(options, resolve=resolver(self._spark)) if options.form == VALUES else options
        )

    def _session_state(self) -> SessionProfile:
        profile = self._state
        if profile is None:
            epoch, profile = self._epoch, state(self._spark)
            with self._changing:
                if epoch == self._epoch:
                    self._state = profile
        return profile

    def _remember(self, key: Hashable, text: str, decided: _Decided) -> None:
        if key not in self._decisions:
            self._characters += len(text) + len(decided.sql or "")
        self._decisions[key] = decided
        if len(self._decisions) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
            self._decisions, self._too_slow, self._characters = {}, set(), 0

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Marks queries that this thread runs inside as ours, so that they are not rewritten."""
        self._thread.ours = True
        try:
            yield
        finally:
            self._thread.ours = False

    def _not_ours(self, record: logging.LogRecord) -> bool:
        """Whether to log a record of Spark's client: errors of our own queries are dropped."""
        return not getattr(self._thread, "ours", False)

    def _in_time(self, work: Callable[[], T]) -> T:
        """The result of ``work``. Raises TimeoutError after ``budget`` seconds."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name="dpp-rewrite", daemon=True).start()
        return future.result(self._budget)


def _logger(name: str) -> logging.Logger:
    """A logger of PySpark's client, of the class that the client uses, because its calls pass extra
    fields."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # before Spark 4
        return logging.getLogger(name)
    return PySparkLogger.getLogger(name)


def _parsed(text: str, limits: Limits) -> _ParsedText:
    tokens = lex(text).tokens
    parsed = list(statements(text, limits=limits))
    if len(parsed) != 1 or parsed[0].start != tokens[0].start:
        return _ParsedText(ANYTHING, why="it is not one statement")
    changes, tree = effect(parsed[0]), parsed[0].tree
    if parsed[0].failure is not None:
        return _ParsedText(changes, why=parsed[0].failure.message)
    if tree is None or changes.stored:
        return _ParsedText(changes, why="it is not a query, or Spark stores its text")
    return _ParsedText(changes, relations_of(tree))


def _hashable(parameters: Literals | None) -> Hashable:
    return tuple(sorted(parameters.items())) if isinstance(parameters, Mapping) else parameters
