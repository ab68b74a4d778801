"""Variables in names, with values from the project (``[tool.dpp-rewrite.variables]``) or from SETs
at the head of the text.

In: a name as written, ``${db}.t`` or ``ods_{{ env }}``. Out: the name with the values in it, if
they are words. ``{x}`` and ``%(x)s`` stay as they are: a program fills them in.
"""

from __future__ import annotations

import re
from typing import TypeVar

from sqlrewrite.copies import replace
from sqlrewrite.text.masking import is_notebook
from sqlrewrite.text.templates import Refer
from sqlrewrite.warehouse import SET_VALUES, VARIABLE, Name, Warehouse

W = TypeVar("W", bound=Warehouse)

# Spark's VariableSubstitution and Hive's shell look ${x} up under these prefixes, and without one.
_WRITTEN = re.compile(
    r"\$\{(?:(?:hivevar|hiveconf|spark|sparkconf):)?([\w.]+)\}"
    r"|\{\{\s*([\w.]+)\s*\}\}"
    r"|\{\{\s*var\(\s*['\"]([\w.]+)['\"]\s*(?:,[^(){}]*)?\)\s*\}\}"
    r"|#\{([\w.]+)\}|(?<![\w$])\$(\w+)|@(\w+)@|(?<!\w)&&?(\w+)"
)

# Statements after which the values of variables are not known: running another file, RESET of all
# settings, a SET of a variable whose name contains another.
_ELSEWHERE = re.compile(
    r"^[ \t]*(?:(?:--|#)[ \t]*MAGIC[ \t]+)?%run\b"
    r"|^[ \t]*(?:!?source|!run|@)[ \t]*[\w~'\"{}-]*+[./$][\w./~$'\"{}-]*+[ \t]*+(?:;[ \t]*+)?$"
    r"|\breset[ \t]*(?:;|\Z)|\b(?:set|define)\s+[^\s=;'\"]*[$@&{]",
    re.IGNORECASE | re.MULTILINE,
)
# The head of a text: its statements surely run, once, and before all others. Spark nests comments,
# so a comment that opens another ends the head.
_HEAD = re.compile(
    r"\ufeff?(?:\s+|--[^\r\n]*|/\*(?:(?!/\*).)*?\*/|(?:set|use|add)\b[^;'\"]*;)*",
    re.IGNORECASE | re.DOTALL,
)
_SET_HERE = re.compile(
    r"^[ \t]*set\s+(?:(?:hivevar|hiveconf|spark|sparkconf):)?([A-Za-z_]\w*)\s*=\s*(\w+)\s*;",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_VALUES = 64
_SET_TO = re.compile(
    r"\bset\s+(?:(?:hivevar|hiveconf|spark|sparkconf):)?`?(?P<key>[A-Za-z_][\w.]*)`?[ \t]*="
    r"(?P<value>(?:'[^'\\]*'|\"[^\"\\]*\"|[^;'\"])*)"
    r"|\bset\(\s*(['\"])(?P<name>[A-Za-z_][\w.]*)\3\s*,\s*(['\"])(?P<literal>[^'\"\\]*)\5\s*\)",
    re.IGNORECASE,
)
_SETS = (
    r"\b(?:set|unset|reset|define|undefine|def)\b(?:[^;='\"]{0,2000}?|\s*+(?:\(\s*+)?['\"])"
    r"(?<![\w.{$])"
)


def with_values(name: str, refer: Refer) -> str:
    """A name with the known values of its variables."""

    def value(match: re.Match[str]) -> str:
        name = refer((VARIABLE, match[match.lastindex or 0]))
        return match.group() if name is None else name[0]

    return _WRITTEN.sub(value, name)


def is_variable(name: str) -> bool:
    """Whether a name is one variable and nothing else."""
    return _WRITTEN.fullmatch(name) is not None


def in_force(catalog: W, text: str, *, runs_once: bool = True) -> W:
    """The catalog with the values of variables that hold throughout a text: those that the text
    sets at its head, and the project's for variables that it sets nowhere. A SET in a comment or
    string, or later in the text, counts as well. ``runs_once``: the text is SQL, run from its
    beginning."""
    own = _set_at_head(text) if runs_once else {}
    shown = _values_set(text)
    if shown and shown != catalog.set_values:
        # A region of a file has the variables that the whole file sets.
        both = {**catalog.set_values, **shown}
        catalog = replace(catalog, set_values=both)
    if not (catalog.variables or own):
        return catalog
    values = catalog.variables
    kept = {
        name: value
        for name, value in values.items()
        if own.get(name) == value or not _sets(name, text)
    }
    kept |= own
    if _ELSEWHERE.search(text):
        kept = {}
    return catalog if kept == values else replace(catalog, variables=kept)


def set_values(variable: str, refer: Refer) -> Name:
    """The values that a text sets a variable ``${x}`` to; none if it sets none."""
    values, waiting = list[str](), [variable]
    for text in waiting:  # a variable may be set to another, and that one to a third
        match = _WRITTEN.fullmatch(text) if text.startswith("${") else None
        if match is None or len(waiting) > _MOST_VALUES:
            values.append(text)
            continue
        own = refer((SET_VALUES, match[1].lower())) or ()
        waiting += (value for value in own if value not in waiting)
    return tuple(value for value in values if value != variable)


def _values_set(text: str) -> dict[str, Name]:
    """The values that a text gives each variable ``${x}``, by SET or in Python with a literal."""
    if "${" not in text or "set" not in text.casefold():
        return {}
    values: dict[str, list[str]] = {}
    for match in _SET_TO.finditer(text):
        value = match["value"] if match["value"] is not None else match["literal"]
        values.setdefault((match["key"] or match["name"]).lower(), []).append(value.strip())
    return {name: tuple(dict.fromkeys(texts)) for name, texts in values.items()}


def _set_at_head(text: str) -> dict[str, str]:
    """The variables that a text sets once, at its head, to a word, and reads only after that, as
    Spark's substitution does. In a notebook a widget may have the same name."""
    head = _HEAD.match(text) if "set" in text.casefold() else None  # most texts set nothing
    if head is None or is_notebook(text):
        return {}
    reads: dict[str, list[re.Match[str]]] = {}
    for read in _WRITTEN.finditer(text):
        reads.setdefault(read[read.lastindex or 0], []).append(read)
    return {
        match[1]: match[2]
        for match in _SET_HERE.finditer(text, 0, head.end())
        if match[1] in reads  # other variables are not read in the text
        and len(_sets(match[1], text)) == 1
        and all(read.lastindex == 1 and read.start() >= match.end() for read in reads[match[1]])
    }


def _sets(name: str, text: str) -> list[str]:
    """The places in a text that set or unset a variable."""
    return re.findall(rf"{_SETS}{re.escape(name)}(?!\w)", text, re.IGNORECASE)
