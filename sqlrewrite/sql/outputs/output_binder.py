"""The names and types of the columns that a query returns, by its bound plan.

The binder here understands more than the one for rewriting: PIVOT and UNPIVOT, the rows of a
script, recursive CTEs, functions in FROM. Its plans have the right columns, but not the right rows,
so they serve for names and types alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sqlglot import Token, TokenType, exp

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import branches, column_names, output_types, outputs, type_of
from sqlrewrite.plan.facts.types import ExactSettings, Type
from sqlrewrite.plan.memo import within
from sqlrewrite.plan.relations import leaves, one_row
from sqlrewrite.results import Output
from sqlrewrite.sql.bind.binder import Binder, Role, bind, unreadable
from sqlrewrite.sql.bind.closed_world import UNDERSTOOD
from sqlrewrite.sql.bind.scope import Scope
from sqlrewrite.sql.bind.select_clauses import SelectList
from sqlrewrite.sql.bind.translate import Facts, Translator
from sqlrewrite.sql.bind.trees import alias_columns
from sqlrewrite.sql.outputs.output_translator import OutputTranslator
from sqlrewrite.sql.outputs.pivots_and_pipes import PIPES, pivoted, script_columns, unpivoted
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.sql.python_runtime import deep
from sqlrewrite.sql.statements.two_readings import is_double_quoted
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Name, Warehouse

NamedType = tuple[str | None, Type | None]
"""A column's name and type, each None if unknown."""


def output_columns(
    tree: exp.Expr, text: str, catalog: Warehouse, settings: Sequence[ExactSettings]
) -> tuple[NamedType, ...] | None:
    """The columns that a query returns, with the types that hold under all of the settings; None
    for a statement that is no query or is not understood."""
    if not isinstance(tree, exp.Query | exp.Values):
        return None
    binder = OutputBinder(catalog, text, tuple(settings))
    query = binder.query(tree, Scope({}), "query")
    columns = outputs(query.node)
    if columns is None or _branches(query.node) is None:
        return None
    plan = replace(binder.so_far, query=query, memo={})
    kinds = output_types(plan, len(columns))
    return tuple((column.label, kind) for column, kind in zip(columns, kinds, strict=True))


def _branches(node: ra.Node) -> list[ra.Project] | None:
    """The SELECTs whose rows a query returns; None if the columns of one are unknown, or their
    numbers of columns differ."""
    projects = branches(node)
    same = projects is not None and len({len(project.outputs) for project in projects}) == 1
    return projects if same else None


class OutputBinder(Binder):
    """Binds one query for the names and types of its columns; see the module."""

    most_rows = 10_000

    def __init__(self, catalog: Warehouse, text: str, settings: tuple[ExactSettings, ...]) -> None:
        super().__init__(catalog, text)
        self.whole = True
        self.so_far = replace(self.so_far, settings=settings, columns_only=True, memo={})
        self.labels: dict[int, tuple[str | None, ...]] = {}
        self.cte_labels: dict[int, tuple[str, ...]] = {}

    def columns_of(self, number: int) -> list[ra.OutputColumn]:
        """The columns of a relation with their names as Spark shows them; empty if unknown."""
        relation = self.relations[number]
        names, labels = column_names(relation) or (), self.labels_of(number) or ()
        if len(names) != len(labels):
            return []
        query = relation.query if isinstance(relation, ra.Derived | ra.CteReference) else None
        columns: list[ra.OutputColumn] = []
        counts = Counter(names)
        for at, (name, label) in enumerate(zip(names, labels, strict=True)):
            expression: ra.Expression = ra.ColumnRef(number, name, None)
            if query is not None and counts[name] > 1:
                values = tuple(
                    branch.outputs[at].expression for branch in _branches(query.node) or ()
                )
                expression = ra.Unknown("one of several columns of this name", values, merged=True)
            columns.append(ra.OutputColumn(name, expression, label))
        return columns

    def understood(self, query: ra.Query) -> bool:
        """Whether all that a query may refer to is known."""
        blocks = [block for block in self.blocks if block.number in query.blocks]
        relations = (leaf for block in blocks for leaf in leaves(block.source))
        return all(
            not (block.unknown_values or block.unknown_syntax) for block in blocks
        ) and not any(
            isinstance(relation, ra.Opaque) and relation.columns is None for relation in relations
        )

    def labels_of(self, number: int) -> tuple[str | None, ...] | None:
        """The names of a relation's columns as Spark shows them; None if unknown."""
        if number in self.labels:
            return self.labels[number]
        match self.relations.get(number):
            case ra.Scan(table=table):
                return tuple(column.name for column in table.columns)
            case ra.CteReference(cte=cte, query=query):
                return self.cte_labels.get(cte) or _labels(query)
            case ra.Derived(query=query, columns=columns, view=view):
                return columns if view and columns else _labels(query)
            case ra.Inline(columns=columns):
                return columns
            case ra.Generate(expression=expression, columns=columns):
                kind = type_of(self.so_far, expression)
                return kind.names if kind is not None and kind.name == "struct" else columns
            case _:
                return None

    def _translator(self, scope: Scope, windows: Sequence[exp.Expr] = ()) -> OutputTranslator:
        return OutputTranslator(
            "" if self.in_view else self.text,
            self.in_view,
            self.subquery,
            scope,
            Facts(),
            {window.name.lower(): window for window in windows},
            possible_names=self.possible_names,
            columns_of=self.columns_of,
            understood=self.understood,
            type_of=partial(type_of, self.so_far),
            trees=self.trees,
        )

    # --- queries ------------------------------------------------------------------------------

    def _query_node(
        self, node: exp.Expr, scope: Scope, role: Role
    ) -> tuple[ra.Node, tuple[int, ...]]:
        """The plan of a query; VALUES is bound as a SELECT of all its columns."""
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Values):
            node = node.this
        if isinstance(node, exp.Values):
            node = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node))
        return super()._query_node(node, scope, role)

    def select_list(self, node: exp.Select, translator: Translator, *, skim: bool) -> SelectList:
        """The list of a SELECT, of a script, or of a pipe operator."""
        first, operator = node.expressions[0], node.args.get("kind")
        if isinstance(first, exp.QueryTransform):
            return SelectList(tuple(script_columns(first)), True, ())
        if operator in PIPES:
            columns = PIPES[operator](node, translator)
            return SelectList(tuple(columns or ()), columns is not None, ())
        shown = super().select_list(node, translator, skim=skim)
        clauses = UNDERSTOOD[exp.Select]
        strange = any(value and clause not in clauses for clause, value in node.args.items())
        return replace(shown, complete=False) if strange else shown

    def _generating(
        self, source: ra.Node, shown: SelectList, translator: Translator, *, alone: bool
    ) -> tuple[ra.Node, SelectList]:
        """The FROM and the list of a SELECT, with the columns of a generator in the list."""
        if shown.generated is None:
            return source, shown
        at, names = shown.generated
        expression = shown.items[at].expression
        columns = names or self.generated(expression)
        if columns is None:
            return source, replace(shown, complete=False)
        generator = self.generate(source, "", columns, expression)
        assert isinstance(translator, OutputTranslator)
        labels = translator.generated_names.get(names) or self.labels_of(generator.relation)
        self.labels[generator.relation] = labels or columns
        # Spark takes the aliases out of the other items: struct(a AS b) is called `struct(a)`.
        items = [
            replace(item, label=None) if item.label and " AS " in item.label else item
            for item in shown.items
        ]
        items[at : at + 1] = self.columns_of(generator.relation)
        return generator, replace(shown, items=tuple(items))

    def with_clause(self, with_: exp.Expr, outer: Mapping[str, int]) -> Mapping[str, int]:
        """The CTEs visible after a WITH."""
        visible = super().with_clause(with_, outer)
        for cte in with_.expressions:
            names = tuple(column.name for column in cte.args["alias"].columns)
            self.cte_labels[visible[cte.alias.lower()]] = names
        return visible

    def recursive_query(self, node: exp.Expr, name: str, visible: Mapping[str, int]) -> ra.Query:
        """The query of a recursive CTE: its columns are those of its anchor, the part without the
        CTE."""
        while isinstance(node, exp.Subquery) and not node.args.get("with_"):
            node = node.this
        if not isinstance(node, exp.SetOperation):
            return unreadable("a recursive CTE is not understood")
        anchor, with_ = node.this, node.args.get("with_")
        if any(table.name.lower() == name for table in anchor.find_all(exp.Table)):
            return unreadable("a recursive CTE is not understood")
        ctes = visible if with_ is None else self.with_clause(with_, visible)
        return self.inner(anchor, Scope(dict(ctes)), "cte")

    # --- relations ----------------------------------------------------------------------------

    def _relation(self, node: exp.Expr, translator: Translator) -> ra.Node:
        pivots = node.args.get("pivots")
        if pivots:
            return self._pivoted_relation(node, pivots, translator)
        tree = super()._relation(node, translator)
        self._label(node, tree)
        return tree

    def _label(self, node: exp.Expr, tree: ra.Node) -> None:
        """Notes the names that a relation's alias gives to its columns."""
        alias = node.args.get("alias")
        names = tuple(column.name for column in alias.columns) if alias is not None else ()
        while isinstance(tree, ra.Join | ra.Generate) and not isinstance(node, exp.Lateral):
            tree = tree.left if isinstance(tree, ra.Join) else tree.child
        if names and isinstance(tree, ra.Relation | ra.Generate):
            self.labels[tree.relation] = names

    def _with_laterals(
        self, laterals: list[exp.Expr], tree: ra.Node, translator: Translator
    ) -> ra.Node:
        for lateral in laterals:
            tree = super()._with_laterals([lateral], tree, translator)
            self._label(lateral, tree)
        return tree

    def reads_rows(self, cells: Sequence[Sequence[ra.Expression]]) -> bool:
        """True: for names and types any rows will do."""
        return True

    def _lateral(self, node: exp.Lateral, scope: Scope) -> ra.Relation:
        call = node.this
        if not isinstance(call, exp.Anonymous):
            return super()._lateral(node, scope)
        translator = self._translator(Scope(scope.ctes, scope.parent, scope.source))
        expression = translator.translate(call)
        names = self.generated(expression)
        relation = super()._lateral(node, scope)
        kind = type_of(self.so_far, expression)
        if names is None or kind is None:
            return relation
        number = self.number()
        generator = self.generate(
            ra.Opaque(number, "", "no FROM", columns=()), "", names, expression
        )
        columns = [
            ra.OutputColumn(name, ra.ColumnRef(generator.relation, name, None), label)
            for name, label in zip(names, kind.names, strict=True)
        ]
        return self._derived(columns, relation.alias, alias_columns(node))

    def _derived(
        self, columns: Sequence[ra.OutputColumn], alias: str, names: Name | None = None
    ) -> ra.Derived:
        """A derived table of these columns."""
        project = ra.Project(ra.Unreadable("for its columns alone"), tuple(columns), -1)
        query = ra.Query(project, (), (), tuple(column.name for column in columns))
        return ra.Derived(self.number(), query, alias, None, names or (), listed=names or ())

    def _pivoted_relation(
        self, node: exp.Expr, pivots: Sequence[exp.Expr], translator: Translator
    ) -> ra.Node:
        """A relation with PIVOT or UNPIVOT after it."""
        plain = node.copy()
        plain.set("pivots", None)
        joins, plain.args["joins"] = plain.args.get("joins") or [], []
        tree = self._relation(plain, translator)
        for pivot in pivots:
            tree = self._pivoted(tree, pivot, translator)
        for join in joins:
            translator.scope.source = tree
            tree = self._join(tree, self._relation(join.this, translator), join, translator)
        return tree

    def _pivoted(self, tree: ra.Node, pivot: exp.Expr, translator: Translator) -> ra.Node:
        scope = Scope(translator.scope.ctes, translator.scope.parent, tree)
        inner = self._translator(scope)
        read = unpivoted if pivot.args.get("unpivot") else pivoted
        before = inner.star(exp.Star())
        columns = None if before is None else read(pivot, before, inner)
        alias = pivot.args.get("alias")
        if columns is None:
            return self.opaque(pivot, "PIVOT or UNPIVOT is not understood")
        names = tuple(column.name for column in alias.columns) if alias is not None else ()
        name = alias.name if alias is not None else ""
        derived = self._derived(columns, name, tuple(map(str.lower, names)))
        if names:
            self.labels[derived.relation] = names
        return self.keep(derived)


def _labels(query: ra.Query) -> tuple[str | None, ...] | None:
    columns = outputs(query.node)
    return None if columns is None else tuple(column.label for column in columns)


_LIMITS = Limits()


def query_output(
    query: str,
    catalog: Warehouse,
    settings: Sequence[ExactSettings],
    type_text: Callable[[Type], str] = str,
) -> Output | None:
    """The names and types of a query's columns that hold under all settings; None if it is not
    understood."""
    answers = []
    for quoted in sorted({setting.names_quoted for setting in settings}):
        possible = tuple(setting for setting in settings if setting.names_quoted is quoted)
        answers.append(_output(query, catalog, possible, type_text))
    return _agreed(answers)


def returns_one_row(query: str, catalog: Warehouse) -> bool:
    """Whether a query is understood, and certainly returns one row at most."""
    tree = _tree(query, catalog, False)
    if tree is None:
        return False
    try:
        bound = deep(lambda: within(_LIMITS.steps, lambda: bind(tree, query, catalog)))
        return bound is not None and one_row(bound.plan, bound.plan.query)
    except Exception:  # as in _output
        return False


def _output(
    query: str,
    catalog: Warehouse,
    settings: tuple[ExactSettings, ...],
    type_text: Callable[[Type], str],
) -> Output | None:
    tree = _tree(query, catalog, settings[0].names_quoted)
    if tree is None:
        return None
    try:
        columns = deep(
            lambda: within(_LIMITS.steps, lambda: output_columns(tree, query, catalog, settings))
        )
    except Exception:  # a bug, too many steps or too deep: it costs only this query
        return None
    if columns is None:
        return None
    return tuple((name, None if kind is None else type_text(kind)) for name, kind in columns)


def _tree(query: str, catalog: Warehouse, double_quoted: bool) -> exp.Expr | None:
    """The tree of a text that is one query; None if it is not understood."""
    lexed = lex(query, catalog.refer)
    if double_quoted and '"' in query:
        names = tuple(_as_name(query, token) for token in lexed.tokens)
        lexed = replace(lexed, tokens=names)
    pieces = list(statements(query, lexed, _LIMITS))
    return pieces[0].tree if len(pieces) == 1 and pieces[0].failure is None else None


def _as_name(text: str, token: Token) -> Token:
    """The token, or a name in its place if it is text in double quotes."""
    if token.token_type is not TokenType.STRING or not is_double_quoted(text, token):
        return token
    name = token.text
    return Token(TokenType.IDENTIFIER, name, token.line, token.col, token.start, token.end)


def _agreed(answers: Sequence[Output | None]) -> Output | None:
    """The common part of several answers: None in place of a name or type that differs, and None if
    an answer is None or has another number of columns."""
    known_answers = [answer for answer in answers if answer is not None]
    if len(known_answers) < len(answers) or len({len(answer) for answer in known_answers}) != 1:
        return None
    return tuple(
        (_same({name for name, _ in each}), _same({kind for _, kind in each}))
        for each in zip(*known_answers, strict=True)
    )


def _same(values: set[str | None]) -> str | None:
    return values.pop() if len(values) == 1 else None
