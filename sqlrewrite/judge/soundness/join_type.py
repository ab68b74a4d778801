"""DPP101 join-type and DPP102 equi-join: join type × side × place, as one table (docs/soundness.md,
"Joins"); the kinds are those of ``JoinEdge``, with outer joins simplified by the conditions above.

A column counts as never NULL only where its format enforces NOT NULL. Measured on Spark 4.3: a
Parquet table with ``a INT NOT NULL`` accepts a NULL; Delta and Iceberg refuse the row.
"""

from __future__ import annotations

from enum import Enum

from sqlrewrite.find.pairs import Pair
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan.algebra import ColumnRef, Plan, Scan
from sqlrewrite.plan.joins import null_extended


class ClauseKind(Enum):
    """Where the predicate stands, for a fact in the block of the join itself."""

    WHERE = "WHERE"
    ON = "ON"


_WHERE, _ON, _NO = ClauseKind.WHERE, ClauseKind.ON, None

# (kind of edge, side of the fact) → where the predicate may stand. What is missing is not sound.
LEGAL: dict[tuple[str, str], ClauseKind | None] = {
    ("inner", "left"): _WHERE,
    ("inner", "right"): _WHERE,
    ("cross", "left"): _WHERE,
    ("cross", "right"): _WHERE,
    ("left", "left"): _NO,  # the fact is preserved: its rows come out without a partner
    ("left", "right"): _ON,  # null-extended: in WHERE it would drop the dimension's rows
    ("right", "left"): _ON,
    ("right", "right"): _NO,
    ("full", "left"): _NO,
    ("full", "right"): _NO,
    ("left semi", "left"): _WHERE,
    ("left semi", "right"): _ON,
    ("left anti", "left"): _NO,  # only rows without a partner come out
    ("left anti", "right"): _ON,
    ("exists", "outside"): _WHERE,
    ("exists", "inside"): _WHERE,
    ("not exists", "outside"): _NO,
    ("not exists", "inside"): _WHERE,
    ("in", "outside"): _WHERE,
    ("in", "inside"): _WHERE,
    ("in (not required)", "outside"): _NO,
    ("in (not required)", "inside"): _NO,
    ("not in", "outside"): _NO,
    ("not in", "inside"): _NO,  # a NULL among the facts' keys makes NOT IN hold for nothing
    ("not in (correlated)", "outside"): _NO,
    ("not in (correlated)", "inside"): _WHERE,
    ("scalar", "outside"): _NO,
    ("scalar", "inside"): _WHERE,  # for each row outside, the same rows are found
    ("lateral", "outside"): _NO,
    ("lateral join", "outside"): _WHERE,
    ("lateral", "inside"): _WHERE,
}

_WHY = {
    "left": "the LEFT JOIN keeps every row of the fact, so pruning it would lose rows: is "
    "an INNER JOIN meant?",
    "right": "the RIGHT JOIN keeps every row of the fact, so pruning it would lose rows: is "
    "an INNER JOIN meant?",
    "unknown": "the type of the join is not certain",
    "full": "a FULL JOIN keeps every row of both sides, so pruning either would lose rows",
    "left anti": "an anti-join keeps the rows without a match, which pruning by the keys "
    "would lose",
    "not exists": "NOT EXISTS keeps the rows without a match, which pruning by the keys would lose",
    "not in": "NOT IN keeps no row at all if one key is NULL, and a key may be NULL here",
    "not in (correlated)": "NOT IN keeps the rows without a match, which pruning by the "
    "keys would lose",
    "in (not required)": "a row may be returned although the IN does not hold for it",
    "scalar": "the fact's rows are returned whatever the subquery finds",
    "lateral": "the fact's rows may be returned whatever the LATERAL subquery finds",
}


def clause_for(pair: Pair) -> ClauseKind | None:
    """The clause that the predicate may stand in, or None."""
    clause = LEGAL.get((pair.edge.kind, pair.side))
    # An inner join on a null-extended side filters only the rows below the outer join.
    return ClauseKind.ON if clause is ClauseKind.WHERE and not pair.edge.implied else clause


def judge_join_type(proposal: Proposal) -> Judgement:
    """Whether the fact's rows without a partner may be removed below the join."""
    pair = proposal.pair
    kind, side = pair.edge.kind, pair.side
    both = (never_null(proposal.plan, ref) for ref in (pair.fact, pair.key))
    if (kind, side) == ("not in", "inside") and all(both):
        return passed("NOT IN over two columns that are NOT NULL is an anti-join")
    if clause_for(pair) is None:
        return failed(_WHY.get(kind, f"{kind} does not let the fact be filtered"))
    if (kind, side) in (("exists", "outside"), ("lateral join", "outside")):
        functions = pair.edge.block.functions - {"?"}
        unsure = [name for name in sorted(functions) if not _known(proposal, name)]
        if unsure:
            why = "may be an aggregate, which returns a row even where nothing matches"
            return failed(f"{unsure[0]}() in the subquery {why}")
    if side in ("outside", "inside"):
        return passed(f"{kind} subquery, the fact {side}: it can be filtered there")
    if kind in ("inner", "cross"):
        return passed("inner join: either side can be filtered")
    return passed(f"{kind} join, the fact on its {side}: it can be filtered")


def _known(proposal: Proposal, name: str) -> bool:
    """Whether a function is known to be no aggregate, which gives a row of its own."""
    row = proposal.options.function(name)
    return row is not None and row.deterministic


_ENFORCING = frozenset({"delta", "iceberg"})


def judge_equi_join(proposal: Proposal) -> Judgement:
    """Whether a fact row's partners are those whose key equals its partition column."""
    pair = proposal.pair
    if pair.operator == "=":
        return passed("the columns are tied by =")
    if pair.operator in ("<", "<="):
        return passed(f"tied by {pair.operator}: the largest key bounds the column")
    if pair.operator in (">", ">="):
        return passed(f"tied by {pair.operator}: the smallest key bounds the column")
    # Of the comparison's own operand: what another relation has in its place says nothing of NULL.
    own_key = pair.key_plain and pair.key_side.operand is not None
    key_enforced = own_key and never_null(proposal.plan, pair.key)
    if pair.fact_plain and (
        key_enforced or (pair.key_plain and never_null(proposal.plan, pair.fact))
    ):
        return passed("tied by <=>, and one side is NOT NULL")
    if pair.derived is not None and pair.derived.strict:
        return passed("tied by <=>: what is computed of NULL is NULL, and those rows stay")
    return failed(
        "<=> pairs NULL with NULL and IN does not: one of the columns must be NOT NULL in a table "
        "that enforces it (Delta, Iceberg)"
    )


def never_null(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column of a base table is NOT NULL where its block uses it."""
    scan = plan.relations[ref.relation]
    if not isinstance(scan, Scan) or scan.table.provider not in _ENFORCING:
        return False
    column = scan.table.column(ref.name)
    block = plan.blocks[plan.owner[ref.relation]]
    if column is None or column.nullable:
        return False
    return not null_extended(block.source, ref.relation)
