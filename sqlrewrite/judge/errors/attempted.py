"""Attempts: an expression that can raise an error is written in a form that returns NULL instead.

In: a condition on a dimension's rows. Out: the nodes to write in another form, each with that form.
If NULL makes the operators above true only where every value does, the key query keeps a row unless
the condition is surely false, whatever guard, ANSI mode or plan the query has. If an operator above
distinguishes NULL (``null_matters``), or the expression decides which rows a subquery has, the form
must return the original's value (docs/soundness.md, "What can raise an error is attempted").
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.restrictions import Attempts, Forms, Path
from sqlrewrite.judge.errors.raising import (
    is_boolean,
    one_row_at_most,
    raises_only_in,
    raising_below,
    raising_in,
    total,
)
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.repeatable import has_order_sensitive, objections_to_blocks, order_sensitive
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import arithmetic, computed_as, harmless, is_when
from sqlrewrite.plan.expressions import canonical, columns, operands, walk, written_in
from sqlrewrite.plan.facts.constants import CHECKS, reads_moments, stays_in_range
from sqlrewrite.plan.facts.error_free import (
    Attempt,
    attempt,
    attempted_cast,
    attempted_comparison,
    legacy_cast,
    legacy_sum,
    moved,
)
from sqlrewrite.plan.facts.functions import attempts as forms_by_name
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import TIMESTAMP, TIMESTAMP_NTZ
from sqlrewrite.text.limits import SPARK

_LOGIC = frozenset({"and", "or", "not", "in", "between"})
"""Operators that are true (or false) with a NULL operand only if they are so with every value in
its place (Kleene's logic)."""

_READS = "try_to_timestamp("
"""The beginning of the forms that parse a string by a pattern."""

_FIRST = "({0} LIMIT 1)"
"""The form of a scalar subquery that may have several rows."""


def attempts(proposal: Proposal, condition: ra.Expression) -> Attempts | None:
    """The nodes of a condition that can raise an error, each with its form, empty if no node can.
    None if a node has no form that is right in its place."""
    forms: list[tuple[Path, str]] = []
    aggregated = [null_matters for _, null_matters in order_sensitive_in(proposal, condition)]
    if any(aggregated):
        return None
    # An aggregate of a derived table is attempted there (``attempted_aggregates``).
    doubtful = bool(aggregated)
    for path, node, null_matters in _raising(proposal, condition):
        form = _form_at(proposal, node, null_matters)
        if form is None:
            return None
        forms.append((path, form.text))
        doubtful |= not (null_matters or isinstance(node, ra.Subquery))
    if doubtful and any(
        isinstance(node, ra.Subquery) and node.kind != "scalar" for node in walk(condition)
    ):
        return None  # Spark turns a NULL of IN into false, unless the IN is a whole condition
    subqueries = any(isinstance(node, ra.Subquery) for node in walk(condition))
    merged = subqueries and any(_in_a_value(condition, path) for path, _ in forms)
    return Attempts(tuple(forms), doubtful, merged)


def _in_a_value(node: ra.Expression, path: Path) -> bool:
    """Whether a path leads into a scalar subquery."""
    for step in path:
        if isinstance(node, ra.Subquery) and node.kind == "scalar":
            return True
        node = operands(node)[step]
    return False


def exact_attempts(proposal: Proposal, key: ra.Expression) -> Forms | None:
    """The nodes of a key that can raise an error, with forms that give their value without ANSI
    mode: the key is then the join's, or NULL where the join raises an error. None if a node has no
    such form, or the key has a subquery."""
    if any(isinstance(node, ra.Subquery) for node in walk(key)):
        return None
    forms: list[tuple[Path, str]] = []
    for path, node, _ in _raising(proposal, key):
        form = _legacy(proposal, node) or form_of(proposal, node)
        if form is None or not form.exact:
            return None
        forms.append((path, form.text))
    return tuple(forms)


def _form_at(proposal: Proposal, node: ra.Expression, null_matters: bool) -> Attempt | None:
    """The form of a node that is right in its place; None if it has none."""
    if isinstance(node, ra.Subquery):
        return Attempt(_FIRST, exact=True) if _is_attempted(proposal, node) else None
    if not null_matters:
        return form_of(proposal, node)
    forms = (_legacy(proposal, node), form_of(proposal, node))
    return next((form for form in forms if form is not None and form.plain), None)


def _legacy(proposal: Proposal, node: ra.Expression) -> Attempt | None:
    """The form of a sum or cast that gives its value without ANSI mode; None for other nodes."""
    match node:
        case ra.Cast(operand=operand, type=kind):
            return legacy_cast(proposal.type_of(operand), parse(kind))
        case ra.Call(name=name, args=args):
            return legacy_sum(name, [proposal.type_of(arg) for arg in args])
        case _:
            return None


def _raising(
    proposal: Proposal, expression: ra.Expression
) -> Iterator[tuple[Path, ra.Expression, bool]]:
    """The nodes that can raise an error, each with its path and whether an operator above it
    distinguishes NULL. For a subquery the nodes in its text, or the subquery itself if it may have
    several rows or cannot be written otherwise."""
    stack: list[tuple[Path, ra.Expression, bool]] = [((), expression, False)]
    while stack:
        path, node, null_matters = stack.pop()
        below = operands(node)
        varies = isinstance(node, ra.Subquery) and any(order_sensitive_in(proposal, node))
        if any(order_sensitive(proposal.plan, (node,))) or varies or not total(proposal, node):
            if not (
                isinstance(node, ra.Subquery) and _is_attempted(proposal, node)
            ) or _may_have_more_rows(proposal, node):
                yield path, node, null_matters
        elif isinstance(node, ra.Subquery):
            below = below[: node.operand is not None]
        stack += (
            ((*path, at), child, null_matters or not _null_says_no_more(proposal, node, at))
            for at, child in reversed(tuple(enumerate(below)))
            if not isinstance(child, ra.ColumnRef | ra.Literal)  # most nodes; these raise no error
        )


def order_sensitive_in(
    proposal: Proposal, expression: ra.Expression
) -> Iterator[tuple[ra.Expression, bool]]:
    """The order-sensitive aggregates in an expression, and in what derived tables compute for its
    columns, each with whether an operator above it distinguishes NULL. Each column is followed
    once."""
    walked: set[tuple[int, str, bool]] = set()
    stack = [(expression, False)] if has_order_sensitive(proposal.plan) else []
    while stack:
        node, null_matters = stack.pop()
        if any(order_sensitive(proposal.plan, (node,))):
            yield node, null_matters
        elif isinstance(node, ra.ColumnRef):
            column = (node.relation, node.name, null_matters)
            if column not in walked:
                walked.add(column)
                stack += ((computed, null_matters) for computed in computed_as(proposal.plan, node))
        else:
            stack += (
                (child, null_matters or not _null_says_no_more(proposal, node, at))
                for at, child in enumerate(operands(node))
            )


def _may_have_more_rows(proposal: Proposal, node: ra.Subquery) -> bool:
    """Whether a scalar subquery may return more than one row."""
    return node.kind == "scalar" and not one_row_at_most(proposal.plan, node.query)


def _is_attempted(proposal: Proposal, node: ra.Subquery) -> bool:
    """Whether all parts of a subquery that can raise an error can be written in another form: those
    in the list, WHERE or HAVING of its one SELECT."""
    if len(node.query.top) != 1 or (node.kind == "scalar" and node.outer):
        return False
    shown, conditions = written_in(node.query)
    its = conditions if node.kind == "exists" else (*shown, *conditions)
    columns = (node for part in its for node in walk(part) if isinstance(node, ra.ColumnRef))
    return (
        all(is_boolean(proposal, condition) for condition in conditions)
        and all(raising_below(proposal, ref) is None for ref in columns)
        and raises_only_in(proposal, node, its)
    )


def _null_says_no_more(proposal: Proposal, node: ra.Expression, at: int) -> bool:
    """Whether NULL in the operand at ``at`` gives NULL, or what every value there would give."""
    match node:
        case ra.Cast():
            return True
        case ra.Subquery(kind="scalar", query=query):
            # Its value is that of one of its rows; of any of them, if nothing sorts them.
            shown, _ = written_in(query)
            return at < len(shown) and not isinstance(query.node, ra.Limit)
        case ra.Call(name=name) if name in _LOGIC:
            return True
        case ra.Call(name="if"):
            return at > 0
        case ra.Call(name="case", args=args):
            return at > 0 or is_when(args[0])  # CASE x WHEN …: the WHENs distinguish a NULL of x
        case ra.Call(name=name):
            row = proposal.options.function(name)
            return (
                row is not None
                and row.kind in ("operator", "scalar", "syntax")
                and name != "<=>"
                and row.null_from(at)
            )
        case _:
            return False


def form_of(proposal: Proposal, node: ra.Expression) -> Attempt | None:
    """The form of a node that gives NULL instead of an error; None if it has none."""
    match node:
        case ra.Cast(operand=operand, type=kind):
            return attempted_cast(proposal.type_of(operand), parse(kind))
        case ra.Call(args=(ra.Call(name="distinct"), *_)):
            return None  # its form would aggregate repeated values too
        case ra.Call(name="element_at", args=(_, index)) if not _is_not_zero(index):
            return None  # index 0 is an error in every form
        case ra.Call(name="parse_url", args=(_, *others)) if not all(map(_is_word, others)):
            return None  # an argument is a pattern, which may be malformed
        case ra.Call(name="timestampadd", args=(ra.Literal(text=unit), amount, start)):
            is_timestamp = proposal.type_of(start) in (TIMESTAMP, TIMESTAMP_NTZ)
            small = isinstance(amount, ra.Literal) and stays_in_range((amount,))
            return moved(unit) if is_timestamp and small else None
        case ra.Call(name=name, args=args) if any(isinstance(arg, ra.Parameter) for arg in args):
            if proposal.options.limits.dialect != SPARK:
                return None  # other dialects have other names of types in typeof
            parameters = [at for at, arg in enumerate(args) if isinstance(arg, ra.Parameter)]
            return attempted_comparison(name, [proposal.type_of(arg) for arg in args], parameters)
        case ra.Call(name=name, args=args):
            form = attempt(name, [proposal.type_of(arg) for arg in args])
            by_pattern = form is not None and _READS in form.text and len(args) > 1
            if by_pattern and (proposal.engine.patterns_raise or not reads_moments(args[1])):
                return None
            return form if form is None or not form.check or CHECKS[form.check](args) else None
        case _:
            return None


def reads_by_pattern(node: ra.Expression) -> bool:
    """Whether a node reads a date or time by a pattern, as its form without an error does."""
    if not isinstance(node, ra.Call) or len(node.args) != 2:
        return False
    rows = (forms_by_name().get(name) for name in (node.name, f"{node.name}/2"))
    return any(row is not None and _READS in row[2] for row in rows)


def key_without_error(proposal: Proposal, key: ra.Expression) -> bool:
    """Whether a key has a form that raises no error."""
    form = harmless(proposal.plan, key)
    raises = proposal.engine.patterns_raise and form is not None and _READS in form.column
    return (form is not None and not raises) or bool(exact_attempts(proposal, key))


def _is_word(node: ra.Expression) -> bool:
    """Whether a node is a string literal of letters, digits and underscores."""
    return isinstance(node, ra.Literal) and node.kind == "string" and node.text.isidentifier()


def _is_not_zero(index: ra.Expression) -> bool:
    """Whether an index is a literal other than 0."""
    match index:
        case ra.Literal(text=text) | ra.Call(name="-", args=(ra.Literal(text=text),)):
            return bool(text.strip("-0"))
        case _:
            return False


def key_is_attempted(proposal: Proposal) -> bool:
    """Whether the key query repeats the text of a derived table or CTE, with the key's expression
    in a form that raises no error (``plan/facts/error_free.py``)."""
    query = proposal.dimension_query
    if query is None or not _text_can_be_repeated(proposal):
        return False
    computed = computed_as(proposal.plan, proposal.pair.key)
    blocks = [proposal.plan.blocks[number] for number in query.top]
    return len(computed) == len(blocks) and all(
        raising_in(proposal, expression) is None
        or (_only_in_list_and_groups(block, expression) and _has_exact_form(proposal, expression))
        for block, expression in zip(blocks, computed, strict=True)
    )


def _text_can_be_repeated(proposal: Proposal, attempted: frozenset[int] = frozenset()) -> bool:
    """Whether the key query can repeat the text of the dimension's query; ``attempted`` are the ids
    of the aggregates that it writes in another form."""
    dimension = proposal.pair.dimension
    if not isinstance(dimension, ra.CteReference):
        return isinstance(dimension, ra.Derived) and not dimension.view
    cte, query = proposal.plan.ctes[dimension.cte], dimension.query
    if not cte.name or cte.columns or cte.outer or len(query.top) != 1:
        return False
    return not any(objections_to_blocks(proposal, query.blocks, attempted=attempted))


def attempted_aggregates(proposal: Proposal) -> tuple[ra.Call, ...]:
    """The order-sensitive aggregates of a grouped dimension, if the key query can write each so
    that it gives its value or NULL, and no HAVING distinguishes the two. Else none."""
    query = proposal.dimension_query
    if query is None or len(query.top) != 1:
        return ()
    block = proposal.plan.blocks[query.top[0]]
    if block.aggregate != "group by" or block.distinct or block.limit is not None:
        return ()
    having = [condition.expression for condition in block.having]
    outputs = [output.expression for output in block.outputs]
    nodes = [node for expression in (*outputs, *having) for node in walk(expression)]
    aggregates = tuple(order_sensitive(proposal.plan, nodes))
    if not aggregates or any(isinstance(node, ra.Subquery) or _is_window(node) for node in nodes):
        return ()
    keys = [
        node
        for expression in computed_as(proposal.plan, proposal.pair.key)
        for node in walk(expression)
    ]
    if any(
        null_matters
        for condition in having
        for _, null_matters in order_sensitive_in(proposal, condition)
    ):
        return ()
    if any(call is key for call in aggregates for key in keys):
        return ()
    if not all(form_of(proposal, call) and _has_text(call) for call in aggregates):
        return ()
    return aggregates if _text_can_be_repeated(proposal, frozenset(map(id, aggregates))) else ()


def attempted_aggregate_ids(proposal: Proposal, condition: ra.Expression) -> frozenset[int]:
    """The ids of the aggregates in a condition's text, and in the dimension, that are attempted."""
    nodes, at = [condition], 0
    while at < len(nodes):
        nodes += operands(nodes[at])
        at += 1
    own = order_sensitive(proposal.plan, nodes)
    return frozenset(map(id, (*own, *attempted_aggregates(proposal))))


def _is_window(node: ra.Expression) -> bool:
    return isinstance(node, ra.Call) and node.name == "over"


def _has_text(call: ra.Call) -> bool:
    """Whether a call has columns, all of them written in the text."""
    refs = columns(call)
    return bool(refs) and all(ref.span is not None for ref in refs)


def attempted_group_keys(proposal: Proposal) -> Iterator[ra.Expression]:
    """The GROUP BY keys that repeat the attempted expression of the SELECT list."""
    query = proposal.dimension_query
    blocks = [proposal.plan.blocks[number] for number in query.top] if query is not None else []
    computed = computed_as(proposal.plan, proposal.pair.key)
    for block, expression in zip(blocks, computed, strict=False):
        for key in block.keys:
            if key is not expression and canonical(key) == canonical(expression):
                yield key


def _only_in_list_and_groups(block: ra.Block, expression: ra.Expression) -> bool:
    """Whether an expression stands only in a block's SELECT list and GROUP BY: ORDER BY, HAVING and
    other items would not match its new form."""
    if block.aggregate is None and not block.distinct:
        return True
    if block.order or block.aggregate not in (None, "group by"):
        return False
    same = canonical(expression)
    if block.aggregate is not None and all(canonical(key) != same for key in block.keys):
        return False
    others = [output.expression for output in block.outputs if output.expression is not expression]
    others += [condition.expression for condition in block.having]
    return all(canonical(node) != same for other in others for node in walk(other))


def _has_exact_form(proposal: Proposal, expression: ra.Expression) -> bool:
    """Whether an expression has a form that gives its value without ANSI mode."""
    if arithmetic(proposal.plan, expression) is None and not exact_attempts(proposal, expression):
        return False
    return all(
        ref.span is not None and raising_below(proposal, ref) is None for ref in columns(expression)
    )
