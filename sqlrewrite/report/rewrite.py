"""The report of a rewrite: a line for each verdict, the explain diff, and the totals; as JSON,
version 1 (docs/reference.md, "The JSON report"); and statistics.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from sqlrewrite.find.summary import StatementSummary
from sqlrewrite.report import MARKS, Line, attributes, clean, counted, dumps, shown, size
from sqlrewrite.results import Candidate, Outcome, Problem, PrunesAlone, Removed, TableUse, Verdict
from sqlrewrite.run.file_rewriting import FileResult, Summary
from sqlrewrite.run.statistics import Statistics
from sqlrewrite.text.hosts import SUFFIXES as HOST_SUFFIXES
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import SQL_SUFFIXES

_STYLES = {
    Verdict.REWRITTEN: "bold green",
    Verdict.ALREADY_PRUNED: "cyan",
    Verdict.REJECTED: "bold yellow",
}
_OUTCOMES = {Outcome.PASS: "green", Outcome.FAIL: "red", Outcome.UNKNOWN: "yellow"}
_WIDTH = 60


class Detail(Struct, frozen=True):
    """How much is reported for each file. ``would``: nothing is written, so a statement "would be
    rewritten". ``like``: how many statements with the same reason are listed; the others are
    counted."""

    verdicts: frozenset[Verdict] = frozenset(Verdict)
    skipped: bool = True
    rules: bool = False
    plans: bool = True
    would: bool = False
    like: int = 10


WOULD = "would be rewritten"
NOT_REWRITTEN = "not rewritten"

NO_FILES = (
    f"no files of SQL found (*{', *'.join(SQL_SUFFIXES)}; with --include-python "
    f"*{', *'.join(HOST_SUFFIXES)} too) that git and `exclude` do not leave out"
)

ERRORS_ONLY = Detail(frozenset(), skipped=False, plans=False)
"""The detail under ``--quiet``."""

_NAMES = re.compile(r"\{\{.*?\}\}|`[^`]*`|'[^']*'|\"[^\"]*\"")
"""A quotation of the author's text in a message."""
_NO_UTF_8 = re.compile("[\udc80-\udcff]")
_SHOWN_AS_LATIN_1 = "has bytes that are not UTF-8: they are kept, and shown as Latin-1"

Reasons = Counter[tuple[str, str]]
"""How many statements and candidates are not rewritten, by verdict and reason without names."""


def file_lines(result: FileResult, detail: Detail, reasons: Reasons) -> Iterator[Line]:
    """The lines about one file, in the order of its text, then the plans. Counts the
    ``reasons``."""
    path, rewrite = shown(result.path), result.rewrite
    placed: list[tuple[int, int, list[Line]]] = [
        (error.line, error.column, [_problem(path, error, "error", "bold red")])
        for error in result.errors
    ]
    if rewrite and detail.skipped:
        for problem in rewrite.skipped:
            if _has_line("skipped", _NAMES.sub("…", problem.message), detail, reasons):
                line = _problem(path, problem, "skipped", "bold yellow")
                placed.append((problem.line, problem.column, [line]))
        for statement in result.statements:
            stays = statement.understood and bool(statement.reason)
            if stays and _has_line(NOT_REWRITTEN, statement.alike, detail, reasons):
                placed.append((statement.line, 0, [_not_rewritten(path, statement)]))
        placed += (
            (note.line, note.column, [_problem(path, note, "note", "bold cyan")])
            for note in rewrite.notes
        )
        placed += (
            (predicate.line, predicate.column, [_removed(path, predicate)])
            for predicate in rewrite.removed
        )
        if not rewrite.original.isascii() and _NO_UTF_8.search(rewrite.original):
            yield (f"{path}: ", ""), ("note", "bold cyan"), (f": {_SHOWN_AS_LATIN_1}", "")
    if rewrite:
        placed += (
            (
                candidate.fact.line,
                candidate.fact.column_number,
                list(_candidate(path, candidate, detail)),
            )
            for candidate in rewrite.candidates
            if candidate.verdict in detail.verdicts
            and _verdict_has_line(candidate, detail, reasons)
        )
    # Each branch of FROM … INSERT … INSERT repeats the candidates of the FROM.
    in_order = sorted(placed, key=lambda item: item[:2])
    for lines in dict.fromkeys(tuple(lines) for _, _, lines in in_order):
        yield from lines
    for plan in rewrite.plans if rewrite and detail.plans else ():
        yield ()
        yield ((f"plan of the statement at {path}:{plan.line}", "bold"),)
        for change in plan.lines:
            text = f"{change.mark} {change.text}".rstrip()
            yield ((text, MARKS.get(change.mark, "dim")),)


def _has_line(word: str, alike: str, detail: Detail, reasons: Reasons) -> bool:
    """Whether a statement gets its own line. Counts it."""
    reasons[word, alike] += 1
    return reasons[word, alike] <= detail.like


def _verdict_has_line(candidate: Candidate, detail: Detail, reasons: Reasons) -> bool:
    """Whether a candidate gets its own line: each rewritten one, and the first few for each
    reason."""
    match candidate.verdict:
        case Verdict.REWRITTEN:
            return True
        case Verdict.ALREADY_PRUNED:
            alike = "the query bounds the column as tightly"
        case Verdict.REJECTED:
            reason = candidate.reason
            alike = f"{reason.code} {reason.name}" if reason else ""
    return _has_line(candidate.verdict.value, alike, detail, reasons)


def _not_rewritten(path: str, statement: StatementSummary) -> Line:
    """Why a statement without a candidate is not rewritten, and what to do."""
    remedy = f": {statement.remedy}" if statement.remedy else ""
    place = ((f"{path}:{statement.line}: ", "bold"), (NOT_REWRITTEN, "yellow"))
    return (*place, (f": {statement.reason}{remedy}", ""))


def more_lines(reasons: Reasons, detail: Detail) -> Iterator[Line]:
    """How many statements and candidates with each reason have no line of their own."""
    for (word, alike), count in reasons.most_common():
        if count > detail.like:
            more = f"{count - detail.like:,}{' more' if detail.like else ''} {word}: "
            yield ((more, "yellow"), (alike, ""))
    if reasons and not detail.like:
        yield (("-v shows each with its place", "dim"),)


def last_lines(summary: Summary, *, would: bool, strip: bool = False) -> Iterator[Line]:
    """How many statements are rewritten, unchanged, skipped; before that, a note if there are none.
    ``would``: nothing was to be written. ``strip``: predicates were taken out."""
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
        style = "bold" if line.startswith(("---", "+++")) else MARKS.get(line[:1], "")
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
    old, new = ((text.rpartition(MARKER)[0] or text).split() for text in (removed.text, removed.by))
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
    """The note on a written predicate that the engine prunes without it too; else empty."""
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
    """The estimated saving and cost of a predicate, if both are known."""
    estimate = candidate.estimate if candidate.predicate is not None else None
    if estimate is None or estimate.saves is None or estimate.reads is None:
        return ""
    return (
        f": saves about {size(estimate.saves)} of {size(estimate.scans)} ({estimate.share:.0%}, by "
        f"{estimate.basis}) for {size(estimate.reads)} read again"
    )


def _use(use: TableUse) -> str:
    """A column as the FROM clause and the query name it: ``store_sales ss.ss_sold_date_sk``."""
    own = use.table.rpartition(".")[2].lower() == use.alias.lower()
    return f"{use.table}.{use.column}" if own else f"{use.table} {use.alias}.{use.column}"


_USE = "table alias column line column_number"


def json_report(results: Iterable[FileResult], summary: Summary) -> str:
    """The JSON report of files with their statements."""
    whole = {
        "version": 1,
        "summary": attributes(summary, "files changed statements candidates rewritten errors"),
        "files": [_file_json(result) for result in results],
    }
    if summary.statistics is not None:
        whole["statistics"] = statistics_json(summary.statistics)
    return dumps(whole)


def _file_json(result: FileResult) -> dict[str, Any]:
    rewrite = result.rewrite
    return {
        "path": result.path,
        "changed": result.changed,
        "rewritten": result.text,
        "errors": [*map(problem, result.errors)],
        "skipped": [*map(problem, rewrite.skipped if rewrite else ())],
        "removed": [*map(_removed_json, rewrite.removed if rewrite else ())],
        "notes": [*map(problem, rewrite.notes if rewrite else ())],
        "candidates": [*map(_candidate_json, rewrite.candidates if rewrite else ())],
        "statements": [*map(_statement_json, result.statements)],
    }


def _statement_json(statement: StatementSummary) -> dict[str, Any]:
    return {
        **attributes(statement, "line end_line kind understood joins"),
        "relations": [{"name": name, "known": is_known} for name, is_known in statement.relations],
        "reason": statement.reason or None,
    }


def problem(value: Problem) -> dict[str, Any]:
    """A problem, in any of our JSON reports."""
    return attributes(value, "code message line column")


def _removed_json(removed: Removed) -> dict[str, Any]:
    return {
        "statement": removed.statement,
        "predicate": removed.text,
        "refreshed": removed.refreshed,
        "replacement": removed.by or None,
        **attributes(removed, "reason line column"),
    }


def _candidate_json(candidate: Candidate) -> dict[str, Any]:
    estimate, engine = candidate.estimate, candidate.engine
    numbers = estimate and {
        "reads_bytes": estimate.reads,
        "reads_rows": estimate.rows,
        "scans_bytes": estimate.scans,
        "saves_bytes": estimate.saves,
        "share": round(estimate.share, 4),
        "basis": estimate.basis,
    }
    return {
        "statement": candidate.statement,
        "fact": attributes(candidate.fact, _USE),
        "dimension": attributes(candidate.dimension, _USE),
        "join": attributes(candidate.join, "type line column_number"),
        "verdict": candidate.verdict.value,
        "rules": [attributes(rule, "code name outcome message") for rule in candidate.rules],
        "predicate": candidate.predicate,
        "engine": engine.pruning.value if engine else "unknown",
        "engine_reason": engine.reason if engine else "",
        "estimate": numbers,
    }


_MOST_REASONS = 15
"""How many reasons are shown to people; the JSON report has all."""


def statistics_lines(counts: Statistics, *, would: bool) -> Iterator[Line]:
    """The counts, the reasons, most frequent first, and the most helpful remedy."""
    rejected = counts.candidates - counts.rewritten - counts.already_pruned
    joins, reasons = counts.joins, counts.in_order
    share = f"{100 * counts.understood / joins:.0f} % of those with a join" if joins else ""
    numbers = [
        ("statements", counts.statements, f"in {counted(counts.files, 'file')}"),
        ("with a join", joins, ""),
        ("understood", counts.understood, share),
        ("candidates", counts.candidates, "scans of a partitioned table that a join could bound"),
        (WOULD if would else "rewritten", counts.rewritten, ""),
        ("already pruned", counts.already_pruned, "the query or an earlier run does it"),
        ("rejected", rejected, ""),
    ]
    width = max(len(f"{count:,}") for _, count, _ in numbers)
    for name, count, note in numbers:
        more = f"  {note}" if note else ""
        yield ((f"{name:<18}  ", ""), (f"{count:>{width},}", "bold"), (more, "dim"))
    if not reasons:
        return
    yield ()
    yield (("why nothing was written, most frequent first", "bold"),)
    width = len(f"{reasons[0][1]:,}")
    for reason, count in reasons[:_MOST_REASONS]:
        yield ((f"  {count:>{width},}", "bold"), (f"  {clean(reason)}", ""))
    others = reasons[_MOST_REASONS:]
    if others:
        rest = sum(count for _, count in others)
        text = f"others, of {len(others):,} kinds (--format json has all)"
        yield ((f"  {rest:>{width},}", "bold"), (f"  {text}", "dim"))
    if counts.first is not None:
        remedy, count = counts.first
        text = f"{counted(count, 'scan')}: {clean(remedy)}"
        yield ()
        yield (("do first: ", "bold"), (text, "bold green"))


def statistics_json(counts: Statistics) -> dict[str, Any]:
    """The counts and reasons for JSON."""
    names = "files statements joins understood candidates rewritten already_pruned"
    return {
        **attributes(counts, names),
        "reasons": [{"reason": reason, "count": count} for reason, count in counts.in_order],
        "first": counts.first and {"do": counts.first[0], "scans": counts.first[1]},
    }
