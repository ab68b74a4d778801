"""What is known of the warehouse: tables, views, types, partitioning and statistics.

The readers in ``catalog/`` make a ``Warehouse``; the binder asks it for relations by name.
Everything is frozen: a statement that creates or drops a relation yields a new one
(``with_relation``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from sqlrewrite.frozen import dataclass

if TYPE_CHECKING:
    from typing import Self

Name = tuple[str, ...]
"""A qualified name, catalog first, lower case: ``("spark_catalog", "default", "sales")``."""

Reference = tuple[str, ...]
"""What a template says in place of a name: ``("ref", "sales")``, ``("source", "raw", "sales")``."""

DEFAULT_NAMESPACE: Name = ("spark_catalog", "default")


class CatalogError(Exception):
    """A catalog that cannot be read, or that contradicts itself; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its Spark type in lower case (``decimal(7,2)``), or None where it is not known."""

    name: str
    type: str | None = None
    nullable: bool = True
    distinct_count: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One partition field: a column itself (``identity``), or a transform of it (``days``)."""

    column: str
    transform: str = "identity"


@dataclass(frozen=True, slots=True)
class Table:
    """A base table; sizes are bytes, counts are rows, None is not known.

    Where ``columns`` are not ``complete``, they are some of those it has: good for their types, and
    for nothing that needs to know which columns there are. ``names`` are those of all its columns
    in lower case, empty where these are not known.
    """

    name: Name
    columns: tuple[Column, ...] = ()
    partitioned_by: tuple[PartitionField, ...] = ()
    primary_key: tuple[str, ...] = ()
    streaming: bool = False
    provider: str | None = None
    size_in_bytes: int | None = None
    row_count: int | None = None
    partition_count: int | None = None
    source: str = ""
    complete: bool = True
    names: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        known = self.columns if self.complete else ()
        object.__setattr__(self, "names", tuple(column.name.lower() for column in known))

    def column(self, name: str) -> Column | None:
        """The column of that name, compared without case, or None."""
        wanted = name.lower()
        if not self.complete:
            return next((c for c in self.columns if c.name.lower() == wanted), None)
        return self.columns[self.names.index(wanted)] if wanted in self.names else None


@dataclass(frozen=True, slots=True)
class View:
    """A view: the text of its query, bound anew wherever it is referenced.

    ``columns`` are the names in its declaration, empty where the query names them.
    """

    name: Name
    query: str
    columns: tuple[str, ...] = ()
    namespace: Name = DEFAULT_NAMESPACE
    source: str = ""


Relation = Table | View


@dataclass(frozen=True, slots=True)
class Warehouse:
    """All known relations by qualified name, and the namespace of short names.

    ``references`` are the names that dbt writes for its ``ref`` and ``source``, ``prunable`` the
    last names of all partitioned tables, and of the views, which may hide one.
    """

    relations: Mapping[Name, Relation] = field(default_factory=dict)
    namespace: Name = DEFAULT_NAMESPACE
    sources: tuple[str, ...] = ()
    references: Mapping[Reference, Name] = field(default_factory=dict)
    prunable: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = frozenset(
            relation.name[-1].lower()
            for relation in self.relations.values()
            if isinstance(relation, View) or relation.partitioned_by
        )
        object.__setattr__(self, "prunable", names)

    def qualify(self, parts: Name) -> Name:
        """A name as written, completed as Spark does: one part in the current schema, two in the
        current catalog unless the first names a catalog."""
        parts = tuple(part.lower() for part in parts)
        if len(parts) == 1:
            return (*self.namespace, *parts)
        if len(parts) == 2 and parts not in self._two_part_names():
            return (self.namespace[0], *parts)
        return parts

    def resolve(self, parts: Name) -> Relation | None:
        """The relation that a name as written means here, or None."""
        return self.relations.get(self.qualify(parts))

    def refer(self, reference: Reference) -> Name | None:
        """The name that a reference in a template stands for: a manifest's, else that of the only
        relation whose last name it is; None where there is none, or more than one."""
        known = self.references.get(reference)
        if known is not None:
            return known
        last = reference[-1].lower()
        found = [name for name in self.relations if name[-1] == last and len(name) > 1]
        return found[0] if len(found) == 1 else None

    def use(self, schema: str) -> Self:
        """This catalog with another current schema; ``catalog.schema`` changes both."""
        parts = tuple(part.strip("`").lower() for part in schema.split("."))
        return replace(self, namespace=parts if len(parts) > 1 else (self.namespace[0], *parts))

    def with_relation(self, relation: Relation) -> Self:
        """This catalog with one relation added or replaced."""
        return replace(self, relations={**self.relations, relation.name: relation})

    def without(self, name: Name) -> Self:
        """This catalog without the relation of that qualified name, if it was there."""
        kept = {key: value for key, value in self.relations.items() if key != name}
        return replace(self, relations=kept)

    def _two_part_names(self) -> set[Name]:
        return {name for name in self.relations if len(name) == 2}
