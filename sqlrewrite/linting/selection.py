"""The findings that count: ``select`` and ``ignore``, per-file ignores, severities, the baseline,
and changed statements.

A code means itself, a prefix of codes (``DPP``, ``DPP00``) all that begin with it. Where both
select and ignore fit, the longer one wins, and ``ignore`` where they are equally long, as in ruff.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field

from sqlrewrite.copies import replace
from sqlrewrite.linting import baseline
from sqlrewrite.linting.baseline import Baseline
from sqlrewrite.linting.findings import BY_CODE, Finding, Severity
from sqlrewrite.results import NOT_PARSED, ConfigError
from sqlrewrite.run.search import Patterns
from sqlrewrite.run.statistics import documents_of, summaries
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.data_files import nearest
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Warehouse


class FindingFilter(Struct, frozen=True):
    """The findings that count in a project; ``path`` is where its baseline is, or would be."""

    settings: Settings = field(default_factory=Settings)
    baseline: Baseline = field(default_factory=Baseline)
    path: str = ""

    def applied(self, path: str, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The findings of a file that are selected; those of the baseline are suppressed."""
        if not findings:
            return findings
        return tuple(self.baseline.of(path, selected(self.settings, path, findings)))


def finding_filter(settings: Settings, *, with_baseline: bool = True) -> FindingFilter:
    """The filter for a project's findings. Raises ConfigError."""
    try:
        check(settings)
    except ConfigError as error:
        raise ConfigError(f"{settings.source or 'the environment'}: {error}") from error
    path = baseline.path_of(settings)
    if with_baseline and (settings.baseline or os.path.exists(path)):
        return FindingFilter(settings, baseline.load(path), path)
    return FindingFilter(settings, Baseline(root=baseline.root_of(path)), path)


def input_files(settings: Settings) -> Iterator[str]:
    """The files besides its own that the findings of a project depend on, whether or not they
    exist: its baseline and its catalogs."""
    from sqlrewrite.catalog.sources import in_folder  # not imported at each start

    yield baseline.path_of(settings)
    for path in settings.catalog:
        yield path
        if os.path.isdir(path):
            yield from map(str, in_folder(Path(path)))
        elif path.endswith(".json"):  # a manifest has its types there
            yield os.path.join(os.path.dirname(path), "catalog.json")


def check(settings: Settings) -> None:
    """Raises ConfigError for codes and severities that do not exist."""
    per_file = [code for _, codes in settings.per_file_ignores for code in codes]
    chosen = (*settings.select, *settings.extend_select, *settings.ignore)
    for code in (*chosen, *per_file, *dict(settings.severity)):
        _check(code)
    for code, severity in settings.severity:
        if severity not in {level.value for level in Severity}:
            levels = ", ".join(level.value for level in Severity)
            raise ConfigError(f"severity of {code} is {severity!r}: it must be one of {levels}")


def selected(settings: Settings, path: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a file that the settings select, with their severities."""
    ignored = [
        code
        for pattern, codes in settings.per_file_ignores
        if _patterns(pattern, settings.root).match(path)
        for code in codes
    ]
    chosen = settings.select or ("DPP",), settings.extend_select, settings.ignore
    severities = dict(settings.severity)
    for finding in findings:
        if _wanted(finding.code, *chosen) and not _longest(finding.code, ignored):
            yield _judged(finding, severities, strict=settings.strict)


def in_changed_statements(
    path: str,
    text: str,
    findings: Iterable[Finding],
    changed: Sequence[tuple[int, int]],
    limits: Limits,
) -> tuple[Finding, ...]:
    """The findings of a file in changed statements. A change anywhere in a statement counts: a
    condition added to its WHERE may let a scan be pruned lines above."""
    documents = documents_of(path, text, Warehouse(), limits)
    spans = [(summary.line, summary.end_line) for summary in summaries(documents)]

    def counts(finding: Finding) -> bool:
        own = (finding.place.line, finding.place.end_line)
        first, last = next((span for span in spans if span[0] <= own[0] <= span[1]), own)
        return any(first <= high and low <= last for low, high in changed)

    return tuple(filter(counts, findings))


def _judged(finding: Finding, severities: Mapping[str, str], *, strict: bool) -> Finding:
    code = finding.code
    best = max((prefix for prefix in severities if code.startswith(prefix)), key=len, default=None)
    severity = finding.severity if best is None else Severity(severities[best])
    counted = severity is not Severity.NOTE and code != NOT_PARSED
    counts = finding.counts and (counted or strict)
    if (severity, counts) == (finding.severity, finding.counts):
        return finding
    return replace(finding, severity=severity, counts=counts)


@lru_cache(256)
def _patterns(pattern: str, root: str) -> Patterns:
    return Patterns((pattern,), root)


@lru_cache(256)
def _wanted(
    code: str, select: tuple[str, ...], extend: tuple[str, ...], ignore: tuple[str, ...]
) -> bool:
    return max(_longest(code, select), _longest(code, extend)) > _longest(code, ignore)


def _longest(code: str, prefixes: Sequence[str]) -> int:
    """The length of the longest of the prefixes that a code begins with, 0 where none does."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


def _check(code: str) -> None:
    if not any(known_code.startswith(code) for known_code in BY_CODE) or not code:
        near = nearest(code.upper(), BY_CODE)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(BY_CODE)}"
        raise ConfigError(f"no finding has a code that begins with {code!r}: {hint}")
