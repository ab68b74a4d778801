"""Columns that USING and NATURAL hide, where Spark does not find them again.

``visits.k`` behind ``days JOIN visits USING (k)`` is hidden, and can be named with its table. Where
the statement reads that table twice Spark 4.3 gives the columns of one reading new numbers, but not
the hidden one, and raises MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION: so beside a
CTE, used or not, that has a subquery over the same table, in a derived table that is repeated
elsewhere, and where the ON of a join on one side of the USING has such a subquery. So it does with
a window of QUALIFY that no item of the list shows. Neither half of this is written where the other
may be (docs/soundness.md, "Names").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlrewrite.find.restrictions import Conjunct, flattened, neighbours
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.join_type import ClauseKind, clause_for
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.algebra import Generate, Join, JoinType, Node, Plan, Relation
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.relations import joins, leaves, read_by, relations_of
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.warehouse import Name

_LEFT = frozenset({JoinType.RIGHT, JoinType.FULL, JoinType.UNKNOWN})
_RIGHT = frozenset(JoinType) - {JoinType.RIGHT}


def refuse_lost_columns(proposal: Proposal, places: Places) -> None:
    """Raises NoPlaceError where the predicate could make Spark lose a hidden column."""
    plan, block = proposal.plan, proposal.target_block
    _refuse_below(proposal, places)
    _refuse_beside(proposal, places)
    first = block.parent is None and len(plan.query.top) == 1  # whose columns keep their numbers
    if first and not plan.ctes:
        return
    hidden = {relation.relation for relation, _ in _hidden(block.source)}
    if proposal.pair.target.relation in hidden:
        raise NoPlaceError(
            "USING or NATURAL hides its column, which Spark may lose where its table is read again"
        )
    if not _cte_bodies(plan, block.number):
        return
    for other in plan.blocks:
        for relation, keys in _hidden(other.source):
            if _is_named(places, relation.alias.lower(), keys):
                raise NoPlaceError(
                    f"a hidden column of {relation.alias} is named elsewhere, which Spark may "
                    "lose where a CTE has a subquery"
                )


def _refuse_below(proposal: Proposal, places: Places) -> None:
    """Raises NoPlaceError where the predicate goes into an ON below a USING whose hidden column is
    named."""
    edge, block = proposal.pair.edge, proposal.target_block
    if block.number != edge.block.number or edge.join is None:
        return
    if clause_for(proposal.pair) is not ClauseKind.ON and not block.no_where:
        return
    for join in joins(block.source):
        if any(edge.join is below for side in (join.left, join.right) for below in joins(side)):
            for relation, keys in _hidden_by(join):
                if _is_named(places, relation.alias.lower(), keys):
                    raise NoPlaceError(
                        f"a hidden column of {relation.alias} is named, which Spark may lose where "
                        "a join below its USING has a subquery"
                    )


def _refuse_beside(proposal: Proposal, places: Places) -> None:
    """Raises NoPlaceError where the predicate may come to stand on the left of a join or union with
    such a column, or a window that QUALIFY alone computes, of one of its tables on the right."""
    plan, block = proposal.plan, proposal.target_block
    only = clause_for(proposal.pair) is ClauseKind.WHERE and not block.no_where
    if only and block.number in plan.query.top and len(plan.query.top) == 1:
        return
    bodies = _cte_bodies(plan, block.number)
    for other in plan.blocks:
        enclosing = set(_enclosing_blocks(plan, other.number))
        below = block.number in enclosing
        if other is block or (below and only) or not _cte_bodies(plan, other.number) <= bodies:
            continue
        lost = _losable_column(other, places)
        if (
            lost
            and other.number not in _enclosing_blocks(plan, block.number)
            and _reads_its_tables(proposal, other)
        ):
            raise NoPlaceError(
                f"{lost} elsewhere, which Spark may lose where a subquery on the left of it reads "
                "its table"
            )


def _losable_column(block: ra.Block, places: Places) -> str:
    """What of a block's columns Spark may lose, if anything; of a view it has its own."""
    if block.in_view:
        return ""
    nodes = (node for it in block.having for node in walk(it.expression))
    if any(isinstance(node, ra.Call) and node.name == "over" for node in nodes):
        return "QUALIFY has a window"
    for relation, keys in _hidden(block.source):
        if _is_named(places, relation.alias.lower(), keys):
            return f"a hidden column of {relation.alias} is named"
    return ""


def _reads_its_tables(proposal: Proposal, other: ra.Block) -> bool:
    """Whether a block, none of which is on the left of the fact, reads a table of the predicate."""
    spans = [it.span for it in relations_of(proposal.plan, other.number)]
    if proposal.pair.at is not None and all(
        it is not None and it.start < proposal.pair.at for it in spans
    ):
        return False
    ours = _tables(proposal.plan, (proposal.pair.dimension, *neighbours(proposal.restrictions)))
    nodes = (
        node
        for it in flattened(proposal.restrictions)
        if isinstance(it, Conjunct)
        for node in walk(it.expression)
    )
    theirs = _tables(proposal.plan, relations_of(proposal.plan, other.number))
    asks = any(isinstance(node, ra.Subquery) for node in nodes)
    return asks or None in ours | theirs or not ours.isdisjoint(theirs)


def _tables(plan: Plan, found: Iterable[Relation]) -> set[Name | None]:
    """The tables that relations read, however deep; None is one that is not known."""
    tables: set[Name | None] = set()
    for it in found:
        inner = read_by(plan, it.query) if isinstance(it, ra.Derived | ra.CteReference) else (it,)
        tables |= {
            leaf.table.name if isinstance(leaf, ra.Scan) else None
            for leaf in inner
            if isinstance(leaf, ra.Scan | ra.Opaque)
        }
    return tables


def _enclosing_blocks(plan: Plan, number: int | None) -> Iterator[int]:
    """A block and those enclosing it."""
    while number is not None:
        yield number
        number = plan.blocks[number].parent


def _cte_bodies(plan: Plan, number: int) -> set[int]:
    """The CTEs in whose bodies a block stands."""
    return {cte.number for cte in plan.ctes if number in cte.query.blocks}


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


def _is_named(places: Places, alias: str, keys: frozenset[str]) -> bool:
    """Whether a key, or the star, is named behind the alias and a dot."""
    texts = [token.text.lower() for token in places.tokens]
    return any(
        first == alias and dot == "." and (last == "*" or not keys or last in keys)
        for first, dot, last in zip(texts, texts[1:], texts[2:], strict=False)
    )
