"""Our predicates as formatters and people leave them, at random, rows compared in DuckDB.

Of each rewritten text the author's part is known. Whatever is done to it: ``--strip`` takes away no
word of the author's, a second run gives the rows of the author's part, and a third changes nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import duckdb
import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.sql.lex.tokens import comparable
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER
from tests.support.turns import turn

DDL = """
CREATE TABLE f (x INT, p INT, q INT) {by};
CREATE TABLE d (k INT, c STRING, n INT);
CREATE TABLE e (k INT, z INT)
"""
ROWS = (
    "INSERT INTO f SELECT i, i % 10, i % 4 FROM range(40) t(i)",
    "INSERT INTO d SELECT i, chr((97 + i % 3)::INT), i % 5 FROM range(12) t(i)",
    "INSERT INTO e SELECT i % 8, i % 3 FROM range(12) t(i)",
)
QUERIES = (
    "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'",
    "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a';",
    "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND f.x > 2 ORDER BY f.x",
    "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'"
    " AND f.p IN (SELECT k FROM e WHERE z = 1)",
    "SELECT f.x FROM d LEFT JOIN f ON f.p = d.k AND f.x > 1 WHERE d.c = 'a'",
    "WITH s AS (SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'), t AS (SELECT 1 AS y)"
    " SELECT x, y FROM s, t",
    "SELECT count(*) AS c FROM (SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a') AS s",
    "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE (d.c = 'a' OR d.n = 2)",
    "SELECT f.x FROM f, d WHERE f.p = d.k AND d.c = 'a' GROUP BY f.x HAVING count(*) > 0",
)
GAPS = ("", "  ", "\n", "\n    ", "\t", "\r\n", " \n\n")
SEED, TEXTS, MORE = 31, 300, 3000


@dataclass(frozen=True, slots=True)
class Edited:
    """A text in parts: the author's, our predicate, and the author's again. What is ``between`` the
    predicate and its marker is the author's, too; ``moved`` is where the marker stands, as an
    offset behind the predicate's place; None: it is gone."""

    before: str
    ours: str
    behind: str
    between: str = ""
    gap: str = " "
    moved: int | None = 0

    @property
    def text(self) -> str:
        if self.moved is None:
            return f"{self.before}{self.ours}{self.between}{self.behind}"
        head, tail = self.behind[: self.moved], self.behind[self.moved :]
        return f"{self.before}{self.ours}{self.between}{head}{self.gap}{MARKER}{tail}"

    @property
    def author(self) -> str:
        """The text without what is ours; all of it, where nothing says any more what is ours."""
        if self.moved is None:
            return self.text
        return f"{self.before}{self.between}{self.behind}"


Edit = Callable[[random.Random, Edited], Edited]


def gap(rng: random.Random, it: Edited) -> Edited:
    """White space before the marker."""
    return replace(it, gap=rng.choice(GAPS))


def case(rng: random.Random, it: Edited) -> Edited:
    """The words of our predicate in the other case."""
    words = rng.sample(("AND", "IN", "SELECT", "FROM", "WHERE"), 3)
    ours = it.ours
    for word in words:
        ours = ours.replace(f" {word} ", f" {word.lower()} ").replace(
            f"({word} ", f"({word.lower()} "
        )
    return replace(it, ours=ours)


def lines(rng: random.Random, it: Edited) -> Edited:
    """Line ends inside our predicate, and blanks inside its brackets."""
    broken = "".join(
        rng.choice(GAPS[1:]) if sign == " " and rng.random() < 0.4 else sign for sign in it.ours
    )
    if rng.random() < 0.5:
        broken = broken.replace("(SELECT", "(\n  SELECT").replace("')", "'\n)")
    return replace(it, ours=broken)


def moved(rng: random.Random, it: Edited) -> Edited:
    """The marker behind what ends the clause."""
    return replace(it, moved=1) if it.behind[:1] in (";", ",", ")") and it.moved == 0 else it


def forgotten(rng: random.Random, it: Edited) -> Edited:
    """The marker taken away."""
    return replace(it, moved=None)


def commented(rng: random.Random, it: Edited) -> Edited:
    """A comment between predicate and marker."""
    return replace(it, between=it.between + rng.choice((" /* why */", " -- why\n")))


def constant(rng: random.Random, it: Edited) -> Edited:
    """Another constant in the author's filter."""
    new = rng.choice(("'b'", "'c'"))
    return replace(it, before=it.before.replace("'a'", new), behind=it.behind.replace("'a'", new))


def condition(rng: random.Random, it: Edited) -> Edited:
    """A condition of the author's before our predicate, between it and its marker, or behind."""
    listed = f" AND f.q IN (1, {rng.randrange(2, 1000)})"
    more = rng.choice((" AND f.x > 3", " AND d.n < 4", listed, " AND f.q = 2"))
    place = rng.randrange(3)
    if place == 0:
        return replace(it, before=it.before + more)
    if place == 1 or it.moved != 0:
        return replace(it, between=it.between + more)
    return replace(it, behind=more + it.behind)


def joined(rng: random.Random, it: Edited) -> Edited:
    """Another join, or of another kind."""
    new = rng.choice((" JOIN e ON e.k = f.p JOIN d", " LEFT JOIN d", " SEMI JOIN d"))
    return replace(it, before=it.before.replace(" JOIN d", new, 1))


EDITS: tuple[Edit, ...] = (
    *(gap, gap, gap, case, lines, lines, moved, moved, forgotten),
    *(commented, constant, constant, constant, condition, condition, joined),
)


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for text in (*DDL.format(by="").split(";"), *ROWS):
        connection.execute(text)
    return connection


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL.format(by="USING parquet PARTITIONED BY (p)"))


@pytest.mark.long
def test_what_is_done_to_our_predicates(
    database: duckdb.DuckDBPyConnection, catalog: Catalog
) -> None:
    _check(database, catalog, turn(range(TEXTS), 4))


@pytest.mark.longest
def test_more_of_what_is_done_to_them(
    database: duckdb.DuckDBPyConnection, catalog: Catalog
) -> None:
    _check(database, catalog, range(TEXTS, MORE))


def _check(database: duckdb.DuckDBPyConnection, catalog: Catalog, numbers: Sequence[int]) -> None:
    wrong, checked = [], 0
    for number in numbers:
        edited = random_text(random.Random(f"{SEED}/{number}"), catalog)
        if edited is None or rows(database, edited.author) is None:
            continue
        checked += 1
        problem = mistake(database, catalog, edited)
        if problem:
            wrong.append(f"{number}: {problem}\n{edited.text}")
    assert not wrong, "\n\n".join(wrong[:5])
    assert checked * 2 > len(numbers)


def random_text(rng: random.Random, catalog: Catalog) -> Edited | None:
    """A rewritten text after a few edits; None where nothing was written, or no longer is."""
    sql = rng.choice(QUERIES)
    form = rng.choice(("in", "in", "range"))
    result = rewrite(sql, catalog, predicate=form, hint=rng.random() < 0.5)
    if result.sql.count(MARKER) != 1:
        return None
    end = result.sql.index(MARKER)
    behind = result.sql[end + len(MARKER) :]
    at = len(sql) - len(behind)
    edited = Edited(sql[:at], result.sql[at:end].rstrip(), behind)
    if not result.sql.startswith(sql[:at]) or not edited.ours.startswith(" AND "):
        return None  # it does not stand behind all others
    for _ in range(rng.randint(1, 4)):
        edited = rng.choice(EDITS)(rng, edited)
    return edited


def rows(database: duckdb.DuckDBPyConnection, sql: str) -> Counter[tuple[object, ...]] | None:
    """The rows as a bag; None of what is refused."""
    try:
        return Counter(database.execute(sql).fetchall())
    except duckdb.Error:
        return None


def mistake(database: duckdb.DuckDBPyConnection, catalog: Catalog, edited: Edited) -> str:
    """What a run makes wrong of an edited text; empty for nothing."""
    bare = stripped(edited.text).sql
    if not _within(comparable(edited.author), comparable(bare)):
        return f"--strip takes away what is the author's: {bare}"
    again = rewrite(edited.text, catalog)
    if again.sql == edited.text and again.skipped:
        return ""  # it is not sure what is ours, and says so
    if rewrite(again.sql, catalog).sql != again.sql:
        return f"a third run changes: {again.sql}"
    if rows(database, again.sql) != rows(database, edited.author):
        return f"other rows: {again.sql} {[problem.message for problem in again.skipped]}"
    return ""


def _within(words: Iterable[str], others: Iterable[str]) -> bool:
    """Whether all words are among others, in order."""
    rest = iter(others)
    return all(word in rest for word in words)
