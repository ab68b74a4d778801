"""CREATE TABLE to columns, types, keys, partitioning, streaming and statistics."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sqlrewrite.catalog import Catalog
from sqlrewrite.text import masking, templates
from sqlrewrite.warehouse import PartitionField, Table

Follow = Callable[..., Catalog]

HERE = ("spark_catalog", "default")


def table(catalog: Catalog, name: str = "t") -> Table:
    relation = catalog.resolve(tuple(name.split(".")))
    assert isinstance(relation, Table)
    return relation


@pytest.mark.parametrize(
    ("written", "type_"),
    [
        ("INT", "int"),
        ("INTEGER", "int"),
        ("LONG", "bigint"),
        ("BIGINT", "bigint"),
        ("SHORT", "smallint"),
        ("BYTE", "tinyint"),
        ("TINYINT", "tinyint"),
        ("STRING", "string"),
        ("STRING COLLATE UTF8_BINARY", "string"),
        ("STRING COLLATE UNICODE", "string collate UNICODE"),
        ("VARCHAR(10)", "varchar(10)"),
        ("CHAR(5)", "char(5)"),
        ("CHARACTER(5)", "char(5)"),
        ("DECIMAL", "decimal(10,0)"),
        ("DEC(7)", "decimal(7,0)"),
        ("NUMERIC(7, 2)", "decimal(7,2)"),
        ("REAL", "float"),
        ("BOOLEAN", "boolean"),
        ("DATE", "date"),
        ("TIMESTAMP", "timestamp"),
        ("TIMESTAMP_LTZ", "timestamp_ltz"),
        ("TIMESTAMP_NTZ", "timestamp_ntz"),
        ("BINARY", "binary"),
        ("INTERVAL DAY TO SECOND", "interval day to second"),
        ("ARRAY<STRING>", "array<string>"),
        ("MAP<STRING, ARRAY<INT>>", "map<string,array<int>>"),
        ("STRUCT<a: INT COMMENT 'x', `B c`: TIMESTAMP>", "struct<a:int,`B c`:timestamp>"),
        (
            "STRUCT<key :STRING, comment: ARRAY<STRUCT<b:INT>>>",
            "struct<key:string,comment:array<struct<b:int>>>",
        ),
        ("DOUBLE PRECISION", "double"),
        ("TIME", "time(6)"),
        ("INT(11) UNSIGNED", None),
        ("UUID", None),
        ("ARRAY<JSON>", None),
    ],
)
def test_a_column_has_the_type_that_is_written(
    follow: Follow, written: str, type_: str | None
) -> None:
    columns = table(follow(f"CREATE TABLE t (a {written}, z INT) USING parquet")).columns
    assert [column.type for column in columns] == [type_, "int"]


@pytest.mark.parametrize(
    ("columns", "key", "not_null"),
    [
        ("a INT, b INT", (), ()),
        ("a INT NOT NULL COMMENT 'x', b INT NULL", (), ("a",)),
        ("a INT PRIMARY KEY, b INT", ("a",), ("a",)),
        ("a INT, b INT, PRIMARY KEY (B, a)", ("b", "a"), ("a", "b")),
        ("a INT, b INT, CONSTRAINT pk PRIMARY KEY (a) NOT ENFORCED RELY", ("a",), ("a",)),
        ("a INT, b INT, CONSTRAINT pk PRIMARY KEY (a) NORELY", (), ()),
        ("a INT, b INT, CONSTRAINT fk FOREIGN KEY (a) REFERENCES u (b)", (), ()),
        ("a INT DEFAULT 3, b DATE GENERATED ALWAYS AS (CAST(a AS DATE))", (), ()),
        ("a BIGINT GENERATED ALWAYS AS IDENTITY, `b` STRING DEFAULT 'NOT NULL'", (), ()),
    ],
)
def test_keys_and_nulls(
    follow: Follow, columns: str, key: tuple[str, ...], not_null: tuple[str, ...]
) -> None:
    relation = table(follow(f"CREATE TABLE t ({columns}) USING delta"))
    assert [column.name for column in relation.columns] == ["a", "b"]
    assert relation.primary_key == key
    assert tuple(column.name for column in relation.columns if not column.nullable) == not_null


@pytest.mark.parametrize(
    ("clause", "fields"),
    [
        ("USING parquet", []),
        ("USING parquet PARTITIONED BY (B)", ["b"]),
        ("USING parquet PARTITIONED BY (`b`, a) COMMENT 'x'", ["b", "a"]),
        ("USING delta CLUSTER BY (a)", []),
        ("USING parquet CLUSTERED BY (a) SORTED BY (b) INTO 4 BUCKETS", []),
        ("PARTITIONED BY (c DATE COMMENT 'x', d INT) STORED AS ORC", ["c", "d"]),
        ("USING iceberg PARTITIONED BY (days(b), a)", [("b", "days"), "a"]),
        ("USING iceberg PARTITIONED BY (year(b), months(b))", [("b", "years"), ("b", "months")]),
        ("USING iceberg PARTITIONED BY (date(b), hours(b))", [("b", "days"), ("b", "hours")]),
        ("USING iceberg PARTITIONED BY (bucket(16, a))", [("a", "bucket", 16)]),
        ("USING iceberg PARTITIONED BY (truncate(4, a))", [("a", "truncate", 4)]),
        ("USING iceberg PARTITIONED BY (identity(a))", ["a"]),
        ("USING iceberg PARTITIONED BY (zorder(a))", [("a", "unknown")]),
        ("USING iceberg PARTITIONED BY (length(a))", [("a", "unknown")]),
        ("USING iceberg PARTITIONED BY (s.x)", [("s.x", "unknown")]),
        ("USING iceberg PARTITIONED BY (missing)", [("missing", "unknown")]),
    ],
)
def test_a_clause_gives_its_partition_fields(
    follow: Follow, clause: str, fields: list[str | tuple[str, str] | tuple[str, str, int]]
) -> None:
    relation = table(follow(f"CREATE TABLE t (a INT, b TIMESTAMP) {clause}"))
    expected = [PartitionField(f) if isinstance(f, str) else PartitionField(*f) for f in fields]
    assert list(relation.partitioned_by) == expected


@pytest.mark.parametrize(
    ("definition", "order"),
    [
        ("t (d DATE, x INT, r INT) USING parquet PARTITIONED BY (r, d)", "x r d"),
        ("t (d DATE, x INT, r INT) PARTITIONED BY (d)", "x r d"),
        ("t (x INT) PARTITIONED BY (d DATE, r INT) STORED AS ORC", "x d r"),
        ("t (d DATE, x INT) USING delta PARTITIONED BY (d)", "d x"),
        ("lake.db.t (d DATE, x INT) USING parquet PARTITIONED BY (d)", "d x"),
    ],
)
def test_column_order_is_that_of_select_star(follow: Follow, definition: str, order: str) -> None:
    (table,) = follow(f"CREATE TABLE {definition}").relations.values()
    assert isinstance(table, Table)
    assert " ".join(column.name for column in table.columns) == order


@pytest.mark.parametrize(
    ("statement", "streaming"),
    [
        ("CREATE TABLE t (a INT) USING parquet", False),
        ("CREATE STREAMING TABLE t (a INT)", False),
        ("CREATE OR REFRESH STREAMING TABLE t (a INT)", False),
        ("CREATE OR REFRESH STREAMING TABLE t AS SELECT * FROM STREAM(x)", False),
        ("CREATE TABLE t (a INT) TBLPROPERTIES ('dpp.streaming' = 'true')", True),
        ("CREATE TABLE t (a INT) TBLPROPERTIES (dpp.streaming = true)", True),
        ("CREATE TABLE t (a INT) TBLPROPERTIES ('dpp.streaming' = 'false')", False),
        ("CREATE TABLE t (a INT) USING kafka OPTIONS ('dpp.streaming' = 'true')", True),
    ],
)
def test_which_tables_are_streams(follow: Follow, statement: str, streaming: bool) -> None:
    assert table(follow(statement)).streaming is streaming


@pytest.mark.parametrize(
    ("clause", "provider"),
    [
        ("", None),
        ("USING DELTA", "delta"),
        ("STORED AS ORC", "hive"),
        ("ROW FORMAT DELIMITED FIELDS TERMINATED BY ','", "hive"),
        ("ROW FORMAT SERDE 'x' WITH SERDEPROPERTIES ('a' = 'b') STORED AS TEXTFILE", "hive"),
        ("USING csv OPTIONS (header 'true') LOCATION '/x'", "csv"),
    ],
)
def test_a_table_has_the_provider_of_its_clause(
    follow: Follow, clause: str, provider: str | None
) -> None:
    assert table(follow(f"CREATE TABLE t (a INT) {clause}")).provider == provider


def test_statistics_of_table_properties(follow: Follow) -> None:
    relation = table(
        follow(
            "CREATE TABLE t (Id INT, b INT) USING parquet TBLPROPERTIES ("
            "'spark.sql.statistics.totalSize' = '10', 'spark.sql.statistics.numRows' = '2',"
            "'spark.sql.statistics.colStats.id.distinctCount' = '1',"
            "'spark.sql.statistics.colStats.b.distinctCount' = 'many')"
        )
    )
    assert (relation.size_in_bytes, relation.row_count) == (10, 2)
    assert [column.distinct_count for column in relation.columns] == [1, None]


def test_a_query_leaves_the_columns_unknown(follow: Follow) -> None:
    relation = table(follow("CREATE TABLE t USING parquet PARTITIONED BY (d) AS SELECT 1 AS d"))
    assert relation.columns == ()
    assert relation.partitioned_by == (PartitionField("d"),)


@pytest.mark.parametrize("how", ["LIKE s", "SHALLOW CLONE s"])
def test_a_copy_has_columns_and_partitioning(follow: Follow, how: str) -> None:
    script = "CREATE TABLE s (d DATE, a INT NOT NULL) USING delta PARTITIONED BY (d);"
    catalog = follow(f"{script} CREATE TABLE t {how}")
    copy, original = table(catalog), table(catalog, "s")
    assert (copy.columns, copy.partitioned_by) == (original.columns, original.partitioned_by)
    assert copy.provider == "delta"


@pytest.mark.parametrize(
    "listed",
    [
        "LIKE s, x INT",
        "x INT, LIKE s",
        "LIKE s, LIKE r",
        "LIKE (s), x INT",
        "LIKE IDENTIFIER('s'), x INT",
    ],
)
def test_columns_beside_a_like_in_the_list(follow: Follow, listed: str) -> None:
    """PostgreSQL's way to copy columns: those that are not written out are not known."""
    script = "CREATE TABLE r (b INT); CREATE TABLE s (a INT);"
    assert table(follow(f"{script} CREATE TABLE t (LIKE s)")).complete
    assert not table(follow(f"{script} CREATE TABLE t ({listed})")).complete


def test_a_copy_of_what_is_not_known(follow: Follow) -> None:
    assert table(follow("CREATE TABLE t LIKE elsewhere")).columns == ()


@pytest.mark.parametrize(
    ("second", "column"),
    [
        ("CREATE TABLE t (b INT)", "b"),
        ("CREATE OR REPLACE TABLE t (b INT) USING delta", "b"),
        ("REPLACE TABLE t (b INT) USING iceberg", "b"),
        ("CREATE TABLE IF NOT EXISTS t (b INT)", "a"),
        ("CREATE TABLE IF NOT EXISTS u (b INT)", "a"),
        ("CREATE TABLE t (b INT) LOCATION '{{ root }}/t'", "b"),
    ],
)
def test_a_second_definition(follow: Follow, second: str, column: str) -> None:
    relation = table(follow(f"CREATE TABLE t (a INT); {second}"))
    assert [c.name for c in relation.columns] == [column]


@pytest.mark.parametrize(
    "second",
    [
        "REPLACE TABLE t (a",
        "CREATE TABLE t (a INT) COMMENT 'no end",
        "DROP TABLE IF EXISTS T PURGE",
        "DROP VIEW default.t",
        "DROP SCHEMA default CASCADE",
        "DROP DATABASE default",
    ],
)
def test_what_cannot_be_read_or_is_dropped_is_unknown(follow: Follow, second: str) -> None:
    catalog = follow(f"CREATE TABLE t (a INT); {second}")
    assert catalog.resolve(("t",)) is None


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "CREATE SCHEMA t",
        "CREATE FUNCTION t(x INT) RETURNS INT RETURN x",
        "CREATE POLICY p ON TABLE t",
        "INSERT INTO t VALUES (1)",
        "DROP FUNCTION t",
        "CACHE TABLE t",
        "COMMENT ON TABLE t IS 'x'",
        "TRUNCATE TABLE t",
        "SELECT '",
    ],
)
def test_any_other_statement_leaves_the_catalog_alone(follow: Follow, statement: str) -> None:
    before = follow("CREATE TABLE t (a INT)")
    assert follow(statement, before) == before


@pytest.mark.parametrize(
    ("action", "known"),
    [
        ("SET TBLPROPERTIES ('a' = 'b')", True),
        ("UNSET TBLPROPERTIES ('a')", True),
        ("SET LOCATION '/x'", True),
        ("ADD PARTITION (a = 1)", True),
        ("ADD IF NOT EXISTS PARTITION (a = 1)", True),
        ("DROP IF EXISTS PARTITION (a = 1)", True),
        ("PARTITION (a = 1) SET LOCATION '/x'", True),
        ("PARTITION (a = 1) RENAME TO PARTITION (a = 2)", True),
        ("ADD CONSTRAINT c CHECK (a > 0)", True),
        ("RECOVER PARTITIONS", True),
        ("CLUSTER BY (a)", True),
        ("WRITE ORDERED BY a", True),
        ("SET TBLPROPERTIES ('dpp.streaming' = 'true')", False),
        ("ADD COLUMN b INT", True),
        ("ADD COLUMNS (b INT)", True),
        ("CHANGE COLUMN a b INT", True),
        ("ALTER COLUMN a DROP NOT NULL", True),
        ("RENAME COLUMN a TO b", True),
        ("RENAME TO u", False),
        ("DROP COLUMN a", True),
        ("DROP CONSTRAINT pk", True),
        ("REPLACE COLUMNS (b INT)", True),
        ("ADD PARTITION FIELD days(a)", True),
        ("DROP PARTITION FIELD a", True),
        ("REPLACE PARTITION FIELD a WITH b", False),
        ("DO SOMETHING NEW", False),
    ],
)
def test_an_alter_keeps_the_table_known_or_makes_it_unknown(
    follow: Follow, action: str, known: bool
) -> None:
    catalog = follow(f"CREATE TABLE t (a INT); ALTER TABLE default.T {action}")
    assert (catalog.resolve(("t",)) is not None) is known


@pytest.mark.parametrize(
    ("statement", "namespace"),
    [
        ("USE x", ("spark_catalog", "x")),
        ("USE SCHEMA x", ("spark_catalog", "x")),
        ("USE DATABASE `X y`", ("spark_catalog", "x y")),
        ("USE NAMESPACE x", ("spark_catalog", "x")),
        ("USE lake.web", ("lake", "web")),
        ("USE lake.web.deep", ("lake", "web", "deep")),
        ("USE CATALOG x", ("x", "default")),
        ("USE lake", ("lake", "default")),
        ("SET CATALOG x", ("x", "default")),
        ("USE ${db}", ("spark_catalog", "${db}")),
        ("USE ${hiveconf:DB}", ("spark_catalog", "${hiveconf:db}")),
        ("SET CATALOG ${c}", ("${c}", "default")),
        ("USE IDENTIFIER(:db)", ("?", "?")),
        ("USE ${db}; SET db = x", ("?", "?")),
        ("SET x = 1", HERE),
        ("SELECT 1", HERE),
    ],
)
def test_use_changes_the_namespace(
    follow: Follow, statement: str, namespace: tuple[str, ...]
) -> None:
    catalog = follow(f"CREATE TABLE lake.db.u (a INT); {statement}")
    assert catalog.namespace == namespace


def test_names_are_completed_by_the_namespace(follow: Follow) -> None:
    catalog = follow(
        "USE web; CREATE TABLE A (x INT); CREATE TABLE other.b (x INT);"
        "CREATE TABLE `lake`.`db`.`c.d` (`x y` INT, `u.v` INT) PARTITIONED BY (`u.v`)"
    )
    assert set(catalog.relations) == {
        ("spark_catalog", "web", "a"),
        ("spark_catalog", "other", "b"),
        ("lake", "db", "c.d"),
    }
    relation = catalog.resolve(("lake", "db", "c.d"))
    assert isinstance(relation, Table)
    assert relation.partitioned_by == (PartitionField("u.v"),)


# --- the clauses of many engines ------------------------------------------------------------------


def said(catalog: Catalog, name: str = "t") -> tuple[str, str, bool]:
    """A table's columns with their types, its partition fields, and whether these are all."""
    relation = table(catalog, name)
    columns = ", ".join(f"{c.name} {c.type}" for c in relation.columns)
    fields = ", ".join(f"{f.transform} {f.column}" for f in relation.partitioned_by)
    return columns, fields.replace("identity ", ""), relation.complete


@pytest.mark.parametrize(
    "clauses",
    [
        "(a INT) PARTITIONED BY (dt STRING) ROW FORMAT SERDE 'x.Serde' WITH SERDEPROPERTIES"
        " ('separatorChar' = ',', 'quoteChar' = '\\'', 'escapeChar' = '\\\\') STORED AS TEXTFILE",
        "(a INT) COMMENT 'of (all) AS SELECT' PARTITIONED BY (dt STRING COMMENT 'day') CLUSTERED BY"
        " (a) SORTED BY (a ASC) INTO 4 BUCKETS ROW FORMAT DELIMITED FIELDS TERMINATED BY '('"
        " COLLECTION ITEMS TERMINATED BY ';' NULL DEFINED AS '' STORED AS INPUTFORMAT 'i'"
        " OUTPUTFORMAT 'o' LOCATION '${root}/t' TBLPROPERTIES ('orc.compress' = 'snappy')",
        "(a INT) PARTITIONED BY (dt STRING) STORED AS ${FILE}",
        "(a INT, dt STRING) PARTITIONED BY SPEC (dt) STORED BY ICEBERG",
        "(a INT) PARTITIONED BY (dt STRING) SKEWED BY (a) ON ((1), (2)) STORED AS DIRECTORIES",
        "(a INT) PARTITIONED BY (dt STRING) STORED BY 'x.Handler' WITH SERDEPROPERTIES ('k' = 'v')",
        "(a INT, dt STRING, CONSTRAINT pk PRIMARY KEY (a) RELY, CHECK (a < 3)) USING DELTA"
        " PARTITIONED BY (dt) TBLPROPERTIES (delta.enableChangeDataFeed = true)",
        "(a INT MASK f USING COLUMNS (dt), dt STRING) USING delta PARTITIONED BY (dt)"
        " WITH ROW FILTER rf ON (dt)",
        "(a INT, dt STRING GENERATED ALWAYS AS (CAST(a AS STRING))) PARTITIONED BY (dt)",
        "(a INT CHECK (a > 3 AND a < 5), dt STRING) USING hudi TBLPROPERTIES (primaryKey = 'a',"
        " type = 'cow') PARTITIONED BY (dt)",
        "(a INT, dt STRING) PARTITIONED BY (dt) WITH ('bucket' = '4', 'changelog-producer' = 'x')",
        "(a INT, dt STRING) TBLPROPERTIES ('primary-key' = 'dt,a') PARTITIONED BY (dt)",
        "PARTITIONED BY (dt) (a INT, dt STRING)",
        "(a INT, dt STRING) WITH (format = 'ORC', partitioned_by = ARRAY['dt'])",
        "(`a` INT COMMENT 'it''s', `dt` STRING COMMENT \"it's\",) PARTITIONED BY (`dt`)",
        "(a INT COMMENT'x', dt STRING) PARTITIONED BY(dt)COMMENT'y'",
        "(a:INT, dt:STRING) PARTITIONED BY (dt)",
    ],
)
def test_other_clauses_change_nothing_of_a_table(follow: Follow, clauses: str) -> None:
    assert said(follow(f"CREATE EXTERNAL TABLE IF NOT EXISTS t {clauses}")) == (
        "a int, dt string",
        "dt",
        True,
    )


@pytest.mark.parametrize(
    ("definition", "columns", "complete"),
    [
        ("(a INT, b FOO.BAR)", "a int, b None", True),
        ("(key VARCHAR(20), unique INT, index INT, check STRING COMMENT 'x')", None, True),
        ("(a INT, KEY by_a (a), UNIQUE KEY (a), INDEX i (a)) ENGINE=InnoDB", "a int", True),
        ("({{ columns() }}, a INT)", "a int", False),
        ("(a INT {% if b %}, b INT {% endif %})", "a int, b int", False),
        ("PARTITIONED BY (dt STRING) STORED AS AVRO", "dt string", False),
        ("(a STRING, b CHAR(2), c INT) DEFAULT COLLATION UNICODE", None, True),
        ("(a INT, d DATE) USING ${format} PARTITIONED BY (a)", "a int, d date", False),
        ("(a INT, d DATE) USING ${format} PARTITIONED BY (d)", "a int, d date", True),
    ],
)
def test_columns_are_known_or_said_to_be_incomplete(
    follow: Follow, definition: str, columns: str | None, complete: bool
) -> None:
    expected = (
        columns
        or {
            "(k": "key varchar(20), unique int, index int, check string",
            "(a": "a string collate UNICODE, b None, c int",
        }[definition[:2]]
    )
    described = said(follow(f"CREATE TABLE t {definition}"))
    assert (described[0], described[2]) == (expected, complete)


@pytest.mark.parametrize(
    ("action", "columns", "fields", "complete"),
    [
        ("ADD COLUMNS (b INT COMMENT 'x', c DATE)", "a int, b int, c date, d date", "d", True),
        ("ADD COLUMN IF NOT EXISTS b INT", "a int, b int, d date", "d", True),
        ("ADD COLUMN b INT FIRST", "a int, b int, d date", "d", False),
        ("ADD COLUMNS (a.b INT)", "a int, d date", "d", False),
        ("CHANGE a b BIGINT COMMENT 'x'", "b bigint, d date", "d", True),
        ("CHANGE COLUMN d e DATE", "a int, e date", "e", True),
        ("CHANGE COLUMN a COMMENT 'x'", "a int, d date", "d", True),
        ("ALTER COLUMN a TYPE BIGINT", "a bigint, d date", "d", True),
        ("ALTER COLUMN a COMMENT 'x'", "a int, d date", "d", True),
        ("ALTER COLUMN a SET MASK f", "a int, d date", "d", True),
        ("RENAME COLUMN d TO e", "a int, e date", "e", True),
        ("DROP COLUMNS (a)", "d date", "d", True),
        ("REPLACE COLUMNS (x INT, y INT)", "x int, y int, d date", "d", True),
        ("ADD PARTITION FIELD bucket(4, a)", "a int, d date", "d, bucket a", True),
        ("DROP PARTITION FIELD d", "a int, d date", "", True),
        ("DROP PRIMARY KEY", "a int, d date", "d", True),
    ],
)
def test_alter_is_followed(
    follow: Follow, action: str, columns: str, fields: str, complete: bool
) -> None:
    script = f"CREATE TABLE t (a INT) PARTITIONED BY (d DATE); ALTER TABLE t {action}"
    assert said(follow(script)) == (columns, fields, complete)


@pytest.mark.parametrize(
    "action", ["DROP COLUMN d", "ALTER COLUMN a.b TYPE INT", "CHANGE x y INT", "ADD COLUMNS (b"]
)
def test_an_alter_that_is_not_understood_leaves_nothing_known(follow: Follow, action: str) -> None:
    script = f"CREATE TABLE t (a INT) PARTITIONED BY (d DATE); ALTER TABLE t {action}"
    assert follow(script).resolve(("t",)) is None


def test_a_renamed_table(follow: Follow) -> None:
    catalog = follow("CREATE TABLE dw.t (a INT); ALTER TABLE dw.t RENAME TO u")
    assert catalog.resolve(("dw", "t")) is None
    assert said(catalog, "dw.u")[0] == "a int"


# --- names that are templates, and schemas that nobody names --------------------------------------


@pytest.mark.parametrize(
    ("made", "read"),
    [
        ("${DB}.t", "${db}.t"),
        ("${hiveconf:db}.t", "${db}.t"),
        ("{{ schema }}.t", "dw.t"),
        ("$db_output.t", "$db_output.t"),
        ("${db}_raw.t", "${db}_raw.t"),
        ("t", "dw.t"),
        ("dw.t", "t"),
        ("dw.t", "lake.dw.t"),
    ],
)
def test_a_schema_that_may_be_another(follow: Follow, made: str, read: str) -> None:
    assert said(follow(f"CREATE TABLE {made} (a INT)"), read)[0] == "a int"


@pytest.mark.parametrize(
    ("script", "read"),
    [
        ("CREATE TABLE dw.t (a INT)", "stage.t"),
        ("CREATE TABLE ${a}.t (a INT); CREATE TABLE ${b}.t (a INT)", "dw.t"),
        ("CREATE TABLE lake.dw.t (a INT)", "sea.dw.t"),
        ("CREATE TABLE ${a}.t (a INT); SET a = x", "${a}.t"),
        ("CREATE TABLE ${a}.t (a INT); set hivevar:a=x", "${a}.t"),
        ("CREATE TABLE dw.t (a INT); CREATE TABLE t (a", "t"),
        ("CREATE TABLE dw.t (a INT); CREATE TABLE t (a INT); DROP TABLE t", "t"),
    ],
)
def test_a_table_that_is_another(follow: Follow, script: str, read: str) -> None:
    assert follow(script).resolve(tuple(read.split("."))) is None


@pytest.mark.parametrize(
    ("ddl", "columns"),
    [
        ("CREATE TABLE t (a INT, b INT) USING delta CLUSTER BY (B, a)", ("b", "a")),
        (
            "CREATE TABLE t (a INT, b INT) CLUSTERED BY (a) SORTED BY (b DESC, a) INTO 4 BUCKETS",
            ("b",),
        ),
        ("CREATE TABLE t (a INT) CLUSTERED BY (a) INTO 4 BUCKETS", ()),
        ("CREATE TABLE t (a INT) USING delta; ALTER TABLE t CLUSTER BY (a)", ("a",)),
        (
            "CREATE TABLE t (a INT) USING delta CLUSTER BY (a); ALTER TABLE t CLUSTER BY NONE",
            (),
        ),
        ("CREATE TABLE t (a INT) USING iceberg; ALTER TABLE t WRITE ORDERED BY a, b", ("a",)),
        (
            "CREATE TABLE t (a INT) USING iceberg; "
            "ALTER TABLE t WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY a",
            ("a",),
        ),
        (
            "CREATE TABLE t (a INT) USING iceberg; ALTER TABLE t WRITE ORDERED BY a; "
            "ALTER TABLE t WRITE UNORDERED",
            (),
        ),
        (
            "CREATE TABLE t (a INT) USING iceberg "
            "TBLPROPERTIES ('sort-order' = 'a ASC NULLS FIRST, b DESC NULLS LAST')",
            ("a",),
        ),
    ],
)
def test_what_orders_the_rows(ddl: str, columns: tuple[str, ...]) -> None:
    assert table(Catalog.from_ddl(ddl)).clustered_by == columns


def test_a_text_is_looked_through_for_templates_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not once a statement: a dump of 300 KB took ten seconds."""
    texts = list[str]()
    real = templates.templated

    def counted(text: str) -> bool:
        texts.append(text)
        return real(text)

    monkeypatch.setattr(masking, "templated", counted)
    dump = "".join(f"CREATE TABLE `t{n}` (x INT);\n" for n in range(50))
    assert table(Catalog.from_ddl(dump), "t49").columns
    assert 0 < texts.count(dump) < 10
