"""The names that Spark gives to columns without one (``toPrettySQL``), from tree and plan.

Names are printed as ``usePrettyExpression`` has them: strings without quotes, no implicit cast, no
qualifier of a column. How a call is printed is in ``rules/printed.toml``; each row was asked of
Spark 4.3. What is not known to be printed so has no name here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.literals import number_type
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import Type, valued
from sqlrewrite.plan.relations import numbers
from sqlrewrite.sql.bind.plan_names import CAST_FUNCTIONS, function_name, type_name
from sqlrewrite.sql.bind.translate import Translator
from sqlrewrite.sql.bind.trees import chained, within_casts
from sqlrewrite.sql.outputs.call_names import CallPrinter, inside
from sqlrewrite.sql.outputs.literal_names import (
    Printed,
    binary,
    interval,
    number,
    printed_interval,
    summed_interval,
    typed_constant,
)
from sqlrewrite.sql.outputs.printed_forms import (
    bare_call,
    cast_text,
    datetime_arithmetic,
    filled,
    is_datetime,
    printed,
    replaced_by_analyzer,
)
from sqlrewrite.sql.parse.dialect import SPELLED
from sqlrewrite.sql.parse.spans import SPAN

BARE = frozenset(
    "current_catalog current_database current_date current_schema current_time"
    " current_timestamp localtime current_user session_user user".split()
)
"""Functions that need no parentheses."""

UNNAMED = Printed(None)
"""An expression of which nothing is known."""

_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NullSafeEQ: "<=>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_COMPUTED: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_SUBQUERIES = {
    "exists": "exists({})",
    "scalar": "scalarsubquery({})",
    "in": "({} IN (listquery({})))",
}
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}


class NamePrinter(CallPrinter):
    """Prints the expressions of one SELECT, which its ``translator`` has translated: ``meanings``
    are their plans by the ids of their trees, ``type_of`` gives a plan's type, and ``understood``
    says whether all is known that a subquery refers to."""

    def __init__(
        self,
        translator: Translator,
        meanings: Mapping[int, tuple[exp.Expr, ra.Expression]],
        type_of: Callable[[ra.Expression], Type | None],
        understood: Callable[[ra.Query], bool],
    ) -> None:
        self.translator = translator
        self.meanings = meanings
        self.type_of = type_of
        self.understood = understood

    def label(self, item: exp.Expr) -> str | None:
        """The name of the column that an item of a SELECT list makes; None if unknown."""
        if isinstance(item, exp.Alias):
            return item.alias
        node = inside(item)
        if isinstance(node, exp.Column) and self._bare(node):
            return bare_call(node.name.lower())
        return self.own_name(node) or self.text(node)

    def own_name(self, node: exp.Expr) -> str | None:
        """The name that an expression has by itself: a column, a field, the cast of a column."""
        node = inside(node)
        match node:
            case exp.Column() | exp.Identifier():
                return node.name or None
            case exp.Cast() | exp.TryCast():
                return self._name_under(node.this)
            case exp.Anonymous() if function_name(node) in CAST_FUNCTIONS:
                return self._name_under(node.expressions[0]) if node.expressions else None
            case exp.JSONExtract():
                return _last_name(node) if self.kind(node) == types.VARIANT else None
            case _:
                return None

    def _name_under(self, node: exp.Expr) -> str | None:
        """The name of a column, of casts of it, or of a path into it, under a cast."""
        node = inside(node)
        if not isinstance(node, exp.Column):
            return None if isinstance(node, exp.Identifier) else self.own_name(node)
        meaning = self.meaning(node)
        merged = isinstance(meaning, ra.Unknown) and bool(meaning.args)
        column = isinstance(meaning, ra.ColumnRef) or merged
        return node.name if column and not self._is_alias(node) else None

    def meaning(self, node: exp.Expr) -> ra.Expression | None:
        """The plan of a tree."""
        noted = self.meanings.get(id(inside(node)))
        return None if noted is None else noted[1]

    def type_of_column(self, column: ra.OutputColumn) -> Type | None:
        """The type of a column."""
        return self.type_of(column.expression)

    def kind(self, node: exp.Expr) -> Type | None:
        """The type of a tree's value, None if unknown."""
        meaning = self.meaning(node)
        kind = None if meaning is None else self.type_of(meaning)
        return None if kind is None else valued(kind)

    def printed(self, node: exp.Expr) -> Printed:
        """An expression as Spark prints it, with its type."""
        node = inside(node)
        kind = type(node)
        if kind in _COMPARED:
            return self._compared(_COMPARED[kind], node)
        if kind in _COMPUTED:
            return self._computed(_COMPUTED[kind], node)
        handler = _HANDLERS.get(kind)
        if handler is None:
            return Printed(None, self.kind(node))
        result = handler(self, node)
        return result if isinstance(result, Printed) else Printed(result, self.kind(node))

    # --- names --------------------------------------------------------------------------------

    def _is_alias(self, node: exp.Expr) -> bool:
        """Whether a column is an item of the same SELECT list."""
        alias = self.translator.aliases.get(node.name.lower())
        return alias is not None and not node.args.get("table") and self.meaning(node) is alias

    def _bare(self, node: exp.Expr) -> bool:
        """Whether a column is the call of a function without parentheses."""
        meaning = self.meaning(node)
        called = isinstance(meaning, ra.Call) and not meaning.args and node.name.lower() in BARE
        return called and not self._is_alias(node)

    def _column(self, node: exp.Column) -> str | None:
        meaning, name = self.meaning(node), node.name
        if self._is_alias(node):
            return f"lateralAliasReference({name})"
        names = [part.name for part in node.parts]
        if isinstance(meaning, ra.Unknown):
            return name if meaning.args and len(names) <= 2 else None
        return self._path(meaning, names)

    def _path(self, meaning: ra.Expression | None, names: list[str]) -> str | None:
        """A column, a lambda's parameter, or a field in one, by the names as written."""
        match meaning:
            case ra.Variable():
                return "namedlambdavariable()"
            case ra.ColumnRef():
                own = meaning.relation in numbers(self.translator.scope.source)
                return names[-1] if own else None  # `outer(…)`, with all qualifiers
            case ra.Call(name=".", args=(base, _)):
                before = self._path(base, names[:-1])
                return None if before is None else self._field_of(base, before, names[-1])
            case _:
                return None

    def _field_of(self, base: ra.Expression, text: str, name: str) -> str | None:
        kind = self.type_of(base)
        if kind is None:
            return None
        return f"{text}[{name}]" if kind.name == "map" else f"{text}.{name}"

    def _field(self, node: exp.Expr) -> str | None:
        if isinstance(node.expression, exp.Anonymous):
            return self._call(node.expression)
        meaning = self.meaning(node)
        text = self.text(node.this)
        if text is None or not isinstance(meaning, ra.Call) or not meaning.args:
            return None
        return self._field_of(meaning.args[0], text, node.expression.name)

    # --- constants ----------------------------------------------------------------------------

    def _literal(self, node: exp.Expr) -> Printed:
        if node.args["is_string"]:
            kind = self.kind(node)
            return UNNAMED if kind != types.STRING else Printed(node.name, kind, node.name)
        return number(node.name, number_type(node.name)) or UNNAMED

    def _strings(self, node: exp.Expr) -> Printed:
        """Strings behind each other, which are one."""
        if not all(
            isinstance(expression, exp.Literal) and expression.is_string
            for expression in node.expressions
        ):
            return UNNAMED
        text = "".join(expression.name for expression in node.expressions)
        return Printed(text, types.STRING, text)

    def _negative(self, node: exp.Expr) -> Printed:
        within, casts = within_casts(node.this)
        constant: Printed | None = None
        if isinstance(within, exp.Literal) and not within.is_string:
            constant = number(f"-{within.name}", number_type(within.name))
        elif within.meta.get(SPELLED) == "suffix":
            constant = number(f"-{within.this.name}", self._suffixed(within))
        if constant is None:
            return self._signed("-", node.this)
        for cast in reversed(casts):
            constant = _cast_of(constant, cast, self.kind(cast) or _type_in(cast))
        return constant

    def _suffixed(self, node: exp.Expr) -> Type | None:
        kind = _type_in(node)
        return self.kind(node) if kind is not None and kind.name == "decimal" else kind

    def _signed(self, sign: str, operand: exp.Expr) -> Printed:
        part = self.printed(operand)
        form = "~{}" if sign == "~" else f"({sign} {{}})"
        return Printed(filled(form, part), self.kind(operand))

    def _cast(self, node: exp.Expr) -> Printed:
        spelled = node.meta.get(SPELLED)
        if spelled == "suffix":
            return number(node.this.name, self._suffixed(node)) or UNNAMED
        if spelled is None:
            within, casts = within_casts(node.this)
            if isinstance(within, exp.Literal):
                kind = self._typed_kind(node, casts)
                constant = Printed(typed_constant(within.name, kind), kind)
                for cast in reversed(casts):
                    constant = _cast_of(constant, cast, _type_in(cast))
                return constant
        kind = self.kind(node)
        return _cast_of(self.printed(node.this), node, kind)

    def _typed_kind(self, node: exp.Expr, casts: list[exp.Expr]) -> Type | None:
        """The type of ``DATE '…'``, which is under casts in the plan."""
        meaning = self.meaning(node)
        if not casts:
            return None if meaning is None else self.type_of(meaning)
        return self.type_of(ra.Literal("typed", "", type_name(node.args["to"])))

    def _interval(self, node: exp.Expr) -> Printed:
        kind = self.kind(node)
        result = printed_interval(node)
        return UNNAMED if result is None or kind is None else result

    # --- operators ----------------------------------------------------------------------------

    def _connective(self, node: exp.Expr) -> str | None:
        """Operands with AND or OR between them, of which Spark makes a balanced tree."""
        word = "AND" if isinstance(node, exp.And) else "OR"
        parts = self._all(chained(node, type(node)))

        def joined(low: int, high: int) -> Printed:
            if low == high:
                return parts[low]
            middle = low + (high - low) // 2 if high - low > 1 else low
            left, right = joined(low, middle), joined(middle + 1, high)
            return Printed(filled("({} {} {})", left, word, right), types.BOOLEAN)

        return joined(0, len(parts) - 1).text

    def _compared(self, sign: str, node: exp.Expr) -> Printed:
        left, right = self.printed(node.this), self.printed(node.expression)
        replaced = replaced_by_analyzer(sign, left, right)
        text = None if replaced else filled("({} {} {})", left, sign, right)
        return Printed(text, types.BOOLEAN)

    def _different(self, node: exp.Expr) -> str | None:
        sign = "=" if isinstance(node, exp.NEQ) else "<=>"
        text = self._compared(sign, node).text
        return None if text is None else f"(NOT {text})"

    def _not(self, node: exp.Expr) -> str | None:
        # The condition that is written as IS NOT NULL has no span without its NOT.
        negated = isinstance(node.this, exp.Is) and SPAN not in node.this.meta
        if negated and isinstance(node.this.expression, exp.Null):
            return filled("({} IS NOT NULL)", self.printed(node.this.this))
        return filled("(NOT {})", self.printed(node.this))

    def _is(self, node: exp.Expr) -> str | None:
        operand = self.printed(node.this)
        if isinstance(node.expression, exp.Null):
            return filled("({} IS NULL)", operand)
        truth = self.printed(node.expression)
        replaced = replaced_by_analyzer("<=>", operand, truth)
        return None if replaced else filled("({} <=> {})", operand, truth)

    def _in(self, node: exp.Expr) -> str | None:
        if node.args.get("query") is not None:
            return self._subquery(node)
        parts = self._all([node.this, *node.expressions])
        listed = ", ".join(["{}"] * (len(parts) - 1))
        return filled(f"({{}} IN ({listed}))", *parts)

    def _between(self, node: exp.Expr) -> str | None:
        ends = (node.this, node.args["low"], node.args["high"])
        return filled("between({}, {}, {})", *self._all(ends))

    def _like(self, node: exp.Expr) -> str | None:
        pattern, negated = node.expression, bool(node.args.get("negate"))
        if not isinstance(pattern, exp.Any | exp.All):
            form = "{} LIKE {}" if isinstance(node, exp.Like) else "ilike({}, {})"
            text = filled(form, self.printed(node.this), self.printed(pattern))
            return text if text is None or not negated else f"(NOT {text})"
        patterns = pattern.this.expressions
        strings = all(
            isinstance(pattern, exp.Literal) and pattern.is_string for pattern in patterns
        )
        if isinstance(node, exp.ILike) or not strings:
            return None
        word = "any" if isinstance(pattern, exp.Any) else "all"
        return filled(f"{'not' * negated}like{word}({{}})", self.printed(node.this))

    def _escaped(self, node: exp.Expr) -> str | None:
        like = node.this
        if not isinstance(like, exp.Like):
            return None
        form = f"{{}} LIKE {{}} ESCAPE '{node.expression.name}'"
        text = filled(form, self.printed(like.this), self.printed(like.expression))
        return f"(NOT {text})" if text is not None and like.args.get("negate") else text

    def _computed(self, sign: str, node: exp.Expr) -> Printed:
        """An operator of arithmetic or bits."""
        amounts = summed_interval(node)
        if amounts is not None:
            return (interval(amounts) if self.kind(node) is not None else None) or UNNAMED
        left, right = self.printed(node.this), self.printed(node.expression)
        kind = self.kind(node)
        if left.kind is None or right.kind is None:
            unsure = sign in ("+", "-", "*", "/")
            return Printed(None if unsure else filled("({} {} {})", left, sign, right), kind)
        if sign in ("+", "-", "*", "/") and (is_datetime(left.kind) or is_datetime(right.kind)):
            return Printed(datetime_arithmetic(sign, left, right), kind)
        return Printed(filled("({} {} {})", left, sign, right), kind)

    def _element(self, node: exp.Expr) -> str | None:
        if len(node.expressions) != 1:
            return None
        base, index = self.printed(node.this), self.printed(node.expressions[0])
        if base.kind is not None and base.kind.name == "struct":
            constant = index.constant
            return f"{base.text}.{constant}" if base.text and isinstance(constant, str) else None
        return filled("{}[{}]", base, index)

    def _case(self, node: exp.Expr) -> str | None:
        operand = None if node.this is None else self.printed(node.this)
        form, parts = "CASE", list[Printed]()
        for branch in node.args["ifs"]:
            when, then = self.printed(branch.this), self.printed(branch.args["true"])
            if operand is None:
                form += " WHEN {} THEN {}"
                parts += [when, then]
                continue
            if replaced_by_analyzer("=", operand, when):
                return None
            form += " WHEN ({} = {}) THEN {}"
            parts += [operand, when, then]
        default = node.args.get("default")
        if default is not None:
            form += " ELSE {}"
            parts.append(self.printed(default))
        return filled(f"{form} END", *parts)

    def _subquery(self, node: exp.Expr) -> str | None:
        """A subquery with the outer column that it refers to; of several the order is unknown."""
        meaning = self.meaning(node)
        if not isinstance(meaning, ra.Subquery) or len(meaning.outer) > 1:
            return None
        if node.find(exp.With) is not None or not self.understood(meaning.query):
            return None
        outer = [self._written(ref) for ref in meaning.outer]
        operand = node.this if isinstance(node, exp.In) else None
        if None in outer or isinstance(operand, exp.Tuple):
            return None
        parts: list[Printed | str] = [] if operand is None else [self.printed(operand)]
        return filled(_SUBQUERIES[meaning.kind], *parts, "".join(map(str, outer)))

    def _written(self, ref: ra.ColumnRef) -> str | None:
        """The name of an outer column as written."""
        if ref.span is None or ref.relation not in numbers(self.translator.scope.source):
            return None
        text = self.translator.text[ref.span.start : ref.span.end].strip()
        name = text[text[:-1].rfind("`") + 1 : -1] if text[-1:] == "`" else text.split(".")[-1]
        return name if name.lower() == ref.name else None

    # --- functions with a syntax of their own -------------------------------------------------

    def _parameter(self, node: exp.Expr) -> str | None:
        return self._path(self.meaning(node), [node.name])

    def _extract(self, node: exp.Expr) -> str | None:
        return filled(f"extract({node.this.name} FROM {{}})", self.printed(node.expression))

    def _trim(self, node: exp.Expr) -> str | None:
        side = node.args.get("position") or "BOTH"
        if node.expression is None:
            return printed(_TRIMS.get(side, "trim"), [self.printed(node.this)], False)
        characters, text = self.printed(node.expression), self.printed(node.this)
        return filled(f"TRIM({side} {{}} FROM {{}})", characters, text)

    def _position(self, node: exp.Expr) -> str | None:
        return filled("locate({}, {}, 1)", *self._all([node.args["substr"], node.this]))

    def _collated(self, node: exp.Expr) -> str | None:
        return filled("collate({}, {})", self.printed(node.this), node.expression.name)

    def _joined(self, node: exp.Expr) -> str | None:
        return filled("concat({}, {})", *self._all([node.this, node.expression]))


_HANDLERS: dict[type[exp.Expr], Callable[[NamePrinter, Any], Printed | str | None]] = {
    exp.Column: NamePrinter._column,
    exp.Identifier: NamePrinter._parameter,
    exp.Dot: NamePrinter._field,
    exp.Literal: NamePrinter._literal,
    exp.RawString: lambda _, node: Printed(node.name, types.STRING, node.name),
    exp.Concat: NamePrinter._strings,
    exp.Null: lambda _, __: Printed("NULL", types.VOID),
    exp.Boolean: lambda _, node: Printed(str(node.this).lower(), types.BOOLEAN, bool(node.this)),
    exp.HexString: lambda _, node: Printed(binary(node.name), types.BINARY),
    exp.Neg: NamePrinter._negative,
    exp.BitwiseNot: lambda it, node: it._signed("~", node.this),
    **dict.fromkeys((exp.Cast, exp.TryCast), NamePrinter._cast),
    exp.Interval: NamePrinter._interval,
    **dict.fromkeys((exp.And, exp.Or), NamePrinter._connective),
    **dict.fromkeys((exp.NEQ, exp.NullSafeNEQ), NamePrinter._different),
    exp.Not: NamePrinter._not,
    exp.Is: NamePrinter._is,
    exp.In: NamePrinter._in,
    exp.Between: NamePrinter._between,
    **dict.fromkeys((exp.Like, exp.ILike), NamePrinter._like),
    exp.Escape: NamePrinter._escaped,
    exp.RegexpLike: lambda it, node: filled(
        "RLIKE({}, {})", it.printed(node.this), it.printed(node.expression)
    ),
    exp.Bracket: NamePrinter._element,
    exp.DPipe: NamePrinter._joined,
    exp.Case: NamePrinter._case,
    **dict.fromkeys((exp.Subquery, exp.Exists), NamePrinter._subquery),
    exp.Anonymous: NamePrinter._call,
    exp.Tuple: NamePrinter._row,
    exp.Lambda: NamePrinter._lambda,
    exp.Extract: NamePrinter._extract,
    exp.Trim: NamePrinter._trim,
    exp.StrPosition: NamePrinter._position,
    exp.Collate: NamePrinter._collated,
    exp.Filter: NamePrinter._filter,
    exp.WithinGroup: NamePrinter._within_group,
    **dict.fromkeys((exp.IgnoreNulls, exp.RespectNulls), lambda it, node: it.text(node.this)),
    exp.Window: NamePrinter._window,
}


def _last_name(node: exp.Expr) -> str | None:
    """The last name in a path into a VARIANT."""
    keys = [
        expression
        for expression in node.expression.expressions
        if isinstance(expression, exp.JSONPathKey)
    ]
    name = str(keys[-1].this) if keys else ""
    return name if name and "." not in name else None


def _type_in(cast: exp.Expr) -> Type | None:
    """The type of a value of a cast, by the text of it."""
    kind = parse(type_name(cast.args["to"]))
    return None if kind is None else valued(kind)


def _cast_of(operand: Printed, cast: exp.Expr, kind: Type | None) -> Printed:
    return cast_text(operand, kind, safe=isinstance(cast, exp.TryCast))
