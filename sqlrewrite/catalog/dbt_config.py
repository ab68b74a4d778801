"""The configuration of a dbt model: ``config(…)`` in its text, and its entries in YAML files.

In: a model's text, or a node of a manifest. Out: plain values; an argument that is no literal is
None. Raises nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from sqlrewrite.text.edits import Span, blank
from sqlrewrite.text.template_kinds import UNITS, as_python
from sqlrewrite.warehouse import DbtModel, Name

MERGE_KEYS = frozenset(
    """
    materialized enabled incremental_strategy unique_key partition_by file_format predicates
    incremental_predicates target_alias full_refresh not_matched_by_source_action
    """.split()
)
"""The keys by which dbt decides whether it merges a model into its table, and on which
condition."""

_CONFIG = re.compile(r"\{\{[-+]?\s*(config\s*\(.*\))\s*[-+]?\}\}", re.DOTALL)
_CALLED = re.compile(r"\bconfig\s*\(")
_IF = re.compile(r"\{%[-+]?\s*(?:if|for)\b")
_CONSTANTS = {"true": True, "false": False, "none": None}
"""Jinja's names of constants, which Python does not have."""

_OWN_MERGE = re.compile(
    r"(?:\w*get_(?:incremental_)?merge_sql|\w*get_incremental(?:_default)?_sql"
    r"|(?:materialization[\s_]+)incremental\w*)"
)
_DEFINED = re.compile(r"\{%[-+]?\s*(?:macro\s+(\w+)|(materialization\s+\w+))")
_ADAPTERS = frozenset({"dbt", "dbt_spark", "dbt_databricks"})
"""dbt's own packages."""


class ConfigCall(Struct, frozen=True):
    """A ``{{ config(…) }}`` of a text: the span of the whole ``unit`` with its braces, the offset
    at which the call begins, and its arguments: their values, and as the author wrote them.
    ``complete``: there is no other argument."""

    unit: Span
    start: int
    arguments: Mapping[str, Any] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)
    complete: bool = False


def config_calls(raw: str) -> list[ConfigCall]:
    """The calls of ``config(…)`` in a model, outside of comments."""
    text = _without_comments(raw)
    calls: list[ConfigCall] = []
    end = text.rfind("}}") + 2  # behind it none ends, and each would be searched for its end
    for unit in UNITS["{{"].finditer(text, 0, end) if _CALLED.search(text) else ():
        match = _CONFIG.fullmatch(unit.group())
        if match is not None:
            calls.append(_read(match[1], Span(*unit.span()), unit.start() + match.start(1)))
    return calls


def config_arguments(raw: str) -> dict[str, Any]:
    """The arguments of all calls of ``config(…)`` in a model; a later one of the same name wins."""
    return {name: value for call in config_calls(raw) for name, value in call.arguments.items()}


def only_call(raw: str) -> ConfigCall | None:
    """The one call of ``config(…)`` in a model, if it is always run and all its arguments are
    known; an empty one if there is none. None if the configuration is not known."""
    text = _without_comments(raw)
    calls, count = config_calls(raw), len(_CALLED.findall(text))
    if count == 0:
        return ConfigCall(Span(0, 0), 0, complete=True)
    if count != 1 or len(calls) != 1 or not calls[0].complete:
        return None
    return None if _IF.search(text, 0, calls[0].start) else calls[0]


def _without_comments(raw: str) -> str:
    """A text with its Jinja comments blanked. A regular expression would search for the end of each
    comment anew, and take quadratic time if none ends."""
    pieces, end = [], 0
    while (start := raw.find("{#", end)) >= 0 and (close := raw.find("#}", start + 2)) >= 0:
        pieces += [raw[end:start], blank(raw[start : close + 2])]
        end = close + 2
    return "".join((*pieces, raw[end:]))


def _read(written: str, unit: Span, start: int) -> ConfigCall:
    code = as_python(" ".join(written.split()))
    try:
        call = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if not isinstance(call, ast.Call):
        return ConfigCall(unit, start)
    arguments: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for item in call.keywords:
        name = str(item.arg)
        arguments[name] = _value(item.value)
        texts[name] = f"{name}={ast.get_source_segment(code, item.value)}"
    complete = not call.args and all(item.arg is not None for item in call.keywords)
    return ConfigCall(unit, start, arguments, texts, complete)


def _value(node: ast.expr) -> Any:
    """The value of a literal, None for anything else."""
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def merges_differently(macros: Iterable[tuple[str, str]]) -> bool:
    """Whether a project overrides a macro by which dbt runs incremental models; ``macros`` are
    pairs of package and name."""
    return any(package not in _ADAPTERS and _OWN_MERGE.fullmatch(name) for package, name in macros)


def defined_macros(text: str, package: str) -> Iterator[tuple[str, str]]:
    """The macros and materializations that a text defines, each after its ``package``."""
    for macro, materialization in _DEFINED.findall(text):
        yield package, macro or materialization


def incremental_model(
    config: Mapping[str, Any], raw: str, name: Name, adapter: str | None, elsewhere: str
) -> DbtModel | None:
    """A model that dbt builds incrementally; ``elsewhere`` is its configuration outside of its own
    text. None for any other model."""
    if config.get("materialized") != "incremental":
        return None
    own = config_arguments(raw)
    rest = {
        key: value
        for key, value in config.items()
        if key in MERGE_KEYS and key not in own and value is not None
    }
    return DbtModel(name, rest, adapter, elsewhere)
