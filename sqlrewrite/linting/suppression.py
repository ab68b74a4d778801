"""Which findings a comment suppresses, and DPP008: comments that suppress nothing.

In: the findings of a text and its directives. Out: the same findings, the covered ones suppressed,
and a finding for each directive, or code in one, that is unknown or covers nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sqlrewrite.copies import replace
from sqlrewrite.document import Document
from sqlrewrite.linting.checked_statement import place_of
from sqlrewrite.linting.findings import BY_CODE, Finding, Suppression, of_no_statement
from sqlrewrite.sql.statements.directives import BLOCK, KINDS, SIGN, Directive
from sqlrewrite.sql.suppressed import Suppressed
from sqlrewrite.text.data_files import nearest
from sqlrewrite.text.edits import Edit
from sqlrewrite.text.hosts.region import Host, Region
from sqlrewrite.text.source import LINE_END

UNUSED = "DPP008"
_MANAGED = ("DPP002", "DPP003")


def suppress(findings: Sequence[Finding], document: Document) -> Iterator[Finding]:
    """The findings, then those about the directives themselves."""
    directives = document.directives
    if not directives.in_order:
        yield from findings
        return
    suppressed = Suppressed(directives, document.catalog)
    owners = suppressed.owners(document.original) if document.stripped.predicates else {}
    used: dict[int, set[str]] = {}
    for finding in findings:
        start = finding.place.span.start
        directive = directives.covering(start, frozenset({finding.code}))
        if directive is None and finding.code in _MANAGED:
            directive = owners.get(start)
        if directive is None or not directive.speaks_of(finding.code):
            yield finding
            continue
        used.setdefault(directive.span.start, set()).add(finding.code)
        reason = directive.reason or str(directive)
        yield replace(finding, suppression=Suppression("inSource", reason), counts=False)
    closing = False
    for directive in directives.in_order:
        message = _message(directive, used.get(directive.span.start, set()), closing)
        if message is not None:
            place = place_of(directives.lines, directive.span)
            help = "remove the comment, or the code from it"
            before = document.original[: directive.span.start].rpartition("\n")[2]
            if directive.kind == "ignore" and not before.strip():
                help = "move it to the end of the line that names the table, or remove it"
            if directive.kind == BLOCK:
                help = f"write `-- {SIGN} …`, or remove the comment"
            yield of_no_statement(UNUSED, message, place, str(directive), help)
        closing = directive.kind == "off" or (closing and directive.kind != "on")


def _message(directive: Directive, used: set[str], closing: bool) -> str | None:
    """The fault of a directive; None if it has none. ``used`` are the codes that it suppressed,
    ``closing`` says whether a region is open before it."""
    if directive.kind == BLOCK:
        return f"`{directive}` has no effect: only a line comment suppresses findings"
    if directive.kind not in KINDS:
        near = nearest(directive.kind, KINDS)
        hint = f"did you mean `{near}`?" if near else f"known: {', '.join(KINDS)}"
        return f"`-- dpp-rewrite: {directive.kind}` is not known: {hint}"
    unknown = [code for code in directive.codes if code not in BY_CODE]
    if unknown:
        near = nearest(unknown[0], BY_CODE)
        return f"no finding has the code {unknown[0]}" + (f": did you mean {near}?" if near else "")
    if directive.kind == "on":
        return None if closing else f"`{directive}` has no effect: there is no `off` before it"
    unused = [code for code in directive.codes if code not in used]
    if unused:
        return f"`{directive}` suppresses no {' and no '.join(unused)} here"
    return None if used else f"`{directive}` suppresses nothing"


_OURS = re.compile(rf"--[ \t]*{SIGN}[ \t]*ignore[ \t]*\[[^\]]*(?=\])")


def in_region(host: Host, region: Region, at: int, codes: Sequence[str]) -> Edit:
    """The comment for the line of SQL that an offset of a region's text is in. Raises
    Unwritable."""
    start = max(region.text.rfind("\n", 0, at), region.text.rfind("\r", 0, at)) + 1
    return host.in_file(region, comment(region.text, start, codes))


def comment(text: str, start: int, codes: Sequence[str]) -> Edit:
    """The suppressing comment for the line that begins at an offset; if the line has one, the codes
    to add to it."""
    end = LINE_END.search(text, start)
    at = len(text) if end is None else end.start()
    own = _OURS.search(text, start, at)
    if own is not None:
        return Edit.at(own.end(), "".join(f", {code}" for code in codes))
    return Edit.at(at, f"  -- {SIGN} ignore[{', '.join(codes)}]")


def counted(findings: Iterable[Finding]) -> Counter[tuple[str, ...]]:
    """How often each finding occurs, identified by what stays the same when a comment is added to
    its statement; a finding about a comment by its code alone."""
    return Counter(
        (item.code,) if item.code == UNUSED else (item.code, item.subject, item.statement)
        for item in findings
    )
