"""A history judged, without Spark: what a text is and comes to, its columns, the report."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite import Catalog, ConfigError
from sqlrewrite.audit.audit_summary import (
    AuditedShape,
    AuditSummary,
    ColumnReason,
    FactSummary,
    KeptPartitions,
    Total,
)
from sqlrewrite.audit.history_columns import columns
from sqlrewrite.audit.judged_text import BY_ENGINE, folded, judged
from sqlrewrite.relation_maps import PersistentMap
from sqlrewrite.report import Printer
from sqlrewrite.report.audit import audit_json, audit_page, print_audit
from sqlrewrite.settings.options import make_options
from sqlrewrite.spark.audit import AuditJob

DDL = """
CREATE TABLE dw.sales (v INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE dw.days (day INT, month INT);
"""
QUERY = "SELECT s.v FROM sales s JOIN days d ON s.day = d.day WHERE d.month = 3"
MERGE = "MERGE INTO sales t USING days s ON t.day = s.day WHEN MATCHED THEN DELETE"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "empty"),
        (" \n", "empty"),
        ("<redacted>", "masked"),
        ("*** REDACTED ***", "masked"),
        ("xxxx-xxxx", "masked"),
        ("x" * 100 + "y", "other"),
        ("SELECT a FROM t WHERE x IN (1, 2, ...", "cut"),
        ("SHOW TABLES", "other"),
        ("/* by a tool */ ALTER TABLE t ADD COLUMN x INT", "other"),
        (QUERY, "text"),
        ("(SELECT 1)", "text"),
        ("-- a comment\ninsert into t select 1", "text"),
        ("with a as (select \"x\") select * from a", "text"),
    ],
)  # fmt: skip
def test_what_a_text_is(text: str | None, what: str) -> None:
    assert folded(text).partition(":")[0] == what


def test_poisoned_texts_cost_only_themselves() -> None:
    for text in ("(" * 20_000 + QUERY, QUERY + "\x00\udcff", "SELECT '" + "x" * 3_000_000):
        judgement = judged(text, "dw", Catalog.from_ddl(DDL), make_options(), 5.0)
        assert judgement.outcome in ("error", "skipped")
        assert folded(text).startswith("text:")


@pytest.mark.parametrize(
    ("text", "schema", "when", "outcome"),
    [
        (QUERY, "dw", "eligible", "rewritten"),
        (QUERY, None, "eligible", "nothing"),  # where nobody has sales
        (QUERY, "dw", "missed", "pruned"),
        (QUERY.replace("JOIN", "LEFT JOIN").replace("WHERE", "AND"), "dw", "eligible", "rejected"),
        ("SELECT * FROM sales", "dw", "eligible", "nothing"),
        ("SELECT FROM (", "dw", "eligible", "error"),
        (MERGE, "dw", "eligible", "rejected"),
        (MERGE.replace("ON", "ON t.day = 3 AND"), "dw", "eligible", "nothing"),
    ],
)
def test_a_text_has_its_outcome(text: str, schema: str | None, when: str, outcome: str) -> None:
    catalog = Catalog.from_ddl(DDL, schema="elsewhere")
    judgement = judged(text, schema, catalog, make_options(when=when), 5.0)
    assert judgement.outcome == outcome
    if outcome == "pruned":
        assert [scan.verdict for scan in judgement.scans] == [BY_ENGINE]
    if outcome == "rejected":
        code = "DPP010" if text == MERGE else "DPP101"
        assert [(scan.fact, scan.column, scan.code, scan.only) for scan in judgement.scans] == [
            ("spark_catalog.dw.sales", "day", code, True)
        ]


@pytest.mark.parametrize(
    ("catalog", "given"),
    [({"variables": {"db": "dw"}}, {}), ({"settings": {"spark.sql.ansi.enabled": "false"}}, {}),
     ({"forgotten": PersistentMap({("x", "y", "z"): True})}, {}), ({}, {"time_zone": "UTC"}),
     ({}, {"when": "missed"})],
    ids=str,
)  # fmt: skip
def test_decisions_are_kept_for_all_that_they_depend_on(
    catalog: dict[str, Any], given: dict[str, Any]
) -> None:
    tables, usual = Catalog.from_ddl(DDL), make_options()
    other = AuditJob(replace(tables, **catalog), replace(usual, **given), "")
    assert (
        AuditJob(Catalog.from_ddl(DDL), make_options(), "").judged_by
        == AuditJob(tables, usual, "").judged_by
    )
    assert other.judged_by != AuditJob(tables, usual, "").judged_by


def test_a_text_has_so_much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*args: Any) -> Any:
        while True:
            with suppress(Exception):  # as a stage does that takes any failure for its own
                sum(range(1_000))

    monkeypatch.setattr("sqlrewrite.audit.judged_text.decide", endless)
    judgement = judged(QUERY, "dw", Catalog.from_ddl(DDL), make_options(), 0.05)
    assert (judgement.outcome, judgement.reason) == ("skipped", "it takes more than 0.05 s")


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["statement_text", "executed_by", "read_bytes", "total_duration_ms", "start_time"],
         ("statement_text", None, "start_time", "executed_by", "read_bytes", 1000)),
        (["QUERY_TEXT", "USER_NAME", "SCHEMA_NAME", "BYTES_SCANNED", "TOTAL_ELAPSED_TIME"],
         ("QUERY_TEXT", "SCHEMA_NAME", None, "USER_NAME", "BYTES_SCANNED", 1000)),
        (["metadata", "metadata.query", "context.user", "context.schema", "createTime",
          "statistics.physicalInputBytes"],
         ("metadata.query", "context.schema", "createTime", "context.user",
          "statistics.physicalInputBytes", 1)),
        (["query", "user_email", "total_bytes_processed", "creation_time"],
         ("query", None, "creation_time", "user_email", "total_bytes_processed", 1)),
    ],
    ids="databricks snowflake trino bigquery".split(),
)  # fmt: skip
def test_columns_of_known_histories(names: list[str], wanted: tuple[object, ...]) -> None:
    roles = columns(names, {})
    assert (roles.text, roles.schema, roles.time, roles.user, roles.bytes, roles.seconds) == wanted


def test_columns_that_are_given() -> None:
    roles = columns(["a", "b", "query"], {"text": "A", "bytes": "b"})
    assert (roles.text, roles.bytes) == ("a", "b")
    with pytest.raises(ConfigError, match="--text"):
        columns(["a", "b"], {})
    with pytest.raises(ConfigError, match="'c'"):
        columns(["a", "b"], {"text": "c"})


ANSWER = AuditSummary(
    shapes=3,
    decided=2,
    runs=1200,
    bytes=3 << 40,
    totals=(Total("rewritten", 1, 1000, 2 << 40, 5), Total("error", 1, 200, 1 << 40, 5)),
    not_judged=(Total("Expected <something>", 1, 200, 1 << 40, 5),),
    top=(
        AuditedShape("ab" * 16, "dw", 1000, 7, 2 << 40, 60_000_000, "SELECT '<b>'",
              "SELECT '<b>' AND …",
              (KeptPartitions("dw.sales", "s", "s.day IN (SELECT 1)", 365, 73),), 0.8, "asked"),
    ),
    facts=(FactSummary("dw.sales", 1000, 0, 200, 3 << 40, (("dw.days", 1000),)),),
    reasons=(ColumnReason("dw.sales", "day", "DPP101", "a LEFT JOIN", 1, 200, 1 << 40),),
    unknown=(Total("dw.lost", 2, 300, 2 << 40, 5),),
)  # fmt: skip


def test_tables_that_the_catalog_lacks_are_named() -> None:
    catalog = Catalog.from_ddl("CREATE TABLE s (day DATE) PARTITIONED BY (day)")
    text = "WITH c AS (SELECT 1) SELECT * FROM S JOIN x.Lost l ON s.day = l.day, c, lost2"
    assert judged(text, None, catalog, make_options(), 60).unknown == ("lost2", "x.lost")


def test_the_report_for_people() -> None:
    stream = StringIO()
    print_audit(Printer(stream, colour=False), ANSWER)
    lines = stream.getvalue().splitlines()
    assert "1,200 runs of 3 shapes, 2 of them new" in lines[0]
    assert any("1,000" in line and "80%, 1.6 TiB" in line for line in lines)
    assert any(line.split()[:3] == ["dw.lost", "300", "2"] for line in lines)
    assert any(line.startswith("dw.sales.day") and "DPP101 a LEFT JOIN" in line for line in lines)


def test_the_report_for_programs() -> None:
    report = json.loads(audit_json(ANSWER))
    assert (report["version"], report["runs"]) == (1, 1200)
    (top,) = report["top"]
    assert top["saved_bytes"] == round((2 << 40) * 0.8)
    assert top["saved_micros"] == 48_000_000


def test_the_page_stands_by_itself() -> None:
    page = audit_page(ANSWER)
    assert "<b>" not in page
    assert page.count('class="track"') == 4
    for place in re.findall('href="#([^"]*)"', page):
        assert page.count(f'id="{place}"') == 1
    assert page.count('href="#shape-1"') == 2
    pruned = audit_page(replace(ANSWER, totals=(Total("pruned", 1, 9, None, 5),)))
    assert pruned.count('href="#tables"') == pruned.count('id="tables"') == 1
    assert "1,000 runs, 7 users" in page
    assert "1 run, 1 user," in audit_page(
        replace(ANSWER, top=(replace(ANSWER.top[0], runs=1, users=1),))
    )
    assert page.count("dw.lost") == 1
    assert "get a predicate" in page
    assert not re.search(r"https?:|<script|<link|url\(|@import|src=", page)
    assert "2.0 TiB" in page


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
LOOK = """<script>
const room = document.body.getBoundingClientRect();
const out = [...document.querySelectorAll("td")].filter(it => {
  const box = it.getBoundingClientRect();
  return box.left < room.left || box.right > room.right || box.width == 0;
});
const bars = [...document.querySelectorAll(".bar")].filter(it => it.offsetWidth > 1);
const asked = performance.getEntriesByType("resource");
document.title = JSON.stringify([out.map(it => it.textContent), bars.length, asked.length]);
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
def test_the_page_in_a_browser_without_a_network(tmp_path: Path) -> None:
    top = (replace(ANSWER.top[0], text="W" * 300), replace(ANSWER.top[0], bytes=None))
    wide = replace(ANSWER, top=top, facts=(replace(ANSWER.facts[0], name="catalog." + "W" * 99),))
    (tmp_path / "page.html").write_text(audit_page(wide) + LOOK, "utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ]
    shown = subprocess.run(
        [str(BROWSER), *options, "--dump-dom", f"file://{tmp_path}/page.html"],
        capture_output=True, text=True, check=True, timeout=100,
    ).stdout  # fmt: skip
    title = re.search(r"<title>(\[\[.*?\])</title>", shown)
    assert title is not None, shown[-500:]
    out, bars, loaded = json.loads(title[1])
    assert (out, bars, loaded) == ([], 5, 0)
