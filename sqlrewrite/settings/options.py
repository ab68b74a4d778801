"""Options of a rewriting: the caller's choices for all statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.functions import Function, declared_function
from sqlrewrite.plan.facts.functions import function as builtin
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import Engine
from sqlrewrite.rulebook import engine as engine_named
from sqlrewrite.settings.forms import IN, VALUES
from sqlrewrite.settings.table import Settings, named
from sqlrewrite.text.limits import SPARK, Limits

DECLARED_IN = "[tool.dpp-rewrite.functions]"
"""Where a project declares its own functions."""


class Reach(NamedTuple):
    """How many joins outward neighbours are followed, and whether beyond facts; None: only if
    statistics say that it pays."""

    depth: int = 3
    through_facts: bool | None = None


_DEFAULTS = Settings()

ALONE = Reach(depth=0)
"""No neighbour is followed."""


class Keys(Struct, frozen=True):
    """The keys that a key query returns, as distinct SQL literals in order, without NULL. ``kind``:
    their Spark type. ``at``: the time of the query in UTC, as ``2026-01-31T09:30:00Z``.
    ``collapsed``: only the smallest and the largest of many."""

    literals: tuple[str, ...]
    kind: str
    at: str
    collapsed: bool = False


Resolve = Callable[[str, tuple[str, ...]], Keys | None]
"""Returns the keys of a key query with its unqualified names in the namespace; None if no engine
was asked. Raises RefusedError or ResolveError."""


class RefusedError(Exception):
    """These keys may not be written as literals; the message says why."""


class NotAskedError(RefusedError):
    """No engine was asked for the keys that would bound ``fact``."""

    def __init__(self, fact: str) -> None:
        super().__init__(
            "its keys are not known, as no Spark was asked for them: `dpp-rewrite --predicate "
            "values` with --master or --remote asks"
        )
        self.fact = fact


class ResolveError(Exception):
    """The keys could not be looked up; the message says why."""


def not_asked(query: str, namespace: tuple[str, ...]) -> Keys | None:
    """None for every key query: the ``Resolve`` of a run that has no engine to ask."""
    return None


LEFT_TO_ENGINE = "DPP125"
"""The rule that writes no predicate where the engine prunes by itself."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a rewriting. ``key_limit`` is in bytes. ``disabled``: rules that count as
    passed, for tests. ``planned``: the pairs that the engine's own plan prunes, if it was asked for
    one; with ``when = missed`` these decide. Without a ``when``, it is ``auto`` if settings of
    Spark are known, else ``eligible``. ``resolve`` is for ``values``."""

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
        """The options under which predicates are also written where the engine prunes by itself."""
        return replace(self, disabled=self.disabled | {LEFT_TO_ENGINE})

    def function(self, name: str) -> Function | None:
        """The known properties of a function: one of Spark's, or one that the user declared."""
        function = builtin(name)
        declaration = self.functions.get(name) if function is None else None
        return function if declaration is None else declared_function(name, declaration)


@contextmanager
def _with_origin(settings: Settings, name: str) -> Iterator[None]:
    """Adds to a ConfigError the file or variable that the setting is from."""
    try:
        yield
    except ConfigError as error:
        origin = settings.origins.get(name, "-")
        raise error if origin.startswith("-") else ConfigError(f"{origin}: {error}") from error


def make_options(
    settings: Settings | None = None,
    *,
    disabled: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    resolve: Resolve | None = None,
    **given: Any,
) -> Options:
    """The options for settings. Raises ConfigError for an unknown engine, form or ``when``, and for
    ``values`` without a way to look up keys."""
    settings = settings or _DEFAULTS
    changes = {
        name: value for name, value in _checked(given).items() if value != getattr(settings, name)
    }
    settings = replace(settings, **changes) if changes else settings  # a setting has 60 neighbours
    if settings.predicate == VALUES and resolve is None:
        raise ConfigError(
            "predicate='values' needs resolve=…, which gives the keys of a key query: "
            "sqlrewrite.spark.values.resolver(spark) asks a Spark session; on the command line, "
            "--master or --remote say which Spark"
        )
    for name in settings.functions:
        if builtin(name) is not None:
            raise ConfigError(f"the function {name} is one of Spark's own: it needs no declaration")
    spark = settings.dialect == SPARK
    if not spark:
        from sqlrewrite.dialects import check_form

        with _with_origin(settings, "dialect"):
            check_form(settings.dialect, settings.predicate)
    limits = limits or settings.limits
    with _with_origin(settings, "engine"):
        engine = engine_named(settings.engine)
    return Options(
        engine,
        settings.predicate,
        settings.when,
        settings.hint and spark,  # no other dialect has hints
        Reach(settings.depth, settings.through_facts),
        settings.key_limit,
        disabled,
        limits=replace(limits, dialect=settings.dialect),
        functions=settings.functions,
        resolve=resolve or not_asked,
        time_zone=settings.time_zone,
        strategy=settings.strategy,
        groups=settings.groups,
    )


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that a caller gives by name, each read as its row says; None means the default."""
    read: dict[str, Any] = {}
    for name, value in options.items():
        row = named(name)
        try:
            read[name] = row.default if value is None else row.kind.read(value)
        except ValueError as error:
            raise ConfigError(f"{name} must be {error}, not {value!r}") from None
    return read
