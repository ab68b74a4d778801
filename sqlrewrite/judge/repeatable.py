"""Objections to reading a dimension, or a subquery in a condition, a second time.

The query and the predicate must get the same rows from it (docs/soundness.md, "The dimension side
is read twice"). One walk finds all objections; each rule takes those under its own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from sqlrewrite.find.restrictions import columns_named
from sqlrewrite.judge.proposal import Objection, Proposal, called, quoted_relation
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names, computed_as, expression_type, type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.coercion import identical
from sqlrewrite.plan.facts.constants import number_type
from sqlrewrite.plan.facts.functions import function, tagged
from sqlrewrite.plan.lineage import among
from sqlrewrite.plan.memo import remembered, shared
from sqlrewrite.plan.relations import deciding_expressions, relations_of
from sqlrewrite.settings.options import Options
from sqlrewrite.warehouse import Table

STREAMING, DETERMINISM, ROW_LIMIT, CORRELATED, NAMES, PARAMETERS = (
    "DPP107",
    "DPP109",
    "DPP110",
    "DPP111",
    "DPP113",
    "DPP115",
)

_OVER = "over"
"""The name that stands among a block's functions if a window's frame counts rows."""

_NUMBER = "row_number"

_BY_ROWS = "a window with a ROWS frame depends on the order of rows"


def objections_to_blocks(
    proposal: Proposal,
    blocks: tuple[int, ...],
    *,
    copied: bool = True,
    unread: Sequence[ra.OutputColumn] = (),
    attempted: frozenset[int] = frozenset(),
) -> Iterator[Objection]:
    """The objections to running ``blocks`` a second time.

    ``copied`` is False inside a CTE or a view, which the predicate reads by name. ``unread`` are
    outputs that the predicate does not read. ``attempted`` are the ids of the aggregates that the
    predicate writes so that they give their value or NULL.
    """
    for number in blocks:
        block = proposal.plan.blocks[number]
        ignored = [output.expression for output in block.outputs if output in unread]
        values = [output.expression for output in block.outputs if output not in unread]
        values += [condition.expression for condition in block.having]
        skipped = _called(ignored) - _called(values) if ignored else frozenset()
        if _NUMBER in block.functions and _numbered(proposal.plan, block):
            skipped |= {_NUMBER}
        yield from objections_to_functions(proposal.options, block.functions - skipped)
        for unknown in (*block.unknown_syntax, *block.unknown_values):
            yield DETERMINISM, unknown
        if any(map(is_exact_by_type, block.functions)):
            for expression in values:
                yield from _order_sensitive_in(proposal.plan, expression, attempted)
        if block.limit is not None and not total_order(proposal.plan, block):
            yield (
                ROW_LIMIT,
                "LIMIT or OFFSET without ORDER BY on a unique key may return other rows the second "
                "time",
            )
        for relation in relations_of(proposal.plan, number):
            inside = blocks if copied and not block.in_view else None
            yield from _objections_to_name(proposal, relation, inside)


@shared
def _objections_inside(
    proposal: Proposal, query: ra.Query, attempted: frozenset[int]
) -> tuple[Objection, ...]:
    """The objections to reading again what a CTE reads; found once for all its references."""
    objections = objections_to_blocks(proposal, query.blocks, copied=False, attempted=attempted)
    return tuple(dict.fromkeys(objections))


def objections_to_relation(
    proposal: Proposal, relation: ra.Relation, attempted: frozenset[int] = frozenset()
) -> Iterator[Objection]:
    """The objections to reading a relation again in the predicate; ``attempted`` as in
    ``objections_to_blocks``."""
    yield from _objections_to_name(proposal, relation, attempted=attempted)
    if isinstance(relation, ra.Derived | ra.CteReference):
        # A derived table is copied as text; anything else is read by its name.
        copied = isinstance(relation, ra.Derived) and not relation.view
        unread = _unread_outputs(proposal, relation) if relation is proposal.pair.dimension else ()
        yield from objections_to_blocks(
            proposal, relation.query.blocks, copied=copied, unread=unread, attempted=attempted
        )


def _unread_outputs(
    proposal: Proposal, relation: ra.Derived | ra.CteReference
) -> tuple[ra.OutputColumn, ...]:
    """The outputs of a dimension's SELECT that the key query does not read and that do not decide
    which rows there are."""
    names, query = column_names(relation), relation.query
    if names is None or len(query.top) != 1 or isinstance(query.node, ra.SetOperation):
        return ()
    block = proposal.plan.blocks[query.top[0]]
    if block.distinct or not block.complete or len(block.outputs) != len(names):
        return ()
    keys = columns(proposal.pair.key_side.expression)
    named = {ref.name for ref in (*keys, *columns_named(proposal.restrictions))}
    called = _called([expression for expression, _ in deciding_expressions(query)])
    shown = zip(names, block.outputs, strict=True)
    others = [output for name, output in shown if name not in named]
    return tuple(
        other
        for other in others
        if _called([other.expression]).isdisjoint(called) and _of_a_row(proposal, other.expression)
    )


def _of_a_row(proposal: Proposal, expression: ra.Expression) -> bool:
    """Whether an expression surely has no generator, so that it gives one value a row."""
    rows = map(proposal.options.function, _called([expression]))
    return all(item is not None and not item.generator for item in rows)


def _called(expressions: Iterable[ra.Expression]) -> frozenset[str]:
    """The functions that expressions call."""
    nodes = (node for expression in expressions for node in walk(expression))
    return frozenset(node.name for node in nodes if isinstance(node, ra.Call))


def objections_to_copying(relation: ra.Relation) -> Iterator[Objection]:
    """The objections to copying a relation's text into the predicate."""
    match relation:
        case ra.Derived(outer=(_, *_)) | ra.Derived(lateral=True):
            name = quoted_relation(relation)
            yield CORRELATED, f"{name} refers to outer columns: a key query cannot read it alone"
        case ra.Derived(view=(), anchor=None, span=None):
            yield NAMES, "the derived table has no alias: give it one"
        case ra.Inline(span=None):
            yield NAMES, f"{quoted_relation(relation)} has no text in this query to repeat"
        case ra.Derived(view=()) | ra.Inline() | ra.Opaque():
            pass
        case _ if relation.span is None:
            yield NAMES, f"the name {quoted_relation(relation)} cannot be repeated as it is written"
        case _:
            pass


def _objections_to_name(
    proposal: Proposal,
    relation: ra.Relation,
    copied: tuple[int, ...] | None = (),
    attempted: frozenset[int] = frozenset(),
) -> Iterator[Objection]:
    """The objections to reading a relation again by its name. ``copied`` are the blocks of the
    copied text around the name, None inside a CTE or a view; ``attempted`` as in
    ``objections_to_blocks``."""
    visible = proposal.target_block.ctes
    match relation:
        case ra.Opaque(streaming=True) | ra.Scan(streaming=True):
            cause = relation.table.unsteady if isinstance(relation, ra.Scan) else ""
            why = f" ({cause})" if cause else ""
            yield STREAMING, f"`{relation.alias}` is a stream{why}: it cannot be read twice"
        case ra.Scan(table=Table(unsteady=why)) if why:
            yield (
                DETERMINISM,
                f"`{relation.alias}` may return other rows each time it is read: {why}",
            )
        case ra.Opaque(reason=reason):
            shown = f"`{relation.alias}`" if relation.alias else "a relation"
            yield DETERMINISM, f"{shown}: {reason}"
        case ra.CteReference(name=name, cte=cte, query=query):
            # A CTE defined in the copied text is copied with it.
            along = copied is not None and bool(query.blocks) and {*query.blocks} <= {*copied}
            if copied is not None and not along and visible.get(name) != cte:
                why = f"the CTE `{name}` is not visible where the predicate would stand"
                yield (
                    NAMES,
                    why if name else f"`{relation.alias}` is in a FROM that several SELECTs share",
                )
            yield from _objections_inside(proposal, query, attempted)
        case ra.Scan(parts=parts) | ra.Derived(view=(_, *_), parts=parts):
            if copied is not None and len(parts) == 1 and parts[0] in visible:
                yield NAMES, f"`{parts[0]}` names a CTE where the predicate would stand"
        case _:
            pass
    if not isinstance(relation, ra.Opaque) and relation.sampled:
        yield ROW_LIMIT, f"TABLESAMPLE on `{relation.alias}` may give other rows each time"


def objections_to_expression(
    proposal: Proposal, expression: ra.Expression, attempted: AbstractSet[int] = frozenset()
) -> Iterator[Objection]:
    """Why the functions of a condition, and those that derived tables compute its columns with,
    cannot be called again; ``attempted`` as in ``objections_to_blocks``."""
    for node in walk(expression):
        if isinstance(node, ra.Call):
            yield from objections_to_functions(proposal.options, (node.name,))
        elif isinstance(node, ra.ColumnRef):
            plan, relation = proposal.plan, proposal.plan.relations[node.relation]
            top = relation.query.top if isinstance(relation, ra.Derived | ra.CteReference) else ()
            blocks = [plan.blocks[number] for number in top]
            numbered = bool(blocks) and all(_numbered(plan, block) for block in blocks)
            for below in computed_as(plan, node):
                again = _called([below]) - ({_OVER, _NUMBER} if numbered else {_OVER})
                yield from objections_to_functions(proposal.options, again)
                yield from _order_sensitive_in(plan, below, attempted)
            if any(_OVER in block.functions for block in blocks):
                yield DETERMINISM, _BY_ROWS


def _numbered(plan: ra.Plan, block: ra.Block) -> bool:
    """Whether only equal rows can swap their numbers by ``row_number``: the block's outputs depend
    on nothing but these numbers and the columns that order them."""
    shown = [output.expression for output in block.outputs]
    shown += [condition.expression for condition in block.having]
    windows = [node for top in shown for node in walk(top) if isinstance(node, ra.Call)]
    windows = [window for window in windows if window.name == _OVER]
    functions = [window.args[0] for window in windows]
    ranks = tagged("numbers")
    if not all(
        isinstance(function, ra.Call) and function.name in ranks and not function.args
        for function in functions
    ):
        return False
    counted = [window for window in windows if _called(window.args[:1]) == {_NUMBER}]
    if len(counted) != 1 or not block.complete or block.aggregate == "grouping sets":
        return False  # two of them may number equal rows in different orders
    keys = [expression for key in counted[0].args[1:] for expression in _key(key)]
    kinds = [type_of(plan, key) for key in keys]
    if not all(kind is not None and identical(kind) for kind in kinds):
        return False
    return all(
        among(ref, keys) for expression in (*shown, *block.keys) for ref in columns(expression)
    )


def _key(key: ra.Expression) -> tuple[ra.Expression, ...]:
    """The expressions of a sort key, without the direction."""
    return key.args if isinstance(key, ra.Call) and key.name == "ordered" else (key,)


def objections_to_functions(options: Options, names: Iterable[str]) -> Iterator[Objection]:
    """The objections to calling functions of these names again."""
    for name in sorted(names):
        row = options.function(name)
        if name == "?":
            why = (
                "a positional parameter `?` cannot be repeated, as those after it would get "
                "the wrong values: use named parameters (`:name`)"
            )
            yield PARAMETERS, why
        elif name == _OVER:
            yield DETERMINISM, _BY_ROWS
        elif row is None:
            yield DETERMINISM, f"{called(name)} is not known to be deterministic"
        elif not row.deterministic:
            yield DETERMINISM, f"`{name}()` returns another value each time"
        elif not row.repeatable and row.again != "exact":
            yield DETERMINISM, f"`{name}()` depends on the order of rows"


def _order_sensitive_in(
    plan: ra.Plan, expression: ra.Expression, attempted: AbstractSet[int]
) -> Iterator[Objection]:
    for call in order_sensitive(plan, walk(expression)):
        if id(call) not in attempted:
            yield DETERMINISM, why_order_sensitive(plan, call)


def total_order(plan: ra.Plan, block: ra.Block) -> bool:
    """Whether ORDER BY fixes which rows a LIMIT keeps: it sorts by a unique key, or by all outputs,
    so that only equal rows tie."""
    assert block.limit is not None
    order = block.limit.order
    if isinstance(block.limit.child, ra.SetOperation):
        return False
    if block.aggregate == "global":
        return True  # a single row
    shown = [output.expression for output in block.outputs] if block.complete else []
    kinds = [type_of(plan, expression) for expression in shown]
    alike = all(kind is not None and identical(kind) for kind in kinds)
    if shown and alike and all(among(expression, order) for expression in shown):
        return True
    if block.aggregate == "group by" and block.keys:
        return all(among(key, order) for key in block.keys)
    if block.distinct and block.complete:
        return all(among(output.expression, order) for output in block.outputs)
    source = block.source
    if isinstance(source, ra.Scan) and source.table.primary_key:
        return all(
            any(isinstance(key, ra.ColumnRef) and key.name == column.lower() for key in order)
            for column in source.table.primary_key
        )
    return False


_ROOM = 28
_EXACT = frozenset({"tinyint", "smallint", "int"})
"""Types whose sum is a BIGINT, with room for four billion values. A sum of BIGINT has no room: in
ANSI mode it may overflow, which is an error, in one order of the rows and not in another."""


@remembered
def has_order_sensitive(plan: ra.Plan) -> bool:
    """Whether a statement has an aggregate that may be order-sensitive. Most have none, and their
    columns need not be followed."""
    return any(is_exact_by_type(name) for block in plan.blocks for name in block.functions)


def order_sensitive(plan: ra.Plan, nodes: Iterable[ra.Expression]) -> Iterator[ra.Call]:
    """The aggregates among nodes whose value may depend on the order of rows."""
    aggregates = (
        node for node in nodes if isinstance(node, ra.Call) and is_exact_by_type(node.name)
    )
    yield from (aggregate for aggregate in aggregates if not _same_in_any_order(plan, aggregate))


def _same_in_any_order(plan: ra.Plan, call: ra.Call) -> bool:
    """Whether an aggregate gives the same value for any order of its rows. An average of integers
    adds DOUBLEs, exact up to 2^53, which four million large INTs may pass; a percentile adds
    nothing."""
    (summed, *_), name = call.args, call.name
    if name in tagged("ranked"):
        kind = expression_type(plan, summed) or ""
        return kind in (*_EXACT, "bigint") or kind.startswith("decimal")
    if name in tagged("average"):
        kind = expression_type(plan, summed) or ""
        counts = isinstance(summed, ra.ColumnRef) and _counts(plan, summed)
        return kind in ("tinyint", "smallint") or _has_room(kind) or counts
    return _exact(plan, summed)


def why_order_sensitive(plan: ra.Plan, call: ra.Call) -> str:
    """Why an aggregate's value may depend on the order of rows."""
    name, summed = call.name, call.args[0]
    if name in tagged("average") | tagged("ranked"):
        kind = expression_type(plan, summed)
        return f"`{name}()` of {kind or 'an unknown type'} depends on the order of rows"
    if expression_type(plan, summed) == "bigint":
        return "a sum of BIGINT may overflow in one order of its rows and not in another"
    return "a sum that may be of floating-point numbers depends on the order of rows"


def is_exact_by_type(name: str) -> bool:
    """Whether a function is exact for integers and decimals only."""
    row = function(name)
    return row is not None and row.again == "exact"


def _exact(plan: ra.Plan, expression: ra.Expression) -> bool:
    """Whether the sum of an expression is the same in any order: over integers and decimals with
    room for it, and over counts."""
    match expression:
        case ra.Literal(kind="number", text=text):
            number = str(number_type(text))
            return number in _EXACT or _has_room(number)
        case ra.Call(name="distinct", args=args):
            return all(_exact(plan, arg) for arg in args)
        case ra.Cast(type="bigint", operand=operand) if expression_type(plan, operand) in _EXACT:
            return True
        case ra.ColumnRef() if _counts(plan, expression):
            return True
        case ra.ColumnRef() | ra.Cast() | ra.Call():
            kind = expression_type(plan, expression)
            return kind is not None and (kind in _EXACT or _has_room(kind))
        case _:
            return False


def _counts(plan: ra.Plan, ref: ra.ColumnRef) -> bool:
    """Whether a column is a count: a sum of counts is at most the number of rows."""
    computed = computed_as(plan, ref)
    return bool(computed) and all(
        isinstance(item, ra.Call) and item.name == "count" for item in computed
    )


def _has_room(kind: str) -> bool:
    """Whether a type is a decimal whose sum has ten more digits. With fewer, a sum may overflow
    (to NULL, or an error) in one order of the rows and not in another."""
    name, _, digits = kind.partition("(")
    return name == "decimal" and int(digits.partition(",")[0]) <= _ROOM
