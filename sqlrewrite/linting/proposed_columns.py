"""What a query that filters another column would gain if a partition column were declared to be
computed from that.

In: the files of a run, which may hold the statements that write the tables; a scan that is read
whole. Out: the declaration, and the predicate that would follow from it, as advice for DPP007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from sqlrewrite.document import Decision, Document, decide, read
from sqlrewrite.find.reducers import own_conditions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.plan.algebra import Plan, Scan
from sqlrewrite.plan.expressions import columns
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import ALONE, Options
from sqlrewrite.warehouse import Derivation, Name, Warehouse


class Advice(NamedTuple):
    """A proposed derivation, and the predicate that would follow from it for a scan."""

    derivation: Derivation
    predicate: str


@dataclass(frozen=True)
class Proposals:
    """The derivations that the statements in files propose, read when first asked for."""

    files: Sequence[str]
    catalog: Warehouse

    @cached_property
    def derivations(self) -> Mapping[Name, tuple[Derivation, ...]]:
        """The derivations, by table."""
        from sqlrewrite.catalog.computed_columns import computed_columns

        return computed_columns(self.files, self.catalog)


@dataclass(frozen=True, eq=False)
class Supposition:
    """A document as it would be decided if what is proposed were declared."""

    document: Document
    options: Options
    proposals: Proposals

    def advice(self, plan: Plan, scan: Scan, names: frozenset[str]) -> Advice | None:
        """The proposed declaration for a scan with these partition columns; None if there is
        none."""
        filtered = {
            ref.name
            for condition in own_conditions(plan, scan.relation, ALONE)
            if isinstance(condition, Conjunct)
            for ref in columns(condition.expression)
        }
        if not filtered - names or self.options.form == VALUES:  # for values an engine is asked
            return None
        for derivation in self.proposals.derivations.get(scan.table.name, ()):
            if derivation.column.lower() in names and not filtered.isdisjoint(derivation.sources):
                predicates = self._predicates(scan, derivation.column.lower())
                if predicate := " AND ".join(dict.fromkeys(predicates)):
                    return Advice(derivation, predicate)
        return None

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
