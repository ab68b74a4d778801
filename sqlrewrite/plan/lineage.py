"""A column down to the scans it comes from, and what stands in between.

As Catalyst's ``findExpressionAndTrackLineageDown``, but never giving up in silence: a barrier on
the way is part of the answer, so that a rule can name it (SOUNDNESS.md, "Operators between the
join and the scan").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlrewrite.plan.columns import query_names
from sqlrewrite.plan.expressions import ColumnRef, Expression, columns
from sqlrewrite.plan.nodes import (
    Aggregate,
    CteReference,
    Derived,
    Filter,
    Limit,
    Node,
    Plan,
    Project,
    Query,
    Relation,
    Scan,
    SetOperation,
    Window,
    numbers,
)


@dataclass(frozen=True, slots=True)
class Path:
    """One way down from a relation's column to a column of a relation below it.

    ``relations`` are those passed, the first one on top; ``barriers`` say why a predicate may not
    go down this way; ``computed`` that the column is only a part of an expression.
    """

    relations: tuple[Relation, ...]
    column: str
    barriers: tuple[str, ...] = ()
    computed: bool = False

    @property
    def end(self) -> Relation:
        """The relation reached."""
        return self.relations[-1]


def trace(plan: Plan, ref: ColumnRef) -> Iterator[Path]:
    """The ways from a column down, each prefix included: through a derived table whose column is
    another's, through both sides of a set operation. The first is the column itself."""
    relation = plan.relations[ref.relation]
    if isinstance(relation, Relation):
        yield from _from(plan, relation, Path((relation,), ref.name))


def trace_query(plan: Plan, query: Query, position: int) -> Iterator[Path]:
    """The ways from a column of a query's result down, as ``trace`` gives them."""
    yield from _through(plan, query.node, position, Path((), ""))


def same(one: Expression, other: Expression) -> bool:
    """Whether two expressions are the same column, however each was written."""
    return (
        isinstance(one, ColumnRef)
        and isinstance(other, ColumnRef)
        and (one.relation, one.name) == (other.relation, other.name)
    )


def _from(plan: Plan, relation: Relation, path: Path) -> Iterator[Path]:
    match relation:
        case Scan(sampled=sampled):
            yield _barred(path, "TABLESAMPLE") if sampled else path
        case Derived(query=query, columns=renamed) | CteReference(query=query, columns=renamed):
            yield path
            if relation.sampled:
                path = _barred(path, "TABLESAMPLE")
            names = query_names(query, renamed)
            if names is not None and names.count(path.column) == 1:
                yield from _through(plan, query.node, names.index(path.column), path)
        case _:
            yield path


def _through(plan: Plan, node: Node, position: int, path: Path) -> Iterator[Path]:
    """Down from a query's top by position, to its SELECT lists."""
    match node:
        case SetOperation(left=left, right=right):
            yield from _through(plan, left, position, path)
            yield from _through(plan, right, position, path)
        case Limit(child=child):
            yield from _through(plan, child, position, _barred(path, "LIMIT or OFFSET"))
        case Aggregate(child=child, kind="distinct"):
            yield from _through(plan, child, position, path)
        case Project(child=child, outputs=outputs):
            expression = outputs[position].expression
            if isinstance(expression, ColumnRef):
                yield from _below(plan, child, expression, path)
            else:
                inside = Path(path.relations, path.column, path.barriers, computed=True)
                for ref in columns(expression):
                    yield from _below(plan, child, ref, inside)
        case _:
            return


def _below(plan: Plan, node: Node, ref: ColumnRef, path: Path) -> Iterator[Path]:
    """Down from a SELECT list by reference, through the operators under it."""
    match node:
        case Filter(child=child):
            yield from _below(plan, child, ref, path)
        case Window(child=child, partitions=partitions):
            if not all(_among(ref, keys) for keys in partitions):
                path = _barred(path, f"a window function without {ref.name} in PARTITION BY")
            yield from _below(plan, child, ref, path)
        case Aggregate(child=child, keys=keys, kind=kind):
            if kind != "group by":
                what = "a global aggregate" if kind == "global" else "grouping sets"
                path = _barred(path, what)
            elif not _among(ref, keys):
                path = _barred(path, f"a GROUP BY without {ref.name}")
            yield from _below(plan, child, ref, path)
        case _ if ref.relation in numbers(node):
            relation = plan.relations[ref.relation]
            if isinstance(relation, Relation):
                further = Path((*path.relations, relation), ref.name, path.barriers, path.computed)
                yield from _from(plan, relation, further)
        case _:
            return


def _among(ref: ColumnRef, keys: Iterable[Expression]) -> bool:
    return any(same(ref, key) for key in keys)


def _barred(path: Path, barrier: str) -> Path:
    return Path(path.relations, path.column, (*path.barriers, barrier), path.computed)
