"""Guesses tables from the texts that use them, for a project without DDL, and writes them as DDL.

``INSERT INTO t PARTITION (dt = '…')``, ``ALTER TABLE t ADD PARTITION (…)`` and ``LOAD DATA`` show
which columns partition a table, in order, but no type and no other column. So no predicate is
written whose soundness needs the type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from sqlrewrite.catalog.ddl import read_files
from sqlrewrite.catalog.sources import Where, decoded, read_bytes, texts
from sqlrewrite.copies import replace
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.ddl.definition_statements import definition_statements
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import (
    DEFAULT_NAMESPACE,
    GENERATED,
    CatalogError,
    Column,
    Derivation,
    Name,
    PartitionField,
    Table,
    View,
    Warehouse,
    quoted,
    quoted_name,
)

# The words before the name of a table whose partition a statement names.
_BEFORE = (
    ("insert", "overwrite", "table"),
    ("insert", "into", "table"),
    ("insert", "overwrite"),
    ("insert", "into"),
    ("into", "table"),
    ("alter", "table"),
    ("truncate", "table"),
)
_BETWEEN = frozenset({"add", "drop", "if", "not", "exists"})
_WORDS = (b"create", b"partition")


class PartitionMention(Struct, frozen=True):
    """A partition in a statement: its table, its columns with their values, and the place."""

    name: Name
    columns: tuple[tuple[str, str], ...]
    where: str


def infer(files: Iterable[str], start: Warehouse) -> tuple[Warehouse, dict[Name, PartitionMention]]:
    """The catalog that follows from files, and the statements behind each guessed table."""
    files_with_tables = [Path(file) for file in files if _may_show_tables(Path(file))]
    catalog = read_files(files_with_tables, start)
    guessed: dict[Name, PartitionMention] = {}
    contradicted: set[Name] = set()
    for file in files_with_tables:
        for mention in _shown(file, start):
            relation = catalog.resolve(mention.name)
            if relation is not None and (not isinstance(relation, Table) or relation.names):
                continue
            before = guessed.setdefault(mention.name, mention)
            if _names(before) != _names(mention):  # a statement must name all partition columns
                contradicted.add(mention.name)
    guessed = {name: mention for name, mention in guessed.items() if name not in contradicted}
    tables = {
        name: _table(mention, catalog.relations.get(name)) for name, mention in guessed.items()
    }
    return catalog.with_relations({**catalog.relations, **tables}), guessed


def _may_show_tables(file: Path) -> bool:
    try:
        text = read_bytes(file).lower()
    except CatalogError:
        return False  # reading it will report the error
    return any(word in text for word in _WORDS)


def _names(mention: PartitionMention) -> list[str]:
    return [name.lower() for name, _ in mention.columns]


def _table(mention: PartitionMention, relation: object) -> Table:
    names = [name for name, _ in mention.columns]
    base = relation if isinstance(relation, Table) else Table(mention.name)
    kept = [column for column in base.columns if column.name.lower() not in _names(mention)]
    columns = (*kept, *(base.column(name) or Column(name) for name in names))
    fields = tuple(PartitionField(name) for name in names)
    return replace(
        base, columns=columns, partitioned_by=fields, complete=False, source=mention.where
    )


def _shown(file: Path, start: Warehouse) -> Iterator[PartitionMention]:
    """The partitions that a file's statements name."""
    for text, where in texts(decoded(read_bytes(file))[0], str(file)):
        yield from _of_text(text, where, start)


def _of_text(text: str, where: Where, start: Warehouse) -> Iterator[PartitionMention]:
    here = in_force(start, text)
    for statement in definition_statements(text, here.refer):
        if statement.tokens[0].text.lower() in ("use", "set"):
            here = definitions.apply(statement, text, here, where.source)
            continue
        cursor = Cursor(statement.tokens, text)
        while not cursor.done:
            if not any(cursor.take(*words) for words in _BEFORE):
                cursor.index += 1
                continue
            parts = cursor.name()
            while cursor.word in _BETWEEN:
                cursor.index += 1
            columns = tuple(_columns(cursor)) if parts and cursor.take("partition") else ()
            if columns:
                yield PartitionMention(here.qualify(parts), columns, where(statement.start))


def _columns(cursor: Cursor) -> Iterator[tuple[str, str]]:
    """The columns of a partition with their values, empty for a dynamic partition."""
    for item in cursor.group_items():
        name = item.name_part()
        value = item.rest().lstrip("=").strip() if not item.done else ""
        if name:
            yield name, value


_PLAIN = re.compile(r"[A-Za-z_]\w*|\$\{[^}`]*\}|\$\w+")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = """\
-- What the texts show of their tables, written by `dpp-rewrite catalog infer`.
-- Correct what a comment calls a guess, and give the file to --catalog. A type UNKNOWN is one that
-- no text shows: no predicate follows from it until it is declared.
"""
_PROPOSED = (
    "All statements here that write this table compute a partition column: if nothing else writes "
    "the table, declare the column in the settings."
)
SOME = "dpp.columns"
"""The table property that says that only ``some`` of the columns are listed."""


def ddl(
    catalog: Warehouse,
    guessed: Mapping[Name, PartitionMention],
    proposed: Mapping[Name, Sequence[Derivation]] | None = None,
) -> str:
    """The definitions of all relations, views last, each view in its own namespace; behind a table
    its ``proposed`` derivations, as comments."""
    relations = [catalog.relations[name] for name in sorted(catalog.relations) if len(name) > 1]
    tables = [
        _table_ddl(relation, guessed.get(relation.name))
        + _proposals(relation.name, (proposed or {}).get(relation.name, ()))
        for relation in relations
        if isinstance(relation, Table)
    ]
    views = [_view_ddl(relation) for relation in relations if isinstance(relation, View)]
    return "\n".join([_HEAD, *tables, *views])


def _proposals(name: Name, derivations: Sequence[Derivation]) -> str:
    """Comments with the derivations that are proposed for a table."""
    lines = [_PROPOSED, *declarations(name, derivations)] if derivations else []
    return "".join(f"-- {line}\n" for line in lines)


def declarations(
    name: Name, derivations: Sequence[Derivation], section: str = "tool.dpp-rewrite.derived"
) -> list[str]:
    """The lines of a settings file that declare a table's derived columns, each with a comment that
    says where it is computed."""
    if not derivations:
        return []
    shown = quoted_name(name[1:] if name[0] == DEFAULT_NAMESPACE[0] else name)
    keys = (json.dumps(each.column, ensure_ascii=False) for each in derivations)
    values = (json.dumps(each.expression, ensure_ascii=False) for each in derivations)
    lines = [
        f"{key[1:-1] if _BARE_KEY.fullmatch(key[1:-1]) else key} = {value}  # {each.origin}"
        for key, value, each in zip(keys, values, derivations, strict=True)
    ]
    return [f"[{section}.{json.dumps(shown, ensure_ascii=False)}]", *lines]


def _view_ddl(view: View) -> str:
    columns = f" ({', '.join(map(_quoted, view.columns))})" if view.columns else ""
    return (
        f"-- {view.source}\nUSE {_dotted(view.namespace)};\n"
        f"CREATE OR REPLACE VIEW {_dotted(view.name)}{columns} AS\n{view.query}\n;\n"
    )


def _table_ddl(table: Table, mention: PartitionMention | None) -> str:
    lines = [f"-- {table.source}"]
    if mention is not None:
        lines.append("-- A guess: no CREATE TABLE was found, so other columns may be missing.")
    elif not table.complete or not table.columns:
        lines.append("-- Not all of its columns are known.")
    values = {name.lower(): value for name, value in mention.columns} if mention is not None else {}
    name = table.name[1:] if table.name[0] == DEFAULT_NAMESPACE[0] else table.name
    lines.append(f"CREATE TABLE {_dotted(name)}{' (' if table.columns else ''}")
    key = f"PRIMARY KEY ({', '.join(map(_quoted, table.primary_key))})" if table.primary_key else ""
    count = len(table.columns) + bool(key)
    for index, column in enumerate(table.columns, 1):
        comma = "," if index < count else ""
        lines.append(f"  {_column_ddl(column, table)}{comma}{_remark(column, values, table)}")
    lines += [f"  {key}"] if key else []
    lines += [")"] if table.columns else []
    lines += _clauses(table)
    return "\n".join(lines) + "\n;\n"


def _column_ddl(column: Column, table: Table) -> str:
    computed = (
        derived for derived in table.derived if derived.column.lower() == column.name.lower()
    )
    by = [
        f" {GENERATED} ({derived.expression})"
        for derived in computed
        if derived.origin == GENERATED
    ]
    not_null = "" if column.nullable else " NOT NULL"
    kind = column.type or "UNKNOWN"
    shown = kind if "struct" in kind else kind.upper()  # the names of fields are the author's
    return f"{_quoted(column.name)} {shown}{''.join(by)}{not_null}"


def _remark(column: Column, values: Mapping[str, str], table: Table) -> str:
    if column.type is not None:
        return ""
    value = values.get(column.name.lower())
    example = f", with values like {' '.join(value.split())}" if value else ""
    partition = any(field.column.lower() == column.name.lower() for field in table.partitioned_by)
    what = f"a guess: declare the type of {column.name}{example}"
    return f" -- {what if partition else 'its type is not known'}"


def _clauses(table: Table) -> Iterator[str]:
    if table.provider is not None and _PLAIN.fullmatch(table.provider):
        yield "STORED AS TEXTFILE" if table.provider == "hive" else f"USING {table.provider}"
    if table.partitioned_by:
        yield f"PARTITIONED BY ({', '.join(map(_field_ddl, table.partitioned_by))})"
    if table.buckets is not None:
        columns = ", ".join(map(_quoted, table.buckets.columns))
        yield f"CLUSTERED BY ({columns}) INTO {table.buckets.count} BUCKETS"
    if table.clustered_by:
        yield f"CLUSTER BY ({', '.join(map(_quoted, table.clustered_by))})"
    properties = []
    if not table.complete or not table.columns:
        properties.append(f"'{SOME}' = 'some'")
    if table.streaming or table.unsteady:
        properties.append("'dpp.streaming' = 'true'")
    if properties:
        yield f"TBLPROPERTIES ({', '.join(properties)})"


def _field_ddl(field: PartitionField) -> str:
    if field.transform == "identity":
        return _quoted(field.column)
    if field.transform == "unknown":
        return field.column
    number = "" if field.number is None else f"{field.number}, "
    return f"{field.transform}({number}{_quoted(field.column)})"


def _dotted(name: Name) -> str:
    return ".".join(map(_quoted, name))


def _quoted(part: str) -> str:
    return part if _PLAIN.fullmatch(part) else quoted(part)
