"""DPP124 key-size: the keys that the engine collects stay below its limit, by the statistics.

Flink gives up where the collected keys pass a limit (FLIP-248), Trino lets many values collapse to
their range (``DynamicFilterConfig``); both limits are the engine's file's.
"""

from __future__ import annotations

from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.keys import WIDEST, WIDTHS, key_count
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.settings.forms import BY_NAME


def judge(proposal: Proposal) -> Judgement:
    """Whether the keys that the engine would collect stay below the limit."""
    form = BY_NAME[chosen_form(proposal)]
    if form.fits:
        return passed(form.fits)
    count = key_count(proposal)
    if count is None:
        return passed("how many keys there are is not known")
    kind = expression_type(proposal.plan, proposal.pair.key_side.expression)
    size = round(count * WIDTHS.get(kind or "", WIDEST))
    limit = proposal.options.key_limit
    limit = proposal.engine.key_limit if limit is None else limit
    if size > limit:
        return failed(
            f"{proposal.dimension_name} would give about {size:,} bytes of keys, over the limit of "
            f"{limit:,}: raise the setting key-limit, or use --predicate range"
        )
    return passed(f"about {size:,} bytes of keys")
