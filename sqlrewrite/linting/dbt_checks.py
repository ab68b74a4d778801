"""DPP014: a dbt model whose MERGE reads its whole table; and which files are dbt's.

dbt writes the MERGE itself, from the model's configuration: ``merge into <table> as
DBT_INTERNAL_DEST using <the model's SELECT> as DBT_INTERNAL_SOURCE on <incremental_predicates> and
<the unique_key is the same>``. What is not known of the configuration is no finding.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sqlrewrite.catalog.sources import of_model
from sqlrewrite.linting.checked_statement import place_of
from sqlrewrite.linting.findings import Finding, Place, of_no_statement
from sqlrewrite.text.edits import Span, blanked
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import Lines
from sqlrewrite.warehouse import DbtModel, Table, Warehouse, literal_name

if TYPE_CHECKING:
    from sqlrewrite.catalog.dbt_config import ConfigCall

CODE = "DPP014"

_WORD = re.compile(r"[A-Za-z_]\w*")
_MERGING_FORMATS = frozenset({None, "delta", "iceberg"})
_DEFAULT = {"databricks": "merge"}
"""The default strategy of each adapter whose default is a MERGE."""

_ADAPTERS = frozenset({None, "spark", "databricks"})
_WINDOWS = {
    "date": "date_sub(current_date(), 3)",
    "timestamp": "current_timestamp() - interval 3 days",
}
_INCREMENTAL = {"is_incremental()": True}
_AT_PARSE = re.compile(r"(?:env_)?var\([^()]*\)")
"""Templates that render the same when dbt reads a configuration as when it runs the model."""

_OF_TIMES = frozenset({"years", "months", "days", "hours"})
_CHECK = (
    "first make sure that {column} never changes for a key: if it does, dbt does not find the old "
    "row, and inserts a second one"
)


def is_view_model(path: str, catalog: Warehouse) -> bool:
    """Whether a file is a model of a dbt project that is no table by the project's configuration
    (``+materialized: view``)."""
    name = catalog.references.get(("ref", os.path.splitext(os.path.basename(path))[0]))
    return name is not None and not isinstance(catalog.resolve(name), Table)


def of_file(path: str, catalog: Warehouse, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of a file, without DPP007 if it is a view model."""
    view = is_view_model(path, catalog)
    return tuple(item for item in findings if not (view and item.code == "DPP007"))


def dbt_merge(path: str, text: str, catalog: Warehouse) -> Iterator[Finding]:
    """DPP014, if the text of a file is a model that dbt merges by a key without the partition
    column, and with no condition on the table's partitions."""
    model = of_model(path, catalog.models)
    if model is None:
        return
    # Only here, so that a file that is no model does not wait for the import.
    from sqlrewrite.catalog.dbt_config import only_call

    call = only_call(text)
    merge = None if call is None else _merge(call, model, catalog)
    if call is None or merge is None:
        return  # no MERGE that reads all, or not known
    compared = " and ".join(f"`{key}`" for key in merge.keys)
    message = (
        f"{merge.strategy} with {merge.shown_key}: the MERGE that dbt writes reads all partitions "
        f"of {'.'.join(model.table)}, as its ON compares {compared} and not the partition column "
        f"`{merge.column}`"
    )
    help = f"{_advice(merge, text, call)}; {_CHECK.format(column=f'`{merge.column}`')}"
    yield of_no_statement(CODE, message, _place(text, call), model.table[-1], help)


class _Merge(Struct, frozen=True):
    """The MERGE of a model: its strategy, its keys, the table, and which partition column of it
    could be bounded."""

    strategy: str
    shown_key: str
    keys: tuple[str, ...]
    alias: str
    table: Table
    column: str
    window: str
    catalog: Warehouse


def _advice(merge: _Merge, text: str, call: ConfigCall) -> str:
    """The line to write, with the condition of the model's own SELECT if it has one."""
    place = "to `config(…)`" if call.unit.end else "at the head of the model as `{{ config(…) }}`"
    column, own = f"{merge.alias}.{merge.column}", _own_bounds(merge, text, call)
    bounds, why = ", ".join(own), "as the WHERE of the model's own SELECT does"
    if not own:
        bounds, why = f'"{column} >= …"', "where `…` is the oldest value that a run changes"
    if not own and merge.window:
        bounds = f'"{column} >= {merge.window}"'
        why = "where 3 is one more than the days that a run changes"
    return f"add `incremental_predicates=[{bounds}]` {place}, {why}"


def _merge(call: ConfigCall, model: DbtModel, catalog: Warehouse) -> _Merge | None:
    """The MERGE of a model that reads its whole table; None if it does not, or if that is not
    sure."""
    config: Mapping[str, Any] = {**model.config, **call.arguments}
    table = catalog.resolve(model.table)
    strategy = config.get("incremental_strategy", _DEFAULT.get(model.adapter or ""))
    keys = _words(config.get("unique_key"))
    alias = config.get("target_alias", "DBT_INTERNAL_DEST")
    bounded = {"predicates", "incremental_predicates", "not_matched_by_source_action"} & set(config)
    if (
        bounded
        or not isinstance(table, Table)
        or model.adapter not in _ADAPTERS
        or config.get("materialized") != "incremental"
        or config.get("enabled", True) is not True
        or config.get("full_refresh", False) is not False
        or strategy != "merge"
        or not keys
        or not _words(alias)
        or not _has_format(config, model, table)
    ):
        return None
    column = _column(table, frozenset(key.lower() for key in keys))
    if column is None:
        return None
    named = _shown("incremental_strategy", config, call, model)
    named = named or "dbt-databricks' default strategy `merge`"
    shown_key = _shown("unique_key", config, call, model)
    return _Merge(named, shown_key, keys, alias, table, *column, catalog)


def _has_format(config: Mapping[str, Any], model: DbtModel, table: Table) -> bool:
    """Whether the table's format has a MERGE that reads what its ON does not exclude. Hudi's reads
    by an index; dbt-spark's default is Parquet, which has none."""
    file_format = config.get("file_format")
    if "file_format" in config and file_format is None:
        return False  # a template
    if file_format is None and model.adapter == "spark":
        return False
    return {file_format, table.provider} <= _MERGING_FORMATS


def _words(value: object) -> tuple[str, ...]:
    """The plain names in a string or list of strings; empty if anything else is in it."""
    names = value if isinstance(value, list | tuple) else [value]
    plain = [name.strip().strip("`") for name in names if isinstance(name, str)]
    return tuple(plain) if len(plain) == len(names) and all(map(_WORD.fullmatch, plain)) else ()


def _column(table: Table, keys: frozenset[str]) -> tuple[str, str] | None:
    """The partition column to be bounded, and a window over it if its type is one of time. None if
    there is none, or if a key is a partition column: the ON then compares it."""
    for field in table.partitioned_by:
        if field.column.lower() in keys or field.transform == "unknown":
            return None
    if any(source in keys for derived in table.derived for source in derived.sources):
        return None
    for field in table.partitioned_by:
        column = table.column(field.column)
        kind = None if column is None else column.type
        times = field.transform in _OF_TIMES
        if (field.transform == "identity" or times) and kind != "boolean":
            kind = kind or ("timestamp" if times else "")
            if _WORD.fullmatch(field.column):
                return field.column, _WINDOWS.get(kind, "")
    return None


def _shown(key: str, config: Mapping[str, Any], call: ConfigCall, model: DbtModel) -> str:
    """A key as the author wrote it, with the file if that is not the model; empty if nobody wrote
    it."""
    if key in call.written:
        return f"`{call.written[key]}`"
    value = config.get(key)
    shown = f"[{', '.join(value)}]" if isinstance(value, list | tuple) else value
    return f"`{key}: {shown}` ({model.elsewhere})" if key in config else ""


def _place(text: str, call: ConfigCall) -> Place:
    """The place of the call of ``config(…)``; that of the first line if there is no call."""
    span = Span(call.start, call.start + len("config"))
    if not call.unit.end:
        lines = text.splitlines()
        span = Span(0, len(lines[0]) if lines else 0)
    return place_of(Lines(text), span)


# --- what the model's SELECT says ----------------------------------------------------------------


def _own_bounds(merge: _Merge, text: str, call: ConfigCall) -> list[str]:
    """The conditions by constants on the partition column that each row of the model's SELECT meets
    in every incremental run, as Jinja strings; empty if there are none, or if one cannot be written
    so."""
    from sqlrewrite.text.blocks import renderings

    sql = blanked(text, [call.unit])
    texts = [rendering.text for rendering in renderings(sql, _INCREMENTAL)] or [sql]
    bounds = {tuple(_bounds(merge, each)) for each in texts}
    strings = [_jinja_string(bound) for bound in bounds.pop()] if len(bounds) == 1 else []
    return [string for string in strings if string] if all(strings) else []


def _bounds(merge: _Merge, query: str) -> list[str]:
    """The predicates that a rewrite would insert into the MERGE of a query if the MERGE compared
    the partition column, too."""
    from sqlrewrite.rewriting import rewrite

    source, column = "DBT_INTERNAL_SOURCE", merge.column
    on = f"ON {source}.{column} = {merge.alias}.{column}"
    end = " WHEN NOT MATCHED THEN INSERT *"
    sql = (
        f"MERGE INTO {literal_name(merge.table.name)} AS {merge.alias} "
        f"USING (\n{query}\n) AS {source} {on}{end}"
    )
    inserted = rewrite(sql, merge.catalog).sql.rpartition(on)[2].removesuffix(end)
    pieces = (piece.strip() for piece in inserted.split(MARKER))
    return [piece.removeprefix("AND ") for piece in pieces if piece]


def _jinja_string(sql: str) -> str | None:
    """A Jinja expression for an SQL text: templates in it are concatenated, not quoted. None if dbt
    does not render one of them when it reads the configuration."""
    from sqlrewrite.text.template_kinds import UNITS, inner

    pieces, end = [], 0
    for unit in UNITS["{{"].finditer(sql):
        code = inner(unit.group())
        if _AT_PARSE.fullmatch(code) is None:
            return None
        pieces += [_quoted(sql[end : unit.start()]), code]
        end = unit.end()
    pieces.append(_quoted(sql[end:]))
    return None if "{" in sql[end:] else " ~ ".join(piece for piece in pieces if piece != '""')


def _quoted(text: str) -> str:
    """A text as a string of Jinja."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
