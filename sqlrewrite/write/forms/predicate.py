"""A predicate as it is written, and the key queries in it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlrewrite.sql.managed.recognition import normalized_value
from sqlrewrite.text.markers import MARKER


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate without its marker, the value that it bounds (of several under an OR that of the
    first), and the key queries in it, each with its parentheses; the ``note`` is what stands behind
    the marker of one of literals."""

    text: str
    value: str
    queries: tuple[str, ...] = ()
    note: str = ""

    @property
    def bounded(self) -> str:
        """The value that it bounds, as that of a managed predicate is compared."""
        return normalized_value(self.value)

    @property
    def marked(self) -> str:
        """The predicate as it is written, with its marker."""
        return f"{self.text} {MARKER}{self.note}"
