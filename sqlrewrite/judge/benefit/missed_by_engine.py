"""DPP125 missed-by-engine: with ``--when missed``, no predicate where the engine prunes by itself.

The engine's own plan decides, if it was asked for (``options.planned``), else the planner that the
engine's file names. With ``when = eligible`` the planner counts only if the session's settings and
all sizes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlrewrite.judge.benefit.cost import read_again
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
"""The planners that an engine's file may name. Each says why that engine finds no bound as good by
itself; None if it does."""


BUILT: Mapping[str, Callable[[Proposal], str | None]] = {"trino": build_side.on_build_side}
"""The planners that prune only one side of a join. Each says why the fact is on the other side;
None if it is not."""


def judge_missed(proposal: Proposal) -> Judgement:
    """Whether the engine does not find as good a bound by itself. Raises ConfigError if its file
    names an unknown planner."""
    if proposal.options.when not in LEAVING and any(_assumed(proposal)):
        return passed(
            "`--when eligible` also writes predicates that the engine may derive by itself"
        )
    if proposal.pair.constants_only:
        return passed("a MERGE prunes its target only by constants")
    if proposal.clustered:
        return passed(f"{proposal.engine.title} skips files and row groups only by constants")
    if proposal.pair.derived is not None:
        pruned = proposal.pair.pruned
        return passed(f"{proposal.engine.title} does not know what `{pruned}` is computed from")
    alone = by_join(proposal)
    if alone.pruning is PrunesAlone.MISSES:
        return passed(f"{alone.name} misses it: {alone.reason}")
    by = f"{alone.name} prunes by the join with {proposal.quoted_dimension} by itself"
    match alone.pruning:
        case PrunesAlone.MAY_PRUNE:
            return failed(f"{by} (assumed: {alone.reason})")
        case _ if alone.reason:
            return failed(f"{by}: {alone.reason}")
        case _:
            return failed(by)


def engine_alone(proposal: Proposal) -> EngineAlone:
    """Whether the engine prunes the fact by itself. Raises ConfigError as ``judge_missed`` does."""
    pair, engine = proposal.pair, proposal.engine.title
    if isinstance(pair.dimension, Opaque):
        return EngineAlone(engine, PrunesAlone.UNKNOWN, f"{proposal.quoted_dimension} is not known")
    if pair.constants_only:
        why = "a MERGE prunes its target only by constants"
    elif proposal.clustered:
        why = "it skips files and row groups only by constants"
    elif pair.derived is not None or pair.filtered:
        why = f"it does not know what `{pair.pruned}` is computed from"
    elif pair.first:
        why = "it does not prune by the ranks of a window"
    else:
        return by_join(proposal)
    return EngineAlone(engine, PrunesAlone.MISSES, why)


def by_join(proposal: Proposal) -> EngineAlone:
    """Whether the engine prunes the fact by the join itself, according to its plan if it was asked
    for that, else to its planner."""
    planned, engine = proposal.options.planned, proposal.engine.title
    if planned is not None:
        if proposal.pair.place in planned:
            return EngineAlone(engine, PrunesAlone.PRUNES, "read from its plan")
        why = f"its plan shows no pruning by the join with {proposal.quoted_dimension}"
        return EngineAlone(engine, PrunesAlone.MISSES, why)
    missed = _planner(proposal.engine)(proposal)
    if missed is not None:
        return EngineAlone(engine, PrunesAlone.MISSES, missed)
    assumed = ", ".join(_assumed(proposal))
    return EngineAlone(engine, PrunesAlone.MAY_PRUNE if assumed else PrunesAlone.PRUNES, assumed)


def _assumed(proposal: Proposal) -> Iterator[str]:
    """The assumptions behind the planner's answer where facts are not known."""
    if not affects_pruning(proposal.context.catalog.settings):
        yield f"{proposal.engine.title}'s settings are its defaults"
    if proposal.engine.takes_keys and proposal.pair.scan.table.provider is None:
        yield f"the connector of `{proposal.pair.scan.alias}` takes keys"
    if proposal.engine.reuse_broadcast_only:
        sizes = {
            relation.parts[-1]: relation.table.size_in_bytes for relation in read_again(proposal)
        }
        for name, size in sizes.items():
            if size is None:
                yield f"`{name}` is small enough to be broadcast"


def _planner(engine: Engine) -> Callable[[Proposal], str | None]:
    planner = PLANNERS.get(engine.planner)
    if planner is None:
        why = f"`planner = {engine.planner!r}` is none of {', '.join(PLANNERS)}"
        raise ConfigError(f"engine `{engine.name}`: {why}")
    return planner
