"""What a template expression stands for: dbt's ``ref``, ``source``, ``var`` and others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from enum import Enum

from sqlrewrite.warehouse import Reference

# To the first end outside of a string: `{{ config(post_hook="VACUUM {{ this }}") }}` is one.
_STRINGS = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
UNITS = {
    "{{": re.compile(rf"\{{\{{(?:[^'\"}}]|{_STRINGS}|\}}(?!\}}))*+\}}\}}", re.DOTALL),
    "{%": re.compile(rf"\{{%(?:[^'\"%]|{_STRINGS}|%(?!\}}))*+%\}}", re.DOTALL),
}
"""Expressions and tags."""

_JOINED = re.compile(rf"{_STRINGS}|~", re.DOTALL)

CALL = re.compile(r"(ref|source|var|env_var|config)\s*\(")
"""A call of dbt's."""

# What a call gives is the same at each place of a text, if what it is given is: no `now()`, no
# `random()`, nothing that counts. Airflow's macros, and methods of Python's dates and strings.
_REPEATS = frozenset(
    """
    ds_add ds_format timedelta var env_var get strftime isoformat format date replace split strip
    lower upper add subtract start_of end_of to_date_string zfill int string default trim
    """.split()
)
_TASKS = frozenset("ti task_instance dag_run".split())
"""What Airflow knows of the task that it renders for: what a call on one of them gives is the same
throughout a rendering, unless it is one of ``_CHANGES``."""
_CHANGES = frozenset(
    """
    now utcnow today time random uuid1 uuid4 next pop popitem setdefault update clear append extend
    insert remove sort reverse xcom_push clear_xcom_data set_state current_state refresh_from_db
    get_num_running_task_instances diff_for_humans
    """.split()
)
_MACROS = frozenset("datetime strptime fromisoformat combine relativedelta loads dumps".split())
"""Of Airflow's ``macros`` those that neither ask a clock nor a metastore, beside ``_REPEATS``."""
_CLOCK = "time"
"""Python's module: its ``strftime`` is of now."""

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
    """The meaning of an expression."""

    REFERENCE = "the name of a relation"
    THIS = "the name of the model itself"
    VALUE = "a constant"
    PART = "a part of a name"
    NOTHING = "nothing: settings that dbt reads"
    OTHER = "anything"


def inner(unit: str) -> str:
    """The code between the braces of an expression."""
    return unit[2:-2].strip("+-").strip()


def repeats(unit: str, quote: str) -> bool:
    """Whether an expression in a string surely renders to the same wherever it stands, and to no
    ``quote``, which would end the string: names, what they hold, calls of the few things above.

    Where it holds the quote itself, its texts are plain words and signs: ``'{{ x[' || a || '] }}'``
    is no template to who does not render it.
    """
    if not unit.startswith("{{"):
        return True
    tree = _tree(unit)
    plain = _WORD if quote in unit else _NO_QUOTE
    return tree is not None and _repeated(tree, plain)


def _tree(unit: str) -> ast.Expression | None:
    """An expression parsed as Python; None if it is not Python."""
    try:
        return ast.parse(" ".join(inner(unit).split()), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _repeated(tree: ast.Expression, plain: re.Pattern[str]) -> bool:
    return all(isinstance(node, _STEADY) and _steady(node, plain) for node in ast.walk(tree))


def words(unit: str) -> frozenset[str]:
    """The names that an expression is made of."""
    tree = _tree(unit)
    nodes = ast.walk(tree) if tree is not None else ()
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def _given_values(unit: str) -> list[tuple[str, ...]]:
    """The sources of an expression's value, each as the names that lead to it, if Airflow gives
    them all to a task, constant throughout a rendering: dates of the run, ``ti``, ``dag_run``,
    ``macros``, or a variable (``var.value.x``). Else empty."""
    tree = _tree(unit)
    if tree is None or not _repeated(tree, _NO_QUOTE):
        return []
    chains = [
        _chain(operand) for operand in _operands(tree.body) if not isinstance(operand, ast.Constant)
    ]
    known = all(_is_of_task(chain) or _DATES.issuperset(chain[:1] or "?") for chain in chains)
    return chains if known else []


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """The operands from which an expression's value is chosen or computed; filters are skipped."""
    match node:
        case ast.BinOp(op=ast.BitOr(), left=left):
            yield from _operands(left)
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            yield from _operands(left)
            yield from _operands(right)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _operands(value)
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Call(func=value) if (
            not _chain(node)
        ):  # (execution_date + macros.timedelta(days=1)).strftime('%Y')
            yield from _operands(value)
        case _:
            yield node


def _is_of_task(chain: Sequence[str]) -> bool:
    if chain[:1] == ("var",):
        return chain[1:2] in (("value",), ("json",))
    return len(chain) > 1 and chain[0] in _TASKS | {"macros"}


def _chain(node: ast.expr) -> tuple[str, ...]:
    """The names that lead to a value from the left, ``a.b(1)[2].c`` as a, b and c; none where it
    does not begin with a name."""
    names: list[str] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=value, attr=name):
                names.append(name)
                node = value
            case ast.Subscript(value=value) | ast.Call(func=value):
                node = value
            case _:
                return ()
    return (node.id, *reversed(names))


_WORD = re.compile(r"[\w%](?:[\w%:/.-]*\w)?|[^\w\s]?")
_NO_QUOTE = re.compile("[^'\"]*")

# A filter, `x | f(1)`, is to Python two operands with `|` between them.
_STEADY = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant),
    *(ast.Call, ast.keyword),
    *(ast.BinOp, ast.Add, ast.Sub, ast.BitOr, ast.BoolOp, ast.And, ast.Or),
    *(ast.UnaryOp, ast.USub, ast.Not, ast.Load, ast.List, ast.Tuple, ast.IfExp),
    *(ast.Compare, ast.cmpop),
)


def renders_to_one_line(unit: str, spoken_of: frozenset[str]) -> bool:
    """Whether an expression surely renders to one line, in which no comment ends: what names a
    relation, a model or a run, dates with what is computed from them, and values given to a task,
    unless a tag of the text speaks of the name. What a variable or macro gives may be any text."""
    if meaning(unit)[0] in (TemplateKind.REFERENCE, TemplateKind.THIS):
        return True
    if not unit.startswith("{{") or "\\" in unit or not repeats(unit, ""):
        return False
    names = words(unit)
    if names & spoken_of:
        return False
    if inner(unit) in _IDENTIFIERS or any(map(_is_of_task, _given_values(unit))):
        return True
    return bool(names & _DATES) and names <= _DATES | _ON_DATES


def _steady(node: ast.AST, plain: re.Pattern[str]) -> bool:
    """Whether a node calls nothing that may change, and its text is ``plain``."""
    match node:
        case ast.Constant(value=str(text)):
            return plain.fullmatch(text) is not None
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) as called):
            begins = _chain(called)
            if _CLOCK in begins:
                return False
            if begins[:1] == ("macros",):
                return name in _REPEATS | _MACROS
            of_task = bool(begins) and begins[0] in _TASKS
            return name in _REPEATS or (of_task and name not in _CHANGES)
        case ast.BinOp(op=ast.BitOr(), right=ast.Name(id=name)):
            return name in _REPEATS | _AIRFLOWS
        case ast.BinOp(op=ast.BitOr(), right=right):
            return isinstance(right, ast.Call)
        case ast.Call():
            return False
    return True


def as_python(code: str) -> str:
    """An expression of Jinja as Python reads it: ``a ~ b``, which joins two texts, is ``a + b``."""
    return _JOINED.sub(lambda match: "+" if match.group() == "~" else match.group(), code)


def meaning(unit: str) -> tuple[TemplateKind, Reference]:
    """The kind of an expression, and the relation it refers to. dbt's calls with constants are read
    as Python's."""
    if not unit.startswith("{{"):
        return TemplateKind.VALUE, ()
    code = inner(unit)
    if code == "this":
        return TemplateKind.THIS, ()
    if code in _AIRFLOWS:
        return TemplateKind.VALUE, ()
    call_of_dbt = CALL.match(code)
    if call_of_dbt is None or ("\\" in code and call_of_dbt[1] != "config"):
        return (TemplateKind.VALUE if _given_values(unit) else TemplateKind.OTHER), ()
    try:
        call = ast.parse(as_python(re.sub(r"[\r\n]", " ", code)), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return TemplateKind.OTHER, ()
        if call.func.id == "config":
            return TemplateKind.NOTHING, ()
        arguments = [ast.literal_eval(item) for item in call.args]
        named = {item.arg: ast.literal_eval(item.value) for item in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return TemplateKind.OTHER, ()
    name, texts = call.func.id, tuple(item for item in arguments if isinstance(item, str))
    if name in ("var", "env_var") and texts and len(arguments) <= 2 and not named:
        return TemplateKind.VALUE, ()
    if name == "source" and len(texts) == len(arguments) == 2 and not named:
        return TemplateKind.REFERENCE, ("source", *texts)
    version = named.pop("v", named.pop("version", None))
    if name == "ref" and len(texts) == len(arguments) in (1, 2) and not named:
        last = texts[-1] if version is None else f"{texts[-1]}.v{version}"
        return TemplateKind.REFERENCE, ("ref", *texts[:-1], last)
    return TemplateKind.OTHER, ()
