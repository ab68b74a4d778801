"""The tree of a query, as Spark's grammar (``SqlBaseParser.g4`` of 4.3) reads it.

One class for each rule that says something of names and types; clauses that say nothing of them
(ORDER BY, hints, LIMIT, samples) are read and dropped.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WrittenLiteral:
    """A constant. ``kind`` is ``string``, ``null``, ``boolean``, ``number``, a number's suffix in
    upper case, or the word before a string (``date``, ``x``)."""

    kind: str
    text: str


def is_string(it: Expr) -> bool:
    """Whether an expression is a constant string."""
    return isinstance(it, WrittenLiteral) and it.kind == "string"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval: its values with their units, and the last unit of ``'1-2' YEAR TO MONTH``."""

    parts: tuple[tuple[str, str], ...]
    to: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A name of one part; more parts are a ``Field`` of it."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """``base.name``: part of a qualified name, or a field of a struct."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Star:
    """``*`` or ``a.b.*``, with names in EXCEPT."""

    qualifier: tuple[str, ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its operands; ``operator`` in upper case. See ``expressions.py``. IN a list
    is one over all values, ``a[b]`` the operator ``[]``."""

    operator: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class WrittenCast:
    """A cast to the type that a text names."""

    operand: Expr
    to: str
    safe: bool = False


@dataclass(frozen=True, slots=True)
class WrittenCase:
    """CASE; its branches are pairs, and an ``operand`` is compared with each condition."""

    operand: Expr | None
    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr | None


@dataclass(frozen=True, slots=True)
class WrittenSubquery:
    """A query as a value: ``exists``, ``scalar``, or ``in`` with what is looked for in it."""

    kind: str
    query: WrittenQuery
    operand: Expr | None = None


@dataclass(frozen=True, slots=True)
class Lambda:
    """``(x, y) -> body``."""

    parameters: tuple[str, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Order:
    """A key of ORDER BY: NULLS FIRST or LAST as Spark completes it."""

    key: Expr
    descending: bool
    nulls: str


@dataclass(frozen=True, slots=True)
class Frame:
    """ROWS or RANGE between two bounds; a bound is a word, or an expression and a word."""

    unit: str
    start: tuple[Expr | None, str]
    end: tuple[Expr | None, str]


@dataclass(frozen=True, slots=True)
class WrittenWindow:
    """A window, or the name of one."""

    name: str | None = None
    partition: tuple[Expr, ...] = ()
    order: tuple[Order, ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call of a function under the name as written, and what may follow it."""

    name: tuple[str, ...]
    arguments: tuple[Expr, ...]
    distinct: bool = False
    within: tuple[Order, ...] = ()
    filter: Expr | None = None
    over: WrittenWindow | None = None


@dataclass(frozen=True, slots=True)
class SpecialForm:
    """A function with a syntax of its own; ``name`` in upper case: EXTRACT, TRIM … A path into a
    variant is ``:`` with its last name, an argument by its name ``=>`` with that."""

    name: str
    arguments: tuple[Expr, ...]
    word: str = ""


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """``(a, b AS c)``, or ``struct(a, b AS c)``: values with the names that AS gives them."""

    items: tuple[WrittenItem, ...]
    written: bool = False


Expr = (
    WrittenLiteral | Interval | WrittenName | Field | Star | Operation | WrittenCast | WrittenCase
    | WrittenSubquery | Lambda | WrittenCall | SpecialForm | WrittenRow
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """An expression with the name that AS gives it, or several names."""

    value: Expr
    names: tuple[str, ...] = ()


# --- relations ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aliased:
    """``relation AS name (columns)``, and what LATERAL VIEW calls a generator's columns."""

    relation: WrittenRelation
    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableName:
    """A table, view or CTE by its name."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WrittenDerived:
    """A query in FROM."""

    query: WrittenQuery
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES: rows of expressions."""

    rows: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class WrittenJoin:
    """A join: inner, cross, left, right, full, semi or anti; ``using`` are its names."""

    left: WrittenRelation
    right: WrittenRelation
    kind: str
    natural: bool = False
    using: tuple[str, ...] = ()
    on: Expr | None = None


@dataclass(frozen=True, slots=True)
class Pivot:
    """PIVOT: aggregates for each of the values of some columns."""

    relation: WrittenRelation
    aggregates: tuple[WrittenItem, ...]
    columns: tuple[str, ...]
    values: tuple[WrittenItem, ...]


@dataclass(frozen=True, slots=True)
class Unpivot:
    """UNPIVOT: columns turned into rows; ``sets`` are the columns of each row."""

    relation: WrittenRelation
    values: tuple[str, ...]
    name: str
    sets: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class PipeInput:
    """Where a relation of the pipe syntax begins: what stands before the operator."""


WrittenRelation = (
    Aliased | TableName | PipeInput | WrittenDerived | Values | WrittenCall | WrittenJoin | Pivot
    | Unpivot
)  # fmt: skip
"""What stands in FROM; a call is that of a function of tables."""


# --- queries --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT. ``groups`` are the keys of GROUP BY, ``conditions`` those of WHERE and HAVING: of
    these only the names matter that belong to a query around this one. ``script`` are the columns
    and types of a TRANSFORM's rows: none where it says none, None where there is no TRANSFORM."""

    items: tuple[WrittenItem, ...]
    source: WrittenRelation | None
    windows: tuple[tuple[str, WrittenWindow], ...] = ()
    groups: tuple[Expr, ...] = ()
    conditions: tuple[Expr, ...] = ()
    script: tuple[tuple[str, str | None], ...] | None = None


@dataclass(frozen=True, slots=True)
class WrittenSetOperation:
    """UNION, INTERSECT or EXCEPT."""

    left: Body
    right: Body
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class Piped:
    """A query with an operator of the pipe syntax behind it."""

    source: Body
    operator: str
    items: tuple[WrittenItem, ...] = ()
    groups: tuple[WrittenItem, ...] = ()
    relation: WrittenRelation | None = None
    names: tuple[str, ...] = ()
    windows: tuple[tuple[str, WrittenWindow], ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenCte:
    """A common table expression."""

    name: str
    columns: tuple[str, ...]
    query: WrittenQuery


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A query with its common table expressions."""

    body: Body
    ctes: tuple[WrittenCte, ...] = ()
    recursive: bool = False


Body = Select | WrittenSetOperation | WrittenQuery | Piped | WrittenRelation
"""A query, or a relation as one: ``TABLE name``, VALUES or a bare FROM."""
