"""SQL scripts, BEGIN … END: which of their tokens are statements, and where a script ends.

``compoundStatement`` of SqlBaseParser.g4. In: the tokens of a text. Out: its statements; those of a
script without the words before them (IF … THEN, ELSE, WHILE … DO, a label), and the query of FOR r
AS query DO. A query means the same in a script as outside, since columns come before variables,
unless it reads a relation that the script makes, perhaps in a branch that does not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from sqlglot import Token, TokenType

from sqlrewrite.copies import replace
from sqlrewrite.sql.ddl.head import open_names
from sqlrewrite.sql.lex.keywords import word
from sqlrewrite.warehouse import may_render_to

ENDLESS = "BEGIN without END: the script is not read, nor what follows it"
MADE = "the script creates, changes or drops what this statement reads: it is left alone"
MOVED = "the script changes its schema with USE: its statements are left alone"
UNREAD = (
    "EXECUTE IMMEDIATE in this script runs a computed text, which may change what names mean: its "
    "statements are left alone"
)

_CELL_END = "COMMAND"  # in the comment that ends a cell
_BLOCKS = frozenset({"if", "case", "while", "loop", "repeat", "for"})
# Words before a statement in a script, and the word after which it begins.
_LEADS = {"if": "then", "elseif": "then", "when": "then", "case": "then", "while": "do"}
_TRANSACTION = frozenset({"transaction", "tran", "work"})
_DEFINES = frozenset({"create", "replace", "drop", "alter", "cache", "uncache"})
_BEFORE_A_NAME = frozenset(
    "create replace drop alter cache uncache lazy or global temporary temp external"
    " local materialized table view schema database namespace function if not exists".split()
)
_LOOPS = frozenset({"loop", "repeat", "while", "for"})


class Piece(Struct, frozen=True, eq=False):
    """The tokens between two semicolons, and the offsets of the text from one to the other.

    ``why``: why a part of a script is left alone.
    ``defines``: it makes, changes or drops what others may read.
    """

    tokens: list[Token]
    since: int
    until: int
    why: str = ""
    defines: bool = False


class Script(Struct, frozen=True, eq=False):
    """A script, BEGIN … END, by its pieces between semicolons; ``ended``: whether its END is
    there."""

    pieces: tuple[Piece, ...]
    text: str
    ended: bool = True

    @property
    def statements(self) -> Iterator[Piece]:
        """The statements in the script, each without the words before it."""
        if self.ended:
            return _statements(self.pieces, self.text)
        return (replace(piece, why=ENDLESS) for piece in self.pieces)


_CHANGES_NO_NAME = re.compile(
    r"immediate\s+['\"][\s(]*"
    r"(?:select|with|from|values|table|insert|merge|update|delete|explain|show|desc(?:ribe)?)\b",
    re.IGNORECASE,
)


def runs_unread(tokens: Sequence[Token]) -> bool:
    """Whether this is EXECUTE IMMEDIATE of a text that may define, drop or set something: it is no
    literal, or begins neither a query nor a change of rows."""
    if word(tokens, 0) != "execute" or len(tokens) < 2:
        return False
    return _CHANGES_NO_NAME.match(tokens[1].text) is None  # sqlglot has one token for the rest


def pieces(text: str, tokens: Sequence[Token]) -> Iterator[Piece]:
    """The statements of a text, also those inside scripts, by its tokens."""
    for piece in split(text, tokens):
        if isinstance(piece, Piece):
            yield piece
        else:
            yield from piece.statements


def split(text: str, tokens: Sequence[Token]) -> Iterator[Piece | Script]:
    """The statements and scripts of a text, by its tokens."""
    parts = _between_semicolons(text, tokens)
    scripted = "begin" in text.lower() and any(
        token.token_type is TokenType.BEGIN for token in tokens
    )
    return _with_scripts(parts, text) if scripted else parts


def _between_semicolons(text: str, tokens: Sequence[Token]) -> Iterator[Piece]:
    if tokens and not any(mark in text for mark in (";", _CELL_END, "{%")):
        yield Piece(list(tokens), 0, len(text))
        return
    since = 0
    piece: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            piece.append(token)
            continue
        if piece:
            yield Piece(piece, since, token.start)
        piece, since = [], token.end + 1
    if piece:
        yield Piece(piece, since, len(text))


def _with_scripts(parts: Iterable[Piece], text: str) -> Iterator[Piece | Script]:
    """The pieces, with those of each script put together."""
    script: list[Piece] = []
    depth = 0
    for piece in parts:
        if not script and not _begins(piece.tokens):
            yield piece
            continue
        script.append(piece)
        depth += _deeper(piece.tokens)
        if depth <= 0:
            yield Script(tuple(script), text)
            script, depth = [], 0
    if script:
        yield Script(tuple(script), text, ended=False)


def _begins(tokens: Sequence[Token]) -> bool:
    """Whether a statement is BEGIN …, or label: BEGIN …, of a script."""
    labelled = len(tokens) > 1 and tokens[1].token_type is TokenType.COLON
    body = tokens[2:] if labelled else tokens
    begins = len(body) > 1 and body[0].token_type is TokenType.BEGIN
    return begins and word(body, 1) not in _TRANSACTION


def _deeper(tokens: Sequence[Token]) -> int:
    """The number of blocks BEGIN … END that a piece opens, minus those that it closes."""
    depth, before, handler = 0, "", False
    for index in range(len(tokens)):
        first = word(tokens, index)
        handler |= _declares_handler(tokens, index)
        if first == "begin" and (handler or before in _BEFORE_BEGIN):
            depth += 1
        elif first == "end" and before in ("", "begin"):
            depth -= word(tokens, index + 1) not in _BLOCKS
        before = first or "a name"
    return depth


_BEFORE_BEGIN = frozenset({"", "begin", "then", "else", "do", "loop", "repeat", ":", "atomic"})


def _statements(script: Sequence[Piece], text: str) -> Iterator[Piece]:
    led = [statement for piece in script for statement in _led(piece)]
    defined: set[str] = set()
    moved = ""
    if any(
        word(statement.tokens, at) in _LOOPS
        for statement in script
        for at in range(len(statement.tokens))
    ):
        # What a loop makes under a computed name may hide tables from the statements before it.
        opened = {name[-1] for statement in led for name in open_names(statement.tokens, text)}
        words = (
            {token.text.lower() for statement in led for token in statement.tokens}
            if opened
            else set()
        )
        defined |= {
            name for name in words if any(may_render_to(template, name) for template in opened)
        }
    for piece in led:
        first = word(piece.tokens, 0)
        defined |= _defined(piece.tokens) if first in _DEFINES else set()
        if first == "use" or (first, word(piece.tokens, 1)) == ("set", "catalog"):
            moved = MOVED
        elif runs_unread(piece.tokens):
            moved = UNREAD
    for piece in led:
        if word(piece.tokens, 0) in (*_DEFINES, "use", "set"):
            yield replace(piece, defines=True)
        elif moved:
            yield replace(piece, why=moved)
        elif defined.isdisjoint(token.text.lower() for token in piece.tokens):
            yield piece
        else:
            yield replace(piece, why=MADE)


def _defined(tokens: Sequence[Token]) -> set[str]:
    """The parts of the names that a statement defines."""
    index = 0
    while word(tokens, index) in _BEFORE_A_NAME:
        index += 1
    names = {token.text.lower() for token in _dotted(tokens, index)}
    for at in range(index, len(tokens)):
        renamed = (word(tokens, at), word(tokens, at + 1)) == ("rename", "to")
        listed = tokens[at].token_type is TokenType.COMMA and word(tokens, 0) == "drop"
        if renamed or listed:
            names |= {token.text.lower() for token in _dotted(tokens, at + 1 + renamed)}
    return names


def _dotted(tokens: Sequence[Token], index: int) -> Iterator[Token]:
    """The parts of the dotted name that begins at an index."""
    while index < len(tokens):
        yield tokens[index]
        if index + 1 >= len(tokens) or tokens[index + 1].token_type is not TokenType.DOT:
            return
        index += 2


def _declares_handler(tokens: Sequence[Token], index: int) -> bool:
    """Whether DECLARE … HANDLER, of errors or other conditions, stands here."""
    first, *behind = (word(tokens, at) for at in range(index, index + 3))
    return first == "declare" and "handler" in behind


def _led(piece: Piece) -> Iterator[Piece]:
    """The statement in a piece of a script, without the words before it, and any query among
    those."""
    tokens, index = piece.tokens, 0
    while index < len(tokens):
        first = word(tokens, index)
        if first == "end" or first == "until":
            return
        if _declares_handler(tokens, index):
            index = _behind(tokens, index, "begin")
        elif first in ("begin", "else", "loop", "repeat", "not", "atomic"):
            index += 1
        elif word(tokens, index + 1) == ":":
            index += 2
        elif first == "for":
            start = index + (3 if word(tokens, index + 2) == "as" else 1)
            index = _behind(tokens, index, "do")
            yield replace(piece, tokens=tokens[start : index - 1], until=tokens[index - 1].start)
        elif first in _LEADS:
            start, index = index, _behind(tokens, index, _LEADS[first])
            if any(token.token_type is TokenType.JOIN for token in tokens[start:index]):
                yield replace(piece, tokens=tokens[start:index], until=tokens[index - 1].start)
        else:
            break
    if index < len(tokens):
        yield replace(piece, tokens=tokens[index:])


def _behind(tokens: Sequence[Token], index: int, end: str) -> int:
    """The index after the next token that is the word ``end``, outside of parentheses and CASE; the
    index after the last token if there is none."""
    depth = 0
    for at in range(index + 1, len(tokens)):
        kind, first = tokens[at].token_type, word(tokens, at)
        if first == end and depth == 0:
            return at + 1
        if kind is TokenType.L_PAREN or first == "case":
            depth += 1
        elif kind is TokenType.R_PAREN or first == "end":
            depth -= 1
    return len(tokens)
