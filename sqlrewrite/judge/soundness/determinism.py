"""DPP108 determinism and DPP109 repeatable: no value depends on when, where or how often it is
computed.

On the fact's side a bound changes which rows reach ``rand()`` or ``monotonically_increasing_id()``;
on the dimension's side the predicate computes everything a second time.
"""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, called, failed, passed, unknown
from sqlrewrite.judge.repeatable import DETERMINISM
from sqlrewrite.settings.options import DECLARED_IN
from sqlrewrite.text.templates import is_template


def judge_fact(proposal: Proposal) -> Judgement:
    """Whether the blocks from the join down to the scan compute nothing that varies."""
    for number in _blocks(proposal):
        for reason in proposal.plan.blocks[number].strange:
            return unknown(f"the query around the fact is not understood: {reason}")
        for name in sorted(proposal.plan.blocks[number].functions - {"?"}):
            found = proposal.options.function(name)
            if found is None:
                advice = "" if is_template(name) else f": if it is, declare it in {DECLARED_IN}"
                return unknown(
                    f"{called(name)} in the fact's block is not known to be deterministic{advice}"
                )
            if not found.deterministic:
                return failed(
                    f"{name}() stands in the fact's block: a bound would change its values"
                )
    return passed("the fact's blocks are deterministic")


def _blocks(proposal: Proposal) -> set[int]:
    owners = {proposal.plan.owner[relation.relation] for relation in proposal.pair.path.relations}
    return owners | {proposal.pair.edge.block.number}


def judge_dimension(proposal: Proposal) -> Judgement:
    """Whether the dimension gives the same rows when it is read again."""
    reason = proposal.objection(DETERMINISM)
    if reason:
        return failed(f"the dimension is read twice: {reason}")
    return passed(f"{proposal.dimension_name} gives the same rows each time it is read")
