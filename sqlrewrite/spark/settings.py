"""What a session's settings mean for a rewrite: how its texts are read, what its planner does.

In comes a session, out goes a ``State``. One query asks for all settings that are not at their
defaults; the defaults are those of ``rules/engines/spark.toml`` and docs/soundness.md, "Settings of
Spark".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlrewrite.frozen import dataclass
from sqlrewrite.rulebook import Engine, engine
from sqlrewrite.spark.session import spark_errors
from sqlrewrite.warehouse import Name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DPP = "spark.sql.optimizer.dynamicPartitionPruning"
_SIZE = re.compile(r"\s*(-?\d+)\s*([kmgtp]?)b?\s*", re.IGNORECASE)
_UNITS = " kmgtp"

# Under these values names or keys mean something else than is taken for granted.
_TAKEN_FOR_GRANTED = {
    "spark.sql.casesensitive": "false",
    "spark.sql.timestamptype": "timestamp_ltz",
}
_PARSER = "spark.sql.legacy.parser."
_EITHER_WAY = frozenset({"spark.sql.legacy.parser.havingwithoutgroupbyaswhere"})


@dataclass(frozen=True, slots=True)
class State:
    """The namespace of short names, what the planner does, whether ``"…"`` is a name.

    ``dynamic``: the planner prunes by join keys at run time. ``obstacle`` is a setting under which
    nothing is rewritten, if there is one.
    """

    namespace: Name
    engine: Engine
    double_quoted: bool
    dynamic: bool
    obstacle: str = ""


def state(spark: SparkSession) -> State:
    """What holds in a session now. Raises SparkError."""
    with spark_errors("the session's settings cannot be read"):
        here = spark.sql("SELECT current_catalog(), current_schema()").collect()[0]
        rows = spark.sql("SET").collect()
    namespace = (str(here[0]).lower(), *str(here[1]).lower().split("."))
    return told(namespace, {str(row[0]).lower(): str(row[1]) for row in rows})


def told(namespace: Name, said: Mapping[str, str]) -> State:
    """The state that settings mean; ``said`` are those that are set, by their names in lower
    case."""
    spark = engine("spark")

    def flag(name: str, default: bool) -> bool:
        return said.get(name.lower(), str(default)).strip().lower() == "true"

    enabled = flag(f"{_DPP}.enabled", True)
    only = flag(f"{_DPP}.reuseBroadcastOnly", spark.reuse_broadcast_only)
    dynamic = enabled and (not only or flag("spark.sql.exchange.reuse", True))
    planner = replace(
        spark,
        native_joins=spark.native_joins if dynamic else frozenset(),
        use_stats=flag(f"{_DPP}.useStats", spark.use_stats),
        reuse_broadcast_only=only,
        fallback_filter_ratio=_ratio(said, spark.fallback_filter_ratio),
        broadcast_threshold=_threshold(said, spark.broadcast_threshold),
    )
    quoted = flag("spark.sql.ansi.enabled", True) and flag(
        "spark.sql.ansi.doubleQuotedIdentifiers", False
    )
    return State(namespace, planner, quoted, dynamic, obstacle(said))


def obstacle(said: Mapping[str, str]) -> str:
    """The first setting that makes a text mean what is not known here; empty where there is
    none."""
    for name, value in sorted(said.items()):
        usual = _TAKEN_FOR_GRANTED.get(name)
        if usual is not None and value.strip().lower() != usual:
            return f"{name} is {value}"
        if name.startswith(_PARSER) and name not in _EITHER_WAY and value.lower() != "false":
            return f"{name} is {value}"
    return ""


def _ratio(said: Mapping[str, str], usual: float) -> float:
    try:
        return float(said[f"{_DPP}.fallbackFilterRatio".lower()])
    except (KeyError, ValueError):
        return usual


def _threshold(said: Mapping[str, str], usual: int) -> int:
    """``spark.sql.autoBroadcastJoinThreshold``, which may be written with a unit."""
    match = _SIZE.fullmatch(said.get("spark.sql.autobroadcastjointhreshold", str(usual)))
    if match is None:
        return usual
    return int(match[1]) << 10 * max(0, _UNITS.index(match[2].lower() or " "))
