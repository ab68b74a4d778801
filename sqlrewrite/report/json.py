"""The JSON report, version 1 (docs/reference.md, "The JSON report").

ASCII throughout, so that any console carries it; bytes of a file that are not UTF-8 appear as the
lone surrogates that Python's ``surrogateescape`` makes of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlrewrite.find.survey import Surveyed
from sqlrewrite.report.statistics import as_json
from sqlrewrite.results import Candidate, Estimate, Problem, Removed, TableUse
from sqlrewrite.run.runner import FileResult, Summary

VERSION = 1


def report(results: Iterable[FileResult], summary: Summary) -> str:
    """The whole report of files that were surveyed, with a newline at its end."""
    whole: dict[str, Any] = {
        "version": VERSION,
        "summary": {
            "files": summary.files,
            "changed": summary.changed,
            "statements": summary.statements,
            "candidates": summary.candidates,
            "rewritten": summary.rewritten,
            "errors": summary.errors,
        },
        "files": [_file(result) for result in results],
    }
    if summary.statistics is not None:
        whole["statistics"] = as_json(summary.statistics)
    return json.dumps(whole, indent=2) + "\n"


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
        "statements": [_statement(it) for it in result.surveyed],
    }


def _statement(it: Surveyed) -> dict[str, Any]:
    return {
        "line": it.line,
        "end_line": it.end_line,
        "kind": it.kind,
        "understood": it.understood,
        "joins": it.joins,
        "relations": [{"name": name, "known": known} for name, known in it.relations],
        "reason": it.reason or None,
    }


def problem(it: Problem) -> dict[str, Any]:
    """What was left alone or could not be done, in any of our reports."""
    return {"code": it.code, "message": it.message, "line": it.line, "column": it.column}


def _removed(removed: Removed) -> dict[str, Any]:
    return {
        "statement": removed.statement,
        "predicate": removed.text,
        "refreshed": removed.refreshed,
        "replacement": removed.by or None,
        "reason": removed.reason,
        "line": removed.line,
        "column": removed.column,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    join = candidate.join
    return {
        "statement": candidate.statement,
        "fact": _use(candidate.fact),
        "dimension": _use(candidate.dimension),
        "join": {"type": join.type, "line": join.line, "column_number": join.column_number},
        "verdict": candidate.verdict.value,
        "rules": [
            {
                "code": rule.code,
                "name": rule.name,
                "outcome": rule.outcome.value,
                "message": rule.message,
            }
            for rule in candidate.rules
        ],
        "predicate": candidate.predicate,
        "estimate": None if candidate.estimate is None else _estimate(candidate.estimate),
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "reads_bytes": found.reads,
        "reads_rows": found.rows,
        "scans_bytes": found.scans,
        "saves_bytes": found.saves,
        "share": round(found.share, 4),
        "basis": found.basis,
    }


def _use(use: TableUse) -> dict[str, Any]:
    return {
        "table": use.table,
        "alias": use.alias,
        "column": use.column,
        "line": use.line,
        "column_number": use.column_number,
    }
