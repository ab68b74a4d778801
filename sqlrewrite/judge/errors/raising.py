"""Whether an expression can raise an error for some values, in ANSI mode or without.

The table of functions says whether a function can raise an error for values of its parameters'
types. This module adds the casts to these types that Spark inserts, and literals for which a
function cannot raise the error that it otherwise could.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import computed_as, stays_in_range, type_of
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.facts.coercion import is_numeric, never_fails
from sqlrewrite.plan.facts.constants import CHECKS, is_instant
from sqlrewrite.plan.facts.functions import Function, signature, tagged
from sqlrewrite.plan.facts.operand_checks import never_raises
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import BIGINT, BOOLEAN, DOUBLE, INT, MOMENTS, STRING, Type, valued
from sqlrewrite.plan.memo import remembered, remembered_by_node, shared
from sqlrewrite.plan.relations import deciding_expressions, generates, leaves, one_row, read_by

_NULL, _STRING, _NUMBER, _OTHER = "null", "'…'", "0", "DATE '…'"
"""The kinds of constants; the kind of a column is the family of its type."""

_NESTED = re.compile(r"(array|map)<(\w(?:,\w)?)>")
_INTEGERS = {"int": INT, "long": BIGINT, "integral": BIGINT, "bigint": BIGINT}
_DIGITS = 9
"""The most digits with which a number is surely an INT."""


def total(proposal: Proposal, node: ra.Expression) -> bool:
    """Whether a node raises no error for any values of its operands, in ANSI mode too."""
    match node:
        case ra.Cast(operand=operand, type=kind, safe=safe):
            source, target = proposal.type_of(operand), parse(kind)
            return safe or (
                source is not None and target is not None and never_fails(source, target)
            )
        case ra.Call(name="tuple"):
            return True
        case ra.Call(name=".", args=(_, ra.Literal())):  # a field, not the call db.f(x)
            return proposal.type_of(node) is not None
        case ra.Call():
            row = proposal.options.function(node.name)
            of = partial(type_of, proposal.plan)
            return row is not None and (
                _call_is_total(proposal.plan, row, node)
                or stays_in_range(proposal.plan, node)
                or never_raises(node, of)
            )
        case ra.Subquery(kind="scalar", outer=(_, *_)):
            return False  # it may run for rows that the query leaves out first
        case ra.Subquery():
            return raising_in_subquery(proposal, node) is None
        case _:
            return True


def raising_in_subquery(proposal: Proposal, node: ra.Subquery) -> ra.Expression | None:
    """What can raise an error in a subquery: an output, an expression that decides its rows, or the
    subquery itself if it is scalar and may return several rows. None if nothing can. Spark runs the
    subquery of a partition filter even if no row of the fact is left."""
    if not _compares_without_cast(proposal, node):
        return node
    culprit = None if node.kind == "exists" else _raising_in_outputs(proposal, node.query)
    if culprit is None and node.kind == "scalar" and not one_row_at_most(proposal.plan, node.query):
        return node
    return culprit or _raising_in_rows(proposal, node.query)


@shared
def _raising_in_outputs(proposal: Proposal, query: ra.Query) -> ra.Expression | None:
    blocks = (proposal.plan.blocks[number] for number in query.top)
    shown = (output.expression for block in blocks for output in block.outputs)
    culprits = (raising_in(proposal, expression) for expression in shown)
    return next((culprit for culprit in culprits if culprit is not None), None)


@shared
def _raising_in_rows(proposal: Proposal, query: ra.Query) -> ra.Expression | None:
    return _raising_among(proposal, query)


@remembered
def one_row_at_most(plan: ra.Plan, query: ra.Query) -> bool:
    """Whether a query surely returns at most one row: an aggregate over all rows, LIMIT 1, a SELECT
    without FROM, or a SELECT from such queries only."""
    if one_row(plan, query) or (isinstance(query.node, ra.Limit) and query.node.most == 1):
        return True
    if len(query.top) != 1:
        return False
    block = plan.blocks[query.top[0]]
    for leaf in leaves(block.source):
        match leaf:
            case ra.Derived(query=inner) | ra.CteReference(query=inner):
                if not one_row_at_most(plan, inner):
                    return False
            case ra.Inline(rows=(_,)) | ra.Opaque(columns=()):
                pass  # an Opaque without columns is a missing FROM
            case _:
                return False
    return block.aggregate != "grouping sets" and not generates(block)


def _compares_without_cast(proposal: Proposal, node: ra.Subquery) -> bool:
    """Whether an IN compares its operand with its subquery without a cast that can raise an
    error."""
    if node.kind != "in" or node.operand is None:
        return True
    firsts = [output.expression for output in _first_outputs(proposal.plan, node.query)]
    return comparable(proposal.plan, (node.operand, *firsts))


def raising_below(proposal: Proposal, ref: ra.ColumnRef) -> ra.Expression | None:
    """What can raise an error in the expressions by which derived tables, CTEs and views compute a
    column; None if nothing can."""
    return _raising_in_column(proposal, ref.relation, ref.name)


@shared
def _raising_in_column(proposal: Proposal, relation: int, name: str) -> ra.Expression | None:
    for expression in computed_as(proposal.plan, ra.ColumnRef(relation, name, None)):
        culprit = raising_in(proposal, expression)
        if culprit is not None:
            return culprit
    return None


def is_boolean(proposal: Proposal, condition: ra.Expression) -> bool:
    """Whether a condition surely is a BOOLEAN. In ANSI mode Spark casts a STRING beside AND and OR,
    which can raise an error."""
    boolean = isinstance(condition, ra.Subquery) and condition.kind != "scalar"
    return boolean or proposal.type_of(condition) == BOOLEAN


def raising_inside(
    proposal: Proposal, relation: ra.Relation, attempted: Iterable[ra.Expression] = ()
) -> ra.Expression | None:
    """What can raise an error in the expressions that decide which rows a derived table, CTE or
    view has, except the ``attempted`` ones; None if nothing can. The predicate may compute them
    where the query does not: if no row of the fact is left, or the join rules out the files."""
    if not isinstance(relation, ra.Derived | ra.CteReference):
        return None
    return _raising_among(proposal, relation.query, attempted)


def rows_never_raise(proposal: Proposal, node: ra.Subquery) -> bool:
    """Whether the expressions that decide which rows a subquery has raise no error."""
    return _raising_in_rows(proposal, node.query) is None


def raises_only_in(proposal: Proposal, node: ra.Subquery, written: Iterable[ra.Expression]) -> bool:
    """Whether in a subquery only the ``written`` expressions can raise an error."""
    culprit = _raising_among(proposal, node.query, written)
    return culprit is None and _compares_without_cast(proposal, node)


def _raising_among(
    proposal: Proposal, query: ra.Query, but: Iterable[ra.Expression] = ()
) -> ra.Expression | None:
    """The first expression except ``but`` that decides which rows a query or one inside it has, and
    that can raise an error or is a condition of another type than BOOLEAN; None if there is
    none."""
    culprit = _deciding_and_raising(proposal, query, but)
    for relation in () if culprit is not None else read_by(proposal.plan, query):
        if isinstance(relation, ra.Derived | ra.CteReference):
            culprit = _raising_by_itself(proposal, relation.query)
            if culprit is not None:
                break
    return culprit


@shared
def _raising_by_itself(proposal: Proposal, query: ra.Query) -> ra.Expression | None:
    return _deciding_and_raising(proposal, query, ())


def _deciding_and_raising(
    proposal: Proposal, query: ra.Query, but: Iterable[ra.Expression]
) -> ra.Expression | None:
    """``_raising_among`` for the query itself, without its subqueries."""
    left_out = {id(excepted) for excepted in but}
    for expression, condition in deciding_expressions(query):
        if id(expression) in left_out:
            continue
        culprit = raising_in(proposal, expression)
        if culprit is not None or (condition and not is_boolean(proposal, expression)):
            return culprit or expression
    return None


def raising_in(proposal: Proposal, expression: ra.Expression) -> ra.Expression | None:
    """What can raise an error in an expression, or in what derived tables compute for its columns;
    None if nothing can."""
    for node in walk(expression):
        inner = raising_below(proposal, node) if isinstance(node, ra.ColumnRef) else None
        if inner is not None:
            return inner
        if (isinstance(node, ra.Cast) or _of_a_row(proposal, node)) and not total(proposal, node):
            return node
        if isinstance(node, ra.Subquery):
            inner = raising_in_subquery(proposal, node)
            if inner is not None:
                return inner
    return None


def _of_a_row(proposal: Proposal, node: ra.Expression) -> bool:
    """Whether a node is a function or operator over one row; an aggregate runs over the same rows
    in the query and in the predicate."""
    if not isinstance(node, ra.Call) or node.name == "over":
        return False
    row = proposal.options.function(node.name)
    return row is not None and row.kind in ("operator", "scalar", "syntax")


def _call_is_total(plan: ra.Plan, found: Function, call: ra.Call) -> bool:
    if found.name == "case":
        return False  # ``never_raises`` judges it, by its branches
    # A sum that may be repeated never overflows (``order_sensitive``).
    safe = found.total or (found.aggregate and found.again == "exact")
    safe = safe or (bool(found.unless) and CHECKS[found.unless](call.args))
    return safe and _accepted(plan, found, call.args)


def _uncast(plan: ra.Plan, args: tuple[ra.Expression, ...]) -> bool:
    """Whether no string literal among the arguments is cast to the others' type, unless it is a
    valid date. (A query may compute only some of a CASE's values.)"""
    kinds = {_kind(plan, arg) for arg in args} - {_NULL, _STRING, "boolean"}
    constants = [arg for arg in args if _kind(plan, arg) == _STRING]
    texts = [constant.text if isinstance(constant, ra.Literal) else "" for constant in constants]
    strings = all(kind is not None and kind.startswith("string") for kind in kinds)
    return not texts or strings or (kinds <= {"datetime", _OTHER} and all(map(is_instant, texts)))


def _accepted(plan: ra.Plan, found: Function, args: tuple[ra.Expression, ...]) -> bool:
    """Whether no argument needs a cast that can raise an error."""
    form = signature(found.signature)
    alike: dict[str, list[ra.Expression]] = {}
    inside: dict[str, set[str]] = {}
    for at, arg in enumerate(args):
        parameter = form.parameter(at, len(args))
        if parameter is None:
            return False
        if parameter.lambda_parameters:  # the parameter takes a lambda
            if parameter.pattern == "boolean" and type_of(plan, arg) != BOOLEAN:
                return False
            continue
        pattern = parameter.pattern
        of_arrays = pattern.startswith("array<array<")
        nested = _NESTED.fullmatch(pattern[len("array<") : -1] if of_arrays else pattern)
        if len(pattern) == 1:
            alike.setdefault(pattern, []).append(arg)
        elif nested is not None:
            kind, letters = type_of(plan, arg), nested[2].split(",")
            if of_arrays and kind is not None and kind.name == "array":
                kind = kind.element
            if kind is None or kind.name != nested[1]:
                return False
            for letter, item in zip(letters, kind.items, strict=True):
                inside.setdefault(letter, set()).add(_family(item))
        elif not _fits(plan, pattern, arg):
            return False
    # Arguments may be cast to a common type, and some may not be computed for every row.
    every = found.name in tagged("each")
    return all(
        (len(its) < 2 or every or _uncast(plan, tuple(its)))
        and (
            (len(its) == 1 and letter not in inside)
            or comparable(plan, tuple(its), inside.get(letter, set()))
        )
        for letter, its in (dict.fromkeys(inside, ()) | alike).items()
    )


def _fits(plan: ra.Plan, pattern: str, arg: ra.Expression) -> bool:
    """Whether every value of an argument fits the parameter's type without an error."""
    if pattern in ("any", "string", "text"):
        return True
    kind = _kind(plan, arg)
    if kind in (_NULL, pattern):  # boolean, of which IN and EXISTS are
        return True
    if pattern == "binary":
        return kind in (_STRING, "string")  # the bytes of a string
    if pattern in ("date", "timestamp"):
        return kind in ("datetime", _OTHER) or (
            isinstance(arg, ra.Literal) and kind == _STRING and is_instant(arg.text)
        )
    if isinstance(arg, ra.Literal) and pattern in _INTEGERS:
        return kind == _NUMBER and arg.text.lstrip("-").isdigit() and len(arg.text) <= _DIGITS
    if pattern in ("double", "float", "number"):
        return kind in ("numeric", _NUMBER)
    of_arg = type_of(plan, arg)
    target = _INTEGERS.get(pattern) or parse(pattern)
    return of_arg is not None and target is not None and never_fails(of_arg, target)


def comparable(
    plan: ra.Plan, operands: Sequence[ra.Expression], inside: AbstractSet[str] = frozenset()
) -> bool:
    """Whether operands have a common type without a cast of a column that can raise an error: a
    STRING column beside a number needs one; a string literal is cast itself. ``inside`` are the
    families of array and map items compared with them."""
    rows = [arg for arg in map(_fields, operands) if arg is not None]
    if operands and len(rows) == len(operands):
        alike = len({len(row) for row in rows}) == 1
        return alike and all(comparable(plan, column) for column in zip(*rows, strict=True))
    kinds = ({_kind(plan, operand) for operand in operands} | inside) - {_NULL}
    if None in kinds:
        return False
    columns = kinds - {_STRING, _NUMBER, _OTHER}
    if len(columns) > 1:
        return False
    text = any(kind is not None and kind.startswith("string") for kind in columns)
    return not (text and kinds & {_NUMBER, _OTHER})


def _fields(operand: ra.Expression) -> tuple[ra.Expression, ...] | None:
    """The fields of a row or struct, which are compared one by one; None for other values."""
    match operand:
        case ra.Call(name="tuple" | "struct", args=args):
            return args
        case ra.Call(name="named_struct", args=args):
            return args[1::2]
        case _:
            return None


@remembered_by_node
def _kind(plan: ra.Plan, operand: ra.Expression) -> str | None:
    """The family of an operand's type, or its kind of constant; None if unknown."""
    match operand:
        case ra.Literal(kind="null"):
            return _NULL
        case ra.Literal(kind="string" | "template"):
            return _STRING
        case ra.Literal(kind="number"):
            return _NUMBER
        case ra.Literal(kind="boolean"):
            return "boolean"
        case ra.Literal() | ra.Parameter():
            return _OTHER
        case ra.Call() if _constant(plan, operand):
            return _STRING if type_of(plan, operand) == STRING else _OTHER
        case ra.Subquery(kind="scalar", query=query):
            kinds = {_kind(plan, output.expression) for output in _first_outputs(plan, query)}
            return kinds.pop() if len(kinds) == 1 else None
        case ra.Subquery():
            return "boolean"
        case ra.Call(name="+" | "-", args=args):
            kinds = {_kind(plan, arg) for arg in args} - {_NUMBER}
            kind = DOUBLE if kinds <= {"numeric"} else type_of(plan, operand)
            return None if kind is None else _family(kind)
        case _:
            kind = type_of(plan, operand)
            return None if kind is None else _family(kind)


def _family(kind: Type) -> str:
    """The family of a type: within a family, comparing needs no cast that can raise an error."""
    if is_numeric(kind):
        return "numeric"
    return "datetime" if kind in MOMENTS else str(valued(kind))


def _first_outputs(plan: ra.Plan, query: ra.Query) -> list[ra.OutputColumn]:
    blocks = [plan.blocks[number] for number in query.top]
    return [block.outputs[0] for block in blocks if block.outputs and block.complete]


@remembered_by_node
def _constant(plan: ra.Plan, expression: ra.Expression) -> bool:
    """Whether an expression has only literals and functions of them."""
    return isinstance(expression, ra.Literal) or (
        isinstance(expression, ra.Call) and all(_constant(plan, arg) for arg in expression.args)
    )
