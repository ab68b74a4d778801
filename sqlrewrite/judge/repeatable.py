"""Whether a dimension, or a subquery in a condition, may be read a second time.

The dimension is read twice, by the query and by the predicate, and both must give the same rows
(docs/soundness.md, "The dimension side is read twice"). One walk finds all reasons against it; each
rule picks those under its own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlrewrite.find.restrictions import named
from sqlrewrite.judge.case import Case, called, relation_name
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    Cast,
    ColumnRef,
    CteReference,
    Derived,
    Expression,
    Inline,
    Literal,
    Opaque,
    OutputColumn,
    Plan,
    Relation,
    Scan,
    SetOperation,
)
from sqlrewrite.plan.columns import column_names, computed_as, expression_type, type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.comparisons import identical
from sqlrewrite.plan.facts.functions import function, known
from sqlrewrite.plan.facts.literals import of_number
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

Reason = tuple[str, str]
"""A rule's code and a sentence."""

_OVER = "over"
"""Noted among the functions of a block for a window whose frame counts rows."""

_BY_ROWS = "a window with a frame of ROWS depends on the order of rows"

_ROOM = 28
_EXACT = frozenset({"tinyint", "smallint", "int"})
"""Their sum is a BIGINT, with room for four billion of the greatest. That of BIGINT has none: in
ANSI mode it raises an error where it leaves the range on its way; in another order it need not."""


def against(
    case: Case,
    blocks: tuple[int, ...],
    *,
    copied: bool = True,
    unread: Sequence[OutputColumn] = (),
) -> Iterator[Reason]:
    """The reasons why what ``blocks`` read may not be read again by the predicate of a case.

    ``copied`` is False for the inside of a CTE or a view, which the predicate refers to by name.
    ``unread`` are what one of them shows, but the predicate does not ask for.
    """
    for number in blocks:
        block = case.plan.blocks[number]
        left = [it.expression for it in block.outputs if it in unread]
        values = [it.expression for it in block.outputs if it not in unread]
        values += [condition.expression for condition in block.having]
        skipped = _called(left) - _called(values) if left else frozenset()
        yield from of_functions(case.options, block.functions - skipped)
        for unknown in (*block.strange, *block.unknowns):
            yield DETERMINISM, unknown
        yield from _of_sums(case.plan, block, values)
        if block.limit is not None and not total_order(case.plan, block):
            yield ROW_LIMIT, "LIMIT or OFFSET without a total order may give other rows"
        for relation in relations_of(case.plan, number):
            inside = blocks if copied and not block.in_view else None
            yield from of_relation(case, relation, inside)


def of_whole(case: Case, relation: Relation) -> Iterator[Reason]:
    """All that speaks against reading a relation again where the predicate of a case stands."""
    yield from of_relation(case, relation)
    if isinstance(relation, Derived | CteReference):
        # Only a derived table is copied with its text; anything else is referred to by its name.
        copied = isinstance(relation, Derived) and not relation.view
        unread = _unread(case, relation) if relation is case.pair.dimension else ()
        yield from against(case, relation.query.blocks, copied=copied, unread=unread)


def _unread(case: Case, relation: Derived | CteReference) -> tuple[OutputColumn, ...]:
    """What a dimension's SELECT computes for columns that the key query does not name, and for no
    other end: each of its rows comes out, whatever value is there."""
    names, query = column_names(relation), relation.query
    if names is None or len(query.top) != 1 or isinstance(query.node, SetOperation):
        return ()
    block = case.plan.blocks[query.top[0]]
    if block.distinct or not block.complete or len(block.outputs) != len(names):
        return ()
    asked = {ref.name for ref in (*columns(case.pair.key_side.expression), *named(case.kept))}
    called = _called([expression for expression, _ in deciding(query)])
    shown = zip(names, block.outputs, strict=True)
    others = [it for name, it in shown if name not in asked]
    return tuple(
        it
        for it in others
        if _called([it.expression]).isdisjoint(called) and _of_a_row(case, it.expression)
    )


def _of_a_row(case: Case, expression: Expression) -> bool:
    """Whether an expression surely makes no more or fewer rows, as a generator does."""
    found = map(case.options.function, _called([expression]))
    return all(it is not None and not it.generator for it in found)


def _called(expressions: Iterable[Expression]) -> frozenset[str]:
    """The functions that expressions call."""
    nodes = (node for expression in expressions for node in walk(expression))
    return frozenset(node.name for node in nodes if isinstance(node, Call))


def cannot_stand_alone(relation: Relation) -> Iterator[Reason]:
    """Why a relation's own text would not mean the same relation elsewhere."""
    match relation:
        case Derived(outer=(_, *_)) | Derived(lateral=True):
            name = relation_name(relation)
            yield CORRELATED, f"{name} refers to columns around it: it cannot stand alone"
        case Derived(view=(), anchor=None, span=None):
            yield NAMES, "the derived table has no alias to find it by"
        case Inline(span=None):
            yield NAMES, f"{relation_name(relation)} has no text of its own here to repeat"
        case Derived(view=()) | Inline() | Opaque():
            pass
        case _ if relation.span is None:
            yield NAMES, f"the name of {relation_name(relation)} cannot be repeated as it stands"
        case _:
            pass


def of_relation(
    case: Case, relation: Relation, copied: tuple[int, ...] | None = ()
) -> Iterator[Reason]:
    """The reasons why a relation may not be read again; ``copied`` are the blocks of the text that
    is copied with its name in it, None where it is read inside something referred to by name."""
    visible = case.target_block.ctes
    match relation:
        case Opaque(streaming=True) | Scan(streaming=True):
            said = relation.table.unsteady if isinstance(relation, Scan) else ""
            why = f" ({said})" if said else ""
            yield STREAMING, f"{relation.alias} is a stream{why}: it cannot be read twice"
        case Scan(table=Table(unsteady=why)) if why:
            yield DETERMINISM, f"{relation.alias} gives other rows each time: {why}"
        case Opaque(reason=reason):
            yield DETERMINISM, f"{relation.alias or 'a relation'}: {reason}"
        case CteReference(name=name, cte=cte, query=query):
            # A CTE that is defined in the copied text comes along with it.
            along = copied is not None and bool(query.blocks) and {*query.blocks} <= {*copied}
            if copied is not None and not along and visible.get(name) != cte:
                why = f"the CTE {name} is not visible where the predicate would stand"
                yield NAMES, why if name else f"{relation.alias} is a part of a FROM that is shared"
            yield from against(case, query.blocks, copied=False)
        case Scan(parts=parts) | Derived(view=(_, *_), parts=parts):
            if copied is not None and len(parts) == 1 and parts[0] in visible:
                yield NAMES, f"{parts[0]} means a CTE where the predicate would stand"
        case _:
            pass
    if not isinstance(relation, Opaque) and relation.sampled:
        yield ROW_LIMIT, f"TABLESAMPLE on {relation.alias} may give other rows"


def of_expression(case: Case, expression: Expression) -> Iterator[Reason]:
    """The reasons why a condition's own functions may not be computed again, and what a derived
    table computes for its columns."""
    for node in walk(expression):
        if isinstance(node, Call):
            yield from of_functions(case.options, (node.name,))
        elif isinstance(node, ColumnRef):
            for below in computed_as(case.plan, node):
                yield from of_functions(case.options, _called([below]) - {_OVER})
                yield from _sums_in(case.plan, below)
            yield from _of_frames(case.plan, node)


def _of_frames(plan: Plan, ref: ColumnRef) -> Iterator[Reason]:
    relation = plan.relations[ref.relation]
    for number in relation.query.top if isinstance(relation, Derived | CteReference) else ():
        if _OVER in plan.blocks[number].functions:
            yield DETERMINISM, _BY_ROWS


def of_functions(options: Options, names: Iterable[str]) -> Iterator[Reason]:
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


def _of_sums(plan: Plan, block: Block, values: Iterable[Expression]) -> Iterator[Reason]:
    if not any(map(_is_sum, block.functions)):
        return
    for expression in values:
        yield from _sums_in(plan, expression)


def _sums_in(plan: Plan, expression: Expression) -> Iterator[Reason]:
    for node in walk(expression):
        if isinstance(node, Call) and _is_sum(node.name) and not _same_in_any_order(plan, node):
            yield DETERMINISM, _why(plan, node.name, node.args[0])


def _same_in_any_order(plan: Plan, call: Call) -> bool:
    """Whether an aggregate gives the same of the same rows. An average of integers is that of
    DOUBLEs, whose sum is exact up to 2^53: of an INT four million of the greatest may pass it. Of
    the values of a percentile none are added up."""
    average, ranked = call.name in known("average"), call.name in known("ranked")
    kind = expression_type(plan, call.args[0]) if average or ranked else None
    if ranked:
        return kind is not None and (kind in (*_EXACT, "bigint") or kind.startswith("decimal"))
    return _exact(plan, call.args[0]) and not (average and kind in (None, "int"))


def _why(plan: Plan, name: str, summed: Expression) -> str:
    if name in known("average") | known("ranked"):
        kind = expression_type(plan, summed)
        return f"{name}() of {kind or 'what is not known'} depends on the order of rows"
    if expression_type(plan, summed) == "bigint":
        return "a sum of BIGINT may overflow in one order of its rows and not in another"
    return "a sum that may be of floating-point numbers depends on the order"


def _is_sum(name: str) -> bool:
    found = function(name)
    return found is not None and found.again == "exact"


def _exact(plan: Plan, expression: Expression) -> bool:
    """Whether adding up such values gives the same in any order: integers and decimals that have
    room, and counts."""
    match expression:
        case Literal(kind="number", text=text):
            number = str(of_number(text))
            return number in _EXACT or _has_room(number)
        case Call(name="distinct", args=args):
            return all(_exact(plan, arg) for arg in args)
        case Cast(type="bigint", operand=operand) if expression_type(plan, operand) in _EXACT:
            return True
        case ColumnRef() if _counts(plan, expression):
            return True
        case ColumnRef() | Cast() | Call():
            kind = expression_type(plan, expression)
            return kind is not None and (kind in _EXACT or _has_room(kind))
        case _:
            return False


def _counts(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column counts rows: all of them together are no more than there are."""
    found = computed_as(plan, ref)
    return bool(found) and all(isinstance(it, Call) and it.name == "count" for it in found)


def _has_room(kind: str) -> bool:
    """Whether it is a decimal whose sum has ten digits more. Where there are less, a sum that goes
    beyond them on its way is NULL, or an error, and in another order it need not be."""
    name, _, digits = kind.partition("(")
    return name == "decimal" and int(digits.partition(",")[0]) <= _ROOM


def total_order(plan: Plan, block: Block) -> bool:
    """Whether ORDER BY fixes which rows a LIMIT keeps: it sorts by something unique, or by all that
    is shown, so that rows in the same place are the same."""
    assert block.limit is not None
    order = block.limit.order
    if isinstance(block.limit.child, SetOperation):
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
    if isinstance(source, Scan) and source.table.primary_key:
        return all(
            any(isinstance(key, ColumnRef) and key.name == column.lower() for key in order)
            for column in source.table.primary_key
        )
    return False
