"""The settings for readers: a file that says them, the table of the reference, and a JSON schema.

docs/reference.md and docs/dpp-rewrite.schema.json hold what these functions give; a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlrewrite.settings.table import TABLE, Setting, Settings


def as_toml(settings: Settings) -> str:
    """A ``dpp-rewrite.toml`` that says the same, with a comment on where each was found."""
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
        return f"{{{', '.join(f'{_toml(name)} = {_toml(it)}' for name, it in value.items())}}}"
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
    found = {"description": row.help, **row.kind.schema}
    if row.default is None:
        return found
    return {**found, "default": dict(row.default) if _is_table(row) else row.default}
