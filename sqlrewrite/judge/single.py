"""Whether there is but one key, as of a join with a maximum: ``p = (SELECT …)`` says all of it, and
``p >= (SELECT …)`` of a join by ``>=``; or a few that a LIMIT counts, which are a set."""

from __future__ import annotations

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan.algebra import CteReference, Derived, Limit, Query
from sqlrewrite.plan.facts.comparisons import identical
from sqlrewrite.plan.relations import one_row
from sqlrewrite.settings.forms import AUTO, IN, SET, VALUES
from sqlrewrite.text.limits import SPARK

_ANY = frozenset({"=", "<", "<=", ">", ">="})
"""The comparisons that hold of no NULL."""


def is_single(proposal: Proposal) -> bool:
    """Whether the key is of the one row of an aggregate over all rows, or of LIMIT 1."""
    pair, dimension = proposal.pair, proposal.pair.dimension
    if not pair.fact_plain or pair.derived is not None or pair.operator not in _ANY:
        return False
    query = pair.edge.query
    if query is not None and of_whole_query(proposal):
        return one_row(proposal.plan, query)
    if not isinstance(dimension, Derived | CteReference):
        return False
    if pair.operator != "=" and proposal.clustered:
        return False  # of two such ends Spark would make one, and push neither down
    return one_row(proposal.plan, dimension.query)


def of_whole_query(proposal: Proposal) -> bool:
    """Whether the key is what the whole subquery of an author's IN gives: its one row, or few; of a
    tuple one of its columns."""
    pair, query = proposal.pair, proposal.pair.edge.query
    if query is None or pair.side != "outside":
        return False
    if not one_row(proposal.plan, query) and not _is_few(proposal, query):
        return False
    return len(proposal.plan.blocks[query.top[0]].outputs) == 1 or proposal.form != VALUES


FEW = 100
"""How many keys at most are looked up for a LIMIT that nothing else filters."""


def is_few(proposal: Proposal) -> bool:
    """Whether the key is of the first rows of a LIMIT, which have few keys; the rules for what may
    be read again say whether its ORDER BY decides which rows these are."""
    return few(proposal) is not None


def few(proposal: Proposal) -> Query | None:
    """The query whose LIMIT leaves few keys: an author's IN, or a derived table or CTE."""
    dimension = proposal.pair.dimension
    queries = [proposal.pair.edge.query] if of_whole_query(proposal) else []
    queries += [dimension.query] if isinstance(dimension, Derived | CteReference) else []
    return next((it for it in queries if it is not None and _is_few(proposal, it)), None)


def _is_few(proposal: Proposal, query: Query) -> bool:
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
