"""DPP103 partition-column and DPP104 key-column: what the two sides of the join condition are."""

from __future__ import annotations

from sqlrewrite.find.join_edges import Side
from sqlrewrite.find.pairs import by_day
from sqlrewrite.judge.benefit.keys import is_whole_in_query
from sqlrewrite.judge.conditions import GUARDS, describe, objections_to_value
from sqlrewrite.judge.errors.attempted import key_is_attempted, key_without_error
from sqlrewrite.judge.errors.raising import raising_below, raising_in, rows_never_raise
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.repeatable import objections_to_blocks
from sqlrewrite.judge.soundness.dimension import narrowed_key
from sqlrewrite.plan.algebra import Expression, Opaque, Subquery
from sqlrewrite.plan.columns import expression_type, type_of
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.facts.types import MOMENTS
from sqlrewrite.plan.joins import null_extended
from sqlrewrite.plan.lineage import ends_along
from sqlrewrite.plan.nulls import null_from
from sqlrewrite.plan.relations import numbers
from sqlrewrite.settings.forms import IN, VALUES

_HIDDEN = frozenset({"bucket", "truncate", "years", "months", "days", "hours"})
"""Iceberg's transforms of one column."""

_BY_HAND = "restrict {0} itself, by constants ({0} >= … AND {0} < …) or in an equality"


def judge_column(proposal: Proposal) -> Judgement:
    """Whether the fact's column is a partition column, and reaches the join unchanged."""
    path, derived = proposal.pair.path, proposal.pair.derived
    if derived is not None and derived.ends:
        if proposal.engine.planner != "spark":
            name = proposal.engine.title
            return failed(f"{name} derives the bound on the column from such a filter by itself")
        return passed(derived.shown)
    if derived is not None:
        return passed(f"{derived.column} is a partition column: {derived.shown}")
    if proposal.clustered:
        return _clustered(proposal)
    transforms = {
        field.transform
        for field in proposal.pair.scan.table.partitioned_by
        if field.column.lower() == path.column
    }
    usable = transforms & proposal.engine.transforms
    if not usable and transforms <= _HIDDEN and proposal.pair.scan.table.provider == "iceberg":
        return _hidden(proposal, transforms)
    if not usable:
        shown = ", ".join(sorted(transforms))
        why = f"{shown} of {path.column}, not by the column itself"
        return failed(f"the table is partitioned by {why}")
    if path.computed or not proposal.pair.fact_plain:
        return _computed(proposal)
    return passed(f"{path.column} is a partition column of {'.'.join(proposal.pair.scan.parts)}")


def _hidden(proposal: Proposal, transforms: set[str]) -> Judgement:
    """Whether Iceberg can choose files by its hidden partitions: it takes constants, and at run
    time a filter on the column itself, which Spark makes of an IN."""
    pair, form = proposal.pair, proposal.options.form
    shown = f"the table is partitioned by {', '.join(sorted(transforms))} of {pair.path.column}"
    if pair.path.computed or not (pair.fact_plain or by_day(pair)):
        return failed(f"{shown}, not by what is joined: {_BY_HAND.format(pair.path.column)}")
    if by_day(pair):
        return _by_day(proposal, shown)
    if form == VALUES:
        return passed(f"{shown}, which Iceberg chooses its files by")
    if form != IN or pair.operator != "=":
        by = "Iceberg chooses files by an IN or by constants alone"
        return failed(f"{shown}, and {by}: {_BY_HAND.format(pair.path.column)}")
    if not _of_one_type(proposal):
        why = "joined as another type: Iceberg does not filter files through a cast"
        return failed(f"{shown}, and {why}")
    return passed(f"{shown}, which Iceberg chooses its files by")


def _by_day(proposal: Proposal, shown: str) -> Judgement:
    """Whether the days of the join can be written as constants: only from these does Spark derive
    bounds on the column's moments, which files have statistics of."""
    column = proposal.pair.stored
    if proposal.type_of(column) not in MOMENTS:  # of a text the day can raise an error
        return failed(f"{shown}, not by what is joined: {_BY_HAND.format(column.name)}")
    if proposal.pair.edge.block.role == "merge":
        return failed(f"{shown}, and Spark 4.1 fails over constants for its day in a MERGE")
    if proposal.options.form != VALUES:
        return failed(f"{shown}, and files are chosen by constants for its day: --predicate values")
    return passed(f"{shown}, whose days are constants then")


def _of_one_type(proposal: Proposal) -> bool:
    """Whether the key has exactly the type of the column as it is stored, or is cast to it."""
    if narrowed_key(proposal) is not None:
        return True
    stored = expression_type(proposal.plan, proposal.pair.stored)
    return expression_type(proposal.plan, proposal.pair.key_side.expression) == stored


def _clustered(proposal: Proposal) -> Judgement:
    """Whether the rows of the fact are clustered by what is compared: files and row groups have the
    smallest and largest value of a column, not of what is computed from it."""
    pair = proposal.pair
    name = f"{'.'.join(pair.scan.parts)} is clustered by {pair.path.column}"
    if pair.path.computed or not (pair.fact_plain or by_day(pair)):
        return failed(f"{name}, not by what the join computes from it")
    if by_day(pair):
        return _by_day(proposal, name)
    if pair.scan.table.provider == "iceberg" and proposal.options.form != VALUES:
        return failed(f"{name}, and Iceberg leaves out files by constants: --predicate values")
    by_query = proposal.options.form != VALUES
    if by_query and not _of_one_type(proposal):
        return failed(f"{name}, and the key has another type")
    pushed = proposal.engine.since("4.0") if by_query and proposal.engine.name == "spark" else True
    if pushed is False:
        why = "Spark leaves out files by constants alone before 4.0: --predicate values"
        return failed(f"{name}, and {why}")
    since = "" if pushed else " (from Spark 4.0 on)"
    return passed(f"{name}: whole files and row groups are left out{since}")


def _computed(proposal: Proposal) -> Judgement:
    """Whether an expression over partition columns can stand for one: the engine evaluates it for
    each partition, so it must not fail for one that no row of the query reaches."""
    pair, expression = proposal.pair, proposal.pair.fact_side.expression
    way, fields = pair.path.relations, pair.scan.table.partitioned_by
    names = {
        field.column.lower() for field in fields if field.transform in proposal.engine.transforms
    }
    for ref in columns(expression):
        ends = {column for column, _ in ends_along(proposal.plan, ref, way)}
        if ref.relation != pair.fact.relation or not ends or not names.issuperset(ends):
            return failed(
                f"{pair.path.column} is inside an expression at the join, together with "
                "columns that do not partition the table"
            )
    why = None if pair.fact_plain else _unfit(proposal, pair.fact_side)
    why = why or _failing_below(proposal, expression) or _elsewhere(proposal)
    untyped = next(
        (column for column in columns(expression) if type_of(proposal.plan, column) is None), None
    )
    if why and untyped is not None:
        return failed(
            f"what the join computes of {untyped.name} may raise an error, as its type is "
            f"not known: declare the type of {untyped.name}"
        )
    if why:
        return failed(f"{pair.path.column} is inside an expression at the join: {why}")
    return passed(f"the expression is over partition columns of {'.'.join(pair.scan.parts)} alone")


def judge_key(proposal: Proposal) -> Judgement:
    """Whether the other side is a column of a known relation, or an expression over one."""
    pair = proposal.pair
    if isinstance(pair.dimension, Opaque):
        return failed(
            f"what {pair.dimension.alias or 'it'} reads is not known: {pair.dimension.reason}"
        )
    if is_whole_in_query(proposal):
        why = _of_whole(proposal)
        return failed(why) if why else passed("the key is what the IN's subquery gives")
    if pair.key_plain:
        why = _raising_inside(proposal)
        if why is not None:
            return failed(why)
        return passed(f"the key is a column of {proposal.dimension_name}")
    expression = pair.key_side.expression
    shown = f"the key is an expression over {proposal.label(pair.key)}, not a column"
    if any(ref.relation != pair.dimension.relation for ref in columns(expression)):
        return failed(f"{shown}, and over others")
    why = _unfit(proposal, pair.key_side) or _of_no_row(proposal)
    if why:
        return failed(f"{shown}: {why}")
    return passed(f"the key is computed from columns of {proposal.dimension_name} alone")


def _of_whole(proposal: Proposal) -> str | None:
    """Why an IN's subquery may not be written a second time, as a value."""
    node = proposal.pair.edge.condition.expression
    if not isinstance(node, Subquery) or node.outer:
        return "the IN's subquery refers to columns around it"
    outputs = [output.expression for output in proposal.plan.blocks[node.query.top[0]].outputs]
    others = [output for output in outputs if output is not proposal.pair.key_side.expression]
    if not rows_never_raise(proposal, node) or any(raising_in(proposal, other) for other in others):
        return "what the IN's subquery computes can raise an error"
    return next((reason for _, reason in objections_to_blocks(proposal, node.query.blocks)), None)


def _raising_inside(proposal: Proposal) -> str | None:
    """Why the key that a derived table computes may not be computed again: the predicate may
    compute it for rows that the query has filtered out before."""
    culprit = raising_below(proposal, proposal.pair.key)
    if culprit is None or key_is_attempted(proposal):
        return None
    label = proposal.label(proposal.pair.key)
    return f"{label} is computed: {describe(culprit)} can raise an error"


def _unfit(proposal: Proposal, side: Side) -> str | None:
    """Why an expression may not be computed again, elsewhere and for other rows. What can raise an
    error may be written in a form that raises none and gives exactly what the join compares."""
    edge, expression = proposal.pair.edge, side.expression
    inside = () if edge.query is None else edge.query.top
    from_query = all(proposal.plan.owner[ref.relation] in inside for ref in columns(expression))
    if edge.condition.clause is None or (side.operand is None and not from_query):
        return "it cannot be repeated from its place in the text"
    safe = key_without_error(proposal, expression)
    below = _failing_below(proposal, expression)
    if below is not None:
        return below
    objections = objections_to_value(proposal, expression)
    return next((why for code, why in objections if not (safe and code == GUARDS)), None)


def _failing_below(proposal: Proposal, expression: Expression) -> str | None:
    """Why an expression may raise an error in what is computed for its columns."""
    below = (raising_below(proposal, ref) for ref in columns(expression))
    culprit = next((raising for raising in below if raising is not None), None)
    return None if culprit is None else f"{describe(culprit)} below it can raise an error"


def _of_no_row(proposal: Proposal) -> str | None:
    """Why a key may not be NULL in a row that an outer join extends by NULLs: such a row may be the
    partner of a fact, and the key query, which reads the dimension alone, never returns it."""
    pair = proposal.pair
    dimension, join, owner = pair.dimension.relation, pair.edge.join, proposal.plan.owner
    here = owner[dimension] == pair.edge.block.number
    block = proposal.plan.blocks[owner[dimension]]
    tree = block.source
    if here and join is not None:  # for an ON, only the joins below it count
        tree = join.left if dimension in numbers(join.left) else join.right
    grouped = not here and block.aggregate == "grouping sets"
    if not null_extended(tree, dimension) and not grouped:
        return None
    if null_from(pair.key_side.expression, frozenset({dimension})):
        return None
    shown, name = "ROLLUP or the like" if grouped else "an outer join", proposal.dimension_name
    return f"the key is not NULL in the rows that {shown} adds without a row of {name}"


def _elsewhere(proposal: Proposal) -> str | None:
    """Why a fact's expression would not mean the same where the predicate would stand."""
    pair = proposal.pair
    at_join = pair.target.relation == pair.fact.relation
    here = at_join and proposal.target_block.number == pair.edge.block.number
    return None if here else "it stands in another block than the fact"
