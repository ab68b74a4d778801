"""A SELECT by groups of partitions: UNION ALL over a copy of it for each, cut where it reads.

In: a ``Split``, and how its values are cut. Out: insertions that leave the author's text as the
first of the branches. Each table that is cut becomes ``(SELECT * FROM t WHERE …) t``, whatever join
it stands in: a condition in WHERE or ON would say something else of an outer join.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlrewrite.judge.partition_wise.aggregates import Unsplit
from sqlrewrite.judge.partition_wise.split import Split
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.plan.relations import numbers
from sqlrewrite.sql.places.anchors import AnchorError, Anchors, Range
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.markers import between_group_marks
from sqlrewrite.text.templates import templated
from sqlrewrite.warehouse import BoundValue, Parts
from sqlrewrite.write.combined import frame
from sqlrewrite.write.names import quoted

Cut = Callable[[str, int], str]
"""The condition on a column by which its rows are those of a group, by its number from 0."""

_SORTED = re.compile(r"(?:asc|desc)?\s*(?:nulls\s+(?:first|last))?", re.IGNORECASE)


def by_hash(count: int, *, cast: bool) -> Cut:
    """Groups of Spark's, by the hash of a value; that of NULL is one, too. As the condition has no
    other column, Spark chooses the partitions by it when it plans."""
    value = "CAST({} AS BIGINT)" if cast else "{}"
    return lambda column, group: f"pmod(hash({value.format(column)}), {count}) = {group}"


def by_bounds(parts: Sequence[Parts], count: int) -> Cut:
    """Groups by the bounds of the partitions of the first key. Raises Unsplit."""
    strategies = {it.strategy for it in parts}
    if len(strategies) != 1 or "hash" in strategies:
        raise Unsplit("partitions by hash are not chosen by a condition in PostgreSQL")
    bounds = [part.bound for it in parts for part in it.parts]
    ranges = "range" in strategies
    values: set[BoundValue] = {end[0] for it in bounds for end in (it.low, it.high) if end}
    if not ranges:
        values = {value for it in bounds for value in it.values if value is not None}
    found = sorted(it for it in values if not isinstance(it, float))
    inner = found[1:-1] if ranges else found
    if len(inner) < count - 1:
        raise Unsplit(f"{count} groups are more than the bounds of its partitions allow")
    if ranges:
        ends = [inner[len(inner) * it // count] for it in range(1, count)]
        return lambda column, group: _between(column, group, [_literal(it) for it in ends])
    chunks = [
        found[len(found) * it // count : len(found) * (it + 1) // count] for it in range(count)
    ]
    return lambda column, group: _among(column, group, [[*map(_literal, it)] for it in chunks])


def _between(column: str, group: int, ends: Sequence[str]) -> str:
    """The values up to, between or from on some; NULL is with the largest."""
    if group == 0:
        return f"{column} < {ends[0]}"
    if group == len(ends):
        return f"({column} >= {ends[-1]} OR {column} IS NULL)"
    return f"{column} >= {ends[group - 1]} AND {column} < {ends[group]}"


def _among(column: str, group: int, chunks: Sequence[Sequence[str]]) -> str:
    """The values of a list; what is in none of them, and NULL, is with the last."""
    if group < len(chunks) - 1:
        return f"{column} IN ({', '.join(chunks[group])})"
    others = [value for chunk in chunks[:-1] for value in chunk]
    return f"({column} NOT IN ({', '.join(others)}) OR {column} IS NULL)"


def _literal(value: BoundValue) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def edits(split: Split, count: int, cut: Cut, anchors: Anchors) -> list[Edit]:
    """The insertions that write the block as one branch for each group. Raises Unsplit and
    AnchorError."""
    inside = numbers(split.block.source)
    home = next(scan for scan, _ in split.scans if scan.relation in inside)
    select = anchors.whole_select(_span(home).start)
    _check(split, anchors, select)
    end = anchors.tokens[select.end - 1].end + 1
    newline = "\n" if "\n" in anchors.text[anchors.span(select).start : end] else " "
    union = "UNION" if split.distinct else "UNION ALL"
    written = frame(split, anchors, select)
    branches = ""
    for group in range(1, count):
        replaced = {
            _span(scan): f"(SELECT * FROM {_raw(anchors, scan)}{_behind(scan, column, cut, group)}"
            for scan, column in split.scans
        }
        pieces = (anchors.copy(it, replaced) for it in written.branch)
        branches += f"{newline}{union}{newline}{f'{written.more} '.join(pieces)}"
    found = [Edit(offset, text) for offset, text in written.inside]
    for scan, column in split.scans:
        span = _span(scan)
        found.append(Edit(span.start, "(SELECT * FROM "))
        found.append(Edit(span.end, _behind(scan, column, cut, 0)))
    # At one place, what closes a table stands before the branches.
    found.append(Edit(end, f"{written.closing}{branches}{written.behind}"))
    return sorted(map(between_group_marks, found), key=lambda it: it.offset)


def _span(scan: Scan) -> Span:
    if scan.span is None:
        raise AnchorError(f"{scan.alias} is not found in the text")
    return scan.span


def _raw(anchors: Anchors, scan: Scan) -> str:
    return anchors.copy(anchors.covering(_span(scan)))


def _behind(scan: Scan, column: str, cut: Cut, group: int) -> str:
    declared = scan.table.column(column)
    name = quoted(column if declared is None else declared.name)
    alias = "" if scan.aliased else f" {quoted(scan.parts[-1])}"
    return f" WHERE {cut(name, group)}){alias}"


def _check(split: Split, anchors: Anchors, select: Range) -> None:
    """Raises Unsplit for what cannot be copied, or would be no more found in a derived table."""
    words = [token.text.lower() for token in anchors.tokens[select.start : select.end]]
    span = anchors.span(select)
    if templated(anchors.text[span.start : span.end]) or "?" in words:
        raise Unsplit("a template or a positional parameter in it cannot be copied")
    if "_metadata" in words:
        raise Unsplit("_metadata is not found in a derived table")
    # Whether `x.t.` is a schema's table or a field of x: neither is worth more than an alias.
    threes = zip(words, words[1:], words[2:], strict=False)
    qualified = {word for dot, word, end in threes if dot == end == "."}
    for scan, _ in split.scans:
        if not scan.aliased and scan.parts[-1].lower() in qualified:
            raise Unsplit(f"columns are named by the schema of {scan.parts[-1]}: give it an alias")
    if anchors.orders(select.end):
        _check_order(split, anchors, select.end)
    elif anchors.spreads(select.end):
        raise Unsplit("SORT BY, CLUSTER BY or DISTRIBUTE BY stands behind it")


def _check_order(split: Split, anchors: Anchors, start: int) -> None:
    """Behind a UNION, ORDER BY finds columns of the result alone."""
    names = [it.name for it in split.block.outputs]
    for item in anchors.order(start):
        name = anchors.raw(item.start).lower().strip("`")
        rest = anchors.copy(Range(item.start + 1, item.end))
        known = names.count(name) == 1 or name.isdigit()
        if not known or not _SORTED.fullmatch(rest.strip()):
            raise Unsplit("ORDER BY is not by columns of the result alone")
