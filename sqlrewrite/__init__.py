"""Writes partition-pruning predicates into Spark SQL: ``rewrite(sql, catalog).sql``.

``rewrite`` does no I/O and keeps no global state. Importing this imports neither rich nor pyspark.
"""

from sqlrewrite.model import Candidate, ConfigError, Outcome, Rewrite, RuleResult, Verdict
from sqlrewrite.rewriter import rewrite
from sqlrewrite.schema import Catalog, CatalogError

__version__ = "0.1.0"

__all__ = [
    "Candidate",
    "Catalog",
    "CatalogError",
    "ConfigError",
    "Outcome",
    "Rewrite",
    "RuleResult",
    "Verdict",
    "__version__",
    "rewrite",
]
