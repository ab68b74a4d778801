"""Reads a dbt project without a manifest, from ``dbt_project.yml`` and the YAML beside the models.

The manifest is the better source. If nobody has run ``dbt parse``, this collects models, seeds,
snapshots and sources with their ``config`` (from the model, its YAML and the project, in this
order) and passes them to ``dbt.read`` as a manifest. A model without a schema is in the current
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlrewrite.catalog import dbt
from sqlrewrite.catalog.dbt import object_of
from sqlrewrite.catalog.dbt_config import MERGE_KEYS, config_arguments, defined_macros
from sqlrewrite.catalog.sources import read_text
from sqlrewrite.copies import replace
from sqlrewrite.text.limits import SPARK
from sqlrewrite.warehouse import CatalogError, LeftOut, Warehouse, has_template, literal_name

_VERSION = "https://schemas.getdbt.com/dbt/manifest/v12.json"
_KINDS = {"models": "model", "seeds": "seed", "snapshots": "snapshot"}
_PATHS = {"models": "model-paths", "seeds": "seed-paths", "snapshots": "snapshot-paths"}

_NAMING = ("database", "schema", "alias")
"""The keys for the parts of a table's name."""

_CONFIGURED = MERGE_KEYS.union(_NAMING)
"""Keys that a project may configure without a ``+`` before them."""

_ADAPTER = re.compile(r'"adapter_type":\s*"(\w+)"')

YamlObject = Mapping[str, Any]


def read(path: Path, catalog: Warehouse) -> Warehouse:
    """The catalog of the project with this ``dbt_project.yml``. Raises CatalogError."""
    project = _parsed(path)
    if not isinstance(project, dict):
        raise CatalogError(f"{path}: not a dbt project: it is no table of settings, as `name: …`")
    name = str(project.get("name") or path.parent.name)
    nodes: dict[str, Any] = {}
    sources: dict[str, Any] = {}
    left_out: list[LeftOut] = []
    for section, kind in _KINDS.items():
        for folder in _folders(project, section):
            top = path.parent / folder
            files = dict(_files(top, left_out))
            entries = dict(_properties(files, section))
            for file in sorted((*top.rglob("*.sql"), *top.rglob("*.csv"))):
                if (file.suffix == ".csv") != (kind == "seed"):
                    continue
                configured = _project_config(project, section, name, file.relative_to(top))
                properties, entry = entries.get(file.stem, ("", {}))
                node = _node(kind, name, file, entry, configured)
                if file.stem.rpartition("_v")[0] not in entries:  # not one version of a model
                    node["original_file_path"] = file.relative_to(path.parent).as_posix()
                    node["patch_path"] = properties
                state = node["config"].get("materialized"), node["config"].get("enabled")
                if state[0] is not None and state[1] is not False:
                    nodes[node["unique_id"]] = node
            sources |= {source["unique_id"]: source for source in _sources(files.values(), name)}
    metadata = {"dbt_schema_version": _VERSION, "project_name": name}
    if (adapter := _adapter(path, project)) is not None:
        metadata["adapter_type"] = adapter
    manifest = {
        "metadata": metadata,
        "nodes": nodes,
        "sources": sources,
        "macros": _macros(path.parent, project, name),
    }
    after = dbt.read(manifest, path, catalog)
    models = {} if left_out else after.models  # they may be configured there
    return replace(after, models=models, left_out=(*after.left_out, *left_out))


def dialect_of(path: Path) -> str | None:
    """The dialect of a project's SQL, by the adapter in its manifest or profile; None if unknown.
    Raises CatalogError."""
    manifest = path.parent / "target" / "manifest.json"
    written = _ADAPTER.search(read_text(manifest)) if manifest.exists() else None
    adapter = written[1] if written else _adapter(path, object_of(_parsed(path)))
    return "trino" if adapter in dbt.TRINO else SPARK if adapter in dbt.SPARK else None


def _adapter(path: Path, project: YamlObject) -> str | None:
    """The adapter of a project, by its profile in a ``profiles.yml`` beside the project or in the
    folder above; None if unknown. A profile with several adapters has that of its target, unless
    another one of them is the only one in ``dbt.ADAPTERS``."""
    for folder in (path.parent, path.parent.absolute().parent):
        file = folder / "profiles.yml"
        if not file.exists():
            continue
        try:
            profiles = object_of(_parsed(file))
        except CatalogError:
            return None  # it may hold a template outside of quotes
        profile = object_of(profiles.get(str(project.get("profile"))))
        outputs = object_of(profile.get("outputs"))
        target = object_of(outputs.get(str(profile.get("target") or "default"))).get("type")
        adapters = {str(object_of(output).get("type")) for output in outputs.values()}
        read = sorted(adapters & dbt.ADAPTERS)
        if target in read or len(read) != 1:
            return str(target) if target else None
        return read[0]
    return None


def _macros(root: Path, project: YamlObject, name: str) -> dict[str, YamlObject]:
    """The macros of a project and of the packages that are installed in it."""
    paths = project.get("macro-paths")
    folders = [root / str(folder) for folder in (paths if isinstance(paths, list) else ["macros"])]
    folders.append(root / str(project.get("packages-install-path") or "dbt_packages"))
    files = sorted(file for folder in folders for file in folder.rglob("*.sql"))
    defined = (macro for file in files for macro in defined_macros(_macro_text(file), name))
    return {macro: {"package_name": package, "name": macro} for package, macro in defined}


def _macro_text(file: Path) -> str:
    """The text of a file of macros; one that cannot be read may define any macro."""
    try:
        return read_text(file)
    except CatalogError:
        return "{% macro get_merge_sql %}"


def _folders(project: YamlObject, section: str) -> list[str]:
    paths = project.get(_PATHS[section])
    return [str(path) for path in paths] if isinstance(paths, list) else [section]


def _node(
    kind: str, project: str, file: Path, entry: YamlObject, configured: YamlObject
) -> dict[str, Any]:
    """A model, seed or snapshot in the form of a manifest."""
    raw = read_text(file) if kind != "seed" else ""
    config = {"materialized": "view" if kind == "model" else kind, **configured}
    call = config_arguments(raw)
    config |= {**object_of(entry.get("config")), **call}
    is_named = all(call.get(key, "") is not None for key in _NAMING)
    return {
        "unique_id": f"{kind}.{project}.{file.stem}",
        "resource_type": kind,
        "name": file.stem,
        "package_name": project,
        "relation_name": _relation_name(kind, file.stem, config) if is_named else None,
        "config": config,
        "contract": config.get("contract"),
        "columns": _columns(entry),
        "raw_code": raw,
    }


def _relation_name(kind: str, name: str, config: YamlObject) -> str | None:
    """The name of a node's table; None if only dbt knows it."""
    if kind == "snapshot":  # its own older keys name the schema as it is
        config = {
            **config,
            "database": config.get("target_database", config.get("database")),
            "schema": config.get("target_schema", config.get("schema")),
        }
    parts = [config[key] for key in _NAMING if config.get(key)]
    if config.get("database") and not config.get("schema"):
        return None
    if any(not isinstance(part, str) or has_template(part) for part in parts):
        return None
    return literal_name((*parts, *(() if config.get("alias") else (name,))))


def _project_config(project: YamlObject, section: str, name: str, file: Path) -> dict[str, Any]:
    """The project's configuration for a file; that of a nearer folder wins."""
    config: dict[str, Any] = {}
    at = object_of(project.get(section))
    for part in (name, *file.parent.parts, file.stem, ""):
        for key, value in at.items():
            plain = str(key).removeprefix("+")
            is_folder = plain in _NAMING and isinstance(value, dict)
            if (plain in _CONFIGURED and not is_folder) or str(key).startswith("+"):
                config[plain] = value
        at = object_of(at.get(part))
    return config


def _properties(
    files: Mapping[str, YamlObject], section: str
) -> Iterator[tuple[str, tuple[str, YamlObject]]]:
    """The entries for models in the YAML files of a folder, by name, each with its file's name."""
    for name, data in files.items():
        for entry in map(object_of, _list(data.get(section))):
            yield str(entry.get("name")), (name, entry)


def _sources(files: Iterable[YamlObject], project: str) -> Iterator[dict[str, Any]]:
    """The tables of the sources that the YAML files of a folder declare."""
    for data in files:
        for source in map(object_of, _list(data.get("sources"))):
            schema = source.get("schema") or source.get("name")
            for table in map(object_of, _list(source.get("tables"))):
                own = str(table.get("name"))
                named = (source.get("database"), schema, table.get("identifier") or own)
                yield {
                    "unique_id": f"source.{project}.{source.get('name')}.{own}",
                    "resource_type": "source",
                    "source_name": str(source.get("name")),
                    "name": own,
                    "relation_name": ".".join(f"`{part}`" for part in named if part),
                    "external": table.get("external"),
                    "columns": _columns(table),
                }


def _columns(entry: YamlObject) -> dict[str, Any]:
    named = (column for column in map(object_of, _list(entry.get("columns"))) if "name" in column)
    return {str(column["name"]): column for column in named}


def _files(folder: Path, left_out: list[LeftOut]) -> Iterator[tuple[str, YamlObject]]:
    """The paths of a folder's YAML files within the project, and their contents, without files that
    cannot be read."""
    for path in sorted((*folder.rglob("*.yml"), *folder.rglob("*.yaml"))):
        try:
            yield path.relative_to(folder.parent).as_posix(), object_of(_parsed(path))
        except CatalogError as error:
            left_out.append(LeftOut(str(path), str(error).removeprefix(f"{path}: ")))


def _parsed(path: Path) -> Any:
    """A YAML file as data. Raises CatalogError."""
    try:
        import yaml
    except ImportError:
        raise CatalogError(
            f"{path}: reading YAML needs PyYAML (pip install pyyaml); or give "
            "target/manifest.json, which `dbt parse` writes"
        ) from None
    try:
        return yaml.safe_load(read_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise CatalogError(f"{path}: not YAML that can be read: {why}") from error


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
