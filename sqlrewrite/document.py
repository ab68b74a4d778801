"""What a text says, and what should be done with it: the middle of the straight line.

text → ``Document`` (lexed, split, bound: once) → ``decide`` → ``Decision``. A ``Document`` is what
a text says; a ``Decision`` what should be done, for one set of options, as often as it is asked
for. ``rewriting``, the linter and ``explain`` are a few lines on these two. ``outputs`` needs no
more of a document than its split, which ``tokenized`` makes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from sqlrewrite.catalog.columnless import followed, recounted
from sqlrewrite.copies import replace
from sqlrewrite.decision.statement_decision import StatementDecision, changes_dml_condition, stale
from sqlrewrite.find.reading import (
    Reading,
    StatementContext,
    cross_checked,
    guarded,
    in_dialect,
    left_alone,
    missing_relation,
    read_statement,
    to_spark,
    with_temporaries_of,
    with_views_of,
)
from sqlrewrite.results import Problem
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import Options, ResolveError
from sqlrewrite.settings.spark_conf import affects_pruning, engine_under
from sqlrewrite.sql.lex.tokens import comparable
from sqlrewrite.sql.managed.strip import ManagedClause, Stripped, strip
from sqlrewrite.sql.parse.scripts import Piece, Script, split
from sqlrewrite.sql.parse.statements import Failure, Lexed, Statement, lex, statements
from sqlrewrite.sql.statements.directives import Directives, directives
from sqlrewrite.sql.statements.effects import relations_of
from sqlrewrite.sql.suppressed import Suppressed
from sqlrewrite.text.edits import BLANK
from sqlrewrite.text.limits import SPARK, Limits
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.masking import mask
from sqlrewrite.text.source import Lines
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import Warehouse

NO_KEYS = "DPP126"
_STAYS = (
    "the predicate of an earlier run in the condition of this DELETE or UPDATE no longer follows "
    "from it: the statement stays as it is, take the predicate out by hand"
)


@dataclass(frozen=True, slots=True)
class Document:
    """What a text says: its statements, split, read and bound once under a ``catalog`` of what is
    known of its tables.

    ``stripped.text`` is the text with blanks in place of what an earlier run wrote into it.
    ``suppressed`` are the author's comments that ask to leave something alone, where there are any
    and they are heeded. ``statements`` is empty if the document is only ``tokenized``. Two
    documents of one text are equal.
    """

    original: str
    catalog: Warehouse
    limits: Limits
    stripped: Stripped = field(compare=False)
    directives: Directives = field(compare=False)
    lexed: Lexed = field(compare=False)
    suppressed: Suppressed | None = None
    statements: tuple[Reading, ...] = field(compare=False, default=())

    @property
    def pieces(self) -> Iterator[Piece | Script]:
        """Its statements as tokens, not parsed; a script is one."""
        return split(self.stripped.text, self.lexed.tokens)

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        return self.directives.lines.place(offset)

    def problem(self, failure: Failure) -> Problem:
        """A failure as callers see it, with its line and column."""
        return Problem(failure.code, failure.message, *self.place(failure.offset))


_UNSURE = (
    f"`{MARKER}` may have come away from its predicate, by a formatter or an edit, and it is not "
    "sure which predicate is its own: put it right after that, or take it off"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What should be done with a document for one set of options, statement by statement."""

    document: Document
    options: Options
    statements: tuple[StatementDecision, ...] = field(compare=False)


def tokenized(
    sql: str,
    catalog: Warehouse,
    limits: Limits,
    *,
    heed: bool = True,
    lines: Lines | None = None,
    as_written: bool = False,
) -> Document:
    """A text in Spark's grammar, split into statements that are not read yet. ``as_written``:
    predicates of an earlier run stay in it. The other arguments are those of ``read``. Never raises
    for bad SQL."""
    catalog = in_force(catalog, sql)
    lexed = lex(sql, catalog.refer)
    comments = directives(sql, lexed.tokens, lines)
    suppressed = Suppressed(comments, catalog) if heed and comments.in_order else None
    kept = suppressed.kept if suppressed else None
    # Iceberg's tables may be in the catalog, or be made by the text.
    in_dml = MARKER in sql and ("iceberg" in sql.lower() or catalog.takes_subqueries)
    text = Stripped(sql, sql)
    if not as_written:
        text = strip(sql, lexed, kept, in_dml=in_dml)
    if text.removed:
        lexed = lexed.without(text.removed)
    return Document(sql, catalog, limits, text, comments, lexed, suppressed)


def read(
    sql: str,
    catalog: Warehouse,
    limits: Limits,
    *,
    heed: bool = True,
    lines: Lines | None = None,
    named: bool = False,
    whole: bool = False,
) -> Document:
    """The ``Document`` of a text, its statements read and bound. ``heed``: scans that a comment
    asks to leave alone are left alone. ``lines`` are those of the file that the text is a part of.
    ``named``: each statement has the names of all that it reads, even if the whole file is left
    alone. ``whole``: the output of each statement is bound, too. Never raises for bad SQL."""
    transliteration = to_spark(sql, limits)
    if transliteration is not None:
        if transliteration.failure:
            return _not_read(sql, transliteration.failure, catalog, limits)
        sql = transliteration.text
    document = tokenized(sql, catalog, limits, heed=heed, lines=lines)
    if heed and document.directives.whole_file and not named:
        return replace(document, stripped=Stripped(sql, sql))
    text = document.stripped
    masked = cache(lambda: mask(text.text.replace(BLANK, " ")))
    catalog_here, readings = with_views_of(text.text, document.catalog, limits), []
    for statement in statements(text.text, document.lexed, limits):
        if transliteration is not None:
            statement = cross_checked(statement, masked, transliteration, limits, document.catalog)
        unsure = bisect_left(text.unsure, statement.start)
        if any(at <= statement.end for at in text.unsure[unsure : unsure + 1]):
            statement = left_alone(statement, _UNSURE)
        reading = read_statement(statement, text.text, catalog_here, limits, whole=whole)
        if text.predicates:
            reading = replace(reading, missing=missing_relation(statement, catalog_here))
        if named and statement.tree is not None:
            reading = replace(reading, names=tuple(relations_of(statement.tree, read=True)))
        readings.append(reading)
        catalog_here = recounted(catalog_here, reading.changes)
        after = followed(statement, text.text, catalog_here, "the text", text.text[statement.end :])
        catalog_here = with_temporaries_of(catalog_here, after, limits)
    return replace(document, statements=tuple(readings))


def _not_read(sql: str, why: str, catalog: Warehouse, limits: Limits) -> Document:
    """The document of a text in another dialect of which nothing can be read."""
    limits = replace(limits, dialect=SPARK)
    document = read("", catalog, limits)
    statement = left_alone(Statement(0, 0, (), None), why)
    reading = Reading(statement, catalog, failure=statement.failure)
    return replace(document, original=sql, stripped=Stripped(sql, sql), statements=(reading,))


def heeded(document: Document) -> Document:
    """The document read again with its author's comments heeded."""
    comments = document.directives
    if document.stripped.removed or comments.whole_file:
        sql = in_dialect(document.original, document.limits)
        return read(sql, document.catalog, document.limits, lines=comments.lines)
    suppressed = Suppressed(comments, document.catalog) if comments.in_order else None
    return replace(document, suppressed=suppressed)


def decide(document: Document, options: Options) -> Decision:
    """The decision on a document. Raises ConfigError if ``values`` has no way to look up keys."""
    text = document.stripped
    changed: frozenset[str] = frozenset()
    if options.form == VALUES or any(
        removed_predicate.note for removed_predicate in text.removed_predicates.values()
    ):
        changed = frozenset().union(*(statement.changes for statement in document.statements))
    earlier = {clause.at: clause for clause in text.clauses}
    decisions = []
    for reading in document.statements:
        decided = StatementDecision(reading, failure=reading.failure)
        if reading.bound is not None:
            decided = _decided(reading, options, _context(document, reading, changed), earlier)
        if reading.missing is not None and not all(stale(text, decided).values()):
            decided = StatementDecision(reading, failure=reading.missing)
        if changes_dml_condition(text, decided):
            decided = StatementDecision(
                reading, failure=Failure(reading.statement.start, _STAYS, True)
            )
        if decided.failure is not None:
            start, end = reading.statement.start, reading.statement.end
            restored = tuple(text.restored(start, end))
            decided = replace(decided, edits=restored)  # the statement stays as it was
        decisions.append(decided)
    return Decision(document, options, tuple(decisions))


def _decided(
    reading: Reading,
    options: Options,
    context: StatementContext,
    earlier: Mapping[int, ManagedClause],
) -> StatementDecision:
    # Only here, so that a text without a partitioned table does not wait for the imports.
    from sqlrewrite.decision.decide import decide_statement

    at, settings = reading.statement.start, reading.catalog.settings
    if settings:
        when = options.when or ("auto" if affects_pruning(settings) else None)
        options = replace(options, engine=engine_under(options.engine, settings), when=when)
    try:
        outcome = guarded(
            lambda: decide_statement(reading, options, context, earlier), at, options.limits
        )
    except ResolveError as error:
        outcome = Failure(at, str(error), code=NO_KEYS)
    return StatementDecision(reading, failure=outcome) if isinstance(outcome, Failure) else outcome


def _context(document: Document, reading: Reading, changed: frozenset[str]) -> StatementContext:
    """What affects one statement from outside it."""
    text, suppressed = document.stripped, document.suppressed
    if not text.removed:
        return StatementContext(reading.catalog, text, suppressed, changed=changed)
    statement = reading.statement
    here = [
        removed_predicate
        for removed_predicate in text.removed_predicates.values()
        if statement.start <= removed_predicate.span.start <= statement.end
    ]
    literals = {
        (predicate.value, comparable(predicate.note[1])): predicate
        for predicate in here
        if predicate.note is not None
    }
    mended = frozenset(predicate.value for predicate in here)
    return StatementContext(reading.catalog, text, suppressed, literals, changed, mended)
