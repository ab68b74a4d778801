"""The words of the text report, and how it is coloured."""

from __future__ import annotations

import io
import re

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.copies import replace
from sqlrewrite.find.summary import StatementSummary
from sqlrewrite.report import Printer, plain, print_table, size
from sqlrewrite.report.rewrite import (
    ERRORS_ONLY,
    Detail,
    Reasons,
    coloured_diff,
    file_lines,
    last_lines,
    more_lines,
)
from sqlrewrite.results import (
    Candidate,
    JoinUse,
    Outcome,
    Problem,
    Removed,
    Rewrite,
    RuleResult,
    TableUse,
    Verdict,
)
from sqlrewrite.run.file_rewriting import FileResult, Summary
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import Source


def result(*candidates: Candidate, errors: tuple[Problem, ...] = ()) -> FileResult:
    rewrite = Rewrite("x", "x", 1, candidates, errors, (), ())
    return FileResult("q.sql", b"x", Source("x"), rewrite)


def candidate(line: int, verdict: Verdict, *outcomes: Outcome, alias: str = "D") -> Candidate:
    return Candidate(
        0,
        TableUse("lake.db.Sales", "sales", "day", line, 5),
        TableUse("date_dim", alias, "d_date", line + 1, 6),
        JoinUse("left semi", line + 1, 1),
        verdict,
        tuple(
            RuleResult(f"DPP10{n}", "r", outcome, f"reason {n}")
            for n, outcome in enumerate(outcomes)
        ),
    )


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            candidate(3, Verdict.REWRITTEN, Outcome.PASS),
            "q.sql:3:5: rewritten lake.db.Sales.day ← date_dim D.d_date (left semi join)",
        ),
        (
            candidate(3, Verdict.ALREADY_PRUNED, Outcome.PASS, alias="DATE_DIM"),
            "q.sql:3:5: already-pruned lake.db.Sales.day ← date_dim.d_date (left semi join)",
        ),
        (
            candidate(3, Verdict.REJECTED, Outcome.PASS, Outcome.FAIL, Outcome.FAIL),
            "q.sql:3:5: rejected lake.db.Sales.day ← date_dim D.d_date (left semi join): "
            "DPP101 reason 1",
        ),
        (
            candidate(3, Verdict.REJECTED, Outcome.PASS, Outcome.UNKNOWN),
            "q.sql:3:5: rejected lake.db.Sales.day ← date_dim D.d_date (left semi join): "
            "DPP101 reason 1",
        ),
    ],
)
def test_a_line_a_candidate(given: Candidate, line: str) -> None:
    assert [plain(file_line) for file_line in file_lines(result(given), Detail(), Reasons())] == [
        line
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "f.p IN (SELECT d2.k FROM d AS d2 WHERE d2.x = 7 AND d2.y = 1)",
            "f.p IN (SELECT d2.k FROM d AS d2 WHERE d2.x = 1 AND d2.y = 1)",
            "q.sql:1:9: refreshed f.p IN (SELECT … WHERE d2.x = 7 AND d2.y = 1) → WHERE d2.x = 1 "
            "AND d2.y = 1): why",
        ),
        ("f.p IN (SELECT k)", "f.p IN (SELECT l)", "f.p IN (SELECT k) → f.p IN (SELECT l): why"),
        ("f.p IN (1)", "f.p IN (1, 2)", "f.p IN (1) → f.p IN (1, 2): why"),
        ("f.p IN\n (1)", "f.p IN (1)", "q.sql:1:9: refreshed f.p IN (1): why"),
        ("f.p IN (1)", "", "q.sql:1:9: removed f.p IN (1): why"),
    ],
)
def test_what_was_replaced_is_shown_with_what_replaced_it(old: str, new: str, line: str) -> None:
    removed = Removed(0, f"{old} {MARKER}", 1, 9, f"{new} {MARKER}" if new else "", "why")
    rewrite = Rewrite("x", "x", 1, (), (), (), (), (removed,))
    (file_line,) = file_lines(FileResult("q.sql", b"x", Source("x"), rewrite), Detail(), Reasons())
    assert plain(file_line).endswith(line)


def statement(line: int, reason: str, alike: str, remedy: str = "") -> StatementSummary:
    return StatementSummary(line, line, "query", True, (), reason, True, alike, remedy)


def test_a_statement_that_stays_has_its_reason_and_what_to_do() -> None:
    file = FileResult("q.sql", b"x", Source("x"), Rewrite("x", "x", 1))
    changed = replace(
        file,
        statements=(
            statement(3, "u is not in the catalog", "tables", "declare u"),
            statement(7, "it joins nothing", "it joins nothing"),
        ),
    )
    assert [plain(line) for line in file_lines(changed, Detail(), Reasons())] == [
        "q.sql:3: not rewritten: u is not in the catalog: declare u",
        "q.sql:7: not rewritten: it joins nothing",
    ]
    assert not list(file_lines(changed, ERRORS_ONLY, Reasons()))


def test_of_like_verdicts_ten_are_told_and_the_rest_counted() -> None:
    verdicts = (Verdict.REWRITTEN, Verdict.REJECTED, Verdict.ALREADY_PRUNED)
    file = result(
        *(candidate(n, verdict, Outcome.FAIL) for verdict in verdicts for n in range(1, 13))
    )
    reasons = Reasons()
    assert len(list(file_lines(file, Detail(), reasons))) == 12 + 10 + 10
    assert [plain(line) for line in more_lines(reasons, Detail())] == [
        "2 more rejected: DPP100 r",
        "2 more already-pruned: the query bounds the column as tightly",
    ]


def test_a_line_is_told_once() -> None:
    """Each branch of a FROM … INSERT … INSERT has the same candidates."""
    one, other = (candidate(3, Verdict.REJECTED, Outcome.FAIL, alias=alias) for alias in "de")
    assert len(list(file_lines(result(one, other, one, other), Detail(), Reasons()))) == 2


def test_of_like_reasons_ten_are_told_and_the_rest_counted() -> None:
    statements = tuple(statement(n, f"t{n} is not in the catalog", "tables") for n in range(1, 13))
    unread = tuple(Problem("", "a template", n, 1) for n in range(20, 40))
    rewrite = Rewrite("x", "x", 1, skipped=unread)
    file = FileResult("q.sql", b"x", Source("x"), rewrite, statements=statements)
    reasons = Reasons()
    assert len(list(file_lines(file, Detail(), reasons))) == 20
    assert [plain(line) for line in more_lines(reasons, Detail())] == [
        "10 more skipped: a template",
        "2 more not rewritten: tables",
    ]
    counted = replace(Detail(), like=0)  # as with --check
    reasons = Reasons()
    assert not list(file_lines(file, counted, reasons))
    assert [plain(line) for line in more_lines(reasons, counted)] == [
        "20 skipped: a template",
        "12 not rewritten: tables",
        "-v shows each with its place",
    ]


def test_a_predicate_would_be_written() -> None:
    lines = file_lines(result(candidate(3, Verdict.REWRITTEN)), Detail(would=True), Reasons())
    assert plain(next(lines)).startswith("q.sql:3:5: would be rewritten lake.db.Sales.day")


PLANS = """
CREATE TABLE f (x INT) PARTITIONED BY (p INT);
CREATE TABLE d (k INT, c INT);
"""


def test_the_plan_has_what_is_new_and_a_heading_for_the_query() -> None:
    query = "WITH c AS (SELECT * FROM d WHERE d.c = 1) SELECT f.x FROM f JOIN c ON f.p = c.k"
    catalog = Catalog.from_ddl(PLANS)
    rewriting = rewrite(query, catalog)
    lines = rewriting.explain().splitlines()
    assert "  Query" in lines
    assert any("Scan of CTE c" in line for line in lines)
    assert sum(line.startswith("+") for line in lines) == 1
    assert rewrite(rewriting.sql, catalog).explain() == ""
    other = "SELECT g.x FROM f AS g JOIN d ON g.p = d.k WHERE d.c = 2"
    more = rewrite(f"{rewriting.sql} UNION ALL {other}", catalog)
    marks = [line[0] for line in more.explain().splitlines() if "Filter" in line and " IN " in line]
    assert sorted(marks) == [" ", "+"]


def test_in_the_order_of_the_file() -> None:
    file = result(
        candidate(9, Verdict.REWRITTEN),
        candidate(2, Verdict.REJECTED),
        errors=(Problem("DPP000", "no", 4, 1),),
    )
    places = [plain(line).split(" ")[0] for line in file_lines(file, Detail(), Reasons())]
    assert places == ["q.sql:2:5:", "q.sql:4:1:", "q.sql:9:5:"]


@pytest.mark.parametrize(
    ("summary", "would", "line"),
    [
        (Summary(files=1), False, "0 rewritten, 0 unchanged, 0 skipped"),
        (
            Summary(
                files=2,
                candidates=1,
                statements_rewritten=3,
                statements_unchanged=41,
                skipped=1,
            ),
            False,
            "3 rewritten, 41 unchanged, 1 skipped",
        ),
        (
            Summary(files=2, statements_rewritten=3),
            True,
            "3 would be rewritten, 0 unchanged, 0 skipped",
        ),
    ],
)
def test_the_last_line_sums_up(summary: Summary, would: bool, line: str) -> None:
    assert [plain(last_line) for last_line in last_lines(summary, would=would)] == [line]
    stripped = [plain(last_line) for last_line in last_lines(summary, would=would, strip=True)]
    assert stripped == [line.replace("rewritten", "stripped")]


def test_the_sum_counts_each_statement_once() -> None:
    problem = Problem("DPP000", "no", 1, 1)
    candidates = tuple(candidate(1, Verdict.REWRITTEN) for _ in range(3))
    rewrite = Rewrite("a", "b", 5, candidates, (problem,), (problem,), ())
    summary = Summary()
    summary.add(FileResult("q", b"a", Source("a"), rewrite))
    summary.add(FileResult("r", failure=problem))
    assert (summary.files, summary.changed, summary.candidates, summary.rewritten) == (2, 1, 3, 3)
    counts = (summary.statements_rewritten, summary.statements_unchanged, summary.skipped)
    assert counts == (1, 2, 3)
    assert summary.errors == 2


def test_an_encoding_without_arrows() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="latin-1")
    Printer(stream, colour=False).print([(("a ← é", ""),)])
    assert raw.getvalue() == b"a \\u2190 \xe9\n"


def test_a_diff_has_its_colours() -> None:
    stream = io.StringIO()
    diff = "--- q\n+++ q\n@@ -1 +1 @@\n-a\n+[b]c\r\n d\n"
    Printer(stream, colour=True).print(coloured_diff(diff))
    assert "\x1b[31m-a\x1b[0m\n" in stream.getvalue()
    assert "\x1b[32m+[b]c" in stream.getvalue()
    assert "\x1b[36m@@ -1 +1 @@\x1b[0m\n d" not in stream.getvalue()


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, ""),
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (40_150_000_000, "37.4 GiB"),
        (1 << 62, "4096.0 PiB"),
    ],
)
def test_a_size_is_told_in_its_unit(count: int | None, text: str) -> None:
    assert size(count) == text


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", ["30", "80"])
def test_a_terminal_breaks_no_word(monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "xterm")
    words = "q.sql:4: not rewritten: warehouse.orders_of_today is not in the catalog".split()
    cells = ("daily_store_sales", "day,region", "warehouse/ddl.sql")
    for colour in (False, True):
        stream = Terminal()
        printer = Printer(stream, colour=colour)
        printer.line((" ".join(words), ""))
        print_table(printer, ("name", "partitioned by", "source"), [cells])
        shown = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
        assert set(words) | set(cells) <= set(shown.split())
