"""The result of verifying a rewriting: for people, as JSON, and as a page with bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from sqlrewrite.report import Line, Printer, attributes, dumps, print_table, shown, size
from sqlrewrite.report.html_pages import bar, cells, page, table
from sqlrewrite.results import Verdict
from sqlrewrite.run.file_rewriting import FileResult
from sqlrewrite.spark.plans.scans import TableScan
from sqlrewrite.spark.rows.bags import Comparison
from sqlrewrite.spark.rows.sample import Sampled
from sqlrewrite.spark.rows.verify import Verified, VerifyOutcome

VERSION = 1

_NAMED = 4
"""How many partitions of a sample are named in the text report."""

_MEASURES = ("partitions", "files", "row_groups", "bytes", "rows")
_NOT_ALWAYS = frozenset({"partitions", "row_groups"})


def print_verified(printer: Printer, verified: Verified) -> None:
    """Prints the result for one statement: its outcome, rows that differ, and what was read in what
    time."""
    printer.print(_outcome(verified))
    rows = [
        (name, measure, before, after)
        for name, measure, (before, _), (after, _) in _measured(verified)
    ]
    if rows:
        print_table(printer, ("scan", "read", ">before", ">after"), rows)


def last_line(statements: Sequence[Verified]) -> Line:
    """How many statements were run, and how many of them read less."""
    run = [verified for verified in statements if verified.outcome is not VerifyOutcome.SKIPPED]
    if not run:
        return (("no query gets a predicate, so none was run", "yellow"),)
    changes = Counter(_change(verified) for verified in run)
    parts = (f"{changes[word]:,} {word}" for word in _CHANGES if changes[word])
    return ((f"{len(run):,} rewritten: {', '.join(parts)}", "bold"),)


_CHANGES = ("read less", "the same", "read more", "not measured")


def _change(verified: Verified) -> str:
    """Whether the rewriting of a statement reads less: fewer partitions, files or rows."""
    both = [(scan.before, scan.after) for scan in verified.scans if scan.before and scan.after]
    if not both:
        return "not measured"
    for measure in ("partitions", "files", "rows"):
        sides = [(getattr(old, measure) or 0, getattr(new, measure) or 0) for old, new in both]
        before, after = (sum(side) for side in zip(*sides, strict=True))
        if before != after:
            return "read less" if after < before else "read more"
    return "the same"


def verified_json(verifications: Iterable[Verified], files: Iterable[FileResult] = ()) -> str:
    """The statements that were run, and those that stay as they are, as JSON."""
    statements = [_data(verified) for verified in verifications]
    not_rewritten = [entry for file in files for entry in _not_rewritten(file)]
    whole = {"version": VERSION, "statements": statements, "not_rewritten": not_rewritten}
    return dumps(whole)


def _not_rewritten(file: FileResult) -> list[dict[str, Any]]:
    """The statements and candidates of a file that stay as they are, in the order of its text."""
    if file.rewrite is None:
        return []
    reasons = [
        (statement.line, statement.reason, statement.remedy)
        for statement in file.statements
        if statement.understood and statement.reason
    ]
    unread = (*file.rewrite.errors, *file.rewrite.skipped)
    reasons += [(problem.line, problem.message, "") for problem in unread]
    for candidate in file.rewrite.candidates:
        if candidate.verdict is not Verdict.REWRITTEN:
            rule = candidate.reason if candidate.verdict is Verdict.REJECTED else None
            reason = candidate.verdict.value if rule is None else f"{rule.code} {rule.message}"
            reasons.append((candidate.fact.line, reason, ""))
    return [
        {"path": file.path, "line": line, "reason": reason, "remedy": remedy or None}
        for line, reason, remedy in sorted(dict.fromkeys(reasons))
    ]


def verified_page(statements: Iterable[Verified]) -> str:
    """The results as a page, with a bar for each number."""
    return page("What the rewritten queries read", map(_section, statements))


def _outcome(verified: Verified) -> Iterator[Line]:
    comparison = verified.comparison
    count = (
        f" ({comparison.before:,})" if comparison and verified.outcome is VerifyOutcome.SAME else ""
    )
    yield (
        (f"{shown(verified.path)}:{verified.line}: ", "bold"),
        (f"{verified.outcome.value}{count}{_on(verified.sample)}", _style(verified.outcome)),
    )
    for sample in verified.sample:
        yield from _taken(sample)
    for line in verified.error.splitlines():
        yield ((f"    {line}", ""),)
    if comparison is None:
        return
    if verified.outcome is VerifyOutcome.SAME and comparison.before == 0:
        yield (("    no row on either side, which proves little", "yellow"),)
    if verified.outcome in (VerifyOutcome.DIFFERENT, VerifyOutcome.UNSTABLE):
        yield from _difference(comparison)


def _style(outcome: VerifyOutcome) -> str:
    if outcome.differs:
        return "bold red"
    same = outcome in (VerifyOutcome.SAME, VerifyOutcome.TIES)
    return "bold green" if same else "bold yellow"


def _on(sample: Sequence[Sampled]) -> str:
    """``on a sample of 20 of 1,823 partitions``, if the query read a sample."""
    smaller = [fact for fact in sample if len(fact.taken) < fact.partitions]
    if not smaller:
        return ""
    only = smaller[0] if len(smaller) == 1 else None
    of = f" of {len(only.taken):,} of {only.partitions:,} partitions" if only else ""
    return f" on a sample{of}"


def _taken(sampled: Sampled) -> Iterator[Line]:
    """The sample of a fact, and whether it could reveal a difference."""
    name = sampled.table.removeprefix("spark_catalog.")
    if sampled.whole:
        yield ((f"    {name} is read whole: {sampled.whole}", "yellow"),)
        return
    count = len(sampled.taken)
    text = f"    {name}: {count:,} of {sampled.partitions:,} partitions"
    if sampled.kept is not None:
        text += f", {sampled.kept:,} that a predicate keeps and {count - sampled.kept:,} that it"
        text += " does not"
    more = ", …" if count > _NAMED else ""
    yield ((text, ""), (f" ({', '.join(sampled.taken[:_NAMED])}{more})", "dim"))
    if sampled.kept == count and count:
        says = "the predicate keeps all of them, so no row could differ: take a larger sample"
        yield ((f"    {says}", "yellow"),)


def _difference(comparison: Comparison) -> Iterator[Line]:
    yield ((f"    {comparison.before:,} rows before, {comparison.after:,} after", ""),)
    yield ((f"    {', '.join(comparison.columns)}", "dim"),)
    for mark, style, count, rows in (
        ("-", "red", comparison.lost, comparison.lost_rows),
        ("+", "green", comparison.added, comparison.added_rows),
    ):
        for row in rows:
            yield ((f"  {mark} {', '.join(row)}", style),)
        if count > len(rows):
            yield ((f"  {mark} … {count - len(rows):,} more", style),)
    if comparison.rounding is not None:
        yield ((f"    {rounding(comparison.rounding)}", "yellow"),)


def rounding(tolerance: float) -> str:
    """The message if only the last digits of floating-point values differ."""
    return (
        "only floating-point values differ, and by no more than the order of addition explains: "
        f"--float-tolerance {tolerance:g} accepts this"
    )


_Number = tuple[str, float]


def _measured(verified: Verified) -> Iterator[tuple[str, str, _Number, _Number]]:
    """The measures of each scan, and the time: name, and both values as text and number."""
    for scan in verified.scans:
        name = scan.table.removeprefix("spark_catalog.")
        sides = [side for side in (scan.before, scan.after) if side is not None]
        for measure in _MEASURES:
            if measure in _NOT_ALWAYS and all(getattr(side, measure) is None for side in sides):
                continue
            label = measure.replace("_", " ")
            if measure == "partitions" and scan.partitions is not None:
                label = f"partitions of {scan.partitions:,}"
            yield name, label, _value(scan.before, measure), _value(scan.after, measure)
            name = ""
    if verified.shuffled is not None and any(verified.shuffled):
        both = [(size(count), float(count)) for count in verified.shuffled]
        yield "query", "bytes shuffled", both[0], both[1]
    if verified.seconds_before and verified.seconds_after:
        before, after = verified.medians
        runs = len(verified.seconds_before)
        label = f"seconds, median of {runs}" if runs > 1 else "seconds"
        yield "query", label, (f"{before:.2f}", before), (f"{after:.2f}", after)


def _value(scan: TableScan | None, measure: str) -> _Number:
    if scan is None:
        return "", 0.0
    value = getattr(scan, measure)
    if value is None:
        return "not reported", 0.0
    return (size(value) if measure == "bytes" else f"{value:,}"), float(value)


def _section(verified: Verified) -> str:
    outcome = f"{verified.outcome.value}{_on(verified.sample)}"
    place = escape(f"{verified.path}:{verified.line}: {outcome}")
    rows = []
    for name, measure, before, after in _measured(verified):
        most = max(before[1], after[1]) or 1.0
        for number, ((label, value), side) in enumerate(((before, "old"), (after, "new"))):
            named = (name, measure) if number == 0 else ("", "")
            labels = cells((*named, "before" if side == "old" else "after"))
            drawn = bar([(value / most, side)])
            rows.append(f'<tr>{labels}<td class="n">{escape(label)}</td>{drawn}</tr>')
    comparison = verified.comparison
    differing = f"<p>{escape(verified.error)}</p>" if verified.error else ""
    if comparison is not None and not comparison.same:
        both = [("-", *row) for row in comparison.lost_rows] + [
            ("+", *row) for row in comparison.added_rows
        ]
        differing = table(("", *comparison.columns), both)
    return f"<h2>{place}</h2>{differing}<table>{''.join(rows)}</table>"


def _data(verified: Verified) -> dict[str, Any]:
    shuffled = verified.shuffled and dict(zip(("before", "after"), verified.shuffled, strict=True))
    return {
        **attributes(verified, "path line"),
        "outcome": verified.outcome.name.lower(),
        "error": verified.error or None,
        "rows": _rows(verified.comparison),
        "sample": [
            attributes(sample, "table partitions taken kept")
            | {"read_whole_because": sample.whole or None}
            for sample in verified.sample
        ],
        "scans": [
            attributes(scan, "table partitions")
            | {"before": _read(scan.before), "after": _read(scan.after)}
            for scan in verified.scans
        ],
        "shuffled_bytes": shuffled,
        "seconds": {"before": verified.seconds_before, "after": verified.seconds_after},
    }


def _rows(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    samples = {"lost_sample": comparison.lost_rows, "added_sample": comparison.added_rows}
    return attributes(comparison, "before after lost added tolerance rounding") | samples


def _read(scan: TableScan | None) -> dict[str, Any] | None:
    return None if scan is None else attributes(scan, " ".join(_MEASURES))
