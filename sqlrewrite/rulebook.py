"""Loads ``rules/``: the engines' settings and tables, and the page of each rule.

The folder is data. In the wheel it lies inside the package, in a checkout beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from sqlrewrite.results import ConfigError
from sqlrewrite.text.data_files import nearest, read_toml

_PACKAGE = Path(__file__).resolve().parent
_VERSION = re.compile(r"(\d+)\.(\d+)")
_PAGE = re.compile(r"^# (?P<code>DPP\d{3}) (?P<name>[\w-]+)\n+(?P<summary>.+?)\n\n", re.DOTALL)
_KIND = re.compile(r"^Kind: (\w+)\.", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine's settings and tables, one field for each key of its file and of engines.toml."""

    name: str
    version: str
    time_parser_policy: str
    enabled: bool
    use_stats: bool
    fallback_filter_ratio: float
    reuse_broadcast_only: bool
    broadcast_threshold: int
    key_limit: int
    computes_partitions: frozenset[str]
    set_limit: int
    transforms: frozenset[str]
    planner: str
    native_joins: frozenset[str]
    carries_constants: frozenset[str]
    takes_keys: frozenset[str]
    queries_in_on: bool
    predicates: frozenset[str]
    branching: frozenset[str]

    @property
    def title(self) -> str:
        """Its name in a sentence."""
        return _TITLES.get(self.name, self.name.capitalize())

    def since(self, version: str) -> bool | None:
        """Whether the engine is of that version or a later one; None if its version is unknown."""
        return at_least(self.version, version)

    @property
    def patterns_raise(self) -> bool:
        """Whether reading a string by a date pattern may raise an error instead of giving NULL:
        under the policy EXCEPTION, Spark's default before 4.0."""
        if self.time_parser_policy:
            return self.time_parser_policy not in ("corrected", "legacy")
        return self.name == "spark" and not self.since("4.0")


def at_least(version: str, other: str) -> bool | None:
    """Whether a version, as 4.1 or 4.1.2, is the other one or later; None if one is not of that
    form."""
    one, least = (_VERSION.match(text) for text in (version, other))
    return one and least and (int(one[1]), int(one[2])) >= (int(least[1]), int(least[2]))


_TITLES = {"duckdb": "DuckDB"}


class Page(Struct, frozen=True):
    """A page: ``kind`` is ``soundness``, ``benefit`` or ``choice`` for a rule, or ``lint``, and
    ``text`` is its Markdown."""

    code: str
    name: str
    summary: str
    kind: str
    text: str


def rules_folder() -> Path:
    """Where ``rules/`` is: in the installed package, or beside it in a checkout."""
    inside = _PACKAGE / "rules"
    return inside if inside.is_dir() else _PACKAGE.parent / "rules"


@lru_cache(maxsize=16)
def engine(name: str) -> Engine:
    """The engine of that name, or of that file. Raises ConfigError, which lists the known
    engines."""
    path = rules_folder() / "engines" / f"{name}.toml"
    if name.endswith(".toml"):
        path = Path(name)
    elif not path.is_file():
        names = sorted(file.stem for file in path.parent.glob("*.toml"))
        near = nearest(name, names)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(names)}, or a .toml file"
        raise ConfigError(f"no engine is called {name!r}: {hint}")
    shared = _flat(read_toml(rules_folder() / "engines.toml"))
    return _checked({**shared, **_flat(read_toml(path))}, str(path))


def _flat(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all tables of an engine's file, which only group them."""
    values: dict[str, Any] = {}
    for key, value in tables.items():
        values.update(value if isinstance(value, dict) else {key: value})
    return values


def _checked(values: dict[str, Any], source: str) -> Engine:
    """The engine with a file's values. Raises ConfigError for a missing field, an unknown one, and
    a value of another type."""
    types = {field.name: str(field.type) for field in fields(Engine)}
    for key in values:
        if key not in types:
            near = nearest(key, types)
            raise ConfigError(
                f"{source}: unknown key {key!r}" + (f": did you mean {near}?" if near else "")
            )
    for key, kind in types.items():
        if key not in values:
            raise ConfigError(
                f"{source}: {key} is missing; rules/engines/spark.toml shows how it is written"
            )
        value = values[key]
        if kind.startswith("frozenset"):
            if isinstance(value, str):
                value = value.split()
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise ConfigError(f"{source}: {key}: expected a list of names")
            values[key] = frozenset(value)
        elif kind == "float" and isinstance(value, int) and not isinstance(value, bool):
            values[key] = float(value)
        elif type(value).__name__ != kind:
            raise ConfigError(f"{source}: {key}: expected {kind}, found {value!r}")
    return Engine(**values)


@lru_cache(maxsize=1)
def pages() -> tuple[Page, ...]:
    """All rule pages, by code. Raises ConfigError for a page that is not of the form."""
    return tuple(_page(path) for path in sorted(rules_folder().glob("DPP*.md")))


def _page(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    head, kind = _PAGE.match(text), _KIND.search(text)
    if head is None or kind is None:
        raise ConfigError(f"{path}: a rule page begins '# CODE name', a summary, then 'Kind: …'")
    summary = " ".join(head["summary"].split())
    return Page(head["code"], head["name"], summary, kind.group(1), text)
