"""The clauses of a CREATE TABLE or VIEW in any engine's dialect, and the columns it declares.

Clauses without effect on columns, types, keys, partitioning or statistics are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct, field

from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.lex.tokens import tokenize
from sqlrewrite.warehouse import Column, Name

# Words that may follow a column's type in Spark, Delta, Hive, MySQL and Redshift.
_AFTER_TYPE = frozenset(
    """
    after as auto_increment by check comment constraint default disable distkey enable encode
    enforced first foreign generated key mask masking metadata nologging norely not null on options
    position primary references rely sortkey tags unique validate with
    """.split()
)
_CONSTRAINTS = frozenset({"primary", "foreign", "unique", "check", "not", "expect"})
_INDEXES = frozenset({"key", "index"})
_OTHER_SPELLINGS = {"double precision": "double"}
_WITH_PRECISION = re.compile(r"\btimestamp\(\d+\)")
_IN_PARENTHESES = re.compile(r"\b(array|map)\(([^()]*)\)")
"""Types in Trino's spelling: ``timestamp(3)``, ``array(bigint)``."""


def generated_as(item: Cursor) -> str:
    """The expression of ``name type … GENERATED ALWAYS AS (expression)``; else empty."""
    ahead = item.copy()
    inner = ahead.group() if ahead.skip_to("generated", "always", "as") else None
    return inner.rest() if inner is not None else ""


def computed_as(item: Cursor) -> str:
    """The expression of ``name AS expression``, which each scan computes; else empty."""
    ahead = item.copy()
    return ahead.rest() if ahead.name_part() and ahead.take("as") else ""


def is_constraint(item: Cursor) -> bool:
    """Whether an item is a constraint, ``KEY by_name (name)``, not a column, ``key
    VARCHAR(20)``."""
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
    """The columns of a table-level PRIMARY KEY; empty if it is declared NORELY."""
    while not item.done and not item.take("primary", "key"):
        item.index += 1
    inner = item.group()
    if inner is None or "norely" in _bare_words(item):
        return []
    return [part for each in inner.items() if (part := each.name_part())]


def read_column(item: Cursor) -> tuple[Column, bool] | None:
    """The column that an item declares, and whether it alone is the primary key; None if the item
    declares no column."""
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
    """The type at the cursor as written; the cursor moves behind it."""
    start, depth = item.index, 0
    while not item.done and (depth or item.word.partition(" ")[0] not in _AFTER_TYPE):
        if item.opens and item.group() is not None:
            continue
        depth += (item.word == "<") - (item.word == ">")
        item.index += 1
    return item.slice(start, item.index)


def _bare_words(item: Cursor) -> list[str]:
    """The words after a column's type, without those in parentheses."""
    words: list[str] = []
    while not item.done:
        if item.opens and item.group() is not None:
            continue
        words += item.word.split()
        item.index += 1
    return words


def spark_type(text: str) -> str | None:
    """A type in Spark's spelling; None if Spark has no such type."""
    plain = " ".join(text.lower().split())
    kind = parse(_OTHER_SPELLINGS.get(plain, text)) or parse(_of_trino(plain))
    if kind is None or plain in ("timestamp_ltz", "timestamp_ntz"):
        return plain if kind is not None else None
    return kind.ddl.replace(" collate UTF8_BINARY", "")


def _of_trino(text: str) -> str:
    """A Trino type in Spark's spelling; Spark has no VARCHAR without a length."""
    text = _WITH_PRECISION.sub("timestamp", text)
    text = re.sub(r"\bvarchar\b(?! *\()", "string", text)
    while _IN_PARENTHESES.search(text):
        text = _IN_PARENTHESES.sub(r"\1<\2>", text)
    return text


def find_column(columns: Sequence[Column], name: str) -> Column | None:
    """The column of that name, in any case; None if there is none."""
    return next((column for column in columns if column.name.lower() == name.lower()), None)


UNKNOWN = "unknown"
_TAKEN_OVER = frozenset({"including", "excluding", "overwriting"})
_NOT_CLOSED = "a parenthesis is not closed"
_TEMPLATE = re.compile(r"\{\{|\{%|\$\{")


class Definition(Struct):
    """The content of a CREATE TABLE or VIEW, filled in clause by clause.

    ``query``: the index of the first token of its query.
    ``failure``: why it cannot be read; None if it can.
    ``generated``, ``computed``: columns with the expressions that are stored, or computed by each
    scan.
    ``complete``: whether all columns of the list could be read.
    ``like``: the table named after LIKE or CLONE.
    ``excluding``: what a LIKE after the columns does not copy; None without such a LIKE.
    ``bucketed``, ``clustered``: the columns of its buckets, and those that order the rows in files.
    """

    columns: tuple[Column, ...] = ()
    generated: tuple[tuple[str, str], ...] = ()
    computed: tuple[tuple[str, str], ...] = ()
    watermark: bool = False
    lists_columns: bool = False
    complete: bool = True
    key: tuple[str, ...] = ()
    partitions: tuple[Cursor, ...] = ()
    clustered: tuple[str, ...] = ()
    bucketed: tuple[str, ...] = ()
    buckets: int | None = None
    provider: str | None = None
    hive: bool = False
    collation: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    like: Name = ()
    excluding: frozenset[str] | None = None
    query: int | None = None
    failure: str | None = None

    @property
    def extends_model(self) -> bool:
        """Whether Flink's LIKE adds something to the other table's definition, or excludes
        something."""
        return self.excluding is not None and bool(self.columns or self.excluding)

    def takes_over(self, what: str) -> bool:
        """Whether LIKE copies the part that Flink's EXCLUDING calls ``what``."""
        return {"all", what}.isdisjoint(self.excluding or ())


def read_clauses(cursor: Cursor) -> Definition:
    """The clauses after the name of a table or view, up to its query or the end."""
    definition = Definition()
    if cursor.unterminated:
        definition.failure = "a quote or comment without its end"
    while not cursor.done and definition.query is None and definition.failure is None:
        for words, clause in _CLAUSES:
            if cursor.take(*words):
                clause(definition, cursor)
                break
        else:
            _query_or_columns(definition, cursor)
    return definition


def _query_or_columns(definition: Definition, cursor: Cursor) -> None:
    """Reads the query, the list of columns or the properties of WITH; skips any other token."""
    word, following = cursor.word, cursor.word_at(cursor.index + 1)
    if word in ("select", "values", "from", "table") or (word == "with" and _opens_cte(cursor)):
        definition.query = cursor.index
    elif cursor.opens:
        inner = cursor.group()
        if inner is None:
            definition.failure = _NOT_CLOSED
        elif inner.word in ("select", "with", "from") and not definition.lists_columns:
            definition.query = inner.index - 1
        elif not definition.lists_columns:
            _columns(definition, inner)
    elif word == "as":
        cursor.index += 1
        definition.query = None if cursor.done else cursor.index
    elif word == "with" and following == "(":
        cursor.index += 1
        _properties(definition, cursor)
    else:
        cursor.index += 1


def _opens_cte(cursor: Cursor) -> bool:
    """Whether the WITH here begins a query, ``WITH q AS (``, and not properties."""
    ahead = cursor.between(cursor.index + 1, cursor.end)
    if ahead.peek("schema") or ahead.peek("row", "filter") or not ahead.name():
        return False
    if ahead.opens:
        ahead.group()
    return ahead.peek("as") and ahead.word_at(ahead.index + 1) in ("(", "materialized", "not")


def _columns(definition: Definition, inner: Cursor) -> None:
    """Reads the declared columns and the primary key."""
    columns: list[Column] = []
    key: list[str] = []
    generated: list[tuple[str, str]] = []
    computed: list[tuple[str, str]] = []
    copied: list[Name] = []
    for item in inner.items():
        expression, by_scan = generated_as(item), computed_as(item)
        if item.take("like"):
            copied.append(item.name())
        elif item.take("watermark", "for"):
            definition.watermark = True
        elif is_constraint(item):
            key += table_key(item)
        elif _TEMPLATE.match(item.rest()) or not (column := read_column(item)):
            definition.complete = False
        else:
            columns.append(column[0])
            key += [column[0].name] if column[1] else []
            generated += [(column[0].name, expression)] if expression else []
            computed += [(column[0].name, by_scan)] if by_scan else []
    definition.lists_columns, definition.generated, definition.computed = (
        bool(columns or copied or not definition.complete),  # else those of its query
        tuple(generated),
        tuple(computed),
    )
    definition.columns, definition.key = tuple(columns), (*definition.key, *key)
    if copied:  # a LIKE among other items does not give all columns
        definition.like = copied[-1]
        definition.complete = definition.complete and len(copied) == 1 and not columns


def _using(definition: Definition, cursor: Cursor) -> None:
    name = ".".join(cursor.name())
    definition.provider = UNKNOWN if _TEMPLATE.match(name) else name or None


def _stored(definition: Definition, cursor: Cursor) -> None:
    """Reads STORED AS, STORED BY and ROW FORMAT, which make a Hive table; STORED BY ICEBERG one of
    Iceberg."""
    definition.hive = True
    if cursor.take("iceberg"):
        definition.provider = "iceberg"
    elif cursor.take("inputformat"):
        cursor.string()


def _partitioned(definition: Definition, cursor: Cursor) -> None:
    inner = cursor.group()
    if inner is not None:
        definition.partitions = tuple(inner.items())
    elif cursor.opens:
        definition.failure = _NOT_CLOSED


def _like(definition: Definition, cursor: Cursor) -> None:
    """Reads LIKE after the columns, and Flink's ``(EXCLUDING OPTIONS …)`` after that."""
    definition.like, definition.excluding = cursor.name(), frozenset()
    if cursor.opens and cursor.word_at(cursor.index + 1) in _TAKEN_OVER:
        inner = cursor.group()
        words = inner.rest().lower().split() if inner is not None else []
        left_out = {what for how, what in pairwise(words) if how == "excluding"}
        definition.excluding = frozenset(left_out)


def _clone(definition: Definition, cursor: Cursor) -> None:
    """Reads CLONE: a clone has the table's columns, unless it is of an older version."""
    name = cursor.name()
    other = cursor.peek("version", "as") or cursor.peek("timestamp", "as") or cursor.peek("for")
    definition.like = () if other else name


def _properties(definition: Definition, cursor: Cursor) -> None:
    """Reads TBLPROPERTIES, OPTIONS or Presto's WITH; keys in lower case."""
    for item in cursor.group_items():
        key = item.string()
        if key is None:
            key = ".".join(item.name())
        item.take("=")
        value = item.string()
        if value is None and key == "partitioned_by" and item.take("array"):
            definition.partitions = _array(item)
        elif value is None and key == "partitioning" and item.take("array"):
            fields = [name.string() or "" for name in _array(item)]  # Iceberg's in Trino: 'day(ts)'
            definition.partitions = tuple(Cursor(tokenize(text), text) for text in fields)
        definition.properties[key.lower()] = (value if value is not None else item.rest()).lower()


def _array(item: Cursor) -> tuple[Cursor, ...]:
    """The names in ``ARRAY['a', 'b']``."""
    strings = (n for n in range(item.index, item.end) if item.tokens[n].text not in ("[", "]", ","))
    return tuple(item.between(n, n + 1) for n in strings)


def _bucket_count(definition: Definition, cursor: Cursor) -> None:
    if cursor.word_at(cursor.index + 1) == "buckets" and cursor.word.isdigit():
        definition.buckets = int(cursor.word)


def _columns_of(field_name: str, most: int | None = None) -> _Clause:
    """A reader for a clause with columns in parentheses: stores them, or the first ``most`` of
    them, in ``field_name``."""

    def clause(definition: Definition, cursor: Cursor) -> None:
        names = column_list(cursor)
        if cursor.opens:
            definition.failure = _NOT_CLOSED
        if field_name:
            setattr(definition, field_name, names[:most])

    return clause


def column_list(cursor: Cursor) -> tuple[str, ...]:
    """The columns in the next parentheses, in lower case; empty if these are not closed."""
    return tuple(item.name_part().lower() for item in cursor.group_items())


def _collation(definition: Definition, cursor: Cursor) -> None:
    name = cursor.name_part() or UNKNOWN
    definition.collation = None if name.lower() == "utf8_binary" else name


_Clause = Callable[[Definition, Cursor], object]

_CLAUSES: tuple[tuple[tuple[str, ...], _Clause], ...] = tuple(
    (tuple(words.split()), clause)
    for several, clause in (
        ("using", _using),
        ("stored as, stored by, row format", _stored),
        ("partitioned by spec, partitioned by, partitioned on", _partitioned),
        ("like", _like),
        ("shallow clone, deep clone, clone", _clone),
        ("tblproperties, options", _properties),
        ("default collation", _collation),
        ("comment, location", lambda _, at: at.string()),  # which may be anything
        # CLUSTERED BY (k) INTO 8 BUCKETS, Hive's and Spark's own; SORTED BY may stand between:
        # within a bucket by the first, by the others only in ties
        ("clustered by", _columns_of("bucketed")),
        ("into", _bucket_count),
        ("sorted by", _columns_of("clustered", 1)),
        # of Delta's liquid clustering, after which files hold narrow ranges of each
        ("cluster by", _columns_of("clustered")),
        ("with serdeproperties, with dbproperties, skewed by", _columns_of("")),
        ("on, order by, sort by", _columns_of("")),
    )
    for words in several.split(", ")
)
