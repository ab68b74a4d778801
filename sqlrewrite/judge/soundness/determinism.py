"""DPP108 determinism: a bound on the fact changes no value that the query computes.

It changes which rows reach ``rand()`` or ``monotonically_increasing_id()``.
"""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, called, failed, passed, unknown
from sqlrewrite.settings.options import DECLARED_IN
from sqlrewrite.text.templates import is_template


def judge(proposal: Proposal) -> Judgement:
    """Whether the blocks from the join down to the scan have only deterministic functions."""
    for number in _blocks(proposal):
        for reason in proposal.plan.blocks[number].unknown_syntax:
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
