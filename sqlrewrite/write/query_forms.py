"""The forms of a predicate that hold a key query, and those of filters, ranks and the constants in
the source of a MERGE, a function each.

In: proposals that passed. Out: each ``Predicate``. What a form looks like is its row of
``settings.forms``; ``predicates.py`` has the table of the functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlrewrite.copies import replace
from sqlrewrite.find.derived_columns import THROUGH
from sqlrewrite.find.restrictions import columns_named
from sqlrewrite.judge.benefit.already_pruned import is_authors_in
from sqlrewrite.judge.benefit.keys import repeats_keys
from sqlrewrite.judge.form import any_value
from sqlrewrite.judge.proposal import Predicate, Proposal
from sqlrewrite.judge.soundness.dimension import in_sides
from sqlrewrite.judge.soundness.filters import compared_type, constants, read_constant, within_years
from sqlrewrite.plan.algebra import Call, Cast, Expression, Literal, Scan, Subquery
from sqlrewrite.plan.expressions import walk
from sqlrewrite.sql.bind.formulas import is_call
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.write.derived_values import (
    checked_bound,
    derived_value,
    or_stray_rows,
    smaller_units_of,
    unit_bound,
)
from sqlrewrite.write.fact_values import disjunction, fact_value, fact_values
from sqlrewrite.write.key_queries import KeyQueries
from sqlrewrite.write.repeated_text import AuthorText


def write_in(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """``p IN (SELECT a.k FROM dim AS a WHERE …)``, a semi-join, also of several columns as a tuple.
    Spark prunes by it with its own dynamic pruning."""
    first = proposals[0]
    bounded = proposals[:1] if queries.union else proposals
    named = [
        in_sides(proposal)[0].replace("{}", fact_value(proposal, queries.author))
        for proposal in bounded
    ]
    columns = named[0] if len(named) == 1 else f"({', '.join(named)})"
    query = queries.over(proposals, hint=first.options.hint, distinct=repeats_keys(first))
    return [Predicate(f"{columns} {queries.author.word('IN')} {query}", columns, (query,))]


def write_set(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """``array_contains((SELECT collect_set(a.k) FROM dim AS a WHERE …), p)``: a filter of the scan
    itself, which prunes without the engine's dynamic pruning."""
    query = queries.whole(proposals, "collect_set({})")
    bounded = fact_values(proposals[0], queries.author)
    text = disjunction(queries.author, [f"array_contains({query}, {value})" for value in bounded])
    text = or_stray_rows(proposals[0], queries.author, bounded[0], text)
    return [Predicate(text, bounded[0], (query,))]


def write_single(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """``p = (SELECT a.m FROM (SELECT max(p) AS m FROM fact) AS a)``: one key, looked up before the
    scan, which prunes by it everywhere. For an author's IN, the query is the author's own
    subquery."""
    first = proposals[0]
    bounded = fact_value(first, queries.author)
    query = queries.whole(proposals[:1])
    return [Predicate(f"{bounded} {first.pair.operator} {query}", bounded, (query,))]


def write_hinted(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """``p IN (SELECT /*+ BROADCAST(q) */ q.k FROM (SELECT max(p) …) AS q(k) WHERE q.k <= 0 OR q.k
    >= 0)``: Spark prunes Iceberg's files by an IN whose query it broadcasts and counts as filtered.
    The filter holds for every key but NULL, and Spark does not simplify it."""
    first, word = proposals[0], queries.author.word
    bounded, value = fact_value(first, queries.author), any_value(first)
    alias, key = queries.unused("q"), queries.unused("k")
    named, keys = f"{alias}.{key}", queries.whole(proposals if queries.union else proposals[:1])
    query = (
        f"({word('SELECT')} /*+ {word('BROADCAST')}({alias}) */ {named} {word('FROM')} "
        f"{keys} {word('AS')} {alias}({key}) {word('WHERE')} "
        f"{named} <= {value} {word('OR')} {named} >= {value})"
    )
    return [Predicate(f"{bounded} {word('IN')} {query}", bounded, (query,))]


END = {">": "min({})", "<": "max({})"}
"""The key that bounds a fact: the smallest if the fact must be above (``>``) some key, the largest
if it must be below."""

LARGEST_OF_ALL = "array_max(collect_set({}))"
"""The largest key by another aggregate than ``max``, which Spark does not merge with ``min``."""


def write_range(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """``p >= (SELECT min(a.k) …)`` and ``p <= (SELECT max(a.k) …)``; of a join by ``<`` or ``>=``
    the one end that bounds the fact.

    Where rows are clustered by the column, Spark pushes a scalar subquery down to the row groups,
    but not the two ends once it has merged their queries (``MergeSubplans``): the second end is
    asked for in another way (docs/spark.md, "Files and row groups").
    """
    first, author, operator = proposals[0], queries.author, proposals[0].pair.operator
    value, derived = fact_value(first, author), first.pair.derived is not None
    by_units = derived and len(proposals) == 1 and bool(smaller_units_of(first))
    predicates: list[Predicate] = []
    for sign in (">=", "<=") if operator in ("=", "<=>") else (operator,):
        if sign[0] == "<" and first.clustered:
            query = _unmerged_query(proposals, queries)
        elif by_units:
            key = replace(first, pair=replace(first.pair, derived=None))
            query = queries.over([key], END[sign[0]])
        else:
            query = queries.over(proposals, END[sign[0]], end=sign[0])
        if by_units:
            text = unit_bound(first, author, value, sign[0], query)
        else:
            # One value of a derived column may be that of keys on either side.
            text = f"{value} {sign[0]}= {query}" if derived else f"{value} {sign} {query}"
            text = or_stray_rows(first, author, value, text, sign[0])
        predicates.append(Predicate(text, value, (query,)))
    return predicates


def _unmerged_query(proposals: Sequence[Proposal], queries: KeyQueries) -> str:
    """The query for the largest key that Spark does not merge with that for the smallest."""
    if len(proposals) == 1 and _may_be_null(proposals[0]):
        return queries.over(proposals, END["<"], not_null=True)
    return queries.over(proposals, LARGEST_OF_ALL)


def _may_be_null(proposal: Proposal) -> bool:
    """Whether the key query must exclude NULL keys: Spark does so by itself for a column that is
    declared NOT NULL, or that a condition names. Beside an author's IN both queries ask for keys
    that are not NULL."""
    pair = proposal.pair
    if not isinstance(pair.dimension, Scan) or not pair.key_plain or is_authors_in(pair):
        return False
    column = pair.dimension.table.column(pair.key.name)
    named = {ref.name for ref in columns_named(proposal.restrictions)}
    return column is not None and column.nullable and pair.key.name not in named


_FIRST = {">=": "max({})", "<=": "min({})"}
_LAST = {
    ">=": "array_min(slice(sort_array(collect_set({}), false), 1, %d))",
    "<=": "array_max(slice(sort_array(collect_set({})), 1, %d))",
}
"""The aggregate for the last of the first few values, by the operator that compares with it; NULL
is none of them."""


def write_ranked(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """``(p >= (SELECT max(a.p) FROM fact AS a WHERE …) OR p IS NULL)``: the first partition among
    the ranked rows, or the first few (docs/soundness.md, "The latest partition")."""
    pair, word = proposals[0].pair, queries.author.word
    column = fact_value(proposals[0], queries.author)
    aggregate = _FIRST[pair.operator] if pair.first == 1 else _LAST[pair.operator] % pair.first
    query = queries.over(proposals, aggregate)
    text = f"({column} {pair.operator} {query} {word('OR')} {column} {word('IS NULL')})"
    return [Predicate(text, column, (query,))]


def write_filtered(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The predicates of one comparison with constants: one, or one for either end."""
    proposal, author = proposals[0], queries.author
    columns, bound = fact_values(proposal, author), checked_bound(proposal)
    texts = _constant_texts(proposal, author)
    operator = proposal.pair.operator
    if operator in ("=", "in"):
        if bound.ranged and len(texts) > 1:
            raise NoPlaceError("the IN has several values, of which each needs a range of days")
        ends = (">", "<") if bound.ranged else ("",)
    else:
        ends = (operator[0],)
    subqueries = (
        ()
        if proposal.pair.key_side.operand is None
        else tuple(_subqueries(proposal, author.places))
    )
    return [
        Predicate(
            disjunction(
                author,
                [_predicate_text(proposal, author, column, texts, end) for column in columns],
            ),
            columns[0],
            subqueries,
        )
        for end in ends
    ]


def _subqueries(proposal: Proposal, places: Places) -> Iterator[str]:
    """The outermost subqueries in the constants that the column is compared with."""
    if not any(isinstance(node, Subquery) for one in constants(proposal) for node in walk(one)):
        return
    for constant in constants(proposal):
        yield from map(places.copy, places.subqueries(places.span(constant)))


def _predicate_text(
    proposal: Proposal,
    author: AuthorText,
    column: str,
    texts: Sequence[tuple[Expression, str]],
    end: str,
) -> str:
    in_range = all(within_years(constant) for constant, _ in texts)
    if end:
        moment = _compared_moment(proposal, *texts[0], end)
        if smaller_units_of(proposal):
            return unit_bound(proposal, author, column, end, moment, in_range=in_range)
        bound = _as_call(
            proposal, author, derived_value(proposal, author, moment, end, in_range=in_range)
        )
        return or_stray_rows(
            proposal, author, column, f"{column} {end}= {bound}", end, in_range=in_range
        )
    apart = checked_bound(proposal).days
    days = [str(day) for day in range(-apart, apart + 1)]
    every = (derived_value(proposal, author, text, day=day) for _, text in texts for day in days)
    values = list(dict.fromkeys(every))
    predicate = f"{column} {author.word('IN')} ({', '.join(values)})"
    if len(values) == 1:
        predicate = f"{column} = {_as_call(proposal, author, values[0])}"
    return or_stray_rows(proposal, author, column, predicate)


def _as_call(proposal: Proposal, author: AuthorText, bound: str) -> str:
    """A bound as a call, by which a later run recognises that it is ours."""
    derived = proposal.pair.derived
    kind = derived.type if derived is not None else None
    kind = compared_type(proposal) if checked_bound(proposal).step == THROUGH else kind
    if is_call(bound) or kind is None:
        return bound
    return author.word(f"CAST({{}} AS {kind.ddl.upper()})").replace("{}", bound)


def _compared_moment(proposal: Proposal, constant: Expression, text: str, end: str) -> str:
    side = compared_type(proposal)
    read = None if side is None else read_constant(proposal, constant, side)
    return f"date_add({text}, 1)" if read is not None and read.later and end == "<" else text


def _constant_texts(proposal: Proposal, author: AuthorText) -> list[tuple[Expression, str]]:
    """The constants, each with its text as a value of the type that it is compared as."""
    pair, side = proposal.pair, compared_type(proposal)
    if pair.key_side.operand is None:  # the bound that follows from the condition: a day or a text
        end = pair.key_side.expression
        assert isinstance(end, Literal)
        typed = author.word("DATE") + " " if end.type == "date" else ""
        return [(end, f"{typed}'{end.text}'")]
    texts: list[tuple[Expression, str]] = []
    for constant in constants(proposal):
        read = None if side is None else read_constant(proposal, constant, side)
        if read is None:
            raise NoPlaceError("a constant of a type that is not known")
        text = author.places.copy(author.places.span(constant))
        if read.cast:
            text = author.word(read.cast.upper()).replace("{}", text)
        texts.append((constant, text))
    return texts


_ALONE = re.compile(
    r"\d+|(?:DATE|TIMESTAMP)?\s*'[^'\\]*'|:\w+|\{\{[^{}]*\}\}|\$\{[^{}]*\}", re.IGNORECASE
)
"""Literals, parameters and templates, which need no parentheses to be found again."""

_CALL = re.compile(r"\w+\s*\(")

_NOT_PLAIN = frozenset("'\\\n\r{}$%")
"""A string with one of these characters is not written anew: quotes, escapes, templates."""


def write_bounds(proposal: Proposal, author: AuthorText) -> list[Predicate]:
    """A predicate for each bound of the keys, the constants in the author's own spelling. Raises
    NoPlaceError for one that has no text in the statement and is no plain literal."""
    value = fact_value(proposal, author)
    predicates: dict[str, Predicate] = {}
    for bound in proposal.pair.bounds:
        texts = list(dict.fromkeys(_text(constant, author) for constant in bound.constants))
        if bound.operator != "in":
            compared = f"{bound.operator} {texts[0]}"
        elif len(texts) == 1:
            compared = f"= {texts[0]}"
        else:
            compared = f"{author.word('IN')} ({', '.join(texts)})"
        predicates.setdefault(compared, Predicate(f"{value} {compared}", value))
    return list(predicates.values())


def _text(constant: Expression, author: AuthorText) -> str:
    """A constant as the author wrote it, in parentheses where it is more than one operand. A plain
    literal that is not in the text, as from a view, is written anew."""
    try:
        text = author.places.copy(author.places.bare(constant))
    except NoPlaceError:
        text = _literal(constant)
    return text if _ALONE.fullmatch(text) or _is_call(constant, text) else f"({text})"


def _is_call(constant: Expression, text: str) -> bool:
    """Whether a text is one call of a function, and ends with its parenthesis."""
    called = isinstance(constant, Cast) or (
        isinstance(constant, Call) and constant.name.isidentifier()
    )
    return called and _CALL.match(text) is not None and text.endswith(")")


def _literal(constant: Expression) -> str:
    """A literal written anew. Raises NoPlaceError for one that is not plain."""
    match constant:
        case Literal(kind="number", text=text):
            return text
        case Literal(kind="string", text=text) if _NOT_PLAIN.isdisjoint(text):
            return f"'{text}'"
        case Literal(kind="typed", type="date", text=text) if _NOT_PLAIN.isdisjoint(text):
            return f"DATE '{text}'"
        case _:
            raise NoPlaceError("the constant is in a view, and no plain literal")
