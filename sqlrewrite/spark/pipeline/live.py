"""The session's own catalog, asked for the relations that texts name, and remembered for a while.

In: names, and the namespace of short ones. Out: a ``Warehouse`` of the relations with these names,
and of those behind their views. A relation of which Spark does not say enough is left out and
counts as forgotten, so that no other one of a similar name is taken for it. A temporary view is in
it where Spark gives its text (``DESCRIBE … AS JSON``, from Spark 4).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlrewrite.catalog.names import literal_name
from sqlrewrite.plan.facts.session import SessionSettings
from sqlrewrite.spark.catalog import describe
from sqlrewrite.spark.pipeline.settings import obstacle
from sqlrewrite.spark.session import spark_errors
from sqlrewrite.spark.target import SparkError, SparkGoneError
from sqlrewrite.sql.statements.references import relations_in
from sqlrewrite.sql.types.query_output import query_output
from sqlrewrite.warehouse import Column, Name, TableOrView, View, Warehouse, temporary_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_RELATIONS = 1_000
"""How many relations one text may name, those behind its views included."""


@dataclass(frozen=True, slots=True)
class KnownName:
    """What Spark said of a name: its relation, if that is certain; its columns as described;
    whether it is a temporary view; and until when the answer is used (``time.monotonic``)."""

    relation: TableOrView | None = None
    columns: tuple[Column, ...] = ()
    temporary: bool = False
    until: float = 0.0


class LiveCatalog:
    """A session's catalog: each name is asked for once in ``ttl`` seconds.

    If the caller gives a ``catalog``, the session is asked for its temporary views alone.
    """

    def __init__(self, spark: SparkSession, ttl: float, catalog: Warehouse | None = None) -> None:
        self._spark = spark
        self._ttl = ttl
        self._catalog = catalog
        self._known: dict[Name, KnownName] = {}

    def forget(self, words: Iterable[str] | None) -> None:
        """Forgets the answers on relations with one of these words in their names; None: on all."""
        changed = None if words is None else frozenset(words)
        for name in list(self._known):
            if changed is None or not changed.isdisjoint(name):
                self._known.pop(name, None)

    def view(self, parts: Name) -> tuple[View | None, float]:
        """A permanent view by its qualified name, None where its text is not certain; and until
        when that holds. Raises SparkError."""
        known = self._lookup(parts, parts[:-1])
        return known.relation if isinstance(known.relation, View) else None, known.until

    def warehouse(self, names: Iterable[Name], namespace: Name) -> tuple[Warehouse, float]:
        """The relations with these names, and until when that holds. Raises SparkError."""
        found = Warehouse(namespace=namespace)
        until = time.monotonic() + self._ttl
        if self._catalog is not None:
            found = replace(self._catalog, namespace=namespace, schema_named=True)
            names = [parts for parts in names if temporary_name(parts)]
        left, described = list(dict.fromkeys(names)), dict[Name, tuple[Column, ...]]()
        for parts in left:
            known = self._lookup(parts, namespace)
            until = min(until, known.until)
            place = temporary_name(parts) if known.temporary else found.qualify(parts)
            if known.columns:
                described[place] = known.columns
            found = self._with(found, place, known)
            view = known.relation
            if not isinstance(view, View) or self._catalog is not None:
                continue
            for inner in relations_in(view.query):
                name = found.within(view).qualify(inner)
                left += [name] if name not in left and len(left) < _MOST_RELATIONS else []
                of_both = known.temporary and temporary_name(inner)
                if of_both and self._lookup(inner, namespace).temporary:
                    found = found.without(
                        place
                    )  # it may mean a table or a temporary view of this name
        return _without_stale_views(found, described), until

    def _with(self, found: Warehouse, place: Name, known: KnownName) -> Warehouse:
        """The warehouse with one more name, which may be forgotten."""
        if known.relation is None or place in found.forgotten:
            gone = self._catalog is None or known.temporary
            return found.without(place) if gone else found
        if self._catalog is not None and not known.temporary:
            return found
        if known.temporary:
            return found.with_relation(replace(known.relation, name=place))
        other = found.relations.get(place, known.relation)
        return (
            found.with_relation(known.relation)
            if other == known.relation
            else (found.without(place))
        )

    def _lookup(self, parts: Name, namespace: Name) -> KnownName:
        """What a name means where ``namespace`` is current, as remembered or as Spark says now."""
        key = parts if len(parts) > 2 else (*namespace, "", *parts)
        known, now = self._known.get(key), time.monotonic()
        if known is None or known.until < now:
            known = self._known[key] = replace(self._fresh(parts, namespace), until=now + self._ttl)
        return known

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
            return KnownName(_temporary(parts, description, data), description.columns, True)
        name = _name(description.details)
        if name is None or name != Warehouse(namespace=namespace).qualify(parts):
            return KnownName()
        if description.is_view:
            return KnownName(_view(name, description, data), description.columns)
        read = describe.table(name, description, data)
        size = read.size_in_bytes or describe.planned_size(self._spark, written)
        return KnownName(replace(read, size_in_bytes=size))


def _without_stale_views(found: Warehouse, described: Mapping[Name, Sequence[Column]]) -> Warehouse:
    """The warehouse without the views whose columns, as Spark describes them, are not those of
    their text: a table behind such a view has changed, or we read the text otherwise than Spark."""
    for name, columns in described.items():
        view = found.relations.get(name)
        if isinstance(view, View) and not _has_columns(view, columns, found):
            found = found.without(name)
    return found


def _has_columns(view: View, columns: Sequence[Column], catalog: Warehouse) -> bool:
    """Whether a view's text gives these columns; types that depend on settings are not compared."""
    session = SessionSettings(None, None, False)
    read = query_output(view.query, catalog.within(view), session.possible())
    if read is None or len(read) != len(columns):
        return False
    named = view.columns or [name for name, _ in read]
    return all(
        str(name).lower() == it.name.lower() and kind in (None, it.type)
        for name, (_, kind), it in zip(named, read, columns, strict=True)
    )


def _view(name: Name, description: describe.Description, data: Mapping[str, Any] | None) -> View:
    """A permanent view. Raises NotDescribedError."""
    made_under = (data or {}).get("view_creation_spark_configuration") or {}
    why = obstacle({str(key).lower(): str(value) for key, value in made_under.items()})
    view = describe.view(name, description)
    if why or '"' in view.query:
        raise describe.NotDescribedError(why or "a view whose quotes may be names")
    return view


def _temporary(
    parts: Name, description: describe.Description, data: Mapping[str, Any] | None
) -> View | None:
    """A temporary view of this session, if Spark gives its text and the text is certain."""
    said = data or {}
    query, namespace = said.get("view_text"), said.get("view_catalog_and_namespace")
    names = [str(it.name).lower() for it in description.columns]
    inner = [str(it).lower() for it in said.get("view_query_output_columns") or ()]
    if not temporary_name(parts) or not query or not namespace or '"' in query:
        return None
    if inner != names and "*" in query:
        return None
    return View(
        name=temporary_name(parts),
        query=query,
        columns=() if inner == names else tuple(it.name for it in description.columns),
        namespace=tuple(str(namespace).lower().split(".")),
    )


def _name(details: Mapping[str, str]) -> Name | None:
    """The qualified name in the details of a relation, in lower case."""
    if "Table" in details and "Database" in details:
        parts = (details.get("Catalog", "spark_catalog"), details["Database"], details["Table"])
        return tuple(part.lower() for part in parts)
    found = describe.parts_of(details.get("Name", ""))
    return tuple(part.lower() for part in found) if len(found) > 2 else None
