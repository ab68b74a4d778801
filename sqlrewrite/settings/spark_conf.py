"""The effect of Spark's version and settings on an engine's rules.

Both are in one mapping, ``Warehouse.settings``. A setting that is not in it has Spark's default,
which is in the engine's file or depends on the version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from sqlrewrite.copies import replace
from sqlrewrite.rulebook import Engine, at_least

VERSION = "spark.version"
"""The key of Spark's version among the settings."""

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
"""All settings that the rules of pruning depend on."""

BUCKETS = "spark.sql.sources.bucketing.enabled"
COALESCED = "spark.sql.bucketing.coalesceBucketsInJoin.enabled"
ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"
_V2 = "spark.sql.sources.v2.bucketing"
STORED, PUSHED = f"{_V2}.enabled", f"{_V2}.pushPartValues.enabled"
COMPATIBLE = f"{_V2}.allowCompatibleTransforms.enabled"
SUBSETS = (  # two names: until Spark 4.2, and since
    f"{_V2}.allowJoinKeysSubsetOfPartitionKeys.enabled",
    f"{_V2}.allowKeysSubsetOfPartitionKeys.enabled",
)
GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"
STORAGE: Mapping[str, bool | str] = {
    BUCKETS: True,
    COALESCED: False,
    ALL_KEYS: True,
    STORED: "4.1",
    PUSHED: "4.0",
    **dict.fromkeys(SUBSETS, False),
    COMPATIBLE: False,
    GROUPING: False,
}
"""The settings that a join without an exchange depends on, with the defaults of Spark and of
Iceberg (docs/partition-wise.md); a version means: on since that version of Spark."""

TIME_PARSER_POLICY = "spark.sql.legacy.timeParserPolicy"

SETTINGS = (*PRUNING, *STORAGE, TIME_PARSER_POLICY)
"""The settings that are read from a session."""

_IN_FLINK = "table.optimizer.dynamic-filtering.enabled"
_BY_NAME = {name.lower(): name for name in (*SETTINGS, _IN_FLINK)}
_SIZE = re.compile(r"\s*(-?\d+)\s*([kmgtp]?)b?\s*", re.IGNORECASE)
_UNITS = " kmgtp"
_BOOLEAN = {"true": True, "false": False}


def known_setting(name: str) -> str | None:
    """A setting of ``SETTINGS`` or of Flink in its own spelling, by its name in any case; None for
    other names."""
    return _BY_NAME.get(name.strip().strip("`").lower())


def affects_pruning(conf: Mapping[str, str]) -> bool:
    """Whether one of the settings is among those that pruning depends on."""
    return any(known_setting(name) in (*PRUNING, _IN_FLINK) for name in conf)


def is_on(conf: Mapping[str, str], name: str) -> bool | None:
    """Whether a setting of ``STORAGE`` is on; None if that depends on an unknown version."""
    default = STORAGE[name]
    on = since(conf, default) if isinstance(default, str) else default
    return _BOOLEAN.get(_lowered(conf).get(name.lower(), ""), on)


def _lowered(conf: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value.strip().lower() for name, value in conf.items()}


def _flag(lowered: Mapping[str, str], name: str, default: bool) -> bool:
    return _BOOLEAN.get(lowered.get(name.lower(), ""), default)


def since(conf: Mapping[str, str], version: str) -> bool | None:
    """Whether Spark is of that version or later; None if unknown."""
    return at_least(conf.get(VERSION, ""), version)


def engine_under(engine: Engine, conf: Mapping[str, str]) -> Engine:
    """The engine under settings; values that Spark would refuse are ignored."""
    if engine.name == "flink":
        off = conf.get(_IN_FLINK, "").strip().lower() == "false"
        return replace(engine, enabled=False) if off else engine
    if engine.name != "spark":
        return engine
    lowered = _lowered(conf)
    flag = partial(_flag, lowered)
    only = flag(f"{_DPP}.reuseBroadcastOnly", engine.reuse_broadcast_only)
    # A filter reuses a broadcast only if the reuse of exchanges is on.
    reused = not only or flag(_REUSE, True)
    return replace(
        engine,
        version=conf.get(VERSION, engine.version),
        time_parser_policy=lowered.get(TIME_PARSER_POLICY.lower(), engine.time_parser_policy),
        enabled=reused and flag(f"{_DPP}.enabled", engine.enabled),
        use_stats=flag(f"{_DPP}.useStats", engine.use_stats),
        reuse_broadcast_only=only,
        fallback_filter_ratio=_ratio(lowered, engine.fallback_filter_ratio),
        broadcast_threshold=_threshold(lowered, engine.broadcast_threshold),
    )


def _ratio(lowered: Mapping[str, str], default: float) -> float:
    try:
        return float(lowered[f"{_DPP}.fallbackFilterRatio".lower()])
    except (KeyError, ValueError):
        return default


def _threshold(lowered: Mapping[str, str], default: int) -> int:
    """The size up to which a table is broadcast; it may be written with a unit."""
    match = _SIZE.fullmatch(lowered.get(_THRESHOLD.lower(), str(default)))
    if match is None:
        return default
    return int(match[1]) << 10 * max(0, _UNITS.index(match[2].lower() or " "))
