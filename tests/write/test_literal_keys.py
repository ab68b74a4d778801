"""``--predicate values``: what is written, what is refused, and what later runs make of it.

The keys come from a function here; ``tests/spark`` asks Spark, the random queries compare rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqlrewrite import Catalog, ConfigError, rewrite
from sqlrewrite.cli.commands import program
from sqlrewrite.linting.linter import lint
from sqlrewrite.results import Rewrite, Verdict
from sqlrewrite.settings.options import (
    Keys,
    RefusedError,
    Resolve,
    ResolveError,
    make_options,
    not_asked,
)
from sqlrewrite.stripping import stripped
from sqlrewrite.text import markers
from sqlrewrite.text.markers import MARKER
from sqlrewrite.warehouse import Table

DDL = """
CREATE TABLE f (a INT, p INT, q BIGINT) USING parquet PARTITIONED BY (p, q);
CREATE TABLE d (k INT, l INT, x INT, day DATE, label STRING, needed INT NOT NULL) USING delta;
CREATE TABLE by_date (a INT, p DATE) USING parquet PARTITIONED BY (p);
CREATE TABLE by_text (a INT, p STRING) USING parquet PARTITIONED BY (p);
CREATE TABLE by_char (a INT, p CHAR(3)) USING parquet PARTITIONED BY (p);
CREATE TABLE by_money (a INT, p DECIMAL(9, 2)) USING parquet PARTITIONED BY (p);
CREATE TABLE by_time (a INT, p TIMESTAMP) USING parquet PARTITIONED BY (p);
CREATE TABLE days (a INT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts));
CREATE TABLE ordered (a INT, p INT, s STRING) USING delta CLUSTER BY (p, s);
CREATE TABLE local (a INT, ts TIMESTAMP_NTZ) USING delta CLUSTER BY (ts);
CREATE TABLE kinds (x INT, day DATE, at TIMESTAMP, label STRING, code CHAR(3),
  money DECIMAL(12, 2), cents DECIMAL(12, 4)) USING parquet;
CREATE VIEW recent AS SELECT k, x FROM d WHERE day > current_date();
CREATE VIEW timed AS SELECT x AS k, x FROM kinds WHERE at > '2024-01-01';
CREATE TABLE `odd-one` (k INT, x INT) USING parquet;
CREATE VIEW old AS SELECT k, x FROM d WHERE day < DATE '2020-01-01';
"""
AT = "2026-01-31T09:30:00Z"
LATER = "2026-02-28T10:00:00Z"
QUERY = "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE d.x = 1"
KEY_QUERY = "SELECT d2.k FROM d AS d2 WHERE d2.x = 1"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def giving(
    *literals: str, kind: str = "int", at: str = AT, collapsed: bool = False
) -> Callable[[str, tuple[str, ...]], Keys]:
    return lambda query, namespace: Keys(literals, kind, at, collapsed)


def values(sql: str, catalog: Catalog, resolve: Resolve | None = None) -> Rewrite:
    return rewrite(sql, catalog, predicate="values", resolve=resolve or giving("1", "2"))


def noted(query: str, at: str = AT) -> str:
    return f"{MARKER} /* keys as of {at}: {query} */"


def reason(result: Rewrite) -> str:
    """Why the only candidate that passed all else has no literals."""
    (why,) = {
        candidate.reason.message
        for candidate in result.candidates
        if candidate.reason and candidate.reason.code == "DPP126"
    }
    return why


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        pytest.param(
            QUERY, f"{QUERY} AND f.p IN (1, 2) {noted(KEY_QUERY)}", id="behind the condition"
        ),
        pytest.param(
            "select f.a from f join d on f.p = d.k where d.x = 1",
            "select f.a from f join d on f.p = d.k where d.x = 1 and f.p in (1, 2) "
            + noted("select d2.k from d as d2 where d2.x = 1"),
            id="in the author's case",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE d.x = 1 OR d.x = 2",
            "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE f.p IN (1, 2) "
            + noted("SELECT d2.k FROM d AS d2 WHERE (d2.x = 1 OR d2.x = 2)")
            + " AND (d.x = 1 OR d.x = 2)",
            id="in front of a disjunction",
        ),
        pytest.param(
            "SELECT d.k, f.a FROM d LEFT JOIN f ON f.p = d.k WHERE d.x = 1",
            "SELECT d.k, f.a FROM d LEFT JOIN f ON f.p = d.k AND f.p IN (1, 2) "
            + noted(KEY_QUERY)
            + " WHERE d.x = 1",
            id="in the ON of a null-extended fact",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN (SELECT k FROM d WHERE x = 1) e ON f.p = e.k",
            "SELECT f.a FROM f JOIN (SELECT k FROM d WHERE x = 1) e ON f.p = e.k "
            "WHERE f.p IN (1, 2) " + noted("SELECT e2.k FROM (SELECT k FROM d WHERE x = 1) AS e2"),
            id="a new WHERE, a derived table",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN d ON f.p = d.k AND f.q = d.l WHERE d.x = 1",
            "SELECT f.a FROM f JOIN d ON f.p = d.k AND f.q = d.l WHERE d.x = 1 "
            f"AND f.p IN (1, 2) {noted(KEY_QUERY)} "
            f"AND f.q IN (1, 2) {noted(KEY_QUERY.replace('d2.k', 'd2.l'))}",
            id="two columns, each by itself",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN d ON f.p > d.k WHERE d.x = 1",
            "SELECT f.a FROM f JOIN d ON f.p > d.k WHERE d.x = 1 AND f.p > 1 "
            + noted(KEY_QUERY.replace("d2.k", "min(d2.k)")),
            id="a comparison: the smallest key",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN d ON f.p <=> d.needed WHERE d.x = 1",
            "SELECT f.a FROM f JOIN d ON f.p <=> d.needed WHERE d.x = 1 AND f.p IN (1, 2) "
            + noted(KEY_QUERY.replace("d2.k", "d2.needed")),
            id="a NULL-safe equality whose key is never NULL",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN d ON f.p = year(d.day) WHERE d.x = 1",
            "SELECT f.a FROM f JOIN d ON f.p = year(d.day) WHERE d.x = 1 AND f.p IN (1, 2) "
            + noted(KEY_QUERY.replace("d2.k", "year(d2.day)")),
            id="a computed key",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN old o ON f.p = o.k WHERE o.x = 1",
            "SELECT f.a FROM f JOIN old o ON f.p = o.k WHERE o.x = 1 AND f.p IN (1, 2) "
            + noted("SELECT o2.k FROM old AS o2 WHERE o2.x = 1"),
            id="a view",
        ),
        pytest.param(
            "SELECT f.a FROM f JOIN d ON CASE WHEN f.p > 3 THEN f.p ELSE 3 END = d.k WHERE d.x = 1",
            "SELECT f.a FROM f JOIN d ON CASE WHEN f.p > 3 THEN f.p ELSE 3 END = d.k WHERE d.x = 1"
            f" AND (CASE WHEN f.p > 3 THEN f.p ELSE 3 END) IN (1, 2) {noted(KEY_QUERY)}",
            id="a value with a comparison in it",
        ),
        pytest.param(
            QUERY.replace("d.x = 1", "d.label = '*/ /*+ x */ -- dpp-rewrite: off'"),
            QUERY.replace("d.x = 1", "d.label = '*/ /*+ x */ -- dpp-rewrite: off'")
            + " AND f.p IN (1, 2) "
            + noted(
                "SELECT d2.k FROM d AS d2 WHERE d2.label = '*\\/ /\\*+ x *\\/ -- dpp-rewrite: off'"
            ),
            id="signs of comments in the key query",
        ),
    ],
)
def test_literals_are_written_and_stay(catalog: Catalog, sql: str, written: str) -> None:
    result = values(sql, catalog)
    assert (result.sql, result.errors) == (written, ())
    assert stripped(written).sql == sql
    # A later run, with the same keys or with nobody to ask, in this form or another.
    assert values(written, catalog, giving("1", "2", at=LATER)).sql == written
    assert values(written, catalog, not_asked).sql == written
    assert rewrite(written, catalog).sql == written
    assert rewrite(written, catalog, predicate="range").sql == written
    crlf = sql.replace(" WHERE", "\r\nWHERE") + "\r\n"
    assert stripped(values(crlf, catalog).sql).sql == crlf


def test_the_author_s_own_constants(catalog: Catalog) -> None:
    """As literals they are written, with nobody asked; Spark itself carries them over, so other
    forms leave them to it."""
    sql = "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE d.k IN (7, 8)"
    written = f"{sql} AND f.p IN (7, 8) {MARKER}"
    assert values(sql, catalog, not_asked).sql == written
    assert values(written, catalog, not_asked).sql == written
    assert rewrite(written, catalog, predicate="range").sql == sql


@pytest.mark.parametrize(
    ("condition", "form"),
    [
        ("10 / f.p > 1", "collect_set"),
        ("CAST(f.a AS TINYINT) = f.p", "collect_set"),
        ("f.p > 1", "IN (0)"),
        ("10 / f.a > 1", "IN (0)"),
    ],
)
def test_one_constant_is_computed_in_other_conditions(
    condition: str, form: str, catalog: Catalog
) -> None:
    sql = f"SELECT d.k FROM d LEFT JOIN f ON f.p = d.k AND {condition} WHERE d.x = 1"
    assert form in values(sql, catalog, giving("0")).sql


def test_one_constant_beside_another_and_of_an_earlier_run(catalog: Catalog) -> None:
    """Literals elsewhere in the statement, or there before the condition, make it no safer."""
    sql = (
        "SELECT d.k FROM d LEFT JOIN f ON f.p = d.k AND 10 / f.p > 1 JOIN d AS e ON e.l = d.l "
        "JOIN f AS g ON g.p = e.k WHERE d.x = 1 AND e.x = 1"
    )
    once = values(sql, catalog, giving("0")).sql
    assert "collect_set" in once
    assert "g.p IN (0)" in once
    assert values(once, catalog, giving("0")).sql == once
    before = values(sql.replace("10 / f.p", "f.p"), catalog, giving("0")).sql
    assert before.count("p IN (0)") == 2
    edited = before.replace("AND f.p > 1", "AND 10 / f.p > 1")
    for later in (rewrite(edited, catalog), values(edited, catalog, giving("0"))):
        assert "g.p IN (0)" in later.sql
        assert "f.p IN (0)" not in later.sql


DAYS = "SELECT f.a FROM days f JOIN d ON CAST(f.ts AS DATE) = d.day WHERE d.x = 1"


@pytest.mark.parametrize(
    ("sql", "days", "said"),
    [
        pytest.param(
            DAYS,
            ("2024-02-28", "2024-02-29", "2024-03-05"),
            "(CAST(f.ts AS DATE) BETWEEN DATE '2024-02-28' AND DATE '2024-03-01' "
            "OR CAST(f.ts AS DATE) BETWEEN DATE '2024-03-05' AND DATE '2024-03-06')",
            id="each stretch, and a day more for clocks that go back over midnight",
        ),
        pytest.param(
            DAYS.replace("days f", "local f"),
            ("2024-02-28",),
            "CAST(f.ts AS DATE) BETWEEN DATE '2024-02-28' AND DATE '2024-02-28'",
            id="a local time has one midnight",
        ),
        pytest.param(
            "SELECT f.a FROM days f WHERE EXISTS "
            "(SELECT 1 FROM d WHERE d.day = to_date(f.ts) AND d.x = 1)",
            ("2024-02-28",),
            "CAST(f.ts AS DATE) BETWEEN DATE '2024-02-28' AND DATE '2024-02-29'",
            id="from inside of a subquery",
        ),
        pytest.param(
            "SELECT a FROM days WHERE CAST(ts AS DATE) IN (SELECT d.day FROM d WHERE d.x = 1)",
            ("2024-02-28",),
            "CAST(ts AS DATE) BETWEEN DATE '2024-02-28' AND DATE '2024-02-29'",
            id="beside the author's IN",
        ),
        pytest.param(
            DAYS.replace(") = d.day", ") <= d.day"),
            ("2024-02-28",),
            "CAST(f.ts AS DATE) <= DATE '2024-02-29'",
            id="up to a day",
        ),
    ],
)
def test_the_day_of_a_time(catalog: Catalog, sql: str, days: Sequence[str], said: str) -> None:
    answer = giving(*(f"DATE '{day}'" for day in days), kind="date")
    result = values(sql, catalog, answer)
    written = result.sql
    assert not result.errors
    assert f" {said} {MARKER} /* keys as of" in written
    assert stripped(written).sql == sql
    assert values(written, catalog, answer).sql == written
    assert values(written, catalog, not_asked).sql == written


def test_a_day_too_late(catalog: Catalog) -> None:
    late = values(DAYS, catalog, giving("DATE '9999-12-31'", kind="date"))
    assert not late.changed
    assert "9999-12-31 is a key" in reason(late)


def test_keys_of_another_type_where_rows_are_in_an_order(catalog: Catalog) -> None:
    sql = "SELECT o.a FROM ordered o JOIN f ON o.p = f.q WHERE f.a = 1"
    assert " AND o.p IN (1, 2) /*" in values(sql, catalog, giving("1", "2", kind="bigint")).sql
    other = values(sql.replace("o.p =", "o.s ="), catalog, giving("1", kind="bigint"))
    assert not other.changed


def test_the_day_of_a_text_may_raise_an_error(catalog: Catalog) -> None:
    sql = "SELECT o.a FROM ordered o JOIN d ON CAST(o.s AS DATE) = d.day WHERE d.x = 1"
    assert not values(sql, catalog, giving("DATE '2024-02-28'", kind="date")).changed


def test_no_day_in_a_merge(catalog: Catalog) -> None:
    sql = (
        "MERGE INTO days t USING d ON CAST(t.ts AS DATE) = d.day AND t.a = d.k "
        "WHEN MATCHED THEN DELETE"
    )
    assert not values(sql, catalog, giving("DATE '2024-02-28'", kind="date")).changed


def test_by_the_day_constants_alone(catalog: Catalog) -> None:
    (candidate,) = rewrite(DAYS, catalog).candidates
    assert candidate.reason is not None
    assert "--predicate values" in candidate.reason.message


def test_a_few_and_many(catalog: Catalog) -> None:
    many = values(QUERY, catalog, giving("-5", "900", collapsed=True)).sql
    assert many == f"{QUERY} AND f.p BETWEEN -5 AND 900 {noted(KEY_QUERY)}"
    assert rewrite(many, catalog).sql == many
    assert stripped(many).sql == QUERY
    lower = values(QUERY.lower(), catalog, giving("-5", "900", collapsed=True)).sql
    assert " and f.p between -5 and 900 /*" in lower
    one = values(QUERY, catalog, giving("3")).sql
    assert " AND f.p IN (3) /*" in one


def test_a_shared_cte_asks_for_the_union(catalog: Catalog) -> None:
    sql = (
        "WITH c AS (SELECT a, p FROM f) SELECT c.a FROM c JOIN d ON c.p = d.k WHERE d.x = 1 "
        "UNION ALL SELECT c.a FROM c JOIN d ON c.p = d.l WHERE d.x = 2"
    )
    written = values(sql, catalog).sql
    assert "WHERE p IN (1, 2) /*" in written
    assert (
        "(SELECT d2.k FROM d AS d2 WHERE d2.x = 1 UNION ALL SELECT d3.l FROM d AS d3 WHERE"
        in written
    )
    assert rewrite(written, catalog).sql == written


def test_keys_of_each_type_are_literals(catalog: Catalog) -> None:
    for table, column, kind, literal in (
        ("by_date", "day", "date", "DATE '2024-01-01'"),
        ("by_text", "label", "string", "'a, b) /* x'"),
        ("by_money", "money", "decimal(12,2)", "-1.50"),
    ):
        sql = f"SELECT f.a FROM {table} f JOIN kinds k ON f.p = k.{column} WHERE k.x = 1"
        result = values(sql, catalog, giving(literal, kind=kind))
        assert f" AND f.p IN ({literal}) {MARKER}" in result.sql
        assert rewrite(result.sql, catalog).sql == result.sql
        assert stripped(result.sql).sql == sql


# --- what is refused ------------------------------------------------------------------------------

BY_TEXT = "SELECT f.a FROM by_text f JOIN d ON f.p = d.label WHERE d.x = 1"


@pytest.mark.parametrize("sign", list("{}$%@&#:?"))
@pytest.mark.parametrize(
    "more", [" AND f.a = %(x)s", " AND f.a = {x}", " AND f.a = {{ var('x') }}", " AND f.a > ?", ""]
)
def test_a_sign_of_templates_that_the_text_has(catalog: Catalog, sign: str, more: str) -> None:
    """In a text that has it too, such a key is refused; in another it is written as it is."""
    result = values(BY_TEXT + more, catalog, giving(f"'1{sign}'", kind="string"))
    assert not result.errors
    if sign in more:
        assert f"holds `{sign}`" in reason(result)
    else:
        assert f"IN ('1{sign}')" in result.sql
        again = values(result.sql, catalog, giving(f"'1{sign}'", kind="string"))
        assert again.sql == result.sql


def test_a_predicate_of_literals_that_was_formatted(catalog: Catalog) -> None:
    """The query in the comment is as it was, and the text in lower case: the keys are the same."""
    for text in (
        f"select f.a from f join d on f.p = d.k where d.x = 1 and f.p in (\n    1, 2\n)  {MARKER}  "
        f"/* keys as of {AT}: {KEY_QUERY} */",
        f"select f.a from f join d on f.p = d.k where d.x = 1 and f.p in (1, 2);\n{MARKER}\n"
        f"/* keys as of {AT}: {KEY_QUERY} */",
    ):
        bare = "select f.a from f join d on f.p = d.k where d.x = 1"
        assert stripped(text).sql == bare + (";" if ";" in text else "")
        assert rewrite(text, catalog).sql == text
        assert values(text, catalog).sql == text
        assert not lint(text, catalog)[0]
        other = values(text, catalog, giving("3", at=LATER)).sql
        assert other.rstrip(";") == f"{bare} and f.p in (3) {noted(KEY_QUERY.lower(), LATER)}"
        stale = rewrite(text.replace("d.x = 1", "d.x = 2", 1), catalog).sql
        assert stale.count(MARKER) == 1
        assert "d2.x = 2" in stale


BY_KIND = "SELECT f.a FROM {} f JOIN kinds k ON f.p = k.{} WHERE k.x = 1"


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (QUERY.replace("d.x = 1", "d.day > current_date()"), "`current_date` gives other keys"),
        (QUERY.replace("d.x = 1", "d.day > current_date"), "`current_date` gives other keys"),
        (QUERY.replace("d.x = 1", "d.day > DATE 'today'"), "`today` gives other keys"),
        ("SELECT f.a FROM f JOIN kinds d ON f.p = d.x WHERE d.at > '2024-01-01'", "`at` may give"),
        ("SELECT f.a FROM f JOIN kinds d ON f.p = year(d.at) WHERE d.x = 1", "`at` may give other"),
        (QUERY.replace("d.x = 1", "date_trunc('month', d.day) = d.day"), "`date_trunc` may give"),
        (QUERY.replace("d.x = 1", "d.day > CAST('2024-01-01' AS TIMESTAMP)"), "`timestamp` may"),
        (QUERY.replace(" d ", " timed AS d "), "`at` may give other keys in another session's"),
        (QUERY.replace("d.x = 1", "d.x = :x"), "a template or a parameter"),
        (QUERY.replace("d.x = 1", "d.x = ${x}"), "a template or a parameter"),
        (QUERY.replace("d.x = 1", "d.x = {{ var('x') }}"), "a template or a parameter"),
        (QUERY.replace("d.x = 1", "d.label = '{x}'"), "a template or a parameter"),
        (QUERY.replace("d.x = 1", "d.label = '%(x)s'"), "a template or a parameter"),
        (QUERY.replace("d.x = 1", "d.label = '50%%'"), "a template or a parameter"),
        (QUERY.replace("d.x = 1", "d.label = 'a\nb'"), "a line break"),
        (QUERY.replace(" d ", " recent AS d "), "`current_date` gives other keys"),
        (f"WITH d AS (SELECT k, x FROM old) {QUERY}", "names the CTE `d`"),
        (
            "WITH c AS (SELECT x FROM kinds) "
            + QUERY.replace("d.x = 1", "d.x IN (SELECT c.x FROM c)"),
            "names the CTE `c`",
        ),
        (f"INSERT INTO d VALUES (1); {QUERY}", "the text itself changes `d`"),
        (f"DELETE FROM `odd-one`; {QUERY.replace(' d ', ' `odd-one` AS d ')}", "changes `odd-one`"),
        (f"CALL compact('db.d'); {QUERY}", "the text itself changes `d`"),
        (f"{QUERY}; TRUNCATE TABLE D", "the text itself changes `d`"),
        (f"MERGE INTO d USING s ON d.k = s.k WHEN MATCHED THEN DELETE; {QUERY}", "changes `d`"),
        (f"INSERT OVERWRITE d {QUERY.replace('f.a', 'f.a, 1')}", "the text itself changes `d`"),
        (f"DELETE FROM d; {QUERY.replace(' d ', ' old AS d ')}", "the text itself changes `d`"),
        (f"USE {{{{ schema }}}}; {QUERY}", ""),
        (BY_KIND.format("by_char", "code"), "literals of type char(3)"),
        (BY_KIND.format("by_money", "cents"), "may be compared"),
        (BY_KIND.format("by_time", "at"), "literals of type timestamp"),
        (BY_KIND.format("by_date", "at"), "may be compared"),
        (BY_KIND.format("by_time", "day"), "may be compared"),
    ],
)
def test_what_would_change_by_itself_is_not_asked_for(catalog: Catalog, sql: str, why: str) -> None:
    def asked(query: str, namespace: tuple[str, ...]) -> Keys:
        raise AssertionError(f"asked for {query}")

    result = values(sql, catalog, asked)
    assert (result.sql, result.errors) == (sql, ())
    if why:
        assert rewrite(sql, catalog).changed or "char" in why  # every other rule lets it through
        assert why in reason(result)


def test_what_the_text_does_elsewhere_is_no_hindrance(catalog: Catalog) -> None:
    for sql in (
        f"INSERT INTO out {QUERY}",
        f"CREATE TABLE out AS {QUERY}",
        f"DROP TABLE IF EXISTS other; USE default; {QUERY}",
        f"DESCRIBE d; ANALYZE TABLE d COMPUTE STATISTICS; REFRESH TABLE d; {QUERY}",
    ):
        assert values(sql, catalog).changed, sql


def test_words_in_strings_are_no_words(catalog: Catalog) -> None:
    for label in ("user", "is it now?", "the :hour at", "it is today"):
        assert values(QUERY.replace("d.x = 1", f"d.label = '{label}'"), catalog).changed, label
    unsure = QUERY.replace("d.x = 1", "d.label = '\\' OR d.day > current_date OR d.label = '")
    assert not values(unsure, catalog).changed


def test_a_table_whose_columns_are_not_all_known(catalog: Catalog) -> None:
    table = catalog.resolve(("d",))
    assert isinstance(table, Table)
    partial = catalog.with_relation(replace(table, complete=False))
    assert rewrite(QUERY, partial).changed
    assert "not all columns of `d` are known" in reason(values(QUERY, partial))


def test_keys_that_are_not_what_the_catalog_says(catalog: Catalog) -> None:
    assert "its keys are string, but int according" in reason(
        values(QUERY, catalog, giving("'1'", kind="string"))
    )
    assert values(QUERY, catalog, giving("1", kind="bigint")).changed


def test_no_keys_now_write_nothing(catalog: Catalog) -> None:
    assert "gives no keys now" in reason(values(QUERY, catalog, giving()))


def test_a_refusal_and_a_failure(catalog: Catalog) -> None:
    def refuses(query: str, namespace: tuple[str, ...]) -> Keys:
        raise RefusedError("there are too many")

    def fails(query: str, namespace: tuple[str, ...]) -> Keys:
        raise ResolveError("nobody answers")

    written = values(QUERY, catalog).sql
    assert (
        reason(values(written, catalog, refuses))
        == "the keys of `d` are not written as literals: there are too many"
    )
    assert values(written, catalog, refuses).sql == QUERY
    # What cannot be asked says nothing of the query: the statement is left as it was.
    result = values(f"{written};\nSELECT 1", catalog, fails)
    assert result.sql == f"{written};\nSELECT 1"
    assert [(error.code, error.message, error.line) for error in result.errors] == [
        ("DPP126", "nobody answers", 1)
    ]


def test_nobody_to_ask(catalog: Catalog) -> None:
    with pytest.raises(ConfigError, match="predicate='values' needs resolve="):
        rewrite(QUERY, catalog, predicate="values")


def test_the_namespace_and_how_often(catalog: Catalog) -> None:
    queries: list[tuple[str, tuple[str, ...]]] = []

    def ask(query: str, namespace: tuple[str, ...]) -> Keys:
        queries.append((query, namespace))
        return Keys(("1",), "int", AT)

    values(QUERY.replace("f.p = d.k", "f.p = d.k AND f.a = d.l"), catalog, ask)
    assert queries == [(KEY_QUERY, ("spark_catalog", "default"))]
    assert not values(f"USE ${{db}}; {QUERY}", catalog, ask).changed


# --- later runs -----------------------------------------------------------------------------------


def test_other_keys_take_their_place(catalog: Catalog) -> None:
    written = values(QUERY, catalog).sql
    result = values(written, catalog, giving("1", "2", "3", at=LATER))
    assert result.sql == f"{QUERY} AND f.p IN (1, 2, 3) {noted(KEY_QUERY, LATER)}"
    (removed,) = result.removed
    assert (removed.refreshed, removed.reason) == (True, "its key query returns other keys now")
    kept = values(written, catalog, giving("1", "2", at=LATER))
    assert kept.removed == ()
    assert [candidate.verdict for candidate in kept.candidates] == [Verdict.ALREADY_PRUNED]


@pytest.mark.parametrize("form", ["in", "set", "range", "auto"])
def test_another_form_leaves_what_follows_and_replaces_what_does_not(
    catalog: Catalog, form: str
) -> None:
    written = values(QUERY, catalog).sql
    assert rewrite(written, catalog, predicate=form).sql == written
    stale = written.replace("d.x = 1 AND", "d.x = 2 AND")
    fresh = rewrite(QUERY.replace("d.x = 1", "d.x = 2"), catalog, predicate=form).sql
    assert rewrite(stale, catalog, predicate=form).sql == fresh
    assert values(stale, catalog, not_asked).sql == QUERY.replace("d.x = 1", "d.x = 2")


def test_another_statement_with_the_same_key_query_gets_its_own(catalog: Catalog) -> None:
    written = values(QUERY, catalog).sql
    both = rewrite(f"{written};\n{QUERY}", catalog).sql
    assert both == f"{written};\n{rewrite(QUERY, catalog).sql}"


def test_what_the_text_has_come_to_change_does_not_stay(catalog: Catalog) -> None:
    written = f"DELETE FROM d;\n{values(QUERY, catalog).sql}"
    assert rewrite(written, catalog).sql == f"DELETE FROM d;\n{rewrite(QUERY, catalog).sql}"


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param(f"f.p IN (1, 2, 3) {noted(KEY_QUERY)}", id="another list"),
        pytest.param(f"f.p BETWEEN 1 AND 2 {noted(KEY_QUERY)}", id="another form"),
        pytest.param(f"f.p IN (1, d.x) {noted(KEY_QUERY)}", id="no literal"),
        pytest.param(f"f.p IN (SELECT 1) {noted(KEY_QUERY)}", id="a query"),
        pytest.param(f"f.p IN (1, 2) {noted('SELECT 1')}", id="another query"),
        pytest.param(f"f.p IN (1, 2) {MARKER}", id="no note"),
    ],
)
def test_a_run_that_asks_mends_what_was_edited(catalog: Catalog, edited: str) -> None:
    mended = values(f"{QUERY} AND {edited}", catalog).sql
    assert mended == values(QUERY, catalog).sql


def test_without_its_marker_it_is_the_author_s(catalog: Catalog) -> None:
    mine = values(QUERY, catalog).sql.replace(f" {MARKER}", "")
    assert stripped(mine).sql == mine
    moved = values(QUERY, catalog).sql.replace("f.p IN (1, 2)", "NOT f.p IN (1, 2)")
    assert stripped(moved).sql == moved


def test_a_suppressed_scan_keeps_it(catalog: Catalog) -> None:
    written = values("SELECT f.a FROM f\nJOIN d ON f.p = d.k WHERE d.x = 1", catalog).sql
    kept = written.replace("FROM f\n", "FROM f -- dpp-rewrite: ignore\n")
    assert values(kept, catalog, giving("9")).sql == kept
    other = kept.replace("JOIN d ON", "JOIN d ON f.q = d.l AND")
    assert values(other, catalog, giving("9")).sql == other


# --- lint and check -------------------------------------------------------------------------------


def found(sql: str, catalog: Catalog, form: str) -> list[tuple[str, bool]]:
    options = make_options(predicate=form, resolve=not_asked)
    return [(finding.code, finding.fix is not None) for finding in lint(sql, catalog, options)[0]]


def test_lint_fixes_no_literals(catalog: Catalog) -> None:
    written = values(QUERY, catalog).sql
    stale = written.replace("d.x = 1 AND", "d.x = 2 AND")
    assert found(written, catalog, "in") == found(written, catalog, "values") == []
    assert found(stale, catalog, "in") == [("DPP002", True)]
    assert found(stale, catalog, "values") == [("DPP002", False)]
    assert found(QUERY, catalog, "values") == [("DPP001", False)]


def test_check_and_lint_ask_nobody(tmp_path: Path, catalog: Catalog) -> None:
    (tmp_path / "ddl.sql").write_text(DDL, encoding="utf-8")
    settings = '[tool.dpp-rewrite]\ncatalog = "ddl.sql"\npredicate = "values"\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    query = tmp_path / "q.sql"

    def invoke(*args: str) -> Result:
        return CliRunner().invoke(program, args, prog_name="dpp-rewrite", catch_exceptions=False)

    for text, status in (
        (values(QUERY, catalog).sql, 0),
        (values(QUERY, catalog).sql.replace("d.x = 1 AND", "d.x = 2 AND"), 1),
    ):
        query.write_text(text, encoding="utf-8")
        assert invoke("rewrite", "--check", str(query)).exit_code == status
        assert invoke("lint", str(query)).exit_code == status
        assert query.read_text(encoding="utf-8") == text


def test_the_plan_and_the_report_are_short(catalog: Catalog) -> None:
    result = values(QUERY, catalog, giving(*map(str, range(500))))
    assert "f.p IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 500 in all)" in result.explain()
    assert "f.p IN (1, 2)" in values(QUERY, catalog).explain()


# --- the note -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "a",
        "*/",
        "/*",
        "*\\/",
        "/\\*",
        "*\\\\/",
        "/*/",
        "*/*",
        "**//**",
        "'*'/'*'",
        "/",
        "* /",
        "\\*/\\",
    ],
)
def test_a_note_reads_back(query: str) -> None:
    written = markers.keys_note(AT, query)
    inside = written[len(" /*") : -len("*/")]
    assert not re.search(r"\*/|/\*", inside)
    assert markers.read_keys_note(written, 0) == (AT, query, len(written))


def test_no_two_queries_have_one_note() -> None:
    alphabet, texts = "*/\\", [""]
    for _ in range(5):
        texts += [text + sign for text in texts for sign in alphabet]
    every = {text for text in texts if text}
    assert len({markers.keys_note(AT, text) for text in every}) == len(every)


def test_a_value_in_other_lines_keeps_its_literals() -> None:
    tables = Catalog.from_ddl(
        "CREATE TABLE f (a INT, day DATE) USING parquet PARTITIONED BY (day);"
        "CREATE TABLE d (k DATE, x INT) USING parquet"
    )
    sql = "SELECT f.a FROM f JOIN d ON date_add(f.day, 1) = d.k WHERE d.x = 1"
    written = values(sql, tables, giving("DATE '2024-01-01'", kind="date")).sql
    broken = written.replace("date_add(f.day, 1) IN", "date_add(f.day,\n 1) IN")
    assert broken != written
    result = rewrite(broken, tables)
    assert not result.errors
    assert result.sql == broken
