"""The rules about the dimension: DPP109 repeatable, DPP110 row-limit, DPP111 correlated, DPP112
key-types, DPP113 names, DPP114 guards and DPP115 parameters.

The predicate reads the dimension a second time: it must give the same rows, compare its keys as the
join does (docs/soundness.md, "Types"), and bring no error that the query does not raise.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.derived_columns import DerivedColumn
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.conditions import GUARDS, describe, why_unlike
from sqlrewrite.judge.errors.attempted import attempted_group_keys, key_is_attempted
from sqlrewrite.judge.errors.copied import raising_where_extended, raising_where_tested
from sqlrewrite.judge.errors.copied_rows import raising_for_rows
from sqlrewrite.judge.errors.raising import raising_below, raising_in, raising_inside
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, relation_name, unknown
from sqlrewrite.judge.repeatable import CORRELATED, DETERMINISM, NAMES, PARAMETERS, ROW_LIMIT
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.algebra import ColumnRef, Expression
from sqlrewrite.plan.columns import computed_as
from sqlrewrite.plan.facts.coercion import (
    compare_alike,
    identical,
    is_integral,
    lossless,
    read_as,
    stored_alike,
)
from sqlrewrite.plan.facts.error_free import legacy_cast
from sqlrewrite.plan.facts.types import BIGINT, DATE, STRING, Type
from sqlrewrite.settings.forms import IN
from sqlrewrite.text.limits import SPARK


def judge_repeatable(proposal: Proposal) -> Judgement:
    """Whether the dimension computes the same rows when it is read again."""
    name = proposal.dimension_name
    holds = f"{name} gives the same rows each time it is read"
    return _judged(proposal, DETERMINISM, holds, "the dimension is read twice: ")


def judge_row_limit(proposal: Proposal) -> Judgement:
    """Whether the dimension is not cut to an arbitrary part of its rows."""
    holds = "no LIMIT or sample decides which rows of the dimension there are"
    return _judged(proposal, ROW_LIMIT, holds, f"in {proposal.dimension_name}: ")


def judge_correlated(proposal: Proposal) -> Judgement:
    """Whether the dimension can be read on its own, and the predicate at a place that sees it."""
    return _judged(proposal, CORRELATED, "the dimension can be read on its own")


def judge_names(proposal: Proposal) -> Judgement:
    """Whether each name in the key query means there what it means in the query."""
    return _judged(proposal, NAMES, "every name means the same where the predicate stands")


def judge_parameters(proposal: Proposal) -> Judgement:
    """Whether no positional parameter would be repeated."""
    return _judged(proposal, PARAMETERS, "no positional parameter is repeated")


def _judged(proposal: Proposal, code: str, holds: str, before: str = "") -> Judgement:
    reason = proposal.objection(code)
    return passed(holds) if reason is None else failed(before + reason)


def judge_key_types(proposal: Proposal) -> Judgement:
    """Whether the fact's column, as stored and as joined, compares with the key as one type."""
    pair = proposal.pair
    if pair.derived is not None:
        known = pair.derived.formula is not None
        return _of_derived(proposal, pair.derived) if known else passed("not asked")
    name = f"{'.'.join(pair.scan.parts)}.{pair.path.column}"
    sides: list[tuple[str, Expression]] = [(proposal.label(pair.fact), pair.fact_side.expression)]
    if pair.fact_plain and not pair.path.computed:
        sides.insert(0, (name, pair.stored))
    sides.append((proposal.label(pair.key), pair.key_side.expression))
    kinds: list[Type] = []
    for shown, expression in sides:
        kind = proposal.type_of(expression)
        if kind is None:
            if not isinstance(expression, ColumnRef):
                return unknown(f"the type of an expression over {shown} is not known")
            declare = f"declare the type of {expression.name}"
            return unknown(f"the type of {shown} is not known: {declare}")
        kinds.append(kind)
    stored, joined, key = kinds[0], kinds[-2], kinds[-1]
    if not stored_alike(stored, joined, key):
        exactly = stored == joined or lossless(stored, joined)
        if exactly and _only_in(proposal) and _sides(joined, key):
            why = "try_cast gives NULL where the join's own cast may raise an error"
            return passed(f"IN compares {joined} and {key} as the join does: {why}")
        other = stored if compare_alike(joined, key) else joined
        return failed(why_unlike(name, other, proposal.label(pair.key), key))
    distinct = list(dict.fromkeys(map(str, kinds)))
    return passed(f"both are {distinct[0]}" if len(distinct) == 1 else " and ".join(distinct))


def in_sides(proposal: Proposal) -> tuple[str, str]:
    """The templates by which an IN writes the two sides of a join, to compare them as the join
    does."""
    pair = proposal.pair
    joined, key = (proposal.type_of(side.expression) for side in (pair.fact_side, pair.key_side))
    if pair.derived is not None or joined is None or key is None:
        return _AS_THEY_ARE
    if compare_alike(joined, key):
        narrowed = narrowed_key(proposal)
        return _AS_THEY_ARE if narrowed is None else ("{}", narrowed)
    return _sides(joined, key) or _AS_THEY_ARE


def narrowed_key(proposal: Proposal) -> str | None:
    """The template for keys of a wider integer type than an Iceberg table's column; None for any
    other. Beside such keys Spark casts the column, and Iceberg filters no files through a cast. A
    key that the column's type cannot hold equals none of its values, and is NULL here."""
    pair = proposal.pair
    stored, key = proposal.type_of(pair.stored), proposal.type_of(pair.key_side.expression)
    plain = pair.fact_plain and not pair.path.computed and pair.derived is None
    plain = plain and proposal.options.limits.dialect == SPARK
    if not plain or pair.operator != "=" or pair.scan.table.provider != "iceberg":
        return None
    if stored is None or key is None or stored == key or proposal.type_of(pair.fact) != stored:
        return None
    wider = is_integral(stored) and is_integral(key) and lossless(stored, key)
    return f"try_cast({{}} AS {str(stored).upper()})" if wider else None


_AS_THEY_ARE = ("{}", "{}")
_AS_A_DATE = "try_cast({} AS DATE)"


def _only_in(proposal: Proposal) -> bool:
    """Whether the predicate will be an IN over a subquery, on Spark."""
    spark = proposal.options.limits.dialect == SPARK
    return (
        spark
        and proposal.pair.operator == "="
        and chosen_form(proposal) == IN
        and not proposal.context.literals
    )


def _sides(joined: Type, key: Type) -> tuple[str, str] | None:
    """The templates for two types that differ; None where an IN would compare them otherwise. Spark
    casts a STRING to DATE in either mode; beside an integer it casts it to that type or to BIGINT,
    and all keys of both modes are among those of a cast to BIGINT without ANSI mode."""
    joined, key = read_as(joined), read_as(key)
    if is_integral(joined) and key == STRING:
        form = legacy_cast(STRING, BIGINT)
        return None if form is None else ("{}", form.text.replace("{0}", "{}"))
    if (joined, key) == (STRING, DATE):
        return _AS_A_DATE, "{}"
    return ("{}", _AS_A_DATE) if (joined, key) == (DATE, STRING) else None


def _of_derived(proposal: Proposal, derived: DerivedColumn) -> Judgement:
    """Whether the key has the very type of the source, or of its day, and the derived column the
    type of its expression."""
    pair = proposal.pair
    column = ColumnRef(pair.scan.relation, derived.column, None)
    sides: list[tuple[str, Type | None]] = [
        (f"{pair.scan.alias}.{column.name}", proposal.type_of(column)),
        (derived.derivation.expression, derived.type),
        (f"{pair.scan.alias}.{pair.path.column}", proposal.type_of(pair.stored)),
        (proposal.label(pair.fact), proposal.type_of(pair.fact)),
        ("the fact's side", proposal.type_of(pair.fact_side.expression)),
        (proposal.label(pair.key), proposal.type_of(pair.key_side.expression)),
    ]
    for shown, kind in sides:
        if kind is None:
            return unknown(f"the type of {shown} is not known")
    of_column, of_expression, source, joined, fact, key = (
        read_as(kind) for _, kind in sides if kind
    )
    if not compare_alike(of_column, of_expression):
        return failed(why_unlike(sides[0][0], of_column, sides[1][0], of_expression))
    if source != joined:
        return failed(why_unlike(sides[2][0], source, sides[3][0], joined))
    if fact != key or not identical(key):
        return failed(why_unlike(sides[4][0], fact, sides[5][0], key))
    return passed(f"both are {key}, and {derived.column} is {of_column}")


def judge_guards(proposal: Proposal) -> Judgement:
    """Whether the dimension, all of which the key query reads, raises no error; the message lists
    the conditions that were dropped because they can raise one."""
    copied = raising_for_rows(proposal)
    if copied is not None:
        name = relation_name(copied[1])
        why = (
            "can raise an error for rows that another join leaves out, and Spark would "
            "evaluate it for them first"
        )
        return failed(f"{describe(copied[0])} of {name} {why}")
    tested = raising_where_tested(proposal)
    if tested is not None:
        why = (
            "can raise an error, and Spark may evaluate the condition for keys of the "
            "dimension that the query never tests"
        )
        return failed(f"{describe(tested)} in a condition on {proposal.pair.path.column} {why}")
    extended = None if chosen_form(proposal) == IN else raising_where_extended(proposal)
    if extended is not None:
        why = (
            "can raise an error, and with the predicate Spark makes the outer join an "
            "inner one and evaluates the condition earlier"
        )
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
