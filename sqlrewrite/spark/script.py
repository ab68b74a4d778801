"""The statements of a text on Spark: in pairs, before and after the rewriting, and as a script.

Insertions add no statement, so the n-th statement before is the n-th one after. ``run`` runs the
statements of a file one by one, as ``spark-sql -f`` does, each rewritten first; it stops at one
that fails. It knows two of the shell's own commands, ``source FILE`` and ``quit`` (``processCmd``
of Spark's ``SparkSQLCLIDriver``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.results import Candidate, Rewrite
from sqlrewrite.spark import column_functions as f
from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.sql.ddl.definitions import apply, created_query
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.sql.statements.effects import StatementKind, StatementText, statement_texts
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.source import Lines
from sqlrewrite.warehouse import DEFAULT_NAMESPACE, Warehouse, literal_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class QueryPair(Struct, frozen=True):
    """One statement of a file, before and after, and its candidates."""

    path: str
    before: StatementText
    after: StatementText
    candidates: tuple[Candidate, ...] = ()

    @property
    def place(self) -> str:
        """``path:line`` in the text before."""
        return f"{self.path}:{self.before.line}"

    @property
    def changed(self) -> bool:
        """Whether anything was inserted."""
        return self.before.text != self.after.text


def pairs(path: str, rewrite: Rewrite) -> tuple[QueryPair, ...]:
    """All statements of a text, in order."""
    candidates: dict[int, list[Candidate]] = {}
    for candidate in rewrite.candidates:
        candidates.setdefault(candidate.statement, []).append(candidate)
    both = zip(statement_texts(rewrite.original), statement_texts(rewrite.sql), strict=True)
    return tuple(
        QueryPair(path, old, new, tuple(candidates.get(old.index, ()))) for old, new in both
    )


def enter(session: Session, pair: QueryPair) -> bool:
    """Whether a statement only changes the session; if so, runs it."""
    if pair.before.kind is not StatementKind.SESSION:
        return False
    with spark_errors(f"{pair.place}: Spark does not take this statement"):
        session.spark.sql(pair.before.text)
    return True


def of_view(pair: QueryPair) -> QueryPair:
    """The pair of the queries in two statements that create a temporary view."""
    both = []
    for created in (pair.before, pair.after):
        (statement,) = statements(created.text)
        (query,) = statement_texts(created_query(statement.tokens, created.text)[1])
        both.append(replace(query, index=created.index, line=created.line))
    return replace(pair, before=both[0], after=both[1])


def known_after(path: str, text: str, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in a text."""
    for statement in statements(text):
        catalog = apply(statement, text, catalog, path)
    return catalog


def use(session: Session, catalog: Warehouse) -> None:
    """Makes the catalog's current schema that of the session. Raises SparkError."""
    if catalog.namespace != DEFAULT_NAMESPACE:
        with spark_errors(f"USE {'.'.join(catalog.namespace)}"):
            session.spark.sql(f"USE {literal_name(catalog.namespace)}")


def partitioned(catalog: Warehouse) -> frozenset[str]:
    """The last names of all partitioned tables."""
    return frozenset(table.name[-1] for table in catalog.tables if table.partitioned_by)


def layout_columns(catalog: Warehouse) -> Mapping[str, frozenset[str]]:
    """The columns of each table by whose values files or row groups can be skipped; by the table's
    last name."""
    columns_of: dict[str, frozenset[str]] = {}
    for table in catalog.tables:
        fields = (field for field in table.partitioned_by if field.transform != "identity")
        columns = {*table.clustered_by, *(field.column.lower() for field in fields)}
        if columns:
            columns_of[table.name[-1]] = columns_of.get(table.name[-1], frozenset()) | columns
    return columns_of


Print = Callable[[str], None]

_NESTED = ("array", "map", "struct", "variant")
_ENDS = ("quit", "exit")
_BEFORE_A_STATEMENT = ("", ";", ":")  # the label of a script


class Ran(Struct, frozen=True):
    """One statement that has run: the file, where it begins, and how many rows it gave."""

    name: str
    line: int
    rows: int


def run(session: Session, name: str, text: str, out: Print) -> Iterator[Ran]:
    """Runs each statement of a text, and prints its rows to ``out``. Raises SparkError."""
    for file, statement in tuple(_with_sources(name, text, (name,))):
        if statement is None:
            return
        with spark_errors(f"{file}:{statement.line}"), _described(session, statement.text):
            count = 0
            for line in lines(session.spark.sql(statement.text)):
                out(line)
                count += 1
        yield Ran(file, statement.line, count)


def lines(frame: DataFrame) -> Iterator[str]:
    """The rows of a query, values separated by tabs, nested values as JSON."""
    if not frame.columns:
        return
    numbered = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
    kinds = [(field.name, field.dataType.typeName()) for field in numbered.schema.fields]
    for row in numbered.select([_shown(name, kind) for name, kind in kinds]).toLocalIterator():
        yield "\t".join("NULL" if value is None else value for value in row)


def _shown(name: str, kind: str) -> Column:
    column = f.col(name)
    return f.to_json(column) if kind in _NESTED else column.cast("string")


def _with_sources(
    name: str, text: str, around: tuple[str, ...]
) -> Iterator[tuple[str, StatementText | None]]:
    """The statements, each with its file; those of FILE in place of ``source FILE``, and None in
    place of ``quit``."""
    for part in _split(name, text):
        command, _, rest = part.text.partition(" ")
        place, path = f"{name}:{part.line}", rest.strip()
        if part.text.lower() in _ENDS:
            yield name, None
        elif part.text.startswith("!"):
            why = "a command of the system's shell is not run: give the file to spark-sql -f"
            raise SparkError(f"{place}: {why}; nothing was run")
        elif command.lower() != "source":
            yield name, part
        elif path in around:
            raise SparkError(f"{place}: source {path}: the file would read itself; nothing was run")
        else:
            yield from _with_sources(path, _read(path, place), (*around, path))


def _read(path: str, place: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise SparkError(
            f"{place}: source {path}: cannot be read: {why}; nothing was run"
        ) from error


def _split(name: str, text: str) -> tuple[StatementText, ...]:
    """The statements of a text. Raises SparkError if their boundaries are not certain, or the file
    is too large."""
    most = Limits().file
    if len(text) > most:
        size = (
            f"{len(text) >> 20} MB are more than the {most >> 20} MB that are split into statements"
        )
        raise SparkError(f"{name}: {size}: give it to spark-sql -f; nothing was run")
    lexed = lex(text)
    for unreadable in lexed.unreadable:
        line, column = Lines(text).place(unreadable.offset)
        raise SparkError(
            f"{name}:{line}:{column}: {unreadable.why}: where the statement ends is not certain; "
            "nothing was run"
        )
    opened = ("", *(token.text for token in lexed.tokens))
    for token, before in zip(lexed.tokens, opened, strict=False):
        if token.text.lower() == "begin" and before in _BEFORE_A_STATEMENT:
            raise SparkError(
                f"{name}:{Lines(text).place(token.start)[0]}: a script (BEGIN … END) is not run "
                "statement by statement: give it to spark-sql -f; nothing was run"
            )
    return statement_texts(text)


@contextmanager
def _described(session: Session, text: str) -> Iterator[None]:
    """Labels the jobs inside with the author's text in Spark's UI, in a classic session."""
    if not session.classic:
        yield
        return
    context = session.spark.sparkContext
    context.setJobDescription(text)
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]
