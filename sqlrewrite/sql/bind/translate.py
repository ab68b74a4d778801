"""sqlglot's expression trees to the plan's own expressions, columns resolved on the way.

An operator is a ``Call`` under its SQL sign, a function one under the name the author wrote. What
is not in the tables here becomes ``Unknown``.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial, reduce
from itertools import takewhile

from msgspec import Struct, field
from sqlglot import exp

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts.constants import cast_fits
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.sql.bind.closed_world import syntax_reason
from sqlrewrite.sql.bind.plan_names import (
    CAST_FUNCTIONS,
    LITERAL_FUNCTIONS,
    OPERATORS,
    function_name,
    interval_name,
    type_name,
)
from sqlrewrite.sql.bind.scope import (
    Scope,
    lacks,
    nowhere_in_sight,
    qualified_star,
    resolve,
    star_columns,
)
from sqlrewrite.sql.bind.trees import chained, field_name, operand_trees, within_casts
from sqlrewrite.sql.parse.spark_parser import SPELLED
from sqlrewrite.sql.statements.two_readings import why_maybe_name
from sqlrewrite.text.edits import Span
from sqlrewrite.text.templates import holds_template

OF_UNITS = {
    **dict.fromkeys(("timestampadd", "dateadd", "date_add"), "timestampadd"),
    **dict.fromkeys(("timestampdiff", "datediff", "date_diff", "timediff"), "timestampdiff"),
}
"""The function that each name stands for if its first argument is a unit: ``DATEADD(day, 1,
x)``."""

# What may stand between a window and its function.
_ABOVE_CALLS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls, exp.Dot)

_PART_OF_THE_PLAN = (exp.Query, exp.Window, exp.Placeholder, exp.Lambda)
_SKIMMED = ra.Unknown("an expression that no predicate needs")


class Facts(Struct):
    """Facts about the expressions of a block, collected while they are translated.

    ``functions``: the names of those called; ``unknowns``: reasons why the block is unknown.
    ``partitions``: the PARTITION BY keys of its windows.
    ``aggregates``, ``uncertain``: whether an aggregate is called, or a function that may be one or
    a generator.
    """

    functions: set[str] = field(default_factory=set)
    unknowns: list[str] = field(default_factory=list)
    partitions: list[tuple[ra.Expression, ...]] = field(default_factory=list)
    aggregates: bool = False
    uncertain: bool = False


Trees = dict[int, tuple[ra.Expression, exp.Expr]]
"""Expressions with the trees that they are translated from, by the ids of the expressions."""

BindSubquery = Callable[[exp.Expr, Scope, str, ra.Expression | None, bool, bool], ra.Subquery]


class Translator(Struct):
    """Translates the expressions of one block of a text, and collects its ``facts``.

    ``in_view``: the text is that of a view, and no place in it is the author's.
    ``windows``: the named windows of the block.
    ``aliases``: its outputs, once they are known, for the clauses that may name them.
    ``first``: the aliases that HAVING resolves before columns of FROM.
    ``possible_names``: the words of the text that may be names, if text in double quotes may be
    one.
    ``variables``: the parameters of the lambdas around the place.
    ``trees``: the tree of each expression; none in a view.
    """

    text: str
    in_view: bool
    bind_subquery: BindSubquery
    scope: Scope
    facts: Facts
    windows: dict[str, exp.Expr] = field(default_factory=dict)
    aliases: dict[str, ra.Expression] = field(default_factory=dict)
    first: frozenset[str] = frozenset()
    possible_names: frozenset[str] | None = None
    variables: dict[str, ra.Variable] = field(default_factory=dict)
    trees: Trees = field(default_factory=dict)
    _under_over: exp.Expr | None = None

    def translate(self, node: exp.Expr | None) -> ra.Expression:
        """The plan's expression for a tree; Unknown for None, which sqlglot puts in place of
        operands that a truncated text lacks."""
        if node is None:
            return ra.Unknown("an operand is missing", ())
        return self._with_tree(node, HANDLERS.get(type(node), Translator._call)(self, node))

    def _with_tree(self, node: exp.Expr, expression: ra.Expression) -> ra.Expression:
        """The expression, with ``node`` noted as its tree unless it has one already."""
        if not self.in_view:
            self.trees.setdefault(id(expression), (expression, node))
        return expression

    def star(self, item: exp.Expr) -> list[ra.OutputColumn] | None:
        """The columns of ``*`` or ``t.*``; None if they are not all known."""
        marker = item if isinstance(item, exp.Star) else item.this
        if marker.args.get("replace") or marker.args.get("rename"):
            return None
        if isinstance(item, exp.Column):
            qualifier = tuple(part.name.lower() for part in item.parts[:-1])
            shown = qualified_star(self.scope.source, qualifier)
        else:
            shown = star_columns(self.scope.source)
        left_out = marker.args.get("except_") or ()
        if any(isinstance(column, exp.Column) and column.table for column in left_out):
            return None  # EXCEPT (t.a): a column of one relation, or a field of a struct
        dropped = {column.name.lower() for column in left_out}
        if shown is None:
            return None
        return [ra.OutputColumn(name, ref) for name, ref in shown if name not in dropped]

    def label(self, item: exp.Expr) -> str | None:
        """The name that Spark shows for an item of a SELECT list; None if that is not asked for."""
        return None

    def may_be_several(self, item: exp.Expr, expression: ra.Expression) -> bool:
        """Whether an item may be several columns: it is, or may be, a generator."""
        if isinstance(item, exp.Aliases):
            return True
        alone = not isinstance(item, exp.Alias)
        if isinstance(expression, ra.Unknown):
            return alone
        call = isinstance(item.unalias(), exp.Anonymous | exp.Dot)
        if not isinstance(expression, ra.Call) or not call:
            return False
        called = function(expression.name)
        return alone if called is None else called.generator

    def skim(self, node: exp.Expr) -> ra.Expression:
        """Unknown for an item whose value nothing needs; the functions in it are noted. An item
        with a subquery or a window is translated in full, as these are part of the plan."""
        calls: list[exp.Expr] = []
        stack = [node]
        while stack:
            part = stack.pop()
            kind = type(part)
            if kind is exp.Column:
                continue
            if isinstance(part, _PART_OF_THE_PLAN):
                return self.translate(node)
            if kind is exp.Anonymous:
                calls.append(part)
            stack += operand_trees(part)
        for called in calls:
            self._note(called)
        return _SKIMMED

    def conjunct(self, node: exp.Expr) -> ra.Expression:
        """A conjunct of WHERE. If it is an EXISTS or IN, perhaps under NOT, that subquery is marked
        as required: a row passes only by its answer."""
        return self._deciding(node, True, False)

    def _deciding(self, node: exp.Expr, required: bool, negated: bool) -> ra.Expression:
        while isinstance(node, exp.Paren):
            node = node.this
        return self._with_tree(node, self._decided(node, required, negated))

    def _decided(self, node: exp.Expr, required: bool, negated: bool) -> ra.Expression:
        match node:
            case exp.Not():
                return ra.Call("not", (self._deciding(node.this, required and not negated, True),))
            case exp.Exists() if isinstance(node.this, exp.Query):
                return self.bind_subquery(node.this, self.scope, "exists", None, required, negated)
            case exp.In() if node.args.get("query") is not None:
                operand = self.translate(node.this)
                query = node.args["query"]
                return self.bind_subquery(query, self.scope, "in", operand, required, negated)
            case _:
                return self.translate(node)

    def _undecided(self, node: exp.Expr) -> ra.Expression:
        return self._deciding(node, False, False)

    def _column(self, node: exp.Expr) -> ra.Expression:
        args = node.args
        last = args["this"]
        if isinstance(last, exp.Star):
            return ra.Unknown("`*` in an expression")
        if not isinstance(last, exp.Identifier):
            return self._unknown(node)  # `s.$column`
        if args.get("table"):
            identifiers = [args[k] for k in ("catalog", "db", "table", "this") if args.get(k)]
            parts = tuple([part.args["this"].lower() for part in identifiers])
            spans = tuple([self._span(identifiers[0], part) for part in identifiers])
        else:
            name = last.args["this"].lower()
            if name in self.aliases and (name in self.first or lacks(self.scope, name)):
                return self.aliases[name]
            parts, spans = (name,), (self._span(last, last),)
        if parts[0] in self.variables:
            fields = (ra.Literal("string", name) for name in parts[1:])
            return reduce(
                lambda base, name: ra.Call(".", (base, name)), fields, self._variable(last)
            )
        if len(parts) == 1 and parts[0] in LITERAL_FUNCTIONS and lacks(self.scope, parts[0]):
            self.facts.functions.add(LITERAL_FUNCTIONS[parts[0]])
            return ra.Call(LITERAL_FUNCTIONS[parts[0]])
        columns = resolve(self.scope, parts, spans)
        if isinstance(columns, ra.Unknown) and not columns.args:
            self.facts.unknowns.append(columns.reason)
        return columns

    def _span(self, first: exp.Expr, last: exp.Expr) -> Span | None:
        if self.in_view:
            return None
        behind = last.meta
        start = (behind if first is last else first.meta).get("start")
        end = behind.get("end")
        return None if start is None or end is None else Span(start, end + 1)

    def _literal(self, node: exp.Expr) -> ra.Expression:
        text = node.args["this"]
        if not node.args["is_string"]:
            return ra.Literal("number", text)
        if self.possible_names is not None:
            look = partial(nowhere_in_sight, self.scope)
            why = why_maybe_name(node, self.text, self.possible_names, look)
            if why is not None:
                self.facts.unknowns.append(why)
                return ra.Unknown(why)
        return ra.Literal("template" if holds_template(text) else "string", text)

    def _constant(self, node: exp.Expr) -> ra.Expression:
        if isinstance(node, exp.Boolean):
            return ra.Literal("boolean", str(bool(node.this)).lower())
        return ra.Literal("null" if isinstance(node, exp.Null) else "star")

    def _connective(self, node: exp.Expr) -> ra.Expression:
        name = "and" if isinstance(node, exp.And) else "or"
        return ra.Call(name, tuple([self.translate(item) for item in chained(node, type(node))]))

    def _in(self, node: exp.Expr) -> ra.Expression:
        if node.args.get("query") is not None:
            return self._undecided(node)
        if node.args.get("unnest") or node.args.get("field"):
            return self._unknown(node)
        return ra.Call(
            "in", tuple([self.translate(item) for item in (node.this, *node.expressions)])
        )

    def _exists(self, node: exp.Expr) -> ra.Expression:
        # EXISTS(array, x -> …) is a function.
        return self._undecided(node) if isinstance(node.this, exp.Query) else self._unknown(node)

    def _distinct_from(self, node: exp.Expr) -> ra.Expression:
        same = ra.Call("<=>", (self.translate(node.this), self.translate(node.expression)))
        return ra.Call("not", (same,))

    def _is(self, node: exp.Expr) -> ra.Expression:
        if isinstance(node.expression, exp.Null):
            return ra.Call("isnull", (self.translate(node.this),))
        return ra.Call("is", (self.translate(node.this), self.translate(node.expression)))

    def _field(self, node: exp.Expr) -> ra.Expression:
        name = node.expression
        if not isinstance(name, exp.Identifier):
            return self._call(node)  # db.f(x)
        return ra.Call(".", (self.translate(node.this), ra.Literal("string", name.name.lower())))

    def _placeholder(self, node: exp.Expr) -> ra.Expression:
        if node.this is None:
            self.facts.functions.add("?")
        return ra.Parameter(positional=node.this is None)

    def _cast(self, node: exp.Expr) -> ra.Expression:
        kind, spelled = type_name(node.args["to"]), node.meta.get(SPELLED)
        if spelled is None:
            constant, casts = within_casts(node.this)
            if isinstance(constant, exp.Literal):  # DATE "…" can only be a string
                return _cast_in_turn(ra.Literal("typed", constant.name, kind), casts)
        operand = self.translate(node.this)
        if isinstance(operand, ra.Literal) and spelled == "suffix":
            if not kind.startswith("decimal"):
                return ra.Literal("typed", operand.text, kind)
            digits = f"{Decimal(operand.text):f}"  # of 1e3BD
            if "." in digits:
                return ra.Literal("number", digits)  # 1.50BD has just the digits of 1.50
            return ra.Literal("typed", digits, f"decimal({len(digits.lstrip('0')) or 1},0)")
        return _cast_of(operand, kind, type(node) is exp.TryCast)

    def _negative(self, node: exp.Expr) -> ra.Expression:
        within, casts = within_casts(node.this)
        if isinstance(within, exp.Literal) or within.meta.get(SPELLED) == "suffix":
            number = self.translate(within)
            if isinstance(number, ra.Literal) and number.kind in ("number", "typed"):
                # The sign is a part of the number, also before a cast: -1::STRING.
                return _cast_in_turn(replace(number, text=f"-{number.text}"), casts)
        return ra.Call("-", (self.translate(node.this),))

    def _interval(self, node: exp.Expr) -> ra.Expression:
        if isinstance(node.this, exp.Literal):
            return ra.Literal("typed", node.name, interval_name(node.args["unit"]))
        return self._unknown(node)

    def _extract(self, node: exp.Expr) -> ra.Expression:
        field = ra.Literal("string", node.this.name)
        return ra.Call("extract", (field, self.translate(node.expression)))

    def _like(self, node: exp.Expr) -> ra.Expression:
        pattern = node.expression
        if isinstance(pattern, exp.Any | exp.All):
            pattern = pattern.this
        operands = (self.translate(node.this), self.translate(pattern))
        call = ra.Call(OPERATORS[type(node)], operands)
        return ra.Call("not", (call,)) if node.args.get("negate") else call

    def _escaped(self, node: exp.Expr) -> ra.Expression:
        """LIKE with its ESCAPE."""
        pattern, sign = self.translate(node.this), self.translate(node.expression)
        negated = isinstance(pattern, ra.Call) and pattern.name == "not"
        like = pattern.args[0] if isinstance(pattern, ra.Call) and negated else pattern
        if not isinstance(like, ra.Call) or like.name not in ("like", "ilike"):
            return self._unknown(node)
        whole = ra.Call(like.name, (*like.args, sign))
        return ra.Call("not", (whole,)) if negated else whole

    def window_definition(self, window: exp.Expr) -> exp.Expr | None:
        """The definition of a window's partition and order: the window itself, or the one that it
        names."""
        named = window.args.get("alias")
        return self.windows.get(named.name.lower()) if isinstance(named, exp.Expr) else window

    def _window(self, node: exp.Expr) -> ra.Expression:
        # The function itself aggregates nothing, but its arguments may: sum(sum(x)) OVER ().
        called = node.this
        while isinstance(called, _ABOVE_CALLS):
            called = called.expression if isinstance(called, exp.Dot) else called.this
        self._under_over = called
        inner = self.translate(node.this)
        base = self.window_definition(node)
        keys = base.args.get("partition_by") or [] if base is not None else []
        partition = tuple([self.translate(key) for key in keys])
        self.facts.partitions.append(partition)
        order = base.args.get("order") if base is not None else None
        ranks = [self.translate(item) for item in order.expressions] if order is not None else []
        spec = node.args.get("spec") or (base.args.get("spec") if base is not None else None)
        if spec is not None and spec.args.get("kind") != "RANGE":
            self.facts.functions.add("over")  # the order of rows with equal keys is arbitrary
        return ra.Call("over", (inner, *partition, *ranks))

    def _call(self, node: exp.Expr) -> ra.Expression:
        operator = OPERATORS.get(type(node))
        if operator is None:
            if isinstance(node, exp.Query):
                return self.bind_subquery(node, self.scope, "scalar", None, False, False)
            return self._unknown(node)
        operands = operand_trees(node, names=bool(self.variables))
        return ra.Call(operator, tuple([self.translate(child) for child in operands]))

    def _function(self, node: exp.Expr) -> ra.Expression:
        name = self._note(node)
        args: list[ra.Expression] = []
        operands = node.expressions
        if name in OF_UNITS and operands and isinstance(operands[0], exp.Var):
            name = OF_UNITS[name]
            self.facts.functions.add(name)
            args.append(ra.Literal("string", operands[0].name.lower()))
            operands = operands[1:]
        for child in operands:
            lambdas = isinstance(child, exp.Lambda) and not isinstance(node.parent, exp.Dot)
            args.append(self._lambda(child, name, args) if lambdas else self.translate(child))
        arguments = tuple(args)
        if name == "struct" and not any(isinstance(operand, exp.Star) for operand in operands):
            names = [field_name(operand) or f"col{at}" for at, operand in enumerate(operands, 1)]
            pairs = zip(names, arguments, strict=True)
            parts = (part for name, value in pairs for part in (ra.Literal("string", name), value))
            return ra.Call("named_struct", tuple(parts))
        if len(arguments) == 1 and name in CAST_FUNCTIONS:
            return _cast_of(arguments[0], name)
        return ra.Call(name, arguments)

    def _lambda(self, node: exp.Expr, function: str, before: list[ra.Expression]) -> ra.Expression:
        """A lambda after the arguments ``before``; its parameters hide columns of the same
        names."""
        others = tuple(
            takewhile(lambda it: not (isinstance(it, ra.Call) and it.name == "=>"), before)
        )
        enclosing, number = self.variables, len(before) - len(others)
        names = [expression.name.lower() for expression in node.expressions]
        parameters = {
            name: ra.Variable(name, function, others, number, at) for at, name in enumerate(names)
        }
        self.variables = enclosing | parameters
        body = self.translate(node.this)
        self.variables = enclosing
        return ra.Call("=>", (body,))

    def _variable(self, node: exp.Expr) -> ra.Expression:
        name = node.name.lower()
        variable = self.variables.get(name)
        return replace(variable) if variable else ra.Unknown(f"{name} is not understood")

    def _note(self, node: exp.Expr) -> str:
        """The name of a function, which is added to the facts."""
        name = function_name(node)
        self.facts.functions.add(name)
        if node is not self._under_over:
            row = function(name)
            if row is None:
                self.facts.uncertain = True
            elif row.aggregate:
                self.facts.aggregates = True
        return name

    def _unknown(self, node: exp.Expr) -> ra.Expression:
        why = syntax_reason(node, self.text)
        if not isinstance(node, exp.Var | exp.Identifier | exp.DataType):
            self.facts.unknowns.append(why)
        return ra.Unknown(why, tuple([self.translate(child) for child in operand_trees(node)]))


HANDLERS: dict[type[exp.Expr], Callable[[Translator, exp.Expr], ra.Expression]] = {
    exp.Column: Translator._column,
    exp.Literal: Translator._literal,
    **dict.fromkeys((exp.Paren, exp.Alias, exp.Where), lambda it, node: it.translate(node.this)),
    **dict.fromkeys((exp.And, exp.Or), Translator._connective),
    exp.Not: Translator._undecided,
    exp.In: Translator._in,
    exp.Exists: Translator._exists,
    exp.Is: Translator._is,
    exp.NullSafeNEQ: Translator._distinct_from,
    **dict.fromkeys((exp.Null, exp.Boolean, exp.Star), Translator._constant),
    exp.HexString: lambda _, node: ra.Literal("typed", node.args["this"], "binary"),
    exp.Placeholder: Translator._placeholder,
    exp.Dot: Translator._field,
    **dict.fromkeys((exp.Cast, exp.TryCast), Translator._cast),
    exp.Neg: Translator._negative,
    exp.Interval: Translator._interval,
    exp.Extract: Translator._extract,
    **dict.fromkeys((exp.Like, exp.ILike), Translator._like),
    exp.Escape: Translator._escaped,
    exp.Anonymous: Translator._function,
    exp.Window: Translator._window,
    **dict.fromkeys((exp.Lambda, exp.Kwarg, exp.PropertyEQ), Translator._unknown),
    exp.Identifier: Translator._variable,
}


def _cast_of(operand: ra.Expression, kind: str, safe: bool = False) -> ra.Expression:
    """A cast; that of a constant is a typed literal if it certainly gives a value."""
    if isinstance(operand, ra.Literal) and operand.kind in ("string", "number"):
        target = parse(kind)
        if target is not None and cast_fits(operand.text, target):
            return ra.Literal("typed", operand.text, kind, folded=True)
    return ra.Cast(operand, kind, safe)


def _cast_in_turn(operand: ra.Expression, casts: list[exp.Expr]) -> ra.Expression:
    """An operand under a list of casts ``::``, the last of which is applied first."""
    for cast in reversed(casts):
        operand = _cast_of(operand, type_name(cast.args["to"]))
    return operand
