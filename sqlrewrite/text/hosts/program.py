"""The order in which the nodes of a Python program run, and the values of names where they are
read.

In: a Python tree. Out: its nodes, each with its ``Way``: the branches, loops and functions around
it. A node that is neither in ``_IN_ORDER`` nor in ``_first_of`` may skip its children or run them
more than once. The value of a name (``query = "…"`` and then ``spark.sql(query)``) is given only if
the name is bound once and read once in the file, or read once between two assignments, so that an
insertion into the string affects only that one use.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

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
"""Code that runs later, and reads names then."""
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
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name
            case ast.MatchStar(name=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.alias(name=name, asname=shown):
                yield (shown or name).partition(".")[0]


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
