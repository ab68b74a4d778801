"""The baseline: findings that are known and do not count, so that only new ones do.

A JSON file with a count for each path, code, statement and subject. A statement is identified by
its tokens, so that moved lines, other spacing and our own predicates change nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypedDict

from msgspec import Struct, field

from sqlrewrite.copies import replace
from sqlrewrite.linting.findings import Finding, Suppression
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.data_files import type_error
from sqlrewrite.text.source import write_atomically

VERSION = 1
NAME = ".dpp-rewrite-baseline.json"
_AGAIN = "write it again with --write-baseline"

BaselineKey = tuple[str, str, str, str]
"""The path from the baseline's folder (with forward slashes), code, statement and subject. One
baseline may serve several projects."""


class Baseline(Struct, frozen=True):
    """Known findings, each with how often it is known; paths are relative to ``root``, the folder
    of its file."""

    counts: Counter[BaselineKey] = field(default_factory=Counter)
    root: str = "."

    def key(self, path: str, finding: Finding) -> BaselineKey:
        """The key that identifies a finding."""
        relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        return (relative, finding.code, finding.statement, finding.subject)

    def of(self, path: str, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings of a file; known ones are suppressed."""
        if not self.counts:
            yield from findings
            return
        met: Counter[BaselineKey] = Counter()
        for finding in findings:
            key = self.key(path, finding)
            if finding.suppression is None and met[key] < self.counts[key]:
                met[key] += 1
                suppression = Suppression("external", "in the baseline")
                finding = replace(finding, suppression=suppression, counts=False)
            yield finding


def path_of(settings: Settings) -> str:
    """The path of a project's baseline: that of the settings, else that of --write-baseline."""
    return settings.baseline or os.path.join(settings.root, NAME)


def root_of(path: str) -> str:
    """The folder from which a baseline names files."""
    return os.path.dirname(path) or "."


class _Entry(TypedDict):
    """A known finding as the file has it, with its count."""

    path: str
    code: str
    statement: str
    subject: str
    count: int


class _File(TypedDict):
    version: int
    findings: list[_Entry]


def load(path: str) -> Baseline:
    """The baseline in a file. Raises ConfigError where it is missing or not of our form."""
    import json  # not imported at each start

    from msgspec import convert

    try:
        with open(path, encoding="utf-8") as file:
            data = convert(json.load(file), _File)
    except OSError as error:
        why = f"{error.strerror or error}; make it with --write-baseline"
        raise ConfigError(f"baseline {path}: {why}") from error
    except (ValueError, RecursionError) as error:
        where, message = type_error(error)
        why = f"not in the expected form: {f'{where}: ' if where else ''}{message}; {_AGAIN}"
        raise ConfigError(f"baseline {path}: {why}") from error
    if data["version"] != VERSION:
        why = f"version {data['version']} is not supported; {_AGAIN}"
        raise ConfigError(f"baseline {path}: {why}")
    counts = {
        (entry["path"], entry["code"], entry["statement"], entry["subject"]): entry["count"]
        for entry in data["findings"]
    }
    return Baseline(Counter(counts), root_of(path))


class Writing(Struct):
    """The content of a new baseline: the findings ``counted`` in the files ``read``, with paths
    from ``root``."""

    root: str
    counted: Counter[BaselineKey] = field(default_factory=Counter)
    read: set[str] = field(default_factory=set)

    def add(self, path: str, keys: Iterable[BaselineKey]) -> None:
        """Adds the findings of one file."""
        self.read.add(os.path.realpath(path))
        self.counted.update(keys)


def write(path: str, writing: Writing) -> int:
    """Writes a baseline, sorted, so that its diff shows what is new: the new findings, and those
    that the file had of other files that still exist. Returns the number of the latter. Raises
    ConfigError."""
    import json

    kept = _of_others(path, writing)
    entries = [
        {"path": key[0], "code": key[1], "statement": key[2], "subject": key[3], "count": count}
        for key, count in sorted((writing.counted + kept).items())
    ]
    text = json.dumps({"version": VERSION, "findings": entries}, indent=1) + "\n"
    try:
        if not os.path.exists(path):
            with open(path, "x", encoding="utf-8"):
                pass
        write_atomically(path, text.encode("ascii"))
    except OSError as error:
        raise ConfigError(f"baseline {path}: cannot be written: {error.strerror}") from error
    return kept.total()


def _of_others(path: str, writing: Writing) -> Counter[BaselineKey]:
    """The entries of a baseline for files that were not read and still exist; none if the baseline
    is missing, or is broken and will be replaced."""
    try:
        earlier = load(path).counts
    except ConfigError:
        return Counter()
    files = {name: _file(os.path.join(writing.root, name)) for name, *_ in earlier}
    others = {
        key for key, file in files.items() if file not in writing.read and os.path.exists(file)
    }
    return Counter({key: count for key, count in earlier.items() if key[0] in others})


def _file(path: str) -> str:
    """The path without links; empty for what cannot be the name of a file."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return ""
