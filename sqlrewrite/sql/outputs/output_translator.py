"""Expressions of a query that is read for the names and types of its columns.

No plan bound here is rewritten, so more is understood than a predicate may rely on: COLLATE, a path
into a VARIANT, a star among the arguments of a call, a call of an unknown function, which is one
column.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from msgspec import field
from sqlglot import exp

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts.types import VARIANT, Type
from sqlrewrite.sql.bind.scope import NAMELESS, lacks, resolve
from sqlrewrite.sql.bind.translate import HANDLERS, Translator
from sqlrewrite.sql.outputs.call_names import is_star
from sqlrewrite.sql.outputs.literal_names import printed_interval
from sqlrewrite.sql.outputs.output_names import BARE, NamePrinter
from sqlrewrite.warehouse import Name

_ByName = Mapping[str, Sequence[ra.OutputColumn]]


class OutputTranslator(Translator):
    """Translates the expressions of one SELECT, and prints the names of its columns.

    ``columns_of``: the columns of a relation, by its number, with their names as Spark shows them.
    ``type_of``: the type of an expression.
    ``understood``: whether all that a subquery refers to is known.
    ``meanings``: the expression of each tree that was translated, by the tree's id.
    ``unresolved``: the ids of the trees of columns that are not known.
    ``generated_names``: the names that the list gives to a generator's columns, by these in lower
    case.
    """

    columns_of: Callable[[int], Sequence[ra.OutputColumn]] = lambda number: ()
    type_of: Callable[[ra.Expression], Type | None] = lambda expression: None
    understood: Callable[[ra.Query], bool] = lambda query: False
    meanings: dict[int, tuple[exp.Expr, ra.Expression]] = field(default_factory=dict)
    unresolved: set[int] = field(default_factory=set)
    generated_names: dict[Name, Name] = field(default_factory=dict)

    def translate(self, node: exp.Expr | None) -> ra.Expression:
        """The plan's expression for a tree."""
        if node is None:
            return Translator.translate(self, node)
        handler = _MORE_HANDLERS.get(type(node)) or HANDLERS.get(type(node), Translator._call)
        expression = handler(self, node)
        self.meanings[id(node)] = node, expression
        return self._with_tree(node, expression)

    def label(self, item: exp.Expr) -> str | None:
        """The name that Spark shows for an item of a SELECT list; None if unknown."""
        if isinstance(item, exp.Aliases):
            names = tuple(name.name for name in item.expressions)
            self.generated_names[tuple(map(str.lower, names))] = names
            return None
        if isinstance(item, exp.Alias):
            self.generated_names[item.alias.lower(),] = (item.alias,)
        name = self.printer().label(item)
        return None if name is None or "\r" in name else name  # Spark itself loses a \r

    def printer(self) -> NamePrinter:
        """A printer of the expressions that were translated."""
        return NamePrinter(self, self.meanings, self.type_of, self.understood)

    def may_be_several(self, item: exp.Expr, expression: ra.Expression) -> bool:
        """Whether an item may be several columns, or holds a column that is not known."""
        columns = item.find_all(exp.Column) if self.unresolved else ()
        return isinstance(item, exp.Aliases) or any(
            id(column) in self.unresolved for column in columns
        )

    def star(self, item: exp.Expr) -> list[ra.OutputColumn] | None:
        """The columns of ``*`` or ``t.*``, or the fields of a struct; None if unknown."""
        shown = Translator.star(self, item)
        if shown is None:
            return self._of_generator(item) if isinstance(item, exp.Column) else None
        seen: Counter[ra.Expression] = Counter()
        by_relation: dict[int, _ByName] = {}
        columns: list[ra.OutputColumn] = []
        for column in shown:
            columns.append(self._column_shown(column, seen[column.expression], by_relation))
            seen[column.expression] += 1
        return columns

    def _column_shown(
        self, column: ra.OutputColumn, before: int, by_relation: dict[int, _ByName]
    ) -> ra.OutputColumn:
        """A column of a star under the name that Spark shows; ``before`` columns of its name come
        before it. ``by_relation`` keeps the columns of each relation, by their names."""
        expression = column.expression
        ref = expression
        while isinstance(ref, ra.Unknown) and ref.merged:
            ref = ref.args[0]
        if not isinstance(ref, ra.ColumnRef):
            return column
        if ref.relation not in by_relation:
            by_name: dict[str, list[ra.OutputColumn]] = defaultdict(list)
            for each in self.columns_of(ref.relation):
                by_name[each.name].append(each)
            by_relation[ref.relation] = by_name
        alike = by_relation[ref.relation].get(ref.name, ())
        if before >= len(alike):
            return column
        expression = expression if len(alike) == 1 else alike[before].expression
        return ra.OutputColumn(column.name, expression, alike[before].label)

    def _of_generator(self, item: exp.Column) -> list[ra.OutputColumn] | None:
        """The columns of ``t.*`` where t is a LATERAL VIEW, or the fields of a struct."""
        parts = tuple(part.name.lower() for part in item.parts[:-1])
        for leaf in self.scope.visible():
            if isinstance(leaf, ra.Generate) and (leaf.alias.lower(),) == parts and leaf.columns:
                return list(self.columns_of(leaf.relation))
        base = resolve(self.scope, parts, [None] * len(parts))
        kind = self.type_of(base)
        if kind is None or kind.name != "struct" or item.this.args.get("replace"):
            return None
        left_out = item.this.args.get("except_") or ()
        if any(isinstance(column, exp.Column) and column.table for column in left_out):
            return None
        dropped = {column.name.lower() for column in left_out}
        return [
            ra.OutputColumn(name, ra.Call(".", (base, ra.Literal("string", name))), label)
            for label in kind.names
            if (name := label.lower()) not in dropped
        ]

    # --- what is understood here alone --------------------------------------------------------

    def _column_or_function(self, node: exp.Expr) -> ra.Expression:
        name = node.name.lower()
        bare = not node.args.get("table") and name in BARE and name not in self.aliases
        if bare and lacks(self.scope, name):
            return ra.Call(name)
        expression = Translator._column(self, node)
        unknown = isinstance(expression, ra.Unknown) and not expression.args
        if unknown and self._behind_pipe(node):
            expression = resolve(self.scope, (name,), [None])
            unknown = isinstance(expression, ra.Unknown) and not expression.args
        if unknown and not isinstance(node.this, exp.Star):
            self.unresolved.add(id(node))
        return expression

    def _behind_pipe(self, node: exp.Expr) -> bool:
        """Whether a column is qualified by a relation from before ``|>``."""
        table = node.args.get("table")
        if table is None or len(list(node.find_all(exp.Identifier))) != 2:
            return False
        nameless = any(leaf.alias == NAMELESS for leaf in self.scope.visible())
        return nameless and lacks(self.scope, table.name.lower())

    def _not(self, node: exp.Expr) -> ra.Expression:
        return ra.Call("not", (self.translate(node.this),))

    def _collated(self, node: exp.Expr) -> ra.Expression:
        return ra.Cast(self.translate(node.this), f"string collate {node.expression.name.lower()}")

    def _path(self, node: exp.Expr) -> ra.Expression:
        base = self.translate(node.this)
        variant = self.type_of(base) == VARIANT
        return ra.Cast(base, "variant") if variant else ra.Unknown("a path", (base,))

    def _row(self, node: exp.Expr) -> ra.Expression:
        values = [self.translate(expression.unalias()) for expression in node.expressions]
        if any(is_star(expression) for expression in node.expressions):
            return ra.Unknown("`*` in a row", tuple(values))
        names = self.printer().field_names(node)
        pairs = zip(names, values, strict=True)
        parts = (part for name, value in pairs for part in (ra.Literal("string", name), value))
        return ra.Call("named_struct", tuple(parts))

    def _constant_interval(self, node: exp.Expr) -> ra.Expression:
        constant = printed_interval(node)
        if constant is None or constant.kind is None:
            return Translator._interval(self, node)
        return ra.Literal("typed", node.this.name, str(constant.kind))

    def _zoned_cast(self, node: exp.Expr) -> ra.Expression:
        expression = Translator._cast(self, node)
        local = node.args["to"].this is exp.DType.TIMESTAMPLTZ
        if local and isinstance(expression, ra.Cast):
            return ra.Cast(expression.operand, "timestamp_ltz", expression.safe)
        if local and isinstance(expression, ra.Literal):
            return ra.Literal(expression.kind, expression.text, "timestamp_ltz", expression.folded)
        return expression

    def _called(self, node: exp.Expr) -> ra.Expression:
        """A call; a star among its arguments stands for all its columns."""
        if not any(map(is_star, node.expressions)) or node.name.lower() == "count":
            return Translator._function(self, node)
        name = self._note(node)
        arguments: list[ra.Expression] = []
        for child in node.expressions:
            columns = self.star(child) if is_star(child) else None
            if is_star(child) and columns is None:
                return ra.Unknown("`*` over columns that are not known")
            shown = [column.expression for column in columns or ()]
            arguments += shown if is_star(child) else [self.translate(child)]
        return ra.Call(name, tuple(arguments)) if name != "struct" else ra.Unknown("struct(*)")


_MORE_HANDLERS: dict[type[exp.Expr], Callable[[OutputTranslator, exp.Expr], ra.Expression]] = {
    exp.Column: OutputTranslator._column_or_function,
    exp.Not: OutputTranslator._not,
    exp.Collate: OutputTranslator._collated,
    exp.JSONExtract: OutputTranslator._path,
    exp.RawString: lambda _, node: ra.Literal("string", node.name),
    exp.Tuple: OutputTranslator._row,
    exp.Interval: OutputTranslator._constant_interval,
    **dict.fromkeys((exp.Cast, exp.TryCast), OutputTranslator._zoned_cast),
    exp.Anonymous: OutputTranslator._called,
}
