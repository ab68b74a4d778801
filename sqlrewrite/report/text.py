"""The report of a rewrite for people: a line for each verdict, the explain diff, and the totals.

In come ``FileResult`` and ``Summary``, out go styled lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlrewrite.find.summary import StatementSummary
from sqlrewrite.report.catalog import size
from sqlrewrite.report.printer import Line, shown
from sqlrewrite.results import (
    Candidate,
    Outcome,
    PlanDiff,
    Problem,
    PrunesAlone,
    Removed,
    TableUse,
    Verdict,
)
from sqlrewrite.run.runner import FileResult, Summary
from sqlrewrite.text.hosts import SUFFIXES as HOST_SUFFIXES
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import SQL_SUFFIXES

_STYLES = {
    Verdict.REWRITTEN: "bold green",
    Verdict.ALREADY_PRUNED: "cyan",
    Verdict.REJECTED: "bold yellow",
}
_OUTCOMES = {Outcome.PASS: "green", Outcome.FAIL: "red", Outcome.UNKNOWN: "yellow"}
_MARKS = {"+": "green", "-": "red"}
_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is reported of each file. ``would``: nothing is written, so that a predicate would
    be written. Of statements with like reasons ``like`` are told, and the others counted."""

    verdicts: frozenset[Verdict] = frozenset(Verdict)
    skipped: bool = True
    rules: bool = False
    plans: bool = True
    would: bool = False
    like: int = 10


WOULD = "would be rewritten"
NOT_REWRITTEN = "not rewritten"

NO_FILES = (
    f"no files of SQL found ({', '.join(f'*{it}' for it in SQL_SUFFIXES)}; with --include-python "
    f"{', '.join(f'*{it}' for it in HOST_SUFFIXES)} too) that git and `exclude` do not leave out"
)

ERRORS_ONLY = Detail(frozenset(), skipped=False, plans=False)
"""The detail under ``--quiet``."""

_NO_UTF_8 = re.compile("[\udc80-\udcff]")
_SHOWN_AS_LATIN_1 = "it has bytes that are not UTF-8; they stay, and are shown as Latin-1"

Reasons = Counter[tuple[str, str]]
"""How many statements and candidates stay as they are, by the word for that and the reason without
names."""


def file_lines(result: FileResult, detail: Detail, reasons: Reasons) -> Iterator[Line]:
    """The lines about one file, in the order of its text, then the plans. Counts in ``reasons`` the
    statements that stay as they are."""
    path = shown(result.path)
    done, placed = result.rewrite, list[tuple[int, int, list[Line]]]()
    problems_by_kind = [(result.errors, "error", "bold red")]
    if done and detail.skipped:
        problems_by_kind.append((done.notes, "note", "bold cyan"))
        for problem in done.skipped:
            if _is_told("skipped", problem.message, detail, reasons):
                line = _problem(path, problem, "skipped", "bold yellow")
                placed.append((problem.line, problem.column, [line]))
        for statement in result.statements:
            stays = statement.understood and bool(statement.reason)
            if stays and _is_told(NOT_REWRITTEN, statement.alike, detail, reasons):
                placed.append((statement.line, 0, [_not_rewritten(path, statement)]))
    placed += (
        (problem.line, problem.column, [_problem(path, problem, word, style)])
        for problems, word, style in problems_by_kind
        for problem in problems
    )
    if done and detail.skipped:
        placed += ((it.line, it.column, [_removed(path, it)]) for it in done.removed)
    if done:
        placed += (
            (it.fact.line, it.fact.column_number, list(_candidate(path, it, detail)))
            for it in done.candidates
            if it.verdict in detail.verdicts and _verdict_is_told(it, detail, reasons)
        )
    if done and detail.skipped and not done.original.isascii() and _NO_UTF_8.search(done.original):
        yield (f"{path}: ", ""), ("note", "bold cyan"), (f": {_SHOWN_AS_LATIN_1}", "")
    # Each branch of a FROM … INSERT … INSERT has the candidates of what is before it.
    in_order = sorted(placed, key=lambda item: item[:2])
    for lines in dict.fromkeys(tuple(lines) for _, _, lines in in_order):
        yield from lines
    if done and detail.plans:
        yield from _plans(path, done.plans)


def _is_told(word: str, alike: str, detail: Detail, reasons: Reasons) -> bool:
    """Whether a statement has a line of its own. Counts it."""
    reasons[word, alike] += 1
    return reasons[word, alike] <= detail.like


def _verdict_is_told(candidate: Candidate, detail: Detail, reasons: Reasons) -> bool:
    """Whether a candidate has a line of its own: each that is written, and of others the first few
    with a like reason."""
    match candidate.verdict:
        case Verdict.REWRITTEN:
            return True
        case Verdict.ALREADY_PRUNED:
            alike = "the query bounds the column as tightly"
        case Verdict.REJECTED:
            reason = candidate.reason
            alike = f"{reason.code} {reason.name}" if reason else ""
    return _is_told(candidate.verdict.value, alike, detail, reasons)


def _not_rewritten(path: str, statement: StatementSummary) -> Line:
    """Why a statement without a candidate stays as it is, and what to do."""
    remedy = f": {statement.remedy}" if statement.remedy else ""
    place = ((f"{path}:{statement.line}: ", "bold"), (NOT_REWRITTEN, "yellow"))
    return (*place, (f": {statement.reason}{remedy}", ""))


def more_lines(reasons: Reasons, detail: Detail) -> Iterator[Line]:
    """How many more statements and candidates stay as they are than have a line, by reason."""
    for (word, alike), count in reasons.most_common():
        if count > detail.like:
            more = f"{count - detail.like:,}{' more' if detail.like else ''} {word}: "
            yield ((more, "yellow"), (alike, ""))


def last_lines(summary: Summary, *, would: bool, strip: bool = False) -> Iterator[Line]:
    """How many statements are rewritten, unchanged, skipped; before it, why that may be none.

    ``would``: whether nothing was to be written. ``strip``: whether predicates were taken out.
    """
    if not summary.files:
        yield ((NO_FILES, "yellow"),)
    verb = f"{'would be ' * would}{'stripped' if strip else Verdict.REWRITTEN.value}"
    rewritten, skipped = summary.statements_rewritten, summary.skipped
    yield (
        (f"{rewritten} {verb}", "bold green" if rewritten else ""),
        (f", {summary.statements_unchanged} unchanged, ", ""),
        (f"{skipped} skipped", "bold yellow" if skipped else ""),
    )


def coloured_diff(diff: str) -> Iterator[Line]:
    """A unified diff as git colours it."""
    for line in diff.split("\n")[:-1]:
        style = "bold" if line.startswith(("---", "+++")) else _MARKS.get(line[:1], "")
        yield ((line, "cyan" if line.startswith("@@") else style),)


def _place(path: str, line: int, column: int, word: str, style: str) -> Line:
    return ((f"{path}:{line}:{column}: ", "bold"), (word, style), (" ", ""))


def _problem(path: str, problem: Problem, word: str, style: str) -> Line:
    if problem.code in ("io-error", "internal-error"):  # the file as a whole, without a place
        return ((f"{path}: ", "bold"), (word, style), (f": {problem.message}", ""))
    code = f"{problem.code} " if problem.code else ""
    place = _place(path, problem.line, problem.column, word, style)
    return (*place, (code, "bold"), (problem.message, ""))


def _removed(path: str, removed: Removed) -> Line:
    """A predicate of an earlier run that was removed or refreshed."""
    word = "refreshed" if removed.refreshed else "removed"
    place = _place(path, removed.line, removed.column, word, "bold green")
    old, new = ((it.rpartition(MARKER)[0] or it).split() for it in (removed.text, removed.by))
    what = _change(old, new) if new and new != old else shortened(" ".join(old))
    return (*place, (f"{what}: {removed.reason}", ""))


def _change(old: Sequence[str], new: Sequence[str]) -> str:
    """The beginning of a predicate, and both versions from three words before they differ."""
    pairs = list(zip(old, new, strict=False))
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs))
    start = same - 3 if same > 6 else 0
    head = f"{' '.join(old[:3])} … " if start else ""
    one, other = (shortened(" ".join(words[start:])) for words in (old, new))
    return f"{head}{one} → {other}"


def shortened(text: str) -> str:
    """A text on one line, its end left out where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1].rstrip()}…"


def _candidate(path: str, candidate: Candidate, detail: Detail) -> Iterator[Line]:
    verdict, fact = candidate.verdict, candidate.fact
    word = WOULD if verdict is Verdict.REWRITTEN and detail.would else verdict.value
    place = _place(path, fact.line, fact.column_number, word, _STYLES[verdict])
    by = candidate.join.type if candidate.join.type == "filter" else f"{candidate.join.type} join"
    keys = f"{_use(fact)} ← {_use(candidate.dimension)} ({by})"
    reason = candidate.reason if verdict is Verdict.REJECTED else None
    if reason is None:
        yield (*place, (f"{keys}{_saved(candidate)}", ""), (_needless(candidate), "dim"))
    else:
        yield (*place, (f"{keys}: ", ""), (reason.code, "bold"), (f" {reason.message}", ""))
    if not detail.rules:
        return
    for rule in candidate.rules:
        outcome = (f"    {rule.outcome.value:<7} ", _OUTCOMES[rule.outcome])
        yield (outcome, (f"{rule.code} {rule.name}", "bold"), (f": {rule.message}", ""))
    if candidate.predicate is not None:
        yield (("    predicate ", "dim"), (" ".join(candidate.predicate.split()), ""))


def _needless(candidate: Candidate) -> str:
    """That the engine prunes by itself, too, for a predicate that is written."""
    engine = candidate.engine
    if candidate.verdict is not Verdict.REWRITTEN or engine is None:
        return ""
    match engine.pruning:
        case PrunesAlone.PRUNES:
            return f" ({engine.name} prunes this by itself; --when missed leaves it out)"
        case PrunesAlone.MAY_PRUNE:
            by = "where the join is a broadcast join" if engine.name == "Spark" else "by itself"
            return f" ({engine.name} prunes this too {by}; --when missed leaves it out)"
        case _:
            return ""


def _saved(candidate: Candidate) -> str:
    """The estimated saving and cost of a predicate, where both are known."""
    found = candidate.estimate if candidate.predicate is not None else None
    if found is None or found.saves is None or found.reads is None:
        return ""
    return (
        f": saves about {size(found.saves)} of {size(found.scans)} ({found.share:.0%}, by "
        f"{found.basis}) for {size(found.reads)} read again"
    )


def _use(use: TableUse) -> str:
    """A column as the FROM clause and the query name it: ``store_sales ss.ss_sold_date_sk``."""
    own = use.table.rpartition(".")[2].lower() == use.alias.lower()
    return f"{use.table}.{use.column}" if own else f"{use.table} {use.alias}.{use.column}"


def _plans(path: str, plans: Iterable[PlanDiff]) -> Iterator[Line]:
    for plan in plans:
        yield ()
        yield ((f"plan of the statement at {path}:{plan.line}", "bold"),)
        for line in plan.lines:
            yield ((f"{line.mark} {line.text}".rstrip(), _MARKS.get(line.mark, "dim")),)
