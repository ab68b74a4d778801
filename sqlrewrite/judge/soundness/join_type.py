"""DPP101 join-type and DPP102 equi-join: join type × side of the fact → clause, as one table
(docs/soundness.md, "Joins"). Join types are those of ``JoinEdge``: a LEFT JOIN whose NULLs the
WHERE drops is an inner one.

A column counts as never NULL only if its format enforces NOT NULL. Measured on Spark 4.3: a Parquet
table with ``a INT NOT NULL`` accepts a NULL; Delta and Iceberg refuse the row.
"""

from __future__ import annotations

from enum import Enum

from sqlrewrite.find.pairs import Pair
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan.algebra import ColumnRef, Plan, Scan
from sqlrewrite.plan.joins import null_extended


class ClauseKind(Enum):
    """The clause of the predicate, for a fact in the block of the join itself."""

    WHERE = "WHERE"
    ON = "ON"


_WHERE, _ON, _NO = ClauseKind.WHERE, ClauseKind.ON, None

# (kind of edge, side of the fact) → the clause of a sound predicate. What is missing is not sound.
LEGAL: dict[tuple[str, str], ClauseKind | None] = {
    ("inner", "left"): _WHERE,
    ("inner", "right"): _WHERE,
    ("cross", "left"): _WHERE,
    ("cross", "right"): _WHERE,
    ("left", "left"): _NO,  # every row of the fact is kept, also without a match
    ("left", "right"): _ON,  # in WHERE it would drop the dimension's rows without a match
    ("right", "left"): _ON,
    ("right", "right"): _NO,
    ("full", "left"): _NO,
    ("full", "right"): _NO,
    ("left semi", "left"): _WHERE,
    ("left semi", "right"): _ON,
    ("left anti", "left"): _NO,  # only rows without a match are kept
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
    ("not in", "inside"): _NO,  # a NULL among the fact's keys makes NOT IN true for no row
    ("not in (correlated)", "outside"): _NO,
    ("not in (correlated)", "inside"): _WHERE,
    ("scalar", "outside"): _NO,
    ("scalar", "inside"): _WHERE,  # each outer row still finds the same rows
    ("lateral", "outside"): _NO,
    ("lateral join", "outside"): _WHERE,
    ("lateral", "inside"): _WHERE,
}

_WHY = {
    "left": "LEFT JOIN keeps every row of {}, so pruning it would lose rows: is an INNER JOIN "
    "meant?",
    "right": "RIGHT JOIN keeps every row of {}, so pruning it would lose rows: is an INNER JOIN "
    "meant?",
    "unknown": "the type of the join is not certain",
    "full": "FULL JOIN keeps every row of {}, so pruning it would lose rows",
    "left anti": "the anti-join keeps the rows of {} without a match, which pruning by the keys "
    "would lose",
    "not exists": "NOT EXISTS keeps the rows of {} without a match, which pruning by the keys "
    "would lose",
    "not in": "NOT IN keeps no row if one key is NULL, and a key may be NULL here: NOT EXISTS "
    "ignores NULL keys",
    "not in (correlated)": "NOT IN keeps the rows of {} without a match, which pruning by the "
    "keys would lose",
    "in (not required)": "the query may return rows of {} for which the IN is not true",
    "scalar": "the query may return rows of {} for which the subquery finds nothing",
    "lateral": "the query may return rows of {} whatever the LATERAL subquery finds",
}


def clause_for(pair: Pair) -> ClauseKind | None:
    """The clause of a sound predicate; None if there is none."""
    clause = LEGAL.get((pair.edge.kind, pair.side))
    # An inner join below an outer one filters only the rows of its own side.
    return ClauseKind.ON if clause is ClauseKind.WHERE and not pair.edge.implied else clause


def judge_join_type(proposal: Proposal) -> Judgement:
    """Whether rows of the fact without a match may be pruned below the join."""
    pair = proposal.pair
    kind, side = pair.edge.kind, pair.side
    both = (never_null(proposal.plan, ref) for ref in (pair.fact, pair.key))
    if (kind, side) == ("not in", "inside") and all(both):
        return passed("NOT IN over two columns that are NOT NULL is an anti-join")
    if clause_for(pair) is None:
        alias = proposal.plan.relations[pair.fact.relation].alias
        why = _WHY.get(kind, f"{kind} may return every row of {{}}")
        return failed(why.format(f"`{alias}`" if alias else "the fact"))
    if (kind, side) in (("exists", "outside"), ("lateral join", "outside")):
        functions = pair.edge.block.functions - {"?"}
        unsure = [name for name in sorted(functions) if not _known(proposal, name)]
        if unsure:
            why = "may be an aggregate, which returns a row even if nothing matches"
            return failed(f"`{unsure[0]}()` in the subquery {why}")
    if side in ("outside", "inside"):
        return passed(f"{kind} subquery, the fact {side}: rows without a match are not needed")
    if kind in ("inner", "cross"):
        return passed("inner join: rows without a match are not needed")
    return passed(f"{kind} join, the fact on its {side}: rows without a match are not needed")


def _known(proposal: Proposal, name: str) -> bool:
    """Whether a function is known and deterministic: any other may be an aggregate."""
    row = proposal.options.function(name)
    return row is not None and row.deterministic


_ENFORCING = frozenset({"delta", "iceberg"})


def judge_equi_join(proposal: Proposal) -> Judgement:
    """Whether a row of the fact matches only keys that equal, or bound, its partition column."""
    pair = proposal.pair
    if pair.operator == "=":
        return passed("the columns are joined by =")
    if pair.operator in ("<", "<="):
        return passed(f"joined by {pair.operator}: the largest key bounds the column")
    if pair.operator in (">", ">="):
        return passed(f"joined by {pair.operator}: the smallest key bounds the column")
    # Only if the comparison names the key: an equal column elsewhere may be NULL.
    own_key = pair.key_plain and pair.key_side.operand is not None
    key_enforced = own_key and never_null(proposal.plan, pair.key)
    if pair.fact_plain and (
        key_enforced or (pair.key_plain and never_null(proposal.plan, pair.fact))
    ):
        return passed("joined by <=>, and one side is NOT NULL")
    if pair.derived is not None and pair.derived.strict:
        return passed("joined by <=>: the predicate keeps rows in which the column is NULL")
    return failed(
        "<=> matches NULL with NULL and IN does not: declare one of the columns NOT NULL in a "
        "format that enforces it (Delta, Iceberg), or join by ="
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
