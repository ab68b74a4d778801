"""What can be read off sqlglot's trees alone, before anything is bound."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

ANY = "*"
"""Stands for any name of a table."""

_BEFORE_A_NAME = frozenset({"stream", "table"})

# A name in IDENTIFIER('…'), where it surely has a single part.
_NAME = re.compile(r"[A-Za-z_]\w*|`[A-Za-z_]\w*`")

# Most of a tree, and no table is below it; what a hint names is none.
_NO_TABLES = frozenset({exp.Column, exp.Literal, exp.Identifier, exp.Hint, exp.DataType})

_NO_OPERANDS = frozenset({exp.Identifier, exp.Var, exp.DataType, exp.TableAlias})


def conjunct_trees(tree: exp.Expr) -> list[exp.Expr]:
    """The conjuncts of a condition in the author's order, parentheses looked through."""
    found: list[exp.Expr] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.And):
            stack += [node.args["expression"], node.this]
        else:
            found.append(node)
    return found


def short_names(tree: exp.Expr) -> Iterator[str]:
    """The names without a schema by which a tree refers to tables, hints left out, and ``ANY``
    where it does so by a name that is only known when it runs."""
    stack = [tree]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _NO_TABLES:
            continue
        if kind is exp.Table and not node.args.get("db"):
            yield from _table_names(node)
        for value in node.args.values():
            if type(value) is list:
                stack += [item for item in value if isinstance(item, exp.Expr)]
            elif type(value) not in _NO_TABLES and isinstance(value, exp.Expr):
                stack.append(value)


def _table_names(node: exp.Expr) -> Iterator[str]:
    """The names that one item of a FROM may be a reference to."""
    inner = node.this
    if computed_alias(node):
        yield ANY  # STREAM IDENTIFIER('c')
    if isinstance(inner, exp.Identifier):
        name = inner.name.lower()
        yield name
        if name in _BEFORE_A_NAME and node.args.get("alias") is not None:
            yield node.alias.lower()  # STREAM c and TABLE c, which sqlglot reads as an alias
        return
    if inner.name.lower() == "identifier":
        written = inner.expressions[0] if len(inner.expressions) == 1 else None
        plain = isinstance(written, exp.Literal) and _NAME.fullmatch(written.name)
        yield written.name.strip("`").lower() if plain and written is not None else ANY
    yield from (column.name.lower() for column in inner.find_all(exp.Column))  # f(TABLE(c))


def computed_alias(node: exp.Expr) -> bool:
    """Whether an alias is ``IDENTIFIER('…')``, which sqlglot reads as a name and columns."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias) or not isinstance(alias.this, exp.Identifier):
        return False
    return alias.name.lower() == "identifier" and bool(alias.columns)


def bare(node: exp.Expr) -> bool:
    """Whether a set operation has nothing of its own beside its two sides."""
    return not any(
        node.args.get(key) for key in ("limit", "offset", "with_", "order", "by_name", "on", "side")
    )


def chained(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a chain of one connective, without recursion: chains run to thousands."""
    found: list[exp.Expr] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, kind):
            stack.append(current.args["expression"])
            stack.append(current.this)
        else:
            found.append(current)
    return found


def operand_trees(node: exp.Expr, *, names: bool = False) -> list[exp.Expr]:
    """Operands in the text's order where sqlglot keeps it; types are no operands, and names only in
    a lambda, whose parameters are no columns."""
    found: list[exp.Expr] = []
    for value in node.args.values():
        if type(value) is list:
            found += [it for it in value if isinstance(it, exp.Expr) and _is_operand(it, names)]
        elif isinstance(value, exp.Expr) and _is_operand(value, names):
            found.append(value)
    return found


def _is_operand(node: exp.Expr, names: bool) -> bool:
    return type(node) not in _NO_OPERANDS or (names and type(node) is exp.Identifier)
