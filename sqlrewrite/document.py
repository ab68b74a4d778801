"""The straight line, from text to text.

text → statements → plan → pairs → verdicts → predicates → insertions → checked → text. Each stage
takes the value before it and returns a new one; a query can be followed from ``rewrite`` through
``decision.statement.prune``, which does a single statement, to the end. ``examine`` is the same
line with all that was found on the way, for those who judge a query rather than change it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from sqlrewrite.frozen import dataclass
from sqlrewrite.results import Candidate, ConfigError, PlanDiff, Problem, Removed, Rewrite, Verdict
from sqlrewrite.settings.options import Around, Options, Resolve, ResolveError, options
from sqlrewrite.sql.collector import at_rest
from sqlrewrite.sql.deep import TOO_DEEP, deep
from sqlrewrite.sql.definitions import apply as apply_definition
from sqlrewrite.sql.directives import Directives, directives
from sqlrewrite.sql.managed import Earlier, Stripped, strip
from sqlrewrite.sql.marked import bounded
from sqlrewrite.sql.parse import Failure, Statement, lex, passed_over, statements
from sqlrewrite.sql.queries import targets
from sqlrewrite.sql.quoted import doubtful
from sqlrewrite.sql.suppressed import Suppressed
from sqlrewrite.text import notes
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.source import Lines, apply
from sqlrewrite.warehouse import Warehouse

if TYPE_CHECKING:
    from sqlrewrite.decision.statement import Pruned

BUG = "DPP999"
NO_KEYS = "DPP126"
FOREIGN = "DPP009"
LEFT_TO_ENGINE = "DPP125"
_TOO_DEEP = f"{TOO_DEEP} to be rewritten"
_FOREIGN = (
    "the marker stands where dpp-rewrite writes none, or on what it has not written: the predicate "
    "is yours and stays; take the marker off"
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One statement and what became of it; ``pruned`` is None where nothing in it concerns us."""

    statement: Statement
    edits: tuple[Edit, ...] = ()
    pruned: Pruned | None = None
    candidates: tuple[Candidate, ...] = ()
    plan: PlanDiff | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Examined:
    """A text with all that was found out about it; the parts' offsets are in ``stripped.text``."""

    result: Rewrite
    stripped: Stripped
    parts: tuple[Part, ...]
    directives: Directives


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """What stays the same from statement to statement; offsets in ``options`` are of the stripped
    text, ``earlier`` is what an earlier run wrote by the offset of its clause there, ``changed``
    are words that may name what it changes."""

    stripped: Stripped
    options: Options
    place: Callable[[int], tuple[int, int]]
    earlier: Mapping[int, Earlier]
    changed: frozenset[str] = frozenset()


def rewrite(
    sql: str,
    catalog: Warehouse,
    *,
    engine: str = "spark",
    predicate: str = "in",
    when: str = "eligible",
    hint: bool = True,
    depth: int = 3,
    through_facts: bool = False,
    key_limit: int | None = None,
    disabled: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    functions: Mapping[str, str] | None = None,
    resolve: Resolve | None = None,
) -> Rewrite:
    """Writes pruning predicates into a text of Spark SQL statements.

    ``catalog`` says what is known of the tables; CREATE, DROP and USE in the text itself are
    followed. ``engine`` names the rule set; ``predicate`` is the form: ``in``, ``set``, ``range``,
    ``auto``, or ``values``, for which ``resolve`` gives the keys of a key query; ``when`` is
    ``eligible``, or ``missed`` for only those predicates that the engine would not derive by
    itself; ``hint`` asks for a broadcast hint in the key query. A dimension's neighbours are
    followed ``depth`` joins outward, and through partitioned tables if ``through_facts``. Keys of
    more than ``key_limit`` bytes (default: the engine's) are not collected. Statements over the
    ``limits`` are left alone. ``functions`` says of the user's own functions, by name, that one is
    ``deterministic``, or ``total``: that it never raises an error besides. ``disabled`` rules are
    taken as passed, which makes the result unsound: it is for tests.

    Returns the new text, every candidate with its verdict, and what could not be read. Never raises
    for bad SQL; raises ConfigError for an engine, a form or a ``when`` that is not there, and for
    ``values`` without ``resolve``.
    """
    wanted = options(
        engine=engine,
        predicate=predicate,
        when=when,
        hint=hint,
        depth=depth,
        through_facts=through_facts,
        key_limit=key_limit,
        disabled=disabled,
        limits=limits,
        functions=functions,
        resolve=resolve,
    )
    with at_rest(sql):  # until no more is left of it than the result
        return examine(sql, catalog, wanted).result


def examine(sql: str, catalog: Warehouse, wanted: Options, *, heed: bool = True) -> Examined:
    """What ``rewrite`` does, with all that it found on the way.

    ``heed`` says whether scans that a comment asks to leave alone are left alone.
    """
    lexed = lex(sql, catalog.refer)
    asked = directives(sql, lexed.tokens)
    if heed and asked.whole_file:
        return _left_alone(sql, asked)
    suppressed = Suppressed(asked, catalog) if heed and asked.found else None
    text = strip(sql, lexed.tokens, suppressed.kept if suppressed else None)
    if text.removed:
        lexed = lex(text.text, catalog.refer)
    lines = asked.lines
    if suppressed is not None:
        wanted = _heeding(wanted, suppressed, text)
    found: Iterable[Statement] = statements(text.text, lexed, wanted.limits)
    changed: frozenset[str] = frozenset()
    if wanted.form == "values" or text.noted:
        found = tuple(found)
        changed = frozenset().union(*map(targets, found))
    written = {it.at: it for it in text.clauses}
    line = _Line(text, wanted, lambda at: lines.place(text.original_offset(at)), written, changed)
    earlier = text.insertions()
    parts: list[Part] = []
    for statement in found:
        part = Part(statement, failure=statement.failure)
        if statement.failure is None and statement.tree is not None:
            part = _part(statement, catalog, line)
        if part.failure is not None:
            # Left as it was: what was taken out of it goes back to its place.
            start, end = statement.start, statement.end
            back = [Edit(at, it) for at, it in earlier.items() if start <= at <= end]
            part = replace(part, edits=tuple(back))
        catalog = apply_definition(statement, text.text, catalog, "the text")
        if part.pruned is None:  # a tree takes a hundred times its text
            part = replace(part, statement=replace(statement, tree=None))
        parts.append(part)
    return Examined(_result(sql, line, parts, lines), text, tuple(parts), asked)


def _heeding(wanted: Options, suppressed: Suppressed, text: Stripped) -> Options:
    """Options that leave alone what the author's comments ask to leave alone."""
    return replace(
        wanted,
        suppressed=lambda offset: suppressed.reason(text.original_offset(offset)),
        frozen=lambda offset, mends: suppressed.frozen(text.original_offset(offset), mends),
    )


def _part(statement: Statement, catalog: Warehouse, line: _Line) -> Part:
    """One statement that parses."""
    words = statement.words if catalog.prunable else frozenset()
    if words.isdisjoint(catalog.prunable):  # it names no partitioned table and no view
        return Part(statement)
    # Only here, so that a text without a partitioned table does not wait for the imports.
    from sqlrewrite.decision.record import candidates, plan_diff
    from sqlrewrite.decision.statement import prune

    options = line.options
    if options.suppressed is not None and line.stripped.predicates:
        options = replace(options, mended=_taken_out(statement, line.stripped))
    if options.form == "values" or line.stripped.noted:
        options = replace(options, around=_around(statement, catalog, line))
    text, earlier = line.stripped.text, line.earlier
    failure = doubtful(statement, text, catalog, options.limits.double_quoted)
    if failure is not None:
        return Part(statement, failure=failure)
    try:
        pruned = deep(lambda: prune(statement, words, text, catalog, options, earlier))
        if pruned is None:
            return Part(statement, failure=passed_over(statement, text))
        plan = plan_diff(pruned, line.place)
    except RecursionError:
        return Part(statement, failure=Failure(statement.start, _TOO_DEEP, parsed=True))
    except ResolveError as error:
        return Part(statement, failure=Failure(statement.start, str(error), code=NO_KEYS))
    except ConfigError:
        raise
    except Exception as error:  # a mistake of ours must cost no more than this statement
        why = f"internal error, please report this: {type(error).__name__}: {error}"
        return Part(statement, failure=Failure(statement.start, why, code=BUG))
    found = tuple(candidates(pruned, line.place))
    return Part(statement, pruned.edits, pruned, found, plan)


def _taken_out(statement: Statement, text: Stripped) -> frozenset[str]:
    """What those predicates of an earlier run bound that were taken out of a statement."""
    start, end = text.original_offset(statement.start), text.original_offset(statement.end)
    spans = [span for span in text.predicates if start <= span.start <= end]
    return frozenset(bounded(text.original[span.start : span.end]) for span in spans)


def _around(statement: Statement, catalog: Warehouse, line: _Line) -> Around:
    """What bears on the literals of a statement."""
    text = line.stripped
    start, end = map(text.original_offset, (statement.start, statement.end))
    noted = {
        (bounded(it.text), it.query): (it.text, it.at)
        for it in text.noted
        if start <= it.start <= end
    }
    return Around(catalog, noted, line.changed)


def _result(sql: str, line: _Line, parts: Sequence[Part], lines: Lines) -> Rewrite:
    """What became of the statements, put together."""
    failures = [part.failure for part in parts if part.failure is not None]
    bugs = [bug for part in parts if part.pruned for bug in part.pruned.bugs]

    def problem(failure: Failure) -> Problem:
        return Problem(failure.code, failure.message, *line.place(failure.offset))

    return Rewrite(
        original=sql,
        sql=apply(line.stripped.text, [edit for part in parts for edit in part.edits]),
        statements=len(parts),
        candidates=tuple(found for part in parts for found in part.candidates),
        errors=(
            *(problem(it) for it in failures if not it.parsed),
            *(Problem(BUG, why, *line.place(at)) for at, why in bugs),
        ),
        skipped=tuple(problem(it) for it in failures if it.parsed),
        plans=tuple(part.plan for part in parts if part.plan is not None),
        removed=tuple(_removed(line.stripped, parts, lines)),
        notes=tuple(Problem(FOREIGN, _FOREIGN, *lines.place(at)) for at in line.stripped.foreign),
    )


def _removed(stripped: Stripped, parts: Sequence[Part], lines: Lines) -> Iterator[Removed]:
    """The predicates of an earlier run that were not written again as they were."""
    for part in parts if stripped.predicates else ():
        left = left_to_engine(part.candidates)
        written = "\n".join(edit.text for edit in part.edits)
        for span, by in sorted(stale(stripped, part).items(), key=lambda item: item[0].start):
            text = stripped.original[span.start : span.end]
            gone = Removed(part.statement.index, text, *lines.place(span.start), by)
            if notes.queries(text) & notes.queries(written):
                gone = replace(gone, reason="its key query gives other keys now")
            why = [left[it] for it in columns_of(bounded(text)) if it in left and not by]
            yield replace(gone, reason=why[0]) if why else gone


def stale(stripped: Stripped, part: Part) -> dict[Span, str]:
    """The predicates of an earlier run in a statement, by their spans in the original, that are not
    the ones that follow now in their clauses; each with the one that does in its place, if one
    does."""
    if part.failure is not None:  # they are put back
        return {}
    clauses, statement, pruned = stripped.clauses, part.statement, part.pruned
    gone: list[tuple[Span, str, list[str]]] = []
    first = bisect_left(clauses, statement.start, key=lambda clause: clause.at)
    for clause in takewhile(lambda clause: clause.at <= statement.end, clauses[first:]):
        follow = list(pruned.written.get(clause.at, ())) if pruned else []
        for text, span in zip(clause.predicates, clause.spans, strict=True):
            if text in follow:
                follow.remove(text)
            else:
                gone.append((span, bounded(text), follow))
    elsewhere = pruned.bounded if pruned and gone else {}
    found: dict[Span, str] = {}
    for span, about, follow in gone:
        here = next((it for it in follow if bounded(it) == about), None)
        found[span] = here or elsewhere.get(about, "")
        if here:
            follow.remove(here)
    return found


def left_to_engine(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Why no predicate is written for a column (``day``, ``s.day``), where that is because the
    engine prunes by itself."""
    found: dict[str, str] = {}
    for it in candidates:
        reason = it.reason if it.verdict is not Verdict.REWRITTEN else None
        if reason is not None and reason.code == LEFT_TO_ENGINE:
            names = ("", f"{it.fact.alias.lower()}.", f"{it.fact.table.lower()}.")
            for name in names:
                found.setdefault(name + it.fact.column, reason.message)
    return found


def columns_of(about: str) -> list[str]:
    """The columns that a predicate bounds, of what ``bounded`` says of it."""
    return [value.strip().replace("`", "") for value in about.strip("()").split(",")]


def _left_alone(sql: str, asked: Directives) -> Examined:
    """A text that asks to be left alone as a whole."""
    whole = asked.whole_file
    assert whole is not None
    place = asked.lines.place(whole.span.start)
    skipped = Problem("", f"the whole file, as `{whole}` asks", *place)
    result = Rewrite(sql, sql, 1, (), (), (skipped,), ())
    return Examined(result, Stripped(sql, sql), (), asked)


def stripped(sql: str) -> Rewrite:
    """A text without any predicate of ours: ``--strip``. What the author wrote stays."""
    lexed = lex(sql)
    text, lines = strip(sql, lexed.tokens), Lines(sql)
    starts = [statement.start for statement in statements(sql, lexed)]
    removed = tuple(
        Removed(
            max(0, bisect_right(starts, span.start) - 1),
            sql[span.start : span.end],
            *lines.place(span.start),
            reason="--strip takes out what dpp-rewrite has written",
        )
        for span in text.predicates
    )
    notes = tuple(Problem(FOREIGN, _FOREIGN, *lines.place(at)) for at in text.foreign)
    return Rewrite(sql, text.text, len(starts), (), (), (), (), removed, notes)
