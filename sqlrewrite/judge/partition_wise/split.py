"""Whether a query gives the same rows if it runs over one group of partitions after the other.

The rows of each ``split`` table are cut into groups by the value of a column; NULL is one of the
values, and a row is in one group only. In: a plan. Out: a ``Split``; raises ``Unsplit`` with the
reason why not. Legal joins are a table, by join type and by which sides are split; a walk over the
operators above the join decides the rest (docs/soundness.md, "Groups of partitions").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sqlrewrite.find.join_edges import ScanJoin, scan_joins
from sqlrewrite.judge.partition_wise.aggregates import Combination, Unsplit, combination
from sqlrewrite.judge.repeatable import objections_to_functions
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.coercion import family, is_integral, read_as
from sqlrewrite.plan.facts.types import BIGINT, FLOATING, Type
from sqlrewrite.plan.joins import null_extended
from sqlrewrite.plan.relations import leaves
from sqlrewrite.settings.options import Options

_LEFT_SPLIT = frozenset(
    {ra.JoinType.INNER, ra.JoinType.CROSS, ra.JoinType.LEFT, ra.JoinType.SEMI, ra.JoinType.ANTI}
)
"""Joins whose rows are the union of those for each part of the left side and the whole right
side."""

_RIGHT_SPLIT = frozenset({ra.JoinType.INNER, ra.JoinType.CROSS, ra.JoinType.RIGHT})
"""Joins whose rows are the union of those for each part of the right side and the whole left
side."""

_BOTH_SPLIT = _LEFT_SPLIT | _RIGHT_SPLIT | {ra.JoinType.FULL}
"""Joins whose rows are the union of those for each part of one side and the same part of the other,
where the join's own condition has an equality of the columns that cut them into parts."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A block that can be written by groups: the scans that are cut, each with its column; the type
    that their values are compared as, and whether that takes a ``cast``; whether rows of two groups
    are to be deduplicated (``distinct``); how its aggregates are ``combined``, if it has some."""

    block: ra.Block
    scans: tuple[tuple[ra.Scan, str], ...]
    joins: tuple[ScanJoin, ...]
    kind: Type
    cast: bool
    distinct: bool
    combined: Combination | None

    @property
    def postgresql(self) -> bool:
        """Whether the tables are PostgreSQL's."""
        return all(scan.table.parts is not None for scan, _ in self.scans)


def split(plan: ra.Plan, options: Options) -> Split:
    """The innermost block of a plan that can be written by groups. Raises Unsplit."""
    on_partitions = [scan_join for scan_join in scan_joins(plan) if _is_on_partitions(scan_join)]
    why = Unsplit("no join ties the partition columns of two tables")
    for number in sorted({_block_of(plan, join).number for join in on_partitions}, reverse=True):
        block = plan.blocks[number]
        try:
            mine = [join for join in on_partitions if _block_of(plan, join) is block]
            return _of_block(plan, block, mine, options)
        except Unsplit as whole:
            why = whole
    raise why


def _of_block(plan: ra.Plan, block: ra.Block, mine: list[ScanJoin], options: Options) -> Split:
    columns = _connected_columns(mine)
    scans = tuple(
        (column, columns[column]) for column in sorted(columns, key=lambda it: it.relation)
    )
    kind, cast = _common_type(plan, scans)
    distinct, keys = _Search(plan, block, options, columns, mine).check()
    whole = Split(block, scans, tuple(mine), kind, cast, distinct, None)
    if keys is None:
        return whole
    combined = combination(plan, block, keys, postgresql=whole.postgresql)
    return replace(whole, combined=combined)


def partition_columns(scan: ra.Scan) -> tuple[str, ...]:
    """The columns whose values tell which partition a row is in."""
    table = scan.table
    if table.parts is not None:
        return tuple(key for key in table.parts.keys if key)
    if table.provider == "iceberg":  # which leaves nothing out by a function of a column
        return ()
    return table.identities


def _is_on_partitions(scan_join: ScanJoin) -> bool:
    return any(_is_partition_key(scan_join, key.one, key.other) for key in scan_join.keys)


def _is_partition_key(scan_join: ScanJoin, one: str, other: str) -> bool:
    return one in partition_columns(scan_join.one) and other in partition_columns(scan_join.other)


def _block_of(plan: ra.Plan, scan_join: ScanJoin) -> ra.Block:
    """The block whose rows a scan join decides: of a subquery's, the block around it."""
    return plan.blocks[plan.owner[scan_join.one.relation]]


def _connected_columns(found: list[ScanJoin]) -> dict[ra.Scan, str]:
    """The scans that equalities connect with the first one, each by one column."""
    first = next(key for key in found[0].keys if _is_partition_key(found[0], key.one, key.other))
    columns = {found[0].one: first.one}
    for _ in found:
        for scan_join in found:
            for key in scan_join.keys:
                if not _is_partition_key(scan_join, key.one, key.other):
                    continue
                if columns.get(scan_join.one) == key.one:
                    columns.setdefault(scan_join.other, key.other)
                elif columns.get(scan_join.other) == key.other:
                    columns.setdefault(scan_join.one, key.one)
    return columns


def _common_type(plan: ra.Plan, scans: tuple[tuple[ra.Scan, str], ...]) -> tuple[Type, bool]:
    """The type in which equal values of the columns are the same value, and whether it takes a
    cast."""
    kinds: list[Type] = []
    for scan, name in scans:
        kind = type_of(plan, ra.ColumnRef(scan.relation, name, None))
        if kind is None or family(kind) is None or kind in FLOATING or kind.name == "char":
            shown = (
                f"is {kind}: rows cannot be assigned to groups by such a value"
                if kind
                else "is not known"
            )
            raise Unsplit(f"the type of {scan.alias}.{name} {shown}")
        kinds.append(read_as(kind))
    if len(set(kinds)) == 1:
        return kinds[0], False
    if all(map(is_integral, kinds)):
        return BIGINT, True
    raise Unsplit(f"the partition columns are {' and '.join(dict.fromkeys(map(str, kinds)))}")


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The checks on one block; ``columns`` are those that its split scans are cut by."""

    plan: ra.Plan
    block: ra.Block
    options: Options
    columns: dict[ra.Scan, str]
    joins: list[ScanJoin]

    def check(self) -> tuple[bool, tuple[ra.Expression, ...] | None]:
        """Whether rows of two groups must be deduplicated, and the keys of an aggregation that must
        be combined. Raises Unsplit where the block is not the union of its groups."""
        block = self.block
        self._in_place()
        mine = {block.number, *(self.plan.owner[column.relation] for column in self.columns)}
        for other in self.plan.blocks:
            self._computed(other, again=other.number not in mine)
        self._subqueries()
        if not self._split(block.source):
            raise Unsplit("the tables that are partitioned alike are not in its FROM")
        return self._above()

    def _in_place(self) -> None:
        block = self.block
        if block.in_view or block.shared or block.select_offset is not None or block.no_where:
            raise Unsplit("its text is not a SELECT with a FROM behind it, all of its own")
        if block.role not in ("query", "derived", "cte"):
            raise Unsplit(f"it stands in a query of another kind ({block.role})")
        if block.limit is not None:
            raise Unsplit("a LIMIT or OFFSET keeps some rows of all groups together")
        owner = self.plan.owner
        if any(owner[ref.relation] != block.number for ref in _outer(self.plan, block)):
            raise Unsplit("it refers to columns around it")
        if len(_query_of(self.plan, block).top) != 1:
            raise Unsplit("it is one of the queries of a set operation")

    def _computed(self, block: ra.Block, *, again: bool) -> None:
        """Raises Unsplit unless a block computes the same in each group, and, if each group reads
        it ``again``, the same each time."""
        for why in (*block.unknown_syntax, *block.unknown_values):
            raise Unsplit(why)
        for name in sorted(block.functions - {"?"}):
            row = self.options.function(name)
            if row is None or not row.deterministic:
                raise Unsplit(f"{name} is not known to give the same value in each group")
        for _, why in objections_to_functions(self.options, block.functions) if again else ():
            raise Unsplit(f"each group reads it again: {why}")
        if again and block.limit is not None:
            raise Unsplit("each group reads a LIMIT or OFFSET again, which may give other rows")

    def _subqueries(self) -> None:
        """Raises Unsplit unless each subquery with a split scan is a semi-join within a group."""
        for scan in self.columns:
            inner = self.plan.blocks[self.plan.owner[scan.relation]]
            if inner is self.block:
                continue
            known = any(
                join.block is inner
                and join.other is scan
                and self._ties(join, null_extended(self.block.source, join.one.relation))
                for join in self.joins
            )
            if inner.source is not scan or inner.aggregate or inner.limit or not known:
                raise Unsplit(f"{scan.alias} stands in a subquery that is more than a semi-join")

    def _split(self, node: ra.Node) -> bool:
        """Whether a join tree is the union of its groups; False where each group reads all of it.
        Raises Unsplit where it is neither."""
        match node:
            case ra.Scan() | ra.Derived() | ra.CteReference() | ra.Inline():
                if node.sampled or getattr(node, "streaming", False):
                    raise Unsplit(f"{node.alias} is a sample or a stream")
                if isinstance(node, ra.Derived) and node.lateral:
                    raise Unsplit("a LATERAL subquery stands in its FROM")
                return isinstance(node, ra.Scan) and node in self.columns
            case ra.Join(left=left, right=right):
                sides = self._split(left), self._split(right)
                self._legal(node, *sides)
                return any(sides)
            case _:
                raise Unsplit("its FROM has more than joins of tables and queries")

    def _legal(self, join: ra.Join, left: bool, right: bool) -> None:
        kind = join.type.value.upper()
        if not join.merge_known:
            raise Unsplit("it is not certain which columns a join merges")
        if left and right:
            if join.type not in _BOTH_SPLIT or not self._equal(join):
                raise Unsplit(f"no equality in the {kind} JOIN itself ties the partition columns")
        elif left and join.type not in _LEFT_SPLIT:
            raise Unsplit(f"a {kind} JOIN keeps rows of {_named(join.right)} in every group")
        elif right and join.type not in _RIGHT_SPLIT:
            raise Unsplit(f"a {kind} JOIN keeps rows of {_named(join.left)} in every group")

    def _equal(self, join: ra.Join) -> bool:
        """Whether a join has an equality of the columns that both sides are cut by. The NULLs of an
        outer join below equal nothing, except under <=>."""
        left, right = (list(leaves(tree)) for tree in (join.left, join.right))
        return any(
            scan_join.one in left
            and scan_join.other in right
            and self._ties(
                scan_join,
                null_extended(join.left, scan_join.one.relation)
                or null_extended(join.right, scan_join.other.relation),
            )
            for scan_join in self.joins
        )

    def _ties(self, scan_join: ScanJoin, nulls: bool) -> bool:
        """Whether a scan join has an equality of the columns that both are cut by; <=> does not
        count where an outer join adds ``nulls``, which are in every group."""
        return any(
            self.columns.get(scan_join.one) == key.one
            and self.columns.get(scan_join.other) == key.other
            and not (key.null_safe and nulls)
            for key in scan_join.keys
        )

    def _above(self) -> tuple[bool, tuple[ra.Expression, ...] | None]:
        """Checks that the operators above the join keep groups apart, or that one DISTINCT or GROUP
        BY puts them together, with nothing above it that needs all rows. Returns as ``check``."""
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
                            raise Unsplit(f"{above or 'DISTINCT'} stands above its aggregation")
                        combined = keys
                case ra.Aggregate(child=node, kind="distinct"):
                    distinct = not self._by_group(
                        [output.expression for output in self.block.outputs]
                    )
                case ra.Window(child=node, partitions=partitions):
                    above = "a window function"
                    if not all(map(self._by_group, partitions)):
                        raise Unsplit(
                            "PARTITION BY has no partition column that is the same for rows of one "
                            "group alone"
                        )
                case ra.Aggregate(kind=kind):
                    raise Unsplit(f"an aggregation over all groups together ({kind})")
                case _:
                    raise Unsplit("an operator above the join may mix rows of several groups")
        return distinct, combined

    def _by_group(self, keys: Iterable[ra.Expression]) -> bool:
        """Whether rows of two groups never have the same keys: one key is a column that a table is
        cut by, and no outer join extends it by NULLs."""
        return any(
            isinstance(key, ra.ColumnRef)
            and (key.relation, key.name) == (scan.relation, name)
            and not null_extended(self.block.source, scan.relation)
            for key in keys
            for scan, name in self.columns.items()
        )


def _outer(plan: ra.Plan, block: ra.Block) -> Iterator[ra.ColumnRef]:
    """The columns of outer queries that a block refers to, if it is a derived table or CTE."""
    for relation in (*plan.relations.values(), *plan.ctes):
        query = getattr(relation, "query", None)
        if isinstance(query, ra.Query) and block.number in query.top:
            yield from getattr(relation, "outer", ())


def _query_of(plan: ra.Plan, block: ra.Block) -> ra.Query:
    """The query that a block is a SELECT of."""
    queries = [plan.query, *(cte.query for cte in plan.ctes)]
    queries += [
        relation.query for relation in plan.relations.values() if isinstance(relation, ra.Derived)
    ]
    return next(query for query in queries if block.number in query.top)


def _named(node: ra.Node) -> str:
    first = next(iter(leaves(node)))
    return first.alias or "a query"
