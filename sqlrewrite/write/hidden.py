"""Columns that USING and NATURAL hide, where Spark does not find them again.

``visits.k`` behind ``days JOIN visits USING (k)`` is hidden, and can be named with its table. Where
the statement reads that table twice Spark 4.3 gives the columns of one reading new numbers, but not
the hidden one, and raises MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION: so beside a
CTE, used or not, that has a subquery over the same table, in a derived table that is repeated
elsewhere, and where the ON of a join on one side of the USING has such a subquery. Neither half of
this is written where the other may be (docs/soundness.md, "Names").
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.judge.case import Case
from sqlrewrite.judge.join_type import ClauseKind, place
from sqlrewrite.plan.algebra import Generate, Join, JoinType, Node, Plan, Relation
from sqlrewrite.plan.relations import joins, leaves
from sqlrewrite.sql.anchors import AnchorError, Anchors

_LEFT = frozenset({JoinType.RIGHT, JoinType.FULL, JoinType.UNKNOWN})
_RIGHT = frozenset(JoinType) - {JoinType.RIGHT}


def refuse_lost(case: Case, anchors: Anchors) -> None:
    """Raises AnchorError where the predicate could make Spark lose a hidden column."""
    plan, block = case.plan, case.target_block
    _refuse_below(case, anchors)
    first = block.parent is None and len(plan.query.top) == 1  # whose columns keep their numbers
    if first and not plan.ctes:
        return
    hidden = {relation.relation for relation, _ in _hidden(block.source)}
    if case.pair.target.relation in hidden:
        raise AnchorError(
            "USING or NATURAL hides its column, which Spark may lose where its table is read again"
        )
    if not plan.ctes or not _in_cte(plan, block.number):
        return
    for other in plan.blocks:
        for relation, keys in _hidden(other.source):
            if _named(anchors, relation.alias.lower(), keys):
                raise AnchorError(
                    f"a hidden column of {relation.alias} is named elsewhere, which Spark may "
                    "lose where a CTE has a subquery"
                )


def _refuse_below(case: Case, anchors: Anchors) -> None:
    """Raises AnchorError where the predicate goes into an ON below a USING whose hidden column is
    named."""
    tie, block = case.pair.tie, case.target_block
    if block.number != tie.block.number or tie.join is None:
        return
    if place(case.pair) is not ClauseKind.ON and not block.homeless:
        return
    for join in joins(block.source):
        if any(tie.join is below for side in (join.left, join.right) for below in joins(side)):
            for relation, keys in _hidden_by(join):
                if _named(anchors, relation.alias.lower(), keys):
                    raise AnchorError(
                        f"a hidden column of {relation.alias} is named, which Spark may lose where "
                        "a join below its USING has a subquery"
                    )


def _hidden(source: Node) -> Iterator[tuple[Relation | Generate, frozenset[str]]]:
    """The relations of a FROM that have hidden columns, and which (none named: any)."""
    for join in joins(source):
        yield from _hidden_by(join)


def _hidden_by(join: Join) -> Iterator[tuple[Relation | Generate, frozenset[str]]]:
    """The relations of which one join hides columns, and which (none named: any)."""
    if join.using or join.natural:
        keys = frozenset(name.lower() for name in join.using)
        sides = [join.left] * (join.declared in _LEFT) + [join.right] * (join.declared in _RIGHT)
        yield from ((leaf, keys) for side in sides for leaf in leaves(side))


def _in_cte(plan: Plan, number: int | None) -> bool:
    """Whether a block stands in the body of a CTE."""
    bodies = {block for cte in plan.ctes for block in cte.query.blocks}
    while number is not None:
        if number in bodies:
            return True
        number = plan.blocks[number].parent
    return False


def _named(anchors: Anchors, alias: str, keys: frozenset[str]) -> bool:
    """Whether a key, or the star, is named behind the alias and a dot."""
    texts = [token.text.lower() for token in anchors.tokens]
    return any(
        first == alias and dot == "." and (last == "*" or not keys or last in keys)
        for first, dot, last in zip(texts, texts[1:], texts[2:], strict=False)
    )
