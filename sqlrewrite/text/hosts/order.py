"""The order in which a program runs: each node of a tree with the way to it.

In: a tree of Python. Out: its nodes, each with its ``Way``: what may run or not, or more than once,
on the way to it, and the functions around it. Closed world: what is not in ``_IN_ORDER`` or in
``_first_of`` is taken for something that may not run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PythonScope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
"""What has names of its own; the targets of a comprehension count as names of what is around it."""

_IN_ORDER = (
    *(ast.Module, ast.Expr, ast.Return, ast.Call, ast.keyword, ast.Attribute, ast.Subscript),
    *(ast.Starred, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp),
    *(ast.JoinedStr, ast.FormattedValue, ast.NamedExpr, ast.Slice),
)
"""What evaluates all that is in it, in the order of the text."""


@dataclass(frozen=True, slots=True)
class Way:
    """The way to a node: ``block`` has a number for each part of the program around it that may not
    run to its end, or run again; ``scopes`` are those around it, the innermost last."""

    block: tuple[int, ...]
    scopes: tuple[PythonScope, ...]


def in_order(tree: ast.Module, numbers: Iterator[int]) -> Iterator[tuple[ast.AST, Way]]:
    """The nodes of a tree with the ways to them; ``numbers`` are those of the blocks."""
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
    """What a node surely evaluates, in order, before anything else of it and only once."""
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
    """The parts of a node of which each runs from its beginning, but perhaps not to its end."""
    match node:
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            children = (child for item in items for child in ast.iter_child_nodes(item))
            yield [*children, *body]  # what is opened may suppress an error of all behind it
        case _:
            for _, value in ast.iter_fields(node):
                values = value if isinstance(value, list) else [value]
                yield [child for child in values if isinstance(child, ast.AST)]
