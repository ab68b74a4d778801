"""A running session: its settings, the texts of its views, and its catalog.

``state`` reads the settings that are not at their defaults (docs/soundness.md, "Settings of
Spark"). ``LiveCatalog`` looks up the relations that texts name, and remembers them for a while. A
relation that Spark does not describe well enough is unknown: it may exist or not.
``with_view_text`` gives a view another text, through the classes of Spark's catalog from 4.0 on:
SQL cannot.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.types import SessionSettings
from sqlrewrite.rulebook import Engine, engine
from sqlrewrite.settings.spark_conf import VERSION, engine_under, since
from sqlrewrite.spark import describe
from sqlrewrite.spark.plans.scans import elements
from sqlrewrite.spark.session import current_namespace, spark_errors
from sqlrewrite.spark.target import SparkError, SparkGoneError
from sqlrewrite.sql.outputs.output_binder import query_output
from sqlrewrite.sql.statements.effects import relations_in
from sqlrewrite.warehouse import (
    Column,
    Name,
    TableOrView,
    View,
    Warehouse,
    literal_name,
    temporary_name,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# The values that the rewriter assumes for settings that change the meaning of names or keys.
_REQUIRED = {"spark.sql.casesensitive": "false", "spark.sql.timestamptype": "timestamp_ltz"}
# A value under which more expressions can raise an error.
_REFUSED = {"spark.sql.legacy.timeparserpolicy": "exception"}
_PARSER = "spark.sql.legacy.parser."
_EITHER_WAY = frozenset({"spark.sql.legacy.parser.havingwithoutgroupbyaswhere"})


class SessionProfile(Struct, frozen=True):
    """The properties of a session that a rewrite depends on: the namespace of short names, the
    planner's settings, whether ``"…"`` is a name. ``obstacle`` is a setting under which nothing is
    rewritten, or empty."""

    namespace: Name
    engine: Engine
    double_quoted: bool
    obstacle: str = ""


def state(spark: SparkSession) -> SessionProfile:
    """The present profile of a session. Raises SparkError."""
    with spark_errors("the session's settings cannot be read"):
        namespace, rows = current_namespace(spark), spark.sql("SET").collect()
    settings = {str(row[0]).lower(): str(row[1]) for row in rows}
    return state_of(namespace, {**settings, VERSION: spark.version})


def state_of(namespace: Name, settings: Mapping[str, str]) -> SessionProfile:
    """The profile under ``settings``: Spark's version and the settings by name in lower case."""

    def flag(name: str, default: bool) -> bool:
        return settings.get(name.lower(), str(default)).strip().lower() == "true"

    ansi = since(settings, "4.0") is not False  # by default
    quoted = flag("spark.sql.ansi.enabled", ansi) and flag(
        "spark.sql.ansi.doubleQuotedIdentifiers", False
    )
    return SessionProfile(
        namespace, engine_under(engine("spark"), settings), quoted, obstacle(settings)
    )


def obstacle(settings: Mapping[str, str]) -> str:
    """The first setting under which a text may mean something else; empty if there is none."""
    for name, value in sorted(settings.items()):
        required = _REQUIRED.get(name)
        plain = value.strip().lower()
        if required not in (None, plain) or _REFUSED.get(name) == plain:
            return f"{name} is {value}"
        if name.startswith(_PARSER) and name not in _EITHER_WAY and value.lower() != "false":
            return f"{name} is {value}"
    return ""


def views_replaceable(spark: SparkSession) -> bool:
    """Whether a session allows giving its views another text."""
    return hasattr(spark, "_jsparkSession") and int(spark.version.partition(".")[0]) >= 4


def view_text(frame: DataFrame) -> tuple[Name, str] | None:
    """The name and text of the view that a frame reads: a permanent view by its qualified name, or
    a temporary one whose text means the same in any session. None for other frames."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    if plan.nodeName() != "SubqueryAlias" or plan.child().nodeName() != "View":
        return None
    view, identifier = plan.child(), plan.identifier()
    described, parts = view.desc(), identifier.qualifier()
    name = *(parts.apply(n) for n in range(parts.length())), identifier.name()
    if len(name) != (1 if view.isTempView() else 3):
        return None
    if described.viewText().isEmpty() or (view.isTempView() and not _independent(frame, described)):
        return None
    return tuple(part.lower() for part in name), described.viewText().get()


def _independent(frame: DataFrame, described: Any) -> bool:
    """Whether a temporary view's text means the same in any session."""
    converters = cast("Any", frame.sparkSession)._jvm.scala.jdk.javaapi.CollectionConverters
    made_under = converters.asJava(described.viewSQLConfigs())
    return (
        described.viewReferredTempViewNames().isEmpty()
        and described.viewReferredTempFunctionNames().isEmpty()
        and described.viewReferredTempVariableNames().isEmpty()
        and not obstacle({str(key).lower(): str(made_under[key]) for key in made_under})
    )


def with_view_text(spark: SparkSession, frame: DataFrame, text: str) -> DataFrame:
    """The frame of a view with this text. The view is registered briefly under a unique name,
    because Spark applies a view's own settings only when it looks the view up."""
    from pyspark.sql import DataFrame

    jvm: Any = spark._jvm
    scala, catalyst = jvm.scala, jvm.org.apache.spark.sql.catalyst
    java: Any = spark._jsparkSession
    plan: Any = frame._jdf.queryExecution().analyzed()
    described = plan.child().desc()
    values = {
        described.productElementName(n): described.productElement(n)
        for n in range(described.productArity())
    }
    values["viewText"] = scala.Option.apply(text)
    table = catalyst.catalog.CatalogTable(*values.values())
    name = f"dpp_rewrite_{uuid4().hex}"
    catalog = java.sessionState().catalog()
    catalog.createTempView(
        name, catalyst.catalog.TemporaryViewRelation(table, scala.Option.apply(None)), False
    )
    try:
        read = java.table(name).queryExecution().analyzed().child()
    finally:
        catalog.dropTempView(name)
    alias = catalyst.plans.logical.SubqueryAlias(plan.identifier(), read)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(java, alias), spark)


_MOST_RELATIONS = 1_000
"""How many relations one text may name, including those of its views."""


class KnownName(Struct, frozen=True):
    """The relation that a name stands for in Spark, and until when that is remembered
    (``time.monotonic``)."""

    relation: TableOrView | None = None
    columns: tuple[Column, ...] = ()
    temporary: bool = False
    until: float = 0.0


class LiveCatalog:
    """A session's catalog: each name is looked up once in ``ttl`` seconds. If the caller gives a
    ``catalog``, only temporary views are looked up in the session."""

    def __init__(self, spark: SparkSession, ttl: float, catalog: Warehouse | None = None) -> None:
        self._spark = spark
        self._ttl = ttl
        self._catalog = catalog
        self._known: dict[Name, KnownName] = {}

    def forget(self, words: Iterable[str] | None) -> None:
        """Forgets relations with one of these words in their names; all for None."""
        changed = None if words is None else frozenset(words)
        for name in list(self._known):
            if changed is None or not changed.isdisjoint(name):
                self._known.pop(name, None)

    def view(self, parts: Name) -> tuple[View | None, float]:
        """A permanent view, None if its text is not certain; and until when that is remembered."""
        answer = self._lookup(parts, parts[:-1])
        return answer.relation if isinstance(answer.relation, View) else None, answer.until

    def warehouse(self, names: Iterable[Name], namespace: Name) -> tuple[Warehouse, float]:
        """The relations with these names, and until when they are remembered. Raises SparkError."""
        warehouse = Warehouse(namespace=namespace)
        until = time.monotonic() + self._ttl
        if self._catalog is not None:
            warehouse = replace(self._catalog, namespace=namespace, schema_named=True)
            names = [parts for parts in names if temporary_name(parts)]
        todo, described = list(dict.fromkeys(names)), dict[Name, tuple[Column, ...]]()
        for parts in todo:
            answer = self._lookup(parts, namespace)
            until = min(until, answer.until)
            place = temporary_name(parts) if answer.temporary else warehouse.qualify(parts)
            if answer.columns:
                described[place] = answer.columns
            warehouse = self._with(warehouse, place, answer)
            view = answer.relation
            if not isinstance(view, View) or self._catalog is not None:
                continue
            for inner in relations_in(view.query):
                name = warehouse.within(view).qualify(inner)
                todo += [name] if name not in todo and len(todo) < _MOST_RELATIONS else []
                of_both = answer.temporary and temporary_name(inner)
                # It may mean a table or a temporary view of this name.
                if of_both and self._lookup(inner, namespace).temporary:
                    warehouse = warehouse.without(place)
        return _without_stale_views(warehouse, described), until

    def _with(self, warehouse: Warehouse, place: Name, answer: KnownName) -> Warehouse:
        """The warehouse with the relation of one more name, or without any knowledge of that
        name."""
        if answer.relation is None or place in warehouse.forgotten:
            gone = self._catalog is None or answer.temporary
            return warehouse.without(place) if gone else warehouse
        if self._catalog is not None and not answer.temporary:
            return warehouse
        if answer.temporary:
            return warehouse.with_relation(replace(answer.relation, name=place))
        other = warehouse.relations.get(place, answer.relation)
        return (
            warehouse.with_relation(answer.relation)
            if other == answer.relation
            else (warehouse.without(place))
        )

    def _lookup(self, parts: Name, namespace: Name) -> KnownName:
        """The relation that a name stands for when ``namespace`` is current, remembered or looked
        up."""
        key = parts if len(parts) > 2 else (*namespace, "", *parts)
        answer, now = self._known.get(key), time.monotonic()
        if answer is None or answer.until < now:
            answer = self._known[key] = replace(
                self._fresh(parts, namespace), until=now + self._ttl
            )
        return answer

    def _fresh(self, parts: Name, namespace: Name) -> KnownName:
        try:
            with spark_errors("cannot be read"):
                return self._described(parts, namespace)
        except SparkGoneError:
            raise
        except (SparkError, describe.NotDescribedError):
            return KnownName()

    def _described(self, parts: Name, namespace: Name) -> KnownName:
        written = literal_name(parts)
        description = describe.described(self._spark, written)
        data = describe.as_json(self._spark, written)
        if not description.details:
            data = data or _described_by_plan(self._spark, written)
            return KnownName(_temporary(parts, description, data), description.columns, True)
        name = _name(description.details)
        if name is None or name != Warehouse(namespace=namespace).qualify(parts):
            return KnownName()
        if description.is_view:
            return KnownName(_view(name, description, data), description.columns)
        read = describe.table(name, description, data)
        size = read.size_in_bytes or describe.planned_size(self._spark, written)
        return KnownName(replace(read, size_in_bytes=size))


def _without_stale_views(
    warehouse: Warehouse, described: Mapping[Name, Sequence[Column]]
) -> Warehouse:
    """The warehouse without views whose text does not give the columns that Spark reports."""
    for name, columns in described.items():
        view = warehouse.relations.get(name)
        if isinstance(view, View) and not _has_columns(view, columns, warehouse):
            warehouse = warehouse.without(name)
    return warehouse


def _has_columns(view: View, columns: Sequence[Column], catalog: Warehouse) -> bool:
    """Whether a view's text gives these columns; types that depend on settings are not compared."""
    session = SessionSettings(None, None, False)
    read = query_output(view.query, catalog.within(view), tuple(session.possible()))
    if read is None or len(read) != len(columns):
        return False
    named = view.columns or [name for name, _ in read]
    return all(
        str(name).lower() == column.name.lower() and kind in (None, column.type)
        for name, (_, kind), column in zip(named, read, columns, strict=True)
    )


def _view(name: Name, description: describe.Description, data: Mapping[str, Any] | None) -> View:
    """A permanent view. Raises NotDescribedError."""
    made_under = (data or {}).get("view_creation_spark_configuration") or {}
    why = obstacle({str(key).lower(): str(value) for key, value in made_under.items()})
    view = describe.view(name, description)
    if why or '"' in view.query:
        raise describe.NotDescribedError(
            why or "a view in which text in double quotes may be a name"
        )
    return view


def _temporary(
    parts: Name, description: describe.Description, data: Mapping[str, Any] | None
) -> View | None:
    """A temporary view of this session, if Spark gives its text and the text is certain."""
    details = data or {}
    query, namespace = details.get("view_text"), details.get("view_catalog_and_namespace")
    names = [str(column.name).lower() for column in description.columns]
    inner = [str(column).lower() for column in details.get("view_query_output_columns") or ()]
    if not temporary_name(parts) or not query or not namespace or '"' in query:
        return None
    if inner != names and "*" in query:
        return None
    return View(
        name=temporary_name(parts),
        query=query,
        columns=() if inner == names else tuple(column.name for column in description.columns),
        namespace=tuple(str(namespace).lower().split(".")),
    )


def _described_by_plan(spark: SparkSession, name: str) -> dict[str, Any] | None:
    """The answer of DESCRIBE … AS JSON for a temporary view, computed for Spark before 4.0; None
    for a view that is not of SQL, and over Connect."""
    if not hasattr(spark, "_jsparkSession"):
        return None
    plan: Any = spark._jsparkSession.table(name).queryExecution().analyzed()
    if plan.nodeName() != "SubqueryAlias" or plan.child().nodeName() != "View":
        return None
    view = plan.child().desc()
    if view.viewText().isEmpty():
        return None
    return {
        "view_text": view.viewText().get(),
        "view_catalog_and_namespace": ".".join(elements(view.viewCatalogAndNamespace())),
        "view_query_output_columns": list(elements(view.viewQueryColumnNames())),
    }


def _name(details: Mapping[str, str]) -> Name | None:
    """The qualified name in the details of a relation, in lower case."""
    if "Table" in details and "Database" in details:
        parts = (details.get("Catalog", "spark_catalog"), details["Database"], details["Table"])
        return tuple(part.lower() for part in parts)
    parts_written = describe.parts_of(details.get("Name", ""))
    return tuple(part.lower() for part in parts_written) if len(parts_written) > 2 else None
