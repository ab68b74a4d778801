"""What a program does to names and settings beside the texts of SQL that are read.

In: the nodes of a tree, and those of them that are read as SQL. Out: ``ProgramEffect``s, each a
statement that does the same. What no call shows may be done by code that is not seen, a function
that runs the texts that it is given, say: so each literal that is a definition, the key of a
setting or the name of a method counts as well, as something that may run where it stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from sqlrewrite.text.hosts.order import Way
from sqlrewrite.text.hosts.spark_calls import (
    HOLE,
    NAMES,
    READS_SETTING,
    SETTINGS,
    method_as_value,
    method_statement,
    setting_statement,
    settings_of,
    text_of,
)

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


@dataclass(frozen=True, slots=True)
class ProgramEffect:
    """A statement, the node that does what it says, and the way to that; ``session`` is what the
    call is made on, where that says in which session. ``sure``: it runs if its block does."""

    statement: str
    node: ast.expr
    way: Way
    session: ast.expr | None = None
    sure: bool = False


def effects(nodes: Sequence[tuple[ast.AST, Way]], read: Set[int]) -> Iterator[ProgramEffect]:
    """What the nodes do to names and settings; ``read`` are the ``id``s of what is read as SQL."""
    known = {*read, *_not_run(nodes)}
    for node, way in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            known.add(id(node.func))
            yield from _of_call(node, node.func, way, known)
        elif isinstance(node, ast.Dict | ast.Tuple):
            yield from _of_settings(node, node, way, known)
    for node, way in nodes:
        if id(node) in known:
            continue
        if isinstance(node, ast.Attribute):
            statement = method_as_value(node.attr)
        elif isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call):
            text, within = text_of(node)
            known |= {id(inner) for inner in within}
            statement = _of_text(text)
        else:
            continue
        if statement is not None:
            yield ProgramEffect(statement, node, way)


def _of_call(
    call: ast.Call, method: ast.Attribute, way: Way, known: set[int]
) -> Iterator[ProgramEffect]:
    """What a call of a method does; ``known`` gets the nodes of which no more is to be asked."""
    if method.attr in NAMES:
        statement = method_statement(method.attr, call)
        if statement is not None:
            yield ProgramEffect(statement, call, way, method.value, sure=True)
    elif method.attr in SETTINGS:
        for effect in _of_settings(call, call, way, known):
            yield replace(effect, session=method.value, sure=True)
    elif method.attr in READS_SETTING:
        known |= {id(argument) for argument in call.args}
    elif method.attr == "sql":
        query = next((it.value for it in call.keywords if it.arg == "sqlQuery"), None)
        query = call.args[0] if call.args else query
        text = "" if query is None or id(query) in known else text_of(query)[0]
        if _MAKES.match(text):  # in a text that is surely run, less has to be written there
            yield ProgramEffect(f"CREATE {text}" if text.startswith(HOLE) else text, call, way)


def _of_settings(
    node: ast.Call | ast.Dict | ast.Tuple, runs: ast.expr, way: Way, known: set[int]
) -> Iterator[ProgramEffect]:
    for key, value in settings_of(node):
        statement = None if id(key) in known else setting_statement(key.value, value)
        if statement is not None:
            known.add(id(key))
            yield ProgramEffect(statement, runs, way)


def _of_text(text: str) -> str | None:
    """The statement that a text is which no call is seen to be given; None where it is none."""
    return method_as_value(text) or setting_statement(text, "?") or _definition(text)


def _definition(text: str) -> str | None:
    at = 0
    while blank := _BEFORE_WORDS.match(text, at):
        at = blank.end()
    create = _CREATE.match(text, at)
    defines = _BEHIND_NAME.search(text, create.end()) if create else _DEFINITION.match(text, at)
    return text if defines else None


def _not_run(nodes: Sequence[tuple[ast.AST, Way]]) -> Iterator[int]:
    """The ``id``s of texts that are there to be read by people."""
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
