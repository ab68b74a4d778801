"""Writes partition-pruning predicates into Spark SQL: ``rewrite(sql, catalog).sql``.

``lint`` says what ``rewrite`` would change and what keeps it from it, ``outputs`` what each query
returns. They do no I/O and keep no global state, and all values can be pickled and compared.
Importing this imports neither rich nor pyspark.
"""

from sqlrewrite.catalog import Catalog
from sqlrewrite.document import rewrite
from sqlrewrite.library import Output, lint, outputs
from sqlrewrite.linting.findings import Finding, Fix, Place, Replacement, Severity, Suppression
from sqlrewrite.results import Candidate, ConfigError, Outcome, Rewrite, RuleResult, Verdict
from sqlrewrite.settings.options import Options
from sqlrewrite.text.edits import Span
from sqlrewrite.warehouse import CatalogError

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
