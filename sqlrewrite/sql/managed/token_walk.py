"""Searches among the tokens of a text that is not parsed yet.

From a token to its SELECT, to the WHERE or ON around it, and to the next token of a kind in the
same parentheses; from a condition to its conjuncts; and from a statement to whether a run may have
written into it. In any other statement a marker is the author's, and so is what stands before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlglot import Token, TokenType

from sqlrewrite.sql.lex.keywords import (
    AFTER_NAME,
    AFTER_ON,
    AFTER_WHERE,
    ALSO_FUNCTIONS,
    BEFORE_STATEMENT,
    BETWEEN_QUERIES,
    CASE_END,
    CHANGES,
    CLOSE,
    NO_QUERY,
    OPEN,
    OPENERS,
    OR,
    STEPS,
    token_types,
)
from sqlrewrite.sql.parse.scripts import Piece, pieces
from sqlrewrite.sql.parse.statement_kinds import opens_query
from sqlrewrite.sql.parse.statements import misread
from sqlrewrite.text.edits import Span

_ENDS_OPERAND = token_types("r_paren var identifier number string null true false end")
_TO_SELECT = BETWEEN_QUERIES | {TokenType.SELECT}
_AFTER_MERGE_ON = AFTER_ON | {TokenType.WHEN}

# What opens a statement that is bound, and so may get a predicate.
_OPENERS = token_types(
    "select with from l_paren insert create cache merge delete update alter replace"
)
_NOT_SPARKS = frozenset({TokenType.USING, TokenType.LIMIT, TokenType.ORDER_BY, TokenType.JOIN})
_MADE_OF_A_QUERY = frozenset({"table", "view", "function"})
_BEFORE_KIND = 8
"""How many tokens from CREATE to the kind at most: CREATE OR REPLACE GLOBAL TEMPORARY VIEW …."""


class NoFormError(Exception):
    """The tokens around a place have another form."""


class Range(NamedTuple):
    """A range of token indices, ``end`` exclusive."""

    start: int
    end: int


def _between(whole: Range, ends: Sequence[int]) -> list[Range]:
    """The ranges that some tokens divide a range into."""
    starts = (whole.start, *(end + 1 for end in ends))
    return [Range(s, e) for s, e in zip(starts, (*ends, whole.end), strict=True)]


class EnclosingClause(NamedTuple):
    """A WHERE or ON around a token: its ``keyword``, its ``condition``, and whether an OR stands at
    the top of that."""

    keyword: int
    condition: Range
    disjunction: bool


class Walk:
    """The tokens of a text, with their parentheses paired, and searches among them."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self._starts = [token.start for token in tokens]
        self._types = [token.token_type for token in tokens]
        if TokenType.FOR in self._types:
            _end_queries_of_loops(self._types, tokens)
        self._partner = _partners(self._types)
        self._merges = TokenType.MERGE in self._types
        self._tops: dict[Range, list[int]] = {}
        self._ands: dict[Range, list[int]] = {}
        self._outer: dict[tuple[int, TokenType], int] = {}

    def index(self, offset: int) -> int:
        """The token at an offset. Raises NoFormError where there is none."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or self.tokens[index].end < offset:
            raise NoFormError(f"no token at {offset}")
        return index

    def kind(self, index: int) -> TokenType | None:
        """The type of a token, None beyond the last."""
        return self._types[index] if 0 <= index < len(self._types) else None

    def _of_merge(self, keyword: int) -> bool:
        """Whether an ON is that of a MERGE, and not of a join in a query."""
        return (
            self._merges
            and not self._stands_in(keyword, TokenType.SELECT)
            and self._stands_in(keyword, TokenType.MERGE)
        )

    def in_query(self, index: int) -> bool:
        """Whether a token stands in a SELECT of its statement."""
        return self._stands_in(index, TokenType.SELECT)

    def _stands_in(self, index: int, opening: TokenType) -> bool:
        """Whether a token of that type comes before a token, in the same statement or parentheses
        around it."""
        try:
            self._outward(index, opening)
        except NoFormError:
            return False
        return True

    def lead(self, index: int) -> int:
        """The SELECT to whose clauses a token belongs; for a token in no query, the DELETE, UPDATE
        or MERGE of its statement. Raises NoFormError."""
        types = self._types
        while True:
            start = index
            while start >= 0:
                kind = types[start]
                if kind is OPEN or (kind in BETWEEN_QUERIES and self._keyword(start, kind)):
                    break
                if kind is TokenType.SELECT:
                    return start
                if kind in NO_QUERY and self.kind(start - 1) in BEFORE_STATEMENT:
                    return start
                start = (self.opening(start) if kind is CLOSE else start) - 1
            if self.kind(start) is TokenType.PIPE_GT:
                return start + 1  # an operator by itself
            select = self._find(index, _TO_SELECT)
            if self.kind(select) is TokenType.SELECT and self._opens(index) is TokenType.FROM:
                if self.kind(self._find(select, _TO_SELECT)) is TokenType.SELECT:
                    raise NoFormError("several SELECTs share the FROM")
                return select
            if self.kind(start + 1) in (TokenType.FROM, TokenType.WITH) or (
                self.kind(start) is not OPEN and self._opens(index) is TokenType.FROM
            ):
                return start + 1  # of a FROM that no SELECT stands behind
            if self.kind(start) is not OPEN:
                raise NoFormError("no SELECT around the place")
            index = start - 1

    def _opens(self, index: int) -> TokenType | None:
        """Whether SELECT or FROM comes first in the query around a token."""
        opener: TokenType | None = None
        while not self._begins_query(index):
            kind = self._types[index]
            opener = kind if kind in (TokenType.SELECT, TokenType.FROM) else opener
            index = (self.opening(index) if kind is CLOSE else index) - 1
        return opener

    def _begins_query(self, index: int) -> bool:
        """Whether a query begins right behind a token."""
        kind = self.kind(index)
        return kind is OPEN or (kind in BETWEEN_QUERIES and self._keyword(index, kind))

    def _outward(self, index: int, wanted: TokenType) -> int:
        """The nearest token of a type before a token in the same or outer parentheses. Raises
        NoFormError."""
        types, at = self._types, index
        while at >= 0 and (at, wanted) not in self._outer:
            kind = types[at]
            if kind is wanted:
                break
            if kind is TokenType.SEMICOLON or (
                kind in NO_QUERY and self.kind(at - 1) in BEFORE_STATEMENT
            ):
                at = -1
                break
            at = (self.opening(at) if kind is CLOSE else at) - 1
        # A clause with a thousand predicates is walked once, from each to the one before.
        at = self._outer[index, wanted] = self._outer.get((at, wanted), at)
        if at < 0:
            raise NoFormError(f"no {wanted.name} around the place")
        return at

    def _find(self, start: int, wanted: frozenset[TokenType | None]) -> int:
        """The next token of these types in the same parentheses, or the `)` that ends them."""
        types, index = self._types, start + 1
        while index < len(types):
            kind = types[index]
            if kind is OPEN:
                index = self._partner.get(index, len(types))
            elif kind is CLOSE or (kind in wanted and self._keyword(index, kind)):
                return index
            index += 1
        return min(index, len(types))

    def _keyword(self, index: int, kind: TokenType | None) -> bool:
        """Whether a token is a keyword, and no name or function."""
        if self.kind(index - 1) is TokenType.DOT:
            return False
        if kind is TokenType.EXCEPT and self.kind(index - 1) is TokenType.STAR:
            return False  # SELECT * EXCEPT (…)
        if kind is TokenType.WINDOW:
            return self.kind(index + 2) is TokenType.ALIAS
        if kind is TokenType.INSERT:
            return self.kind(index + 1) in (TokenType.INTO, TokenType.OVERWRITE)
        if kind in (TokenType.LIMIT, TokenType.OFFSET):
            return self.kind(index + 1) not in AFTER_NAME
        return not (kind in ALSO_FUNCTIONS and self.kind(index + 1) is OPEN)

    def opening(self, close: int) -> int:
        """The other parenthesis of a pair. Raises NoFormError where there is none."""
        if close not in self._partner:
            raise NoFormError("parentheses do not match")
        return self._partner[close]

    def _unwrapped(self, condition: Range) -> Range:
        """A condition without the parentheses around the whole of it."""
        start, end = condition.start, condition.end
        while (
            end - start > 2
            and self.kind(start) is OPEN
            and self.kind(end - 1) is CLOSE
            and self.opening(end - 1) == start
        ):
            start, end = start + 1, end - 1
        return Range(start, end)

    def _disjunction(self, condition: Range) -> bool:
        """Whether a condition has an OR at its top."""
        return any(self._types[index] in OR for index in self._top(condition))

    def _connectives(self, condition: Range) -> list[int]:
        """The ANDs at the top of a condition, without those of BETWEEN."""
        connectives = self._ands.get(condition)
        if connectives is not None:
            return connectives
        connectives = self._ands[condition] = []
        between = 0
        for index in self._top(condition):
            kind = self._types[index]
            if kind is TokenType.BETWEEN:
                between += 1
            elif kind is TokenType.AND and between:
                between -= 1
            elif kind is TokenType.AND:
                connectives.append(index)
        return connectives

    def _top(self, condition: Range) -> list[int]:
        """The tokens of a condition outside any parentheses, brackets and CASE … END."""
        cached = self._tops.get(condition)
        if cached is not None:
            return cached
        top = self._tops[condition] = []
        depth = cases = 0
        for index in range(condition.start, condition.end):
            kind = self._types[index]
            step = STEPS.get(kind)
            if kind in CASE_END and (
                self.kind(index - 1) is TokenType.DOT or (kind is TokenType.END and not cases)
            ):
                step = None  # a column of that name
            if step is not None:
                depth += step
                cases += step if kind in CASE_END else 0
            elif depth == 0:
                top.append(index)
        return top

    def enclosing(self, index: int) -> EnclosingClause:
        """The WHERE or ON in whose condition a token stands, outside of parentheses and CASE."""
        keyword = index - 1
        while (kind := self.kind(keyword)) not in OPENERS:
            if kind is CLOSE:
                keyword = self.opening(keyword)
            elif kind in (None, OPEN, TokenType.SELECT):
                raise NoFormError("not at the top of a condition")
            keyword -= 1
        if self.kind(keyword - 1) is OPEN:
            raise NoFormError("the WHERE of an aggregate's FILTER")
        after = AFTER_ON if self.kind(keyword) is TokenType.ON else AFTER_WHERE
        if after is AFTER_ON and self._of_merge(keyword):
            after = _AFTER_MERGE_ON
        elif self.kind(self.lead(keyword)) is TokenType.MERGE:
            raise NoFormError("no SELECT around the place")
        condition = Range(keyword + 1, self._find(keyword, after))
        if not self.at_top(index, condition):
            raise NoFormError("not at the top of a condition")
        return EnclosingClause(keyword, condition, self._disjunction(condition))

    def at_top(self, index: int, condition: Range) -> bool:
        """Whether a token stands in a condition, outside of parentheses and CASE."""
        if not condition.start <= index < condition.end:
            return False
        if self.kind(index) is OPEN:  # as the first of a conjunct
            return index == condition.start or self.at_top(index - 1, condition)
        top = self._top(condition)
        place = bisect_right(top, index) - 1
        return place >= 0 and top[place] == index

    def pieces(self, condition: Range) -> list[Range]:
        """The conjuncts at the top of a condition, with their parentheses."""
        return _between(condition, self._connectives(condition))

    def wraps_disjunction(self, piece: Range) -> bool:
        """Whether a piece is a disjunction in one pair of parentheses."""
        inner = Range(piece.start + 1, piece.end - 1)
        return (
            self.kind(piece.start) is OPEN
            and self.kind(piece.end - 1) is CLOSE
            and self.opening(piece.end - 1) == piece.start
            and self._disjunction(inner)
        )

    def disjuncts(self, condition: Range) -> list[Range]:
        """The operands of the OR at the top of a condition, parentheses kept."""
        condition = self._unwrapped(condition)
        ends = [index for index in self._top(condition) if self._types[index] in OR]
        return _between(condition, ends)

    def raw(self, index: int) -> str:
        """A token as the author wrote it."""
        token = self.tokens[index]
        return self.text[token.start : token.end + 1]

    def span(self, tokens: Range) -> Span:
        """Where tokens stand in the text."""
        return Span(self.tokens[tokens.start].start, self.tokens[tokens.end - 1].end + 1)


def _end_queries_of_loops(types: list[TokenType], tokens: Sequence[Token]) -> None:
    """Makes the DO behind the query of a FOR a semicolon. Behind an operand DO is no name."""
    for index, token in enumerate(tokens):
        if token.text.upper() == "DO" and types[index - 1] in _ENDS_OPERAND:
            types[index] = TokenType.SEMICOLON


def _partners(types: Sequence[TokenType]) -> dict[int, int]:
    """The index of each parenthesis' partner, both ways."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for index, kind in enumerate(types):
        if kind is OPEN:
            opened.append(index)
        elif kind is CLOSE and opened:
            partners[index] = start = opened.pop()
            partners[start] = index
    return partners


def statement_openers(walk: Walk) -> Callable[[int], TokenType | None]:
    """A function from a token to the word that opens its statement; None if we write none there."""
    all_pieces = list(pieces(walk.text, walk.tokens))
    starts = [piece.tokens[0].start for piece in all_pieces]
    openers: dict[int, TokenType | None] = {}

    def opener(index: int) -> TokenType | None:
        place = bisect_right(starts, walk.tokens[index].start) - 1
        if place not in openers:
            openers[place] = _opener(walk.text, all_pieces[place])
        return openers[place]

    return opener


def _has_foreign_clause(tokens: Sequence[Token]) -> bool:
    """Whether a statement is a DELETE or UPDATE with a clause that Spark does not have."""
    depth, top = 0, list[TokenType]()
    for token in tokens:
        kind = token.token_type
        depth += (kind is OPEN) - (kind is CLOSE)
        top += [kind] if depth == 0 else []
    begins = next((at for at, kind in enumerate(top) if kind in CHANGES), None)
    if begins is None or top[0] not in (*CHANGES, TokenType.WITH):
        return False
    clauses = _NOT_SPARKS | ({TokenType.FROM} if top[begins] is TokenType.UPDATE else set())
    return not clauses.isdisjoint(top[begins:])


def _opener(text: str, piece: Piece) -> TokenType | None:
    tokens, kind = piece.tokens, piece.tokens[0].token_type
    if piece.why or piece.defines or kind not in _OPENERS or not opens_query(tokens):
        return None
    if misread(text, tokens) is not None or _has_foreign_clause(tokens):
        return None
    words = {token.text.lower() for token in tokens[1:_BEFORE_KIND]}
    if kind is TokenType.CREATE and words.isdisjoint(_MADE_OF_A_QUERY):
        return None
    return kind
