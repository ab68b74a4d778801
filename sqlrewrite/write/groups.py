"""A SELECT by groups of partitions: UNION ALL over a copy of it for each, cut where it reads.

In: a ``Split``, and how its values are cut. Out: insertions that leave the author's text as the
first of the branches. Each table that is cut becomes ``(SELECT * FROM t WHERE …) t``, whatever join
it stands in: a condition in WHERE or ON would say something else of an outer join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlrewrite.judge.partition_wise.aggregates import Unsplit
from sqlrewrite.judge.partition_wise.split import Split
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.markers import between_group_marks
from sqlrewrite.text.templates import templated
from sqlrewrite.warehouse import BoundValue, Parts
from sqlrewrite.write.combined import frame
from sqlrewrite.write.names import quoted

Cut = Callable[[str, int], str]
"""The condition on a column by which its rows are those of a group, by its number from 0."""


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
        pieces = (places.copy(it, replaced) for it in written.branch)
        branches += f"{newline}{union}{newline}{f'{written.more} '.join(pieces)}"
    found = [Edit(offset, text) for offset, text in written.inside]
    for scan, column in split.scans:
        span = _span(scan)
        found.append(Edit(span.start, "(SELECT * FROM "))
        found.append(Edit(span.end, _behind(scan, column, cut, 0)))
    # At one place, what closes a table stands before the branches.
    found.append(Edit(select.end, f"{written.closing}{branches}{written.behind}"))
    return sorted(map(between_group_marks, found), key=lambda it: it.offset)


def _span(scan: Scan) -> Span:
    if scan.span is None:
        raise NoPlaceError(f"{scan.alias} is not found in the text")
    return scan.span


def _raw(places: Places, scan: Scan) -> str:
    return places.copy(_span(scan))


def _behind(scan: Scan, column: str, cut: Cut, group: int) -> str:
    declared = scan.table.column(column)
    name = quoted(column if declared is None else declared.name)
    alias = "" if scan.aliased else f" {quoted(scan.parts[-1])}"
    return f" WHERE {cut(name, group)}){alias}"


def _check(split: Split, places: Places, select: Span) -> None:
    """Raises Unsplit for what cannot be copied, or would be no more found in a derived table."""
    words = [it.text.lower() for it in places.tokens if select.start <= it.start < select.end]
    if templated(select.of(places.text)) or "?" in words:
        raise Unsplit("a template or a positional parameter in it cannot be copied")
    if "_metadata" in words:
        raise Unsplit("_metadata is not found in a derived table")
    # Whether `x.t.` is a schema's table or a field of x: neither is worth more than an alias.
    threes = zip(words, words[1:], words[2:], strict=False)
    qualified = {word for dot, word, end in threes if dot == end == "."}
    for scan, _ in split.scans:
        if not scan.aliased and scan.parts[-1].lower() in qualified:
            raise Unsplit(f"columns are named by the schema of {scan.parts[-1]}: give it an alias")
    _check_order(split, places)
    if places.spreads(split.block):
        raise Unsplit("SORT BY, CLUSTER BY or DISTRIBUTE BY stands behind it")


def _check_order(split: Split, places: Places) -> None:
    """Behind a UNION, ORDER BY finds columns of the result alone."""
    names = [it.name for it in split.block.outputs]
    for key in places.order(split.block):
        name = places.copy(key).lower().strip("`")
        if names.count(name) != 1 and not name.isdigit():
            raise Unsplit("ORDER BY is not by columns of the result alone")
