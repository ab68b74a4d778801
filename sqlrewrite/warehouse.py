"""The known warehouse: its tables, views, types, partitioning and statistics.

The readers in ``catalog/`` make a ``Warehouse``; the binder asks it for relations by name.
Everything is frozen: a statement that creates or drops a relation yields a new one
(``with_relation``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.relation_maps import Name as Name
from sqlrewrite.relation_maps import PersistentMap, Relations

if TYPE_CHECKING:
    from typing import Self

Reference = tuple[str, ...]
"""A reference in a template: ``("ref", "sales")``, ``("source", "raw", "sales")``."""

THIS: Reference = ("this",)
"""The reference of ``{{ this }}``, the table of the model that a text is."""

VARIABLE = "variable"
SET_VALUES = "values that the text sets"
"""The first part of a reference to a variable of the project, as ``ref`` is for a model of dbt."""

BoundValue = int | float | str
"""A value in a partition's bound: a number, or the text of a string or date."""

VariableValues = tuple[tuple[str, str], ...]
"""Variables, each with its value."""

DEFAULT_NAMESPACE: Name = ("spark_catalog", "default")


class CatalogError(Exception):
    """A catalog that cannot be read, or that contradicts itself; the message says where and why."""


class Column(Struct, frozen=True):
    """A column; ``type`` is Spark's, in lower case (``decimal(7,2)``), None if it is not known."""

    name: str
    type: str | None = None
    nullable: bool = True
    distinct_count: int | None = None


class PartitionField(Struct, frozen=True):
    """A column itself (``identity``), or a transform of it with its number, as bucket(16, id)."""

    column: str
    transform: str = "identity"
    number: int | None = None


class Buckets(Struct, frozen=True):
    """The buckets of a table of Spark's own: CLUSTERED BY (columns) INTO n BUCKETS."""

    columns: tuple[str, ...]
    count: int


class PartitionBound(Struct, frozen=True):
    """The rows of a partition of PostgreSQL: FOR VALUES IN (``values``, None is NULL), FROM
    (``low``) TO (``high``), WITH (MODULUS, REMAINDER) (``values``), or DEFAULT (``default``): the
    rows of no other partition. MINVALUE and MAXVALUE are the infinities."""

    values: tuple[BoundValue | None, ...] = ()
    low: tuple[BoundValue, ...] = ()
    high: tuple[BoundValue, ...] = ()
    default: bool = False


class Part(Struct, frozen=True):
    """A partition of PostgreSQL; ``below`` are its own partitions."""

    name: Name
    bound: PartitionBound
    below: Parts | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """How PostgreSQL partitions a table; a key that is an expression is empty. ``of``: the table of
    which this one is a partition itself, if it is one."""

    strategy: str
    keys: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    of: Name = field(default=(), compare=False)


class Derivation(Struct, frozen=True):
    """A column that is computed from others: in every row ``column <=> expression`` holds.

    ``sources`` are the columns in the expression, in lower case; ``origin`` says for people where
    this is declared: ``GENERATED ALWAYS AS``, ``the settings``, ``the snapshot``.
    """

    column: str
    expression: str
    sources: tuple[str, ...] = ()
    origin: str = "GENERATED ALWAYS AS"


TEMPORAL = "a temporal join reads it as of a time of each row"
"""The reason why the table of a temporal join is read as a stream."""


@dataclass(frozen=True, slots=True)
class Table:
    """A base table; sizes are bytes, counts are rows, None is not known.

    If ``columns`` is not ``complete``, the table has more, and ``names`` (lower case) is empty.
    Its rows are sorted or clustered by ``clustered_by``: an error there costs time, never a row.
    ``unsteady`` is why it is ``streaming``, or why two scans may give different rows.
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
    clustered_by: tuple[str, ...] = ()
    derived: tuple[Derivation, ...] = ()
    buckets: Buckets | None = None
    parts: Parts | None = None
    unsteady: str = ""
    names: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        listed = self.columns if self.complete else ()
        object.__setattr__(self, "names", tuple(column.name.lower() for column in listed))

    @property
    def identities(self) -> tuple[str, ...]:
        """The partition columns that are not transformed, in lower case."""
        return tuple(
            field.column.lower() for field in self.partitioned_by if field.transform == "identity"
        )

    @property
    def partitioning(self) -> frozenset[str]:
        """All columns that it is partitioned by, also through a transform, in lower case."""
        return frozenset(field.column.lower() for field in self.partitioned_by)

    @property
    def laid_out(self) -> bool:
        """Whether a row's columns decide in which part of the table it is stored."""
        return bool(self.partitioned_by or self.clustered_by or self.buckets or self.parts)

    @property
    def prunable(self) -> bool:
        """Whether it has partitions to prune."""
        return self.laid_out

    @property
    def query(self) -> str:
        """Always empty: only a view has a query."""
        return ""

    def column(self, name: str) -> Column | None:
        """The column of that name, compared without case, or None."""
        lowered = name.lower()
        if not self.complete:
            return next((c for c in self.columns if c.name.lower() == lowered), None)
        return self.columns[self.names.index(lowered)] if lowered in self.names else None


_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORD = re.compile(r"(?<![\w.])\w+(?!\w|\s*\()")


def derivation(column: str, expression: str, origin: str, columns: Iterable[str]) -> Derivation:
    """The derivation of a column in a table with these columns."""
    words = {word.lower() for word in _WORD.findall(_QUOTED.sub("''", expression))}
    sources = tuple(name.lower() for name in columns if name.lower() in words)
    return Derivation(column, " ".join(expression.split()), sources, origin)


class View(Struct, frozen=True):
    """A view: the text of its query, which is bound again for each reference; empty if unknown.

    ``columns`` are the names in its declaration, empty if the query names them. ``temporaries`` are
    the temporary views that its query may read: those that existed when it was made.
    """

    name: Name
    query: str
    columns: tuple[str, ...] = ()
    namespace: Name = DEFAULT_NAMESPACE
    source: str = ""
    temporaries: tuple[Name, ...] = ()

    @property
    def prunable(self) -> bool:
        """Whether the tables that it reads may have partitions to prune."""
        return True


TableOrView = Table | View


class LeftOut(Struct, frozen=True):
    """A part of a catalog's files that could not be read: where (``file:line:column``), and why."""

    where: str
    why: str


class DbtModel(Struct, frozen=True):
    """A model that dbt builds incrementally into a ``table``: its configuration outside of its own
    file, and the files with that (``elsewhere``); ``adapter`` is None if unknown."""

    table: Name
    config: Mapping[str, object]
    adapter: str | None
    elsewhere: str


@dataclass(frozen=True, slots=True)
class Warehouse:
    """All known relations by qualified name, and the namespace of short names.

    Names of one part are those of temporary views, which come before tables.

    - ``forgotten``, ``hidden``: tables and views, and temporary views, of which nothing is known
      any more, not even whether they exist
    - ``references``: the names that dbt's ``ref`` and ``source`` mean
    - ``models``, ``files``: dbt's incremental models, and the names of all its models, each by the
      path of its file from the project's folder on; ``this``: the name of the text's own model
    - ``declared``: the derived columns of the settings, by table
    - ``variables``: the values that the project gives to variables in names
    - ``settings``: the known settings of the sessions; ``reset_settings``: those after a RESET
    - ``open_names``: names with a template that a text has made or dropped
    - ``zone_set``: whether the text sets another time zone
    - ``streaming``: whether the mode that the text sets for Flink is another than batch; None if
      it sets none
    - ``schema_named``: whether the text has named its schema, so that no other is meant
    """

    relations: Relations[TableOrView] = field(default_factory=Relations)
    namespace: Name = DEFAULT_NAMESPACE
    sources: tuple[str, ...] = ()
    references: Mapping[Reference, Name] = field(default_factory=dict)
    forgotten: PersistentMap[Name, bool] = field(default_factory=PersistentMap, compare=False)
    hidden: PersistentMap[Name, bool] = field(default_factory=PersistentMap, compare=False)
    left_out: tuple[LeftOut, ...] = field(default=(), compare=False)
    declared: Mapping[Name, Mapping[str, str]] = field(default_factory=dict)
    zone_set: bool = False
    streaming: bool | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    set_values: Mapping[str, Name] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    reset_settings: Mapping[str, str] | None = None
    open_names: tuple[Name, ...] = ()
    schema_named: bool = False
    models: Mapping[str, DbtModel] = field(default_factory=dict)
    files: Mapping[str, Name] = field(default_factory=dict)
    this: Name | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The relations that are tables."""
        return tuple(
            relation for relation in self.relations.values() if isinstance(relation, Table)
        )

    @property
    def takes_subqueries(self) -> bool:
        """Whether it has a table whose DELETE and UPDATE accept subqueries in conditions."""
        return any(table.provider == "iceberg" for table in self.tables)

    def qualify(self, parts: Name) -> Name:
        """A name as written, completed with the current catalog and schema as Spark does."""
        parts = tuple(part.lower() for part in parts)
        if len(parts) == 1:
            return (*self.namespace, *parts)
        if len(parts) == 2 and parts not in self.relations:
            return (self.namespace[0], *parts)
        return parts

    def resolve(self, parts: Name) -> TableOrView | None:
        """The relation that a name as written means here, or None.

        A temporary view comes first. If nothing has the qualified name, it is the only relation
        with the same last part, provided that the other parts may be the same. A schema that is a
        template (``${db}.t``), or that nobody has named, may be any schema, unless it has relations
        of its own here.
        """
        if self.open_names and self._may_be_open(tuple(part.lower() for part in parts)):
            return None
        temporary, name = temporary_name(parts), self.qualify(written_apart(parts))
        relation = self.relations.get(name)
        if temporary in self.relations:  # before Spark 4.3 `session.d` is a table's name alone
            return self.relations[temporary] if len(parts) == 1 or relation is None else None
        if temporary and self.may_hide(temporary):
            return None
        last = name[-1:]
        if (last in self.relations or last in self.hidden) and may_be_temporary(parts):
            return None
        if relation is not None or name in self.forgotten:
            return relation
        named = len(written_apart(parts)) > 1
        others = self.relations.named(name[-1])
        if len(others) != 1 or (temporary if named else self.schema_named):
            return None
        (other,) = others
        same = _may_be(name, other, self.relations, named=named)
        return self.relations[other] if same else None

    def _may_be_open(self, parts: Name) -> bool:
        """Whether a name as written may be one of the ``open_names``."""
        schema = () if temporary_name(parts) else parts[:-1]
        return any(
            opened[:-1] == schema
            and opened[-1] != parts[-1]
            and may_render_to(opened[-1], parts[-1])
            for opened in self.open_names
        )

    def may_hide(self, temporary: Name) -> bool:
        """Whether an unknown temporary view may have this name."""
        return temporary in self.hidden or self._may_be_open(temporary)

    def within(self, view: View) -> Self:
        """This catalog for the query of a view: with the view's namespace and temporary views."""
        unsure = ANY_NAME in view.temporaries
        seen = () if unsure else view.temporaries
        kept = self.any_temporary() if unsure else self
        return replace(
            kept,
            relations=kept.relations.with_temporaries(seen),
            hidden=PersistentMap({name: True for name in seen if name in kept.hidden}),
            namespace=view.namespace,
            schema_named=self.schema_named and view.namespace != DEFAULT_NAMESPACE,
        )

    def refer(self, reference: Reference) -> Name | None:
        """The name that a template's reference stands for: of a variable its value, else the name
        in a manifest or project. Without these, the only relation with this last name (of a source,
        in the schema with the source's name, or in one that may be any). None if unknown."""
        if reference[0] == VARIABLE:
            value = self.variables.get(reference[1])
            return None if value is None else (value,)
        if reference[0] == SET_VALUES:
            return self.set_values.get(reference[1])
        if reference == THIS:
            return self.this
        full_name = self.references.get(reference)
        if full_name is not None or self.references:
            return full_name
        last = reference[-1].lower()
        names = list(self.relations.named(last))
        if reference[0] == "source":
            schema = reference[1].lower()
            exact = [name for name in names if name[-2] == schema]
            names = exact or [name for name in names if _any(name[-2])]
        return names[0] if len(names) == 1 else None

    def use(self, schema: str | None) -> Self:
        """This catalog with another current schema, if given; ``catalog.schema`` changes both."""
        if not schema:
            return self
        parts = tuple(part.strip("`").lower() for part in schema.split("."))
        return replace(self, namespace=parts if len(parts) > 1 else (self.namespace[0], *parts))

    def with_relation(self, relation: TableOrView) -> Self:
        """This catalog with one relation added or replaced."""
        if self.declared and isinstance(relation, Table):
            relation = _with_declared(relation, self.declared)
        return self._changed(relation.name, relation, unknown=False)

    def with_relations(self, relations: Mapping[Name, TableOrView]) -> Self:
        """This catalog with these relations in place of all that it has."""
        if self.declared:
            relations = {
                name: _with_declared(relation, self.declared)
                if isinstance(relation, Table)
                else relation
                for name, relation in relations.items()
            }
        return replace(self, relations=Relations(relations))

    def without(self, name: Name) -> Self:
        """This catalog without any knowledge of a name, not even whether it exists."""
        return self._changed(name, None, unknown=True)

    def uncovered(self, temporary: Name) -> Self:
        """This catalog without a temporary view: its name may mean a table again."""
        return self._changed(temporary, None, unknown=False)

    def _changed(self, name: Name, relation: TableOrView | None, *, unknown: bool) -> Self:
        relations = self.relations.changed(name, relation)
        temporary = len(name) == 1
        names = self.hidden if temporary else self.forgotten
        names = names.with_item(name, True) if unknown else names.without(name)
        return replace(
            self,
            relations=relations,
            hidden=names if temporary else self.hidden,
            forgotten=self.forgotten if temporary else names,
        )

    def any_temporary(self) -> Self:
        """This catalog after a temporary view of an unknown name was made, renamed or dropped."""
        relations = self.relations.with_temporaries(())
        return replace(self, relations=relations, open_names=(*self.open_names, ANY_NAME))

    def temporaries(self, words: Iterable[str]) -> tuple[Name, ...]:
        """The temporary views that a query of these words may mean; ANY_NAME where unsure."""
        names = [(word,) for word in words]
        unsure = any(name in self.hidden for name in names)
        views = sorted(name for name in names if name in self.relations)
        return (*((ANY_NAME,) if unsure else ()), *views)


GENERATED, DECLARED = "GENERATED ALWAYS AS", "the settings"
"""The origins of derivations: the table's definition, or the settings."""


def _with_declared(table: Table, declared: Mapping[Name, Mapping[str, str]]) -> Table:
    """The table with declared derived columns, which replace those in its definition."""
    names = table.names or tuple(column.name.lower() for column in table.columns)
    for start in reversed(range(len(table.name))):
        columns = declared.get(table.name[start:], {})
        ours = tuple(derivation(column, text, DECLARED, names) for column, text in columns.items())
        replaced = {derived.column.lower() for derived in ours}
        theirs = (derived for derived in table.derived if derived.column.lower() not in replaced)
        if ours:
            table = replace(table, derived=(*theirs, *ours))
    return table


ANY_NAME: Name = ("${}",)
"""One of the ``open_names``: a name of which nothing is known."""

_OF_TEMPORARY = frozenset({(), ("session",), ("system", "session")})
"""The qualifiers that the name of a temporary view may have."""


def temporary_name(parts: Name) -> Name:
    """The name of the temporary view that a name as written may mean; empty if none."""
    parts = tuple(part.lower() for part in parts)
    return parts[-1:] if parts[:-1] in _OF_TEMPORARY else ()


def may_be_temporary(parts: Name) -> bool:
    """Whether a name may be that of a temporary view, whatever the templates in its schema are."""
    return any(
        len(schema) == len(parts) - 1 and all(map(may_render_to, parts, schema))
        for schema in _OF_TEMPORARY
    )


def written_apart(parts: Name) -> Name:
    """The parts of a name, also of one quoted as a whole, as Hive does: `` `dw.orders` ``."""
    return tuple(parts[0].split(".")) if len(parts) == 1 and "." in parts[0] else parts


_DEFAULT, _GLOBAL = DEFAULT_NAMESPACE[-1], "global_temp"
_TEMPLATE_SIGNS = ("$", "{", "}", "@", "#", "&", "%")


def _may_be(name: Name, other: Name, relations: Relations[TableOrView], *, named: bool) -> bool:
    """Whether a qualified name may be that of a relation with the same last part: each other part
    is equal, or one of the two may be any. A name of two parts has no catalog. If the text has
    ``named`` its schema, that schema is certain if it is the default one or has ``relations``."""
    one, two = name[-2], other[-2]
    if _GLOBAL in (one, two):
        return False
    if (
        one != two
        and named
        and not has_template(one)
        and (one == _DEFAULT or relations.has_schema(one))
    ):
        return False
    pairs = zip(reversed(name[:-1]), reversed(other[:-1]), strict=False)
    return all(one == two or _any(one) or _any(two) for one, two in pairs)


def _any(part: str) -> bool:
    """Whether a schema or catalog may be any: it is the default one, or has a template."""
    return part in DEFAULT_NAMESPACE or has_template(part)


def has_template(part: str) -> bool:
    """Whether a part of a name holds a template, whose value is not known here."""
    return any(sign in part for sign in _TEMPLATE_SIGNS)


_VARIABLE = re.compile(r"\{\{.*?\}\}|[$#]?\{[^{}]*\}|\$\w+|@\w+@?|%\(\w+\)s|&&?\w+", re.DOTALL)


def may_render_to(written: str, name: str) -> bool:
    """Whether a name with templates becomes this name for some values of them."""
    first, *between = _VARIABLE.split(written)
    if any(has_template(part) for part in (first, *between)):
        return True  # a template that is cut, or of a kind that is not known
    if not between:
        return first == name
    last, at = between.pop(), len(first)
    if not name.startswith(first):
        return False
    for part in between:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return name.endswith(last) and at + len(last) <= len(name)


_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
_PLAIN = re.compile(r"[^\W\d]\w*")


def quoted_name(name: Name) -> str:
    """A name as text, with backquotes around the parts that need them."""
    return ".".join(part if _PLAIN.fullmatch(part) else quoted(part) for part in name)


def quoted(part: str) -> str:
    """A part of a name in backquotes."""
    return "`" + part.replace("`", "``") + "`"


def literal_name(name: Name) -> str:
    """A name as SQL, each part in backquotes."""
    return ".".join(map(quoted, name))


def parsed_name(text: str) -> Name | None:
    """The name in a text as ``quoted_name`` writes it, in lower case; None if it is no name."""
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
