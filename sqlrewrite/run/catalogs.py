"""The catalog that a project's settings name.

In: settings, and the files that are read with them. Out: the catalog; where none is named, what the
files themselves define. Raises CatalogError, which says where the catalog was named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlrewrite.catalog import Catalog
from sqlrewrite.settings.table import Settings
from sqlrewrite.warehouse import CatalogError, Warehouse


def load_catalog(
    settings: Settings, load: Callable[..., Warehouse] | None = None, files: Sequence[str] = ()
) -> Warehouse:
    """The catalog that the settings name, by ``load``, else what ``files`` define; with the derived
    columns and the settings of Spark that the settings declare."""
    found = _loaded(settings, load, files)
    if settings.spark_conf:
        found = replace(found, settings={**found.settings, **settings.spark_conf})
    if not settings.derived:
        return found
    from sqlrewrite.catalog.derived import declaring  # reads SQL, which few settings need

    try:
        return declaring(found, settings.derived)
    except CatalogError as error:
        raise CatalogError(f"{settings.origins.get('derived', 'the settings')}: {error}") from error


def _loaded(
    settings: Settings, load: Callable[..., Warehouse] | None, files: Sequence[str]
) -> Warehouse:
    paths, schema = settings.catalog, settings.schema
    variables = tuple(settings.variables.items())
    if not paths and files:
        return Catalog.seen(*files, schema=schema, variables=variables)
    if not paths:
        return Warehouse(variables=settings.variables).use(schema)
    try:
        return (load or Catalog.load)(*paths, schema=schema, variables=variables)
    except CatalogError as error:
        origin = settings.origins.get("catalog", "")
        where = f" (catalog of {origin})" if origin and not origin.startswith("-") else ""
        raise CatalogError(f"{error}{where}") from error
