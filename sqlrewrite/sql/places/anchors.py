"""Where in the text a clause, a conjunct or a table reference begins and ends.

sqlglot gives positions for names and literals only, so clauses are found from the tokens: outward
from a token known to be inside, then along the tokens at its own depth of parentheses. All indices
are of tokens, ends exclusive; ``AnchorError`` where the text is not of the form expected.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import Token, TokenType

from sqlrewrite.sql.lex.keywords import (
    AFTER_ON,
    AFTER_WHERE,
    CHANGES,
    CLOSE,
    COMPARISONS,
    OPEN,
    OPENERS,
    OR,
    token_types,
)
from sqlrewrite.sql.places.token_walk import ENDS_OPERAND, AnchorError, Range, Walk
from sqlrewrite.text.edits import Span

if TYPE_CHECKING:
    from sqlrewrite.plan.algebra import Clause, Condition

_TO_FROM = AFTER_WHERE | {TokenType.FROM}
_TO_WHERE = AFTER_WHERE | {TokenType.WHERE}
_TO_HAVING = frozenset({TokenType.HAVING, TokenType.QUALIFY, TokenType.WINDOW})
_AFTER_SELECT = token_types(
    "order_by sort_by cluster_by distribute_by limit offset fetch union except intersect semicolon"
)
_AFTER_GROUP = (AFTER_WHERE - {TokenType.GROUP_BY}) | {TokenType.WITH}
_TO_GROUP = _AFTER_SELECT | {TokenType.GROUP_BY}
_SPREADING = token_types("sort_by cluster_by distribute_by")
_AFTER_MERGE_ON = AFTER_ON | {TokenType.WHEN}
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_IN_QUERY = (TokenType.IN, OPEN, TokenType.SELECT)
_TIES = COMPARISONS | {TokenType.IN}


def _between(whole: Range, ends: Sequence[int]) -> list[Range]:
    """The ranges before, between and behind some tokens of a range."""
    starts = (whole.start, *(end + 1 for end in ends))
    return [Range(s, e) for s, e in zip(starts, (*ends, whole.end), strict=True)]


class ConditionClause(NamedTuple):
    """A WHERE or ON.

    ``keyword``: its token; None where a WHERE is yet to be written.
    ``condition``: empty without a keyword, and behind the FROM clause then.
    ``disjunction``: whether an OR stands at the top of the condition.
    ``lead``: the token that opens the block (SELECT) or join (ON).
    ``opening``: the FROM; the SELECT where that has its FROM before it; or the ON again.
    """

    keyword: int | None
    condition: Range
    disjunction: bool
    lead: int
    opening: int


class Anchors(Walk):
    """The clauses, conjuncts and names among the tokens of one statement."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        super().__init__(text, tokens)
        self._wheres: dict[int, ConditionClause] = {}
        self._clauses: dict[Clause, tuple[ConditionClause, list[Range]]] = {}

    def where(self, inside: int) -> ConditionClause:
        """The WHERE of the SELECT, DELETE or UPDATE around an offset, or the place for one."""
        select = self.lead(self.index(inside))
        if select not in self._wheres:
            self._wheres[select] = self._where(select)
        return self._wheres[select]

    def _behind(
        self, keyword: int, after: frozenset[TokenType | None], lead: int, opening: int
    ) -> ConditionClause:
        """The clause of a keyword, whose condition ends at one of ``after``."""
        condition = Range(keyword + 1, self._find(keyword, after))
        return ConditionClause(keyword, condition, self.disjunction(condition), lead, opening)

    def _where(self, select: int) -> ConditionClause:
        if self.kind(select) is TokenType.WHERE:  # |> WHERE
            return self._behind(select, AFTER_WHERE, select, select)
        if self.kind(select) in CHANGES:
            return self._behind(self._find(select, _TO_WHERE), AFTER_WHERE, select, select)
        if self.kind(select) is not TokenType.SELECT:
            raise AnchorError("no SELECT around the place")
        start = self._find(select, _TO_FROM)
        if self.kind(start) is not TokenType.FROM:
            if self._opens(select) is not TokenType.FROM:
                raise AnchorError("a SELECT without FROM")
            start = select
        stop = self._find(start, _TO_WHERE)
        if self.kind(stop) is not TokenType.WHERE:
            if self.kind(stop - 1) is TokenType.ALIAS:
                raise AnchorError("an alias without a name")
            return ConditionClause(None, Range(stop, stop), False, select, start)
        found = self._behind(stop, AFTER_WHERE, select, start)
        if self._commas(found.condition):
            raise AnchorError("a comma in a condition")
        return found

    def on(self, inside: int) -> ConditionClause:
        """The ON that the token at an offset belongs to."""
        keyword = self._outward(self.index(inside), TokenType.ON)
        after = _AFTER_MERGE_ON if self._of_merge(keyword) else AFTER_ON
        return self._behind(keyword, after, keyword, keyword)

    def whole_select(self, inside: int) -> Range:
        """The SELECT that the token at an offset belongs to, up to its ORDER BY, if it has one."""
        select = self.select(self.index(inside))
        return Range(select, self._find(select, _AFTER_SELECT))

    def orders(self, index: int) -> bool:
        """Whether a token is ORDER BY."""
        return self.kind(index) is TokenType.ORDER_BY

    def spreads(self, index: int) -> bool:
        """Whether a token is SORT BY, CLUSTER BY or DISTRIBUTE BY."""
        return self.kind(index) in _SPREADING

    def order(self, start: int) -> list[Range]:
        """The items of an ORDER BY."""
        items = Range(start + 1, self._find(start, _AFTER_SELECT))
        return _between(items, self._commas(items))

    def enclosing(self, index: int) -> ConditionClause:
        """The WHERE or ON in whose condition a token stands, outside of parentheses and CASE."""
        keyword = index - 1
        while (kind := self.kind(keyword)) not in OPENERS:
            if kind is CLOSE:
                keyword = self.opening(keyword)
            elif kind in (None, OPEN, TokenType.SELECT):
                raise AnchorError("not at the top of a condition")
            keyword -= 1
        if self.kind(keyword - 1) is OPEN:
            raise AnchorError("the WHERE of an aggregate's FILTER")
        after = AFTER_ON if self.kind(keyword) is TokenType.ON else AFTER_WHERE
        if after is AFTER_ON and self._of_merge(keyword):
            after = _AFTER_MERGE_ON
        elif self.kind(self.lead(keyword)) is TokenType.MERGE:
            raise AnchorError("no SELECT around the place")
        found = self._behind(keyword, after, keyword, keyword)
        if not self.at_top(index, found.condition):
            raise AnchorError("not at the top of a condition")
        return found

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
        return _between(condition, self.connectives(condition))

    def wraps_disjunction(self, piece: Range) -> bool:
        """Whether a piece is a disjunction in one pair of parentheses."""
        inner = Range(piece.start + 1, piece.end - 1)
        return (
            self.kind(piece.start) is OPEN
            and self.kind(piece.end - 1) is CLOSE
            and self.opening(piece.end - 1) == piece.start
            and self.disjunction(inner)
        )

    def clause(self, clause: Clause) -> ConditionClause:
        """The clause in the text that is this one of the plan."""
        return self._clause(clause)[0]

    def _clause(self, clause: Clause) -> tuple[ConditionClause, list[Range]]:
        known = self._clauses.get(clause)
        if known is None:
            found = self.on(clause.anchor) if clause.kind == "on" else self.where(clause.anchor)
            if found.keyword is None or found.condition.start >= found.condition.end:
                raise AnchorError(f"no {clause.kind.upper()} at {clause.anchor}")
            known = self._clauses[clause] = (found, self.conjuncts(found.condition))
        return known

    def conjunct(self, condition: Condition) -> Range:
        """A conjunct of the plan as tokens, without parentheses around it."""
        if condition.clause is None:
            raise AnchorError("a condition without text")
        found = self._clause(condition.clause)[1]
        if len(found) != condition.of:
            raise AnchorError("the conjuncts of the text are not those of the tree")
        part = found[condition.ordinal]
        for depth, (index, of) in enumerate(condition.path):
            parts = self.conjuncts(part) if depth % 2 else self.disjuncts(part)
            if len(parts) != of:
                raise AnchorError("the parts of an OR in the text are not those of the tree")
            part = parts[index]
        return part

    def conjuncts(self, condition: Range) -> list[Range]:
        """All conjuncts of a condition in order, those in parentheses among them."""
        condition = self._unwrapped(condition)
        if self.disjunction(condition):
            return [condition]
        found: list[Range] = []
        for piece in self.pieces(condition):
            wrapped = self._unwrapped(piece) != piece
            found += self.conjuncts(piece) if wrapped else [piece]
        return found

    def operand(self, condition: Condition, number: int | None) -> Range:
        """An operand of a comparison, by its number from 0. BETWEEN has the value and two bounds;
        of IN only the value counts."""
        whole = self._unwrapped(self.conjunct(condition))
        ends = [index for index in self._top(whole) if self._types[index] in _TIES]
        if len(ends) == 1 and self._types[ends[0]] is TokenType.BETWEEN:
            ends += [i for i in self._top(whole) if self._types[i] is TokenType.AND]
        parts = _between(whole, ends)
        between = len(ends) == 2 and self._types[ends[0]] is TokenType.BETWEEN
        if number is None or not (len(ends) == 1 or between) or number >= len(parts):
            raise AnchorError("the operands of a comparison cannot be told")
        return parts[number]

    def constants(self, conjunct: Range) -> str:
        """The text right of ``=``, or in the parentheses of IN, in a conjunct."""
        whole = self._unwrapped(conjunct)
        for index in self._top(whole):
            if self._types[index] is TokenType.EQ:
                return self.copy(Range(index + 1, whole.end))
            if self._types[index] is TokenType.IN:
                return self.copy(Range(index + 2, whole.end - 1))
        raise AnchorError("neither = nor IN at the top of a condition")

    def listed(self, conjunct: Range) -> list[Range]:
        """The items of the IN list in a conjunct."""
        whole = self._unwrapped(conjunct)
        at = next((it for it in self._top(whole) if self._types[it] is TokenType.IN), None)
        if at is None or self.kind(at + 1) is not OPEN:
            raise AnchorError("no list behind an IN")
        inner = Range(at + 2, whole.end - 1)
        return _between(inner, self._commas(inner))

    def disjuncts(self, condition: Range) -> list[Range]:
        """The operands of the OR at the top of a condition, parentheses kept."""
        condition = self._unwrapped(condition)
        ends = [index for index in self._top(condition) if self._types[index] in OR]
        return _between(condition, ends)

    def item(self, inside: int) -> Range:
        """The item of a SELECT list that the token at an offset stands in, without its alias."""
        index = self.index(inside)
        select = self.lead(index)
        if self.kind(select) is not TokenType.SELECT:
            raise AnchorError("no SELECT around the place")
        for item in self.items(Range(select, len(self.tokens))):
            if item.start <= index < item.end:
                return self.unnamed(item)
        raise AnchorError("not an item of a SELECT list")

    def items(self, select: Range) -> list[Range]:
        """The items of a SELECT list, with DISTINCT and aliases."""
        listed = Range(select.start + 1, self._find(select.start, _TO_FROM))
        return _between(listed, self._commas(listed))

    def having(self, select: Range) -> Range | None:
        """The HAVING of a SELECT with its keyword, or None. Raises AnchorError where a clause
        stands behind it."""
        start = self._find(select.start, _TO_HAVING)
        if self.kind(start) is not TokenType.HAVING:
            return None
        if self._find(start, AFTER_WHERE) != select.end:
            raise AnchorError("a clause behind its HAVING")
        return Range(start, select.end)

    def group_key(self, inside: int) -> Range:
        """The item of a GROUP BY that the token at an offset stands in."""
        index = self.index(inside)
        start = self._find(self.lead(index), _TO_GROUP)
        if self.kind(start) is TokenType.GROUP_BY:
            keys = Range(start + 1, self._find(start, _AFTER_GROUP))
            for item in _between(keys, self._commas(keys)):
                if item.start <= index < item.end:
                    return item
        raise AnchorError("not an item of a GROUP BY")

    def call(self, inside: int, name: str) -> Range:
        """The call of a function of that name around the token at an offset."""
        opening = self._outward(self.index(inside), OPEN)
        while self.tokens[opening - 1].text.lower() != name:
            opening = self._outward(opening - 1, OPEN)
        return Range(opening - 1, self.opening(opening) + 1)  # its partner: the one that closes

    def _commas(self, tokens: Range) -> list[int]:
        return [it for it in self._top(tokens) if self._types[it] is TokenType.COMMA]

    def unnamed(self, item: Range) -> Range:
        """An item of a list without DISTINCT before it and its alias."""
        start = item.start + (self.kind(item.start) is TokenType.DISTINCT)
        named = next((it for it in self._top(item) if self._types[it] is TokenType.ALIAS), None)
        if named is not None:
            return Range(start, named)
        alone = self.kind(item.end - 1) in _NAMES and self.kind(item.end - 2) in ENDS_OPERAND
        return Range(start, item.end - (alone and item.end - start > 1))

    def parenthesised(self, alias: int) -> Range:
        """The derived table, with its parentheses, before the alias at an offset."""
        close = self.index(alias) - 1
        if self.kind(close) is TokenType.ALIAS:
            close -= 1
        if self.kind(close) is not CLOSE:
            raise AnchorError("no parenthesis before the alias")
        return Range(self.opening(close), close + 1)

    def query_around(self, inside: int) -> Range:
        """The parenthesised query, with its parentheses, whose SELECT the token at an offset
        belongs to."""
        opening = self.lead(self.index(inside)) - 1
        if self.kind(opening) is not OPEN:
            raise AnchorError("no query in parentheses around the place")
        return self.group(opening)

    def values(self, span: Span) -> Range:
        """VALUES from the keyword, or the parentheses around it, to the last row."""
        found = self.covering(span)
        if self.kind(found.start) is OPEN:
            return self.group(found.start)
        return found

    def relation(self, start: int) -> Range:
        """The query in parentheses that begins at an offset, or the call of a function."""
        index = self.index(start)
        opening = index + (self.kind(index) is not OPEN)
        if self.kind(opening) is not OPEN:
            raise AnchorError("neither a query nor a call at the place")
        return Range(index, self.opening(opening) + 1)

    def query_of_in(self, inside: int) -> Range:
        """The subquery of the IN around an offset, with its parentheses."""
        at = self.index(inside) - 1
        while at > 0:
            if self.kind(at) is CLOSE:
                at = self.opening(at)
            elif (self.kind(at - 1), self.kind(at), self.kind(at + 1)) == _IN_QUERY:
                return self.group(at)
            at -= 1
        raise AnchorError("no IN around the place")

    def raw(self, index: int) -> str:
        """A token as the author wrote it."""
        token = self.tokens[index]
        return self.text[token.start : token.end + 1]

    def copy(self, tokens: Range, replaced: Mapping[Span, str] | None = None) -> str:
        """Tokens on one line without comments, with the texts of ``replaced`` in place of its
        spans."""
        starts = {span.start: (span.end, new) for span, new in (replaced or {}).items()}
        pieces: list[str] = []
        end = None
        index = tokens.start
        while index < tokens.end:
            token = self.tokens[index]
            if end is not None and token.start > end and not self._hugs(index, end):
                pieces.append(" ")
            stop, new = starts.get(token.start, (token.end + 1, ""))
            pieces.append(new or self.raw(index))
            while index < tokens.end and self.tokens[index].start < stop:
                index += 1
            end = stop
        return "".join(pieces)

    def _hugs(self, index: int, end: int) -> bool:
        """Whether a gap is dropped: at a dot, or a line break next to a parenthesis or before a
        comma."""
        if TokenType.DOT in (self.kind(index - 1), self.kind(index)):
            return True
        if "\n" not in self.text[end : self.tokens[index].start]:
            return False
        return self.kind(index - 1) is OPEN or self.kind(index) in (CLOSE, TokenType.COMMA)

    def covering(self, span: Span) -> Range:
        """The tokens of a span."""
        return Range(self.index(span.start), self.index(span.end - 1) + 1)

    def span(self, tokens: Range) -> Span:
        """Where tokens stand in the text."""
        return Span(self.tokens[tokens.start].start, self.tokens[tokens.end - 1].end + 1)


__all__ = ["AnchorError", "Anchors", "ConditionClause", "Range"]
