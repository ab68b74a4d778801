"""The rules about the dimension: DPP109 repeatable, DPP110 row-limit, DPP111 correlated, DPP112
key-types, DPP113 names, DPP114 guards and DPP115 parameters.

The predicate reads the dimension a second time: it must get the same rows, compare keys as the join
does (docs/soundness.md, "Types"), and raise no error that the query does not raise.
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
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, quoted_relation, unknown
from sqlrewrite.judge.repeatable import CORRELATED, DETERMINISM, NAMES, PARAMETERS, ROW_LIMIT
from sqlrewrite.judge.soundness.derived_column import DERIVED
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
    """Whether the dimension gives the same rows when it is read again."""
    name = proposal.quoted_dimension
    holds = f"{name} gives the same rows each time it is read"
    return _by_objection(proposal, DETERMINISM, holds, f"the predicate reads {name} again: ")


def judge_row_limit(proposal: Proposal) -> Judgement:
    """Whether no LIMIT or sample picks the dimension's rows arbitrarily."""
    name = proposal.quoted_dimension
    holds = f"no LIMIT or TABLESAMPLE picks rows of {name} arbitrarily"
    return _by_objection(proposal, ROW_LIMIT, holds, f"in {name}: ")


def judge_correlated(proposal: Proposal) -> Judgement:
    """Whether the dimension is not correlated: a key query reads it by itself."""
    return _by_objection(proposal, CORRELATED, "the dimension refers to no outer columns")


def judge_names(proposal: Proposal) -> Judgement:
    """Whether each name resolves to the same relation in the key query as in the query."""
    return _by_objection(proposal, NAMES, "all names mean the same in the predicate")


def judge_parameters(proposal: Proposal) -> Judgement:
    """Whether the key query repeats no positional parameter."""
    return _by_objection(proposal, PARAMETERS, "no positional parameter is repeated")


def _by_objection(proposal: Proposal, code: str, holds: str, prefix: str = "") -> Judgement:
    reason = proposal.objection(code)
    return passed(holds) if reason is None else failed(prefix + reason)


def judge_key_types(proposal: Proposal) -> Judgement:
    """Whether IN compares the fact's column, as stored, with the key as the join does."""
    pair = proposal.pair
    if pair.derived is not None:
        if pair.derived.formula is None:
            return passed(f"judged by {DERIVED}")
        return _judge_derived_types(proposal, pair.derived)
    name = f"`{'.'.join(pair.scan.parts)}.{pair.path.column}`"
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
            declare = f"declare the type of `{expression.name}`"
            return unknown(f"the type of {shown} is not known: {declare}")
        kinds.append(kind)
    stored, joined, key = kinds[0], kinds[-2], kinds[-1]
    if not stored_alike(stored, joined, key):
        exactly = stored == joined or lossless(stored, joined)
        if exactly and _only_in(proposal) and _sides(joined, key):
            why = "with `try_cast`, which gives NULL where the join's cast may raise an error"
            return passed(f"IN compares {joined} and {key} as the join does, {why}")
        other = stored if compare_alike(joined, key) else joined
        return failed(why_unlike(name, other, proposal.label(pair.key), key))
    distinct = list(dict.fromkeys(map(str, kinds)))
    return passed(f"both are {distinct[0]}" if len(distinct) == 1 else " and ".join(distinct))


def in_sides(proposal: Proposal) -> tuple[str, str]:
    """The templates of the two sides of an IN that compares as the join does."""
    pair = proposal.pair
    joined, key = (proposal.type_of(side.expression) for side in (pair.fact_side, pair.key_side))
    if pair.derived is not None or joined is None or key is None:
        return _UNCHANGED
    if compare_alike(joined, key):
        narrowed = narrowed_key(proposal)
        return _UNCHANGED if narrowed is None else ("{}", narrowed)
    return _sides(joined, key) or _UNCHANGED


def narrowed_key(proposal: Proposal) -> str | None:
    """The template that casts keys to the narrower integer type of an Iceberg table's column; None
    for other keys. Without it Spark casts the column, and Iceberg filters no files through a cast.
    A key out of the column's range becomes NULL: it equals no value of the column."""
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


_UNCHANGED = ("{}", "{}")
_AS_A_DATE = "try_cast({} AS DATE)"


def _only_in(proposal: Proposal) -> bool:
    """Whether the predicate is an IN over a subquery, on Spark."""
    spark = proposal.options.limits.dialect == SPARK
    return (
        spark
        and proposal.pair.operator == "="
        and chosen_form(proposal) == IN
        and not proposal.context.literals
    )


def _sides(joined: Type, key: Type) -> tuple[str, str] | None:
    """The templates of the two sides for types that differ; None if no IN compares them as the join
    does. Spark compares a STRING with a DATE as DATEs in both modes. It compares a STRING with an
    integer as that integer's type, or in ANSI mode as BIGINTs; a cast to BIGINT without ANSI mode
    gives the keys of both."""
    joined, key = read_as(joined), read_as(key)
    if is_integral(joined) and key == STRING:
        form = legacy_cast(STRING, BIGINT)
        return None if form is None else ("{}", form.text.replace("{0}", "{}"))
    if (joined, key) == (STRING, DATE):
        return _AS_A_DATE, "{}"
    return ("{}", _AS_A_DATE) if (joined, key) == (DATE, STRING) else None


def _judge_derived_types(proposal: Proposal, derived: DerivedColumn) -> Judgement:
    """Whether the key has exactly the type of what it is compared with, and the derived column the
    type of its expression."""
    pair = proposal.pair
    column = ColumnRef(pair.scan.relation, derived.column, None)
    sides: list[tuple[str, Type | None]] = [
        (f"`{pair.scan.alias}.{column.name}`", proposal.type_of(column)),
        (f"`{derived.derivation.expression}`", derived.type),
        (f"`{pair.scan.alias}.{pair.path.column}`", proposal.type_of(pair.stored)),
        (proposal.label(pair.fact), proposal.type_of(pair.fact)),
        ("the fact's side", proposal.type_of(pair.fact_side.expression)),
        (proposal.label(pair.key), proposal.type_of(pair.key_side.expression)),
    ]
    for shown, kind in sides:
        if kind is None:
            return unknown(f"the type of {shown} is not known: declare it in the catalog")
    of_column, of_expression, source, joined, fact, key = (
        read_as(kind) for _, kind in sides if kind
    )
    if not compare_alike(of_column, of_expression):
        return failed(why_unlike(sides[0][0], of_column, sides[1][0], of_expression))
    if source != joined:
        return failed(why_unlike(sides[2][0], source, sides[3][0], joined))
    if fact != key or not identical(key):
        return failed(why_unlike(sides[4][0], fact, sides[5][0], key))
    return passed(f"both sides are {key}, and `{derived.column}` is {of_column}")


def judge_guards(proposal: Proposal) -> Judgement:
    """Whether the key query, which reads the whole dimension, adds no error. The message lists the
    conditions that it leaves out because they can raise one."""
    copied = raising_for_rows(proposal)
    if copied is not None:
        name = quoted_relation(copied[1])
        why = (
            "can raise an error for rows that another join leaves out, and with the predicate "
            "Spark may evaluate it for those rows first"
        )
        return failed(f"{describe(copied[0])} of {name} {why}")
    tested = raising_where_tested(proposal)
    if tested is not None:
        why = (
            "can raise an error, and with the predicate Spark may evaluate the condition for keys "
            "that the query never tests"
        )
        return failed(f"{describe(tested)} in a condition on `{proposal.pair.path.column}` {why}")
    extended = None if chosen_form(proposal) == IN else raising_where_extended(proposal)
    if extended is not None:
        why = (
            "can raise an error, and with the predicate Spark turns the outer join into an inner "
            "one and evaluates the condition for more rows"
        )
        return failed(f"{describe(extended)} in a condition on the joined columns {why}")
    attempted: tuple[ra.Expression, ...] = ()
    if raising_below(proposal, proposal.pair.key) is not None and key_is_attempted(proposal):
        computed = computed_as(proposal.plan, proposal.pair.key)
        attempted = (*computed, *attempted_group_keys(proposal))
    culprit = raising_inside(proposal, proposal.pair.dimension, attempted)
    if culprit is not None:
        name = proposal.quoted_dimension
        why = "can raise an error in the key query where the join raises none"
        return failed(f"{describe(culprit)} inside {name} {why}")
    reasons = [reason for code, reason in proposal.dropped if code == GUARDS]
    if reasons:
        return passed("conditions left out of the key query: " + "; ".join(reasons))
    forms = dict.fromkeys(_explained_attempts(proposal))
    return passed("; ".join(forms) or "no condition in the key query can raise an error")


def _explained_attempts(proposal: Proposal) -> Iterator[str]:
    """Why the predicate writes expressions in another form than the author."""
    for item in proposal.restrictions:
        if isinstance(item, Conjunct) and (node := raising_in(proposal, item.expression)):
            form = "so that it gives NULL instead, and IS NOT FALSE keeps those rows"
            yield f"{describe(node)} can raise an error: the condition is written {form}"
    node = raising_in(proposal, proposal.pair.fact_side.expression)
    if node is not None:
        form = "the fact's side is written so that it gives NULL instead"
        yield f"{describe(node)} can raise an error: {form}"
    node = raising_in(proposal, proposal.pair.key_side.expression)
    if node is not None:
        form = "so that it raises none and gives each key that the join compares"
        yield f"{describe(node)} can raise an error: the key is written {form}"
