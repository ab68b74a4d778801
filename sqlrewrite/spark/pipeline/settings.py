"""What a session's settings mean for a rewrite: how its texts are read, what its planner does.

In comes a session, out goes a ``State``. One query asks for all settings that are not at their
defaults; what they mean for pruning is in ``settings.spark_conf``, what for reading in
docs/soundness.md, "Settings of Spark".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlrewrite.frozen import dataclass
from sqlrewrite.rulebook import Engine, engine
from sqlrewrite.settings.spark_conf import engine_under
from sqlrewrite.spark.session import current_namespace, spark_errors
from sqlrewrite.warehouse import Name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Under these values names or keys mean something else than is taken for granted.
_TAKEN_FOR_GRANTED = {
    "spark.sql.casesensitive": "false",
    "spark.sql.timestamptype": "timestamp_ltz",
}
# Under this one more can raise an error.
_REFUSED = {"spark.sql.legacy.timeparserpolicy": "exception"}
_PARSER = "spark.sql.legacy.parser."
_EITHER_WAY = frozenset({"spark.sql.legacy.parser.havingwithoutgroupbyaswhere"})


@dataclass(frozen=True, slots=True)
class State:
    """The namespace of short names, what the planner does, whether ``"…"`` is a name.

    ``obstacle`` is a setting under which nothing is rewritten, if there is one.
    """

    namespace: Name
    engine: Engine
    double_quoted: bool
    obstacle: str = ""


def state(spark: SparkSession) -> State:
    """What holds in a session now. Raises SparkError."""
    with spark_errors("the session's settings cannot be read"):
        namespace, rows = current_namespace(spark), spark.sql("SET").collect()
    return told(namespace, {str(row[0]).lower(): str(row[1]) for row in rows})


def told(namespace: Name, said: Mapping[str, str]) -> State:
    """The state that settings mean; ``said`` are those that are set, by their names in lower
    case."""

    def flag(name: str, default: bool) -> bool:
        return said.get(name.lower(), str(default)).strip().lower() == "true"

    quoted = flag("spark.sql.ansi.enabled", True) and flag(
        "spark.sql.ansi.doubleQuotedIdentifiers", False
    )
    return State(namespace, engine_under(engine("spark"), said), quoted, obstacle(said))


def obstacle(said: Mapping[str, str]) -> str:
    """The first setting that makes a text mean what is not known here; empty where there is
    none."""
    for name, value in sorted(said.items()):
        usual = _TAKEN_FOR_GRANTED.get(name)
        said_now = value.strip().lower()
        if usual not in (None, said_now) or _REFUSED.get(name) == said_now:
            return f"{name} is {value}"
        if name.startswith(_PARSER) and name not in _EITHER_WAY and value.lower() != "false":
            return f"{name} is {value}"
    return ""
