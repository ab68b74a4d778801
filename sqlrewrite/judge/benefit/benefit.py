"""DPP123 benefit: the predicate saves more reading of the fact than it costs on the dimension.

That is Spark's ``pruningHasBenefit``: ratio × bytes(F) > bytes(D), as far as the sizes are known
(``estimate``).
"""

from __future__ import annotations

from sqlrewrite.judge.benefit.already_pruned import binds_partition, has_selective_condition
from sqlrewrite.judge.benefit.estimate import estimate, read_again
from sqlrewrite.judge.benefit.selective_predicate import is_filtered
from sqlrewrite.judge.form import chosen_form, has_key_query
from sqlrewrite.judge.keys import few_keys_query, has_few_keys, has_one_key
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, takes_keys
from sqlrewrite.plan.algebra import CteReference, Scan
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.relations import leaves
from sqlrewrite.settings.forms import IN
from sqlrewrite.text.limits import SPARK


def judge(proposal: Proposal) -> Judgement:
    """Whether the predicate is likely to save more than it costs."""
    engine = proposal.engine
    if not engine.enabled and chosen_form(proposal) == IN:
        return failed(
            f"{engine.title} does not prune by an IN there, as dynamic pruning is switched off: "
            f"{proposal.other_form}"
        )
    if proposal.options.when == "auto" and has_key_query(proposal):
        scan, column = proposal.pair.scan, proposal.pair.pruned
        if engine.takes_keys and not takes_keys(engine, scan, column):
            why = f"the connector of {scan.alias} takes no keys at run time for {column}"
            return failed(f"{why}, so a subquery prunes nothing: {proposal.other_form}")
    scans = tuple(read_again(proposal))
    if has_one_key(proposal) and all(_reads_names(proposal, scan) for scan in scans):
        return passed("the one key is found among the names of the partitions")
    if has_one_key(proposal) and proposal.options.limits.dialect == SPARK:
        return passed("Spark looks the one key up once, for the query and the predicate")
    if has_few_keys(proposal) and all(_reads_names(proposal, scan) for scan in scans):
        return passed("the few keys are found among the names of the partitions")
    if has_few_keys(proposal) and _grouped(proposal):
        return passed("Spark groups the rows once, for the query and the predicate")
    sizes = [scan.table.size_in_bytes for scan in scans]
    size = None if None in sizes else sum(it or 0 for it in sizes)
    by_broadcast = engine.reuse_broadcast_only and chosen_form(proposal) == IN
    if by_broadcast and not proposal.options.hint and (size or 0) > engine.broadcast_threshold:
        return failed(
            f"{proposal.dimension_name} has {size:,} bytes, too many to be broadcast without a "
            f"hint, and {engine.title} prunes by a broadcast only"
        )
    found = estimate(proposal)
    if found is None or found.saves is None or found.reads is None:
        return _without_sizes(proposal, scans)
    saving = f"of {found.scans:,} bytes about {found.saves:,} ({found.share:.0%}, by {found.basis})"
    if found.saves > found.reads:
        return passed(f"saves {saving} for {found.reads:,} read again")
    return failed(f"would save {saving} and read {found.reads:,} again")


def _reads_names(proposal: Proposal, scan: Scan) -> bool:
    """Whether a block reads only partition columns of a table, whose values stand in its paths."""
    block = proposal.plan.blocks[proposal.plan.owner[scan.relation]]
    shown = [it.expression for it in block.outputs]
    shown += [it.expression for it in (*block.where, *block.having)]
    named = {ref.name for it in shown for ref in columns(it)}
    return block.source is scan and block.complete and named <= scan.table.partitioning


def _grouped(proposal: Proposal) -> bool:
    """Whether the dimension is a DISTINCT or GROUP BY of the keys alone: Spark reuses the exchange
    below it."""
    query = few_keys_query(proposal)
    block = None if query is None else proposal.plan.blocks[query.top[0]]
    if block is None or len(block.outputs) != 1:
        return False
    return block.distinct or block.aggregate == "group by"


def _without_sizes(proposal: Proposal, scans: tuple[Scan, ...]) -> Judgement:
    """The judgement where sizes are not known: a partitioned table is taken to be large, unless the
    query cuts it to one partition, and any other table to be small."""
    name = _grouped_for_both(proposal)
    if name is not None:
        return failed(
            f"Spark reads and groups {name} once for both sides, and would read all of it again "
            "for the subquery"
        )
    # A neighbour that filters it would stand in for it (``find.reducers.alternatives``).
    alone = len(scans) == 1 and is_filtered(proposal) and not _is_fact(proposal, scans[0])
    if alone and not has_selective_condition(proposal, proposal.pair.scan):
        return passed("no sizes are known; of the two the dimension alone is filtered")
    for scan in scans:
        if scan.table.partitioned_by and not binds_partition(proposal, scan):
            return failed(
                f"{scan.alias} is partitioned, so as large as the fact for all that is known: give "
                "the sizes of both in the catalog"
            )
    return passed("no sizes are known; the dimension is not partitioned, so taken to be small")


def _grouped_for_both(proposal: Proposal) -> str | None:
    """The name of a CTE that is both fact and dimension and groups its rows: Spark groups them once
    and reuses the exchange, as long as nothing bounds only one of the two."""
    target, dimension = proposal.pair.target, proposal.pair.dimension
    if not isinstance(target, CteReference) or not isinstance(dimension, CteReference):
        return None
    blocks = [proposal.plan.blocks[number] for number in target.query.top]
    grouped = all(block.aggregate == "group by" or block.distinct for block in blocks)
    return target.name if target.cte == dimension.cte and grouped else None


def _is_fact(proposal: Proposal, scan: Scan) -> bool:
    """Whether a table is joined on its own partition column, as two facts are, beside a third
    relation that may bound both for less."""
    by_itself = proposal.pair.key.name in scan.table.partitioning
    return by_itself and len(list(leaves(proposal.target_block.source))) > 2
