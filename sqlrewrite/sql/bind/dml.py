"""MERGE, DELETE and UPDATE as the queries that they run: the SELECT whose rows they change.

In comes the tree of one, out comes that SELECT, made of copies with their places in the text. What
has an argument that is not named here is no query of ours. Facts in docs/spark.md, "Queries in
statements that change rows".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

_CHANGES = (exp.Merge, exp.Delete, exp.Update)

_OF_A_DELETE = frozenset({"this", "where", "with_"})
_OF_AN_UPDATE = _OF_A_DELETE | {"expressions"}


def held(tree: exp.Expr) -> exp.Query | None:
    """The query that a statement is, or that it inserts, stores or names the result of."""
    found = tree
    if isinstance(tree, exp.Insert | exp.Create | exp.Cache):
        found = tree.args.get("expression") or tree
    return found if isinstance(found, exp.Query) else None


def changes(tree: exp.Expr) -> bool:
    """Whether a statement changes rows of a table: those that a query finds."""
    return isinstance(tree, _CHANGES)


def query_of(tree: exp.Expr) -> tuple[exp.Query | None, str]:
    """The query of a statement, if it has one: the one it holds, or runs to find the rows that it
    changes; and the role of its block: that of a MERGE's join is ``merge``, that over the target of
    a DELETE or UPDATE is ``change``."""
    match tree:
        case exp.Merge():
            join = _join_of(tree)
            return (join, "merge") if join is not None else (_all_of(tree.args["using"]), "query")
        case exp.Delete() | exp.Update() if _plain(tree):
            target = exp.From(this=tree.this.copy())
            values = [it.args["expression"].copy() for it in tree.expressions]
            where = tree.args.get("where")
            found = exp.Select(expressions=values or [exp.Star()], from_=target)
            if where is not None:
                found.set("where", where.copy())
            return found, "change"
        case _:
            return held(tree), "query"


def _plain(tree: exp.Delete | exp.Update) -> bool:
    """Whether it is a DELETE or UPDATE of Spark's: of one table, setting only columns."""
    known = _OF_A_DELETE if isinstance(tree, exp.Delete) else _OF_AN_UPDATE
    return all(key in known for key, value in tree.args.items() if value) and all(
        isinstance(it, exp.EQ) and isinstance(it.this, exp.Column) for it in tree.expressions
    )


def _join_of(tree: exp.Merge) -> exp.Select | None:
    """The join of a MERGE: each row of the source, with those of the target that match. None where
    a row of the target counts that matches nothing, and where the text might be misread."""
    condition, whens = tree.args.get("on"), tree.args.get("whens")
    if condition is None or whens is None or any(it.args.get("source") for it in whens.expressions):
        return None
    if tree.args.get("using_cond") or condition.find(exp.Case):
        return None  # a WHEN in the ON would be taken for those behind it
    found = _all_of(tree.args["using"])
    actions = [it.args.get("then") for it in whens.expressions]
    found.set("expressions", [*found.expressions, *_queries_in(actions)])
    found.set("joins", [exp.Join(this=tree.this.copy(), side="LEFT", on=condition.copy())])
    return found


def _queries_in(actions: Iterable[exp.Expr | None]) -> Iterator[exp.Expr]:
    """The queries among the values that a MERGE sets."""
    for action in actions:
        for value in action.expressions if isinstance(action, exp.Update) else ():
            yield from (it.copy() for it in value.find_all(exp.Subquery) if not it.parent_select)


def _all_of(relation: exp.Expr) -> exp.Select:
    """``SELECT * FROM`` a relation."""
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=relation.copy()))
