"""Files with SQL embedded in another language: each region is a document, edits are mapped back.

In: a ``Host``, whose regions know their places in the file. Out: one ``Rewrite`` of the whole file,
with its lines and columns, as for a file of SQL. The changed text is read again: it is used only if
each region then contains exactly the rewritten SQL.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from sqlrewrite.catalog.columnless import followed
from sqlrewrite.copies import replace
from sqlrewrite.document import Decision, Document, decide, read
from sqlrewrite.results import NOT_PARSED, Problem, Rewrite
from sqlrewrite.rewriting import DocumentObserver, changes, result
from sqlrewrite.settings.options import Options
from sqlrewrite.sql.ddl.definitions import defined_name
from sqlrewrite.sql.parse.scripts import pieces
from sqlrewrite.sql.parse.statements import Statement, lex
from sqlrewrite.sql.python_runtime import at_rest
from sqlrewrite.stripping import taken_out
from sqlrewrite.text.edits import Edit, apply
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.hosts.region import Host, Region, Unwritable
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.templates import Refer
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import Warehouse, has_template

_DEFINES = frozenset("create replace cache drop alter use set reset execute".split())
_MAKES = frozenset({"create", "cache"})
_MAY_DEFINE = re.compile(rf"\b(?:{'|'.join(sorted(_DEFINES))})\b", re.IGNORECASE)
_UNWRITABLE = "what would be inserted cannot be written here: {}"


class ReadRegion(Struct, frozen=True, eq=False):
    """A region to be read, with its number in the file and the catalog before it."""

    number: int
    region: Region
    catalog: Warehouse


class RegionResult(Struct, frozen=True, eq=False):
    """The rewriting of a region, and what changes in its SQL."""

    read: ReadRegion
    rewrite: Rewrite
    changes: tuple[Edit, ...]

    @property
    def region(self) -> Region:
        """The region itself."""
        return self.read.region


class _Definition(Struct, frozen=True, eq=False):
    """A statement that changes what names mean, in the region of that number; if it only makes a
    table or view, ``makes`` is the last part of its name, else empty."""

    number: int
    block: tuple[int, ...]
    session: str | None
    text: str
    statement: Statement
    makes: str

    def may_run_around(self, number: int, block: tuple[int, ...]) -> bool:
        """Whether it is uncertain if this runs before a region: one of the two is in a function, a
        branch or a loop, so that the order in the file does not tell."""
        if self.number < number:
            return self.block != block[: len(self.block)]
        return self.number > number and bool(block)


def read_regions(host: Host, catalog: Warehouse) -> list[ReadRegion]:
    """The regions of SQL, each with the catalog that holds in it."""
    regions, catalog = [], in_force(catalog, host.text, runs_once=False)
    before = _Before(catalog, host.regions)
    for number, region in enumerate(host.regions):
        if region.written:
            regions.append(ReadRegion(number, region, before.catalog(number, region)))
    return regions


def _definitions(number: int, region: Region, refer: Refer) -> Iterator[_Definition]:
    """The statements of a region that change what names mean, as tokens."""
    if not _MAY_DEFINE.search(region.text):
        return
    for index, piece in enumerate(pieces(region.text, lex(region.text, refer).tokens)):
        first = piece.tokens[0]
        if first.text.lower() in _DEFINES:
            statement = Statement(index, first.start, piece.tokens, None, maybe=piece.defines)
            makes = _made_name(statement, region.text)
            yield _Definition(number, region.block, region.session, region.text, statement, makes)


def _made_name(statement: Statement, text: str) -> str:
    """The last part of the name of a table or view that a statement only makes; empty for any other
    statement, and for a name that is not known."""
    if statement.tokens[0].text.lower() not in _MAKES:
        return ""
    last = (defined_name(statement.tokens, text) or ("",))[-1]
    return "" if has_template(last) else last


class _Before:
    """The catalogs that hold in the regions of a file, which are asked for in order.

    The catalog in a region follows the definitions that have run before it. Those that may have
    run, or have run in another session, count too: most of them only make a new name, and are
    looked up by it.
    """

    def __init__(self, catalog: Warehouse, regions: Sequence[Region]) -> None:
        self._start = catalog
        self._by_block: dict[tuple[int, ...], list[_Definition]] = {}
        self._makers: dict[str, list[_Definition]] = {}
        self._made_inside: set[str] = set()
        self._others: list[_Definition] = []
        self._after: dict[tuple[int, int, bool], tuple[Warehouse, Warehouse]] = {}
        self._reached: dict[tuple[tuple[int, ...], str | None], tuple[int, Warehouse]] = {}
        for number, region in enumerate(regions):
            for definition in _definitions(number, region, catalog.refer):
                self._by_block.setdefault(definition.block, []).append(definition)
                makes = definition.makes
                same_name = self._makers.setdefault(makes, []) if makes else self._others
                same_name.append(definition)
                if makes and definition.block:
                    self._made_inside.add(makes)
        self._known = {name for name in self._makers if _has(catalog, name)}

    def catalog(self, number: int, region: Region) -> Warehouse:
        """The catalog that holds in a region of that number."""
        block = region.block
        catalog = self._in_order(number, region)
        named = self._existing(catalog, self._makers if block else self._made_inside)
        unsure = [*self._others, *(maker for name in named for maker in self._makers[name])]
        unsure = [definition for definition in unsure if definition.may_run_around(number, block)]
        for definition in sorted(unsure, key=_place):
            if not definition.makes or _has(catalog, definition.makes):
                catalog = self._followed(definition, catalog, maybe=True)
        return catalog

    def _existing(self, catalog: Warehouse, made: Collection[str]) -> list[str]:
        """The names of ``made`` that a relation of the catalog has already, from the beginning or
        by a definition that has run."""
        if not made:
            return []
        changes = self._start.relations.changes(catalog.relations)
        names = self._known.union(name[-1] for name, _, _ in changes)
        return [name for name in names if name in made and _has(catalog, name)]

    def _in_order(self, number: int, region: Region) -> Warehouse:
        """The catalog after what stands before a region in its block and those around it."""
        block, session = region.block, region.session
        around = (self._by_block.get(block[:depth], ()) for depth in range(len(block) + 1))
        before = (part[: bisect_left(part, number, key=_number)] for part in around)
        ran = [definition for part in before for definition in part]
        ran.sort(key=_place)
        count, catalog = self._reached.get((block, session), (0, self._start))
        for definition in ran[count:]:
            same = definition.session is not None and definition.session == session
            catalog = self._followed(definition, catalog, maybe=not same)
        self._reached[block, session] = len(ran), catalog
        return catalog

    def _followed(self, definition: _Definition, before: Warehouse, *, maybe: bool) -> Warehouse:
        """The catalog after a definition, which may not have run. Most regions follow the same
        definitions as the one before."""
        key = id(definition), id(before), maybe
        if key not in self._after:
            ran = replace(definition.statement, maybe=True) if maybe else definition.statement
            self._after[key] = before, followed(ran, definition.text, before, "the text")
        return self._after[key][1]


def _has(catalog: Warehouse, last: str) -> bool:
    """Whether a table, view or temporary view has a name that ends in this part."""
    return bool(catalog.relations.named(last)) or (last,) in catalog.relations


def _number(definition: _Definition) -> int:
    return definition.number


def _place(definition: _Definition) -> tuple[int, int]:
    return definition.number, definition.statement.index


def documents(
    host: Host, catalog: Warehouse, limits: Limits, *, heed: bool = True, named: bool = False
) -> Iterator[tuple[ReadRegion, Document]]:
    """Each region as a document, in the file's lines and columns."""
    for read_region in read_regions(host, catalog):
        region, catalog = read_region.region, read_region.catalog
        lines = host.lines_of(region)
        yield read_region, read(region.text, catalog, limits, heed=heed, lines=lines, named=named)


def rewrite(
    path: str,
    host: Host,
    catalog: Warehouse,
    options: Options,
    observe: DocumentObserver | None = None,
) -> Rewrite:
    """``rewriting.rewrite_with_options`` for all regions of a file."""
    with at_rest(host.text):
        regions = list(documents(host, catalog, options.limits, named=observe is not None))
        if observe is not None:
            for _, document in regions:
                observe(document)
        for _, document in regions:
            if document.directives.whole_file is not None:  # one region speaks for the file
                ignored = result(decide(document, options))
                return replace(ignored, original=host.text, sql=host.text)
        results = [_rewritten(region, decide(document, options)) for region, document in regions]
        return _combined(path, host, results)


def as_sql(host: Host, catalog: Warehouse, options: Options) -> Rewrite:
    """The regions of a file, before and after, as one text of SQL that can be run. Each begins in
    the line that it has in the file."""
    with at_rest(host.text):
        regions = list(documents(host, catalog, options.limits))
        if any(document.directives.whole_file is not None for _, document in regions):
            regions = []
        results = [_rewritten(region, decide(document, options)) for region, document in regions]
    before = [(one.region, one.region.text) for one in results]
    after = [(one.region, apply(one.region.text, one.changes)) for one in results]
    merged = _merged([one.rewrite for one in results], ())
    return replace(merged, original=_in_lines(host, before), sql=_in_lines(host, after))


def _in_lines(host: Host, texts: Sequence[tuple[Region, str]]) -> str:
    """The SQL of all regions as one text, each region on its own lines of the file."""
    merged = ""
    for region, text in texts:
        line = host.lines_of(region).place(0)[0]
        merged += "\n" * (line - 1 - merged.count("\n")) + text.rstrip().removesuffix(";") + "\n;"
    return merged


def _rewritten(region: ReadRegion, decision: Decision) -> RegionResult:
    return RegionResult(region, result(decision), tuple(changes(decision)))


def strip(path: str, host: Host) -> Rewrite:
    """A file without the predicates of earlier runs: ``--strip``."""
    results = []
    for read_region in read_regions(host, Warehouse()):
        region = read_region.region
        rewrite, text = taken_out(region.text, host.lines_of(region))
        results.append(RegionResult(read_region, rewrite, tuple(text.changes(()))))
    return _combined(path, host, results)


def _combined(path: str, host: Host, results: Sequence[RegionResult]) -> Rewrite:
    """One result for all regions, and the file with what changes in each of them."""
    mapped: list[Edit] = []
    kept: list[RegionResult] = []
    refused: list[Problem] = [_problem(host, at, why) for at, why in host.unread]
    for one in results:
        try:
            mapped += [host.in_file(one.region, change) for change in one.changes]
        except Unwritable as why:
            start = one.region.sql.offsets[0]
            refused.append(_problem(host, start, _UNWRITABLE.format(why)))
            one = _unwritten(one)
        kept.append(one)
    text = apply(host.text, mapped)
    if mapped and not _is_as_intended(path, text, host, kept):
        misread = _UNWRITABLE.format("the changed file would be read as another text")
        refused.append(_problem(host, 0, misread))
        text, kept = host.text, [_unwritten(one) for one in kept]
    return replace(_merged([one.rewrite for one in kept], refused), original=host.text, sql=text)


def _unwritten(one: RegionResult) -> RegionResult:
    """A region that stays as it is."""
    unchanged = replace(one.rewrite, candidates=(), plans=(), removed=())
    return RegionResult(one.read, unchanged, ())


def _is_as_intended(path: str, text: str, host: Host, results: Iterable[RegionResult]) -> bool:
    """Whether a changed file, read again, has the changed regions, and the others as before."""
    again = host_of(path, text)
    expected = [region.text for region in host.regions]
    for one in results:
        expected[one.read.number] = apply(one.region.text, one.changes)
    return again is not None and [region.text for region in again.regions] == expected


def _problem(host: Host, at: int, why: str) -> Problem:
    return Problem(NOT_PARSED, why, *host.lines.place(at))


_NUMBERED = ("candidates", "plans", "removed")
"""The fields of a result whose items have the number of their statement."""


def _merged(results: Sequence[Rewrite], refused: Sequence[Problem]) -> Rewrite:
    """Several results as one, with their statements numbered in sequence."""
    fields = (*_NUMBERED, "errors", "skipped", "notes", "grouped")
    merged: dict[str, tuple[Any, ...]] = dict.fromkeys(fields, ())
    count = 0
    for one in results:
        numbered = _renumbered(one, count)
        merged = {name: items + getattr(numbered, name) for name, items in merged.items()}
        count += one.statements
    merged["skipped"] += tuple(refused)
    return Rewrite("", "", count + len(refused), **merged)


def _renumbered(result: Rewrite, first: int) -> Rewrite:
    """A result with its statements numbered from ``first`` on."""
    fields: dict[str, Any] = {}
    for name in _NUMBERED:
        items = getattr(result, name)
        fields[name] = tuple(replace(item, statement=item.statement + first) for item in items)
    return replace(result, **fields, grouped=tuple(number + first for number in result.grouped))
