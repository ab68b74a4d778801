"""How aggregates per group of partitions combine to those over all rows, where that is exact.

In: an aggregating block and its keys. Out: a ``Combination``: the keys and aggregates in its SELECT
list and HAVING, and how to combine the groups' values. Raises ``Unsplit`` for what is not in the
tables here (docs/soundness.md, "Aggregates over groups").
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sqlrewrite.plan.algebra import Block, Call, Cast, ColumnRef, Expression, Literal, Plan
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import columns, substitute, walk
from sqlrewrite.plan.facts.coercion import family, is_decimal, is_integral
from sqlrewrite.plan.facts.functions import function, reaggregation
from sqlrewrite.plan.facts.types import BIGINT, FLOATING, MAX_PRECISION
from sqlrewrite.text.edits import Span


class Unsplit(Exception):  # noqa: N818 - not an error: how the search ends
    """Why a query cannot be written by groups of partitions."""


class Combined(Struct, frozen=True):
    """An aggregate by its ``name`` over the columns at ``spans``, with the templates of its
    argument within a group (``partial``) and of the combined value of the groups (``whole``)."""

    name: str
    spans: frozenset[Span]
    whole: str
    partial: str = "{}"


class Combination(Struct, frozen=True, eq=False):
    """The keys and aggregates of a block. ``items``: for each item of the SELECT list the number of
    its key, None if it is no key. ``columns``: the number of its key for each place of a key
    column. ``aggregates``: those in the list and HAVING."""

    keys: tuple[Expression, ...]
    items: tuple[int | None, ...]
    columns: dict[Span, int]
    aggregates: tuple[Combined, ...]


_VALUES = frozenset({".", "[]", "is", "tuple", "timestampadd", "timestampdiff"})
"""Calls with a syntax of their own that compute a value of one row; others (DISTINCT, OVER, a
lambda) modify another call."""

_WIDER = 10
"""The number of digits by which a sum of decimals is wider than its values (Spark's
``Sum.resultType``)."""


def combination(
    plan: Plan, block: Block, keys: Sequence[Expression], *, postgresql: bool
) -> Combination:
    """The keys and aggregates of a block, and how they are combined. Raises Unsplit."""
    search = _KeysAndAggregates(plan, block, [_without_place(key) for key in keys], postgresql)
    items = tuple(search.key_of(output.expression) for output in block.outputs)
    for condition in block.having:
        search.note(condition.expression)
    return Combination(tuple(keys), items, search.columns, tuple(search.aggregates))


def _without_place(expression: Expression) -> Expression:
    """An expression without the spans of its columns, for comparing."""
    return substitute(expression, lambda it: ColumnRef(it.relation, it.name, None))


def _is_row_function(name: str) -> bool:
    """Whether a name is a function or operator over one row."""
    row = function(name)
    return row is not None and (row.kind in ("operator", "scalar") or name in _VALUES)


class _KeysAndAggregates:
    """The keys and aggregates found so far."""

    def __init__(
        self, plan: Plan, block: Block, keys: Sequence[Expression], postgresql: bool
    ) -> None:
        self._plan, self._keys, self._postgresql = plan, keys, postgresql
        # A reference to an alias is the same object as the item of the list.
        self._named = {id(output.expression) for output in block.outputs if output.name}
        self.columns: dict[Span, int] = {}
        self.aggregates: list[Combined] = []

    def key_of(self, expression: Expression) -> int | None:
        """The number of the key that an item of the SELECT list is; None if it is no key. Raises
        Unsplit."""
        number = self._key(expression)
        if number is None:
            self._named.discard(id(expression))
            self.note(expression)
            self._named.add(id(expression))
        return number

    def note(self, expression: Expression) -> None:
        """Notes the keys and aggregates in an expression. Raises Unsplit."""
        number = self._key(expression)
        if number is not None and isinstance(expression, ColumnRef) and expression.span:
            self.columns[expression.span] = number
            return
        if id(expression) in self._named and not isinstance(expression, ColumnRef):
            return
        match expression:
            case Literal():
                pass
            case Cast(operand=operand):
                self.note(operand)
            case Call(name="filter where", args=(Call() as call, _)):
                self.aggregates.append(self._combined(call, expression))
            case Call(name=name) if (row := function(name)) is not None and row.aggregate:
                self.aggregates.append(self._combined(expression, expression))
            case Call(name=name, args=args) if _is_row_function(name):
                for arg in args:
                    self.note(arg)
            case ColumnRef(name=name):
                raise Unsplit(f"`{name}` is not one of its GROUP BY keys, as these are written")
            case _:
                raise Unsplit("an expression around its aggregates is not understood")

    def _key(self, expression: Expression) -> int | None:
        key = _without_place(expression)
        return self._keys.index(key) if key in self._keys else None

    def _combined(self, call: Call, whole: Expression) -> Combined:
        spans = [column.span for column in columns(whole)]
        for node in walk(whole):
            if isinstance(node, Call) and node.name == "distinct":
                raise Unsplit(
                    f"`{call.name}(DISTINCT …)` over all rows cannot be computed from its values "
                    "per group"
                )
            is_part = isinstance(node, Literal | ColumnRef | Cast) or node in (call, whole)
            if not is_part and not (isinstance(node, Call) and _is_row_function(node.name)):
                raise Unsplit(f"the argument of `{call.name}` is not understood")
        if None in spans:
            raise Unsplit(f"a column in the argument of `{call.name}` is not written in the text")
        partial, of_all = self._templates(call)
        return Combined(call.name, frozenset(span for span in spans if span), of_all, partial)

    def _templates(self, call: Call) -> tuple[str, str]:
        """The templates of an aggregate's argument within a group, and of the combined value of the
        groups. Raises Unsplit."""
        name = call.name
        combined = reaggregation(name)
        row = function(name)
        if combined and row is not None and row.signature.endswith("-> bigint"):  # a count
            return "{}", combined
        if len(call.args) != 1 or not (combined or name == "sum"):
            raise Unsplit(
                f"`{name}` over all rows cannot be computed exactly from its values per group"
            )
        kind = type_of(self._plan, call.args[0])
        if kind is None:
            raise Unsplit(f"the type of the argument of `{name}` is not known: declare it")
        if combined:
            if family(kind) is None:
                raise Unsplit(f"`{name}` of {kind} may return any of several equal values")
            return "{}", combined
        if kind in FLOATING:
            raise Unsplit(f"a sum of {kind} depends on the order of its rows")
        if not (is_integral(kind) or is_decimal(kind)):
            raise Unsplit(
                f"`{name}` of {kind} is not known to be exact when it is computed from its values "
                "per group"
            )
        if self._postgresql:  # its sums of BIGINT and NUMERIC are NUMERIC and never overflow
            exact = kind == BIGINT or is_decimal(kind)
            return "{}", "sum({})" if exact else "CAST(sum({}) AS BIGINT)"
        if kind == BIGINT:  # the sum of a group may overflow where the whole sum does not
            return "CAST({} AS DECIMAL(20, 0))", "CAST(sum({}) AS BIGINT)"
        if is_integral(kind):
            return "{}", "CAST(sum({}) AS BIGINT)"
        precision, scale = kind.numbers
        if precision + _WIDER > MAX_PRECISION:
            raise Unsplit(
                f"a sum of {kind} may overflow in one group although that of all rows does not"
            )
        return "{}", f"CAST(sum({{}}) AS DECIMAL({precision + _WIDER}, {scale}))"
