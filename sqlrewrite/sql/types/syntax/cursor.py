"""The tokens of a text by Spark's lexer, without hints; a cursor over them, with the small rules of
the grammar that all others use."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlrewrite.sql.lex.lexemes import LexemeKind, lexemes


class UnsupportedSyntaxError(Exception):
    """The text is not in the part of Spark's grammar that is read here."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token. ``word`` is a sign, or a keyword or plain name in upper case, else ``""``; ``text``
    has no quotes and escapes. ``kind`` is None at the end of the text."""

    kind: int | None
    text: str
    word: str
    start: int
    end: int


NUMBER, WORD, QUOTED = LexemeKind.NUMBER, LexemeKind.NAME, LexemeKind.QUOTED_NAME
_STRINGS = (LexemeKind.STRING, LexemeKind.DOUBLE_QUOTED)
_WITH_WORD = (LexemeKind.NAME, LexemeKind.OPERATOR, LexemeKind.SEMICOLON)
_ESCAPE = r"\\([0-3][0-7]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)"
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, and one behind them that stands for its end."""
    found: list[Token] = []
    hint = False
    for kind, start, end in lexemes(text):
        written = text[start:end]
        if hint or kind in (LexemeKind.HINT, LexemeKind.COMMENT):
            hint = kind == LexemeKind.HINT or (hint and written != "*/")
            continue
        word = written.upper() if kind in _WITH_WORD else ""
        if kind in _STRINGS:
            written = _unescaped(written)
        elif kind == QUOTED:
            written = written[1:-1].replace("``", "`")
        found.append(Token(kind, written, word, start, end))
    return (*found, Token(None, "", "", len(text), len(text)))


def _unescaped(written: str) -> str:
    """The value of a string: Spark's ``unescapeSQLString``, with a doubled quote as one."""
    if written[0] in "rR":
        return written[2:-1]
    quote, body = written[0], written[1:-1]

    def one(found: re.Match[str]) -> str:
        code = found[1]
        if found[2]:
            return quote
        if code in "%_":
            return found[0]
        if len(code) == 3:
            return chr(int(code, 8))
        if len(code) > 3:
            return chr(int(code[1:], 16))
        return _ESCAPED.get(code, code)

    return re.sub(rf"{_ESCAPE}|({quote}{quote})", one, body, flags=re.DOTALL)


T = TypeVar("T")

STRICT_NON_RESERVED = frozenset(
    "ANTI CROSS EXCEPT FULL INNER INTERSECT JOIN LATERAL LEFT NATURAL ON RIGHT SEMI MINUS SETMINUS"
    " UNION USING".split()
)
"""``strictNonReserved``: words that are no alias of a table."""

CLAUSES = frozenset(
    "FROM WHERE GROUP HAVING ORDER SORT CLUSTER DISTRIBUTE LIMIT OFFSET WINDOW UNION EXCEPT"
    " INTERSECT MINUS SETMINUS ON USING JOIN LATERAL PIVOT UNPIVOT TABLESAMPLE AS WHEN THEN ELSE"
    " END AND OR BETWEEN IN IS LIKE ILIKE RLIKE REGEXP NOT DIV COLLATE ASC DESC NULLS FOR INTO"
    " OVER FILTER WITHIN IGNORE RESPECT SELECT SET VALUES".split()
)
"""Words behind an expression or a relation that begin what follows it."""


class SyntaxCursor:
    """A place among the tokens of a text. A method that reads moves it, or raises
    UnsupportedSyntaxError."""

    def __init__(self, text: str, *, double_quoted: bool = False) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        either = (LexemeKind.DOUBLE_QUOTED,)
        self.names = (WORD, QUOTED, *(either * double_quoted))
        self.strings = (LexemeKind.STRING, *(either * (not double_quoted)))

    @property
    def token(self) -> Token:
        """The token that is next."""
        return self.tokens[self.at]

    def ahead(self, count: int) -> Token:
        """The token so many behind the next."""
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def peek(self, *words: str) -> bool:
        """Whether these words and signs are next."""
        at = self.at
        for word in words:  # the one behind the last token has none
            if self.tokens[at].word != word:
                return False
            at += 1
        return True

    def take(self, *words: str) -> bool:
        """Reads these words and signs, if they are next."""
        if not self.peek(*words):
            return False
        self.at += len(words)
        return True

    def any_of(self, *choices: str) -> str | None:
        """Reads one of these words or signs, if it is next."""
        word = self.token.word
        if word not in choices:
            return None
        self.at += 1
        return word

    def expect(self, *words: str) -> None:
        """Reads these words and signs."""
        if not self.take(*words):
            raise UnsupportedSyntaxError(f"{' '.join(words)} wanted at {self.token.start}")

    def attempt(self, rule: Callable[[], T]) -> T | None:
        """What a rule reads here; None, and nothing is read, where the rule does not fit."""
        before = self.at
        try:
            return rule()
        except UnsupportedSyntaxError:
            self.at = before
            return None

    def comma_separated(self, rule: Callable[[], T]) -> tuple[T, ...]:
        """One or more of a rule, with commas between them."""
        found = [rule()]
        while self.take(","):
            found.append(rule())
        return tuple(found)

    def in_parentheses(self, rule: Callable[[], T], *words: str) -> T:
        """What a rule reads in parentheses, behind these words."""
        self.expect("(", *words)
        found = rule()
        self.expect(")")
        return found

    def parenthesized(self, rule: Callable[[], T]) -> tuple[T, ...]:
        """One or more of a rule in parentheses."""
        return self.in_parentheses(lambda: self.comma_separated(rule))

    def name(self) -> str:
        """An identifier."""
        if self.token.kind not in self.names:
            raise UnsupportedSyntaxError(f"a name wanted at {self.token.start}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def qualified(self) -> tuple[str, ...]:
        """Identifiers with dots between them."""
        found = [self.name()]
        while self.peek(".") and self.ahead(1).kind in self.names:
            self.at += 1
            found.append(self.name())
        return tuple(found)

    def string(self) -> str:
        """A string."""
        if self.token.kind not in self.strings:
            raise UnsupportedSyntaxError(f"a string wanted at {self.token.start}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def alias_name(self, barred: frozenset[str]) -> str | None:
        """An alias, with AS or without, if one is next; without AS it is none of ``barred``."""
        if self.take("AS"):
            return self.name()
        if self.token.kind in self.names and self.token.word not in barred:
            return self.name()
        return None

    def type_text(self) -> str:
        """The text of a data type."""
        start = self.token.start
        word = self.token.word
        self.name()
        if word == "INTERVAL":
            if self.any_of("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND") and self.take("TO"):
                self.name()
        elif word == "STRUCT" and self.take("<>"):
            pass
        elif self.peek("<"):
            self._until_closed("<", ">")
        elif self.peek("(") and self.ahead(1).kind in (NUMBER, WORD):
            self.skip_parentheses()
        if word == "STRING" and self.take("COLLATE"):
            self.name()
        if word in ("TIMESTAMP", "TIME") and self.any_of("WITH", "WITHOUT"):
            self.take("LOCAL")
            self.expect("TIME", "ZONE")
        return self.text[start : self.tokens[self.at - 1].end]

    def skip_parentheses(self) -> None:
        """Reads all between two parentheses."""
        if not self.peek("("):
            raise UnsupportedSyntaxError(f"( wanted at {self.token.start}")
        self._until_closed("(", ")")

    def _until_closed(self, opening: str, closing: str) -> None:
        """Reads from a sign that opens to the one that closes it."""
        depth = 0
        while True:
            if self.token.kind is None:
                raise UnsupportedSyntaxError("a parenthesis or bracket that does not end")
            depth += (self.token.word == opening) - (self.token.word == closing)
            self.at += 1
            if depth <= 0:
                return
