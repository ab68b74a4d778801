"""What the key query writes in other words than the derived table or CTE that it repeats.

A computed key is written so that it raises no error, and with it the same expression in DISTINCT,
GROUP BY and set operations. An aggregate whose value depends on the order of its rows is written as
that value or NULL (docs/soundness.md, "What can raise an error is attempted").
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from sqlrewrite.judge.attempts import exact_attempts, form_of, order_sensitive_in
from sqlrewrite.judge.order_sensitive import order_sensitive
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.raising import raising_below, raising_in
from sqlrewrite.judge.repeatable import objections_to_blocks
from sqlrewrite.plan.algebra import Block, Call, CteReference, Derived, Expression, Subquery
from sqlrewrite.plan.columns import arithmetic, computed_as
from sqlrewrite.plan.expressions import canonical, columns, operands, walk


def key_is_attempted(proposal: Proposal) -> bool:
    """Whether the key query repeats the text of a derived table or CTE and writes the key's
    expression there in a form that raises no error (``plan/facts/error_free.py``)."""
    query = proposal.dimension_query
    if query is None or not _text_can_be_repeated(proposal):
        return False
    found = computed_as(proposal.plan, proposal.pair.key)
    blocks = [proposal.plan.blocks[number] for number in query.top]
    return len(found) == len(blocks) and all(
        raising_in(proposal, expression) is None
        or (_only_in_list_and_groups(block, expression) and _has_exact_form(proposal, expression))
        for block, expression in zip(blocks, found, strict=True)
    )


def _text_can_be_repeated(proposal: Proposal, attempted: AbstractSet[int] = frozenset()) -> bool:
    """Whether the key query can repeat the text of the dimension's query; ``attempted`` are the
    ids of the aggregates that are written in other words there."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, CteReference):
        return isinstance(dimension, Derived) and not dimension.view
    cte, query = proposal.plan.ctes[dimension.cte], dimension.query
    if not cte.name or cte.columns or cte.outer or len(query.top) != 1:
        return False
    return not any(objections_to_blocks(proposal, query.blocks, attempted=attempted))


def attempted_aggregates(proposal: Proposal) -> tuple[Call, ...]:
    """The aggregates of a grouped dimension whose value depends on the order of its rows, where the
    key query can write each as that value or NULL and no HAVING tells the two apart."""
    query = proposal.dimension_query
    if query is None or len(query.top) != 1:
        return ()
    block = proposal.plan.blocks[query.top[0]]
    if block.aggregate != "group by" or block.distinct or block.limit is not None:
        return ()
    having = [it.expression for it in block.having]
    outputs = [it.expression for it in block.outputs]
    nodes = [node for it in (*outputs, *having) for node in walk(it)]
    found = tuple(order_sensitive(proposal.plan, nodes))
    if not found or any(isinstance(it, Subquery) or _is_window(it) for it in nodes):
        return ()
    keys = [node for it in computed_as(proposal.plan, proposal.pair.key) for node in walk(it)]
    if any(null_matters for it in having for _, null_matters in order_sensitive_in(proposal, it)):
        return ()
    if any(it is key for it in found for key in keys):
        return ()
    if not all(form_of(proposal, it) and _has_text(it) for it in found):
        return ()
    return found if _text_can_be_repeated(proposal, frozenset(map(id, found))) else ()


def attempted_aggregate_ids(proposal: Proposal, condition: Expression) -> frozenset[int]:
    """The ids of the aggregates in a condition's text, and in the dimension, that are attempted."""
    nodes, at = [condition], 0
    while at < len(nodes):
        nodes += operands(nodes[at])
        at += 1
    own = order_sensitive(proposal.plan, nodes)
    return frozenset(map(id, (*own, *attempted_aggregates(proposal))))


def _is_window(node: Expression) -> bool:
    return isinstance(node, Call) and node.name == "over"


def _has_text(call: Call) -> bool:
    """Whether a call has columns, and the text names all of them."""
    found = columns(call)
    return bool(found) and all(ref.span is not None for ref in found)


def attempted_group_keys(proposal: Proposal) -> Iterator[Expression]:
    """The GROUP BY keys that repeat the attempted expression of the SELECT list."""
    query = proposal.dimension_query
    blocks = [proposal.plan.blocks[number] for number in query.top] if query is not None else []
    computed = computed_as(proposal.plan, proposal.pair.key)
    for block, expression in zip(blocks, computed, strict=False):
        for key in block.keys:
            if key is not expression and canonical(key) == canonical(expression):
                yield key


def _only_in_list_and_groups(block: Block, expression: Expression) -> bool:
    """Whether only the SELECT list of a block and its GROUP BY name an expression: ORDER BY, HAVING
    and other items of the list would not find it in its new form."""
    if block.aggregate is None and not block.distinct:
        return True
    if block.order or block.aggregate not in (None, "group by"):
        return False
    same = canonical(expression)
    if block.aggregate is not None and all(canonical(key) != same for key in block.keys):
        return False
    others = [it.expression for it in block.outputs if it.expression is not expression]
    others += [condition.expression for condition in block.having]
    return all(canonical(node) != same for other in others for node in walk(other))


def _has_exact_form(proposal: Proposal, expression: Expression) -> bool:
    """Whether an expression has a form that gives exactly its value without ANSI mode."""
    if arithmetic(proposal.plan, expression) is None and not exact_attempts(proposal, expression):
        return False
    return all(
        ref.span is not None and raising_below(proposal, ref) is None for ref in columns(expression)
    )
