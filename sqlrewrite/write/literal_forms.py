"""The forms that hold literals: constants of the author's own condition, or keys asked of Spark.

In: proposals that passed. Out: each ``Predicate``; none where the form does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from msgspec import Struct

from sqlrewrite.find.derived_columns import is_day
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.proposal import Predicate, Proposal
from sqlrewrite.judge.soundness.derived_column import day_may_recur
from sqlrewrite.plan.algebra import Call, ColumnRef, Derived, Expression, Literal, Plan, Scan
from sqlrewrite.plan.columns import expression_type, type_of
from sqlrewrite.plan.expressions import operands
from sqlrewrite.plan.facts.coercion import compare_alike
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.types import TIMESTAMP, TIMESTAMP_NTZ
from sqlrewrite.plan.relations import read_by
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import Keys, NotAskedError, Options, RefusedError
from sqlrewrite.sql.lex.tokens import comparable
from sqlrewrite.sql.managed.recognition import normalized_value
from sqlrewrite.sql.places import Places
from sqlrewrite.text.edits import Span
from sqlrewrite.text.limits import SPARK
from sqlrewrite.text.markers import keys_note
from sqlrewrite.text.templates import templated
from sqlrewrite.warehouse import View, Warehouse, has_template
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.key_queries import KeyQueries
from sqlrewrite.write.query_forms import END

# A parameter, whose value Spark does not know when it is asked for the keys.
_PARAMETER = re.compile(r"\?|(?<![:\w]):[A-Za-z_]")
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UNQUALIFIED = re.compile(r"(?<![.\w])\w+")

# Words in DATE '…' that mean another day tomorrow.
_SPECIAL_DAY = re.compile(r"['\"]\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)

_SIGNS = frozenset("{}$%@&#:?")
"""Signs of templates and parameters: Jinja's, Python's ``%`` and ``format``, Hive's, SQL*Plus's
…"""

_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_MOMENTS = (TIMESTAMP, TIMESTAMP_NTZ)
_LAST_YEAR = 9998
_MOST_PERIODS = 20
"""The most separate periods of days; with more, one from the first day to the last is written."""
_DECIMAL = re.compile(r"decimal\(\d+,\s*(\d+)\)")


class _Bound(Struct, frozen=True):
    """The text of the bounded value and the query of its keys; ``sign`` is IN, or the comparison
    with a single key."""

    fact: str
    sign: str
    query: str


def write_values(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The predicates of literals, one for each column; empty where another form is to be written.
    Raises RefusedError."""
    predicates: list[Predicate] = []
    for of in [proposals] if queries.union else [[proposal] for proposal in proposals]:
        operator = of[0].pair.operator
        sign = queries.author.word("IN") if operator in ("=", "<=>") else operator
        query = queries.over(of, END.get(sign[0], "{}"))[1:-1]
        bound = _Bound(fact_value(of[0], queries.author), sign, query)
        written = _literal_predicate(bound, of)
        if written is None:
            return []
        text, beside = written
        predicates.append(Predicate(text, bound.fact, note=beside))
    return predicates


def _literal_predicate(bound: _Bound, proposals: Sequence[Proposal]) -> tuple[str, str] | None:
    """A predicate of literals and the note beside it; None if another form was chosen and no
    earlier run has written this one. Raises RefusedError, and what ``resolve`` raises."""
    options = proposals[0].options
    noted: tuple[str, str] | None = None
    earlier = proposals[0].context.literals.get(
        (normalized_value(bound.fact), comparable(bound.query))
    )
    if earlier is not None and earlier.note is not None:
        # It may be that of another scan, in which the column is spelled differently.
        text = bound.fact + earlier.behind if earlier.behind else earlier.unmarked
        noted = text, earlier.note[0]
    why = _refusal(bound.query, proposals)
    if options.form != VALUES:
        return None if noted is None or why else (noted[0], keys_note(noted[1], bound.query))
    if why:
        raise RefusedError(why)
    text, at = _resolved(bound, proposals, options) or noted or ("", "")
    if not text:
        raise NotAskedError(bound.fact)
    if noted is not None and comparable(text) == comparable(noted[0]):
        text, at = noted  # the same keys: keep the time, too
    return text, keys_note(at, bound.query)


def _in_dialect(query: str, options: Options) -> str:
    """A key query in the text's dialect, for whoever looks up its keys."""
    if options.limits.dialect == SPARK:
        return query
    from sqlrewrite.dialects import dialect  # not imported for Spark's own texts

    written_in = dialect(options.limits.dialect)
    return query if written_in is None else written_in.with_quotes(written_in.from_spark(query))


def _resolved(
    bound: _Bound, proposals: Sequence[Proposal], options: Options
) -> tuple[str, str] | None:
    """The predicate with the keys that the query gives now, and the time; None if nobody can be
    asked."""
    keys = options.resolve(
        _in_dialect(bound.query, options), proposals[0].context.catalog.namespace
    )
    if keys is None:
        return None
    if _literal_kind(keys.kind) not in {
        _literal_kind(kind) for kind in _types_that_meet(proposals)
    }:
        declared = expression_type(proposals[0].plan, proposals[0].pair.key_side.expression)
        raise RefusedError(f"its keys are {keys.kind}, but {declared} according to the catalog")
    literals = keys.literals
    if not literals:
        raise RefusedError(
            "the key query gives no keys now: an empty list would hide rows that come later"
        )
    why = _read_by_a_template(literals, proposals[0].context.text.text)
    if why:
        raise RefusedError(why)
    lower = bound.sign.islower()
    if (
        is_day(proposals[0].pair.fact_side.expression)
        and type_of(proposals[0].plan, proposals[0].pair.fact) in _MOMENTS
    ):
        return _of_days(proposals[0], bound, keys), keys.at
    if bound.sign.upper() != "IN":
        return f"{bound.fact} {bound.sign} {literals[0]}", keys.at
    if keys.collapsed:
        between, joined = ("between", "and") if lower else ("BETWEEN", "AND")
        return f"{bound.fact} {between} {literals[0]} {joined} {literals[-1]}", keys.at
    return f"{bound.fact} {bound.sign} ({', '.join(literals)})", keys.at


def _read_by_a_template(literals: Sequence[str], text: str) -> str:
    """Why a program that fills in the templates of a text may change a key; empty if none may.
    Templates begin in many ways: any sign of one that stands elsewhere in the text counts."""
    signs = _SIGNS.intersection(text)
    for literal in literals if signs else ():
        for sign in sorted(signs.intersection(literal)):
            return (
                f"the key {literal} holds `{sign}`, which may be the sign of a template in the text"
            )
    return ""


def _of_days(proposal: Proposal, bound: _Bound, keys: Keys) -> str:
    """The predicate for the day of a column, by ranges: Spark turns their ends into bounds of the
    column, which it does not do for a list (``UnwrapCastInBinaryComparison``). Raises RefusedError.
    """
    more = timedelta(day_may_recur(proposal, proposal.type_of(proposal.pair.fact)))
    days = [date.fromisoformat(literal.split("'")[1]) for literal in keys.literals]
    if days[-1].year > _LAST_YEAR:
        raise RefusedError(f"{days[-1]} is a key, and so late that the day after it may not exist")
    if bound.sign.upper() != "IN":
        return f"{bound.fact} {bound.sign} {_day(days[0] + more * (bound.sign[0] == '<'))}"
    periods: list[list[date]] = []
    for day in days:
        if periods and (keys.collapsed or day - periods[-1][1] <= timedelta(1)):
            periods[-1][1] = day + more
        else:
            periods.append([day, day + more])
    if len(periods) > _MOST_PERIODS:
        periods = [[periods[0][0], periods[-1][1]]]
    lower = bound.sign.islower()
    between, both, either = ("between", "and", "or") if lower else ("BETWEEN", "AND", "OR")
    texts = (f"{bound.fact} {between} {_day(low)} {both} {_day(high)}" for low, high in periods)
    text = f" {either} ".join(texts)
    return f"({text})" if len(periods) > 1 else text


def _day(day: date) -> str:
    return f"DATE '{day.isoformat()}'"


def _refusal(query: str, proposals: Sequence[Proposal]) -> str | None:
    """Why the keys of a query must not be looked up; None if they may."""
    plan, context = proposals[0].plan, proposals[0].context
    if templated(query) or "%%" in query or _PARAMETER.search(_without_strings(query)):
        return "its query has a template or a parameter, whose value is not known here"
    if _CONTROL.search(query):
        return "its query has a line break or a control character in a string"
    if any("?" in part or has_template(part) for part in context.catalog.namespace):
        return "the current schema is not known, as a USE before it could not be read"
    kinds = {kind: _literal_kind(kind) for kind in _types_that_meet(proposals)}
    incomparable = next(
        (kind for kind, literal_kind in kinds.items() if literal_kind is None), None
    )
    if incomparable is not None:
        return f"literals of type {incomparable} may be compared in another way than the key"
    if len(set(kinds.values())) > 1:
        return f"it compares {' with '.join(sorted(kinds))}: a literal may be compared differently"
    local = [cte.name for cte in plan.ctes if _mentions(query, cte.name)]
    if local:
        return f"its query names the CTE `{local[0]}`, which only this statement has"
    read = _relations_named(plan, query)
    texts = (
        query,
        *(
            _view_text(context.catalog, relation)
            for relation in read
            if isinstance(relation, Derived)
        ),
    )
    for text in texts:
        changing = _functions_that_vary(text, "query") or set(_SPECIAL_DAY.findall(text))
        if changing:
            return f"`{min(changing)}` gives other keys on another day, with no table changed"
        zoned = _functions_that_vary(text, "zone") or _timestamps(text, read)
        if zoned:
            return f"`{min(zoned)}` may give other keys in another session's time zone"
    partial = [
        relation for relation in read if isinstance(relation, Scan) and not relation.table.complete
    ]
    if partial:
        return f"not all columns of `{partial[0].parts[-1]}` are known: one may be a timestamp"
    changed = {relation.parts[-1].lower() for relation in read} & context.changed
    if changed:
        return f"the text itself changes `{min(changed)}`, which may change the keys"
    return None


def _types_that_meet(proposals: Sequence[Proposal]) -> Iterator[str]:
    """The types that are compared: of the fact's column, as it is stored and as it is joined, and
    of the key."""
    for proposal in proposals:
        pair = proposal.pair
        if pair.derived is not None:
            yield str(pair.derived.type or "unknown")
            continue
        sides = [pair.fact_side.expression, pair.key_side.expression]
        if pair.fact_plain:
            sides += [pair.stored, pair.fact]
        for side in sides:
            yield expression_type(proposal.plan, side) or "unknown"


def _literal_kind(name: str) -> str | None:
    """The kind of types whose values compare with a literal just as with each other: any integers;
    decimals of one scale (others may be rounded first); dates; strings, without CHAR and VARCHAR,
    which are padded. None for any other type."""
    if name in _INTEGERS:
        return "integer"
    decimal = _DECIMAL.fullmatch(name)
    if decimal is not None:
        return f"decimal of scale {decimal[1]}"
    return name if name in ("date", "string") else None


def _relations_named(plan: Plan, query: str) -> list[Scan | Derived]:
    """The tables and views of the statement that a query names, and those inside of the views."""
    read: list[Scan | Derived] = []
    for relation in plan.relations.values():
        if not isinstance(relation, Scan | Derived) or not relation.parts:
            continue
        if _mentions(query, relation.parts[-1]):
            read.append(relation)
            if isinstance(relation, Derived):
                inside = read_by(plan, relation.query)
                read += [
                    inner for inner in inside if isinstance(inner, Scan | Derived) and inner.parts
                ]
    return read


def _mentions(text: str, name: str) -> bool:
    """Whether a name stands in a text, as a whole word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _unqualified_words(text: str) -> set[str]:
    """The words of a text, in lower case, without those behind a dot."""
    words = _UNQUALIFIED.findall(_without_strings(text).replace("`", ""))
    return {word.lower() for word in words}


def _functions_that_vary(text: str, within: str) -> set[str]:
    """The functions in a text that give the same value only ``within`` a query, or a time zone."""
    rows = {name: function(name) for name in _unqualified_words(text)}
    return {name for name, row in rows.items() if row is not None and row.again == within}


def _without_strings(text: str) -> str:
    """A text with its strings empty; unchanged if a backslash makes it unsure where one ends."""
    return text if "\\" in text else _STRING.sub("''", text)


def _timestamps(text: str, read: Sequence[Scan | Derived]) -> set[str]:
    """The columns that a text names and that hold a timestamp, or may."""
    text = _without_strings(text)
    return {
        column.name.lower()
        for table in (scan.table for scan in read if isinstance(scan, Scan))
        for column in table.columns
        if (column.type is None or "timestamp" in column.type) and _mentions(text, column.name)
    }


def _view_text(catalog: Warehouse, view: Derived) -> str:
    """The text of a view."""
    relation = catalog.relations[view.view]
    assert isinstance(relation, View)
    return relation.query


def write_constants(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """``p IN (1, 2)``, the constants that the author's own condition compares the key with; none
    where anything else is asked of the dimension."""
    if len(proposals) > 1:
        return []
    lists: set[str] = set()
    proposal, author = proposals[0], queries.author
    for item in proposal.restrictions:
        if not isinstance(item, Conjunct) or not _is_constant(proposal, item.expression):
            return []
        if proposal.pair.fact.relation in item.condition.relations:
            return []  # the fact's own condition needs no repetition
        lists.add(_constants(author.places, item.condition.expression))
    if len(lists) != 1:
        return []
    value = fact_value(proposal, author)
    return [Predicate(f"{value} {author.word('IN')} ({lists.pop()})", value)]


def _constants(places: Places, condition: Expression) -> str:
    """The text right of ``=``, or in the parentheses of IN."""
    _, *values = operands(condition)
    return places.copy(Span(places.span(values[0]).start, places.span(values[-1]).end))


def _is_constant(proposal: Proposal, expression: Expression) -> bool:
    """Whether a condition compares the key alone with constants, and IN compares the fact with them
    in the same way: ``k = 5``, ``k IN (1, 2)``."""
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
            return name == "in" or all(
                kind is not None and compare_alike(fact, kind) for kind in kinds
            )
        case _:
            return False
