"""Which findings count: ``select`` and ``ignore``, per-file ignores, and severities.

A code means itself, a beginning of codes (``DPP``, ``DPP00``) all that begin so; the longer one
wins where both select and ignore fit, and ``ignore`` where they are equally long, as in ruff.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sqlrewrite.linting.findings import BY_CODE, Finding, Severity
from sqlrewrite.results import NOT_PARSED, ConfigError
from sqlrewrite.run.files import Patterns
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.nearest import nearest


def check(settings: Settings) -> None:
    """Raises ConfigError for codes and severities that are none."""
    per_file = [code for _, codes in settings.per_file_ignores for code in codes]
    chosen = (*settings.select, *settings.extend_select, *settings.ignore)
    for code in (*chosen, *per_file, *dict(settings.severity)):
        _check(code)
    for code, severity in settings.severity:
        if severity not in {known.value for known in Severity}:
            known = ", ".join(it.value for it in Severity)
            raise ConfigError(f"severity of {code} is {severity!r}: known: {known}")


def selected(settings: Settings, path: str, found: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a file that are wanted, with their severities."""
    ignored = [
        code
        for pattern, codes in settings.per_file_ignores
        if _patterns(pattern, settings.root).match(path)
        for code in codes
    ]
    asked = settings.select or ("DPP",), settings.extend_select, settings.ignore
    severities = dict(settings.severity)
    for finding in found:
        if _wanted(finding.code, *asked) and not _longest(finding.code, ignored):
            yield _judged(finding, severities, strict=settings.strict)


def _judged(finding: Finding, severities: Mapping[str, str], *, strict: bool) -> Finding:
    code = finding.code
    best = max((it for it in severities if code.startswith(it)), key=len, default=None)
    severity = finding.severity if best is None else Severity(severities[best])
    counts = finding.counts and (code != NOT_PARSED or strict)
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
    if not any(known.startswith(code) for known in BY_CODE) or not code:
        near = nearest(code.upper(), BY_CODE)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(BY_CODE)}"
        raise ConfigError(f"no finding has a code that begins with {code!r}: {hint}")
