"""The public names, handed on by ``sqlrewrite``; ``lint`` and ``outputs`` import what they need
when they are first called."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.catalog import Catalog as Catalog
from sqlrewrite.linting.findings import Finding as Finding
from sqlrewrite.linting.findings import Fix as Fix
from sqlrewrite.linting.findings import Place as Place
from sqlrewrite.linting.findings import Replacement as Replacement
from sqlrewrite.linting.findings import Severity as Severity
from sqlrewrite.linting.findings import Suppression as Suppression
from sqlrewrite.results import Candidate as Candidate
from sqlrewrite.results import ConfigError as ConfigError
from sqlrewrite.results import Outcome as Outcome
from sqlrewrite.results import Output as Output
from sqlrewrite.results import Rewrite as Rewrite
from sqlrewrite.results import RuleResult as RuleResult
from sqlrewrite.results import Verdict as Verdict
from sqlrewrite.rewriting import rewrite as rewrite
from sqlrewrite.settings.options import Options as Options
from sqlrewrite.text.edits import Span as Span
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import CatalogError as CatalogError

_TIMESTAMP_TYPES = {None: None, "TIMESTAMP_NTZ": True, "TIMESTAMP_LTZ": False}


def outputs(
    sql: str,
    catalog: Catalog,
    *,
    ansi: bool | None = None,
    timestamp_type: str | None = None,
    allow_precision_loss: bool | None = True,
    legacy_interval: bool | None = None,
    double_quoted_identifiers: bool = False,
) -> tuple[Output | None, ...]:
    """What each statement of a text returns: names and types as Spark 4.3 gives them.

    None stands for a statement that is no query and for one that is not understood, and in place of
    a name or type that is not known. The keywords are settings of Spark:
    ``spark.sql.ansi.enabled``, ``spark.sql.timestampType``,
    ``spark.sql.decimalOperations.allowPrecisionLoss``, ``spark.sql.legacy.interval.enabled`` and
    ``spark.sql.ansi.doubleQuotedIdentifiers``. If a keyword is None, a name or type is given only
    if it is the same for each of its values. CREATE, DROP, USE and SET in the text hold for the
    statements behind them. Never raises for bad SQL; raises ConfigError for a ``timestamp_type``
    that Spark does not have.
    """
    from sqlrewrite.document import tokenized
    from sqlrewrite.output_columns import outputs_of
    from sqlrewrite.plan.facts.types import SessionSettings

    if timestamp_type not in _TIMESTAMP_TYPES:
        raise ConfigError(f"timestamp_type is TIMESTAMP_LTZ or TIMESTAMP_NTZ, not {timestamp_type}")
    settings = SessionSettings(
        ansi,
        allow_precision_loss,
        _TIMESTAMP_TYPES[timestamp_type],
        legacy_interval,
        double_quoted_identifiers,
    )
    return outputs_of(tokenized(sql, catalog, Limits(), as_written=True), settings.possible())


def lint(
    sql: str, catalog: Catalog, options: Options | None = None, *, files: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """The findings of a text, in its order; those that a comment suppresses say so.

    ``options`` says what a rewrite would insert, by default what ``rewrite`` does. ``files`` are
    those with the statements that write the tables: DPP007 proposes the partition columns that they
    compute. One that cannot be read is passed over. Never raises for bad SQL, which is a finding.
    """
    from sqlrewrite.linting.linter import lint
    from sqlrewrite.linting.proposed_columns import Proposals

    proposals = Proposals(files, catalog) if files else None
    findings, _ = lint(sql, catalog, options, proposals=proposals)
    return findings
