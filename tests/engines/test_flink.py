"""Flink's dialect, DDL and engine, as far as no Flink is needed; tests/flink asks Flink itself."""

from __future__ import annotations

import re

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.results import Rewrite
from sqlrewrite.settings.options import Keys, make_options
from sqlrewrite.stripping import stripped
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Table

from .flink_plans import DDL, MISSED, PRUNED, USELESS


def _flink(text: str, known: Catalog, when: str = "eligible") -> str:
    return rewrite(text, known, dialect="flink", engine="flink", when=when).sql


# --- what it prunes by itself ---------------------------------------------------------------------


@pytest.mark.parametrize("query", PRUNED)
def test_left_to_it(query: str) -> None:
    assert _flink(query, Catalog.from_ddl(DDL), "missed") == query


@pytest.mark.parametrize(("query", "why"), MISSED.items())
def test_what_flink_misses_is_told_with_the_reason(query: str, why: str) -> None:
    """What Flink would not prune is not left to it, each with the reason."""
    catalog = Catalog.from_ddl(DDL)
    result = rewrite(query, catalog, dialect="flink", engine="flink", when="missed")
    rules = [rule for each in result.candidates for rule in each.rules if rule.code == "DPP125"]
    assert any(why in sentence.message for sentence in rules), rules


@pytest.mark.parametrize("query", USELESS)
def test_an_in_would_be_missed_too(query: str) -> None:
    assert _flink(query, Catalog.from_ddl(DDL)) == query


def test_the_connector_decides() -> None:
    """Hive's of some types and Paimon's take keys at run time; the filesystem's and Iceberg's do
    not. Of a table without a connector that is assumed, and told."""
    query = "SELECT f.v FROM f JOIN d ON f.k = d.k WHERE d.n = 'x'"
    ddl = "CREATE TABLE f (v INT, k {}) PARTITIONED BY (k) {}; CREATE TABLE d (k {}, n STRING)"
    missed = {}
    for kind in ("BIGINT", "DECIMAL(9, 2)"):
        for name in ("hive", "paimon", "filesystem", "iceberg", ""):
            options = f"WITH ('connector' = '{name}')" if name else ""
            catalog = Catalog.from_ddl(ddl.format(kind, options, kind))
            missed[name, kind[:3]] = _flink(query, catalog, "missed") == query
    assert [name for name, whole in missed.items() if whole] == [
        ("hive", "BIG"),
        ("paimon", "BIG"),
        ("", "BIG"),
        ("paimon", "DEC"),
    ]
    result = rewrite(query, catalog, dialect="flink", engine="flink", when="missed")
    messages = [
        rule.message for each in result.candidates for rule in each.rules if rule.code == "DPP125"
    ]
    assert messages == ["Flink misses it: the connector of `f` takes no keys for `k`"]


def test_its_filtering_switched_off() -> None:
    query = PRUNED[0]
    text = f"SET 'table.optimizer.dynamic-filtering.enabled' = 'false';\n{query}"
    sentences = _told(rewrite(text, Catalog.from_ddl(DDL), dialect="flink", engine="flink"))
    assert any("Flink does not prune by an IN" in sentence for sentence in sentences)
    assert any("`--predicate values` writes constants" in sentence for sentence in sentences)


def test_what_pays_where_no_keys_are_taken() -> None:
    """A subquery prunes nothing of a table of files: constants do."""
    query = "SELECT f.v FROM f JOIN d ON f.k = d.k WHERE d.n = 'x'"
    result = rewrite(query, Catalog.from_ddl(TABLES), dialect="flink", engine="flink", when="auto")
    why = "the connector of `f` takes no keys for `k` at run time, so a subquery prunes nothing: "
    assert any(
        f"{why}`--predicate values` writes constants" in sentence for sentence in _told(result)
    )
    assert not result.changed


def _told(result: Rewrite) -> list[str]:
    return [f"{rule.code} {rule.message}" for each in result.candidates for rule in each.rules]


def test_no_null_without_a_type() -> None:
    """Flink's IF refuses one, by which an average that decides over the rows is guarded."""
    catalog = Catalog.from_ddl(DDL.replace("m BIGINT", "m INT"))
    query = "SELECT f.v FROM f JOIN (SELECT k FROM d GROUP BY k HAVING {}(m) > 3) d ON f.k = d.k"
    result = rewrite(query.format("avg"), catalog, dialect="flink", engine="flink")
    assert any("flink has no IF(…, NULL) without a type" in sentence for sentence in _told(result))
    assert not result.changed
    assert _flink(query.format("max"), catalog) != query.format("max")


def test_no_subquery_in_an_on() -> None:
    """Flink 2.3 fails on it with an error; constants it takes, and prunes by them."""
    catalog = Catalog.from_ddl(DDL)
    query = "SELECT * FROM e LEFT JOIN f ON e.k = f.k AND e.n = 'x'"
    assert _flink(query, catalog) == query
    result = rewrite(
        query,
        catalog,
        dialect="flink",
        engine="flink",
        predicate="values",
        resolve=lambda *_: Keys(("1", "2"), "bigint", "2026-01-31T09:30:00Z", False),
    )
    assert "AND f.k IN (1, 2)" in result.sql


def test_the_limit_of_keys() -> None:
    """8 MB: 1,048,576 keys of BIGINT, of twice as many rows by the ratio where no more is known."""
    query = PRUNED[0]
    for rows in (2_000_000, 2_200_000):
        counted = f"m BIGINT) TBLPROPERTIES ('spark.sql.statistics.numRows'='{rows}');"
        catalog = Catalog.from_ddl(DDL.replace("m BIGINT);", counted, 1))
        result = rewrite(query, catalog, dialect="flink", engine="flink")
        assert result.changed == (rows == 2_000_000)
        over = any(
            "8,800,000 bytes of keys, over the limit" in sentence for sentence in _told(result)
        )
        assert over != result.changed


# --- its DDL, and streams -------------------------------------------------------------------------

TABLES = """
CREATE TABLE f (
  v BIGINT, c AS v + 1, at TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, k BIGINT,
  PRIMARY KEY (v) NOT ENFORCED
) COMMENT 'x' PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'csv');
CREATE TABLE d (k BIGINT, n STRING, off BIGINT METADATA VIRTUAL)
DISTRIBUTED BY HASH(k) INTO 4 BUCKETS WITH ('connector' = 'jdbc');
"""


def _table(ddl: str, name: str = "t") -> Table:
    table = Catalog.from_ddl(TABLES + ddl).resolve((name,))
    assert isinstance(table, Table)
    return table


def test_a_table_has_its_columns_keys_and_partitions() -> None:
    """Computed and metadata columns are columns, keys are keys, and partition columns keep their
    place."""
    table = _table("", "f")
    assert [(column.name, column.type) for column in table.columns] == [
        ("v", "bigint"),
        ("c", None),
        ("at", "timestamp"),
        ("k", "bigint"),
    ]
    assert [column.column for column in table.partitioned_by] == ["k"]
    assert (table.primary_key, table.provider) == (("v",), "filesystem")
    assert (table.streaming, table.unsteady, table.complete) == (False, "", True)
    assert [column.name for column in _table("", "d").columns] == ["k", "n", "off"]


@pytest.mark.parametrize(
    ("ddl", "columns", "partitions", "provider", "complete"),
    [
        ("LIKE f", "v c at k", "k", "filesystem", True),
        ("(z INT) LIKE f", "v c at k z", "k", "filesystem", True),
        ("(z INT) LIKE f (EXCLUDING PARTITIONS)", "v c at k z", "", "filesystem", True),
        ("LIKE f (EXCLUDING ALL INCLUDING OPTIONS)", "v c at k", "", None, False),
        ("(z INT) LIKE f (EXCLUDING GENERATED)", "v c at k z", "k", "filesystem", False),
        ("WITH ('connector' = 'hive') LIKE f (OVERWRITING OPTIONS)", "v c at k", "k", "hive", True),
        ("(z INT) LIKE not_known", "z", "", None, False),
    ],
)
def test_like_takes_over_what_is_not_excluded(
    ddl: str, columns: str, partitions: str, provider: str, complete: bool
) -> None:
    """LIKE takes over columns, partitions, keys and options, but for what is excluded."""
    table = _table(f"CREATE TABLE t {ddl}")
    assert " ".join(column.name for column in table.columns) == columns
    assert " ".join(column.column for column in table.partitioned_by) == partitions
    assert (table.provider, table.complete) == (provider, complete)


def test_a_row_is_one_column() -> None:
    ddl = "CREATE TABLE t (r ROW<a INT, b ARRAY<STRING>>, m MULTISET<MAP<INT, INT>>, k INT)"
    assert [column.name for column in _table(ddl).columns] == ["r", "m", "k"]


KAFKA = "the connector 'kafka' without 'scan.bounded.mode' reads without an end"
SEQUENCE = """(k BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '9',
'fields.k.kind' = 'sequence', 'fields.k.start' = '1', 'fields.k.end' = '9')"""


@pytest.mark.parametrize(
    ("ddl", "why"),
    [
        ("(k BIGINT) WITH ('connector' = 'filesystem')", ""),
        ("(k BIGINT) WITH ('connector' = 'hive')", ""),
        ("(k BIGINT) WITH ('connector' = 'paimon')", ""),
        ("(k BIGINT) WITH ('connector' = 'kafka', 'scan.bounded.mode' = 'latest-offset')", ""),
        (SEQUENCE, ""),
        ("(k BIGINT) WITH ('bucket' = '4')", ""),
        ("(k BIGINT, u AS UPPER('x'), w AS CAST(k AS STRING))", ""),
        ("(k BIGINT) WITH ('connector' = 'kafka')", KAFKA),
        ("(k BIGINT) WITH ('connector' = 'kafka', 'scan.bounded.mode' = 'unbounded')", KAFKA),
        ("WITH ('connector' = 'kafka') LIKE d", KAFKA),
        (
            "(k BIGINT) WITH ('connector' = 'filesystem', 'source.monitor-interval' = '1 s')",
            "the connector 'filesystem' with 'source.monitor-interval' reads without an end",
        ),
        (
            "(k BIGINT) WITH ('connector' = 'hive', 'streaming-source.enable' = 'true')",
            "the connector 'hive' with 'streaming-source.enable' reads without an end",
        ),
        (
            "(k BIGINT) WITH ('connector' = 'datagen')",
            "the connector 'datagen' without 'number-of-rows' reads without an end",
        ),
        (
            "(k BIGINT) WITH ('connector' = 'mysql-cdc')",
            "the connector 'mysql-cdc' reads without an end, as far as is known",
        ),
        (
            "(k BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)",
            "its DDL declares a watermark",
        ),
    ],
)
def test_what_is_a_stream(ddl: str, why: str) -> None:
    table = _table(f"CREATE TABLE t {ddl};")
    assert (table.streaming, table.unsteady) == (bool(why), why)


def test_what_a_like_takes_over_of_a_stream() -> None:
    ddl = """CREATE TABLE s (k BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'kafka', 'scan.bounded.mode' = 'latest-offset');
    CREATE TABLE t LIKE s;
    CREATE TABLE u LIKE s (EXCLUDING WATERMARKS);
    CREATE TABLE v WITH ('connector' = 'kafka') LIKE d;
    CREATE TABLE w LIKE v;
    CREATE TABLE x WITH ('scan.bounded.mode' = 'latest-offset') LIKE v;
    CREATE TABLE y WITH ('connector' = 'jdbc') LIKE v (EXCLUDING OPTIONS)"""
    streams = {name: _table(ddl, name).streaming for name in "stuvwxy"}
    assert [name for name, streaming in streams.items() if streaming] == ["s", "t", "v", "w"]


QUERY = "SELECT f.v FROM f JOIN t ON f.k = t.k WHERE t.n = 'x'"


@pytest.mark.parametrize(
    ("ddl", "code", "why"),
    [
        (
            "(k BIGINT, n STRING) WITH ('connector' = 'kafka')",
            "DPP107",
            f"`t` is a stream ({KAFKA})",
        ),
        ("(k BIGINT, n STRING, u AS UUID())", "DPP109", "u is computed by uuid()"),
        ("(k BIGINT, n STRING, p AS PROCTIME())", "DPP109", "p is computed by proctime()"),
        (
            "(k BIGINT, n STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '9')",
            "DPP109",
            "datagen makes other rows for each scan",
        ),
    ],
)
def test_such_a_dimension_is_not_read_twice(ddl: str, code: str, why: str) -> None:
    _refused(QUERY, f"CREATE TABLE t {ddl};", code, why)


def test_a_stream_is_not_bounded() -> None:
    ddl = "CREATE TABLE t (k BIGINT, n STRING) PARTITIONED BY (n) WITH ('connector' = 'kafka')"
    query = "SELECT * FROM t JOIN d ON t.n = d.n WHERE d.k = 3"
    _refused(
        query,
        ddl,
        "DPP107",
        f"`t` is a stream ({KAFKA}): pruning would change the state of the join",
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT f.v FROM f JOIN d ON f.k = d.k JOIN t ON t.k = d.k WHERE d.n = 'x'",
        "SELECT f.v FROM (SELECT v, k FROM f UNION ALL SELECT 1, k FROM t) f JOIN d ON f.k = d.k "
        "WHERE d.n = 'x'",
        "WITH c AS (SELECT k FROM t) SELECT f.v FROM f JOIN d ON f.k = d.k "
        "WHERE d.n = 'x' AND f.v IN (SELECT k FROM c)",
    ],
)
def test_a_stream_beside_makes_the_statement_one(query: str) -> None:
    ddl = "CREATE TABLE t (k BIGINT, n STRING) WITH ('connector' = 'kafka')"
    _refused(query, ddl, "DPP107", f"`t` in the same statement is a stream ({KAFKA})")


OPTIONS = "/*+ OPTIONS('scan.parallelism' = '2', 'lookup.cache'='PARTIAL') */"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT f.v FROM f {} JOIN d ON f.k = d.k WHERE d.n = 'x'",
        "SELECT e.v FROM f {} AS e JOIN d /*+options('split-size'='1')*/ q ON e.k = q.k "
        "WHERE q.n = 'x'",
        "INSERT INTO u /*+ OPTIONS('sink.parallelism'='2') */ "
        "SELECT f.v FROM f JOIN d {} ON f.k = d.k WHERE d.n = 'x'",
        "SELECT f.v FROM d JOIN (SELECT v, k FROM f {}) f ON f.k = d.k WHERE d.n = 'x'",
        "WITH c AS (SELECT v, k FROM f {}) SELECT c.v FROM c JOIN d ON c.k = d.k WHERE d.n = 'x'",
        "SELECT v FROM (SELECT k FROM d WHERE n = 'x') d NATURAL JOIN f {}",
    ],
)
def test_options_of_a_table_that_read_the_same_rows(query: str) -> None:
    """Such a hint changes nothing: the same is written as without it, and the hint stays behind its
    table."""
    catalog = Catalog.from_ddl(TABLES)
    rewritten = _flink(query.format(OPTIONS), catalog)
    assert rewritten != query.format(OPTIONS)
    assert re.search(rf"\b[fd] {re.escape(OPTIONS)}", rewritten)
    assert _flink(rewritten, catalog) == rewritten
    assert stripped(rewritten, Limits(dialect="flink")).sql == query.format(OPTIONS)
    hint = re.compile(r" ?/\*\+.*?\*/")
    assert hint.sub("", rewritten) == _flink(hint.sub("", query.format(OPTIONS)), catalog)


@pytest.mark.parametrize(
    ("hint", "option"),
    [
        ("OPTIONS('scan.startup.mode'='earliest-offset')", "scan.startup.mode"),
        ("OPTIONS('scan.parallelism'='2', 'snapshot-id' = '7')", "snapshot-id"),
        ("OPTIONS('source.monitor-interval'='1 s')", "source.monitor-interval"),
        ("OPTIONS('SCAN.PARALLELISM'='2')", "SCAN.PARALLELISM"),
        ("OPTIONS(scan.parallelism='2')", ""),
        ("OPTIONS('scan.parallelism'='2'), OPTIONS('snapshot-id'='7')", ""),
        ("OPTIONS('scan.parallelism'='2',)", ""),
        ("STATE_TTL('f'='1d')", ""),
    ],
)
def test_options_that_may_read_other_rows(hint: str, option: str) -> None:
    query = f"SELECT f.v FROM f /*+ {hint} */ JOIN d ON f.k = d.k WHERE d.n = 'x'"
    result = rewrite(query, Catalog.from_ddl(TABLES), dialect="flink", engine="flink")
    assert not result.changed
    (problem,) = [*result.errors, *result.skipped]
    assert (option or "is not understood in flink's SQL") in problem.message
    assert ("in an OPTIONS hint may choose other rows" in problem.message) == bool(option)


def test_the_definitions_of_a_text() -> None:
    """METADATA FROM is no FROM of a query, and a definition in a text is no statement to report."""
    result = rewrite(TABLES + JOINED, Catalog(), dialect="flink", engine="flink")
    assert result.changed
    assert not result.errors
    assert not result.skipped


BATCH = "SET 'execution.runtime-mode' = 'batch';\n"
JOINED = "SELECT f.v FROM f JOIN d ON f.k = d.k WHERE d.n = 'x'"


@pytest.mark.parametrize(
    ("before", "changed"),
    [
        ("", True),
        (BATCH, True),
        ("SET 'execution.runtime-mode' = 'streaming';\n", False),
        ("SET 'execution.runtime-mode' = 'STREAMING';\n" + BATCH, True),
        ("SET execution.runtime-mode = streaming;\n", False),
        (BATCH + "RESET 'execution.runtime-mode';\n", False),
        (BATCH + "RESET;\n", False),
        (BATCH + "SET 'table.sql-dialect' = 'hive';\n", False),
        (BATCH + "SET 'pipeline.name' = 'x';\n", True),
    ],
)
def test_the_mode_of_a_text(before: str, changed: bool) -> None:
    text = before + JOINED
    assert (_flink(text, Catalog.from_ddl(TABLES)) != text) == changed


def test_the_mode_of_the_ddl() -> None:
    mode = "SET 'execution.runtime-mode' = 'streaming';"
    why = (
        "Flink reads tables as streams: SET 'execution.runtime-mode' = 'batch' if the job is a "
        "batch job"
    )
    _refused(JOINED, mode, "DPP107", why)


def test_a_temporal_join() -> None:
    """Also with a table that nobody knows, or a view, beside."""
    query = "SELECT f.v FROM f JOIN d FOR SYSTEM_TIME AS OF f.at ON f.k = d.k WHERE d.n = 'x'"
    why = "is a stream (a temporal join reads it as of a time of each row)"
    _refused(query, "", "DPP107", f"`d` {why}")
    view = "CREATE VIEW w AS SELECT k AS z FROM d;"
    for name in ("w", "unknown"):
        beside = f"{JOINED} AND f.v IN (SELECT 1 FROM {name})"
        assert _flink(beside, Catalog.from_ddl(TABLES + view)) != beside
        beside = JOINED.replace(
            " WHERE", f" JOIN {name} FOR SYSTEM_TIME AS OF f.at o ON o.z = f.v WHERE"
        )
        _refused(beside, view, "DPP107", f"`o` in the same statement {why}")


def _refused(query: str, ddl: str, code: str, why: str) -> None:
    catalog = Catalog.from_ddl(TABLES + ddl)
    result = rewrite(query, catalog, dialect="flink", engine="flink")
    sentences = _told(result)
    assert not result.changed
    assert any(sentence.startswith(code) and why in sentence for sentence in sentences), sentences


# --- its SQL --------------------------------------------------------------------------------------


def test_its_own_words() -> None:
    """Names in backquotes, a backslash that escapes nothing, functions of its own; no hint."""
    catalog = Catalog.from_ddl(TABLES + "CREATE TABLE t (k BIGINT, `group` STRING)")
    text = (
        "SELECT DATE_FORMAT(f.at, 'yyyy'), LISTAGG(t.`group`) FROM f JOIN t ON f.k = t.k "
        "WHERE t.`group` = 'a\\' AND REGEXP(f.c, 'x') AND LEFT(t.`group`, 1) = 'y'"
    )
    written = _flink(f"{text} GROUP BY 1", catalog)
    assert written == (
        f"{text} AND f.k IN (SELECT t2.k FROM t AS t2 WHERE t2.`group` = 'a\\' "
        "AND LEFT(t2.`group`, 1) = 'y') /* dpp-rewrite */ GROUP BY 1"
    )
    assert stripped(written, Limits(dialect="flink")).sql == f"{text} GROUP BY 1"


RESERVED = """CREATE TABLE s (v INT, `day` DATE) PARTITIONED BY (`day`);
CREATE TABLE t (`day` DATE, `year` INT, x STRING)"""


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("SELECT s.v FROM s JOIN t USING (`day`) WHERE `year` = 1", "s.`day`"),
        ("SELECT * FROM (SELECT `day` FROM s{}) s JOIN t USING (`day`) WHERE `year` = 1", "`day`"),
    ],
)
def test_a_name_that_is_reserved_there_is_quoted(query: str, written: str) -> None:
    catalog = Catalog.from_ddl(RESERVED)
    text = query.format("")
    predicate = f"{written} IN (SELECT t2.`day` FROM t AS t2 WHERE t2.`year` = 1) /* dpp-rewrite */"
    expected = query.format(f" WHERE {predicate}") if "{}" in query else f"{query} AND {predicate}"
    assert _flink(text, catalog) == expected
    assert _flink(expected, catalog) == expected


def test_names_that_an_alias_lists() -> None:
    catalog = Catalog.from_ddl(RESERVED)
    rows = "(VALUES (DATE '2024-01-02', 1)) AS {}(`day`, x)"
    query = f"SELECT s.v FROM s JOIN {rows.format('t')} ON s.`day` = t.`day`"
    predicate = f"s.`day` IN (SELECT t2.`day` FROM {rows.format('t2')})"
    assert _flink(query, catalog) == f"{query} WHERE {predicate} /* dpp-rewrite */"


def test_a_star_of_one_side_beside_using() -> None:
    """Spark's begins with the merged column, Flink's does not: `c` is another one there."""
    catalog = Catalog.from_ddl(
        "CREATE TABLE f (p INT, b INT) PARTITIONED BY (p);"
        "CREATE TABLE d (m INT); CREATE TABLE e (k INT, m INT)"
    )
    inner = "SELECT r.* FROM (SELECT m AS b FROM d) AS l JOIN (SELECT p, b FROM f) AS r USING (b)"
    query = f"SELECT u.c FROM ({inner}) AS u (b, c) JOIN e ON u.c = e.k WHERE e.m = 1"
    assert _flink(query, catalog) == query


def test_names_that_differ_in_case() -> None:
    """Two things to Flink, and one to the rest: left alone."""
    query = "SELECT f.v FROM f JOIN d F ON f.k = F.k WHERE F.n = 'x'"
    assert _flink(query, Catalog.from_ddl(TABLES)) == query


def test_keys_are_asked_for_in_its_words() -> None:
    queries: list[str] = []

    def resolve(query: str, namespace: tuple[str, ...]) -> Keys:
        queries.append(query)
        return Keys(("DATE '2024-01-01'",), "date", "2026-01-31T09:30:00Z", False)

    query = "SELECT s.v FROM s JOIN t ON s.`day` = t.`day` WHERE t.x = 'a\\' AND LEFT(t.x, 1) = 'a'"
    catalog = Catalog.from_ddl(RESERVED)
    result = rewrite(
        query, catalog, dialect="flink", engine="flink", predicate="values", resolve=resolve
    )
    assert "AND s.`day` IN (DATE '2024-01-01')" in result.sql
    assert queries == ["SELECT t2.`day` FROM t AS t2 WHERE t2.x = 'a\\' AND LEFT(t2.x, 1) = 'a'"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT * FROM f JOIN d /*+ OPTIONS('a') */ ON f.k = d.k WHERE d.n = 'x'", "OPT"),
        ("SELECT * FROM f JOIN d ON f.k = d.k WHERE d.n = U&'x'", "&"),
        ("SELECT * FROM f JOIN d ON f.k = d.k WHERE d.n != 'x'", "!"),
        ("SELECT * FROM f JOIN d ON f.k = d.k WHERE d.n = 'x' // all", "/"),
    ],
)
def test_what_is_not_understood(query: str, why: str) -> None:
    result = rewrite(query, Catalog.from_ddl(TABLES), dialect="flink", engine="flink")
    assert not result.changed
    message = result.skipped[0].message
    assert "is not understood in flink's SQL" in message
    assert why in message


def test_a_join_hint_stays() -> None:
    text = "SELECT /*+ BROADCAST(d) */ f.v FROM f JOIN d ON f.k = d.k WHERE d.n = 'x'"
    assert _flink(text, Catalog.from_ddl(TABLES)).startswith(f"{text} AND f.k IN (SELECT d2.k ")


def test_lint_speaks_of_flink() -> None:
    options = make_options(engine="flink", dialect="flink")
    findings, _ = lint(JOINED, Catalog.from_ddl(TABLES), options)
    assert [finding.code for finding in findings] == ["DPP001"]
    assert all("Spark" not in finding.message for finding in findings)
