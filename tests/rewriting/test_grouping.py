"""``--strategy partition-wise``: what is written, what is said, and that it comes out again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlrewrite import Catalog, rewrite
from sqlrewrite.cli.commands import program
from sqlrewrite.linting.linter import lint
from sqlrewrite.sql.managed.groups import find_groups
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.stripping import stripped
from sqlrewrite.text.edits import cut
from sqlrewrite.warehouse import Table


def _sized(name: str, size: int | None) -> str:
    properties = (
        "" if size is None else f" TBLPROPERTIES ('spark.sql.statistics.totalSize' = '{size}')"
    )
    return (
        f"CREATE TABLE {name} (k INT, v INT, p INT) USING parquet PARTITIONED BY (p){properties};\n"
    )


CATALOG = Catalog.from_ddl(
    _sized("a", None)
    + _sized("b", None)
    + _sized("large", 10**12)
    + _sized("medium", 12 << 20)
    + _sized("wide", 100 << 20)
    + _sized("small", 1 << 20)
    + "CREATE TABLE ice (k INT, p INT) USING iceberg PARTITIONED BY (p);\n"
    "CREATE TABLE texts (k INT, p STRING) USING parquet PARTITIONED BY (p);\n"
    "CREATE TABLE l (k int, v int) PARTITION BY LIST (k);\n"
    "CREATE TABLE l0 PARTITION OF l FOR VALUES IN (1, 2);\n"
    "CREATE TABLE l1 PARTITION OF l FOR VALUES IN (3);\n"
    "CREATE TABLE r (k int, v int) PARTITION BY RANGE (k);\n"
    "CREATE TABLE r0 PARTITION OF r FOR VALUES FROM (0) TO (10);\n"
    "CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (10) TO (20);\n"
)
JOIN = "SELECT a.k, b.v FROM a JOIN b ON a.p = b.p"


def _done(text: str, groups: int | None = 2) -> tuple[str, list[str]]:
    result = rewrite(text, CATALOG, strategy="partition-wise", groups=groups)
    return result.sql, [note.message for note in result.notes]


def _plain(text: str) -> str:
    return text.replace("/* dpp-rewrite groups */", "").replace("/* groups end */", "")


def test_what_is_written() -> None:
    sql, notes = _done(JOIN)
    assert _plain(sql) == (
        "SELECT a.k, b.v FROM (SELECT * FROM a WHERE pmod(hash(p), 2) = 0) a "
        "JOIN (SELECT * FROM b WHERE pmod(hash(p), 2) = 0) b ON a.p = b.p "
        "UNION ALL SELECT a.k, b.v FROM (SELECT * FROM a WHERE pmod(hash(p), 2) = 1) a "
        "JOIN (SELECT * FROM b WHERE pmod(hash(p), 2) = 1) b ON a.p = b.p"
    )
    assert notes[-1] == "written by 2 groups of `a` and `b`"
    assert "USING iceberg PARTITIONED BY (p)" in notes[0]


@pytest.mark.parametrize(
    "text",
    [
        JOIN,
        "-- head\nselect x.k as kk\nfrom default.a as x -- one\n  left join b y\n    on x.p = y.p\n"
        "order by kk desc nulls last -- end\n;\nSELECT 1;\n",
        "SELECT x.k FROM default.a AS x JOIN default.b ON x.p = b.p",
        "INSERT INTO t SELECT a.k FROM a JOIN b USING (p)\r\nWHERE a.k > 1;",
        "SELECT a.k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.p = a.p)",
    ],
)
def test_it_is_inserted_and_comes_out_again(text: str) -> None:
    sql, _ = _done(text)
    assert sql != text
    assert cut(sql, find_groups(sql, lex(sql).tokens).spans) == text
    assert stripped(sql).sql == text
    assert _done(sql)[0] == sql
    assert _done(sql, 3)[0] == _done(text, 3)[0] != sql
    # Any other run leaves it as it is, and says so.
    other = rewrite(sql, CATALOG)
    assert not other.changed
    assert "by groups of partitions" in other.skipped[0].message
    assert [finding.code for finding in lint(sql, CATALOG)[0]] == ["DPP000"]


def test_predicates_beside_groups_come_out_with_them() -> None:
    text = "SELECT a.v FROM a JOIN small s ON a.p = s.p WHERE s.k = 3 /* dpp-rewrite groups */"
    pruned = rewrite(text, CATALOG).sql
    assert pruned != text
    grouped = f"{pruned};\n{_done(JOIN)[0]};\n{pruned}"
    assert stripped(grouped).sql == f"{text};\n{JOIN};\n{text}"
    among = grouped.replace("SELECT a.v", "SELECT a.v/* dpp-rewrite groups */, 1/* groups end */")
    among = among.replace("p IN (SELECT", "p IN (/* dpp-rewrite groups *//* groups end */SELECT")
    assert stripped(among).sql == f"{text};\n{JOIN};\n{text}"


@pytest.mark.parametrize(
    ("text", "groups", "said"),
    [
        (JOIN, None, "the sizes of its tables are not known: give the number"),
        ("SELECT 1 FROM large x JOIN small y ON x.p = y.p", None, "small enough to be broadcast"),
        ("SELECT 1 FROM large x JOIN wide y ON x.p = y.p", None, "more than 4 are not known"),
        ("SELECT 1 FROM large x JOIN large y ON x.p = y.p", None, "less than 8 times"),
        ("SELECT 1 FROM medium x JOIN medium y ON x.p = y.p", None, "less than 64 MB"),
        (
            "SELECT 1 FROM large x FULL JOIN medium y ON x.p = y.p",
            None,
            "no table of its FULL JOIN",
        ),
        ("SELECT 1 FROM a JOIN texts t ON a.p = t.p", 2, "are int and string"),
        ("SELECT 1 FROM ice x JOIN ice y ON x.p = y.p", 2, "no join is on the partition columns"),
        ("SELECT default.a.k FROM default.a JOIN b USING (p)", 2, "` an alias"),
        ("SELECT default.a.k FROM a JOIN b USING (p)", 2, "` an alias"),
        ("SELECT spark_catalog.default.a.k FROM a JOIN b USING (p)", 2, "` an alias"),
        ("SELECT `default` . `B` .* FROM a JOIN b USING (p)", 2, "` an alias"),
        ("SELECT a.k FROM a JOIN b ON default/**/.a.p = b.p", 2, "` an alias"),
        ("SELECT a.k FROM a JOIN spark_catalog.default.b ON a.p = default.b.p", 2, "an alias"),
        ("SELECT a.k + ? FROM a JOIN b USING (p)", 2, "positional parameter"),
        (
            "SELECT avg(a.v) FROM a JOIN b USING (p)",
            2,
            "cannot be computed exactly from its values per group",
        ),
        ("SELECT 1 FROM a JOIN b ON a.p + 0 = b.p", 2, "no join is on the partition columns"),
        ("SELECT k FROM l JOIN l m USING (k)", 9, "more than the bounds"),
    ],
)
def test_what_is_refused(text: str, groups: int | None, said: str) -> None:
    sql, notes = _done(text, groups)
    assert sql == text
    assert said in notes[-1]


def test_as_many_groups_as_make_a_side_small() -> None:
    _, notes = _done("SELECT 1 FROM large x LEFT JOIN medium y ON x.p = y.p", None)
    assert notes[-1] == "written by 2 groups of `large` and `medium`"
    _, notes = _done("SELECT 1 FROM large x JOIN small y USING (p) JOIN medium z USING (p)", None)
    assert notes[-1] == "written by 2 groups of `large` and `small` and `medium`"
    _, notes = _done("SELECT 1 FROM large x JOIN medium y USING (p) JOIN wide z USING (p)", None)
    assert "more than 4 are not known" in notes[-1]
    _, notes = _done("SELECT 1 FROM large x JOIN small y USING (p) JOIN wide z ON y.p = z.p", None)
    assert "less than 8 times" in notes[-1]


def test_groups_by_bounds() -> None:
    sql, notes = _done("SELECT x.v, y.v AS w FROM l x JOIN l y ON x.k = y.k")
    assert "WHERE k IN (1)" in sql
    assert "(k NOT IN (1) OR k IS NULL)" in sql
    assert notes[0].endswith("in 2 joins, with SET enable_partitionwise_join = on")
    sql, _ = _done("SELECT x.v, y.v AS w FROM r x FULL JOIN r y ON x.k = y.k")
    assert "WHERE k < 10)" in _plain(sql)
    assert "WHERE (k >= 10 OR k IS NULL))" in _plain(sql)


def test_a_mark_in_a_string_is_the_authors() -> None:
    text = "SELECT '/* dpp-rewrite groups */ x /* groups end */' FROM a JOIN b USING (p)"
    assert _done(text)[0] == text
    assert stripped(text).sql == text


def test_partitions_by_what_is_not_known_are_not_joined_one_by_one() -> None:
    text, table = "SELECT 1 FROM l x JOIN l y ON x.k = y.k", CATALOG.resolve(("l",))
    assert isinstance(table, Table)
    assert table.parts is not None
    unseen = replace(table, parts=replace(table.parts, strategy="spiral"))
    one, other = (
        rewrite(text, catalog, strategy="partition-wise").notes[0].message
        for catalog in (CATALOG, CATALOG.with_relation(unseen))
    )
    assert "PostgreSQL joins them partition by partition" in one
    assert "partitions by SPIRAL are not known" in other


def test_another_dialect_is_told_as_the_reason() -> None:
    result = rewrite(JOIN, CATALOG, strategy="partition-wise", dialect="trino")
    assert result.sql == JOIN
    assert "not in trino's" in result.notes[-1].message


def test_a_comment_inside_sort_by_hides_nothing() -> None:
    for words in ("SORT /* a */ BY", "DISTRIBUTE BY"):
        sql, notes = _done(f"{JOIN} {words} a.k")
        assert sql == f"{JOIN} {words} a.k"
        assert "SORT BY, CLUSTER BY or DISTRIBUTE BY" in notes[-1]


def test_the_program_counts_what_is_written_and_taken_out(tmp_path: Path) -> None:
    ddl, query = tmp_path / "ddl.sql", tmp_path / "q.sql"
    ddl.write_text(_sized("a", None) + _sized("b", None))
    query.write_text(f"{JOIN};\nSELECT 1;\n")
    groups = ("--strategy", "partition-wise", "--groups", "2", "-c", str(ddl), "-w", str(query))
    strip = ("--strip", "-w", str(query))
    for options, verb in ((groups, "rewritten"), (groups, "rewritten"), (strip, "stripped")):
        stderr = CliRunner().invoke(program, ("rewrite", *options)).stderr  # of a cache, too
        assert stderr.endswith(f"1 {verb}, 1 unchanged, 0 skipped\n")
    assert "removed /* dpp-rewrite groups */ WHERE pmod(hash(p), 2) = 0) a" in stderr
    assert query.read_text() == f"{JOIN};\nSELECT 1;\n"


def test_a_formatter_s_white_space_stays() -> None:
    sql, _ = _done("select a.k, b.v from a join b on a.p = b.p;\n")
    broken = sql.replace("/* dpp-rewrite groups */", "  /* dpp-rewrite groups */\n    ")
    broken = broken.replace(" /* groups end */", "\n  /* groups end */").replace("SELECT", "select")
    assert broken != sql
    assert _done(broken)[0] == broken
    assert stripped(broken).sql.split() == "select a.k, b.v from a join b on a.p = b.p ;".split()
    edited = broken.replace("a.k,", "a.v,", 1)
    assert _done(edited)[0] == _done(stripped(edited).sql)[0]


def test_a_mark_behind_the_semicolon() -> None:
    sql, _ = _done(f"{JOIN};\nSELECT 1;\n")
    moved = sql.replace("/* groups end */;\nSELECT 1", ";\n/* groups end */\nSELECT 1")
    assert moved != sql
    assert stripped(moved).sql == f"{JOIN};\nSELECT 1;\n"


def test_marks_around_other_words_than_ours() -> None:
    """As where sqlfluff makes a CTE of a derived table: nothing is taken out."""
    sql, _ = _done(JOIN)
    for text in (
        sql.replace("(SELECT * FROM /* groups end */b", "b/* groups end */"),
        sql.replace("/* groups end */", "", 1),
        sql.replace("(SELECT * FROM ", "", 1),
        sql + "/* groups end */",
    ):
        result = stripped(text)
        assert result.sql == _done(text)[0] == text
        assert "are no longer around" in result.skipped[0].message
