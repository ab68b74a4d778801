"""What methods of PySpark do to names and settings, as statements of SQL that do the same.

In: a call, or a method that is a value. Out: statements, in which ``${x}`` stands for what is not
written there. ``NAMES`` and ``SETTINGS`` are all the methods that matter; the public ones that are
in neither change no name and no setting, which a test says of each of PySpark 4.3.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

HOLE = "${x}"
"""What stands for a part of a text that is not written there."""

ANYTHING = f"EXECUTE IMMEDIATE {HOLE}"
"""A statement after which nothing is known."""


@dataclass(frozen=True, slots=True)
class NamingMethod:
    """A method that makes, changes or drops what has a name: the statement for that name, and which
    argument the name is, by position and keyword. Without the argument an ``optional`` one does
    nothing."""

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
    "writeTo": NamingMethod(_TABLE, "table"),  # whatever is then called to write it
    "createTable": NamingMethod(_TABLE, "tableName"),
    "createExternalTable": NamingMethod(_TABLE, "tableName"),
    "tableName": NamingMethod(_TABLE, "identifier"),  # of Delta's DeltaTable.create(…)
    "setCurrentDatabase": NamingMethod("USE {}", "dbName"),
    "setCurrentCatalog": NamingMethod("USE CATALOG {}", "catalogName"),
}

SETTINGS = frozenset("set setIfMissing setConf setAll config unset option options".split())
"""Methods that set what their arguments say: a key and its value, pairs of them, keywords."""

READS_SETTING = frozenset("get getConf contains isModifiable".split())
"""Methods that only ask for a setting that they name."""

_SAID_ALONE = frozenset(NAMES) - {"start", "tableName", "createTable", "queryName"}
"""Methods that no other library has: one that is a value or a text may be called with any name."""
_NAME = re.compile(r"(?:[\w.`]|\$\{x\})+")
_KEY = re.compile(r"spark\.(?:[\w.]|\$\{x\})+")
_QUERY_NAME = "queryname"


def text_of(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """What an expression is known to give, with ``HOLE`` for what is not, and what was read of
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
    """The statement that a call of one of ``NAMES`` is, None where it does nothing."""
    way = NAMES[method]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    spread = None in named or any(isinstance(argument, ast.Starred) for argument in call.args)
    value = call.args[way.at] if way.at < len(call.args) else named.get(way.keyword)
    if value is None and way.optional:
        return None
    name = HOLE if value is None or spread else text_of(value)[0].strip()
    name = name if _NAME.fullmatch(name) else HOLE
    if HOLE in name and way.statement.startswith("USE"):
        name = "?"  # not the variable of that name, but a schema that nobody knows
    return way.statement.format(name)


def settings_of(node: ast.AST) -> Iterator[tuple[ast.Constant, str]]:
    """The settings that are set by a call of one of ``SETTINGS``, or that a dictionary or a pair
    shows: each with its value, ``?`` if that is not known."""
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
    """The statement that sets a setting, None for what is none of Spark's."""
    if not isinstance(key, str):
        return None
    if key.lower() == _QUERY_NAME:
        return VIEW.format(value if _NAME.fullmatch(value) else HOLE)
    return f"SET {key} = {value}" if _KEY.fullmatch(key) else None


def method_as_value(method: str) -> str | None:
    """The statement that a method is which may be called with any name."""
    return NAMES[method].statement.format(HOLE) if method in _SAID_ALONE else None
