"""How calls, CASE, LIKE, subqueries and windows are printed in the name of a column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlglot import exp

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.plan.relations import numbers
from sqlrewrite.sql.bind.plan_names import CAST_FUNCTIONS, function_name
from sqlrewrite.sql.bind.translate import OF_UNITS, Translator
from sqlrewrite.sql.outputs.literal_names import Printed
from sqlrewrite.sql.outputs.printed_forms import filled, printed, replaced_by_analyzer
from sqlrewrite.sql.parse.spark_parser import BY_WORDS

_WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
_SO_FAR = "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
_RANKS = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "ntile"})
_LISTS = frozenset({"listagg", "string_agg"})
_SUBQUERIES = {
    "exists": "exists({})",
    "scalar": "scalarsubquery({})",
    "in": "({} IN (listquery({})))",
}
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}
_BEHIND_CALLS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def inside(node: exp.Expr) -> exp.Expr:
    """A tree without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_star(node: exp.Expr) -> bool:
    """Whether an argument is ``*`` or ``t.*``."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


class CallPrinter:
    """Prints calls, subqueries and windows; ``NamePrinter``, which derives from it, prints their
    operands."""

    translator: Translator
    type_of: Callable[[ra.Expression], Type | None]
    understood: Callable[[ra.Query], bool]

    @abstractmethod
    def printed(self, node: exp.Expr) -> Printed: ...

    @abstractmethod
    def own_name(self, node: exp.Expr) -> str | None: ...

    @abstractmethod
    def kind(self, node: exp.Expr) -> Type | None: ...

    @abstractmethod
    def meaning(self, node: exp.Expr) -> ra.Expression | None: ...

    def text(self, node: exp.Expr) -> str | None:
        """An expression as Spark prints it."""
        return self.printed(node).text

    def _all(self, nodes: Iterable[Any]) -> list[Printed]:
        return [self.printed(node) for node in nodes]

    def field_names(self, row: exp.Expr) -> list[str]:
        """The names of the fields of ``(a, 1 AS b, 2)``: each value's alias or column, else ``col``
        and its number."""
        names: list[str] = []
        for at, node in enumerate(row.expressions, 1):
            cast = isinstance(inside(node), exp.Cast | exp.TryCast | exp.Anonymous)
            own = node.alias if isinstance(node, exp.Alias) else self.own_name(node)
            names.append(f"col{at}" if cast or not own else own)
        return names

    def _call(self, node: exp.Expr) -> str | None:
        """A call without FILTER, OVER and other clauses after its parentheses."""
        name = function_name(node).removeprefix("system.").removeprefix("builtin.")
        nodes = list(node.expressions)
        distinct = bool(nodes) and isinstance(nodes[0], exp.Distinct)
        if distinct:
            nodes = list(nodes[0].expressions)
        if name in OF_UNITS and nodes and isinstance(nodes[0], exp.Var):
            unit, *rest = nodes
            return filled(f"{OF_UNITS[name]}({{}}, {{}}, {{}})", unit.name, *self._all(rest))
        if name == "struct" and nodes:
            return self._struct(nodes)
        if name == "substr" and node.meta.get(BY_WORDS):
            name = "substring"
        parts = self._arguments(name, nodes, distinct)
        if parts is None or function(name) is None:
            return None
        if name in CAST_FUNCTIONS or name == "time":
            return parts[0].text if len(parts) == 1 else None
        if name == "shiftrightunsigned" and "start" not in node.meta:
            return filled("({} >>> {})", *parts)
        if name == "from_json":
            kind = self.kind(node)
            if kind is None or kind.name == "map":
                return None if kind is None else "entries"
        return printed(name, parts, distinct)

    def _arguments(
        self, name: str, nodes: Sequence[exp.Expr], distinct: bool
    ) -> list[Printed] | None:
        """The arguments of a call with stars expanded; None if they are not all known."""
        parts: list[Printed] = []
        for node in nodes:
            if isinstance(node, exp.Kwarg | exp.PropertyEQ):
                return None
            if not is_star(node):
                parts.append(self.printed(node))
            elif name == "count":
                if len(nodes) > 1 or distinct or not isinstance(node, exp.Star):
                    return None  # spark.sql.legacy.allowStarWithSingleTableIdentifierInCount
                return [Printed("1", types.INT, 1)]
            else:
                shown = self.translator.star(node)
                if shown is None:
                    return None
                parts += [
                    Printed(column.label, self.type_of(column.expression)) for column in shown
                ]
        return parts

    def _struct(self, nodes: Sequence[exp.Expr]) -> str | None:
        """The call ``struct(a, b AS c)`` as Spark prints it, with its aliases."""
        form, parts = list[str](), list[Printed | str]()
        for node in nodes:
            if is_star(node):
                return None
            aliased = isinstance(node, exp.Alias)
            form.append("{} AS {}" if aliased else "{}")
            parts += [self.printed(node.unalias()), *([node.alias] if aliased else [])]
        return filled(f"struct({', '.join(form)})", *parts)

    def _row(self, node: exp.Expr) -> str | None:
        """The row ``(1, a)`` as Spark prints it: a named_struct."""
        form, parts = list[str](), list[Printed | str]()
        for name, item in zip(self.field_names(node), node.expressions, strict=True):
            form.append("{}, {}")
            parts += [name, self.printed(item.unalias())]
            if isinstance(item, exp.Alias):
                form[-1] += " AS {}"
                parts.append(name)
        return filled(f"named_struct({', '.join(form)})", *parts)

    def _lambda(self, node: exp.Expr) -> str | None:
        variables = ", ".join(["namedlambdavariable()"] * len(node.expressions))
        return filled(f"lambdafunction({{}}, {variables})", self.printed(node.this))

    def _filter(self, node: exp.Expr) -> str | None:
        text, kept = self.text(node.this), self.text(node.expression.this)
        return None if text is None or kept is None else f"{text} FILTER (WHERE {kept})"

    def _within_group(self, node: exp.Expr) -> str | None:
        """A call with its WITHIN GROUP; None for functions whose sort keys Spark prints without
        NULLS FIRST or LAST."""
        if not isinstance(node.this, exp.Anonymous) or node.this.name.lower() not in _LISTS:
            return None
        text = self.text(node.this)
        orders = [self._order(expression) for expression in node.expression.expressions]
        if text is None or None in orders:
            return None
        text = text.replace("string_agg(", "listagg(", 1)
        return f"{text} WITHIN GROUP (ORDER BY {', '.join(map(str, orders))})"

    # --- what has a syntax of its own ----------------------------------------------------------

    def _like(self, node: exp.Expr) -> str | None:
        """A LIKE or ILIKE as Spark prints it, also with ESCAPE."""
        like = node.this if isinstance(node, exp.Escape) else node
        pattern, negated = like.expression, bool(like.args.get("negate"))
        if isinstance(pattern, exp.Any | exp.All) and like is node:
            return self._like_several(like, pattern, negated)
        form = "{} LIKE {}" if isinstance(like, exp.Like) else "ilike({}, {})"
        if like is not node:
            if isinstance(like, exp.ILike):
                return None
            form += f" ESCAPE '{node.expression.name}'"
        text = filled(form, self.printed(like.this), self.printed(pattern))
        return f"(NOT {text})" if text is not None and negated else text

    def _like_several(self, like: exp.Expr, pattern: exp.Expr, negated: bool) -> str | None:
        """A ``x LIKE ANY ('a', 'b')``, or ALL, as Spark prints it."""
        strings = all(
            isinstance(part, exp.Literal) and part.is_string for part in pattern.this.expressions
        )
        if isinstance(like, exp.ILike) or not strings:
            return None
        word = "any" if isinstance(pattern, exp.Any) else "all"
        return filled(f"{'not' * negated}like{word}({{}})", self.printed(like.this))

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

    def _trim(self, node: exp.Expr) -> str | None:
        side = node.args.get("position") or "BOTH"
        if node.expression is None:
            return printed(_TRIMS.get(side, "trim"), [self.printed(node.this)], False)
        characters, text = self.printed(node.expression), self.printed(node.this)
        return filled(f"TRIM({side} {{}} FROM {{}})", characters, text)

    def _subquery(self, node: exp.Expr) -> str | None:
        """A subquery as Spark prints it, with the outer column that it refers to; None if it refers
        to several, whose order is unknown."""
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

    # --- windows ------------------------------------------------------------------------------

    def _window(self, node: exp.Expr) -> str | None:
        text, over = self.text(node.this), self.translator.window_definition(node)
        if text is None or over is None:
            return None
        keys = [self.text(key) for key in over.args.get("partition_by") or ()]
        order = over.args.get("order")
        ordered = list(order.expressions) if order is not None else []
        orders = [self._order(order) for order in ordered]
        spec = node.args.get("spec") or over.args.get("spec")
        frame = self._frame(spec, ordered) if spec else self._default_frame(node.this, ordered)
        if None in keys or None in orders or frame is None:
            return None
        parts = [f"PARTITION BY {', '.join(map(str, keys))}"] if keys else []
        parts += [f"ORDER BY {', '.join(map(str, orders))}"] if orders else []
        return f"{text} OVER ({' '.join([*parts, frame])})"

    def _order(self, key: exp.Expr) -> str | None:
        text = self.text(key.this if isinstance(key, exp.Ordered) else key)
        direction = "DESC" if key.args.get("desc") else "ASC"
        nulls = "FIRST" if key.args.get("nulls_first", True) else "LAST"
        return None if text is None else f"{text} {direction} NULLS {nulls}"

    def _default_frame(self, called: exp.Expr, ordered: Sequence[exp.Expr]) -> str | None:
        while isinstance(called, _BEHIND_CALLS):
            called = called.this
        if not isinstance(called, exp.Anonymous):
            return None
        name = called.name.lower()
        if name in ("lag", "lead"):
            step = called.expressions[1].name if len(called.expressions) > 1 else "1"
            if not step.isdigit():
                return None
            step = f"-{step}" if name == "lag" else step
            return f"ROWS BETWEEN {step} FOLLOWING AND {step} FOLLOWING"
        if name in _RANKS:
            return f"ROWS {_SO_FAR}"
        return f"RANGE {_SO_FAR}" if ordered or name == "cume_dist" else _WHOLE

    def _frame(self, spec: exp.Expr, ordered: Sequence[exp.Expr]) -> str | None:
        unit = spec.args["kind"].upper()
        bounds: list[str] = []
        for value, side in (("start", "start_side"), ("end", "end_side")):
            bound, word = spec.args.get(value), spec.args.get(side)
            if not isinstance(bound, exp.Expr):
                bounds.append(" ".join(filter(None, (bound or "CURRENT ROW", word))).upper())
                continue
            self.translator.translate(bound)
            text, same = self.text(bound), unit == "ROWS" or self._same_type(bound, ordered)
            if text is None or same is None:
                return None
            # Spark casts the bound to the type of the key, together with its minus.
            turned = not same and str(word).upper() == "PRECEDING"
            bounds.append(f"(- {text}) FOLLOWING" if turned else f"{text} {str(word).upper()}")
        return f"{unit} BETWEEN {bounds[0]} AND {bounds[1]}"

    def _same_type(self, bound: exp.Expr, ordered: Sequence[exp.Expr]) -> bool | None:
        """Whether a bound needs no cast to the type of the only sort key; None if unknown."""
        key = self.kind(ordered[0].this) if ordered else None
        kind = self.printed(bound).kind
        if key is None or kind is None:
            return None
        return key == kind or key.name.startswith(("date", "timestamp"))
