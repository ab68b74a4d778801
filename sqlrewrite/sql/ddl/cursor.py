"""Reads a definition's tokens one after the other: words, names, parentheses.

Definitions are read from tokens and not from a tree: engines write more into a CREATE TABLE
(SERDEs, clustering, masks) than any parser knows, and little of it concerns columns and partitions.
Raises nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import Token, TokenType

from sqlrewrite.sql.lex.keywords import QUOTED, word
from sqlrewrite.text.templates import is_template

_NESTED = frozenset({"array", "map", "struct", "uniontype", "row", "multiset"})
_ENDS_NAME = frozenset(".,;()=<>")
_QUOTES = ("'", '"', "`", "/*")


class Cursor:
    """A position among tokens. ``end``: the index after the last of them."""

    def __init__(self, tokens: Sequence[Token], text: str, at: int = 0) -> None:
        self.tokens = tokens
        self.text = text
        self.index = at
        self.end = len(tokens)

    @property
    def done(self) -> bool:
        """Whether no token is left."""
        return self.index >= self.end

    @property
    def unterminated(self) -> bool:
        """Whether the last token is an unclosed quote or comment."""
        last = self.tokens[-1]
        return last.token_type is TokenType.UNKNOWN and last.text.startswith(_QUOTES)

    @property
    def word(self) -> str:
        """The token at the cursor in lower case; empty for a string, a quoted name, and at the
        end."""
        return self.word_at(self.index)

    def word_at(self, at: int) -> str:
        """The token at an index in lower case; empty for a string or a quoted name."""
        return "" if at >= self.end else word(self.tokens, at)

    def peek(self, *words: str) -> bool:
        """Whether these words come next. ORDER BY and similar pairs are two words in one token."""
        at = self.index
        missing = list(words)
        while missing:
            here = self.word_at(at).split()
            if not here or here != missing[: len(here)]:
                return False
            del missing[: len(here)]
            at += 1
        return True

    def take(self, *words: str) -> bool:
        """Whether these words come next; if so, moves behind them."""
        if not self.peek(*words):
            return False
        missing = len(words)
        while missing > 0:
            missing -= len(self.word.split())
            self.index += 1
        return True

    def string(self) -> str | None:
        """The value of the string that comes next; moves behind it."""
        if self.done or self.tokens[self.index].token_type not in QUOTED:
            return None
        self.index += 1
        return self.tokens[self.index - 1].text

    def slice(self, start: int, end: int) -> str:
        """The text from one token up to another."""
        if start >= end:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end + 1]

    def name_part(self) -> str:
        """One part of a name; moves behind it. Tokens that touch are one part (``dwd_${day}``); a
        template in it stays as written, except a variable with a known value. Empty if no name
        begins here."""
        if self.done or self._ends_name(self.index):
            return ""
        start = self.index
        self.index += 1
        # Strings and quoted names that touch are separate names, as before a comment.
        while (
            not self.done
            and self.tokens[self.index].start == self.tokens[self.index - 1].end + 1
            and not self._ends_name(self.index)
            and self.tokens[self.index].token_type is not TokenType.STRING
        ):
            self.index += 1
        if self.index == start + 1:
            token = self.tokens[start]
            raw = self.text[token.start : token.end + 1]
            unknown = is_template(token.text) or not token.text.strip("_")
            masked = token.token_type not in QUOTED and token.text != raw
            return raw if masked or (is_template(raw) and unknown) else token.text
        return self.slice(start, self.index)

    def _ends_name(self, at: int) -> bool:
        """Whether the token at an index ends a name, as a colon does (``:value``)."""
        token = self.tokens[at]
        return token.text in _ENDS_NAME or self.text.startswith(":", token.start)

    def name(self) -> tuple[str, ...]:
        """A dotted name in lower case; moves behind it. Empty if there is none, or it is
        computed."""
        if self.word == "identifier" and self.word_at(self.index + 1) == "(":
            inner = self.tokens[self.index + 2] if self.index + 2 < self.end else None
            if inner is not None and (inner.text == ":" or inner.token_type is TokenType.STRING):
                return ()
            if self.word_at(self.index + 3) in ("(", "||", ")"):  # a type of a column, not a name
                return ()
        parts = [self.name_part().lower()]
        while parts[-1] and not self.done and self.tokens[self.index].text == ".":
            self.index += 1
            parts.append(self.name_part().lower())
        return tuple(parts) if all(parts) else ()

    @property
    def opens(self) -> bool:
        """Whether a parenthesis opens here."""
        return self.word == "("

    def closing(self, at: int) -> int | None:
        """The index of the parenthesis that closes the one at an index; None if it is not
        closed."""
        depth = 0
        for index in range(at, self.end):
            sign = self.word_at(index)
            depth += (sign == "(") - (sign == ")")
            if depth == 0:
                return index
        return None

    def group(self) -> Cursor | None:
        """A cursor over the parentheses that open here; moves behind them. None if they are not
        closed."""
        close = self.closing(self.index) if self.opens else None
        if close is None:
            return None
        inner, self.index = self.between(self.index + 1, close), close + 1
        return inner

    def group_items(self) -> list[Cursor]:
        """The items in the parentheses that open here; moves behind them. Empty if they are not
        closed."""
        inner = self.group()
        return [] if inner is None else list(inner.items())

    def skip_to(self, *words: str) -> bool:
        """Whether these words come later, outside of parentheses; if so, moves behind them."""
        while not self.done and not self.peek(*words):
            if self.group() is None:
                self.index += 1
        return self.take(*words)

    def copy(self) -> Cursor:
        """A cursor at the same position, to look ahead with."""
        return self.between(self.index, self.end)

    def words(self) -> frozenset[str]:
        """The words from here to the end."""
        return frozenset(map(self.word_at, range(self.index, self.end)))

    def items(self) -> Iterator[Cursor]:
        """The rest, split at the commas outside of parentheses, brackets and types."""
        start, index, depth = self.index, self.index, 0
        while index <= self.end:
            sign = self.word_at(index) if index < self.end else ","
            if sign == "(":
                index = self.closing(index) or self.end
            elif sign == "[" or (sign == "<" and self.word_at(index - 1) in _NESTED):
                depth += 1
            elif sign in ("]", ">") and depth:
                depth -= 1
            elif sign == "," and (not depth or index == self.end):
                if index > start:
                    yield self.between(start, index)
                start = index + 1
            index += 1

    def between(self, start: int, end: int) -> Cursor:
        """A cursor over some of the tokens."""
        inner = Cursor(self.tokens, self.text, start)
        inner.end = end
        return inner

    def rest(self) -> str:
        """The text from here to the end."""
        return self.slice(self.index, self.end)
