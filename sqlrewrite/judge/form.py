"""DPP124 key-size, and which form a predicate takes: how many keys there are, by the statistics.

Flink gives up where the collected keys pass a limit (FLIP-248), Trino lets many values collapse to
their range (``DynamicFilterConfig``); both limits are the engine's file's.
"""

from __future__ import annotations

from sqlrewrite.find.restrictions import merges_subqueries
from sqlrewrite.judge.benefit.selective_predicate import is_selective
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.single import is_few, is_single, of_whole_query
from sqlrewrite.judge.soundness.derived_column import ITSELF, derived_bound
from sqlrewrite.plan.algebra import Call, ColumnRef, Expression, Literal, Scan
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.facts.comparisons import alike
from sqlrewrite.settings.forms import (
    AUTO,
    BY_NAME,
    FILTERED,
    IN,
    RANGE,
    RANKED,
    SET,
    SINGLE,
    VALUES,
)
from sqlrewrite.text.limits import SPARK

# Bytes of a value, as Spark's DataType.defaultSize has them.
WIDTHS = {
    "boolean": 1,
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "date": 4,
    "bigint": 8,
    "timestamp": 8,
    "string": 20,
    "binary": 100,
}
WIDEST = 16  # a decimal


def chosen(proposal: Proposal) -> str:
    """The form of a proposal's predicate: ``in``, ``set``, ``range``, ``values``, ``single`` …"""
    form = proposal.form
    if proposal.pair.filtered:
        return FILTERED
    if proposal.pair.first:
        return RANKED
    if proposal.pair.derived is not None:
        return _of_derived(proposal, form)
    if form == VALUES:
        return form
    if is_single(proposal):
        return SINGLE
    if proposal.pair.operator not in ("=", "<=>") or proposal.clustered:
        return RANGE
    if is_few(proposal) and (of_whole_query(proposal) or not is_selective(proposal)):
        return SET
    if form == AUTO:
        form = IN if is_selective(proposal) else SET
    # By such an IN Spark would prune nothing, nor by the join itself.
    if (
        form == IN
        and proposal.options.limits.dialect == SPARK
        and merges_subqueries(proposal.restrictions)
    ):
        form = SET
    return RANGE if form == SET and _many(proposal) else form


def _many(proposal: Proposal) -> bool:
    """Whether there are more keys than a set takes well."""
    count = _keys(proposal)
    return count is not None and count > proposal.engine.set_limit


def asks(proposal: Proposal) -> bool:
    """Whether the predicate holds a key query, and no constants alone."""
    return BY_NAME[chosen(proposal)].has_query


def _of_derived(proposal: Proposal, form: str) -> str:
    """The form for a derived column: an IN under an OR would not prune, a range asks for an
    order."""
    found = derived_bound(proposal)
    if isinstance(found, tuple) or proposal.pair.operator not in ("=", "<=>") or found.ranged:
        return RANGE
    shape = proposal.pair.derived.shape if proposal.pair.derived is not None else None
    ordered = shape is not None and shape.ordered and found.step not in ITSELF
    if form == RANGE and ordered:
        return RANGE
    if form == VALUES and not (found.nulls or found.days or found.apart):
        return form
    if found.nulls or found.apart or form == SET or not is_selective(proposal):
        return RANGE if ordered and _many(proposal) else SET
    return IN


def judge(proposal: Proposal) -> Judgement:
    """Whether the keys that the engine would collect stay below the limit."""
    form = BY_NAME[chosen(proposal)]
    if form.fits:
        return passed(form.fits)
    count = _keys(proposal)
    if count is None:
        return passed("how many keys there are is not known")
    kind = expression_type(proposal.plan, proposal.pair.key_side.expression)
    size = round(count * WIDTHS.get(kind or "", WIDEST))
    limit = proposal.options.key_limit
    limit = proposal.engine.key_limit if limit is None else limit
    if size > limit:
        return failed(
            f"{proposal.dimension_name} would give about {size:,} bytes of keys, over the limit of "
            f"{limit:,}: set --key-limit, or --predicate range"
        )
    return passed(f"about {size:,} bytes of keys")


def _keys(proposal: Proposal) -> float | None:
    """How many keys the statistics promise: the distinct ones, or else the rows, and of them what
    the engine takes a filter to leave."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, Scan) or not proposal.engine.use_stats:
        return None
    column = dimension.table.column(proposal.pair.key.name)
    count = column.distinct_count if column is not None and proposal.pair.key_plain else None
    count = dimension.table.row_count if count is None else count
    return None if count is None else count * (1 - proposal.engine.fallback_filter_ratio)


def repeats_keys(proposal: Proposal) -> bool:
    """Whether the statistics say that each key comes twice or more, and no declaration that it is
    unique speaks against them: then the key query selects DISTINCT ones."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, Scan) or not proposal.pair.key_plain:
        return False
    table = dimension.table
    column = table.column(proposal.pair.key.name)
    if column is None or [name.lower() for name in table.primary_key] == [proposal.pair.key.name]:
        return False
    rows, distinct = table.row_count, column.distinct_count
    return bool(rows and distinct and rows >= 2 * distinct)


def is_constant(proposal: Proposal, expression: Expression) -> bool:
    """Whether a condition compares just the key with constants that IN compares the fact with in
    the same way: ``k = 5``, ``k IN (1, 2)``."""
    pair = proposal.pair
    if pair.operator != "=" or not (pair.key_plain and pair.fact_plain) or pair.derived is not None:
        return False
    fact, other, key = (proposal.type_of(ref) for ref in (pair.stored, pair.fact, pair.key))
    if fact is None or not fact == other == key:
        return False  # against another type the same constant might compare otherwise
    match expression:
        case Call(name="=" | "in" as name, args=(ColumnRef(name=column), *values)):
            if column != pair.key.name:
                return False
            if not all(isinstance(value, Literal) and value.kind != "null" for value in values):
                return False
            kinds = [proposal.type_of(value) for value in values]
            return name == "in" or all(kind is not None and alike(fact, kind) for kind in kinds)
        case _:
            return False
