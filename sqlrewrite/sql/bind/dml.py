"""MERGE, DELETE and UPDATE as the queries that they run: the SELECT whose rows they change.

In: the tree of a statement. Out: that SELECT, made of copies that keep their places in the text. A
statement with an argument that is not named here gives none. The facts are in docs/spark.md,
"Queries in statements that change rows".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

_CHANGES = (exp.Merge, exp.Delete, exp.Update)

_OF_A_DELETE = frozenset({"this", "where", "with_"})
_OF_AN_UPDATE = _OF_A_DELETE | {"expressions"}


def query_held(tree: exp.Expr) -> exp.Query | None:
    """The query that a statement consists of, or that it inserts, stores or caches; None if there
    is none."""
    query = tree
    if isinstance(tree, exp.Insert | exp.Create | exp.Cache):
        query = tree.args.get("expression") or tree
    return query if isinstance(query, exp.Query) else None


def changes_rows(tree: exp.Expr) -> bool:
    """Whether this is a MERGE, DELETE or UPDATE."""
    return isinstance(tree, _CHANGES)


def takes_predicates(tree: exp.Expr) -> bool:
    """Whether a statement may get predicates: it holds a query, or is a MERGE, or a DELETE or
    UPDATE with only the clauses of Spark's grammar: one table, and SETs of columns."""
    if not isinstance(tree, exp.Delete | exp.Update):
        return isinstance(tree, exp.Merge) or query_held(tree) is not None
    understood = _OF_A_DELETE if isinstance(tree, exp.Delete) else _OF_AN_UPDATE
    return all(key in understood for key, value in tree.args.items() if value) and all(
        isinstance(expression, exp.EQ) and isinstance(expression.this, exp.Column)
        for expression in tree.expressions
    )


def query_run_by(tree: exp.Expr) -> tuple[exp.Query | None, str]:
    """The query that a statement holds, or runs to find the rows that it changes, or None; and the
    role of its block: ``merge`` for the join of a MERGE, ``change`` for the query over the target
    of a DELETE or UPDATE, else ``query``."""
    match tree:
        case exp.Merge():
            join = _join_of(tree)
            return (join, "merge") if join is not None else (_source(tree), "query")
        case exp.Delete() | exp.Update() if takes_predicates(tree):
            target = exp.From(this=tree.this.copy())
            values = [expression.args["expression"].copy() for expression in tree.expressions]
            where = tree.args.get("where")
            select = exp.Select(expressions=values or [exp.Star()], from_=target)
            if where is not None:
                select.set("where", where.copy())
            return select, "change"
        case _:
            return query_held(tree), "query"


def _join_of(tree: exp.Merge) -> exp.Select | None:
    """The join of a MERGE: each row of the source, with the matching rows of the target, and with
    WHEN NOT MATCHED BY SOURCE the rows of the target that match nothing. None where the text might
    be misread."""
    condition, whens = tree.args.get("on"), tree.args.get("whens")
    if condition is None or whens is None:
        return None
    if tree.args.get("using_cond") or condition.find(exp.Case):
        return None  # a WHEN in the ON would be taken for those behind it
    source = _source(tree)
    actions = [expression.args.get("then") for expression in whens.expressions]
    source.set("expressions", [*source.expressions, *_queries_in(actions)])
    of_target = any(when.args.get("source") for when in whens.expressions)
    side = "FULL" if of_target else "LEFT"
    source.set("joins", [exp.Join(this=tree.this.copy(), side=side, on=condition.copy())])
    return source


def _queries_in(actions: Iterable[exp.Expr | None]) -> Iterator[exp.Expr]:
    """The queries among the values that a MERGE sets."""
    for action in actions:
        for value in action.expressions if isinstance(action, exp.Update) else ():
            yield from (
                node.copy() for node in value.find_all(exp.Subquery) if not node.parent_select
            )


def _source(tree: exp.Merge) -> exp.Select:
    """A SELECT of all rows of the source of a MERGE."""
    source = exp.From(this=tree.args["using"].copy())
    return exp.Select(expressions=[exp.Star()], from_=source)
