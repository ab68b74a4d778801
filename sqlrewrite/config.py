"""``[tool.dpp-rewrite]`` of a ``pyproject.toml`` as frozen settings.

In comes a path to search upward from, or a file by name; out go ``Settings``, with paths made
relative to where the caller stands. What the table does not know is refused, not passed over: a
misspelt key would otherwise lint a warehouse with the wrong rules for years.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlrewrite.model import ConfigError
from sqlrewrite.options import FORMS

SECTION = "[tool.dpp-rewrite]"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project has settled on; an option on the command line wins over it."""

    catalog: tuple[str, ...] = ()
    schema: str | None = None
    engine: str = "spark"
    predicate: str = "in"
    when: str = "eligible"
    hint: bool = True
    depth: int = 3
    through_facts: bool = False
    key_limit: int | None = None
    explain: str = "logical"
    strict: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    root: str = "."
    source: str | None = None


def load(start: str = ".", config: str | None = None) -> Settings:
    """The settings of ``config``, or of the nearest pyproject.toml upward that has any.

    Where there is none, the defaults. Raises ConfigError.
    """
    path = _nearest(start) if config is None else config
    if path is None:
        return Settings()
    table = _table(path)
    if table is None:
        raise ConfigError(f"{path}: has no {SECTION} table")
    return _settings(table, path)


def _nearest(start: str) -> str | None:
    folder = os.path.abspath(start)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if _mentions_us(path):
            return os.path.relpath(path)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _mentions_us(path: str) -> bool:
    """A look at the bytes: most pyproject.toml are not about us, and parsing TOML takes a while."""
    try:
        with open(path, "rb") as file:
            return b"[tool.dpp-rewrite" in file.read()
    except OSError:
        return False


def _table(path: str) -> Mapping[str, Any] | None:
    import tomllib

    try:
        with open(path, "rb") as file:
            tool = tomllib.load(file).get("tool", {})
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    table = tool.get("dpp-rewrite") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _settings(table: Mapping[str, Any], path: str) -> Settings:
    values: dict[str, Any] = {}
    for key, value in table.items():
        read = KEYS.get(key)
        if read is None:
            raise ConfigError(f"{path}: {SECTION} has no key {key!r}{_nearest_key(key)}")
        try:
            values[key.replace("-", "_")] = read(value)
        except ValueError as error:
            raise ConfigError(f"{path}: {SECTION} {key} must be {error}, not {value!r}") from None
    root = os.path.dirname(path) or "."
    below = [_from_root(name, root) for name in values.get("catalog", ())]
    if "engine" in values and values["engine"].endswith(".toml"):
        values["engine"] = _from_root(values["engine"], root)
    return Settings(**{**values, "catalog": tuple(below), "root": root, "source": path})


def _from_root(name: str, root: str) -> str:
    return os.path.normpath(os.path.join(root, os.path.expanduser(name)))


def _nearest_key(key: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key.replace("_", "-"), KEYS, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f" (known: {', '.join(KEYS)})"


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a string")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a whole number from 0")
    return value


def _size(value: Any) -> int:
    return size(str(value)) if isinstance(value, str) else _count(value)


def size(text: str) -> int:
    """The bytes of ``33554432``, ``32MB``, ``500 kB``. Raises ValueError with what it must be."""
    match = re.fullmatch(r"(\d+)\s*([kKmMgG]?)[bB]?", text.strip())
    if match is None:
        raise ValueError("a size like 33554432 or 32MB")
    return int(match[1]) << 10 * " kmg".index(match[2].lower() or " ")


def _strings(value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise ValueError("a list of strings")
    return tuple(value)


def _string_or_strings(value: Any) -> tuple[str, ...]:
    try:
        return (value,) if isinstance(value, str) else _strings(value)
    except ValueError:
        raise ValueError("a string or a list of strings") from None


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(" or ".join(map(repr, choices)))
        return str(value)

    return read


KEYS: Mapping[str, Callable[[Any], Any]] = {
    "catalog": _string_or_strings,
    "schema": _string,
    "engine": _string,
    "predicate": _one_of(*FORMS),
    "when": _one_of("eligible"),
    "hint": _boolean,
    "depth": _count,
    "through-facts": _boolean,
    "key-limit": _size,
    "explain": _one_of("logical", "spark", "none"),
    "strict": _boolean,
    "select": _strings,
    "ignore": _strings,
    "exclude": _strings,
}
"""Each key with the function that reads its value, or says in a ValueError what it must be."""
