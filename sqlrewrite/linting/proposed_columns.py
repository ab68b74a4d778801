"""Advice for a query that filters another column than the partition column: what it would gain if
the partition column were declared to be computed from that one.

In: the files of a run, which may hold the statements that write the tables; a scan that is read
whole. Out: the declaration, and the predicate that would follow from it, as advice for DPP007.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from sqlrewrite.catalog.sources import in_folder
from sqlrewrite.copies import replace
from sqlrewrite.document import Decision, Document, decide, read
from sqlrewrite.find.reducers import own_conditions
from sqlrewrite.find.restrictions import plain_conditions
from sqlrewrite.plan.algebra import Plan, Scan
from sqlrewrite.plan.expressions import columns
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import ALONE, Options
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.edits import Edit
from sqlrewrite.text.markers import MARKER
from sqlrewrite.warehouse import Derivation, Name, Warehouse


class Advice(NamedTuple):
    """A proposed derivation, the predicate that would follow from it for a scan, and the insertions
    that write it as the author's own; none where the statement would get others too."""

    derivation: Derivation
    predicate: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Proposals:
    """The derivations that the statements in files propose, read when first asked for."""

    files: Iterable[str]
    catalog: Warehouse

    @property
    def were_read(self) -> bool:
        """Whether the files were read already."""
        return "derivations" in vars(self)

    @cached_property
    def derivations(self) -> Mapping[Name, tuple[Derivation, ...]]:
        """The derivations, by table."""
        from sqlrewrite.catalog.computed_columns import computed_columns

        return computed_columns(self.files, self.catalog)


def writing_files(files: Iterable[str], settings: Settings) -> Iterator[str]:
    """The files that may hold the statements which write the tables: these, and those of the
    catalog."""
    yield from files
    for path in settings.catalog:
        for file in in_folder(Path(path)) if os.path.isdir(path) else [path]:
            if not str(file).endswith((".json", ".yml", ".yaml")):
                yield str(file)


@dataclass(frozen=True, eq=False)
class Supposition:
    """A document as it would be decided if the proposed derivations were declared."""

    document: Document
    options: Options
    proposals: Proposals

    def advice(self, plan: Plan, scan: Scan, names: frozenset[str]) -> Advice | None:
        """The proposed declaration for a scan with these partition columns; None if there is
        none."""
        conditions = plain_conditions(own_conditions(plan, scan.relation, ALONE))
        filtered = {ref.name for condition in conditions for ref in columns(condition)}
        if not filtered - names or self.options.form == VALUES:  # for values an engine is asked
            return None
        for derivation in self.proposals.derivations.get(scan.table.name, ()):
            if derivation.column.lower() in names and not filtered.isdisjoint(derivation.sources):
                predicates = self._predicates(scan, derivation.column.lower())
                if predicate := " AND ".join(dict.fromkeys(predicates)):
                    return Advice(derivation, predicate, tuple(self._edits(scan)))
        return None

    def _edits(self, scan: Scan) -> Iterator[Edit]:
        """The insertions for a scan without our marker, if its statement would get no others."""
        decision = self._decision
        for statement in decision.statements if not decision.document.stripped.removed else ():
            bounded = {
                (proposal.pair.scan.span, proposal.pair.derived is not None)
                for proposal in statement.proposals
                if proposal.predicates
            }
            if bounded == {(scan.span, True)}:
                for edit in statement.edits:
                    yield Edit(edit.span, edit.text.replace(f" {MARKER}", ""))

    def _predicates(self, scan: Scan, column: str) -> Iterator[str]:
        for statement in self._decision.statements:
            for proposal in statement.proposals:
                derived = proposal.pair.derived
                if proposal.pair.scan.span == scan.span and derived is not None:
                    for predicate in proposal.predicates:
                        if derived.column == column and proposal.pair.filtered:
                            yield " ".join(predicate.text.split())

    @cached_property
    def _decision(self) -> Decision:
        document, catalog = self.document, self.document.catalog
        proposed = {
            name: {each.column: each.expression for each in derivations}
            for name, derivations in self.proposals.derivations.items()
        }
        declared = {
            name: {**proposed.get(name, {}), **catalog.declared.get(name, {})}
            for name in {**proposed, **catalog.declared}
        }
        catalog = replace(catalog, declared=declared).with_relations(catalog.relations)
        lines = document.directives.lines
        supposed = read(document.original, catalog, document.limits, heed=False, lines=lines)
        return decide(supposed, self.options)
