"""DPP114 guards: no predicate brings an error that the query does not raise.

Not the dimension, all of which the key query reads, nor what Spark makes of the predicate
(docs/soundness.md, "What can raise an error is attempted" and "What Spark copies").
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.attempted_dimension import attempted_group_keys, key_is_attempted
from sqlrewrite.judge.conditions import GUARDS, describe
from sqlrewrite.judge.copied import raising_where_extended, raising_where_tested
from sqlrewrite.judge.copied_rows import raising_for_rows
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, relation_name
from sqlrewrite.judge.raising import raising_below, raising_in, raising_inside
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import computed_as
from sqlrewrite.settings.forms import IN


def judge(proposal: Proposal) -> Judgement:
    """Whether the dimension, all of which the key query reads, raises no error; the message lists
    the conditions that were dropped because they can raise one."""
    copied = raising_for_rows(proposal)
    if copied is not None:
        name = relation_name(copied[1])
        why = "can raise an error for rows that another join leaves out, which Spark tests first"
        return failed(f"{describe(copied[0])} of {name} {why}")
    tested = raising_where_tested(proposal)
    if tested is not None:
        why = "can raise an error, and Spark may compute the condition for rows of the dimension"
        return failed(f"{describe(tested)} in a condition on {proposal.pair.path.column} {why}")
    extended = None if chosen_form(proposal) == IN else raising_where_extended(proposal)
    if extended is not None:
        why = "can raise an error, and behind the predicate Spark takes the outer join for an inner"
        return failed(f"{describe(extended)} in a condition on the joined columns {why}")
    attempted: tuple[ra.Expression, ...] = ()
    if raising_below(proposal, proposal.pair.key) is not None and key_is_attempted(proposal):
        computed = computed_as(proposal.plan, proposal.pair.key)
        attempted = (*computed, *attempted_group_keys(proposal))
    culprit = raising_inside(proposal, proposal.pair.dimension, attempted)
    if culprit is not None:
        name = proposal.dimension_name
        why = "can raise an error where the join raises none"
        return failed(f"{describe(culprit)} inside {name} {why}")
    reasons = [reason for code, reason in proposal.dropped if code == GUARDS]
    if reasons:
        return passed("left out of the key query: " + "; ".join(reasons))
    forms = dict.fromkeys(_attempts_explained(proposal))
    return passed("; ".join(forms) or "no condition in the key query can raise an error")


def _attempts_explained(proposal: Proposal) -> Iterator[str]:
    """Why the predicate has forms that the author did not write."""
    for item in proposal.restrictions:
        if isinstance(item, Conjunct) and (node := raising_in(proposal, item.expression)):
            form = "a form that gives NULL there, and IS NOT FALSE keeps those rows"
            yield f"{describe(node)} can raise an error: the condition is written in {form}"
    node = raising_in(proposal, proposal.pair.fact_side.expression)
    if node is not None:
        form = "the fact's side is written in a form that gives NULL there"
        yield f"{describe(node)} can raise an error: {form}"
    node = raising_in(proposal, proposal.pair.key_side.expression)
    if node is not None:
        form = "a form that raises none and gives each key that the join compares"
        yield f"{describe(node)} can raise an error: the key is written in {form}"
