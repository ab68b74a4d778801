"""The columns that a scan may be pruned by, and which of them are computed from others.

In: a scan. Out: a ``DerivedColumn`` for each computed column, with what its expression keeps of the
source, or why nothing can be derived. A bound on the source then bounds the column.
"""

from __future__ import annotations

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.plan.algebra import (
    Call,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Plan,
    Relation,
    Scan,
)
from sqlrewrite.plan.expressions import canonical, columns
from sqlrewrite.plan.facts.derivations import Shape, in_order_of_days, part, shape, unit
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.facts.types import DATE, MOMENTS, TIMESTAMP, TIMESTAMP_NTZ, Type
from sqlrewrite.plan.lineage import LineagePath, steps
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.null_rejection import null_from
from sqlrewrite.sql.bind.formulas import Formula, formula
from sqlrewrite.warehouse import Derivation

SOURCE, SAME, DAY, THROUGH = "source", "same", "day", "through"
"""What one side of a comparison is to a derived column: its source; its own expression; the day of
the source; or an expression whose value that day decides, if the derived column is the day."""


class DerivedColumn(Struct, frozen=True, eq=False):
    """A partition column that is computed from its ``source``. Without a ``shape`` no bound follows
    for it, and ``why`` says why. ``ends``: it is not computed, but the source itself, of which the
    format keeps each file's minimum and maximum."""

    column: str
    source: str
    derivation: Derivation
    formula: Formula | None = None
    shape: Shape | None = None
    why: str = ""
    ends: bool = False

    @property
    def type(self) -> Type | None:
        """The type of its expression."""
        return None if self.formula is None else self.formula.of(self.formula.expression)

    @property
    def strict(self) -> bool:
        """Whether it is surely NULL if its source is."""
        if self.formula is None:
            return False
        expression = self.formula.expression
        return null_from(expression, frozenset(column.relation for column in columns(expression)))

    @property
    def shown(self) -> str:
        """The column's declaration and where it was declared, for a message."""
        if self.ends:
            return f"each file records its smallest and its largest {self.column}"
        return f"{self.column} = {self.derivation.expression}, declared by {self.derivation.origin}"

    def hidden(self, why: str) -> DerivedColumn:
        """This column without bounds, because of ``why``."""
        return replace(self, formula=None, shape=None, why=self.why or why)


@remembered
def derived_columns(_: Plan, scan: Scan) -> tuple[DerivedColumn, ...]:
    """The partition columns of a scan's table that are computed from other columns."""
    fields = (field for field in scan.table.partitioned_by if field.transform == "identity")
    identities = {field.column.lower() for field in fields}
    computed = (
        derivation for derivation in scan.table.derived if derivation.column.lower() in identities
    )
    return tuple(column for derivation in computed for column in _read(derivation, scan))


def _read(derivation: Derivation, scan: Scan) -> list[DerivedColumn]:
    name = derivation.column.lower()
    source_formula = formula(derivation.expression, scan.table)
    if isinstance(source_formula, str):
        return [
            DerivedColumn(name, source, derivation, why=source_formula)
            for source in derivation.sources
        ]
    derived_shape = shape(source_formula.expression, source_formula.of)
    if derived_shape is None:
        why = "it may give another value when it is computed again"
        return [DerivedColumn(name, source_formula.source, derivation, why=why)]
    return [DerivedColumn(name, source_formula.source, derivation, source_formula, derived_shape)]


@remembered
def columns_with_ends(_: Plan, scan: Scan) -> tuple[DerivedColumn, ...]:
    """The date and time columns of which a format keeps each file's minimum and maximum: those that
    rows are clustered by, and Iceberg's partition columns."""
    table = scan.table
    fields = (field.column.lower() for field in table.partitioned_by if table.provider == "iceberg")
    with_ends: list[DerivedColumn] = []
    for name in dict.fromkeys((*fields, *table.clustered_by)):
        read = formula(f"`{name}`", table)
        if not isinstance(read, str) and read.of(read.expression) in MOMENTS:
            itself = Derivation(name, read.text, (name,), "")
            kind = Shape(daily=read.of(read.expression) == DATE)
            with_ends.append(DerivedColumn(name, name, itself, read, kind, ends=True))
    return tuple(with_ends)


def derived_from(plan: Plan, scan: Scan, column: str) -> tuple[DerivedColumn, ...]:
    """The derived partition columns of a scan that are computed from one of its columns."""
    return tuple(
        derived_column
        for derived_column in derived_columns(plan, scan)
        if derived_column.source == column
    )


_SMALLER = {"year": ("month", "quarter"), "month": ("day",), "day": ("hour",)}
"""For each unit of time, the smaller units that refine it; the first that is a column of the table
counts."""


def smaller_units(plan: Plan, scan: Scan, of: DerivedColumn) -> tuple[DerivedColumn, ...]:
    """The derived columns of month, day and hour beside a column of years. Only together with the
    year are they in the order of time."""
    others = {
        _unit_of(derived_column): derived_column
        for derived_column in derived_columns(plan, scan)
        if derived_column.source == of.source
    }
    units: list[DerivedColumn] = []
    at = _unit_of(of)
    while at is not None and (units or at[0] == "year"):
        smaller = ((name, at[1]) for name in _SMALLER.get(at[0], ()))
        at = next((smaller_unit for smaller_unit in smaller if smaller_unit in others), None)
        units += [others[at]] if at is not None else []
    return tuple(units)


def _unit_of(column: DerivedColumn) -> tuple[str, object] | None:
    """The unit (year, month …) that a column holds, and the expression that it is taken from, in a
    form that can be compared."""
    its_unit = None if column.formula is None else unit(column.formula.expression)
    return None if its_unit is None else (its_unit[0], canonical(its_unit[1]))


def stands_for(side: Expression, of: DerivedColumn, kind: Type | None) -> str | None:
    """Which of SOURCE, SAME, DAY and THROUGH one side of a comparison is; None for any other
    expression. ``kind`` is the type of the source column."""
    if isinstance(side, ColumnRef):
        return SOURCE
    if kind in (TIMESTAMP, TIMESTAMP_NTZ) and is_day(side):
        return DAY
    if of.formula is None:
        return None
    if canonical(part(side)) == canonical(part(of.formula.expression)):
        return SAME
    return THROUGH if is_day(of.formula.expression) and _by_day(side) else None


def is_day(expression: Expression) -> bool:
    """Whether an expression is the day of a column."""
    return column_of_day(expression) is not None


def column_of_day(expression: Expression) -> ColumnRef | None:
    """The column whose day an expression is; None for any other."""
    match expression:
        case (
            Cast(operand=ColumnRef() as column, type="date")
            | Call(name="to_date", args=(ColumnRef() as column,))
        ):
            return column
        case _:
            return None


_MONTHLY = frozenset("yM")
"""The letters of date patterns for years and months."""


def decided_by_weeks(side: Expression) -> bool:
    """Whether an expression has one value for all days of a week, a month or a longer unit."""
    match side:
        case Call(name="trunc"):
            return True
        case Call(name="date_format", args=(_, Literal(text=text))):
            return _MONTHLY.issuperset(letter for letter in text if letter.isalpha())
        case Call(name=name):
            return name in ("year", "quarter", "month", "weekofyear")
        case _:
            return False


def _by_day(side: Expression) -> bool:
    """Whether an expression over a date or time depends on its day alone and raises no error."""
    match side:
        case Call(name=name, args=(inner,)):
            decided = name in tagged("year") or name in tagged("days")
        case Call(name="trunc", args=(inner, Literal(kind="string"))):
            decided = True
        case Call(name="date_format", args=(inner, Literal(kind="string", text=text))):
            decided = in_order_of_days(text)
        case _:
            return False
    return decided and (isinstance(inner, ColumnRef) or is_day(inner))


def may_prune(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column may come from a column that its scan can be pruned by."""
    return _leads_to_prunable(plan, ref.relation, ref.name)


@remembered
def _leads_to_prunable(plan: Plan, relation: int, column: str) -> bool:
    end = plan.relations[relation]
    if isinstance(end, Scan):
        return partitioned(plan, end, column)
    ways = steps(plan, end, column) if isinstance(end, Relation) else ()
    return any(_leads_to_prunable(plan, step.end.relation, step.column) for step in ways)


def prunable(plan: Plan, path: LineagePath) -> bool:
    """Whether a path ends in a column that its scan can be pruned by (``partitioned``)."""
    return isinstance(path.end, Scan) and partitioned(plan, path.end, path.column)


def partitioned(plan: Plan, scan: Scan, column: str) -> bool:
    """Whether a bound on a column prunes its table: the column is ``bounded``, or a partition
    column is computed from it."""
    if not scan.table.prunable:  # as most are
        return False
    return bounded(scan, column) or bool(derived_from(plan, scan, column))


def bounded(scan: Scan, column: str) -> bool:
    """Whether a table is partitioned by a column (or a transform of it), or clustered by it."""
    return column in scan.table.clustered_by or column in scan.table.partitioning
