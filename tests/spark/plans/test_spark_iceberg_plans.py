"""What Spark prints of a plan over Iceberg, and what Delta writes of generated columns: read
without either. The plan is of Iceberg 1.12.0 on Spark 4.1.4; ``tests/formats`` asks both."""

from __future__ import annotations

import json

from sqlrewrite.spark.describe import expressions
from sqlrewrite.spark.plans.planned import Planned, parse
from sqlrewrite.warehouse import GENERATED, Derivation

PLAN = """== Physical Plan ==
AdaptiveSparkPlan (3)
+- BroadcastHashJoin LeftSemi BuildRight (2)
   :- BatchScan ice.db.f (1)
   +- BatchScan ice.db.d (4)


(1) BatchScan ice.db.f
Output [2]: [p#53, a#54]
IcebergScan(table=ice.db.f, schemaId=0, snapshotId=53, branch=null, filters=p IS NOT NULL, \
p IN (1, 2), a > 3, runtimeFilters=, groupedBy=)

(2) BroadcastHashJoin
Left keys [1]: [p#53]
Right keys [1]: [k#57]
Join type: LeftSemi
Join condition: None

(3) AdaptiveSparkPlan
Output [1]: [a#54]
Arguments: isFinalPlan=false

(4) BatchScan ice.db.d
Output [2]: [k#57, x#58]
IcebergScan(table=ice.db.d, schemaId=0, snapshotId=46, branch=null, filters=x = 1, \
runtimeFilters=, groupedBy=)

===== Subqueries =====

Subquery:1 Hosting operator id = 1 Hosting Expression = p#53 IN dynamicpruning#82
BatchScan ice.db.d (5)


(5) BatchScan ice.db.d
Output [2]: [k#57, x#58]
IcebergScan(table=ice.db.d, schemaId=0, snapshotId=46, branch=null, filters=x = 1, \
runtimeFilters=, groupedBy=)
"""


def test_the_filters_of_an_iceberg_scan() -> None:
    (scan,) = Planned(parse(PLAN), True, frozenset({"f"}), {}).scans
    assert scan.table == "ice.db.f"
    assert [(filter_.text, filter_.dynamic) for filter_ in scan.filters] == [
        ("p IS NOT NULL", False),
        ("p IN (1, 2)", False),
        ("a > 3", False),
        ("p IN dynamic keys", True),
    ]


def test_generated_columns_in_the_schema_of_a_log() -> None:
    day = {"delta.generationExpression": "CAST(ts AS  DATE)"}
    fields = [
        {"name": "ts", "type": "timestamp", "nullable": True, "metadata": {}},
        {"name": "day", "type": "date", "nullable": True, "metadata": day},
    ]
    columns = tuple(expressions(json.dumps({"type": "struct", "fields": fields})))
    assert columns == (Derivation("day", "CAST(ts AS DATE)", ("ts",), GENERATED),)
    assert not list(expressions("{}"))
    assert not list(expressions("no schema"))
