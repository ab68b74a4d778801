"""Texts whose blocks share readers: the steps that they take grow about as the texts do.

A step is counted and not timed (``plan/memo.py``). What read each shared CTE again for each of its
readers took twice as many for one more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sqlrewrite import Catalog, embedded, rewrite
from sqlrewrite.find import reading
from sqlrewrite.plan import memo
from sqlrewrite.rewriting import rewrite_with_options
from sqlrewrite.settings.options import make_options
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.limits import Limits

DDL = """CREATE TABLE f (x INT, k INT, p INT) PARTITIONED BY (p);
CREATE TABLE d (k INT, c STRING, v INT);
CREATE TABLE e (k INT, c STRING, v INT);
"""
MOST = 2.2
"""How fast steps may grow: with n^2.2 for n blocks, each of which is judged with those below it."""


def chain(body: str, first: str = "SELECT k, v FROM d WHERE c = 'a'") -> Callable[[int], str]:
    """A chain of CTEs, ``{0}`` the one before, joined with the fact."""

    def text(count: int) -> str:
        ctes = [f"c0 AS ({first})"]
        ctes += [f"c{n} AS ({body.format(f'c{n - 1}')})" for n in range(1, count + 1)]
        return f"WITH {', '.join(ctes)} SELECT * FROM f JOIN c{count} q ON f.p = q.k WHERE q.v > 1"

    return text


def nested(body: str, first: str, around: str) -> Callable[[int], str]:
    """A text ``first`` in a ``body`` in a body …, in what stands around them all."""

    def text(count: int) -> str:
        inner = first
        for number in range(count):
            inner = body.format(inner, n=number)
        return around.format(inner)

    return text


JOINED = "SELECT * FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'"
TEXTS: dict[str, Callable[[int], str]] = {
    "CTEs read twice": chain("SELECT a.k, b.v FROM {0} a JOIN {0} b ON a.k = b.k"),
    "CTEs read three times": chain(
        "SELECT a.k, b.v FROM {0} a JOIN {0} b ON a.k = b.k LEFT JOIN {0} c ON c.k = b.k"
    ),
    "CTEs with filters": chain(
        "SELECT a.k, a.v + b.v AS v FROM {0} a JOIN {0} b ON a.k = b.k WHERE a.v > 3 AND b.v < 9"
    ),
    "unions": chain("SELECT k, v FROM {0} UNION ALL SELECT v, k FROM {0}"),
    "distinct unions": chain("SELECT k, v FROM {0} UNION SELECT v, k FROM {0} WHERE v > 1"),
    "IN": chain("SELECT k, v FROM {0} WHERE k IN (SELECT v FROM {0})"),
    "EXISTS": chain("SELECT k, v FROM {0} a WHERE EXISTS (SELECT 1 FROM {0} b WHERE a.k = b.v)"),
    "scalar subqueries": chain("SELECT k, (SELECT max(v) FROM {0}) AS v FROM {0}"),
    "sums": chain(
        "SELECT a.k, sum(b.v) AS v FROM {0} a JOIN {0} b ON a.k = b.k GROUP BY a.k "
        "HAVING max(a.v) > 1"
    ),
    "columns named twice": chain("SELECT k + k AS k, v + v * v AS v FROM {0}"),
    "CASE": chain("SELECT CASE WHEN k > 1 THEN k ELSE v END AS k, coalesce(k, v) AS v FROM {0}"),
    "full joins": chain("SELECT coalesce(a.k, b.k) AS k, b.v FROM {0} a FULL JOIN {0} b USING (k)"),
    "facts read twice": lambda n: (
        chain("SELECT a.x, a.p FROM {0} a JOIN {0} b ON a.p = b.p WHERE a.x > 1", "TABLE f")(n)
        .replace("FROM f JOIN", "FROM d JOIN")
        .replace("f.p = q.k WHERE q.v", "d.k = q.p WHERE q.x")
    ),
    "facts joined on partitions": lambda n: (
        chain("SELECT a.x, a.p FROM {0} a JOIN {0} b ON a.p = b.p", "SELECT x, p FROM f")(n)
        .replace("FROM f JOIN", "FROM d JOIN")
        .replace("f.p = q.k WHERE q.v", "d.k = q.p WHERE q.x")
    ),
    "facts computed twice": lambda n: (
        chain("SELECT x, coalesce(p, p + 1) AS p FROM {0}", "SELECT x, p FROM f")(n)
        .replace("FROM f JOIN", "FROM d JOIN")
        .replace("f.p = q.k WHERE q.v", "d.k = q.p WHERE q.x")
    ),
    "derived tables": nested(
        "SELECT k, v + v AS v FROM ({0}) t{n}",
        "SELECT k, v FROM d",
        "SELECT * FROM f JOIN ({0}) q ON f.p = q.k WHERE q.v > 1",
    ),
    "EXISTS in EXISTS": nested(
        "SELECT 1 FROM d a{n} WHERE a{n}.k = f.p AND EXISTS ({0})",
        "SELECT 1 FROM d WHERE d.c = 'a'",
        "SELECT * FROM f WHERE EXISTS ({0})",
    ),
    "CASE in CASE": nested(
        "CASE WHEN d.v > {n} THEN {0} ELSE 1 END", "d.v", f"{JOINED} AND {{0}} = 3"
    ),
    "lambdas": nested(
        "transform(array(d.v), x{n} -> x{n} + size({0}))",
        "array(1)",
        f"{JOINED} AND size({{0}}) > 1",
    ),
    "NATURAL": lambda n: f"{JOINED.partition(' WHERE')[0]} {'NATURAL JOIN e ' * n}WHERE d.c = 'a'",
    "USING": lambda n: (
        "SELECT k FROM f JOIN d USING (k) "
        + " ".join(f"FULL JOIN e e{i} USING (k)" for i in range(n))
        + " WHERE d.c = 'a'"
    ),
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    path = tmp_path_factory.mktemp("growth") / "ddl.sql"
    path.write_text(DDL)
    return Catalog.load(str(path))


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of each statement that is read or judged."""
    taken: list[int] = []

    def within(most: int, work: Callable[[], object]) -> object:
        def counted() -> object:
            try:
                return work()
            finally:
                taken.append(most - memo._budget.remaining)

        return memo.within(most, counted)

    monkeypatch.setattr(reading, "within", within)
    return taken


@pytest.mark.parametrize("name", TEXTS)
def test_steps_grow_as_texts_do(name: str, catalog: Catalog, taken: list[int]) -> None:
    counts = []
    for size in (16, 32):
        taken.clear()
        result = rewrite(TEXTS[name](size), catalog)
        assert not result.errors
        assert not result.skipped
        counts.append(sum(taken))
    assert counts[1] < counts[0] * 2**MOST


PROGRAMS = {
    "one after the other": "spark.sql('CREATE VIEW v{0} AS SELECT k FROM d')\n",
    "functions": "def f{0}():\n    spark.sql('CREATE VIEW v{0} AS SELECT k FROM d')\n"
    "    spark.sql('SELECT * FROM f JOIN v{0} ON f.p = v{0}.k')\n",
    "branches": "if x{0}:\n    df.createOrReplaceTempView('v{0}')\n"
    "    spark.sql('SELECT 1 FROM f')\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_definitions_of_a_program_are_followed_once(
    name: str, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each of many functions makes for itself is not followed for all others."""
    calls: list[object] = []
    follow = embedded._Before._followed

    def counted(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return follow(*args, **options)

    monkeypatch.setattr(embedded._Before, "_followed", counted)
    counts = []
    for size in (20, 40):
        calls.clear()
        host = host_of("job.py", "".join(PROGRAMS[name].format(n) for n in range(size)))
        assert host is not None
        assert embedded.read_regions(host, catalog)
        counts.append(len(calls))
    assert counts[1] <= 2 * counts[0] + 1


def test_a_chain_deeper_than_the_stack_is_read_and_told(catalog: Catalog) -> None:
    """What an engine does with a fact is asked of all that reads it, 256 CTEs above."""
    first = "SELECT f.x AS k, f.p AS v FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'"
    result = rewrite(chain("SELECT k, v FROM {0}", first)(256), catalog)
    assert not result.errors
    assert {candidate.engine is not None for candidate in result.candidates} == {True}


def test_views_that_multiply_are_left_alone(catalog: Catalog) -> None:
    """Each reader of a view binds it anew, and so do the views in it."""
    views = ["CREATE VIEW v0 AS SELECT k, v FROM d WHERE c = 'a'"]
    body = "SELECT a.k, b.v FROM v{0} a JOIN v{0} b ON a.k = b.k"
    views += [f"CREATE VIEW v{n + 1} AS {body.format(n)}" for n in range(18)]
    text = ";\n".join([*views, "SELECT * FROM f JOIN v18 q ON f.p = q.k"])
    result = rewrite_with_options(text, catalog, make_options(limits=Limits(steps=100_000)))
    assert not result.errors
    assert "more than 100,000 steps, over the step-limit" in result.skipped[-1].message


def test_the_limit_is_a_setting(catalog: Catalog) -> None:
    text = TEXTS["CTEs read twice"](8)
    assert rewrite(text, catalog).sql != text
    options = make_options(limits=Limits(steps=100))
    result = rewrite_with_options(text, catalog, options)
    assert result.sql == text
    assert "more than 100 steps" in result.skipped[0].message


def shared(readers: int) -> str:
    """A dimension in a CTE that each of its readers restricts by two conditions."""
    body = "SELECT x FROM q WHERE v = {n} AND c = '{n}'"
    unions = " UNION ALL ".join(body.format(n=number) for number in range(readers))
    return f"WITH q AS (SELECT f.x, d.v, d.c FROM f JOIN d ON f.p = d.k) {unions}"


def tied(relations: int) -> str:
    """A dimension, and relations with its key, of which none can be read again."""
    drawn = "JOIN (SELECT k FROM d WHERE rand() < {n}) e{n} ON e{n}.k = d.k"
    joins = " ".join(drawn.format(n=number) for number in range(relations))
    return f"SELECT f.x FROM f JOIN d ON f.p = d.k {joins}"


LIMITS = {
    "the CTE around it is read with over 500 conditions, which were not looked at": shared,
    "the 20 nearest relations with the same key do not bound it either": tied,
}


@pytest.mark.parametrize("why", LIMITS)
def test_a_limit_is_told(why: str, catalog: Catalog) -> None:
    """Where more than so many are left out, the reason says so; where all are read, nothing."""
    for count, expected in ((5, False), (251, True)):
        (candidate,) = rewrite(LIMITS[why](count), catalog).candidates
        assert any(why in rule.message for rule in candidate.rules) == expected


def test_conditions_that_are_not_followed_are_told_beside_others(catalog: Catalog) -> None:
    text = shared(251).replace("f.p = d.k", "f.p = d.k WHERE d.k > 1")
    (candidate,) = rewrite(text, catalog).candidates
    (why,) = (rule.message for rule in candidate.rules if rule.code == "DPP120")
    assert why.startswith("`d` is filtered; the CTE around it is read with over 500")
