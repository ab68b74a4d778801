"""Which conditions on the dimension the key query repeats.

A condition left out only widens the bound, so doubt costs little here. One that can raise an error
is never copied as it is: its guard (``x <> 0 AND 1 / x > 2``, or the join) may not come along.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.copies import replace
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin, any_of
from sqlrewrite.judge.benefit.keys import restricts
from sqlrewrite.judge.errors.attempted import attempted_aggregate_ids, attempts, reads_by_pattern
from sqlrewrite.judge.errors.raising import (
    is_boolean,
    raising_below,
    raising_in_subquery,
    raising_inside,
    total,
)
from sqlrewrite.judge.proposal import Objection, Proposal, called, quoted_relation
from sqlrewrite.judge.repeatable import (
    DETERMINISM,
    PARAMETERS,
    objections_to_blocks,
    objections_to_copying,
    objections_to_expression,
    objections_to_relation,
)
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.coercion import compare_alike, family
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.types import FLOATING, Type

GUARDS = "DPP114"
NO_TEXT = "DPP000"
TYPES = "DPP112"


def sift(
    proposal: Proposal, restrictions: tuple[Restriction, ...]
) -> tuple[tuple[Restriction, ...], tuple[Objection, ...]]:
    """The restrictions that the key query may repeat, and the first objection to each of the
    others."""
    dropped: list[Objection] = []
    repeated = _repeatable(proposal, restrictions, dropped)
    return repeated, tuple(dict.fromkeys(dropped))


def _repeatable(
    proposal: Proposal, restrictions: tuple[Restriction, ...], dropped: list[Objection]
) -> tuple[Restriction, ...]:
    repeated: list[Restriction] = []
    for item in restrictions:
        match item:
            case Conjunct(expression=expression):
                tried = attempts(proposal, expression)
                objections = objections_to_conjunct(proposal, item, attempted=tried is not None)
                if not _is_dropped(proposal, objections, dropped):
                    written = tried is not None and (tried.forms or tried.doubtful)
                    repeated.append(replace(item, attempts=tried) if written else item)
            case AnyOf(branches=branches):
                # A branch of an OR with fewer conditions bounds less; one without any, not at all.
                repeated += any_of([_repeatable(proposal, branch, dropped) for branch in branches])
            case SemiJoin(inner=inner):
                if _is_dropped(proposal, _objections_to_neighbour(proposal, item), dropped):
                    continue
                join = replace(item, inner=_repeatable(proposal, inner, dropped))
                if restricts(proposal, join):
                    repeated.append(join)
    return tuple(repeated)


def _is_dropped(
    proposal: Proposal, objections: Iterator[Objection], dropped: list[Objection]
) -> bool:
    counting = (
        objection for objection in objections if objection[0] not in proposal.options.disabled
    )
    first = next(counting, None)
    dropped += [] if first is None else [first]
    return first is not None


def objections_to_conjunct(
    proposal: Proposal, item: Conjunct, *, attempted: bool = False
) -> Iterator[Objection]:
    """The objections to repeating a condition; ``attempted`` as in ``objections_to_value``."""
    if item.condition.clause is None:
        yield NO_TEXT, "a condition from USING or a view has no text in this query to repeat"
    if not is_boolean(proposal, item.expression):
        yield GUARDS, f"{_name_of(proposal, item.expression)} is not known to be a BOOLEAN"
    yield from objections_to_value(proposal, item.expression, attempted=attempted)


def _objections_to_neighbour(proposal: Proposal, item: SemiJoin) -> Iterator[Objection]:
    """The objections to reading a neighbour in the key query, as for the dimension itself."""
    yield from objections_to_relation(proposal, item.relation)
    yield from objections_to_copying(item.relation)
    culprit = raising_inside(proposal, item.relation)
    if culprit is not None:
        name = quoted_relation(item.relation)
        yield GUARDS, f"{describe(culprit)} inside {name} can raise an error"
    why = unlike_types(proposal.plan, item.key, item.other)
    if why is not None:
        yield TYPES, why


def objections_to_value(
    proposal: Proposal, expression: ra.Expression, *, attempted: bool = False
) -> Iterator[Objection]:
    """The objections to computing an expression again, perhaps for rows that the query does not
    compute it for; ``attempted``: it is written in a form that raises no error."""
    aggregates = attempted_aggregate_ids(proposal, expression) if attempted else frozenset()
    yield from objections_to_expression(proposal, expression, aggregates)
    nodes = list(walk(expression))
    # Unknown parts first: they are why an operator above them may raise an error.
    yield from ((DETERMINISM, node.reason) for node in nodes if isinstance(node, ra.Unknown))
    for node in nodes:
        if not attempted and not total(proposal, node):
            yield GUARDS, _why_not_total(proposal, node)
        if _is_over_many_rows(proposal, node):
            why = "is computed from several rows, and the key query may read other rows"
            yield DETERMINISM, f"{describe(node)} {why}"
        match node:
            case ra.Parameter(positional=True):
                yield PARAMETERS, "a positional parameter `?` cannot be repeated: use `:name`"
            case ra.Subquery(query=query):
                yield from objections_to_blocks(proposal, query.blocks, attempted=aggregates)
                if _would_be_bounded(proposal, query.blocks):
                    yield (
                        GUARDS,
                        "a subquery in it may get a predicate, which changes its value",
                    )
            case ra.ColumnRef(span=None):
                yield (
                    NO_TEXT,
                    "a column from `*` or a view has no text in this query to repeat",
                )
            case ra.ColumnRef():
                culprit = raising_below(proposal, node)
                if culprit is not None:
                    name = proposal.label(node)
                    why = f"{describe(culprit)}, which can raise an error"
                    yield GUARDS, f"{name} is computed with {why}"
            case _:
                pass


def _why_not_total(proposal: Proposal, node: ra.Expression) -> str:
    """Why a node can raise an error."""
    culprit = None
    if isinstance(node, ra.Subquery) and not node.outer:
        culprit = raising_in_subquery(proposal, node)
    if culprit is None:
        return _why_operator_raises(proposal, node)
    if culprit is node:
        return "a subquery raises an error if it returns more than one row"
    return f"{describe(culprit)} in a subquery can raise an error"


_BY_A_PATTERN = (
    "by a pattern can raise an error in any form under spark.sql.legacy.timeParserPolicy = "
    "EXCEPTION, the default before Spark 4.0: say `spark-version`, or the policy in `spark-conf`"
)


def _why_operator_raises(proposal: Proposal, node: ra.Expression) -> str:
    """Why a node can raise an error; for an operator, with the types of its operands."""
    plan = proposal.plan
    if proposal.engine.patterns_raise and reads_by_pattern(node):
        return f"{describe(node)} {_BY_A_PATTERN}"
    if isinstance(node, ra.Call) and _is_operator(node.name):
        untyped = [column.name for column in columns(node) if type_of(plan, column) is None]
        if untyped:
            why = f"the type of `{untyped[0]}` is not known"
            return f"{describe(node)} can raise an error, as {why}: declare it in the catalog"
        types = dict.fromkeys(str(type_of(plan, arg) or "") for arg in node.args)
        if len(types) > 1 and all(types):
            return f"{describe(node)} between {' and '.join(types)} can raise an error"
    return f"{describe(node)} can raise an error"


def _is_over_many_rows(proposal: Proposal, node: ra.Expression) -> bool:
    """Whether a node is an aggregate (HAVING EXISTS (… p = max(d.k))), a window function or a
    generator."""
    row = proposal.options.function(node.name) if isinstance(node, ra.Call) else None
    return row is not None and row.kind in ("aggregate", "window", "generator")


def _would_be_bounded(proposal: Proposal, blocks: tuple[int, ...]) -> bool:
    """Whether another pair's predicate may be written inside a subquery. It changes the subquery's
    value for rows that the query drops, and a condition on that value could then keep such a row.
    A predicate for a fact in a CTE may stand at the reference to it instead."""
    owner = proposal.plan.owner
    return any(
        owner[pair.dimension.relation] not in blocks
        and any(
            owner[relation.relation] in blocks for relation in (pair.target, *pair.path.relations)
        )
        for pair in proposal.pairs
    )


def _name_of(proposal: Proposal, node: ra.Expression) -> str:
    return proposal.label(node) if isinstance(node, ra.ColumnRef) else describe(node)


def describe(node: ra.Expression) -> str:
    """A node of an expression, as a message names it."""
    match node:
        case ra.Call(name="." | "[]"):
            return "a field or an element"
        case ra.Call(name=name):
            return f"the operator `{name.upper()}`" if _is_operator(name) else called(name)
        case ra.Cast(type=kind):
            return f"a cast to {kind.upper()}"
        case ra.Subquery():
            return "a correlated subquery" if node.outer else "a subquery"
        case _:
            return "an expression"


def _is_operator(name: str) -> bool:
    row = function(name)
    return row is not None and row.kind == "operator"


def unlike_types(plan: ra.Plan, one: ra.ColumnRef, other: ra.ColumnRef) -> str | None:
    """Why IN may compare two columns otherwise than ``=``; None if both compare them alike."""
    first, second = type_of(plan, one), type_of(plan, other)
    if first is None or second is None:
        name = one.name if first is None else other.name
        return f"the type of `{name}` is not known: declare it in the catalog"
    if compare_alike(first, second):
        return None
    return why_unlike(f"`{one.name}`", first, f"`{other.name}`", second)


def why_unlike(one: str, kind: Type, other: str, its: Type) -> str:
    """Why IN may compare columns of these types, for which ``compare_alike`` is False, otherwise
    than ``=``."""
    if kind in FLOATING or its in FLOATING:
        return "floating-point keys are not pruned: = and IN may differ on NaN and -0.0"
    if kind == its and family(kind) is None:
        return f"{one} and {other} are {kind}, a type whose values cannot be keys"
    return f"{one} is {kind} and {other} is {its}: = and IN would compare them differently"
