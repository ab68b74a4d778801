"""Whatever the text: no exception, insertions only, and a second run that changes nothing.

Queries of the fixtures, broken in the ways that files break: cut off, spliced, words dropped,
doubled and exchanged, bytes of any kind, nested deeply, repeated thousands of times. Each test is
of one seed, which is its name; ``without_predicates`` is not the rewriter's own code.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from sqlrewrite import Catalog, Rewrite, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.settings.options import make_options
from sqlrewrite.text.limits import NESTING_MOST, Limits
from sqlrewrite.text.markers import MARKER
from tests.support.cases import FIXTURES, QUERIES, query_cases, retail_cases
from tests.support.stable_draws import Draws
from tests.support.strip_by_markers import LEXEME, without_predicates
from tests.support.turns import TODAY

pytestmark = pytest.mark.long

SEEDS = [TODAY, *(pytest.param(seed, marks=pytest.mark.longest) for seed in range(1, 20))]
TEXTS = 40
"""Broken texts of a seed. ``--long`` has one seed, ``--longest`` the others."""
SECONDS = 60
"""Of the processor's time, for a test that takes about two: a text on which it hangs fails it."""

TEXT = Draws(
    {case.name: case.text() for case in (*query_cases(), *retail_cases())}
    | {str(path.relative_to(FIXTURES)): path.read_text() for path in FIXTURES.glob("dbt/*/*.sql")}
)
PIECES = (
    *("(", ")", "'", '"', "`", ";", ",", ".", "--", "/*", "*/", "/*+", "\\", "\n", "\r", "\x00"),
    *("é", "🙂", "\ud800", "\ufeff", "\u2028", "{{", "}}", "{%", "${x}", "{{ ref('sales') }}"),
    *("SELECT", "FROM", "WHERE", "JOIN", "ON", "AND", "OR", "NOT", "IN", "UNION ALL", "LIMIT 1"),
    *(
        "WITH",
        "AS",
        "CASE",
        "END",
        "GROUP BY",
        "EXISTS (",
        "BETWEEN",
        "LATERAL VIEW",
        "*",
        "1e9999",
    ),
    MARKER,
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(
        str(QUERIES / "ddl.sql"), str(FIXTURES / "dbt" / "target" / "manifest.json")
    )


def cut(rng: random.Random) -> str:
    text = TEXT.draw(rng)
    return text[: rng.randrange(len(text))] if rng.random() < 0.7 else text[rng.randrange(99) :]


def splice(rng: random.Random) -> str:
    one, other = TEXT.draw(rng), TEXT.draw(rng)
    return one[: rng.randrange(len(one))] + other[rng.randrange(len(other)) :]


def words(rng: random.Random) -> str:
    """A few words dropped, doubled, or exchanged with others."""
    lexemes = [match.group() for match in LEXEME.finditer(TEXT.draw(rng))]
    for _ in range(rng.randint(1, 3)):
        at, other = rng.randrange(len(lexemes)), rng.randrange(len(lexemes))
        match rng.randrange(4):
            case 0:
                lexemes[at] = ""
            case 1:
                lexemes[at] *= 2
            case 2:
                lexemes[at], lexemes[other] = lexemes[other], lexemes[at]
            case _:
                lexemes[at] = f" {rng.choice(PIECES)} "
    return "".join(lexemes)


def letters(rng: random.Random) -> str:
    """Pieces of any kind at any place."""
    text = TEXT.draw(rng)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randint(0, 3) :]
    return text


def noise(rng: random.Random) -> str:
    """Bytes, as a file that is no text holds them."""
    return rng.randbytes(rng.randint(0, 300)).decode("utf-8", "surrogateescape")


def pieces(rng: random.Random) -> str:
    return rng.choice(("", " ")).join(rng.choices(PIECES, k=rng.randint(1, 30)))


def nested(rng: random.Random) -> str:
    """A query inside of what is written many times around it."""
    text = TEXT.draw(rng).rstrip().rstrip(";")
    before, behind = rng.choice(
        [("(", ")"), ("SELECT * FROM (", ") q"), ("SELECT (", ")"), ("WITH c AS (", ") SELECT 1")]
    )
    depth = rng.choice((1, 5, 30, 150))
    return before * depth + text + behind * depth


MUTATIONS = (cut, splice, words, letters, noise, pieces, nested)


def check(text: str, catalog: Catalog, seed: object) -> Rewrite:
    """What becomes of a text; what must hold of any is asserted.

    DPP999, a predicate that the check after the work discarded, is allowed: of what sqlglot reads
    and Spark would not (``SORT BY a LATERAL VIEW b``), tokens and tree may tell two stories.
    """
    shown = f"seed {seed}: {text[:2000]!r}"
    result = rewrite(text, catalog)
    if MARKER not in text:  # else a predicate may go that does not follow, or that is broken
        assert without_predicates(result.sql) == text, shown
    assert not [e for e in result.errors if "internal error" in e.message], shown
    again = rewrite(result.sql, catalog)
    assert again.sql == result.sql, shown
    return result


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_broken_text_gets_insertions_or_nothing(
    mutate: Callable[[random.Random], str], seed: int, catalog: Catalog
) -> None:
    started = time.process_time()
    for number in range(TEXTS):
        name = f"{mutate.__name__}/{seed}/{number}"
        check(mutate(random.Random(name)), catalog, name)
        assert time.process_time() - started < SECONDS, name


JOIN = "FROM sales s JOIN dates d ON s.day = d.day"
QUERY = f"SELECT s.id {JOIN} WHERE d.year = 2024"
LARGE = {
    "unions": " UNION ALL ".join([QUERY] * 200),
    "plain unions": "SELECT 1 AS a" + " UNION ALL SELECT 1" * 5000,
    "joins": f"{QUERY.split(' WHERE')[0]}"
    + "".join(f" JOIN dates d{n} ON d{n}.day = s.day" for n in range(300))
    + " WHERE d.year = 2024",
    "conjuncts": QUERY + "".join(f" AND s.qty <> {n}" for n in range(5000)),
    "disjuncts": QUERY + " AND (" + " OR ".join(f"s.qty = {n}" for n in range(5000)) + ")",
    "a long list": QUERY + f" AND s.id IN ({', '.join(map(str, range(10_000)))})",
    "statements": f"{QUERY};\n" * 200,
    "ctes": "WITH c0 AS (SELECT day FROM sales)"
    + "".join(f", c{n} AS (SELECT day FROM c{n - 1})" for n in range(1, 300))
    + " SELECT * FROM c299 c JOIN dates d ON c.day = d.day WHERE d.year = 2024",
    "columns": f"SELECT {', '.join(f's.id + {n} AS c{n}' for n in range(5000))} {JOIN} "
    "WHERE d.year = 2024",
    "derived tables": "SELECT * FROM (" * 150 + QUERY + ") q" * 150,
    "parentheses": f"SELECT s.id {JOIN} WHERE {'(' * 250}d.year = 2024{')' * 250}",
    "functions": f"SELECT {'abs(' * 250}s.id{')' * 250} {JOIN} WHERE d.year = 2024",
    "cases": f"SELECT {'CASE WHEN s.qty = 1 THEN ' * 250}1{' END' * 250} {JOIN} "
    "WHERE d.year = 2024",
    "a long comment": f"/* {'x' * 3_000_000} */ {QUERY}",
    "a long string": f"{QUERY} AND s.id <> '{'x' * 3_000_000}'",
    "a long name": f"SELECT s.id AS {'x' * 300_000} {JOIN} WHERE d.year = 2024",
    "templates": "SELECT "
    + ", ".join(["{{ x }}"] * 3000)
    + " FROM {{ ref('sales') }} s JOIN {{ ref('dates') }} d ON s.day = d.day WHERE d.year = 2024",
    "quotes": "'" * 20_001,
    "comments not closed": "/*" * 20_000,
    "open parentheses": "(" * 20_000,
}


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", LARGE)
def test_a_large_text_ends_in_time(name: str, catalog: Catalog) -> None:
    started = time.process_time()
    result = check(LARGE[name], catalog, name)
    assert not [e for e in result.errors if e.code != "DPP000"]
    assert time.process_time() - started < SECONDS


DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: f"SELECT s.id {JOIN} WHERE {'(' * n}d.year = 2024{')' * n}",
    "open parentheses": lambda n: "(" * n,
    "derived tables": lambda n: "SELECT * FROM (" * n + QUERY + ") q" * n,
    "brackets": lambda n: f"SELECT s.id{'[s.id' * n}{']' * n} {JOIN} WHERE d.year = 2024",
    "cases": lambda n: f"SELECT {'CASE WHEN s.id = 1 THEN ' * n}1{' END' * n} {JOIN}",
    "types": lambda n: f"SELECT CAST(NULL AS {'ARRAY<' * n}INT{'>' * n}) {JOIN}",
}


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("depth", [300, 20_000])
def test_deep_texts_are_skipped_with_the_limit(name: str, depth: int, catalog: Catalog) -> None:
    """A compiled parser runs out of its stack here, or takes minutes."""
    started = time.process_time()
    result = rewrite(f"{QUERY};\n{DEEP[name](depth)}", catalog)
    (skipped,) = result.skipped
    assert "deep, over the nesting-limit of 250" in skipped.message
    assert (skipped.line, len(result.candidates), result.errors) == (2, 1, ())
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "SELECT s.id FROM sales s JOIN dates d ON s.$day = d.day WHERE d.year = 2024",
        "SELECT s.id FROM sales s JOIN dates d ON s.day = d.day AND d.$year = 2024",
        f"SELECT s.(SELECT 1), s.$$$$day {JOIN} WHERE d.year = 2024",
        f"{QUERY},",
        f"{QUERY}, d.day",
        "SELECT s.id FROM sales s JOIN (SELECT day FROM dates WHERE year = 2024) d "
        "ON s.day = d.day JOIN stores AS",
    ],
)
def test_what_the_parser_takes_and_no_engine_does(text: str, catalog: Catalog) -> None:
    """It is no mistake of ours that is to be reported."""
    result = check(text, catalog, text)
    assert not [error for error in result.errors if error.code != "DPP000"]


TRIED: dict[str, Callable[[int], str]] = {
    "joins": lambda n: "SELECT s.id FROM sales s" + "".join(f" JOIN t{i}" for i in range(n)),
    "left joins": lambda n: f"SELECT s.id {JOIN}" + " LEFT SEMI JOIN t" * n + " WHERE d.year = 1",
    "joins in a subquery": lambda n: f"{QUERY} AND s.id IN (SELECT 1 FROM t {'JOIN t ' * n})",
    "dates": lambda n: f"SELECT {'date(' * n}s.day{')' * n} {JOIN}",
    "joins of subqueries": lambda n: (
        "SELECT 1 FROM sales a JOIN sales b JOIN (" * n + "SELECT 1" + ") z" * n
    ),
    "joins of joins": lambda n: (
        "SELECT 1 FROM " + "sales a JOIN sales b JOIN (" * n + "t" + ")" * n
    ),
    "joins of dates": lambda n: (
        f"SELECT 1 FROM sales a {'JOIN sales b ' * (n // 2)}"
        f"JOIN (SELECT {'date(' * (n // 2)}1{')' * (n // 2)}) z"
    ),
    "arrays": lambda n: f"SELECT {'array[' * n}1{']' * n} {JOIN}",
    "casts": lambda n: f"SELECT {'float (coalesce(1, double(' * (n // 2)}1{')))' * (n // 2)}",
}


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize("count", [14, 40, 5_000])
def test_what_the_parser_would_try_for_hours_is_skipped(
    name: str, count: int, catalog: Catalog
) -> None:
    """sqlglot takes twice or four times as long for each one more."""
    started = time.process_time()
    result = rewrite(f"{QUERY};\n{TRIED[name](count)}", catalog)
    (skipped,) = result.skipped
    assert "more than 12" in skipped.message or "nested" in skipped.message
    assert (skipped.line, len(result.candidates), result.errors) == (2, 1, ())
    assert time.process_time() - started < SECONDS


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", TRIED)
def test_what_it_tries_quickly_is_read(name: str, catalog: Catalog) -> None:
    assert not rewrite(TRIED[name](12), catalog).skipped


def test_joins_with_their_conditions_are_read(catalog: Catalog) -> None:
    joins = (
        " JOIN (SELECT 1 FROM t LEFT JOIN t ON 1 = 1) q ON 1 = 1" * 20
        + " JOIN t USING (a)" * 20
        + " CROSS JOIN t" * 20
        + " NATURAL LEFT JOIN t" * 20
        + " LEFT JOIN t JOIN t ON 1 = 1 ON 2 = 2" * 20
    )
    calls = " AND date(s.day) > date('2024-01-01')" * 20
    assert not rewrite(f"SELECT s.id {JOIN}{joins} WHERE 1 = 1{calls}", catalog).skipped
    nested = "SELECT 1 FROM t JOIN (" * 20 + "SELECT 1" + ") q ON 1 = 1" * 20
    assert not rewrite(f"SELECT s.id {JOIN} JOIN ({nested}) q ON 1 = 1", catalog).skipped


@pytest.mark.parametrize("name", ["parentheses", "derived tables", "brackets", "cases"])
@pytest.mark.parametrize("limit", [Limits().nesting, NESTING_MOST])
def test_what_is_as_deep_as_the_limit_is_read(name: str, limit: int, catalog: Catalog) -> None:
    """Python would give up at some fifty parentheses."""
    calls, limits = sys.getrecursionlimit(), Limits(nesting=limit)
    text = DEEP[name](limit - 1)
    result = rewrite(text, catalog, limits=limits)
    assert (result.skipped, result.errors, len(result.candidates)) == ((), (), 1)
    assert result.changed is (name != "cases")
    ((finding,), _) = lint(text, catalog, make_options(limits=limits))
    assert finding.code == ("DPP001" if result.changed else "DPP007")
    assert sys.getrecursionlimit() == calls


def test_deep_texts_in_many_threads(catalog: Catalog) -> None:
    """The limits of the interpreter are those of all threads."""
    texts = [DEEP["parentheses"](depth) for depth in range(60, 84)]
    with ThreadPoolExecutor(8) as threads:
        changes = list(threads.map(lambda text: rewrite(text, catalog).changed, texts))
    assert changes == [True] * len(texts)


@pytest.mark.parametrize("sign", ["NOT ", "- "])
def test_what_no_stack_is_enough_for_is_skipped(sign: str, catalog: Catalog) -> None:
    result = rewrite(f"{QUERY} AND {sign * 70_000} s.id = 1;\n{QUERY}", catalog)
    assert [error.message for error in result.errors] == ["nested too deeply to be parsed"]
    assert result.candidates


def test_what_is_flat_is_not_deep(catalog: Catalog) -> None:
    flat = " AND ".join(["s.qty < 3", "(s.qty) > 1", "s.tags[0] = 'a'", "s.qty >> 1 = 0"] * 300)
    assert rewrite(f"{QUERY} AND {flat}", catalog).changed


def test_a_large_statement_is_skipped_with_the_limit(catalog: Catalog) -> None:
    large = f"{QUERY} AND s.id IN ({', '.join(map(str, range(1000)))}, '{'é' * 1000}')"
    size = len(large.encode())
    text = f"{QUERY};\n{large};\n{QUERY}"
    limited = rewrite(text, catalog, limits=Limits(statement=size - 1))
    (skipped,) = limited.skipped
    assert skipped.message == (
        "the statement is 6.8 kB, over the statement-limit of 6.8 kB (raise it to read this)"
    )
    assert (skipped.line, len(limited.candidates)) == (2, 2)
    assert not rewrite(text, catalog, limits=Limits(statement=size)).skipped


def test_ten_megabytes_are_skipped_with_the_limit(catalog: Catalog) -> None:
    """As one statement they are skipped, with the values found."""
    text = QUERY + " AND s.id <> '" + "x" * (10 << 20) + "'"
    (skipped,) = rewrite(text, catalog).skipped
    assert "is 10 MB, over the statement-limit of 1 MB" in skipped.message


def test_the_mutations_leave_something_to_rewrite(catalog: Catalog) -> None:
    """Texts that nothing can be made of would prove little."""
    changed = sum(
        check(mutate(random.Random(f"{mutate.__name__}/{n}")), catalog, n).changed
        for mutate in (cut, words, letters, nested)
        for n in range(40)
    )
    assert changed > 10


@pytest.mark.parametrize("when", ["read", "decide"])
def test_a_mistake_of_ours_costs_one_statement(
    when: str, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlrewrite.decision import decide
    from sqlrewrite.find import pairs

    def fail(*_: object) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr(
        *{"read": (pairs, "find_pairs"), "decide": (decide, "judge_pair")}[when], fail
    )
    text = f"{QUERY} AND s.day IN (SELECT 1) {MARKER};\nSELECT 1"
    result = rewrite(text, catalog)
    assert result.sql == text
    assert [(e.code, e.line) for e in result.errors] == [("DPP999", 1)]
    assert "ValueError: a mistake" in result.errors[0].message


@pytest.mark.parametrize("call", ["day()", "year()", "datediff()", "weekofyear()"])
def test_a_function_without_what_it_needs(call: str) -> None:
    """sqlglot wraps the argument that is not there."""
    tables = Catalog.from_ddl(
        "CREATE TABLE f (a INT, p INT) USING parquet PARTITIONED BY (p);"
        "CREATE TABLE d (k INT, x INT) USING parquet"
    )
    sql = f"SELECT x.n FROM (SELECT p, {call} AS n FROM f) x JOIN d ON x.p = d.k WHERE d.x = 1"
    assert not rewrite(sql, tables).errors


MISSING = (
    "NOT",
    "NOT LIKE 'x'",
    "LIKE 'x'",
    "s.qty BETWEEN AND 3",
    "s.qty <<",
    "cast(as int)",
    "-",
)


@pytest.mark.parametrize("condition", MISSING)
def test_a_missing_operand_is_no_error_of_ours(condition: str, catalog: Catalog) -> None:
    result = rewrite(f"{QUERY} AND {condition}", catalog)
    assert not [e for e in result.errors if "internal error" in e.message]
