"""Lint findings as JSON, version 1: ASCII throughout, like the report of a rewrite."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from sqlrewrite.linting.findings import Finding, Fix, Place
from sqlrewrite.linting.run import Linted, Sum
from sqlrewrite.report.json import problem
from sqlrewrite.report.lint.names import named
from sqlrewrite.report.statistics import as_json

VERSION = 1


def report(results: Sequence[Linted], total: Sum, root: str = os.curdir) -> str:
    """The whole report, with a newline at its end. Paths are as they were given, fingerprints of
    those from ``root``."""
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
            _finding(result.path, *found)
            for result, its in zip(results, named(results, root), strict=True)
            for found in zip(result.findings, result.fixes, its.fingerprints, strict=True)
        ],
        "errors": [
            {"path": result.path, **problem(it)} for result in results for it in result.failures
        ],
    }
    if total.statistics is not None:
        whole["statistics"] = as_json(total.statistics)
    return json.dumps(whole, indent=2) + "\n"


def _finding(path: str, finding: Finding, fix: Fix | None, fingerprint: str) -> dict[str, Any]:
    suppression = finding.suppression
    return {
        "path": path,
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "help": finding.help or None,
        **_place(finding.place),
        "subject": finding.subject or None,
        "fixable": finding.fix is not None,
        "fix": _fix(fix) if fix else None,
        "suppressed": (
            {"kind": suppression.kind, "reason": suppression.reason} if suppression else None
        ),
        "counts": finding.counts,
        "fingerprint": fingerprint,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "edits": [{**_place(it.place), "text": it.text} for it in fix.replacements],
    }


def _place(place: Place) -> dict[str, int]:
    return {
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }
