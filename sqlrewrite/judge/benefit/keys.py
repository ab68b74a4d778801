"""Which keys there are: DPP120 selective-predicate, that something filters them; and whether they
are one, as of a maximum, a few, as of a LIMIT, or as many as the statistics say.

What is selective is the list of Spark's ``PartitionPruning.isLikelySelective``, in the engine's
file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.algebra import CteReference, Derived, Limit, Query, Scan
from sqlrewrite.plan.columns import is_when
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.facts.coercion import identical
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import joins, leaves, one_row
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.forms import AUTO, IN, SET, VALUES
from sqlrewrite.text.limits import SPARK


def judge_selective(proposal: Proposal) -> Judgement:
    """Whether some condition on the dimension, or in it, is selective."""
    if any(restricts(proposal, item) for item in proposal.restrictions):
        return passed(f"{proposal.dimension_name} is filtered")
    if proposal.pair.edge.block.role == "merge":
        return passed(f"a MERGE reads only what {proposal.dimension_name} has keys for")
    if _inside(proposal, proposal.pair.dimension, _test(proposal)):
        return passed(f"{proposal.dimension_name} is filtered inside")
    if has_one_key(proposal):
        return passed(f"{proposal.dimension_name} gives one key")
    if has_few_keys(proposal):
        return passed(f"a LIMIT leaves few keys of {proposal.dimension_name}")
    if proposal.dropped:
        return failed(
            f"no condition on {proposal.dimension_name} can be repeated: {proposal.dropped[0][1]}"
        )
    if any(_holds(proposal, item, _narrows) for item in proposal.restrictions):
        return failed(
            f"the engine does not count the filter on {proposal.dimension_name} as "
            f"selective, and would not prune by an IN: {proposal.other_form}"
        )
    if _is_constant(proposal):
        return failed(
            f"{proposal.dimension_name} is one row of constants, so the engine already "
            "knows its key"
        )
    return failed(
        f"nothing filters {proposal.dimension_name}: its keys would rule out no partition"
    )


def _is_constant(proposal: Proposal) -> bool:
    """Whether the dimension is one SELECT of constants, without FROM: Spark infers that the fact's
    column equals them (Catalyst's InferFiltersFromConstraints)."""
    blocks = _blocks(proposal.plan, proposal.pair.dimension)
    return len(blocks) == 1 and not blocks[0].functions and _reads_constants(blocks[0], _narrows)


@remembered
def is_filtered(proposal: Proposal) -> bool:
    """Whether a condition on the dimension, or in it, is likely to leave few rows."""
    return _passes(proposal, _test(proposal))


@remembered
def is_selective(proposal: Proposal) -> bool:
    """Whether the engine itself would take the dimension to be filtered, which an IN depends on."""
    return _passes(proposal, _selective)


def _passes(proposal: Proposal, test: Test) -> bool:
    restricted = any(_holds(proposal, item, test) for item in proposal.restrictions)
    return restricted or _inside(proposal, proposal.pair.dimension, test)


def restricts(proposal: Proposal, item: Restriction) -> bool:
    """Whether a restriction is likely to leave few rows; or leaves any out at all, where the form
    of the predicate does not depend on what the engine takes to be selective."""
    return _holds(proposal, item, _test(proposal))


Test = Callable[[Proposal, ra.Expression], bool]

ANY = "any"
"""In an engine's list of predicates: it collects the keys whatever filters them."""


def _test(proposal: Proposal) -> Test:
    by_semi_join = proposal.form == IN and proposal.pair.operator in ("=", "<=>")
    by_semi_join = by_semi_join and proposal.pair.derived is None  # which gets a set
    return _selective if by_semi_join else _narrows


def _selective(proposal: Proposal, expression: ra.Expression) -> bool:
    if ANY in proposal.engine.predicates:
        return _narrows(proposal, expression)
    match expression:
        case (
            ra.Subquery(kind="exists", query=query)
            | ra.Call(name="not", args=(ra.Subquery(kind="exists", query=query),))
        ):
            # The engine makes it a semi- or anti-join, and looks for a filter on either side.
            blocks = (proposal.plan.blocks[number] for number in query.blocks)
            filters = (condition.expression for block in blocks for condition in _filters(block))
            return any(_selective(proposal, inner) for inner in filters)
        case _:
            return selective(proposal.engine, expression)


def _narrows(proposal: Proposal, expression: ra.Expression) -> bool:
    """Whether a condition is more than IS NOT NULL, which a join implies for its keys anyway."""
    match expression:
        case ra.Call(name="not", args=(ra.Call(name="isnull"),)) | ra.Literal():
            return False
        case _:
            return True


def _holds(proposal: Proposal, item: Restriction, test: Test) -> bool:
    match item:
        case Conjunct(expression=expression):
            return test(proposal, expression)
        case AnyOf(branches=branches):
            return all(any(_holds(proposal, part, test) for part in branch) for branch in branches)
        case SemiJoin(relation=relation, inner=inner):
            restricted = any(_holds(proposal, part, test) for part in inner)
            return restricted or _inside(proposal, relation, test)


def _inside(proposal: Proposal, relation: ra.Relation, test: Test) -> bool:
    """Whether a derived table, view or CTE has such a condition of its own, or is all constants:
    few rows, which Spark prunes by without a filter."""
    if isinstance(relation, ra.Inline):
        return True
    blocks = _blocks(proposal.plan, relation)
    if blocks and all(_reads_constants(block, test) for block in blocks):
        return True
    return any(
        test(proposal, condition.expression) for block in blocks for condition in _filters(block)
    )


def _blocks(plan: ra.Plan, relation: ra.Relation) -> list[ra.Block]:
    """The blocks of a derived table, view or CTE; none for a table."""
    numbers = relation.query.blocks if isinstance(relation, ra.Derived | ra.CteReference) else ()
    return [plan.blocks[number] for number in numbers]


def _filters(block: ra.Block) -> Iterator[ra.Condition]:
    """The conditions of a block on its rows, on its groups, and on one side of a join alone."""
    yield from (*block.where, *block.having)
    for join in joins(block.source):
        yield from (condition for condition in join.conditions if len(condition.relations) == 1)


def _reads_constants(block: ra.Block, test: Test) -> bool:
    """Whether a block reads only constants: VALUES, or a SELECT without FROM (a union of these is
    not few rows to Spark)."""
    return all(
        isinstance(leaf, ra.Inline)
        or (isinstance(leaf, ra.Opaque) and leaf.columns == () and test is _narrows)
        for leaf in leaves(block.source)
    )


def selective(engine: Engine, expression: ra.Expression) -> bool:
    """Whether the engine takes a condition to be selective, by the table in its file."""
    match expression:
        case ra.Call(name="and", args=args):
            return any(selective(engine, arg) for arg in args)
        case ra.Call(name="or", args=args):
            return all(selective(engine, arg) for arg in args)
        case ra.Call(name="not", args=(inner,)):
            return selective(engine, inner)
        case ra.Call(name="=" | "<=>" | "<>" | "is" as name, args=args) if _against_boolean(args):
            # Spark simplifies it to the bare column or condition (BooleanSimplification), a
            # null-safe comparison only where that is never NULL.
            stays = engine.planner == "spark" and name in ("<=>", "is")
            null_safe = stays and any(isinstance(arg, ra.ColumnRef) for arg in args)
            return null_safe or any(selective(engine, arg) for arg in args)
        case ra.Call(name=name, args=args):
            return name in engine.predicates and not _splits(engine, name, args)
        case ra.Subquery(kind="in"):
            return True
        case _:
            return False


def _splits(engine: Engine, name: str, args: tuple[ra.Expression, ...]) -> bool:
    """Whether the engine pushes a comparison with constants into the branches of the CASE below it,
    which leaves conditions and no comparison (Spark's ``PushFoldableIntoBranches``; a list of two
    values stays in place)."""
    computed = [arg for arg in args if columns(arg)]
    if len(computed) != 1 or (name == "in" and len(args) > 2):
        return False
    branches = _branches(engine, computed[0])
    if branches:
        values = sum(value is not None and bool(columns(value)) for value in branches)
        return values == 1 or (values == 0 and len(branches) > 2)
    match computed[0]:
        case ra.Call(name=inner, args=below) if len(below) <= 2:
            return _splits(engine, inner, below)
        case ra.Cast(operand=operand):
            return _splits(engine, "cast", (operand,))
        case _:
            return False


def _branches(engine: Engine, expression: ra.Expression) -> tuple[ra.Expression | None, ...]:
    """The values that a CASE, or what the engine reads as one, chooses from; None for NULL."""
    match expression:
        case ra.Call(name=name) if name not in engine.branching:
            return ()
        case ra.Call(name="case", args=args):
            whens = [arg.args[1] for arg in args if is_when(arg)]
            return (*whens, None if is_when(args[-1]) else args[-1])
        case ra.Call(name="if" | "nvl2", args=(_, *values)):
            return tuple(values)
        case ra.Call(args=(value, *_)):
            return value, None
        case _:
            return ()


def _against_boolean(args: tuple[ra.Expression, ...]) -> bool:
    return any(isinstance(arg, ra.Literal) and arg.kind == "boolean" for arg in args)


# Bytes of a value, as Spark's DataType.defaultSize has them.
WIDTHS = {
    "boolean": 1,
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "date": 4,
    "bigint": 8,
    "timestamp": 8,
    "string": 20,
    "binary": 100,
}
WIDEST = 16  # a decimal

_NULL_REJECTING = frozenset({"=", "<", "<=", ">", ">="})


@remembered
def has_one_key(proposal: Proposal) -> bool:
    """Whether the key is of the one row of an aggregate over all rows, or of LIMIT 1."""
    pair, dimension = proposal.pair, proposal.pair.dimension
    if not pair.fact_plain or pair.derived is not None or pair.operator not in _NULL_REJECTING:
        return False
    query = pair.edge.query
    if query is not None and is_whole_in_query(proposal):
        return one_row(proposal.plan, query)
    if not isinstance(dimension, Derived | CteReference):
        return False
    if pair.operator != "=" and proposal.clustered:
        return False  # of two such ends Spark would make one, and push neither down
    return one_row(proposal.plan, dimension.query)


def is_whole_in_query(proposal: Proposal) -> bool:
    """Whether the key is what the whole subquery of an author's IN gives: its one row, or few; of a
    tuple one of its columns."""
    pair, query = proposal.pair, proposal.pair.edge.query
    if query is None or pair.side != "outside":
        return False
    if not one_row(proposal.plan, query) and not _leaves_few_keys(proposal, query):
        return False
    return len(proposal.plan.blocks[query.top[0]].outputs) == 1 or proposal.form != VALUES


FEW = 100
"""How many keys at most are looked up for a LIMIT that nothing else filters."""


def has_few_keys(proposal: Proposal) -> bool:
    """Whether the key is of the first rows of a LIMIT, which have few keys. Whether its ORDER BY
    decides which rows these are is a question for the rules on what may be read again."""
    return few_keys_query(proposal) is not None


@remembered
def few_keys_query(proposal: Proposal) -> Query | None:
    """The query whose LIMIT leaves few keys: an author's IN, or a derived table or CTE."""
    dimension = proposal.pair.dimension
    queries = [proposal.pair.edge.query] if is_whole_in_query(proposal) else []
    queries += [dimension.query] if isinstance(dimension, Derived | CteReference) else []
    return next(
        (query for query in queries if query is not None and _leaves_few_keys(proposal, query)),
        None,
    )


def _leaves_few_keys(proposal: Proposal, query: Query) -> bool:
    pair, node = proposal.pair, query.node
    if (
        not pair.fact_plain
        or pair.derived is not None
        or pair.operator != "="
        or proposal.clustered
    ):
        return False
    if proposal.options.limits.dialect != SPARK or proposal.form not in (IN, SET, AUTO):
        return False
    if not isinstance(node, Limit) or isinstance(node.child, Limit) or not 1 < node.most <= FEW:
        return False  # one Limit below another is that of an OFFSET
    kinds = {proposal.type_of(side) for side in (pair.fact, pair.key_side.expression)}
    kind = kinds.pop()
    return len(query.top) == 1 and not kinds and kind is not None and identical(kind)


def key_count(proposal: Proposal) -> float | None:
    """How many keys the statistics promise: the distinct ones, or else the rows, and of them what
    the engine takes a filter to leave."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, Scan) or not proposal.engine.use_stats:
        return None
    column = dimension.table.column(proposal.pair.key.name)
    count = column.distinct_count if column is not None and proposal.pair.key_plain else None
    count = dimension.table.row_count if count is None else count
    return None if count is None else count * (1 - proposal.engine.fallback_filter_ratio)


def repeats_keys(proposal: Proposal) -> bool:
    """Whether the statistics say that each key comes twice or more, and no declaration that it is
    unique speaks against them: then the key query selects DISTINCT ones."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, Scan) or not proposal.pair.key_plain:
        return False
    table = dimension.table
    column = table.column(proposal.pair.key.name)
    if column is None or [name.lower() for name in table.primary_key] == [proposal.pair.key.name]:
        return False
    rows, distinct = table.row_count, column.distinct_count
    return bool(rows and distinct and rows >= 2 * distinct)
