"""Where clauses, expressions and relations of a statement stand in its text, and copies of them.

The parser notes where each node begins and ends (``SPAN``), and the binder which tree each
expression of the plan comes from; tokens say what stands before and behind.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sqlglot import Token, TokenType, exp

from sqlrewrite.plan.algebra import Block, Clause, Expression, Query, Subquery
from sqlrewrite.plan.expressions import operands
from sqlrewrite.plan.memo import remembered_by_node
from sqlrewrite.sql.bind.binder import Bound
from sqlrewrite.sql.bind.trees import chained
from sqlrewrite.sql.lex.keywords import CHANGES, CLOSE, OPEN
from sqlrewrite.sql.parse.spans import FROM_END, span_of, unweakened
from sqlrewrite.text.edits import BLANK, Span

_ENDS = ("order", "sort", "cluster", "distribute", "limit", "offset")
_OF_THE_CORE = ("where", "group", "having", "qualify", "windows")


class NoPlaceError(Exception):
    """The text has no place for what is to be written, or nothing to copy for it; says why."""


class ConditionClause(NamedTuple):
    """A WHERE or ON.

    ``keyword``: the offset of the word; None for a WHERE that is yet to be written.
    ``condition``: its span; without a keyword an empty one after the FROM clause.
    ``conjuncts``: the spans of those at the top of the condition, with their parentheses.
    ``disjunction``: whether an OR stands at the top of the condition.
    ``lead``: the offset of the word that opens the block (SELECT) or join (ON).
    ``opening``: the offset of the FROM; of the SELECT if the FROM comes before it.
    """

    keyword: int | None
    condition: Span
    conjuncts: tuple[Span, ...]
    disjunction: bool
    lead: int
    opening: int


class Places:
    """The places in the text of a statement, given its tokens and what it is bound to. ``memo``
    keeps what was asked of them: in that of the plan, which is bound, the two would hold each
    other, and only the garbage collector would free them."""

    def __init__(self, text: str, tokens: Sequence[Token], bound: Bound) -> None:
        self.text = text
        self.tokens = tokens
        self.plan = bound.plan
        self._bound = bound
        self.memo: dict[object, Any] = {}
        self._starts = [token.start for token in tokens]

    # --- clauses -----------------------------------------------------------------------------

    def clause(self, clause: Clause) -> ConditionClause:
        """The WHERE or ON in the text for a clause of the plan."""
        condition = self._bound.conditions[clause]
        select = condition.parent.parent if isinstance(condition.parent, exp.Where) else None
        return self._clause(condition, select)

    def where(self, block: Block) -> ConditionClause:
        """The WHERE of a block, or the place for one. Raises NoPlaceError."""
        select = self._bound.selects[block.number]
        where, from_ = select.args.get("where"), select.args.get("from_")
        if where is not None:
            return self._clause(where.this, select)
        start, end = self._word(select), select.meta.get(FROM_END)
        if start is None or end is None:
            raise NoPlaceError(_NO_SELECT)
        if from_ is None:
            raise NoPlaceError("a SELECT without FROM takes no WHERE")
        if self.kind(self.index(end - 1)) is TokenType.ALIAS:
            raise NoPlaceError("no alias follows AS at the end of its FROM: write the alias")
        opening = start if block.select_offset is not None else _span(from_).start
        return ConditionClause(None, Span(end, end), (), False, start, opening)

    def _word(self, select: exp.Expr) -> int | None:
        """The offset of a query's word SELECT; None if it has none, as after ``|>``."""
        first = select.expressions[0] if select.expressions else None
        named = first.this if isinstance(first, exp.Alias | exp.Aliases) else first
        span = None if named is None else span_of(named)
        if span is None:
            return None
        at = range(self.index(span.start) - 1, -1, -1)
        return next(
            self.tokens[index].start for index in at if self.kind(index) is TokenType.SELECT
        )

    @remembered_by_node
    def _clause(self, condition: exp.Expr, select: exp.Expr | None) -> ConditionClause:
        """The clause with this condition: the WHERE of a SELECT, DELETE or UPDATE, or else an
        ON."""
        span = _span(condition)
        keyword = self.tokens[self.index(span.start) - 1].start
        lead = keyword
        if select is not None:
            changes = (token.start for token in self.tokens if token.token_type in CHANGES)
            word = self._word(select) if FROM_END in select.meta else next(changes, None)
            lead = keyword if word is None else word
        conjuncts = tuple(map(_span, chained(unweakened(condition), exp.And)))
        disjunction = isinstance(unweakened(condition), exp.Or)
        return ConditionClause(keyword, span, conjuncts, disjunction, lead, keyword)

    def core(self, block: Block) -> Span:
        """The span of a SELECT up to its ORDER BY or LIMIT."""
        select = self._bound.selects[block.number]
        start = self._word(select)
        if start is None:
            raise NoPlaceError(_NO_SELECT)
        clauses = (_last(select.args.get(name)) for name in _OF_THE_CORE)
        ends = (_span(clause).end for clause in clauses if clause is not None)
        return Span(start, max([select.meta[FROM_END], *ends]))

    def items(self, block: Block) -> list[tuple[Span, Span]]:
        """The spans of the items of a SELECT list, each without and with its alias."""
        items_: list[tuple[Span, Span]] = []
        for item in self._bound.selects[block.number].expressions:
            span = _span(item.unalias())
            alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
            end = span.end if alias is None else alias.meta["end"] + 1
            items_.append((span, Span(span.start, end)))
        return items_

    def having(self, block: Block) -> tuple[Span, Span] | None:
        """The span of a block's HAVING, and that of its condition; None if it has none."""
        having = self._bound.selects[block.number].args.get("having")
        return None if having is None else (_span(having), _span(having.this))

    def order(self, block: Block) -> list[Span]:
        """The spans of the keys of a block's ORDER BY, without ASC and the like."""
        order = self._bound.selects[block.number].args.get("order")
        return [] if order is None else [_span(expression.this) for expression in order.expressions]

    def spreads(self, block: Block) -> bool:
        """Whether a block has a SORT BY, CLUSTER BY or DISTRIBUTE BY."""
        args = self._bound.selects[block.number].args
        return any(args.get(name) for name in ("sort", "cluster", "distribute"))

    # --- expressions -------------------------------------------------------------------------

    def _tree(self, expression: Expression) -> exp.Expr:
        entry = self._bound.trees.get(id(expression))
        if entry is None:
            raise NoPlaceError(_NO_EXPRESSION)
        return entry[1]

    def bare(self, expression: Expression) -> Span:
        """The span of an expression without parentheses around it. Raises NoPlaceError."""
        return _span(self._tree(expression))

    def span(self, expression: Expression) -> Span:
        """The span of an expression with the parentheses around it. Raises NoPlaceError."""
        return _span(_wrapped(self._tree(expression)))

    def item(self, expression: Expression) -> Span:
        """The span of an item of a SELECT list without its alias. Raises NoPlaceError for anything
        else."""
        tree = _wrapped(self._tree(expression))
        item = tree.parent if isinstance(tree.parent, exp.Alias) else tree
        if item.arg_key != "expressions" or not isinstance(item.parent, exp.Select):
            raise NoPlaceError("an expression is no item of its SELECT list")
        return _span(tree)

    def group_key(self, expression: Expression) -> Span:
        """The span of an item of a GROUP BY. Raises NoPlaceError for anything else."""
        tree = _wrapped(self._tree(expression))
        if not isinstance(tree.parent, exp.Group):
            raise NoPlaceError("an expression is no item of its GROUP BY")
        return _span(tree)

    def operands(self, expression: Expression) -> list[Span | None]:
        """The spans of an expression's operands, with their parentheses; None for one that the text
        does not have. The operand of a scalar subquery is its query."""
        if isinstance(expression, Subquery) and expression.kind == "scalar":
            return [self._query_inside(self._tree(expression))]
        entries = [self._bound.trees.get(id(operand)) for operand in operands(expression)]
        return [None if entry is None else span_of(_wrapped(entry[1])) for entry in entries]

    def _query_inside(self, tree: exp.Expr) -> Span:
        """The span of a query inside its parentheses. Raises NoPlaceError if no LIMIT may follow
        the query."""
        span = _span(tree)
        first, last = self.index(span.start), self.index(span.end - 1)
        inside = self.tokens[first + 1 : last]
        piped = any(token.token_type is TokenType.PIPE_GT for token in inside)
        if not isinstance(tree, exp.Subquery) or piped or any(map(tree.this.args.get, _ENDS)):
            raise NoPlaceError(
                "a subquery with |>, or with ORDER BY, LIMIT or the like, takes no LIMIT"
            )
        return Span(inside[0].start, inside[-1].end + 1)

    def call(self, call: Expression) -> tuple[Span, Span]:
        """The span of a call, and that of the text in its parentheses. Raises NoPlaceError."""
        start = self._tree(call).meta.get("start")
        if start is None:
            raise NoPlaceError("a call does not stand in the text as it is read")
        opening = self.index(start) + 1
        closing = self.closing(opening)
        inside = Span(self.tokens[opening].end + 1, self.tokens[closing].start)
        return Span(start, self.tokens[closing].end + 1), inside

    def query_of_in(self, condition: Expression) -> Span:
        """The span of an IN's subquery, with its parentheses. Raises NoPlaceError for anything
        else."""
        query = self._tree(condition).args.get("query")
        if query is None:
            raise NoPlaceError("a condition is no IN with a subquery")
        return _span(query)

    # --- relations ---------------------------------------------------------------------------

    def query(self, query: Query) -> Span:
        """The span of a query with its parentheses. Raises NoPlaceError if it has none."""
        word = self._word(self._bound.selects[query.top[0]])
        opening = -1 if word is None else self.index(word) - 1
        if self.kind(opening) is not OPEN:
            raise NoPlaceError("a query does not stand in parentheses")
        return self._group(opening)

    def parenthesised(self, alias: int) -> Span:
        """The span of the derived table, with its parentheses, before the alias at an offset."""
        close = self.index(alias) - 1
        if self.kind(close) is TokenType.ALIAS:
            close -= 1
        if self.kind(close) is not CLOSE:
            raise NoPlaceError("the alias does not follow a derived table")
        return Span(self.tokens[self._partners[close]].start, self.tokens[close].end + 1)

    def relation(self, start: int) -> Span:
        """The span of the query in parentheses, or of the call, that begins at an offset."""
        index = self.index(start)
        opening = index + (self.kind(index) is not OPEN)
        if self.kind(opening) is not OPEN:
            raise NoPlaceError("a relation is neither a query in parentheses nor a call")
        return Span(start, self._group(opening).end)

    def subqueries(self, span: Span) -> list[Span]:
        """The spans of the subqueries in a span, with their parentheses, without those inside
        another subquery."""
        spans: list[Span] = []
        for index in range(self.index(span.start), self.index(span.end - 1)):
            opens = self.kind(index) is OPEN and self.kind(index + 1) in _QUERY
            if opens and not (spans and self.tokens[index].start < spans[-1].end):
                spans.append(self._group(index))
        return spans

    # --- tokens ------------------------------------------------------------------------------

    def index(self, offset: int) -> int:
        """The index of the token at an offset, or of the last one before it."""
        return bisect_right(self._starts, offset) - 1

    def next(self, offset: int, end: int) -> int:
        """Where the next token begins behind an offset; ``end`` if none does."""
        index = self.index(offset - 1) + 1
        return self._starts[index] if index < len(self.tokens) else end

    def kind(self, index: int) -> TokenType | None:
        """The type of a token; None beyond the last."""
        return self.tokens[index].token_type if 0 <= index < len(self.tokens) else None

    def closing(self, opening: int) -> int:
        """The index of the parenthesis that closes the one at ``opening``. Raises NoPlaceError for
        any other token."""
        if self.kind(opening) is not OPEN or opening not in self._partners:
            raise NoPlaceError("parentheses do not match")
        return self._partners[opening]

    def _group(self, opening: int) -> Span:
        return Span(self.tokens[opening].start, self.tokens[self.closing(opening)].end + 1)

    @cached_property
    def _partners(self) -> dict[int, int]:
        """The index of each parenthesis' partner, both ways."""
        partners: dict[int, int] = {}
        opened: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.token_type is OPEN:
                opened.append(index)
            elif token.token_type is CLOSE and opened:
                start = opened.pop()
                partners[index], partners[start] = start, index
        return partners

    def raw(self, index: int) -> str:
        """A token as the author wrote it."""
        token = self.tokens[index]
        return self.text[token.start : token.end + 1]

    def copy(self, span: Span, replaced: Mapping[Span, str] | None = None) -> str:
        """A part of the text on one line without comments, with the texts of ``replaced`` in place
        of its spans; if two spans begin at one offset, the longer one is replaced."""
        starts: dict[int, tuple[int, str]] = {}
        for place, new in (replaced or {}).items():
            if place.end > starts.get(place.start, (0, ""))[0] and place.end <= span.end:
                starts[place.start] = place.end, new
        pieces: list[str] = []
        end = None
        index = self.index(span.start)
        while index < len(self.tokens) and self.tokens[index].start < span.end:
            token = self.tokens[index]
            if end is not None:
                pieces.append(self._gap(end, index))
            stop, new = starts.get(token.start, (token.end + 1, ""))
            pieces.append(new or self.raw(index))
            index = bisect_left(self._starts, stop, index)
            end = stop
        return "".join(pieces)

    def _gap(self, end: int, index: int) -> str:
        """The space to copy before a token: empty if there is no gap, at a dot, and for a line
        break beside a parenthesis or before a comma."""
        gap = self.text[end : self.tokens[index].start]
        if TokenType.DOT in (self.kind(index - 1), self.kind(index)):
            return ""
        if self.kind(index - 1) is OPEN or self.kind(index) in (CLOSE, TokenType.COMMA):
            gap = "" if "\n" in gap else gap.replace(BLANK, "")
        return " " if gap else ""


_QUERY = frozenset({TokenType.SELECT, TokenType.WITH})

_NO_SELECT = "the text of the query has no SELECT: write SELECT … FROM …"
_NO_EXPRESSION = "an expression does not stand in the text: it comes from `*` or a view"


def _span(tree: exp.Expr) -> Span:
    span = span_of(tree)
    if span is None:
        raise NoPlaceError(_NO_EXPRESSION)
    return span


def _wrapped(tree: exp.Expr) -> exp.Expr:
    """A tree with the parentheses around it."""
    while isinstance(tree.parent, exp.Paren):
        tree = tree.parent
    return tree


def _last(clause: exp.Expr | list[exp.Expr] | None) -> exp.Expr | None:
    return (clause[-1] if clause else None) if isinstance(clause, list) else clause
