"""Questions about sqlglot's trees before they are bound: conjuncts and operands; the names and
alias of a relation, and whether a comma stands before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from sqlrewrite.plan.facts.functions import function
from sqlrewrite.sql.bind.plan_names import function_name
from sqlrewrite.sql.parse.query_grammar import NO_WHERE
from sqlrewrite.sql.parse.spans import SPAN
from sqlrewrite.sql.parse.spark_parser import SPELLED
from sqlrewrite.warehouse import Name, has_template, may_render_to

ANY = "*"
"""Stands for the name of any table."""

_BEFORE_A_NAME = frozenset({"stream", "table"})

# A name in IDENTIFIER('…') that certainly has a single part.
_NAME = re.compile(r"[A-Za-z_]\w*|`[A-Za-z_]\w*`")

_OF_DBT = re.compile(r"\{\{[-+]?\s*(?:(?:ref|source)\s*\(|this\b)")

# Nodes without tables below them, which are most of a tree. A hint names tables, but reads none.
_NO_TABLES = frozenset({exp.Column, exp.Literal, exp.Identifier, exp.Hint, exp.DataType})

_OF_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join, exp.And, exp.Or, exp.Not)

_NO_OPERANDS = frozenset({exp.Identifier, exp.Var, exp.DataType, exp.TableAlias})

# How far before a relation's first name its comma is looked for. It is certain unless JOIN or a
# comment, which may hold anything, stands in between.
_NEAR = 200
_COMMENT = re.compile(r"--|/\*|\*/")
_CROSS_JOIN = re.compile(r"\bcross\s+join\s*[\s(]*$", re.IGNORECASE)
_NOT_A_COMMA = re.compile(r"\bjoin\b|--|/\*|\*/", re.IGNORECASE)


def conjunct_trees(tree: exp.Expr) -> list[exp.Expr]:
    """The conjuncts of a condition in the author's order, those in parentheses among them."""
    return chained(tree, exp.And, within=exp.Paren)


def short_names(tree: exp.Expr) -> Iterator[str]:
    """The names without a schema by which a tree refers to tables, except in hints; ``ANY`` for a
    name known only at run time."""
    stack = [tree]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _NO_TABLES:
            continue
        if kind is exp.Table and not node.args.get("db"):
            yield from _table_names(node)
        elif kind is exp.Anonymous and has_template(node.name):
            yield from (ANY,) if _may_read(node) else ()
        for value in node.args.values():
            if type(value) is list:
                stack += [item for item in value if isinstance(item, exp.Expr)]
            elif type(value) not in _NO_TABLES and isinstance(value, exp.Expr):
                stack.append(value)


def _table_names(node: exp.Expr) -> Iterator[str]:
    """The names of tables that one item of a FROM may refer to."""
    inner = node.this
    if computed_alias(node):
        yield ANY  # STREAM IDENTIFIER('c')
    if isinstance(inner, exp.Identifier):
        name = inner.name.lower()
        yield name
        if name in _BEFORE_A_NAME and node.args.get("alias") is not None:
            yield node.alias.lower()  # STREAM c and TABLE c, which sqlglot reads as an alias
        return
    if has_template(inner.name):
        yield ANY  # {{ f('c') }} may be rendered to a query
    if inner.name.lower() == "identifier":
        written = inner.expressions[0] if len(inner.expressions) == 1 else None
        plain = isinstance(written, exp.Literal) and _NAME.fullmatch(written.name)
        yield written.name.strip("`").lower() if plain and written is not None else ANY
    yield from (column.name.lower() for column in inner.find_all(exp.Column))  # f(TABLE(c))


def _may_read(node: exp.Expr) -> bool:
    """Whether a template in place of an expression may read tables: as a whole query or condition,
    or because it calls a macro, which may return a subquery."""
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return "(" in node.name or isinstance(above, (*_OF_CONDITIONS, exp.CTE))


def open_names(names: Iterable[str]) -> list[str]:
    """The names that hold a template or are known only at run time. dbt renders a ``ref`` to a name
    with a schema, which is no CTE."""
    return [
        name for name in names if name == ANY or (has_template(name) and not _OF_DBT.match(name))
    ]


def may_mean(opened: Iterable[str], name: str) -> bool:
    """Whether one of the names may be ``name`` at run time."""
    return any(other == ANY or (other != name and may_render_to(other, name)) for other in opened)


def computed_alias(node: exp.Expr) -> bool:
    """Whether an alias is ``IDENTIFIER('…')``, which sqlglot reads as a name and columns."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias) or not isinstance(alias.this, exp.Identifier):
        return False
    return alias.name.lower() == "identifier" and bool(alias.columns)


def bare(node: exp.Expr) -> bool:
    """Whether a set operation has no clauses of its own, such as LIMIT or WITH."""
    return not any(
        node.args.get(key) for key in ("limit", "offset", "with_", "order", "by_name", "on", "side")
    )


def chained(
    node: exp.Expr, kind: type[exp.Expr], *, within: type[exp.Expr] | tuple[()] = ()
) -> list[exp.Expr]:
    """The operands of a chain of one connective in order, looking through ``within`` nodes. Without
    recursion, since chains run to thousands."""
    operands: list[exp.Expr] = []
    stack = [node]
    while stack:
        current = stack.pop()
        while isinstance(current, within):
            current = current.this
        if isinstance(current, kind):
            stack += [current.args["expression"], current.this]
        else:
            operands.append(current)
    return operands


def operand_trees(node: exp.Expr, *, names: bool = False) -> list[exp.Expr]:
    """The operands of a tree, without types; with ``names`` also bare names, as in a lambda."""
    operands: list[exp.Expr] = []
    for value in node.args.values():
        if type(value) is list:
            operands += [
                child
                for child in value
                if isinstance(child, exp.Expr) and _is_operand(child, names)
            ]
        elif isinstance(value, exp.Expr) and _is_operand(value, names):
            operands.append(value)
    return operands


def _is_operand(node: exp.Expr, names: bool) -> bool:
    return type(node) not in _NO_OPERANDS or (names and type(node) is exp.Identifier)


def names_of(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a table's name as written; for any other relation the single node in it."""
    return [node.args[key] for key in ("catalog", "db", "this") if node.args.get(key)]


def behind_comma(node: exp.Expr, text: str) -> bool:
    """Whether a relation certainly follows a comma, which sqlglot reads as CROSS JOIN."""
    start = _first(node)
    _, comma, between = text[max(0, start - _NEAR) : start].rpartition(",")
    return bool(comma) and _NOT_A_COMMA.search(between) is None


def may_be_comma(join: exp.Expr, text: str) -> bool:
    """Whether a join may be a comma: no CROSS JOIN stands right before its relation."""
    if join.args.get("kind") != "CROSS":
        return False
    start = _first(join.this)
    before = text[max(0, start - _NEAR) : start].rstrip()
    if before.endswith(","):
        return True
    return _COMMENT.search(before) is not None or _CROSS_JOIN.search(before) is None


def _first(node: exp.Expr) -> int:
    """The offset of a relation's first name, or of whatever stands first in it."""
    start = next(iter(names_of(node)), node).meta.get("start")
    if start is None:
        tree = node.walk(bfs=False, prune=lambda it: isinstance(it, exp.Hint))
        start = next((item.meta["start"] for item in tree if "start" in item.meta), 0)
    return int(start)


def all_of(node: exp.Subquery) -> exp.Subquery:
    """A join in parentheses with an alias, as a derived table of all its columns."""
    joined = node.this.copy()
    select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=joined))
    select.meta[NO_WHERE] = (
        "a join in parentheses with an alias takes no WHERE: name its tables one by one"
    )
    alias, joins = node.args["alias"].copy(), [join.copy() for join in node.args.get("joins") or []]
    subquery = exp.Subquery(this=select, alias=alias, joins=joins)
    subquery.meta.update(node.meta)
    return subquery


def is_beside(join: exp.Expr) -> bool:
    """Whether a join's relation is a generator that runs for each row before it: ``LATERAL
    explode(…) e``."""
    if not isinstance(join.this, exp.Lateral) or not isinstance(join.this.this, exp.Anonymous):
        return False
    row = function(function_name(join.this.this))
    alone = not any(join.args.get(key) for key in ("on", "using", "method", "side", "pivots"))
    return alone and row is not None and row.generator and not join.this.args.get("outer")


def is_generated(node: exp.Table) -> bool:
    """Whether a relation is the call of a known generator."""
    if not isinstance(node.this, exp.Anonymous):
        return False
    row = function(function_name(node.this))
    only = all(name in ("this", "alias") for name, value in node.args.items() if value)
    return only and row is not None and row.kind in ("generator", "table")


def all_generated(node: exp.Table) -> exp.Select:
    """A SELECT of all columns of a generator in FROM."""
    lateral = exp.Lateral(this=node.this.copy(), view=True)
    select = exp.Select(expressions=[exp.Star()], laterals=[lateral])
    select.meta[NO_WHERE] = "a table function in FROM takes no WHERE"
    return select


def listed_whole(node: exp.Expr) -> exp.Expr:
    """The query of an IN; as a SELECT over a derived table if its rows are not those of its FROM (a
    UNION, groups, a generator)."""
    query = node.this if isinstance(node, exp.Subquery) else node
    first = query
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select) or SPAN not in node.meta or not _makes_rows(query):
        return node
    if any(item.is_star or isinstance(item, exp.Aliases) for item in first.expressions):
        return node
    names = [exp.to_identifier(f"key{at}") for at, _ in enumerate(first.expressions, 1)]
    table = exp.Subquery(this=query, alias=exp.TableAlias(columns=names))
    table.meta[SPAN] = node.meta[SPAN]
    select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))
    select.meta[NO_WHERE] = "no WHERE goes around an IN's query that has groups or a UNION"
    return select


def _makes_rows(query: exp.Expr) -> bool:
    """Whether a query does not just return a row for each row of its FROM: it is a set operation,
    makes rows by a generator, or groups them."""
    if not isinstance(query, exp.Select):
        return isinstance(query, exp.SetOperation)
    calls = (node for item in query.expressions for node in item.find_all(exp.Anonymous))
    rows = (function(function_name(call)) for call in calls)
    grouped, chosen = (query.args.get(clause) is not None for clause in ("group", "having"))
    generates = any(
        row is not None and (row.generator or (grouped and row.aggregate)) for row in rows
    )
    return generates or (grouped and chosen)


def is_query(node: exp.Expr) -> bool:
    """Whether a tree in parentheses is a query, and not a relation or a join."""
    while isinstance(node, exp.Subquery):
        if node.args.get("alias") or node.args.get("joins"):
            return False
        node = node.this
    return isinstance(node, exp.Select | exp.SetOperation)


def streamed(node: exp.Table) -> Name | None:
    """The table of ``STREAM t`` (which sqlglot reads as STREAM AS t) or ``STREAM(t)``; None for
    others."""
    inner = node.this
    if isinstance(inner, exp.Anonymous) and inner.name.lower() == "stream":
        argument = inner.expressions[0] if inner.expressions else None
        if isinstance(argument, exp.Column):
            return tuple(part.name.lower() for part in argument.parts)
        return ("?",)
    if node.name.lower() == "stream" and not node.args.get("db") and not inner.quoted:
        return (node.alias.lower(),) if node.alias else None
    return None


def alias_of(node: exp.Expr) -> str:
    """The name that qualifies a relation's columns."""
    alias = node.args.get("alias")
    if alias is not None and alias.name:
        return str(alias.name)
    return str(node.name) if isinstance(node, exp.Table) else ""


def alias_offset(node: exp.Expr) -> int | None:
    """The offset of a relation's alias."""
    alias = node.args.get("alias")
    return alias.this.meta.get("start") if alias is not None and alias.this is not None else None


def alias_columns(node: exp.Expr) -> tuple[str, ...] | None:
    """The names that a relation's alias gives to its columns."""
    alias = node.args.get("alias")
    names = tuple(column.name.lower() for column in alias.columns) if alias is not None else ()
    return names or None


def within_casts(node: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """An operand without its casts ``::``, and the casts, the last one first. sqlglot puts a sign,
    or the type of a constant, above the casts: ``DATE '…'::STRING`` is parsed as the DATE of a
    STRING."""
    casts: list[exp.Expr] = []
    while isinstance(node, exp.Cast) and node.meta.get(SPELLED) == "::":
        casts.append(node)
        node = node.this
    return node, casts


def field_name(node: exp.Expr) -> str | None:
    """The name that a value gives its field in ``struct(…)``, as written; None if it gives none."""
    match node:
        case exp.Alias():
            return node.alias
        case exp.Column() | exp.Identifier():
            return node.name
        case exp.Dot(expression=exp.Identifier() as name):
            return name.name
        case _:
            return None
