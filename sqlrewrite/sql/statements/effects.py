"""The effects of statements, and the relations that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from msgspec import Struct
from sqlglot import Token, TokenType, exp

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.parse.statements import Statement, statements
from sqlrewrite.text.edits import Edit, Span, apply
from sqlrewrite.text.source import Lines
from sqlrewrite.warehouse import Name, Table, Warehouse

_SESSION = frozenset({"use", "set", "declare"})
_LIMITS = frozenset({TokenType.LIMIT, TokenType.OFFSET})

_CHANGE_NOTHING = frozenset("analyze desc describe explain refresh set show uncache use".split())
_NAME_TARGET_FIRST = token_types("insert create cache merge")
_OPEN_SOURCE = token_types("select with values from using")

# What a statement changes, by its first word.
_READS = frozenset("select values table describe desc explain show list".split())
_SETS = frozenset("set reset use declare".split())
_WRITES = frozenset("insert merge update delete from with".split())
_DEFINES = frozenset(
    "alter analyze cache clear comment create drop load msck refresh repair replace truncate "
    "uncache".split()
)
_STORED = frozenset(
    {"view", "function", "materialized", "streaming", "procedure", "index", "policy"}
)


class StatementKind(Enum):
    """The effect of running a statement."""

    QUERY = "query"  # reads alone
    SESSION = "session"  # changes the session and nothing that outlives it
    OTHER = "other"  # may write


class StatementText(Struct, frozen=True):
    """One statement; ``endless`` is the text of a query without its outermost LIMIT and OFFSET."""

    index: int
    line: int
    text: str
    kind: StatementKind
    endless: str | None = None


class Effect(Struct, frozen=True):
    """The effect of a statement.

    ``settings``: whether it may change the session's settings.
    ``words``: it may change relations with one of these words in their names; None: any relation.
    ``stored``: whether Spark keeps the statement's text, as that of a view.
    """

    settings: bool = False
    words: frozenset[str] | None = frozenset()
    stored: bool = False


NOTHING = Effect()
ANYTHING = Effect(settings=True, words=None)


def statement_texts(text: str) -> tuple[StatementText, ...]:
    """The statements of a text in order; one that does not parse is ``OTHER``."""
    lines = Lines(text)
    return tuple(
        StatementText(
            index=statement.index,
            line=lines.place(statement.start)[0],
            text=text[statement.start : statement.tokens[-1].end + 1] if statement.tokens else "",
            kind=_kind(statement),
            endless=_without_limit(statement, text),
        )
        for statement in statements(text)
    )


def effect(statement: Statement) -> Effect:
    """The effect of a statement; one of an unknown kind may change anything."""
    if isinstance(statement.tree, exp.Query):
        return NOTHING
    texts = [token.text.lower() for token in statement.tokens]
    words = " ".join(texts).split()
    first = words[0] if words else ""
    if first in _READS:
        return NOTHING
    if first in _SETS:
        return Effect(settings=True)
    if first in _WRITES and statement.tree is not None:
        return Effect(words=targets(statement))
    if first in _DEFINES:
        stored = first in ("create", "alter", "replace") and not _STORED.isdisjoint(words[1:6])
        everything = frozenset(word for text in texts for word in re.findall(r"\w+", text))
        return Effect(words=targets(statement) or everything, stored=stored)
    return ANYTHING


def targets(statement: Statement) -> frozenset[str]:
    """The words of a statement, lower case, that may name what it changes; none for a query."""
    tokens = statement.tokens
    if not tokens or isinstance(statement.tree, exp.Query):
        return frozenset()
    if _CHANGE_NOTHING.intersection(tokens[0].text.lower().split()[:1]):
        return frozenset()
    if tokens[0].token_type in _NAME_TARGET_FIRST:
        ends = (at for at, token in enumerate(tokens) if token.token_type in _OPEN_SOURCE)
        tokens = tokens[: next(ends, len(tokens))]
    words = {token.text.lower() for token in tokens}
    # The rest of a command is one token, whatever it says.
    return frozenset(words | {word for text in words for word in re.findall(r"\w+", text)})


def writes_each_partition(statement: Statement) -> bool:
    """Whether the rows decide which partitions a statement writes."""
    tokens = statement.tokens
    kinds = [token.token_type for token in tokens]
    if kinds[:1] == [TokenType.CREATE] and any(
        # A window's PARTITION BY is of this kind, too, and a name or comment may begin so.
        token.token_type is TokenType.PARTITION_BY and token.text.lower().startswith("partitioned")
        for token in tokens
    ):
        return True
    starts = (at + 1 for at, kind in enumerate(kinds) if kind is TokenType.PARTITION)
    return any(not all(_values(kinds[start:])) for start in starts)


def _values(kinds: Sequence[TokenType]) -> Iterator[bool]:
    """Whether each column has a value, in the parentheses at the beginning of these tokens."""
    depth, valued = 0, False
    for kind in kinds if kinds[:1] == [TokenType.L_PAREN] else ():
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        valued |= kind is TokenType.EQ
        if depth == 0 or (depth == 1 and kind is TokenType.COMMA):
            yield valued
            valued = False
        if depth == 0:
            return


def _kind(statement: Statement) -> StatementKind:
    if isinstance(statement.tree, exp.Query):
        return StatementKind.QUERY
    words = " ".join(token.text.lower() for token in statement.tokens[:4]).split()
    if words and words[0] in _SESSION:
        return StatementKind.SESSION
    created = words[3:] if words[:3] == ["create", "or", "replace"] else words[1:]
    if words[:1] == ["create"] and created and created[0] in ("temp", "temporary"):
        return StatementKind.SESSION  # a view or a function; GLOBAL TEMPORARY outlives the session
    return StatementKind.OTHER


def _without_limit(statement: Statement, text: str) -> str | None:
    tree = statement.tree
    if not isinstance(tree, exp.Query) or not (tree.args.get("limit") or tree.args.get("offset")):
        return None
    at = _limit(statement.tokens)
    return None if at is None else text[statement.start : at].rstrip()


def _limit(tokens: Sequence[Token]) -> int | None:
    """The offset of the LIMIT or OFFSET of a whole query; only the other one may follow it."""
    depth = 0
    limit: int | None = None
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
        elif token.token_type in _LIMITS and depth == 0 and limit is None:
            limit = token.start
        elif limit is not None and depth == 0 and token.token_type is TokenType.SELECT:
            limit = None  # it belonged to a branch before
    return limit


# What may stand behind a name and its alias whatever the name means.
_ANYWHERE = frozenset({"this", "db", "catalog", "alias", "joins", "laterals", "pivots"})
_OF_FILES = "_metadata"
_WRITING = (exp.Insert, exp.Create, exp.Cache, exp.Schema, exp.Merge, exp.Update, exp.Delete)


class TableReference(Struct, frozen=True):
    """A name in a FROM, its parts in lower case, and where it stands.

    ``alias``: the name that the query knows it by if no alias is written, else empty. ``plain``:
    False where the query uses it as only a table can be used: a version of it,
    ``schema.table.column``, its files.
    """

    parts: Name
    span: Span
    alias: str = ""
    plain: bool = True


def references(text: str) -> tuple[TableReference, ...]:
    """The references of a text of one statement, in order; none if it does not parse."""
    trees = [statement.tree for statement in statements(text)]
    if len(trees) != 1 or trees[0] is None:
        return ()
    tree = trees[0]
    columns = list(tree.find_all(exp.Column))
    files = any(part.name.lower() == _OF_FILES for column in columns for part in column.parts)
    qualified = {(column.db.lower(), column.table.lower()) for column in columns if column.db}
    references = []
    for table, names, parts in _named(tree):
        plain = not (files or parts[-2:] in qualified) and all(
            not value or key in _ANYWHERE for key, value in table.args.items()
        )
        span = Span(names[0].meta["start"], names[-1].meta["end"] + 1)
        references.append(TableReference(parts, span, "" if table.alias else names[-1].name, plain))
    return tuple(sorted(references, key=lambda it: it.span.start))


def relations_of(tree: exp.Expr, *, read: bool = False) -> tuple[Name, ...]:
    """The relations of a statement, without CTEs; with ``read`` only those that it reads."""
    names: dict[Name, None] = {}
    for table, _, parts in _named(tree):
        changes = isinstance(table.parent, exp.Merge | exp.Update | exp.Delete)
        if not read or changes or not _is_written(table):
            names[parts] = None
    return tuple(names)


def relations_in(text: str) -> tuple[Name, ...]:
    """The names of all relations of a text's statements, each once."""
    trees = (statement.tree for statement in statements(text))
    names = (name for tree in trees if tree is not None for name in relations_of(tree))
    return tuple(dict.fromkeys(names))


def unknown(tree: exp.Expr, catalog: Warehouse) -> TableReference | None:
    """The first relation that a statement reads and whose partitioning is not known, or None."""
    for table, names, parts in _named(tree):
        if _is_written(table):
            continue
        relation = catalog.resolve(parts)
        vague = isinstance(relation, Table) and not (relation.names or relation.partitioned_by)
        if relation is None or vague:
            return TableReference(parts, Span(names[0].meta["start"], names[-1].meta["end"] + 1))
    return None


def _is_written(table: exp.Table) -> bool:
    """Whether a statement writes into a table."""
    holder = table.parent.parent if isinstance(table.parent, exp.Tuple) else table.parent
    return isinstance(holder, _WRITING) and (holder is not table.parent or table.arg_key == "this")


def _named(tree: exp.Expr) -> Iterator[tuple[exp.Table, list[exp.Identifier], Name]]:
    """The relations of a statement, without CTEs, each with its identifiers and its name."""
    for table in tree.find_all(exp.Table):
        names = [part for part in table.parts if isinstance(part, exp.Identifier)]
        hint = len(names) != len(table.parts) or table.find_ancestor(exp.Hint)
        if not hint and not _is_cte(table):
            yield table, names, tuple(name.name.lower() for name in names)


def renamed(text: str, names: Iterable[tuple[TableReference, str]]) -> str:
    """The text with another name in place of each reference given, under the same alias."""
    edits = []
    for reference, name in names:
        alias = reference.alias.replace("`", "``")
        edits.append(Edit(reference.span, f"{name} AS `{alias}`" if alias else name))
    return apply(text, edits)


def _is_cte(table: exp.Table) -> bool:
    """Whether a name means a CTE of a WITH around it that is defined before it."""
    if table.args.get("db"):
        return False
    name = table.name.lower()
    inside: set[int] = set()
    node: exp.Expr | None = table
    while node is not None:
        inside.add(id(node))
        with_ = node.args.get("with_") or exp.With(expressions=[])
        for cte in with_.expressions:
            if id(cte) in inside and not with_.args.get("recursive"):
                break
            if cte.alias.lower() == name:
                return True
        node = node.parent
    return False
