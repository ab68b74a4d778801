"""Names that are computed when a query runs, ``IDENTIFIER(:c || '.t')``, as dotted names.

In: tokens. Out: the same, with tokens of ``${c}.t`` in place of such a call where it names a
relation, over the same stretch of the text, as ``template_tokens`` does for ``ref``. The value of a
parameter is unknown, like that of a variable. A call of anything but texts and named parameters
stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import Token, TokenType

from sqlrewrite.sql.lex.keywords import word
from sqlrewrite.sql.lex.template_tokens import tiled
from sqlrewrite.text.templates import Refer, is_template
from sqlrewrite.text.variables import with_values

_QUERY = frozenset({"select", "with", "from"})
_BEFORE = frozenset("from join into table view update using exists overwrite to".split())
_WORD = "identifier"
_PART = r"(?:\$\{[^{}]*\}|\w)+"
_DOTTED = re.compile(rf"{_PART}(?:\.{_PART})*")


def computes_names(text: str) -> bool:
    """Whether a text may hold a call of IDENTIFIER."""
    return _WORD in text.lower()


def with_computed_names(tokens: Sequence[Token], text: str, refer: Refer) -> list[Token]:
    """The tokens, with dotted names in place of calls of IDENTIFIER."""
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        parts, end = _computed(tokens, at, text) if _may_begin(tokens, at) else ((), at)
        if not parts:
            joined.append(tokens[at])
            at += 1
            continue
        first, last = tokens[at], tokens[end]
        whole = Token(first.token_type, first.text, first.line, first.col, first.start, last.end)
        names = [(TokenType.IDENTIFIER, with_values(part, refer)) for part in parts]
        dotted = [piece for name in names for piece in ((TokenType.DOT, "."), name)]
        joined += tiled(whole, dotted[1:])
        at = end + 1
    return joined


def names_unread(tokens: Sequence[Token]) -> bool:
    """Whether a relation of a statement has a computed name that could not be resolved."""
    return any(_may_begin(tokens, at) for at in range(len(tokens)))


def _may_begin(tokens: Sequence[Token], at: int) -> bool:
    if word(tokens, at) != _WORD or word(tokens, at + 1) != "(" or not at:
        return False
    before = word(tokens, at - 1)
    return before in _BEFORE and (before != "from" or _is_of_query(tokens, at - 1))


def _is_of_query(tokens: Sequence[Token], at: int) -> bool:
    """Whether a FROM opens a clause, and is not that of ``extract(day FROM x)`` or ``IS DISTINCT
    FROM x``."""
    if at and word(tokens, at - 1) == "distinct":
        return False
    depth = 0
    for index in range(at - 1, -1, -1):
        sign = word(tokens, index)
        depth += (sign == ")") - (sign == "(")
        if depth < 0:
            return word(tokens, index + 1) in _QUERY
        if sign == ";":
            break
    return True


def _computed(tokens: Sequence[Token], at: int, text: str) -> tuple[Sequence[str], int]:
    """The parts of the name that a call stands for, none if unknown, and the index of the call's
    last token."""
    name, index = "", at + 2
    while index + 1 < len(tokens):
        token, behind = tokens[index], tokens[index + 1]
        raw = text[token.start : token.end + 1]
        if token.token_type is TokenType.STRING and raw.startswith("'"):
            name += token.text
        elif word(tokens, index) == ":" and behind.start == token.end + 1:
            name += behind.text if is_template(behind.text) else f"${{{behind.text}}}"
            index += 1
        elif is_template(raw):
            name += raw
        else:
            break
        index += 1
        if word(tokens, index) == ")" and _DOTTED.fullmatch(name):
            return re.findall(_PART, name), index
        if word(tokens, index) != "||":
            break
        index += 1
    return (), at
