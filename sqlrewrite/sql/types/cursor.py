"""Tokens by the rules of Spark's ``SqlBaseLexer.g4``, without comments and hints; a place among
them, and the small rules of the grammar that all others use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from sqlrewrite.frozen import dataclass


class UnreadError(Exception):
    """The text is not in the part of Spark's grammar that is read here."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``word`` is a keyword or plain name in upper case, else ``""``.

    ``kind`` is ``word``, ``quoted`` (a name in backquotes), ``string``, ``double`` (a string in
    double quotes), ``number``, ``sign``, ``unknown`` or ``end``; ``text`` is what it stands for,
    and ``start`` and ``end`` where it stands.
    """

    kind: str
    text: str
    word: str
    start: int
    end: int


_NUMBER = r"(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF])?(?!\w)"
_TOKEN = re.compile(
    rf"""(?P<space>\s+|--(?:\\\n|[^\r\n])*)
    |(?P<block>/\*)
    |(?P<raw>[rR](?:'[^']*'|"[^"]*"))
    |(?P<string>'(?:[^'\\]|\\.|'')*')
    |(?P<double>"(?:[^"\\]|\\.|"")*")
    |(?P<quoted>`(?:[^`]|``)*`)
    |(?P<number>{_NUMBER})
    |(?P<word>\w+)
    |(?P<sign><=>|<=|<>|>=|>>>|>>|<<|==|!=|!<|!>|\|\||\|>|->|=>|::|[-+*/%~&|^<>=!(){{}}\[\],.;:?])""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


@lru_cache(maxsize=8)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text and ``end``; kept, as a statement is read three times."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # no rule of the grammar reads it
            found.append(Token("unknown", text[at], "", at, at + 1))
            at += 1
            continue
        kind, said = match.lastgroup, match[0]
        before = found[-1].end if found and found[-1].kind in ("word", "quoted") else -1
        if kind == "block":
            at = _behind_comment(text, at)
            continue
        end = match.end()
        if kind == "raw":
            quote = "string" if said[1] == "'" else "double"
            found.append(Token(quote, said[2:-1], "", at, end))
        elif kind in ("string", "double"):
            found.append(Token(kind, _unescaped(said), "", at, end))
        elif kind == "quoted":
            found.append(Token(kind, said[1:-1].replace("``", "`"), "", at, end))
        elif kind == "number" and said[0] == "." and before == at:
            end = at + 1  # `a.1b`: a name may begin with a digit
            found.append(Token("sign", ".", "", at, end))
        elif kind in ("word", "number", "sign"):
            found.append(Token(kind, said, said.upper() if kind == "word" else "", at, end))
        at = end
    found.append(Token("end", "", "", len(text), len(text)))
    return tuple(found)


def _behind_comment(text: str, at: int) -> int:
    """The place behind a bracketed comment, which may hold others."""
    depth = 0
    for it in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if it[0] == "/*" else -1
        if depth == 0:
            return it.end()
    return len(text)


def _unescaped(said: str) -> str:
    """What a string stands for: Spark's ``unescapeSQLString``, with a doubled quote as one."""
    quote, body = said[0], said[1:-1]

    def one(found: re.Match[str]) -> str:
        code = found[1]
        if code in "%_":
            return found[0]
        if len(code) == 3:
            return chr(int(code, 8))
        if len(code) > 3:
            return chr(int(code[1:], 16))
        return _ESCAPED.get(code, code)

    if "\\" not in body:
        return body.replace(quote * 2, quote)
    pattern = re.compile(rf"{_ESCAPE.pattern}|({quote}{quote})", re.DOTALL)
    return pattern.sub(lambda it: quote if it[2] else one(it), body)


# --- a place among them ---------------------------------------------------------------------------

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
            self._until_closed({"<": 1, ">": -1, ">>": -2, ">>>": -3})
        elif self.peek("(") and self.ahead(1).kind in ("number", "word"):
            self.until_closed()
        if word == "STRING" and self.take("COLLATE"):
            self.name()
        if word in ("TIMESTAMP", "TIME") and self.any_of("WITH", "WITHOUT"):
            self.take("LOCAL")
            self.need("TIME", "ZONE")
        return self.text[start : self.tokens[self.at - 1].end]

    def until_closed(self) -> None:
        """Reads all between two parentheses."""
        if not self.peek("("):
            raise UnreadError(f"( wanted at {self.token.start}")
        self._until_closed({"(": 1, ")": -1})

    def _until_closed(self, steps: dict[str, int]) -> None:
        """Reads from a sign that opens to the one that closes it."""
        depth = 0
        while True:
            if self.token.kind == "end":
                raise UnreadError("a parenthesis or bracket that does not end")
            depth += steps.get(self.token.text if self.token.kind == "sign" else "", 0)
            self.at += 1
            if depth <= 0:
                return
