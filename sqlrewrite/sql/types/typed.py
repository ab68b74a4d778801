"""What is known of an expression: how Spark prints it, and its type."""

from __future__ import annotations

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.types import Type


class UnknownError(Exception):
    """What the query returns cannot be told."""


@dataclass(frozen=True, slots=True)
class Typed:
    """``text`` is what ``toPrettySQL`` prints, ``type`` the type; None is not known.

    ``name`` is that of an expression that has one: a column, a field of a struct. ``constant`` is
    the value of a number, string or boolean written as such, ``null`` whether it is NULL.
    ``column`` tells that it is a column itself, and ``generator`` has the columns that it makes.
    """

    text: str | None
    type: Type | None = None
    name: str | None = None
    constant: object = None
    null: bool = False
    column: bool = False
    generator: tuple[TypedColumn, ...] | None = None


NOTHING = Typed(None)
"""An expression of which nothing is known."""


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column of a relation. One that is ``hidden`` is no part of ``*`` and has to be qualified:
    the second of two that USING merges."""

    name: str | None
    type: Type | None
    qualifier: tuple[str, ...] = ()
    hidden: bool = False
