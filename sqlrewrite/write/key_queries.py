"""The key query of a predicate: ``SELECT /*+ BROADCAST(a) */ a.k FROM dim AS a WHERE …``.

It is composed from slices of the author's own text; each column of the dimension is qualified with
an alias that occurs nowhere in the statement, so that none can be taken for another
(docs/soundness.md, "Names").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from msgspec import Struct, field

from sqlrewrite.find.join_edges import Side
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin, flattened
from sqlrewrite.judge.benefit.already_pruned import is_authors_in
from sqlrewrite.judge.benefit.keys import is_whole_in_query
from sqlrewrite.judge.errors.attempted import attempted_group_keys, exact_attempts
from sqlrewrite.judge.errors.raising import raising_below, raising_in
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.dimension import in_sides, narrowed_key
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import arithmetic, column_names, computed_as
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import leaves, read_by
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Span
from sqlrewrite.write.derived_values import days_around, derived_value
from sqlrewrite.write.repeated_text import (
    WORDS,
    AuthorText,
    attempted,
    computed,
    quoted,
    repeated_side,
    spelled,
    steadied_texts,
)


class KeyQueries(Struct, frozen=True):
    """Writes the key queries of a predicate, each in parentheses. ``words`` are the words of the
    statement in lower case, which aliases avoid. ``union``: the keys of all proposals together."""

    author: AuthorText
    words: frozenset[str]
    union: bool

    def over(
        self,
        proposals: Sequence[Proposal],
        wrapped: str = "{}",
        *,
        hint: bool = False,
        distinct: bool = False,
        not_null: bool = False,
        end: str = "",
    ) -> str:
        """The key query of proposals, its keys ``wrapped`` in a function. ``not_null``: without
        NULL keys. ``end`` is ``>`` or ``<`` if only the smallest or largest key is needed."""
        writer = KeyQueryWriter(self.author, self.words)
        if self.union:
            return f"({writer.union(proposals, wrapped, hint=hint, end=end)})"
        first = proposals[0]
        if is_whole_in_query(first):
            query = writer.of_whole(proposals, wrapped, hint=hint, not_null=not_null, end=end)
            return f"({query})"
        values = [
            writer.value(proposal.pair.key_side, proposal, wrapped, end) for proposal in proposals
        ]
        query = writer.query(
            first.pair.dimension,
            values,
            first.restrictions,
            source=writer.source(proposals),
            days=0 if end else max(map(days_around, proposals)),
            hint=hint,
            distinct=distinct,
            not_null=[
                writer.value(proposal.pair.key_side, proposal)
                for proposal in proposals
                if not_null or is_authors_in(proposal.pair)
            ],
        )
        return f"({query})"

    def unused(self, name: str) -> str:
        """An alias like this name that the statement does not use."""
        return KeyQueryWriter(self.author, self.words).unused(name, set())

    def whole(self, proposals: Sequence[Proposal], wrapped: str = "{}") -> str:
        """The key query of ``over``; if the key is the only output of an author's whole IN
        subquery, and is asked for as it is, that subquery."""
        pair, query = proposals[0].pair, proposals[0].pair.edge.query
        if query is None or not is_whole_in_query(proposals[0]):
            return self.over(proposals, wrapped)
        outputs = proposals[0].plan.blocks[query.top[0]].outputs
        if wrapped != "{}" or pair.derived is not None or len(outputs) != 1:
            return self.over(proposals, wrapped)
        return _authors_query(proposals[0], self.author.places)


def _authors_query(
    proposal: Proposal, places: Places, anew: Mapping[Span, str] | None = None
) -> str:
    """The text of the author's IN subquery, in parentheses, of which the key is an output."""
    if proposal.pair.key.span is None:
        raise NoPlaceError("a column is not named in the text: it comes from `*` or a view")
    return places.copy(places.query_of_in(proposal.pair.edge.condition.expression), anew)


Value = Callable[[str], str]
"""From the alias of a relation to the text of a value over it."""


class KeyQueryWriter(Struct):
    """Writes the key queries of one predicate. ``taken`` are the aliases that it has used, ``day``
    is the name of the number of days that is added to keys, if there is one."""

    author: AuthorText
    words: frozenset[str]
    taken: set[str] = field(default_factory=set)
    day: str = ""

    def query(
        self,
        relation: ra.Relation,
        values: Sequence[Value],
        restrictions: Sequence[Restriction],
        *,
        source: str | None = None,
        days: int = 0,
        hint: bool = False,
        distinct: bool = False,
        not_null: Sequence[Value] = (),
    ) -> str:
        """``SELECT a.key FROM relation AS a WHERE …``, without parentheses. ``source`` is the
        relation's text if it is not just the author's; ``not_null`` are values for which it adds IS
        NOT NULL; ``days`` is the number of days before and after each key that are wanted too."""
        alias, word = self.alias(relation, restrictions), self.author.word
        broadcast = f"/*+ {word('BROADCAST')}({alias}) */ " if hint else ""
        shown = (f"{word('DISTINCT')} " if distinct else "") + ", ".join(v(alias) for v in values)
        source = source or _source(relation, self.author.places)
        query = (
            f"{word('SELECT')} {broadcast}{shown} {word('FROM')} "
            f"{source} {word('AS')} {alias}{_listed(relation)}"
        )
        query += self.around(days)
        conditions = dict.fromkeys(self.restriction(item, alias) for item in restrictions)
        conditions |= {f"{value(alias)} {word('IS NOT NULL')}": None for value in not_null}
        if conditions:
            query += f" {word('WHERE')} " + f" {word('AND')} ".join(conditions)
        return query

    def of_whole(
        self,
        proposals: Sequence[Proposal],
        wrapped: str,
        *,
        hint: bool,
        not_null: bool,
        end: str,
    ) -> str:
        """A key query over an author's whole IN subquery, of which the keys are outputs: an
        aggregate over other rows would be another value."""
        word, query = self.author.word, proposals[0].pair.edge.query
        if query is None or any(proposal.pair.edge.query is not query for proposal in proposals):
            raise NoPlaceError("the keys are outputs of several subqueries")
        anew: dict[Span, str] = {}
        outputs = [output.expression for output in proposals[0].plan.blocks[query.top[0]].outputs]
        alias = self.unused("q", set())
        names = [self.unused("k", set()) for _ in outputs]
        values: list[str] = []
        for proposal in proposals:
            own = proposal.pair.key_side.expression
            at = next(at for at, output in enumerate(outputs) if output is own)
            key = f"{alias}.{names[at]}"
            if proposal.pair.derived is None:
                value = in_sides(proposal)[1].replace("{}", key)
            else:
                day = self.days() if days_around(proposal) and not end else ""
                value = derived_value(proposal, self.author, key, end, f"{day}.{day}")
                if raising_in(proposal, own) is not None:
                    anew[self.author.places.item(own)] = repeated_side(
                        proposal, proposal.pair.key_side, self.author, self.as_written
                    )
            values.append(wrapped.replace("{}", value))
        inside = _authors_query(proposals[0], self.author.places, anew)
        broadcast = f"/*+ {word('BROADCAST')}({alias}) */ " if hint else ""
        text = (
            f"{word('SELECT')} {broadcast}{', '.join(values)} {word('FROM')} {inside} "
            f"{word('AS')} {alias}({', '.join(names)})"
            f"{self.around(0 if end else max(map(days_around, proposals)))}"
        )
        return f"{text} {word('WHERE')} {values[0]} {word('IS NOT NULL')}" if not_null else text

    def around(self, days: int) -> str:
        """The lateral view of so many days before and after a key; empty for none."""
        if not days:
            return ""
        word, name = self.author.word, self.days()
        numbers = ", ".join(map(str, range(-days, days + 1)))
        return f" {word('LATERAL VIEW')} explode(array({numbers})) {name} {word('AS')} {name}"

    def days(self) -> str:
        """The name of the number of days that is added to a key."""
        self.day = self.day or self.unused("days", set())
        return self.day

    def union(
        self, proposals: Sequence[Proposal], wrapped: str, *, hint: bool, end: str = ""
    ) -> str:
        """One key query over those of several proposals."""
        word = self.author.word
        first = proposals[0].pair  # its columns name those of the union
        if any(
            in_sides(proposal)[1] not in ("{}", narrowed_key(proposal)) for proposal in proposals
        ):
            raise NoPlaceError("the references to the CTE compare their keys as different types")
        plain = in_sides(proposals[0])[1] == "{}" and first.key_plain and first.derived is None
        column = spelled(first.key, self.author.places) if plain else self.unused("k", set())
        named = "{}" if plain else f"{{}} {word('AS')} {column}"
        keys: list[str] = []
        for proposal in proposals:
            value = self.value(proposal.pair.key_side, proposal, "{}" if keys else named, end)
            query = self.query(
                proposal.pair.dimension,
                [value],
                proposal.restrictions,
                source=self.source([proposal]),
                days=0 if end else days_around(proposal),
            )
            keys.append(query)
        alias = self.unused("q", set())
        broadcast = f"/*+ {word('BROADCAST')}({alias}) */ " if hint else ""
        all_of_them = f" {word('UNION ALL')} ".join(keys)
        return (
            f"{word('SELECT')} {broadcast}{wrapped.format(f'{alias}.{column}')} {word('FROM')} "
            f"({all_of_them}) {word('AS')} {alias}"
        )

    def source(self, proposals: Sequence[Proposal]) -> str:
        """The dimension's text, in which expressions that a derived table computes for a key are
        written so that they raise no error."""
        relation = proposals[0].pair.dimension
        anew: dict[Span, str] = {}
        for proposal in proposals:
            anew |= steadied_texts(proposal, self.author)
            if (
                isinstance(relation, ra.Derived)
                or raising_below(proposal, proposal.pair.key) is not None
            ):
                for expression in computed_as(proposal.plan, proposal.pair.key):
                    anew |= self.anew(proposal, expression)
                for expression in attempted_group_keys(proposal):
                    anew |= self.anew(proposal, expression, grouped=True)
        return _source(relation, self.author.places, anew)

    def anew(
        self, proposal: Proposal, expression: ra.Expression, *, grouped: bool = False
    ) -> dict[Span, str]:
        """The error-free form of an item of a SELECT list or GROUP BY, by its place; empty if it
        raises no error."""
        wrapping = arithmetic(proposal.plan, expression)
        forms = None if wrapping is not None else exact_attempts(proposal, expression)
        if wrapping is None and not forms:
            return {}
        places = self.author.places
        span = places.group_key(expression) if grouped else places.item(expression)
        if forms:
            text = attempted(self.author, span, expression, forms, self.as_written)
        else:
            text = computed(self.author, span, expression, self.as_written, wrapping)
        return {span: text}

    def as_written(self, ref: ra.ColumnRef) -> str:
        """A column as the author wrote it."""
        assert ref.span is not None
        return self.author.places.copy(ref.span)

    def value(self, side: Side, proposal: Proposal, wrapped: str = "{}", end: str = "") -> Value:
        """A key, as a column or as the author's own text of an expression; for a derived column the
        value that is computed from it."""
        day = self.days() if days_around(proposal) and not end else ""
        if proposal.pair.derived is not None:
            plain = self.key(side, proposal)
            return lambda alias: wrapped.replace(
                "{}", derived_value(proposal, self.author, plain(alias), end, f"{day}.{day}")
            )
        _, key = in_sides(proposal)
        return self.key(side, proposal, wrapped.replace("{}", key))

    def key(self, side: Side, proposal: Proposal, wrapped: str = "{}") -> Value:
        """A key, without what a derived column computes from it."""
        if isinstance(side.expression, ra.ColumnRef):
            column = self.column(side.expression)
            return lambda alias: wrapped.replace("{}", column(alias))
        return lambda alias: wrapped.replace(
            "{}", repeated_side(proposal, side, self.author, self.named(alias))
        )

    def column(self, ref: ra.ColumnRef) -> Value:
        """A column of the relation."""
        name = spelled(ref, self.author.places)
        return lambda alias: f"{alias}.{name}"

    def alias(self, relation: ra.Relation, repeated: Sequence[Restriction]) -> str:
        """A short alias for a relation, its initials: no word of the statement, and no column of a
        subquery in the ``repeated`` restrictions, which would hide it."""
        name = relation.table.name[-1] if isinstance(relation, ra.Scan) else relation.alias
        words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
        stem = "".join(word[0] for word in words if not word[0].isdigit()) or "k"
        inside = _subquery_columns(self.author.places.plan, repeated)
        return self.unused(stem, {*(column_names(relation) or ()), *inside})

    def unused(self, stem: str, avoid: set[str]) -> str:
        """An alias that begins with ``stem`` and occurs nowhere else."""
        first = _first_number(self.author.places, stem, self.words)
        aliases = (_numbered(stem, number) for number in count(first))
        alias = next(
            alias
            for alias in aliases
            if not any(alias in words for words in (avoid, self.taken, self.words, WORDS))
        )
        self.taken.add(alias)
        return alias

    def restriction(self, item: Restriction, alias: str) -> str:
        """A restriction as a conjunct over the relation of that alias."""
        match item:
            case Conjunct():
                return self.conjunct(item, alias)
            case AnyOf(branches=branches):
                texts = list(dict.fromkeys(self.branch(branch, alias) for branch in branches))
                joined = f" {self.author.word('OR')} ".join(texts)
                return texts[0] if len(texts) == 1 else f"({joined})"
            case SemiJoin(key=key, relation=relation, other=other, inner=inner):
                column = f"{alias}.{spelled(key, self.author.places)}"
                query = self.query(relation, [self.column(other)], inner)
                return f"{column} {self.author.word('IN')} ({query})"

    def branch(self, branch: tuple[Restriction, ...], alias: str) -> str:
        """A branch of a disjunction."""
        parts = list(dict.fromkeys(self.restriction(item, alias) for item in branch))
        text = f" {self.author.word('AND')} ".join(parts)
        return f"({text})" if len(parts) > 1 else text

    def conjunct(self, item: Conjunct, alias: str) -> str:
        """The author's own text of a conjunct, its columns qualified with the alias."""
        author, named = self.author, self.named(alias)
        written, tried = item.condition.expression, item.attempts
        span = author.places.bare(written)
        if tried is None:
            text = computed(author, span, item.expression, named)
        else:
            text = attempted(author, span, item.expression, tried.forms, named, written)
            if tried.doubtful:
                return f"({text}) {author.word('IS NOT FALSE')}"
        disjunction = isinstance(written, ra.Call) and written.name == "or"
        return f"({text})" if disjunction else text

    def named(self, alias: str) -> Callable[[ra.ColumnRef], str]:
        """A function that gives a column's name, qualified with the alias."""
        return lambda ref: f"{alias}.{spelled(ref, self.author.places)}"


def _source(relation: ra.Relation, places: Places, anew: Mapping[Span, str] | None = None) -> str:
    match relation:
        case ra.CteReference() if anew:
            return places.copy(places.query(relation.query), anew)
        case ra.Derived(span=span, view=()) if span is not None:
            return places.copy(places.relation(span.start), anew)
        case ra.Scan() | ra.CteReference() | ra.Derived() | ra.Inline() if relation.span:
            return places.copy(relation.span)
        case ra.Derived(anchor=anchor) if anchor is not None:
            return places.copy(places.parenthesised(anchor), anew)
        case _:
            raise NoPlaceError("a relation has no text that could be repeated")


def _listed(relation: ra.Relation) -> str:
    """The column list of the author's alias, as in ``AS d(k, v)``, which the key query repeats;
    empty if there is none."""
    listed = (
        relation.listed if isinstance(relation, ra.Derived | ra.CteReference | ra.Inline) else ()
    )
    return f"({', '.join(map(quoted, listed))})" if listed else ""


def _subquery_columns(plan: ra.Plan, restrictions: Sequence[Restriction]) -> Iterator[str]:
    """Names of the columns of all relations that the subqueries of restrictions read."""
    conditions = (item for item in flattened(restrictions) if isinstance(item, Conjunct))
    nodes = (node for condition in conditions for node in walk(condition.expression))
    for query in (node.query for node in nodes if isinstance(node, ra.Subquery)):
        read = read_by(plan, query)
        ctes = (relation.query for relation in read if isinstance(relation, ra.CteReference))
        for number in (number for inner in (query, *ctes) for number in inner.blocks):
            for leaf in leaves(plan.blocks[number].source):
                yield from column_names(leaf) or ()


@remembered
def _first_number(places: Places, stem: str, words: frozenset[str]) -> int:
    """The number of the first alias that begins with ``stem`` and is no word of the statement:
    below it there may be as many aliases as the statement has subqueries."""
    return next(number for number in count(1) if _numbered(stem, number) not in words)


def _numbered(stem: str, number: int) -> str:
    return stem if number == 1 else f"{stem}{number}"
