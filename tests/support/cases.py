"""Cases as files, and what is asked of each: for ``test_fixtures``.

In: a folder of ``<case>.sql`` with their neighbours. Out: ``Case`` values, and functions that say
what is wrong with a result, as text, or nothing. None of them trusts the rewriter's own checks:
insertions are found from the markers, and trees compared, by code of this page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrewrite import Catalog, rewrite
from sqlrewrite.results import Candidate, Rewrite, TableUse, Verdict
from sqlrewrite.settings.spark_conf import VERSION

from .strip_by_markers import LEXEME, void

FIXTURES = Path(__file__).parents[2] / "fixtures"
QUERIES = FIXTURES / "queries"
RETAIL = FIXTURES / "retail"
MESSAGES = QUERIES / "messages.txt"
"""What is said in all cases: a message is reworded in one golden."""

_NEIGHBOURS = (".golden.sql", ".naive.sql")
BEYOND_DUCKDB = "(not for DuckDB)"
"""In the first line of a case that only Spark can run: said, so that none is skipped in silence."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query with its golden, its verdicts, perhaps a naive rewriting that is wrong, its DDL."""

    name: str
    sql: Path
    golden: Path
    verdicts: Path
    naive: Path
    ddl: Path

    def text(self) -> str:
        """The query's text as it is on disk, line ends and all."""
        return read(self.sql)


def read(path: Path) -> str:
    """A file's text without any translation of line ends."""
    return path.read_bytes().decode("utf-8")


@cache
def query_cases() -> tuple[Case, ...]:
    """The cases of ``fixtures/queries``; a topic's own ``ddl.sql`` goes before the shared one."""
    cases = []
    for sql in sorted(QUERIES.glob("*/*.sql")):
        if sql.name.endswith(_NEIGHBOURS) or sql.name == "ddl.sql":
            continue
        own = sql.parent / "ddl.sql"
        ddl = own if own.exists() else QUERIES / "ddl.sql"
        cases.append(_case(sql, sql.parent, ddl, f"{sql.parent.name}/{sql.stem}"))
    return tuple(cases)


def retail_cases() -> list[Case]:
    """The queries of ``fixtures/retail``, whose goldens are a folder of their own."""
    folder = RETAIL / "golden"
    return [
        _case(sql, folder, RETAIL / "ddl.sql", f"retail/{sql.stem}")
        for sql in sorted((RETAIL / "queries").glob("*.sql"))
    ]


def strays(cases: list[Case]) -> list[str]:
    """Neighbours whose case is gone."""
    expected = {path for case in cases for path in (case.golden, case.verdicts, case.naive)}
    neighbours = (
        path
        for folder in (QUERIES, RETAIL / "golden")
        for pattern in ("*.golden.sql", "*.naive.sql", "*.verdicts")
        for path in folder.rglob(pattern)
    )
    return [str(path.relative_to(FIXTURES)) for path in neighbours if path not in expected]


def _case(sql: Path, folder: Path, ddl: Path, name: str) -> Case:
    golden, verdicts, naive = (
        folder / f"{sql.stem}{suffix}" for suffix in (".golden.sql", ".verdicts", ".naive.sql")
    )
    return Case(name, sql, golden, verdicts, naive, ddl)


@lru_cache
def catalog(ddl: Path) -> Catalog:
    """The catalog of a DDL file, for the newest Spark."""
    return replace(Catalog.load(str(ddl)), settings={VERSION: "4.3"})


@lru_cache(maxsize=4096)
def rewritten(case: Case, text: str) -> Rewrite:
    """What the library makes of a text on a case's catalog."""
    return rewrite(text, catalog(case.ddl))


# --- verdicts -------------------------------------------------------------------------------------


def verdict_lines(result: Rewrite) -> str:
    """One line a candidate, then what was not read: the text of a ``.verdicts`` file."""
    lines = [_verdict_line(candidate) for candidate in result.candidates]
    for kind, problems in (("error", result.errors), ("skipped", result.skipped)):
        lines += [f"{kind} {p.code} {p.line}:{p.column}" for p in problems]
    return "".join(f"{line}\n" for line in lines)


def message_lines(case: Case) -> str:
    """What is said of each place that was not read: the part of ``MESSAGES`` about a case."""
    result = rewritten(case, case.text())
    problems = (*result.errors, *result.skipped)
    return "".join(f"{case.name} {p.line}:{p.column} {p.message}\n" for p in problems)


def _verdict_line(candidate: Candidate) -> str:
    reason = candidate.reason
    code = "-" if reason is None else reason.code
    shown = f"{_side(candidate.fact)} <- {_side(candidate.dimension)}"
    return f"{candidate.verdict.value:<14} {code:<6} {shown}"


def _side(use: TableUse) -> str:
    name = f"{use.table}.{use.column}"
    return f"{name} ({use.alias})" if use.alias and use.alias != use.table else name


# --- trees ----------------------------------------------------------------------------------------


def parsed(text: str) -> list[exp.Expr | None] | None:
    """The trees of a text's statements, or None where it does not parse as a whole."""
    try:
        return list(sqlglot.parse(text, read="spark"))
    except (SqlglotError, RecursionError):
        return None


def tree_problem(before: str, result: Rewrite) -> str | None:
    """Whether the result's trees are those of ``before`` and the predicates as conjuncts of a WHERE
    or ON, nothing else."""
    old = parsed(before)
    if old is None:
        return None
    new = parsed(result.sql)
    if new is None:
        return "the result does not parse"
    added = {p for c in result.candidates for p in _expected(c)}
    for tree in new:
        if tree is None:
            continue
        for node in list(
            tree.find_all(
                exp.In, exp.GTE, exp.GT, exp.LTE, exp.LT, exp.EQ, exp.ArrayContains, exp.Paren
            )
        ):
            if node in added:
                problem = _pull(node)
                if problem:
                    return problem
    bare = [None if tree is None else _bare(tree) for tree in old]
    if bare != [None if tree is None else _bare(tree) for tree in new]:
        return "the result is not the query and its predicates"
    return None


def _expected(candidate: Candidate) -> Iterator[exp.Expr]:
    """The predicates of a candidate, each a conjunct."""
    if candidate.predicate is not None and candidate.verdict is not Verdict.REJECTED:
        tree = sqlglot.parse_one(candidate.predicate, read="spark", into=exp.Condition)
        yield from tree.flatten(unnest=False) if isinstance(tree, exp.And) else (tree,)


def _pull(node: exp.Expr) -> str | None:
    """Takes a conjunct out of its WHERE or ON; says so where it is not a conjunct of one."""
    above = node.parent
    while isinstance(above, exp.And | exp.Paren):
        above = above.parent
    if not isinstance(above, exp.Where | exp.Join | exp.Merge):
        return f"a predicate stands in {type(above).__name__}"
    parent = node.parent
    if isinstance(parent, exp.Where):
        parent.pop()
    elif isinstance(parent, exp.And):
        parent.replace(parent.expression if parent.this is node else parent.this)
    else:
        return "a predicate stands alone"
    return None


def _bare(tree: exp.Expr) -> exp.Expr:
    """A tree without parentheses, which the nesting of nodes says already."""
    bare = exp.Tuple(expressions=[tree.copy()])
    for paren in reversed(list(bare.find_all(exp.Paren))):
        paren.replace(paren.this)
    return bare


def query_texts(text: str) -> Iterator[tuple[str | None, str]]:
    """The queries of a text, each with the name of the view or table that it makes, if it does; of
    a statement that creates or inserts, the query in it."""
    for statement in split(text):
        lexemes = [match.group() for match in LEXEME.finditer(statement)]
        words = [lexeme.upper() for lexeme in lexemes if not void(lexeme)]
        start = _query_start(lexemes)
        if start is None or words[0] not in _HOLD_QUERIES or "FUNCTION" in words[:2]:
            continue
        kind = next((word for word in words[:5] if word in ("VIEW", "TABLE")), None)
        creates = kind is not None and words[0] == "CREATE"
        yield (
            words[words.index(kind) + 1].lower() if kind and creates else None,
            "".join(lexemes[start:]),
        )


_HOLD_QUERIES = ("SELECT", "WITH", "(", "INSERT", "CREATE", "CACHE")


def _query_start(lexemes: list[str]) -> int | None:
    depth = 0
    for index, lexeme in enumerate(lexemes):
        if depth == 0 and lexeme.upper() in ("SELECT", "WITH"):
            return index
        if lexeme == "(" and not any(not void(before) for before in lexemes[:index]):
            return index
        depth += (lexeme == "(") - (lexeme == ")")
    return None


def split(text: str) -> list[str]:
    """A text at its semicolons."""
    pieces: list[list[str]] = [[]]
    for match in LEXEME.finditer(text):
        if match.group() == ";":
            pieces.append([])
        else:
            pieces[-1].append(match.group())
    return ["".join(piece) for piece in pieces]
