"""The values of the plan: expressions, relations at the leaves, operators above them, one block for
each SELECT. Who needs many of them imports this module as ``ra``: relational algebra.

An operator or function is a ``Call`` under its SQL name (``and``, ``=``, ``upper``), so that what
is legal can be a table of names. Relations are numbered through the whole statement: a reference to
a column means the same wherever it is carried. Two nodes are the same only if they are one
(``eq=False``, quick to define).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Any, NamedTuple

from sqlrewrite.frozen import dataclass
from sqlrewrite.text.edits import Span
from sqlrewrite.warehouse import Name, Table


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the relation with that number; ``qualified`` as written."""

    relation: int
    name: str
    span: Span | None
    qualified: bool = True


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: ``string``, ``number``, ``null``, ``boolean``, ``star``, ``typed`` (DATE '…',
    with its ``type``), ``template`` (a string with a template in it, whose value is not known)."""

    kind: str
    text: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter marker; a positional one (``?``) must not be repeated in the text."""

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
    """A query inside an expression: ``scalar``, ``exists`` or ``in`` (then with its operand);
    ``outer`` are the columns of enclosing queries it refers to."""

    kind: str
    query: Query
    operand: Expression | None = None
    outer: tuple[ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of a lambda, the one at a ``place`` of the lambda of that ``number`` in a call of
    ``function``, whose first arguments are ``given``. It is a Call of ``=>`` over its body."""

    name: str
    function: str
    given: tuple[Expression, ...]
    number: int
    place: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the binder does not know: never copied, never reasoned about."""

    reason: str
    args: tuple[Expression, ...] = ()


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
    __hash__ = object.__hash__  # an Enum's own is a function of Python's, and asked often


class Clause(NamedTuple):
    """A WHERE or ON in the text, found again by the offset of something inside it."""

    kind: str
    anchor: int


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """One conjunct over ``relations``; ``ordinal`` is its place among the ``of`` of its clause,
    which is None for the equalities of USING and NATURAL. A part of an OR has a ``path`` to it: in
    turn a branch of an OR and a conjunct of that branch, each with the number of its like."""

    expression: Expression
    relations: frozenset[int]
    clause: Clause | None = None
    ordinal: int = 0
    of: int = 1
    path: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OutputColumn:
    """A column of a SELECT list under its name, which is empty where the engine makes one up."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """A base table read; ``span`` is its name with any time travel (``version``), ``parts`` the
    name; ``aliased`` says that an alias hides the name."""

    relation: int
    table: Table
    alias: str
    parts: Name
    span: Span | None
    streaming: bool = False
    sampled: bool = False
    version: str = ""
    aliased: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """A subquery in FROM, or a view under its name (``view``, ``span``); ``columns`` rename, its
    alias at ``anchor`` lists the ``listed`` of them; ``outer`` is what it refers to outside.
    The call of a table function (``span``: its name) is one, and the query of an IN of more
    than a SELECT (``span``: the parenthesis before it)."""

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


@dataclass(frozen=True, slots=True, eq=False)
class CteReference:
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


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A relation that is not known: a table, a table function …; ``unread``: nor is its syntax."""

    relation: int
    alias: str
    reason: str
    span: Span | None = None
    columns: tuple[str, ...] | None = None
    streaming: bool = False
    unread: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Inline:
    """VALUES: rows of constants; ``listed`` are the columns that the alias lists, ``span`` is from
    the first word, or the parenthesis before it, to the last row."""

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
    """A join: ``declared`` as written, ``type`` after null-rejecting conditions are taken in;
    ``comma`` says of one declared CROSS that it is a comma, which engines plan as an inner join;
    ``settled`` is False where it is not certain which columns it merges, or in which order."""

    type: JoinType
    left: Node
    right: Node
    conditions: tuple[Condition, ...]
    declared: JoinType
    using: tuple[str, ...] = ()
    natural: bool = False
    comma: bool = False
    settled: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Generate:
    """LATERAL VIEW: a generator's columns beside its child's; None where the engine names them."""

    relation: int
    child: Node
    alias: str
    columns: tuple[str, ...] | None
    expression: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """WHERE, HAVING or QUALIFY (``clause``)."""

    child: Node
    conditions: tuple[Condition, ...]
    clause: str = "where"


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """``kind``: ``group by``, ``grouping sets``, ``distinct``, ``global``, or ``unknown``: any."""

    child: Node
    keys: tuple[Expression, ...]
    kind: str = "group by"


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Window functions: the PARTITION BY keys of each."""

    child: Node
    partitions: tuple[tuple[Expression, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """A SELECT list; ``complete`` is False where a ``*`` over unknown columns is part of it."""

    child: Node
    outputs: tuple[OutputColumn, ...]
    block: int
    complete: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """LIMIT or OFFSET; ``order`` are the sort keys below it, ``most`` the number of LIMIT, 0 where
    it is none that is written out."""

    child: Node
    order: tuple[Expression, ...] = ()
    most: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class SetOperation:
    """``union``, ``intersect`` or ``except``, by position; ``all`` keeps duplicates."""

    left: Node
    right: Node
    kind: str
    all: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Unreadable:
    """A query that is not understood (TRANSFORM, a recursive CTE, VALUES …), with the reason."""

    reason: str


Node = (
    Relation | Join | Generate | Filter | Aggregate | Window | Project | Limit | SetOperation
    | Unreadable
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query: its top node, the blocks whose rows it returns, all blocks in it, by number, and the
    names of its columns, None where they are not all known."""

    node: Node
    top: tuple[int, ...]
    blocks: tuple[int, ...]
    names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One SELECT: its join tree, its WHERE conjuncts, and how it stands in the block around it.
    ``role`` is ``query``, ``merge`` (the join that one runs), ``change`` (the rows that a DELETE or
    UPDATE finds), ``derived``, ``lateral``, ``cte`` or ``view``, or of a subquery its kind; then
    ``required`` says that it is by itself a conjunct of ``parent``'s WHERE, ``negated`` that it is
    under NOT. ``aggregate`` is the kind of its aggregation, ``order`` what it is sorted or spread
    by, ``limit`` one of its own or of a set operation above it; ``functions`` are the names called
    in it, ``unknowns`` what was not understood of its values, ``strange`` of its syntax, ``ctes``
    the names visible in it, ``hints`` those of joins, each with a relation, in lower case; ``led``
    is where its SELECT stands if its FROM is before it; ``shared``: several SELECTs have its FROM,
    or all of its text; ``homeless``: why it has no WHERE; ``ranked``: by what all of its windows
    rank its rows, and whether the greatest comes first."""

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
    unknowns: tuple[str, ...]
    ctes: Mapping[str, int]
    in_view: bool
    hints: tuple[tuple[str, str], ...] = ()
    strange: tuple[str, ...] = ()
    led: int | None = None
    shared: bool = False
    homeless: str = ""
    order: tuple[Expression, ...] = ()
    ranked: tuple[ColumnRef, bool] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Cte:
    """A common table expression: its query, where it is defined, its columns, what it refers to
    outside. A derived table that several SELECTs share is one without a name."""

    number: int
    name: str
    query: Query
    offset: int
    columns: tuple[str, ...] = ()
    outer: tuple[ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A bound statement; ``owner`` gives the block in whose FROM a relation stands, ``unbound`` are
    the CTEs that something refers to which is not part of the plan. It never changes: what was once
    worked out about it is kept in ``memo``, by question."""

    query: Query
    blocks: tuple[Block, ...]
    ctes: tuple[Cte, ...]
    relations: Mapping[int, Relation | Generate]
    owner: Mapping[int, int]
    unbound: frozenset[int]
    memo: dict[object, Any] = field(default_factory=dict, repr=False)
