"""Rewrites a text, and reports what was done and why.

text → ``Document`` → ``Decision`` (``document.py``) → edits → text. In: a text, a catalog, options.
Out: a ``Rewrite``: the new text, every candidate with its verdict, what was not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import repeat

from sqlrewrite.decision.refresh import bounded_columns, left_to_engine, stale
from sqlrewrite.decision.statement_decision import StatementDecision
from sqlrewrite.document import Decision, Document, decide, read
from sqlrewrite.find.reading import BUG
from sqlrewrite.find.transliterated import in_dialect
from sqlrewrite.results import Candidate, PlanDiff, Problem, Removed, Rewrite
from sqlrewrite.settings.forms import IN, VALUES
from sqlrewrite.settings.options import Options, Resolve, make_options
from sqlrewrite.sql.collector import at_rest
from sqlrewrite.sql.managed.same_text import comparable
from sqlrewrite.sql.parse.statements import Failure, Statement, lex
from sqlrewrite.sql.statements.directives import directives
from sqlrewrite.stripping import foreign
from sqlrewrite.text.edits import Span
from sqlrewrite.text.limits import SPARK, Limits
from sqlrewrite.text.markers import MARKER, noted_queries
from sqlrewrite.text.source import apply
from sqlrewrite.warehouse import Warehouse

DocumentObserver = Callable[[Document], None]
"""Is given each document before the decision on it."""


def rewrite(
    sql: str,
    catalog: Warehouse,
    *,
    engine: str = "spark",
    dialect: str = SPARK,
    predicate: str = IN,
    when: str | None = None,
    hint: bool = True,
    depth: int = 3,
    through_facts: bool | None = None,
    key_limit: int | None = None,
    disabled: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    functions: Mapping[str, str] | None = None,
    time_zone: str | None = None,
    resolve: Resolve | None = None,
    strategy: str = "predicates",
    groups: int | None = None,
) -> Rewrite:
    """Writes pruning predicates into a text of SQL statements.

    ``catalog`` says what is known of the tables; CREATE, DROP and USE in the text itself are
    followed. ``engine`` names the rule set, ``dialect`` the SQL of the text; ``predicate`` is the
    form: ``in``, ``set``, ``range``, ``auto``, or ``values``, for which ``resolve`` gives the keys
    of a key query; ``when`` is ``eligible``, ``missed`` for only those predicates that the engine
    would not derive by itself, or ``auto`` for what pays under the settings of Spark, which is what
    None means where the catalog has such settings; ``hint`` asks for a broadcast hint in the key
    query. A dimension's neighbours are followed ``depth`` joins outward, and through partitioned
    tables if ``through_facts``, or, where that is None, if statistics say that it pays. Keys of
    more than ``key_limit`` bytes (default: the engine's) are not collected. Statements over the
    ``limits`` are left alone. ``functions`` says of the user's own functions, by name, that one is
    ``deterministic``, or ``total``: that it never raises an error besides. ``time_zone`` is that of
    all sessions that write and read what is derived from a TIMESTAMP. ``disabled`` rules are taken
    as passed, which makes the result unsound: it is for tests. With the ``strategy``
    ``partition-wise`` a join is written by ``groups`` of partitions, and no predicate besides.

    Returns the new text, every candidate with its verdict, and what could not be read. Never raises
    for bad SQL; raises ConfigError for an engine, a form or a ``when`` that is not there, and for
    ``values`` without ``resolve``.
    """
    options = make_options(
        engine=engine,
        dialect=dialect,
        predicate=predicate,
        when=when,
        hint=hint,
        depth=depth,
        through_facts=through_facts,
        key_limit=key_limit,
        disabled=disabled,
        limits=limits,
        functions=functions,
        time_zone=time_zone,
        resolve=resolve,
        strategy=strategy,
        groups=groups,
    )
    return rewrite_with_options(sql, catalog, options)


def rewrite_with_options(
    sql: str, catalog: Warehouse, options: Options, observe: DocumentObserver | None = None
) -> Rewrite:
    """``rewrite`` with options that are already made; ``observe`` is given the document."""
    with at_rest(sql):  # until only the result is left
        return _rewritten(sql, catalog, options, observe)


def _rewritten(
    sql: str, catalog: Warehouse, options: Options, observe: DocumentObserver | None
) -> Rewrite:
    if options.strategy == "partition-wise":
        from sqlrewrite.grouping import by_groups  # few runs ask for it

        return by_groups(sql, catalog, options)
    in_blocks = rendered(sql, catalog, options, observe) if "{%" in sql else None
    if in_blocks is not None:
        return in_blocks
    document = read(sql, catalog, options.limits, named=observe is not None)
    if observe is not None:
        observe(document)
    return result(decide(document, options))


def rendered(
    sql: str, catalog: Warehouse, options: Options, observe: DocumentObserver | None = None
) -> Rewrite | None:
    """A text with ``{% if %}`` blocks, rewritten so that it is right in whatever it may render to;
    None where that cannot be, or a rendering is not read. ``observe`` is given the document of the
    last rendering, which has most in it."""
    if options.limits.dialect != SPARK:
        return None
    from sqlrewrite.sql.verify import same_statements  # few texts need both
    from sqlrewrite.text import if_blocks

    every = if_blocks.renderings(sql)
    directive_sets = {directives(it.text, lex(it.text).tokens).found for it in every}
    if (
        len(directive_sets) != 1 or options.form == VALUES
    ):  # a directive in a block would not hold in all
        return None

    @cache
    def decided(text: str) -> Decision:
        return decide(read(text, catalog, options.limits, named=observe is not None), options)

    def changed(it: if_blocks.Rendering) -> if_blocks.Changes | None:
        decision = decided(it.text)
        if _is_read(decision) and all(map(_alike, repeat(it.text), it.rendered)):
            return tuple(changes(decision))
        return None

    def same(one: if_blocks.Rendering, other: if_blocks.Rendering) -> bool:
        return same_statements(*(_written(decided(it.text).document) for it in (one, other)))

    done = if_blocks.changed_in_all(sql, changed, same)
    kept = [result(decided(it.text)) for n, it in enumerate(every) if done and n not in done[1]]
    if done is None or not kept:
        return None
    if observe is not None:
        observe(decided(every[-1].text).document)
    found = {(it.statement, it.fact, it.dimension): it for one in kept for it in one.candidates}
    return replace(kept[-1], original=sql, sql=done[0], candidates=tuple(found.values()))


def _written(document: Document) -> list[Statement]:
    """The author's statements, without our predicates."""
    return [it.statement for it in document.statements]


def _is_read(decision: Decision) -> bool:
    """Whether the decision covers the whole text: each statement parses, and each that has a
    predicate of ours was decided again."""
    document, failed = decision.document, [it for it in decision.statements if it.failure]
    spans = document.stripped.predicates
    held = (
        document.stripped.original_offset(it.reading.statement.start) <= span.start
        and span.start <= document.stripped.original_offset(it.reading.statement.end)
        for it in failed
        for span in spans
    )
    marked = document.original.count(MARKER) == len(spans)
    parse = all(it.failure is not None and it.failure.parsed for it in failed)
    return marked and parse and not any(held)


def _alike(one: str, other: str) -> bool:
    """Whether two texts have the same tokens."""
    first, second = ([(it.token_type, it.text) for it in lex(text).tokens] for text in (one, other))
    return first == second


def result(decision: Decision) -> Rewrite:
    """The result: the new text, every candidate with its verdict, what was not read."""
    return in_dialect(_result(decision), decision.document.limits)


def _result(decision: Decision) -> Rewrite:
    document, statements = decision.document, decision.statements
    if document.suppressed is not None and document.directives.whole_file is not None:
        return _left_alone(document)
    text, failures = document.stripped, [it.failure for it in statements if it.failure is not None]
    matter = [it for it in statements if it.matters]
    by_statement = {it.reading.statement.index: candidates(document, it) for it in matter}
    return Rewrite(
        original=document.original,
        sql=apply(text.text, [edit for it in statements for edit in it.edits]),
        statements=len(statements),
        candidates=tuple(found for it in by_statement.values() for found in it),
        errors=errors(decision),
        skipped=tuple(document.problem(it) for it in failures if it.parsed),
        plans=tuple(plan for it in matter if (plan := _plan_diff(document, it)) is not None),
        removed=tuple(_removed(decision, by_statement)),
        notes=foreign(document.stripped, document.directives.lines),
    )


def changes(decision: Decision) -> Iterator[tuple[Span, str]]:
    """What a rewrite changes in the original: the spans, each with its new text."""
    edits = (it for of in decision.statements for it in of.edits)
    for span, text in decision.document.stripped.changes(edits):
        yield span, in_dialect(text, decision.document.limits)


def candidates(document: Document, decided: StatementDecision) -> list[Candidate]:
    """The candidates of one statement: each of its pairs, with its verdict."""
    if not decided.judged:
        return []
    from sqlrewrite.decision.record import candidates  # only where something was judged

    return candidates(decided, document.place)


def errors(decision: Decision) -> tuple[Problem, ...]:
    """The statements that could not be read, and those in which a bug of ours showed."""
    failures = (it.failure for it in decision.statements)
    bugs = (
        Failure(at, why, code=BUG) for decided in decision.statements for at, why in decided.bugs
    )
    all_failures = (*(it for it in failures if it is not None and not it.parsed), *bugs)
    return tuple(decision.document.problem(it) for it in all_failures)


def _plan_diff(document: Document, decided: StatementDecision) -> PlanDiff | None:
    if not decided.judged:
        return None
    from sqlrewrite.decision.record import plan_diff  # only where something was judged

    return plan_diff(decided, document.place)


def _removed(
    decision: Decision, by_statement: Mapping[int, Sequence[Candidate]]
) -> Iterator[Removed]:
    """The predicates of an earlier run that were not written again as they were."""
    text, lines = decision.document.stripped, decision.document.directives.lines
    predicates = text.removed_predicates
    for decided in decision.statements if predicates else ():
        index = decided.reading.statement.index
        left = left_to_engine(by_statement.get(index, ()))
        written = "\n".join(edit.text for edit in decided.edits)
        for span, by in sorted(stale(text, decided).items(), key=lambda item: item[0].start):
            before, columns = predicates[span].text, bounded_columns(predicates[span].value)
            gone = Removed(index, before, *lines.place(span.start), by)
            if _noted(before) & _noted(written):
                gone = replace(gone, reason="its key query gives other keys now")
            why = [left[it] for it in columns if it in left and not by]
            yield replace(gone, reason=why[0]) if why else gone


def _noted(text: str) -> set[tuple[str, ...]]:
    """The key queries in the notes of predicates of literals."""
    return set(map(comparable, noted_queries(text)))


def _left_alone(document: Document) -> Rewrite:
    """The result for a text that asks to be left alone as a whole."""
    whole, sql = document.directives.whole_file, document.original
    assert whole is not None
    place = document.directives.lines.place(whole.span.start)
    skipped = Problem("", f"the whole file, as `{whole}` asks", *place)
    return Rewrite(sql, sql, 1, skipped=(skipped,))
