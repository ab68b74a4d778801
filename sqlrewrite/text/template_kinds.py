"""The kinds of template expressions: dbt's ``ref``, ``source`` and ``var``, Airflow's ``ds``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from enum import Enum

from sqlrewrite.warehouse import THIS, Reference

# A template ends at the first ``}}`` outside of a string: `{{ config(post_hook="{{ this }}") }}`.
_STRINGS = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
UNITS = {
    "{{": re.compile(rf"\{{\{{(?:[^'\"}}]|{_STRINGS}|\}}(?!\}}))*+\}}\}}", re.DOTALL),
    "{%": re.compile(rf"\{{%(?:[^'\"%]|{_STRINGS}|%(?!\}}))*+%\}}", re.DOTALL),
}
"""Expressions and tags."""

_JOINED = re.compile(rf"{_STRINGS}|~", re.DOTALL)

CALL = re.compile(r"(ref|source|var|env_var|config)\s*\(")
"""A call of dbt's."""

# Functions with the same result for the same arguments throughout a rendering (not `now()` or
# `random()`): Airflow's macros, and methods of Python's dates and strings.
_REPEATS = frozenset(
    """
    ds_add ds_format timedelta var env_var get strftime isoformat format date replace split strip
    lower upper add subtract start_of end_of to_date_string zfill int string default trim
    """.split()
)
_TASKS = frozenset("ti task_instance dag_run".split())
"""Airflow's values for the current task. Their methods return the same throughout a rendering,
except those in ``_CHANGES``."""
_CHANGES = frozenset(
    """
    now utcnow today time random uuid1 uuid4 next pop popitem setdefault update clear append extend
    insert remove sort reverse xcom_push clear_xcom_data set_state current_state refresh_from_db
    get_num_running_task_instances diff_for_humans
    """.split()
)
_MACROS = frozenset("datetime strptime fromisoformat combine relativedelta loads dumps".split())
"""Airflow's ``macros`` that read neither a clock nor a metastore, besides those in ``_REPEATS``."""
_CLOCK = "time"
"""The name of Python's module whose ``strftime`` formats the current time."""

_AIRFLOWS = frozenset(
    f"{name}{end}"
    for name in ("ds", "ts", "prev_ds", "next_ds", "yesterday_ds", "tomorrow_ds")
    for end in ("", "_nodash")
)
"""Airflow's variables that render to a date (its "Templates reference")."""


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
"""Expressions that render to the name or id of a run. Airflow allows only letters, digits and
``-._`` in the ids of a DAG, task or run (``validate_key``)."""


class TemplateKind(Enum):
    """What a template expression renders to."""

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
    """Whether an expression in a string surely renders to the same value at each place, and to one
    without ``quote``, which would end the string: names, their attributes, and known calls. If the
    expression contains the quote, its strings must be plain words: ``'{{ x[' || a || '] }}'`` is no
    template for an engine that reads it unrendered."""
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
    """The names in an expression."""
    tree = _tree(unit)
    nodes = ast.walk(tree) if tree is not None else ()
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def _given_values(unit: str) -> list[tuple[str, ...]]:
    """The operands of an expression, each as its chain of names, if all are values that Airflow
    keeps constant throughout a rendering: dates of the run, ``ti``, ``dag_run``, ``macros``, or a
    variable (``var.value.x``). Else empty."""
    tree = _tree(unit)
    if tree is None or not _repeated(tree, _NO_QUOTE):
        return []
    chains = [
        _chain(operand) for operand in _operands(tree.body) if not isinstance(operand, ast.Constant)
    ]
    all_given = all(_is_of_task(chain) or _DATES.issuperset(chain[:1] or "?") for chain in chains)
    return chains if all_given else []


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """The operands from which an expression's value is computed; filters are skipped."""
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
    """The chain of names in an expression, ``a.b(1)[2].c`` as a, b and c; empty if it does not
    begin with a name."""
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

# Python reads a filter, `x | f(1)`, as two operands of `|`.
_STEADY = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant),
    *(ast.Call, ast.keyword),
    *(ast.BinOp, ast.Add, ast.Sub, ast.BitOr, ast.BoolOp, ast.And, ast.Or),
    *(ast.UnaryOp, ast.USub, ast.Not, ast.Load, ast.List, ast.Tuple, ast.IfExp),
    *(ast.Compare, ast.cmpop),
)


def renders_to_one_line(unit: str, tag_words: frozenset[str]) -> bool:
    """Whether an expression surely renders to one line that ends no comment: the name of a
    relation, model or run, a date and what is computed from it, or a value of a task. Not if a tag
    of the text has the name (``tag_words``). Other variables and macros may render to any text."""
    if meaning(unit)[0] in (TemplateKind.REFERENCE, TemplateKind.THIS):
        return True
    if not unit.startswith("{{") or "\\" in unit or not repeats(unit, ""):
        return False
    names = words(unit)
    if names & tag_words:
        return False
    if inner(unit) in _IDENTIFIERS or any(map(_is_of_task, _given_values(unit))):
        return True
    return bool(names & _DATES) and names <= _DATES | _ON_DATES


def _steady(node: ast.AST, plain: re.Pattern[str]) -> bool:
    """Whether a node's value is constant: it calls only known functions, and its strings are
    ``plain``."""
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
    """A Jinja expression as one of Python: ``a ~ b``, which joins two strings, becomes ``a +
    b``."""
    return _JOINED.sub(lambda match: "+" if match.group() == "~" else match.group(), code)


def meaning(unit: str) -> tuple[TemplateKind, Reference]:
    """The kind of an expression, and the relation that it refers to, empty for none. dbt's calls
    with constants are parsed as Python."""
    if not unit.startswith("{{"):
        return TemplateKind.VALUE, ()
    code = inner(unit)
    if code == "this":
        return TemplateKind.THIS, THIS
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
