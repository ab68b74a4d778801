"""For each soundness rule a query on which switching it off loses rows, or makes an error.

The tables are the same throughout: ``facts`` partitioned by ``p``, ``dim`` with the key ``k``. A
case adds what it needs. DuckDB runs them; macros and views stand in for what only Spark has.
"""

from __future__ import annotations

from dataclasses import dataclass

DDL = """
CREATE TABLE facts (p INT, v INT) USING parquet PARTITIONED BY (p);
CREATE TABLE texts (p STRING, v INT) USING parquet PARTITIONED BY (p);
CREATE TABLE dim (k INT, x INT, label STRING) USING parquet;
CREATE TABLE other (v INT, name STRING) USING parquet;
CREATE TABLE spans (x INT, m INT GENERATED ALWAYS AS (x % 10)) USING delta PARTITIONED BY (m);
CREATE TABLE shifts (ts TIMESTAMP, h INT GENERATED ALWAYS AS (hour(ts)))
USING delta PARTITIONED BY (h);
CREATE TABLE times (seen TIMESTAMP, x INT) USING parquet;
CREATE TABLE feed (k INT, x INT) USING delta TBLPROPERTIES ('dpp.streaming' = 'true');
"""

DATA = """
CREATE TABLE facts (p INT, v INT);
CREATE TABLE texts (p VARCHAR, v INT);
CREATE TABLE dim (k INT, x INT, label VARCHAR);
CREATE TABLE other (v INT, name VARCHAR);
CREATE TABLE spans (x INT, m INT);
CREATE TABLE shifts (ts TIMESTAMP, h INT);
CREATE TABLE times (seen TIMESTAMP, x INT);
INSERT INTO spans VALUES (5, 5), (11, 1), (15, 5), (20, 0);
INSERT INTO shifts VALUES ('2024-03-01 22:00:00', 14), ('2024-03-02 09:00:00', 1);
INSERT INTO times VALUES ('2024-03-01 22:00:00', 1), ('2024-03-02 09:00:00', 2);
INSERT INTO facts VALUES (1, 10), (2, 20), (3, 30), (4, 40), (NULL, 50);
INSERT INTO texts VALUES ('1', 10), ('01', 20), ('2', 30);
INSERT INTO dim VALUES (1, 1, '7'), (2, 2, 'none'), (3, 1, '8'), (9, 1, '9'), (NULL, 1, '0');
INSERT INTO other VALUES (1, 'one'), (3, 'three');
"""

# 200 keys with one fact each: two readings that pick a key at random hardly ever pick the same.
_MANY = """
CREATE TABLE facts AS SELECT range::INT AS p, 0 AS v FROM range(200);
CREATE TABLE {dim} AS SELECT range::INT AS k, 1 AS x, '' AS label FROM range(200);
"""


# DuckDB itself prunes by joins, and evaluates a WHERE before the joins that the author wrote first.
_AS_WRITTEN = "SET disabled_optimizers = 'join_filter_pushdown, filter_pushdown, join_order';"


@dataclass(frozen=True, slots=True)
class Witness:
    """A query that the rule ``code`` protects, on the rows of ``data``.

    ``parameters`` are the values for the query's ``?``. ``also`` are rules that refuse the query
    as well, for a reason of their own, and are switched off throughout.
    """

    name: str
    code: str
    sql: str
    data: str = DATA
    parameters: tuple[int, ...] = ()
    also: frozenset[str] = frozenset()


JOIN_TYPE = {
    ("left", "left"): "SELECT f.p, d.k FROM facts f LEFT JOIN dim d ON f.p = d.k AND d.x = 1",
    ("right", "right"): "SELECT f.p, d.k FROM dim d RIGHT JOIN facts f ON f.p = d.k AND d.x = 1",
    ("full", "left"): "SELECT f.p, d.k FROM facts f FULL JOIN dim d ON f.p = d.k AND d.x = 1",
    ("full", "right"): "SELECT f.p, d.k FROM dim d FULL JOIN facts f ON f.p = d.k AND d.x = 1",
    ("left anti", "left"): "SELECT f.p FROM facts f LEFT ANTI JOIN dim d ON f.p = d.k AND d.x = 1",
    ("not exists", "outside"): (
        "SELECT f.p FROM facts f WHERE NOT EXISTS (SELECT 1 FROM dim d WHERE d.k = f.p AND d.x = 1)"
    ),
    ("not in", "outside"): (
        "SELECT f.p FROM facts f WHERE f.p NOT IN "
        "(SELECT d.k FROM dim d WHERE d.x = 1 AND d.k IS NOT NULL)"
    ),
    ("not in", "inside"): (
        "SELECT d.k FROM dim d WHERE d.k NOT IN (SELECT f.p FROM facts f) AND d.x = 1"
    ),
    ("not in (correlated)", "outside"): (
        "SELECT f.p FROM facts f WHERE f.v NOT IN "
        "(SELECT d.x FROM dim d WHERE d.k = f.p AND d.x = 1)"
    ),
    ("scalar", "outside"): (
        "SELECT f.p FROM facts f WHERE (SELECT count(*) FROM dim d WHERE d.k = f.p AND d.x = 1) = 0"
    ),
    ("lateral", "outside"): (
        "SELECT f.p, q.x FROM facts f LEFT JOIN LATERAL "
        "(SELECT d.x FROM dim d WHERE d.k = f.p AND d.x = 1) q ON true"
    ),
}
"""A query for each refusal of ``join_type.LEGAL``, by its key."""

IN_OF_AN_OUTER_JOIN = (
    "SELECT f.p, o.name FROM facts f LEFT JOIN other o "
    "ON f.p = o.v AND f.p IN (SELECT d.k FROM dim d WHERE d.x = 2)"
)
TEXT_AGAINST_NUMBER = "SELECT f.v FROM texts f JOIN dim d ON f.p = d.k WHERE d.x = 1"

CAUTIOUS = frozenset({("in (not required)", "inside")})
"""Refusals of that table which no query is known to need."""

WITNESSES = (
    *(
        Witness(f"{shape}, {side}", "DPP101", sql, also=frozenset({"DPP122"}))
        for (shape, side), sql in JOIN_TYPE.items()
    ),
    Witness(
        "a derived column in another order",
        "DPP117",
        "SELECT s.x FROM spans s JOIN dim d ON s.x <= d.k WHERE d.x = 7",
        data=DATA + "INSERT INTO dim VALUES (21, 7, '');",
    ),
    Witness(
        "hours that were written in another time zone",
        "DPP118",
        "SELECT s.h FROM shifts s JOIN times t ON s.ts = t.seen WHERE t.x = 1",
    ),
    Witness(
        "null-safe equality",
        "DPP102",
        "SELECT f.v FROM facts f JOIN dim d ON f.p <=> d.k WHERE d.x = 1",
    ),
    Witness(
        "a key that is computed from two relations",
        "DPP104",
        "SELECT f.v FROM facts f JOIN dim d ON true JOIN other o ON f.p = coalesce(d.k, o.v) "
        "WHERE d.x = 1 AND o.v = 3",
    ),
    Witness(
        "a key that raises an error for rows that are never asked",
        "DPP104",
        "SELECT f.v FROM facts f JOIN dim d ON f.p = CAST(CAST(d.label AS FLOAT) AS INT) "
        "WHERE d.x * d.x = 1 AND d.k > 0",
    ),
    Witness(
        "LIMIT",
        "DPP105",
        "SELECT f.v FROM (SELECT * FROM facts ORDER BY v LIMIT 1) f JOIN dim d ON f.p = d.k "
        "WHERE d.label = '8'",
    ),
    Witness(
        "a window over all rows",
        "DPP105",
        "SELECT f.n FROM (SELECT p, count(*) OVER () AS n FROM facts) f JOIN dim d ON f.p = d.k "
        "WHERE d.x = 1",
    ),
    Witness(
        "a CTE that others read",
        "DPP106",
        "WITH f AS (SELECT * FROM facts) SELECT f.v FROM f JOIN dim d ON f.p = d.k WHERE d.x = 1 "
        "UNION ALL SELECT f.v FROM f",
    ),
    Witness(
        "a stream as dimension",
        "DPP107",
        "SELECT count(*) FROM facts f JOIN feed d ON f.p = d.k WHERE d.x = 1",
        # Each reading gives what has come since the last one.
        data=DATA + "CREATE SEQUENCE come; CREATE VIEW feed AS "
        "SELECT nextval('come')::INT AS k, 1 AS x;",
    ),
    Witness(
        "rows numbered as they come",
        "DPP108",
        "SELECT f.n FROM (SELECT p, monotonically_increasing_id() AS n FROM facts) f "
        "JOIN dim d ON f.p = d.k WHERE d.label = '8'",
        data=DATA + "CREATE SEQUENCE ids; CREATE MACRO monotonically_increasing_id() AS "
        "nextval('ids');" + _AS_WRITTEN,
    ),
    Witness(
        "a function that is not known, on the fact",
        "DPP108",
        "SELECT f.n FROM (SELECT p, tick(v) AS n FROM facts) f "
        "JOIN dim d ON f.p = d.k WHERE d.label = '8'",
        data=DATA
        + "CREATE SEQUENCE ids; CREATE MACRO tick(v) AS nextval('ids') + v * 0;"
        + _AS_WRITTEN,
        also=frozenset({"DPP105"}),  # it might be an aggregate
    ),
    Witness(
        "a key drawn at random",
        "DPP109",
        "SELECT count(*) FROM facts f JOIN (SELECT CAST(max_by(t.k, rand()) AS INT) AS k "
        "FROM dim t WHERE t.x = 1) d ON f.p = d.k",
        data=_MANY.format(dim="dim"),
    ),
    Witness(
        "LIMIT of a table, which has no order",
        "DPP110",
        "SELECT count(*) FROM facts f JOIN (SELECT t.k FROM dim t WHERE t.x = 1 LIMIT 1) d "
        "ON f.p = d.k",
        data=_MANY.format(dim="stored")
        + "CREATE VIEW dim AS SELECT * FROM stored ORDER BY random();",
    ),
    Witness(
        "a sample of a derived table",
        "DPP110",
        "SELECT count(*) FROM facts f JOIN (SELECT dim.k FROM dim TABLESAMPLE (1 ROWS) "
        "WHERE dim.x = 1) d ON f.p = d.k",
        data=_MANY.format(dim="dim"),
    ),
    Witness(
        "a dimension that looks out, to a name that means another relation there",
        "DPP111",
        "SELECT o.name FROM other o WHERE EXISTS (SELECT 1 FROM (SELECT o.p FROM facts o) f "
        "JOIN (SELECT t.k FROM dim t WHERE t.x = o.v) d ON f.p = d.k)",
    ),
    Witness(
        "text against a number",
        "DPP112",
        TEXT_AGAINST_NUMBER,
    ),
    Witness(
        "a CTE in the place of the dimension",
        "DPP113",
        "SELECT f.v FROM (WITH dim AS (SELECT 1 AS k, 1 AS x) SELECT facts.p, facts.v FROM facts "
        "CROSS JOIN dim) f JOIN dim d ON f.p = d.k WHERE d.x = 1",
    ),
    Witness(
        "a CTE that is not visible there",
        "DPP113",
        "WITH f AS (SELECT * FROM facts), d AS (SELECT k FROM dim WHERE x = 1) "
        "SELECT f.v FROM f JOIN d ON f.p = d.k",
    ),
    Witness(
        "a cast that the join guards",
        "DPP114",
        "SELECT f.v FROM facts f JOIN dim d ON f.p = d.k JOIN other o ON o.v = d.k "
        "WHERE coalesce(CAST(d.label AS INT), 0) > 7 AND d.x < 9",
        # As written: the joins first, then the WHERE, which then sees numbers only.
        data=DATA + _AS_WRITTEN,
    ),
    Witness(
        "a condition whose subquery is bounded itself",
        "DPP114",
        "SELECT d.k FROM dim d WHERE d.x = 1 AND NOT EXISTS "
        "(SELECT 1 FROM facts f WHERE f.p = d.k)",
    ),
    Witness(
        "a positional parameter in the dimension",
        "DPP115",
        "SELECT f.v FROM facts f JOIN (SELECT k FROM dim WHERE x = ?) d ON f.p = d.k",
        parameters=(1,),
    ),
    Witness(
        "a positional parameter in a condition",
        "DPP115",
        "SELECT f.v FROM facts f JOIN dim d ON f.p = d.k WHERE d.x = ? AND d.k < 9",
        parameters=(1,),
    ),
)
