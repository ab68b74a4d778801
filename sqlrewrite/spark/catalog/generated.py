"""Delta's generated columns, from the table's own log, since DESCRIBE does not show them.

The schema is that of the last ``metaData`` action: in the newest commit that has one or, if old
commits are gone, in the newest checkpoint (Delta's protocol, "Change Metadata", "Generated
Columns"). All is SQL over files, so it works over Connect, too, for users who may read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlrewrite.spark.session import tried
from sqlrewrite.warehouse import GENERATED, Derivation, derivation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXPRESSION = "delta.generationExpression"
_WRITER = re.compile(r"delta\.minWriterVersion=(\d+)")
_FEATURE = "delta.feature.generatedColumns"
_FIRST_VERSION = 4
"""The first writer version with generated columns; from 7 on they are a named table feature."""

_COMMITS = (
    "SELECT get_json_object(value, '$.metaData.schemaString') FROM text.`{}/_delta_log/*.json` "
    "WHERE value LIKE '{{\"metaData\"%' ORDER BY input_file_name() DESC LIMIT 1"
)
_CHECKPOINTS = (
    "SELECT metaData.schemaString FROM parquet.`{}/_delta_log/*.checkpoint*.parquet` "
    "WHERE metaData IS NOT NULL ORDER BY input_file_name() DESC LIMIT 1"
)


def generated(spark: SparkSession, details: Mapping[str, str]) -> tuple[Derivation, ...]:
    """The generated columns of a table with these details; none if its log cannot be read."""
    place, properties = details.get("Location", ""), details.get("Table Properties", "")
    version = _WRITER.search(properties)
    older = version is not None and _FIRST_VERSION <= int(version[1]) < 7
    if not place or "`" in place or not (older or _FEATURE in properties):
        return ()
    for query in (_COMMITS, _CHECKPOINTS):
        with tried():
            rows = spark.sql(query.format(place)).collect()
            if rows and rows[0][0]:
                return tuple(expressions(rows[0][0]))
    return ()


def expressions(schema: str) -> Iterator[Derivation]:
    """The generated columns in Delta's JSON of a schema."""
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        fields = json.loads(schema)["fields"]
        names = [str(field["name"]) for field in fields]
        for field in fields:
            formula = field.get("metadata", {}).get(_EXPRESSION)
            if isinstance(formula, str):
                yield derivation(str(field["name"]), formula, GENERATED, names)
