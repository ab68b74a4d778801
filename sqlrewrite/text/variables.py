"""Variables whose values the project gives (``[tool.dpp-rewrite.variables]``), in names.

In: a name as it is written, ``${db}`` or ``ods_{{ env }}``. Out: what it is with the values put in.
A value of these is a word, and so can only be a name or a part of one. ``{x}`` and ``%(x)s`` are
left out: these are the variables of a program, which sets them where nobody sees.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar

from sqlrewrite.text.templates import Refer
from sqlrewrite.warehouse import VARIABLE, Warehouse

W = TypeVar("W", bound=Warehouse)

# Spark's VariableSubstitution and Hive's shell look ${x} up under these kinds, and without one.
_WRITTEN = re.compile(
    r"\$\{(?:(?:hivevar|hiveconf|spark|sparkconf):)?([\w.]+)\}"
    r"|\{\{\s*([\w.]+)\s*\}\}"
    r"|\{\{\s*var\(\s*['\"]([\w.]+)['\"]\s*(?:,[^(){}]*)?\)\s*\}\}"
    r"|#\{([\w.]+)\}|(?<![\w$])\$(\w+)|@(\w+)@|(?<!\w)&&?(\w+)"
)

# What gives variables values that nobody here knows: another file that is run, all settings of a
# session taken back, a SET of a variable that has another in its name.
_ELSEWHERE = re.compile(
    r"^[ \t]*(?:(?:--|#)[ \t]*MAGIC[ \t]+)?%run\b"
    r"|^[ \t]*(?:!?source|!run|@)[ \t]*[\w~$'\"{}-]*[./$][\w./~$'\"{}-]*[ \t]*;?[ \t]*$"
    r"|\breset[ \t]*(?:;|\Z)|\b(?:set|define)\s+[^\s=;'\"]*[$@&{]",
    re.IGNORECASE | re.MULTILINE,
)
_SETS = (
    r"\b(?:set|unset|reset|define|undefine|def)\b(?:[^;='\"]{0,2000}?|\s*\(?\s*['\"])"
    r"(?<![\w.{$])"
)


def given(name: str, refer: Refer) -> str:
    """A name with the values of those of its variables that have one."""

    def value(match: re.Match[str]) -> str:
        found = refer((VARIABLE, match[match.lastindex or 0]))
        return match.group() if found is None else found[0]

    return _WRITTEN.sub(value, name)


def in_force(catalog: W, text: str) -> W:
    """The catalog with the values of only those variables that a text sets nowhere, so that each
    has the project's all through it. What is in a comment or string, or behind, counts as well."""
    if not catalog.variables:
        return catalog
    kept = {name: it for name, it in catalog.variables.items() if not _sets(name, text)}
    if _ELSEWHERE.search(text):
        kept = {}
    return catalog if kept == catalog.variables else replace(catalog, variables=kept)


def _sets(name: str, text: str) -> bool:
    return re.search(rf"{_SETS}{re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
