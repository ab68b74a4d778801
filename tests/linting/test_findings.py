"""What is found, where, and that a fix does what a rewrite does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.linter import lint
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER
from tests.support.cases import catalog as catalog_of_file
from tests.support.cases import query_cases, read
from tests.support.turns import turn

IN = (
    "s.day IN (SELECT /*+ BROADCAST(c2) */ c2.day FROM calendar AS c2 WHERE c2.year = 2024) "
    f"{MARKER}"
)
JOIN = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2024"


def _said(text: str, catalog: Catalog) -> list[tuple[str, str]]:
    """Each finding's code and the text at its place."""
    findings, failures = lint(text, catalog)
    assert failures == ()
    return [
        (finding.code, text[finding.place.span.start : finding.place.span.end])
        for finding in findings
        if finding.suppression is None
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(JOIN, [("DPP001", "sales")], id="missing"),
        pytest.param(f"{JOIN} AND {IN}", [], id="up to date"),
        pytest.param(JOIN.replace("s.id", "rand(), s.id"), [], id="rejected for another reason"),
        pytest.param(f"{JOIN[:-1]}5 AND {IN}", [("DPP002", IN)], id="stale"),
        pytest.param(
            f"SELECT s.id FROM sales s WHERE s.id = 1 AND {IN}",
            [("DPP007", "sales"), ("DPP003", IN)],
            id="the join is gone",
        ),
        pytest.param(
            f"SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE s.day = "
            f"current_date() AND c.year = 2024 AND {IN}",
            [("DPP003", IN)],
            id="bounded by itself",
        ),
        pytest.param(
            "SELECT k.id FROM clicks k JOIN calendar c ON k.day = c.year WHERE c.day > '2024'",
            [("DPP005", "clicks")],
            id="types",
        ),
        pytest.param(
            "SELECT k.id FROM clicks k JOIN calendar c ON k.day = c.day",
            [("DPP007", "clicks")],
            id="types, no filter",
        ),
        pytest.param("", [], id="empty"),
        pytest.param("-- nothing\n;;\n", [], id="no statement"),
        pytest.param("SELECT id FROM sales", [("DPP007", "sales")], id="unbounded"),
        pytest.param(
            "SELECT id FROM sales WHERE day = DATE '2024-01-01' OR id = 1",
            [("DPP007", "sales")],
            id="a bound in one branch only",
        ),
        pytest.param(
            "SELECT id FROM sales WHERE day IS NOT NULL", [("DPP007", "sales")], id="not null"
        ),
        pytest.param("SELECT id FROM stock WHERE h = 3", [], id="one of two columns"),
        pytest.param("SELECT id FROM calendar c JOIN calendar d ON c.n = d.n", [], id="no fact"),
        pytest.param(
            "SELECT s.id FROM (SELECT * FROM sales) s WHERE s.day > DATE '2024-01-01'",
            [],
            id="bounded from outside",
        ),
        pytest.param("CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM sales", [], id="a view"),
        pytest.param(
            "CREATE TABLE t AS SELECT * FROM sales", [("DPP007", "sales")], id="a table, at once"
        ),
        pytest.param("SELECT id FROM recent", [], id="in a view: the view's own text"),
        pytest.param(
            "SELECT s.id FROM sales s JOIN calendar c ON s.day BETWEEN c.day AND c.day + 1 "
            "WHERE c.year = 2024",
            [("DPP001", "sales"), ("DPP001", "sales")],
            id="tied by a range",
        ),
        pytest.param(
            "SELECT s.id FROM sales s LEFT JOIN calendar c ON s.day = c.day",
            [("DPP007", "sales")],
            id="preserved",
        ),
        pytest.param(
            "SELECT a.id FROM sales a JOIN sales b ON a.day = b.day JOIN calendar c "
            "ON b.day = c.day WHERE c.year = 2024",
            [("DPP001", "sales"), ("DPP001", "sales"), ("DPP013", "sales")],
            id="two facts of one equality class",
        ),
        pytest.param(
            "SELECT s.id FROM sales s WHERE EXISTS (SELECT 1 FROM calendar c WHERE c.day = s.day "
            "AND c.year = 2024)",
            [("DPP001", "sales")],
            id="exists",
        ),
        pytest.param(
            "SELECT id FROM sales WHERE year(day) = 2024", [("DPP004", "sales")], id="function"
        ),
        pytest.param(
            "SELECT id FROM sales WHERE day + 1 > DATE '2024-01-01'",
            [("DPP004", "sales")],
            id="arithmetic",
        ),
        pytest.param(
            "SELECT id FROM sales WHERE CAST(day AS DATE) = DATE '2024-01-01'", [], id="no cast"
        ),
        pytest.param(
            "SELECT id FROM sales WHERE day = date_add(current_date(), -1)", [], id="constant"
        ),
        pytest.param(
            "SELECT s.id FROM calendar c LEFT JOIN sales s ON s.day = c.day "
            "WHERE s.id = 1 AND c.year = 2024",
            [("DPP001", "sales"), ("DPP006", "sales")],
            id="the fact's rows rejected",
        ),
        pytest.param(
            "SELECT s.id FROM sales s LEFT JOIN calendar c ON s.day = c.day WHERE c.year = 2024 "
            "AND s.day = DATE '2024-03-01'",
            [("DPP006", "calendar")],
            id="the dimension's rows rejected",
        ),
        pytest.param(
            "SELECT s.id FROM calendar c RIGHT JOIN sales s ON s.day = c.day WHERE c.year = 2024 "
            "AND s.day = DATE '2024-03-01'",
            [("DPP006", "calendar")],
            id="the same, the other way round",
        ),
        pytest.param(
            "SELECT c.n FROM calendar c LEFT JOIN calendar d ON c.n = d.n WHERE d.year = 1",
            [],
            id="an outer join of others",
        ),
        pytest.param(
            "SELEC 1; SELECT id FROM sales WHERE",
            [("DPP000", "SELEC"), ("DPP000", "WHERE")],
            id="not parsed",
        ),
        pytest.param(
            "SELECT id FROM sales {% for x in y %} WHERE id = 1 {% endfor %}",
            [("DPP000", "{")],
            id="template block",
        ),
        pytest.param(
            "SELECT id FROM sales {% if x %} WHERE id = 1 {% endif %}",
            [("DPP007", "sales")],
            id="template branch",
        ),
        pytest.param("SELECT {{ x }} FROM sales", [("DPP007", "sales")], id="template value"),
        pytest.param(
            f"SELECT id FROM stock WHERE d = 1 {MARKER}", [("DPP009", MARKER)], id="marker"
        ),
    ],
)
def test_what_is_found(catalog: Catalog, text: str, found: list[tuple[str, str]]) -> None:
    assert sorted(_said(text, catalog)) == sorted(found)


def test_of_two_ends_one_may_be_written(catalog: Catalog) -> None:
    """The other can raise an error: that is no reason against the one."""
    ends = "s.d BETWEEN c.n AND to_number(c.name, '99')"
    text = f"FROM stock s JOIN calendar c ON {ends} WHERE c.year = 2000"
    (finding,) = lint(f"SELECT s.id {text}", catalog)[0]
    assert (finding.code, finding.fix is not None) == ("DPP001", True)
    assert "as `dpp-rewrite --write` does" in finding.help
    assert "does not" not in finding.help


# --- DPP004: partition columns inside functions and casts -----------------------------------------


def _wrapped(text: str, catalog: Catalog) -> list[str]:
    """What DPP004 says of a text, each column that it names as the text from there on."""
    findings, failures = lint(text, catalog)
    assert failures == ()
    lines = []
    for finding in findings:
        assert (finding.code, finding.subject) != ("DPP007", "s")
        if finding.code == "DPP004":
            place = re.search(r"\(line 1, column (\d+)\)", finding.message)
            assert place is not None
            lines.append(text[int(place[1]) - 1 :])
            assert text[finding.place.span.start : finding.place.span.end] in (
                "sales",
                "clicks",
                "stock",
            )
    return lines


@pytest.mark.parametrize(
    ("condition", "wrapped"),
    [
        ("year(s.day) = 2020 OR month(s.day) = 3", 1),
        ("year(s.day) = 2020 OR s.day = DATE '2024-01-01'", 1),
        ("(year(s.day) = 2020 AND s.id = 1) OR (s.id = 2 AND month(s.day) = 3)", 1),
        ("NOT (year(s.day) = 2020)", 1),
        ("NOT (year(s.day) = 2020 OR s.id = 1)", 1),
        ("NOT (NOT (year(s.day) = 2020))", 1),
        ("CAST(s.day AS STRING) <> '2020-01-01'", 1),
        ("CAST(s.day AS STRING) != '2020-01-01'", 1),
        ("CAST(s.day AS STRING) LIKE '2020%'", 1),
        ("CAST(s.day AS STRING) NOT LIKE '2020%'", 1),
        ("CAST(s.day AS STRING) RLIKE '^2020'", 1),
        ("year(s.day) BETWEEN 2020 AND 2021", 1),
        ("year(s.day) NOT BETWEEN 2020 AND 2021", 1),
        ("year(s.day) IN (2020, 2021)", 1),
        ("year(s.day) NOT IN (2020, 2021)", 1),
        ("year(s.day) IN (SELECT c.year FROM calendar c)", 1),
        ("year(s.day) IS NULL", 1),
        ("year(s.day) <=> 2020", 1),
        ("year(s.day) * 100 + month(s.day) = 202003", 1),
        ("year(s.day) = 2020 AND year(s.day) = 2020", 2),
        # It does filter, beside a bound on the column as it is.
        ("s.day > DATE '2020-01-01' AND month(s.day) = 3", 1),
        # No partition column is compared, or not by its value.
        ("s.day > DATE '2020-01-01' AND year(s.day) IS NOT NULL", 0),
        ("s.day IN (to_date('2020-01-01')) OR s.day IS NULL", 0),
        ("(s.day, s.id) IN (SELECT c.day, c.n FROM calendar c)", 0),
        ("s.day > DATE '2020-01-01' AND year(s.day) NOT IN (SELECT c.year FROM calendar c)", 0),
    ],
)
def test_a_wrapped_partition_column_is_found_wherever_it_is_compared(
    catalog: Catalog, condition: str, wrapped: int
) -> None:
    lines = _wrapped(f"SELECT s.id FROM sales s WHERE {condition}", catalog)
    assert len(lines) == wrapped
    assert all(line.startswith("s.day") for line in lines)


@pytest.mark.parametrize(
    ("query", "wrapped"),
    [
        ("FROM sales s JOIN calendar c ON year(s.day) = c.year WHERE c.n = 1", 1),
        ("FROM sales s JOIN calendar c ON s.id = c.n AND year(s.day) IN (2020, 2021)", 1),
        ("FROM sales s JOIN calendar c ON s.id = c.n AND (year(s.day) = 1 OR day(s.day) = 2)", 1),
        ("FROM calendar c LEFT JOIN sales s ON year(s.day) = c.year", 1),
        ("FROM sales s JOIN sales t ON s.day = date_sub(t.day, 364) WHERE t.id = 1", 1),
        ("FROM sales s JOIN sales t ON s.day = date_sub(t.day, 364) WHERE t.day > s.day", 1),
        # It has one value already.
        ("FROM sales s JOIN sales t ON s.day = date_sub(t.day, 7) WHERE t.day = '2020-01-01'", 0),
        # No condition of these could rule out a partition, however it is written.
        ("FROM sales s JOIN calendar c ON s.day = c.day AND year(s.day) <> c.year", 0),
        ("FROM sales s LEFT JOIN calendar c ON s.day = c.day AND year(s.day) = 1", 0),
        ("FROM calendar c LEFT JOIN sales s ON s.day = c.day WHERE coalesce(s.day, c.day) = 1", 0),
    ],
)
def test_a_wrapped_partition_column_is_found_in_joins(
    catalog: Catalog, query: str, wrapped: int
) -> None:
    findings, _ = lint(f"SELECT s.id {query}", catalog)
    assert [finding.code for finding in findings if finding.code == "DPP004"] == [
        "DPP004"
    ] * wrapped


@pytest.mark.parametrize(
    "condition",
    [
        "date_format(s.day, 'yyyy') = '2020' OR s.id = 1",
        "s.id = 1 OR (s.amount = 2 AND year(s.day) = 2020)",
        "NOT (year(s.day) = 2020 AND s.id = 1)",
        "year(s.day) = 2020 OR s.day IS NOT NULL",
    ],
)
def test_a_branch_that_bounds_nothing_is_reported(catalog: Catalog, condition: str) -> None:
    """To Spark an OR is a partition filter only if each branch has one."""
    text = f"SELECT s.id FROM sales s WHERE {condition}"
    (finding,) = lint(text, catalog)[0]
    assert finding.code == "DPP004"
    assert "an OR with a branch that does not bound `day`" in finding.message
    assert finding.help == "bound `day` itself, in each branch of the OR"


@pytest.mark.parametrize(
    "query",
    [
        "FROM sales s WHERE s.day > DATE '2020-01-01' AND (year(s.day) = 2020 OR s.id = 1)",
        "FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 1 AND (year(s.day) = 2020 "
        "OR s.id = 1)",
    ],
)
def test_what_could_not_bound_is_not_told_of_a_bounded_scan(catalog: Catalog, query: str) -> None:
    assert not [
        finding for finding in lint(f"SELECT s.id {query}", catalog)[0] if finding.code == "DPP004"
    ]


@pytest.mark.parametrize("condition", ["NOT (s.day = DATE '2024-01-01' AND s.id = 1)"])
def test_nothing_is_bounded_by_one_branch_of_an_or(catalog: Catalog, condition: str) -> None:
    text = f"SELECT s.id FROM sales s WHERE {condition}"
    assert _said(text, catalog) == [("DPP007", "sales")]


def _mended(text: str, finding: Finding) -> str:
    """A text with one finding's fix, and nothing else."""
    assert finding.fix is not None
    for replacement in sorted(finding.fix.replacements, key=lambda it: -it.place.span.start):
        text = (
            text[: replacement.place.span.start]
            + replacement.text
            + text[replacement.place.span.end :]
        )
    return text


def _predicates(text: str) -> tuple[str, list[str]]:
    """A text without our predicates, and those."""
    bare = stripped(text)
    return bare.sql, sorted(removal.text for removal in bare.removed)


@pytest.mark.long
@pytest.mark.parametrize("case", turn(query_cases(), 12), ids=lambda case: case.name)
def test_fixes_do_what_a_rewrite_does(case: object) -> None:
    """From the query, from its golden, and from one with a predicate gone stale: mending all that
    has a fix gives what a rewrite gives, but that a predicate which still follows is not moved. Of
    a MERGE less may be mended: what Iceberg carries over by itself is no finding."""
    from tests.support.cases import Case

    assert isinstance(case, Case)
    tables = catalog_of_file(case.ddl)
    golden = read(case.golden)
    stale = golden.replace("BROADCAST(", "BROADCAST( ")
    for text in dict.fromkeys((case.text(), golden, stale)):
        if "dpp-rewrite:" in text:
            continue
        mended, last = text, None
        while mended != last:
            last = mended
            fixable = [finding for finding in lint(mended, tables)[0] if finding.fix is not None]
            mended = _mended(mended, fixable[0]) if fixable else mended
        # Of the first two a rewrite gives the golden: tests/test_fixtures.py.
        expected = golden if text != stale else rewrite(text, tables).sql
        (bare, ours), (bare_expected, all_of_them) = map(_predicates, (mended, expected))
        assert bare == bare_expected
        assert ours == all_of_them or (case.name.startswith("merges/") and {*ours} < {*all_of_them})


# --- suppressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("SELECT id FROM sales -- dpp-rewrite: ignore", [], id="all"),
        pytest.param("SELECT id FROM sales -- dpp-rewrite: ignore[DPP007] yearly", [], id="one"),
        pytest.param(
            "SELECT id FROM sales -- dpp-rewrite: ignore[DPP001]",
            [("DPP007", "sales"), ("DPP008", "-- dpp-rewrite: ignore[DPP001]")],
            id="another",
        ),
        pytest.param(
            "SELECT id FROM sales -- dpp-rewrite: ignore[DPP007, DPP004]",
            [("DPP008", "-- dpp-rewrite: ignore[DPP007, DPP004]")],
            id="one of two is used",
        ),
        pytest.param(
            "-- dpp-rewrite: off\nSELECT id FROM sales;\n-- dpp-rewrite: on\nSELECT id FROM sales",
            [("DPP007", "sales")],
            id="region",
        ),
        pytest.param(
            "SELECT 1;\n-- dpp-rewrite: on\nSELECT 2",
            [("DPP008", "-- dpp-rewrite: on")],
            id="on without off",
        ),
        pytest.param("-- dpp-rewrite: ignore-file\nSELECT id FROM sales", [], id="file"),
        pytest.param(
            f"SELECT s.id FROM sales s -- dpp-rewrite: ignore\nWHERE s.id = 1 AND {IN}",
            [],
            id="the predicate of a scan that is ignored",
        ),
    ],
)
def test_what_a_comment_suppresses(
    catalog: Catalog, text: str, found: list[tuple[str, str]]
) -> None:
    assert sorted(_said(text, catalog)) == sorted(found)


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ingore", "`-- dpp-rewrite: ingore` is not known: did you mean `ignore`?"),
        ("ignore[DPP0007]", "no finding has the code DPP0007: did you mean DPP007?"),
        ("ignore[DPP101]", "no finding has the code DPP101: did you mean DPP014?"),
        ("ignore[DPP001]", "`-- dpp-rewrite: ignore[DPP001]` suppresses no DPP001 here"),
        ("ignore", "`-- dpp-rewrite: ignore` suppresses nothing"),
    ],
)
def test_what_is_said_of_a_comment(catalog: Catalog, comment: str, message: str) -> None:
    findings, _ = lint(f"SELECT n FROM calendar -- dpp-rewrite: {comment}", catalog)
    assert [(finding.code, finding.message) for finding in findings] == [("DPP008", message)]


# --- fingerprints ---------------------------------------------------------------------------------


def test_a_statement_s_hash_outlives_moves(catalog: Catalog) -> None:
    def key(text: str) -> list[tuple[str, str, str]]:
        return [
            (finding.code, finding.subject, finding.statement) for finding in lint(text, catalog)[0]
        ]

    moved = f"-- a comment\n\n{JOIN.replace(' WHERE', chr(10) + 'where')} ; SELECT 1"
    assert key(JOIN) == key(moved)
    assert key(JOIN) != key(JOIN.replace("2024", "2025"))


def test_a_fix_leaves_alone_what_a_comment_asks_to_leave_alone(catalog: Catalog) -> None:
    text = (
        "SELECT 1 FROM sales a -- dpp-rewrite: ignore\n"
        "JOIN calendar c ON a.day = c.day JOIN sales b\n"
        "ON b.day = c.day WHERE c.year = 2024\n"
    )
    suppressed, open_ = lint(text, catalog)[0]
    assert (suppressed.counts, open_.counts) == (False, True)
    assert _mended(text, open_) == rewrite(text, catalog).sql
    assert "a.day IN" not in _mended(text, open_)


def test_an_authors_own_in_is_told_that_it_lacks_a_hint(catalog: Catalog) -> None:
    """Not that there is no predicate: there is one."""
    text = "SELECT s.id FROM sales s WHERE s.day IN (SELECT {}day FROM calendar WHERE year = 2024)"
    (finding,) = lint(text.format(""), catalog)[0]
    assert finding.message.startswith("the IN on `s.day` has no hint")
    assert not lint(text.format("/*+ BROADCAST(calendar) */ "), catalog)[0]


@pytest.mark.parametrize(
    ("provider", "version", "advised", "written"),
    [
        ("iceberg", None, True, "s.fd = (SELECT"),
        ("iceberg", "4.1", False, "s.fd IN (SELECT /*+ BROADCAST(q) */"),
        ("iceberg", "4.3", False, "s.fd = (SELECT"),
        ("parquet", "4.1", False, "s.fd = (SELECT"),
    ],
)
def test_the_latest_partition_of_iceberg(
    provider: str, version: str | None, advised: bool, written: str
) -> None:
    ddl = f"CREATE TABLE facts (id INT, fd DATE) USING {provider} PARTITIONED BY (fd)"
    catalog = Catalog.from_ddl(ddl)
    if version is not None:
        catalog = replace(catalog, settings={"spark.version": version})
    findings, _ = lint(
        "SELECT s.id FROM facts s JOIN (SELECT max(fd) AS m FROM facts) x ON s.fd = x.m", catalog
    )
    (finding,) = [finding for finding in findings if finding.code == "DPP011"]
    assert f"add `{written}" in finding.help
    assert ("give the version as `spark-version`" in finding.help) is advised
    older = provider == "iceberg" and version != "4.3"
    assert ("FROM facts.partitions" in finding.help) is older
