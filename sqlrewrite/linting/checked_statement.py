"""The input of the checks: one statement with its plan, its verdicts and its places in the text.

In: a ``Decision``. Out: a ``CheckedStatement`` for each of its statements, which makes findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlrewrite.decision.statement_decision import StatementDecision, stale
from sqlrewrite.document import Decision, Document
from sqlrewrite.linting.findings import BY_CODE, Finding, Fix, Place, Replacement, Severity, clipped
from sqlrewrite.results import Candidate, TableUse, Verdict
from sqlrewrite.rewriting import candidates
from sqlrewrite.rulebook import Engine
from sqlrewrite.sql.managed.strip import Stripped
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.source import Lines

if TYPE_CHECKING:
    from sqlrewrite.judge.proposal import Proposal
    from sqlrewrite.linting.proposed_columns import Supposition
    from sqlrewrite.plan.algebra import Plan, Scan


@dataclass(frozen=True, eq=False)
class CheckedStatement:
    """One statement of a text, as the checks see it.

    ``decided`` disregards the author's comments, and ``unrestricted`` is the same with the
    predicates that are left to the engine. ``rewriting`` is what a rewrite decides, which heeds the
    comments, with the document that it starts from. ``supposed`` is what would be decided if the
    partition columns that statements of other files compute were declared. ``extent``
    is where the statement stands in the original text, ``managed`` are the predicates in it that an
    earlier run wrote.
    """

    decided: StatementDecision
    unrestricted: StatementDecision
    rewriting: tuple[StatementDecision, Document]
    document: Document
    engine: Engine
    extent: Span
    managed: tuple[Span, ...]
    supposed: Supposition | None = None

    @property
    def stripped(self) -> Stripped:
        """The text that the statement's offsets are of."""
        return self.document.stripped

    @property
    def plan(self) -> Plan:
        """The statement's plan."""
        return self.decided.plan

    @property
    def lines(self) -> Lines:
        """The lines of the author's text."""
        return self.document.directives.lines

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The statement's candidates, one for each of its pairs."""
        return candidates(self.document, self.decided)

    @cached_property
    def _rewriting_candidates(self) -> list[Candidate]:
        decided, document = self.rewriting
        same = decided is self.decided and document is self.document
        return self.candidates if same else candidates(document, decided)

    def finding(
        self,
        code: str,
        span: Span,
        about: str,
        message: str,
        help: str = "",
        fix: Fix | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding at a span of the original text; ``about`` names what it is about. Without a
        ``severity`` it has its code's."""
        severity = severity or BY_CODE[code].severity
        place = place_of(self.lines, span)
        return Finding(code, clipped(message), place, about, self.hash, severity, help, fix)

    @cached_property
    def hash(self) -> str:
        """The statement without our predicates, comments, case and spacing, as 16 hexadecimal
        digits."""
        text, tokens = self.stripped.text, self.decided.reading.statement.tokens
        words = "\0".join([text[token.start : token.end + 1] for token in tokens]).lower()
        return sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @cached_property
    def proposals_by_scan(self) -> Mapping[Scan, Sequence[Proposal]]:
        """The proposals for each scan."""
        by_scan: dict[Scan, list[Proposal]] = {}
        for proposal in self.decided.proposals:
            by_scan.setdefault(proposal.pair.scan, []).append(proposal)
        return by_scan

    @cached_property
    def replaced(self) -> dict[Span, str]:
        """The managed predicates that a rewrite takes out, or would if no comment kept them, each
        with what is written in its place."""
        decided, document = self.rewriting
        stripped = document.stripped
        free = frozenset(stripped.predicates)
        kept = {
            span: by for span, by in stale(self.stripped, self.decided).items() if span not in free
        }
        return {**kept, **stale(stripped, decided)}

    @cached_property
    def already_written(self) -> frozenset[tuple[TableUse, TableUse]]:
        """The facts and dimensions whose predicate a rewrite finds in the text."""
        return frozenset(
            (candidate.fact, candidate.dimension)
            for candidate in self._rewriting_candidates
            if candidate.verdict is Verdict.ALREADY_PRUNED and candidate.predicate
        )

    @cached_property
    def refusals(self) -> Mapping[tuple[TableUse, TableUse], str]:
        """Why a rewrite, which heeds the author's comments, inserts nothing for a fact and a
        dimension."""
        reasons: dict[tuple[TableUse, TableUse], str] = {}
        for candidate in self._rewriting_candidates:
            if candidate.verdict is Verdict.REJECTED and candidate.reason:
                sides = (candidate.fact, candidate.dimension)
                reasons.setdefault(sides, candidate.reason.message)
        for candidate in self._rewriting_candidates:
            if candidate.verdict is Verdict.REWRITTEN:  # another condition on both is used
                reasons.pop((candidate.fact, candidate.dimension), None)
        return reasons

    @cached_property
    def fix(self) -> Fix:
        """All that a rewrite changes in the statement: the fix of each of its findings."""
        decided, document = self.rewriting
        changes = document.stripped.changes(decided.edits)
        here = (edit for edit in changes if self.extent.start <= edit.span.start < self.extent.end)
        return fix_of(self.lines, here)


def checked_statements(
    decision: Decision,
    unrestricted: Decision,
    rewriting: Decision,
    supposed: Supposition | None = None,
) -> Iterator[CheckedStatement]:
    """Each statement of a text, from three decisions on it: see ``CheckedStatement``."""
    document, engine = decision.document, decision.options.engine
    stripped = document.stripped
    starts = [statement.reading.statement.start for statement in decision.statements]
    ends = [*starts, len(stripped.original) + 1][1:]
    # A text that is to be left alone as a whole is not split, and nothing is done to it.
    acting = rewriting.statements or tuple(
        StatementDecision(statement.reading) for statement in decision.statements
    )
    statements = zip(decision.statements, unrestricted.statements, acting, strict=True)
    for (decided, full, acts), start, end in zip(statements, starts, ends, strict=True):
        managed = tuple(span for span in stripped.predicates if start <= span.start < end)
        acting_in = (acts, rewriting.document)
        yield CheckedStatement(
            decided, full, acting_in, document, engine, Span(start, end), managed, supposed
        )


def fix_of(lines: Lines, edits: Iterable[Edit]) -> Fix:
    """Edits as a fix, with their lines and columns."""
    return Fix(tuple(Replacement(place_of(lines, span), text) for span, text in edits))


def place_of(lines: Lines, span: Span) -> Place:
    """A span with its lines and columns."""
    return Place(span, *lines.place(span.start), *lines.place(span.end))
