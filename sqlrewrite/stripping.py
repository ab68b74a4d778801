"""A text without what an earlier run wrote into it: ``--strip``, and the notes on what stays.

In: a text. Out: the same as an account of what was taken out of it, in the form of a rewriting.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from sqlrewrite.find.reading import in_dialect, to_spark
from sqlrewrite.results import NOT_PARSED, Problem, Removed, Rewrite
from sqlrewrite.sql.managed.groups import GROUPS, find_groups
from sqlrewrite.sql.managed.strip import Stripped, strip
from sqlrewrite.sql.parse.scripts import pieces
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.markers import GROUPS_BEGIN, MARKER
from sqlrewrite.text.source import Lines

_BLOCKED = "what dpp-rewrite has written into this statement stays, take it out by hand: {}"
FOREIGN = "DPP009"
_FOREIGN = (
    "dpp-rewrite did not write what this marker stands behind: the predicate is "
    "yours and stays; take the marker off"
)
_IN_CHANGE = (
    "--strip takes nothing out of the condition of a DELETE or UPDATE, where a mistake would "
    "change other rows: take the predicate out by hand"
)


def stripped(sql: str, limits: Limits | None = None) -> Rewrite:
    """A text without any predicate of ours: ``--strip``. What the author wrote stays."""
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
    text, skipped = strip(grouped.text, inner.tokens), tuple[Problem, ...]()
    if groups.why:
        skipped = (Problem(GROUPS, groups.why, *lines.place(sql.find(GROUPS_BEGIN))),)
    if MARKER in grouped.text and "{%" in grouped.text:
        from sqlrewrite.sql.managed.template_blocks import block_tags, keep_in_blocks, strip_blocks

        tags = block_tags(inner, grouped.text)
        if tags:
            kept = keep_in_blocks(grouped.text, inner)
            text = strip_blocks(grouped.text) or strip(grouped.text, inner.tokens, kept)
        if tags and MARKER in text.text:
            at = tags[0].start
            skipped += (Problem(NOT_PARSED, _BLOCKED.format(tags[0].message), *lines.place(at)),)
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
    notes = _notes(text, strip(sql, lexed.tokens, in_dml=True), lines)
    rewrite = Rewrite(
        sql, text.author_text, len(starts), skipped=skipped, removed=removed, notes=notes
    )
    return rewrite, text


def _notes(text: Stripped, all_of_it: Stripped, lines: Lines) -> tuple[Problem, ...]:
    """A note for each marker that stays, be it on a predicate of ours in a DELETE or UPDATE."""
    ours = {*text.foreign}.difference(all_of_it.foreign)
    return tuple(
        replace(note, message=_IN_CHANGE) if at in ours else note
        for at, note in zip(text.foreign, foreign(text, lines), strict=True)
    )


def foreign(text: Stripped, lines: Lines) -> tuple[Problem, ...]:
    """A note for each marker of ours on what is the author's; ``lines`` as in ``taken_out``."""
    return tuple(Problem(FOREIGN, _FOREIGN, *lines.place(at)) for at in text.foreign)
