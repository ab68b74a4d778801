"""Options of a rewriting: what the caller decides for all statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, NamedTuple

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.functions import Function, declared_function
from sqlrewrite.plan.facts.functions import function as builtin
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import Engine
from sqlrewrite.rulebook import engine as engine_named
from sqlrewrite.settings.forms import IN, VALUES
from sqlrewrite.settings.table import Settings, named
from sqlrewrite.text.limits import SPARK, Limits

DECLARED_IN = "[tool.dpp-rewrite.functions]"
"""Where a project says what its own functions do."""


class Reach(NamedTuple):
    """How far a dimension's neighbours are followed: joins outward, and whether through facts; None
    is where statistics say that it pays."""

    depth: int = 3
    through_facts: bool | None = None


_USUAL = Settings()

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


LEFT_TO_ENGINE = "DPP125"
"""The rule by which a predicate is left to an engine that derives it by itself."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to rewrite; ``key_limit`` is in bytes; ``disabled`` rules are taken as passed, for tests.

    ``planned`` are the pairs that the engine's own plan prunes, where it was asked for one: with
    ``when = missed`` that is what counts. Without a ``when`` it is ``auto`` where settings of Spark
    are known, else ``eligible``. ``resolve`` is for ``values``.
    """

    engine: Engine
    form: str = IN
    when: str | None = None
    hint: bool = True
    reach: Reach = field(default_factory=Reach)
    key_limit: int | None = None
    disabled: frozenset[str] = frozenset()
    planned: frozenset[object] | None = None
    limits: Limits = field(default_factory=Limits)
    functions: Mapping[str, str] = field(default_factory=dict)
    resolve: Resolve = not_asked
    time_zone: str | None = None
    strategy: str = "predicates"
    groups: int | None = None

    def with_all(self) -> Options:
        """The same with the predicates that the engine would derive by itself."""
        return replace(self, disabled=self.disabled | {LEFT_TO_ENGINE})

    def function(self, name: str) -> Function | None:
        """What is known of a function: Spark's own, or the user's as far as it is declared."""
        found = builtin(name)
        declaration = self.functions.get(name) if found is None else None
        return found if declaration is None else declared_function(name, declaration)


def make_options(
    settings: Settings | None = None,
    *,
    disabled: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    resolve: Resolve | None = None,
    **given: Any,
) -> Options:
    """The options that the settings mean, and of these those that are ``given`` by name.

    Raises ConfigError for an engine, a form or a ``when`` that is not there, and for ``values``
    with nobody to ask.
    """
    its = settings or _USUAL
    other = {it: value for it, value in given.items() if value is not getattr(its, it)}
    others = {it: value for it, value in _checked(other).items() if value != getattr(its, it)}
    its = replace(its, **others) if others else its
    if its.predicate == VALUES and resolve is None:
        raise ConfigError(
            "predicate='values' needs resolve=…, which gives the keys of a key query: "
            "sqlrewrite.spark.values.resolver(spark) asks a Spark session; on the command line, "
            "--master or --remote say which Spark"
        )
    for name in its.functions:
        if builtin(name) is not None:
            raise ConfigError(f"the function {name} is one of Spark's own: it needs no declaration")
    spark = its.dialect == SPARK
    if not spark:
        from sqlrewrite.dialects import check_form

        check_form(its.dialect, its.predicate)
    limits = limits or its.limits
    return Options(
        engine_named(its.engine),
        its.predicate,
        its.when,
        its.hint and spark,  # no other dialect has hints
        Reach(its.depth, its.through_facts),
        its.key_limit,
        disabled,
        limits=limits if limits.dialect == its.dialect else replace(limits, dialect=its.dialect),
        functions=its.functions,
        resolve=resolve or not_asked,
        time_zone=its.time_zone,
        strategy=its.strategy,
        groups=its.groups,
    )


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that a caller gives by name, each read as its row says; None is the default."""
    read: dict[str, Any] = {}
    for name, value in given.items():
        row = named(name)
        try:
            read[name] = row.default if value is None else row.kind.read(value)
        except ValueError as error:
            raise ConfigError(f"{name} must be {error}, not {value!r}") from None
    return read
