"""Reads descriptions of the warehouse's tables from files: one module for each kind of file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from sqlrewrite.catalog.ddl import read_ddl
from sqlrewrite.catalog.load import declaring, load
from sqlrewrite.copies import replace
from sqlrewrite.warehouse import CatalogError, VariableValues, Warehouse


@dataclass(frozen=True, slots=True)
class Catalog(Warehouse):
    """A warehouse, with the ways to read one."""

    @classmethod
    def load(
        cls,
        *paths: str,
        schema: str | None = None,
        variables: Mapping[str, str] | VariableValues = (),
    ) -> Catalog:
        """The catalog of DDL files, directories of them, JSON snapshots and dbt manifests, later
        ones winning.

        ``schema`` is the current one, as after ``USE``: ``retail``, or ``lake.retail``;
        ``variables`` are values of variables in names: with ``{"db": "prod"}``, ``${db}.t`` is
        ``prod.t``, here and in all texts that do not set ``db``. Raises CatalogError for a file
        that is missing, unreadable or malformed.
        """
        return cls.of(load(paths, schema=schema, variables=variables))

    @classmethod
    def from_ddl(cls, text: str, *, schema: str | None = None) -> Catalog:
        """The catalog of the definitions in a text: CREATE TABLE, CREATE VIEW, USE, …

        ``schema`` is the current one before them. Raises CatalogError where none of the definitions
        can be read; ``left_out`` lists those that cannot.
        """
        start = Warehouse().use(schema)
        catalog = read_ddl(text, "<ddl>", start)
        if catalog.left_out and not catalog.relations:
            raise CatalogError(f"{catalog.left_out[0].where}: {catalog.left_out[0].why}")
        return cls.of(replace(catalog, namespace=start.namespace))

    @classmethod
    def seen(
        cls,
        *files: str,
        schema: str | None = None,
        variables: Mapping[str, str] | VariableValues = (),
    ) -> Catalog:
        """The catalog that follows from files of SQL alone: the tables that they create, and the
        tables that they write into, with the partition columns alone and without types.

        A file that cannot be read is passed over.
        """
        from sqlrewrite.catalog.infer import infer

        start = Warehouse(variables=dict(variables)).use(schema)
        return cls.of(infer(files, start)[0])

    def deriving(self, derived: Mapping[str, Mapping[str, str]]) -> Catalog:
        """This catalog with derived columns, by the names of table and column: ``{"logs.events":
        {"dt": "date_format(ts, 'yyyy-MM-dd')"}}``.

        Raises CatalogError for an invalid table name, and for a column that the table lacks.
        """
        return declaring(self, derived)

    @classmethod
    def of(cls, warehouse: Warehouse) -> Catalog:
        """A warehouse with the ways to read one."""
        return cls(*(getattr(warehouse, field.name) for field in fields(Warehouse) if field.init))
