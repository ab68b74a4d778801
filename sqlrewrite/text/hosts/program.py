"""How a Python program runs: the order of its nodes, the values of names where they are read, and
the Spark session that a method is called on.

In: a Python tree. Out: its nodes, each with its ``Way``: the branches, loops and functions around
it. A node that is neither in ``_IN_ORDER`` nor in ``_first_of`` may skip its children or run them
more than once. The value of a name (``query = "…"`` and then ``spark.sql(query)``) is given only if
the name is bound once and read once in the file, or read once between two assignments, so that an
insertion into the string affects only that one use.

Two calls have the same session's name only if they surely use the same session. Each session has
its own current schema, settings and temporary views.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import count

from msgspec import Struct, field

PythonScope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
"""A scope of names. The targets of a comprehension count as names of the scope around it."""

_IN_ORDER = (
    *(ast.Module, ast.Expr, ast.Return, ast.Call, ast.keyword, ast.Attribute, ast.Subscript),
    *(ast.Starred, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp),
    *(ast.JoinedStr, ast.FormattedValue, ast.NamedExpr, ast.Slice),
)
"""Nodes that evaluate all their children, in the order of the text."""


class Way(Struct, frozen=True):
    """The blocks around a node. ``block`` has a number for each branch, loop or function, which may
    run never or many times; ``scopes``: the innermost last."""

    block: tuple[int, ...]
    scopes: tuple[PythonScope, ...]


def in_order(tree: ast.Module, numbers: Iterator[int]) -> Iterator[tuple[ast.AST, Way]]:
    """The nodes of a tree in the order they run; ``numbers`` gives a number for each block."""
    waiting: list[tuple[ast.AST, Way]] = [(tree, Way((), ()))]
    while waiting:
        node, way = waiting.pop()
        yield node, way
        if isinstance(node, PythonScope):
            way = Way(way.block, (*way.scopes, node))
        if isinstance(node, _IN_ORDER):
            waiting += ((child, way) for child in ast.iter_child_nodes(node))
            continue
        first = _first_of(node)
        waiting += ((child, way) for child in first)
        for part in _parts(node):
            inner = Way((*way.block, next(numbers)), way.scopes)
            waiting += ((child, inner) for child in part if child not in first)


def _first_of(node: ast.AST) -> Sequence[ast.expr]:
    """The expressions that a node always evaluates first, once and in order."""
    match node:
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return (value,)
        case ast.AnnAssign(value=ast.expr() as value):
            return (value,)
        case ast.If(test=first) | ast.IfExp(test=first) | ast.Match(subject=first):
            return (first,)
        case ast.For(iter=first) | ast.AsyncFor(iter=first) | ast.BoolOp(values=[first, *_]):
            return (first,)
        case ast.With(items=[first, *_]) | ast.AsyncWith(items=[first, *_]):
            return (first.context_expr,)
        case ast.Compare(left=left, comparators=[second, *_]):
            return (left, second)
    return ()


def _parts(node: ast.AST) -> Iterator[list[ast.AST]]:
    """The blocks of a node. A block runs from its first child on, but may stop before its last."""
    match node:
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            children = (child for item in items for child in ast.iter_child_nodes(item))
            yield [
                *children,
                *body,
            ]  # a context manager may suppress an error, and the code after it still runs
        case _:
            for _, value in ast.iter_fields(node):
                values = value if isinstance(value, list) else [value]
                yield [child for child in values if isinstance(child, ast.AST)]


Names = Mapping[int, ast.expr]
"""The value of a name where it is read, by the ``id`` of the node that reads it."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.GeneratorExp
"""Nodes whose code runs later, and reads names then."""
_LOGS = frozenset({"debug", "info", "warning", "error"})


def meant(tree: ast.Module, *, whole: bool) -> Names:
    """The values of names that are read where only one value is possible. Names of a module count
    only in a ``whole`` program: other programs may import them."""
    bound, read = Counter(_bound(tree)), Counter(name.id for name in _read(tree))
    once = {name: value for name, value in _assignments(tree, local=whole) if bound[name] == 1}
    values = {
        id(name): once[name.id] for name in _read(tree) if read[name.id] == 1 and name.id in once
    }
    declarations = (node for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal))
    shared = {name for declaration in declarations for name in declaration.names}
    for scope in ast.walk(tree):
        if isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            closed = isinstance(scope, _Function) or whole
            values |= _in_sequence(scope, shared | set(_read_later(scope)), closed=closed)
    return values


def _in_sequence(
    scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, shared: Set[str], *, closed: bool
) -> dict[int, ast.expr]:
    """The values of names in a scope that are read once before they are bound again, or before a
    ``closed`` scope ends; not of ``shared`` names, which other scopes bind or read."""
    values: dict[int, ast.expr] = {}
    for body in _bodies(scope):
        open_: dict[str, tuple[ast.expr, list[ast.Name]]] = {}
        for line in body:
            for node in _read(line):
                if node.id in open_:
                    open_[node.id][1].append(node)
            binds, assigned = Counter(_bound(line)), dict(_assigned(line))
            for name in binds.keys() & open_.keys():
                value, read = open_.pop(name)
                if assigned.keys() == {name} and binds[name] == len(read) == 1:
                    values[id(read[0])] = value  # the line reads before it binds
            open_ |= {name: (value, []) for name, value in assigned.items() if name not in shared}
        if closed and body is scope.body:
            values |= {id(read[0]): value for value, read in open_.values() if len(read) == 1}
    return values


def _bodies(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements in a scope, without those of functions and classes in it."""
    waiting: list[ast.AST] = [scope]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Function | ast.ClassDef) and node is not scope:
            continue
        fields = (value for _, value in ast.iter_fields(node))
        lists = (field for field in fields if field and isinstance(field, list))
        yield from (lines for lines in lists if isinstance(lines[0], ast.stmt))
        waiting += ast.iter_child_nodes(node)


def _read_later(scope: ast.AST) -> Iterator[str]:
    """The names that functions inside a scope read and do not bind."""
    for node in ast.walk(scope):
        if isinstance(node, _Function) and node is not scope:
            own = set(_bound(node))
            yield from (name.id for name in _read(node) if name.id not in own)


def _read(tree: ast.AST) -> Iterator[ast.Name]:
    """The nodes that read a name, except to print or log it."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(ctx=ast.Load()):
                yield node
            case ast.Call(func=ast.Name(id="print"), args=[ast.Name()]):
                continue
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Name()]) if name in _LOGS:
                continue
        waiting += ast.iter_child_nodes(node)


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names that are bound, each once for every place that may bind it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif (name := _name_bound(node)) is not None:
            yield name


def _name_bound(node: ast.AST) -> str | None:
    """The name that a node binds; None if it binds none."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.ClassDef(name=name) | ast.MatchMapping(rest=str(name)):
            return name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return name
        case ast.MatchStar(name=str(name)):
            return name
        case ast.alias(name=name, asname=shown):
            return (shown or name).partition(".")[0]
        case _:
            return None


def _assignments(tree: ast.AST, *, local: bool) -> Iterator[tuple[str, ast.expr]]:
    """Assignments to a single name: in functions, or anywhere with ``local``."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, local)]
    while waiting:
        node, inside = waiting.pop()
        if inside:
            yield from _assigned(node)
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        waiting += ((child, within) for child in ast.iter_child_nodes(node))


def _assigned(line: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The name and value of a line that assigns to a single name."""
    match line:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value


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
        for scopes, name, node in _bound_names(self._tree):
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


def _bound_names(tree: ast.Module) -> Iterator[_Bound]:
    """The bindings of names: the scopes, the name, and the node that binds it, None if that may
    happen at any time. A ``global`` or ``nonlocal`` name may be bound in any scope around it."""
    waiting: list[tuple[ast.AST, tuple[PythonScope, ...], frozenset[str]]] = [
        (tree, (), frozenset())
    ]
    while waiting:
        node, scopes, shared = waiting.pop()
        name = _name_bound(node)
        if name is not None:
            wide = isinstance(node, ast.Name) and name in shared
            in_place = node if isinstance(node, ast.Name | ast.arg | ast.alias) else None
            yield scopes if wide else scopes[-1:], name, in_place
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
