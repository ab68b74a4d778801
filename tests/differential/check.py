"""Runs the original and the rewritten query on DuckDB and compares them as bags of rows.

In: a seed, a number, and a rewriter. Out: a ``Report``: how many were rewritten, how many refused,
and every case whose rows differ, or that a second run changes. A case, and the options it is
rewritten with, are a function of its seed and its index, of nothing else.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

import duckdb

from sqlrewrite.settings.options import Keys, Resolve, not_asked
from tests.support.duckdb_text import as_duckdb, behave_as_spark

from .queries import random_query
from .relations import DEFAULT, Options
from .schema import SQL_TYPES, TABLES, VIEWS, Data, ddl, inserts, random_data

BATCH = 50
"""Queries that share one set of random rows."""

BEYOND_DUCKDB = (duckdb.NotImplementedException, duckdb.InternalException)
"""What DuckDB raises for a query that is right and that it cannot run."""

ATTEMPTS = 20
MOST_KEYS = 2
"""More keys than this are written as their range, with ``values``."""

BENEFIT = frozenset({"DPP120", "DPP121", "DPP123", "DPP124"})
"""The rules that are about speed alone. Not DPP122: it refuses every author's own IN, also that of
a UNION, whose branches do not bound the fact each by itself."""


class Rewritten(Protocol):
    """What a rewriter gives back: ``sqlrewrite.Rewrite``, or anything of that shape."""

    @property
    def sql(self) -> str: ...

    @property
    def errors(self) -> Sequence[object]: ...


Bag = Counter[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Manner:
    """The options of ``sqlrewrite.rewrite`` that a case is rewritten with; ``resolve`` is the
    database's."""

    predicate: str = "in"
    hint: bool = True
    depth: int = 3
    through_facts: bool = False
    resolve: Resolve | None = field(default=None, compare=False)


Rewriter = Callable[[str, Manner], Rewritten]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The result of the rewriter that rewrites nothing."""

    sql: str
    errors: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrong:
    """A case that the rewriter got wrong, and how."""

    index: int
    original: str
    rewritten: str
    problem: str


@dataclass(slots=True)
class Report:
    """The counts of a run.

    ``unread`` are queries that the rewriter could not parse, ``unjudged`` those whose rewritten
    form is beyond DuckDB (it has no subquery in the ON of some outer joins), not known to be wrong.
    ``crashed`` are those of batches in which DuckDB itself died, once in some 30,000 queries, and
    which ran no better on their own. ``tried`` and ``done`` count the queries and the
    rewritten ones of each form of predicate and each shape of query.
    """

    queries: int = 0
    rewritten: int = 0
    refused: int = 0
    non_empty: int = 0
    non_empty_rewritten: int = 0
    unread: int = 0
    unjudged: int = 0
    crashed: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Counts the other report in."""
        for it in fields(self):
            setattr(self, it.name, getattr(self, it.name) + getattr(other, it.name))

    @property
    def share(self) -> float:
        """The part of the queries that was rewritten."""
        return self.rewritten / self.queries if self.queries else 0.0


# --- rewriters ----------------------------------------------------------------------------------


def identity(sql: str, manner: Manner) -> Rewritten:
    """Rewrites nothing: what the generator and DuckDB do by themselves."""
    return Unchanged(sql)


def library(sql: str, manner: Manner) -> Rewritten:
    """The library as users call it, on the catalog of the test's own DDL."""
    return without(frozenset(), sql, manner)


def eager(sql: str, manner: Manner) -> Rewritten:
    """The library without a thought for the benefit: what is not worth it must be sound, too."""
    return without(BENEFIT, sql, manner)


def without(disabled: frozenset[str], sql: str, manner: Manner) -> Rewritten:
    """The library with these rules switched off."""
    from sqlrewrite import rewrite

    result: Rewritten = rewrite(
        sql,
        warehouse(),
        predicate=manner.predicate,
        hint=manner.hint,
        depth=manner.depth,
        through_facts=manner.through_facts,
        disabled=disabled,
        resolve=manner.resolve,
    )
    return result


@lru_cache(maxsize=1)
def warehouse() -> Any:
    """The catalog of the random warehouse."""
    from sqlrewrite import Catalog

    return Catalog.from_ddl(ddl())


# --- DuckDB -------------------------------------------------------------------------------------


class Database:
    """One DuckDB with the tables under Spark's names, refilled for every batch."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET threads = 1")
        # DuckDB 1.5 takes the filter that a join pushes down below an inner LIMIT: wrong rows.
        self._connection.execute("SET disabled_optimizers = 'join_filter_pushdown'")
        self._connection.execute("ATTACH ':memory:' AS spark_catalog")
        self._connection.execute('CREATE SCHEMA spark_catalog."default"')
        self._connection.execute('USE spark_catalog."default"')
        behave_as_spark(self._connection)
        for table in TABLES:
            columns = ", ".join(f"{c.name} {SQL_TYPES[c.type]}" for c in table.columns)
            self._connection.execute(f"CREATE TABLE {table.name} ({columns})")
        for view in VIEWS:
            self._connection.execute(as_duckdb(view.ddl()))

    def fill(self, data: Data) -> None:
        """Replaces all rows."""
        for table in TABLES:
            self._connection.execute(f"TRUNCATE {table.name}")
        self._connection.execute(inserts(data))

    def bag(self, spark_sql: str) -> Bag:
        """The rows of a Spark query, with how often each occurs."""
        return Counter(self._connection.execute(as_duckdb(spark_sql)).fetchall())

    def keys(self, query: str, namespace: tuple[str, ...]) -> Keys:
        """The keys of a key query, as ``--predicate values`` asks for them; more than a few
        collapse."""
        result = self._connection.execute(as_duckdb(query))
        ((_, kind, *_),) = result.description
        keys = sorted({key for (key,) in result.fetchall() if key is not None})
        collapsed = len(keys) > MOST_KEYS
        literals = [_literal(key) for key in (keys[0], keys[-1]) if collapsed] if keys else []
        literals = literals or [_literal(key) for key in keys]
        return Keys(tuple(literals), _spark_type(str(kind)), "2026-01-31T09:30:00Z", collapsed)


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return f"DATE '{value}'" if isinstance(value, date) else str(value)


def _spark_type(kind: str) -> str:
    """DuckDB's name of a type as Spark's."""
    known = {"integer": "int", "varchar": "string"}
    return known.get(kind.lower(), kind.lower())


# --- one case -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One accepted query with its shapes, the options to rewrite it with, and its rows as the
    original gives them."""

    index: int
    sql: str
    shapes: frozenset[str]
    manner: Manner
    rows: Bag
    refused: int


def data_of(seed: int, index: int) -> Data:
    """The rows that the case with this index runs on."""
    return random_data(random.Random(f"{seed}/data/{index // BATCH}"))


def manner_of(seed: int, index: int) -> Manner:
    """The options that the case with this index is rewritten with."""
    rng = random.Random(f"{seed}/manner/{index}")
    manner = Manner(
        predicate=rng.choice(("in", "in", "set", "range", "auto")),
        hint=rng.random() < 0.7,
        depth=rng.choice((0, 1, 2, 3, 3, 4)),
        through_facts=rng.random() < 0.25,
    )
    return replace(manner, predicate="values") if rng.random() < 0.2 else manner


def case_of(seed: int, index: int, database: Database, options: Options = DEFAULT) -> Case:
    """The case with this index, on a database that is filled already."""
    rng = random.Random(f"{seed}/query/{index}")
    for refused in range(ATTEMPTS):
        query = random_query(rng, options)
        manner = manner_of(seed, index)
        try:
            rows = database.bag(query.text)
            return Case(index, query.text, query.shapes, manner, rows, refused)
        except duckdb.Error:
            continue
    raise RuntimeError(f"seed {seed}, index {index}: DuckDB refused {ATTEMPTS} queries in a row")


def difference(database: Database, before: Bag, rewritten: str) -> str | None:
    """What the rewritten query gives and the original did not; None where both are the same."""
    try:
        after = database.bag(rewritten)
    except BEYOND_DUCKDB:
        raise
    except duckdb.Error as error:
        return f"the rewritten query fails: {error}"
    if before == after:
        return None
    lost, won = before - after, after - before
    return "\n".join(
        [f"lost {n} x {row}" for row, n in list(lost.items())[:10]]
        + [f"new  {n} x {row}" for row, n in list(won.items())[:10]]
    )


def check(case: Case, database: Database, rewrite: Rewriter, report: Report) -> None:
    """Rewrites one case, compares, and counts."""
    names = {f"--predicate {case.manner.predicate}", *case.shapes}
    report.queries += 1
    report.refused += case.refused
    report.non_empty += bool(case.rows)
    report.tried.update(names)
    try:
        result, again = twice(case.sql, rewrite, case.manner, database)
    except Exception as error:  # the library never raises for a query: whatever it is, it is a bug
        report.wrong.append(Wrong(case.index, case.sql, "", f"rewrite raised {error!r}"))
        return
    report.unread += bool(result.errors)
    if result.sql == case.sql:
        return
    report.rewritten += 1
    report.done.update(names)
    report.non_empty_rewritten += bool(case.rows)
    try:
        problem = difference(database, case.rows, result.sql) or _unstable(result, *again)
    except BEYOND_DUCKDB:
        report.unjudged += 1
        return
    if problem:
        report.wrong.append(Wrong(case.index, case.sql, result.sql, problem))


def twice(
    sql: str, rewrite: Rewriter, manner: Manner, database: Database
) -> tuple[Rewritten, list[Rewritten]]:
    """The rewritten query, and what further runs make of it: one of the same manner, and with
    ``values`` one that has nobody to ask."""
    manners = [replace(manner, resolve=database.keys)]
    if manner.predicate == "values":
        manners.append(replace(manner, resolve=not_asked))
    once = rewrite(sql, manners[0])
    return once, [rewrite(once.sql, it) for it in manners] if once.sql != sql else []


def _unstable(once: Rewritten, *again: Rewritten) -> str | None:
    changed = next((it.sql for it in again if it.sql != once.sql), None)
    return None if changed is None else f"a second run changes it to\n{changed}"


def verdict(
    database: Database, sql: str, data: Data, rewrite: Rewriter, manner: Manner
) -> tuple[str, str] | None:
    """The rewritten query and what is wrong with it on these rows; None where nothing is."""
    database.fill(data)
    try:
        before = database.bag(sql)
    except duckdb.Error:
        return None
    try:
        result, again = twice(sql, rewrite, manner, database)
    except Exception as error:
        return "", f"rewrite raised {error!r}"
    try:
        problem = None if result.sql == sql else difference(database, before, result.sql)
    except BEYOND_DUCKDB:
        return None
    problem = problem or _unstable(result, *again)
    return (result.sql, problem) if problem else None


# --- many cases ---------------------------------------------------------------------------------


def run(
    seed: int,
    n: int,
    rewrite: Rewriter = library,
    *,
    options: Options = DEFAULT,
    first: int = 0,
    jobs: int = 1,
) -> Report:
    """Cases ``first`` to ``first + n``: any rewriter, in this process or (picklable) in several."""
    report = Report()
    for part in parts(seed, n, rewrite, options=options, first=first, jobs=jobs):
        report.add(part)
    report.wrong.sort(key=lambda wrong: wrong.index)
    return report


def parts(
    seed: int,
    n: int,
    rewrite: Rewriter,
    *,
    options: Options = DEFAULT,
    first: int = 0,
    jobs: int = 1,
) -> Iterator[Report]:
    """The reports of the batches, as they are done."""
    bounds = sorted({first, *range(first - first % BATCH + BATCH, first + n, BATCH), first + n})
    batches = [range(a, b) for a, b in pairwise(bounds)]
    if jobs == 1:
        database = Database()
        for batch in batches:
            yield _run_batch(seed, batch, rewrite, options, database)
        return
    while batches:
        yield from _in_pool(seed, batches, rewrite, options, jobs)
        # A worker died: its batch is one of the first that are left. These run alone now.
        for batch in batches[: 2 * jobs]:
            alone = [batch]
            yield from _in_pool(seed, alone, rewrite, options, 1)
            if alone:
                yield Report(queries=len(batch), crashed=len(batch))
            batches.remove(batch)


def _in_pool(
    seed: int, batches: list[range], rewrite: Rewriter, options: Options, jobs: int
) -> Iterator[Report]:
    """The reports of batches as they are done, each then taken off the list; what is left on it
    when the last has come is left because a worker died."""
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(_in_worker, seed, b, rewrite, options): b for b in batches}
        for future in as_completed(futures):
            try:
                report = future.result()
            except BrokenProcessPool:
                continue
            batches.remove(futures[future])
            yield report


def _in_worker(seed: int, batch: range, rewrite: Rewriter, options: Options) -> Report:
    return _run_batch(seed, batch, rewrite, options, _worker_database())


@lru_cache(maxsize=1)
def _worker_database() -> Database:
    return Database()


def _run_batch(
    seed: int, batch: range, rewrite: Rewriter, options: Options, database: Database
) -> Report:
    report = Report()
    database.fill(data_of(seed, batch.start))
    for index in batch:
        check(case_of(seed, index, database, options), database, rewrite, report)
    return report
