"""Lint findings as JSON, version 1: ASCII throughout, like the report of a rewrite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.linting.findings import Finding, Fix
from sqlrewrite.report.json import problem
from sqlrewrite.report.json_text import attributes, dumps
from sqlrewrite.report.statistics import as_json

VERSION = 1
_PLACE = "line column end_line end_column"


def report(results: Sequence[LintedFile], total: LintSummary) -> str:
    """The whole report, with a newline at its end. Paths are as they were given."""
    whole: dict[str, Any] = {
        "version": VERSION,
        "summary": {
            "files": total.files,
            "findings": sum(total.codes.values()),
            "fixable": total.fixable,
            "suppressed": total.suppressed,
            "errors": total.failures,
        },
        "findings": [
            _finding(result.given or result.path, *found)
            for result in results
            for found in zip(result.findings, result.fixes, result.fingerprints, strict=True)
        ],
        "errors": [
            {"path": result.given or result.path, **problem(it)}
            for result in results
            for it in result.failures
        ],
    }
    if total.statistics is not None:
        whole["statistics"] = as_json(total.statistics)
    return dumps(whole)


def _finding(path: str, finding: Finding, fix: Fix | None, fingerprint: str) -> dict[str, Any]:
    edits = (
        [{**attributes(it.place, _PLACE), "text": it.text} for it in fix.replacements]
        if fix
        else []
    )
    by = finding.suppression
    return {
        "path": path,
        **attributes(finding, "code name severity message"),
        "help": finding.help or None,
        **attributes(finding.place, _PLACE),
        "subject": finding.subject or None,
        "fixable": finding.fix is not None,
        "fix": {"edits": edits} if fix else None,
        "suppressed": attributes(by, "kind reason") if by else None,
        "counts": finding.counts,
        "fingerprint": fingerprint,
    }
