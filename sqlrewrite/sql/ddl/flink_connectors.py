"""Why a table of Flink's must not be read twice: its scan never ends, or each gives other rows.

In: the options of WITH in its DDL, and its computed columns. Out: a reason, or None. The rules of
each connector are data: ``rules/connectors.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlrewrite.plan.facts.functions import dialect_names, function
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.text.toml import read_toml

WATERMARK = "its DDL declares a watermark"
_ANY_VALUE = "*"
_CALL = re.compile(r"`(?:[^`]|``)*+`|'(?:[^']|'')*+'|(\w++)\s*+\(")
_NOT_FUNCTIONS = frozenset(
    "and as between case cast else if in like not or then try_cast when".split()
)


def connector_name(options: Mapping[str, str]) -> str | None:
    """The connector that the options of a table name, or None."""
    return options.get("connector") or options.get("connector.type")


def why_endless(name: str, options: Mapping[str, str]) -> str | None:
    """Why a scan of this connector may never end, or None where it surely does."""
    rules = _rules().get(name)
    if rules is None:
        return f"the connector {name!r} reads without an end, as far as is known"
    for key, values in rules.get("unless", {}).items():
        if _has(options, key, values):
            return f"the connector {name!r} with {key!r} reads without an end"
    required = rules.get("if")
    if required and not any(_has(options, key, values) for key, values in required.items()):
        without = " or ".join(map(repr, required))
        return f"the connector {name!r} without {without} reads without an end"
    return None


def why_other_rows(name: str | None, options: Mapping[str, str], columns: int) -> str | None:
    """Why a connector makes other rows for each scan, or None: datagen, unless all columns are
    sequences."""
    if name != "datagen":
        return None
    kinds = [it for key, it in options.items() if re.fullmatch(r"fields\..*\.kind", key)]
    whole = len(kinds) == columns and all(it == "sequence" for it in kinds)
    return None if whole else "datagen makes other rows for each scan"


def why_recomputed(column: str, expression: str) -> str | None:
    """Why a computed column may differ between scans, or None: it calls a function that is not
    known to be deterministic."""
    for match in _CALL.finditer(expression):
        name = (match[1] or "").lower()
        if name and name not in _NOT_FUNCTIONS and not _is_deterministic(name):
            return f"{column} is computed by {name}(), not known to give the same again"
    return None


def _is_deterministic(name: str) -> bool:
    names = dialect_names("flink")
    if name not in names.same | names.own:
        return False
    first = names.alphabet[ord(name[0]) - ord("a")] if name in names.own else name[0]
    found = function(first + name[1:])
    return found is not None and found.deterministic


def _has(options: Mapping[str, str], key: str, values: list[str]) -> bool:
    value = options.get(key)
    return value is not None and (_ANY_VALUE in values or value in values)


@cache
def _rules() -> Mapping[str, Any]:
    return read_toml(rules_folder() / "connectors.toml")
