"""The input of a check: one statement with its plan, its verdicts and its places in the text.

In: a ``Decision``. Out: a ``Subject`` for each of its statements, which turns offsets of the
stripped text into places of the author's, and makes findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlrewrite.decision.refresh import stale
from sqlrewrite.decision.statement_decision import StatementDecision
from sqlrewrite.document import Decision, Document
from sqlrewrite.frozen import dataclass
from sqlrewrite.linting.findings import BY_CODE, Finding, Fix, Place, Replacement
from sqlrewrite.results import Candidate, TableUse, Verdict
from sqlrewrite.rewriting import candidates
from sqlrewrite.rulebook import Engine
from sqlrewrite.sql.managed.strip import Stripped
from sqlrewrite.text.edits import Span
from sqlrewrite.text.source import Lines

if TYPE_CHECKING:
    from sqlrewrite.decision.statement_decision import PairDecision
    from sqlrewrite.plan.algebra import Scan


@dataclass(frozen=True, eq=False)
class Subject:
    """One statement of a text; ``extent`` is where it stands in the original text, ``managed`` are
    the predicates in it that an earlier run wrote, and ``full`` is ``decided`` with those, too,
    that are not wanted because the engine finds them by itself. ``heeding`` is what a rewrite
    would do, which leaves alone what the author's comments ask to leave alone, with the text that
    it starts from."""

    decided: StatementDecision
    full: StatementDecision
    heeding: tuple[StatementDecision, Document]
    document: Document
    engine: Engine
    extent: Span
    managed: tuple[Span, ...]

    @property
    def stripped(self) -> Stripped:
        """The text that the statement's offsets are of."""
        return self.document.stripped

    @property
    def lines(self) -> Lines:
        """The lines of the author's text."""
        return self.document.directives.lines

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The statement's candidates, one for each of its pairs."""
        return candidates(self.document, self.decided)

    @cached_property
    def heeded(self) -> list[Candidate]:
        """The candidates of a rewrite that heeds the author's comments."""
        decided, document = self.heeding
        same = decided is self.decided and document is self.document
        return self.candidates if same else candidates(document, decided)

    def original(self, span: Span) -> Span:
        """A span of the stripped text as one of the author's."""
        return self.stripped.original_span(span)

    def finding(
        self,
        code: str,
        span: Span,
        about: str,
        message: str,
        help: str = "",
        fix: Fix | None = None,
    ) -> Finding:
        """A finding at a span of the original text, about a thing of that name."""
        severity = BY_CODE[code].severity
        place = place_of(self.lines, span)
        return Finding(code, message, place, about, self.hash, severity, help, fix)

    @cached_property
    def hash(self) -> str:
        """The statement without our predicates, comments, case and spacing, as 16 hexadecimal
        digits."""
        text, tokens = self.stripped.text, self.decided.reading.statement.tokens
        words = "\0".join([text[token.start : token.end + 1] for token in tokens]).lower()
        return sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @cached_property
    def tied(self) -> Mapping[Scan, Sequence[PairDecision]]:
        """The pairs of each scan, judged."""
        found: dict[Scan, list[PairDecision]] = {}
        for it in self.decided.judged:
            found.setdefault(it.proposal.pair.scan, []).append(it)
        return found

    @cached_property
    def gone(self) -> dict[Span, str]:
        """The managed predicates that a rewrite takes out, each with what it writes in its place,
        and those that it would take out if no comment kept them."""
        decided, document = self.heeding
        stripped = document.stripped
        free = frozenset(stripped.predicates)
        kept = {it: by for it, by in stale(self.stripped, self.decided).items() if it not in free}
        return {**kept, **stale(stripped, decided)}

    @cached_property
    def standing(self) -> frozenset[tuple[TableUse, TableUse]]:
        """The facts and dimensions of which a rewrite finds the predicate written already."""
        return frozenset(
            (it.fact, it.dimension)
            for it in self.heeded
            if it.verdict is Verdict.ALREADY_PRUNED and it.predicate
        )

    @cached_property
    def refused(self) -> Mapping[tuple[TableUse, TableUse], str]:
        """Why a rewrite inserts nothing for a fact and a dimension: the place, if not the scan, may
        be one that a comment asks to leave alone."""
        found: dict[tuple[TableUse, TableUse], str] = {}
        for it in self.heeded:
            if it.verdict is Verdict.REJECTED and it.reason:
                found.setdefault((it.fact, it.dimension), it.reason.message)
        for it in self.heeded:
            if it.verdict is Verdict.REWRITTEN:  # another condition between them serves
                found.pop((it.fact, it.dimension), None)
        return found

    @cached_property
    def mended(self) -> Fix:
        """All that a rewrite changes in the statement: the fix of each finding that it mends."""
        return Fix(tuple(self._replacements()))

    def _replacements(self) -> Iterator[Replacement]:
        """The insertions, and what is taken out, without what goes only to come back."""
        decided, document = self.heeding
        for span, new in document.stripped.changes(decided.edits):
            if self.extent.start <= span.start < self.extent.end:
                yield Replacement(place_of(self.lines, span), new)


def subjects(decision: Decision, full: Decision, heeding: Decision) -> Iterator[Subject]:
    """Each statement of a text; ``full`` is what is decided for all predicates, ``heeding`` as the
    text's comments ask."""
    document = decision.document
    stripped = document.stripped
    starts = [stripped.original_offset(it.reading.statement.start) for it in decision.statements]
    ends = [*starts, len(stripped.original) + 1][1:]
    # A text that is to be left alone as a whole is not taken apart, and nothing is done to it.
    heeded = heeding.statements or tuple(
        StatementDecision(it.reading) for it in decision.statements
    )
    statements = zip(decision.statements, full.statements, heeded, starts, ends, strict=True)
    for decided, all_of_it, done, start, end in statements:
        managed = tuple(span for span in stripped.predicates if start <= span.start < end)
        acts, extent = (done, heeding.document), Span(start, end)
        engine = decision.options.engine
        yield Subject(decided, all_of_it, acts, document, engine, extent, managed)


def place_of(lines: Lines, span: Span) -> Place:
    """A span with its lines and columns."""
    return Place(span, *lines.place(span.start), *lines.place(span.end))
