"""Whether a dimension, or a subquery in a condition, may be read a second time.

The dimension is read twice, by the query and by the predicate, and both must give the same rows
(docs/soundness.md, "The dimension side is read twice"). One walk finds all reasons against it; each
rule picks those under its own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from sqlrewrite.find.restrictions import columns_named
from sqlrewrite.judge.order_sensitive import is_exact_by_type, order_sensitive, why_order_sensitive
from sqlrewrite.judge.proposal import Objection, Proposal, called, relation_name
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names, computed_as, type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.comparisons import identical
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.lineage import among
from sqlrewrite.plan.relations import deciding, relations_of
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
"""Noted among the functions of a block for a window whose frame counts rows."""

_NUMBER = "row_number"

_BY_ROWS = "a window with a frame of ROWS depends on the order of rows"


def objections_to_blocks(
    proposal: Proposal,
    blocks: tuple[int, ...],
    *,
    copied: bool = True,
    unread: Sequence[ra.OutputColumn] = (),
    attempted: AbstractSet[int] = frozenset(),
) -> Iterator[Objection]:
    """The reasons why what ``blocks`` read may not be read again by the predicate of a proposal.

    ``copied`` is False for the inside of a CTE or a view, which the predicate refers to by name.
    ``unread`` are what one of them shows, but the predicate does not ask for. ``attempted`` are, by
    their ids, the aggregates that are written so that they give one value or NULL.
    """
    for number in blocks:
        block = proposal.plan.blocks[number]
        left = [it.expression for it in block.outputs if it in unread]
        values = [it.expression for it in block.outputs if it not in unread]
        values += [condition.expression for condition in block.having]
        skipped = _called(left) - _called(values) if left else frozenset()
        if _NUMBER in block.functions and _numbered(proposal.plan, block):
            skipped |= {_NUMBER}
        yield from objections_to_functions(proposal.options, block.functions - skipped)
        for unknown in (*block.strange, *block.unknowns):
            yield DETERMINISM, unknown
        yield from _objections_to_aggregates(proposal.plan, block, values, attempted)
        if block.limit is not None and not total_order(proposal.plan, block):
            yield ROW_LIMIT, "LIMIT or OFFSET without a total order may give other rows"
        for relation in relations_of(proposal.plan, number):
            inside = blocks if copied and not block.in_view else None
            yield from _objections_to_name(proposal, relation, inside)


def objections_to_relation(
    proposal: Proposal, relation: ra.Relation, attempted: AbstractSet[int] = frozenset()
) -> Iterator[Objection]:
    """All that speaks against reading a relation again where the predicate of a proposal stands;
    ``attempted`` as in ``objections_to_blocks``."""
    yield from _objections_to_name(proposal, relation, attempted=attempted)
    if isinstance(relation, ra.Derived | ra.CteReference):
        # Only a derived table is copied with its text; anything else is referred to by its name.
        copied = isinstance(relation, ra.Derived) and not relation.view
        unread = _unread_outputs(proposal, relation) if relation is proposal.pair.dimension else ()
        yield from objections_to_blocks(
            proposal, relation.query.blocks, copied=copied, unread=unread, attempted=attempted
        )


def _unread_outputs(
    proposal: Proposal, relation: ra.Derived | ra.CteReference
) -> tuple[ra.OutputColumn, ...]:
    """What a dimension's SELECT computes for columns that the key query does not name, and for no
    other end: each of its rows comes out, whatever value is there."""
    names, query = column_names(relation), relation.query
    if names is None or len(query.top) != 1 or isinstance(query.node, ra.SetOperation):
        return ()
    block = proposal.plan.blocks[query.top[0]]
    if block.distinct or not block.complete or len(block.outputs) != len(names):
        return ()
    asked = {
        ref.name
        for ref in (
            *columns(proposal.pair.key_side.expression),
            *columns_named(proposal.restrictions),
        )
    }
    called = _called([expression for expression, _ in deciding(query)])
    shown = zip(names, block.outputs, strict=True)
    others = [it for name, it in shown if name not in asked]
    return tuple(
        it
        for it in others
        if _called([it.expression]).isdisjoint(called) and _of_a_row(proposal, it.expression)
    )


def _of_a_row(proposal: Proposal, expression: ra.Expression) -> bool:
    """Whether an expression surely makes no more or fewer rows, as a generator does."""
    found = map(proposal.options.function, _called([expression]))
    return all(it is not None and not it.generator for it in found)


def _called(expressions: Iterable[ra.Expression]) -> frozenset[str]:
    """The functions that expressions call."""
    nodes = (node for expression in expressions for node in walk(expression))
    return frozenset(node.name for node in nodes if isinstance(node, ra.Call))


def objections_to_copying(relation: ra.Relation) -> Iterator[Objection]:
    """Why a relation's own text would not mean the same relation elsewhere."""
    match relation:
        case ra.Derived(outer=(_, *_)) | ra.Derived(lateral=True):
            name = relation_name(relation)
            yield CORRELATED, f"{name} refers to columns around it: it cannot stand alone"
        case ra.Derived(view=(), anchor=None, span=None):
            yield NAMES, "the derived table has no alias to find it by"
        case ra.Inline(span=None):
            yield NAMES, f"{relation_name(relation)} has no text of its own here to repeat"
        case ra.Derived(view=()) | ra.Inline() | ra.Opaque():
            pass
        case _ if relation.span is None:
            yield NAMES, f"the name of {relation_name(relation)} cannot be repeated as it stands"
        case _:
            pass


def _objections_to_name(
    proposal: Proposal,
    relation: ra.Relation,
    copied: tuple[int, ...] | None = (),
    attempted: AbstractSet[int] = frozenset(),
) -> Iterator[Objection]:
    """The reasons why a relation may not be read again; ``copied`` are the blocks of the text that
    is copied with its name in it, None where it is read inside something referred to by name;
    ``attempted`` as in ``objections_to_blocks``."""
    visible = proposal.target_block.ctes
    match relation:
        case ra.Opaque(streaming=True) | ra.Scan(streaming=True):
            said = relation.table.unsteady if isinstance(relation, ra.Scan) else ""
            why = f" ({said})" if said else ""
            yield STREAMING, f"{relation.alias} is a stream{why}: it cannot be read twice"
        case ra.Scan(table=Table(unsteady=why)) if why:
            yield DETERMINISM, f"{relation.alias} gives other rows each time: {why}"
        case ra.Opaque(reason=reason):
            yield DETERMINISM, f"{relation.alias or 'a relation'}: {reason}"
        case ra.CteReference(name=name, cte=cte, query=query):
            # A CTE that is defined in the copied text comes along with it.
            along = copied is not None and bool(query.blocks) and {*query.blocks} <= {*copied}
            if copied is not None and not along and visible.get(name) != cte:
                why = f"the CTE {name} is not visible where the predicate would stand"
                yield NAMES, why if name else f"{relation.alias} is a part of a FROM that is shared"
            yield from objections_to_blocks(
                proposal, query.blocks, copied=False, attempted=attempted
            )
        case ra.Scan(parts=parts) | ra.Derived(view=(_, *_), parts=parts):
            if copied is not None and len(parts) == 1 and parts[0] in visible:
                yield NAMES, f"{parts[0]} means a CTE where the predicate would stand"
        case _:
            pass
    if not isinstance(relation, ra.Opaque) and relation.sampled:
        yield ROW_LIMIT, f"TABLESAMPLE on {relation.alias} may give other rows"


def objections_to_expression(
    proposal: Proposal, expression: ra.Expression, attempted: AbstractSet[int] = frozenset()
) -> Iterator[Objection]:
    """The reasons why a condition's own functions may not be computed again, and what a derived
    table computes for its columns; ``attempted`` as in ``objections_to_blocks``."""
    for node in walk(expression):
        if isinstance(node, ra.Call):
            yield from objections_to_functions(proposal.options, (node.name,))
        elif isinstance(node, ra.ColumnRef):
            steady = {_OVER, _NUMBER} if _of_numbered(proposal.plan, node) else {_OVER}
            for below in computed_as(proposal.plan, node):
                yield from objections_to_functions(proposal.options, _called([below]) - steady)
                yield from _order_sensitive_in(proposal.plan, below, attempted)
            yield from _objections_to_frames(proposal.plan, node)


def _objections_to_frames(plan: ra.Plan, ref: ra.ColumnRef) -> Iterator[Objection]:
    relation = plan.relations[ref.relation]
    for number in relation.query.top if isinstance(relation, ra.Derived | ra.CteReference) else ():
        if _OVER in plan.blocks[number].functions:
            yield DETERMINISM, _BY_ROWS


def _of_numbered(plan: ra.Plan, ref: ra.ColumnRef) -> bool:
    relation = plan.relations[ref.relation]
    top = relation.query.top if isinstance(relation, ra.Derived | ra.CteReference) else ()
    return bool(top) and all(_numbered(plan, plan.blocks[number]) for number in top)


def _numbered(plan: ra.Plan, block: ra.Block) -> bool:
    """Whether only equal rows may change places in the numbers that ``row_number`` gives: a block
    shows nothing but these, the columns that they are counted by, and what follows from them."""
    shown = [it.expression for it in block.outputs]
    shown += [it.expression for it in block.having]
    windows = [it for top in shown for it in walk(top) if isinstance(it, ra.Call)]
    windows = [it for it in windows if it.name == _OVER]
    functions = [it.args[0] for it in windows]
    ranks = tagged("numbers")
    if not all(isinstance(it, ra.Call) and it.name in ranks and not it.args for it in functions):
        return False
    counted = [it for it in windows if _called(it.args[:1]) == {_NUMBER}]
    if len(counted) != 1 or not block.complete or block.aggregate == "grouping sets":
        return False  # of two, which number of the one goes with which of the other is open
    keys = [it for key in counted[0].args[1:] for it in _key(key)]
    kinds = [type_of(plan, it) for it in keys]
    if not all(kind is not None and identical(kind) for kind in kinds):
        return False
    return all(among(ref, keys) for it in (*shown, *block.keys) for ref in columns(it))


def _key(key: ra.Expression) -> tuple[ra.Expression, ...]:
    """By what rows are put in order, without the direction."""
    return key.args if isinstance(key, ra.Call) and key.name == "ordered" else (key,)


def objections_to_functions(options: Options, names: Iterable[str]) -> Iterator[Objection]:
    """The reasons why functions of these names may not be computed again."""
    for name in sorted(names):
        if name == "?":
            why = "a positional parameter (?) cannot be repeated: the next would get its value"
            yield PARAMETERS, why
            continue
        found = options.function(name)
        if name == _OVER:
            yield DETERMINISM, _BY_ROWS
        elif found is None:
            yield DETERMINISM, f"{called(name)} is not known to be deterministic"
        elif not found.deterministic:
            yield DETERMINISM, f"{name}() gives another value each time"
        elif not found.repeatable and found.again != "exact":
            yield DETERMINISM, f"{name}() depends on the order of rows"


def _objections_to_aggregates(
    plan: ra.Plan, block: ra.Block, values: Iterable[ra.Expression], attempted: AbstractSet[int]
) -> Iterator[Objection]:
    if not any(map(is_exact_by_type, block.functions)):
        return
    for expression in values:
        yield from _order_sensitive_in(plan, expression, attempted)


def _order_sensitive_in(
    plan: ra.Plan, expression: ra.Expression, attempted: AbstractSet[int]
) -> Iterator[Objection]:
    for call in order_sensitive(plan, walk(expression)):
        if id(call) not in attempted:
            yield DETERMINISM, why_order_sensitive(plan, call)


def total_order(plan: ra.Plan, block: ra.Block) -> bool:
    """Whether ORDER BY fixes which rows a LIMIT keeps: it sorts by something unique, or by all that
    is shown, so that rows in the same place are the same."""
    assert block.limit is not None
    order = block.limit.order
    if isinstance(block.limit.child, ra.SetOperation):
        return False
    if block.aggregate == "global":
        return True  # a single row
    shown = [it.expression for it in block.outputs] if block.complete else []
    kinds = [type_of(plan, it) for it in shown]
    alike = all(kind is not None and identical(kind) for kind in kinds)
    if shown and alike and all(among(it, order) for it in shown):
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
