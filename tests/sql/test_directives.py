"""``-- dpp-rewrite: …`` comments: what they cover, and that what they cover stays as it is."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.results import Verdict
from sqlrewrite.settings.options import make_options
from sqlrewrite.sql.parse.statements import tokenize
from sqlrewrite.sql.statements.directives import directives
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER

DDL = """
CREATE TABLE f (a INT, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE g (b INT, q INT) USING parquet PARTITIONED BY (q);
CREATE TABLE d (k INT, x INT) USING parquet;
"""
IN_F = f"f.p IN (SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 WHERE d2.x = 1) {MARKER}"
STALE_F = IN_F.replace("= 1)", "= 7)")
IN_G = f"g.q IN (SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 WHERE d2.x = 1) {MARKER}"
WHERE = "WHERE d.x = 1"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def _kinds(text: str) -> list[tuple[str, tuple[str, ...], str]]:
    listed = directives(text, tokenize(text)).in_order
    return [(directive.kind, directive.codes, directive.reason) for directive in listed]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 1 -- dpp-rewrite: ignore", [("ignore", (), "")]),
        ("SELECT 1 --dpp-rewrite:ignore[dpp001] why", [("ignore", ("DPP001",), "why")]),
        ("SELECT 1 -- dpp-rewrite: ignore[DPP001 why", [("ignore[", (), "[DPP001 why")]),
        ("SELECT 1 -- dpp-rewrite: ignore[] why", [("ignore[", (), "why")]),
        (
            "-- dpp-rewrite: ignore[DPP001, DPP004] both\nSELECT 1",
            [("ignore", ("DPP001", "DPP004"), "both")],
        ),
        ("SELECT 1 -- noqa: L001 -- dpp-rewrite: ignore", [("ignore", (), "")]),
        ("-- dpp-rewrite: off\nSELECT 1\n-- dpp-rewrite: on", [("off", (), ""), ("on", (), "")]),
        ("-- dpp-rewrite: ignored\nSELECT 1", [("ignored", (), "")]),
        ("SELECT 1\n-- dpp-rewrite: ignore-file", [("ignore-file", (), "")]),
        ("SELECT '-- dpp-rewrite: ignore'", []),
        ("SELECT 1 /* -- dpp-rewrite: ignore */", []),
        ("SELECT 1 -- see dpp-rewrite: ignore", []),
        (f"SELECT 1 {MARKER}", []),
    ],
)
def test_what_is_a_directive(text: str, found: list[tuple[str, tuple[str, ...], str]]) -> None:
    assert _kinds(text) == found


FROM = "SELECT f.a FROM f JOIN d ON f.p = d.k"
OTHER_LINE = "SELECT e.a FROM f\nAS e -- dpp-rewrite: ignore\nJOIN d ON e.p = d.k"


@pytest.mark.parametrize(
    "text",
    [
        f"{FROM} -- dpp-rewrite: ignore\n{WHERE}",
        f"{FROM} -- dpp-rewrite: ignore[DPP001] small\n{WHERE}",
        f"-- dpp-rewrite: off\n{FROM} {WHERE}",
        f"-- dpp-rewrite: ignore-file\n{FROM} {WHERE}",
        # What an earlier run wrote stays, up to date or not.
        f"{FROM} -- dpp-rewrite: ignore\n{WHERE} AND {IN_F}",
        f"{FROM} -- dpp-rewrite: ignore\n{WHERE} AND {STALE_F}",
        f"{FROM} -- dpp-rewrite: ignore[DPP002]\n{WHERE} AND {STALE_F}",
        f"-- dpp-rewrite: off\n{FROM} {WHERE} AND {STALE_F}\n-- dpp-rewrite: on",
        f"-- dpp-rewrite: ignore-file\n{FROM} {WHERE} AND {STALE_F}",
        f"SELECT a FROM f JOIN d ON p = k -- dpp-rewrite: ignore\nWHERE x = 1 AND {STALE_F[2:]}",
    ],
)
def test_what_is_covered_stays_as_it_is(catalog: Catalog, text: str) -> None:
    result = rewrite(text, catalog)
    assert (result.sql, result.errors) == (text, ())
    assert all(pair.verdict is not Verdict.REWRITTEN for pair in result.candidates)
    without = text.replace("dpp-rewrite:", "another:")
    if IN_F not in text:
        assert rewrite(without, catalog).changed  # so the comment is what kept it


@pytest.mark.parametrize(
    "comment",
    ["{} -- dpp-rewrite: ignore[DPP001] small\n{}", "-- dpp-rewrite: off[DPP001]\n{}\n{}"],
)
def test_nothing_is_added_and_what_is_there_is_kept_up_to_date(
    catalog: Catalog, comment: str
) -> None:
    """As lint says it: DPP001 is not wanted, DPP002 and DPP003 still are."""
    current = comment.format(FROM, f"{WHERE}\n  AND {IN_F}")
    assert rewrite(current, catalog).sql == current
    assert rewrite(comment.format(FROM, f"{WHERE}\n  AND {STALE_F}"), catalog).sql == current
    unfiltered = comment.format(FROM, "WHERE f.a = 1")
    assert rewrite(f"{unfiltered}\n  AND {IN_F}", catalog).sql == unfiltered
    nothing = comment.format(FROM, WHERE)
    assert rewrite(nothing, catalog).sql == nothing
    for text in (current, nothing):
        assert [finding.code for finding in lint(text, catalog)[0] if finding.counts] in (
            [],
            ["DPP008"],
        )


def test_lint_says_where_a_rewrite_refuses(catalog: Catalog) -> None:
    """The place of the predicate is in a region, the scan is not."""
    (refusal,) = (
        finding
        for finding in lint(f"{FROM} -- dpp-rewrite: off\n{WHERE}", catalog)[0]
        if finding.code == "DPP001"
    )
    assert refusal.fix is None
    assert "does not: kept as it is: line 1 says `-- dpp-rewrite: off`" in refusal.help


@pytest.mark.parametrize(
    "text",
    [
        f"{FROM} -- dpp-rewrite: ignore[DPP007]\n{WHERE}",
        f"{FROM}\n{WHERE} -- dpp-rewrite: ignore",
        f"-- dpp-rewrite: off\nSELECT 1;\n-- dpp-rewrite: on\n{FROM} {WHERE}",
        f"{FROM} /* dpp-rewrite: ignore */\n{WHERE}",
        f"{FROM} -- dpp-rewrite: ignored\n{WHERE}",
    ],
)
def test_what_is_not_covered_is_rewritten(catalog: Catalog, text: str) -> None:
    assert IN_F in rewrite(text, catalog).sql


def test_only_the_scan_on_the_line_is_covered(catalog: Catalog) -> None:
    text = (
        "SELECT f.a FROM d\nJOIN f ON f.p = d.k -- dpp-rewrite: ignore\n"
        f"JOIN g ON g.b = f.a\nJOIN d e ON g.q = e.k\n{WHERE} AND e.x = 1 AND {STALE_F}"
    )
    result = rewrite(text, catalog)
    assert result.sql == f"{text}\n  AND {IN_G}"
    assert result.errors == ()
    assert rewrite(result.sql, catalog).sql == result.sql
    messages = [
        (rule.code, rule.message) for candidate in result.candidates for rule in candidate.rules
    ]
    assert messages.count(("DPP198", "kept as it is: line 2 says `-- dpp-rewrite: ignore`")) == 1


def test_a_scan_of_the_same_name_in_another_block_is_not_covered(catalog: Catalog) -> None:
    covered = f"{FROM} -- dpp-rewrite: ignore\n{WHERE} AND {STALE_F}"
    other = f"{FROM} {WHERE} AND "
    for text in (f"{covered}\nUNION ALL {other}", f"{covered};\n{other}"):
        assert rewrite(text + STALE_F, catalog).sql == text + IN_F


@pytest.mark.parametrize(
    "text",
    [
        # The place of the predicate is in a region, the scan is not: nothing is inserted there.
        f"{FROM} -- dpp-rewrite: off\n{WHERE}",
        f"{FROM} -- dpp-rewrite: off\n{WHERE} AND {IN_F}",
        f"{FROM} -- dpp-rewrite: off\n{WHERE} AND {STALE_F}",
        f"SELECT f.a FROM f JOIN d -- dpp-rewrite: off\n ON f.p = d.k WHERE d.x = 1 AND {IN_F}",
        # Something of the scan is on the line of the ignore, but not its table.
        f"SELECT f.a FROM f JOIN d ON f.p -- dpp-rewrite: ignore\n = d.k {WHERE} AND {IN_F}",
        f"{OTHER_LINE} {WHERE} AND e{IN_F[1:]}",
        f"{OTHER_LINE} {WHERE}",
        f"{FROM}\n{WHERE} AND {IN_F} -- dpp-rewrite: ignore",
    ],
)
def test_nothing_grows_from_run_to_run(catalog: Catalog, text: str) -> None:
    once = rewrite(text, catalog).sql
    assert rewrite(once, catalog).sql == once
    assert once.count(MARKER) <= max(1, text.count(MARKER))


@pytest.mark.parametrize(
    "text",
    [
        # A column of the scan stands on the line of the ignore, not the table: it covers nothing.
        f"SELECT f.a FROM f\nJOIN d ON f.p -- dpp-rewrite: ignore\n = d.k {WHERE} AND {STALE_F}",
        f"{FROM}\nWHERE f.a = 2 -- dpp-rewrite: ignore\n AND d.x = 1 AND {STALE_F}",
        f"{OTHER_LINE} {WHERE} AND e{STALE_F[1:]}",
    ],
)
def test_a_predicate_of_a_scan_that_is_not_covered_is_refreshed(
    catalog: Catalog, text: str
) -> None:
    written = rewrite(text, catalog).sql
    assert "d2.x = 1" in written
    assert "d2.x = 7" not in written


BROKEN = STALE_F.replace("SELECT ", "SELECT\n  ")


@pytest.mark.parametrize(
    "text",
    [
        f"{FROM}\n{WHERE}\n  AND {STALE_F} -- dpp-rewrite: ignore[DPP002]",
        f"{FROM}\n{WHERE}\n  AND {STALE_F} -- dpp-rewrite: ignore",
        f"{FROM}\n{WHERE}\n  AND {BROKEN} -- dpp-rewrite: ignore[DPP002] behind its last line\n",
        f"SELECT f.a FROM f\nWHERE f.a = 1\n  AND {STALE_F} -- dpp-rewrite: ignore[DPP003]",
        f"SELECT f.a FROM f\nWHERE {STALE_F} -- dpp-rewrite: ignore[DPP003]\n  AND f.a = 1",
    ],
)
def test_a_predicate_with_a_comment_of_its_own_stays_as_it_is(catalog: Catalog, text: str) -> None:
    """As lint says it: DPP002 and DPP003 are told at the predicate."""
    result = rewrite(text, catalog)
    assert result.sql == text
    assert (result.removed, result.notes) == ((), ())
    findings, _ = lint(text, catalog)
    assert {finding.code for finding in findings if finding.suppression is not None} <= {
        "DPP002",
        "DPP003",
    }
    assert {finding.code for finding in findings if finding.suppression is None} <= {"DPP007"}
    without = rewrite(text.replace("dpp-rewrite:", "another:"), catalog)
    assert "d2.x = 7" not in without.sql


def test_a_comment_at_one_end_of_a_range_keeps_the_other_end_too(catalog: Catalog) -> None:
    """An end by itself would be neither up to date nor what the author asks to leave."""
    written = rewrite(f"{FROM}\n{WHERE}", catalog, predicate="range").sql
    lines = written.replace("d2.x = 1", "d2.x = 7").split("\n")
    assert [line.count(MARKER) for line in lines] == [0, 0, 1, 1]
    for number in (2, 3):
        text = "\n".join(
            f"{line} -- dpp-rewrite: ignore[DPP002]" if n == number else line
            for n, line in enumerate(lines)
        )
        assert rewrite(text, catalog, predicate="range").sql == text
        findings, _ = lint(text, catalog, make_options(predicate="range"))
        assert [(finding.code, finding.counts) for finding in findings] == [("DPP002", False)] * 2


def test_what_is_kept_beside_another_is_judged_as_a_rewrite_does(catalog: Catalog) -> None:
    """What a kept predicate says of the dimension, the other's keys have too; lint knows it."""
    text = (
        f"SELECT f.a FROM f -- dpp-rewrite: ignore[DPP002] mine\n"
        f"JOIN d ON f.p = d.k JOIN g ON g.q = d.k {WHERE} AND {STALE_F} AND {IN_G}"
    )
    findings = [
        (finding.code, finding.suppression is not None) for finding in lint(text, catalog)[0]
    ]
    result = rewrite(text, catalog)
    assert STALE_F in result.sql
    assert (
        findings == [("DPP002", True), ("DPP002", False)] if result.changed else [("DPP002", True)]
    )
    assert not rewrite(result.sql, catalog).changed
    again = [
        (finding.code, finding.suppression is not None) for finding in lint(result.sql, catalog)[0]
    ]
    assert again == [("DPP002", True)]


@pytest.mark.parametrize("form", ["in", "set", "range"])
def test_a_comment_behind_what_is_inserted_changes_nothing_in_a_second_run(form: str) -> None:
    """It keeps what it stands behind from then on; the others get the same names as before."""
    table = "CREATE TABLE t (a INT, p INT, q INT) USING parquet PARTITIONED BY (p, q)"
    two = Catalog.from_ddl(f"{DDL}{table};")
    text = (
        "SELECT t.a FROM t JOIN d ON t.p = d.k AND t.q = d.k WHERE t.a = 1\n"
        "AND d.x = 1 ORDER BY 1 -- dpp-rewrite: ignore[DPP002]\n"
    )
    result = rewrite(text, two, predicate=form)
    assert result.changed
    assert not rewrite(result.sql, two, predicate=form).changed


def test_two_predicates_of_a_scan_that_is_not_covered_stay_two(catalog: Catalog) -> None:
    text = f"{FROM}\n{WHERE}"
    written = rewrite(text, catalog, predicate="range").sql + " -- dpp-rewrite: ignore"
    once = rewrite(written, catalog, predicate="range").sql
    assert once.count(MARKER) == 2
    assert rewrite(once, catalog, predicate="range").sql == once


def test_a_comment_inside_a_predicate_is_not_taken_out(catalog: Catalog) -> None:
    edited = IN_F.replace("= 1)", "= -- dpp-rewrite: off\n 1)")
    for comment in (edited, edited.replace("dpp-rewrite: off", "why?")):
        result = rewrite(f"{FROM} WHERE d.x = 2 AND {comment}", catalog)
        assert comment.removesuffix(MARKER) in result.sql
        assert [note.code for note in result.notes] == ["DPP009"]


# --- strip, and what is said of predicates that go ------------------------------------------------


def test_strip_takes_out_all_of_ours(catalog: Catalog) -> None:
    text = f"-- dpp-rewrite: off\n{FROM} {WHERE};\nSELECT 1; {FROM} WHERE d.x = 2"
    bare = text.replace("-- dpp-rewrite: off\n", "")
    written = rewrite(bare, catalog).sql
    assert written.count(MARKER) == 2
    result = stripped(f"-- dpp-rewrite: off\n{written}")
    assert result.sql == text
    assert [(removal.statement, removal.line, removal.refreshed) for removal in result.removed] == [
        (0, 2, False),
        (2, 3, False),
    ]


@pytest.mark.parametrize(
    ("text", "sql", "refreshed"),
    [
        pytest.param(
            f"{FROM} {WHERE} AND {STALE_F}", f"{FROM} {WHERE} AND {IN_F}", True, id="the filter"
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.a = 1 AND {IN_F}",
            "SELECT f.a FROM f WHERE f.a = 1",
            False,
            id="the join is gone",
        ),
        pytest.param(
            f"SELECT e.a FROM f e JOIN d ON e.p = d.k {WHERE} AND {IN_F}",
            f"SELECT e.a FROM f e JOIN d ON e.p = d.k {WHERE} AND e{IN_F[1:]}",
            False,
            id="another alias",
        ),
        pytest.param(
            f"SELECT f.a FROM f LEFT JOIN d ON f.p = d.k AND d.x = 1 WHERE f.a = 1 AND {IN_F}",
            "SELECT f.a FROM f LEFT JOIN d ON f.p = d.k AND d.x = 1 WHERE f.a = 1",
            False,
            id="no longer sound",
        ),
    ],
)
def test_a_predicate_that_no_longer_follows_is_reported(
    catalog: Catalog, text: str, sql: str, refreshed: bool
) -> None:
    result = rewrite(text, catalog)
    assert result.sql == sql
    (removed,) = result.removed
    assert (removed.refreshed, removed.by) == (refreshed, IN_F if refreshed else "")
    assert removed.reason == (
        "it no longer follows from the query and the options; to keep a predicate that you have "
        "edited, remove its marker"
    )
    assert rewrite(sql, catalog).removed == ()


def test_each_clause_is_said_to_get_what_it_gets(catalog: Catalog) -> None:
    """Two predicates on what is called the same in both, each replaced by its own."""
    other = f"{FROM} WHERE d.x = 2 AND {STALE_F}"
    result = rewrite(f"{FROM} {WHERE} AND {STALE_F} UNION ALL {other}", catalog)
    first, second = result.removed
    assert [pair.by in result.sql and pair.refreshed for pair in (first, second)] == [True, True]
    assert ("x = 1)" in first.by, "x = 2)" in second.by) == (True, True)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT f.a FROM f WHERE NOT ({IN_F})",
        f"SELECT f.a FROM f WHERE f.a = 1 OR {IN_F}",
        f"SELECT f.a FROM f WHERE f.p = 1 {MARKER}",
    ],
)
def test_a_marker_on_an_author_s_condition_is_reported(catalog: Catalog, text: str) -> None:
    result = rewrite(text, catalog)
    assert result.sql == text
    assert [(note.code, note.line, note.column) for note in result.notes] == [
        ("DPP009", 1, text.index(MARKER) + 1)
    ]


def test_a_marker_in_a_string_is_no_marker(catalog: Catalog) -> None:
    assert rewrite(f"SELECT '{MARKER}' FROM f", catalog).notes == ()


@pytest.mark.parametrize("codes", ["[DPP001", "[]"])
def test_codes_that_cannot_be_read_are_not_all_codes(catalog: Catalog, codes: str) -> None:
    text = f"SELECT f.a\nFROM f -- dpp-rewrite: ignore{codes}\nJOIN d ON f.p = d.k {WHERE}"
    assert MARKER in rewrite(text, catalog).sql
    assert {"DPP001", "DPP008"} <= {finding.code for finding in lint(text, catalog)[0]}
