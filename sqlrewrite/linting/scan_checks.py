"""DPP007: partitioned tables that a query reads without giving the engine a bound.

A condition that is not understood might bound (a template, a name that the catalog cannot place):
then there is no finding. Where reading each partition is meant (a GROUP BY of the partition column,
an INSERT that takes its partitions from the rows), the finding is a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlrewrite.copies import replace
from sqlrewrite.find.reducers import all_restrictions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.linting.checked_statement import CheckedStatement, fix_of
from sqlrewrite.linting.findings import Finding, Severity
from sqlrewrite.linting.proposed_columns import Advice
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.functions import of_one_row, tagged
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.null_rejection import rejects_null
from sqlrewrite.plan.relations import conditions_of, leaves, readers
from sqlrewrite.results import Outcome, Verdict
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.options import ALONE
from sqlrewrite.sql.statements.effects import writes_each_partition
from sqlrewrite.warehouse import quoted_name

_TIMES = frozenset({"years", "months", "days", "hours"})
_PRESERVED, _UNFILTERED = "DPP101", "DPP120"
"""Rules whose rejection holds for the engine's own pruning, too: all rows of the fact are
preserved; or the other side is not filtered, and there is no other condition to carry over."""


def unbounded_scan(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP007: a scan of a partitioned table with no condition at all on a partition column."""
    for scan in scans(checked.plan):
        names = partitions(scan, checked.engine) | hidden_times(scan)
        if not names or scan.span is None:
            continue
        if _changed_whole(checked.plan, scan) or scan.streaming:
            continue
        if scan.first_rows and checked.engine.name == "spark":
            continue  # a LIMIT to Spark; other engines may draw the rows from all of the table
        if reads_keys_alone(checked.plan, scan, names) or may_be_bounded(checked.plan, scan, names):
            continue
        if reads_nothing(checked.plan, scan) or _in_two(scan):
            continue
        if not read_whole(checked, scan, names):
            continue
        shown = ", ".join(f"`{name}`" for name in sorted(names))
        meant = each_partition(checked, scan, names)
        advice = checked.supposed and checked.supposed.advice(checked.plan, scan, names)
        finding = checked.finding(
            "DPP007",
            scan.span,
            scan.alias or scan.parts[-1],
            f"`{'.'.join(scan.parts)}` is read whole: no condition bounds its partition "
            f"column{'s' * (len(names) > 1)} {shown}"
            f"{_computed(advice) if advice else meant or _because(checked, scan)}",
            _declaration(scan, advice)
            if advice
            else f"add a condition on {shown}, unless all of the table is wanted"
            if meant
            else f"add a condition on {shown}, or, if all of the table is wanted, the comment "
            "`-- dpp-rewrite: ignore[DPP007]` at the end of this line",
            severity=Severity.NOTE if meant else None,
        )
        edits = advice.edits if advice else ()
        yield replace(finding, choice=fix_of(checked.lines, edits)) if edits else finding


def _computed(advice: Advice) -> str:
    """The part of the message that says that the query filters the source of a partition column."""
    derivation = advice.derivation
    source = ", ".join(f"`{name}`" for name in derivation.sources)
    return (
        f"; it filters {source}, from which `{derivation.column}` is computed ({derivation.origin})"
    )


def _declaration(scan: ra.Scan, advice: Advice) -> str:
    """The declaration of a computed column, or what to add instead."""
    table, derivation = quoted_name(scan.table.name[1:]), advice.derivation
    return (
        f"if nothing else writes the table: add `{advice.predicate}`, or declare "
        f'`{derivation.column} = "{derivation.expression}"` under '
        f'`[tool.dpp-rewrite.derived."{table}"]`'
    )


def _in_two(scan: ra.Scan) -> bool:
    """Whether a table is partitioned by BOOLEAN columns alone. It has two parts: to read both is no
    oversight."""
    fields = (scan.table.column(field.column) for field in scan.table.partitioned_by)
    return all(column is not None and column.type == "boolean" for column in fields)


def read_whole(checked: CheckedStatement, scan: ra.Scan, names: frozenset[str]) -> bool:
    """Whether nothing in a query bounds a scan's partition columns; ``names`` are the columns."""
    plan, tied = checked.plan, checked.proposals_by_scan.get(scan, ())
    words = [token.text.upper() for token in checked.decided.reading.statement.tokens[:6]]
    if words[0] == "CREATE" and "VIEW" in words:
        return False  # how much is read depends on the queries of the view
    if is_view(checked.document.original):
        return False
    if _bounded(plan, scan, names):
        return False
    plain = all(_plain(block, scan) for block in {proposal.pair.edge.block for proposal in tied})
    return all(_rules_nothing_out(proposal, plain) for proposal in tied) and not _compared(
        plan, scan, names, tied
    )


def _changed_whole(plan: ra.Plan, scan: ra.Scan) -> bool:
    """Whether a scan is the target of a MERGE, which is DPP010's matter, or of a DELETE or UPDATE
    of all rows."""
    block = plan.blocks[plan.owner[scan.relation]]
    if block.role == "merge" and isinstance(block.source, ra.Join):
        return block.source.right is scan
    return block.role == "change" and not block.where


def scans(plan: ra.Plan) -> Iterator[ra.Scan]:
    """The tables that the author's text reads, without those that only an unknown part reads."""
    for block in plan.blocks:
        if not block.in_view:
            yield from (leaf for leaf in leaves(block.source) if isinstance(leaf, ra.Scan))


def partitions(scan: ra.Scan, engine: Engine) -> frozenset[str]:
    """The columns that partition a table by their own values."""
    return frozenset(
        field.column.lower()
        for field in scan.table.partitioned_by
        if field.transform in engine.transforms
    )


def hidden_times(scan: ra.Scan) -> frozenset[str]:
    """The columns by whose days, hours, months or years a table has hidden partitions."""
    return frozenset(
        field.column.lower() for field in scan.table.partitioned_by if field.transform in _TIMES
    )


def _bounded(plan: ra.Plan, scan: ra.Scan, names: frozenset[str]) -> bool:
    """Whether a condition on the scan alone bounds a partition column."""
    on_groups = _on_groups(plan.blocks[plan.owner[scan.relation]])
    return any(bounds(expression, scan.relation, names) for expression in on_groups) or any(
        not isinstance(item, Conjunct) or bounds(item.expression, scan.relation, names)
        for item in all_restrictions(plan, scan.relation, ALONE)
    )


def _on_groups(block: ra.Block) -> Iterator[ra.Expression]:
    """The conditions of HAVING on the keys of the groups alone: engines push them down below the
    GROUP BY, as conditions of WHERE. One of QUALIFY may stand above a window."""
    if block.aggregate != "group by" or "over" in block.functions:
        return
    for condition in block.having:
        calls = (part for part in walk(condition.expression) if isinstance(part, ra.Call))
        if all(of_one_row(call.name) for call in calls):
            yield condition.expression


def bounds(
    expression: ra.Expression, relation: int, names: frozenset[str], negated: bool = False
) -> bool:
    """Whether a condition, or its negation, restricts a relation's columns of those names so that
    engines make a partition filter of it: of an AND one operand must, of an OR each (Spark's
    ``extractPredicatesWithinOutputSet``)."""
    match expression:
        case ra.Call(name="not", args=(inner,)):
            return bounds(inner, relation, names, not negated)
        case ra.Call(name="and" | "or" as name, args=args):
            every = all if (name == "or") is not negated else any
            return every(bounds(arg, relation, names, negated) for arg in args)
        case ra.Call(name="isnull") if negated:
            return False
        case _:
            refs = columns(expression)
            alone = all(ref.relation == relation for ref in refs)
            return alone and any(ref.name in names for ref in refs)


def _compared(
    plan: ra.Plan, scan: ra.Scan, names: frozenset[str], tied: Sequence[Proposal]
) -> bool:
    """Whether a condition that made no candidate compares a partition column with a relation."""
    paired = {id(proposal.pair.edge.condition) for proposal in tied}
    ties = _tying(plan)
    return any(
        condition not in paired
        for name in names
        for condition in ties.get((scan.relation, name), ())
    )


@remembered
def _tying(plan: ra.Plan) -> dict[tuple[int, str], list[int]]:
    """The identities of the conditions that compare each column with another relation."""
    ties: dict[tuple[int, str], list[int]] = {}
    own = (block for block in plan.blocks if not block.in_view)
    for condition in (one for block in own for one in conditions_of(block)):
        for ref in columns(condition.expression) if len(condition.relations) > 1 else ():
            ties.setdefault((ref.relation, ref.name), []).append(id(condition))
    return ties


def _plain(block: ra.Block, scan: ra.Scan) -> bool:
    """Whether a block filters no relation but the scan, and else only joins tables by equality."""
    return all(isinstance(leaf, ra.Scan) for leaf in leaves(block.source)) and all(
        _equates(condition.expression) or condition.relations == {scan.relation}
        for condition in conditions_of(block)
    )


def _equates(expression: ra.Expression) -> bool:
    """Whether a condition is an equality of two columns of two relations."""
    match expression:
        case ra.Call(name="=", args=(ra.ColumnRef() as one, ra.ColumnRef() as other)):
            return one.relation != other.relation
        case _:
            return False


def _rules_nothing_out(proposal: Proposal, plain: bool) -> bool:
    """Whether the engine has to read all partitions of the scan in spite of a join."""
    failing = {rule.code for rule in proposal.rules if rule.outcome is Outcome.FAIL}
    if proposal.verdict is not Verdict.REJECTED:
        return False
    return _PRESERVED in failing or (plain and _UNFILTERED in failing)


def _because(checked: CheckedStatement, scan: ra.Scan) -> str:
    """Why the first join that might have bounded the scan does not."""
    for proposal in checked.proposals_by_scan.get(scan, ()):
        for rule in proposal.rules:
            if rule.code in (_PRESERVED, _UNFILTERED) and rule.outcome is Outcome.FAIL:
                return f"; nor can the join with `{proposal.dimension_name}`: {rule.message}"
    return ""


_LATER = re.compile(
    r"\{\{-?\s*config\s*\([^{}]*\bmaterialized\s*=\s*['\"](?:view|ephemeral)['\"]", re.DOTALL
)
_ENDS = frozenset({"max", "min"})


def is_view(text: str) -> bool:
    """Whether a text is a dbt model that is no table: how much is read depends on its readers."""
    return "materialized" in text and _LATER.search(text) is not None


def reads_keys_alone(plan: ra.Plan, scan: ra.Scan, names: frozenset[str]) -> bool:
    """Whether a query needs only the names of the partitions, as a search for the latest one does
    (no other column, no count of rows), or only the first rows of the table."""
    block = plan.blocks[plan.owner[scan.relation]]
    if block.limit is not None and block.source is scan and _first_rows(block):
        return True
    if block.source is not scan or not (block.aggregate or block.distinct) or not block.outputs:
        return False
    values = [condition.expression for condition in (*block.where, *block.having)] + [*block.keys]
    latest = block.role == "scalar" and block.functions & _ENDS
    if not (latest and any(_unknown(output.expression) for output in block.outputs)):
        # An unknown one is not among those that the query asks for.
        values += [output.expression for output in block.outputs]
    used = [{ref.name for ref in columns(value)} for value in values]
    return all(refs and refs <= names for refs in used) and not block.functions & tagged("counting")


def _unknown(expression: ra.Expression) -> bool:
    return any(isinstance(node, ra.Unknown) for node in walk(expression))


def reads_nothing(plan: ra.Plan, scan: ra.Scan) -> bool:
    """Whether a condition that never holds stands above a scan, as in ``CREATE TABLE t AS SELECT *
    FROM s WHERE 1 = 0``: Spark then reads no file."""
    edge, seen = [plan.owner[scan.relation]], set[int]()
    while edge:
        block = plan.blocks[edge.pop()]
        if _returns_nothing(plan, block.number):
            continue
        above = {plan.owner[reader] for reader in readers(plan, block.number) or ()}
        if not above or block.number in seen:
            return False
        seen.add(block.number)
        edge += above
    return True


@remembered
def _returns_nothing(plan: ra.Plan, number: int) -> bool:
    """Whether a condition in the WHERE of a block never holds."""
    where = plan.blocks[number].where
    return any(rejects_null(condition.expression, frozenset()) for condition in where)


def _first_rows(block: ra.Block) -> bool:
    """Whether a LIMIT stops the read of a table: nothing above it needs more rows."""
    assert block.limit is not None
    more = block.aggregate or block.distinct or block.where or block.order or block.limit.order
    return not more and "over" not in block.functions


def may_be_bounded(plan: ra.Plan, scan: ra.Scan, names: frozenset[str]) -> bool:
    """Whether a condition that is not understood, or that stands where the scan's columns cannot be
    followed to, may bound a scan."""
    return any(
        _has_unknown_condition(plan, block.number)
        if relation is None
        else any(_not_known(on.expression, relation, names) for on in conditions_of(block))
        for block, relation in _reading_blocks(plan, scan)
    )


@remembered
def _has_unknown_condition(plan: ra.Plan, number: int) -> bool:
    """Whether a condition of a block is not understood."""
    conditions = conditions_of(plan.blocks[number])
    return any(_not_known(condition.expression, None, frozenset()) for condition in conditions)


def _reading_blocks(plan: ra.Plan, scan: ra.Scan) -> Iterator[tuple[ra.Block, int | None]]:
    """The block of a scan, and those that read its rows, each with the relation in it whose columns
    are not all known."""
    edge: list[tuple[int, int | None]] = [(plan.owner[scan.relation], None)]
    seen: set[int] = set()
    while edge:
        number, relation = edge.pop()
        yield plan.blocks[number], relation
        for reader in readers(plan, number) or ():
            item = plan.relations[reader]
            if reader in seen or not isinstance(item, ra.Derived | ra.CteReference):
                continue
            seen.add(reader)
            hidden = reader if item.query.names is None else None
            edge.append((plan.owner[reader], hidden))


def _not_known(expression: ra.Expression, hidden: int | None, names: frozenset[str]) -> bool:
    match expression:
        case ra.Call(name="and" | "or" | "not", args=args):
            return any(_not_known(arg, hidden, names) for arg in args)
        case ra.Call(args=args) if args:
            refs = columns(expression)
            if any(ref.relation == hidden and ref.name in names for ref in refs):
                return True
            return _unknown(expression) or (not refs and any(map(_is_template, args)))
        case _:
            return _is_template(expression)


def _is_template(expression: ra.Expression) -> bool:
    """Whether an expression is wholly a variable or template."""
    match expression:
        case ra.Parameter() | ra.Unknown():
            return True
        case ra.Call(name=name, args=()):
            return name.startswith(("{", "$", ":", "@"))
        case _:
            return False


_WRITTEN = "; the statement writes every partition that its query returns"


def each_partition(checked: CheckedStatement, scan: ra.Scan, names: frozenset[str]) -> str:
    """The words for a statement that reads each partition on purpose, as the end of a sentence;
    empty for any other."""
    for key in _keys(checked.plan.blocks[checked.plan.owner[scan.relation]]):
        if isinstance(key, ra.ColumnRef) and key.relation == scan.relation and key.name in names:
            return f"; the query groups by `{key.name}`"
    return _WRITTEN if writes_each_partition(checked.decided.reading.statement) else ""


def _keys(block: ra.Block) -> Iterator[ra.Expression]:
    """What a block groups by; a number is the place of an output."""
    places = {str(at): column.expression for at, column in enumerate(block.outputs, 1)}
    for key in block.keys:
        yield places.get(key.text, key) if isinstance(key, ra.Literal) else key
