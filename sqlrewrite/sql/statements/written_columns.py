"""The partition columns that a statement computes from another column of the table that it writes.

In: a statement and the catalog. Out: a ``Write`` for each table that it writes, with the formulas
of the partition columns, over the table's own columns; without those that are not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from sqlglot import exp

from sqlrewrite.plan.algebra import ColumnRef, CteReference, Derived, Expression, Plan, Project
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import canonical, columns
from sqlrewrite.plan.facts.derivations import shape
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.sql.bind.binder import Bound, bind
from sqlrewrite.sql.bind.formulas import Formula, formula
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.warehouse import Column, Table, Warehouse, quoted

TARGET = re.compile(
    r"\b(?:into|overwrite|table|update)\s+(?:(?:table|if|not|exists)\s+)*"
    r"((?:\{\{[^{}]*\}\}|[^\s(;,])+)",
    re.IGNORECASE,
)
"""The name of a table that a statement may write, with templates in it."""
_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[^\W\d]\w*")
_LEAVE = frozenset("drop truncate create analyze refresh msck cache use".split())
"""The first words of statements that write no rows into an existing table."""

Formulas = Mapping[str, Formula]
"""The formulas of a table's partition columns, by the columns' names."""


class Write(Struct, frozen=True):
    """A statement that writes a table, with the formulas of the partition columns that it computes;
    ``changes`` are the columns that it writes, None for all."""

    table: Table
    formulas: Formulas
    where: str
    changes: frozenset[str] | None = None


def writes_of(
    statement: Statement, text: str, catalog: Warehouse, where: str, model: Table | None = None
) -> Iterator[Write]:
    """The tables that a statement writes; ``where`` is its place, for people. ``model`` is the
    table that dbt fills by a query, each column by the query's column of the same name."""
    if model is not None and (statement.tree is None or isinstance(statement.tree, exp.Query)):
        yield Write(model, _of_model(statement, text, catalog, model), where)
        return
    try:
        yield from _of_statement(statement, text, catalog, where)
    except RecursionError:
        yield from _unread(statement, text, catalog, where)


def _of_statement(
    statement: Statement, text: str, catalog: Warehouse, where: str
) -> Iterator[Write]:
    tree = statement.tree
    match tree:
        case exp.Query():
            return
        case exp.Insert(this=exp.Table() | exp.Schema()):
            table = _table(tree.find(exp.Table), catalog)
            if table is not None:
                yield Write(table, _of_insert(tree, statement, text, catalog, table), where)
        case exp.Create() if tree.kind == "TABLE":
            table = _table(tree.find(exp.Table), catalog)
            if table is not None and isinstance(tree.expression, exp.Query):
                bound = bind(tree, text, catalog, whole=True)
                yield Write(table, _of_query(bound, statement, text, table, None), where)
        case exp.Create() | exp.Delete():
            return
        case exp.Merge(this=exp.Table()) if tree.args.get("whens") is not None:
            table = _table(tree.this, catalog)
            if table is not None:
                yield from _of_merge(tree, statement, text, catalog, table, where)
        case exp.Update(this=exp.Table()):
            table = _table(tree.this, catalog)
            if table is not None:
                yield Write(table, {}, where, _set_columns(tree))
        case _:
            yield from _unread(statement, text, catalog, where)


def _of_model(statement: Statement, text: str, catalog: Warehouse, model: Table) -> Formulas:
    """The formulas of a model's query; none if it cannot be read."""
    if statement.tree is None or statement.failure is not None:
        return {}
    try:
        bound = bind(statement.tree, text, catalog, whole=True)
        return _of_query(bound, statement, text, model, None)
    except RecursionError:
        return {}


def _unread(statement: Statement, text: str, catalog: Warehouse, where: str) -> Iterator[Write]:
    """The tables that a statement which is not understood may write: all that it names as a
    target."""
    words = [token.text.lower() for token in statement.tokens[:3]]
    end = statement.tokens[-1].end + 1
    if words[0] == "alter" and "location" not in text[statement.start : end].lower():
        return
    if words[0] in _LEAVE:
        return
    for match in TARGET.finditer(text, statement.start, end):
        for word in _WORD.findall(match[1].lower())[-1:]:
            for name in catalog.relations.named(word):
                relation = catalog.relations[name]
                if isinstance(relation, Table):
                    yield Write(relation, {}, where)


def _table(tree: exp.Expr | None, catalog: Warehouse) -> Table | None:
    """The table that a statement writes, if its columns are known."""
    if not isinstance(tree, exp.Table):
        return None
    relation = catalog.resolve(tuple(part.name for part in tree.parts))
    return relation if isinstance(relation, Table) and relation.names else None


def _set_columns(tree: exp.Expr) -> frozenset[str] | None:
    """The columns that an UPDATE sets, in lower case; None if unknown."""
    names = [pair.this.name.lower() for pair in tree.expressions if isinstance(pair, exp.EQ)]
    return frozenset(names) if names and len(names) == len(tree.expressions) else None


def _of_insert(
    tree: exp.Insert, statement: Statement, text: str, catalog: Warehouse, table: Table
) -> Formulas:
    if not isinstance(tree.expression, exp.Query) or isinstance(tree.expression, exp.Values):
        return {}
    names: list[str] | None = list(table.names)
    partition = tree.this.find(exp.Partition)
    fixed = [] if partition is None else partition.expressions
    constants = {item.this.name.lower() for item in fixed if isinstance(item, exp.EQ)}
    if tree.args.get("by_name"):
        names = None
    elif isinstance(tree.this, exp.Schema):
        if partition is not None:
            return {}
        names = [column.name.lower() for column in tree.this.expressions]
    else:
        names = [name for name in table.names if name not in constants]
    bound = bind(tree, text, catalog, whole=True)
    return _of_query(bound, statement, text, table, names)


def _of_merge(
    tree: exp.Merge,
    statement: Statement,
    text: str,
    catalog: Warehouse,
    table: Table,
    where: str,
) -> Iterator[Write]:
    """The writes of a MERGE, one for each WHEN: its values as columns of a query of the source."""
    for when in tree.args["whens"].expressions:
        then = when.args.get("then")
        values: Sequence[exp.Expr] = [exp.Star()]
        names: list[str] | None = None
        changes = None
        if isinstance(then, exp.Insert) and isinstance(then.this, exp.Tuple):
            names = [column.name.lower() for column in then.this.expressions]
            values = then.expression.expressions if then.expression is not None else []
        elif isinstance(then, exp.Update) and not then.find(exp.Star):
            changes = _set_columns(then)
            pairs = [pair for pair in then.expressions if isinstance(pair, exp.EQ)]
            names = [pair.this.name.lower() for pair in pairs]
            values = [pair.expression for pair in pairs]
        elif not isinstance(then, exp.Insert | exp.Update):
            continue  # DELETE
        source = exp.From(this=tree.args["using"].copy())
        query = exp.Select(expressions=[value.copy() for value in values], from_=source)
        if (with_ := tree.args.get("with_")) is not None:
            query.set("with_", with_.copy())
        bound = bind(query, text, catalog, whole=True)
        yield Write(table, _of_query(bound, statement, text, table, names), where, changes)


def _of_query(
    bound: Bound | None,
    statement: Statement,
    text: str,
    table: Table,
    names: Sequence[str] | None,
) -> Formulas:
    """The formulas of the partition columns whose values a query gives. ``names``: the table's
    columns that the query's columns fill, in this order; None if they have the same names."""
    if bound is None or not bound.plan.query.top:
        return {}
    places = Places(text, statement.tokens, bound)
    formulas: dict[str, Formula] = {}
    for at, number in enumerate(bound.plan.query.top):
        block = bound.plan.blocks[number]
        outputs = [output.expression for output in block.outputs]
        own = names or [output.name.lower() for output in block.outputs]
        if at and names is None:  # the names of a union are those of its first query
            return {}
        if not block.complete or len(outputs) != len(own) or block.aggregate == "grouping sets":
            return {}
        here = {
            column: read
            for column in table.identities
            if column in own
            and (read := _formula(bound.plan, places, table, own, outputs, column)) is not None
        }
        if not at:
            formulas = here
        formulas = {
            column: of
            for column, of in formulas.items()
            if column in here and canonical(here[column].expression) == canonical(of.expression)
        }
    return formulas


def _formula(
    plan: Plan,
    places: Places,
    table: Table,
    names: Sequence[str],
    outputs: Sequence[Expression | None],
    column: str,
) -> Formula | None:
    """The formula by which one of a query's columns follows from another; None if it does not."""
    values, at = list(outputs), names.index(column)
    while isinstance(ref := values[at], ColumnRef):  # computed in a derived table or a CTE
        below = _columns_below(plan, ref)
        if below is None:
            return None
        values = [
            below.get(value.name)
            if isinstance(value, ColumnRef) and value.relation == ref.relation
            else None
            for value in values
        ]
    value = values[at]
    refs = () if value is None else columns(value)
    if value is None or len({(ref.relation, ref.name) for ref in refs}) != 1:
        return None
    for name, other in zip(names, values, strict=True):
        if isinstance(other, ColumnRef) and name not in table.identities:
            if (other.relation, other.name) != (refs[0].relation, refs[0].name):
                continue
            if _stored_as(plan, other, table.column(name)):
                text = _written(plan, places, value, refs, name, table.column(column))
                read = "" if text is None else formula(text, table)
                if isinstance(read, Formula) and read.source == name and _steady(read):
                    return read
    return None


def _columns_below(plan: Plan, ref: ColumnRef) -> Mapping[str, Expression] | None:
    """The expressions of all columns, by name, of the derived table or CTE that a column belongs
    to; None unless that is a single SELECT."""
    relation = plan.relations[ref.relation]
    if not isinstance(relation, Derived | CteReference) or not relation.query.names:
        return None
    if len(relation.query.top) != 1 or not isinstance(relation.query.node, Project):
        return None
    block = plan.blocks[relation.query.top[0]]
    names = relation.columns or relation.query.names
    if not block.complete or len(names) != len(block.outputs) or block.aggregate == "grouping sets":
        return None
    outputs = (output.expression for output in block.outputs)
    return dict(zip((name.lower() for name in names), outputs, strict=True))


def _stored_as(plan: Plan, ref: ColumnRef, column: Column | None) -> bool:
    """Whether a column of a query is stored as it is, as far as its type is known."""
    kind = type_of(plan, ref)
    return column is not None and (
        kind is None or column.type is None or kind == parse(column.type)
    )


def _written(
    plan: Plan,
    places: Places,
    value: Expression,
    refs: Sequence[ColumnRef],
    source: str,
    column: Column | None,
) -> str | None:
    """The text of an expression with the table's column in place of those of the query, cast to the
    type of the column that it is stored in; None if it has no place in the text."""
    name = source if _PLAIN.fullmatch(source) else quoted(source)
    try:
        span = places.span(value)
        replaced = {ref.span: name for ref in refs if ref.span is not None}
        if len(replaced) != len({id(ref) for ref in refs}):
            return None
        text = places.copy(span, replaced)
    except NoPlaceError:
        return None
    kind = type_of(plan, value)
    stored = None if column is None or column.type is None else parse(column.type)
    if column is None or stored is None or kind is None or kind == stored:
        return text
    return f"CAST({text} AS {(column.type or '').upper()})"


def _steady(of: Formula) -> bool:
    """Whether an expression gives the same value each time, and either keeps the column's order or
    is never NULL, as a part of a date: for any other, a bound on the column says little."""
    derived = shape(of.expression, of.of)
    return derived is not None and (derived.ordered or not derived.nulls)
