"""A SELECT of aggregates over the groups of partitions that another one reads: the text around it.

In: a ``Combination``, and where the SELECT stands. Out: what each branch returns besides, the
author's SELECT list and HAVING over the columns of the branches, and the GROUP BY. The author's own
HAVING stays in the first branch, made true for all of its groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlrewrite.judge.partition_wise.aggregates import Combination, Unsplit
from sqlrewrite.judge.partition_wise.split import Split
from sqlrewrite.plan.algebra import Call, ColumnRef, Literal, OutputColumn
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Span
from sqlrewrite.write.names import quoted

ALIAS = "by_groups"


@dataclass(frozen=True, slots=True)
class Surround:
    """What is written around and into the branches of a SELECT: texts at offsets ``inside`` the
    first, which ends by ``closing``; what another one is a copy of, with ``more`` columns behind
    those of the author's list; and what stands ``behind`` them all."""

    branch: tuple[Span, ...]
    inside: tuple[tuple[int, str], ...] = ()
    more: str = ""
    closing: str = ""
    behind: str = ""


def frame(split: Split, places: Places, select: Span) -> Surround:
    """What is written around the branches of a SELECT. Raises Unsplit and NoPlaceError."""
    if split.combined is None:
        return Surround((select,))
    items, having = places.items(split.block), places.having(split.block)
    if having is not None and having[0].end != select.end:
        raise NoPlaceError("a clause behind its HAVING")
    if len(items) != len(split.block.outputs):
        raise Unsplit("its SELECT list is not one item for each of its columns")
    writer = _Writer(split, split.combined, places, items)
    grouped = ", ".join(writer.key(it) for it in range(len(split.combined.keys)))
    shown = ", ".join(map(writer.item, range(len(items))))
    kept = "" if having is None else f" HAVING {writer.text(having[1])}"
    if len(writer.aggregates_found) != len(split.combined.aggregates):
        raise Unsplit("its aggregates are not found again in the text")
    more = "".join(f", {it}" for it in writer.columns[len(items) :])
    listed = ", ".join(map(writer.name, range(len(writer.columns))))
    by = f" GROUP BY {grouped}" if grouped else ""
    end, rest = items[-1][1].end, select.end if having is None else having[0].start
    inside = [(select.start, f"SELECT {shown} FROM ("), (end, more)]
    if having is not None:
        keyword = places.tokens[places.index(having[0].start)]
        inside.append((keyword.end + 1, " true OR ("))
    return Surround(
        branch=(Span(select.start, end), Span(places.next(end, rest), rest)),
        inside=tuple(it for it in inside if it[1]),
        more=more,
        closing=")" if having is not None else "",
        behind=f") AS {ALIAS} ({listed}){by}{kept}",
    )


class _Writer:
    """What is written over the ``columns`` of the branches; those behind the author's are added as
    they are asked for. ``aggregates_found`` are those found in the text."""

    def __init__(
        self, split: Split, found: Combination, places: Places, items: list[tuple[Span, Span]]
    ) -> None:
        self._found, self._places, self._split = found, places, split
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
        """The column that is a key, one of the author's list if it is there. Raises Unsplit."""
        if number in self._found.items:
            return self.name(self._found.items.index(number))
        key = self._found.keys[number]
        if not isinstance(key, ColumnRef) or key.span is None:
            raise Unsplit("a key of its GROUP BY is computed, and stands not in its SELECT list")
        return self._column(self._places.copy(key.span))

    def item(self, number: int) -> str:
        """An item of the author's list over all groups, under its name. Raises Unsplit."""
        bare, whole = self._items[number]
        key = self._found.items[number]
        written = self.text(bare) if key is None else self.key(key)
        return f"{written} AS {self._named(self._split.block.outputs[number], whole)}"

    def _named(self, output: OutputColumn, item: Span) -> str:
        """The name of an item, the author's or the one that the engine makes up. Raises Unsplit."""
        last = self._places.index(item.end - 1)
        if output.name:
            return self._places.raw(last)
        match output.expression:
            case Call(name=name, args=(Literal(kind="star") | ColumnRef() as given,)):
                if self._split.postgresql:
                    return name
                column = isinstance(given, ColumnRef)
                of = self._places.raw(last - 1).strip("`") if column else "1"
                return quoted(f"{name}({of})")
        raise Unsplit("an item of its SELECT list has no name: give it one with AS")

    def text(self, span: Span) -> str:
        """What the author wrote, over the columns of the branches. Raises Unsplit."""
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
            for span, key in self._found.columns.items()
            if not any(it.start <= span.start < it.end for it in replaced)
        }
        return places.copy(span, replaced)

    def _aggregate_at(self, index: int) -> tuple[int, int] | None:
        """The first token of the call of an aggregate that a token begins, with its FILTER, and the
        one behind it."""
        names = {it.name for it in self._found.aggregates}
        if self._word(index) not in names or self._word(index + 1) != "(":
            return None
        end = self._places.closing(index + 1) + 1
        if self._word(end) == "filter":
            end = self._places.closing(end + 1) + 1
        return index, end

    def _word(self, index: int) -> str:
        """A token in lower case, without backquotes; nothing behind the last."""
        there = index < len(self._places.tokens)
        return self._places.raw(index).lower().strip("`") if there else ""

    def _combined(self, start: int, end: int) -> str:
        """An aggregate over all groups, from its first token up to another. Raises Unsplit."""
        places, tokens = self._places, self._places.tokens
        place = Span(tokens[start].start, tokens[end - 1].end + 1)
        close, name = places.closing(start + 1), self._word(start)
        found = {
            (it.partial, it.whole)
            for it in self._found.aggregates
            if it.name == name and _inside(place, it.spans)
        }
        if len(found) != 1:
            raise Unsplit(f"it cannot be told which {name} of its list is meant")
        ((partial, whole),) = found
        given = partial.format(places.copy(Span(tokens[start + 2].start, tokens[close].start)))
        rest = places.copy(Span(tokens[close + 1].start, place.end)) if close + 1 < end else ""
        self.aggregates_found.append(place)
        column = f"{places.raw(start)}({given}){f' {rest}' if rest else ''}"
        return whole.format(self._column(column))


def _inside(place: Span, spans: Iterable[Span]) -> bool:
    return all(place.start <= it.start and it.end <= place.end for it in spans)
