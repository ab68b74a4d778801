"""A join written by groups of partitions: each group's text, and how the groups are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from sqlrewrite.judge.partition_wise.aggregates import Combination, Unsplit
from sqlrewrite.judge.partition_wise.split import Split
from sqlrewrite.plan.algebra import Call, ColumnRef, Literal, OutputColumn, Scan
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.markers import between_group_marks
from sqlrewrite.text.templates import templated
from sqlrewrite.warehouse import BoundValue, Parts
from sqlrewrite.write.repeated_text import quoted

Cut = Callable[[str, int], str]
"""The condition on a column for the rows of a group, by its number from 0."""


def by_hash(count: int, *, cast: bool) -> Cut:
    """Groups by Spark's hash of a value; NULL has one, too. The condition names no other column, so
    Spark chooses the partitions by it when it plans."""
    value = "CAST({} AS BIGINT)" if cast else "{}"
    return lambda column, group: f"pmod(hash({value.format(column)}), {count}) = {group}"


def by_bounds(parts: Sequence[Parts], count: int) -> Cut:
    """Groups by the bounds of the partitions of the first key. Raises Unsplit."""
    strategies = {part.strategy for part in parts}
    if len(strategies) != 1 or "hash" in strategies:
        raise Unsplit("PostgreSQL does not choose partitions by HASH by a condition")
    bounds = [part.bound for table_parts in parts for part in table_parts.parts]
    ranges = "range" in strategies
    values: set[BoundValue] = {end[0] for bound in bounds for end in (bound.low, bound.high) if end}
    if not ranges:
        values = {value for bound in bounds for value in bound.values if value is not None}
    ordered = sorted(value for value in values if not isinstance(value, float))
    inner = ordered[1:-1] if ranges else ordered
    if len(inner) < count - 1:
        raise Unsplit(f"{count} groups are more than the bounds of its partitions allow")
    if ranges:
        ends = [inner[len(inner) * index // count] for index in range(1, count)]
        return lambda column, group: _between(column, group, [_literal(end) for end in ends])
    chunks = [
        ordered[len(ordered) * index // count : len(ordered) * (index + 1) // count]
        for index in range(count)
    ]
    return lambda column, group: _among(
        column, group, [[*map(_literal, chunk)] for chunk in chunks]
    )


def _between(column: str, group: int, ends: Sequence[str]) -> str:
    """The condition for the values of a group: below the first bound, between two, or from the last
    on; NULL is in the last group."""
    if group == 0:
        return f"{column} < {ends[0]}"
    if group == len(ends):
        return f"({column} >= {ends[-1]} OR {column} IS NULL)"
    return f"{column} >= {ends[group - 1]} AND {column} < {ends[group]}"


def _among(column: str, group: int, chunks: Sequence[Sequence[str]]) -> str:
    """The condition for the values of a group; the last one has NULL and all values in no list."""
    if group < len(chunks) - 1:
        return f"{column} IN ({', '.join(chunks[group])})"
    others = [value for chunk in chunks[:-1] for value in chunk]
    return f"({column} NOT IN ({', '.join(others)}) OR {column} IS NULL)"


def _literal(value: BoundValue) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def edits(split: Split, count: int, cut: Cut, places: Places) -> list[Edit]:
    """The insertions that write the block as one branch for each group. Raises Unsplit and
    NoPlaceError."""
    select = places.core(split.block)
    _check(split, places, select)
    newline = "\n" if "\n" in select.of(places.text) else " "
    union = "UNION" if split.distinct else "UNION ALL"
    written = frame(split, places, select)
    branches = ""
    for group in range(1, count):
        replaced = {
            _span(scan): f"(SELECT * FROM {_raw(places, scan)}{_behind(scan, column, cut, group)}"
            for scan, column in split.scans
        }
        pieces = (places.copy(span, replaced) for span in written.branch)
        branches += f"{newline}{union}{newline}{f'{written.more} '.join(pieces)}"
    insertions = [Edit.at(offset, text) for offset, text in written.inside]
    for scan, column in split.scans:
        span = _span(scan)
        insertions.append(Edit.at(span.start, "(SELECT * FROM "))
        insertions.append(Edit.at(span.end, _behind(scan, column, cut, 0)))
    # Where both are inserted at one place, what closes a table comes before the branches.
    insertions.append(Edit.at(select.end, f"{written.closing}{branches}{written.behind}"))
    return sorted(map(between_group_marks, insertions), key=lambda edit: edit.span)


def _span(scan: Scan) -> Span:
    if scan.span is None:
        raise NoPlaceError(f"`{scan.alias}` is not found in the text")
    return scan.span


def _raw(places: Places, scan: Scan) -> str:
    return places.copy(_span(scan))


def _behind(scan: Scan, column: str, cut: Cut, group: int) -> str:
    declared = scan.table.column(column)
    name = quoted(column if declared is None else declared.name)
    alias = "" if scan.aliased else f" {quoted(scan.parts[-1])}"
    return f" WHERE {cut(name, group)}){alias}"


def _check(split: Split, places: Places, select: Span) -> None:
    """Raises Unsplit for what cannot be copied, or would not be found in a derived table."""
    words = [
        token.text.lower() for token in places.tokens if select.start <= token.start < select.end
    ]
    if templated(select.of(places.text)) or "?" in words:
        raise Unsplit("a template or a positional parameter in it cannot be copied")
    if "_metadata" in words:
        raise Unsplit("it reads `_metadata`, which a derived table does not have")
    # Whether `x.t.` is a schema's table or a field of x: neither is worth more than an alias.
    threes = zip(words, words[1:], words[2:], strict=False)
    qualified = {word for dot, word, end in threes if dot == end == "."}
    for scan, _ in split.scans:
        if not scan.aliased and scan.parts[-1].lower() in qualified:
            name = scan.parts[-1]
            raise Unsplit(f"its columns are named as schema.{name}.column: give `{name}` an alias")
    _check_order(split, places)
    if places.spreads(split.block):
        raise Unsplit("it has SORT BY, CLUSTER BY or DISTRIBUTE BY")


def _check_order(split: Split, places: Places) -> None:
    """Raises Unsplit for an ORDER BY that names no column of the result: after a UNION it finds no
    others."""
    names = [output.name for output in split.block.outputs]
    for key in places.order(split.block):
        name = places.copy(key).lower().strip("`")
        if names.count(name) != 1 and not name.isdigit():
            raise Unsplit("its ORDER BY is not by columns of the result alone")


ALIAS = "by_groups"


class Surround(Struct, frozen=True):
    """The text around and in the branches of a SELECT. ``inside`` are insertions into the author's
    SELECT, the first branch, which ends by ``closing``; each further branch is a copy of the pieces
    in ``branch``, with the columns ``more`` after those of the author's list; ``behind`` follows
    the last branch."""

    branch: tuple[Span, ...]
    inside: tuple[tuple[int, str], ...] = ()
    more: str = ""
    closing: str = ""
    behind: str = ""


def frame(split: Split, places: Places, select: Span) -> Surround:
    """The text around the branches of a SELECT. Raises Unsplit and NoPlaceError."""
    if split.combined is None:
        return Surround((select,))
    items, having = places.items(split.block), places.having(split.block)
    if having is not None and having[0].end != select.end:
        raise NoPlaceError("a clause after its HAVING")
    if len(items) != len(split.block.outputs):
        raise Unsplit("an item of its SELECT list is not exactly one column")
    writer = _Writer(split, split.combined, places, items)
    grouped = ", ".join(writer.key(index) for index in range(len(split.combined.keys)))
    shown = ", ".join(map(writer.item, range(len(items))))
    kept = "" if having is None else f" HAVING {writer.text(having[1])}"
    if len(writer.aggregates_found) != len(split.combined.aggregates):
        raise Unsplit("its aggregates are not found again in the text")
    more = "".join(f", {column}" for column in writer.columns[len(items) :])
    listed = ", ".join(map(writer.name, range(len(writer.columns))))
    by = f" GROUP BY {grouped}" if grouped else ""
    end, rest = items[-1][1].end, select.end if having is None else having[0].start
    inside = [(select.start, f"SELECT {shown} FROM ("), (end, more)]
    if having is not None:
        keyword = places.tokens[places.index(having[0].start)]
        inside.append((keyword.end + 1, " true OR ("))
    return Surround(
        branch=(Span(select.start, end), Span(places.next(end, rest), rest)),
        inside=tuple(edit for edit in inside if edit[1]),
        more=more,
        closing=")" if having is not None else "",
        behind=f") AS {ALIAS} ({listed}){by}{kept}",
    )


class _Writer:
    """Writes the SELECT over all branches, and collects the ``columns`` of the branches: the
    author's list, and what else is needed behind it. ``aggregates_found`` are the places of
    aggregates in the text."""

    def __init__(
        self, split: Split, combined: Combination, places: Places, items: list[tuple[Span, Span]]
    ) -> None:
        self._combination, self._places, self._split = combined, places, split
        self._items = items
        self.columns = [places.copy(bare) for bare, _ in items]
        self.aggregates_found: list[Span] = []
        words = {token.text.lower().rstrip("0123456789") for token in places.tokens}
        self._prefix = "c"
        while self._prefix in words:
            self._prefix += "_"

    def name(self, number: int) -> str:
        """The name of a column of the branches."""
        return f"{self._prefix}{number + 1}"

    def _column(self, text: str) -> str:
        if text not in self.columns:
            self.columns.append(text)
        return self.name(self.columns.index(text))

    def key(self, number: int) -> str:
        """The column of the branches that has a key: the item of the author's list that is it, or a
        column added for it. Raises Unsplit."""
        if number in self._combination.items:
            return self.name(self._combination.items.index(number))
        key = self._combination.keys[number]
        if not isinstance(key, ColumnRef) or key.span is None:
            raise Unsplit("a key of its GROUP BY is computed, and is not in its SELECT list")
        return self._column(self._places.copy(key.span))

    def item(self, number: int) -> str:
        """An item of the author's list over all groups, under its name. Raises Unsplit."""
        bare, whole = self._items[number]
        key = self._combination.items[number]
        written = self.text(bare) if key is None else self.key(key)
        return f"{written} AS {self._named(self._split.block.outputs[number], whole)}"

    def _named(self, output: OutputColumn, item: Span) -> str:
        """The name of an item: the author's, or the one that the engine gives it. Raises
        Unsplit."""
        last = self._places.index(item.end - 1)
        if output.name:
            return self._places.raw(last)
        match output.expression:
            case Call(name=name, args=(Literal(kind="star") | ColumnRef() as arg,)):
                if self._split.postgresql:
                    return name
                column = isinstance(arg, ColumnRef)
                of = self._places.raw(last - 1).strip("`") if column else "1"
                return quoted(f"{name}({of})")
        raise Unsplit("an item of its SELECT list has no name: give it one with AS")

    def text(self, span: Span) -> str:
        """The author's text, over the columns of the branches. Raises Unsplit."""
        places = self._places
        replaced: dict[Span, str] = {}
        index = places.index(span.start)
        while index < len(places.tokens) and places.tokens[index].start < span.end:
            call = self._aggregate_at(index)
            if call is not None:
                end = places.tokens[call[1] - 1].end + 1
                replaced[Span(places.tokens[index].start, end)] = self._combined(*call)
                index = call[1]
                continue
            index += 1
        replaced |= {
            span: self.key(key)
            for span, key in self._combination.columns.items()
            if not any(place.start <= span.start < place.end for place in replaced)
        }
        return places.copy(span, replaced)

    def _aggregate_at(self, index: int) -> tuple[int, int] | None:
        """The first token of an aggregate's call with its FILTER, and the token behind it, if a
        call begins at a token; else None."""
        names = {aggregate.name for aggregate in self._combination.aggregates}
        if self._word(index) not in names or self._word(index + 1) != "(":
            return None
        end = self._places.closing(index + 1) + 1
        if self._word(end) == "filter":
            end = self._places.closing(end + 1) + 1
        return index, end

    def _word(self, index: int) -> str:
        """A token in lower case, without backquotes; empty behind the last."""
        there = index < len(self._places.tokens)
        return self._places.raw(index).lower().strip("`") if there else ""

    def _combined(self, start: int, end: int) -> str:
        """The aggregate over all groups for the call in a range of tokens. Raises Unsplit."""
        places, tokens = self._places, self._places.tokens
        place = Span(tokens[start].start, tokens[end - 1].end + 1)
        close, name = places.closing(start + 1), self._word(start)
        aggregates = {
            (aggregate.partial, aggregate.whole)
            for aggregate in self._combination.aggregates
            if aggregate.name == name and _inside(place, aggregate.spans)
        }
        if len(aggregates) != 1:
            raise Unsplit(f"several `{name}(…)` in the SELECT list match: name them with AS")
        ((partial, whole),) = aggregates
        argument = partial.format(places.copy(Span(tokens[start + 2].start, tokens[close].start)))
        rest = places.copy(Span(tokens[close + 1].start, place.end)) if close + 1 < end else ""
        self.aggregates_found.append(place)
        column = f"{places.raw(start)}({argument}){f' {rest}' if rest else ''}"
        return whole.format(self._column(column))


def _inside(place: Span, spans: Iterable[Span]) -> bool:
    return all(place.start <= span.start and span.end <= place.end for span in spans)
