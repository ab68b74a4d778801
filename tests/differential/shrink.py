"""Makes a wrong case small enough to read.

In: a query, rows, and a test that says whether the case is still wrong. Out: fewer rows, and a
query with clauses left out. Greedy: a part goes if the case stays wrong without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from .schema import Data, Row

StillWrong = Callable[[str, Data], bool]

_OPTIONAL = ("where", "having", "qualify", "order", "limit", "offset", "distinct", "hint")


def shrink(sql: str, data: Data, still_wrong: StillWrong) -> tuple[str, Data]:
    """The query and the rows without what the failure does not need."""
    data = shrink_rows(data, lambda rows: still_wrong(sql, rows))
    smaller = shrink_query(sql, lambda text: still_wrong(text, data))
    if smaller != sql:
        data = shrink_rows(data, lambda rows: still_wrong(smaller, rows))
    return smaller, data


def shrink_rows(data: Data, still_wrong: Callable[[Data], bool]) -> Data:
    """Zeller's ddmin, table by table: halves first, then smaller pieces, down to single rows."""
    kept: dict[str, list[Row]] = {name: list(rows) for name, rows in data.items()}
    for name in kept:
        if still_wrong({**kept, name: []}):
            kept[name] = []
            continue
        size = len(kept[name]) // 2
        while size:
            start = 0
            while start < len(kept[name]):
                fewer = kept[name][:start] + kept[name][start + size :]
                if still_wrong({**kept, name: fewer}):
                    kept[name] = fewer
                else:
                    start += size
            size //= 2
    return kept


def shrink_query(sql: str, still_wrong: Callable[[str], bool], budget: int = 1500) -> str:
    """Drops clauses, conjuncts, branches, joins and columns; the format goes with the first."""
    found = True
    while found and budget > 0:
        found = False
        for candidate in _smaller(sql):
            budget -= 1
            if budget <= 0:
                break
            if len(candidate) < len(sql) and still_wrong(candidate):
                sql, found = candidate, True
                break
    return sql


def _smaller(sql: str) -> Iterator[str]:
    """The query with one thing less, the largest things first."""
    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except SqlglotError:
        return
    yield tree.sql("spark", comments=False)
    for index in range(sum(1 for _ in tree.walk())):
        for step in (_promote, _cut, _shorten):
            copy = tree.copy()
            node = next((n for at, n in enumerate(copy.walk()) if at == index), None)
            made = step(node, copy) if node is not None else None
            if made is not None:
                yield made.sql("spark", comments=False)


def _promote(node: exp.Expr, root: exp.Expr) -> exp.Expr | None:
    """An AND, OR, NOT, set operation or parenthesis becomes its first operand."""
    if not isinstance(node, (exp.And, exp.Or, exp.SetOperation, exp.Paren, exp.Not)):
        return None
    operand = node.this
    if isinstance(node, exp.SetOperation) and node.args.get("with_"):
        operand.set("with_", node.args["with_"])
    if node is root:
        return operand if isinstance(operand, exp.Query) else None
    node.replace(operand)
    return root


def _cut(node: exp.Expr, root: exp.Expr) -> exp.Expr | None:
    """A clause or a join goes, or an AND keeps its second operand."""
    if isinstance(node, (exp.And, exp.Or)):
        node.replace(node.expression)
        return root
    if isinstance(node, (exp.Join, exp.CTE)) or _optional(node):
        node.pop()
        _drop_empty_with(root)
        return root
    return None


def _optional(node: exp.Expr) -> bool:
    """A clause that may go; not the ORDER BY of a LIMIT, which gives the query its one answer."""
    parent = node.parent
    ordered = node.arg_key == "order" and parent is not None and parent.args.get("limit")
    return node.arg_key in _OPTIONAL and not ordered


def _drop_empty_with(root: exp.Expr) -> None:
    for clause in list(root.find_all(exp.With)):
        if not clause.expressions:
            clause.pop()


def _shorten(node: exp.Expr, root: exp.Expr) -> exp.Expr | None:
    """A SELECT list or an IN list loses its last item."""
    if isinstance(node, (exp.Select, exp.In)) and len(node.expressions) > 1:
        node.set("expressions", node.expressions[:-1])
        return root
    return None
