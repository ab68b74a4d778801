"""What the clauses of a CREATE TABLE or VIEW say, whatever engine they are of.

Out: a ``Definition``. A clause that says nothing of columns, types, keys, partitioning and numbers
is stepped over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from itertools import pairwise

from sqlrewrite.frozen import dataclass
from sqlrewrite.patterns import pattern
from sqlrewrite.sql.ddl.columns import (
    computed_as,
    generated_as,
    is_constraint,
    read_column,
    table_key,
)
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.lex.tokens import tokenize
from sqlrewrite.warehouse import Column, Name

UNKNOWN = "unknown"
_TAKEN_OVER = frozenset({"including", "excluding", "overwriting"})
_NOT_CLOSED = "a parenthesis is not closed"
_TEMPLATE = pattern(r"\{\{|\{%|\$\{")


@dataclass(slots=True)
class Definition:
    """What the clauses of a CREATE TABLE or VIEW say, as they are met. ``query`` is the index of
    the first token of its query; ``unread`` says why it cannot be read, if it cannot. ``computed``
    are the columns that each scan computes, ``excluding`` what a LIKE behind the columns does not
    take over of the ``model``."""

    columns: tuple[Column, ...] = ()
    generated: tuple[tuple[str, str], ...] = ()
    computed: tuple[tuple[str, str], ...] = ()
    watermark: bool = False
    listed: bool = False
    complete: bool = True
    key: tuple[str, ...] = ()
    partitions: tuple[Cursor, ...] = ()
    clustered: tuple[str, ...] = ()
    bucketed: tuple[str, ...] = ()
    buckets: int | None = None
    provider: str | None = None
    hive: bool = False
    collation: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    model: Name = ()
    excluding: frozenset[str] | None = None
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


def _other(found: Definition, at: Cursor) -> None:
    """A query, the columns, or a clause that says nothing of what is asked: stepped over."""
    word, following = at.word, at.word_at(at.at + 1)
    if word in ("select", "values", "from", "table") or (word == "with" and _is_name(at)):
        found.query = at.at
    elif at.opens:
        inner = at.group()
        if inner is None:
            found.unread = _NOT_CLOSED
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
    computed: list[tuple[str, str]] = []
    for item in inner.items():
        expression, by_scan = generated_as(item), computed_as(item)
        if item.take("like"):
            found.model = item.name()
        elif item.take("watermark", "for"):
            found.watermark = True
        elif is_constraint(item):
            key += table_key(item)
        elif _TEMPLATE.match(item.rest()) or not (column := read_column(item)):
            found.complete = False
        else:
            columns.append(column[0])
            key += [column[0].name] if column[1] else []
            generated += [(column[0].name, expression)] if expression else []
            computed += [(column[0].name, by_scan)] if by_scan else []
    found.listed, found.generated, found.computed = True, tuple(generated), tuple(computed)
    found.columns, found.key = tuple(columns), (*found.key, *key)


def _using(found: Definition, at: Cursor) -> None:
    name = ".".join(at.name())
    found.provider = UNKNOWN if _TEMPLATE.match(name) else name or None


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
        found.unread = _NOT_CLOSED


def _like(found: Definition, at: Cursor) -> None:
    """LIKE behind the columns, and Flink's ``(EXCLUDING OPTIONS …)`` behind it."""
    found.model, found.excluding = at.name(), frozenset()
    if at.opens and at.word_at(at.at + 1) in _TAKEN_OVER:
        inner = at.group()
        words = inner.rest().lower().split() if inner is not None else []
        left_out = {what for how, what in pairwise(words) if how == "excluding"}
        found.excluding = frozenset(left_out)


def _clone(found: Definition, at: Cursor) -> None:
    """A clone has the columns of today's table, unless it is of another version of it."""
    name = at.name()
    other = at.follow("version", "as") or at.follow("timestamp", "as") or at.follow("for")
    found.model = () if other else name


def _collated_by(found: Definition, at: Cursor) -> None:
    found.collation = at.part() or UNKNOWN


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
        elif value is None and key == "partitioning" and item.take("array"):
            said = [it.string() or "" for it in _array(item)]  # Iceberg's in Trino: 'day(ts)'
            found.partitions = tuple(Cursor(tokenize(it), it) for it in said)
        found.settings[key.lower()] = (value if value is not None else item.rest()).lower()


def _array(item: Cursor) -> tuple[Cursor, ...]:
    """The names in ``ARRAY['a', 'b']``."""
    strings = (n for n in range(item.at, item.end) if item.tokens[n].text not in ("[", "]", ","))
    return tuple(item.between(n, n + 1) for n in strings)


def _quoted(found: Definition, at: Cursor) -> None:
    """A clause whose value is a string, which may be anything."""
    at.string()


def _counted(found: Definition, at: Cursor) -> None:
    if at.word_at(at.at + 1) == "buckets" and at.word.isdigit():
        found.buckets = int(at.word)


def _columns_of(said: str, most: int | None = None) -> _Clause:
    """A clause with columns in parentheses: the field that takes them, if any, and how many."""

    def clause(found: Definition, at: Cursor) -> None:
        names = named(at)
        if at.opens:
            found.unread = _NOT_CLOSED
        if said:
            setattr(found, said, names[:most])

    return clause


def named(at: Cursor) -> tuple[str, ...]:
    """The columns in parentheses that stand next, in lower case; none where they are not closed."""
    inner = at.group() if at.opens else None
    return tuple(item.part().lower() for item in inner.items()) if inner is not None else ()


_Clause = Callable[[Definition, Cursor], None]

_CLAUSES: tuple[tuple[tuple[str, ...], _Clause], ...] = tuple(
    (tuple(words.split()), clause)
    for several, clause in (
        ("using", _using),
        ("stored as, stored by, row format", _stored),
        ("partitioned by spec, partitioned by, partitioned on", _partitioned),
        ("like", _like),
        ("shallow clone, deep clone, clone", _clone),
        ("tblproperties, options", _settings),
        ("default collation", _collated_by),
        ("comment, location", _quoted),
        # CLUSTERED BY (k) INTO 8 BUCKETS, Hive's and Spark's own; SORTED BY may stand between:
        # within a bucket by the first, by the others only in ties
        ("clustered by", _columns_of("bucketed")),
        ("into", _counted),
        ("sorted by", _columns_of("clustered", 1)),
        # of Delta's liquid clustering, after which files hold narrow ranges of each
        ("cluster by", _columns_of("clustered")),
        ("with serdeproperties, with dbproperties, skewed by", _columns_of("")),
        ("on, order by, sort by", _columns_of("")),
    )
    for words in several.split(", ")
)
