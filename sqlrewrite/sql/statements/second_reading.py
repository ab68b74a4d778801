"""A second reading of a text of another dialect: by sqlglot's own parser of that dialect.

The first reading is by Spark's grammar, of the transliterated text (``dialects``). It is trusted
only where both readings put each column and each table in the same place: in the same SELECT,
clause and join, under the same AND, OR, NOT, comparison or subquery. The insides of calls are not
compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrewrite.dialects import dialect
from sqlrewrite.sql.deep import deep
from sqlrewrite.sql.parse.statements import Statement

_KINDS: tuple[type[exp.Expr], ...] = (
    *(exp.Select, exp.Where, exp.Having, exp.Qualify, exp.Group, exp.Order, exp.From, exp.With),
    *(exp.CTE, exp.SetOperation, exp.And, exp.Or, exp.Not, exp.Exists, exp.In, exp.Between),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Is, exp.Join, exp.Limit),
)
_NAMED = (exp.Column, exp.Table, exp.TableAlias)
_NO_PARENTHESES = "current_"
"""How the functions begin that need none: columns to Spark's grammar, until they are looked up."""

_Places = dict[int, tuple[str, ...]]


def disagreement(statement: Statement, text: str, name: str) -> str | None:
    """Why the second reading of a statement is not the first, or None where both agree.

    ``text`` is transliterated (``dialects``); ``name`` is the dialect's."""
    return deep(lambda: _disagreement(statement, text, name))


def _disagreement(statement: Statement, text: str, name: str) -> str | None:
    written_in = dialect(name)
    assert written_in is not None
    assert statement.tree is not None
    original = written_in.for_sqlglot(text[statement.start : statement.tokens[-1].end + 1])
    try:
        trees = sqlglot.parse(original, read=written_in.reader)
    except (SqlglotError, RecursionError) as error:
        return f"sqlglot does not read it as {name}'s SQL: {str(error).split(chr(10), 1)[0]}"
    if len(trees) != 1 or trees[0] is None:
        return f"sqlglot does not read it as one statement of {name}'s"
    if _merges_under_a_star(statement.tree):
        return "what t.* has beside USING or NATURAL is not the same in all dialects"
    ours, theirs = _places(statement.tree, 0), _places(trees[0], statement.start)
    differing = [at for at in ours.keys() | theirs.keys() if ours.get(at) != theirs.get(at)]
    for at in sorted(differing):
        word = text[at:].split(None, 1)[0]
        if at in theirs or not word.lower().startswith(_NO_PARENTHESES):
            shown = written_in.from_spark(word)
            return f"{shown!r} stands elsewhere to {name} than to Spark's grammar"
    return None


def _merges_under_a_star(tree: exp.Expr) -> bool:
    """Whether ``t.*`` may hold columns that a join merges: Spark puts those of the right side
    first, Flink leaves them where they are declared."""
    merging = any(it.args.get("using") or it.method == "NATURAL" for it in tree.find_all(exp.Join))
    return merging and any(isinstance(it.this, exp.Star) for it in tree.find_all(exp.Column))


def _places(tree: exp.Expr, offset: int) -> _Places:
    """Each column and table by its offset, with the labels of the nodes around it."""
    found: _Places = {}
    stack: list[tuple[exp.Expr, tuple[str, ...]]] = [(tree, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, exp.Lambda):
            continue
        if isinstance(node, _NAMED):
            start = node.this.meta.get("start") if isinstance(node.this, exp.Identifier) else None
            if start is not None:
                found[start + offset] = around
        label = _label(node)
        if label.startswith("join") and around[-1:] and around[-1].startswith("join"):
            around = around[:-1]  # behind a comma sqlglot hangs joins on the table, or does not
        inner = around if not label or around[-1:] == (label,) else (*around, label)
        stack += [(child, inner) for child in node.iter_expressions()]
    return found


def _label(node: exp.Expr) -> str:
    if isinstance(node, exp.Join):
        said: Sequence[str] = [str(node.args.get(it) or "") for it in ("method", "side", "kind")]
        side = [it for it in said if it not in ("", "INNER", "OUTER", "CROSS")]
        clause = "on" if node.args.get("on") else "using" if node.args.get("using") else ""
        return " ".join(["join", *side, clause]).strip().lower()
    if isinstance(node, exp.SetOperation):
        return f"{type(node).__name__} {bool(node.args.get('distinct'))}"
    return type(node).__name__ if isinstance(node, _KINDS) else ""
