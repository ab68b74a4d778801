"""How to rewrite: what the caller settles for all statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import NamedTuple

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.functions import DECLARED, Function, declared
from sqlrewrite.plan.facts.functions import function as builtin
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import Engine
from sqlrewrite.rulebook import engine as engine_named
from sqlrewrite.text.limits import Limits

FORMS = ("in", "set", "range", "values", "auto")
"""The forms of a predicate. ``in`` is a semi-join; ``set`` collects the keys into an array, which
prunes without the engine's dynamic pruning; ``range`` is their smallest and largest; ``values`` are
the keys themselves, as they are now; ``auto`` is ``in``, and ``set`` where the engine would not
prune by an IN."""


COLLAPSE_OVER = 1_000
"""More keys than this are written as the smallest and the largest."""
REFUSE_OVER = 1_000_000
"""More keys than this are not written at all: their range would hardly prune."""

WHENS = ("eligible", "missed")
"""Which predicates are wanted: every one that is sound and worthwhile, or of these only the ones
that the engine would not derive by itself."""


DECLARED_IN = "[tool.dpp-rewrite.functions]"
"""Where a project says what its own functions do."""


class Reach(NamedTuple):
    """How far a dimension's neighbours are followed: joins outward, and whether through facts."""

    depth: int = 3
    through_facts: bool = False


ALONE = Reach(depth=0)
"""No neighbour is followed."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What a key query gives: its keys as literals of SQL in order, each once, NULL left out.

    ``kind`` is their type as Spark names it, ``at`` when they were asked for, in UTC, as
    ``2026-01-31T09:30:00Z``. ``collapsed``: they are the smallest and the largest of many.
    """

    literals: tuple[str, ...]
    kind: str
    at: str
    collapsed: bool = False


Resolve = Callable[[str, tuple[str, ...]], Keys | None]
"""The keys of a key query, whose short names are those of the namespace; None: nobody was asked.
Raises RefusedError, or ResolveError."""


class RefusedError(Exception):
    """Keys that are not to be written as literals; the message says why."""


class NotAskedError(RefusedError):
    """Keys that nobody was asked for; ``fact`` is what they would bound."""

    def __init__(self, fact: str) -> None:
        super().__init__(
            "its keys are not known, as no Spark was asked for them: `dpp-rewrite --predicate "
            "values` with --master or --remote asks"
        )
        self.fact = fact


class ResolveError(Exception):
    """The keys could not be asked for; the message says why."""


def not_asked(query: str, namespace: tuple[str, ...]) -> Keys | None:
    """The ``Resolve`` where there is no engine at hand: what an earlier run wrote is up to date for
    as long as its key query is."""
    return None


@dataclass(frozen=True, slots=True)
class Options:
    """How to rewrite; ``key_limit`` is in bytes; ``disabled`` rules are taken as passed, for tests.

    ``planned`` are the pairs that the engine's own plan prunes, where it was asked for one: with
    ``when = missed`` that is what counts. ``resolve`` is for ``values``.
    """

    engine: Engine
    form: str = "in"
    when: str = "eligible"
    hint: bool = True
    reach: Reach = field(default_factory=Reach)
    key_limit: int | None = None
    disabled: frozenset[str] = frozenset()
    planned: frozenset[object] | None = None
    limits: Limits = field(default_factory=Limits)
    functions: Mapping[str, str] = field(default_factory=dict)
    resolve: Resolve = not_asked

    def function(self, name: str) -> Function | None:
        """What is known of a function: Spark's own, or the user's as far as it is declared."""
        found = builtin(name)
        said = self.functions.get(name) if found is None else None
        return found if said is None else declared(name, said)


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
    functions: Mapping[str, str] | None = None,
    resolve: Resolve | None = None,
) -> Options:
    """The options of those names and numbers, which ``document.rewrite`` explains.

    Raises ConfigError for an engine, a form or a ``when`` that is not there, and for ``values``
    with nobody to ask.
    """
    if predicate not in FORMS:
        known = ", ".join(FORMS)
        raise ConfigError(f"no predicate form is called {predicate!r}: known: {known}")
    if when not in WHENS:
        raise ConfigError(f"when={when!r} is not one of {', '.join(WHENS)}")
    if predicate == "values" and resolve is None:
        raise ConfigError(
            "predicate='values' needs resolve=…, which gives the keys of a key query: "
            "sqlrewrite.spark.values.resolver(spark) asks a Spark session; on the command line, "
            "--master or --remote say which Spark"
        )
    return Options(
        engine_named(engine),
        predicate,
        when,
        hint,
        Reach(depth, through_facts),
        key_limit,
        disabled,
        limits=limits or Limits(),
        functions=_functions(functions or {}),
        resolve=resolve or not_asked,
    )


def _functions(given: Mapping[str, str]) -> Mapping[str, str]:
    """What is declared of the user's functions, by lower-case name. Raises ConfigError."""
    for name, said in given.items():
        if said not in DECLARED:
            known = " or ".join(map(repr, DECLARED))
            raise ConfigError(f"the function {name} is declared {said!r}, which is not {known}")
        if builtin(name.lower()) is not None:
            raise ConfigError(f"the function {name} is one of Spark's own: it needs no declaration")
    return {name.lower(): said for name, said in given.items()}
