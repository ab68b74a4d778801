"""The Spark to use, and its errors: plain values, so that a command can use them without importing
pyspark.
"""

from __future__ import annotations

from msgspec import Struct


class SparkError(Exception):
    """An error of Spark's for people: what failed, why, and what to do about it."""


class SparkGoneError(SparkError):
    """Spark has ended, or cannot be reached any longer."""


class Target(Struct, frozen=True):
    """The Spark to use: a master, a Connect server, or, with neither, one embedded in this
    process."""

    master: str | None = None
    remote: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    @property
    def embedded(self) -> bool:
        """Whether it is an empty Spark in this process, without a metastore of the user's."""
        return self.master is None and self.remote is None

    @property
    def name(self) -> str:
        """The name for people; a Connect URL without its parameters, which may be secret."""
        return (self.remote or "").split(";")[0] or self.master or "local[*]"
