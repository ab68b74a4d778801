"""The Spark session that a method is called on.

In: a Python tree, and the expression before the method. Out: a name for the session; None if
unknown. Two calls have the same name only if they surely use the same session. Each session has its
own current schema, settings and temporary views.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import count

from msgspec import Struct, field

from sqlrewrite.text.hosts.program import PythonScope

USUAL = "spark"
"""The session of a notebook or shell; ``SparkSession.builder.getOrCreate()`` returns it there."""

_OF_SESSION = frozenset({"catalog", "conf"})
_MODULE = -1
Offset = Callable[[ast.expr | ast.arg | ast.alias], int]


class _Binding(Struct, frozen=True):
    """A binding of a name: its offset, None if it may happen at any time; and whether its value is
    the session of the notebook or shell."""

    at: int | None
    usual: bool


class Cells(Struct):
    """State shared by the texts of a program: the numbers of blocks, and the sessions of bound
    names."""

    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    sessions: dict[str, str] = field(default_factory=dict)


class Sessions:
    """The sessions in one text of a program; ``offset`` returns where a node begins."""

    def __init__(self, tree: ast.Module, offset: Offset, cells: Cells) -> None:
        self._tree = tree
        self._offset = offset
        self._before = dict(cells.sessions)
        self._number = next(cells.numbers)
        self._cells = cells

    def session(self, node: ast.expr, scopes: Sequence[PythonScope]) -> str | None:
        """The session that an expression returns; None if unknown."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path += [] if node.attr in _OF_SESSION else [node.attr]
            node = node.value
        if _is_usual(node) or _is_builder(node) or "builder" in path:
            return USUAL
        if not isinstance(node, ast.Name):
            return None
        at = self._offset(node)
        stored = (place for name in path for place in self._stored.get(name, ()))
        root = self._root(node.id, at, scopes)
        if root is None or any(place > at for place in stored):
            return None
        return ".".join([root, *reversed(path)])

    def end(self) -> None:
        """Passes the sessions of the module's names on to the next texts of the program."""
        for (scope, name), bindings in self._bindings.items():
            if scope == _MODULE:
                usual = all(binding.usual for binding in bindings)
                self._cells.sessions[name] = USUAL if usual else f"{name} {self._number}"

    def _root(self, name: str, at: int, scopes: Sequence[PythonScope]) -> str | None:
        for depth, scope in enumerate(reversed(scopes)):
            key = _key(scope)
            bindings = self._bindings.get((key, name))
            if bindings is None or (depth and isinstance(scope, ast.ClassDef)):
                continue
            if all(binding.usual for binding in bindings):
                return USUAL
            before = all(binding.at is not None and binding.at <= at for binding in bindings)
            number = self._number if key == _MODULE else key
            return f"{name} {number}" if before else None
        return self._before.get(name, name)

    @cached_property
    def _bindings(self) -> dict[tuple[int, str], list[_Binding]]:
        """The bindings of each name, by scope and name."""
        bindings: dict[tuple[int, str], list[_Binding]] = {}
        usual = {target for node in ast.walk(self._tree) for target in _usual_targets(node)}
        for scopes, name, node in _bound(self._tree):
            at = None if node is None or len(scopes) > 1 else self._offset(node)
            binding = _Binding(at, usual=node in usual)
            for scope in scopes:
                bindings.setdefault((_key(scope), name), []).append(binding)
        return bindings

    @cached_property
    def _stored(self) -> dict[str, list[int]]:
        """Offsets where an attribute is bound, by its name."""
        stored: dict[str, list[int]] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                stored.setdefault(node.attr, []).append(self._offset(node))
        return stored


def _key(scope: PythonScope) -> int:
    return _MODULE if isinstance(scope, ast.Module) else id(scope)


def _is_usual(node: ast.AST) -> bool:
    """Whether this is ``….getOrCreate()``."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "getOrCreate"


def _is_builder(node: ast.AST) -> bool:
    """Whether this is a builder of the usual session, ``SparkSession.builder.appName(…)``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return isinstance(node, ast.Attribute) and node.attr == "builder"


def _usual_targets(node: ast.AST) -> list[ast.expr]:
    """The targets of a line that assigns the usual session."""
    match node:
        case ast.Assign(targets=targets, value=value) if _is_usual(value):
            return targets
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_usual(value):
            return [target]
    return []


_Bound = tuple[Sequence[PythonScope], str, ast.expr | ast.arg | ast.alias | None]


def _bound(tree: ast.Module) -> Iterator[_Bound]:
    """The bindings of names: the scopes, the name, and the node that binds it, None if that may
    happen at any time. A ``global`` or ``nonlocal`` name may be bound in any scope around it."""
    waiting: list[tuple[ast.AST, tuple[PythonScope, ...], frozenset[str]]] = [
        (tree, (), frozenset())
    ]
    while waiting:
        node, scopes, shared = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield (scopes if name in shared else scopes[-1:]), name, node
            case ast.arg(arg=name):
                yield scopes[-1:], name, node
            case ast.alias(name=name, asname=shown):
                yield scopes[-1:], (shown or name).partition(".")[0], node
            case ast.FunctionDef(name=str(name)) | ast.AsyncFunctionDef(name=str(name)):
                yield scopes[-1:], name, None
            case ast.ClassDef(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield scopes[-1:], name, None
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield scopes[-1:], name, None
            case ast.MatchStar(name=str(name)):
                yield scopes[-1:], name, None
        if isinstance(node, PythonScope):
            scopes = (*scopes, node)
            shared = frozenset(_shared(node))
        waiting += ((child, scopes, shared) for child in ast.iter_child_nodes(node))


def _shared(scope: PythonScope) -> Iterator[str]:
    """The names that a scope declares ``global`` or ``nonlocal``."""
    body = [] if isinstance(scope, ast.Lambda) else scope.body
    for line in body:
        if isinstance(line, ast.Global | ast.Nonlocal):
            yield from line.names
