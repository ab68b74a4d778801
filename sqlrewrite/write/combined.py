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
from sqlrewrite.sql.places.anchors import Anchors, Range
from sqlrewrite.text.edits import Span
from sqlrewrite.write.names import quoted

ALIAS = "by_groups"


@dataclass(frozen=True, slots=True)
class Surround:
    """What is written around and into the branches of a SELECT: texts at offsets ``inside`` the
    first, which ends by ``closing``; what another one is a copy of, with ``more`` columns behind
    those of the author's list; and what stands ``behind`` them all."""

    branch: tuple[Range, ...]
    inside: tuple[tuple[int, str], ...] = ()
    more: str = ""
    closing: str = ""
    behind: str = ""


def frame(split: Split, anchors: Anchors, select: Range) -> Surround:
    """What is written around the branches of a SELECT. Raises Unsplit and AnchorError."""
    if split.combined is None:
        return Surround((select,))
    items, having = anchors.items(select), anchors.having(select)
    if len(items) != len(split.block.outputs):
        raise Unsplit("its SELECT list is not one item for each of its columns")
    writer = _Writer(split, split.combined, anchors, items)
    grouped = ", ".join(writer.key(it) for it in range(len(split.combined.keys)))
    shown = ", ".join(map(writer.item, range(len(items))))
    kept = "" if having is None else f" HAVING {writer.text(Range(having.start + 1, having.end))}"
    if len(writer.aggregates_found) != len(split.combined.aggregates):
        raise Unsplit("its aggregates are not found again in the text")
    more = "".join(f", {it}" for it in writer.columns[len(items) :])
    listed = ", ".join(map(writer.name, range(len(writer.columns))))
    by = f" GROUP BY {grouped}" if grouped else ""
    end, rest = items[-1].end, select.end if having is None else having.start
    inside = [
        (anchors.tokens[select.start].start, f"SELECT {shown} FROM ("),
        (anchors.tokens[end - 1].end + 1, more),
    ]
    if having is not None:
        inside.append((anchors.tokens[having.start].end + 1, " true OR ("))
    return Surround(
        branch=(Range(select.start, end), Range(end, rest)),
        inside=tuple(it for it in inside if it[1]),
        more=more,
        closing=")" if having is not None else "",
        behind=f") AS {ALIAS} ({listed}){by}{kept}",
    )


class _Writer:
    """What is written over the ``columns`` of the branches; those behind the author's are added as
    they are asked for. ``aggregates_found`` are those found in the text."""

    def __init__(
        self, split: Split, found: Combination, anchors: Anchors, items: list[Range]
    ) -> None:
        self._found, self._anchors, self._split = found, anchors, split
        self._items = [(it, anchors.unnamed(it)) for it in items]
        self.columns = [anchors.copy(it) for _, it in self._items]
        self.aggregates_found: list[Span] = []
        words = {token.text.lower().rstrip("0123456789") for token in anchors.tokens}
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
        return self._column(self._anchors.copy(self._anchors.covering(key.span)))

    def item(self, number: int) -> str:
        """An item of the author's list over all groups, under its name. Raises Unsplit."""
        whole, bare = self._items[number]
        key = self._found.items[number]
        written = self.text(bare) if key is None else self.key(key)
        return f"{written} AS {self._named(self._split.block.outputs[number], whole)}"

    def _named(self, output: OutputColumn, item: Range) -> str:
        """The name of an item, the author's or the one that the engine makes up. Raises Unsplit."""
        if output.name:
            return self._anchors.raw(item.end - 1)
        match output.expression:
            case Call(name=name, args=(Literal(kind="star") | ColumnRef() as given,)):
                if self._split.postgresql:
                    return name
                column = isinstance(given, ColumnRef)
                of = self._anchors.raw(item.end - 2).strip("`") if column else "1"
                return quoted(f"{name}({of})")
        raise Unsplit("an item of its SELECT list has no name: give it one with AS")

    def text(self, tokens: Range) -> str:
        """What the author wrote, over the columns of the branches. Raises Unsplit."""
        anchors = self._anchors
        replaced: dict[Span, str] = {}
        index = tokens.start
        while index < tokens.end:
            call = self._aggregate_at(index)
            if call is not None:
                replaced[anchors.span(call)] = self._combined(call)
                index = call.end
                continue
            index += 1
        replaced |= {
            span: self.key(key)
            for span, key in self._found.columns.items()
            if not any(it.start <= span.start < it.end for it in replaced)
        }
        return anchors.copy(tokens, replaced)

    def _aggregate_at(self, index: int) -> Range | None:
        """The call of an aggregate that a token begins, with its FILTER."""
        names = {it.name for it in self._found.aggregates}
        if self._word(index) not in names or self._word(index + 1) != "(":
            return None
        end = self._anchors.opening(index + 1) + 1  # its partner: the one that closes
        if self._word(end) == "filter":
            end = self._anchors.opening(end + 1) + 1
        return Range(index, end)

    def _word(self, index: int) -> str:
        """A token in lower case, without backquotes; nothing behind the last."""
        there = index < len(self._anchors.tokens)
        return self._anchors.raw(index).lower().strip("`") if there else ""

    def _combined(self, call: Range) -> str:
        """An aggregate over all groups. Raises Unsplit."""
        anchors = self._anchors
        place, name = anchors.span(call), self._word(call.start)
        found = {
            (it.partial, it.whole)
            for it in self._found.aggregates
            if it.name == name and _inside(place, it.spans)
        }
        if len(found) != 1:
            raise Unsplit(f"it cannot be told which {name} of its list is meant")
        ((partial, whole),) = found
        close = anchors.opening(call.start + 1)
        given = partial.format(anchors.copy(Range(call.start + 2, close)))
        rest = anchors.copy(Range(close + 1, call.end))
        self.aggregates_found.append(place)
        column = f"{anchors.raw(call.start)}({given}){f' {rest}' if rest else ''}"
        return whole.format(self._column(column))


def _inside(place: Span, spans: Iterable[Span]) -> bool:
    return all(place.start <= it.start and it.end <= place.end for it in spans)
