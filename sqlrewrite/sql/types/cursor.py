"""A place in a list of tokens, and the small rules of the grammar that all others use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlrewrite.sql.types.tokens import Token, UnreadError, tokens

T = TypeVar("T")

STRICT = frozenset(
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


class TypeCursor:
    """Reads tokens in turn."""

    def __init__(self, text: str, *, double_quoted: bool = False) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.names = ("word", "quoted", "double") if double_quoted else ("word", "quoted")
        self.strings = ("string",) if double_quoted else ("string", "double")

    @property
    def token(self) -> Token:
        """The token that is next."""
        return self.tokens[self.at]

    def ahead(self, count: int) -> Token:
        """The token so many behind the next."""
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def peek(self, *words: str) -> bool:
        """Whether these words and signs are next."""
        at, found = self.at, self.tokens
        if at + len(words) > len(found):
            return False
        for word in words:
            token = found[at]
            if word != token.word and (word != token.text or token.kind != "sign"):
                return False
            at += 1
        return True

    def take(self, *words: str) -> bool:
        """Reads these words and signs, if they are next."""
        if not self.peek(*words):
            return False
        self.at += len(words)
        return True

    def any_of(self, *words: str) -> str | None:
        """Reads one of these words or signs, if one is next."""
        for word in words:
            if self.take(word):
                return word
        return None

    def need(self, *words: str) -> None:
        """Reads these words and signs."""
        if not self.take(*words):
            raise UnreadError(f"{' '.join(words)} wanted at {self.token.start}")

    def tried(self, rule: Callable[[], T]) -> T | None:
        """What a rule reads here, or None if it does not; then nothing is read."""
        before = self.at
        try:
            return rule()
        except UnreadError:
            self.at = before
            return None

    def several(self, rule: Callable[[], T]) -> tuple[T, ...]:
        """One or more of a rule, with commas between them."""
        found = [rule()]
        while self.take(","):
            found.append(rule())
        return tuple(found)

    def inside(self, rule: Callable[[], T], *words: str) -> T:
        """What a rule reads in parentheses, behind these words."""
        self.need("(", *words)
        found = rule()
        self.need(")")
        return found

    def parenthesized(self, rule: Callable[[], T]) -> tuple[T, ...]:
        """One or more of a rule in parentheses."""
        return self.inside(lambda: self.several(rule))

    def name(self) -> str:
        """An identifier."""
        if self.token.kind not in self.names:
            raise UnreadError(f"a name wanted at {self.token.start}")
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
            raise UnreadError(f"a string wanted at {self.token.start}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def alias_name(self, barred: frozenset[str]) -> str | None:
        """An alias with or without AS, or None; without it, none of the words barred."""
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
            self._angles()
        elif self.peek("(") and self.ahead(1).kind in ("number", "word"):
            self.until_closed()
        if word == "STRING" and self.take("COLLATE"):
            self.name()
        if word in ("TIMESTAMP", "TIME") and self.any_of("WITH", "WITHOUT"):
            self.take("LOCAL")
            self.need("TIME", "ZONE")
        return self.text[start : self.tokens[self.at - 1].end]

    def _angles(self) -> None:
        depth = 0
        while True:
            sign = self.token.text if self.token.kind == "sign" else ""
            if self.token.kind == "end":
                raise UnreadError("a type that does not end")
            depth += {"<": 1, ">": -1, ">>": -2, ">>>": -3}.get(sign, 0)
            self.at += 1
            if depth <= 0:
                return

    def until_closed(self) -> None:
        """Reads all between two parentheses."""
        self.need("(")
        depth = 1
        while depth:
            if self.token.kind == "end":
                raise UnreadError("a parenthesis that does not end")
            depth += {"(": 1, ")": -1}.get(self.token.text if self.token.kind == "sign" else "", 0)
            self.at += 1
