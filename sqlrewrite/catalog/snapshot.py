"""The snapshot: a catalog as versioned JSON, written by ``catalog pull`` and by hand.

``read`` takes its text to a catalog, ``write`` a catalog to its text: stable, sorted by name, with
what is not known left out, so that two snapshots of one warehouse differ where it does. Unknown
keys are passed over: a later release may write more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.types import parse
from sqlrewrite.warehouse import (
    DEFAULT_NAMESPACE,
    CatalogError,
    Column,
    Name,
    PartitionField,
    Relation,
    Table,
    View,
    Warehouse,
)

VERSION = 1

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
_PLAIN = re.compile(r"[^\W\d]\w*")


def read(text: str, source: str) -> Warehouse:
    """The catalog in a snapshot. Raises CatalogError with the place in the JSON."""
    root = _Node(_parsed(text, source), "", source)
    root.expect(dict, "an object")
    version = root.value.get("version")
    if version is None:
        raise root.error('no "version": this is not a snapshot of dpp-rewrite')
    if type(version) is not int or version != VERSION:
        raise root.error(f"version {version!r}: this release reads version {VERSION}")
    namespace = root.get("namespace")
    empty = Warehouse(namespace=_name(namespace) if namespace else DEFAULT_NAMESPACE)
    relations: dict[Name, Relation] = {}
    for kind, made in (("tables", _table), ("views", _view)):
        for node in root.items(kind):
            relation = made(node, empty)
            if relation.name in relations:
                raise node.error(f"{quoted_name(relation.name)} is defined twice")
            relations[relation.name] = relation
    return replace(empty, relations=relations)


def generated(text: str) -> dict[str, str]:
    """What made a snapshot: ``by``, ``at`` and ``from``, as far as it says; nothing for any other
    text."""
    with suppress(ValueError, RecursionError):
        data = json.loads(text)
        said = data.get("generated") if isinstance(data, dict) else None
        if isinstance(said, dict):
            return {key: value for key, value in said.items() if isinstance(value, str)}
    return {}


def write(catalog: Warehouse, generated: Mapping[str, str] | None = None) -> str:
    """The text of a catalog's snapshot; ``generated`` says what made it, for people to read.

    Temporary views, whose name is a single part, belong to a session and are left out.
    """
    data: dict[str, Any] = {"version": VERSION}
    if generated:
        data["generated"] = dict(generated)
    if catalog.namespace != DEFAULT_NAMESPACE:
        data["namespace"] = quoted_name(catalog.namespace)
    kept = [r for name, r in sorted(catalog.relations.items()) if len(name) > 1]
    data["tables"] = [_table_data(table) for table in kept if isinstance(table, Table)]
    views = [_view_data(view, catalog) for view in kept if isinstance(view, View)]
    if views:
        data["views"] = views
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def quoted_name(name: Name) -> str:
    """A name with dots between its parts, and backquotes around those that need them."""
    return ".".join(
        part if _PLAIN.fullmatch(part) else "`" + part.replace("`", "``") + "`" for part in name
    )


def parsed_name(text: str) -> Name | None:
    """The name that ``quoted_name`` wrote, in lower case; None for what is not one."""
    parts: list[str] = []
    at = 0
    while (match := _PART.match(text, at)) is not None:
        quoted, plain = match.groups()
        parts.append((quoted.replace("``", "`") if quoted is not None else plain).lower())
        at = match.end()
        if at == len(text):
            return tuple(parts)
        if text[at] != ".":
            return None
        at += 1
    return None


# --- writing


def _table_data(table: Table) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": quoted_name(table.name),
        "columns": [_column_data(column) for column in table.columns],
        "partitioned_by": [
            field.column
            if field.transform == "identity"
            else {"column": field.column, "transform": field.transform}
            for field in table.partitioned_by
        ],
        "primary_key": list(table.primary_key),
        "streaming": table.streaming,
        "provider": table.provider,
        "size_in_bytes": table.size_in_bytes,
        "row_count": table.row_count,
        "partition_count": table.partition_count,
    }
    return _known(data) if table.complete else {**_known(data), "complete": False}


def _column_data(column: Column) -> dict[str, Any]:
    data = _known(
        {"name": column.name, "type": column.type, "distinct_count": column.distinct_count}
    )
    return data if column.nullable else {**data, "nullable": False}


def _view_data(view: View, catalog: Warehouse) -> dict[str, Any]:
    namespace = quoted_name(view.namespace) if view.namespace != catalog.namespace else None
    data = {"name": quoted_name(view.name), "columns": list(view.columns), "query": view.query}
    return _known({**data, "namespace": namespace})


def _known(data: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in data.items() if v is not None and v is not False and v != []}


# --- reading


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON value with its path, so that an error can name its place."""

    value: Any
    path: str
    source: str

    def get(self, key: str) -> _Node | None:
        """The value of a key, None where it is missing or null."""
        value = self.value.get(key)
        path = f"{self.path}.{key}" if self.path else key
        return None if value is None else _Node(value, path, self.source)

    def need(self, key: str) -> _Node:
        found = self.get(key)
        if found is None:
            raise self.error(f'"{key}" is missing')
        return found

    def items(self, key: str) -> Iterator[_Node]:
        """The items of a list, none where it is missing."""
        found = self.get(key)
        if found is None:
            return
        found.expect(list, "a list")
        for index, item in enumerate(found.value):
            yield _Node(item, f"{found.path}[{index}]", self.source)

    def expect(self, kind: type, words: str) -> None:
        # A bool is an int to isinstance, but not to a reader of JSON.
        if type(self.value) is not kind:
            raise self.error(f"expected {words}")

    def text(self) -> str:
        self.expect(str, "a string")
        if not self.value:
            raise self.error("expected a string that is not empty")
        return str(self.value)

    def flag(self) -> bool:
        self.expect(bool, "true or false")
        return bool(self.value)

    def count(self) -> int:
        self.expect(int, "a whole number")
        if self.value < 0:
            raise self.error("expected a whole number, 0 or more")
        return int(self.value)

    def error(self, message: str) -> CatalogError:
        place = f"{self.source}: {self.path}" if self.path else self.source
        return CatalogError(f"{place}: {message}")


def _parsed(text: str, source: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{source}:{error.lineno}:{error.colno}"
        raise CatalogError(f"{place}: not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise CatalogError(f"{source}: not JSON that can be read: {error}") from error


def _table(node: _Node, catalog: Warehouse) -> Table:
    node.expect(dict, "an object")
    streaming, provider = node.get("streaming"), node.get("provider")
    size, rows = node.get("size_in_bytes"), node.get("row_count")
    complete = node.get("complete")
    partitions = node.get("partition_count")
    columns = tuple(_column(item) for item in node.items("columns"))
    table = Table(
        name=catalog.qualify(_name(node.need("name"))),
        columns=columns,
        partitioned_by=tuple(_partition_field(item) for item in node.items("partitioned_by")),
        primary_key=tuple(item.text() for item in node.items("primary_key")),
        streaming=streaming.flag() if streaming else False,
        provider=provider.text() if provider else None,
        size_in_bytes=size.count() if size else None,
        row_count=rows.count() if rows else None,
        partition_count=partitions.count() if partitions else None,
        source=node.source,
        complete=complete.flag() if complete else True,
    )
    _check_columns(table, node)
    return table


def _column(node: _Node) -> Column:
    node.expect(dict, "an object")
    type_, nullable, count = node.get("type"), node.get("nullable"), node.get("distinct_count")
    return Column(
        name=node.need("name").text(),
        type=_type(type_.text()) if type_ else None,
        nullable=nullable.flag() if nullable else True,
        distinct_count=count.count() if count else None,
    )


def _type(text: str) -> str:
    """A type as Spark writes it, from one that a person may have written."""
    found = parse(text)
    return " ".join(text.lower().split()) if found is None else found.ddl


def _partition_field(node: _Node) -> PartitionField:
    if isinstance(node.value, str):
        return PartitionField(node.text())
    node.expect(dict, "a column's name, or an object with its name and its transform")
    transform = node.get("transform")
    column = node.need("column").text()
    return PartitionField(column, transform.text().lower()) if transform else PartitionField(column)


def _check_columns(table: Table, node: _Node) -> None:
    """Raises for a column that is there twice, or is used and not there."""
    seen: set[str] = set()
    for index, column in enumerate(table.columns):
        if column.name.lower() in seen:
            raise node.error(f"columns[{index}]: {column.name} is there twice")
        seen.add(column.name.lower())
    if not table.columns or not table.complete:
        return
    for index, field in enumerate(table.partitioned_by):
        if field.transform != "unknown" and field.column.lower() not in seen:
            raise node.error(f"partitioned_by[{index}]: {field.column} is not one of the columns")
    for index, name in enumerate(table.primary_key):
        if name.lower() not in seen:
            raise node.error(f"primary_key[{index}]: {name} is not one of the columns")


def _view(node: _Node, catalog: Warehouse) -> View:
    node.expect(dict, "an object")
    namespace = node.get("namespace")
    return View(
        name=catalog.qualify(_name(node.need("name"))),
        query=node.need("query").text(),
        columns=tuple(item.text() for item in node.items("columns")),
        namespace=_name(namespace) if namespace else catalog.namespace,
        source=node.source,
    )


def _name(node: _Node) -> Name:
    """A dotted name; its parts may be in backquotes."""
    text = node.text()
    name = parsed_name(text)
    if name is None:
        raise node.error(f"not a name: {text!r}; separate its parts with dots, quote with `")
    return name
