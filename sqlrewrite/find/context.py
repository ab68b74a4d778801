"""What affects a statement from outside it: its text and its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlrewrite.sql.managed.strip import RemovedPredicate, Stripped
from sqlrewrite.sql.suppressed import Suppressed
from sqlrewrite.warehouse import Warehouse


@dataclass(frozen=True, slots=True, eq=False)
class StatementContext:
    """What affects a statement from outside it: its ``catalog``; the ``text`` without what an
    earlier run wrote into it; and, where they are heeded, the author's comments that ask to leave
    something alone (``suppressed``).

    ``literals`` are predicates of literals that an earlier run wrote, by what they bound and their
    key query (``comparable``). ``changed`` are words that may name what the text itself changes.
    ``mended`` is what predicates bound that were taken out of the statement: to write such a one
    again adds nothing.
    """

    catalog: Warehouse
    text: Stripped
    suppressed: Suppressed | None = None
    literals: Mapping[tuple[str, tuple[str, ...]], RemovedPredicate] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    mended: frozenset[str] = frozenset()

    def suppresses(self, offset: int) -> str | None:
        """Why nothing is to be added to the scan at an offset, if nothing is."""
        if self.suppressed is None:
            return None
        return self.suppressed.reason(self.text.original_offset(offset))

    def keeps(self, offset: int, mends: bool) -> str | None:
        """Why nothing may be inserted at an offset; ``mends``: it was there before."""
        if self.suppressed is None:
            return None
        return self.suppressed.frozen(self.text.original_offset(offset), mends)
