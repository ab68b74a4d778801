"""Everything that needs Spark: no other folder imports pyspark, and this one only when a session
starts.

``enable(spark)`` rewrites the queries of a session (docs/pipeline.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlrewrite.spark.pipeline.enable import enable

__all__ = ["enable"]


def __getattr__(name: str) -> object:
    """``enable``, imported when it is first used."""
    if name != "enable":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sqlrewrite.spark.pipeline.enable import enable

    return enable
