"""The actions that an editor offers at a finding: write the predicate, refresh or suppress it.

In: an analysis and findings of it. Out: actions, each a title with changes of the file's text. A
comment is offered only where reading the file with it shows that it suppresses the finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sqlrewrite.linting.findings import Finding, Fix, unsuppressed
from sqlrewrite.linting.suppressing_comments import counted, in_region
from sqlrewrite.server.analysis import Analysis, local
from sqlrewrite.text.hosts.region import Change, Region, Unwritable, changed

_TITLES = {
    "DPP001": "Write the pruning predicate",
    "DPP002": "Refresh the pruning predicate",
    "DPP003": "Take out the pruning predicate",
}
_UNSUPPRESSED = frozenset({"DPP008", "DPP009"})
"""Findings that no comment suppresses."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action for a finding, with its changes of the file."""

    title: str
    finding: Finding
    changes: tuple[Change, ...]
    preferred: bool = False


def actions(
    analysis: Analysis, found: Iterable[Finding], again: Callable[[str], Analysis]
) -> Iterator[Action]:
    """The actions for findings; ``again`` reads the file with another text."""
    for it in unsuppressed(found):
        if it.fix is not None:
            title = _TITLES.get(it.code, "Mend this as `dpp-rewrite --write` does")
            about = f" on {it.subject}" if it.subject else ""
            yield Action(f"{title}{about}", it, tuple(changes(it.fix)), preferred=True)
        suppressing = _suppressing(analysis, it, again)
        if suppressing is not None:
            yield suppressing


def changes(fix: Fix) -> Iterator[Change]:
    """What a fix changes."""
    return ((it.place.span, it.text) for it in fix.replacements)


def everything(analysis: Analysis) -> tuple[Change, ...]:
    """All that the fixes of a file change: what ``dpp-rewrite --write`` does."""
    found = (it.fix for it in unsuppressed(analysis.findings) if it.fix is not None)
    return tuple(dict.fromkeys(change for fix in found for change in changes(fix)))


def _suppressing(
    analysis: Analysis, found: Finding, again: Callable[[str], Analysis]
) -> Action | None:
    """The comment that suppresses a finding, None where there is no place for one."""
    if found.code in _UNSUPPRESSED:
        return None
    region = _region(analysis, found)
    if region is None:
        return None
    at = local(region, found.place.span.start)
    try:
        change = in_region(analysis.host, region, at, [found.code])
    except Unwritable:
        return None
    then = again(changed(analysis.host.text, [change]))
    here = (found.code, found.place.line)
    stays = (it for it in unsuppressed(analysis.findings) if (it.code, it.place.line) != here)
    if counted(unsuppressed(then.findings)) != counted(stays):  # it would do more, or nothing
        return None
    return Action(f"Suppress {found.code} here", found, (change,))


def _region(analysis: Analysis, found: Finding) -> Region | None:
    start = found.place.span.start
    for region in analysis.host.regions:
        offsets = region.sql.offsets
        if region.written and offsets[0] <= start <= offsets[-1]:
            return region
    return None
