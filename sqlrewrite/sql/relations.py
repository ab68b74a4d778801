"""FROM: tables, views, CTEs, derived tables and joins, each with its number."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import cast

from sqlglot import exp

from sqlrewrite.plan.algebra import (
    Call,
    Condition,
    Cte,
    CteReference,
    Derived,
    Expression,
    Generate,
    Inline,
    Join,
    JoinType,
    Literal,
    Node,
    Opaque,
    Query,
    Relation,
    Scan,
    Unknown,
)
from sqlrewrite.plan.expressions import relations
from sqlrewrite.sql.parse import statements
from sqlrewrite.sql.pipe_grammar import PIPED
from sqlrewrite.sql.query_grammar import HOMELESS, SHARED
from sqlrewrite.sql.quoted import unreadable, words_around
from sqlrewrite.sql.scope import NAMELESS, Scope, key, star
from sqlrewrite.sql.translate import Translator
from sqlrewrite.sql.trees import computed_alias
from sqlrewrite.text.edits import Span
from sqlrewrite.warehouse import Name, Table, View, Warehouse

_SIDES = {"LEFT": JoinType.LEFT, "RIGHT": JoinType.RIGHT, "FULL": JoinType.FULL, "": JoinType.INNER}
_KINDS = {"SEMI": JoinType.SEMI, "ANTI": JoinType.ANTI, "CROSS": JoinType.CROSS}
_METHODS = ("", "NATURAL")

# What a table reference may carry and still be the plain table.
_PLAIN_TABLE = frozenset(
    {"this", "db", "catalog", "alias", "joins", "version", "sample", "laterals"}
)
_MAX_VIEW_DEPTH = 20
_MOST_ROWS = 200
"""Of VALUES: more are data, and no one wants to read them twice."""

# How far before a relation's first name its comma is looked for, and what in between speaks against
# one: a join's word, or a comment, which may hold anything.
_NEAR = 200
_COMMENT = re.compile(r"--|/\*|\*/")
_CROSS_JOIN = re.compile(r"\bcross\s+join\s*[\s(]*$", re.IGNORECASE)
_NOT_A_COMMA = re.compile(r"\bjoin\b|--|/\*|\*/", re.IGNORECASE)


class RelationBinder:
    """The part of the binder that numbers and binds relations."""

    def __init__(self, catalog: Warehouse, text: str) -> None:
        self.catalog = catalog
        self.text = text
        self.in_view = False
        # The words around what is in double quotes in the text, where it may be a name.
        self.around: frozenset[str] | None = None
        self.relations: dict[int, Relation | Generate] = {}
        self.owner: dict[int, int] = {}
        self.pending: list[int] = []
        self.ctes: list[Cte] = []
        self._numbered = 0
        self._views: tuple[Name, ...] = ()
        # Whether what is bound stands in a FROM that several SELECTs have, and the CTEs that the
        # derived tables of such a FROM are, since all of them read the one text.
        self.sharing = False
        self._shared: dict[object, int] = {}

    @abstractmethod
    def query(self, node: exp.Expr, scope: Scope, role: str) -> Query: ...

    @abstractmethod
    def conditions(
        self, clause: exp.Expr | None, kind: str, translator: Translator
    ) -> tuple[Condition, ...]: ...

    # --- the FROM clause -----------------------------------------------------------------------

    def from_clause(self, node: exp.Select, translator: Translator) -> Node:
        """The join tree of a SELECT; one without FROM reads a single row of nothing."""
        from_ = node.args.get("from_")
        if from_ is None:
            return Opaque(self._number(), "", "no FROM", columns=())
        tree = self._tree(from_.this, node.args.get("joins") or [], translator)
        return self._laterals(node.args.get("laterals") or [], tree, translator)

    def _tree(self, first: exp.Expr, joins: list[exp.Expr], translator: Translator) -> Node:
        tree = self._relation(first, translator)
        after_comma = False
        for join in joins:
            translator.scope.source = tree
            right = self._relation(join.this, translator)
            tree = self._join(tree, right, join, translator, either=after_comma)
            if join.args.get("pivots") or join.this.args.get("pivots"):
                # Written behind the last relation, it takes in the whole join before it.
                tree = self._keep(
                    Opaque(self._number(), "", "PIVOT or UNPIVOT of a join", unread=True)
                )
            after_comma = after_comma or _may_be_comma(join, self.text)
        return tree

    def _join(
        self,
        left: Node,
        right: Node,
        join: exp.Expr,
        translator: Translator,
        *,
        either: bool = False,
    ) -> Node:
        """A join; ``either`` says of one behind a comma that spark.sql.ansi.relationPrecedence
        decides what it takes in: all that is before it, or what is behind the comma."""
        method = (join.args.get("method") or "").upper()
        kind = (join.args.get("kind") or "").upper()
        side = (join.args.get("side") or "").upper()
        declared = _KINDS.get(kind, _SIDES.get(side))
        if declared is None or method not in _METHODS:
            declared = JoinType.UNKNOWN
            translator.facts.unknowns.append(f"{method or side or kind} join is not understood")
        if either and declared in (JoinType.RIGHT, JoinType.FULL):
            declared = JoinType.UNKNOWN
        scope = translator.scope
        scope.source = Join(JoinType.INNER, left, right, (), JoinType.INNER)
        if join.args.get("using") or method == "NATURAL":
            using = self._using(left, right, join)
            natural = method == "NATURAL"
            equal = [_equality(left, right, name) for name in using or ()]
            if using is None:
                equal = [_condition(Unknown("a NATURAL join over columns that are not known"))]
                translator.facts.unknowns.append("a NATURAL join over columns that are not known")
            settled = using is not None and not either
            return Join(
                declared,
                left,
                right,
                tuple(equal),
                declared,
                using or (),
                natural,
                settled=settled,
            )
        conditions = self.conditions(join.args.get("on"), "on", translator)
        if len(conditions) == 1 and _is_true(conditions[0].expression):
            conditions = ()
        comma = kind == "CROSS" and _behind_comma(join.this, self.text)
        return Join(declared, left, right, conditions, declared, comma=comma)

    def _using(self, left: Node, right: Node, join: exp.Expr) -> tuple[str, ...] | None:
        """The names that a join merges, in order; None where they are not known."""
        written = join.args.get("using")
        if written:
            return tuple(item.name.lower() for item in written)
        ours, theirs = star(left), star(right)
        if ours is None or theirs is None:
            return None
        other = Counter(name for name, _ in theirs)
        shared = tuple(name for name, _ in ours if name in other)
        # Of a name that one side has twice Spark joins as many as the other has.
        return shared if len(set(shared)) == len(shared) else None

    def _laterals(self, laterals: list[exp.Expr], tree: Node, translator: Translator) -> Node:
        for lateral in laterals:
            translator.scope.source = tree
            expression = translator.translate(lateral.this)
            alias = lateral.args.get("alias")
            number = self._number()
            named = alias.name if alias else ""
            generate = Generate(number, tree, named, _alias_columns(lateral), expression)
            self.relations[number] = generate
            tree = generate
        return tree

    # --- relations -----------------------------------------------------------------------------

    def _relation(self, node: exp.Expr, translator: Translator) -> Node:
        if computed_alias(node):
            return self._keep(
                Opaque(self._number(), NAMELESS, "an alias that is computed", unread=True)
            )
        match node:
            case exp.Table():
                joins, laterals = node.args.get("joins") or [], node.args.get("laterals") or []
                bound: Node = self._keep(self._table(node, translator))
                if joins or laterals:
                    bound = self._joined(bound, joins, translator)
                    bound = self._laterals(laterals, bound, translator)
                return bound
            case exp.Subquery():
                return self._parenthesised(node, translator)
            case exp.Lateral():
                return self._keep(self._lateral(node, translator.scope))
            case exp.Values():
                return self._keep(self._inline(node, translator))
            case _:
                reason = f"{type(node).__name__.lower()} is not a known relation"
                return self._keep(
                    Opaque(self._number(), _alias(node), reason, columns=_alias_columns(node))
                )

    def _inline(self, node: exp.Values, translator: Translator) -> Relation:
        """VALUES of constants, each row of as many."""
        alias, number = _alias(node), self._number()
        listed = _alias_columns(node)
        plain = all(name in ("expressions", "alias") for name, it in node.args.items() if it)
        rows = [it.expressions for it in node.expressions if isinstance(it, exp.Tuple)]
        widths = {len(row) for row in rows} | ({len(listed)} if listed else set())
        cells = [
            tuple(translator.translate(cell) for cell in row)
            for row in (rows if len(widths) == 1 and len(rows) <= _MOST_ROWS else ())
        ]
        constant = all(_is_constant(cell) for row in cells for cell in row)
        if not (alias and plain and cells and constant and len(rows) == len(node.expressions)):
            why = f"VALUES other than a name over up to {_MOST_ROWS} rows of constants"
            return Opaque(number, alias, why, columns=listed)
        columns = listed or tuple(f"col{at}" for at in range(1, widths.pop() + 1))
        found = cast("list[tuple[Literal, ...]]", cells)
        anchor = None if self.in_view else _alias_offset(node)
        span = None if anchor is None else Span(anchor, anchor + len(alias))
        return Inline(number, tuple(found), columns, alias, span, anchor, listed or ())

    def _joined(self, first: Node, joins: list[exp.Expr], translator: Translator) -> Node:
        outer = translator.scope.source
        tree = first
        for join in joins:
            translator.scope.source = tree
            right = self._relation(join.this, translator)
            tree = self._join(tree, right, join, translator)
        translator.scope.source = outer
        return tree

    def _parenthesised(self, node: exp.Subquery, translator: Translator) -> Node:
        extra = any(node.args.get(key) for key in ("pivots", "match"))
        if isinstance(node.this, exp.Table | exp.Subquery) and not _is_query(node.this):
            if extra or node.args.get("sample"):
                why = "PIVOT, UNPIVOT or TABLESAMPLE of a join"
                return self._keep(Opaque(self._number(), _alias(node), why, unread=True))
            if node.args.get("alias"):
                return self._parenthesised(_all_of(node), translator)
            inner = self._relation(node.this, translator)
            return self._joined(inner, node.args.get("joins") or [], translator)
        # A derived table sees the scopes around its SELECT, not its neighbours in FROM.
        scope = translator.scope
        outside = Scope(scope.ctes, scope.parent)
        if SHARED in node.meta:
            kept = self._keep(self._shared_table(node, outside))
            return self._joined(kept, node.args.get("joins") or [], translator)
        number = self._number()
        query = self._inner(node.this, outside, "derived")
        scope.outer.extend(outside.outer)
        columns = _alias_columns(node) or ()
        alias = NAMELESS if PIPED in node.meta else _alias(node)
        bound: Relation = Derived(
            number,
            query,
            alias,
            None,
            columns,
            listed=columns,
            anchor=None if self.in_view else _alias_offset(node),
            outer=tuple(outside.outer),
            sampled=bool(node.args.get("sample")),
        )
        if extra:
            bound = Opaque(number, alias, "PIVOT, UNPIVOT or MATCH_RECOGNIZE", unread=True)
        kept = self._keep(bound)
        return self._joined(kept, node.args.get("joins") or [], translator)

    def _shared_table(self, node: exp.Subquery, outside: Scope) -> Relation:
        """A derived table in a FROM that several SELECTs have: each of them reads the same rows,
        as those of a CTE without a name."""
        number, alias, columns = self._number(), _alias(node), _alias_columns(node) or ()
        key = node.meta[SHARED]
        if key not in self._shared:
            held, self.sharing = self.sharing, False
            query = self._inner(node.this, outside, "cte")
            self.sharing = held
            self._shared[key] = len(self.ctes)
            at = _alias_offset(node) or 0
            self.ctes.append(Cte(len(self.ctes), "", query, at, outer=tuple(outside.outer)))
        cte = self.ctes[self._shared[key]]
        if cte.outer or node.args.get("pivots") or node.args.get("match"):
            why = "a derived table that several SELECTs share"
            return Opaque(number, alias, why, unread=True)
        sampled = bool(node.args.get("sample"))
        return CteReference(
            number, cte.number, cte.query, alias, "", None, columns, columns, sampled
        )

    def _lateral(self, node: exp.Lateral, scope: Scope) -> Relation:
        number = self._number()
        inner = node.this
        if isinstance(inner, exp.Subquery) and _is_query(inner):
            siblings = Scope(scope.ctes, scope.parent, scope.source)
            beside = Scope(scope.ctes, siblings)
            query = self._inner(inner, beside, "lateral")
            scope.outer.extend(siblings.outer)
            columns = _alias_columns(node) or ()
            outer = tuple(beside.outer)
            return Derived(number, query, _alias(node), None, columns, outer=outer, lateral=True)
        return Opaque(number, _alias(node), "a table function", columns=_alias_columns(node))

    def _inner(self, node: exp.Expr, scope: Scope, role: str) -> Query:
        held, self.pending = self.pending, []
        query = self.query(node, scope, role)
        self.pending = held
        return query

    def _table(self, node: exp.Table, translator: Translator) -> Relation:
        number, alias = self._number(), _alias(node)
        columns = _alias_columns(node)
        span = None if self.in_view else self._name_span(node)
        strange = [k for k, v in node.args.items() if v and k not in _PLAIN_TABLE]
        stream = _streamed(node)
        if stream is not None:
            return self._stream(number, stream, alias, span, columns)
        if strange or not isinstance(node.this, exp.Identifier):
            if not strange:
                translator.facts.unknowns.append("a table function")
            reason = f"{strange[0]} is not understood" if strange else "a table function"
            return Opaque(number, alias, reason, span, columns, unread=bool(strange))
        parts = tuple([name.name.lower() for name in _names(node)])
        sampled = node.args.get("sample") is not None
        name = parts[-1]
        visible_ctes = translator.scope.ctes
        if len(parts) == 1 and name in visible_ctes:
            cte = self.ctes[visible_ctes[name]]
            listed = columns or ()
            return CteReference(
                number,
                cte.number,
                cte.query,
                alias,
                name,
                span,
                listed or cte.columns,
                listed,
                sampled,
            )
        found = self.catalog.resolve(parts)
        if isinstance(found, Table):
            if columns:
                why = "a table with renamed columns"
                return Opaque(number, alias, why, span, columns, unread=True)
            version = node.args.get("version")
            shown = version.sql("spark") if version is not None else ""
            scan = self._scan(number, found, alias, parts, span, sampled=sampled)
            aliased = node.args.get("alias") is not None
            return replace(scan, version=shown, aliased=aliased) if shown or aliased else scan
        if isinstance(found, View):
            view = self._view(number, found, alias, parts, span, columns, sampled)
            aliased = node.args.get("alias") is not None
            return replace(view, aliased=aliased) if isinstance(view, Derived) else view
        return Opaque(number, alias, f"{'.'.join(parts)} is not in the catalog", span, columns)

    def _stream(
        self, number: int, parts: Name, alias: str, span: Span | None, columns: Name | None
    ) -> Relation:
        found = self.catalog.resolve(parts)
        if isinstance(found, Table):
            return self._scan(number, found, alias or parts[-1], parts, span, streaming=True)
        return Opaque(number, alias, "a stream", span, columns, streaming=True)

    def _scan(
        self,
        number: int,
        table: Table,
        alias: str,
        parts: Name,
        span: Span | None,
        *,
        streaming: bool = False,
        sampled: bool = False,
    ) -> Scan:
        streaming = streaming or table.streaming
        return Scan(number, table, table.names, alias, parts, span, streaming, sampled)

    def _view(
        self,
        number: int,
        view: View,
        alias: str,
        parts: Name,
        span: Span | None,
        columns: Name | None,
        sampled: bool,
    ) -> Relation:
        tree, around = _view_tree(view.query)
        if tree is None or view.name in self._views or len(self._views) > _MAX_VIEW_DEPTH:
            why = f"the view {'.'.join(parts)} is not understood"
            return Opaque(number, alias, why, span, unread=True)
        held = self.catalog, self.text, self.in_view, self._views, self.around
        self.catalog = replace(self.catalog, namespace=view.namespace)
        self.text, self.in_view, self._views = view.query, True, (*self._views, view.name)
        self.around = around  # whatever setting it was made under
        query = self._inner(tree, Scope({}), "view")
        self.catalog, self.text, self.in_view, self._views, self.around = held
        return Derived(
            number,
            query,
            alias,
            span,
            columns or view.columns,
            listed=columns or (),
            view=view.name,
            parts=parts,
            sampled=sampled,
        )

    def _keep(self, relation: Relation) -> Relation:
        self.relations[relation.relation] = relation
        return relation

    def _number(self) -> int:
        number = self._numbered
        self._numbered += 1
        self.pending.append(number)
        return number

    def _name_span(self, node: exp.Table) -> Span | None:
        """A table's name in the text, with the time travel behind it."""
        parts = _names(node)
        if not parts or not all(isinstance(part, exp.Identifier) for part in parts):
            return None
        start, end = parts[0].meta.get("start"), parts[-1].meta.get("end")
        if start is None or end is None:
            return None
        version = node.args.get("version")
        if version is not None:
            literal = version.expression
            if not isinstance(literal, exp.Literal) or "end" not in literal.meta:
                return None
            end = literal.meta["end"]
        return Span(start, end + 1)


@lru_cache(maxsize=512)
def _view_tree(query: str) -> tuple[exp.Expr | None, frozenset[str] | None]:
    """The tree of a view's query, and the words around what is in double quotes in it."""
    found = list(statements(query))
    tree = found[0].tree if len(found) == 1 else None
    if tree is None or unreadable(found[0], query, None) is not None:
        return None, None
    return tree, words_around(found[0], query)


def _equality(left: Node, right: Node, name: str) -> Condition:
    ours, theirs = key(left, name), key(right, name)
    if ours is None or theirs is None:
        return _condition(Unknown(f"column {name} of USING is not known"))
    return _condition(Call("=", (ours, theirs)))


def _condition(expression: Expression) -> Condition:
    return Condition(expression, relations(expression))


def _names(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a table's name that are written; of another relation what is in it."""
    return [node.args[key] for key in ("catalog", "db", "this") if node.args.get(key)]


def _behind_comma(node: exp.Expr, text: str) -> bool:
    """Whether a relation surely stands behind a comma; sqlglot reads CROSS JOIN the same way."""
    start = _start(node)
    _, comma, between = text[max(0, start - _NEAR) : start].rpartition(",")
    return bool(comma) and _NOT_A_COMMA.search(between) is None


def _may_be_comma(join: exp.Expr, text: str) -> bool:
    """Whether a join may be a comma: it is unless CROSS JOIN stands right before its relation."""
    if join.args.get("kind") != "CROSS":
        return False
    before = text[max(0, _start(join.this) - _NEAR) : _start(join.this)]
    return _COMMENT.search(before) is not None or _CROSS_JOIN.search(before) is None


def _start(node: exp.Expr) -> int:
    """Where a relation's first name stands in the text, or what stands first in it."""
    start = next(iter(_names(node)), node).meta.get("start")
    if start is None:
        tree = node.walk(bfs=False, prune=lambda it: isinstance(it, exp.Hint))
        start = next((it.meta["start"] for it in tree if "start" in it.meta), 0)
    return int(start)


def _all_of(node: exp.Subquery) -> exp.Subquery:
    """A join in parentheses with an alias, as the derived table of all its columns that it is."""
    joined = node.this.copy()
    select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=joined))
    select.meta[HOMELESS] = "a join under an alias has no WHERE"
    alias, joins = node.args["alias"].copy(), [it.copy() for it in node.args.get("joins") or []]
    found = exp.Subquery(this=select, alias=alias, joins=joins)
    found.meta.update(node.meta)
    return found


def _is_constant(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.kind not in ("star", "template")


def _is_true(expression: Expression) -> bool:
    return expression == Literal("boolean", "true")


def _is_query(node: exp.Expr) -> bool:
    while isinstance(node, exp.Subquery):
        node = node.this
    return isinstance(node, exp.Select | exp.SetOperation)


def _streamed(node: exp.Table) -> Name | None:
    """The table of ``STREAM t`` (which sqlglot reads as STREAM AS t) or ``STREAM(t)``, if any."""
    inner = node.this
    if isinstance(inner, exp.Anonymous) and inner.name.lower() == "stream":
        argument = inner.expressions[0] if inner.expressions else None
        if isinstance(argument, exp.Column):
            return tuple(part.name.lower() for part in argument.parts)
        return ("?",)
    if node.name.lower() == "stream" and not node.args.get("db") and not inner.quoted:
        return (node.alias.lower(),) if node.alias else None
    return None


def _alias(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    if alias is not None and alias.name:
        return str(alias.name)
    return str(node.name) if isinstance(node, exp.Table) else ""


def _alias_offset(node: exp.Expr) -> int | None:
    alias = node.args.get("alias")
    return alias.this.meta.get("start") if alias is not None and alias.this is not None else None


def _alias_columns(node: exp.Expr) -> tuple[str, ...] | None:
    alias = node.args.get("alias")
    names = tuple(column.name.lower() for column in alias.columns) if alias is not None else ()
    return names or None
