"""Why a table that Flink's DDL declares may not be read twice: its scan never ends, or each gives
other rows.

In: the options of its WITH, and what else the DDL says. The rules of each connector are data:
``rules/connectors.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlrewrite.patterns import pattern
from sqlrewrite.plan.facts.functions import dialect_names, function
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.text.toml import read_toml

WATERMARK = "its DDL declares a watermark"
_ANY = "*"
_CALL = pattern(r"`(?:[^`]|``)*+`|'(?:[^']|'')*+'|(\w++)\s*+\(")
_PLAIN = frozenset("and as between case cast else if in like not or then try_cast when".split())


def connector(options: Mapping[str, str]) -> str | None:
    """The connector that options name; None where they name none."""
    return options.get("connector") or options.get("connector.type")


def endless(name: str, options: Mapping[str, str]) -> str | None:
    """Why a scan of a connector does not end, or may not; None where it surely does."""
    rules = _rules().get(name)
    if rules is None:
        return f"the connector {name!r} reads without an end, as far as is known"
    for key, values in rules.get("unless", {}).items():
        if _has(options, key, values):
            return f"the connector {name!r} with {key!r} reads without an end"
    wanted = rules.get("if")
    if wanted and not any(_has(options, key, values) for key, values in wanted.items()):
        return (
            f"the connector {name!r} without {' or '.join(map(repr, wanted))} reads without an end"
        )
    return None


def others_each_time(name: str | None, options: Mapping[str, str], columns: int) -> str | None:
    """That a connector makes other rows for each scan, if it does: datagen, but for sequences."""
    if name != "datagen":
        return None
    kinds = [it for key, it in options.items() if re.fullmatch(r"fields\..*\.kind", key)]
    whole = len(kinds) == columns and all(it == "sequence" for it in kinds)
    return None if whole else "datagen makes other rows for each scan"


def computed_anew(column: str, expression: str) -> str | None:
    """Why a computed column may differ between scans: a function that its expression calls."""
    for match in _CALL.finditer(expression):
        name = (match[1] or "").lower()
        if name and name not in _PLAIN and not _steady(name):
            return f"{column} is computed by {name}(), not known to give the same again"
    return None


def _steady(name: str) -> bool:
    names = dialect_names("flink")
    if name not in names.same | names.own:
        return False
    first = names.alphabet[ord(name[0]) - ord("a")] if name in names.own else name[0]
    found = function(first + name[1:])
    return found is not None and found.deterministic


def _has(options: Mapping[str, str], key: str, values: list[str]) -> bool:
    value = options.get(key)
    return value is not None and (_ANY in values or value in values)


@cache
def _rules() -> Mapping[str, Any]:
    return read_toml(rules_folder() / "connectors.toml")
