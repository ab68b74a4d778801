"""The edges of a block's join graph: the conditions that connect expressions of two relations.

In: a plan and one of its blocks. Out: each ``JoinEdge`` that could prune a fact, and its sides; and
each ``ScanJoin``, two scans that one join connects by equalities between plain columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.find.derived_columns import may_prune
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.expressions import columns, conjuncts, relations
from sqlrewrite.plan.joins import required_conditions
from sqlrewrite.plan.memo import remembered_by_node
from sqlrewrite.plan.relations import joins, numbers

# Each comparison operator, with the one that means the same when the sides are swapped.
FLIPPED = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

# BETWEEN as comparisons of its first operand; and for each operator how many operands follow that.
_BETWEEN = (">=", "<=")
_OTHERS = {**dict.fromkeys(FLIPPED, 1), "between": 2}

RANK = "rank"
"""The kind of an edge that is a condition on the rank of a scan's rows."""

FILTER = "filter"
"""The kind of an edge that is a filter on a scan alone, and no join."""


class JoinEdge(Struct, frozen=True, eq=False):
    """A condition that connects two relations, and where it stands.

    ``kind`` is a join type in the words of SQL, or ``exists``, ``not exists``, ``in``, ``not in``,
    ``scalar``, ``lateral`` (and ``lateral join``, where it keeps no row without a partner) for a
    subquery. ``join`` is the join in whose ON it stands; ``implied`` says that every row that
    comes out of the block's FROM and WHERE satisfies it; ``query`` is the subquery of an IN.
    """

    block: ra.Block
    condition: ra.Condition
    operator: str
    kind: str
    join: ra.Join | None
    implied: bool
    query: ra.Query | None = None


class Side(Struct, frozen=True, eq=False):
    """One side of a join edge: its expression, and its number among the condition's operands, from
    0; None where the condition's text does not hold it (the output of an IN's subquery)."""

    expression: ra.Expression
    operand: int | None


def join_edges(plan: ra.Plan, block: ra.Block) -> Iterator[tuple[JoinEdge, Side, Side]]:
    """The conditions of a block that connect two expressions, each with both of them."""
    implied = {id(condition) for condition in required_conditions(block.source, block.where)}
    for condition in block.where:
        for equality in (condition, *_equalities_of_or(condition)):
            yield from _edges_of_condition(plan, block, equality, None, True)
    for join in joins(block.source):
        for condition in join.conditions:
            for equality in (condition, *_equalities_of_or(condition)):
                yield from _edges_of_condition(
                    plan, block, equality, join, id(condition) in implied
                )


def _equalities_of_or(condition: ra.Condition) -> Iterator[ra.Condition]:
    """The equalities of two columns that every branch of an OR repeats: the OR implies them."""
    expression = condition.expression
    if not isinstance(expression, ra.Call) or expression.name != "or":
        return
    first, *others = (tuple(conjuncts(branch)) for branch in expression.args)
    rest = [{_equal_columns(part) for part in other} for other in others]
    for part in first:
        if _equal_columns(part) is not None and all(
            _equal_columns(part) in equalities for equalities in rest
        ):
            yield replace(condition, expression=part, relations=relations(part), in_or=True)


def _equal_columns(part: ra.Expression) -> frozenset[tuple[int, str]] | None:
    """The two columns that an equality compares; None for any other condition."""
    match part:
        case ra.Call(name="=", args=(ra.ColumnRef() as one, ra.ColumnRef() as other)):
            return frozenset({(one.relation, one.name), (other.relation, other.name)})
        case _:
            return None


def _edges_of_condition(
    plan: ra.Plan, block: ra.Block, condition: ra.Condition, join: ra.Join | None, implied: bool
) -> Iterator[tuple[JoinEdge, Side, Side]]:
    expression, negated = condition.expression, False
    if isinstance(expression, ra.Call) and expression.name == "not":
        (expression,), negated = expression.args, True
    match expression:
        case ra.Call(name=name, args=(one, *others)) if not negated and _OTHERS.get(name) == len(
            others
        ):
            kind = ra.JoinType.INNER if join is None or implied else join.type
            if join is not None and join.type in (ra.JoinType.SEMI, ra.JoinType.ANTI):
                kind = join.type
            operators = _BETWEEN if name == "between" else (name,)
            for number, (other, operator) in enumerate(zip(others, operators, strict=True), 1):
                if isinstance(one, ra.Literal) or isinstance(other, ra.Literal):
                    continue
                if not (_may_bound(plan, one) or _may_bound(plan, other)):
                    continue
                edge = JoinEdge(block, condition, operator, kind.value, join, implied)
                yield edge, Side(one, 0), Side(other, number)
        case ra.Subquery(kind="in", operand=operand, query=query) if operand is not None:
            # In the ON of a semi-join the fact may be on the right, which WHERE cannot name.
            inside = join is not None and join.type in (ra.JoinType.SEMI, ra.JoinType.ANTI)
            required_in = implied and not inside
            kind_in = "not in" if negated else "in" if required_in else "in (not required)"
            edge = JoinEdge(block, condition, "=", kind_in, join, implied, query)
            if isinstance(operand, ra.Call) and operand.name == "tuple":
                for number, value in enumerate(operand.args):
                    for output in _outputs_at(plan, query, number, len(operand.args)):
                        yield edge, Side(value, None), Side(output, None)
                return
            for output in _outputs_at(plan, query, 0, 1):
                yield edge, Side(operand, 0), Side(output, None)
        case _:
            return


@remembered_by_node
def _may_bound(plan: ra.Plan, side: ra.Expression) -> bool:
    """Whether an expression on one side of an edge has a column that a fact may be pruned by."""
    if isinstance(side, ra.Unknown) and side.merged:  # by FULL joins, each of that of those below
        return any(_may_bound(plan, arg) for arg in side.args)
    return any(may_prune(plan, ref) for ref in columns_of(side))


def _outputs_at(plan: ra.Plan, query: ra.Query, place: int, of: int) -> Iterator[ra.Expression]:
    """The column at a ``place`` in the output of an IN's subquery, one for each branch of a set
    operation."""
    for number in query.top:
        outputs = plan.blocks[number].outputs
        if len(outputs) == of and plan.blocks[number].complete:
            yield outputs[place].expression


def columns_of(expression: ra.Expression) -> tuple[ra.ColumnRef, ...]:
    """The columns of one side of an edge."""
    return columns(expression, inside=False)


_NO_OUTER = (ra.JoinType.INNER, ra.JoinType.CROSS)


class JoinKey(Struct, frozen=True):
    """An equality of a scan join: the column of each side, and whether NULL equals NULL in it."""

    one: str
    other: str
    null_safe: bool = False


class ScanJoin(Struct, frozen=True, eq=False):
    """Two scans that are joined in a block: ``one`` of the left side, or of the query around a
    subquery, and ``other`` of the right side, or of the subquery."""

    block: ra.Block
    kind: ra.JoinType
    one: ra.Scan
    other: ra.Scan
    keys: tuple[JoinKey, ...]


def scan_joins(plan: ra.Plan) -> Iterator[ScanJoin]:
    """The scan joins of a plan, block by block; those in a view are reported at its own text."""
    for block in plan.blocks:
        if block.in_view:
            continue
        for join in joins(block.source):
            kind = ra.JoinType.INNER if join.type in _NO_OUTER else join.type
            above = block.where if kind is ra.JoinType.INNER else ()
            sides = numbers(join.left), numbers(join.right)
            equalities = (condition.expression for condition in (*join.conditions, *above))
            yield from _joins_by_equalities(plan, block, kind, sides, equalities)
        yield from _joins_of_subquery(plan, block)


def _joins_of_subquery(plan: ra.Plan, block: ra.Block) -> Iterator[ScanJoin]:
    """The scan joins of a block that is the subquery of an IN or EXISTS in its parent's WHERE (a
    semi-join), or of a NOT EXISTS (an anti-join). NOT IN is neither, because of its NULLs."""
    if block.parent is None or block.role not in ("exists", "in") or not block.required:
        return
    if block.negated and block.role == "in":
        return
    outer, inner = (
        frozenset(relation for relation, of in plan.owner.items() if of == number)
        for number in (block.parent, block.number)
    )
    equalities = [condition.expression for condition in block.where]
    if block.role == "in":
        equalities += _equalities_of_in(plan.blocks[block.parent].where, block)
    kind = ra.JoinType.ANTI if block.negated else ra.JoinType.SEMI
    yield from _joins_by_equalities(plan, block, kind, (outer, inner), equalities)


def _equalities_of_in(where: Sequence[ra.Condition], block: ra.Block) -> Iterator[ra.Expression]:
    """An IN as equalities: each of its operands equals the column in the same place."""
    for condition in where:
        match condition.expression:
            case ra.Subquery(kind="in", operand=operand, query=query) if operand is not None:
                several = isinstance(operand, ra.Call) and operand.name == "tuple"
                operands = operand.args if several else (operand,)  # type: ignore[union-attr]
                if query.top == (block.number,) and len(operands) == len(block.outputs):
                    for one, output in zip(operands, block.outputs, strict=True):
                        yield ra.Call("=", (one, output.expression))


def _joins_by_equalities(
    plan: ra.Plan,
    block: ra.Block,
    kind: ra.JoinType,
    sides: tuple[frozenset[int], frozenset[int]],
    equalities: Iterator[ra.Expression] | Sequence[ra.Expression],
) -> Iterator[ScanJoin]:
    keys_by_scans: dict[tuple[int, int], list[JoinKey]] = {}
    for expression in equalities:
        match expression:
            case ra.Call(
                name="=" | "<=>" as name, args=(ra.ColumnRef() as one, ra.ColumnRef() as other)
            ):
                if one.relation in sides[1]:
                    one, other = other, one
                if one.relation in sides[0] and other.relation in sides[1]:
                    key = JoinKey(one.name, other.name, name == "<=>")
                    keys_by_scans.setdefault((one.relation, other.relation), []).append(key)
    for (first, second), keys in keys_by_scans.items():
        one_scan, other_scan = plan.relations[first], plan.relations[second]
        if isinstance(one_scan, ra.Scan) and isinstance(other_scan, ra.Scan):
            yield ScanJoin(block, kind, one_scan, other_scan, tuple(dict.fromkeys(keys)))
