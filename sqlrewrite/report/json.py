"""The JSON report, version 1 (docs/reference.md, "The JSON report")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlrewrite.find.summary import StatementSummary
from sqlrewrite.report.json_text import attributes, dumps
from sqlrewrite.report.statistics import as_json
from sqlrewrite.results import Candidate, Problem, Removed
from sqlrewrite.run.runner import FileResult, Summary

VERSION = 1
_USE = "table alias column line column_number"


def report(results: Iterable[FileResult], summary: Summary) -> str:
    """The whole report of files with their statements, with a newline at its end."""
    whole = {
        "version": VERSION,
        "summary": attributes(summary, "files changed statements candidates rewritten errors"),
        "files": [_file(result) for result in results],
    }
    if summary.statistics is not None:
        whole["statistics"] = as_json(summary.statistics)
    return dumps(whole)


def _file(result: FileResult) -> dict[str, Any]:
    done = result.rewrite
    return {
        "path": result.path,
        "changed": result.changed,
        "rewritten": result.text,
        "errors": [problem(error) for error in result.errors],
        "skipped": [problem(it) for it in (done.skipped if done else ())],
        "removed": [_removed(removed) for removed in (done.removed if done else ())],
        "notes": [problem(note) for note in (done.notes if done else ())],
        "candidates": [_candidate(candidate) for candidate in (done.candidates if done else ())],
        "statements": [_statement(it) for it in result.statements],
    }


def _statement(it: StatementSummary) -> dict[str, Any]:
    return {
        **attributes(it, "line end_line kind understood joins"),
        "relations": [{"name": name, "known": known} for name, known in it.relations],
        "reason": it.reason or None,
    }


def problem(it: Problem) -> dict[str, Any]:
    """What was left alone or could not be done, in any of our reports."""
    return attributes(it, "code message line column")


def _removed(removed: Removed) -> dict[str, Any]:
    return {
        "statement": removed.statement,
        "predicate": removed.text,
        "refreshed": removed.refreshed,
        "replacement": removed.by or None,
        **attributes(removed, "reason line column"),
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    estimate = candidate.estimate
    return {
        "statement": candidate.statement,
        "fact": attributes(candidate.fact, _USE),
        "dimension": attributes(candidate.dimension, _USE),
        "join": attributes(candidate.join, "type line column_number"),
        "verdict": candidate.verdict.value,
        "rules": [attributes(rule, "code name outcome message") for rule in candidate.rules],
        "predicate": candidate.predicate,
        "engine": candidate.engine.pruning.value if candidate.engine else "unknown",
        "engine_reason": candidate.engine.reason if candidate.engine else "",
        "estimate": None
        if estimate is None
        else {
            "reads_bytes": estimate.reads,
            "reads_rows": estimate.rows,
            "scans_bytes": estimate.scans,
            "saves_bytes": estimate.saves,
            "share": round(estimate.share, 4),
            "basis": estimate.basis,
        },
    }
