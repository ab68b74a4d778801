"""A project's settings from files, the environment and options; and their printed forms.

An option overrides a variable ``DPP_REWRITE_*``, which overrides the nearest file upward, which
overrides the default. An unknown key is an error: a misspelt one might go unnoticed for years.
docs/reference.md and docs/dpp-rewrite.schema.json contain the output of ``reference`` and
``schema``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sqlrewrite.copies import replace
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.table import KEYS, PREFIX, TABLE, Setting, Settings, named
from sqlrewrite.text.data_files import nearest, read_toml

SECTION = "[tool.dpp-rewrite]"
SHARED_FILE = "pyproject.toml"
OWN_FILE = "dpp-rewrite.toml"
"""A file with only our settings: its keys are at the top level, in no table."""
_LIKE = 0.5
"""How similar a word must be to a key to be suggested."""
_OTHERS = ("CACHE_DIR",)
"""Variables with our prefix that are not settings."""


class Projects:
    """The settings for each of many files: those of the nearest file upward that has any, or of
    ``config`` for all of them; overridden by the environment and by the ``chosen`` options. A
    folder's file is ``dpp-rewrite.toml``, or ``pyproject.toml`` with our table. Each folder is
    looked at once; if ``isolated``, no file is read."""

    def __init__(
        self,
        config: str | None = None,
        environment: Mapping[str, str] = os.environ,
        chosen: Mapping[str, Any] | None = None,
        *,
        isolated: bool = False,
    ) -> None:
        variables = {
            name: value
            for name, value in environment.items()
            if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in _OTHERS
        }
        named = variables.pop(f"{PREFIX}CONFIG", None) or None
        config = named if config is None and not isolated else config
        self._environment = _from_environment(variables)
        self._chosen = chosen or {}
        self._for_all = self._overridden(Settings()) if isolated else None
        if config is not None:
            table = _table(config)
            if table is None:
                raise ConfigError(f"{config}: has no {SECTION} table")
            self._for_all = self._overridden(_settings(table, config))
        self._nearest = cache(self._searched)

    def of(self, path: str) -> Settings:
        """The settings of a file. Raises ConfigError."""
        return self._nearest(os.path.abspath(os.path.dirname(path)))

    def at(self, path: str) -> Settings:
        """The settings for a file or folder, which need not exist. Raises ConfigError."""
        whole = os.path.abspath(path)
        return self._nearest(whole if os.path.isdir(whole) else os.path.dirname(whole))

    def _searched(self, folder: str) -> Settings:
        if self._for_all is not None:
            return self._for_all
        parent, settings = os.path.dirname(folder), _read(folder)
        if settings is None and parent != folder:
            return self._nearest(parent)
        return self._overridden(settings or Settings())

    def _overridden(self, base: Settings) -> Settings:
        """The settings of a file, overridden by the environment and the options."""
        settings = replace(base, **self._environment)
        origins = {**base.origins, **{name: named(name).variable for name in self._environment}}
        values: dict[str, Any] = {}
        for row in map(named, self._chosen):
            if row.hides:
                settings = replace(settings, **{row.hides: named(row.hides).default})
                origins.pop(row.hides, None)
        for name, value in self._chosen.items():
            row = named(name)
            values[name] = getattr(settings, name) + value if row.adds else value
            earlier = f"{origins[name]} and " if row.adds and name in origins else ""
            origins[name] = earlier + row.option
        return replace(settings, **values, origins=origins)


def files_above(path: str) -> Iterator[str]:
    """The files that may hold settings for a path, nearest first, whether they exist or not."""
    whole = os.path.abspath(path)
    folder = whole if os.path.isdir(whole) else os.path.dirname(whole)
    for above in (folder, *map(str, Path(folder).parents)):
        yield from (os.path.join(above, name) for name in (OWN_FILE, SHARED_FILE))


def load(
    start: str = ".", config: str | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings for one file or folder, as from ``Projects``. Raises ConfigError."""
    return Projects(config, environment).at(start)


def _from_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    """The settings in environment variables: commas separate items of lists, paths are as in
    PATH."""
    values: dict[str, Any] = {}
    for name, text in variables.items():
        key = name.removeprefix(PREFIX).lower().replace("_", "-")
        row = KEYS.get(key)
        if row is None:
            near = nearest(key, KEYS, _LIKE)
            hint = f"; did you mean {KEYS[near].variable}?" if near else ""
            raise ConfigError(f"the environment's {name} is no setting{hint}")
        try:
            values[row.name] = row.kind.read_text(text)
        except ValueError as error:
            raise ConfigError(f"the environment's {name} must be {error}, not {text!r}") from None
    return values


def _read(folder: str) -> Settings | None:
    """The settings in a folder's own file; None if it has none. Raises ConfigError."""
    shared, own = os.path.join(folder, SHARED_FILE), os.path.join(folder, OWN_FILE)
    table = path = None
    if _mentions_us(shared):
        path = os.path.relpath(shared)
        table = _table(path)
    if os.path.isfile(own):
        if table is not None:
            both = f"{os.path.relpath(own)}: {path} has a {SECTION} table too"
            raise ConfigError(f"{both}: keep the settings in one of the two")
        path = os.path.relpath(own)
        table = _table(path)
    return None if table is None or path is None else _settings(table, path)


def _mentions_us(path: str) -> bool:
    """Whether a file's bytes contain our table's name: most pyproject.toml have none, and parsing
    takes time."""
    try:
        with open(path, "rb") as file:
            return b"[tool.dpp-rewrite" in file.read()
    except OSError:
        return False


def _is_own(path: str) -> bool:
    return os.path.basename(path) == OWN_FILE


def _table(path: str) -> Mapping[str, Any] | None:
    whole = read_toml(path)
    if _is_own(path):
        return whole
    tool = whole.get("tool", {})
    table = tool.get("dpp-rewrite") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _settings(table: Mapping[str, Any], path: str) -> Settings:
    values: dict[str, Any] = {}
    where = f"{path}:" if _is_own(path) else f"{path}: {SECTION}"
    for key, value in table.items():
        row = KEYS.get(key)
        if row is None:
            raise ConfigError(f"{where} has no key {key!r}{_nearest_key(key, path)}")
        try:
            values[row.name] = row.kind.read(value)
        except ValueError as error:
            raise ConfigError(f"{where} {key} must be {error}, not {value!r}") from None
    origins = dict.fromkeys(values, path)
    root = os.path.dirname(path) or "."
    values["catalog"] = tuple(_from_root(name, root) for name in values.get("catalog", ()))
    if values.get("engine", "").endswith(".toml"):
        values["engine"] = _from_root(values["engine"], root)
    if "baseline" in values:
        values["baseline"] = _from_root(values["baseline"], root)
    return Settings(**values, root=root, source=path, origins=origins)


def _from_root(name: str, root: str) -> str:
    return os.path.normpath(os.path.join(root, os.path.expanduser(name)))


def _nearest_key(key: str, path: str) -> str:
    if key == "tool" and _is_own(path):
        return f": the keys stand at the top of a {OWN_FILE}, without {SECTION}"
    near = nearest(key.replace("_", "-"), KEYS, _LIKE)
    return f"; did you mean {near!r}?" if near else f" (known: {', '.join(KEYS)})"


def as_toml(settings: Settings) -> str:
    """The settings as a ``dpp-rewrite.toml``, each with a comment that says where it comes from."""
    return "".join(f"{line}\n" for line in _lines(settings))


def _lines(settings: Settings) -> Iterator[str]:
    for row in TABLE:
        value = getattr(settings, row.name)
        if value is None:
            yield f"# {row.key}: {row.shown_default or 'none'}"
        else:
            origin = settings.origins.get(row.name, "default")
            yield f"{row.key} = {_toml(dict(value) if _is_table(row) else value)}  # {origin}"


def _is_table(row: Setting) -> bool:
    return row.kind.schema.get("type") == "object"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(name)} = {_toml(item)}' for name, item in value.items())}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def reference() -> str:
    """The table of docs/reference.md, as Markdown."""
    rows = [("key", "value", "meaning", "default", "option of", "since"), ("---",) * 6]
    rows += [
        (
            f"`{row.key}`",
            row.kind.description,
            row.help,
            row.default_text or _default(row),
            ", ".join(f"`{command}`" for command in row.commands),
            row.since,
        )
        for row in TABLE
    ]
    lines = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _default(row: Setting) -> str:
    return "" if row.default in (None, (), {}) else f"`{_toml(row.default)}`"


def schema() -> str:
    """The JSON schema of ``[tool.dpp-rewrite]`` and of a ``dpp-rewrite.toml``."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of dpp-rewrite",
        "description": "[tool.dpp-rewrite] of a pyproject.toml, or a whole dpp-rewrite.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {row.key: _property(row) for row in TABLE},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _property(row: Setting) -> dict[str, Any]:
    property_ = {"description": row.help, **row.kind.schema}
    if row.default is None:
        return property_
    return {**property_, "default": dict(row.default) if _is_table(row) else row.default}
