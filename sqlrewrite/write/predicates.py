"""The predicate's text: ``p IN (SELECT /*+ BROADCAST(a) */ a.k FROM dim AS a WHERE …)``, or as a
set, a range, or literals.

It is composed from slices of the author's own text; each column of the dimension is qualified with
an alias that occurs nowhere in the statement, so that none can be taken for another
(docs/soundness.md, "Names").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import count

from sqlrewrite.find.pairs import Side
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge.case import Case
from sqlrewrite.judge.form import chosen, is_constant, repeats_keys
from sqlrewrite.plan.algebra import (
    ColumnRef,
    CteReference,
    Derived,
    Expression,
    Generate,
    Join,
    Node,
    Relation,
    Scan,
)
from sqlrewrite.plan.columns import arithmetic, column_names, computed_as
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.facts.arithmetic import Wrapping
from sqlrewrite.plan.relations import leaves
from sqlrewrite.settings.options import NotAskedError
from sqlrewrite.sql.anchors import AnchorError, Anchors, Range
from sqlrewrite.text.edits import MARKER, Span
from sqlrewrite.write.literals import Bound, literal

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Short words that are no good as an alias.
_WORDS = frozenset(
    """
    all and any as asc at both by case cast cross desc div else end except false fetch for
    from full group having if in inner is join kind left like limit map natural no not null
    of on or order out outer over primary right row rows select semi set some start table
    then time to true union use user using values view when where window with
    """.split()
)


@dataclass(frozen=True, slots=True)
class Style:
    """How the author writes: the case of keywords."""

    lower: bool

    def word(self, keyword: str) -> str:
        """A keyword in the author's case."""
        return keyword.lower() if self.lower else keyword


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate without its marker, and the key queries in it, each with its parentheses; the
    ``note`` is what stands behind the marker of one of literals."""

    text: str
    queries: tuple[str, ...] = ()
    note: str = ""

    @property
    def marked(self) -> str:
        """The predicate as it is written, with its marker."""
        return f"{self.text} {MARKER}{self.note}"


def write(
    cases: Sequence[Case],
    anchors: Anchors,
    style: Style,
    words: frozenset[str],
    *,
    union: bool = False,
) -> list[Predicate]:
    """The predicates for a case, each on one line, without their markers.

    Several cases are the columns of a tuple, with one dimension and ``in`` as their form; or, with
    ``union``, what each of several references allows one column to be. ``words`` are those of the
    statement, in lower case. Raises AnchorError where a part of a predicate cannot be found in it.
    """
    first, word = cases[0], style.word
    if not union:
        cases = _distinct(cases, anchors, style, words)
    fact = _fact(first, anchors, style)
    constants = _constants(first, anchors) if len(cases) == 1 else None
    if constants is not None:
        return [Predicate(f"{fact} {word('IN')} ({constants})")]
    form = chosen(first)
    queries = _KeyQueries(anchors, style, words, union)
    if form == "values" or first.around.noted:
        found = _literals(cases, queries)
        if found:
            return found
    if first.pair.tie.block.role == "merge":  # whose ON takes no subquery
        raise NotAskedError(fact)
    operator = first.pair.operator
    equal = operator in ("=", "<=>")
    if form == "in":
        named = [fact] if union else [_fact(case, anchors, style) for case in cases]
        fact = fact if len(named) == 1 else f"({', '.join(named)})"
        query = queries.over(cases, hint=first.options.hint, distinct=repeats_keys(first))
        return [Predicate(f"{fact} {word('IN')} {query}", (query,))]
    if form == "set":
        query = queries.over(cases, "collect_set({})")
        return [Predicate(f"array_contains({query}, {fact})", (query,))]
    found = []
    for sign in (">=", "<=") if equal else (operator,):
        query = queries.over(cases, _END[sign[0]])
        found.append(Predicate(f"{fact} {sign} {query}", (query,)))
    return found


_END = {">": "min({})", "<": "max({})"}
"""Of the keys that the fact is to be above, or below, the one that the others imply."""


@dataclass(frozen=True, slots=True)
class _KeyQueries:
    """The key queries of a statement's predicates, each with its parentheses."""

    anchors: Anchors
    style: Style
    words: frozenset[str]
    union: bool

    def over(
        self,
        cases: Sequence[Case],
        wrapped: str = "{}",
        *,
        hint: bool = False,
        distinct: bool = False,
    ) -> str:
        """The key query of cases, its keys ``wrapped`` in a function."""
        writer = _Writer(self.anchors, self.style, self.words)
        if self.union:
            return f"({writer.union(cases, wrapped, hint=hint)})"
        first = cases[0]
        values = [writer.value(case.pair.key_side, case, wrapped) for case in cases]
        source = writer.source(cases)
        query = writer.query(
            first.pair.dimension, values, first.kept, source=source, hint=hint, distinct=distinct
        )
        return f"({query})"


def _literals(cases: Sequence[Case], queries: _KeyQueries) -> list[Predicate]:
    """The predicates of literals, one for each column; empty where another form is to be written.
    Raises RefusedError."""
    found: list[Predicate] = []
    for of in [cases] if queries.union else [[case] for case in cases]:
        operator = of[0].pair.operator
        sign = queries.style.word("IN") if operator in ("=", "<=>") else operator
        query = queries.over(of, _END.get(sign[0], "{}"))[1:-1]
        written = literal(Bound(_fact(of[0], queries.anchors, queries.style), sign, query), of)
        if written is None:
            return []
        text, note = written
        found.append(Predicate(text, note=note))
    return found


def _distinct(
    cases: Sequence[Case], anchors: Anchors, style: Style, words: frozenset[str]
) -> Sequence[Case]:
    """The cases without those that say the same as one before: an equality that is written twice,
    an expression over two partition columns, a column that a view reads in two places."""
    if len(cases) == 1:
        return cases
    writer = _Writer(anchors, style, words)
    found: dict[tuple[str, str], Case] = {}
    for case in cases:
        key = writer.value(case.pair.key_side, case)("")
        found.setdefault((_fact(case, anchors, style), key), case)
    return list(found.values())


def _constants(case: Case, anchors: Anchors) -> str | None:
    """The constants that the key is compared with, where nothing else is asked of the dimension:
    then they bound the fact without reading it, and on every engine."""
    lists: list[str] = []
    for item in case.kept:
        if not isinstance(item, Conjunct) or not is_constant(case, item.expression):
            return None
        tokens = anchors.conjunct(item.condition)
        lists.append(anchors.constants(tokens))
    return lists[0] if len(set(lists)) == 1 else None


Value = Callable[[str], str]
"""The text of a value over the relation of a given alias."""


@dataclass(slots=True)
class _Writer:
    """Writes the key queries of one predicate; ``taken`` are the aliases it has used."""

    anchors: Anchors
    style: Style
    words: frozenset[str]
    taken: set[str] = field(default_factory=set)

    def again(self) -> _Writer:
        """A writer for a key query beside this one, which may use the same aliases."""
        return _Writer(self.anchors, self.style, self.words)

    def query(
        self,
        relation: Relation,
        values: Sequence[Value],
        found: Sequence[Restriction],
        *,
        source: str | None = None,
        hint: bool = False,
        distinct: bool = False,
    ) -> str:
        """``SELECT a.key FROM relation AS a WHERE …``, without parentheses; ``source`` is the
        relation's text where it is not simply what the author wrote."""
        alias, word = self.alias(relation), self.style.word
        broadcast = f"/*+ {word('BROADCAST')}({alias}) */ " if hint else ""
        shown = (f"{word('DISTINCT')} " if distinct else "") + ", ".join(v(alias) for v in values)
        query = (
            f"{word('SELECT')} {broadcast}{shown} {word('FROM')} "
            f"{source or _source(relation, self.anchors)} {word('AS')} {alias}{_listed(relation)}"
        )
        conditions = dict.fromkeys(self.restriction(item, alias) for item in found)
        if conditions:
            query += f" {word('WHERE')} " + f" {word('AND')} ".join(conditions)
        return query

    def union(self, cases: Sequence[Case], wrapped: str, *, hint: bool) -> str:
        """One key query over those of several cases."""
        word = self.style.word
        first = cases[0].pair  # whose columns name those of the union
        column = _spelled(first.key, self.anchors) if first.key_plain else self.unused("k", set())
        named = "{}" if first.key_plain else f"{{}} {word('AS')} {column}"
        keys: list[str] = []
        for case in cases:
            value = self.value(case.pair.key_side, case, "{}" if keys else named)
            source = self.source([case])
            keys.append(self.query(case.pair.dimension, [value], case.kept, source=source))
        alias = self.unused("q", set())
        broadcast = f"/*+ {word('BROADCAST')}({alias}) */ " if hint else ""
        all_of_them = f" {word('UNION ALL')} ".join(keys)
        return (
            f"{word('SELECT')} {broadcast}{wrapped.format(f'{alias}.{column}')} {word('FROM')} "
            f"({all_of_them}) {word('AS')} {alias}"
        )

    def source(self, cases: Sequence[Case]) -> str:
        """The dimension's text, in which sums that a derived table computes for a key are written
        so that they raise no error."""
        anew: dict[Span, str] = {}
        for case in cases:
            for expression in computed_as(case.plan, case.pair.key):
                around = arithmetic(case.plan, expression)
                if around is not None and isinstance(case.pair.dimension, Derived):
                    anew |= self.wrapping(expression, around)
        return _source(cases[0].pair.dimension, self.anchors, anew)

    def wrapping(self, expression: Expression, around: Wrapping) -> dict[Span, str]:
        """The text of a sum in a SELECT list and, for it, one that wraps around."""
        spans = [ref.span for ref in columns(expression)]
        if not spans or spans[0] is None:
            raise AnchorError("a sum that the text does not have")
        tokens = self.anchors.sum_around(spans[0].start)
        cast, whole = self.style.word(around.column), self.style.word(around.whole)
        replaced = {
            span: cast.format(self.anchors.copy(self.anchors.covering(span)))
            for span in spans
            if span is not None
        }
        return {self.anchors.span(tokens): whole.format(self.anchors.copy(tokens, replaced))}

    def value(self, side: Side, case: Case, wrapped: str = "{}") -> Value:
        """A key, as a column or as the author's own text of an expression."""
        if isinstance(side.expression, ColumnRef):
            column = self.column(side.expression)
            return lambda alias: wrapped.format(column(alias))
        tokens = self.anchors.operand(case.pair.tie.condition, side.operand)
        around = arithmetic(case.plan, side.expression)
        if around is None:
            return lambda alias: wrapped.format(self.over(tokens, side.expression, alias))
        cast, whole = self.style.word(around.column), self.style.word(around.whole)
        return lambda alias: wrapped.format(
            whole.format(self.over(tokens, side.expression, alias, cast))
        )

    def column(self, ref: ColumnRef) -> Value:
        """A column of the relation."""
        spelled = _spelled(ref, self.anchors)
        return lambda alias: f"{alias}.{spelled}"

    def alias(self, relation: Relation) -> str:
        """A short alias for a relation, its initials, that is no word of the statement."""
        name = relation.table.name[-1] if isinstance(relation, Scan) else relation.alias
        words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
        stem = "".join(word[0] for word in words if not word[0].isdigit()) or "k"
        return self.unused(stem, {*(column_names(relation) or ())})

    def unused(self, stem: str, avoid: set[str]) -> str:
        """An alias that begins so and is used nowhere else."""
        for number in count(1):
            alias = stem if number == 1 else f"{stem}{number}"
            if not any(alias in words for words in (avoid, self.taken, self.words, _WORDS)):
                break
        self.taken.add(alias)
        return alias

    def restriction(self, item: Restriction, alias: str) -> str:
        """A restriction as a conjunct over the relation of that alias."""
        match item:
            case Conjunct():
                return self.conjunct(item, alias)
            case AnyOf(branches=branches):
                texts = list(dict.fromkeys(self.branch(branch, alias) for branch in branches))
                joined = f" {self.style.word('OR')} ".join(texts)
                return texts[0] if len(texts) == 1 else f"({joined})"
            case SemiJoin(key=key, relation=relation, other=other, inner=inner):
                column = f"{alias}.{_spelled(key, self.anchors)}"
                query = self.query(relation, [self.column(other)], inner)
                return f"{column} {self.style.word('IN')} ({query})"

    def branch(self, branch: tuple[Restriction, ...], alias: str) -> str:
        """A branch of a disjunction."""
        parts = list(dict.fromkeys(self.restriction(item, alias) for item in branch))
        text = f" {self.style.word('AND')} ".join(parts)
        return f"({text})" if len(parts) > 1 else text

    def conjunct(self, item: Conjunct, alias: str) -> str:
        """The author's own text of a conjunct, its columns qualified with the alias."""
        tokens = self.anchors.conjunct(item.condition)
        text = self.over(tokens, item.expression, alias)
        return f"({text})" if self.anchors.disjunction(tokens) else text

    def over(self, tokens: Range, expression: Expression, alias: str, column: str = "{}") -> str:
        """The author's own text of an expression, its columns qualified with the alias and put into
        a template."""
        replaced = {}
        for ref in columns(expression):
            if ref.span is None:
                raise AnchorError("a column that the text does not name")
            replaced[ref.span] = column.format(f"{alias}.{_spelled(ref, self.anchors)}")
        return self.anchors.copy(tokens, replaced)


def _fact(case: Case, anchors: Anchors, style: Style) -> str:
    """The fact's column as it is to be named where the predicate stands, or the author's own
    expression over it, which stands in the same block."""
    pair = case.pair
    _no_field(case.target_block.source, pair.target.alias.lower())
    if not pair.fact_plain:
        tokens = anchors.operand(pair.tie.condition, pair.fact_side.operand)
        around = arithmetic(case.plan, pair.fact_side.expression)
        whole, column = ("{}", "{}") if around is None else (around.whole, around.column)
        clear = {
            ref.span: style.word(column).format(_clear(case, ref, ref.span, anchors))
            for ref in columns(pair.fact_side.expression)
            if ref.span is not None
        }
        return style.word(whole).format(anchors.copy(tokens, clear))
    source = case.target_block.source
    same = pair.fact.relation == pair.target.relation
    if same and pair.fact.span is not None:
        column = _spelled(pair.fact, anchors)
        written = anchors.copy(anchors.covering(pair.fact.span))
        # Written without its table, it is clear only where no other relation has the name.
        if written != column or _alone(source, pair.target_column):
            return written
    else:
        column = quoted(_declared(pair.target, pair.target_column))
    alone = len(list(leaves(source))) == 1 and _unnamed(pair.target)
    return column if alone else f"{quoted(pair.target.alias)}.{column}"


def _no_field(source: Node, alias: str) -> None:
    """Raises AnchorError where ``alias.k`` could be the field k of a column: Spark takes it for one
    before it looks among the columns that USING and NATURAL have hidden."""
    if not _merges(source):
        return
    for names in map(column_names, leaves(source)):
        if names is None or alias in names:
            may = "may be" if names is None else "is"
            raise AnchorError(f"{alias} {may} the name of a column, too")


def _merges(source: Node | None) -> bool:
    """Whether a join in a FROM merges columns."""
    stack = [source]
    while stack:
        match stack.pop():
            case Join(left=left, right=right, using=using, natural=natural):
                if using or natural:
                    return True
                stack += [left, right]
            case Generate(child=child):
                stack.append(child)
            case _:
                pass
    return False


def _clear(case: Case, ref: ColumnRef, span: Span, anchors: Anchors) -> str:
    """A column of the fact in the author's expression. Written without its table in an ON, it is
    clear in WHERE only where no relation joined later has the name."""
    written = anchors.copy(anchors.covering(span))
    if written != _spelled(ref, anchors) or _alone(case.target_block.source, ref.name):
        return written
    return f"{quoted(case.pair.target.alias)}.{written}"


def _unnamed(target: Relation) -> bool:
    """Whether a table goes by its own name, and not by an alias that the author would use."""
    parts = target.parts if isinstance(target, Scan | Derived) else ()
    return bool(parts) and target.alias.lower() == parts[-1]


def _alone(source: Node, name: str) -> bool:
    having = 0
    for leaf in leaves(source):
        names = column_names(leaf)
        having += names is None or name in names
    return having == 1


def _declared(relation: object, name: str) -> str:
    """A column's name as its table declares it."""
    if isinstance(relation, Scan):
        column = relation.table.column(name)
        return column.name if column is not None else name
    return name


def _source(relation: Relation, anchors: Anchors, anew: Mapping[Span, str] | None = None) -> str:
    match relation:
        case Scan(span=span) | CteReference(span=span) | Derived(span=span) if span is not None:
            return anchors.copy(anchors.covering(span))
        case Derived(anchor=anchor) if anchor is not None:
            return anchors.copy(anchors.parenthesised(anchor), anew)
        case _:
            raise AnchorError("a relation that has no text to repeat")


def _listed(relation: Relation) -> str:
    """The column list of the author's alias, which renames what the key query reads too."""
    listed = relation.listed if isinstance(relation, Derived | CteReference) else ()
    return f"({', '.join(map(quoted, listed))})" if listed else ""


def _spelled(ref: ColumnRef, anchors: Anchors) -> str:
    """A column's own name, as the author wrote it where that is still its name."""
    if ref.span is not None:
        written = anchors.raw(anchors.covering(ref.span).end - 1)
        if written.strip("`").lower() == ref.name:
            return written
    return quoted(ref.name)


def quoted(name: str) -> str:
    """An identifier, in backquotes where it needs them."""
    if _PLAIN.fullmatch(name) and name.lower() not in _WORDS:
        return name
    return "`" + name.replace("`", "``") + "`"
