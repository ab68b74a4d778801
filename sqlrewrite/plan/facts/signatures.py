"""Signatures of functions, as the table writes them: ``array<a> (a,int?)=>b -> array<b>``.

In: a signature and the types of a call's arguments. Out: the type that each of its letters stands
for, and with these the type of the result or of a lambda's parameters. A letter is the common type
of its arguments, as Spark's analyzer finds it (``findWiderCommonType``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from sqlrewrite.plan.facts.coercion import common_of_known
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import ExactSettings, Type

Argument = Type | None
"""The type of an argument or a result; None: not known."""


class Arguments(Struct, frozen=True):
    """The arguments of a call, as far as its result type depends on them: their types, the texts of
    literals, and the names that they have as columns or by an alias."""

    types: tuple[Argument, ...]
    settings: ExactSettings
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
        """A literal argument as a whole number; the default if there is no such argument."""
        if position >= len(self.types):
            return default
        text = self.literal(position)
        return int(text) if text is not None and text.lstrip("-").isdigit() else None

    def known(self, start: int = 0, step: int = 1) -> tuple[Type, ...] | None:
        """The types of every ``step``-th argument from ``start`` on; None if one is not known."""
        some = self.types[start::step]
        known_kinds = tuple(kind for kind in some if kind is not None)
        return known_kinds if len(known_kinds) == len(some) else None


_NESTED = re.compile(r"(array|map)<(.*)>")
_LAMBDA = re.compile(r"\(?([\w,?]+)\)?=>(.+)")


class SignatureParameter(Struct, frozen=True):
    """A parameter in a signature: a pattern of types, which may be optional or repeated; for a
    lambda the pattern of its value, and those of its ``lambda_parameters``."""

    pattern: str
    optional: bool = False
    repeated: bool = False
    lambda_parameters: tuple[str, ...] = ()


class Signature(Struct, frozen=True):
    """The parameters of a function, and the pattern or the rule of its result."""

    parameters: tuple[SignatureParameter, ...]
    result: str

    def parameter(self, position: int, count: int) -> SignatureParameter | None:
        """The parameter for the argument at a position, of ``count``; None if there is none."""
        if position < len(self.parameters):
            return self.parameters[position]
        last = self.parameters[-1] if self.parameters else None
        return last if last is not None and last.repeated and position < count else None

    def takes(self, count: int) -> bool:
        """Whether a call may have ``count`` arguments."""
        least = sum(not (parameter.optional or parameter.repeated) for parameter in self.parameters)
        last = self.parameters[-1] if self.parameters else None
        many = last is not None and last.repeated
        return least <= count and (many or count <= len(self.parameters))


@cache
def signature(text: str) -> Signature:
    """The signature in a text of the table."""
    parameters, _, result = f" {text}".partition(" -> ")
    return Signature(tuple(_parameter(word) for word in parameters.split()), result.strip())


def _parameter(word: str) -> SignatureParameter:
    pattern = word.rstrip("?*")
    marks = word[len(pattern) :]
    function = _LAMBDA.fullmatch(pattern)
    names: tuple[str, ...] = ()
    if function is not None:
        names, pattern = tuple(part.rstrip("?") for part in function[1].split(",")), function[2]
    return SignatureParameter(pattern, "?" in marks, "*" in marks, names)


def letter_types(
    signature: Signature, arguments: Sequence[Argument], settings: ExactSettings
) -> Mapping[str, Argument]:
    """The type of each letter of a signature in a call; None: not known."""
    letters: dict[str, list[Argument]] = {}
    for position, kind in enumerate(arguments):
        parameter = signature.parameter(position, len(arguments))
        if parameter is not None:
            _match(parameter.pattern, kind, letters)
    return {letter: common_of_known(kinds, settings.ansi) for letter, kinds in letters.items()}


def _match(pattern: str, kind: Argument, letters: dict[str, list[Argument]]) -> None:
    """Adds, for each letter of a pattern, the type in its place."""
    if len(pattern) == 1:
        letters.setdefault(pattern, []).append(kind)
        return
    nested = _NESTED.fullmatch(pattern)
    if nested is None:
        return
    inner = _parts(nested[2])
    items: Sequence[Argument] = (None,) * len(inner)
    if kind is not None and kind.name == nested[1]:
        items = kind.items
    for part, item in zip(inner, items, strict=True):
        _match(part, item, letters)


def type_of_pattern(pattern: str, letters: Mapping[str, Argument]) -> Argument:
    """The type of a pattern with these types for its letters."""
    if len(pattern) == 1:
        return letters.get(pattern)
    nested = _NESTED.fullmatch(pattern)
    if nested is None:
        return parse(pattern)
    if pattern == "array<struct<key:k,value:v>>":
        return _entries(letters)
    items = [type_of_pattern(part, letters) for part in _parts(nested[2])]
    known_items = tuple(item for item in items if item is not None)
    return Type(nested[1], items=known_items) if len(known_items) == len(items) else None


def _entries(letters: Mapping[str, Argument]) -> Argument:
    key, value = letters.get("k"), letters.get("v")
    if key is None or value is None:
        return None
    return Type("array", items=(Type("struct", items=(key, value), names=("key", "value")),))


def _parts(text: str) -> list[str]:
    """The parts of a text between commas outside of brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"<": 1, ">": -1}.get(sign, 0)
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
