"""Which Spark is meant, and what went wrong with it: values alone, so that any command that may use
Spark can name them without waiting for what starts one."""

from __future__ import annotations

from sqlrewrite.frozen import dataclass


class SparkError(Exception):
    """What could not be done with Spark: what, why, and what to do about it."""


class SparkGoneError(SparkError):
    """Spark does not answer any more, whatever it is asked."""


@dataclass(frozen=True, slots=True)
class Target:
    """Which Spark: a master, a Connect server, or, with neither, one in this process."""

    master: str | None = None
    remote: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    @property
    def embedded(self) -> bool:
        """Whether nobody's warehouse is meant: an empty Spark of our own."""
        return self.master is None and self.remote is None

    @property
    def name(self) -> str:
        """The Spark as a person names it; what a Connect URL says of tokens is left out."""
        return (self.remote or "").split(";")[0] or self.master or "local[*]"
