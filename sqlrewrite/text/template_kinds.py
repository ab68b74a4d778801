"""What an expression of a template stands for: ``ref``, ``source``, ``var``, ``config`` of dbt."""

from __future__ import annotations

import ast
import re
from enum import Enum

from sqlrewrite.patterns import pattern
from sqlrewrite.warehouse import Reference

# To the first end outside of a string: `{{ config(post_hook="VACUUM {{ this }}") }}` is one.
_STRINGS = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
UNITS = {
    "{{": pattern(rf"\{{\{{(?:[^'\"}}]|{_STRINGS}|\}}(?!\}}))*+\}}\}}", re.DOTALL),
    "{%": pattern(rf"\{{%(?:[^'\"%]|{_STRINGS}|%(?!\}}))*+%\}}", re.DOTALL),
}
"""Expressions and tags."""

_CALL = pattern(r"(ref|source|var|env_var|config)\s*\(")

# What a call gives is the same at each place of a text, if what it is given is: no `now()`, no
# `random()`, nothing that counts. Airflow's macros, and methods of Python's dates and strings.
_REPEATS = frozenset(
    """
    ds_add ds_format timedelta var env_var get strftime isoformat format date replace split strip
    lower upper add subtract start_of end_of to_date_string zfill int string default trim
    """.split()
)
_AIRFLOWS = frozenset(
    f"{name}{end}"
    for name in ("ds", "ts", "prev_ds", "next_ds", "yesterday_ds", "tomorrow_ds")
    for end in ("", "_nodash")
)
"""What Airflow renders to a date, by its template reference."""


_DATES = _AIRFLOWS | frozenset(
    "execution_date logical_date data_interval_start data_interval_end run_started_at".split()
)
_ON_DATES = frozenset("macros replace lower upper string int timedelta".split())
_IDENTIFIERS = frozenset(
    """
    run_id dag.dag_id task.task_id ti.task_id invocation_id dbt_version project_name model.name
    this.name this.identifier this.table this.schema this.database
    target.name target.type target.schema target.database target.catalog
    """.split()
)
"""What renders to a name or number of a run. Airflow takes letters, digits and ``-._`` in those of
a DAG, task or run alone (``validate_key``)."""


class TemplateKind(Enum):
    """What an expression stands for."""

    REFERENCE = "the name of a relation"
    THIS = "the name of the model itself"
    VALUE = "a constant"
    PART = "a part of a name"
    NOTHING = "nothing: settings that dbt reads"
    OTHER = "anything"


def inner(unit: str) -> str:
    """What an expression has between its braces."""
    return unit[2:-2].strip("+-").strip()


def repeats(unit: str, quote: str) -> bool:
    """Whether an expression in a string surely renders to the same wherever it stands, and to no
    ``quote``, which would end the string: names, what they hold, calls of the few things above.

    Where it holds the quote itself, its texts are plain words and signs: ``'{{ x[' || a || '] }}'``
    is no template to who does not render it.
    """
    if not unit.startswith("{{"):
        return True
    try:
        tree = ast.parse(" ".join(inner(unit).split()), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    plain = _WORD if quote in unit else _NO_QUOTE
    return all(isinstance(node, _STEADY) and _steady(node, plain) for node in ast.walk(tree))


_WORD = pattern(r"[\w%](?:[\w%:/.-]*\w)?|[^\w\s]?")
_NO_QUOTE = pattern("[^'\"]*")

# A filter, `x | f(1)`, is to Python two operands with `|` between them.
_STEADY = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant),
    *(ast.Call, ast.keyword),
    *(ast.BinOp, ast.Add, ast.Sub, ast.BitOr, ast.BoolOp, ast.And, ast.Or),
    *(ast.UnaryOp, ast.USub, ast.Load),
)


def renders_to_one_line(unit: str, spoken_of: frozenset[str]) -> bool:
    """Whether an expression surely renders to one line, in which no comment ends: what names a
    relation, a model or a run, and dates with what is computed from them, unless a tag of the text
    speaks of the name. The value of a variable or macro may be any text."""
    if meaning(unit)[0] in (TemplateKind.REFERENCE, TemplateKind.THIS):
        return True
    if not unit.startswith("{{") or not repeats(unit, ""):
        return False
    tree = ast.parse(" ".join(inner(unit).split()), mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if names & spoken_of:
        return False
    return inner(unit) in _IDENTIFIERS or (bool(names & _DATES) and names <= _DATES | _ON_DATES)


def _steady(node: ast.AST, plain: re.Pattern[str]) -> bool:
    """Whether a node calls nothing that may change, and its text is ``plain``."""
    match node:
        case ast.Constant(value=str(text)):
            return plain.fullmatch(text) is not None
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _REPEATS
        case ast.BinOp(op=ast.BitOr(), right=ast.Name(id=name)):
            return name in _REPEATS | _AIRFLOWS
        case ast.BinOp(op=ast.BitOr(), right=right):
            return isinstance(right, ast.Call)
        case ast.Call():
            return False
    return True


def meaning(unit: str) -> tuple[TemplateKind, Reference]:
    """What an expression stands for; dbt's calls with constants read as Python's do."""
    if not unit.startswith("{{"):
        return TemplateKind.VALUE, ()
    code = inner(unit)
    if code == "this":
        return TemplateKind.THIS, ()
    if code in _AIRFLOWS:
        return TemplateKind.VALUE, ()
    if _CALL.match(code) is None or "\\" in code:
        return TemplateKind.OTHER, ()
    try:
        call = ast.parse(re.sub(r"[\r\n]", " ", code), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return TemplateKind.OTHER, ()
        if call.func.id == "config":
            return TemplateKind.NOTHING, ()
        given = [ast.literal_eval(item) for item in call.args]
        named = {item.arg: ast.literal_eval(item.value) for item in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return TemplateKind.OTHER, ()
    name, texts = call.func.id, tuple(item for item in given if isinstance(item, str))
    if name in ("var", "env_var") and texts and len(given) <= 2 and not named:
        return TemplateKind.VALUE, ()
    if name == "source" and len(texts) == len(given) == 2 and not named:
        return TemplateKind.REFERENCE, ("source", *texts)
    version = named.pop("v", named.pop("version", None))
    if name == "ref" and len(texts) == len(given) in (1, 2) and not named:
        last = texts[-1] if version is None else f"{texts[-1]}.v{version}"
        return TemplateKind.REFERENCE, ("ref", *texts[:-1], last)
    return TemplateKind.OTHER, ()
