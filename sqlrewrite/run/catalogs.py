"""The catalog that settings name; one of many definitions is cached by the content of its files.

The file is in the folder of the cache, and its name is a hash of all that the catalog depends on.
It is MessagePack; values of an unexpected type are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from sqlrewrite.catalog import Catalog
from sqlrewrite.catalog.load import PROJECTS
from sqlrewrite.catalog.sources import files_named, in_folder
from sqlrewrite.copies import replace
from sqlrewrite.run.file_content import content_hash, stamps
from sqlrewrite.settings.spark_conf import VERSION
from sqlrewrite.settings.table import Settings
from sqlrewrite.warehouse import CatalogError, VariableValues, Warehouse

_SMALL, _FEW = 1 << 12, 20
"""Definitions of fewer bytes, in fewer files, are read as fast as a cached catalog."""


def load(
    *paths: str, schema: str | None = None, variables: VariableValues = (), keep: bool = True
) -> Catalog:
    """``Catalog.load``, or its cached result for the same files; ``keep``: the result may be
    cached."""
    files = _files(paths) if keep else None
    before = stamps(files or ())
    size = sum(size for size, *_ in before.values())
    if not files or (size < _SMALL and len(files) < _FEW):
        return Catalog.load(*paths, schema=schema, variables=variables)
    from sqlrewrite.run import cache  # imports msgspec

    start = Warehouse(variables=dict(variables)).use(schema)
    try:
        contents = [(file, content_hash(Path(file).read_bytes(), file)) for file in files]
    except OSError:  # reported when the file is read
        return Catalog.load(*paths, schema=schema, variables=variables)
    path = os.path.join(cache.folder(), f"{cache.fingerprint(start, paths, contents)}.msgpack")
    kept = cache.read_catalog(path)
    if kept is not None:
        return Catalog.of(kept)
    catalog = Catalog.load(*paths, schema=schema, variables=variables)
    if _files(paths) == files and stamps(files) == before:
        cache.write_catalog(path, catalog)
    return catalog


def _files(paths: Iterable[str]) -> list[str] | None:
    """All files that a catalog is read from; None with files of dbt, which read others."""
    files: list[str] = []
    for path in map(Path, paths):
        if path.is_dir():
            if any(files_named(path, project) for project in PROJECTS):
                return None
            files += map(str, in_folder(path))
        elif path.suffix.lower() == ".json" or path.name in PROJECTS:
            return None
        else:
            files.append(str(path))
    return files


def load_catalog(
    settings: Settings,
    load: Callable[..., Warehouse] = load,
    files: Sequence[str] = (),
) -> Warehouse:
    """The catalog that the settings name, read by ``load``; without one, the definitions in
    ``files``. Adds the derived columns and the settings of Spark from the settings."""
    catalog = _loaded(settings, load, files)
    version = {VERSION: settings.spark_version} if settings.spark_version else {}
    if settings.spark_conf or version:
        conf = {**catalog.settings, **settings.spark_conf, **version}
        catalog = replace(catalog, settings=conf)
    if not settings.derived:
        return catalog
    from sqlrewrite.catalog.load import declaring  # imports what reads SQL; few settings need it

    try:
        return declaring(catalog, settings.derived)
    except CatalogError as error:
        raise CatalogError(f"{settings.origins.get('derived', 'the settings')}: {error}") from error


def of_version(catalog: Warehouse, version: str) -> Warehouse:
    """The catalog for a Spark of that version, unless its settings name another."""
    return replace(catalog, settings={VERSION: version, **catalog.settings})


def _loaded(settings: Settings, load: Callable[..., Warehouse], files: Sequence[str]) -> Warehouse:
    paths, schema = settings.catalog, settings.schema
    variables = tuple(settings.variables.items())
    if not paths and files:
        return Catalog.seen(*files, schema=schema, variables=variables)
    if not paths:
        return Warehouse(variables=settings.variables).use(schema)
    try:
        return load(*paths, schema=schema, variables=variables, keep=settings.cache)
    except CatalogError as error:
        origin = settings.origins.get("catalog", "")
        where = f" (catalog of {origin})" if origin and not origin.startswith("-") else ""
        raise CatalogError(f"{error}{where}") from error
