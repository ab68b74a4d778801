"""DPP123 benefit: what is not read is worth more than reading the dimension again.

Spark's ``pruningHasBenefit``: ratio × bytes(F) > bytes(D), of what is known (``estimate``).
"""

from __future__ import annotations

from sqlrewrite.judge.already_pruned import binds_partition, is_asked
from sqlrewrite.judge.case import Case, Judgement, failed, passed, takes_keys
from sqlrewrite.judge.estimate import estimate, read_again
from sqlrewrite.judge.form import asks, chosen
from sqlrewrite.judge.selective_predicate import is_filtered
from sqlrewrite.judge.single import few, is_few, is_single
from sqlrewrite.plan.algebra import CteReference, Scan
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.relations import leaves
from sqlrewrite.settings.forms import IN
from sqlrewrite.text.limits import SPARK


def judge(case: Case) -> Judgement:
    """Whether the predicate is likely to save more than it costs."""
    engine = case.engine
    if not engine.enabled and chosen(case) == IN:
        return failed(
            f"{engine.name} does not prune by an IN there, as dynamic pruning is switched off: "
            f"{case.other_form}"
        )
    if case.options.when == "auto" and asks(case):
        scan, column = case.pair.scan, case.pair.pruned
        if engine.takes_keys and not takes_keys(engine, scan, column):
            why = f"the connector of {scan.alias} takes no keys at run time for {column}"
            return failed(f"{why}, so a subquery prunes nothing: {case.other_form}")
    scans = tuple(read_again(case))
    if is_single(case) and all(_reads_names(case, scan) for scan in scans):
        return passed("the one key is found among the names of the partitions")
    if is_single(case) and case.options.limits.dialect == SPARK:
        return passed("Spark looks the one key up once, for the query and the predicate")
    if is_few(case) and all(_reads_names(case, scan) for scan in scans):
        return passed("the few keys are found among the names of the partitions")
    if is_few(case) and _grouped(case):
        return passed("Spark groups the rows once, for the query and the predicate")
    sizes = [scan.table.size_in_bytes for scan in scans]
    size = None if None in sizes else sum(it or 0 for it in sizes)
    by_broadcast = engine.reuse_broadcast_only and chosen(case) == IN
    if by_broadcast and not case.options.hint and (size or 0) > engine.broadcast_threshold:
        return failed(
            f"{case.dimension_name} has {size:,} bytes, too many to be broadcast without a hint, "
            f"and {engine.name} prunes by a broadcast only"
        )
    found = estimate(case)
    if found is None or found.saves is None or found.reads is None:
        return _without_sizes(case, scans)
    said = f"of {found.scans:,} bytes about {found.saves:,} ({found.share:.0%}, by {found.basis})"
    if found.saves > found.reads:
        return passed(f"saves {said} for {found.reads:,} read again")
    return failed(f"would save {said} and read {found.reads:,} again")


def _reads_names(case: Case, scan: Scan) -> bool:
    """Whether a block reads of a table nothing but its partition columns, which are no data."""
    block = case.plan.blocks[case.plan.owner[scan.relation]]
    shown = [it.expression for it in block.outputs]
    shown += [it.expression for it in (*block.where, *block.having)]
    named = {ref.name for it in shown for ref in columns(it)}
    return block.source is scan and block.complete and named <= scan.table.partitioning


def _grouped(case: Case) -> bool:
    """Whether the keys, and nothing else, are those of a DISTINCT or GROUP BY: the exchange below
    it is used again."""
    query = few(case)
    block = None if query is None else case.plan.blocks[query.top[0]]
    if block is None or len(block.outputs) != 1:
        return False
    return block.distinct or block.aggregate == "group by"


def _without_sizes(case: Case, scans: tuple[Scan, ...]) -> Judgement:
    """With no sizes: a partitioned table is taken to be large, unless the query cuts it to one
    partition, and any other to be small."""
    name = _grouped_for_both(case)
    if name is not None:
        return failed(
            f"Spark reads and groups {name} once for both sides, and would read all of it again "
            "for the subquery"
        )
    # A neighbour that filters it would be asked in its place (``find.reducers.alternatives``).
    alone = len(scans) == 1 and is_filtered(case) and not _is_fact(case, scans[0])
    if alone and not is_asked(case, case.pair.scan):
        return passed("no sizes are known; of the two the dimension alone is filtered")
    for scan in scans:
        if scan.table.partitioned_by and not binds_partition(case, scan):
            return failed(
                f"{scan.alias} is partitioned, so as large as the fact for all that is known: give "
                "the sizes of both in the catalog"
            )
    return passed("no sizes are known; the dimension is not partitioned, so taken to be small")


def _grouped_for_both(case: Case) -> str | None:
    """The CTE that is both the fact and the dimension, where it groups its rows: Spark does so
    once, by an exchange that it uses again, as long as nothing bounds the one and not the other."""
    target, dimension = case.pair.target, case.pair.dimension
    if not isinstance(target, CteReference) or not isinstance(dimension, CteReference):
        return None
    blocks = [case.plan.blocks[number] for number in target.query.top]
    grouped = all(block.aggregate == "group by" or block.distinct for block in blocks)
    return target.name if target.cte == dimension.cte and grouped else None


def _is_fact(case: Case, scan: Scan) -> bool:
    """Whether a table is joined by what it is partitioned by itself, as two facts are, and a third
    relation is there that may bound both for less."""
    by_itself = case.pair.key.name in scan.table.partitioning
    return by_itself and len(list(leaves(case.target_block.source))) > 2
