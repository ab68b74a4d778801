"""SARIF 2.1.0, for code scanning: rules with their help, results with fingerprints and fixes.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/ is the format. ``primaryLocationLineHash`` is what
GitHub would compute by itself, so that its alerts stay the same whoever uploads them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import sqlrewrite
from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.linting.findings import CODES, Code, Finding, Fix, Place, Severity
from sqlrewrite.report.json_text import dumps
from sqlrewrite.rulebook import Page, pages

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_INDEX = {code.code: index for index, code in enumerate(CODES)}

_PAGES = f"pkg:generic/dpp-rewrite@{sqlrewrite.__version__}#rules"
"""The pages of the rules inside the package: ``helpUri`` is an absolute URI (3.49.12), and this one
(a package URL, ECMA-427) holds wherever the repository is kept; the page itself is ``help``."""

_BLOCK = 100
_BASE = 37
_END_OF_FILE = 0xFFFF


def report(results: Sequence[LintedFile], total: LintSummary) -> str:
    """One run over all files."""
    pages_by_code = {page.code: page for page in pages()}
    driver = {
        "name": "dpp-rewrite",
        "version": sqlrewrite.__version__,
        "rules": [_rule(code, pages_by_code[code.code]) for code in CODES],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not total.failures,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": it.message},
                        "locations": _locations(found.path),
                    }
                    for found in results
                    for it in found.failures
                ],
            }
        ],
        "results": [result for found in results for result in _results(found)],
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: Code, page: Page) -> dict[str, Any]:
    return {
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": page.summary},
        "help": {"text": page.text, "markdown": page.text},
        "helpUri": f"{_PAGES}/{code.code}-{code.name}.md",
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
    }


def _results(found: LintedFile) -> list[dict[str, Any]]:
    hashes = line_hashes(found.text) if found.findings else {}
    return [
        _result(found.path, *each, hashes)
        for each in zip(found.findings, found.fixes, found.fingerprints, strict=True)
    ]


def _result(
    path: str, finding: Finding, fix: Fix | None, fingerprint: str, hashes: Mapping[int, str]
) -> dict[str, Any]:
    suppression = finding.suppression
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": _INDEX[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.help}".rstrip(". ") + "."},
        "locations": _locations(path, region=_region(finding.place)),
        "partialFingerprints": {
            "primaryLocationLineHash": hashes[finding.place.line],
            "dppRewriteStatement/v1": fingerprint,
        },
        # On all results or on none (3.27.23); an empty list means that it is not suppressed.
        "suppressions": (
            [{"kind": suppression.kind, "justification": suppression.reason}] if suppression else []
        ),
    }
    if fix is not None:
        result["fixes"] = [_fix(path, fix)]
    return result


def _fix(path: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(it.place), "insertedContent": {"text": it.text}}
        for it in fix.replacements
    ]
    change = {"artifactLocation": _uri(path), "replacements": replacements}
    return {
        "description": {"text": "What `dpp-rewrite --write` changes in the statement"},
        "artifactChanges": [change],
    }


def _locations(path: str, **more: Any) -> list[dict[str, Any]]:
    return [{"physicalLocation": {"artifactLocation": _uri(path), **more}}]


def _region(place: Place) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _uri(path: str) -> dict[str, str]:
    uri = quote(path, errors="surrogateescape")
    if os.path.isabs(path):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def line_hashes(text: str) -> dict[int, str]:
    """GitHub's hash of each line: over the hundred characters from its start on, blanks left out,
    as a polynomial modulo 2^64, then how often the same one has come up.

    The rolling hash of https://github.com/github/codeql-action (src/fingerprints.ts), which works
    on UTF-16 units and takes any line end for a line feed.
    """
    units: list[int] = []
    starts: list[int] = []
    opens = True
    for char in text.replace("\r\n", "\n").replace("\r", "\n"):
        if char in " \t":
            continue
        if opens:
            starts.append(len(units))
        opens = char == "\n"
        units += _utf16(char)
    if opens:
        starts.append(len(units))
    units += [_END_OF_FILE, *([0] * _BLOCK)]
    found: dict[int, str] = {}
    met: Counter[str] = Counter()
    for line, start in enumerate(starts, 1):
        value = 0
        for unit in units[start : start + _BLOCK]:
            value = (value * _BASE + unit) & 0xFFFFFFFFFFFFFFFF
        name = f"{value:x}"
        met[name] += 1
        found[line] = f"{name}:{met[name]}"
    return found


def _utf16(char: str) -> tuple[int, ...]:
    point = ord(char) - 0x10000
    return (ord(char),) if point < 0 else (0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF))
