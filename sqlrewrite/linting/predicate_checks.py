"""DPP002 and DPP003: predicates of an earlier run that would not be written like that now.

A managed predicate filters rows. While it follows from the query it removes none that matter; after
a change of the query it may, so both are errors. One that follows, and that
is not needed because the engine finds it by itself (``when = missed``), is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.copies import replace
from sqlrewrite.decision.statement_decision import bounded_columns, left_to_engine, stale
from sqlrewrite.linting.checked_statement import CheckedStatement
from sqlrewrite.linting.findings import Finding, Severity
from sqlrewrite.results import Outcome, Verdict
from sqlrewrite.text.markers import MARKER

ASK = "`dpp-rewrite --predicate values --write` with --master or --remote asks Spark for the keys"


def check(checked: CheckedStatement) -> Iterator[Finding]:
    """The managed predicates of a statement that a rewrite would change or take out."""
    if not checked.managed:
        return
    all_of_it = checked.unrestricted is checked.decided
    unwanted = checked.replaced if all_of_it else stale(checked.stripped, checked.unrestricted)
    reasons = left_to_engine(checked.candidates)
    unasked, predicates = checked.unrestricted.unasked, checked.stripped.removed_predicates
    for span in checked.managed:
        if span not in checked.replaced:
            continue
        about, before = predicates[span].value, predicates[span].text
        off, code = f"take its marker `{MARKER}` off: then it is yours", "DPP003"
        if span not in unwanted:
            whys = (reasons[column] for column in bounded_columns(about) if column in reasons)
            what = f"is not needed: {next(whys, 'the engine prunes by itself')}"
            help_ = "`dpp-rewrite --when missed --write` takes it out"
        elif unwanted[span]:
            code, what = "DPP002", f"is out of date: {_changed(before, unwanted[span])}"
            help_ = f"`dpp-rewrite --write` derives it anew; if you wrote it so on purpose, {off}"
        elif about in unasked:
            code, what = "DPP002", "has the keys of another query: it may remove rows"
            help_ = ASK
        else:
            what = f"no longer follows from the query: {_why(checked, about)}"
            help_ = f"`dpp-rewrite --write` takes it out; to keep it, {off}"
        fix = None if help_ is ASK else checked.fix
        finding = checked.finding(
            code, span, about, f"the predicate on `{about}` {what}", help_, fix
        )
        # One that is not needed removes no row: it only makes the query longer.
        yield finding if span in unwanted else replace(finding, severity=Severity.WARNING)


def _changed(before: str, now: str) -> str:
    """The difference between a predicate and the one that follows now, in words."""
    (ours, _, _), (theirs, _, filtered) = (
        text.partition(" where ")
        for text in (" ".join(text.lower().split()) for text in (before, now))
    )
    if ours != theirs:
        return "the join has changed, so the predicate may remove rows"
    change = "has changed" if filtered else "is gone"
    return f"the filter {change}, so the predicate may remove rows"


def _why(checked: CheckedStatement, about: str) -> str:
    """Why no predicate is written for a column."""
    if not checked.decided.matters:
        return "the catalog has no partitioned table of this query (is it the right catalog?)"
    qualifier, _, column = about.rpartition(".")
    for candidate in checked.candidates:
        named = candidate.fact.column == column.lower().strip("`")
        if named and qualifier.lower() in (
            "",
            candidate.fact.alias.lower(),
            candidate.fact.table.lower(),
        ):
            if candidate.verdict is Verdict.REJECTED:
                against = (rule for rule in candidate.rules if rule.outcome is not Outcome.PASS)
                rule = next(against)
                return f"{rule.message} ({rule.code})"
            if candidate.verdict is Verdict.ALREADY_PRUNED:
                return "the query bounds the column by itself"
    return "the join is gone, and no other bounds the column"
