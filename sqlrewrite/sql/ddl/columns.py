"""A column as CREATE TABLE declares it, and what stands between columns: keys and constraints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.warehouse import Column

# What may follow a column's type: Spark's, Delta's and Hive's, and those of MySQL and Redshift.
_AFTER_TYPE = frozenset(
    """
    after as auto_increment by check comment constraint default disable distkey enable encode
    enforced first foreign generated key mask masking metadata nologging norely not null on options
    position primary references rely sortkey tags unique validate with
    """.split()
)
_CONSTRAINTS = frozenset({"primary", "foreign", "unique", "check", "not"})
_INDEXES = frozenset({"key", "index"})
_OTHER_SPELLINGS = {"double precision": "double"}
_WITH_PRECISION = re.compile(r"\btimestamp\(\d+\)")
_IN_PARENTHESES = re.compile(r"\b(array|map)\(([^()]*)\)")
"""Types as Trino writes them: ``timestamp(3)``, ``array(bigint)``."""


def generated_as(item: Cursor) -> str:
    """The expression of ``name type … GENERATED ALWAYS AS (expression) …``; else an empty text."""
    ahead = item.between(item.index, item.end)
    while not ahead.done:
        if ahead.take("generated", "always", "as"):
            inner = ahead.group()
            return inner.rest() if inner is not None else ""
        if ahead.group() is None:
            ahead.index += 1
    return ""


def computed_as(item: Cursor) -> str:
    """The expression of ``name AS expression``, computed by each scan; else an empty text."""
    ahead = item.between(item.index, item.end)
    return ahead.rest() if ahead.name_part() and ahead.take("as") else ""


def is_constraint(item: Cursor) -> bool:
    """Whether an item declares no column. Each of the words may be a column's name as well:
    ``key VARCHAR(20)`` is one, ``KEY by_name (name)`` is none."""
    ahead = item.between(item.index + 1, item.end)
    if item.peek("primary", "key") or item.peek("foreign", "key"):
        return True
    match item.word:
        case "constraint":
            return bool(ahead.name_part()) and ahead.word.partition(" ")[0] in _CONSTRAINTS
        case "unique" | "check" | "fulltext" | "spatial":
            return ahead.opens or ahead.word in _INDEXES
        case "key" | "index":
            named = not ahead.opens and spark_type(ahead.rest().split(")")[0] + ")") is None
            return ahead.opens or (named and bool(ahead.name_part()) and ahead.opens)
    return False


def table_key(item: Cursor) -> list[str]:
    """The columns of a table-level PRIMARY KEY, unless it says not to rely on it."""
    while not item.done and not item.take("primary", "key"):
        item.index += 1
    inner = item.group()
    if inner is None or "norely" in _bare_words(item):
        return []
    return [part for each in inner.items() if (part := each.name_part())]


def read_column(item: Cursor) -> tuple[Column, bool] | None:
    """A column's declaration, and whether it is the primary key alone; None for what is none."""
    name = item.name_part()
    if not name:
        return None
    item.take(":")
    kind = spark_type(type_text(item))
    words = _bare_words(item)
    pairs = set(pairwise(words))
    key = ("primary", "key") in pairs
    return Column(name, kind, not key and ("not", "null") not in pairs), key


def type_text(item: Cursor) -> str:
    """The type that stands here as it is written, stepped over."""
    start, depth = item.index, 0
    while not item.done and (depth or item.word.partition(" ")[0] not in _AFTER_TYPE):
        if item.opens and item.group() is not None:
            continue
        depth += (item.word == "<") - (item.word == ">")
        item.index += 1
    return item.slice(start, item.index)


def _bare_words(item: Cursor) -> list[str]:
    """The words behind a column's type outside of parentheses."""
    found: list[str] = []
    while not item.done:
        if item.opens and item.group() is not None:
            continue
        found += item.word.split()
        item.index += 1
    return found


def spark_type(text: str) -> str | None:
    """A type as Spark writes it, with the names of fields as they are; None where it is not
    Spark's."""
    plain = " ".join(text.lower().split())
    kind = parse(_OTHER_SPELLINGS.get(plain, text)) or parse(_of_trino(plain))
    if kind is None or plain in ("timestamp_ltz", "timestamp_ntz"):
        return plain if kind is not None else None
    return kind.ddl.replace(" collate UTF8_BINARY", "")


def _of_trino(text: str) -> str:
    """A type of Trino's as Spark writes it; Spark has no VARCHAR without a length."""
    text = _WITH_PRECISION.sub("timestamp", text)
    text = re.sub(r"\bvarchar\b(?! *\()", "string", text)
    while _IN_PARENTHESES.search(text):
        text = _IN_PARENTHESES.sub(r"\1<\2>", text)
    return text


def find_column(columns: Sequence[Column], name: str) -> Column | None:
    """The column of that name, compared without case, or None."""
    return next((column for column in columns if column.name.lower() == name.lower()), None)
