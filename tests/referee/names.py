"""Names and types against the answers of Spark's own SQL tests.

``python -m tests.referee.names [part of a path]`` lays ``outputs``, and the types of the bound plan
by which the rewriter decides, against each answer in the corpus, which stands beside the checkout
(``../shared/corpus/spark-sql-tests``), and prints where they differ and how much is told. Each file
is one session: what a statement creates or sets holds for those behind it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sqlrewrite.catalog import Catalog
from sqlrewrite.document import tokenized
from sqlrewrite.output_columns import SessionState
from sqlrewrite.plan import columns
from sqlrewrite.plan.facts.types import ExactSettings
from sqlrewrite.results import Output
from sqlrewrite.sql.bind.binder import bind
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.sql.python_runtime import deep
from sqlrewrite.text.limits import Limits

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "spark-sql-tests"

_BLOCK = re.compile(r"(?ms)^-- !query\n(.*?)\n-- !query schema\n(.*?)\n-- !query output$")
_SET = re.compile(r"(?m)^--SET (.*)$")
_QUERY = re.compile(
    r"(?is)(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(select|with|from|values|table|map|reduce)\b"
)

# Tables that SQLQueryTestSuite makes in code (createTestTables).
_ONEK = ", ".join(
    f"{name} INT"
    for name in """unique1 unique2 two four ten twenty hundred thousand twothousand fivethous
    tenthous odd even""".split()
)
TABLES = f"""
CREATE TABLE testdata (key INT, value STRING) USING parquet;
CREATE TABLE arraydata (arraycol ARRAY<INT>, nestedarraycol ARRAY<ARRAY<INT>>) USING parquet;
CREATE TABLE mapdata (mapcol MAP<INT, STRING>) USING parquet;
CREATE TABLE aggtest (a INT, b FLOAT) USING parquet;
CREATE TABLE onek ({_ONEK}, stringu1 STRING, stringu2 STRING, string4 STRING) USING parquet;
CREATE TABLE tenk1 ({_ONEK}, stringu1 STRING, stringu2 STRING, string4 STRING) USING parquet
"""


@dataclass(frozen=True)
class Answer:
    """What Spark returned for a statement: a struct of its columns."""

    file: str
    sql: str
    schema: str


@dataclass
class Score:
    """How the answers compare: of queries that Spark answered, and of their columns."""

    queries: int = 0
    answered: int = 0
    columns: int = 0
    types: int = 0
    names: int = 0
    wrong: list[str] = field(default_factory=list)
    unknown: list[Answer] = field(default_factory=list)
    untyped: Counter[str] = field(default_factory=Counter)

    def add(self, answer: Answer, given: Output | None) -> None:
        """Counts one query."""
        self.queries += 1
        if given is None:
            self.unknown.append(answer)
            return
        self.answered += 1
        self.columns += len(given)
        self.types += sum(kind is not None for _, kind in given)
        self.names += sum(name is not None for name, _ in given)
        for name, kind in given:
            if kind is None:
                self.untyped[str(name)] += 1
        if not agrees(given, answer.schema):
            self.wrong.append(
                f"{answer.file}: {answer.sql}\n  ours  {shown(given)}\n  Spark {answer.schema}"
            )


def agrees(given: tuple[tuple[str | None, str | None], ...], schema: str) -> bool:
    """Whether what is given is what an answer says; a name or type that is None agrees.

    A name in the answer may hold any sign: the names given are found in it one behind the other.
    """
    pattern = []
    for name, kind in given:
        pattern.append((r".*?" if name is None else re.escape(name)) + ":" + _type(kind))
    return re.fullmatch(r"struct<" + ",".join(pattern) + ">", schema, re.DOTALL) is not None


def _type(kind: str | None) -> str:
    if kind is None:
        return r"[^,]*(?:[<(].*[>)])?"
    plain = kind.replace("string collate UTF8_BINARY", "string")
    return re.sub(r"string(?!\\ collate)", r"string(?: collate UTF8_BINARY)?", re.escape(plain))


def shown(given: tuple[tuple[str | None, str | None], ...]) -> str:
    """Columns as the answers have them."""
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in given)}>"


def answers(file: Path) -> Iterator[Answer]:
    """The statements of a file of answers."""
    name = str(file.relative_to(CORPUS / "results")).removesuffix(".out")
    for sql, schema in _BLOCK.findall(file.read_bytes().decode()):
        yield Answer(name, sql, schema)


def session(file: str) -> SessionState:
    """The session in which a file was run."""
    settings = ExactSettings(
        ansi=not file.startswith("nonansi/"),
        ntz=file.startswith("timestampNTZ/"),
        # SQLQueryTestSuite sets spark.sql.legacy.interval.enabled for these files, in code.
        legacy_interval=None if "postgreSQL/" in file else False,
    )
    state = SessionState(Catalog.from_ddl(TABLES), (settings,), (settings,))
    text = (CORPUS / "inputs" / file).read_text(encoding="utf-8")
    for line in _SET.findall(text):
        for setting in re.split(r",(?=spark\.)", line):
            _, state = _run(f"SET {setting}", state)
    return state


def _run(sql: str, state: SessionState) -> tuple[Output | None, SessionState]:
    """What the last statement of a text returns, and the session behind it."""
    columns = None
    document = tokenized(sql, state.catalog, Limits())
    for statement in document.pieces:
        columns = state.output(statement, document.stripped.text)
        state = state.after(statement, document.stripped.text)
    return columns, state


def plan_types(sql: str, state: SessionState) -> Output | None:
    """The types of the columns of a query as the bound plan has them, without names."""
    if state.unsure or state.unsure_settings:
        return None
    if '"' in sql and state.settings[0].double_quoted:  # the text may mean something else there
        return None
    [*_, last] = statements(sql, lex(sql, state.catalog.refer), Limits())
    bound = None if last.tree is None else bind(last.tree, sql, state.catalog, whole=True)
    outputs = None if bound is None else columns.outputs(bound.plan.query.node)
    if bound is None or outputs is None:
        return None
    plan = replace(bound.plan, settings=state.settings, memo={})
    kinds = columns.output_types(plan, len(outputs))
    return tuple((None, None if kind is None else str(kind)) for kind in kinds)


def behind(text: str, state: SessionState) -> SessionState:
    """The session behind a text."""
    return _run(text, state)[1]


def created_types(query: str, state: SessionState) -> Output | None:
    """The types that the bound plan has for a table that the query creates, without names."""
    table = "default.created_by_the_suite"
    state = behind(f"CREATE TABLE {table} USING parquet AS {query}", state)
    return plan_types(f"SELECT * FROM {table}", state)


def files() -> list[Path]:
    """All files of answers."""
    return sorted((CORPUS / "results").rglob("*.out"))


def run(files: Iterable[Path]) -> tuple[Score, Score, Score]:
    """The scores of ``outputs``, of the bound plan, and of it where a table is created of the query
    first, over these files."""
    score, planned, created = Score(), Score(), Score()
    for file in files:
        name = str(file.relative_to(CORPUS / "results")).removesuffix(".out")
        state = session(name)
        for answer in answers(file):
            returned = answer.schema.startswith("struct<") and answer.schema != "struct<>"
            before = state
            columns, state = _run(answer.sql, state)
            if returned and _QUERY.match(answer.sql):
                score.add(answer, columns)
                planned.add(answer, deep(partial(plan_types, answer.sql, before)))
                created.add(answer, deep(partial(created_types, answer.sql, before)))
    return score, planned, created


def main(part: str = "") -> None:
    """Prints the scores."""
    scores = run(file for file in files() if part in str(file.relative_to(CORPUS / "results")))
    for label, score in zip(("outputs", "the plan", "created tables"), scores, strict=True):
        print(*score.wrong, sep="\n")
        for answer in score.unknown:
            print("UNKNOWN", answer.file, "|", " ".join(answer.sql.split())[:200])
        print(score.untyped.most_common(150))
        print(
            f"{label}: {score.queries} queries, {len(score.wrong)} wrong,"
            f" {score.answered / score.queries:.1%} told; of {score.columns} columns"
            f" {score.types} ({score.types / score.columns:.1%}) with types,"
            f" {score.names / score.columns:.1%} with names"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
