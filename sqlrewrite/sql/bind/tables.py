"""Relations under a name: tables, views and CTEs, each with its number."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache

from sqlglot import exp

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.memo import count_steps
from sqlrewrite.sql.bind.scope import Scope
from sqlrewrite.sql.bind.translate import Translator
from sqlrewrite.sql.bind.trees import alias_columns, alias_of, names_of, streamed
from sqlrewrite.sql.parse.statements import statements
from sqlrewrite.sql.statements.two_readings import possible_names, why_unreadable
from sqlrewrite.text.edits import Span
from sqlrewrite.warehouse import TEMPORAL, Name, Table, View, Warehouse

# What a table reference may carry and still be the plain table.
_PLAIN_TABLE = frozenset(
    {"this", "db", "catalog", "alias", "joins", "version", "sample", "laterals"}
)
_CLAUSE_NAMES = {"pivots": "PIVOT or UNPIVOT"}
_RENDERED = "dbt writes it to target/manifest.json (`dbt compile`)"
_MAX_VIEW_DEPTH = 20
_NO_QUERY = ra.Query(ra.Unreadable("not bound yet"), (), (), None)
_IN_A_VIEW = 500
"""How many steps a relation in a view counts as: each reference binds the view again."""


class TableBinder:
    """The part of the binder that numbers relations and binds those that have a name."""

    def __init__(self, catalog: Warehouse, text: str) -> None:
        self.catalog = catalog
        self.text = text
        self.in_view = False
        # The words of the text that may be names, if text in double quotes may be one.
        self.possible_names: frozenset[str] | None = None
        self.relations: dict[int, ra.Relation | ra.Generate] = {}
        # For types of what is already bound.
        self.so_far = ra.Plan(_NO_QUERY, (), (), self.relations, {}, frozenset())
        self.owner: dict[int, int] = {}
        self.pending: list[int] = []
        self.ctes: list[ra.Cte] = []
        self._numbered = 0
        self._views: tuple[Name, ...] = ()
        # Whether the FROM being bound belongs to several SELECTs, and the CTEs that stand for the
        # derived tables in it.
        self.sharing = False
        self._shared: dict[object, int] = {}

    @abstractmethod
    def query(self, node: exp.Expr, scope: Scope, role: str) -> ra.Query: ...

    def table(self, node: exp.Table, translator: Translator) -> ra.Relation:
        """The relation that a name in FROM means."""
        number, alias = self.number(), alias_of(node)
        columns = alias_columns(node)
        span = None if self.in_view else self._name_span(node)
        unsupported = [k for k, v in node.args.items() if v and k not in _PLAIN_TABLE]
        stream = streamed(node)
        if stream is not None:
            return self._stream(number, stream, alias, span, columns)
        if unsupported or not isinstance(node.this, exp.Identifier):
            if not unsupported:
                translator.facts.unknowns.append("a table function")
            why = "a table function"
            if unsupported:
                clause = unsupported[0]
                shown = _CLAUSE_NAMES.get(clause, clause.replace("_", " ").upper())
                why = f"{shown} is not understood"
            return ra.Opaque(number, alias, why, span, columns, unread=bool(unsupported))
        parts = tuple([name.name.lower() for name in names_of(node)])
        aliased, sampled = (node.args.get(key) is not None for key in ("alias", "sample"))
        name = parts[-1]
        visible_ctes = translator.scope.ctes
        if len(parts) == 1 and name in visible_ctes:
            cte = self.ctes[visible_ctes[name]]
            listed, names = columns or (), columns or cte.columns
            return ra.CteReference(
                number, cte.number, cte.query, alias, name, span, names, listed, sampled
            )
        relation, version = self.catalog.resolve(parts), node.args.get("version")
        temporal = version is not None and version.find(exp.Column) is not None
        if isinstance(relation, Table):
            if columns:
                why = (
                    f"`{alias}(…)` renames the columns of `{'.'.join(parts)}`: rename them in a "
                    f"derived table, (SELECT … AS {columns[0]} …) AS {alias}"
                )
                return ra.Opaque(number, alias, why, span, columns, unread=True, renamed=relation)
            shown = version.sql("spark") if version is not None else ""
            if temporal:
                relation = replace(relation, streaming=True, unsteady=TEMPORAL)
            streaming = relation.streaming
            rows = sampled and node.args["sample"].args.get("size") is not None
            return ra.Scan(
                number, relation, alias, parts, span, streaming, sampled, shown, aliased, rows
            )
        if temporal:
            return ra.Opaque(number, alias, TEMPORAL, span, columns, streaming=True)
        if isinstance(relation, View):
            return self._view(number, node, relation, parts, span)
        why = f"`{'.'.join(parts)}` is not in the catalog"
        return ra.Opaque(number, alias, why, span, columns)

    def _stream(
        self, number: int, parts: Name, alias: str, span: Span | None, columns: Name | None
    ) -> ra.Relation:
        relation = self.catalog.resolve(parts)
        if isinstance(relation, Table):
            alias = alias or parts[-1]
            return ra.Scan(number, relation, alias, parts, span, streaming=True)
        return ra.Opaque(number, alias, "a stream", span, columns, streaming=True)

    def _view(
        self, number: int, node: exp.Table, view: View, parts: Name, span: Span | None
    ) -> ra.Relation:
        alias, columns = alias_of(node), alias_columns(node)
        tree, names = _view_tree(view.query)
        if tree is None or view.name in self._views or len(self._views) > _MAX_VIEW_DEPTH:
            why = f"the view `{'.'.join(parts)}` is not understood"
            if not view.query:
                why = f"the query of the view `{'.'.join(parts)}` is not known: {_RENDERED}"
            return ra.Opaque(number, alias, why, span, unread=True)
        before = self.catalog, self.text, self.in_view, self._views, self.possible_names
        self.catalog = self.catalog.within(view)
        self.text, self.in_view, self._views = view.query, True, (*self._views, view.name)
        self.possible_names = names  # whatever the settings were when it was made
        query = self.inner(tree, Scope({}), "view")
        self.catalog, self.text, self.in_view, self._views, self.possible_names = before
        return ra.Derived(
            number,
            query,
            alias,
            span,
            columns or view.columns,
            listed=columns or (),
            view=view.name,
            parts=parts,
            sampled=node.args.get("sample") is not None,
            aliased=node.args.get("alias") is not None,
        )

    def inner(self, node: exp.Expr, scope: Scope, role: str) -> ra.Query:
        """A query in FROM. Its relations do not belong to the FROM around it."""
        before, self.pending = self.pending, []
        query = self.query(node, scope, role)
        self.pending = before
        return query

    def keep(self, relation: ra.Relation) -> ra.Relation:
        """The relation, registered under its number."""
        self.relations[relation.relation] = relation
        return relation

    def opaque(self, node: exp.Expr, reason: str, *, alias: str | None = None) -> ra.Relation:
        """A relation whose syntax is not understood."""
        called = alias_of(node) if alias is None else alias
        return self.keep(ra.Opaque(self.number(), called, reason, unread=True))

    def number(self) -> int:
        """A new number for a relation."""
        count_steps(_IN_A_VIEW if self.in_view else 1)
        number = self._numbered
        self._numbered += 1
        self.pending.append(number)
        return number

    def _name_span(self, node: exp.Table) -> Span | None:
        """The span of a table's name, with its time travel; None in a view."""
        parts = names_of(node)
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
    """The tree of a view's query, and its ``possible_names``; None for both if the query is not
    understood."""
    parsed = list(statements(query))
    tree = parsed[0].tree if len(parsed) == 1 else None
    if tree is None or why_unreadable(parsed[0], query, None) is not None:
        return None, None
    return tree, possible_names(parsed[0], query)
