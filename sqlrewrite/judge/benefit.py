"""DPP123 benefit: what is not read is worth more than reading the dimension again.

Spark's ``pruningHasBenefit``: ratio × bytes(F) > bytes(D), where the ratio is 1 − ndv(k) / ndv(p)
if both counts are known and the fact has more, else a fallback.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.restrictions import neighbours
from sqlrewrite.judge.already_pruned import binds_partition, is_asked
from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.form import chosen
from sqlrewrite.judge.selective_predicate import is_filtered
from sqlrewrite.judge.single import is_single
from sqlrewrite.plan.algebra import CteReference, Derived, Relation, Scan
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.relations import leaves, read_by


def judge(case: Case) -> Judgement:
    """Whether the predicate is likely to save more than it costs."""
    engine = case.engine
    if not engine.enabled:
        return failed(f"pruning is switched off for the engine {engine.name}")
    read = (case.pair.dimension, *neighbours(case.kept))
    scans = tuple(scan for relation in read for scan in _scans(case, relation))
    if is_single(case) and all(_reads_names(case, scan) for scan in scans):
        return passed("the one key is found among the names of the partitions")
    cost = _bytes(scans)
    by_broadcast = engine.reuse_broadcast_only and chosen(case) == "in"
    if by_broadcast and not case.options.hint and (cost or 0) > engine.broadcast_threshold:
        return failed(
            f"{case.dimension_name} has {cost:,} bytes, too many to be broadcast without a hint, "
            f"and {engine.name} prunes by a broadcast only"
        )
    gain = case.pair.scan.table.size_in_bytes
    if gain is None or cost is None:
        return _without_sizes(case, scans)
    ratio = _ratio(case)
    saved = ratio * gain
    if saved > cost:
        return passed(f"saves about {saved:,.0f} bytes for {cost:,} read again")
    return failed(f"would save about {saved:,.0f} bytes and read {cost:,} again")


def _reads_names(case: Case, scan: Scan) -> bool:
    """Whether a block reads of a table nothing but its partition columns, which are no data."""
    fields = {field.column.lower() for field in scan.table.partitioned_by}
    block = case.plan.blocks[case.plan.owner[scan.relation]]
    shown = [it.expression for it in block.outputs]
    shown += [it.expression for it in (*block.where, *block.having)]
    refs = [ref for it in shown for ref in columns(it)]
    return block.source is scan and block.complete and {ref.name for ref in refs} <= fields


def _without_sizes(case: Case, scans: tuple[Scan, ...]) -> Judgement:
    """With no sizes: a partitioned table is taken to be large, unless the query cuts it to one
    partition, and any other to be small."""
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


def _is_fact(case: Case, scan: Scan) -> bool:
    """Whether a table is joined by what it is partitioned by itself, as two facts are, and a third
    relation is there that may bound both for less."""
    fields = {field.column.lower() for field in scan.table.partitioned_by}
    return case.pair.key.name in fields and len(list(leaves(case.target_block.source))) > 2


def _ratio(case: Case) -> float:
    engine, pair = case.engine, case.pair
    if engine.use_stats and isinstance(pair.dimension, Scan):
        ours = pair.scan.table.column(pair.pruned)
        theirs = pair.dimension.table.column(pair.key.name)
        fact = ours.distinct_count if ours else None
        key = theirs.distinct_count if theirs else None
        if fact and key and fact > key:
            return 1 - key / fact
    return engine.fallback_filter_ratio


def _bytes(scans: tuple[Scan, ...]) -> int | None:
    sizes = [scan.table.size_in_bytes for scan in scans]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _scans(case: Case, relation: Relation) -> Iterator[Scan]:
    """The base tables that reading a relation reads."""
    match relation:
        case Scan():
            yield relation
        case Derived(query=query) | CteReference(query=query):
            yield from (r for r in read_by(case.plan, query) if isinstance(r, Scan))
        case _:
            return
