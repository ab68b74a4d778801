"""The clauses of a SELECT after its FROM and WHERE: its list, GROUP BY, ORDER BY, LIMIT, and
windows that rank all its rows by one column."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from sqlglot import exp

from sqlrewrite.plan.algebra import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Limit,
    Node,
    OutputColumn,
)
from sqlrewrite.plan.facts.constants import row_count
from sqlrewrite.plan.facts.functions import function, tagged
from sqlrewrite.sql.bind.scope import lacks
from sqlrewrite.sql.bind.translate import Translator
from sqlrewrite.text.templates import is_template
from sqlrewrite.warehouse import Name

Generated = tuple[int, Name]
"""The position of the generator in a SELECT list, and the names written for its columns."""

_GROUPING_SETS = (exp.GroupingSets, exp.Cube, exp.Rollup)


class SelectList(Struct, frozen=True, eq=False):
    """A SELECT list.

    ``items``: its columns; ``complete``: whether these are all.
    ``plain``: the expressions that GROUP BY ALL groups by: neither aggregates nor generators.
    ``generated``: its generator, if it has one.
    ``first``: the names that HAVING resolves before columns of FROM.
    """

    items: tuple[OutputColumn, ...]
    complete: bool
    plain: tuple[Expression, ...]
    generated: Generated | None = None
    first: frozenset[str] = frozenset()


def select_list(
    node: exp.Select, translator: Translator, *, skim: bool, in_full: bool
) -> SelectList:
    """The list of a SELECT. With ``skim``, items other than plain columns and their extremes become
    Unknown; with ``in_full`` as well they are translated. What is unknown in them does not make the
    block unknown."""
    outputs: list[OutputColumn] = []
    plain: list[Expression] = []
    facts, complete = translator.facts, True
    generated: Generated | None = None
    aggregated: set[str] = set()
    for item in node.expressions:
        if (star := _star(item)) is not None:
            expanded = translator.star(star)
            complete = complete and expanded is not None
            outputs += expanded or ()
            plain += [column.expression for column in expanded or ()]
            continue
        name = _name(item)
        passing = skim and not isinstance(item.unalias(), exp.Column)
        bound = in_full or _is_extreme(item.unalias())
        translate = translator.skim if passing and not bound else translator.translate
        noted = len(facts.unknowns)
        before, facts.aggregates = facts.aggregates, False
        expression = translate(item.this if isinstance(item, exp.Aliases) else item)
        if passing and bound:
            del facts.unknowns[noted:]
        label = translator.label(item)
        outputs.append(OutputColumn(name or (label or "").lower(), expression, label))
        aggregates = facts.aggregates
        plain += [] if aggregates else [expression]
        facts.aggregates |= before
        names = _generates(item, expression)
        if names is not None and generated is None:
            generated = len(outputs) - 1, names
        else:
            complete = complete and not translator.may_be_several(item, expression)
        # From here on the name may stand for the value: in later items, GROUP BY, HAVING …
        if isinstance(item, exp.Alias):
            translator.aliases[name] = expression
            aggregated |= {name} if aggregates else set()
    first = _first_in_having(node, aggregated)
    return SelectList(tuple(outputs), complete, tuple(plain), generated, first)


def _star(item: exp.Expr) -> exp.Expr | None:
    """The ``*`` or ``t.*`` that an item is, in parentheses too; None for other items."""
    while isinstance(item, exp.Paren):
        item = item.this
    marker = item.this if isinstance(item, exp.Column) else item
    return item if isinstance(marker, exp.Star) else None


def _is_extreme(item: exp.Expr) -> bool:
    """Whether an item is ``max`` or ``min`` of a plain column."""
    if not isinstance(item, exp.Anonymous) or str(item.this).lower() not in _FIRST:
        return False
    return len(item.expressions) == 1 and isinstance(item.expressions[0], exp.Column)


def _name(item: exp.Expr) -> str:
    """The name of an item's column; empty where the engine makes one up."""
    called = item.args.get("alias" if isinstance(item, exp.Alias) else "this")
    if not isinstance(item, exp.Alias | exp.Column) or not isinstance(called, exp.Identifier):
        return ""
    return str(called.args["this"]).lower()


def _first_in_having(node: exp.Select, aggregated: set[str]) -> frozenset[str]:
    """The aliases that HAVING resolves before columns of FROM: of the aliases of aggregates
    (``aggregated``) those that GROUP BY does not name."""
    if not aggregated or node.args.get("having") is None:
        return frozenset()
    group = node.args.get("group")
    keys = group.find_all(exp.Column) if group is not None else ()
    return frozenset(aggregated - {key.name.lower() for key in keys})


def _generates(item: exp.Expr, expression: Expression) -> Name | None:
    """The names that an item gives to the columns of its generator, empty if it gives none; None if
    the item is no generator."""
    called = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
    if not isinstance(called, exp.Anonymous) or not isinstance(expression, Call):
        return None
    row = function(expression.name)
    if row is None or not row.generator:
        return None
    if isinstance(item, exp.Aliases):
        return tuple(name.name.lower() for name in item.expressions)
    return (item.alias.lower(),) if isinstance(item, exp.Alias) else ()


def _by_position(item: exp.Expr, shown: tuple[OutputColumn, ...]) -> Expression | None:
    """The column that a position in GROUP BY stands for; None for anything else."""
    if isinstance(item, exp.Literal) and not item.is_string and item.name.isdigit():
        position = int(item.name) - 1
        if 0 <= position < len(shown):
            return shown[position].expression
    return None


def aggregation(
    node: exp.Select, child: Node, shown: SelectList, translator: Translator
) -> Aggregate | None:
    """The aggregation of a block over ``child``; None without one."""
    group, facts = node.args.get("group"), translator.facts
    if group is None:
        # HAVING alone makes a single group of all rows, too.
        if facts.aggregates or node.args.get("having") is not None:
            return Aggregate(child, (), "global")
        return Aggregate(child, (), "unknown") if facts.uncertain else None
    if group.args.get("all"):  # Spark's ResolveGroupByAll
        if not shown.complete or facts.uncertain or not lacks(translator.scope, "all"):
            return Aggregate(child, (), "unknown")
        return Aggregate(child, shown.plain) if shown.plain else Aggregate(child, (), "global")
    grouping = any(group.args.get(key) for key in ("grouping_sets", "cube", "rollup", "totals"))
    if grouping or any(isinstance(item, _GROUPING_SETS) for item in group.expressions):
        for item in group.expressions:
            for part in item.expressions if isinstance(item, _GROUPING_SETS) else (item,):
                translator.translate(part)
        return Aggregate(child, (), "grouping sets")
    positions = shown.items if shown.complete else ()
    keys = tuple(
        _by_position(item, positions) or translator.translate(item) for item in group.expressions
    )
    if any(isinstance(key, Call) and key.name != "%" and is_template(key.name) for key in keys):
        return Aggregate(child, (), "unknown")  # ${keys} WITH ROLLUP, and more
    # GROUP BY () is one group, of all rows or of none.
    empty = not keys or Call("tuple") in keys
    return Aggregate(child, keys, "grouping sets" if empty else "group by")


def order_keys(node: exp.Select, translator: Translator) -> tuple[Expression, ...]:
    """The keys of ORDER BY, in which an alias comes before a column of FROM. A number stays a
    constant: spark.sql.orderByOrdinal decides whether it is a position."""
    keys: list[Expression] = []
    for clause in ("order", "sort", "cluster", "distribute"):
        order = node.args.get(clause)
        for item in order.expressions if order is not None else ():
            tree = item.this if isinstance(item, exp.Ordered) else item
            alias = tree.name.lower() if isinstance(tree, exp.Column) and not tree.table else ""
            key = translator.aliases.get(alias) or translator.translate(tree)
            keys += [key] if clause == "order" else []
    return tuple(keys)


def limit_over(
    node: exp.Select, child: Node, order: tuple[Expression, ...], translator: Translator
) -> Limit | None:
    """The LIMIT (or FETCH) and OFFSET of a block over ``child``; None without one."""
    limit: Limit | None = None
    for clause in (node.args.get("limit"), node.args.get("offset")):
        if clause is not None:
            count = clause.args.get("expression") or clause.args.get("count")
            if count is not None:
                translator.translate(count)
            limit = Limit(limit or child, order, limit_count(node.args.get("limit")))
    return limit


def limit_count(limit: exp.Expr | None) -> int:
    """The number of a LIMIT; 0 if there is none, or it is not an INT literal."""
    count = None if limit is None else limit.args.get("expression")
    text = count.args["this"] if isinstance(count, exp.Literal) else ""
    return row_count(text)


_FIRST = {"max": True, "min": False}
"""Functions over all rows that return the first value of a column, and whether that is the
greatest."""

OF_FIRST = frozenset({"first_value", "first"})
"""Functions that return a value of the first row in the order of the window."""

OF_LAST = frozenset({"last_value", "last"})
"""Functions that return a value of the last row, if the frame holds all rows."""


def ranked(node: exp.Select, translator: Translator) -> tuple[ColumnRef, bool] | None:
    """The column by which all windows of a SELECT rank its rows, and whether it descends; None if
    they do not all rank by one column. All must put NULLs at the same end: otherwise removing rows
    in the middle would change the rank of rows at one end."""
    alone = ("distinct", "group", "having", "laterals", "pivots")
    if any(node.args.get(clause) for clause in alone):
        return None
    bases = [(window, translator.window_definition(window)) for window in _windows(node)]
    rankings = {_ranked(window, base, translator) for window, base in bases}
    first = {
        bool(key.args.get("nulls_first")) is not _is_turned(window)
        for window, base in bases
        for key in _keys(base)[:1]
    }
    return rankings.pop() if len(rankings) == 1 and len(first) < 2 else None


def _windows(node: exp.Select) -> Iterator[exp.Window]:
    for clause in (*node.expressions, node.args.get("qualify"), node.args.get("order")):
        if clause is not None:
            yield from clause.find_all(exp.Window)


def _keys(base: exp.Expr | None) -> list[exp.Expr]:
    order = base.args.get("order") if base is not None else None
    return order.expressions if order is not None else []


def _ranked(
    window: exp.Window, base: exp.Expr | None, translator: Translator
) -> tuple[ColumnRef, bool] | None:
    if not isinstance(base, exp.Window) or (base is not window and window.args.get("order")):
        return None
    called, keys = window.this, _keys(base)
    frames = [
        frame for frame in (base.args.get("spec"), window.args.get("spec")) if frame is not None
    ]
    whole = bool(frames) and all(map(_is_whole, frames))
    plain = not base.args.get("partition_by") and (whole or not frames)
    if not plain or not isinstance(called, exp.Anonymous):
        return None
    name, arguments = called.name.lower(), called.expressions
    if name in _FIRST and (whole or not keys) and len(arguments) == 1:
        return _column(arguments[0], translator, _FIRST[name])
    first = keys[0] if keys else None
    if not isinstance(first, exp.Ordered):
        return None
    descends = bool(first.args.get("desc")) is not _is_turned(window)
    column = _column(first.this, translator, descends)
    if name in OF_FIRST or (name in OF_LAST and whole):
        alone = (
            column == _column(arguments[0], translator, descends) if len(arguments) == 1 else False
        )
        return column if alone else None
    if name not in tagged("numbers") or arguments or frames:
        return None
    if name == "row_number" and len(keys) == 1:
        return None  # rows with equal keys may come in any order
    return column


def _is_whole(frame: exp.Expr) -> bool:
    """Whether a frame holds all rows of its partition."""
    ends = (f"{frame.args.get(edge)} {frame.args.get(f'{edge}_side')}" for edge in ("start", "end"))
    return [end.upper() for end in ends] == ["UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"]


def _is_turned(window: exp.Window) -> bool:
    """Whether the function of a window returns the last value in its order."""
    return isinstance(window.this, exp.Anonymous) and window.this.name.lower() in OF_LAST


def _column(
    tree: exp.Expr, translator: Translator, descends: bool
) -> tuple[ColumnRef, bool] | None:
    column = translator.translate(tree) if isinstance(tree, exp.Column) else None
    return (
        (ColumnRef(column.relation, column.name, None), descends)
        if isinstance(column, ColumnRef)
        else None
    )
