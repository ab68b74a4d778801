"""DPP004 and DPP007: partitioned tables that a query reads without giving the engine a bound."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.lint.findings import Finding
from sqlrewrite.lint.subject import Subject
from sqlrewrite.model import Outcome, Verdict
from sqlrewrite.options import Reach
from sqlrewrite.plan.columns import column_type
from sqlrewrite.plan.expressions import Call, Cast, ColumnRef, Expression, columns, walk
from sqlrewrite.plan.nodes import Block, Condition, Plan, Scan, leaves
from sqlrewrite.pruning.candidates import joins
from sqlrewrite.pruning.reducers import restricting
from sqlrewrite.pruning.restrictions import Conjunct
from sqlrewrite.pruning.statement import Judged, Pruned
from sqlrewrite.rulebook import Engine

_ALONE = Reach(depth=0)

_COMPARISONS = frozenset({"=", "<=>", "<", "<=", ">", ">=", "between", "in", "like"})

_PRESERVED, _UNFILTERED = "DPP101", "DPP120"
"""Rejections by which a join takes no partition away for the engine either: the fact's rows all
come out; or the other side is not filtered, and nothing else is that the engine might carry over.
"""


def wrapped(subject: Subject, pruned: Pruned) -> Iterator[Finding]:
    """DPP004: a condition on what a function or cast makes of a partition column."""
    plan = pruned.plan
    for block, condition in _conditions(plan):
        expression = condition.expression
        if not isinstance(expression, Call) or expression.name not in _COMPARISONS:
            continue
        for operand in expression.args:
            found = _wrapped(plan, operand, subject.engine)
            if found is None or plan.owner.get(found[1].relation) != block.number:
                continue
            scan, ref, by = found
            if scan.span is None or ref.span is None:
                continue
            about = f"{scan.alias}.{ref.name}"
            line, column = subject.lines.place(subject.original(ref.span).start)
            yield subject.finding(
                "DPP004",
                subject.original(scan.span),
                about,
                f"{about} is inside {by} (line {line}, column {column}): partitions cannot be "
                "looked up by it",
                f"compare {ref.name} itself, if need be with a range of its values",
            )


def unbounded(subject: Subject, pruned: Pruned) -> Iterator[Finding]:
    """DPP007: a scan of a partitioned table with no condition at all on a partition column."""
    if _defines_view(subject):
        return  # what is read of it, those decide who query the view
    plan = pruned.plan
    for relation in _scans(plan):
        names = _partitions(relation, subject.engine)
        if relation.span is None or not names or _bounded(plan, relation, names):
            continue
        tied = [it for it in pruned.judged if it.case.pair.scan is relation]
        plain = all(_plain(it.case.pair.tie.block, relation) for it in tied)
        if not all(_rules_nothing_out(it, plain) for it in tied):
            continue
        if _compared(plan, relation, names, tied):
            continue
        shown = ", ".join(sorted(names))
        yield subject.finding(
            "DPP007",
            subject.original(relation.span),
            relation.alias or relation.parts[-1],
            f"{'.'.join(relation.parts)} is read whole: nothing bounds {shown}, by which it is "
            f"partitioned{_because(tied)}",
            f"add a condition on {shown}, or suppress this where all of it is wanted",
        )


def _defines_view(subject: Subject) -> bool:
    words = [token.text.upper() for token in subject.part.statement.tokens[:6]]
    return words[0] == "CREATE" and "VIEW" in words


def _scans(plan: Plan) -> Iterator[Scan]:
    """The tables read in the author's text, those left out that something not understood reads."""
    for block in plan.blocks:
        if not block.in_view:
            yield from (leaf for leaf in leaves(block.source) if isinstance(leaf, Scan))


def _conditions(plan: Plan) -> Iterator[tuple[Block, Condition]]:
    """The conjuncts of each WHERE and ON of the author's text."""
    for block in plan.blocks:
        if block.in_view:
            continue
        for condition in block.where:
            yield block, condition
        for join in joins(block.source):
            for condition in join.conditions:
                yield block, condition


def _wrapped(plan: Plan, operand: Expression, engine: Engine) -> tuple[Scan, ColumnRef, str] | None:
    """The partition column inside an operand that is not just that column, and what it is in."""
    if not isinstance(operand, Call | Cast):
        return None
    by = "a cast" if isinstance(operand, Cast) else _shown(operand.name)
    for node in walk(operand):
        if isinstance(node, ColumnRef):
            scan = plan.relations[node.relation]
            if not isinstance(scan, Scan) or node.name not in _partitions(scan, engine):
                continue
            if isinstance(operand, Cast) and operand.operand is node:
                if column_type(plan, node) == operand.type:
                    continue  # a cast to its own type is none
                by = f"a cast to {operand.type}"
            return scan, node, by
    return None


def _shown(name: str) -> str:
    return f"{name}()" if name.isidentifier() else f"an expression with {name}"


def _partitions(scan: Scan, engine: Engine) -> frozenset[str]:
    """The columns by which a table is partitioned as they are."""
    return frozenset(
        field.column.lower()
        for field in scan.table.partitioned_by
        if field.transform in engine.transforms
    )


def _bounded(plan: Plan, scan: Scan, names: frozenset[str]) -> bool:
    """Whether a condition on the scan alone speaks of a partition column."""
    return any(
        not isinstance(item, Conjunct) or _bounds(item.expression, names)
        for item in restricting(plan, scan.relation, _ALONE)
    )


def _bounds(expression: Expression, names: frozenset[str]) -> bool:
    match expression:
        case Call(name="and", args=args):
            return any(_bounds(arg, names) for arg in args)
        case Call(name="or", args=args):
            return all(_bounds(arg, names) for arg in args)
        case Call(name="not", args=(Call(name="isnull"),)):
            return False
        case _:
            return any(ref.name in names for ref in columns(expression))


def _compared(plan: Plan, scan: Scan, names: frozenset[str], tied: list[Judged]) -> bool:
    """Whether a condition ties a partition column to something in a way that made no candidate."""
    known = {id(it.case.pair.tie.condition) for it in tied}
    return any(
        ref.relation == scan.relation and ref.name in names
        for _, condition in _conditions(plan)
        if id(condition) not in known and len(condition.relations) > 1
        for ref in columns(condition.expression)
    )


def _plain(block: Block, scan: Scan) -> bool:
    """Whether a block filters no relation beside the scan: tables as they are, tied and no more."""
    conditions = [*block.where, *(it for join in joins(block.source) for it in join.conditions)]
    return all(isinstance(leaf, Scan) for leaf in leaves(block.source)) and all(
        _equates(it.expression) or it.relations == {scan.relation} for it in conditions
    )


def _equates(expression: Expression) -> bool:
    """Whether a condition is an equality of two columns of two relations."""
    match expression:
        case Call(name="=", args=(ColumnRef() as one, ColumnRef() as other)):
            return one.relation != other.relation
        case _:
            return False


def _rules_nothing_out(judged: Judged, plain: bool) -> bool:
    """Whether a join with the scan surely leaves the engine all of its partitions to read."""
    failing = {rule.code for rule in judged.rules if rule.outcome is Outcome.FAIL}
    if judged.verdict is not Verdict.REJECTED:
        return False
    return _PRESERVED in failing or (plain and _UNFILTERED in failing)


def _because(tied: list[Judged]) -> str:
    """What is in the way of the first join that could have been a bound."""
    for judged in tied:
        for rule in judged.rules:
            if rule.code in (_PRESERVED, _UNFILTERED) and rule.outcome is Outcome.FAIL:
                return f"; the join with {judged.case.dimension_name} does not: {rule.message}"
    return ""
