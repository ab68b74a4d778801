"""``[tool.dpp-rewrite]`` of a ``pyproject.toml``, and ``DPP_REWRITE_*``, as frozen settings.

In comes a path to search upward from, or a file by name; out go ``Settings``, with paths made
relative to where the caller stands. A variable of the environment wins over the table. What is not
known is refused, not passed over: a misspelt key would otherwise lint a warehouse with the wrong
rules for years.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.functions import DECLARED
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.options import COLLAPSE_OVER, FORMS, REFUSE_OVER, WHENS
from sqlrewrite.text.limits import NESTING_MOST, Limits
from sqlrewrite.text.nearest import nearest
from sqlrewrite.text.toml import read_toml

SECTION = "[tool.dpp-rewrite]"
PREFIX = "DPP_REWRITE_"
_LIKE = 0.5
"""How like a word must be to a key to be taken for it."""
_OTHERS = ("CACHE_DIR",)
"""Variables that are no setting of a project: others read them."""

Pairs = tuple[tuple[str, tuple[str, ...]], ...]
"""What stands by a name or a pattern, in order."""


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
    file_limit: int = Limits().file
    statement_limit: int = Limits().statement
    nesting_limit: int = Limits().nesting
    functions: Mapping[str, str] = field(default_factory=dict)
    double_quoted_identifiers: bool | None = None
    collapse_over: int = COLLAPSE_OVER
    refuse_over: int = REFUSE_OVER
    explain: str = "logical"
    strict: bool = False
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Pairs = ()
    severity: Pairs = ()
    baseline: str | None = None
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    jobs: int | None = None
    root: str = "."
    source: str | None = None


class Projects:
    """The settings of each of many files: those of the nearest pyproject.toml upward that has any,
    or of ``config`` for all of them, under those of the environment. Each folder is looked at once.
    """

    def __init__(
        self, config: str | None = None, environment: Mapping[str, str] = os.environ
    ) -> None:
        given = {key: text for key, text in environment.items() if _is_setting(key)}
        named = given.pop(f"{PREFIX}CONFIG", None) or None
        config = named if config is None else config
        self._environment = _from_environment(given)
        self._for_all = None if config is None else self._read(config)
        if config is not None and self._for_all is None:
            raise ConfigError(f"{config}: has no {SECTION} table")
        self._above: dict[str, Settings] = {}
        self._here: dict[str, Settings] = {}

    def of(self, path: str) -> Settings:
        """The settings of a file. Raises ConfigError."""
        folder = path[: path.rfind(os.sep) + 1]
        found = self._here.get(folder)
        if found is None:
            found = self._here[folder] = self._upward(os.path.abspath(folder))
        return found

    def at(self, path: str) -> Settings:
        """The settings at a file or a folder, be it there or not. Raises ConfigError."""
        whole = os.path.abspath(path)
        return self._upward(whole if os.path.isdir(whole) else os.path.dirname(whole))

    def _upward(self, folder: str) -> Settings:
        if self._for_all is not None:
            return self._for_all
        found = self._above.get(folder)
        if found is None:
            path, parent = os.path.join(folder, "pyproject.toml"), os.path.dirname(folder)
            if _mentions_us(path):
                found = self._read(os.path.relpath(path))
            if found is None and parent != folder:
                found = self._upward(parent)
            if found is None:
                found = replace(Settings(), **self._environment)
            self._above[folder] = found
        return found

    def _read(self, path: str) -> Settings | None:
        """The settings of one file, None where it has no table of ours."""
        table = _table(path)
        return None if table is None else replace(_settings(table, path), **self._environment)


def load(
    start: str = ".", config: str | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings at one file or folder, as ``Projects`` has them. Raises ConfigError."""
    return Projects(config, environment).at(start)


def _is_setting(name: str) -> bool:
    return name.startswith(PREFIX) and name.removeprefix(PREFIX) not in _OTHERS


def _from_environment(given: Mapping[str, str]) -> dict[str, Any]:
    """The settings in variables: lists have commas between their items, paths what PATH has."""
    values: dict[str, Any] = {}
    for name, text in given.items():
        key = name.removeprefix(PREFIX).lower().replace("_", "-")
        if key not in KEYS:
            near = nearest(key, KEYS, _LIKE)
            hint = f"; did you mean {PREFIX}{near.upper().replace('-', '_')}?" if near else ""
            raise ConfigError(f"the environment's {name} is no setting{hint}")
        try:
            values[_field(key)] = read(key, text)
        except ValueError as error:
            raise ConfigError(f"the environment's {name} must be {error}, not {text!r}") from None
    return values


def read(key: str, text: str) -> Any:
    """The setting that a variable, or an option, says in one word. Raises ValueError with what it
    must be."""
    return KEYS[key](_PARSERS.get(KEYS[key], str)(text))


def _field(key: str) -> str:
    return key.replace("-", "_")


def _mentions_us(path: str) -> bool:
    """A look at the bytes: most pyproject.toml are not about us, and parsing TOML takes a while."""
    try:
        with open(path, "rb") as file:
            return b"[tool.dpp-rewrite" in file.read()
    except OSError:
        return False


def _table(path: str) -> Mapping[str, Any] | None:
    tool = read_toml(path).get("tool", {})
    table = tool.get("dpp-rewrite") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _settings(table: Mapping[str, Any], path: str) -> Settings:
    values: dict[str, Any] = {}
    for key, value in table.items():
        read = KEYS.get(key)
        if read is None:
            raise ConfigError(f"{path}: {SECTION} has no key {key!r}{_nearest_key(key)}")
        try:
            values[_field(key)] = read(value)
        except ValueError as error:
            raise ConfigError(f"{path}: {SECTION} {key} must be {error}, not {value!r}") from None
    root = os.path.dirname(path) or "."
    below = [_from_root(name, root) for name in values.get("catalog", ())]
    if "engine" in values and values["engine"].endswith(".toml"):
        values["engine"] = _from_root(values["engine"], root)
    if "baseline" in values:
        values["baseline"] = _from_root(values["baseline"], root)
    return Settings(**{**values, "catalog": tuple(below), "root": root, "source": path})


def _from_root(name: str, root: str) -> str:
    return os.path.normpath(os.path.join(root, os.path.expanduser(name)))


def _nearest_key(key: str) -> str:
    near = nearest(key.replace("_", "-"), KEYS, _LIKE)
    return f"; did you mean {near!r}?" if near else f" (known: {', '.join(KEYS)})"


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


def _nesting(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= NESTING_MOST:
        raise ValueError(f"a number from 1 to {NESTING_MOST}")
    return value


def _jobs(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a number from 1 on")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise ValueError("a list of strings")
    return tuple(value)


def _codes(value: Any) -> tuple[str, ...]:
    return tuple(code.upper() for code in _strings(value))


def _string_or_strings(value: Any) -> tuple[str, ...]:
    try:
        return (value,) if isinstance(value, str) else _strings(value)
    except ValueError:
        raise ValueError("a string or a list of strings") from None


def _codes_by_pattern(value: Any) -> Pairs:
    try:
        return tuple((_string(name), _codes(codes)) for name, codes in dict(value).items())
    except (ValueError, TypeError):
        raise ValueError("a table of patterns, each with a list of codes") from None


def _severities(value: Any) -> Pairs:
    try:
        pairs = dict(value).items()
        return tuple((_string(code).upper(), (_string(name),)) for code, name in pairs)
    except (ValueError, TypeError):
        raise ValueError("a table of codes, each with its severity") from None


def _functions(value: Any) -> Mapping[str, str]:
    if not (isinstance(value, dict) and all(said in DECLARED for said in value.values())):
        known = " or ".join(map(repr, DECLARED))
        raise ValueError(f"a table of functions, each with {known}")
    return {str(name).lower(): str(said) for name, said in value.items()}


def _pattern_and_code(text: str) -> dict[str, list[str]]:
    """``PATTERN:CODE,PATTERN:CODE`` as the table that says the same."""
    found: dict[str, list[str]] = {}
    for item in _items(text):
        pattern, colon, code = item.rpartition(":")
        if not (colon and pattern and code):
            raise ValueError("PATTERN:CODE, with commas between several")
        found.setdefault(pattern, []).append(code)
    return found


def _name_and_word(text: str) -> dict[str, str]:
    """``NAME=WORD,NAME=WORD`` as the table that says the same."""
    pairs = [item.partition("=") for item in _items(text)]
    if not all(equals and code and name for code, equals, name in pairs):
        raise ValueError("NAME=WORD, with commas between several")
    return {code: name for code, _, name in pairs}


def _items(text: str) -> list[str]:
    return [item for part in text.split(",") if (item := part.strip())]


def _number(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise ValueError("true or false")
    return _TRUTHS[text.lower()]


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
    "when": _one_of(*WHENS),
    "hint": _boolean,
    "depth": _count,
    "through-facts": _boolean,
    "key-limit": _size,
    "file-limit": _size,
    "statement-limit": _size,
    "nesting-limit": _nesting,
    "functions": _functions,
    "double-quoted-identifiers": _boolean,
    "collapse-over": _count,
    "refuse-over": _count,
    "explain": _one_of("logical", "spark", "none"),
    "strict": _boolean,
    "select": _codes,
    "extend-select": _codes,
    "ignore": _codes,
    "per-file-ignores": _codes_by_pattern,
    "severity": _severities,
    "baseline": _string,
    "exclude": _strings,
    "force-exclude": _boolean,
    "jobs": _jobs,
}
"""Each key with the function that reads its value, or says in a ValueError what it must be."""

_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

_PARSERS: Mapping[Callable[[Any], Any], Callable[[str], Any]] = {
    _boolean: _truth,
    _strings: _items,
    _codes: _items,
    _count: _number,
    _jobs: _number,
    _nesting: _number,
    _string_or_strings: lambda text: [it for it in text.split(os.pathsep) if it],
    _codes_by_pattern: _pattern_and_code,
    _severities: _name_and_word,
    _functions: _name_and_word,
}
"""How the text of a variable becomes what a table would say, by the function that reads that."""
