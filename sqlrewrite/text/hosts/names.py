"""Names of a program that stand for one text: ``query = "…"`` and then ``spark.sql(query)``.

In: a tree of Python. Out: for each name that is bound once in the file and read once, what it is
bound to. Whoever changes that text changes what is read there, and nothing else.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

Names = Mapping[str, ast.expr]
"""What is meant by a name."""

_LOGS = frozenset({"debug", "info", "warning", "error"})


def assigned_once(tree: ast.AST, *, whole: bool) -> Names:
    """The names of a file, those of the module itself only where the file is the ``whole`` program:
    others may import them."""
    bound, read = Counter(_bound(tree)), Counter(_read(tree))
    found = dict(_assignments(tree, local=whole))
    return {name: it for name, it in found.items() if bound[name] == read[name] == 1}


def _read(tree: ast.AST) -> Iterator[str]:
    """Each name, as often as something reads it that does more than show it to a person."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                yield name
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
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if inside:
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if inside:
                yield name, value
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        waiting += ((it, within) for it in ast.iter_child_nodes(node))
