"""A statement's tree to a plan: names resolved against the catalog, every SELECT a block.

In: a sqlglot tree, the text it was parsed from, the catalog. Out: a frozen ``Plan``. What is not
known becomes ``Opaque`` (a relation), ``Unreadable`` (a query) or ``Unknown`` (an expression): a
barrier for the rules, never a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from sqlglot import exp

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import outputs
from sqlrewrite.plan.expressions import relations
from sqlrewrite.plan.joins import simplify, simplify_inner_blocks
from sqlrewrite.sql.bind.closed_world import is_plain_query, not_understood, syntax_reason
from sqlrewrite.sql.bind.dml import query_run_by
from sqlrewrite.sql.bind.from_clause import FromBinder
from sqlrewrite.sql.bind.scope import Scope
from sqlrewrite.sql.bind.select_clauses import (
    SelectList,
    aggregation,
    limit_count,
    limit_over,
    order_keys,
    ranked,
    select_list,
)
from sqlrewrite.sql.bind.translate import Facts, Translator, Trees
from sqlrewrite.sql.bind.trees import (
    bare,
    conjunct_trees,
    listed_whole,
    may_mean,
    open_names,
    short_names,
)
from sqlrewrite.sql.parse.query_grammar import NO_WHERE, SELECT_OFFSET
from sqlrewrite.sql.parse.spans import span_of
from sqlrewrite.warehouse import Warehouse

_NO_CTES: Mapping[str, int] = {}


class Bound(Struct, frozen=True, eq=False):
    """A statement's plan, with the trees of its SELECTs, of the conditions of its clauses, and of
    its expressions. Edits are placed by these trees, and checked against them."""

    plan: ra.Plan
    selects: Mapping[int, exp.Select]
    conditions: Mapping[ra.Clause, exp.Expr]
    trees: Trees

    def condition(self, block: int, on: ra.Clause | None) -> exp.Expr | None:
        """The condition of an ON, or else of a block's WHERE."""
        if on is not None:
            return self.conditions.get(on)
        where = self.selects[block].args.get("where")
        return where.this if where is not None else None


def bind(
    tree: exp.Expr,
    text: str,
    catalog: Warehouse,
    possible_names: frozenset[str] | None = None,
    *,
    whole: bool = False,
) -> Bound | None:
    """The plan of a statement, or None if it holds no query.

    ``possible_names``: the words of the statement that may be names, if text in double quotes may
    be one.
    ``whole``: bind all expressions of the outermost SELECT list, not only those of ``skimmed``.
    """
    query, role = query_run_by(tree)
    if query is None:
        return None
    with_ = None if query is tree else tree.args.get("with_")
    binder = Binder(catalog, text)
    binder.possible_names, binder.whole = possible_names, whole
    ctes = binder.with_clause(with_, _NO_CTES) if with_ is not None else _NO_CTES
    bound = binder.query(query, Scope(ctes), role)
    blocks = tuple(sorted(binder.blocks, key=lambda block: block.number))
    plan = ra.Plan(
        bound,
        blocks,
        tuple(binder.ctes),
        binder.relations,
        binder.owner,
        _unbound(tree, binder),
        read_elsewhere=isinstance(tree, exp.Create) and tree.kind == "VIEW",
    )
    return Bound(simplify_inner_blocks(plan), binder.selects, binder.clauses, binder.trees)


def _unbound(tree: exp.Expr, binder: Binder) -> frozenset[int]:
    """The CTEs that the tree refers to more often than the plan does (from a recursive CTE, a
    PIVOT, or anything else that was not bound), and those that a name known only at run time may
    mean."""
    if not binder.ctes:
        return frozenset()
    written = Counter(short_names(tree))
    bound = Counter(
        relation.name if isinstance(relation, ra.CteReference) else relation.parts[0]
        for relation in binder.relations.values()
        if isinstance(relation, ra.CteReference)
        or (
            isinstance(relation, ra.Scan | ra.Derived)
            and relation.span
            and len(relation.parts) == 1
        )
    )
    more = {cte.number for cte in binder.ctes if written[cte.name] > bound[cte.name]}
    opened = open_names(written)
    maybe = {cte.number for cte in binder.ctes if opened and may_mean(opened, cte.name)}
    return frozenset(more | maybe | binder.disputed)


def _hints_at_joins(node: exp.Select) -> tuple[tuple[str, str], ...]:
    hint = node.args.get("hint")
    hints = () if hint is None else hint.find_all(exp.JoinHint)
    return tuple(
        (join_hint.name.lower(), table.name.lower())
        for join_hint in hints
        for table in join_hint.expressions
    )


def _stacked(
    top: ra.Node,
    having: tuple[ra.Condition, ...],
    facts: Facts,
    qualify: tuple[ra.Condition, ...],
) -> ra.Node:
    """HAVING, windows and QUALIFY above the groups of a SELECT."""
    top = ra.Filter(top, having, "having") if having else top
    top = ra.Window(top, tuple(facts.partitions)) if facts.partitions else top
    return ra.Filter(top, qualify, "qualify") if qualify else top


def unreadable(why: str) -> ra.Query:
    """A query that is not understood."""
    return ra.Query(ra.Unreadable(why), (), (), None)


class Role(Struct, frozen=True, eq=False):
    """How a block is used in the one around it; see ``Block``."""

    name: str
    parent: int | None = None
    required: bool = False
    negated: bool = False

    @property
    def skimmed(self) -> bool:
        """Whether only the plain columns of its SELECT list, and their extremes, are bound: the
        statement returns the other items, and no predicate needs them."""
        return self.name in ("query", "merge", "change")


class Binder(FromBinder):
    """Binds one statement; it numbers blocks, relations and CTEs as it goes."""

    def __init__(self, catalog: Warehouse, text: str) -> None:
        super().__init__(catalog, text)
        self.blocks: list[ra.Block] = []
        self.ctes: list[ra.Cte] = []
        self.selects: dict[int, exp.Select] = {}
        self.clauses: dict[ra.Clause, exp.Expr] = {}
        self.trees: Trees = {}
        self._next_block = 0
        self.whole = False
        self._role = Role("query")
        self.disputed: set[int] = set()
        self._fixed: frozenset[str] = frozenset()

    def query(self, node: exp.Expr, scope: Scope, role: str) -> ra.Query:
        """A query that may refer to ``scope.parent``; ``scope.outer`` collects such references."""
        enclosing = self._role
        inner = Role(role, enclosing.parent, enclosing.required, enclosing.negated)
        return self._query(node, scope, inner)

    def _query(self, node: exp.Expr, scope: Scope, role: Role) -> ra.Query:
        first = self._next_block
        bound, top = self._query_node(node, scope, role)
        columns = outputs(bound)
        names = None if columns is None else tuple([output.name for output in columns])
        return ra.Query(bound, top, tuple(range(first, self._next_block)), names)

    def _query_node(
        self, node: exp.Expr, scope: Scope, role: Role
    ) -> tuple[ra.Node, tuple[int, ...]]:
        with_ = node.args.get("with_")
        if with_ is not None:
            scope = replace(scope, ctes=self.with_clause(with_, scope.ctes))
        if not isinstance(node, exp.Select) and not is_plain_query(node):
            return ra.Unreadable("this kind of query is not understood"), ()
        match node:
            case exp.Select():
                return self._select(node, scope, role)
            case exp.SetOperation():
                return self._set_operation(node, scope, role)
            case exp.Subquery() if isinstance(node.this, exp.Query):
                bound, top = self._query_node(node.this, scope, role)
                return self._limited(node, bound), top
            case _:
                return ra.Unreadable(syntax_reason(node, self.text)), ()

    def _set_operation(
        self, node: exp.SetOperation, scope: Scope, role: Role
    ) -> tuple[ra.Node, tuple[int, ...]]:
        if node.args.get("by_name") or node.args.get("on") or node.args.get("side"):
            return ra.Unreadable("a set operation by name is not understood"), ()
        # Chains of UNION run to thousands: down the left spine without recursion.
        role = replace(role, required=False)  # a row may pass by another branch
        spine: list[exp.SetOperation] = []
        operand: exp.Expr = node
        while isinstance(operand, exp.SetOperation) and (operand is node or bare(operand)):
            spine.append(operand)
            operand = operand.this
        bound, top = self._query_node(operand, scope, role)
        for operation in reversed(spine):
            right, more = self._query_node(operation.expression, scope, role)
            kind = type(operation).__name__.lower()
            bound = ra.SetOperation(bound, right, kind, not operation.args.get("distinct"))
            top += more
        return self._limited(node, bound), top

    def _limited(self, node: exp.Expr, bound: ra.Node) -> ra.Node:
        if any(node.args.get(key) is not None for key in ("limit", "offset")):
            limit = ra.Limit(bound, most=limit_count(node.args.get("limit")))
            self.blocks[-1] = replace(self.blocks[-1], limit=limit)
            return limit
        return bound

    def with_clause(self, with_: exp.Expr, outer: Mapping[str, int]) -> Mapping[str, int]:
        """The CTEs visible after a WITH: each sees those before it, and hides outer ones."""
        visible = dict(outer)
        for cte in with_.expressions:
            name = cte.alias.lower()
            recursive = with_.args.get("recursive") and any(
                table.name.lower() == name for table in cte.this.find_all(exp.Table)
            )
            why = ""
            if name in self._fixed and name in outer:
                self.disputed |= {outer[name], len(self.ctes)}
                why = f"`{name}` may mean an outer CTE (spark.sql.legacy.ctePrecedencePolicy)"
            if why:
                query = unreadable(why)
            elif recursive:
                query = self.recursive_query(cte.this, name, visible)
            else:
                query = self._within(visible, cte.this, Scope(dict(visible)), Role("cte"))
            renamed = tuple(column.name.lower() for column in cte.args["alias"].columns)
            offset = cte.args["alias"].this.meta.get("start", 0)
            # Nested WITHs have added their own in between: the number is where it lands.
            number = len(self.ctes)
            self.ctes.append(ra.Cte(number, name, query, offset, renamed))
            visible[name] = number
        return visible

    def recursive_query(self, node: exp.Expr, name: str, visible: Mapping[str, int]) -> ra.Query:
        """The query of a recursive CTE."""
        return unreadable("a recursive CTE is not understood")

    def _within(
        self, ctes: Mapping[str, int], node: exp.Expr, scope: Scope, role: Role
    ) -> ra.Query:
        """A query inside a CTE or an expression. Under a legacy policy a WITH in it does not hide
        the CTEs around it."""
        before, self._fixed = self._fixed, frozenset(ctes)
        query = self._query(node, scope, role)
        self._fixed = before
        return query

    def _select(
        self, node: exp.Select, outer: Scope, role: Role
    ) -> tuple[ra.Node, tuple[int, ...]]:
        number, self._next_block = self._next_block, self._next_block + 1
        self.selects[number] = node
        enclosing, self._role = self._role, Role("query", number)
        windows = node.args.get("windows") or ()
        translator = self._translator(Scope(outer.ctes, outer.parent), windows)
        scope, facts = translator.scope, translator.facts
        source, shared = self.from_clause(node, translator)
        scope.source = source
        where = self.conditions(node.args.get("where"), "where", translator)
        scope.source = source = simplify(source, where)
        shown = self.select_list(node, translator, skim=role.skimmed)
        in_having = replace(translator, first=shown.first) if shown.first else translator
        having = self.conditions(node.args.get("having"), "having", in_having)
        qualify = self.conditions(node.args.get("qualify"), "qualify", translator)
        order = order_keys(node, translator)
        alone = not (role.skimmed or node.args.get("group") or having or qualify)
        source, shown = self._generating(source, shown, translator, alone=alone)
        top: ra.Node = ra.Filter(source, where) if where else source
        aggregate = aggregation(node, top, shown, translator)
        top = _stacked(aggregate or top, having, facts, qualify)
        top = ra.Project(top, shown.items, number, shown.complete)
        distinct = node.args.get("distinct") is not None
        top = ra.Aggregate(top, (), "distinct") if distinct else top
        limit = limit_over(node, top, order, translator)
        self.owner.update(dict.fromkeys(self.pending, number))
        self.pending.clear()
        self.blocks.append(
            ra.Block(
                number=number,
                parent=role.parent,
                role=role.name,
                required=role.required,
                negated=role.negated,
                source=source,
                where=where,
                outputs=shown.items,
                complete=shown.complete,
                aggregate=aggregate.kind if aggregate else None,
                keys=aggregate.keys if aggregate else (),
                having=(*having, *qualify),
                distinct=distinct,
                limit=limit,
                functions=frozenset(facts.functions),
                unknown_values=tuple(facts.unknowns),
                ctes=outer.ctes,
                in_view=self.in_view,
                hints=_hints_at_joins(node),
                unknown_syntax=tuple(not_understood(node, self.text)),
                select_offset=node.meta.get(SELECT_OFFSET),
                shared=shared,
                no_where=node.meta.get(NO_WHERE, ""),
                order=order,
                ranked=ranked(node, translator) if facts.partitions else None,
            )
        )
        outer.outer.extend(scope.outer)
        self._role = enclosing
        return limit or top, (number,)

    def select_list(self, node: exp.Select, translator: Translator, *, skim: bool) -> SelectList:
        """The list of a SELECT; see ``select_clauses``."""
        return select_list(node, translator, skim=skim, in_full=self.whole)

    def _translator(self, scope: Scope, windows: Sequence[exp.Expr] = ()) -> Translator:
        """A translator for the expressions of a SELECT with these named windows."""
        named = {window.name.lower(): window for window in windows}
        translator = Translator(self.text, self.in_view, self.subquery, scope, Facts(), named)
        translator.possible_names, translator.trees = self.possible_names, self.trees
        return translator

    def _generating(
        self, source: ra.Node, shown: SelectList, translator: Translator, *, alone: bool
    ) -> tuple[ra.Node, SelectList]:
        """The FROM and the list of a SELECT whose list may hold a generator. A generator in a list
        without aggregates or windows (``alone``) is bound as a LATERAL VIEW under WHERE: what WHERE
        says of a row holds for all rows made of it."""
        if shown.generated is None:
            return source, shown
        (at, names), facts = shown.generated, translator.facts
        expression = shown.items[at].expression
        alone = alone and not (facts.aggregates or facts.partitions or facts.uncertain)
        columns = names or self.generated(expression) if alone else None
        if columns is None:
            return source, replace(shown, complete=False)
        generator = self.generate(source, "", columns, expression)
        its = [
            ra.OutputColumn(column, ra.ColumnRef(generator.relation, column, None))
            for column in columns
        ]
        return generator, replace(shown, items=(*shown.items[:at], *its, *shown.items[at + 1 :]))

    def conditions(
        self, clause: exp.Expr | None, kind: str, translator: Translator
    ) -> tuple[ra.Condition, ...]:
        """The conjuncts of a clause."""
        if clause is None:
            return ()
        bare = isinstance(clause, exp.Where | exp.Having | exp.Qualify)
        condition = clause.this if bare else clause
        translate = translator.conjunct if kind == "where" else translator.translate
        expressions = [translate(tree) for tree in conjunct_trees(condition)]
        span = None if self.in_view else span_of(condition)
        place = None if span is None else ra.Clause(kind, span.start)
        if place is not None:
            self.clauses[place] = condition
        return tuple(
            [ra.Condition(expression, relations(expression), place) for expression in expressions]
        )

    def subquery(
        self,
        node: exp.Expr,
        scope: Scope,
        kind: str,
        operand: ra.Expression | None,
        required: bool,
        negated: bool,
    ) -> ra.Subquery:
        """A subquery in an expression; its outer references are those to columns outside of it."""
        inner = Scope(scope.ctes, scope)
        node = listed_whole(node) if kind == "in" else node
        before, self.pending = self.pending, []
        role = Role(kind, self._role.parent, required, negated)
        query = self._within(scope.ctes, node, inner, role)
        self.pending = before
        return ra.Subquery(kind, query, operand, tuple(inner.outer))
