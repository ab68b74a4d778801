"""DPP010: a MERGE that reads the whole of a partitioned target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlrewrite.find.pairs import Pair
from sqlrewrite.linting.checked_statement import CheckedStatement
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.scan_checks import bounds
from sqlrewrite.plan.algebra import Call, Cast, Derived, Expression, Join, Literal, Plan, Scan
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.lineage import same_column

MERGED = "DPP010"
"""The code of the rule."""

_CARRIES = frozenset({"iceberg"})
"""Formats whose MERGE, copying on write as by default, carries constants of the source's key over
to the target (docs/spark.md, "Literals in a MERGE")."""

_HOW = (
    "constants in the ON alone prune a MERGE's target: `--predicate values` writes the source's "
    "keys there right before it runs; or restrict {shown} there by hand"
)
_NONE = "restrict {shown} in the ON, or join by it too if the source has it"


@dataclass(frozen=True, slots=True)
class WholeTarget:
    """The target of a MERGE that is read whole: its partition columns, and those of them that its
    source has keys for."""

    scan: Scan
    columns: tuple[str, ...]
    joined: tuple[str, ...]

    @property
    def why(self) -> str:
        """Why the whole target is read."""
        shown = ", ".join(self.joined or self.columns)
        if not self.joined:
            return f"this MERGE reads the whole target: nothing in its ON restricts {shown}"
        are = "columns are" if len(self.joined) > 1 else "column is"
        count = f"{len(self.joined)} partition {are} joined"
        return f"this MERGE reads the whole target: {count}, {shown}"

    @property
    def how(self) -> str:
        """What to do about it."""
        return (_HOW if self.joined else _NONE).format(shown=", ".join(self.joined or self.columns))


def merge_reads_all(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP010: nothing in the ON of a MERGE says by itself which partitions of the target count."""
    whole_target = whole(checked.plan, checked.decided.reading.pairs)
    if whole_target is None or whole_target.scan.span is None:
        return
    scan = whole_target.scan
    where, what = whole_target.scan.span, scan.alias or scan.parts[-1]
    yield checked.finding(MERGED, where, what, whole_target.why, whole_target.how)


def whole(plan: Plan, pairs: Sequence[Pair]) -> WholeTarget | None:
    """The target that a statement's MERGE reads whole, if it does."""
    join_and_scan = target(plan)
    if join_and_scan is None:
        return None
    join, scan = join_and_scan
    table = scan.table
    names = table.partitioning
    # Conditions on the source of a derived partition column, or on a sort column, skip files, too.
    sources = (
        name
        for derivation in table.derived
        if derivation.column.lower() in names
        for name in derivation.sources
    )
    choosing = names.union(sources, table.clustered_by)
    if not names or any(
        bounds(condition.expression, scan.relation, choosing) for condition in join.conditions
    ):
        return None
    if table.provider in _CARRIES and any(
        _constant_keys(plan, pair) for pair in _tied(pairs, scan)
    ):
        return None
    return WholeTarget(scan, tuple(sorted(names)), tuple(_joined(pairs, scan)))


def target(plan: Plan) -> tuple[Join, Scan] | None:
    """The join of a MERGE, and its target; None for another statement, and for a MERGE whose target
    is not a known table, or is read whole because of rows that match nothing."""
    block = next((own for own in plan.blocks if own.role == "merge"), None)
    if block is None or not isinstance(block.source, Join):
        return None
    scan = block.source.right
    return (block.source, scan) if isinstance(scan, Scan) else None


def _joined(pairs: Sequence[Pair], scan: Scan) -> list[str]:
    """The partition columns of a MERGE's target that its source has keys for."""
    return sorted({pair.target_column for pair in _tied(pairs, scan)})


def _tied(pairs: Sequence[Pair], scan: Scan) -> list[Pair]:
    """The pairs of a MERGE's target with its source."""
    return [pair for pair in pairs if pair.target is scan and pair.edge.block.role == "merge"]


def _constant_keys(plan: Plan, pair: Pair) -> bool:
    """Whether the source of a MERGE is a SELECT that gives the key by a constant, or compares it
    with constants by ``=`` or IN."""
    source = pair.dimension
    if not isinstance(source, Derived) or len(source.query.top) != 1 or source.columns:
        return False
    block = plan.blocks[source.query.top[0]]
    keys = [output.expression for output in block.outputs if output.name == pair.key.name]
    if len(keys) != 1 or not block.complete:
        return False
    if not columns(keys[0]):
        return all(isinstance(node, Literal | Cast) for node in walk(keys[0]))
    return any(_compares(condition.expression, keys[0]) for condition in block.where)


def _compares(condition: Expression, key: Expression) -> bool:
    match condition:
        case Call(name="=" | "in", args=(one, *others)):
            return same_column(one, key) and all(isinstance(other, Literal) for other in others)
        case _:
            return False
