"""What the statements of a text do when an engine runs them: read, set up the session, or write.

In: a text, or one of its statements. Out: its statements with their kinds, or what a statement
changes for somebody who keeps what a catalog said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from sqlglot import Token, TokenType, exp

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.parse.statements import Statement, statements
from sqlrewrite.text.source import Lines

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
    """What running a statement does."""

    QUERY = "query"  # reads alone
    SESSION = "session"  # changes the session and nothing that outlives it
    OTHER = "other"  # may write


@dataclass(frozen=True, slots=True)
class StatementText:
    """One statement. ``endless`` is a query without the LIMIT and OFFSET of the whole, where it
    has one: which of several equal rows those keep is open."""

    index: int
    line: int
    text: str
    kind: StatementKind
    endless: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a statement may change.

    ``settings``: whether those of the session.
    ``words``: relations that have one of these words in their names; None: any relation.
    ``stored``: whether Spark keeps the statement's text, as that of a view.
    """

    settings: bool = False
    words: frozenset[str] | None = frozenset()
    stored: bool = False


NOTHING = Effect()
ANYTHING = Effect(settings=True, words=None)


def statement_texts(text: str) -> tuple[StatementText, ...]:
    """The statements of a text in order. Those that were not parsed count as ``OTHER``."""
    lines = Lines(text)
    return tuple(
        StatementText(
            index=it.index,
            line=lines.place(it.start)[0],
            text=text[it.start : it.tokens[-1].end + 1] if it.tokens else "",
            kind=_kind(it),
            endless=_without_limit(it, text),
        )
        for it in statements(text)
    )


def effect(statement: Statement) -> Effect:
    """What a statement changes; one that no table here names may change anything."""
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
    found = {token.text.lower() for token in tokens}
    # The rest of a command is one token, whatever it says.
    return frozenset(found | {word for text in found for word in re.findall(r"\w+", text)})


def writes_each_partition(statement: Statement) -> bool:
    """Whether a statement takes the partitions that it writes from the rows: an INSERT with a
    partition column that has no value, or a CREATE TABLE … PARTITIONED BY … AS."""
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
    """For each column in the parentheses that open a list of tokens, whether a value is given."""
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
    words = " ".join(it.text.lower() for it in statement.tokens[:4]).split()
    if words and words[0] in _SESSION:
        return StatementKind.SESSION
    made = words[3:] if words[:3] == ["create", "or", "replace"] else words[1:]
    if words[:1] == ["create"] and made and made[0] in ("temp", "temporary"):
        return StatementKind.SESSION  # a view or a function; GLOBAL TEMPORARY outlives the session
    return StatementKind.OTHER


def _without_limit(statement: Statement, text: str) -> str | None:
    tree = statement.tree
    if not isinstance(tree, exp.Query) or not (tree.args.get("limit") or tree.args.get("offset")):
        return None
    at = _limit(statement.tokens)
    return None if at is None else text[statement.start : at].rstrip()


def _limit(tokens: Sequence[Token]) -> int | None:
    """Where the LIMIT or OFFSET of the whole begins: nothing but the other one comes after it."""
    depth = 0
    found: int | None = None
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
        elif token.token_type in _LIMITS and depth == 0 and found is None:
            found = token.start
        elif found is not None and depth == 0 and token.token_type is TokenType.SELECT:
            found = None  # it belonged to a branch before
    return found
