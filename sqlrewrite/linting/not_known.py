"""Scans of which it is not known that they read all partitions, or that read nothing but these, or
nothing at all.

A condition that is not understood may bound a scan: a variable or template that stands for a whole
condition or for a column, a name that the catalog cannot place, a column of a derived table whose
columns are not known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from sqlrewrite.linting.findings import Finding
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    CteReference,
    Derived,
    Expression,
    Parameter,
    Plan,
    Scan,
    Unknown,
)
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.nulls import rejects_null
from sqlrewrite.plan.relations import conditions_of, readers
from sqlrewrite.warehouse import Table, Warehouse

_LATER = re.compile(
    r"\{\{-?\s*config\s*\([^{}]*\bmaterialized\s*=\s*['\"](?:view|ephemeral)['\"]", re.DOTALL
)
_ENDS = frozenset({"max", "min"})


def is_view(text: str) -> bool:
    """Whether a text is a dbt model that is no table: how much is read depends on its readers."""
    return "materialized" in text and _LATER.search(text) is not None


def is_view_model(path: str, catalog: Warehouse) -> bool:
    """Whether a file is a model of a dbt project that is no table by the project's configuration
    (``+materialized: view``)."""
    name = catalog.references.get(("ref", os.path.splitext(os.path.basename(path))[0]))
    return name is not None and not isinstance(catalog.resolve(name), Table)


def of_file(path: str, catalog: Warehouse, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of a file, without DPP007 where it is such a model."""
    view = is_view_model(path, catalog)
    return tuple(it for it in found if not (view and it.code == "DPP007"))


def reads_keys_alone(plan: Plan, scan: Scan, names: frozenset[str]) -> bool:
    """Whether a query reads no column but those that partition the table, and counts no rows, as
    the search for the latest partition does, or just its first rows."""
    block = plan.blocks[plan.owner[scan.relation]]
    if block.limit is not None and block.source is scan and _first_rows(block):
        return True
    if block.source is not scan or not (block.aggregate or block.distinct) or not block.outputs:
        return False
    values = [it.expression for it in (*block.where, *block.having)] + [*block.keys]
    latest = block.role == "scalar" and block.functions & _ENDS
    if not (latest and any(_unknown(it.expression) for it in block.outputs)):
        values += [it.expression for it in block.outputs]  # else of an output that nothing asks for
    used = [{ref.name for ref in columns(it)} for it in values]
    return all(it and it <= names for it in used) and not block.functions & tagged("counting")


def _unknown(expression: Expression) -> bool:
    return any(isinstance(node, Unknown) for node in walk(expression))


def reads_nothing(plan: Plan, scan: Scan) -> bool:
    """Whether a condition that never holds stands above a scan, as in ``CREATE TABLE t AS SELECT *
    FROM s WHERE 1 = 0``: Spark then reads no file."""
    edge, seen = [plan.owner[scan.relation]], set[int]()
    while edge:
        block = plan.blocks[edge.pop()]
        if any(rejects_null(it.expression, frozenset()) for it in block.where):
            continue
        above = {plan.owner[it] for it in readers(plan, block.number) or ()}
        if not above or block.number in seen:
            return False
        seen.add(block.number)
        edge += above
    return True


def _first_rows(block: Block) -> bool:
    """Whether a LIMIT stops the read of a table: nothing above it needs more rows."""
    assert block.limit is not None
    more = block.aggregate or block.distinct or block.where or block.order or block.limit.order
    return not more and "over" not in block.functions


def may_be_bounded(plan: Plan, scan: Scan, names: frozenset[str]) -> bool:
    """Whether a condition that is not understood, or that stands where the scan's columns cannot be
    followed to, may bound a scan."""
    return any(
        _not_known(it, relation, names)
        for block, relation in _around(plan, scan)
        for it in (condition.expression for condition in conditions_of(block))
    )


def _around(plan: Plan, scan: Scan) -> Iterator[tuple[Block, int | None]]:
    """The block of a scan, and those that read its rows, each with the relation in it whose columns
    are not all known."""
    edge: list[tuple[int, int | None]] = [(plan.owner[scan.relation], None)]
    seen: set[int] = set()
    while edge:
        number, relation = edge.pop()
        yield plan.blocks[number], relation
        for reader in readers(plan, number) or ():
            item = plan.relations[reader]
            if reader in seen or not isinstance(item, Derived | CteReference):
                continue
            seen.add(reader)
            hidden = reader if item.query.names is None else None
            edge.append((plan.owner[reader], hidden))


def _not_known(expression: Expression, hidden: int | None, names: frozenset[str]) -> bool:
    match expression:
        case Call(name="and" | "or" | "not", args=args):
            return any(_not_known(arg, hidden, names) for arg in args)
        case Call(args=args) if args:
            refs = columns(expression)
            if any(ref.relation == hidden and ref.name in names for ref in refs):
                return True
            return _unknown(expression) or (not refs and any(map(_is_template, args)))
        case _:
            return _is_template(expression)


def _is_template(expression: Expression) -> bool:
    """Whether a variable or template stands for the whole of it."""
    match expression:
        case Parameter() | Unknown():
            return True
        case Call(name=name, args=()):
            return name.startswith(("{", "$", ":", "@"))
        case _:
            return False
