"""Flink's dialect and engine, judged by Flink itself: rows, and what its plans prune."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
import sqlglot
from duckdb_extensions import import_extension
from sqlglot.errors import TokenError

from sqlrewrite import Catalog, rewrite
from sqlrewrite.plan.facts.functions import dialect_names
from sqlrewrite.rulebook import engine
from sqlrewrite.settings.options import Keys
from sqlrewrite.sql.lex.tokens import tokenize
from tests.engines.process import EngineError
from tests.support.cases import FIXTURES, Case, catalog, query_cases, retail_cases
from tests.support.fixture_rows import database

from ..engines.flink_plans import DDL, MISSED, PRUNED, USELESS
from ..engines.functions import wrong
from .conftest import JARS
from .server import Flink, fill

SEED = 1
FEWEST = 200
"""So many queries are compared, by the issue that asks for it."""

pytestmark = pytest.mark.flink


_NAMES = frozenset("day hour minute month one prev returns second year".split())
"""Of the fixtures' names those that Flink reserves."""


def _own_words(case: Case) -> str:
    """A fixture as a text of Flink's: such names in quotes."""
    text, parts, at = case.text().strip().rstrip(";"), [], 0
    for token in tokenize(text):
        start, end = token.start, token.end + 1
        if text[start:end].lower() in _NAMES and not text.startswith("(", end):
            parts += [text[at:start], "`", text[start:end], "`"]
            at = end
    return "".join([*parts, text[at:]])


def test_rows_stay(flink: Flink, tmp_path: Path) -> None:
    """Each fixture as a text of Flink's: rewritten and run by Flink, its rows stay.
    What Flink refuses of the originals is no text of its own."""
    counts: Counter[str] = Counter()
    wrong = []
    ddls: set[Path] = set()
    # Texts of other languages; a view that is made twice; any three rows.
    names = ("templates/", "text/create_view", "text/new_where_before_limit")
    cases = [case for case in (*query_cases(), *retail_cases()) if not case.name.startswith(names)]
    for case in sorted(cases, key=lambda it: str(it.ddl)):
        try:
            text = _own_words(case)
        except TokenError:
            continue
        result = rewrite(text, catalog(case.ddl), dialect="flink", engine="flink")
        if not result.changed:
            counts["left alone"] += 1
            continue
        assert result.original == text
        again = rewrite(result.sql, catalog(case.ddl), dialect="flink", engine="flink")
        assert again.sql == result.sql, case.name
        if case.ddl not in ddls:
            ddls.add(case.ddl)
            flink.session()
            with suppress(duckdb.Error):  # types that DuckDB does not have: no tables
                fill(flink, catalog(case.ddl), database(case.ddl, SEED), tmp_path / str(len(ddls)))
        try:
            before = flink.rows(text)
        except EngineError as error:
            counts["not run by Flink"] += 1
            print(case.name, re.sub(r"\s+", " ", str(error))[:120])
            continue
        try:
            after = flink.rows(result.sql)
        except EngineError as error:
            after = str(error)[:500]
        counts["compared"] += 1
        if counts["compared"] % 25 == 0:
            print(dict(counts), flush=True)
        counts["rows"] += bool(before)
        if after != before:
            wrong.append((case.name, result.sql, before, after))
            print("WRONG", wrong[-1])
    print(dict(counts))
    assert [row[0] for row in wrong] == [], wrong
    assert counts["compared"] >= FEWEST


@pytest.mark.parametrize(("when", "changed"), [("eligible", 83), ("missed", 5)])
def test_tpcds_in_its_words(when: str, changed: int) -> None:
    """As many of the 99 queries are rewritten as in Spark's words, and most are left to Flink."""
    loaded, count = Catalog.load(str(FIXTURES / "tpcds" / "ddl.sql")), 0
    connection = duckdb.connect()
    import_extension("tpcds", con=connection)
    for (query,) in connection.execute("SELECT query FROM tpcds_queries()").fetchall():
        text = sqlglot.transpile(query, read="duckdb", write="spark")[0]
        count += rewrite(text, loaded, dialect="flink", engine="flink", when=when).changed
    assert count == changed


# --- what it prunes by itself, of Paimon's tables -------------------------------------------------


@pytest.fixture(scope="module")
def paimon(flink: Flink, tmp_path_factory: pytest.TempPathFactory) -> Flink:
    """The tables of the plans, without rows, in a catalog of Paimon's."""
    flink.session()
    place = tmp_path_factory.mktemp("paimon").as_uri()
    flink.rows(f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{place}')")
    flink.rows("USE CATALOG p")
    for statement in filter(str.strip, DDL.split(";")):
        flink.rows(statement)
    return flink


needs_paimon = pytest.mark.skipif("paimon" not in JARS, reason="Paimon's connector is not there")


def _collects(flink: Flink, query: str) -> bool:
    return "DynamicFilteringDataCollector" in flink.rows(f"EXPLAIN {query}")


@needs_paimon
def test_what_is_left_to_it_it_prunes(paimon: Flink) -> None:
    assert [query for query in PRUNED if not _collects(paimon, query)] == []


@needs_paimon
def test_what_it_is_said_to_miss_it_misses(paimon: Flink) -> None:
    """But for the join of two dimensions, of which it prunes by the upper one."""
    collecting = [query for query in (*MISSED, *USELESS) if _collects(paimon, query)]
    assert [MISSED.get(query) for query in collecting] == ["it prunes `f` by one join only"]


@needs_paimon
def test_what_is_written_it_prunes_by(paimon: Flink) -> None:
    """What is written for a join that Flink would not prune by gives it one, where what is in the
    way is on the fact's side; a text with an IN in an ON it does not plan at all."""
    tables = Catalog.from_ddl(DDL)
    counts: Counter[bool] = Counter()
    for query in MISSED:
        result = rewrite(query, tables, dialect="flink", engine="flink", when="missed")
        if result.changed:
            counts[_collects(paimon, result.sql)] += 1
    print("written and pruned by", dict(counts))
    assert counts[True] == 8
    within = "SELECT * FROM e LEFT JOIN f ON e.k = f.k AND f.k IN (SELECT k FROM d)"
    with pytest.raises(EngineError, match="equivalence"):
        paimon.rows(f"EXPLAIN {within}")


@needs_paimon
def test_options_stay_behind_their_table(paimon: Flink) -> None:
    """Also where a new WHERE stands behind them: Flink refuses a hint that has no table."""
    options = "/*+ OPTIONS('scan.parallelism' = '2') */"
    tables = Catalog.from_ddl(DDL)
    for query in (
        f"SELECT f.v FROM f {options} JOIN d {options} AS q ON f.k = q.k WHERE q.n = 'x'",
        f"SELECT v FROM (SELECT k FROM d WHERE n = 'x') AS q NATURAL JOIN f {options}",
        f"WITH c AS (SELECT v, k FROM f {options}) SELECT c.v FROM c JOIN d ON c.k = d.k "
        "WHERE d.n = 'x'",
    ):
        result = rewrite(query, tables, dialect="flink", engine="flink")
        assert result.changed
        read = paimon.rows(f"EXPLAIN {result.sql}")
        assert read.count("OPTIONS") == paimon.rows(f"EXPLAIN {query}").count("OPTIONS") > 0
    with pytest.raises(EngineError):
        paimon.rows(f"EXPLAIN SELECT v FROM f WHERE k = 1 {options}")


def test_its_options(flink: Flink) -> None:
    """The limits that the engine's file tells, and a runtime filter, which prunes no partition and
    is off."""
    filters = "org.apache.flink.table.api.config.OptimizerConfigOptions TABLE_OPTIMIZER"
    nodes = "org.apache.flink.table.planner.plan.nodes.exec.batch"
    collector = f"{nodes}.BatchExecDynamicFilteringDataCollector"
    options = engine("flink")
    assert flink.ask(f"option {filters}_DYNAMIC_FILTERING_ENABLED") == str(options.enabled).lower()
    assert flink.ask(f"option {filters}_BROADCAST_JOIN_THRESHOLD") == str(
        options.broadcast_threshold
    )
    limit = flink.ask(f"option {collector} TABLE_EXEC_DYNAMIC_FILTERING_THRESHOLD")
    assert (limit, options.key_limit) == ("8 mb", 8 * 1024 * 1024)
    assert flink.ask(f"option {filters}_RUNTIME_FILTER_ENABLED") == "false"


@pytest.mark.skipif("iceberg" not in JARS, reason="Iceberg's connector is not there")
def test_icebergs_tables_take_no_keys(flink: Flink, tmp_path: Path) -> None:
    flink.session()
    properties = (
        f"'type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{tmp_path.as_uri()}'"
    )
    flink.rows(f"CREATE CATALOG i WITH ({properties})")
    flink.rows("CREATE DATABASE i.x")
    flink.rows("USE i.x")
    for statement in filter(str.strip, DDL.split(";")):
        flink.rows(statement)
    assert [query for query in PRUNED if _collects(flink, query)] == []


# --- what it prunes of files ----------------------------------------------------------------------

FILES = 20
FILTERED = "SELECT f.v, d.n FROM f JOIN d ON f.k = d.k WHERE d.b"
OUTER = "SELECT d.k, f.v FROM d LEFT JOIN f ON f.k = d.k AND d.b"


def test_constants_prune_files(flink: Flink, tmp_path: Path) -> None:
    """The connector of files has no dynamic filtering: an IN reads all partitions, constants in
    its place those that they name; in an ON, too."""
    tables = Catalog.from_ddl(
        "CREATE TABLE f (v BIGINT, k BIGINT) PARTITIONED BY (k);"
        "CREATE TABLE d (k BIGINT, n STRING, b BOOLEAN)"
    )
    data = duckdb.connect()
    data.execute("ATTACH ':memory:' AS spark_catalog")
    data.execute('CREATE SCHEMA spark_catalog."default"; USE spark_catalog."default"')
    data.execute(f"CREATE TABLE f AS SELECT range AS v, range % {FILES} AS k FROM range(100)")
    of = "SELECT range AS k, 'n' AS n, range IN (3, 5) AS b FROM range(20)"
    data.execute(f"CREATE TABLE d AS {of}")
    flink.session()
    fill(flink, tables, data, tmp_path)

    def resolve(query: str, namespace: tuple[str, ...]) -> Keys:
        keys = re.findall(r"\+I\[(\d+)\]", flink.rows(query))
        return Keys(tuple(sorted(set(keys))), "bigint", "2026-01-31T09:30:00Z", False)

    for query in (FILTERED, OUTER):
        before = _read(flink, query)
        by_keys = rewrite(query, tables, dialect="flink", engine="flink").sql
        result = rewrite(
            query, tables, dialect="flink", engine="flink", predicate="values", resolve=resolve
        )
        assert "f.k IN (3, 5)" in result.sql
        after = _read(flink, result.sql)
        print(f"partitions read: {before} by itself, {_read(flink, by_keys)} with an IN, {after}")
        assert (before, after) == (FILES, 2)
        assert flink.rows(result.sql) == flink.rows(query)


def _read(flink: Flink, query: str) -> int:
    """How many partitions of the fact a query reads."""
    plan = flink.rows(f"EXPLAIN {query}").partition("== Optimized Physical Plan ==")[2]
    match = re.search(r"\bf, (?:filter=\[[^]]*\], )?partitions=\[([^]]*)\]", plan)
    return match[1].count("{") if match else FILES


# --- what its functions do ------------------------------------------------------------------------


def test_its_functions_are_as_the_table_says(flink: Flink) -> None:
    def ask(expression: str) -> object:
        try:
            plan = flink.rows(f"EXPLAIN SELECT ({expression}) IS NULL AS x")
        except EngineError as error:
            raise ValueError(str(error)) from error
        match = re.search(r"select=\[(true|false) AS x\]|tuples=\[\[\{ (true|false) \}\]\]", plan)
        if match is None:
            raise ValueError("not computed when it is planned")
        return None if "true" in match.groups() else expression

    count, problems = wrong("flink", ask)
    print(f"{count} arguments asked about")
    assert problems == []
    assert count > 60
    names = dialect_names("flink")
    listed = {line[3:-1].lower() for line in flink.rows("SHOW FUNCTIONS").splitlines()}
    listed |= {name for name in names.same | names.own if name.replace("_", "") in listed}
    assert sorted((names.same | names.own) - listed - _SYNTAX) == []


_SYNTAX = frozenset(
    """
    ceiling cume_dist dayofmonth dayofweek dayofyear dense_rank grouping hour if is_alpha is_decimal
    is_digit minute month nth_value ntile nullif percent_rank quarter rank row_number second table
    timestampadd translate unnest week year character_length
    """.split()
)
"""What its grammar and Calcite have, and its list of functions has not."""
