"""DPP010: a MERGE that reads the whole of a partitioned target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from sqlrewrite.find.pairs import Pair
from sqlrewrite.linting.checked_statement import CheckedStatement
from sqlrewrite.linting.findings import Finding, Severity
from sqlrewrite.linting.scan_checks import bounds
from sqlrewrite.plan.algebra import Join, JoinType, Plan, Scan

MERGED = "DPP010"
"""The code of the rule."""

_CARRIES = frozenset({"iceberg"})
"""Formats whose MERGE, copying on write as by default, carries constants of the source's key over
to the target (docs/spark.md, "Literals in a MERGE")."""

_HOW = (
    "a MERGE prunes its target by constants in the ON alone: `--predicate values` writes the "
    "source's keys there right before it runs; or restrict {shown} there by hand"
)
_UNMATCHED = (
    "if rows of other partitions should stay: leave that clause out, put the source's partitions "
    "into the ON as constants, and then DELETE FROM the target WHERE {shown} is one of them and "
    "no row of the source matches"
)
_NONE = "restrict {shown} in the ON, or join by it too if the source has it"


class WholeTarget(Struct, frozen=True):
    """The target of a MERGE that is read whole: its partition columns, and those of them that its
    source has keys for; ``unmatched``: WHEN NOT MATCHED BY SOURCE looks at each of its rows."""

    scan: Scan
    columns: tuple[str, ...]
    joined: tuple[str, ...]
    unmatched: bool = False

    @property
    def why(self) -> str:
        """Why the whole target is read."""
        shown = _quoted(self.joined or self.columns)
        if self.unmatched:
            name = self.scan.alias or self.scan.parts[-1]
            return (
                "this MERGE reads the whole target: WHEN NOT MATCHED BY SOURCE asks for each row "
                f"of `{name}` whether a row of the source matches it"
            )
        if not self.joined:
            return f"this MERGE reads the whole target: nothing in its ON restricts {shown}"
        return (
            "this MERGE reads the whole target: its ON compares "
            f"{shown} with the source's rows, which prunes nothing"
        )

    @property
    def how(self) -> str:
        """The advice for this MERGE."""
        if self.unmatched:
            return _UNMATCHED.format(shown=_quoted(self.columns))
        return (_HOW if self.joined else _NONE).format(shown=_quoted(self.joined or self.columns))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def merge_reads_all(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP010: nothing in the ON of a MERGE says by itself which partitions of the target count."""
    whole_target = whole(checked.plan, checked.decided.reading.pairs)
    if whole_target is None or whole_target.scan.span is None:
        return
    scan, predicates, refused = whole_target.scan, [], ""
    replaced = {checked.stripped.removed_predicates[span].value for span in checked.replaced}
    for candidate, proposal in zip(checked.candidates, checked.decided.proposals, strict=True):
        pair = proposal.pair
        if pair.target is not scan or not pair.constants_only:
            continue
        written = (candidate.fact, candidate.dimension) in checked.already_written
        if written or replaced & {predicate.bounded for predicate in proposal.predicates}:
            return  # the predicate is in the text, or DPP002 reports what replaces it
        if pair.bounds:
            predicates += [predicate.text for predicate in proposal.predicates]
            if candidate.reason is not None:
                refused = f"; the constants of `{candidate.dimension.table}` are not written: "
                refused += candidate.reason.message
    where, what = whole_target.scan.span, scan.alias or scan.parts[-1]
    how, severity = whole_target.how, Severity.NOTE if whole_target.unmatched else None
    if predicates:
        how = f"add `{' AND '.join(predicates)}` to the ON; `dpp-rewrite --write` does"
    elif refused and not whole_target.unmatched:
        how += refused
    fix = checked.fix if predicates else None
    yield checked.finding(MERGED, where, what, whole_target.why, how, fix, severity)


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
    if not names:
        return None
    joined = tuple(_joined(pairs, scan))
    if join.type is JoinType.FULL:
        return WholeTarget(scan, tuple(sorted(names)), joined, unmatched=True)
    if any(bounds(condition.expression, scan.relation, choosing) for condition in join.conditions):
        return None
    if table.provider in _CARRIES and any(
        not bound.listed for pair in _tied(pairs, scan) for bound in pair.bounds
    ):
        return None
    return WholeTarget(scan, tuple(sorted(names)), joined)


def target(plan: Plan) -> tuple[Join, Scan] | None:
    """The join of a MERGE, and its target; None for another statement, and for a MERGE whose target
    is not a known table."""
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
    return [pair for pair in pairs if pair.target is scan and pair.constants_only]
