"""Snapshots: a catalog as versioned JSON, written by ``catalog pull`` and by hand.

Sorted by name, without what is not known, two snapshots of one warehouse differ only where the
warehouse has changed. The classes below are the format. null is the same as a missing key, and
unknown keys are ignored, since a later release may write more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, json

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.text.data_files import type_error
from sqlrewrite.warehouse import (
    DEFAULT_NAMESPACE,
    Buckets,
    CatalogError,
    Column,
    Derivation,
    Name,
    PartitionField,
    Table,
    TableOrView,
    View,
    Warehouse,
    derivation,
    parsed_name,
    quoted_name,
)

VERSION = 1
ORIGIN = "the snapshot"
"""The origin of derivations that a snapshot declares."""

_Text = Annotated[str, Meta(min_length=1)]
_Count = Annotated[int, Meta(ge=0)]


class _Column(Struct, omit_defaults=True):
    name: _Text
    type: _Text | None = None
    distinct_count: _Count | None = None
    nullable: bool | None = True


class _Field(Struct, omit_defaults=True):
    """A partition field by a transform; a field that is a plain column is written as its name."""

    column: _Text
    transform: _Text | None = None
    number: _Count | None = None


class _Buckets(Struct):
    """The buckets of a table: CLUSTERED BY (columns) INTO n BUCKETS."""

    columns: list[_Text]
    count: _Count


class _Derived(Struct, omit_defaults=True):
    """A column that is computed from others of its row, by an expression of Spark's SQL."""

    column: _Text
    expression: _Text


class _Table(Struct, omit_defaults=True):
    name: _Text
    columns: list[_Column] | None = None
    partitioned_by: list[_Text | _Field] | None = None
    clustered_by: tuple[_Text, ...] | None = ()
    primary_key: tuple[_Text, ...] | None = ()
    streaming: bool | None = False
    provider: _Text | None = None
    size_in_bytes: _Count | None = None
    row_count: _Count | None = None
    partition_count: _Count | None = None
    complete: bool | None = True
    unsteady: _Text | None = ""
    derived: list[_Derived] | None = None
    buckets: _Buckets | None = None
    proposed: list[_Derived] | None = None


_AS_IT_IS = (
    *("clustered_by", "primary_key", "streaming", "provider", "size_in_bytes", "row_count"),
    *("partition_count", "complete", "unsteady"),
)
"""The fields that are the same in the file and in a ``Table``."""


class _View(Struct, omit_defaults=True):
    name: _Text
    columns: list[_Text] | None = None
    query: _Text | None = None
    namespace: _Text | None = None


class _Version(Struct):
    version: Any = None


class _Snapshot(Struct, omit_defaults=True):
    """The whole file; ``generated`` says what made it, for people to read."""

    version: int | None = None
    generated: Any = None
    namespace: _Text | None = None
    settings: dict[str, str] | None = None
    tables: list[_Table] | None = None
    views: list[_View] | None = None


def read(text: str, source: str) -> Warehouse:
    """The catalog in a snapshot. Raises CatalogError with the place in the JSON."""
    root = _parsed(text, source)
    namespace = _name(root.namespace, f"{source}: namespace") if root.namespace else None
    empty = Warehouse(namespace=namespace or DEFAULT_NAMESPACE)
    relations: dict[Name, TableOrView] = {}
    for where, relation in _relations(root, empty, source):
        if relation.name in relations:
            raise CatalogError(f"{where}: {quoted_name(relation.name)} is defined twice")
        relations[relation.name] = relation
    return replace(empty.with_relations(relations), settings=root.settings or {})


def generated(text: str) -> dict[str, str]:
    """The ``by``, ``at`` and ``from`` of a snapshot, as far as it has them."""
    with suppress(ValueError, RecursionError):
        origin = json.decode(text, type=_Snapshot).generated
        if isinstance(origin, dict):
            return {key: value for key, value in origin.items() if isinstance(value, str)}
    return {}


Proposed = Mapping[Name, Sequence[Derivation]]
"""Derivations that a table's rows suggest, by its name; a person may move them to ``derived``."""


def write(
    catalog: Warehouse, generated: Mapping[str, str] | None = None, proposed: Proposed | None = None
) -> str:
    """The text of a catalog's snapshot. ``generated`` says what made it, for people; ``proposed``
    are derivations that nobody has declared, which are written and not used.

    Temporary views, whose name is a single part, belong to a session and are left out, and
    so are views whose query is not known.
    """
    here = catalog.namespace
    kept = [r for name, r in sorted(catalog.relations.items()) if len(name) > 1]
    views = [
        _View(
            quoted_name(relation.name),
            [*relation.columns] or None,
            relation.query,
            _other(relation.namespace, here),
        )
        for relation in kept
        if isinstance(relation, View) and relation.query
    ]
    data = _Snapshot(
        version=VERSION,
        generated=dict(generated) if generated else None,
        namespace=_other(here, DEFAULT_NAMESPACE),
        settings=dict(catalog.settings) or None,
        tables=[
            _written_table(table, (proposed or {}).get(table.name, ()))
            for table in kept
            if isinstance(table, Table)
        ],
        views=views or None,
    )
    return json.format(json.encode(data), indent=2).decode() + "\n"


# --- writing


def _written_table(table: Table, proposed: Sequence[Derivation]) -> _Table:
    fields = (
        field.column if field.transform == "identity" else _as(_Field, field)
        for field in table.partitioned_by
    )
    return _Table(
        name=quoted_name(table.name),
        columns=_as(list[_Column], table.columns) or None,
        partitioned_by=[*fields] or None,
        derived=_as(list[_Derived], table.derived) or None,
        buckets=_as(_Buckets | None, table.buckets),
        proposed=_as(list[_Derived], proposed) or None,
        **{name: getattr(table, name) for name in _AS_IT_IS},
    )


def _as(kind: Any, value: object) -> Any:
    """A value as an instance of a class of the format."""
    return convert(value, kind, from_attributes=True)


def _other(name: Name, usual: Name) -> str | None:
    return None if name == usual else quoted_name(name)


# --- reading


def _parsed(text: str, source: str) -> _Snapshot:
    try:
        root = json.decode(text, type=_Snapshot)
    except ValidationError as error:
        with suppress(ValueError, RecursionError):  # another version explains another form
            _check_version(json.decode(text, type=_Version).version, source)
        path, message = type_error(error)
        raise CatalogError(
            f"{source}: {path}: {message}" if path else f"{source}: {message}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise _not_json(text, source, error) from error
    _check_version(root.version, source)
    return root


def _check_version(version: object, source: str) -> None:
    if version is None:
        raise CatalogError(f'{source}: no "version": this is not a snapshot of dpp-rewrite')
    if type(version) is not int or version != VERSION:
        raise CatalogError(f"{source}: version {version!r}: this release reads version {VERSION}")


def _not_json(text: str, source: str, error: Exception) -> CatalogError:
    """The error of Python's JSON parser, which names the line."""
    from json import JSONDecodeError, loads

    try:
        loads(text)
    except JSONDecodeError as known:
        return CatalogError(f"{source}:{known.lineno}:{known.colno}: not JSON: {known.msg}")
    except (RecursionError, ValueError):
        pass
    return CatalogError(f"{source}: not JSON that can be read: {error}")


def _relations(root: _Snapshot, empty: Warehouse, source: str) -> Iterator[tuple[str, TableOrView]]:
    """Each relation with its place in the JSON."""
    for number, table in enumerate(root.tables or ()):
        where = f"{source}: tables[{number}]"
        yield where, _table(table, where, empty, source)
    for number, view in enumerate(root.views or ()):
        where = f"{source}: views[{number}]"
        yield where, _view(view, where, empty, source)


def _table(found: _Table, where: str, catalog: Warehouse, source: str) -> Table:
    columns = tuple(map(_column, found.columns or ()))
    values = {name: value for name in _AS_IT_IS if (value := getattr(found, name)) is not None}
    values["clustered_by"] = tuple(column.lower() for column in found.clustered_by or ())
    table = Table(
        name=catalog.qualify(_name(found.name, f"{where}.name")),
        columns=columns,
        partitioned_by=tuple(map(_partition_field, found.partitioned_by or ())),
        source=source,
        derived=tuple(
            derivation(entry.column, entry.expression, ORIGIN, [each.name for each in columns])
            for entry in found.derived or ()
        ),
        buckets=_read_buckets(found.buckets),
        **values,
    )
    _check_columns(table, where)
    return table


def _column(entry: _Column) -> Column:
    kind = _type(entry.type) if entry.type else None
    return Column(entry.name, kind, entry.nullable is not False, entry.distinct_count)


@lru_cache(4096)
def _type(text: str) -> str:
    """A type as Spark writes it; an unknown type as it is, in lower case."""
    type_ = parse(text)
    return " ".join(text.lower().split()) if type_ is None else type_.ddl


def _read_buckets(entry: _Buckets | None) -> Buckets | None:
    if entry is None or not entry.columns or not entry.count:
        return None
    return Buckets(tuple(column.lower() for column in entry.columns), entry.count)


def _partition_field(entry: str | _Field) -> PartitionField:
    if isinstance(entry, str):
        return PartitionField(entry)
    return PartitionField(entry.column, (entry.transform or "identity").lower(), entry.number)


def _check_columns(table: Table, where: str) -> None:
    """Raises CatalogError for a column that is listed twice, or used and not listed."""
    seen: set[str] = set()
    for index, column in enumerate(table.columns):
        if column.name.lower() in seen:
            raise CatalogError(f"{where}: columns[{index}]: {column.name} is there twice")
        seen.add(column.name.lower())
    if not table.columns or not table.complete:
        return
    fields = [
        field.column if field.transform != "unknown" else None for field in table.partitioned_by
    ]
    derived = [derivation.column for derivation in table.derived]
    declared = ("partitioned_by", fields), ("primary_key", table.primary_key), ("derived", derived)
    for key, names in declared:
        for index, name in enumerate(names):
            if name is not None and name.lower() not in seen:
                raise CatalogError(f"{where}: {key}[{index}]: {name} is not one of the columns")


def _view(entry: _View, where: str, catalog: Warehouse, source: str) -> View:
    if not entry.query:
        raise CatalogError(f'{where}: "query" is missing')
    namespace = entry.namespace
    return View(
        name=catalog.qualify(_name(entry.name, f"{where}.name")),
        query=entry.query,
        columns=tuple(entry.columns or ()),
        namespace=_name(namespace, f"{where}.namespace") if namespace else catalog.namespace,
        source=source,
    )


def _name(text: str, where: str) -> Name:
    """A dotted name; its parts may be in backquotes."""
    name = parsed_name(text)
    if name is None:
        hint = "separate its parts with dots, quote with `"
        raise CatalogError(f"{where}: not a name: {text!r}; {hint}")
    return name
