"""The findings of a text with ``{% if %}`` blocks: those that hold in whatever it renders to.

In: the text, its rewriting, and a function that lints one rendering. Out: the findings that every
rendering has that shows their place, and all statements that a rendering does not parse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlrewrite.linting.findings import Finding, Fix, LintResult, Replacement
from sqlrewrite.linting.statement import place_of
from sqlrewrite.results import NOT_PARSED, Rewrite
from sqlrewrite.text.blocks import renderings
from sqlrewrite.text.edits import Span
from sqlrewrite.text.source import Lines


def lint(sql: str, done: Rewrite, of: Callable[[str], LintResult]) -> LintResult:
    """The findings of a text, and what went wrong while looking for them."""
    every = [(it, *of(it.text)) for it in renderings(sql)]
    keys_by_rendering = [(it, {_key(one) for one in found}) for it, found, _ in every]
    kept: dict[tuple[str, Span], Finding] = {}
    for _, found, _ in every:
        for one in found:
            key = _key(one)
            if one.code == NOT_PARSED or all(
                key in others for it, others in keys_by_rendering if it.shows(one.place.span)
            ):
                kept[key] = one
    fix = Fix(tuple(_change(sql, done.sql)))
    fixed = (replace(it, fix=fix if it.fix and done.changed else None) for it in kept.values())
    ordered = sorted(fixed, key=lambda it: (it.place.span.start, it.code))
    return tuple(ordered), tuple(dict.fromkeys(bug for *_, bugs in every for bug in bugs))


def _key(finding: Finding) -> tuple[str, Span]:
    return finding.code, finding.place.span


def _change(before: str, after: str) -> Iterator[Replacement]:
    """The change from one text to the other: all between their common beginning and end."""
    pairs = list(zip(before, after, strict=False))
    start = next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs))
    rest = min(len(before), len(after)) - start
    ends = zip(reversed(before), reversed(after), strict=False)
    same = next((n for n, (a, b) in enumerate(ends) if n >= rest or a != b), rest)
    span = Span(start, len(before) - same)
    yield Replacement(place_of(Lines(before), span), after[start : len(after) - same])
