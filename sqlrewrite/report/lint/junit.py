"""JUnit XML: a test suite a file, a failed test a finding, a passed one where there is none.

What does not fail the run (suppressed, or not counted) is a skipped test with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.linting.findings import Finding

# What XML 1.0 cannot hold, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report(results: Sequence[LintedFile], total: LintSummary) -> str:
    """The whole document."""
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
    for it in result.failures:
        case = ElementTree.Element("testcase", {"name": "read", "classname": path})
        ElementTree.SubElement(case, "error", {"message": _xml(it.message), "type": it.code})
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
    place = finding.place
    name = f"{finding.code} {finding.name} ({place.line}:{place.column})"
    case = ElementTree.Element(
        "testcase", {"name": name, "classname": path, "file": path, "line": str(place.line)}
    )
    message = _xml(finding.message)
    if finding.suppression is not None:
        why = _xml(f"suppressed: {finding.suppression.reason}")
        ElementTree.SubElement(case, "skipped", {"message": f"{message} ({why})"})
    elif not finding.counts:
        ElementTree.SubElement(case, "skipped", {"message": message})
    else:
        failure = ElementTree.SubElement(
            case, "failure", {"message": message, "type": finding.severity.value}
        )
        failure.text = _xml(f"{path}:{place.line}:{place.column}: {message}\n{finding.help}")
    return case


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
