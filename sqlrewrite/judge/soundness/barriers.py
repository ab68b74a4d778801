"""DPP105 barriers and DPP106 shared-cte: what stands between the join and the fact's scan.

``lineage`` finds the operators; which of them let a predicate through is docs/soundness.md,
"Operators between the join and the scan".
"""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, relation_name
from sqlrewrite.plan.algebra import CteReference


def judge(proposal: Proposal) -> Judgement:
    """Whether a predicate may go down from the join to the scan."""
    barriers = proposal.pair.path.barriers
    if barriers:
        return failed(f"the predicate cannot go below {', '.join(dict.fromkeys(barriers))}")
    return passed("nothing between the join and the scan is in the way")


def judge_shared(proposal: Proposal) -> Judgement:
    """Whether no CTE on the way serves other references, which the predicate would bound too; where
    each of them has a bound, ``find.shared`` finds so, and this verdict is overruled."""
    for relation in proposal.pair.path.relations:
        if relation is proposal.pair.target:
            break  # a predicate there is on this reference alone
        if not isinstance(relation, CteReference):
            continue
        every = (it for it in proposal.plan.relations.values() if isinstance(it, CteReference))
        if relation.cte in proposal.plan.unbound or sum(it.cte == relation.cte for it in every) > 1:
            name = relation_name(relation)
            return failed(
                f"{name} is referenced more than once: a bound for one reference would "
                "take rows from the others"
            )
    return passed("no other reference reads the fact through the same CTE")
