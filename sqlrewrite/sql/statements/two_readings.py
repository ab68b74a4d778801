"""Statements that Spark and another engine may read differently: double quotes, and dialects."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from sqlrewrite.sql.lex.template_tokens import WEAKENED, templates_among
from sqlrewrite.sql.parse.statements import Failure, Statement
from sqlrewrite.sql.python_runtime import deep
from sqlrewrite.text.templates import Masked, Template

_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)

# Names that a query may use and that stand nowhere: hidden columns, and functions without brackets.
_UNWRITTEN = re.compile(r"_.*|grouping__id|user|\w+_(?:user|date|time|timestamp)", re.DOTALL)

_SAY_WHICH = "say which with double-quoted-identifiers in the settings"


def why_unreadable(statement: Statement, text: str, double_quoted: bool | None) -> Failure | None:
    """Why a statement with text in double quotes is left alone, or None."""
    if double_quoted is False or '"' not in text[statement.start : statement.end]:
        return None
    before: Token | None = None
    for token in statement.tokens:
        quoted = is_double_quoted(text, token)
        if quoted and double_quoted:
            why = "names in double quotes are not supported: write `…`"
            return Failure(token.start, why, True)
        beside = before is not None and before.token_type in _STRINGS
        if beside and token.token_type in _STRINGS and (quoted or is_double_quoted(text, before)):
            shown = text[token.start : token.end + 1]
            why = f"{_short(shown)} is part of the string before it or, {_SET}, an alias of it"
            return Failure(token.start, f"{why}: {_SAY_WHICH}", True)
        before = token
    return None


_SET = "where spark.sql.ansi.doubleQuotedIdentifiers is set"


def possible_names(statement: Statement, text: str) -> frozenset[str] | None:
    """The words of a statement that may be names; None if it has no value in double quotes."""
    assert statement.tree is not None
    if '"' not in text[statement.start : statement.end]:
        return None
    starts = (node.meta.get("start", -1) for node in statement.tree.find_all(exp.Literal))
    values = {start for start in starts if text.startswith('"', start)}
    if not values:
        return None
    return frozenset(
        token.text.lower()
        for token in statement.tokens
        if token.start not in values
        and (token.token_type not in _STRINGS or is_double_quoted(text, token))
    )


def why_maybe_name(
    node: exp.Expr, text: str, possible_names: frozenset[str], nowhere: Callable[[str], bool]
) -> str | None:
    """Why a literal may be a column; None if it is a string. ``possible_names``: the words of the
    statement that may be names. ``nowhere`` tells whether surely no visible column has a name."""
    start = node.meta.get("start", -1)
    if not text.startswith('"', start):
        return None
    name = str(node.this).lower()
    if name not in possible_names and _UNWRITTEN.fullmatch(name) is None and nowhere(name):
        return None
    shown = _short(text[start : node.meta["end"] + 1])
    return f"{shown} is a string or, {_SET}, maybe a column: {_SAY_WHICH}"


def is_double_quoted(text: str, token: Token | None) -> bool:
    """Whether a token is text in double quotes."""
    return (
        token is not None
        and token.token_type is TokenType.STRING
        and text.startswith('"', token.start)
    )


def _short(shown: str) -> str:
    return " ".join(shown[:40].split())


_KINDS: tuple[type[exp.Expr], ...] = (
    *(exp.Select, exp.Where, exp.Having, exp.Qualify, exp.Group, exp.Order, exp.From, exp.With),
    *(exp.CTE, exp.SetOperation, exp.And, exp.Or, exp.Not, exp.Exists, exp.In, exp.Between),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Is, exp.Join, exp.Limit),
)
_NAMED = (exp.Column, exp.Table, exp.TableAlias)
_NO_PARENTHESES = "current_"
"""The beginning of the functions that take no parentheses: columns to Spark's grammar, until they
are looked up."""

_Places = dict[int, tuple[str, ...]]


def disagreement(statement: Statement, masked: Masked, name: str) -> str | None:
    """Why the reading of a text, transliterated from a dialect, is doubtful, or None. ``masked`` is
    the text with stand-ins for its templates, which the dialect's parser takes for names."""
    return deep(lambda: _disagreement(statement, masked, name))


def _disagreement(statement: Statement, masked: Masked, name: str) -> str | None:
    from sqlrewrite.dialects import dialect  # Spark's own texts do without this import

    text = masked.text
    written_in = dialect(name)
    assert written_in is not None
    assert statement.tree is not None
    original = written_in.for_sqlglot(text[statement.start : statement.tokens[-1].end + 1])
    try:
        trees = sqlglot.parse(original, read=written_in.reader)
    except (SqlglotError, RecursionError) as error:
        return f"sqlglot cannot read it as {name}'s SQL: {str(error).split(chr(10), 1)[0]}"
    if len(trees) != 1 or trees[0] is None:
        return f"sqlglot does not read it as one statement of {name}'s"
    if _merges_under_a_star(statement.tree):
        return "the columns of t.* beside USING or NATURAL differ between dialects: name them"
    ours, theirs = _places(statement.tree, 0), _places(trees[0], statement.start)
    for template in templates_among(masked.templates, statement.tokens):
        for places in (ours, theirs):
            _join_places(places, template)
        if template.start not in ours:  # an operand: no name to us
            theirs.pop(template.start, None)
    differing = [at for at in ours.keys() | theirs.keys() if ours.get(at) != theirs.get(at)]
    for at in sorted(differing):
        word = text[at:].split(None, 1)[0]
        if at in theirs or not word.lower().startswith(_NO_PARENTHESES):
            shown = written_in.from_spark(word)
            return f"{name} may read {shown!r} as another part of the statement than Spark would"
    return None


def _join_places(places: _Places, template: Template) -> None:
    """Moves a name that begins inside a template to the beginning of the template."""
    for at in range(template.start + 1, template.end):
        if at in places:
            places[template.start] = places.pop(at)


def _merges_under_a_star(tree: exp.Expr) -> bool:
    """Whether a ``t.*`` may hold merged columns, which engines put in different places."""
    merging = any(
        node.args.get("using") or node.method == "NATURAL" for node in tree.find_all(exp.Join)
    )
    return merging and any(isinstance(node.this, exp.Star) for node in tree.find_all(exp.Column))


def _places(tree: exp.Expr, offset: int) -> _Places:
    """Each column and table by its offset, with the labels of the nodes around it."""
    places: _Places = {}
    stack: list[tuple[exp.Expr, tuple[str, ...]]] = [(tree, ())]
    while stack:
        node, around = stack.pop()
        node = node.meta.get(WEAKENED, node)
        if isinstance(node, exp.Lambda):
            continue
        if isinstance(node, _NAMED):
            start = node.this.meta.get("start") if isinstance(node.this, exp.Identifier) else None
            if start is not None:
                places[start + offset] = around
        label = _label(node)
        if label.startswith("join") and around[-1:] and around[-1].startswith("join"):
            around = around[:-1]  # behind a comma sqlglot hangs joins on the table, or does not
        inner = around if not label or around[-1:] == (label,) else (*around, label)
        stack += [(child, inner) for child in node.iter_expressions()]
    return places


def _label(node: exp.Expr) -> str:
    if isinstance(node, exp.Join):
        words: Sequence[str] = [str(node.args.get(key) or "") for key in ("method", "side", "kind")]
        side = [word for word in words if word not in ("", "INNER", "OUTER", "CROSS")]
        clause = "on" if node.args.get("on") else "using" if node.args.get("using") else ""
        return " ".join(["join", *side, clause]).strip().lower()
    if isinstance(node, exp.SetOperation):
        return f"{type(node).__name__} {bool(node.args.get('distinct'))}"
    return type(node).__name__ if isinstance(node, _KINDS) else ""
