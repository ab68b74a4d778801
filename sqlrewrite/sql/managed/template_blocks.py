"""Takes the predicates of an earlier run out of a text with ``{% if %}`` blocks.

Such a text is no statement: its branches follow each other. So a predicate goes only if each text
that it may render to has it, and loses the same without it (docs/templates.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.sql.managed.recognition import ManagedPredicate
from sqlrewrite.sql.managed.strip import Keep, Stripped, strip
from sqlrewrite.sql.managed.token_walk import Walk
from sqlrewrite.sql.parse.statements import Lexed, lex, statements
from sqlrewrite.text.blocks import renderings
from sqlrewrite.text.edits import Span
from sqlrewrite.text.templates import Obstacle
from sqlrewrite.warehouse import VARIABLE, Name, Reference


def strip_blocks(text: str) -> Stripped | None:
    """The text without the predicates of ours; None if its renderings lose different spans."""
    every = renderings(text)
    stripped = [strip(rendering.text, lex(rendering.text, _some).tokens) for rendering in every]
    if len({one.removed for one in stripped}) != 1:
        return None
    removed = stripped[0].removed
    if not all(rendering.shows(span) for rendering in every for span in removed):
        return None
    return Stripped.of(text, removed, stripped[0].predicates)


def _some(reference: Reference) -> Name | None:
    """A name for a ``ref`` or ``source``: which relation it is makes no difference here."""
    return None if reference[0] == VARIABLE else reference[1:]


def block_tags(lexed: Lexed, text: str) -> list[Obstacle]:
    """The blocks of a text, and not those templates that only a catalog could read."""
    return [obstacle for obstacle in lexed.obstacles if text.startswith("{%", obstacle.start)]


def keep_in_blocks(text: str, lexed: Lexed) -> Keep:
    """Keeps what stands in statements with a block."""
    spans = [
        Span(statement.start, statement.end)
        for statement in statements(text, lexed)
        if any(
            at.start < statement.end and statement.start < at.end for at in block_tags(lexed, text)
        )
    ]

    def keep(walk: Walk, found: Sequence[ManagedPredicate]) -> list[ManagedPredicate]:
        return [
            predicate
            for predicate in found
            if any(at.start <= predicate.span.start < at.end for at in spans)
        ]

    return keep
