"""The regime: what the settings of the sessions that run the queries make of an engine's rules.

In: an engine, and settings of Spark by name, as ``catalog pull`` finds them, a project gives them,
or a text SETs them. Out: the engine as it works there. What is not said is as the engine's file has
it: Spark's own defaults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from sqlrewrite.patterns import pattern
from sqlrewrite.rulebook import Engine

_DPP = "spark.sql.optimizer.dynamicPartitionPruning"
_REUSE, _THRESHOLD = "spark.sql.exchange.reuse", "spark.sql.autoBroadcastJoinThreshold"
PRUNING = (
    f"{_DPP}.enabled",
    f"{_DPP}.useStats",
    f"{_DPP}.fallbackFilterRatio",
    f"{_DPP}.reuseBroadcastOnly",
    _REUSE,
    _THRESHOLD,
)
"""All that the rules of pruning depend on."""

BUCKETS = "spark.sql.sources.bucketing.enabled"
COALESCED = "spark.sql.bucketing.coalesceBucketsInJoin.enabled"
ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"
_V2 = "spark.sql.sources.v2.bucketing"
STORED, PUSHED = f"{_V2}.enabled", f"{_V2}.pushPartValues.enabled"
COMPATIBLE = f"{_V2}.allowCompatibleTransforms.enabled"
SUBSETS = (  # the name until Spark 4.2, and the one after
    f"{_V2}.allowJoinKeysSubsetOfPartitionKeys.enabled",
    f"{_V2}.allowKeysSubsetOfPartitionKeys.enabled",
)
GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"
STORAGE = {
    BUCKETS: True,
    COALESCED: False,
    ALL_KEYS: True,
    STORED: True,
    PUSHED: True,
    **dict.fromkeys(SUBSETS, False),
    COMPATIBLE: False,
    GROUPING: False,
}
"""On what a join without an exchange depends, with the defaults of Spark 4 and of Iceberg
(docs/partition-wise.md)."""

SETTINGS = (*PRUNING, *STORAGE)
"""What is asked of a session."""

_IN_FLINK = "table.optimizer.dynamic-filtering.enabled"
_BY_NAME = {name.lower(): name for name in (*SETTINGS, _IN_FLINK)}
_SIZE = pattern(r"\s*(-?\d+)\s*([kmgtp]?)b?\s*", re.IGNORECASE)
_UNITS = " kmgtp"


def setting(name: str) -> str | None:
    """The name of one of ``SETTINGS``, or of Flink's, as it is spelled; None for any other."""
    return _BY_NAME.get(name.strip().strip("`").lower())


def decides(said: Mapping[str, str]) -> bool:
    """Whether settings that pruning depends on are among them."""
    return any(setting(name) in (*PRUNING, _IN_FLINK) for name in said)


def on(said: Mapping[str, str], name: str) -> bool:
    """Whether a setting of ``STORAGE`` is on."""
    return _flag(_lowered(said), name, STORAGE[name])


def _lowered(said: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value.strip().lower() for name, value in said.items()}


def _flag(by_name: Mapping[str, str], name: str, usual: bool) -> bool:
    return {"true": True, "false": False}.get(by_name.get(name.lower(), ""), usual)


def in_regime(engine: Engine, said: Mapping[str, str]) -> Engine:
    """The engine under settings, by their names in any case; of another engine than Spark only
    whether Flink filters dynamically. A value that is none is passed over, as Spark takes none."""
    if engine.name == "flink":
        off = said.get(_IN_FLINK, "").strip().lower() == "false"
        return replace(engine, enabled=False) if off else engine
    if engine.name != "spark":
        return engine
    by_name = _lowered(said)
    flag = partial(_flag, by_name)
    only = flag(f"{_DPP}.reuseBroadcastOnly", engine.reuse_broadcast_only)
    # What is pruned by a broadcast that is there anyway needs that one is reused at all.
    reused = not only or flag(_REUSE, True)
    return replace(
        engine,
        enabled=reused and flag(f"{_DPP}.enabled", engine.enabled),
        use_stats=flag(f"{_DPP}.useStats", engine.use_stats),
        reuse_broadcast_only=only,
        fallback_filter_ratio=_ratio(by_name, engine.fallback_filter_ratio),
        broadcast_threshold=_threshold(by_name, engine.broadcast_threshold),
    )


def _ratio(said: Mapping[str, str], usual: float) -> float:
    try:
        return float(said[f"{_DPP}.fallbackFilterRatio".lower()])
    except (KeyError, ValueError):
        return usual


def _threshold(said: Mapping[str, str], usual: int) -> int:
    """The largest size of what is broadcast, which may be written with a unit."""
    match = _SIZE.fullmatch(said.get(_THRESHOLD.lower(), str(usual)))
    if match is None:
        return usual
    return int(match[1]) << 10 * max(0, _UNITS.index(match[2].lower() or " "))
