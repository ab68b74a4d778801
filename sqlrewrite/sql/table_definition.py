"""A CREATE TABLE's tokens to a ``warehouse.Table``: columns, types, keys, partitioning, numbers.

What says nothing of these is passed over, whatever engine it is of. What says something and is not
understood is left unknown: a type becomes None, a partition expression the transform ``unknown``,
and a table whose columns are a query's, a template's, or another's that is not known has none, or
is not ``complete``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.sql.definition_tokens import Cursor
from sqlrewrite.warehouse import (
    GENERATED,
    Column,
    Name,
    PartitionField,
    Table,
    Warehouse,
    derivation,
)

_STREAMING = "dpp.streaming"
_SOME = "dpp.columns"  # 'some': there are others, which nobody has listed
_STATISTICS = "spark.sql.statistics."
_COLUMN_STATISTICS = "spark.sql.statistics.colstats."
_DISTINCT_COUNT = ".distinctcount"

# What Spark keeps in its own session catalog with the partition columns moved behind the others
# (PreprocessTableCreation); Delta and Iceberg keep the order of the declaration.
_PARTITIONS_LAST = frozenset({None, "hive", "parquet", "orc", "csv", "json", "text", "avro"})
_SESSION_CATALOG = "spark_catalog"

# Iceberg's transforms and their older spellings.
_TRANSFORMS = {
    "identity": "identity",
    "year": "years",
    "years": "years",
    "month": "months",
    "months": "months",
    "day": "days",
    "days": "days",
    "date": "days",
    "hour": "hours",
    "hours": "hours",
    "date_hour": "hours",
    "bucket": "bucket",
    "truncate": "truncate",
}
_UNKNOWN = "unknown"

# What may follow a column's type: Spark's, Delta's and Hive's, and those of MySQL and Redshift.
_BEHIND_TYPE = frozenset(
    """
    after as auto_increment by check comment constraint default disable distkey enable encode
    enforced first foreign generated key mask masking nologging norely not null on options position
    primary references rely sortkey tags unique validate with
    """.split()
)
_CONSTRAINTS = frozenset({"primary", "foreign", "unique", "check", "not"})
_INDEXES = frozenset({"key", "index"})
_OTHER_SPELLINGS = {"double precision": "double"}
_TEMPLATE = re.compile(r"\{\{|\{%|\$\{")


@dataclass(slots=True)
class Definition:
    """What the clauses of a CREATE TABLE or VIEW say, as they are met. ``query`` is the index of
    the first token of its query; ``unread`` says why it cannot be read, if it cannot."""

    columns: tuple[Column, ...] = ()
    generated: tuple[tuple[str, str], ...] = ()
    listed: bool = False
    complete: bool = True
    key: tuple[str, ...] = ()
    partitions: tuple[Cursor, ...] = ()
    clustered: tuple[str, ...] = ()
    provider: str | None = None
    hive: bool = False
    collation: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    model: Name = ()
    query: int | None = None
    unread: str | None = None


def read(at: Cursor) -> Definition:
    """What is said behind the name of a table or view, to the end or up to its query."""
    found = Definition()
    if at.endless:
        found.unread = "a quote or comment without its end"
    while not at.done and found.query is None and found.unread is None:
        before = at.at
        for words, clause in _CLAUSES:
            if at.take(*words):
                clause(found, at)
                break
        else:
            _other(found, at)
        assert at.at > before or found.query is not None or found.unread is not None
    return found


def created_table(
    said: Definition, parts: Name, catalog: Warehouse, source: str, *, streaming: bool = False
) -> Table:
    """The table that a definition makes, under the name given. Raises nothing."""
    relation = catalog.resolve(said.model) if said.model else None
    model = relation if isinstance(relation, Table) else None
    provider = said.provider or ("hive" if said.hive else None)
    provider = provider or (model.provider if model is not None else None)
    columns = said.columns
    fields: list[PartitionField] = []
    if model is not None and not columns:
        known = model.columns if model.complete else ()
        columns = tuple(replace(column, distinct_count=None) for column in known)
        fields = list(model.partitioned_by)
    declared = columns if said.complete else ()
    for item in said.partitions:
        typed = _partition_column(item)
        if typed is not None:
            if not find(columns, typed.name):
                columns = (*columns, typed)
            fields.append(PartitionField(typed.name))
        else:
            fields.append(partition_field(item, declared))
    sorts = said.clustered or sorted_by(said.settings.get("sort-order", ""))
    columns = tuple(_collated(column, said.collation) for column in _keyed(columns, said.key))
    names = [column.name for column in columns]
    table = Table(
        name=parts,
        columns=tuple(_with_statistics(column, said.settings) for column in columns),
        partitioned_by=tuple(fields),
        primary_key=tuple(found.name for name in said.key if (found := find(columns, name))),
        streaming=streaming or said.settings.get(_STREAMING, "false") != "false",
        provider=provider,
        size_in_bytes=_number(said.settings.get(_STATISTICS + "totalsize")),
        row_count=_number(said.settings.get(_STATISTICS + "numrows")),
        source=source,
        # Of a table whose columns are a query's or in a file, its partition columns are a part.
        complete=said.complete
        and (said.listed or model is not None or not columns)
        and said.settings.get(_SOME) != "some",
        clustered_by=sorts,
        derived=tuple(derivation(it, text, GENERATED, names) for it, text in said.generated),
    )
    if provider != _UNKNOWN:
        return ordered(table, catalog)
    moved = ordered(replace(table, provider=None), catalog).columns != table.columns
    return replace(table, complete=False) if moved else table


def ordered(table: Table, catalog: Warehouse) -> Table:
    """The table with its columns in the order of ``SELECT *``."""
    if catalog.qualify(table.name)[0] != _SESSION_CATALOG or table.provider not in _PARTITIONS_LAST:
        return table
    fields = [each for each in table.partitioned_by if each.transform == "identity"]
    last = [each.column.lower() for each in fields]
    behind = [column for name in last if (column := find(table.columns, name)) is not None]
    before = [column for column in table.columns if column.name.lower() not in last]
    return replace(table, columns=(*before, *behind))


# --- clauses --------------------------------------------------------------------------------------


def _other(found: Definition, at: Cursor) -> None:
    """A query, the columns, or a clause that says nothing of what is asked: stepped over."""
    word, following = at.word, at.word_at(at.at + 1)
    if word in ("select", "values", "from", "table") or (word == "with" and _is_name(at)):
        found.query = at.at
    elif at.opens:
        inner = at.group()
        if inner is None:
            found.unread = "a parenthesis is not closed"
        elif inner.word in ("select", "with", "from") and not found.listed:
            found.query = inner.at - 1
        elif not found.listed:
            _columns(found, inner)
    elif word == "as":
        at.at += 1
        found.query = None if at.done else at.at
    elif word == "with" and following == "(":
        at.at += 1
        _settings(found, at)
    else:
        at.at += 1


def _is_name(at: Cursor) -> bool:
    """Whether the WITH here opens a query, and no properties: ``WITH q AS (``."""
    ahead = at.between(at.at + 1, at.end)
    if ahead.follow("schema") or ahead.follow("row", "filter") or not ahead.name():
        return False
    if ahead.opens:
        ahead.group()
    return ahead.follow("as") and ahead.word_at(ahead.at + 1) in ("(", "materialized", "not")


def _columns(found: Definition, inner: Cursor) -> None:
    """The declared columns, and the primary key."""
    columns: list[Column] = []
    key: list[str] = []
    generated: list[tuple[str, str]] = []
    for item in inner.items():
        expression = generated_as(item)
        if item.take("like"):
            found.model = item.name()
        elif _is_constraint(item):
            key += _table_key(item)
        elif _TEMPLATE.match(item.rest()) or not (column := read_column(item)):
            found.complete = False
        else:
            columns.append(column[0])
            key += [column[0].name] if column[1] else []
            generated += [(column[0].name, expression)] if expression else []
    found.listed, found.generated = True, tuple(generated)
    found.columns, found.key = tuple(columns), (*found.key, *key)


def generated_as(item: Cursor) -> str:
    """The expression of ``name type … GENERATED ALWAYS AS (expression) …``; empty where there is
    none, as of an identity column."""
    ahead = item.between(item.at, item.end)
    while not ahead.done:
        if ahead.take("generated", "always", "as"):
            inner = ahead.group()
            return inner.rest() if inner is not None else ""
        if ahead.group() is None:
            ahead.at += 1
    return ""


def _is_constraint(item: Cursor) -> bool:
    """Whether an item declares no column. Each of the words may be a column's name as well:
    ``key VARCHAR(20)`` is one, ``KEY by_name (name)`` is none."""
    ahead = item.between(item.at + 1, item.end)
    if item.follow("primary", "key") or item.follow("foreign", "key"):
        return True
    match item.word:
        case "constraint":
            return bool(ahead.part()) and ahead.word.partition(" ")[0] in _CONSTRAINTS
        case "unique" | "check" | "fulltext" | "spatial":
            return ahead.opens or ahead.word in _INDEXES
        case "key" | "index":
            named = not ahead.opens and spark_type(ahead.rest().split(")")[0] + ")") is None
            return ahead.opens or (named and bool(ahead.part()) and ahead.opens)
    return False


def _table_key(item: Cursor) -> list[str]:
    """The columns of a table-level PRIMARY KEY, unless it says not to rely on it."""
    while not item.done and not item.take("primary", "key"):
        item.at += 1
    inner = item.group()
    if inner is None or "norely" in _bare_words(item):
        return []
    return [part for each in inner.items() if (part := each.part())]


def read_column(item: Cursor) -> tuple[Column, bool] | None:
    """A column's declaration, and whether it is the primary key alone; None for what is none."""
    name = item.part()
    if not name:
        return None
    item.take(":")
    kind = _type(item)
    words = _bare_words(item)
    pairs = set(pairwise(words))
    key = ("primary", "key") in pairs
    return Column(name, kind, not key and ("not", "null") not in pairs), key


def _type(item: Cursor) -> str | None:
    """The type that stands here, stepped over."""
    start, depth = item.at, 0
    while not item.done and (depth or item.word.partition(" ")[0] not in _BEHIND_TYPE):
        if item.opens and item.group() is not None:
            continue
        depth += (item.word == "<") - (item.word == ">")
        item.at += 1
    return spark_type(item.slice(start, item.at))


def _bare_words(item: Cursor) -> list[str]:
    """The words behind a column's type outside of parentheses."""
    found: list[str] = []
    while not item.done:
        if item.opens and item.group() is not None:
            continue
        found += item.word.split()
        item.at += 1
    return found


def spark_type(text: str) -> str | None:
    """A type as Spark writes it, lower case and without blanks; None where it is not Spark's."""
    plain = " ".join(text.lower().split())
    kind = parse(_OTHER_SPELLINGS.get(plain, text))
    if kind is None or plain in ("timestamp_ltz", "timestamp_ntz"):
        return plain if kind is not None else None
    return kind.ddl.lower().replace(" collate utf8_binary", "")


def _using(found: Definition, at: Cursor) -> None:
    name = ".".join(at.name())
    found.provider = _UNKNOWN if _TEMPLATE.match(name) else name or None


def _stored(found: Definition, at: Cursor) -> None:
    """STORED AS, STORED BY and ROW FORMAT make a Hive table; STORED BY ICEBERG one of Iceberg's."""
    found.hive = True
    if at.take("iceberg"):
        found.provider = "iceberg"
    elif at.take("inputformat"):
        at.string()


def _partitioned(found: Definition, at: Cursor) -> None:
    inner = at.group()
    if inner is not None:
        found.partitions = tuple(inner.items())
    elif at.opens:
        found.unread = "a parenthesis is not closed"


def _like(found: Definition, at: Cursor) -> None:
    found.model = at.name()


def _clone(found: Definition, at: Cursor) -> None:
    """A clone has the columns of today's table, unless it is of another version of it."""
    name = at.name()
    other = at.follow("version", "as") or at.follow("timestamp", "as") or at.follow("for")
    found.model = () if other else name


def _collated_by(found: Definition, at: Cursor) -> None:
    found.collation = at.part() or _UNKNOWN


def _settings(found: Definition, at: Cursor) -> None:
    """Keys (lower case) and values of TBLPROPERTIES, OPTIONS and a Presto table's WITH."""
    inner = at.group()
    for item in inner.items() if inner is not None else ():
        key = item.string()
        if key is None:
            key = ".".join(item.name())
        item.take("=")
        value = item.string()
        if value is None and key == "partitioned_by" and item.take("array"):
            found.partitions = _array(item)
        found.settings[key.lower()] = (value if value is not None else item.rest()).lower()


def _array(item: Cursor) -> tuple[Cursor, ...]:
    """The names in ``ARRAY['a', 'b']``."""
    strings = (n for n in range(item.at, item.end) if item.tokens[n].text not in ("[", "]", ","))
    return tuple(item.between(n, n + 1) for n in strings)


def _quoted(found: Definition, at: Cursor) -> None:
    """A clause whose value is a string, which may be anything."""
    at.string()


def _grouped(found: Definition, at: Cursor) -> None:
    """A clause whose names in parentheses are no columns of the list."""
    if at.opens and at.group() is None:
        found.unread = "a parenthesis is not closed"


def _clustered(found: Definition, at: Cursor) -> None:
    """CLUSTER BY of Delta's liquid clustering, after which files hold narrow ranges of each."""
    found.clustered = named(at)
    if at.opens:
        found.unread = "a parenthesis is not closed"


def _sorted(found: Definition, at: Cursor) -> None:
    """SORTED BY of a bucketed table: within a bucket by the first, by the others only in ties."""
    found.clustered = named(at)[:1]
    if at.opens:
        found.unread = "a parenthesis is not closed"


def named(at: Cursor) -> tuple[str, ...]:
    """The columns in parentheses that stand next, in lower case; none where they are not closed."""
    inner = at.group() if at.opens else None
    return tuple(item.part().lower() for item in inner.items()) if inner is not None else ()


def sorted_by(order: str) -> tuple[str, ...]:
    """The first column of an order as Iceberg tells it: ``cust ASC NULLS FIRST, id DESC …``."""
    match = _SORT_ORDER.match(order.strip())
    return (match[1].lower(),) if match else ()


_SORT_ORDER = re.compile(r"`?(\w+)`?\s+(?:asc|desc)\b", re.IGNORECASE)

_Clause = Callable[[Definition, Cursor], None]
_CLAUSES: tuple[tuple[tuple[str, ...], _Clause], ...] = (
    (("using",), _using),
    (("stored", "as"), _stored),
    (("stored", "by"), _stored),
    (("row", "format"), _stored),
    (("partitioned", "by", "spec"), _partitioned),
    (("partitioned", "by"), _partitioned),
    (("partitioned", "on"), _partitioned),
    (("like",), _like),
    (("shallow", "clone"), _clone),
    (("deep", "clone"), _clone),
    (("clone",), _clone),
    (("tblproperties",), _settings),
    (("options",), _settings),
    (("with", "serdeproperties"), _grouped),
    (("with", "dbproperties"), _grouped),
    (("default", "collation"), _collated_by),
    (("comment",), _quoted),
    (("location",), _quoted),
    (("clustered", "by"), _grouped),
    (("sorted", "by"), _sorted),
    (("cluster", "by"), _clustered),
    (("skewed", "by"), _grouped),
    (("on",), _grouped),
    (("order", "by"), _grouped),
    (("sort", "by"), _grouped),
)


# --- partitioning ---------------------------------------------------------------------------------


def _partition_column(item: Cursor) -> Column | None:
    """The column that a partition declares, ``dt DATE``; None for a name or an expression."""
    ahead = item.between(item.at, item.end)
    name = ahead.part()
    if not name or ahead.done or ahead.opens or ahead.tokens[ahead.at].text == ".":
        return None
    column = read_column(item.between(item.at, item.end))
    return column[0] if column is not None else None


def partition_field(item: Cursor, columns: Sequence[Column]) -> PartitionField:
    """A column itself, or a transform of one column; anything else is ``unknown``."""
    written, called = item.rest(), item.part()
    if item.done and called:
        return _field_of(called, "identity", columns)
    names = list(_names(item))
    transform = _TRANSFORMS.get(called.lower()) if item.opens else None
    inner = item.group() if item.opens else None
    if inner is None or transform is None or not item.done or len(names) != 1:
        return PartitionField(names[0] if inner and len(names) == 1 else written, _UNKNOWN)
    return _field_of(names[0], transform, columns)


def _names(item: Cursor) -> Iterator[str]:
    """The columns among the arguments of a transform, numbers left out."""
    inner = item.between(item.at, item.end).group()
    for each in inner.items() if inner is not None else ():
        name = ".".join(part for part in [each.part()] if part)
        if not name.isdigit() and each.done:
            yield name
        elif not each.done:
            yield from ("", "")  # an expression: not one column


def _field_of(name: str, transform: str, columns: Sequence[Column]) -> PartitionField:
    """The field in the declared column's spelling; a column that is not declared is not known."""
    column = find(columns, name)
    if column is not None:
        return PartitionField(column.name, transform)
    return PartitionField(name, _UNKNOWN if columns else transform)


def find(columns: Sequence[Column], name: str) -> Column | None:
    """The column of that name, compared without case, or None."""
    return next((column for column in columns if column.name.lower() == name.lower()), None)


# --- what is known of all columns -----------------------------------------------------------------


def _keyed(columns: Sequence[Column], key: Sequence[str]) -> tuple[Column, ...]:
    """The columns, those of the primary key NOT NULL."""
    names = {name.lower() for name in key}
    return tuple(replace(c, nullable=False) if c.name.lower() in names else c for c in columns)


def _collated(column: Column, collation: str | None) -> Column:
    """The column with the table's own collation, which a string without one has."""
    if collation is None or collation.lower() == "utf8_binary" or column.type is None:
        return column
    if column.type == "string":
        return replace(column, type=spark_type(f"string collate {collation}"))
    kind = parse(column.type)
    plain = kind is not None and not kind.items and kind.name not in ("char", "varchar")
    return column if plain else replace(column, type=None)


# --- statistics, as Spark's metastore shows them


def _with_statistics(column: Column, settings: dict[str, str]) -> Column:
    key = f"{_COLUMN_STATISTICS}{column.name.lower()}{_DISTINCT_COUNT}"
    count = _number(settings.get(key))
    return column if count is None else replace(column, distinct_count=count)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
