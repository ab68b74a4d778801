"""``pyspark.sql.functions``, imported when the first function is used: commands that only print
results start faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.functions import *  # noqa: F403 - all of them
else:

    def __getattr__(name: str) -> object:
        """The function of that name."""
        from pyspark.sql import functions

        return getattr(functions, name)
