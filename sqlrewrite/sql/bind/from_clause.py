"""FROM: derived tables, VALUES, generators and joins, each with its number."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import relations, walk
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.sql.bind.closed_world import syntax_reason
from sqlrewrite.sql.bind.scope import (
    NAMELESS,
    PRECEDENCE,
    Scope,
    star_columns,
    tree_lacks,
    using_key,
)
from sqlrewrite.sql.bind.tables import TableBinder
from sqlrewrite.sql.bind.translate import Translator
from sqlrewrite.sql.bind.trees import (
    alias_columns,
    alias_of,
    alias_offset,
    all_generated,
    all_of,
    behind_comma,
    computed_alias,
    is_beside,
    is_generated,
    is_query,
    may_be_comma,
)
from sqlrewrite.sql.parse.pipe_grammar import PIPED
from sqlrewrite.sql.parse.query_grammar import SHARED
from sqlrewrite.sql.parse.spans import span_of
from sqlrewrite.text.edits import Span
from sqlrewrite.warehouse import Name

_SIDES = {
    "LEFT": ra.JoinType.LEFT,
    "RIGHT": ra.JoinType.RIGHT,
    "FULL": ra.JoinType.FULL,
    "": ra.JoinType.INNER,
}
_KINDS = {"SEMI": ra.JoinType.SEMI, "ANTI": ra.JoinType.ANTI, "CROSS": ra.JoinType.CROSS}
_METHODS = ("", "NATURAL")


class FromBinder(TableBinder):
    """The part of the binder that binds what stands in FROM."""

    most_rows = 200  # of VALUES: a longer list takes time, and no filter repeats it

    @abstractmethod
    def conditions(
        self, clause: exp.Expr | None, kind: str, translator: Translator
    ) -> tuple[ra.Condition, ...]: ...

    def from_clause(self, node: exp.Select, translator: Translator) -> tuple[ra.Node, bool]:
        """The join tree of a SELECT, and whether its FROM belongs to several SELECTs."""
        before, self.sharing = self.sharing, self.sharing or SHARED in node.meta
        shared, from_ = self.sharing, node.args.get("from_")
        tree: ra.Node
        if from_ is None:
            tree = ra.Opaque(self.number(), "", "no FROM", columns=())
        else:
            tree = self._tree(from_.this, node.args.get("joins") or [], translator)
        tree = self._with_laterals(node.args.get("laterals") or [], tree, translator)
        self.sharing = before
        return tree, shared

    def _tree(self, first: exp.Expr, joins: list[exp.Expr], translator: Translator) -> ra.Node:
        tree, scope = self._relation(first, translator), translator.scope
        part: ra.Node | None = None
        for join in joins:
            comma = may_be_comma(join, self.text)
            scope.source, scope.narrow = tree, None
            if part is not None and not behind_comma(join.this, self.text):
                scope.narrow = Scope(scope.ctes, scope.parent, part)
            if is_beside(join):
                tree = self._with_laterals([join.this], tree, translator)
            else:
                right = self._relation(join.this, translator)
                tree = self._join(tree, right, join, translator, part)
            if join.args.get("pivots") or join.this.args.get("pivots"):
                # Written behind the last relation, it applies to the whole join before it.
                part = tree = self.opaque(join, "PIVOT or UNPIVOT of a join", alias="")
            elif comma or part is not None:
                part = self._last_part(tree, None if comma else part)
        scope.narrow = None
        return tree

    def _last_part(self, tree: ra.Node, before: ra.Node | None) -> ra.Node:
        """The part of a FROM after its last comma, with one relation more: the last relation of the
        join tree is joined to ``before``, the part so far."""
        match tree:
            case ra.Join(right=right):
                return right if before is None else replace(tree, left=before)
            case ra.Generate():
                nothing = ra.Opaque(self.number(), "", "no FROM", columns=())
                return replace(tree, child=before or nothing)
            case _:
                return tree

    def _join(
        self,
        left: ra.Node,
        right: ra.Node,
        join: exp.Expr,
        translator: Translator,
        part: ra.Node | None = None,
    ) -> ra.Node:
        """A join. After a comma, spark.sql.ansi.relationPrecedence decides whether its left side is
        all that comes before it, or only ``part``, what follows the comma."""
        method = (join.args.get("method") or "").upper()
        kind = (join.args.get("kind") or "").upper()
        side = (join.args.get("side") or "").upper()
        declared = _KINDS.get(kind, _SIDES.get(side))
        if declared is None or method not in _METHODS:
            declared = ra.JoinType.UNKNOWN
            translator.facts.unknowns.append(f"{method or side or kind} join is not understood")
        if part is not None and declared in (ra.JoinType.RIGHT, ra.JoinType.FULL):
            declared = ra.JoinType.UNKNOWN
        scope = translator.scope
        scope.source = ra.Join(ra.JoinType.INNER, left, right, (), ra.JoinType.INNER)
        if part is not None and scope.narrow is not None:
            scope.narrow.source = replace(scope.source, left=part)
        if join.args.get("using") or method == "NATURAL":
            using = self._using(left, right, join)
            natural = method == "NATURAL"
            equal = [_using_equality(left, right, name) for name in using or ()]
            if part is not None:
                sure = partial(_equal_in_both, left, part, natural=natural)
                unsure = "it is uncertain which column `{}` is merged: " + PRECEDENCE
                equal = [
                    equality if sure(name) else _condition(ra.Unknown(unsure.format(name)))
                    for equality, name in zip(equal, using or (), strict=True)
                ]
            if using is None:
                equal = [_condition(ra.Unknown("a NATURAL join over columns that are not known"))]
                translator.facts.unknowns.append("a NATURAL join over columns that are not known")
            merge_known, names = using is not None and part is None, using or ()
            return ra.Join(
                declared,
                left,
                right,
                tuple(equal),
                declared,
                names,
                natural,
                merge_known=merge_known,
            )
        conditions = self.conditions(join.args.get("on"), "on", translator)
        if len(conditions) == 1 and conditions[0].expression == ra.Literal("boolean", "true"):
            conditions = ()
        comma = kind == "CROSS" and behind_comma(join.this, self.text)
        return ra.Join(declared, left, right, conditions, declared, comma=comma)

    def _using(self, left: ra.Node, right: ra.Node, join: exp.Expr) -> tuple[str, ...] | None:
        """The names of the columns that a join merges, in order; None if unknown."""
        written = join.args.get("using")
        if written:
            return tuple(item.name.lower() for item in written)
        ours, theirs = star_columns(left), star_columns(right)
        if ours is None or theirs is None:
            return None
        other = Counter(name for name, _ in theirs)
        shared = tuple(name for name, _ in ours if name in other)
        # If one side has a column twice, Spark merges as many as the other side has.
        return shared if len(set(shared)) == len(shared) else None

    def _with_laterals(
        self, laterals: list[exp.Expr], tree: ra.Node, translator: Translator
    ) -> ra.Node:
        for lateral in laterals:
            translator.scope.source = tree
            expression = translator.translate(lateral.this)
            alias = lateral.args.get("alias")
            columns = alias_columns(lateral) or self.generated(expression)
            tree = self.generate(tree, alias.name if alias else "", columns, expression)
        return tree

    def generate(
        self, tree: ra.Node, alias: str, columns: Name | None, expression: ra.Expression
    ) -> ra.Generate:
        """A generator over a join tree, with a number of its own."""
        generator = ra.Generate(self.number(), tree, alias, columns, expression)
        self.relations[generator.relation] = generator
        return generator

    def generated(self, expression: ra.Expression) -> Name | None:
        """The names of a generator's columns, by the type of its result; None if unknown."""
        kind = type_of(self.so_far, expression)
        names = kind.names if kind is not None and kind.name == "struct" else ()
        return tuple([name.lower() for name in names]) or None

    def _relation(self, node: exp.Expr, translator: Translator) -> ra.Node:
        if computed_alias(node):
            return self.opaque(node, "an alias that is computed", alias=NAMELESS)
        match node:
            case exp.Table() if is_generated(node):
                return self.keep(self._table_function(node, translator))
            case exp.Table():
                bound = self._joined(self.keep(self.table(node, translator)), node, translator)
                return self._with_laterals(node.args.get("laterals") or [], bound, translator)
            case exp.Subquery():
                return self._parenthesised(node, translator)
            case exp.Lateral():
                return self.keep(self._lateral(node, translator.scope))
            case exp.Values():
                return self.keep(self._inline_values(node, translator))
            case _:
                why, columns = syntax_reason(node, self.text), alias_columns(node)
                return self.keep(ra.Opaque(self.number(), alias_of(node), why, columns=columns))

    def _inline_values(self, node: exp.Values, translator: Translator) -> ra.Relation:
        """VALUES, if all rows are constants and of one length; without an alias it has no name."""
        alias, number = alias_of(node), self.number()
        listed = alias_columns(node)
        plain = all(name in ("expressions", "alias") for name, value in node.args.items() if value)
        rows = [
            expression.expressions
            for expression in node.expressions
            if isinstance(expression, exp.Tuple)
        ]
        widths = {len(row) for row in rows} | ({len(listed)} if listed else set())
        cells = [
            tuple(translator.translate(cell) for cell in row)
            for row in (rows if len(widths) == 1 and len(rows) <= self.most_rows else ())
        ]
        if not (plain and cells and self.reads_rows(cells) and len(rows) == len(node.expressions)):
            why = f"VALUES with more than {self.most_rows} rows, or not of constants"
            return ra.Opaque(number, alias, why, columns=listed)
        columns = listed or tuple(f"col{at}" for at in range(1, widths.pop() + 1))
        span = None if self.in_view else span_of(node)
        return ra.Inline(number, tuple(cells), columns, alias, span, listed or ())

    def reads_rows(self, cells: Sequence[Sequence[ra.Expression]]) -> bool:
        """Whether the rows of VALUES are understood: they are constants."""
        return all(_is_constant(cell) for row in cells for cell in row)

    def _joined(self, tree: ra.Node, node: exp.Expr, translator: Translator) -> ra.Node:
        """A relation with the joins that sqlglot attaches to its node."""
        scope = translator.scope
        outer, narrow, scope.narrow = scope.source, scope.narrow, None
        for join in node.args.get("joins") or []:
            scope.source = tree
            right = self._relation(join.this, translator)
            tree = self._join(tree, right, join, translator)
        scope.source, scope.narrow = outer, narrow
        return tree

    def _parenthesised(self, node: exp.Subquery, translator: Translator) -> ra.Node:
        extra = any(node.args.get(clause) for clause in ("pivots", "match"))
        if isinstance(node.this, exp.Table | exp.Subquery) and not is_query(node.this):
            if extra or node.args.get("sample"):
                why = "PIVOT, UNPIVOT or TABLESAMPLE of a join"
                return self.opaque(node, why)
            if node.args.get("alias"):
                return self._parenthesised(all_of(node), translator)
            return self._joined(self._relation(node.this, translator), node, translator)
        # A derived table sees the scopes around its SELECT, not its neighbours in FROM.
        scope = translator.scope
        outside = Scope(scope.ctes, scope.parent)
        if SHARED in node.meta:
            return self._joined(self.keep(self._shared_table(node, outside)), node, translator)
        number = self.number()
        query = self.inner(node.this, outside, "derived")
        scope.outer.extend(outside.outer)
        columns = alias_columns(node) or ()
        alias = NAMELESS if PIPED in node.meta else alias_of(node)
        span = None if self.in_view else span_of(node)
        bound: ra.Relation = ra.Derived(
            number,
            query,
            alias,
            span,
            columns,
            listed=columns,
            anchor=None if self.in_view else alias_offset(node),
            outer=tuple(outside.outer),
            sampled=bool(node.args.get("sample")),
        )
        if extra:
            bound = ra.Opaque(number, alias, "PIVOT, UNPIVOT or MATCH_RECOGNIZE", unread=True)
        return self._joined(self.keep(bound), node, translator)

    def _table_function(self, node: exp.Table, translator: Translator) -> ra.Relation:
        """A generator in FROM, as the derived table of its columns."""
        number, outside = self.number(), Scope(translator.scope.ctes, translator.scope.parent)
        query = self.inner(all_generated(node), outside, "derived")
        translator.scope.outer.extend(outside.outer)
        start = None if self.in_view else node.this.meta.get("start")
        span = None if start is None else Span(start, start + 1)
        columns, outer = alias_columns(node) or (), tuple(outside.outer)
        return ra.Derived(number, query, alias_of(node), span, columns, listed=columns, outer=outer)

    def _shared_table(self, node: exp.Subquery, outside: Scope) -> ra.Relation:
        """A derived table in a FROM that several SELECTs share. All read the same rows, so it is
        bound as a CTE without a name."""
        number, alias, columns = self.number(), alias_of(node), alias_columns(node) or ()
        text_id = node.meta[SHARED]
        if text_id not in self._shared:
            before, self.sharing = self.sharing, False
            query = self.inner(node.this, outside, "cte")
            self.sharing = before
            self._shared[text_id] = len(self.ctes)
            at = alias_offset(node) or 0
            self.ctes.append(ra.Cte(len(self.ctes), "", query, at, outer=tuple(outside.outer)))
        cte = self.ctes[self._shared[text_id]]
        if cte.outer or node.args.get("pivots") or node.args.get("match"):
            why = "several SELECTs share it, and it is pivoted or refers to outer columns"
            return ra.Opaque(number, alias, why, unread=True)
        sampled = bool(node.args.get("sample"))
        return ra.CteReference(
            number, cte.number, cte.query, alias, "", None, columns, columns, sampled
        )

    def _lateral(self, node: exp.Lateral, scope: Scope) -> ra.Relation:
        number = self.number()
        inner = node.this
        if isinstance(inner, exp.Subquery) and is_query(inner):
            siblings = Scope(scope.ctes, scope.parent, scope.source, narrow=scope.narrow)
            beside = Scope(scope.ctes, siblings)
            query = self.inner(inner, beside, "lateral")
            scope.outer.extend(siblings.outer)
            columns = alias_columns(node) or ()
            outer = tuple(beside.outer)
            return ra.Derived(
                number, query, alias_of(node), None, columns, outer=outer, lateral=True
            )
        return ra.Opaque(number, alias_of(node), "a table function", columns=alias_columns(node))


def _using_equality(left: ra.Node, right: ra.Node, name: str) -> ra.Condition:
    ours, theirs = using_key(left, name), using_key(right, name)
    if ours is None or theirs is None:
        return _condition(ra.Unknown(f"the column `{name}` of USING is not known"))
    return _condition(ra.Call("=", (ours, theirs)))


def _equal_in_both(left: ra.Node, part: ra.Node, name: str, *, natural: bool) -> bool:
    """Whether USING or NATURAL merges the same column with ``left`` as the left side of the join as
    with only its ``part``. Also True if Spark refuses the second, as for USING."""
    if not natural and tree_lacks(part, name):
        return True
    return using_key(left, name) == using_key(part, name)


def _condition(expression: ra.Expression) -> ra.Condition:
    return ra.Condition(expression, relations(expression))


def _is_constant(expression: ra.Expression) -> bool:
    """Whether an expression has one value throughout a query: it holds only constants and
    repeatable functions."""
    for node in walk(expression):
        match node:
            case ra.Literal(kind=kind) if kind not in ("star", "template"):
                pass
            case ra.Cast():
                pass
            case ra.Call(name=name):
                row = function(name)
                plain = row is not None and row.kind in ("operator", "scalar")
                if row is None or not plain or not row.repeatable:
                    return False
            case _:
                return False
    return True
