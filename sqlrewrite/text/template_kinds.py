"""What an expression of a template stands for: ``ref``, ``source``, ``var``, ``config`` of dbt."""

from __future__ import annotations

import ast
import re
from enum import Enum

from sqlrewrite.warehouse import Reference

# To the first end outside of a string: `{{ config(post_hook="VACUUM {{ this }}") }}` is one.
_STRINGS = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
UNITS = {
    "{{": re.compile(rf"\{{\{{(?:[^'\"}}]|{_STRINGS}|\}}(?!\}}))*+\}}\}}", re.DOTALL),
    "{%": re.compile(rf"\{{%(?:[^'\"%]|{_STRINGS}|%(?!\}}))*+%\}}", re.DOTALL),
}
"""Expressions and tags."""

_CALL = re.compile(r"(ref|source|var|config)\s*\(")


class TemplateKind(Enum):
    """What an expression stands for."""

    REFERENCE = "the name of a relation"
    THIS = "the name of the model itself"
    VALUE = "a constant"
    PART = "a part of a name"
    NOTHING = "nothing: settings that dbt reads"
    OTHER = "anything"


def _inner(unit: str) -> str:
    return unit[2:-2].strip("+-").strip()


def meaning(unit: str) -> tuple[TemplateKind, Reference]:
    """What an expression stands for. Where dbt's calls have constant arguments, Jinja reads as
    Python does."""
    if not unit.startswith("{{"):
        return TemplateKind.VALUE, ()
    inner = _inner(unit)
    if inner == "this":
        return TemplateKind.THIS, ()
    if _CALL.match(inner) is None or "\\" in inner:
        return TemplateKind.OTHER, ()
    try:
        call = ast.parse(re.sub(r"[\r\n]", " ", inner), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return TemplateKind.OTHER, ()
        if call.func.id == "config":
            return TemplateKind.NOTHING, ()
        given = [ast.literal_eval(item) for item in call.args]
        named = {item.arg: ast.literal_eval(item.value) for item in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return TemplateKind.OTHER, ()
    texts = tuple(item for item in given if isinstance(item, str))
    if call.func.id == "var":
        return (
            (TemplateKind.VALUE, ())
            if texts and len(given) <= 2 and not named
            else (TemplateKind.OTHER, ())
        )
    if len(texts) != len(given):
        return TemplateKind.OTHER, ()
    if call.func.id == "source" and len(texts) == 2 and not named:
        return TemplateKind.REFERENCE, ("source", *texts)
    version = named.pop("v", named.pop("version", None))
    if call.func.id == "ref" and len(texts) in (1, 2) and not named:
        last = texts[-1] if version is None else f"{texts[-1]}.v{version}"
        return TemplateKind.REFERENCE, ("ref", *texts[:-1], last)
    return TemplateKind.OTHER, ()
