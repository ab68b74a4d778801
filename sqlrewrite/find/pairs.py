"""Fact–dimension joins on partition columns: what the rules are then asked about.

In: a plan. Out: a ``Pair`` for each fact scan, partition column of it, and relation whose column an
equality ties to it, in a WHERE, an ON, a USING, an IN or through a correlation. Nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from sqlrewrite.find.derived import DerivedColumn, derived_from
from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    ColumnRef,
    Condition,
    Derived,
    Expression,
    Generate,
    Join,
    JoinType,
    Literal,
    Node,
    Plan,
    Query,
    Relation,
    Scan,
    Subquery,
)
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.joins import LEFT, RIGHT, extended, required
from sqlrewrite.plan.lineage import LineagePath, trace, trace_query
from sqlrewrite.plan.relations import leaves, numbers

# CTEs that each read the one before twice have exponentially many ways down: no one looks at them.
_MOST_WAYS = 1000

# Each comparison with what it is when read from its other side.
_TURNED = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

# What BETWEEN says of its first operand and each of the others.
_BETWEEN = (">=", "<=")


FILTER = "filter"
"""The shape of a condition that a query puts on a scan by itself, in place of a join's."""

PairPlace = tuple[int, str, int, str]
"""The offset of a fact's reference, its column, the dimension's number, the name of the key."""


@dataclass(frozen=True, slots=True, eq=False)
class Tie:
    """A condition between two relations, and where it stands.

    ``shape`` is a join type in the words of SQL, or ``exists``, ``not exists``, ``in``, ``not in``,
    ``scalar``, ``lateral`` (and ``lateral join``, where it keeps no row without a partner) for a
    subquery. ``join`` is the join in whose ON it stands; ``implied``
    says that every row coming out of the block's FROM and WHERE satisfies it; ``query`` is the
    subquery of an IN.
    """

    block: Block
    condition: Condition
    operator: str
    shape: str
    join: Join | None
    implied: bool
    query: Query | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a tie: its expression, and which operand of the condition it is, from 0; None
    where it is no part of that text (the output of an IN's subquery)."""

    expression: Expression
    operand: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A fact scan bounded by a relation's key, as found: the candidate before it is judged.

    ``path`` leads from the column of the tie to the scan; ``target`` is the relation in the
    author's text at which a predicate can be written (the scan, or the view it hides in) and
    ``target_column`` its column. ``side`` is where the fact stands: ``left`` or ``right`` of the
    join, ``outside`` or ``inside`` of the subquery. ``operator`` is read from the fact's side:
    ``fact >= key``. ``fact`` and ``key`` are columns of the two ``*_side`` expressions, each the
    whole of it where it is ``plain``. ``derived`` is the partition column that is computed from the
    one of the path, where that is bounded by what is said of this one; ``target_column`` then is
    its name.
    """

    tie: Tie
    operator: str
    side: str
    path: LineagePath
    fact: ColumnRef
    fact_side: Side
    target: Relation
    target_column: str
    dimension: Relation
    key: ColumnRef
    key_side: Side
    derived: DerivedColumn | None = None

    @property
    def pruned(self) -> str:
        """The partition column of the scan that is bounded."""
        return self.path.column if self.derived is None else self.derived.column

    @property
    def filtered(self) -> bool:
        """Whether a condition on the scan bounds it, and no other relation."""
        return self.tie.shape == FILTER

    @property
    def place(self) -> PairPlace:
        """What tells it from all other pairs of a text, and is the same in every reading of it."""
        span = self.target.span
        at = -1 if span is None else span.start
        return at, self.target_column, self.dimension.relation, self.key.name

    @property
    def fact_plain(self) -> bool:
        """Whether the fact's side of the tie is just its column."""
        return isinstance(self.fact_side.expression, ColumnRef)

    @property
    def key_plain(self) -> bool:
        """Whether the key is just a column."""
        return isinstance(self.key_side.expression, ColumnRef)

    @property
    def scan(self) -> Scan:
        """The fact's scan."""
        assert isinstance(self.path.end, Scan)
        return self.path.end


def find_pairs(plan: Plan) -> tuple[Pair, ...]:
    """All pairs of a plan in the order of their ties, each fact scan and key once."""
    found: dict[tuple[object, ...], Pair] = {}
    for block in plan.blocks:
        if block.in_view:
            continue  # the view's own text is where that pair is written
        for tie, one, other in _ties(plan, block):
            turned = _TURNED[tie.operator]
            for operator, fact, key in ((tie.operator, one, other), (turned, other, one)):
                for pair in _pairs(plan, tie, operator, fact, key):
                    found.setdefault(_identity(pair), pair)
    return tuple(found.values())


def _identity(pair: Pair) -> tuple[object, ...]:
    way = tuple(relation.relation for relation in pair.path.relations)
    # A key is most often a column alone; two expressions over it are two keys.
    computed = 0 if pair.key_plain and pair.fact_plain else id(pair.tie.condition)
    which = (pair.dimension.relation, pair.key.name, pair.operator, computed)
    return (way, pair.path.column, pair.pruned, *which)


# --- ties -----------------------------------------------------------------------------------------


def _ties(plan: Plan, block: Block) -> Iterator[tuple[Tie, Side, Side]]:
    """The conditions of a block that tie two expressions, each with both of them."""
    implied = {id(condition) for condition in required(block.source, block.where)}
    for condition in block.where:
        yield from _tie(plan, block, condition, None, True)
    for join in joins(block.source):
        for condition in join.conditions:
            yield from _tie(plan, block, condition, join, id(condition) in implied)


def _tie(
    plan: Plan, block: Block, condition: Condition, join: Join | None, implied: bool
) -> Iterator[tuple[Tie, Side, Side]]:
    expression, negated = condition.expression, False
    if isinstance(expression, Call) and expression.name == "not":
        (expression,), negated = expression.args, True
    match expression:
        case Call(name=name, args=(one, *others)) if _compares(name, others) and not negated:
            shape = JoinType.INNER if join is None or implied else join.type
            if join is not None and join.type in (JoinType.SEMI, JoinType.ANTI):
                shape = join.type
            operators = _BETWEEN if name == "between" else (name,)
            for number, (other, operator) in enumerate(zip(others, operators, strict=True), 1):
                if isinstance(one, Literal) or isinstance(other, Literal):
                    continue
                if not (_may_bound(plan, one) or _may_bound(plan, other)):
                    continue
                tie = Tie(block, condition, operator, shape.value, join, implied)
                yield tie, Side(one, 0), Side(other, number)
        case Subquery(kind="in", operand=operand, query=query) if operand is not None:
            # In the ON of a semi-join the fact may be of the side that has no name in WHERE.
            inside = join is not None and join.type in (JoinType.SEMI, JoinType.ANTI)
            required_in = implied and not inside
            shape_in = "not in" if negated else "in" if required_in else "in (not required)"
            tie = Tie(block, condition, "=", shape_in, join, implied, query)
            if isinstance(operand, Call) and operand.name == "tuple":
                for number, value in enumerate(operand.args):
                    for output in outputs_at(plan, query, number, len(operand.args)):
                        yield tie, Side(value, None), Side(output, None)
                return
            for output in outputs_at(plan, query, 0, 1):
                yield tie, Side(operand, 0), Side(output, None)
        case _:
            return


def _may_bound(plan: Plan, side: Expression) -> bool:
    """Whether an expression on one side of a tie has a column that a fact may be pruned by."""
    return any(_may_prune(plan, ref) for ref in _columns(side))


def _may_prune(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column may lead down to one that a fact is partitioned by: most are a dimension's,
    or a fact's that is no partition column."""
    relation = plan.relations[ref.relation]
    return not isinstance(relation, Scan) or _partitions(plan, relation, ref.name)


def _compares(name: str, others: list[Expression]) -> bool:
    return len(others) == (2 if name == "between" else 1) and (name in _TURNED or name == "between")


def joins(node: Node) -> Iterator[Join]:
    """The joins of a join tree, outermost first."""
    stack = [node]
    while stack:
        found = stack.pop()
        match found:
            case Join(left=left, right=right):
                yield found
                stack += [right, left]
            case Generate(child=child):
                stack.append(child)
            case _:
                pass


def outputs_at(plan: Plan, query: Query, place: int, of: int) -> Iterator[Expression]:
    """One of the columns of an IN's subquery, in each branch of a set operation."""
    for number in query.top:
        outputs = plan.blocks[number].outputs
        if len(outputs) == of and plan.blocks[number].complete:
            yield outputs[place].expression


# --- pairs ----------------------------------------------------------------------------------------


def _pairs(plan: Plan, tie: Tie, operator: str, fact: Side, key: Side) -> Iterator[Pair]:
    keys = _columns(key.expression)
    if not keys:
        return
    for ref in _columns(fact.expression):
        if not _may_prune(plan, ref) or any(found.relation == ref.relation for found in keys):
            continue
        outside = plan.owner[ref.relation] == tie.block.number
        if tie.query is None or outside:
            ways = _ways(plan, ref)
        else:
            # The value of an IN's subquery has that query's own operators above it.
            ways = [
                w
                for w in trace_query(plan, tie.query, 0)
                if w.relations[0] is plan.relations[ref.relation]
            ]
        dimension = plan.relations[keys[0].relation]
        for path in ways:
            if not _prunable(plan, path) or isinstance(dimension, Generate):
                continue
            assert isinstance(path.end, Scan)
            plain = _bounds(path.end, path.column)
            side, shape = _side(plan, tie, ref, keys[0])
            for derived in (*[None] * plain, *derived_from(plan, path.end, path.column)):
                place = (
                    _target(path, ways) if derived is None else _derived_target(plan, path, derived)
                )
                if place is None:
                    continue
                yield Pair(
                    tie=tie if shape == tie.shape else replace(tie, shape=shape),
                    operator=operator,
                    side=side,
                    path=path,
                    fact=ref,
                    fact_side=fact,
                    target=place[0],
                    target_column=place[1],
                    dimension=dimension,
                    key=keys[0],
                    key_side=key,
                    derived=derived,
                )


def _ways(plan: Plan, ref: ColumnRef) -> list[LineagePath]:
    """The ways down from a column; none where none of them ends at a partition column."""
    key = ("ways", ref.relation, ref.name)
    found: list[LineagePath] | None = plan.memo.get(key)
    if found is None:
        found = list(islice(trace(plan, ref), _MOST_WAYS))
        found = plan.memo[key] = found if any(_prunable(plan, it) for it in found) else []
    return found


def _columns(expression: Expression) -> tuple[ColumnRef, ...]:
    if isinstance(expression, ColumnRef):
        return (expression,)
    return columns(expression, inside=False)


def _prunable(plan: Plan, path: LineagePath) -> bool:
    """Whether a path ends in a column that its table is partitioned by, plainly or transformed, or
    that such a column is computed from, or that its rows are clustered by."""
    return isinstance(path.end, Scan) and _partitions(plan, path.end, path.column)


def _partitions(plan: Plan, scan: Scan, column: str) -> bool:
    return _bounds(scan, column) or bool(derived_from(plan, scan, column))


def _bounds(scan: Scan, column: str) -> bool:
    """Whether a table is partitioned by a column, plainly or transformed, or clustered by it."""
    table = scan.table
    return column in table.clustered_by or any(
        field.column.lower() == column for field in table.partitioned_by
    )


def _target(path: LineagePath, ways: list[LineagePath]) -> tuple[Relation, str]:
    """Where a predicate for the scan can be written: at the scan, or at the first view above it."""
    for depth, relation in enumerate(path.relations, 1):
        if isinstance(relation, Derived) and relation.view:
            above = path.relations[:depth]
            return relation, next(way.column for way in ways if way.relations == above)
    return path.end, path.column


def _derived_target(
    plan: Plan, path: LineagePath, derived: DerivedColumn
) -> tuple[Relation, str] | None:
    """Where a predicate for a derived column can be written: at the scan, or at the first view
    above it, if that shows the column too."""
    for depth, relation in enumerate(path.relations, 1):
        if isinstance(relation, Derived) and relation.view:
            below = path.relations[depth - 1 :]
            for name in column_names(relation) or ():
                for way in trace(plan, ColumnRef(relation.relation, name, None)):
                    if way.relations == below and way.column == derived.column and not way.computed:
                        return relation, name
            return None
    return path.end, derived.column


def _side(plan: Plan, tie: Tie, fact: ColumnRef, key: ColumnRef) -> tuple[str, str]:
    """Where the fact stands in the tie, and the shape of the tie as seen from there."""
    here, block = plan.owner, tie.block
    at_fact, at_key = here[fact.relation], here[key.relation]
    if tie.shape in ("in", "not in", "in (not required)"):
        if at_fact != block.number:
            return "inside", tie.shape
        # Of a set operation no branch alone says what the fact's column may be.
        alone = tie.query is not None and len(tie.query.top) == 1
        return "outside", (tie.shape if alone or tie.shape != "in" else "in (not required)")
    if at_fact == at_key == block.number:
        tree = tie.join if tie.join is not None else _meeting(block.source, fact, key)
        left = not isinstance(tree, Join) or fact.relation in numbers(tree.left)
        return (LEFT if left else RIGHT), tie.shape
    if at_fact == block.number:
        # The fact is in a subquery, or beside one in its own block's outer join.
        if tie.join is not None and not tie.implied:
            left = fact.relation in numbers(tie.join.left)
            return (LEFT if left else RIGHT), tie.shape
        return "inside", _role(block)
    # A global aggregate returns a row even where nothing matches.
    direct = at_fact == block.parent and tie.implied and block.aggregate in (None, "group by")
    if direct and block.role == "lateral" and _inner_lateral(plan, block):
        return "outside", "lateral join"
    return "outside", _role(block) if direct else "scalar"


def _inner_lateral(plan: Plan, block: Block) -> bool:
    """Whether a row of the block around comes out only with one of a LATERAL subquery: an inner
    join, and no other branch of a union that may have one."""
    assert block.parent is not None
    source = plan.blocks[block.parent].source
    return any(
        isinstance(leaf, Derived)
        and leaf.query.top == (block.number,)
        and not extended(source, leaf.relation)
        for leaf in leaves(source)
    )


def _role(block: Block) -> str:
    """A subquery's shape as its rows decide over the block around it."""
    if block.role in ("exists", "in"):
        if block.negated:
            return f"not {block.role}" if block.role == "exists" else "not in (correlated)"
        return "exists" if block.required else "scalar"
    return block.role if block.role in ("lateral", "scalar") else "scalar"


def _meeting(node: Node, one: ColumnRef, other: ColumnRef) -> Node:
    """The lowest join over two relations of a tree."""
    while True:
        if isinstance(node, Generate):
            node = node.child
            continue
        if not isinstance(node, Join):
            return node
        for side in (node.left, node.right):
            if {one.relation, other.relation} <= numbers(side):
                node = side
                break
        else:
            return node
