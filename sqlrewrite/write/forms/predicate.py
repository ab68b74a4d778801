"""A predicate as it is written, and the key queries in it."""

from __future__ import annotations

from sqlrewrite.frozen import dataclass
from sqlrewrite.text.edits import MARKER


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
    def marked(self) -> str:
        """The predicate as it is written, with its marker."""
        return f"{self.text} {MARKER}{self.note}"
