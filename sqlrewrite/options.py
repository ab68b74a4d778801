"""How to rewrite: what the caller settles for all statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlrewrite.model import ConfigError
from sqlrewrite.rulebook import Engine
from sqlrewrite.rulebook import engine as engine_named

FORMS = ("in", "set", "range", "auto")
"""The forms of a predicate. ``in`` is a semi-join; ``set`` collects the keys into an array, which
prunes without the engine's dynamic pruning; ``range`` is their smallest and largest; ``auto`` is
``in``, and ``set`` where the engine would not prune by an IN."""


WHENS = ("eligible", "missed")
"""Which predicates are wanted: every one that is sound and worthwhile, or of these only the ones
that the engine would not derive by itself."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a dimension's neighbours are followed: joins outward, and whether through facts."""

    depth: int = 3
    through_facts: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What is too large is left alone: bytes of a file and of a statement, and how deep a statement
    may be nested. A file of the largest size takes about half a gigabyte, and a minute."""

    file: int = 4 << 20
    statement: int = 1 << 20
    nesting: int = 250


NESTING_MOST = 1000
"""Deeper than this sqlglot's compiled parser may run out of its stack, and end the program."""


def over(what: str, taken: int, limit: int) -> str:
    """What is said of a file or statement of too many bytes, with the setting and the value."""
    return f"the {what} has {_shown(taken)}, more than {what}-limit ({_shown(limit)}) lets be read"


def _shown(size: int) -> str:
    """Bytes, as a person reads them."""
    for unit, factor in (("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}".replace(".0 ", " ")
    return f"{size} bytes"


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """How to rewrite; ``key_limit`` is in bytes; ``disabled`` rules are taken as passed, for tests.

    ``planned`` are the pairs that the engine's own plan prunes, where it was asked for one: with
    ``when = missed`` that is what counts. ``suppressed`` says why nothing is to be added to the
    scan at an offset of the text, if nothing is, and ``frozen`` why nothing may be inserted there;
    ``mended`` is what predicates bound that were taken out of a statement: to write such a one
    again adds nothing.
    """

    engine: Engine
    form: str = "in"
    when: str = "eligible"
    hint: bool = True
    reach: Reach = field(default_factory=Reach)
    key_limit: int | None = None
    disabled: frozenset[str] = frozenset()
    planned: frozenset[object] | None = None
    suppressed: Callable[[int], str | None] | None = None
    frozen: Callable[[int, bool], str | None] | None = None
    mended: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)


def options(
    *,
    engine: str = "spark",
    predicate: str = "in",
    when: str = "eligible",
    hint: bool = True,
    depth: int = 3,
    through_facts: bool = False,
    key_limit: int | None = None,
    disabled: frozenset[str] = frozenset(),
    limits: Limits | None = None,
) -> Options:
    """The options of those names and numbers, which ``rewriter.rewrite`` explains.

    Raises ConfigError for an engine, a form or a ``when`` that is not there.
    """
    if predicate not in FORMS:
        known = ", ".join(FORMS)
        raise ConfigError(f"no predicate form is called {predicate!r}: known: {known}")
    if when not in WHENS:
        raise ConfigError(f"when={when!r} is not one of {', '.join(WHENS)}")
    reach = Reach(depth, through_facts)
    return Options(
        engine_named(engine),
        predicate,
        when,
        hint,
        reach,
        key_limit,
        disabled,
        limits=limits or Limits(),
    )
