"""Whether a query returns the same rows if it runs per group of partitions.

The value of a column, NULL included, puts each row of a split table into one group. In: a plan.
Out: a ``Split``; raises ``Unsplit`` with the reason if there is none. The legal joins are a table,
by join type and split sides; a walk over the operators above the join decides the rest
(docs/soundness.md, "Groups of partitions").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from sqlrewrite.copies import replace
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
"""Joins that are the union of the joins of each group of the left side with the whole right
side."""

_RIGHT_SPLIT = frozenset({ra.JoinType.INNER, ra.JoinType.CROSS, ra.JoinType.RIGHT})
"""Joins that are the union of the joins of each group of the right side with the whole left
side."""

_BOTH_SPLIT = _LEFT_SPLIT | _RIGHT_SPLIT | {ra.JoinType.FULL}
"""Joins that are the union of the joins of each group of one side with the same group of the other,
if the ON equates the columns that both are split by."""


class Split(Struct, frozen=True, eq=False):
    """A block that can be written by groups.

    ``scans`` are the split scans with the column that each is split by, ``kind`` is the type in
    which these are compared, with a ``cast`` or without. ``distinct``: rows of two groups must be
    deduplicated. ``combined``: how aggregates are combined; None if there are none.
    """

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
    why = Unsplit("no join is on the partition columns of two tables")
    for number in sorted({_block_of(plan, join).number for join in on_partitions}, reverse=True):
        block = plan.blocks[number]
        try:
            mine = [join for join in on_partitions if _block_of(plan, join) is block]
            return _split_block(plan, block, mine, options)
        except Unsplit as unsplit:
            why = unsplit
    raise why


def _split_block(plan: ra.Plan, block: ra.Block, mine: list[ScanJoin], options: Options) -> Split:
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
    """The columns whose values decide a row's partition."""
    table = scan.table
    if table.parts is not None:
        return tuple(key for key in table.parts.keys if key)
    if table.provider == "iceberg":  # it skips no files by a function of a column
        return ()
    return table.identities


def _is_on_partitions(scan_join: ScanJoin) -> bool:
    return any(_is_partition_key(scan_join, key.one, key.other) for key in scan_join.keys)


def _is_partition_key(scan_join: ScanJoin, one: str, other: str) -> bool:
    return one in partition_columns(scan_join.one) and other in partition_columns(scan_join.other)


def _block_of(plan: ra.Plan, scan_join: ScanJoin) -> ra.Block:
    """The block of a scan join; for one with a subquery, the outer block."""
    return plan.blocks[plan.owner[scan_join.one.relation]]


def _connected_columns(scan_joins: list[ScanJoin]) -> dict[ra.Scan, str]:
    """The scans that equalities of partition columns connect with the first one, each with its
    column."""
    one = scan_joins[0]
    first = next(key for key in one.keys if _is_partition_key(one, key.one, key.other))
    columns = {one.one: first.one}
    for _ in scan_joins:
        for scan_join in scan_joins:
            for key in scan_join.keys:
                if not _is_partition_key(scan_join, key.one, key.other):
                    continue
                if columns.get(scan_join.one) == key.one:
                    columns.setdefault(scan_join.other, key.other)
                elif columns.get(scan_join.other) == key.other:
                    columns.setdefault(scan_join.one, key.one)
    return columns


def _common_type(plan: ra.Plan, scans: tuple[tuple[ra.Scan, str], ...]) -> tuple[Type, bool]:
    """The type in which equal values of the columns are identical, and whether it takes a cast."""
    kinds: list[Type] = []
    for scan, name in scans:
        kind = type_of(plan, ra.ColumnRef(scan.relation, name, None))
        if kind is None or family(kind) is None or kind in FLOATING or kind.name == "char":
            shown = (
                f"is {kind}: rows cannot be assigned to groups by its values"
                if kind
                else "is not known: declare it in the catalog"
            )
            raise Unsplit(f"the type of `{scan.alias}.{name}` {shown}")
        kinds.append(read_as(kind))
    if len(set(kinds)) == 1:
        return kinds[0], False
    if all(map(is_integral, kinds)):
        return BIGINT, True
    shown = " and ".join(dict.fromkeys(map(str, kinds)))
    raise Unsplit(f"the partition columns have different types: they are {shown}")


class _Search(Struct, frozen=True, eq=False):
    """The checks on one block; ``columns`` are those that its scans are split by."""

    plan: ra.Plan
    block: ra.Block
    options: Options
    columns: dict[ra.Scan, str]
    joins: list[ScanJoin]

    def check(self) -> tuple[bool, tuple[ra.Expression, ...] | None]:
        """Whether rows of two groups must be deduplicated, and the keys of an aggregation that must
        be combined, None if none. Raises Unsplit if the block is not the union of its groups."""
        block = self.block
        self._in_place()
        mine = {block.number, *(self.plan.owner[column.relation] for column in self.columns)}
        for other in self.plan.blocks:
            self._computed(other, again=other.number not in mine)
        self._subqueries()
        if not self._split(block.source):
            raise Unsplit("its FROM has none of the tables that are partitioned alike")
        return self._above()

    def _in_place(self) -> None:
        block = self.block
        if block.in_view or block.shared or block.select_offset is not None or block.no_where:
            raise Unsplit("its text is no complete SELECT … FROM")
        if block.role not in ("query", "derived", "cte"):
            raise Unsplit(f"it is not a query, derived table or CTE, but {block.role}")
        if block.limit is not None:
            raise Unsplit("LIMIT or OFFSET counts the rows of all groups")
        owner = self.plan.owner
        if any(owner[ref.relation] != block.number for ref in _outer(self.plan, block)):
            raise Unsplit("it refers to outer columns")
        if len(_query_of(self.plan, block).top) != 1:
            raise Unsplit("it is one side of a set operation")

    def _computed(self, block: ra.Block, *, again: bool) -> None:
        """Raises Unsplit unless a block gives the same in each group, and, if each group reads it
        ``again``, the same each time."""
        for why in (*block.unknown_syntax, *block.unknown_values):
            raise Unsplit(why)
        for name in sorted(block.functions - {"?"}):
            row = self.options.function(name)
            if row is None or not row.deterministic:
                raise Unsplit(f"`{name}` is not known to give the same value in each group")
        for _, why in objections_to_functions(self.options, block.functions) if again else ():
            raise Unsplit(f"each group would read it again: {why}")
        if again and block.limit is not None:
            raise Unsplit(
                "each group would read a LIMIT or OFFSET again, which may give other rows"
            )

    def _subqueries(self) -> None:
        """Raises Unsplit unless each subquery with a split scan is a semi-join within groups."""
        for scan in self.columns:
            inner = self.plan.blocks[self.plan.owner[scan.relation]]
            if inner is self.block:
                continue
            is_semi_join = any(
                join.block is inner
                and join.other is scan
                and self._ties(join, null_extended(self.block.source, join.one.relation))
                for join in self.joins
            )
            if inner.source is not scan or inner.aggregate or inner.limit or not is_semi_join:
                raise Unsplit(f"`{scan.alias}` is in a subquery that is more than a semi-join")

    def _split(self, node: ra.Node) -> bool:
        """Whether a join tree is the union of its groups; False if each group reads all of it.
        Raises Unsplit if it is neither."""
        match node:
            case ra.Scan() | ra.Derived() | ra.CteReference() | ra.Inline():
                if node.sampled or getattr(node, "streaming", False):
                    raise Unsplit(f"`{node.alias}` is a sample or a stream")
                if isinstance(node, ra.Derived) and node.lateral:
                    raise Unsplit("its FROM has a LATERAL subquery")
                return isinstance(node, ra.Scan) and node in self.columns
            case ra.Join(left=left, right=right):
                sides = self._split(left), self._split(right)
                self._legal(node, *sides)
                return any(sides)
            case _:
                raise Unsplit("its FROM has something other than joins of tables and queries")

    def _legal(self, join: ra.Join, left: bool, right: bool) -> None:
        kind = join.type.value.upper()
        if not join.merge_known:
            raise Unsplit("it is not certain which columns a USING or NATURAL JOIN merges")
        if left and right:
            if join.type not in _BOTH_SPLIT or not self._equal(join):
                raise Unsplit(f"the ON of the {kind} JOIN does not equate the partition columns")
        elif left and join.type not in _LEFT_SPLIT:
            raise Unsplit(f"{kind} JOIN would return rows of {_named(join.right)} in every group")
        elif right and join.type not in _RIGHT_SPLIT:
            raise Unsplit(f"{kind} JOIN would return rows of {_named(join.left)} in every group")

    def _equal(self, join: ra.Join) -> bool:
        """Whether a join equates the columns that both sides are split by. The NULLs of an outer
        join below equal nothing, except under <=>."""
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
        """Whether a scan join equates the columns that both are split by; <=> does not count if an
        outer join adds ``nulls``, which are in every group."""
        return any(
            self.columns.get(scan_join.one) == key.one
            and self.columns.get(scan_join.other) == key.other
            and not (key.null_safe and nulls)
            for key in scan_join.keys
        )

    def _above(self) -> tuple[bool, tuple[ra.Expression, ...] | None]:
        """The answer of ``check`` from the operators above the join. Raises Unsplit unless they
        work within groups, or one DISTINCT or GROUP BY combines the groups with nothing above it
        that needs all rows."""
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
                            raise Unsplit(f"{above or 'DISTINCT'} is above its aggregation")
                        combined = keys
                case ra.Aggregate(child=node, kind="distinct"):
                    distinct = not self._by_group(
                        [output.expression for output in self.block.outputs]
                    )
                case ra.Window(child=node, partitions=partitions):
                    above = "a window function"
                    if not all(map(self._by_group, partitions)):
                        raise Unsplit(
                            "the PARTITION BY of a window function has no partition column of the "
                            "split tables"
                        )
                case ra.Aggregate(kind=kind):
                    raise Unsplit(f"{kind.upper()} aggregates over all groups")
                case _:
                    raise Unsplit("an operator above the join may combine rows of several groups")
        return distinct, combined

    def _by_group(self, keys: Iterable[ra.Expression]) -> bool:
        """Whether rows of two groups never have the same keys: one key is a column that a table is
        split by, and no outer join extends it by NULLs."""
        return any(
            isinstance(key, ra.ColumnRef)
            and (key.relation, key.name) == (scan.relation, name)
            and not null_extended(self.block.source, scan.relation)
            for key in keys
            for scan, name in self.columns.items()
        )


def _outer(plan: ra.Plan, block: ra.Block) -> Iterator[ra.ColumnRef]:
    """The outer columns that a block refers to, if it is a derived table or CTE."""
    for relation in (*plan.relations.values(), *plan.ctes):
        query = getattr(relation, "query", None)
        if isinstance(query, ra.Query) and block.number in query.top:
            yield from getattr(relation, "outer", ())


def _query_of(plan: ra.Plan, block: ra.Block) -> ra.Query:
    """The query that has a block as one of its SELECTs."""
    queries = [plan.query, *(cte.query for cte in plan.ctes)]
    queries += [
        relation.query for relation in plan.relations.values() if isinstance(relation, ra.Derived)
    ]
    return next(query for query in queries if block.number in query.top)


def _named(node: ra.Node) -> str:
    first = next(iter(leaves(node)))
    return f"`{first.alias}`" if first.alias else "a query"
