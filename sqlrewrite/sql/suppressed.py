"""What the directives in a text leave as it is: scans, and the managed predicates for them.

A managed predicate belongs to a scan of its block that it names, or whose table is partitioned by a
column that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import TokenType

from sqlrewrite.sql.managed.recognition import ManagedPredicate, bounded_value, managed_predicates
from sqlrewrite.sql.managed.token_walk import NoFormError, Walk
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.sql.statements.directives import ADDING, MENDING, Directive, Directives
from sqlrewrite.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Suppressed:
    """The directives of a text, and what they keep from being written or taken out."""

    directives: Directives
    catalog: Warehouse

    def reason(self, offset: int) -> str | None:
        """Why nothing is added to the scan at an offset of the original text; None if something may
        be."""
        return _reason(self.directives.covering(offset, ADDING))

    def frozen(self, offset: int, mends: bool) -> str | None:
        """Why nothing is inserted at an offset of the original text; None if something may be, or
        if it ``mends`` what stood there. A predicate written into a region that keeps its own would
        stay, and be written again on the next run."""
        codes = MENDING if mends else ADDING | MENDING
        return _reason(self.directives.region(offset, codes))

    def kept(
        self, walk: Walk, predicates: Sequence[ManagedPredicate]
    ) -> dict[ManagedPredicate, Directive]:
        """The managed predicates that stay, each with the directive for it, which covers a line of
        the predicate or the scan that it is for. With one of them all stay that bound the same
        value, as the two ends of a range do."""
        own = {
            predicate: directive
            for predicate in predicates
            if (directive := self._covering(walk, predicate)) is not None
        }
        if not own:
            return own
        of = {_about(walk, predicate): directive for predicate, directive in own.items()}
        both = (
            (predicate, own.get(predicate) or of.get(_about(walk, predicate)))
            for predicate in predicates
        )
        return {predicate: directive for predicate, directive in both if directive is not None}

    def owners(self, text: str) -> dict[int, Directive]:
        """The directive by which each managed predicate of a text stays, by the predicate's
        offset."""
        walk = Walk(text, lex(text).tokens)
        kept = self.kept(walk, list(managed_predicates(walk)))
        return {predicate.span.start: directive for predicate, directive in kept.items()}

    def _covering(self, walk: Walk, managed: ManagedPredicate) -> Directive | None:
        first, span = managed.tokens.start, managed.span
        lines = (self.directives.covering(at, MENDING) for at in (span.start, span.end - 1))
        directive = next(filter(None, lines), None)
        names, block = self._names(walk, managed), _block(walk, span.start)
        if directive is not None or block is None:
            return directive
        for index, token in enumerate(walk.tokens[:first]):
            # Before a dot it is a qualifier, as `f` in `f.p`, and no table in FROM.
            if token.text.lower() in names and walk.kind(index + 1) is not TokenType.DOT:
                directive = self.directives.covering(_named(walk, index), MENDING)
                if directive is not None and _block(walk, token.start) == block:
                    return directive
        return None

    def _names(self, walk: Walk, managed: ManagedPredicate) -> frozenset[str]:
        """The names of a predicate's scan in a FROM: its qualifiers, or tables partitioned by its
        column."""
        names: set[str] = set()
        for index in range(*managed.value):
            name = walk.tokens[index].text.lower()
            if walk.kind(index + 1) is TokenType.DOT:
                names.add(name)
            elif walk.kind(index - 1) is not TokenType.DOT:
                for table in self.catalog.tables:
                    if any(field.column.lower() == name for field in table.partitioned_by):
                        names.add(table.name[-1].lower())
        return frozenset(names)


def _about(walk: Walk, managed: ManagedPredicate) -> tuple[int | None, str]:
    """What a predicate bounds, and in which block."""
    return _block(walk, managed.span.start), bounded_value(walk, managed)


def _named(walk: Walk, index: int) -> int:
    """The offset of a table's name, by the token of the name or of its alias."""
    before = index - 1 - (walk.kind(index - 1) is TokenType.ALIAS)
    named = walk.kind(before) in (TokenType.VAR, TokenType.IDENTIFIER)
    return walk.tokens[before if named else index].start


def _reason(directive: Directive | None) -> str | None:
    return f"kept as it is: line {directive.line} says `{directive}`" if directive else None


def _block(walk: Walk, offset: int) -> int | None:
    """The SELECT, DELETE or UPDATE whose clauses hold the token at an offset; None for others."""
    try:
        lead = walk.lead(walk.index(offset))
    except NoFormError:
        return None
    return None if walk.kind(lead) is TokenType.MERGE else lead
