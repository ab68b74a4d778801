"""The predicates of the cases that share one, each in its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlrewrite.judge.case import Case
from sqlrewrite.judge.form import chosen
from sqlrewrite.plan.relations import joins
from sqlrewrite.settings.forms import FILTERED, IN, RANGE, RANKED, SET, SINGLE, VALUES
from sqlrewrite.settings.options import NotAskedError
from sqlrewrite.sql.places.anchors import AnchorError, Anchors
from sqlrewrite.text.limits import SPARK
from sqlrewrite.write.fact import fact
from sqlrewrite.write.forms import collected, ends, filtered, ranked, semi_join, single, values
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries, Writer
from sqlrewrite.write.names import Style

FORMS: Mapping[str, Callable[[Sequence[Case], KeyQueries], list[Predicate]]] = {
    IN: semi_join.write,
    SET: collected.write,
    RANGE: ends.write,
    SINGLE: single.write,
    RANKED: ranked.write,
    FILTERED: filtered.write,
}
"""The forms that need no keys at hand. ``values`` may write none, and another form stands in."""


def write(
    cases: Sequence[Case],
    anchors: Anchors,
    style: Style,
    words: frozenset[str],
    *,
    union: bool = False,
) -> list[Predicate]:
    """The predicates for a case, each on one line, without their markers.

    Several cases are the columns of a tuple, with one dimension and ``in`` as their form; or, with
    ``union``, what each of several references allows one column to be. ``words`` are those of the
    statement, in lower case. Raises AnchorError where a part of a predicate cannot be found in it.
    """
    first = cases[0]
    if not union:
        cases = _distinct(cases, anchors, style, words)
    constants = values.constants(first, anchors) if len(cases) == 1 else None
    if constants is not None:
        said = f"{fact(first, anchors, style)} {style.word('IN')} ({constants})"
        return _in_dialect([Predicate(said)], first)
    form = chosen(first)
    queries = KeyQueries(anchors, style, words, union)
    if form == VALUES or (first.around.noted and not first.pair.filtered):
        found = values.write(cases, queries)
        if found:
            return _in_dialect(found, first)
    if first.pair.tie.block.role == "merge":  # whose ON takes no subquery
        raise NotAskedError(fact(first, anchors, style))
    return _in_dialect(FORMS[form](cases, queries), first)


def _in_dialect(found: list[Predicate], case: Case) -> list[Predicate]:
    """The predicates, where the dialect of the text has words for them. Raises AnchorError."""
    name, pair = case.options.limits.dialect, case.pair
    if name == SPARK:
        return found
    if pair.derived is not None:
        raise AnchorError(f"what {pair.pruned} is computed from is said in Spark's words")
    from sqlrewrite.dialects import dialect  # Spark's own texts do without this import

    written_in = dialect(name)
    assert written_in is not None
    merged = {it for join in joins(case.target_block.source) for it in join.using}
    if not written_in.qualifies_merged and pair.target_column in merged:
        raise AnchorError(f"{pair.target_column}, which USING merges, has no table there")
    for why in filter(None, (written_in.why_unwritable(it.text) for it in found)):
        raise AnchorError(why)
    quoted = written_in.with_quotes
    return [
        replace(it, text=quoted(it.text), queries=tuple(map(quoted, it.queries))) for it in found
    ]


def _distinct(
    cases: Sequence[Case], anchors: Anchors, style: Style, words: frozenset[str]
) -> Sequence[Case]:
    """The cases without those that say the same as one before: an equality that is written twice,
    an expression over two partition columns, a column that a view reads in two places."""
    if len(cases) == 1:
        return cases
    writer = Writer(anchors, style, words)
    found: dict[tuple[str, str], Case] = {}
    for case in cases:
        key = writer.value(case.pair.key_side, case)("")
        found.setdefault((fact(case, anchors, style), key), case)
    return list(found.values())
