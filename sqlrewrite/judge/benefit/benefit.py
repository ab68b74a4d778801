"""DPP123 benefit: the predicate saves more reading of the fact than it costs on the dimension
(Spark's ``pruningHasBenefit``); and DPP124 key-size: the keys stay below the engine's limit.

A predicate costs reading the dimension and its neighbours once more, and saves a share of the fact:
by the conditions' distinct values, else those of the keys, else Spark's ratio. In a columnar format
only the named columns count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from sqlrewrite.find.restrictions import (
    AnyOf,
    Conjunct,
    Restriction,
    SemiJoin,
    flattened,
    neighbours,
)
from sqlrewrite.judge.benefit.already_pruned import binds_partition, has_selective_condition
from sqlrewrite.judge.benefit.keys import (
    WIDEST,
    WIDTHS,
    few_keys_query,
    has_few_keys,
    has_one_key,
    is_filtered,
    key_count,
)
from sqlrewrite.judge.form import chosen_form, has_key_query
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, takes_keys
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.relations import conditions_of, leaves, read_by
from sqlrewrite.results import Estimate
from sqlrewrite.settings.forms import BY_NAME, IN
from sqlrewrite.text.limits import SPARK


def judge_benefit(proposal: Proposal) -> Judgement:
    """Whether the predicate is likely to save more than it costs."""
    engine = proposal.engine
    if not engine.enabled and chosen_form(proposal) == IN:
        return failed(
            f"{engine.title} does not prune by an IN, as dynamic pruning is switched off: "
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
        return passed(
            "Spark looks up the one key once and uses it for both the query and the predicate"
        )
    if has_few_keys(proposal) and all(_reads_names(proposal, scan) for scan in scans):
        return passed("the few keys are found among the names of the partitions")
    if has_few_keys(proposal) and _grouped(proposal):
        return passed(
            "Spark groups the rows once and uses them for both the query and the predicate"
        )
    sizes = [scan.table.size_in_bytes for scan in scans]
    size = None if None in sizes else sum(of_scan or 0 for of_scan in sizes)
    by_broadcast = engine.reuse_broadcast_only and chosen_form(proposal) == IN
    if by_broadcast and not proposal.options.hint and (size or 0) > engine.broadcast_threshold:
        return failed(
            f"{proposal.dimension_name} has {size:,} bytes, too many to be broadcast without a "
            f"hint, and {engine.title} prunes by a broadcast only"
        )
    cost = estimate(proposal)
    if cost is None or cost.saves is None or cost.reads is None:
        return _without_sizes(proposal, scans)
    saving = f"of {cost.scans:,} bytes about {cost.saves:,} ({cost.share:.0%}, by {cost.basis})"
    if cost.saves > cost.reads:
        return passed(f"saves {saving} for {cost.reads:,} read again")
    return failed(f"would save {saving} and read {cost.reads:,} again")


def _reads_names(proposal: Proposal, scan: ra.Scan) -> bool:
    """Whether a block reads only partition columns of a table, whose values stand in its paths."""
    block = proposal.plan.blocks[proposal.plan.owner[scan.relation]]
    shown = [output.expression for output in block.outputs]
    shown += [condition.expression for condition in (*block.where, *block.having)]
    named = {ref.name for expression in shown for ref in columns(expression)}
    return block.source is scan and block.complete and named <= scan.table.partitioning


def _grouped(proposal: Proposal) -> bool:
    """Whether the dimension is a DISTINCT or GROUP BY of the keys alone: Spark reuses the exchange
    below it."""
    query = few_keys_query(proposal)
    block = None if query is None else proposal.plan.blocks[query.top[0]]
    if block is None or len(block.outputs) != 1:
        return False
    return block.distinct or block.aggregate == "group by"


def _without_sizes(proposal: Proposal, scans: tuple[ra.Scan, ...]) -> Judgement:
    """The judgement where sizes are not known: a partitioned table is taken to be large, unless the
    query cuts it to one partition, and any other table to be small."""
    name = _grouped_for_both(proposal)
    if name is not None:
        return failed(
            f"Spark reads and groups {name} once for both sides; the subquery would read "
            "all of it again"
        )
    # A neighbour that filters it would stand in for it (``find.reducers.alternatives``).
    alone = len(scans) == 1 and is_filtered(proposal) and not _is_fact(proposal, scans[0])
    if alone and not has_selective_condition(proposal, proposal.pair.scan):
        return passed("no sizes are known, but only the dimension is filtered")
    for scan in scans:
        if scan.table.partitioned_by and not binds_partition(proposal, scan):
            return failed(
                f"{scan.alias} is partitioned too, and may be as large as the fact: give "
                "the sizes of both in the catalog"
            )
    return passed("no sizes are known; a dimension without partitions is taken to be small")


def _grouped_for_both(proposal: Proposal) -> str | None:
    """The name of a CTE that is both fact and dimension and groups its rows: Spark groups them once
    and reuses the exchange, as long as nothing bounds only one of the two."""
    target, dimension = proposal.pair.target, proposal.pair.dimension
    if not isinstance(target, ra.CteReference) or not isinstance(dimension, ra.CteReference):
        return None
    blocks = [proposal.plan.blocks[number] for number in target.query.top]
    grouped = all(block.aggregate == "group by" or block.distinct for block in blocks)
    return target.name if target.cte == dimension.cte and grouped else None


def _is_fact(proposal: Proposal, scan: ra.Scan) -> bool:
    """Whether a table is joined on its own partition column, as two facts are, beside a third
    relation that may bound both for less."""
    by_itself = proposal.pair.key.name in scan.table.partitioning
    return by_itself and len(list(leaves(proposal.target_block.source))) > 2


def judge_key_size(proposal: Proposal) -> Judgement:
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


_COLUMNAR = frozenset({"parquet", "orc", "delta", "iceberg"})
BY_FILTERS, BY_KEYS, BY_RATIO = "the filter's statistics", "the keys' statistics", "Spark's ratio"


def estimate(proposal: Proposal) -> Estimate | None:
    """The estimate for a proposal; None where its predicate reads no other relation."""
    if proposal.pair.filtered:
        return None
    scans = tuple(read_again(proposal))
    if all(scan.table.size_in_bytes is None for scan in (*scans, proposal.pair.scan)):
        return Estimate(None, None, None, proposal.engine.fallback_filter_ratio, BY_RATIO)
    named, plan = list(_named(proposal)), proposal.plan
    known = {ref.relation for ref in named}
    sizes = [
        _bytes(scan, named if scan.relation in known else _named_beside(plan, scan))
        for scan in scans
    ]
    rows = [scan.table.row_count for scan in scans]
    share, basis = _share_saved(proposal)
    return Estimate(
        reads=None if None in sizes else sum(size or 0 for size in sizes),
        rows=None if None in rows else sum(row or 0 for row in rows),
        scans=_bytes(proposal.pair.scan, _named_beside(proposal.plan, proposal.pair.scan)),
        share=share,
        basis=basis,
    )


def has_statistics(proposal: Proposal) -> bool:
    """Whether the statistics of both sides are enough to estimate a proposal."""
    dimension = proposal.pair.dimension
    known = isinstance(dimension, ra.Scan) and dimension.table.row_count is not None
    return known and proposal.pair.scan.table.size_in_bytes is not None


def pays(found: Estimate | None, saved: int | None, read: int | None) -> bool:
    """Whether the filters' statistics say that a predicate is worth it; ``saved`` and ``read`` are
    the bytes that are saved and read without it."""
    if found is None or found.basis != BY_FILTERS or found.saves is None or found.reads is None:
        return False
    return saved is not None and read is not None and found.saves - saved > found.reads - read


def read_again(proposal: Proposal) -> Iterator[ra.Scan]:
    """The base tables that are read for the keys."""
    for relation in (proposal.pair.dimension, *neighbours(proposal.restrictions)):
        match relation:
            case ra.Scan():
                yield relation
            case ra.Derived(query=query) | ra.CteReference(query=query):
                yield from (
                    base for base in read_by(proposal.plan, query) if isinstance(base, ra.Scan)
                )
            case _:
                pass


def _bytes(scan: ra.Scan, refs: Iterable[ra.ColumnRef]) -> int | None:
    """The bytes of a table that are read for those of the columns that are its own. If none is, all
    of its bytes: it stands inside the relation that has the columns, or its rows are counted."""
    table = scan.table
    if table.size_in_bytes is None or table.provider not in _COLUMNAR or not table.complete:
        return table.size_in_bytes
    widths = {
        column.name.lower(): WIDTHS.get(column.type or "", WIDEST)
        for column in table.columns
        if column.name.lower() not in table.identities
    }
    named = {ref.name for ref in refs if ref.relation == scan.relation} & widths.keys()
    if not named:
        return table.size_in_bytes
    return round(table.size_in_bytes * sum(widths[name] for name in named) / sum(widths.values()))


def _named(proposal: Proposal) -> Iterator[ra.ColumnRef]:
    """The columns that the key query names."""
    yield proposal.pair.key
    yield from columns(proposal.pair.key_side.expression)
    yield from _named_in(proposal.restrictions)


def _named_beside(plan: ra.Plan, scan: ra.Scan) -> Iterator[ra.ColumnRef]:
    """The columns that the SELECT around a table names; none where not all of it is understood."""
    block = plan.blocks[plan.owner[scan.relation]]
    if not block.complete:
        return
    conditions = [condition.expression for condition in (*conditions_of(block), *block.having)]
    for expression in (*conditions, *(output.expression for output in block.outputs), *block.keys):
        yield from columns(expression)


def _named_in(found: Sequence[Restriction]) -> Iterator[ra.ColumnRef]:
    for item in flattened(found):
        if isinstance(item, SemiJoin):
            yield from (item.key, item.other, *_named_in(item.inner))
        else:
            yield from columns(item.expression)


# --- the share of the fact that is left out -------------------------------------------------------


def _share_saved(proposal: Proposal) -> tuple[float, str]:
    """The share of the fact that is taken to be left out, and the source of that number."""
    pair, engine = proposal.pair, proposal.engine
    if not (engine.use_stats and isinstance(pair.dimension, ra.Scan)):
        return engine.fallback_filter_ratio, BY_RATIO
    ours = pair.scan.table.column(pair.pruned)
    theirs = pair.dimension.table.column(pair.key.name)
    values = ours.distinct_count if ours else None
    share = _share_left_by_all(proposal, proposal.restrictions)
    if share is not None:
        rows = pair.dimension.table.row_count
        # Keys are in at most as many partitions as there are keys.
        keys = share * rows if rows else None
        few = keys is not None and values and keys < values
        return 1 - (keys / values if few and keys and values else share), BY_FILTERS
    key = theirs.distinct_count if theirs else None
    if values and key and values > key:
        return 1 - key / values, BY_KEYS
    return engine.fallback_filter_ratio, BY_RATIO


def _share_left_by_all(proposal: Proposal, found: Iterable[Restriction]) -> float | None:
    """The share of rows that the conditions with a known share leave; None where none is known."""
    known = [share for item in found if (share := _share_left_by(proposal, item)) is not None]
    return prod(known) if known else None


def _share_left_by(proposal: Proposal, item: Restriction) -> float | None:
    match item:
        case Conjunct(expression=expression):
            return _share_where(proposal, expression)
        case AnyOf(branches=branches):
            return _share_left_by_any([_share_left_by_all(proposal, branch) for branch in branches])
        case SemiJoin():
            return _share_left_by_neighbour(proposal, item)


def _share_left_by_neighbour(proposal: Proposal, item: SemiJoin) -> float | None:
    """The share of rows that have a partner in a neighbour: the key has at most as many values as
    the neighbour has rows left. Without statistics of the key, the neighbour's own share."""
    share, neighbour = _share_left_by_all(proposal, item.inner), item.relation
    if share is None or not isinstance(neighbour, ra.Scan):
        return share
    values, theirs = _distinct_values(proposal, item.key), _distinct_values(proposal, item.other)
    rows = neighbour.table.row_count
    if values is None or theirs is None or rows is None:
        return None if neighbour.table.partitioned_by else share
    return min(1, min(theirs, share * rows) / values)


def _distinct_values(proposal: Proposal, column: ra.ColumnRef) -> int | None:
    """The number of distinct values of a table's column, if it is known."""
    relation = proposal.plan.relations[column.relation]
    table_column = relation.table.column(column.name) if isinstance(relation, ra.Scan) else None
    return table_column.distinct_count if table_column is not None else None


def _share_left_by_any(shares: list[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return min(1, sum(known)) if len(known) == len(shares) else None


def _share_where(proposal: Proposal, expression: ra.Expression) -> float | None:
    """The share of rows for which a condition holds, if all values are equally frequent."""
    match expression:
        case ra.Call(name="=" | "in", args=(ra.ColumnRef() as column, *values)) if all(
            isinstance(value, ra.Literal) for value in values
        ):
            count = _distinct_values(proposal, column)
            return min(1, len(values) / count) if count else None
        case ra.Call(name="and", args=args):
            known = [share for arg in args if (share := _share_where(proposal, arg)) is not None]
            return prod(known) if known else None
        case ra.Call(name="or", args=args):
            return _share_left_by_any([_share_where(proposal, arg) for arg in args])
        case _:
            return None
