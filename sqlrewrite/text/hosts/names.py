"""Names of a program that stand for one text: ``query = "…"`` and then ``spark.sql(query)``.

In: a tree of Python. Out: what a name is bound to where it is read: bound and read once in the
file, or read once between two lines that bind it (``query = spark.sql(query)``). So a change of the
text changes what is read there, and nothing else.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Set

Names = Mapping[int, ast.expr]
"""What is meant where a name is read, by the ``id`` of that node."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.GeneratorExp
"""What runs later, and may read names then."""
_LOGS = frozenset({"debug", "info", "warning", "error"})


def meant(tree: ast.Module, *, whole: bool) -> Names:
    """What names mean; those of the module only in a ``whole`` program: others may import them."""
    bound, read = Counter(_bound(tree)), Counter(it.id for it in _read(tree))
    once = {name: it for name, it in _assignments(tree, local=whole) if bound[name] == 1}
    found = {id(it): once[it.id] for it in _read(tree) if read[it.id] == 1 and it.id in once}
    said = (it for it in ast.walk(tree) if isinstance(it, ast.Global | ast.Nonlocal))
    shared = {name for it in said for name in it.names}
    for scope in ast.walk(tree):
        if isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            closed = isinstance(scope, _Function) or whole
            found |= _in_sequence(scope, shared | set(_read_later(scope)), closed=closed)
    return found


def _in_sequence(
    scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, shared: Set[str], *, closed: bool
) -> dict[int, ast.expr]:
    """What is meant by the names of a scope, but for ``shared`` ones, that are read once before
    they are bound again, or before the scope ends, if it is ``closed``."""
    found: dict[int, ast.expr] = {}
    for body in _bodies(scope):
        open_: dict[str, tuple[ast.expr, list[ast.Name]]] = {}
        for line in body:
            for it in _read(line):
                if it.id in open_:
                    open_[it.id][1].append(it)
            binds, assigned = Counter(_bound(line)), dict(_assigned(line))
            for name in binds.keys() & open_.keys():
                value, read = open_.pop(name)
                if assigned.keys() == {name} and binds[name] == len(read) == 1:
                    found[id(read[0])] = value  # the line reads before it binds
            open_ |= {name: (it, []) for name, it in assigned.items() if name not in shared}
        if closed and body is scope.body:
            found |= {id(read[0]): value for value, read in open_.values() if len(read) == 1}
    return found


def _bodies(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of lines of a scope, those of functions and classes in it left out."""
    waiting: list[ast.AST] = [scope]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Function | ast.ClassDef) and node is not scope:
            continue
        fields = (value for _, value in ast.iter_fields(node))
        yield from (
            it for it in fields if it and isinstance(it, list) and isinstance(it[0], ast.stmt)
        )
        waiting += ast.iter_child_nodes(node)


def _read_later(scope: ast.AST) -> Iterator[str]:
    """The names that functions in a scope read, and do not bind themselves."""
    for it in ast.walk(scope):
        if isinstance(it, _Function) and it is not scope:
            own = set(_bound(it))
            yield from (name.id for name in _read(it) if name.id not in own)


def _read(tree: ast.AST) -> Iterator[ast.Name]:
    """The places where something reads a name that does more than show it to a person."""
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
    """Each name, as often as something may bind it."""
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
    """What single names are assigned, in functions, and anywhere if ``local``."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, local)]
    while waiting:
        node, inside = waiting.pop()
        if inside:
            yield from _assigned(node)
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        waiting += ((it, within) for it in ast.iter_child_nodes(node))


def _assigned(line: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a line assigns to a single name."""
    match line:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
