"""GitLab's code quality report: a list of issues, each known by a fingerprint."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.linting.findings import Severity
from sqlrewrite.report.json_text import dumps

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def report(results: Sequence[LintedFile], total: LintSummary) -> str:
    """The issues of all files. The fingerprints are of statements, and so outlive moved lines."""
    issues = [
        {
            "description": finding.message,
            "check_name": f"{finding.code} {finding.name}",
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": result.path,
                "lines": {"begin": finding.place.line, "end": finding.place.end_line},
            },
        }
        for result in results
        for finding, fingerprint in zip(result.findings, result.fingerprints, strict=True)
        if finding.suppression is None
    ]
    return dumps(issues)
