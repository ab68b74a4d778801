"""Lint findings for programs: JSON, SARIF, GitHub, GitLab, JUnit.

A format is a function from the results of all files to one text; its row in ``MACHINES`` makes it a
value of ``--format``.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import sqlrewrite
from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.linting.findings import CODES, Code, Finding, Fix, Place, Severity
from sqlrewrite.report import attributes, dumps
from sqlrewrite.report.rewrite import problem, statistics_json
from sqlrewrite.rulebook import Page, pages

_PLACE = "line column end_line end_column"


def json(results: Sequence[LintedFile], total: LintSummary) -> str:
    """JSON, version 1, with paths as they were given; ASCII, like the report of a rewrite."""
    whole: dict[str, Any] = {
        "version": 1,
        "summary": {
            "files": total.files,
            "findings": sum(total.codes.values()),
            "fixable": total.fixable,
            "suppressed": total.suppressed,
            "errors": total.failures,
        },
        "findings": [
            _json_finding(result.input_path or result.path, *row)
            for result in results
            for row in zip(result.findings, result.fixes, result.fingerprints, strict=True)
        ],
        "errors": [
            {"path": result.input_path or result.path, **problem(failure)}
            for result in results
            for failure in result.failures
        ],
    }
    if total.statistics is not None:
        whole["statistics"] = statistics_json(total.statistics)
    return dumps(whole)


def _json_finding(path: str, finding: Finding, fix: Fix | None, fingerprint: str) -> dict[str, Any]:
    replacements = fix.replacements if fix else ()
    edits = [
        {**attributes(replacement.place, _PLACE), "text": replacement.text}
        for replacement in replacements
    ]
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


GITHUB_CAP = 10
"""How many annotations of each level GitHub shows for a step; it drops the others without
notice."""

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github(results: Sequence[LintedFile], total: LintSummary) -> str:
    """Workflow commands that annotate the lines of a pull request, one a line. If GitHub would drop
    some of a level, the last one shown says how many more there are."""
    lines = []
    for level in _GITHUB.values():
        commands = list(_annotations(results, level))
        if len(commands) > GITHUB_CAP:
            more = len(commands) - GITHUB_CAP + 1
            commands[GITHUB_CAP - 1 :] = [
                f"::{level} title=dpp-rewrite::+{more} more: `dpp-rewrite lint` shows them"
            ]
        lines += commands
    return "".join(f"{line}\n" for line in lines)


def _annotations(results: Sequence[LintedFile], level: str) -> Iterator[str]:
    """The annotations of one level; GitHub allows columns only within one line."""
    for result in results:
        file = _property(result.path)
        for failure in result.failures if level == "error" else ():
            yield f"::error file={file},title=dpp-rewrite::{_data(failure.message)}"
        for finding in result.shown:
            if _GITHUB[finding.severity] != level:
                continue
            place = finding.place
            fields = {"file": file, "line": place.line, "endLine": place.end_line}
            if place.line == place.end_line:
                fields |= {"col": place.column, "endColumn": place.end_column}
            fields["title"] = _property(f"{finding.code} {finding.name}")
            properties = ",".join(f"{key}={value}" for key, value in fields.items())
            text = f"{finding.message}\n{finding.help}" if finding.help else finding.message
            yield f"::{level} {properties}::{_data(text)}"


def _data(text: str) -> str:
    """A message, escaped as GitHub's runner unescapes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_GITLAB = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def gitlab(results: Sequence[LintedFile], total: LintSummary) -> str:
    """GitLab's code quality report. Fingerprints are computed from statements, so moving lines does
    not change them."""
    issues = [
        {
            "description": finding.message,
            "check_name": f"{finding.code} {finding.name}",
            "fingerprint": fingerprint,
            "severity": _GITLAB[finding.severity],
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


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow, escaped or not."""


def junit(results: Sequence[LintedFile], total: LintSummary) -> str:
    """JUnit XML: a suite for each file, a failed test for each finding, a passed one if there is
    none. Findings that do not fail the run (suppressed, or not counted) are skipped tests with the
    reason."""
    suites = [_suite(result) for result in results]
    keys = ("tests", "failures", "errors", "skipped")
    sums = {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in keys}
    whole = ElementTree.Element("testsuites", {"name": "dpp-rewrite", **sums})
    whole.extend(suites)
    ElementTree.indent(whole)
    text = ElementTree.tostring(whole, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(result: LintedFile) -> ElementTree.Element:
    path = _xml(result.path)
    cases = [_case(path, finding) for finding in result.findings]
    for failure in result.failures:
        case = ElementTree.Element("testcase", {"name": "read", "classname": path})
        error = {"message": _xml(failure.message), "type": failure.code}
        ElementTree.SubElement(case, "error", error)
        cases.append(case)
    cases = cases or [ElementTree.Element("testcase", {"name": "lint", "classname": path})]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(len(result.failures)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
    }
    suite = ElementTree.Element("testsuite", {"name": path, **counts})
    suite.extend(cases)
    return suite


def _case(path: str, finding: Finding) -> ElementTree.Element:
    place, message = finding.place, _xml(finding.message)
    name = f"{finding.code} {finding.name} ({place.line}:{place.column})"
    attributes = {"name": name, "classname": path, "file": path, "line": str(place.line)}
    case = ElementTree.Element("testcase", attributes)
    if finding.suppression is not None:
        why = _xml(f"suppressed: {finding.suppression.reason}")
        ElementTree.SubElement(case, "skipped", {"message": f"{message} ({why})"})
    elif not finding.counts:
        ElementTree.SubElement(case, "skipped", {"message": message})
    else:
        what = {"message": message, "type": finding.severity.value}
        failure = ElementTree.SubElement(case, "failure", what)
        failure.text = _xml(f"{path}:{place.line}:{place.column}: {message}\n{finding.help}")
    return case


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


_SARIF = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_INDEX = {code.code: index for index, code in enumerate(CODES)}

_PAGES = f"pkg:generic/dpp-rewrite@{sqlrewrite.__version__}#rules"
"""The pages of the rules inside the package: ``helpUri`` must be an absolute URI (3.49.12), and a
package URL (ECMA-427) is right wherever the repository is; the page itself is in ``help``."""


def sarif(results: Sequence[LintedFile], total: LintSummary) -> str:
    """SARIF 2.1.0, for code scanning: https://docs.oasis-open.org/sarif/sarif/v2.1.0/."""
    pages_by_code = {page.code: page for page in pages()}
    notifications = [
        {
            "level": "error",
            "message": {"text": failure.message},
            "locations": _locations(result.path),
        }
        for result in results
        for failure in result.failures
    ]
    driver = {
        "name": "dpp-rewrite",
        "version": sqlrewrite.__version__,
        "rules": [_sarif_rule(code, pages_by_code[code.code]) for code in CODES],
    }
    invocation = {
        "executionSuccessful": not total.failures,
        "toolExecutionNotifications": notifications,
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [entry for result in results for entry in _sarif_results(result)],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return dumps({"$schema": schema, "version": "2.1.0", "runs": [run]})


def _sarif_rule(code: Code, page: Page) -> dict[str, Any]:
    return {
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": page.summary},
        "help": {"text": page.text, "markdown": page.text},
        "helpUri": f"{_PAGES}/{code.code}-{code.name}.md",
        "defaultConfiguration": {"level": _SARIF[code.severity]},
    }


def _sarif_results(result: LintedFile) -> Iterator[dict[str, Any]]:
    hashes = line_hashes(result.text) if result.findings else {}
    rows = zip(result.findings, result.fixes, result.fingerprints, strict=True)
    for finding, fix, fingerprint in rows:
        by = finding.suppression
        entry: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": _INDEX[finding.code],
            "level": _SARIF[finding.severity],
            "message": {"text": f"{finding.message}. {finding.help}".rstrip(". ") + "."},
            "locations": _locations(result.path, region=_region(finding.place)),
            "partialFingerprints": {
                "primaryLocationLineHash": hashes[finding.place.line],
                "dppRewriteStatement/v1": fingerprint,
            },
            # All results have the list or none has (3.27.23); an empty list means not suppressed.
            "suppressions": [{"kind": by.kind, "justification": by.reason}] if by else [],
        }
        if fix is not None:
            entry["fixes"] = [_sarif_fix(result.path, fix)]
        yield entry


def _sarif_fix(path: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(replacement.place), "insertedContent": {"text": replacement.text}}
        for replacement in fix.replacements
    ]
    change = {"artifactLocation": _uri(path), "replacements": replacements}
    return {
        "description": {"text": "The changes of `dpp-rewrite --write` in this statement"},
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


_BLOCK, _BASE, _END_OF_FILE = 100, 37, 0xFFFF


def line_hashes(text: str) -> dict[int, str]:
    """``primaryLocationLineHash`` of each line, as GitHub would compute it: a hash of the hundred
    characters from its start on, without blanks, and how often that hash has occurred. The rolling
    hash of https://github.com/github/codeql-action (src/fingerprints.ts), which works on UTF-16
    units and reads any line end as a line feed."""
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
    hashes: dict[int, str] = {}
    counts: Counter[str] = Counter()
    for line, start in enumerate(starts, 1):
        value = 0
        for unit in units[start : start + _BLOCK]:
            value = (value * _BASE + unit) & 0xFFFFFFFFFFFFFFFF
        name = f"{value:x}"
        counts[name] += 1
        hashes[line] = f"{name}:{counts[name]}"
    return hashes


def _utf16(char: str) -> tuple[int, ...]:
    point = ord(char) - 0x10000
    return (ord(char),) if point < 0 else (0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF))


MACHINES: Mapping[str, Callable[[Sequence[LintedFile], LintSummary], str]] = {
    "json": json,
    "sarif": sarif,
    "github": github,
    "gitlab": gitlab,
    "junit": junit,
}
