"""DPP120 selective-predicate: whether something filters the keys; and how many keys there are: one
(a maximum), a few (a LIMIT), or the number in the statistics.

Selective conditions are those of Spark's ``PartitionPruning.isLikelySelective``, listed in the
engine's file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlrewrite.find.reducers import MOST_SHARED, follows_all
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.algebra import CteReference, Derived, Limit, Query, Scan
from sqlrewrite.plan.columns import computed_as, is_when
from sqlrewrite.plan.expressions import canonical, columns, walk
from sqlrewrite.plan.facts.coercion import identical
from sqlrewrite.plan.facts.functions import function, of_one_row
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import joins, leaves, one_row
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.forms import AUTO, IN, SET, VALUES
from sqlrewrite.text.limits import SPARK


def judge_selective(proposal: Proposal) -> Judgement:
    """Whether a condition on the dimension, or inside it, is selective."""
    name = proposal.quoted_dimension
    relation, reach = proposal.pair.dimension.relation, proposal.options.reach
    more = "" if follows_all(proposal.plan, relation, reach) else _NOT_FOLLOWED
    if any(restricts(proposal, item) for item in proposal.restrictions):
        return passed(f"{name} is filtered{more}")
    if proposal.pair.constants_only:
        return passed(f"a MERGE needs only partitions for which {name} has keys")
    if _inside(proposal, proposal.pair.dimension, _test(proposal)):
        return passed(f"{name} is filtered inside")
    if has_one_key(proposal):
        return passed(f"{name} has one key")
    if is_one_row_table(proposal):
        return passed(f"{name} is a table of one row")
    if has_few_keys(proposal):
        return passed(f"a LIMIT leaves few keys of {name}")
    if proposal.dropped:
        return failed(f"no condition on {name} can be repeated: {proposal.dropped[0][1]}")
    if any(_holds(proposal, item, _narrows) for item in proposal.restrictions):
        return failed(
            f"{proposal.engine.title} does not count the filter on {name} as selective, and would "
            f"not prune by an IN: {proposal.other_form}"
        )
    if _is_constant(proposal):
        return failed(f"{name} is one row of constants, so the engine knows its key already")
    if more:
        return failed(f"nothing in {name} filters it{more}")
    return failed(f"nothing filters {name}: its keys would rule out no partition")


_NOT_FOLLOWED = (
    f"; the CTE around it is read with over {MOST_SHARED} conditions, which were not looked at"
)


def _is_constant(proposal: Proposal) -> bool:
    """Whether the dimension is one SELECT of constants without FROM: Spark infers that the fact's
    column equals them (``InferFiltersFromConstraints``)."""
    blocks = _blocks(proposal.plan, proposal.pair.dimension)
    return len(blocks) == 1 and not blocks[0].functions and _reads_constants(blocks[0], _narrows)


@remembered
def is_filtered(proposal: Proposal) -> bool:
    """Whether a condition on the dimension, or inside it, is likely to leave few rows."""
    return _passes(proposal, _test(proposal))


@remembered
def is_selective(proposal: Proposal) -> bool:
    """Whether the engine counts the dimension as filtered; if not, it prunes by no IN."""
    return _passes(proposal, _selective)


def _passes(proposal: Proposal, test: Test) -> bool:
    restricted = any(_holds(proposal, item, test) for item in proposal.restrictions)
    return restricted or _inside(proposal, proposal.pair.dimension, test)


def restricts(proposal: Proposal, item: Restriction) -> bool:
    """Whether the engine counts a restriction as selective; for a form that prunes without that,
    whether it can remove any row."""
    return _holds(proposal, item, _test(proposal))


Test = Callable[[Proposal, ra.Expression], bool]

ANY = "any"
"""In an engine's list of selective predicates, the word that stands for all of them."""


def _test(proposal: Proposal) -> Test:
    by_semi_join = proposal.form == IN and proposal.pair.operator in ("=", "<=>")
    by_semi_join = by_semi_join and proposal.pair.derived is None  # a derived column gets a set
    return _selective if by_semi_join else _narrows


def _selective(proposal: Proposal, expression: ra.Expression) -> bool:
    if ANY in proposal.engine.predicates:
        return _narrows(proposal, expression)
    match expression:
        case (
            ra.Subquery(kind="exists", query=query)
            | ra.Call(name="not", args=(ra.Subquery(kind="exists", query=query),))
        ):
            # The engine turns it into a semi- or anti-join, and looks for a filter on either side.
            blocks = (proposal.plan.blocks[number] for number in query.blocks)
            filters = (condition.expression for block in blocks for condition in _filters(block))
            return any(_selective(proposal, inner) for inner in filters)
        case _:
            return selective(proposal, expression)


def _narrows(proposal: Proposal, expression: ra.Expression) -> bool:
    """Whether a condition is more than IS NOT NULL, which the join implies for its keys."""
    match expression:
        case ra.Call(name="not", args=(ra.Call(name="isnull"),)) | ra.Literal():
            return False
        case _:
            return not _settled(expression)


_COMPARISONS = frozenset({"=", "<=>", "<>", "<", "<=", ">", ">="})


def _settled(expression: ra.Expression) -> bool:
    """Whether a condition is the same for all rows, but for NULL: the optimizer computes it, and no
    filter is left of ``1 = 1`` and ``x = x``."""
    match expression:
        case ra.Call(name=name, args=(one, other)) if name in _COMPARISONS:
            if canonical(one) == canonical(other):
                return True
        case ra.Call():
            pass
        case _:
            return False
    return is_constant(expression) and not any(
        isinstance(node, ra.Subquery) or (isinstance(node, ra.Call) and not of_one_row(node.name))
        for node in walk(expression)
    )


def is_constant(expression: ra.Expression) -> bool:
    """Whether an expression has one value for the whole query: no columns, nothing unknown, no
    function that gives another value each time."""
    return not columns(expression) and not any(
        isinstance(node, ra.Unknown) or (isinstance(node, ra.Call) and not repeats(node.name))
        for node in walk(expression)
    )


def repeats(name: str) -> bool:
    """Whether a function gives the same value at each call in a query."""
    row = function(name)
    return row is not None and row.repeatable


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
    """Whether a derived table, view or CTE has a condition inside that passes ``test``, or consists
    of constants: few rows, by which Spark prunes without a filter."""
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
    """Whether a block reads only constants: VALUES, or a SELECT without FROM (a union of these does
    not count as few rows)."""
    return all(
        isinstance(leaf, ra.Inline)
        or (isinstance(leaf, ra.Opaque) and leaf.columns == () and test is _narrows)
        for leaf in leaves(block.source)
    )


def selective(proposal: Proposal, expression: ra.Expression) -> bool:
    """Whether the engine counts a condition as selective, by the table in its file, in the form
    that it has below derived tables, CTEs and views."""
    engine = proposal.engine
    if _settled(expression):
        return False
    match expression:
        case ra.ColumnRef():
            return any(
                selective(proposal, below) for below in _pushed_to(proposal.plan, expression)
            )
        case ra.Call(name="and", args=args):
            return any(selective(proposal, arg) for arg in args)
        case ra.Call(name="or", args=args):
            return all(selective(proposal, arg) for arg in args)
        case ra.Call(name="not", args=(inner,)):
            return selective(proposal, inner)
        case ra.Call(name="=" | "<=>" | "<>" | "is" as name, args=args) if _against_boolean(args):
            # Spark simplifies it to the bare column or condition (BooleanSimplification), a
            # null-safe comparison only where that is never NULL.
            stays = engine.planner == "spark" and name in ("<=>", "is")
            null_safe = stays and any(isinstance(arg, ra.ColumnRef) for arg in args)
            return null_safe or any(selective(proposal, arg) for arg in args)
        case ra.Call(name="in", args=(operand, *values)) if _is_one_boolean(values):
            return selective(proposal, operand)
        case ra.Call(name=name, args=args):
            return name in engine.predicates and not _splits(proposal, name, args)
        case ra.Subquery(kind="in"):
            return True
        case _:
            return False


def _pushed_to(plan: ra.Plan, ref: ra.ColumnRef) -> tuple[ra.Expression, ...]:
    """The expressions that take the place of a column in a condition on it that the engine pushes
    into a derived table, CTE or view; empty if it does not."""
    relation = plan.relations.get(ref.relation)  # none for a generator
    if not isinstance(relation, Derived | CteReference) or relation.sampled:
        return ()
    limited = any(plan.blocks[number].limit is not None for number in relation.query.top)
    return () if limited else computed_as(plan, ref)


def _splits(proposal: Proposal, name: str, args: tuple[ra.Expression, ...]) -> bool:
    """Whether the engine pushes a comparison with constants into the branches of a CASE, so that no
    comparison is left (Spark's ``PushFoldableIntoBranches``; not for an IN of two values)."""
    computed = [arg for arg in args if columns(arg)]
    if len(computed) != 1 or (name == "in" and len(args) > 2):
        return False
    branches = _branches(proposal.engine, computed[0])
    if branches:
        values = sum(value is not None and bool(columns(value)) for value in branches)
        return values == 1 or (values == 0 and len(branches) > 2)
    match computed[0]:
        case ra.ColumnRef() as ref:
            below = _pushed_to(proposal.plan, ref)
            beside = tuple(arg for arg in args if arg is not ref)
            return below != () and all(_splits(proposal, name, (one, *beside)) for one in below)
        case ra.Call(name=inner, args=operands) if len(operands) <= 2 and of_one_row(inner):
            return _splits(proposal, inner, operands)
        case ra.Cast(operand=operand):
            return _splits(proposal, "cast", (operand,))
        case _:
            return False


def _branches(engine: Engine, expression: ra.Expression) -> tuple[ra.Expression | None, ...]:
    """The values of a CASE, or of a function that the engine rewrites to one; None for NULL."""
    match expression:
        case ra.Call(name=name) if name not in engine.branching:
            return ()
        case ra.Call(name="case", args=args):
            whens = [arg.args[1] for arg in args if is_when(arg)]
            return (*whens, None if is_when(args[-1]) else args[-1])
        case ra.Call(name="if" | "nvl2", args=(_, *values)):
            return tuple(values)
        case ra.Call(name="decode", args=(_, *pairs)):  # search, result, …, and perhaps a default
            return (*pairs[1::2], pairs[-1] if len(pairs) % 2 else None)
        case ra.Call(args=(value, *_)):
            return value, None
        case _:
            return ()


def _against_boolean(args: tuple[ra.Expression, ...]) -> bool:
    return any(_is_boolean(arg) for arg in args)


def _is_one_boolean(values: Sequence[ra.Expression]) -> bool:
    """Whether a list has one value, true or false: Spark makes a comparison of it."""
    return len({canonical(value) for value in values}) == 1 and _is_boolean(values[0])


def _is_boolean(expression: ra.Expression) -> bool:
    return isinstance(expression, ra.Literal) and expression.kind == "boolean"


# Bytes of a value (Spark's ``DataType.defaultSize``).
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
    """Whether the keys are one value: of an aggregate over all rows, or of LIMIT 1."""
    pair, dimension = proposal.pair, proposal.pair.dimension
    if not pair.fact_plain or pair.derived is not None or pair.operator not in _NULL_REJECTING:
        return False
    query = pair.edge.query
    if query is not None and is_whole_in_query(proposal):
        return one_row(proposal.plan, query)
    if not isinstance(dimension, Derived | CteReference):
        return False
    if pair.operator != "=" and proposal.clustered:
        return False  # Spark would merge the two ends into one subquery, and push neither down
    return one_row(proposal.plan, dimension.query)


def is_whole_in_query(proposal: Proposal) -> bool:
    """Whether the key is an output of the author's IN subquery, which returns one row or few; for
    literals, its only output."""
    pair, query = proposal.pair, proposal.pair.edge.query
    if query is None or pair.side != "outside":
        return False
    if not one_row(proposal.plan, query) and not _leaves_few_keys(proposal, query):
        return False
    return len(proposal.plan.blocks[query.top[0]].outputs) == 1 or proposal.form != VALUES


FEW = 100
"""The most rows of a LIMIT whose keys are looked up although nothing filters them."""


def has_few_keys(proposal: Proposal) -> bool:
    """Whether the keys are those of a small LIMIT, or of a table of one row; DPP110 judges whether
    the order of the LIMIT is total."""
    return few_keys_query(proposal) is not None or is_one_row_table(proposal)


@remembered
def is_one_row_table(proposal: Proposal) -> bool:
    """Whether the dimension is a table that has one row by its statistics, or by the query that
    makes it in the same text. Another session may have added rows, so the predicate must hold for
    any number of rows: a set or a range, never ``=`` with a scalar subquery, which would fail."""
    dimension, operator = proposal.pair.dimension, proposal.pair.operator
    one_row = isinstance(dimension, Scan) and dimension.table.row_count == 1
    return one_row and operator in _NULL_REJECTING and _takes_few_keys(proposal)


@remembered
def few_keys_query(proposal: Proposal) -> Query | None:
    """The query whose LIMIT leaves few keys: the author's IN, a derived table or a CTE; None if
    there is none."""
    dimension = proposal.pair.dimension
    queries = [proposal.pair.edge.query] if is_whole_in_query(proposal) else []
    queries += [dimension.query] if isinstance(dimension, Derived | CteReference) else []
    return next(
        (query for query in queries if query is not None and _leaves_few_keys(proposal, query)),
        None,
    )


def _leaves_few_keys(proposal: Proposal, query: Query) -> bool:
    node = query.node
    if not isinstance(node, Limit) or isinstance(node.child, Limit) or not 1 < node.most <= FEW:
        return False  # a Limit below a Limit is an OFFSET
    return proposal.pair.operator == "=" and len(query.top) == 1 and _takes_few_keys(proposal)


def _takes_few_keys(proposal: Proposal) -> bool:
    """Whether a set of a few keys, or their range, can be compared with the fact's column."""
    pair = proposal.pair
    if not pair.fact_plain or pair.derived is not None or proposal.clustered:
        return False
    if proposal.options.limits.dialect != SPARK or proposal.form not in (IN, SET, AUTO):
        return False
    kinds = {proposal.type_of(side) for side in (pair.fact, pair.key_side.expression)}
    kind = kinds.pop()
    return not kinds and kind is not None and identical(kind)


def key_count(proposal: Proposal) -> float | None:
    """The estimated number of keys: distinct values, else rows, times the share that the engine
    takes a filter to leave. None if unknown."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, Scan) or not proposal.engine.use_stats:
        return None
    column = dimension.table.column(proposal.pair.key.name)
    count = column.distinct_count if column is not None and proposal.pair.key_plain else None
    count = dimension.table.row_count if count is None else count
    return None if count is None else count * (1 - proposal.engine.fallback_filter_ratio)


def repeats_keys(proposal: Proposal) -> bool:
    """Whether by the statistics each key occurs twice or more, so that DISTINCT pays; not for a
    declared primary key."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, Scan) or not proposal.pair.key_plain:
        return False
    table = dimension.table
    column = table.column(proposal.pair.key.name)
    if column is None or [name.lower() for name in table.primary_key] == [proposal.pair.key.name]:
        return False
    rows, distinct = table.row_count, column.distinct_count
    return bool(rows and distinct and rows >= 2 * distinct)
