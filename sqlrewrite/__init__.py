"""Writes partition-pruning predicates into Spark SQL: ``rewrite(sql, catalog).sql``.

``lint`` says what ``rewrite`` would change and what keeps queries from pruning, ``outputs`` what
each query returns. They do no I/O and keep no global state, and all values can be pickled and
compared. ``import sqlrewrite`` alone is quick: the modules are imported when the first name is
used, and rich and pyspark are not among them.
"""

# ruff: noqa: F403, F405 - the public names are listed once, in ``__all__``

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlrewrite.library import *

__version__ = "0.1.0"

__all__ = [
    "Candidate",
    "Catalog",
    "CatalogError",
    "ConfigError",
    "Finding",
    "Fix",
    "Options",
    "Outcome",
    "Output",
    "Place",
    "Replacement",
    "Rewrite",
    "RuleResult",
    "Severity",
    "Span",
    "Suppression",
    "Verdict",
    "__version__",
    "lint",
    "outputs",
    "rewrite",
]


def __getattr__(name: str) -> object:
    """A public name, imported when it is first used: the command line needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sqlrewrite import library

    return getattr(library, name)
