"""What a session's settings mean for a rewrite: how its texts are read, what its planner does.

In: a session. Out: a ``SessionProfile``. One query asks for all settings that are not at their
defaults. What they mean for pruning is in ``settings.spark_conf``, and for how a text is read in
docs/soundness.md, "Settings of Spark".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlrewrite.rulebook import Engine, engine
from sqlrewrite.settings.spark_conf import engine_under
from sqlrewrite.spark.session import current_namespace, spark_errors
from sqlrewrite.warehouse import Name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The values under which names and keys mean what the rewriter takes them to mean.
_REQUIRED = {
    "spark.sql.casesensitive": "false",
    "spark.sql.timestamptype": "timestamp_ltz",
}
# A value under which more expressions can raise an error.
_REFUSED = {"spark.sql.legacy.timeparserpolicy": "exception"}
_PARSER = "spark.sql.legacy.parser."
_EITHER_WAY = frozenset({"spark.sql.legacy.parser.havingwithoutgroupbyaswhere"})


@dataclass(frozen=True, slots=True)
class SessionProfile:
    """What matters of a session: the namespace of short names, what its planner does, whether
    ``"…"`` is a name. ``obstacle`` names a setting under which nothing is rewritten, if it has one.
    """

    namespace: Name
    engine: Engine
    double_quoted: bool
    obstacle: str = ""


def state(spark: SparkSession) -> SessionProfile:
    """The state of a session now. Raises SparkError."""
    with spark_errors("the session's settings cannot be read"):
        namespace, rows = current_namespace(spark), spark.sql("SET").collect()
    return state_of(namespace, {str(row[0]).lower(): str(row[1]) for row in rows})


def state_of(namespace: Name, settings: Mapping[str, str]) -> SessionProfile:
    """The state under ``settings``: those that are set, by their names in lower case."""

    def flag(name: str, default: bool) -> bool:
        return settings.get(name.lower(), str(default)).strip().lower() == "true"

    quoted = flag("spark.sql.ansi.enabled", True) and flag(
        "spark.sql.ansi.doubleQuotedIdentifiers", False
    )
    return SessionProfile(
        namespace, engine_under(engine("spark"), settings), quoted, obstacle(settings)
    )


def obstacle(settings: Mapping[str, str]) -> str:
    """The first setting under which a text may mean something else; empty where there is none."""
    for name, value in sorted(settings.items()):
        required = _REQUIRED.get(name)
        plain = value.strip().lower()
        if required not in (None, plain) or _REFUSED.get(name) == plain:
            return f"{name} is {value}"
        if name.startswith(_PARSER) and name not in _EITHER_WAY and value.lower() != "false":
            return f"{name} is {value}"
    return ""
