"""DPP125 missed-by-engine: bounds that the engine finds by itself are left to it, if asked.

In: a proposal. Out: whether the engine misses it. If the engine was asked for its plan
(``options.planned``), that decides, else the planner that the engine's file names. Under ``when =
eligible`` the planner counts only where the sessions' settings and all sizes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlrewrite.judge.benefit.benefit import read_again
from sqlrewrite.judge.planners import build_side, flink, spark
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan.algebra import Opaque
from sqlrewrite.results import ConfigError, EngineAlone, PrunesAlone
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.spark_conf import affects_pruning
from sqlrewrite.settings.table import LEAVING

PLANNERS: Mapping[str, Callable[[Proposal], str | None]] = {
    "spark": spark.missed,
    "duckdb": build_side.missed_by_duckdb,
    "trino": build_side.missed,
    "flink": flink.missed,
}
"""By the name in an engine's file, the function that says why that engine does not find as good a
bound by itself; None where it does."""


BUILT: Mapping[str, Callable[[Proposal], str | None]] = {"trino": build_side.on_build_side}
"""For engines that prune only one side of a join: why a fact is on the other one, or None."""


def judge_missed(proposal: Proposal) -> Judgement:
    """Whether the engine would not find as good a bound by itself; always, unless that matters.
    Raises ConfigError for an engine whose file names a planner that is not there."""
    if proposal.options.when not in LEAVING and any(_assumed(proposal)):
        return passed(
            "--when eligible writes every predicate, also those that the engine derives by itself"
        )
    if proposal.pair.edge.block.role == "merge":
        return passed("a MERGE prunes its target only by constants")
    if proposal.clustered:
        return passed(f"{proposal.engine.title} skips files and row groups only by constants")
    if proposal.pair.derived is not None:
        pruned = proposal.pair.pruned
        return passed(f"{proposal.engine.title} does not know what {pruned} is computed from")
    alone = by_join(proposal)
    if alone.pruning is PrunesAlone.MISSES:
        return passed(f"{alone.name} misses it: {alone.reason}")
    by = f"{alone.name} prunes by the join with {proposal.dimension_name} by itself"
    match alone.pruning:
        case PrunesAlone.MAY_PRUNE:
            return failed(f"{by} (assumed: {alone.reason})")
        case _ if alone.reason:
            return failed(f"{by}: {alone.reason}")
        case _:
            return failed(by)


def engine_alone(proposal: Proposal) -> EngineAlone:
    """What the engine does with the fact by itself. Raises ConfigError as ``judge`` does."""
    pair, engine = proposal.pair, proposal.engine.title
    if isinstance(pair.dimension, Opaque):
        return EngineAlone(engine, PrunesAlone.UNKNOWN, f"{proposal.dimension_name} is not known")
    if pair.edge.block.role == "merge":
        why = "a MERGE prunes its target only by constants"
    elif proposal.clustered:
        why = "it skips files and row groups only by constants"
    elif pair.derived is not None or pair.filtered:
        why = f"it does not know what {pair.pruned} is computed from"
    elif pair.first:
        why = "it does not prune by ranks"
    else:
        return by_join(proposal)
    return EngineAlone(engine, PrunesAlone.MISSES, why)


def by_join(proposal: Proposal) -> EngineAlone:
    """What the engine does with the fact by the join itself: by its plan, where it was asked for
    it, else by its planner."""
    planned, engine, by = proposal.options.planned, proposal.engine.title, proposal.dimension_name
    if planned is not None:
        if proposal.pair.place in planned:
            return EngineAlone(engine, PrunesAlone.PRUNES, "read from its plan")
        why = f"its plan may not prune by the join with {by}"
        return EngineAlone(engine, PrunesAlone.MISSES, why)
    missed = _planner(proposal.engine)(proposal)
    if missed is not None:
        return EngineAlone(engine, PrunesAlone.MISSES, missed)
    assumed = ", ".join(_assumed(proposal))
    return EngineAlone(engine, PrunesAlone.MAY_PRUNE if assumed else PrunesAlone.PRUNES, assumed)


def _assumed(proposal: Proposal) -> Iterator[str]:
    """What must be assumed, where it is not known, to predict what the engine does."""
    if not affects_pruning(proposal.context.catalog.settings):
        yield f"{proposal.engine.title}'s settings are its defaults"
    if proposal.engine.takes_keys and proposal.pair.scan.table.provider is None:
        yield f"the connector of {proposal.pair.scan.alias} takes keys"
    if proposal.engine.reuse_broadcast_only:
        sizes = {
            relation.parts[-1]: relation.table.size_in_bytes for relation in read_again(proposal)
        }
        for name, size in sizes.items():
            if size is None:
                yield f"{name} is small enough to be broadcast"


def _planner(engine: Engine) -> Callable[[Proposal], str | None]:
    planner = PLANNERS.get(engine.planner)
    if planner is None:
        why = f"no planner is called {engine.planner!r}: known: {', '.join(PLANNERS)}"
        raise ConfigError(f"engine {engine.name}: {why}")
    return planner
