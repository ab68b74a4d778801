"""What a generated query can name: the relations of a block and their columns."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .generator_text import ALIASES, QUOTED, dotted
from .generator_world import Column

NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL")
STRINGS = ("STRING", "CHAR", "VARCHAR")
FAMILY = {
    **dict.fromkeys(NUMBERS, "number"),
    **dict.fromkeys(STRINGS, "string"),
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "BOOLEAN": "boolean",
    "STRUCT": "struct",
}


def family(type_: str) -> str:
    """Types that can be put for each other: number, string, date, timestamp, boolean, struct."""
    return FAMILY[type_.partition("(")[0].partition("<")[0]]


@dataclass(frozen=True, slots=True)
class Source:
    """A relation in FROM: the name that qualifies its columns (empty: none does) and its columns.

    ``merged`` are columns that USING or NATURAL has merged with another's: unqualified they are
    one.
    """

    alias: str
    columns: tuple[Column, ...]
    hidden: bool = False

    def of(self, kind: str) -> tuple[Column, ...]:
        return tuple(one for one in self.columns if family(one.type) == kind)


@dataclass(frozen=True, slots=True)
class Scope:
    """The relations that an expression names, those of the block around it, and ``beside``: those
    that it does not name, though an unqualified name could be theirs. Not ``bare``: there may be
    more of these, so every name is qualified."""

    sources: tuple[Source, ...]
    merged: frozenset[str] = frozenset()
    outer: Scope | None = None
    beside: tuple[Source, ...] = ()
    bare: bool = True

    def visible(self) -> tuple[Source, ...]:
        return tuple(one for one in self.sources if not one.hidden)

    def named(self, column: str) -> int:
        """How many columns an unqualified name may mean."""
        seen = {id(source): source for source in (*self.visible(), *self.beside)}
        names = Counter(one.name.lower() for source in seen.values() for one in source.columns)
        return 1 if column.lower() in self.merged else names[column.lower()]

    def columns(self, kind: str = "") -> list[tuple[Source, Column]]:
        return [
            (source, one)
            for source in self.visible()
            for one in source.columns
            if not kind or family(one.type) == kind
        ]

    def kinds(self) -> list[str]:
        """The families there are columns of."""
        return sorted({family(one.type) for _, one in self.columns()})


def written(rng: random.Random, scope: Scope, source: Source, column: Column) -> str:
    """A reference to the column, qualified if it must be."""
    if not source.alias:
        return dotted(rng, column.name)
    bare = scope.named(column.name) == 1 and (scope.bare or rng.random() < 0.05)
    if bare and rng.random() < 0.35:
        return dotted(rng, column.name)
    return dotted(rng, source.alias, column.name)


def alike(left: Scope, source: Source) -> list[str]:
    """The names that both sides have, of types that can be compared."""
    there = {(one.name.lower(), family(one.type)) for _, one in left.columns()}
    return [one.name for one in source.columns if (one.name.lower(), family(one.type)) in there]


@dataclass(slots=True)
class Names:
    """Gives names that no other relation of the block has."""

    rng: random.Random
    used: set[str] = field(default_factory=set)

    def alias(self, wanted: Iterable[str] = ()) -> str:
        for one in self._candidates(wanted):
            if one.lower() not in self.used:
                self.used.add(one.lower())
                return one
        raise AssertionError

    def _candidates(self, wanted: Iterable[str]) -> Iterator[str]:
        yield from wanted
        if self.rng.random() < 0.02:
            yield self.rng.choice(QUOTED)
        pool = list(ALIASES)
        self.rng.shuffle(pool)
        yield from pool
        yield from (f"t{number}" for number in range(100, 200))
