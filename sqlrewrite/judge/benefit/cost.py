"""DPP123 benefit: the predicate saves more bytes of the fact than it reads again of the dimension
(Spark's ``pruningHasBenefit``); and DPP124 key-size: the keys stay below the engine's limit.

A predicate reads the dimension and its neighbours once more, and saves a share of the fact: by the
distinct values of the filtered columns, else of the keys, else by Spark's ratio. In a columnar
format only the named columns count.
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
            f"{engine.title} does not prune by an IN, as its dynamic pruning is off: "
            f"{proposal.other_form}"
        )
    if proposal.options.when == "auto" and has_key_query(proposal):
        scan, column = proposal.pair.scan, proposal.pair.pruned
        if engine.takes_keys and not takes_keys(engine, scan, column):
            why = f"the connector of `{scan.alias}` takes no keys for `{column}` at run time"
            return failed(f"{why}, so a subquery prunes nothing: {proposal.other_form}")
    scans = tuple(read_again(proposal))
    if has_one_key(proposal) and all(_reads_names(proposal, scan) for scan in scans):
        return passed("the one key is read from the names of partitions, not from files")
    if has_one_key(proposal) and proposal.options.limits.dialect == SPARK:
        return passed("Spark computes the one key once for both the query and the predicate")
    if has_few_keys(proposal) and all(_reads_names(proposal, scan) for scan in scans):
        return passed("the few keys are read from the names of partitions, not from files")
    if has_few_keys(proposal) and _grouped(proposal):
        return passed("Spark groups the rows once for both the query and the predicate")
    sizes = [scan.table.size_in_bytes for scan in scans]
    size = None if None in sizes else sum(of_scan or 0 for of_scan in sizes)
    by_broadcast = engine.reuse_broadcast_only and chosen_form(proposal) == IN
    if by_broadcast and not proposal.options.hint and (size or 0) > engine.broadcast_threshold:
        return failed(
            f"{proposal.quoted_dimension} has {size:,} bytes, too many to be broadcast without a "
            f"hint, and {engine.title} prunes only by a broadcast: {proposal.other_form}"
        )
    cost = estimate(proposal)
    if cost is None or cost.saves is None or cost.reads is None:
        return _without_sizes(proposal, scans)
    share = f"{cost.share:.0%}, by {cost.basis}"
    saving = f"about {cost.saves:,} of {cost.scans:,} bytes ({share})"
    if cost.saves > cost.reads:
        return passed(f"saves {saving} and reads {cost.reads:,} again")
    return failed(f"would save {saving} and read {cost.reads:,} bytes again")


def _reads_names(proposal: Proposal, scan: ra.Scan) -> bool:
    """Whether a block reads only partition columns of a table, whose values are in its paths."""
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
    """The judgement without sizes: a partitioned table counts as large, unless the query reads one
    partition of it, and any other table as small."""
    name = _grouped_for_both(proposal)
    if name is not None:
        return failed(
            f"Spark reads and groups `{name}` once for both sides of the join: the subquery would "
            "read it again"
        )
    # A neighbour that filters the dimension is tried in its place (``find.reducers.alternatives``).
    alone = len(scans) == 1 and is_filtered(proposal) and not _is_fact(proposal, scans[0])
    if alone and not has_selective_condition(proposal, proposal.pair.scan.relation):
        return passed("sizes are not known, but only the dimension is filtered")
    for scan in scans:
        if scan.table.partitioned_by and not binds_partition(proposal, scan):
            return failed(
                f"`{scan.alias}` is partitioned too, and may be as large as the fact: give "
                "the sizes of both in the catalog"
            )
    return passed("sizes are not known: a table without partitions counts as small")


def _grouped_for_both(proposal: Proposal) -> str | None:
    """The name of a grouping CTE that is both fact and dimension: Spark groups it once and reuses
    the exchange, unless a predicate bounds only one of the two. None if there is none."""
    target, dimension = proposal.pair.target, proposal.pair.dimension
    if not isinstance(target, ra.CteReference) or not isinstance(dimension, ra.CteReference):
        return None
    blocks = [proposal.plan.blocks[number] for number in target.query.top]
    grouped = all(block.aggregate == "group by" or block.distinct for block in blocks)
    return target.name if target.cte == dimension.cte and grouped else None


def _is_fact(proposal: Proposal, scan: ra.Scan) -> bool:
    """Whether a table is joined by its own partition column, as a fact is, beside a third relation
    that may bound both at a lower cost."""
    by_itself = proposal.pair.key.name in scan.table.partitioning
    return by_itself and len(list(leaves(proposal.target_block.source))) > 2


def judge_key_size(proposal: Proposal) -> Judgement:
    """Whether the collected keys stay below the limit."""
    form = BY_NAME[chosen_form(proposal)]
    if form.fits:
        return passed(form.fits)
    count = key_count(proposal)
    if count is None:
        return passed("the number of keys is not known")
    kind = expression_type(proposal.plan, proposal.pair.key_side.expression)
    size = round(count * WIDTHS.get(kind or "", WIDEST))
    limit = proposal.options.key_limit
    limit = proposal.engine.key_limit if limit is None else limit
    if size > limit:
        return failed(
            f"{proposal.quoted_dimension} has about {size:,} bytes of keys, over the limit of "
            f"{limit:,}: raise `key-limit`, or use `--predicate range`"
        )
    return passed(f"about {size:,} bytes of keys")


_COLUMNAR = frozenset({"parquet", "orc", "delta", "iceberg"})
BY_FILTERS, BY_KEYS, BY_RATIO = "the filter's statistics", "the keys' statistics", "Spark's ratio"


def estimate(proposal: Proposal) -> Estimate | None:
    """The estimated cost and benefit; None if the predicate reads no other relation."""
    if proposal.pair.filtered:
        return None
    scans = tuple(read_again(proposal))
    if all(scan.table.size_in_bytes is None for scan in (*scans, proposal.pair.scan)):
        return Estimate(None, None, None, proposal.engine.fallback_filter_ratio, BY_RATIO)
    named, plan = list(_named(proposal)), proposal.plan
    relations = {ref.relation for ref in named}
    sizes = [
        _bytes(scan, named if scan.relation in relations else _named_beside(plan, scan))
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
    """Whether both sides have the statistics that an estimate needs."""
    dimension = proposal.pair.dimension
    counted = isinstance(dimension, ra.Scan) and dimension.table.row_count is not None
    return counted and proposal.pair.scan.table.size_in_bytes is not None


def pays(cost: Estimate | None, saved: int | None, read: int | None) -> bool:
    """Whether a predicate saves more bytes than it reads, by the filters' statistics; ``saved`` and
    ``read`` are the bytes that are saved and read without it."""
    if cost is None or cost.basis != BY_FILTERS or cost.saves is None or cost.reads is None:
        return False
    return saved is not None and read is not None and cost.saves - saved > cost.reads - read


def read_again(proposal: Proposal) -> Iterator[ra.Scan]:
    """The base tables that the key query reads."""
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
    """The bytes of the columns of a table that are among ``refs``; None if unknown. If none is
    among them, all its bytes: a query around the table has these columns, or only rows are
    counted."""
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
    """The columns named in the SELECT that reads a table; none if a part of it is unknown."""
    block = plan.blocks[plan.owner[scan.relation]]
    if not block.complete:
        return
    conditions = [condition.expression for condition in (*conditions_of(block), *block.having)]
    for expression in (*conditions, *(output.expression for output in block.outputs), *block.keys):
        yield from columns(expression)


def _named_in(restrictions: Sequence[Restriction]) -> Iterator[ra.ColumnRef]:
    for item in flattened(restrictions):
        if isinstance(item, SemiJoin):
            yield from (item.key, item.other, *_named_in(item.inner))
        else:
            yield from columns(item.expression)


# --- the share of the fact that is left out -------------------------------------------------------


def _share_saved(proposal: Proposal) -> tuple[float, str]:
    """The estimated share of the fact that is pruned, and the source of that number."""
    pair, engine = proposal.pair, proposal.engine
    if not (engine.use_stats and isinstance(pair.dimension, ra.Scan)):
        return engine.fallback_filter_ratio, BY_RATIO
    ours = pair.scan.table.column(pair.pruned)
    theirs = pair.dimension.table.column(pair.key.name)
    values = ours.distinct_count if ours else None
    share = _share_left_by_all(proposal, proposal.restrictions)
    if share is not None:
        rows = pair.dimension.table.row_count
        # n keys are in at most n partitions.
        keys = share * rows if rows else None
        few = keys is not None and values and keys < values
        return 1 - (keys / values if few and keys and values else share), BY_FILTERS
    key = theirs.distinct_count if theirs else None
    if values and key and values > key:
        return 1 - key / values, BY_KEYS
    return engine.fallback_filter_ratio, BY_RATIO


def _share_left_by_all(proposal: Proposal, restrictions: Iterable[Restriction]) -> float | None:
    """The share of rows that all conditions together leave, without those whose share is unknown.
    None if every share is."""
    shares = [_share_left_by(proposal, restriction) for restriction in restrictions]
    known_shares = [share for share in shares if share is not None]
    return prod(known_shares) if known_shares else None


def _share_left_by(proposal: Proposal, item: Restriction) -> float | None:
    match item:
        case Conjunct(expression=expression):
            return _share_where(proposal, expression)
        case AnyOf(branches=branches):
            return _share_left_by_any([_share_left_by_all(proposal, branch) for branch in branches])
        case SemiJoin():
            return _share_left_by_neighbour(proposal, item)


def _share_left_by_neighbour(proposal: Proposal, item: SemiJoin) -> float | None:
    """The share of rows with a match in a neighbour: at most as many key values as the neighbour
    has rows left. Without statistics of the key, the share of the neighbour's rows."""
    share, neighbour = _share_left_by_all(proposal, item.inner), item.relation
    if share is None or not isinstance(neighbour, ra.Scan):
        return share
    values, theirs = _distinct_values(proposal, item.key), _distinct_values(proposal, item.other)
    rows = neighbour.table.row_count
    if values is None or theirs is None or rows is None:
        return None if neighbour.table.partitioned_by else share
    return min(1, min(theirs, share * rows) / values)


def _distinct_values(proposal: Proposal, column: ra.ColumnRef) -> int | None:
    """The number of distinct values of a table's column; None if unknown."""
    relation = proposal.plan.relations[column.relation]
    table_column = relation.table.column(column.name) if isinstance(relation, ra.Scan) else None
    return table_column.distinct_count if table_column is not None else None


def _share_left_by_any(shares: list[float | None]) -> float | None:
    known_shares = [share for share in shares if share is not None]
    return min(1, sum(known_shares)) if len(known_shares) == len(shares) else None


def _share_where(proposal: Proposal, expression: ra.Expression) -> float | None:
    """The share of rows for which a condition holds, if values are equally frequent; None if
    unknown."""
    match expression:
        case ra.Call(name="=" | "in", args=(ra.ColumnRef() as column, *values)) if all(
            isinstance(value, ra.Literal) for value in values
        ):
            count = _distinct_values(proposal, column)
            return min(1, len(values) / count) if count else None
        case ra.Call(name="and", args=args):
            known_shares = [
                share for arg in args if (share := _share_where(proposal, arg)) is not None
            ]
            return prod(known_shares) if known_shares else None
        case ra.Call(name="or", args=args):
            return _share_left_by_any([_share_where(proposal, arg) for arg in args])
        case _:
            return None
