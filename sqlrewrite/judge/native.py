"""DPP125 missed-by-engine: what the engine derives by itself is left to it, where that is wanted.

In: a case. Out: whether the engine misses it. Where the engine was asked for its plan
(``options.planned``) that decides, else the planner that its file names. Under ``when = eligible``
only that counts for which all is known: the settings of the sessions, and the sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.estimate import read_again
from sqlrewrite.judge.planners import duckdb, flink, spark, trino
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.regime import decides
from sqlrewrite.settings.table import LEAVING

PLANNERS: Mapping[str, Callable[[Case], str | None]] = {
    "spark": spark.missed,
    "duckdb": duckdb.missed,
    "trino": trino.missed,
    "flink": flink.missed,
}
"""By the name in an engine's file: why that engine does not find as good a bound by itself; None
where it does."""


BUILT: Mapping[str, Callable[[Case], str | None]] = {"trino": trino.built}
"""Of those that prune one side of a join alone: that a fact is on the other, if it is."""


def judge(case: Case) -> Judgement:
    """Whether the engine would not find as good a bound by itself; always, unless that matters.
    Raises ConfigError for an engine whose file names a planner that is not there."""
    if case.options.when not in LEAVING and any(_assumed(case)):
        return passed("all predicates are wanted, also those that the engine may find by itself")
    if case.pair.tie.block.role == "merge":
        return passed("a MERGE prunes its target by constants alone")
    if case.clustered:
        return passed(f"{case.engine.name} leaves out files and row groups by constants alone")
    if case.pair.derived is not None:
        return passed(f"{case.engine.name} does not know what {case.pair.pruned} is computed from")
    planned, engine, by = case.options.planned, case.engine.name, case.dimension_name
    if planned is not None:
        if case.pair.place in planned:
            return failed(f"{engine} prunes by the join with {by} by itself: read from its plan")
        return passed(f"{engine} misses it: its plan does not surely prune by the join with {by}")
    why = _planner(case.engine)(case)
    if why is not None:
        return passed(f"{engine} misses it: {why}")
    assumed = ", ".join(_assumed(case))
    supposed = f" (assumed: {assumed})" if assumed else ""
    return failed(f"{engine} prunes by the join with {by} by itself{supposed}")


def _assumed(case: Case) -> Iterator[str]:
    """What has to be assumed of what is not known, to tell what the engine does."""
    if not decides(case.around.catalog.settings):
        yield f"{case.engine.name}'s settings are its defaults"
    if case.engine.takes_keys and case.pair.scan.table.provider is None:
        yield f"the connector of {case.pair.scan.alias} takes keys"
    if case.engine.reuse_broadcast_only:
        for name, size in {it.parts[-1]: it.table.size_in_bytes for it in read_again(case)}.items():
            if size is None:
                yield f"{name} is small enough to be broadcast"


def _planner(engine: Engine) -> Callable[[Case], str | None]:
    found = PLANNERS.get(engine.planner)
    if found is None:
        known = ", ".join(PLANNERS)
        raise ConfigError(
            f"engine {engine.name}: no planner is called {engine.planner!r}: known: {known}"
        )
    return found
