"""The clauses of a SELECT after its FROM and WHERE: its list, GROUP BY, ORDER BY, LIMIT."""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from sqlrewrite.plan.algebra import Aggregate, Call, Expression, Limit, Node, OutputColumn
from sqlrewrite.plan.facts.constants import row_count
from sqlrewrite.plan.facts.functions import function
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
    """The list of a SELECT. With ``skim``, items other than plain columns become Unknown; with
    ``in_full`` as well they are translated, but what is unknown in them does not make the block
    unknown."""
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
        translate = translator.skim if passing and not in_full else translator.translate
        noted = len(facts.unknowns)
        before, facts.aggregates = facts.aggregates, False
        expression = translate(item.this if isinstance(item, exp.Aliases) else item)
        if passing and in_full:
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
