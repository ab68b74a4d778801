"""Whether a query's rows are those of it over each group of partitions, one after the other.

The rows of each ``split`` table are cut into groups by the value of a column, NULL among the
values; a row is in just one of them. In: a plan. Out: a ``Split``; raises ``Whole`` with the reason
why not. What is legal are tables: of joins by their type and by which of their sides are split, and
a walk over what stands above them (docs/soundness.md, "Groups of partitions").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlrewrite.find.scan_joins import Meeting, meetings
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge.partition_wise.aggregates import Combination, Whole, combination
from sqlrewrite.judge.repeatable import objections_to_functions
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.comparisons import family, read_as
from sqlrewrite.plan.facts.types import BIGINT, FLOATING, Type
from sqlrewrite.plan.joins import extended
from sqlrewrite.plan.relations import leaves
from sqlrewrite.settings.options import Options

_LEFT_SPLIT = frozenset(
    {ra.JoinType.INNER, ra.JoinType.CROSS, ra.JoinType.LEFT, ra.JoinType.SEMI, ra.JoinType.ANTI}
)
"""Joins whose rows are those over each part of the left side, with the right side whole."""

_RIGHT_SPLIT = frozenset({ra.JoinType.INNER, ra.JoinType.CROSS, ra.JoinType.RIGHT})
"""The same for parts of the right side, with the left side whole."""

_BOTH_SPLIT = _LEFT_SPLIT | _RIGHT_SPLIT | {ra.JoinType.FULL}
"""Joins whose rows are those of each part of the one side with the same part of the other, where an
equality of the columns that the parts are of stands in the join's own condition."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The block that is written by groups, the scans that are cut, each with its column, and the
    type that their values are compared as, with whether a cast brings them to it; whether rows that
    two groups have are one (``distinct``), and how its aggregates are ``combined``, if they are."""

    block: ra.Block
    scans: tuple[tuple[ra.Scan, str], ...]
    meetings: tuple[Meeting, ...]
    kind: Type
    cast: bool
    distinct: bool
    combined: Combination | None

    @property
    def postgresql(self) -> bool:
        """Whether the tables are PostgreSQL's."""
        return all(scan.table.parts is not None for scan, _ in self.scans)


def split(plan: ra.Plan, options: Options) -> Split:
    """The innermost block of a plan that can be written by groups. Raises Whole."""
    found = [it for it in meetings(plan) if _tied(it)]
    why = Whole("no join ties the partition columns of two tables")
    for number in sorted({_home(plan, it).number for it in found}, reverse=True):
        block = plan.blocks[number]
        try:
            return _of_block(plan, block, [it for it in found if _home(plan, it) is block], options)
        except Whole as whole:
            why = whole
    raise why


def _of_block(plan: ra.Plan, block: ra.Block, mine: list[Meeting], options: Options) -> Split:
    columns = _component(mine)
    scans = tuple((it, columns[it]) for it in sorted(columns, key=lambda it: it.relation))
    kind, cast = _common(plan, scans)
    distinct, keys = _Search(plan, block, options, columns, mine).check()
    found = Split(block, scans, tuple(mine), kind, cast, distinct, None)
    if keys is None:
        return found
    combined = combination(plan, block, keys, postgresql=found.postgresql)
    return replace(found, combined=combined)


def partition_columns(scan: ra.Scan) -> tuple[str, ...]:
    """The columns whose values tell which partition a row is in."""
    table = scan.table
    if table.parts is not None:
        return tuple(it for it in table.parts.keys if it)
    if table.provider == "iceberg":  # which leaves nothing out by a function of a column
        return ()
    return table.identities


def _tied(meeting: Meeting) -> bool:
    return any(_key(meeting, key.one, key.other) for key in meeting.keys)


def _key(meeting: Meeting, one: str, other: str) -> bool:
    return one in partition_columns(meeting.one) and other in partition_columns(meeting.other)


def _home(plan: ra.Plan, meeting: Meeting) -> ra.Block:
    """The block whose rows the meeting decides: of a subquery's, that around it."""
    return plan.blocks[plan.owner[meeting.one.relation]]


def _component(found: list[Meeting]) -> dict[ra.Scan, str]:
    """The scans that equalities tie to the first one, each by one column."""
    first = next(key for key in found[0].keys if _key(found[0], key.one, key.other))
    columns = {found[0].one: first.one}
    for _ in found:
        for meeting in found:
            for key in meeting.keys:
                if not _key(meeting, key.one, key.other):
                    continue
                if columns.get(meeting.one) == key.one:
                    columns.setdefault(meeting.other, key.other)
                elif columns.get(meeting.other) == key.other:
                    columns.setdefault(meeting.one, key.one)
    return columns


def _common(plan: ra.Plan, scans: tuple[tuple[ra.Scan, str], ...]) -> tuple[Type, bool]:
    """The type as which the columns are one and the same value where they are equal."""
    kinds: list[Type] = []
    for scan, name in scans:
        kind = type_of(plan, ra.ColumnRef(scan.relation, name, None))
        if kind is None or family(kind) is None or kind in FLOATING or kind.name == "char":
            shown = (
                "is not known" if kind is None else f"is {kind}, which a group cannot be told by"
            )
            raise Whole(f"the type of {scan.alias}.{name} {shown}")
        kinds.append(read_as(kind))
    if len(set(kinds)) == 1:
        return kinds[0], False
    if all(map(is_integral, kinds)):
        return BIGINT, True
    raise Whole(f"the partition columns are {' and '.join(dict.fromkeys(map(str, kinds)))}")


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What is asked of one block; ``columns`` are those that its split scans are cut by."""

    plan: ra.Plan
    block: ra.Block
    options: Options
    columns: dict[ra.Scan, str]
    meetings: list[Meeting]

    def check(self) -> tuple[bool, tuple[ra.Expression, ...] | None]:
        """Whether the rows of two groups may be the same and are to be one, and the keys of an
        aggregation that is to be combined. Raises Whole where the block is not made of its groups.
        """
        block = self.block
        self._in_place()
        mine = {block.number, *(self.plan.owner[it.relation] for it in self.columns)}
        for other in self.plan.blocks:
            self._computed(other, again=other.number not in mine)
        self._subqueries()
        if not self._split(block.source):
            raise Whole("the tables that are partitioned alike do not stand in its FROM")
        return self._above()

    def _in_place(self) -> None:
        block = self.block
        if block.in_view or block.shared or block.led is not None or block.homeless:
            raise Whole("its text is not a SELECT with a FROM behind it, all of its own")
        if block.role not in ("query", "derived", "cte"):
            raise Whole(f"it stands in a query of another kind ({block.role})")
        if block.limit is not None:
            raise Whole("a LIMIT or OFFSET keeps some rows of all groups together")
        if any(
            self.plan.owner[it.relation] != self.block.number for it in _outer(self.plan, block)
        ):
            raise Whole("it refers to columns around it")
        if len(_query_of(self.plan, block).top) != 1:
            raise Whole("it is one of the queries of a set operation")

    def _computed(self, block: ra.Block, *, again: bool) -> None:
        """What a block computes must be the same wherever, and if it is read ``again`` however
        often it is computed."""
        for why in (*block.strange, *block.unknowns):
            raise Whole(why)
        for name in sorted(block.functions - {"?"}):
            found = self.options.function(name)
            if found is None or not found.deterministic:
                raise Whole(f"{name} is not known to give the same value in each group")
        for _, why in objections_to_functions(self.options, block.functions) if again else ():
            raise Whole(f"each group reads it again: {why}")
        if again and block.limit is not None:
            raise Whole("each group reads a LIMIT or OFFSET again, which may give other rows")

    def _subqueries(self) -> None:
        """Each subquery with a split scan in it keeps the rows of the group that it is tied to."""
        for scan in self.columns:
            inner = self.plan.blocks[self.plan.owner[scan.relation]]
            if inner is self.block:
                continue
            known = any(
                it.block is inner
                and it.other is scan
                and self._ties(it, extended(self.block.source, it.one.relation))
                for it in self.meetings
            )
            if inner.source is not scan or inner.aggregate or inner.limit or not known:
                raise Whole(f"{scan.alias} stands in a subquery that is more than a semi-join")

    def _split(self, node: ra.Node) -> bool:
        """Whether a join tree is the union of its groups; False where it is whole, the same for
        each of them. Raises Whole."""
        match node:
            case ra.Scan() | ra.Derived() | ra.CteReference() | ra.Inline():
                if node.sampled or getattr(node, "streaming", False):
                    raise Whole(f"{node.alias} is a sample or a stream")
                if isinstance(node, ra.Derived) and node.lateral:
                    raise Whole("a LATERAL subquery stands in its FROM")
                return isinstance(node, ra.Scan) and node in self.columns
            case ra.Join(left=left, right=right):
                sides = self._split(left), self._split(right)
                self._legal(node, *sides)
                return any(sides)
            case _:
                raise Whole("its FROM has more than joins of tables and queries")

    def _legal(self, join: ra.Join, left: bool, right: bool) -> None:
        kind = join.type.value.upper()
        if not join.settled:
            raise Whole("it is not certain which columns a join merges")
        if left and right:
            if join.type not in _BOTH_SPLIT or not self._equal(join):
                raise Whole(f"no equality in the {kind} JOIN itself ties the partition columns")
        elif left and join.type not in _LEFT_SPLIT:
            raise Whole(f"a {kind} JOIN keeps rows of {_named(join.right)} in every group")
        elif right and join.type not in _RIGHT_SPLIT:
            raise Whole(f"a {kind} JOIN keeps rows of {_named(join.left)} in every group")

    def _equal(self, join: ra.Join) -> bool:
        """Whether an equality of a join ties columns of both sides that their rows are cut by. NULL
        of an outer join below equals nothing, but NULL under <=>."""
        left, right = (list(leaves(it)) for it in (join.left, join.right))
        return any(
            it.one in left
            and it.other in right
            and self._ties(
                it, extended(join.left, it.one.relation) or extended(join.right, it.other.relation)
            )
            for it in self.meetings
        )

    def _ties(self, meeting: Meeting, nulls: bool) -> bool:
        """Whether an equality of a meeting ties the columns that both are cut by; one by <=> does
        not where an outer join adds ``nulls``, which are in every group."""
        return any(
            self.columns.get(meeting.one) == key.one
            and self.columns.get(meeting.other) == key.other
            and not (key.null_safe and nulls)
            for key in meeting.keys
        )

    def _above(self) -> tuple[bool, tuple[ra.Expression, ...] | None]:
        """What stands above the join keeps the rows of each group apart, or can be put together:
        one DISTINCT, or one GROUP BY, with nothing above them that must have all rows."""
        node, above = _query_of(self.plan, self.block).node, ""
        distinct, combined = False, None
        while node is not self.block.source:
            match node:
                case ra.Project(child=node):
                    pass
                case ra.Filter(child=node, clause=clause):
                    above = "QUALIFY" if clause == "qualify" else above
                case ra.Aggregate(child=node, kind="group by" | "global" as kind, keys=keys):
                    if kind == "global" or not self._by_group(keys):
                        if distinct or above:
                            raise Whole(f"{above or 'DISTINCT'} stands above its aggregation")
                        combined = keys
                case ra.Aggregate(child=node, kind="distinct"):
                    distinct = not self._by_group([it.expression for it in self.block.outputs])
                case ra.Window(child=node, partitions=partitions):
                    above = "a window function"
                    if not all(map(self._by_group, partitions)):
                        raise Whole(
                            "PARTITION BY has no partition column that is the same for rows of one "
                            "group alone"
                        )
                case ra.Aggregate(kind=kind):
                    raise Whole(f"an aggregation over all groups together ({kind})")
                case _:
                    raise Whole("an operator above the join may mix rows of several groups")
        return distinct, combined

    def _by_group(self, keys: Iterable[ra.Expression]) -> bool:
        """Whether rows of two groups never have the same keys: one of these is a column that a
        table is cut by, and no outer join gives it other NULLs."""
        return any(
            isinstance(key, ra.ColumnRef)
            and (key.relation, key.name) == (scan.relation, name)
            and not extended(self.block.source, scan.relation)
            for key in keys
            for scan, name in self.columns.items()
        )


def _outer(plan: ra.Plan, block: ra.Block) -> Iterator[ra.ColumnRef]:
    """The columns that a derived table or CTE refers to outside of it."""
    for it in (*plan.relations.values(), *plan.ctes):
        query = getattr(it, "query", None)
        if isinstance(query, ra.Query) and block.number in query.top:
            yield from getattr(it, "outer", ())


def _query_of(plan: ra.Plan, block: ra.Block) -> ra.Query:
    """The query that a block is, or is a part of."""
    queries = [plan.query, *(it.query for it in plan.ctes)]
    queries += [it.query for it in plan.relations.values() if isinstance(it, ra.Derived)]
    return next(it for it in queries if block.number in it.top)


def _named(node: ra.Node) -> str:
    first = next(iter(leaves(node)))
    return first.alias or "a query"
