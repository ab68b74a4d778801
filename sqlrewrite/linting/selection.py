"""Which findings count: ``select`` and ``ignore``, per-file ignores, and severities.

A code means itself, a beginning of codes (``DPP``, ``DPP00``) all that begin so; the longer one
wins where both select and ignore fit, and ``ignore`` where they are equally long, as in ruff.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache

from sqlrewrite.frozen import dataclass
from sqlrewrite.linting.findings import BY_CODE, Finding, Severity
from sqlrewrite.results import NOT_PARSED, ConfigError
from sqlrewrite.run.files import Patterns
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.nearest import nearest


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for. Codes are checked when it is made: raises ConfigError for unknown ones.

    ``per_file`` are the codes ignored by pattern of path from ``root``; ``strict`` makes a
    statement that does not parse count.
    """

    select: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severities: Mapping[str, str] = field(default_factory=dict)
    root: str = "."
    strict: bool = False

    def __post_init__(self) -> None:
        per_file = [code for _, codes in self.per_file for code in codes]
        for code in (*self.select, *self.extend, *self.ignore, *per_file, *self.severities):
            _check(code)
        for code, severity in self.severities.items():
            if severity not in {known.value for known in Severity}:
                known = ", ".join(it.value for it in Severity)
                raise ConfigError(f"severity of {code} is {severity!r}: known: {known}")

    def of(self, path: str, found: Iterable[Finding]) -> Iterator[Finding]:
        """The findings of a file that are wanted, with their severities."""
        ignored = [
            code
            for pattern, codes in self.per_file
            if _patterns(pattern, self.root).match(path)
            for code in codes
        ]
        for finding in found:
            wanted = _wanted(finding.code, self.select or ("DPP",), self.extend, self.ignore)
            if wanted and not _longest(finding.code, ignored):
                yield self._judged(finding)

    def _judged(self, finding: Finding) -> Finding:
        code = finding.code
        best = max((it for it in self.severities if code.startswith(it)), key=len, default=None)
        severity = finding.severity if best is None else Severity(self.severities[best])
        counts = finding.counts and (code != NOT_PARSED or self.strict)
        if (severity, counts) == (finding.severity, finding.counts):
            return finding
        return replace(finding, severity=severity, counts=counts)


def selection_of(settings: Settings) -> Selection:
    """Which findings count in a project. Raises ConfigError for a code that is none."""
    return Selection(
        select=settings.select,
        extend=settings.extend_select,
        ignore=settings.ignore,
        per_file=settings.per_file_ignores,
        severities=dict(settings.severity),
        root=settings.root,
        strict=settings.strict,
    )


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
