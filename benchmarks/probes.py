"""Queries that ask which partitions of a fact scan a query needs.

In: the tree of a query, and the partition columns by table. Out: for each fact scan in its text,
probe queries whose rows are partitions; DuckDB runs them. A partition is needed if one of its rows
contributes to the result: the lineage of Cui and Widom (2000), carried through the query as one
more column. It is the partition column at the scan, and above a GROUP BY, DISTINCT or set operation
the list of all that went into a row. LIMIT and OFFSET are taken off, and a window function's row
stands for itself alone; all else stays: joins, WHERE, HAVING, and the blocks around, outward to the
whole query. Where the way out ends early, the probes say how far they went.

Under a scalar subquery, NOT EXISTS and the like a row of the fact matters also to outer rows that
fail the condition: there the condition is left out, and the way ends with the block around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

import sqlglot
from sqlglot import exp

CARRIED = "__partitions"
NUMBER = "number"
NULL_PARTITION = -1
"""Stands for the partition of NULL: partition columns are numbers from 0 here, as date keys are."""

Node = TypeVar("Node", bound=exp.Expr)


class NotExpressible(Exception):  # noqa: N818 (it is no error: the way outward ends there)
    """A shape that the column is not carried through; the message names it."""


class Reach(IntEnum):
    """How far out a probe looks, from the scan's own SELECT to the whole query."""

    BLOCK = 0
    OUTER = 1
    QUERY = 2

    def __str__(self) -> str:
        return ("block", "outer", "query")[self]


@dataclass(frozen=True, slots=True)
class Probe:
    """A query with one row for each partition that matters as far out as it looks."""

    query: exp.Query
    reach: Reach


@dataclass(frozen=True, slots=True)
class Scan:
    """A fact table in the text: ``offset`` is where its name begins, ``number`` its node's."""

    table: str
    alias: str
    column: str
    offset: int
    number: int


@dataclass(frozen=True, slots=True)
class _Carried:
    """A query that carries the column, in a tree of its own, and whether it does so as lists."""

    node: exp.Expr
    listed: bool


def parse(sql: str) -> exp.Query:
    """The tree of a Spark query, its nodes numbered, so that they are found again in a copy."""
    tree = sqlglot.parse_one(sql, read="spark")
    assert isinstance(tree, exp.Query)
    for number, node in enumerate(tree.walk()):
        node.meta[NUMBER] = number
    return tree


def fact_scans(tree: exp.Query, partition_columns: Mapping[str, str]) -> list[Scan]:
    """The scans of partitioned tables in a parsed query, in the order of the text."""
    found = [
        Scan(
            table.name.lower(),
            table.alias_or_name,
            partition_columns[table.name.lower()],
            table.this.meta["start"],
            table.meta[NUMBER],
        )
        for table in tree.find_all(exp.Table)
        if table.name.lower() in partition_columns and _definition(table) is None
    ]
    return sorted(found, key=lambda scan: scan.offset)


def own_block(tree: exp.Query, scan: Scan) -> Probe:
    """The partitions with a row that survives the joins and the WHERE of the scan's own SELECT.

    DuckDB refuses it where that SELECT is correlated: then the first probe outward says it.
    """
    marked = _marked(tree, scan)
    return Probe(_rows_of(marked, _column(scan.alias), listed=False), Reach.BLOCK)


def outward(tree: exp.Query, scan: Scan) -> Iterator[list[Probe]]:
    """The ways from a scan to the result, one for each reference to the CTEs it stands in: on each
    the probes from the inside out. What the query needs is what any of the ways needs."""
    marked = _marked(tree, scan)
    yield from _ways(tree, _carry(marked, _column(scan.alias), listed=False), [])


def kept(tree: exp.Query, scan: Scan, predicates: Iterable[str]) -> exp.Query:
    """The partitions that predicates on a scan, in Spark's SQL, keep: all, if there are none."""
    place = _found(_copied(tree), scan.number)
    rows = exp.select(_partition(scan)).distinct().from_(_aliased(exp.to_table(scan.table), scan))
    for predicate in predicates:
        condition = sqlglot.parse_one(predicate, read="spark")
        for hint in list(condition.find_all(exp.Hint)):
            hint.pop()
        rows = rows.where(condition, copy=False)
    return _with_definitions(rows, place)


# --- the scan's own block -------------------------------------------------------------------------


def _copied(tree: exp.Query) -> exp.Subquery:
    """A copy to work on, in parentheses: so that even its top can be replaced."""
    return exp.Subquery(this=tree.copy())


def _found(tree: exp.Expr, number: int) -> exp.Expr:
    return next(node for node in tree.walk() if node.meta.get(NUMBER) == number)


def _marked(tree: exp.Query, scan: Scan) -> exp.Select:
    """The block of a scan in a tree of its own, the scan with the column beside all others."""
    table = _found(_copied(tree), scan.number)
    block = table.find_ancestor(exp.Select)
    if block is None or table.args.get("joins") or table.args.get("sample"):
        raise NotExpressible("a table that is sampled, or not in a SELECT")
    rows = exp.select("*", exp.alias_(_partition(scan), CARRIED)).from_(scan.table)
    table.replace(_aliased(exp.Subquery(this=rows), scan))
    return block


def _partition(scan: Scan) -> exp.Expr:
    return exp.func("coalesce", exp.column(scan.column), exp.convert(NULL_PARTITION))


def _aliased(relation: Node, scan: Scan) -> Node:
    relation.set("alias", exp.TableAlias(this=exp.to_identifier(scan.alias)))
    return relation


def _column(alias: str) -> exp.Column:
    return exp.column(CARRIED, table=alias)


def _rows_of(block: exp.Select, value: exp.Expr, *, listed: bool) -> exp.Query:
    """The column in the rows of a block's FROM and WHERE: no grouping, nothing above."""
    rows = exp.Select(expressions=[_single(value, listed)]).distinct()
    for part in ("with_", "from_", "joins", "laterals", "where"):
        found = block.args.get(part)
        copied = [item.copy() for item in found] if isinstance(found, list) else found
        rows.set(part, copied.copy() if isinstance(copied, exp.Expr) else copied)
    return _with_definitions(rows, block)


def _single(value: exp.Expr, listed: bool) -> exp.Expr:
    return exp.func("unnest", value) if listed else value.copy()


def _with_definitions(query: exp.Query, place: exp.Expr) -> exp.Query:
    """A query behind the CTEs that are visible where a node stands and not its own."""
    found: list[exp.Expr] = []
    below, above = place, place.parent
    while above is not None:
        if isinstance(above, exp.With):
            found = [*_before(below, above.expressions), *found]
            below, above = above.parent or above, above.parent and above.parent.parent
            continue
        clause = above.args.get("with_")
        found = [*(clause.expressions if clause else []), *found]
        below, above = above, above.parent
    own = query.args.get("with_")
    found += own.expressions if own else []
    if found:
        query.set("with_", exp.With(expressions=[cte.copy() for cte in found]))
    return query


def _before(cte: exp.Expr, ctes: list[exp.Expr]) -> list[exp.Expr]:
    return ctes[: next(number for number, it in enumerate(ctes) if it is cte)]


# --- outward --------------------------------------------------------------------------------------


def _ways(tree: exp.Query, carried: _Carried, probes: list[Probe]) -> Iterator[list[Probe]]:
    """All ways on from a query that carries the column, behind the probes so far."""
    node, listed = carried.node, carried.listed
    while isinstance(node.parent, exp.Subquery) and node.arg_key == "this":
        node = node.parent
        node.set("order", None)
        node.set("limit", None)
    parent = node.parent
    reach = Reach.QUERY if parent is None else Reach.OUTER if probes else Reach.BLOCK
    probes = [*probes, Probe(_all_of(node, listed), reach)]
    try:
        match parent:
            case None:
                yield probes
            case exp.CTE():
                for reader in _readers(tree, parent):
                    yield from _ways(tree, _into_reader(reader, node, parent, listed), probes)
            case exp.SetOperation():
                yield from _ways(tree, _into_set(parent, node, listed), probes)
            case exp.From() | exp.Join() if isinstance(parent.parent, exp.Select):
                yield from _ways(tree, _into_block(parent.parent, node, listed), probes)
            case _:
                yield from _out_of_expression(tree, node, listed, probes)
    except NotExpressible:
        yield probes


def _all_of(node: exp.Expr, listed: bool) -> exp.Query:
    """Every partition in the rows of a query that carries the column."""
    inner = node.unnest() if isinstance(node, exp.Subquery) else node
    rows = exp.select(_single(exp.column(CARRIED), listed)).distinct()
    return _with_definitions(rows.from_(exp.Subquery(this=inner.copy(), alias=_name("q"))), node)


def _name(name: str, *columns: str) -> exp.TableAlias:
    return exp.TableAlias(
        this=exp.to_identifier(f"__{name}"), columns=[exp.to_identifier(it) for it in columns]
    )


def _carry(block: exp.Select, value: exp.Expr, *, listed: bool) -> _Carried:
    """A block with the column in its SELECT list: a list of all values where rows fall together."""
    alone = not _is_aggregated(block)
    distinct = block.args.get("distinct")
    for part in ("order", "limit", "offset", "distinct"):
        block.set(part, None)
    for expression in block.expressions:
        star = expression.this if isinstance(expression, exp.Column) else expression
        if isinstance(star, exp.Star) and expression.text("table") in ("", value.text("table")):
            _exclude(star)
    block.append("expressions", exp.alias_(value if alone else _together(value, listed), CARRIED))
    if not distinct:
        return _Carried(block, listed or not alone)
    return _Carried(_grouped(block, listed or not alone), listed=True)


def _is_aggregated(block: exp.Select) -> bool:
    if block.args.get("group"):
        return True
    places = [*block.expressions, *([block.args["having"]] if block.args.get("having") else [])]
    return any(
        isinstance(node, exp.AggFunc)
        for place in places
        for node in place.walk(prune=lambda it: isinstance(it, (exp.Window, exp.Query)))
    )


def _exclude(star: exp.Star) -> None:
    star.append("except_", exp.to_identifier(CARRIED))


def _together(value: exp.Expr, listed: bool) -> exp.Expr:
    """The values of a group as one list, each once."""
    if not listed:
        return exp.Anonymous(this="list", expressions=[exp.Distinct(expressions=[value.copy()])])
    lists = exp.Anonymous(this="list", expressions=[value.copy()])
    flat = exp.Anonymous(this="flatten", expressions=[lists])
    return exp.Anonymous(this="list_distinct", expressions=[flat])


def _grouped(rows: exp.Query, listed: bool, *apart: str) -> exp.Select:
    """Equal rows as one, as DISTINCT does, in the place of a query; ``apart`` are columns to leave
    out of its rows."""
    place = exp.Placeholder()
    rows.replace(place)
    star = exp.Star()
    for name in (CARRIED, *apart):
        star.append("except_", exp.to_identifier(name))
    values = exp.alias_(_together(exp.column(CARRIED), listed), CARRIED)
    grouped = exp.select(star, values).from_(exp.Subquery(this=rows, alias=_name("rows")))
    grouped.set("group", exp.Group(all=True))
    grouped.set("with_", rows.args.get("with_"))
    rows.set("with_", None)
    place.replace(grouped)
    return grouped


# --- into the query around ------------------------------------------------------------------------


def _into_block(block: exp.Select, derived: exp.Expr, listed: bool) -> _Carried:
    """Out of a derived table, into the block that reads it."""
    if not derived.alias:
        derived.set("alias", _name("derived"))
    return _carry(block, _column(derived.alias), listed=listed)


def _definition(table: exp.Table) -> exp.CTE | None:
    """The CTE that a table's name means where it stands."""
    if table.args.get("db"):
        return None
    below: exp.Expr = table
    above = table.parent
    while above is not None:
        clause = above if isinstance(above, exp.With) else above.args.get("with_")
        ctes = clause.expressions if clause is not None and clause is not below else []
        visible = _before(below, ctes) if above is clause else ctes
        for cte in reversed(visible):
            if cte.alias.lower() == table.name.lower():
                assert isinstance(cte, exp.CTE)
                return cte
        below, above = above, above.parent
    return None


def _readers(tree: exp.Query, cte: exp.CTE) -> Iterator[exp.Expr]:
    """Each reference to a CTE, in a tree of its own that is otherwise the query as it was."""
    for table in tree.find_all(exp.Table):
        definition = _definition(table)
        if definition is not None and definition.meta[NUMBER] == cte.meta[NUMBER]:
            yield _found(_copied(tree), table.meta[NUMBER])


def _into_reader(reader: exp.Expr, body: exp.Expr, cte: exp.CTE, listed: bool) -> _Carried:
    """Out of a CTE, into a block that refers to it: there it stands as a derived table."""
    block = reader.find_ancestor(exp.Select)
    if block is None or not isinstance(reader.parent, (exp.From, exp.Join)):
        raise NotExpressible("a reference to a CTE within another relation")
    alias = exp.TableAlias(this=exp.to_identifier(reader.alias_or_name))
    alias.set("columns", [it.copy() for it in cte.args["alias"].args.get("columns") or []])
    named = reader.args.get("alias")
    if named is not None and named.args.get("columns"):
        alias.set("columns", [it.copy() for it in named.args["columns"]])
    derived = exp.Subquery(this=body.copy(), alias=alias)
    reader.replace(derived)
    return _into_block(block, derived, listed)


def _into_set(operation: exp.SetOperation, branch: exp.Expr, listed: bool) -> _Carried:
    """Out of a branch of UNION, INTERSECT or EXCEPT: the other branch has nothing in the column."""
    side = branch.arg_key
    other = operation.expression if side == "this" else operation.this
    kind, every = type(operation), not operation.args.get("distinct")
    if kind is not exp.Union and every:
        raise NotExpressible("INTERSECT ALL and EXCEPT ALL count their rows")
    union = exp.Union(distinct=False, with_=operation.args.get("with_"))
    operation.replace(union)
    nothing = exp.alias_(exp.null(), CARRIED)
    mine, others = _branch(branch), _branch(other, nothing)
    union.set("this", mine if side == "this" else others)
    union.set("expression", others if side == "this" else mine)
    if kind is exp.Union:
        return _Carried(union, listed) if every else _Carried(_grouped(union, listed), listed=True)
    # Rows are grouped as the set operation compares them; which side has them is counted.
    for name in ("this", "expression"):
        is_other = exp.convert(int(name != side))
        union.args[name].append("expressions", exp.alias_(is_other, "__other"))
    grouped = _grouped(union, listed, "__other")
    wanted = int(kind is exp.Intersect or side == "expression")
    grouped.having(f"max(__other) = {wanted} AND min(__other) = 0", copy=False)
    return _Carried(grouped, listed=True)


def _branch(query: exp.Expr, *more: exp.Expr) -> exp.Select:
    inner = query.unnest() if isinstance(query, exp.Subquery) else query
    return exp.select("*", *more).from_(exp.Subquery(this=inner, alias=_name("branch")))


def _out_of_expression(
    tree: exp.Query, node: exp.Expr, listed: bool, probes: list[Probe]
) -> Iterator[list[Probe]]:
    """Out of EXISTS, IN or a scalar subquery: its list comes beside each row of the block around,
    from a lateral join that neither multiplies nor loses rows."""
    host = node.parent if isinstance(node.parent, (exp.Exists, exp.In)) else node
    host = _found(_copied(tree), host.meta[NUMBER])  # what carries the column is not its value
    block = host.find_ancestor(exp.Select)
    if block is None or isinstance(node.parent, (exp.Any, exp.All)):
        raise NotExpressible("a subquery under ANY or ALL")
    clause = host.find_ancestor(exp.Where, exp.Having, exp.Join, exp.Select)
    if isinstance(clause, exp.Join):
        raise NotExpressible("a subquery in an ON")
    inner = node.unnest() if isinstance(node, exp.Subquery) else node
    alias = _name("inside", "__key") if isinstance(host, exp.In) else _name("inside")
    found = exp.select(exp.alias_(_together(exp.column(CARRIED, "__inside"), listed), CARRIED))
    found = found.from_(exp.Subquery(this=inner.copy(), alias=alias))
    if isinstance(host, exp.In):
        found = found.where(exp.EQ(this=host.this.copy(), expression=exp.column("__key")))
    lateral = exp.Lateral(this=exp.Subquery(this=found), alias=_name("beside"))
    required = isinstance(host, (exp.Exists, exp.In)) and _only_widens(host, clause)
    if isinstance(clause, exp.Having) or (isinstance(clause, exp.Where) and not required):
        _drop_conjunct(clause, host)
    block.append("joins", exp.Join(this=lateral, kind="CROSS"))
    probe = Probe(_rows_of(block, _column("__beside"), listed=True), Reach.OUTER)
    probes = [*probes, probe]
    if isinstance(clause, exp.Select) or required:
        yield from _ways(tree, _carry(block, _column("__beside"), listed=True), probes)
    else:
        yield probes


def _only_widens(host: exp.Expr, clause: exp.Expr | None) -> bool:
    """Whether a condition stands in the WHERE under AND and OR alone: a witness more for it can
    only add rows, and the rows that it witnesses for satisfy the condition."""
    above = host.parent
    while isinstance(above, (exp.And, exp.Or, exp.Paren)):
        above = above.parent
    return above is clause and isinstance(clause, exp.Where)


def _drop_conjunct(clause: exp.Expr, host: exp.Expr) -> None:
    """Takes the conjunct that holds an expression out of a WHERE or HAVING."""
    condition = clause.this
    conjuncts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    rest = [it for it in conjuncts if not any(node is host for node in it.walk())]
    if rest:
        clause.set("this", exp.and_(*rest))
    else:
        clause.pop()
