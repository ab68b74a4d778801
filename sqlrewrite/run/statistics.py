"""The statements of a file, and statistics: how much a run understood, and why nothing was written.

In: a file's documents and candidates. Out: its ``Statistics``, which can be pickled and added up. A
reason may have a remedy, something the user can do about it; the one that helps most scans is
suggested first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields

from sqlrewrite.document import Document, read
from sqlrewrite.find.reading import in_dialect
from sqlrewrite.find.summary import StatementSummary, remedy_for_unknown, summarize
from sqlrewrite.results import Candidate, Rewrite, Verdict
from sqlrewrite.settings.options import DECLARED_IN
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Table, Warehouse

_UNKNOWN = re.compile(r"`(?P<name>[^`]+)` is not in the catalog")
_TYPE = re.compile(r"declare the type of `(?P<column>[^`]+)`")
_CALLED = re.compile(r"`(?P<name>[^`\s]+\(\))` .*is not known to be deterministic")

_REMEDIES = (
    ("double-quoted-identifiers", 'say what "…" is: set double-quoted-identifiers'),
    ("in target/compiled", "rewrite what dbt compiles: target/compiled"),
)
"""Remedies for statements that are left alone, by words in the reason."""

Silent = tuple[int, tuple[StatementSummary, ...]]
"""The cached value of a file with nothing to report: how many statements it has, and those with a
reason why they are not rewritten."""

ReasonAndRemedy = tuple[str, str]
"""Why nothing was written, and what to do about it (empty if there is nothing)."""


def summaries(
    documents: Iterable[Document], rewrite: Rewrite | None = None
) -> tuple[StatementSummary, ...]:
    """A summary of each statement in a file's documents. ``rewrite``: the result for the file."""
    candidates = rewrite.candidates if rewrite else ()
    uses = [use for candidate in candidates for use in (candidate.fact, candidate.join)]
    places = [(use.line, use.column_number) for use in uses]
    of_all: list[StatementSummary] = []
    for document in documents:
        text = document.stripped.text
        summarized = tuple(summarize(document.statements, text, document.place, places))
        of_all += in_dialect(summarized, document.limits)
    return tuple(of_all)


def documents_of(path: str, text: str, catalog: Warehouse, limits: Limits) -> Iterator[Document]:
    """The documents of a file as it stands: one, or one for each region. Of a text with
    ``{% if %}`` it is the rendering that has most in it."""
    host = host_of(path, text)
    if host is None:
        if "{%" in text:
            from sqlrewrite.text.blocks import renderings  # not imported at each start

            text = next((rendering.text for rendering in reversed(renderings(text))), text)
        yield read(text, catalog, limits, heed=False, named=True)
        return
    from sqlrewrite import embedded  # not imported for a file of SQL

    for _, document in embedded.documents(host, catalog, limits, heed=False, named=True):
        yield document


@dataclass(slots=True)
class Statistics:
    """Counts over files. ``joins``: statements with a join. ``understood``: those of them that
    could be read. ``reasons``: how often each reason applies to a scan or statement."""

    files: int = 0
    statements: int = 0
    joins: int = 0
    understood: int = 0
    candidates: int = 0
    rewritten: int = 0
    already_pruned: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    remedies: Counter[str] = field(default_factory=Counter)

    def add(self, other: Statistics) -> None:
        """Adds the counts of other files."""
        for name in (count.name for count in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def in_order(self) -> list[tuple[str, int]]:
        """The reasons, most frequent first."""
        return sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))

    @property
    def first(self) -> tuple[str, int] | None:
        """The remedy that helps most scans, and their number."""
        return min(self.remedies.items(), key=lambda item: (-item[1], item[0]), default=None)


def statistics_of(
    statements: Sequence[StatementSummary], rewrite: Rewrite, catalog: Warehouse
) -> Statistics:
    """The counts of a file, from its statements and its rewriting."""
    candidates = rewrite.candidates
    verdicts = Counter(candidate.verdict for candidate in candidates)
    joining = [statement for statement in statements if statement.joins]
    reasons = [why for statement in joining for why in _of_statement(statement, catalog)]
    reasons += (
        why for candidate in candidates if (why := _of_candidate(candidate, catalog)) is not None
    )
    return Statistics(
        1,
        len(statements),
        len(joining),
        sum(statement.understood for statement in joining),
        len(candidates),
        verdicts[Verdict.REWRITTEN],
        verdicts[Verdict.ALREADY_PRUNED],
        Counter(reason for reason, _ in reasons),
        Counter(remedy for _, remedy in reasons if remedy),
    )


def _of_statement(statement: StatementSummary, catalog: Warehouse) -> Iterator[ReasonAndRemedy]:
    """Why a statement with a join has no candidate; each unknown table is a reason."""
    if not statement.reason:
        return
    if not statement.understood:
        helps = (remedy for words, remedy in _REMEDIES if words in statement.reason)
        yield statement.reason, next(helps, "")
        return
    unknown = [name for name, in_catalog in statement.relations if not in_catalog]
    for name in unknown:
        yield f"`{name}` is not in the catalog", remedy_for_unknown(name, catalog)
    if unknown:
        return
    undeclared = [name for name, _ in statement.relations if _is_undeclared(name, catalog)]
    for name in undeclared:
        what = f"the partition column of {name}"
        yield f"{what} is none of its columns", f"declare {what}"
    if not undeclared:
        yield statement.alike, ""


def _is_undeclared(name: str, catalog: Warehouse) -> bool:
    """Whether a table is partitioned by a column that its definition does not list."""
    table = catalog.resolve(tuple(name.split(".")))
    fields = table.partitioned_by if isinstance(table, Table) else ()
    return any(field.transform == "unknown" for field in fields)


def _of_candidate(candidate: Candidate, catalog: Warehouse) -> ReasonAndRemedy | None:
    """Why a candidate was rejected."""
    rule = candidate.reason
    if candidate.verdict is not Verdict.REJECTED or rule is None:
        return None
    for each in candidate.rules:
        if unknown := _UNKNOWN.search(each.message):
            return unknown.group(), remedy_for_unknown(unknown["name"], catalog)
    reason = f"{rule.code} {rule.name}"
    if column := _TYPE.search(rule.message):
        uses = (candidate.fact, candidate.dimension)
        table = next((u.table for u in uses if u.column == column["column"]), candidate.fact.table)
        remedy = f"declare the type of {table}.{column['column']}"
        return f"{reason}: the type of {table}.{column['column']} is not known", remedy
    if called := _CALLED.search(rule.message):
        what = f"{called['name']} is not known to be deterministic"
        return f"{reason}: {what}", f"say of {called['name']} in {DECLARED_IN} whether it is"
    return reason, ""
