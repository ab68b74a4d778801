"""What is reported of a verification, beside what Spark measures."""

from __future__ import annotations

import json

from sqlrewrite import Catalog
from sqlrewrite.report.verify import verified_json
from sqlrewrite.run.file_rewriting import Request, run

DDL = "CREATE TABLE f (x INT) PARTITIONED BY (p INT); CREATE TABLE d (k INT, c STRING)"
TEXT = b"""SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a';
SELECT f.x FROM f LEFT JOIN d ON f.p = d.k AND d.c = 'a';
SELECT f.x FROM f JOIN d ON f.x = d.k WHERE d.c = 'a'; SELECT x FROM u;
SELECT f.x FROM f JOIN {{ m() }} d ON f.p = d.k;
SELEC 1;
"""


def test_statements_that_stay_are_in_the_json_with_their_reasons() -> None:
    file = run("q.sql", TEXT, Request(Catalog.from_ddl(DDL)), with_statements=True)
    report = json.loads(verified_json([], [file]))
    entries = report["not_rewritten"]
    assert [(entry["path"], entry["line"]) for entry in entries] == [
        ("q.sql", n) for n in (2, 3, 3, 4, 5)
    ]
    preserved, unknown, other_key, template, unread = (entry["reason"] for entry in entries)
    assert preserved.startswith("DPP101 LEFT JOIN keeps every row of `f`")
    assert other_key.startswith("no join bounds a partition column: `f` is partitioned by `p`")
    assert unknown == "`u` is not in the catalog"
    assert template.startswith("DPP104 `d` is not known")
    assert unread == "no statement begins with 'SELEC'"
    assert [entry["line"] for entry in entries if entry["remedy"]] == [3]
