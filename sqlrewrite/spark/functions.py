"""The functions of PySpark's columns, imported when the first of them is called: to show what a
Spark has told takes none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.functions import *  # noqa: F403 - all of them
else:

    def __getattr__(name: str) -> object:
        """The function of that name."""
        from pyspark.sql import functions

        return getattr(functions, name)
