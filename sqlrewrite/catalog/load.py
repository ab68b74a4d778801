"""Reads any mix of files that describe a warehouse, merged in order, and declared derived columns.

A new kind of file is a new module and a line in ``load``; a run imports the readers of its own
files only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sqlrewrite.catalog import ddl
from sqlrewrite.catalog.sources import files_named, in_folder, read_text
from sqlrewrite.copies import replace
from sqlrewrite.text.hosts import SUFFIXES as HOST_SUFFIXES
from sqlrewrite.text.source import SQL_SUFFIXES
from sqlrewrite.warehouse import (
    DEFAULT_NAMESPACE,
    CatalogError,
    LeftOut,
    Name,
    Table,
    VariableValues,
    Warehouse,
    parsed_name,
)

_SUPPORTED = (
    "a DDL file (.sql, .ddl, .hql, …), a directory of them, a notebook or program in Python (.py, "
    ".ipynb), a snapshot or dbt manifest (.json), a dbt_project.yml"
)
PROJECTS = ("dbt_project.yml", "dbt_project.yaml")
"""The names of the files of dbt's projects."""


def load(
    paths: Sequence[str],
    *,
    schema: str | None = None,
    variables: Mapping[str, str] | VariableValues = (),
) -> Warehouse:
    """The catalog of all ``paths``. Later definitions of a table win; sizes and counts in snapshots
    complete definitions that lack them, whichever comes first.

    ``schema`` is the namespace of short names, in DDL files until they say USE, and at the end;
    ``variables`` are the values of variables in names. Raises CatalogError.
    """
    start = catalog = Warehouse(variables=dict(variables)).use(schema)
    counted: dict[Name, Table] = {}
    namespace = start.namespace
    for path in paths:
        place = Path(path)
        if not place.exists():
            raise CatalogError(f"{path}: no such file or directory; a catalog is {_SUPPORTED}")
        if place.is_dir():
            catalog = _of_folder(place, replace(catalog, namespace=start.namespace), start)
        elif place.name.lower().endswith((*SQL_SUFFIXES, *HOST_SUFFIXES)):
            catalog = ddl.read(place, replace(catalog, namespace=start.namespace))
        elif place.suffix.lower() == ".json":
            pulled = _read_json(place, start)
            counted.update({table.name: table for table in pulled.tables})
            catalog = _merged(catalog, pulled)
            if schema is None and pulled.namespace != DEFAULT_NAMESPACE:
                namespace = pulled.namespace
        elif place.name in PROJECTS:
            from sqlrewrite.catalog import dbt_project

            catalog = _merged(catalog, dbt_project.read(place, start))
        else:
            raise CatalogError(
                f"{path}: not a kind of file that is read; a catalog is {_SUPPORTED}"
            )
    relations = {
        name: _with_counts(relation, counted[name])
        if isinstance(relation, Table) and name in counted
        else relation
        for name, relation in catalog.relations.items()
    }
    costs_only_itself = (path.endswith(".json") or Path(path).is_dir() for path in paths)
    if not relations and not all(costs_only_itself):
        raise CatalogError(f"{', '.join(paths)}: {_nothing_found(paths)}")
    return replace(catalog.with_relations(relations), namespace=namespace, sources=tuple(paths))


def _of_folder(folder: Path, catalog: Warehouse, start: Warehouse) -> Warehouse:
    """The catalog after a folder's DDL and dbt projects; if it has none, what its texts show."""
    projects = [project for name in PROJECTS for project in files_named(folder, name)]
    after = catalog if projects and not in_folder(folder) else ddl.read(folder, catalog)
    for project in projects:
        from sqlrewrite.catalog import dbt_project

        try:
            after = _merged(after, dbt_project.read(project, start))
        except CatalogError as error:
            why = str(error).removeprefix(f"{project}: ")
            after = replace(after, left_out=(*after.left_out, LeftOut(str(project), why)))
    if after.relations == catalog.relations:
        from sqlrewrite.catalog.infer import infer

        shown, _ = infer(map(str, in_folder(folder)), catalog)
        after = replace(after, relations=shown.relations)
        why = _NO_DDL + (_GUESSED if shown.relations != catalog.relations else _OPEN)
        after = replace(after, left_out=(*after.left_out, LeftOut(str(folder), why)))
    return after


_NO_DDL = "no CREATE TABLE or CREATE VIEW that could be read"
_OPEN = ": nothing is known of its tables"
_GUESSED = (
    ": what INSERT … PARTITION shows is used, and no type is known (`dpp-rewrite catalog infer` "
    "writes it as DDL, to be completed)"
)


def _nothing_found(paths: Sequence[str]) -> str:
    """The message if no table was found: what was looked for."""
    if any(Path(path).name not in PROJECTS for path in paths):
        return _NO_DDL
    return (
        "no source, and no model that is stored as a table: if another file configures the models, "
        "run `dbt parse` and give target/manifest.json"
    )


def _read_json(path: Path, start: Warehouse) -> Warehouse:
    text = read_text(path)
    artifact = _dbt_artifact(text) if '"dbt_schema_version"' in text else None
    if artifact is not None:
        from sqlrewrite.catalog import dbt

        return dbt.read(artifact, path, start)
    from sqlrewrite.catalog import snapshot  # brings msgspec

    return snapshot.read(text, str(path))


def _dbt_artifact(text: str) -> dict[str, Any] | None:
    """The parsed JSON if dbt wrote it; None for any other text."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None  # the snapshot's reader reports the error
    metadata = data.get("metadata") if isinstance(data, dict) else None
    return data if isinstance(metadata, dict) and "dbt_schema_version" in metadata else None


def _merged(catalog: Warehouse, later: Warehouse) -> Warehouse:
    """Both catalogs as one; the later relation wins, unless only the earlier has columns."""
    relations = dict(catalog.relations)
    for name, relation in later.relations.items():
        earlier = relations.get(name)
        vague = isinstance(relation, Table) and not relation.names
        if not (vague and isinstance(earlier, Table) and earlier.names):
            relations[name] = relation
    references = {**catalog.references, **later.references}
    settings = {**catalog.settings, **later.settings}
    models, files = {**catalog.models, **later.models}, {**catalog.files, **later.files}
    return replace(
        catalog.with_relations(relations),
        references=references,
        settings=settings,
        models=models,
        files=files,
        left_out=(*catalog.left_out, *later.left_out),
        streaming=catalog.streaming or later.streaming,
    )


def _with_counts(table: Table, counted: Table) -> Table:
    """A table, with the sizes and counts that it lacks from another definition of it."""
    columns = (
        replace(column, distinct_count=other.distinct_count)
        if column.distinct_count is None and (other := counted.column(column.name)) is not None
        else column
        for column in table.columns
    )
    numbers = ("size_in_bytes", "row_count", "partition_count")
    lacking = {
        number: getattr(counted, number) for number in numbers if getattr(table, number) is None
    }
    return replace(table, columns=tuple(columns), **lacking)


W = TypeVar("W", bound=Warehouse)


def declaring(catalog: W, derived: Mapping[str, Mapping[str, str]]) -> W:
    """The catalog with derived columns: by the names of table and column, the expression over other
    columns of the row.

    Raises CatalogError for an invalid name or expression, and for a column that its table lacks.
    """
    from sqlrewrite.sql.bind.formulas import why_unreadable  # brings the binder

    declared: dict[Name, Mapping[str, str]] = dict(catalog.declared)
    for text, columns in derived.items():
        name = parsed_name(text)
        if name is None:
            raise CatalogError(f"derived: not a table: {text!r}; separate its parts with dots")
        for other, table in catalog.relations.items():
            if other[-len(name) :] == name and isinstance(table, Table) and table.names:
                _check(table, columns)
        for column, expression in columns.items():
            if (why := why_unreadable(expression)) is not None:
                shown = f"{'.'.join(name)}.{column} = {expression!r}"
                raise CatalogError(f"derived: {shown}: {why}")
        declared[name] = {**declared.get(name, {}), **columns}
    return replace(catalog, declared=declared).with_relations(catalog.relations)


def _check(table: Table, columns: Mapping[str, str]) -> None:
    for column in columns:
        if table.column(column) is None:
            shown, names = ".".join(table.name), ", ".join(other.name for other in table.columns)
            raise CatalogError(f"derived: {shown} has no column {column}: it has {names}")
