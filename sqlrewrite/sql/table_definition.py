"""The tree of a CREATE TABLE to a ``Table``: columns, types, keys, partitioning, statistics.

What is not understood is left unknown: a type becomes None, a partition expression the transform
``unknown``, and a table whose columns are a query's or another's that is not known has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.expressions import DType

from sqlrewrite.warehouse import Column, Name, PartitionField, Table, Warehouse

_STREAMING = "dpp.streaming"
_STATISTICS = "spark.sql.statistics."
_COLUMN_STATISTICS = "spark.sql.statistics.colstats."
_DISTINCT_COUNT = ".distinctcount"

# What Spark keeps in its own session catalog with the partition columns moved behind the others
# (PreprocessTableCreation); Delta and Iceberg keep the order of the declaration.
_PARTITIONS_LAST = frozenset({None, "hive", "parquet", "orc", "csv", "json", "text", "avro"})
_SESSION_CATALOG = "spark_catalog"

_SIMPLE_TYPES = {
    DType.BOOLEAN: "boolean",
    DType.TINYINT: "tinyint",
    DType.SMALLINT: "smallint",
    DType.INT: "int",
    DType.BIGINT: "bigint",
    DType.FLOAT: "float",
    DType.DOUBLE: "double",
    DType.TEXT: "string",
    DType.BINARY: "binary",
    DType.DATE: "date",
    DType.TIMESTAMPTZ: "timestamp",  # what sqlglot makes of Spark's TIMESTAMP
    DType.TIMESTAMPLTZ: "timestamp_ltz",
    DType.TIMESTAMPNTZ: "timestamp_ntz",
    DType.VARIANT: "variant",
}
_SIZED_TYPES = {DType.CHAR: "char", DType.VARCHAR: "varchar"}
_DECIMAL_DEFAULTS = ("10", "0")

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


def created_table(tree: exp.Create, parts: Name, catalog: Warehouse, source: str) -> Table:
    """The table that a CREATE TABLE makes, under the name given. Raises nothing."""
    properties = _properties(tree)
    settings = dict(_settings(properties))
    model = _model(tree, properties, catalog)
    provider = _provider(properties) or (model.provider if model is not None else None)
    columns, key = _columns(tree)
    if model is not None:
        known = model.columns if model.complete else ()
        columns = tuple(replace(column, distinct_count=None) for column in known)
    fields: list[PartitionField] = list(model.partitioned_by) if model is not None else []
    for item in _partition_items(properties):
        if isinstance(item, exp.ColumnDef):
            if not _find(columns, item.name):
                columns = (*columns, _column(item))
            fields.append(PartitionField(item.name))
        else:
            fields.append(_partition_field(item, columns))
    qualified = catalog.qualify(parts)
    if qualified[0] == _SESSION_CATALOG and provider in _PARTITIONS_LAST:
        last = [field.column.lower() for field in fields]
        behind = [column for name in last if (column := _find(columns, name)) is not None]
        columns = (*(c for c in columns if c.name.lower() not in last), *behind)
    return Table(
        name=parts,
        columns=tuple(_with_statistics(c, settings) for c in _keyed(columns, key)),
        partitioned_by=tuple(fields),
        primary_key=tuple(found.name for name in key if (found := _find(columns, name))),
        streaming=_is_streaming(properties, settings),
        provider=provider,
        size_in_bytes=_number(settings.get(_STATISTICS + "totalsize")),
        row_count=_number(settings.get(_STATISTICS + "numrows")),
        source=source,
    )


def _properties(tree: exp.Create) -> list[exp.Expr]:
    properties = tree.args.get("properties")
    return list(properties.expressions) if properties is not None else []


def _settings(properties: Sequence[exp.Expr]) -> Iterator[tuple[str, str]]:
    """Keys (lower case) and values of TBLPROPERTIES and OPTIONS."""
    for item in properties:
        if type(item) is exp.Property:
            key, value = item.this, item.args.get("value")
            name = ".".join(part.name for part in key.find_all(exp.Identifier)) or key.name
            is_flag = isinstance(value, exp.Boolean)
            text = str(value.this) if is_flag and value is not None else getattr(value, "name", "")
            yield name.lower(), text.lower()


def _is_streaming(properties: Sequence[exp.Expr], settings: dict[str, str]) -> bool:
    declared = any(isinstance(item, exp.StreamingTableProperty) for item in properties)
    return declared or settings.get(_STREAMING, "false") != "false"


def _provider(properties: Sequence[exp.Expr]) -> str | None:
    """``USING x``; STORED AS, STORED BY and ROW FORMAT make a Hive table."""
    for item in properties:
        if isinstance(item, exp.FileFormatProperty) and not item.args.get("hive_format"):
            return item.name.lower() or None
    hive = (
        exp.FileFormatProperty,
        exp.RowFormatDelimitedProperty,
        exp.RowFormatSerdeProperty,
        exp.StorageHandlerProperty,
    )
    return "hive" if any(isinstance(item, hive) for item in properties) else None


def _model(tree: exp.Create, properties: Sequence[exp.Expr], catalog: Warehouse) -> Table | None:
    """The table that LIKE or CLONE copies, where it is known."""
    like = next((item for item in properties if isinstance(item, exp.LikeProperty)), None)
    origin = like or tree.args.get("clone")
    table = origin.this if origin is not None else None
    if not isinstance(table, exp.Table):
        return None
    relation = catalog.resolve(tuple(part.name for part in table.parts))
    return relation if isinstance(relation, Table) else None


# --- columns and types


def _columns(tree: exp.Create) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """The declared columns, and the names of those in the primary key."""
    schema = tree.this
    items = schema.expressions if isinstance(schema, exp.Schema) else []
    columns: list[Column] = []
    key: list[str] = []
    for item in items:
        if isinstance(item, exp.ColumnDef):
            columns.append(_column(item))
            if _constraint(item, exp.PrimaryKeyColumnConstraint):
                key.append(item.name)
        elif isinstance(item, exp.Identifier):
            columns.append(Column(item.name))
        else:
            key.extend(_table_key(item))
    return tuple(columns), tuple(key)


def _keyed(columns: Sequence[Column], key: Sequence[str]) -> tuple[Column, ...]:
    """The columns, those of the primary key NOT NULL."""
    names = {name.lower() for name in key}
    return tuple(replace(c, nullable=False) if c.name.lower() in names else c for c in columns)


def _table_key(item: exp.Expr) -> list[str]:
    """The columns of a table-level PRIMARY KEY, unless it says not to rely on it."""
    primary = item if isinstance(item, exp.PrimaryKey) else item.find(exp.PrimaryKey)
    if primary is None or "NORELY" in (primary.args.get("options") or []):
        return []
    found = [part.find(exp.Identifier) for part in primary.expressions]
    return [part.name for part in found if part is not None]


def _column(item: exp.ColumnDef) -> Column:
    not_null = _constraint(item, exp.NotNullColumnConstraint)
    nullable = not_null is None or bool(not_null.args.get("allow_null"))
    type_ = spark_type(item.args.get("kind"))
    collation = _constraint(item, exp.CollateColumnConstraint)
    if type_ is not None and collation is not None:
        name = collation.this.name.lower()
        type_ = type_ if name == "utf8_binary" else f"{type_} collate {name}"
    return Column(item.name, type_, nullable)


def _constraint(item: exp.ColumnDef, kind: type[exp.Expr]) -> exp.Expr | None:
    for constraint in item.args.get("constraints") or []:
        found = constraint.args.get("kind")
        if isinstance(found, kind):
            return found
    return None


def spark_type(kind: object) -> str | None:
    """A type as Spark writes it, lower case and without blanks; None where it is not Spark's.

    A table of our own and not sqlglot's generator, which turns TIME into TIMESTAMP and lets foreign
    types pass.
    """
    if not isinstance(kind, exp.DataType):
        return None
    inner = list(kind.expressions)
    if isinstance(kind.this, exp.Interval):
        return kind.sql(dialect="spark").lower()
    if kind.this in _SIMPLE_TYPES and not inner:
        return _SIMPLE_TYPES[kind.this]
    if kind.this is DType.DECIMAL:
        sizes = [item.name for item in inner]
        return f"decimal({','.join((*sizes, *_DECIMAL_DEFAULTS[len(sizes) :]))})"
    if kind.this in _SIZED_TYPES and len(inner) == 1:
        return f"{_SIZED_TYPES[kind.this]}({inner[0].name})"
    return _nested_type(kind.this, inner)


def _nested_type(kind: DType, inner: Sequence[exp.Expr]) -> str | None:
    if kind is DType.STRUCT:
        return _struct_type(inner)
    types = [spark_type(item) for item in inner]
    known = [item for item in types if item is not None]
    if kind not in {DType.ARRAY, DType.MAP} or known != types:
        return None
    return f"{kind.value.lower()}<{','.join(known)}>"


def _struct_type(items: Sequence[exp.Expr]) -> str | None:
    fields: list[str] = []
    for item in items:
        type_ = spark_type(item.args.get("kind"))
        if type_ is None:
            return None
        fields.append(f"{item.name.lower()}:{type_}")
    return f"struct<{','.join(fields)}>"


# --- partitioning


def _partition_items(properties: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for item in properties:
        if isinstance(item, exp.PartitionedByProperty):
            inner = item.this
            yield from inner.expressions if isinstance(inner, exp.Schema | exp.Tuple) else [inner]


def _partition_field(item: exp.Expr, columns: Sequence[Column]) -> PartitionField:
    """A column itself, or a transform of one column; anything else is ``unknown``."""
    if isinstance(item, exp.Identifier):
        return _field_of(item.name, "identity", columns)
    names = [column.name for column in item.find_all(exp.Column) if not column.table]
    if isinstance(item, exp.Column) and names:
        return _field_of(names[0], "identity", columns)
    transform = _transform(item)
    if len(names) != 1 or transform is None:
        written = names[0] if len(names) == 1 else item.sql(dialect="spark")
        return PartitionField(written, _UNKNOWN)
    return _field_of(names[0], transform, columns)


def _field_of(name: str, transform: str, columns: Sequence[Column]) -> PartitionField:
    """The field in the declared column's spelling; a column that is not declared is not known."""
    column = _find(columns, name)
    if column is not None:
        return PartitionField(column.name, transform)
    return PartitionField(name, _UNKNOWN if columns else transform)


def _transform(item: exp.Expr) -> str | None:
    match item:
        case exp.PartitionedByBucket():
            return "bucket"
        case exp.PartitionByTruncate():
            return "truncate"
        case exp.Anonymous():
            return _TRANSFORMS.get(item.name.lower())
    return None


def _find(columns: Sequence[Column], name: str) -> Column | None:
    return next((column for column in columns if column.name.lower() == name.lower()), None)


# --- statistics, as Spark's metastore shows them


def _with_statistics(column: Column, settings: dict[str, str]) -> Column:
    key = f"{_COLUMN_STATISTICS}{column.name.lower()}{_DISTINCT_COUNT}"
    count = _number(settings.get(key))
    return column if count is None else replace(column, distinct_count=count)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
