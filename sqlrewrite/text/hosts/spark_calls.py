"""PySpark calls that change names or settings: ``createTempView``, ``saveAsTable``, ``conf.set``.

In: the nodes of a Python tree, and which of them are read as SQL. Out: ``ProgramEffect``s, each
with an SQL statement that has the effect of the call. Code in other files may run a string of this
one; so a string that defines a table, or is the key of a setting or the name of such a method,
counts as a call that may run there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.text.hosts.program import Way

HOLE = "${x}"
"""A part of a string whose value is not known."""

ANYTHING = f"EXECUTE IMMEDIATE {HOLE}"
"""A statement that may change any name or setting."""


class NamingMethod(Struct, frozen=True):
    """A method that makes, changes or drops a table, view or schema. ``statement``: SQL with the
    same effect. ``at`` and ``keyword``: which argument is the name. ``optional``: a call without a
    name has no effect."""

    statement: str
    keyword: str
    at: int = 0
    optional: bool = False


VIEW = "CREATE OR REPLACE TEMPORARY VIEW {} AS SELECT 1"
_GLOBAL_VIEW, _TABLE = "CREATE TABLE global_temp.{}", "CREATE TABLE {}"
_DROP = "DROP VIEW {}"

NAMES = {
    "createTempView": NamingMethod(VIEW, "name"),
    "createOrReplaceTempView": NamingMethod(VIEW, "name"),
    "registerTempTable": NamingMethod(VIEW, "name"),
    "registerDataFrameAsTable": NamingMethod(VIEW, "tableName", 1),
    "queryName": NamingMethod(VIEW, "queryName"),  # the sink "memory" makes a view of it
    "start": NamingMethod(VIEW, "queryName", 4, optional=True),
    "createGlobalTempView": NamingMethod(_GLOBAL_VIEW, "name"),
    "createOrReplaceGlobalTempView": NamingMethod(_GLOBAL_VIEW, "name"),
    "dropTempView": NamingMethod(_DROP, "viewName"),
    "dropTempTable": NamingMethod(_DROP, "tableName"),
    "dropView": NamingMethod(_DROP, "viewName"),
    "dropGlobalTempView": NamingMethod("DROP VIEW global_temp.{}", "viewName"),
    "dropTable": NamingMethod("DROP TABLE {}", "tableName"),
    "dropDatabase": NamingMethod("DROP SCHEMA {}", "dbName"),
    "saveAsTable": NamingMethod(_TABLE, "name"),
    "toTable": NamingMethod(_TABLE, "tableName"),
    "to_table": NamingMethod(_TABLE, "name"),  # of pandas on Spark
    "writeTo": NamingMethod(_TABLE, "table"),  # the table is written by a later call
    "createTable": NamingMethod(_TABLE, "tableName"),
    "createExternalTable": NamingMethod(_TABLE, "tableName"),
    "tableName": NamingMethod(_TABLE, "identifier"),  # of Delta's DeltaTable.create(…)
    "setCurrentDatabase": NamingMethod("USE {}", "dbName"),
    "setCurrentCatalog": NamingMethod("USE CATALOG {}", "catalogName"),
}

SETTINGS = frozenset("set setIfMissing setConf setAll config unset option options".split())
"""Methods that change settings: called with a key and a value, pairs of these, or keywords."""

READS_SETTING = frozenset("get getConf contains isModifiable".split())
"""Methods that read a setting."""

_SPARKS_ALONE = frozenset(NAMES) - {"start", "tableName", "createTable", "queryName"}
"""Names that only Spark's methods have. One that is passed as a value (``f(df.createTempView)``) or
as a string may be called with any name."""
_NAME = re.compile(r"(?:[\w.`]|\$\{x\})+")
_KEY = re.compile(r"spark\.(?:[\w.]|\$\{x\})+")
_QUERY_NAME = "queryname"


def text_of(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """The value of a string expression, with ``HOLE`` for each unknown part; and the nodes in
    it."""
    pieces: list[str] = []
    read: list[ast.AST] = []
    waiting: list[tuple[ast.AST, tuple[re.Pattern[str], ...]]] = [(node, ())]
    while waiting:
        part, filled = waiting.pop()
        read.append(part)
        match part:
            case ast.Constant(value=str(value)):
                for hole in filled:
                    value = hole.sub(lambda _: HOLE, value)
                pieces.append(value)
            case ast.JoinedStr(values=values):
                waiting += ((value, filled) for value in reversed(values))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                waiting += ((right, filled), (left, filled))
            case ast.BinOp(left=inner, op=ast.Mod()):
                waiting.append((inner, (_PERCENT,)))
            case ast.Call(func=ast.Attribute(value=inner, attr="format")):
                waiting.append((inner, (_FIELD,)))
            case ast.Call(
                func=ast.Attribute(value=inner, attr="replace"),
                args=[ast.Constant(value=str(sign)), *_],
            ) if sign:
                waiting.append((inner, (*filled, re.compile(re.escape(sign)))))
            case _:
                read.pop()
                pieces.append(HOLE)
    return "".join(pieces), read


_FIELD = re.compile(r"(?<!\$)\{[^{}]*\}")
_PERCENT = re.compile(r"%(?:\(\w+\))?[-+ #0]{0,5}[\d.*]{0,9}[a-zA-Z]")


def method_statement(method: str, call: ast.Call) -> str | None:
    """The statement with the effect of a call of one of ``NAMES``; None if the call has no
    effect."""
    way = NAMES[method]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    spread = None in named or any(isinstance(argument, ast.Starred) for argument in call.args)
    value = call.args[way.at] if way.at < len(call.args) else named.get(way.keyword)
    if value is None and way.optional:
        return None
    name = HOLE if value is None or spread else text_of(value)[0].strip()
    name = name if _NAME.fullmatch(name) else HOLE
    if HOLE in name and way.statement.startswith("USE"):
        name = "?"  # an unknown schema
    return way.statement.format(name)


def settings_of(node: ast.AST) -> Iterator[tuple[ast.Constant, str]]:
    """The keys and values in a call of one of ``SETTINGS``, a dictionary or a pair; ``?`` for an
    unknown value."""
    pairs: list[tuple[ast.expr | None, ast.expr | None]] = []
    match node:
        case ast.Call(args=args, keywords=keywords):
            named = {keyword.arg: keyword.value for keyword in keywords}
            pair = [*args, *(named[name] for name in ("key", "value") if name in named)]
            pairs = [(pair[0], pair[1] if len(pair) == 2 else None)] if pair else []
        case ast.Dict(keys=keys, values=values):
            pairs = [*zip(keys, values, strict=True)]
        case ast.Tuple(elts=[first, second]):
            pairs = [(first, second)]
    for key, value in pairs:
        if isinstance(key, ast.Constant):
            yield key, str(value.value) if isinstance(value, ast.Constant) else "?"


def setting_statement(key: object, value: str) -> str | None:
    """The SET statement for a key and value; None if the key is not one of Spark's."""
    if not isinstance(key, str):
        return None
    if key.lower() == _QUERY_NAME:
        return VIEW.format(value if _NAME.fullmatch(value) else HOLE)
    return f"SET {key} = {value}" if _KEY.fullmatch(key) else None


def method_as_value(method: str) -> str | None:
    """The statement for a method that is passed as a value; None if other libraries have one of
    that name."""
    return NAMES[method].statement.format(HOLE) if method in _SPARKS_ALONE else None


_BEFORE_WORDS = re.compile(r"\s+|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CREATE = re.compile(r"(?:create|replace)\s[^;]{0,200}?\b(?:table|view)\s", re.IGNORECASE)
_BEHIND_NAME = re.compile(r"\s(?:as|using|like|partitioned|stored)\b|\(", re.IGNORECASE)
_DEFINITION = re.compile(
    r"cache\s(?=.*\sas\b)|(?:drop|alter)\s+(?:table|view|schema|database)\b"
    rf"|use\s+(?:(?:catalog|schema|database|namespace)\s+)?(?:[\w.`]|{re.escape(HOLE)})+\s*;?\s*\Z"
    r"|set\s+(?:catalog\s|time\s+zone\s|[\w.]+\s*=)|reset\s*;?\s*\Z|begin\s|execute\s+immediate\b",
    re.IGNORECASE | re.DOTALL,
)
_MAKES = re.compile(
    rf"\s*(?:{re.escape(HOLE)}|create\b|replace\b).*?\b(?:table|view)\s", re.IGNORECASE | re.DOTALL
)
_SHOWN_TO_PEOPLE = frozenset({"print", "debug", "info", "warning", "error", "exception"})


class ProgramEffect(Struct, frozen=True):
    """A ``statement`` with the same effect as a ``node``, and the blocks around that node.
    ``session``: the expression before the method. ``sure``: it runs if its block runs."""

    statement: str
    node: ast.expr
    way: Way
    session: ast.expr | None = None
    sure: bool = False


def effects(nodes: Sequence[tuple[ast.AST, Way]], read: Set[int]) -> Iterator[ProgramEffect]:
    """The effects on names and settings. ``read``: the ``id``s of the nodes that are read as
    SQL."""
    handled = {*read, *_not_run(nodes)}
    for node, way in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            handled.add(id(node.func))
            yield from _of_call(node, node.func, way, handled)
        elif isinstance(node, ast.Dict | ast.Tuple):
            yield from _of_settings(node, node, way, handled)
    for node, way in nodes:
        if id(node) in handled:
            continue
        if isinstance(node, ast.Attribute):
            statement = method_as_value(node.attr)
        elif isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call):
            text, within = text_of(node)
            handled |= {id(inner) for inner in within}
            statement = _of_text(text)
        else:
            continue
        if statement is not None:
            yield ProgramEffect(statement, node, way)


def _of_call(
    call: ast.Call, method: ast.Attribute, way: Way, handled: set[int]
) -> Iterator[ProgramEffect]:
    """Effects of a method call; adds to ``handled`` the ``id``s of nodes that need no second
    look."""
    if method.attr in NAMES:
        statement = method_statement(method.attr, call)
        if statement is not None:
            yield ProgramEffect(statement, call, way, method.value, sure=True)
    elif method.attr in SETTINGS:
        for effect in _of_settings(call, call, way, handled):
            yield replace(effect, session=method.value, sure=True)
    elif method.attr in READS_SETTING:
        handled |= {id(argument) for argument in call.args}
    elif method.attr == "sql":
        query = next(
            (keyword.value for keyword in call.keywords if keyword.arg == "sqlQuery"), None
        )
        query = call.args[0] if call.args else query
        text = "" if query is None or id(query) in handled else text_of(query)[0]
        if _MAKES.match(text):  # certainly run, so CREATE … VIEW is enough to make it a definition
            yield ProgramEffect(f"CREATE {text}" if text.startswith(HOLE) else text, call, way)


def _of_settings(
    node: ast.Call | ast.Dict | ast.Tuple, runs: ast.expr, way: Way, handled: set[int]
) -> Iterator[ProgramEffect]:
    for key, value in settings_of(node):
        statement = None if id(key) in handled else setting_statement(key.value, value)
        if statement is not None:
            handled.add(id(key))
            yield ProgramEffect(statement, runs, way)


def _of_text(text: str) -> str | None:
    """The statement with the effect that a string has if code elsewhere runs or calls it; None if
    it has none."""
    return method_as_value(text) or setting_statement(text, "?") or _definition(text)


def _definition(text: str) -> str | None:
    at = 0
    while blank := _BEFORE_WORDS.match(text, at):
        at = blank.end()
    create = _CREATE.match(text, at)
    defines = _BEHIND_NAME.search(text, create.end()) if create else _DEFINITION.match(text, at)
    return text if defines else None


def _not_run(nodes: Sequence[tuple[ast.AST, Way]]) -> Iterator[int]:
    """The ``id``s of strings that people read and nothing runs: docstrings, messages, help."""
    for node, _ in nodes:
        shown: list[ast.expr] = []
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                shown = [docstring]
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
                shown = args if name in _SHOWN_TO_PEOPLE else []
            case ast.Raise(exc=ast.Call(args=args)):
                shown = args
            case ast.keyword(arg="help" | "description", value=value):
                shown = [value]
        for text in shown:
            yield from map(id, text_of(text)[1])
