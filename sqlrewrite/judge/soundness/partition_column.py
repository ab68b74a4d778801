"""DPP103 partition-column and DPP104 key-column: the two sides of the join condition."""

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
from sqlrewrite.plan.null_rejection import null_from
from sqlrewrite.plan.relations import numbers
from sqlrewrite.settings.forms import IN, VALUES

_HIDDEN = frozenset({"bucket", "truncate", "years", "months", "days", "hours"})
"""Iceberg's transforms of one column."""

_BY_HAND = "restrict `{0}` by constants (`{0} >= … AND {0} < …`) or join by it"


def judge_column(proposal: Proposal) -> Judgement:
    """Whether the fact's column is a partition column that reaches the join unchanged."""
    path, derived = proposal.pair.path, proposal.pair.derived
    if derived is not None and derived.ends:
        if proposal.engine.planner != "spark":
            name = proposal.engine.title
            return failed(f"{name} derives this bound from the filter by itself")
        return passed(derived.shown)
    if derived is not None:
        return passed(f"`{derived.column}` is a partition column: {derived.shown}")
    if proposal.clustered:
        return _judge_clustered(proposal)
    transforms = {
        field.transform
        for field in proposal.pair.scan.table.partitioned_by
        if field.column.lower() == path.column
    }
    usable = transforms & proposal.engine.transforms
    if not usable and transforms <= _HIDDEN and proposal.pair.scan.table.provider == "iceberg":
        return _judge_hidden(proposal, transforms)
    if not usable:
        shown = ", ".join(sorted(transforms))
        return failed(f"the table is partitioned by {shown} of `{path.column}`, not by the column")
    if path.computed or not proposal.pair.fact_plain:
        return _judge_computed(proposal)
    return passed(
        f"`{path.column}` is a partition column of `{'.'.join(proposal.pair.scan.parts)}`"
    )


def _judge_hidden(proposal: Proposal, transforms: set[str]) -> Judgement:
    """Whether Iceberg can skip files by its hidden partitions: by constants, or at run time by the
    filter on the column itself that Spark derives from an IN."""
    pair, form = proposal.pair, proposal.options.form
    shown = f"the table is partitioned by {', '.join(sorted(transforms))} of `{pair.path.column}`"
    if pair.path.computed or not (pair.fact_plain or by_day(pair)):
        return failed(f"{shown}, not by what is joined: {_BY_HAND.format(pair.path.column)}")
    if by_day(pair):
        return _judge_day(proposal, shown)
    if form == VALUES:
        return passed(f"{shown}: Iceberg skips files by constants")
    if form != IN or pair.operator != "=":
        by = "Iceberg skips files only by an IN or by constants"
        return failed(f"{shown}, and {by}: {_BY_HAND.format(pair.path.column)}")
    if not _is_one_type(proposal):
        why = "joined as another type: Iceberg skips no files through a cast"
        return failed(f"{shown}, and {why}")
    return passed(f"{shown}: Iceberg skips files by an IN")


def _judge_day(proposal: Proposal, shown: str) -> Judgement:
    """Whether the join's days can be written as constants: only from constants does Spark derive
    bounds on the column's moments, whose statistics the files have."""
    column = proposal.pair.stored
    if proposal.type_of(column) not in MOMENTS:  # the day of a string can raise an error
        return failed(f"{shown}, not by what is joined: {_BY_HAND.format(column.name)}")
    if proposal.pair.constants_only:
        return failed(f"{shown}, and in a MERGE Spark 4.1 fails over constants for its day")
    if proposal.options.form != VALUES:
        return failed(f"{shown}, and only constants for its day skip files: `--predicate values`")
    return passed(f"{shown}: the days are written as constants")


def _is_one_type(proposal: Proposal) -> bool:
    """Whether the key has exactly the stored column's type, or is cast to it."""
    if narrowed_key(proposal) is not None:
        return True
    stored = expression_type(proposal.plan, proposal.pair.stored)
    return expression_type(proposal.plan, proposal.pair.key_side.expression) == stored


def _judge_clustered(proposal: Proposal) -> Judgement:
    """Whether the fact is clustered by the joined column itself: files and row groups have minimum
    and maximum of a column, not of an expression."""
    pair = proposal.pair
    name = f"`{'.'.join(pair.scan.parts)}` is clustered by `{pair.path.column}`"
    if pair.path.computed or not (pair.fact_plain or by_day(pair)):
        return failed(f"{name}, not by the expression that the join computes from it")
    if by_day(pair):
        return _judge_day(proposal, name)
    if pair.scan.table.provider == "iceberg" and proposal.options.form != VALUES:
        return failed(f"{name}, and Iceberg skips files by constants only: `--predicate values`")
    by_query = proposal.options.form != VALUES
    if by_query and not _is_one_type(proposal):
        return failed(f"{name}, and the key has another type, so a cast hides the column")
    pushed = proposal.engine.since("4.0") if by_query and proposal.engine.name == "spark" else True
    if pushed is False:
        why = "Spark before 4.0 skips files by constants only: `--predicate values`"
        return failed(f"{name}, and {why}")
    since = "" if pushed else " (from Spark 4.0 on)"
    return passed(f"{name}: whole files and row groups are skipped{since}")


def _judge_computed(proposal: Proposal) -> Judgement:
    """Whether an expression over partition columns can be bounded like one: the engine evaluates it
    for every partition, so it must raise no error for any."""
    pair, expression = proposal.pair, proposal.pair.fact_side.expression
    way, fields = pair.path.relations, pair.scan.table.partitioned_by
    names = {
        field.column.lower() for field in fields if field.transform in proposal.engine.transforms
    }
    for ref in columns(expression):
        ends = {column for column, _ in ends_along(proposal.plan, ref, way)}
        if ref.relation != pair.fact.relation or not ends or not names.issuperset(ends):
            return failed(
                f"the join compares an expression over `{pair.path.column}` and columns that are "
                "no partition columns"
            )
    why = None if pair.fact_plain else _unfit(proposal, pair.fact_side)
    why = why or _failing_below(proposal, expression) or _elsewhere(proposal)
    untyped = next(
        (column for column in columns(expression) if type_of(proposal.plan, column) is None), None
    )
    if why and untyped is not None:
        return failed(
            f"the join's expression over `{untyped.name}` may raise an error, as its type is not "
            f"known: declare the type of `{untyped.name}`"
        )
    if why:
        return failed(f"the join compares an expression over `{pair.path.column}`: {why}")
    name = ".".join(pair.scan.parts)
    return passed(f"the join compares an expression over partition columns of `{name}`")


def judge_key(proposal: Proposal) -> Judgement:
    """Whether the key is a column of a known relation, or an expression over one."""
    pair = proposal.pair
    if isinstance(pair.dimension, Opaque):
        alias, reason = pair.dimension.alias, pair.dimension.reason
        return failed(f"{f'`{alias}`' if alias else 'a relation'} is not known: {reason}")
    if is_whole_in_query(proposal):
        why = _objection_to_whole(proposal)
        return failed(why) if why else passed("the key is the output of the IN's subquery")
    if pair.key_plain:
        why = _raising_inside(proposal)
        if why is not None:
            return failed(why)
        return passed(f"the key is a column of {proposal.quoted_dimension}")
    expression = pair.key_side.expression
    shown = f"the key is an expression over {proposal.label(pair.key)}"
    if any(ref.relation != pair.dimension.relation for ref in columns(expression)):
        return failed(f"{shown} and columns of other relations")
    why = _unfit(proposal, pair.key_side) or _not_null_if_extended(proposal)
    if why:
        return failed(f"{shown}: {why}")
    return passed(f"the key is computed from columns of {proposal.quoted_dimension} alone")


def _objection_to_whole(proposal: Proposal) -> str | None:
    """Why the IN's subquery may not be repeated as a scalar value; None if it may."""
    node = proposal.pair.edge.condition.expression
    if not isinstance(node, Subquery) or node.outer:
        return "the IN's subquery refers to outer columns"
    outputs = [output.expression for output in proposal.plan.blocks[node.query.top[0]].outputs]
    others = [output for output in outputs if output is not proposal.pair.key_side.expression]
    if not rows_never_raise(proposal, node) or any(raising_in(proposal, other) for other in others):
        return "the IN's subquery can raise an error"
    key = proposal.pair.key_side.expression
    derived = proposal.pair.derived is not None
    if derived and raising_in(proposal, key) is not None and not key_without_error(proposal, key):
        return "the output of the IN's subquery can raise an error"
    return next((reason for _, reason in objections_to_blocks(proposal, node.query.blocks)), None)


def _raising_inside(proposal: Proposal) -> str | None:
    """Why a key that a derived table computes may not be computed again: the predicate may compute
    it for rows that the query filters out first. None if it may."""
    culprit = raising_below(proposal, proposal.pair.key)
    if culprit is None or key_is_attempted(proposal):
        return None
    label = proposal.label(proposal.pair.key)
    return f"{label} is computed with {describe(culprit)}, which can raise an error"


def _unfit(proposal: Proposal, side: Side) -> str | None:
    """Why an expression may not be repeated for other rows; None if it may, perhaps in a form that
    raises no error and gives exactly what the join compares."""
    edge, expression = proposal.pair.edge, side.expression
    inside = () if edge.query is None else edge.query.top
    from_query = all(proposal.plan.owner[ref.relation] in inside for ref in columns(expression))
    if edge.condition.clause is None or (side.operand is None and not from_query):
        return "its text cannot be repeated from where it stands"
    safe = key_without_error(proposal, expression)
    below = _failing_below(proposal, expression)
    if below is not None:
        return below
    objections = objections_to_value(proposal, expression)
    return next((why for code, why in objections if not (safe and code == GUARDS)), None)


def _failing_below(proposal: Proposal, expression: Expression) -> str | None:
    """Why a column of an expression, as a derived table computes it, can raise an error; None if
    none can."""
    below = (raising_below(proposal, ref) for ref in columns(expression))
    culprit = next((raising for raising in below if raising is not None), None)
    if culprit is None:
        return None
    return f"its columns are computed with {describe(culprit)}, which can raise an error"


def _not_null_if_extended(proposal: Proposal) -> str | None:
    """Why a key may have a value in rows that an outer join fills with NULLs; None if it is NULL
    there. Such a row may match a fact, but a key query that reads only the dimension never returns
    its key."""
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
    shown = "ROLLUP, CUBE or GROUPING SETS" if grouped else "an outer join"
    name = proposal.quoted_dimension
    return f"{shown} adds rows without a row of {name}, in which the key may have a value"


def _elsewhere(proposal: Proposal) -> str | None:
    """Why the fact's expression cannot be written where the predicate would stand; None if it
    can."""
    pair = proposal.pair
    at_join = pair.target.relation == pair.fact.relation
    here = at_join and proposal.target_block.number == pair.edge.block.number
    return None if here else "the fact is read in another SELECT"
