"""``--strip``: a text without the predicates of earlier runs, and notes on those that stay.

In: a text. Out: a ``Rewrite`` that lists what was taken out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from sqlrewrite.copies import replace
from sqlrewrite.find.reading import in_dialect, to_spark
from sqlrewrite.results import NOT_PARSED, Problem, Removed, Rewrite
from sqlrewrite.sql.managed.groups import GROUPS, find_groups
from sqlrewrite.sql.managed.recognition import ManagedPredicate
from sqlrewrite.sql.managed.strip import Keep, Stripped, strip
from sqlrewrite.sql.parse.scripts import pieces
from sqlrewrite.sql.parse.statements import Lexed, lex, statements
from sqlrewrite.text.edits import Span
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.markers import GROUPS_BEGIN, MARKER
from sqlrewrite.text.source import Lines
from sqlrewrite.text.templates import Obstacle
from sqlrewrite.warehouse import VARIABLE, Name, Reference

_BLOCKED = "what dpp-rewrite has written into this statement stays, take it out by hand: {}"
_UNREAD = (
    "the statement cannot be read, so what dpp-rewrite has written into it stays: `--check` says "
    "why, take it out by hand or mend the statement"
)
FOREIGN = "DPP009"
_FOREIGN = (
    "dpp-rewrite did not write what this marker follows: the predicate is "
    "yours and stays; take the marker off"
)
_IN_CHANGE = (
    "--strip takes nothing out of the condition of a DELETE or UPDATE, where a mistake would "
    "change other rows: take the predicate out by hand"
)


def stripped(sql: str, limits: Limits | None = None) -> Rewrite:
    """The text without managed predicates: ``--strip``."""
    limits = limits or Limits()
    transliteration = to_spark(sql, limits)
    if transliteration is None or transliteration.failure:
        return taken_out(sql)[0]
    return in_dialect(taken_out(transliteration.text)[0], limits)


def taken_out(sql: str, lines: Lines | None = None) -> tuple[Rewrite, Stripped]:
    """The result of ``stripped`` for Spark's SQL, with the spans taken out; ``lines`` as in
    ``read``."""
    lexed, lines = lex(sql), lines or Lines(sql)
    groups = find_groups(sql, lexed.tokens)
    spans = groups.spans
    grouped = Stripped.of(sql, spans, spans)
    inner = lex(grouped.text) if spans else lexed
    text, skipped = strip(grouped.text, inner), tuple[Problem, ...]()
    if groups.why:
        skipped = (Problem(GROUPS, groups.why, *lines.place(sql.find(GROUPS_BEGIN))),)
    if MARKER in grouped.text and "{%" in grouped.text:
        tags = _block_tags(inner, grouped.text)
        if tags:
            kept = _keep_in_blocks(grouped.text, inner)
            text = _strip_blocks(grouped.text) or strip(grouped.text, inner, kept)
        if tags and MARKER in text.text:
            at = tags[0].start
            skipped += (Problem(NOT_PARSED, _BLOCKED.format(tags[0].message), *lines.place(at)),)
    skipped += tuple(Problem(NOT_PARSED, _UNREAD, *lines.place(at)) for at in text.unread)
    text = grouped.then(text) if spans else text
    starts = [piece.tokens[0].start for piece in pieces(sql, lexed.tokens)]
    removed = tuple(
        Removed(
            max(0, bisect_right(starts, span.start) - 1),
            sql[span.start : span.end],
            *lines.place(span.start),
            reason="--strip takes out what dpp-rewrite has written",
        )
        for span in text.predicates
    )
    notes = _notes(text, sql, lexed, lines) if text.foreign else ()
    rewrite = Rewrite(
        sql, text.author_text, len(starts), skipped=skipped, removed=removed, notes=notes
    )
    return rewrite, text


def _notes(text: Stripped, sql: str, lexed: Lexed, lines: Lines) -> tuple[Problem, ...]:
    """A note for each marker that stays; those in a DELETE or UPDATE get their own message."""
    ours = {*text.foreign}.difference(strip(sql, lexed, in_dml=True).foreign)
    return tuple(
        replace(note, message=_IN_CHANGE) if at in ours else note
        for at, note in zip(text.foreign, foreign(text, lines), strict=True)
    )


def foreign(text: Stripped, lines: Lines) -> tuple[Problem, ...]:
    """A note for each marker on a predicate that is not ours; ``lines`` as in ``taken_out``."""
    return tuple(Problem(FOREIGN, _FOREIGN, *lines.place(at)) for at in text.foreign)


def _strip_blocks(text: str) -> Stripped | None:
    """The text, which has ``{% if %}`` blocks, without managed predicates; None if two of its
    renderings lose different ones (docs/templates.md)."""
    from sqlrewrite.text.blocks import renderings  # not imported at each start

    every = renderings(text)
    stripped = [strip(rendering.text, lex(rendering.text, _some)) for rendering in every]
    if len({one.removed for one in stripped}) != 1:
        return None
    removed = stripped[0].removed
    if not all(rendering.shows(span) for rendering in every for span in removed):
        return None
    return Stripped.of(text, removed, stripped[0].predicates)


def _some(reference: Reference) -> Name | None:
    """A name for a ``ref`` or ``source``; any will do."""
    return None if reference[0] == VARIABLE else reference[1:]


def _block_tags(lexed: Lexed, text: str) -> list[Obstacle]:
    """The obstacles of a text that are blocks, ``{% … %}``."""
    return [obstacle for obstacle in lexed.obstacles if text.startswith("{%", obstacle.start)]


def _keep_in_blocks(text: str, lexed: Lexed) -> Keep:
    """A ``Keep`` for the predicates in statements with a block."""
    spans = [
        Span(statement.start, statement.end)
        for statement in statements(text, lexed)
        if any(
            at.start < statement.end and statement.start < at.end for at in _block_tags(lexed, text)
        )
    ]

    def keep(predicates: Sequence[ManagedPredicate]) -> dict[ManagedPredicate, None]:
        return {
            predicate: None
            for predicate in predicates
            if any(span.start <= predicate.span.start < span.end for span in spans)
        }

    return keep
