"""A dbt ``manifest.json`` to a catalog: models, seeds, snapshots and sources, and what ref() means.

A table is read from the CREATE TABLE that dbt would run for it, so that types and partition fields
mean what they mean in DDL. dbt lists all columns of a table only under an enforced contract, or in
the ``catalog.json`` beside the manifest. A view is its compiled query, or its own text if dbt has
nothing to fill in but names of relations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from sqlrewrite.catalog.dbt_config import incremental_model, merges_differently
from sqlrewrite.catalog.ddl import read_ddl
from sqlrewrite.catalog.sources import read_text
from sqlrewrite.copies import replace
from sqlrewrite.text.masking import mask
from sqlrewrite.text.templates import templated
from sqlrewrite.warehouse import (
    CatalogError,
    DbtModel,
    Name,
    Reference,
    Table,
    TableOrView,
    View,
    Warehouse,
    literal_name,
    parsed_name,
    quoted,
)

SPARK = frozenset({"spark", "databricks", "fabricspark", "glue", "watsonx_spark"})
TRINO = frozenset({"trino", "athena", "watsonx_presto"})
ADAPTERS = SPARK | TRINO
"""The adapters of Spark and of Trino, whose names and types are read; those of others are not."""
_TABLES = frozenset({"model", "seed", "snapshot"})
_EPHEMERAL = "__dbt__cte__"
_LAYOUTS = ("partitioning", "partitioned_by")
"""The properties of Iceberg's and of Hive's tables in Trino that partition them."""
# The default formats of adapters.
_FORMATS = {"databricks": "delta"}


def read(data: Mapping[str, Any], path: Path, catalog: Warehouse) -> Warehouse:
    """The catalog of a manifest, whose JSON is ``data``; names are completed as in ``catalog``.

    Raises CatalogError for what is not a manifest, or one of another engine.
    """
    metadata = data["metadata"]
    version = str(metadata["dbt_schema_version"])
    if "/manifest/" not in version:
        raise CatalogError(f"{path}: not a dbt manifest but {version}: give target/manifest.json")
    adapter = metadata.get("adapter_type")
    if adapter is not None and str(adapter) not in ADAPTERS:
        adapters = ", ".join(sorted(ADAPTERS))
        raise CatalogError(f"{path}: of dbt's {adapter} adapter; these are read: {adapters}")
    stored = _stored(path.with_name("catalog.json"))
    relations: dict[Name, TableOrView] = {}
    references: dict[Reference, Name] = {}
    home = str(metadata.get("project_name") or "")
    named = [(n, name) for n in _nodes(data, path, home) if (name := n.name(path)) is not None]
    for node, name in named:
        for reference in node.references(home):
            references.setdefault(reference, name)
    for node, name in named:
        if node.materialized in ("view", "ephemeral"):
            full, query = catalog.qualify(name), _query(node, references) or ""
            relations[full] = View(full, query, (), catalog.namespace, str(path))
            continue
        details = stored.get(node.key, _Stored())
        relation = _table(node, name, details.columns, str(adapter or "spark"), catalog, str(path))
        if relation is not None:
            counted = replace(relation, size_in_bytes=details.bytes, row_count=details.rows)
            relations[relation.name] = counted
    models = {} if merges_differently(_macros(data)) else dict(_models(named, home, adapter))
    files = {path: name for path, _, name in _own_models(named, home)}
    catalog = catalog.with_relations(relations)
    return replace(catalog, references=references, models=models, files=files)


class _Node(Struct, frozen=True):
    """A model, seed, snapshot or source: its unique id and its object in the manifest."""

    key: str
    data: Mapping[str, Any]

    @property
    def source(self) -> bool:
        return self.data.get("resource_type") == "source"

    @property
    def config(self) -> Mapping[str, Any]:
        return object_of(self.data.get("config"))

    @property
    def materialized(self) -> str:
        return str(self.config.get("materialized") or "")

    def name(self, path: Path) -> Name | None:
        """The name of its table as dbt writes it; None if dbt makes none. Raises CatalogError."""
        if self.materialized == "ephemeral":
            return (f"{_EPHEMERAL}{self.data.get('name')}".lower(),)
        written = self.data.get("relation_name")
        if not written:
            return None
        name = parsed_name(str(written).replace('"', "`"))  # quoted as in Trino
        if name is None:
            raise CatalogError(f"{path}: {self.key}: not a name: relation_name {written!r}")
        return name

    def references(self, home: str) -> Iterator[Reference]:
        """The references in templates that mean this node."""
        name, package = str(self.data.get("name")), str(self.data.get("package_name") or home)
        if self.source:
            yield ("source", str(self.data.get("source_name")), name)
            return
        version = self.data.get("version")
        names = [f"{name}.v{version}"] if version is not None else [name]
        if version is not None and version == self.data.get("latest_version"):
            names.append(name)
        for each in names:
            yield ("ref", each)
            yield ("ref", package, each)


def _nodes(data: Mapping[str, Any], path: Path, home: str) -> list[_Node]:
    """The nodes that are tables or queries, those of the project itself first, as in dbt."""
    nodes_found: list[_Node] = []
    for section in ("nodes", "sources"):
        nodes = data.get(section, {})
        if not isinstance(nodes, dict) or not all(isinstance(n, dict) for n in nodes.values()):
            raise CatalogError(f"{path}: {section}: expected an object of objects")
        nodes_found += [_Node(key, node) for key, node in nodes.items()]
    kept = [n for n in nodes_found if n.source or str(n.data.get("resource_type")) in _TABLES]
    return sorted(kept, key=lambda node: node.data.get("package_name") != home)


def _own_models(named: list[tuple[_Node, Name]], home: str) -> Iterator[tuple[str, _Node, Name]]:
    """The project's own models in SQL: the path of the file, the model, and its table."""
    for node, name in named:
        data, path = node.data, str(node.data.get("original_file_path") or "")
        own = data.get("resource_type") == "model" and data.get("package_name") == home
        if own and path.endswith(".sql"):
            yield path.replace("\\", "/"), node, name


def _models(
    named: list[tuple[_Node, Name]], home: str, adapter: object
) -> Iterator[tuple[str, DbtModel]]:
    """The project's own incremental models, each with the path of its file."""
    for path, node, name in _own_models(named, home):
        data = node.data
        raw = str(data.get("raw_code") or data.get("raw_sql") or "")
        patch = str(data.get("patch_path") or "").rpartition("://")[2]
        elsewhere = " or ".join(filter(None, ("dbt_project.yml", patch)))
        adapter_name = None if adapter is None else str(adapter)
        model = incremental_model(node.config, raw, name, adapter_name, elsewhere)
        if model is not None:
            yield path, model


def _macros(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The package and the name of each macro."""
    for macro in map(object_of, object_of(data.get("macros")).values()):
        yield str(macro.get("package_name")), str(macro.get("name"))


def _query(node: _Node, references: Mapping[Reference, Name]) -> str | None:
    """A view's query as dbt compiles it; None if that is not known."""
    compiled = node.data.get("compiled_code") or node.data.get("compiled_sql")
    if compiled:
        return str(compiled)
    masked = mask(str(node.data.get("raw_code") or node.data.get("raw_sql") or ""))
    pieces, end = [], 0
    for template in masked.templates:
        name = references.get(template.reference)
        if name is None:
            return None
        pieces += [masked.text[end : template.start], literal_name(name)]
        end = template.end
    pieces.append(masked.text[end:])
    query = "".join(pieces).strip()
    literal = templated(query)  # a template inside a string
    return None if masked.obstacles or literal else query or None


def _table(
    node: _Node,
    name: Name,
    stored: tuple[_Listed, ...] | None,
    adapter: str,
    catalog: Warehouse,
    path: str,
) -> Table | None:
    """The table of a node; None if nothing is known of it."""
    using = node.config.get("file_format") or (None if node.source else _FORMATS.get(adapter))
    partitions = _partitions(node)
    bare = _created(name, (), using, partitions, catalog, path)
    if bare is None:
        return None
    listed = stored if stored is not None else _documented(node)
    contract = object_of(node.data.get("contract") or node.config.get("contract"))
    complete = bool(listed) and (stored is not None or contract.get("enforced") is True)
    if complete and all(type_ for _, type_ in listed):
        return _created(name, listed, using, partitions, catalog, path) or bare
    typed = tuple(item for item in listed if item[1])
    some = _created(name, typed, None, "", catalog, path) if typed else None
    return bare if some is None else replace(bare, columns=some.columns, complete=False)


_Listed = tuple[str, str | None]
"""A column's name and type."""


def _created(
    name: Name,
    columns: tuple[_Listed, ...],
    using: object,
    partitions: str,
    catalog: Warehouse,
    path: str,
) -> Table | None:
    """The table in dbt's CREATE TABLE; None if that cannot be read."""
    text = f"CREATE TABLE {literal_name(name)}"
    if columns:
        text += f" ({', '.join(f'{quoted(column)} {kind}' for column, kind in columns)})"
    if using:
        text += f" USING {using}"
    tables = read_ddl(f"{text} {partitions}", path, catalog.with_relations({})).tables
    return tables[0] if len(tables) == 1 else None


def _partitions(node: _Node) -> str:
    """The clause of a CREATE TABLE that partitions it.

    ``partition_by`` is a string or a list of strings, which dbt writes as they are, or as for
    BigQuery an object with a field and a granularity; dbt-athena's list is ``partitioned_by``.
    dbt-trino copies ``properties`` into WITH. An external source has ``partitions`` instead.
    """
    if node.source:
        fields = [str(item["name"]) for item in _external(node) if item.get("name")]
    else:
        partition_by = node.config.get("partition_by") or node.config.get("partitioned_by")
        items = partition_by if isinstance(partition_by, list) else [partition_by]
        named = (_field(item) if isinstance(item, dict) else item for item in items)
        fields = [item for item in named if isinstance(item, str) and item.strip()]
    if fields:
        return f"PARTITIONED BY ({', '.join(fields)})"
    properties = object_of(node.config.get("properties"))
    layout = [f"{key} = {properties[key]}" for key in _LAYOUTS if properties.get(key)]
    return f"WITH ({', '.join(layout)})" if layout else ""


def _field(partition: Mapping[str, Any]) -> str | None:
    """The partition field of an object: the column itself for a date by day, a transform for any
    other; None without a field."""
    field, granularity = partition.get("field"), str(partition.get("granularity") or "day").lower()
    if not isinstance(field, str):
        return None
    if granularity == "day" and str(partition.get("data_type") or "date").lower() == "date":
        return quoted(field)
    return f"{granularity}s({quoted(field)})"


def _documented(node: _Node) -> tuple[_Listed, ...]:
    columns = map(object_of, object_of(node.data.get("columns")).values())
    types = {
        str(column["name"]): str(column["data_type"]) if column.get("data_type") else None
        for column in (*_external(node), *columns)
        if column.get("name")
    }
    return tuple(types.items())


def _external(node: _Node) -> list[Mapping[str, Any]]:
    """The partition columns of an external source, as dbt-external-tables has them."""
    partitions = object_of(node.data.get("external")).get("partitions")
    return [*map(object_of, partitions)] if isinstance(partitions, list) else []


class _Stored(Struct, frozen=True):
    """A relation in ``catalog.json``."""

    columns: tuple[_Listed, ...] | None = None
    bytes: int | None = None
    rows: int | None = None


def _stored(path: Path) -> dict[str, _Stored]:
    """The relations in the ``catalog.json`` beside a manifest, if any. Raises CatalogError."""
    if not path.exists():
        return {}
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise CatalogError(f"{path}: not JSON that can be read: {error}") from error
    version = object_of(object_of(data).get("metadata")).get("dbt_schema_version")
    if "/catalog/" not in str(version):
        return {}  # another program's file
    relations: dict[str, _Stored] = {}
    for section in ("nodes", "sources"):
        for key, node in object_of(data.get(section)).items():
            columns = sorted(
                map(object_of, object_of(object_of(node).get("columns")).values()),
                key=lambda column: index if isinstance(index := column.get("index"), int) else 0,
            )
            listed = tuple((str(c.get("name")), str(c.get("type"))) for c in columns)
            stats = object_of(object_of(node).get("stats"))
            relations[key] = _Stored(listed, _count(stats, "bytes"), _count(stats, "rows"))
    return relations


def _count(stats: Mapping[str, Any], name: str) -> int | None:
    """A statistic, which adapters write as a number or as its text."""
    value = object_of(stats.get(name)).get("value")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def object_of(value: object) -> Mapping[str, Any]:
    """A JSON value as an object, an empty one if it is none."""
    return value if isinstance(value, dict) else {}
