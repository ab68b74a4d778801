"""Pairs for conditions that only rows of the first partitions can meet: ranks, and no later row.

They are conditions on a rank (``rank() OVER (ORDER BY p DESC) = 1``, in QUALIFY or around a derived
table; ``p = max(p) OVER ()``), and conditions that no later row exists (``NOT EXISTS (SELECT 1 FROM
fact AS later WHERE later.p > fact.p)``, or an anti-join). In: a plan. Out: a ``Pair`` for each scan
that is ranked by a column it can be pruned by. The dimension is the scan itself, or the scan of the
later rows: the first values of its column, among the ranked rows, bound the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from sqlrewrite.find.derived_columns import bounded
from sqlrewrite.find.join_edges import FLIPPED, RANK, JoinEdge, Side
from sqlrewrite.find.pairs import MOST_PATHS, Pair
from sqlrewrite.find.reducers import conditions_reaching
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.facts.constants import row_count
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.joins import null_extended
from sqlrewrite.plan.lineage import LineagePath, same_column, trace
from sqlrewrite.plan.relations import generates, joins
from sqlrewrite.sql.bind.select_clauses import OF_FIRST, OF_LAST

_MOST_RANKS = 100
"""The greatest rank for which a predicate is written: more first values would hardly prune."""


def find_rank_pairs(plan: ra.Plan) -> Iterator[Pair]:
    """All pairs of a plan for a condition on a rank, or on later rows."""
    for block in plan.blocks:
        if block.in_view or block.shared:
            continue
        yield from _pairs_without_later_row(plan, block)
        source = block.source
        if block.ranked is None or not isinstance(source, ra.Relation):
            continue
        ref, descends = block.ranked
        path = _path_to_scan(plan, source, ref)
        if path is None:
            continue
        for condition, resolve in _required_conditions(plan, block):
            count = _greatest_rank(condition.expression, resolve, ref)
            if 0 < count <= _MOST_RANKS:
                edge = JoinEdge(block, condition, ">=" if descends else "<=", RANK, None, True)
                yield _pair(edge, path, (source, ref), (source, ref), count)
                break


def conditions_on_ranked_rows(plan: ra.Plan, pair: Pair) -> tuple[ra.Condition, ...]:
    """The conditions on the rows whose first values bound the fact of a pair."""
    join = pair.edge.join
    conditions = (
        plan.blocks[plan.owner[pair.key.relation]].where if join is None else join.conditions
    )
    return tuple(item for item in conditions if item is not pair.edge.condition)


def _path_to_scan(plan: ra.Plan, source: ra.Relation, ref: ra.ColumnRef) -> LineagePath | None:
    """The path from the ranking column down to a scan that it prunes, if a condition on the column
    may be moved down it; None if an outer join extends the scan by NULLs."""
    if ref.relation != source.relation:
        return None
    for path in islice(trace(plan, ref), MOST_PATHS):
        scan = path.end
        if isinstance(scan, ra.Scan) and bounded(scan, path.column):
            written = scan is not source or scan.span is not None
            if written and not scan.streaming and not path.barriers and not path.computed:
                return None if _may_be_extended(plan, path) else path
    return None


def _may_be_extended(plan: ra.Plan, path: LineagePath) -> bool:
    numbers = (relation.relation for relation in path.relations[1:])
    return any(null_extended(plan.blocks[plan.owner[number]].source, number) for number in numbers)


def _readable(scan: ra.Scan) -> bool:
    return scan.span is not None and not scan.sampled and not scan.streaming


def _pair(
    edge: JoinEdge,
    path: LineagePath,
    of: tuple[ra.Relation, ra.ColumnRef],
    by: tuple[ra.Relation, ra.ColumnRef],
    count: int,
) -> Pair:
    (target, fact), (dimension, key) = of, by
    return Pair(
        edge=edge,
        operator=edge.operator,
        side=RANK,
        path=path,
        fact=fact,
        fact_side=Side(fact, None),
        target=target,
        target_column=fact.name,
        dimension=dimension,
        key=key,
        key_side=Side(key, None),
        first=count,
    )


_FIRST = {">": ">=", "<": "<="}
"""A comparison with later rows, and the comparison with the first value that holds if there is
none."""


def _pairs_without_later_row(plan: ra.Plan, block: ra.Block) -> Iterator[Pair]:
    """The pairs of a block that keeps only rows without a later row."""
    for condition, join, beyond in _anti_join_conditions(plan, block):
        match condition.expression:
            case ra.Call(
                name="<" | ">" as name, args=(ra.ColumnRef() as one, ra.ColumnRef() as other)
            ):
                operator = name if one.relation == beyond.relation else FLIPPED[name]
                fact, key = (other, one) if one.relation == beyond.relation else (one, other)
            case _:
                continue
        scan = plan.relations[fact.relation]
        own = plan.owner[fact.relation] == block.number and key.relation == beyond.relation
        if own and isinstance(scan, ra.Scan) and scan is not beyond and bounded(scan, fact.name):
            edge = JoinEdge(block, condition, _FIRST[operator], RANK, join, True)
            path = LineagePath((scan,), fact.name)
            pair = _pair(edge, path, (scan, fact), (beyond, key), 1)
            others = conditions_on_ranked_rows(plan, pair)
            alone = all(other.relations == {beyond.relation} for other in others)
            pushed = not null_extended(block.source, scan.relation)  # or WHERE would prune nothing
            if alone and pushed and _readable(scan) and _readable(beyond):
                yield pair


def _anti_join_conditions(
    plan: ra.Plan, block: ra.Block
) -> Iterator[tuple[ra.Condition, ra.Join | None, ra.Scan]]:
    """The conditions of anti-joins and of NOT EXISTS with a single table: a row of the block stays
    only if no row of that table meets them."""
    for join in joins(block.source):
        if join.type is ra.JoinType.ANTI and isinstance(join.right, ra.Scan):
            yield from ((condition, join, join.right) for condition in join.conditions)
    for outer in block.where:
        match outer.expression:
            case ra.Call(name="not", args=(ra.Subquery(kind="exists", query=query),)):
                inner = plan.blocks[query.top[0]]
                scan = inner.source
                cut = inner.limit or inner.aggregate or inner.having or generates(inner)
                if len(query.top) == 1 and isinstance(scan, ra.Scan) and not cut:
                    yield from ((condition, None, scan) for condition in inner.where)
            case _:
                pass


ColumnResolver = Callable[[ra.Expression], ra.Expression]
"""From an expression of a condition to that expression in the SELECT with the window."""


def _required_conditions(
    plan: ra.Plan, block: ra.Block
) -> Iterator[tuple[ra.Condition, ColumnResolver]]:
    """The conditions that a row of a SELECT must meet to matter to the result, each with a function
    that replaces columns of its reader by the SELECT's own expressions."""
    yield from ((condition, _unchanged) for condition in block.having)  # it is QUALIFY
    reads = [
        reader
        for reader in plan.relations.values()
        if isinstance(reader, ra.Derived | ra.CteReference) and block.number in reader.query.top
    ]
    if len(reads) != 1 or block.limit is not None or not block.complete:
        return
    (relation,) = reads
    alone = isinstance(relation, ra.Derived) or relation.cte not in plan.unbound
    if relation.sampled or not alone or isinstance(relation.query.node, ra.Limit | ra.SetOperation):
        return
    names = column_names(relation) or ()

    def resolve(expression: ra.Expression) -> ra.Expression:
        match expression:
            case ra.ColumnRef(relation=number, name=name) if number == relation.relation:
                at = names.index(name) if names.count(name) == 1 else len(block.outputs)
                return block.outputs[at].expression if at < len(block.outputs) else expression
            case _:
                return expression

    yield from ((condition, resolve) for condition in conditions_reaching(plan, relation.relation))


_OF_ALL = OF_FIRST | OF_LAST | {"max", "min"}
"""Functions whose value over the window is that of the first rows."""


def _greatest_rank(condition: ra.Expression, resolve: ColumnResolver, ref: ra.ColumnRef) -> int:
    """The greatest rank for which a condition may hold; 0 where that is not known."""
    match condition:
        case ra.ColumnRef() if isinstance(resolve(condition), ra.Call):
            return _greatest_rank(resolve(condition), _unchanged, ref)
        case ra.Call(name="=", args=(one, ra.Literal(kind="boolean", text=text))) if text == "true":
            return _greatest_rank(one, resolve, ref)
        case ra.Call(name="=", args=(one, ra.Literal() as value)) if deciding := _condition_of(
            resolve(one), value
        ):
            return _greatest_rank(deciding, _unchanged, ref)
        case ra.Call(name="=", args=(one, other)) if not _OF_ALL.isdisjoint(
            (window_function(resolve(one)), window_function(resolve(other)))
        ):
            plain = (resolve(side) for side in (one, other))
            return int(
                any(isinstance(side, ra.ColumnRef) and same_column(side, ref) for side in plain)
            )
        case ra.Call(name="=" | "<=" | "<" as name, args=(one, ra.Literal() as most)):
            ranked, ranks = one, [most]
        case ra.Call(name="=" | ">=" | ">" as name, args=(ra.Literal() as most, one)):
            ranked, ranks = one, [most]
        case ra.Call(name="between" as name, args=(ranked, ra.Literal(), ra.Literal() as most)):
            ranks = [most]
        case ra.Call(name="in" as name, args=(ranked, *listed)):
            ranks = [rank for rank in listed if isinstance(rank, ra.Literal)]
            if len(ranks) < len(listed):
                return 0
        case _:
            return 0
    numbers = all(rank.kind == "number" for rank in ranks)
    if not numbers or window_function(resolve(ranked)) not in tagged("numbers"):
        return 0
    counts = [row_count(rank.text) for rank in ranks]
    return max(counts) - (name in ("<", ">")) if all(counts) else 0


def _unchanged(expression: ra.Expression) -> ra.Expression:
    return expression


def _condition_of(expression: ra.Expression, value: ra.Literal) -> ra.Expression | None:
    """The condition under which a CASE or ``if`` equals ``value``; None unless its other results
    are other numbers or NULL."""
    match expression:
        case ra.Call(
            name="case", args=(ra.Call(name="if", args=(when, ra.Literal() as then)), *rest)
        ):
            pass
        case ra.Call(name="if", args=(when, ra.Literal() as then, *rest)):
            pass
        case _:
            return None
    match rest:
        case [] | [ra.Literal(kind="null")]:
            others = set[int]()
        case [ra.Literal(kind="number", text=text)] if text.isdecimal():
            others = {int(text)}
        case _:
            return None
    if any(literal.kind != "number" or not literal.text.isdecimal() for literal in (value, then)):
        return None
    rank = int(value.text)
    return when if int(then.text) == rank and rank not in others else None


def window_function(expression: ra.Expression) -> str:
    """The name of the function that a window computes; empty for any other expression."""
    match expression:
        case ra.Call(name="over", args=(ra.Call(name=name), *_)):
            return name
        case _:
            return ""
