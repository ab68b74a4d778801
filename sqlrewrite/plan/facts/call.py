"""What is known of a call of a function: the types, literals and names of its arguments."""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.session import World
from sqlrewrite.plan.facts.types import Type

Argument = Type | None
"""The type of an argument or a result; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What is known of a call: the types of its arguments, for each that is a literal its text, and
    the names that its arguments have as columns or by an alias."""

    types: tuple[Argument, ...]
    world: World
    literals: tuple[str | None, ...] = ()
    names: tuple[str | None, ...] = ()

    @property
    def first(self) -> Argument:
        """The type of the first argument."""
        return self.types[0] if self.types else None

    def literal(self, position: int) -> str | None:
        """The text of a literal argument, counted from 0."""
        return self.literals[position] if position < len(self.literals) else None

    def number(self, position: int, default: int) -> int | None:
        """A literal argument as a whole number; the default where there is no such argument."""
        if position >= len(self.types):
            return default
        text = self.literal(position)
        return int(text) if text is not None and text.lstrip("-").isdigit() else None

    def known(self, start: int = 0, step: int = 1) -> tuple[Type, ...] | None:
        """The types of the arguments from one on, or None where one is not known."""
        wanted = self.types[start::step]
        found = tuple(kind for kind in wanted if kind is not None)
        return found if len(found) == len(wanted) else None


ResultRule = Callable[[Arguments], Argument]
"""How the type of a result follows from a call."""
