"""A query without its conditions on totals: what is left restricts by joins and plain columns.

In: a query of ``probes``. Out: the same without its HAVING and QUALIFY, and without the conjuncts
of its WHEREs that ask something of a computed value: of an aggregate or a window function in a
query below, or of a scalar subquery over a fact. Which rows such a condition keeps is known only
when the facts have been read, so no predicate on a partition column can follow it. An equality
between two relations stays: that is a join, whatever it compares.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from benchmarks.probes import CARRIED


def joins_only(query: exp.Query, facts: Collection[str]) -> exp.Query:
    """The query without its conditions on totals; ``facts`` are the names of the fact tables."""
    query = query.copy()
    totals = _totals(query)
    for clause in list(query.find_all(exp.Having, exp.Qualify)):
        if not _carries(clause):
            clause.pop()
    for where in list(query.find_all(exp.Where)):
        condition = where.this
        conjuncts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
        kept = [it for it in conjuncts if not _asks_of_totals(it, totals, facts)]
        if kept:
            where.set("this", exp.and_(*kept))
        else:
            where.pop()
    return query


def _carries(clause: exp.Expr) -> bool:
    """Whether it belongs to the probe: ``max(__other) = 1`` and the like stand for INTERSECT."""
    return any(column.name.startswith("__") for column in clause.find_all(exp.Column))


def _totals(query: exp.Query) -> set[str]:
    """The names of outputs that are computed from many rows, whatever they are called later on."""
    named = [
        (it.alias.lower(), it.this)
        for select in query.find_all(exp.Select)
        for it in select.expressions
        if isinstance(it, exp.Alias) and it.alias != CARRIED
    ]
    found: set[str] = set()
    while True:
        more = {name for name, value in named if _is_total(value, found)} - found
        if not more:
            return found
        found |= more


def _is_total(value: exp.Expr, totals: Collection[str]) -> bool:
    return any(
        isinstance(node, (exp.AggFunc, exp.Window))
        or (isinstance(node, exp.Column) and node.name.lower() in totals)
        for node in value.walk(prune=lambda it: isinstance(it, exp.Query))
    )


def _asks_of_totals(conjunct: exp.Expr, totals: Collection[str], facts: Collection[str]) -> bool:
    match conjunct:
        case exp.EQ():
            sides = [
                {column.table for column in side.find_all(exp.Column)}
                for side in (conjunct.this, conjunct.expression)
            ]
            if all(sides) and sides[0] != sides[1] and not conjunct.find(exp.Query):
                return False
    return any(
        (isinstance(node, exp.Column) and node.name.lower() in totals)
        or (isinstance(node, exp.Subquery) and _is_value_of(node, facts))
        for node in conjunct.walk(prune=lambda it: isinstance(it, exp.Query))
    )


def _is_value_of(subquery: exp.Subquery, facts: Collection[str]) -> bool:
    """Whether it is a scalar subquery, not that of an IN, and reads a fact."""
    tables = {table.name.lower() for table in subquery.find_all(exp.Table)}
    return not isinstance(subquery.parent, exp.In) and not tables.isdisjoint(facts)
