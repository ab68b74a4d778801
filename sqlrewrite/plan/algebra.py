"""The plan of a statement: expressions, relations at the leaves, operators above them, and one
block for each SELECT. Modules that use many of these classes import this one as ``ra`` (relational
algebra).

An operator or function is a ``Call`` under its SQL name (``and``, ``=``, ``upper``), so that tables
of names can say what is legal. Relations are numbered through the whole statement, so a column
reference means the same wherever it is moved. Nodes are compared by identity (``eq=False``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from msgspec import Struct

from sqlrewrite.plan.facts.types import USUAL_SETTINGS, ExactSettings
from sqlrewrite.text.edits import Span
from sqlrewrite.warehouse import Name, Table


class ColumnRef(NamedTuple):
    """A column of the relation of that number; ``qualified``: written with the relation's name
    (``t.a``)."""

    relation: int
    name: str
    span: Span | None
    qualified: bool = True


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: ``string``, ``number``, ``null``, ``boolean``, ``star``, ``typed`` (DATE '…',
    with its ``type``), ``template`` (a string with a template in it, whose value is unknown).
    ``folded``: computed from a cast, so Spark's typing rules do not treat it as a literal."""

    kind: str
    text: str = ""
    type: str = ""
    folded: bool = field(default=False, compare=False)


class Parameter(Struct, frozen=True):
    """A parameter marker. A ``positional`` one (``?``) must not be repeated in the text."""

    positional: bool


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function under its lower-case SQL name."""

    name: str
    args: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast to a Spark type, lower case; ``safe`` is TRY_CAST: NULL where CAST raises an error."""

    operand: Expression
    type: str
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query inside an expression: ``scalar``, ``exists`` or ``in`` (with its operand). ``outer``
    are its references to columns of enclosing queries."""

    kind: str
    query: Query
    operand: Expression | None = None
    outer: tuple[ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of a lambda: parameter ``place`` of lambda ``number`` in a call of ``function``,
    whose arguments before its lambdas are ``arguments``. A lambda is a Call of ``=>`` over its
    body."""

    name: str
    function: str
    arguments: tuple[Expression, ...]
    number: int
    place: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """An expression that is not understood: it is never copied, and nothing is concluded from it. A
    ``merged`` one has a known type: the common type of its ``args``."""

    reason: str
    args: tuple[Expression, ...] = ()
    merged: bool = field(default=False, compare=False)


Expression = ColumnRef | Literal | Parameter | Call | Cast | Subquery | Variable | Unknown


class JoinType(Enum):
    """Join types in the words of SQL."""

    INNER = "inner"
    CROSS = "cross"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "left semi"
    ANTI = "left anti"
    UNKNOWN = "unknown"
    __hash__ = object.__hash__  # faster than Enum's own, which is written in Python


class Clause(NamedTuple):
    """A WHERE, ON or HAVING of the text, by the offset at which its condition begins."""

    kind: str
    start: int


class Condition(Struct, frozen=True, eq=False):
    """A conjunct of a ``clause`` (None for the equalities of USING and NATURAL), with the
    ``relations`` that it refers to. ``in_or``: a conjunct in one branch of an OR."""

    expression: Expression
    relations: frozenset[int]
    clause: Clause | None = None
    in_or: bool = False


class OutputColumn(Struct, frozen=True, eq=False):
    """A column of a SELECT list; its name is empty if the engine makes one up. ``label`` is the
    name as Spark shows it, None if that was not asked for or is not known."""

    name: str
    expression: Expression
    label: str | None = None


class Scan(Struct, frozen=True, eq=False):
    """A table that is read. ``parts``: its name as written; ``span``: the name in the text with its
    time travel (``version``); ``aliased``: an alias hides the name; ``first_rows``: its sample is
    ``TABLESAMPLE (n ROWS)``."""

    relation: int
    table: Table
    alias: str
    parts: Name
    span: Span | None
    streaming: bool = False
    sampled: bool = False
    version: str = ""
    aliased: bool = False
    first_rows: bool = False


class Derived(Struct, frozen=True, eq=False):
    """A subquery in FROM, a view (``view``: its name), the call of a table function (``span``: its
    name), or the query of an IN that is more than a SELECT (``span``: its opening parenthesis).
    ``columns``: new names for its columns; ``listed``: those written in its alias, at offset
    ``anchor``; ``outer``: its references to columns of enclosing queries."""

    relation: int
    query: Query
    alias: str
    span: Span | None
    columns: tuple[str, ...] = ()
    view: Name = ()
    parts: Name = ()
    listed: tuple[str, ...] = ()
    anchor: int | None = None
    outer: tuple[ColumnRef, ...] = ()
    lateral: bool = False
    sampled: bool = False
    aliased: bool = False


class CteReference(Struct, frozen=True, eq=False):
    """A reference to a common table expression of the statement, by the CTE's number."""

    relation: int
    cte: int
    query: Query
    alias: str
    name: str
    span: Span | None
    columns: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    sampled: bool = False


class Opaque(Struct, frozen=True, eq=False):
    """A relation of unknown columns: a table that is not in the catalog, a function …; ``unread``:
    its syntax is not understood. ``renamed``: the table whose columns its alias renames."""

    relation: int
    alias: str
    reason: str
    span: Span | None = None
    columns: tuple[str, ...] | None = None
    streaming: bool = False
    unread: bool = False
    renamed: Table | None = None


class Inline(Struct, frozen=True, eq=False):
    """VALUES: rows of constants. ``listed``: the columns in its alias; ``span``: from its first
    word, or the parenthesis before that, to the last row."""

    relation: int
    rows: tuple[tuple[Expression, ...], ...]
    columns: tuple[str, ...]
    alias: str
    span: Span | None
    listed: tuple[str, ...] = ()
    sampled: bool = False


Relation = Scan | Derived | CteReference | Inline | Opaque


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """A join.

    ``declared``: its type as written; ``type``: the type after null-rejecting conditions;
    ``at_first``: the type that Spark has before it infers IS NOT NULL, None for the declared one.
    ``comma``: a CROSS JOIN written as a comma, which engines plan as an inner join.
    ``merge_known``: False if it is uncertain which columns USING or NATURAL merges, or in which
    order.
    ``memo``: results about its columns (``memo.py``).
    """

    type: JoinType
    left: Node
    right: Node
    conditions: tuple[Condition, ...]
    declared: JoinType
    using: tuple[str, ...] = ()
    natural: bool = False
    comma: bool = False
    merge_known: bool = True
    at_first: JoinType | None = None
    memo: dict[object, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memo", {})


class Generate(Struct, frozen=True, eq=False):
    """LATERAL VIEW: the columns of a generator (None if the engine names them) beside those of
    ``child``."""

    relation: int
    child: Node
    alias: str
    columns: tuple[str, ...] | None
    expression: Expression


class Filter(Struct, frozen=True, eq=False):
    """WHERE, HAVING or QUALIFY (``clause``)."""

    child: Node
    conditions: tuple[Condition, ...]
    clause: str = "where"


class Aggregate(Struct, frozen=True, eq=False):
    """Aggregation. ``kind``: ``group by``, ``grouping sets``, ``distinct``, ``global``, or
    ``unknown``: any of these, or none."""

    child: Node
    keys: tuple[Expression, ...]
    kind: str = "group by"


class Window(Struct, frozen=True, eq=False):
    """Window functions, by their PARTITION BY keys."""

    child: Node
    partitions: tuple[tuple[Expression, ...], ...]


class Project(Struct, frozen=True, eq=False):
    """A SELECT list; ``complete`` is False where a ``*`` over unknown columns is part of it."""

    child: Node
    outputs: tuple[OutputColumn, ...]
    block: int
    complete: bool = True


class Limit(Struct, frozen=True, eq=False):
    """LIMIT or OFFSET. ``order``: the sort keys below it; ``most``: the number of LIMIT, 0 if that
    is no literal."""

    child: Node
    order: tuple[Expression, ...] = ()
    most: int = 0


class SetOperation(Struct, frozen=True, eq=False):
    """``union``, ``intersect`` or ``except``, by position; ``all`` keeps duplicates."""

    left: Node
    right: Node
    kind: str
    all: bool = False


class Unreadable(Struct, frozen=True, eq=False):
    """A query that is not understood, with the reason: TRANSFORM, a recursive CTE, VALUES …"""

    reason: str


Node = (
    Relation | Join | Generate | Filter | Aggregate | Window | Project | Limit | SetOperation
    | Unreadable
)  # fmt: skip


class Query(Struct, frozen=True, eq=False):
    """A query: its top node, the numbers of the blocks whose rows it returns (``top``) and of all
    blocks in it, and the names of its columns, None if not all are known."""

    node: Node
    top: tuple[int, ...]
    blocks: tuple[int, ...]
    names: tuple[str, ...] | None


class Block(Struct, frozen=True, eq=False):
    """One SELECT: its join tree, its WHERE conjuncts, and its place in the block around it.

    - ``role``: ``query``, ``merge`` (the join that a MERGE runs), ``change`` (the rows that a
      DELETE or UPDATE finds), ``derived``, ``lateral``, ``cte``, ``view``, or a subquery's kind
    - ``required``: this subquery alone is a conjunct of ``parent``'s WHERE; ``negated``: under NOT
    - ``aggregate``: the kind of its aggregation; ``order``: its sort or distribution keys
    - ``limit``: its own LIMIT, or that of a set operation above it
    - ``functions``: the names of functions called in it; ``ctes``: the names visible in it
    - ``unknown_values``, ``unknown_syntax``: why values, or parts of the text, are not understood
    - ``hints``: names of join hints, each with a relation, in lower case
    - ``select_offset``: the offset of its SELECT, if its FROM stands before that
    - ``shared``: its FROM, or its whole text, belongs to several SELECTs
    - ``no_where``: why no WHERE can be added to it
    - ``ranked``: the column by which all its windows rank rows; whether the greatest comes first
    """

    number: int
    parent: int | None
    role: str
    required: bool
    negated: bool
    source: Node
    where: tuple[Condition, ...]
    outputs: tuple[OutputColumn, ...]
    complete: bool
    aggregate: str | None
    keys: tuple[Expression, ...]
    having: tuple[Condition, ...]
    distinct: bool
    limit: Limit | None
    functions: frozenset[str]
    unknown_values: tuple[str, ...]
    ctes: Mapping[str, int]
    in_view: bool
    hints: tuple[tuple[str, str], ...] = ()
    unknown_syntax: tuple[str, ...] = ()
    select_offset: int | None = None
    shared: bool = False
    no_where: str = ""
    order: tuple[Expression, ...] = ()
    ranked: tuple[ColumnRef, bool] | None = None


class Cte(Struct, frozen=True, eq=False):
    """A common table expression: its query, the offset of its definition, its columns, its
    references to columns of enclosing queries (``outer``). A derived table that several SELECTs
    share is a CTE without a name."""

    number: int
    name: str
    query: Query
    offset: int
    columns: tuple[str, ...] = ()
    outer: tuple[ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A bound statement. It never changes, so answers about it are kept in ``memo``.

    ``owner``: the block in whose FROM each relation stands.
    ``unbound``: the CTEs with references that are not part of the plan.
    ``read_elsewhere``: it is the query of a view or a SQL function, which other statements read.
    ``settings``: a type is known only if it is the same under all of them.
    ``columns_only``: it serves the names and types of columns, and is never rewritten.
    """

    query: Query
    blocks: tuple[Block, ...]
    ctes: tuple[Cte, ...]
    relations: Mapping[int, Relation | Generate]
    owner: Mapping[int, int]
    unbound: frozenset[int]
    read_elsewhere: bool = False
    settings: tuple[ExactSettings, ...] = USUAL_SETTINGS
    columns_only: bool = False
    memo: dict[object, Any] = field(default_factory=dict, repr=False)
