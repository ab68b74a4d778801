"""The actions that an editor offers for a finding: write the predicate, refresh or suppress it.

In: an analysis and its findings. Out: actions, each a title with changes of the file's text. A
suppressing comment is offered only if linting the file with it shows that it works.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from sqlrewrite.linting.findings import Finding, unsuppressed
from sqlrewrite.linting.suppression import counted, in_region
from sqlrewrite.server.analysis import Analysis, analyse, local
from sqlrewrite.text.edits import Edit, apply
from sqlrewrite.text.hosts.region import Region, Unwritable

_TITLES = {
    "DPP001": "Write the pruning predicate",
    "DPP002": "Refresh the pruning predicate",
    "DPP003": "Take out the pruning predicate",
}
_UNSUPPRESSED = frozenset({"DPP008", "DPP009", "DPP014"})
"""Findings that a comment on their line cannot suppress: ``config(…)`` is not SQL."""
_MOST_COMMENTS = 4
"""How many comments are offered at most: for each the file is linted once more."""


class Action(Struct, frozen=True):
    """An action for a finding, with its changes of the file."""

    title: str
    finding: Finding
    changes: tuple[Edit, ...]
    preferred: bool = False


def actions(analysis: Analysis, findings: Sequence[Finding]) -> Iterator[Action]:
    """The actions for findings: each fix, each change that the author may choose, and comments that
    suppress the first few."""
    for number, finding in enumerate(unsuppressed(findings)):
        if finding.fix is not None:
            title = _TITLES.get(finding.code, "Mend this as `dpp-rewrite --write` does")
            about = f" on {finding.subject}" if finding.subject else ""
            yield Action(f"{title}{about}", finding, tuple(finding.fix.edits), preferred=True)
        if finding.choice is not None:
            title = f"Add the condition on {finding.subject}, if nothing else writes the table"
            yield Action(title, finding, tuple(finding.choice.edits))
        suppressing = _suppressing(analysis, finding) if number < _MOST_COMMENTS else None
        if suppressing is not None:
            yield suppressing


def everything(analysis: Analysis) -> tuple[Edit, ...]:
    """The changes of all fixes in a file, as ``dpp-rewrite --write`` makes them."""
    fixes = [finding.fix for finding in unsuppressed(analysis.findings) if finding.fix is not None]
    return tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits))


@lru_cache(maxsize=16)
def _suppressing(analysis: Analysis, finding: Finding) -> Action | None:
    """The comment that suppresses a finding and no other; None if there is none."""
    region = _region(analysis, finding)
    if region is None or finding.code in _UNSUPPRESSED:
        return None
    at = local(region, finding.place.span.start)
    try:
        change = in_region(analysis.host, region, at, [finding.code])
    except Unwritable:
        return None
    then = analyse(analysis.path, apply(analysis.host.text, [change]), analysis.project)
    here = (finding.code, finding.place.line)
    stay = (
        other for other in unsuppressed(analysis.findings) if (other.code, other.place.line) != here
    )
    if counted(unsuppressed(then.findings)) != counted(stay):
        return None
    return Action(f"Suppress {finding.code} here", finding, (change,))


def _region(analysis: Analysis, finding: Finding) -> Region | None:
    start = finding.place.span.start
    for region in analysis.host.regions:
        offsets = region.sql.offsets
        if region.written and offsets[0] <= start <= offsets[-1]:
            return region
    return None
