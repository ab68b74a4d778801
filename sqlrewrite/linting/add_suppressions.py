"""``--add-suppressions``: adds comments that suppress findings, as ruff's ``--add-noqa``.

In: a text, its findings, and a function that lints a text. Out: the text with comments at the ends
of lines, and the findings for which there can be none. A comment is kept only where linting shows
that it suppresses its findings and changes nothing else: the end of a line may be inside a string,
a comment or a template. In a host file the line of SQL may end before that of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlrewrite.linting.findings import Finding, unsuppressed
from sqlrewrite.linting.suppression import UNUSED
from sqlrewrite.sql.statements.directives import SIGN
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.hosts.region import Change, Host, Region, Unwritable
from sqlrewrite.text.source import LINE_END, Lines, apply

Findings = Sequence[Finding]

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_OURS = re.compile(rf"--[ \t]*{SIGN}[ \t]*ignore[ \t]*\[[^\]]*(?=\])")


def suppressed(
    text: str, found: Findings, lint: Callable[[str], Findings], host: Host | None = None
) -> tuple[str, tuple[Finding, ...]]:
    """The text with a comment for each of the findings, and the findings that remain.

    ``lint`` returns all findings of a text; ``host`` is the text as a host file, if it is one.
    Where all comments together do not work, each line is tried by itself.
    """
    codes_by_line = _by_line(it for it in unsuppressed(found) if it.code != UNUSED)
    before, lines = lint(text), Lines(text)
    edits = [comment(text, lines.offset(line), codes) for line, codes in codes_by_line.items()]
    done = _tried(text, edits, codes_by_line, before, lint)
    if done is not None:
        return done, _left(found, codes_by_line)
    # From below, so that the lines above keep their numbers.
    for line, codes in sorted(codes_by_line.items(), reverse=True):
        own = {line: codes}
        one = _tried(text, [comment(text, lines.offset(line), codes)], own, before, lint)
        inside = _inside(host, line, codes) if host is not None and one is None else None
        if inside is not None:
            one = _tried(text, [inside], own, before, lint)
        if one is None:
            del codes_by_line[line]
        else:
            text, before = one, lint(one)
    return text, _left(found, codes_by_line)


def _by_line(found: Iterable[Finding]) -> dict[int, list[str]]:
    codes_by_line: dict[int, list[str]] = {}
    for it in found:
        codes = codes_by_line.setdefault(it.place.line, [])
        if it.code not in codes:
            codes.append(it.code)
    return codes_by_line


def _left(found: Findings, done: Mapping[int, Sequence[str]]) -> tuple[Finding, ...]:
    return tuple(it for it in unsuppressed(found) if it.code not in done.get(it.place.line, ()))


def _tried(
    text: str,
    edits: Sequence[Edit],
    codes_by_line: Mapping[int, Sequence[str]],
    before: Findings,
    lint: Callable[[str], Findings],
) -> str | None:
    """The text with the comments, or None where they do not just suppress these findings."""
    templates = [match.span() for match in _TEMPLATE.finditer(text)]
    if any(start < it.offset < end for start, end in templates for it in edits):
        return None  # there dbt would read it, not the linter
    done = apply(text, edits)
    left = counted(_left(before, codes_by_line))
    return done if counted(unsuppressed(lint(done))) == left else None


def _inside(host: Host, line: int, codes: Sequence[str]) -> Edit | None:
    """The comment for the SQL in a line of a host file, if it can have one."""
    start = host.lines.offset(line)
    end = LINE_END.search(host.text, start)
    stop = len(host.text) if end is None else end.start()
    for region in host.regions:
        at = bisect_left(region.sql.offsets, start)
        if region.written and region.sql.offsets[at : at + 1] and region.sql.offsets[at] < stop:
            try:
                span, new = in_region(host, region, at, codes)
            except Unwritable:
                return None
            return Edit(span.start, new)
    return None


def in_region(host: Host, region: Region, at: int, codes: Sequence[str]) -> Change:
    """The comment for the line of SQL that an offset of a region's text is in. Raises
    Unwritable."""
    start = max(region.text.rfind("\n", 0, at), region.text.rfind("\r", 0, at)) + 1
    edit = comment(region.text, start, codes)
    return host.in_file(region, (Span(edit.offset, edit.offset), edit.text))


def comment(text: str, start: int, codes: Sequence[str]) -> Edit:
    """The comment for the line that begins there, or more codes for the comment that it has."""
    end = LINE_END.search(text, start)
    at = len(text) if end is None else end.start()
    own = _OURS.search(text, start, at)
    if own is not None:
        return Edit(own.end(), "".join(f", {code}" for code in codes))
    return Edit(at, f"  -- {SIGN} ignore[{', '.join(codes)}]")


def counted(found: Iterable[Finding]) -> Counter[tuple[str, ...]]:
    """Findings by what stays the same when a comment is added to their statement, counted; those
    about comments by their code alone."""
    return Counter(
        (it.code,) if it.code == UNUSED else (it.code, it.subject, it.statement) for it in found
    )
