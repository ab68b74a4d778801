"""How many keys there are: one, as of a join with a maximum; a few, which a LIMIT counts; or what
the statistics say.

Where there is one, ``p = (SELECT …)`` says all of it, and ``p >= (SELECT …)`` of a join by ``>=``.
"""

from __future__ import annotations

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan.algebra import CteReference, Derived, Limit, Query, Scan
from sqlrewrite.plan.facts.coercion import identical
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import one_row
from sqlrewrite.settings.forms import AUTO, IN, SET, VALUES
from sqlrewrite.text.limits import SPARK

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
    return next((it for it in queries if it is not None and _leaves_few_keys(proposal, it)), None)


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
    kinds = {proposal.type_of(it) for it in (pair.fact, pair.key_side.expression)}
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
