"""Finds the predicates that an earlier run wrote, by their marker and the form of their trees.

In: the tree of a statement as it stands in a text. Out: each ``ManagedPredicate`` in it, with the
value that it bounds. A predicate with a marker but in none of our forms was edited, and is the
author's now. So is one in a place where we write none, as in a HAVING or under a NOT.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from msgspec import Struct
from sqlglot import Token, exp

from sqlrewrite.settings.forms import FORMS, FUNCTIONS
from sqlrewrite.sql.bind.trees import chained
from sqlrewrite.sql.lex.keywords import QUOTED
from sqlrewrite.sql.parse.query_grammar import SHARED
from sqlrewrite.sql.parse.spans import span_of, unweakened
from sqlrewrite.sql.parse.spark_parser import SPELLED
from sqlrewrite.text.edits import Span, merged
from sqlrewrite.text.markers import MARKER, behind_clause, marker_behind, read_keys_note

QUERY_PLACEHOLDER = "(00.00)"
"""The text that stands for a key query when a clause is parsed again: short, and nothing that
authors write."""

_SIGNS: Mapping[str, type[exp.Expr]] = {
    "IN": exp.In,
    "BETWEEN": exp.Between,
    "=": exp.EQ,
    ">=": exp.GTE,
    ">": exp.GT,
    "<=": exp.LTE,
    "<": exp.LT,
}

_MOVED = re.compile(r"(?:;|,|do)\s*", re.IGNORECASE)

_PADDING = re.compile(r"(?<=\() | (?=[),])")


_GAP = r"(?:\s|/\*.*?\*/|--[^\r\n]*)*"
"""What may stand between two words of a list: blanks and comments, which a copy has not."""


class TextTokens:
    """The tokens of a text, by their offsets. ``around``: the author's whole text, if the text is
    an edited part of it."""

    def __init__(self, text: str, tokens: Sequence[Token], around: str = "") -> None:
        self.text = text
        self.around = around
        self._tokens = tokens
        self._starts = [token.start for token in tokens]

    def before(self, offset: int) -> Token | None:
        """The last token that begins before an offset; None if none does."""
        index = bisect_right(self._starts, offset - 1) - 1
        return self._tokens[index] if index >= 0 else None

    def within(self, span: Span) -> Sequence[Token]:
        """The tokens that begin in a span."""
        first, behind = (bisect_right(self._starts, at - 1) for at in (span.start, span.end))
        return self._tokens[first:behind]

    def markers(self) -> Iterator[int]:
        """The offsets of the markers that are comments, and not parts of strings."""
        at = self.text.find(MARKER)
        while at >= 0:
            token = self.before(at)
            if token is None or token.end < at or token.token_type not in QUOTED:
                yield at
            at = self.text.find(MARKER, at + 1)


class MarkedClause(Struct, frozen=True, eq=False):
    """A WHERE or ON that may hold predicates of ours: its ``condition``, the ``conjuncts`` at its
    top with their spans, and the SELECT, DELETE, UPDATE or MERGE that it belongs to (``block``)."""

    block: exp.Expr
    keyword: Token
    condition: Span
    conjuncts: Sequence[tuple[exp.Expr, Span]]

    @property
    def in_dml(self) -> bool:
        """Whether it is the condition of a DELETE or UPDATE."""
        return isinstance(self.block, exp.Delete | exp.Update)


class ManagedPredicate(Struct, frozen=True, eq=False):
    """A predicate that an earlier run wrote: a conjunct of a ``clause``.

    ``predicate``: its span. ``span``: the same with the marker and the note after it.
    ``value``: what it bounds, the first one if there are several under an OR.
    ``bounded``: the text of the value, in lower case and on one line.
    ``behind``: the text after the value, as ``IN (1, 2)``; empty for several under an OR.
    ``marker``: the offset of the marker; ``note``: a time and a key query, None without a note.
    ``moved``: the span of marker and note if a formatter has moved them behind what follows the
    predicate; ``span`` is without them then.
    """

    clause: MarkedClause
    predicate: Span
    value: exp.Expr
    bounded: str
    behind: str
    span: Span
    marker: int
    note: tuple[str, str] | None = None
    moved: Span | None = None


def normalized_value(value: str) -> str:
    """A value's text in lower case, on one line, no blank within its parentheses."""
    return _PADDING.sub("", " ".join(value.lower().split()))


def marked_clauses(tree: exp.Expr, tokens: TextTokens) -> Iterator[MarkedClause]:
    """The clauses in a tree into which a run may have written, each once, although SELECTs that
    share a FROM have copies of it."""
    seen: set[int] = set()
    stack: list[tuple[exp.Expr, exp.Expr]] = [(tree, tree)]
    while stack:
        node, block = stack.pop()
        node = unweakened(node)
        condition: exp.Expr | None = None
        if isinstance(node, exp.Select | exp.Delete | exp.Update):
            block, where = node, node.args.get("where")
            condition = None if where is None else where.this
        elif isinstance(node, exp.Merge):
            block, condition = node, node.args.get("on")
        elif isinstance(node, exp.Join) and SHARED not in block.meta:
            condition = node.args.get("on")
        clause = None if condition is None else clause_of(condition, block, tokens)
        if clause is not None and clause.condition.start not in seen:
            seen.add(clause.condition.start)
            yield clause
        stack += [(child, block) for child in node.iter_expressions()]


def clause_of(condition: exp.Expr, block: exp.Expr, tokens: TextTokens) -> MarkedClause | None:
    """The WHERE or ON with this condition; None if its place in the text is not known."""
    span = span_of(condition)
    keyword = None if span is None else tokens.before(span.start)
    if span is None or keyword is None:
        return None
    conjuncts = [(unweakened(one), span_of(one)) for one in chained(unweakened(condition), exp.And)]
    placed = [(tree, at) for tree, at in conjuncts if at is not None]
    return MarkedClause(block, keyword, span, placed) if len(placed) == len(conjuncts) else None


def managed_predicates(
    clauses: Sequence[MarkedClause], tokens: TextTokens, *, in_dml: bool = False
) -> list[ManagedPredicate]:
    """The predicates right before a marker that have one of our forms, in the order of their
    markers. ``in_dml``: also those in the condition of a DELETE or UPDATE."""
    marked = (
        _marked(tokens.text, clause, tree, span)
        for clause in clauses
        if in_dml or not clause.in_dml
        for tree, span in clause.conjuncts
    )
    predicates = [one for one in marked if one is not None and not _interrupted(tokens, one)]
    return sorted(predicates, key=lambda it: it.marker)


def _marked(text: str, clause: MarkedClause, tree: exp.Expr, span: Span) -> ManagedPredicate | None:
    """The managed predicate that a conjunct is; None if it is the author's."""
    match = behind_clause(text, span.end)
    if match is None:
        return None
    marker, end, note = match.end() - len(MARKER), match.end(), None
    comment, value = read_keys_note(text, end), None
    if comment is not None:
        when, query, end = comment
        value = _bounded(tree, _comparisons(True))
        note = None if value is None else (when, query)
    merges = isinstance(clause.block, exp.Merge)
    value = value or _bounded(tree, _comparisons(False, merges), alone=merges)
    place = None if value is None else span_of(value)
    if value is None or place is None or marker_behind(text, end) is not None:
        return None  # a second marker would stay, after the author's text
    whole, moved = Span(span.start, end), None
    if match[1] is not None:
        whole, moved = span, Span(match.end(1), end)
    bounded = normalized_value(place.of(text))
    behind = text[place.end : span.end] if place.start == span.start else ""
    return ManagedPredicate(clause, span, value, bounded, behind, whole, marker, note, moved)


def _interrupted(tokens: TextTokens, managed: ManagedPredicate) -> bool:
    """Whether there is a comment inside a predicate, which the author must have edited."""
    for one, other in pairwise(tokens.within(managed.predicate)):
        between = tokens.text[one.end + 1 : other.start].replace(MARKER, "")
        note = read_keys_note(between, 0)
        if between[0 if note is None else note[2] :].strip():
            return True
    return False


# --- forms ---------------------------------------------------------------------------------------


class _Shapes(Struct, frozen=True):
    """What predicates in some forms look like: the right ``sides`` of their comparisons, by the
    operator's class, and their ``functions``."""

    sides: Mapping[type[exp.Expr], frozenset[str]]
    functions: frozenset[str]


@cache
def _comparisons(noted: bool, merges: bool = False) -> _Shapes:
    """What predicates look like in the forms whose keys have a note, or have none; with ``merges``
    in those for the ON of a MERGE."""
    forms = [form for form in FORMS if (form.noted, form.merges) == (noted, merges)]
    sides: dict[type[exp.Expr], set[str]] = {}
    for comparison in (comparison for form in forms for comparison in form.comparisons):
        sign, _, right = comparison.partition(" ")
        sides.setdefault(_SIGNS[sign], set()).add(right)
    functions = frozenset(function for form in forms for function in form.functions)
    return _Shapes({sign: frozenset(rights) for sign, rights in sides.items()}, functions)


def _bounded(tree: exp.Expr, shapes: _Shapes, *, alone: bool = False) -> exp.Expr | None:
    """The value that a predicate in one of our forms bounds, the first one for several under an OR
    in parentheses; None for any other predicate, and with ``alone`` for an OR."""
    value = _bounded_by_one(tree, shapes)
    if value is None and not alone and isinstance(tree, exp.Paren):
        value = _bounded_by_all(chained(unweakened(tree.this), exp.Or))
    return value


def _bounded_by_one(tree: exp.Expr, shapes: _Shapes) -> exp.Expr | None:
    tree = unweakened(tree)
    if isinstance(tree, exp.Anonymous):
        keys, *values = tree.expressions or (None,)
        ours = str(tree.this).lower() in shapes.functions and len(values) == 1
        return values[0] if ours and _is_query(keys) else None
    operands = _right(tree)
    if isinstance(tree.this, exp.Predicate):
        return None  # TRUE = p IN (…)
    for right in shapes.sides.get(type(tree), ()):
        if all(_IS[right](operand) for operand in operands):
            return _this(tree)
    return None


def _bounded_by_all(parts: Sequence[exp.Expr]) -> exp.Expr | None:
    """The value that the first of two or more parts bounds; None if one of them is not ours."""
    values = [_bounded_by_part(unweakened(part)) for part in parts]
    return values[0] if len(values) > 1 and all(value is not None for value in values) else None


def _bounded_by_part(part: exp.Expr) -> exp.Expr | None:
    """The value of a part of an OR: a predicate in one of our forms, ``value IS NULL``, or one step
    of a comparison of several columns. None for anything else."""
    if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null):
        return _this(part)
    if isinstance(part, exp.Paren):
        inner = unweakened(part.this)
        return _bounded_by_all(chained(inner, exp.And if isinstance(inner, exp.And) else exp.Or))
    both = (_bounded_by_one(part, _comparisons(noted)) for noted in (False, True))
    return next((value for value in both if value is not None), None)


def _this(tree: exp.Expr) -> exp.Expr:
    value: exp.Expr = tree.this
    return value


def _right(tree: exp.Expr) -> list[exp.Expr]:
    """The right side of a comparison: a query, the items of a list, the ends of a BETWEEN."""
    match tree:
        case exp.In():
            query = tree.args.get("query")
            return list(tree.expressions) if query is None else [query]
        case exp.Between():
            return [tree.args["low"], tree.args["high"]]
        case exp.Binary():
            return [tree.expression]
        case _:
            return []


def _is_query(tree: exp.Expr | None) -> bool:
    """Whether this is a key query, or its placeholder."""
    if isinstance(tree, exp.Paren):
        return isinstance(tree.this, exp.Literal) and f"({tree.name})" == QUERY_PLACEHOLDER
    return isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Select | exp.SetOperation)


def _is_listed(tree: exp.Expr) -> bool:
    return not (isinstance(tree, exp.Subquery) and tree.arg_key == "query")


def _is_call(tree: exp.Expr) -> bool:
    if isinstance(tree, exp.Cast):
        return tree.meta.get(SPELLED) == "cast"
    if isinstance(tree, exp.Anonymous) and str(tree.this).lower() in FUNCTIONS:
        return False  # TRUE = array_contains(…)
    return isinstance(tree, exp.Func) and not isinstance(tree, exp.Case | exp.Connector)


def _is_literal(tree: exp.Expr) -> bool:
    """Whether this is a literal: ``1``, ``-1``, ``'a'``, ``DATE '…'``."""
    typed = isinstance(tree, exp.Cast) and tree.meta.get(SPELLED) is None
    if typed and tree.this.is_string:
        return tree.is_type(exp.DataType.Type.DATE)
    number = tree.this if isinstance(tree, exp.Neg) else tree
    suffixed = isinstance(number, exp.Cast) and number.meta.get(SPELLED) == "suffix"
    return suffixed or isinstance(number, exp.Literal)


def _is_constant(tree: exp.Expr) -> bool:
    """Whether this is a literal, a parameter or template, a call, or parentheses without a query in
    them."""
    if isinstance(tree, exp.Paren | exp.Tuple | exp.Placeholder | exp.Parameter):
        return not _is_query(tree)
    typed = isinstance(tree, exp.Cast) and tree.meta.get(SPELLED) is None
    return typed or _is_literal(tree) or _is_call(tree)


_IS = {
    "query": _is_query,
    "call": _is_call,
    "list": _is_listed,
    "literals": _is_literal,
    "literal": _is_literal,
    "constant": _is_constant,
    "literal AND literal": _is_literal,
}
"""For each kind of right side, the test of an operand."""


# --- markers that may have come away from their predicate -----------------------------------------


def moved_behind(tokens: TextTokens, marker: int) -> int | None:
    """The offset of the token before a marker, if a formatter may have moved the marker behind
    that; else None."""
    token = tokens.before(marker)
    if token is None or not _MOVED.fullmatch(tokens.text, token.start, marker):
        return None
    return token.start


def unmarked_clauses(clauses: Sequence[MarkedClause], tokens: TextTokens) -> tuple[Span, ...]:
    """The spans of the conditions that have a conjunct like ours without a marker."""
    return merged(
        clause.condition
        for clause in clauses
        if any(_looks_written(tokens, tree, span) for tree, span in clause.conjuncts)
    )


def is_unmarked(
    tokens: TextTokens, conjunct: tuple[exp.Expr, Span], managed: ManagedPredicate
) -> bool:
    """Whether a conjunct looks like ours without its marker. Then the marker behind ``managed`` may
    belong to the conjunct, and ``managed`` to the author: if the marker was moved, or stands
    behind a list of constants that the author may have written in between."""
    tree, span = conjunct
    if managed.moved is None:
        if managed.note is not None or span.end > managed.predicate.start:
            return False
        return _lists_its_own(tokens, managed) and _looks_written(tokens, tree, span)
    value = _bounded(tree, _comparisons(managed.note is not None))
    if value is None:
        return False
    # A computed value is bounded by a key query alone.
    computed = isinstance(value, exp.Func | exp.Paren | exp.Tuple)
    return not computed or any(map(_is_query, _right(tree)))


def _lists_its_own(tokens: TextTokens, managed: ManagedPredicate) -> bool:
    """Whether a predicate has a list of literals that the text has nowhere else. A list that we
    write without a note is a copy of one of the author's."""
    tree = managed.value.parent
    right = [] if tree is None else _right(tree)
    listed = (
        right if isinstance(tree, exp.In) else [one for call in right for one in call.expressions]
    )
    literals = managed.behind[managed.behind.find("(") :]
    if not listed or not all(map(_is_literal, listed)) or literals in ("", QUERY_PLACEHOLDER):
        return False
    inside = _GAP.join(map(re.escape, literals[1:-1].split()))
    same = re.compile(rf"\({_GAP}{inside}{_GAP}\)", re.DOTALL)
    return len(same.findall(tokens.text)) + len(same.findall(tokens.around)) == 1


def _looks_written(tokens: TextTokens, tree: exp.Expr, span: Span) -> bool:
    """Whether a conjunct without a marker looks like ours with a key query: columns have an alias
    as qualifier, and ``AS`` defines it."""
    if _bounded_by_one(tree, _comparisons(False)) is None:
        return False
    if marker_behind(tokens.text, span.end) is not None:
        return False
    words = [token.text.lower() for token in tokens.within(span)]
    if "select" not in words:
        return False
    called = {name for name, dot in pairwise(words) if dot == "."}
    return any(word == "as" and alias in called for word, alias in pairwise(words))
