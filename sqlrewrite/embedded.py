"""Files in which SQL stands in another language: each region a document, edits mapped back.

In: a ``Host``, whose regions know where they stand in the file. Out: one ``Rewrite`` of the whole
file, in its lines and columns, as of a file of SQL. What is written is read again: only where each
region then holds just the SQL that it should is the file changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlrewrite.catalog.queried import followed
from sqlrewrite.document import Decision, Document, decide, read
from sqlrewrite.frozen import dataclass
from sqlrewrite.patterns import pattern
from sqlrewrite.results import NOT_PARSED, Problem, Rewrite
from sqlrewrite.rewriting import DocumentObserver, changes, result
from sqlrewrite.settings.options import Options
from sqlrewrite.sql.collector import at_rest
from sqlrewrite.sql.parse.scripts import pieces
from sqlrewrite.sql.parse.statements import Statement, lex
from sqlrewrite.stripping import taken_out
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.hosts.region import Change, Host, Region, Unwritable, changed
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.templates import Refer
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import Warehouse

_DEFINES = frozenset("create replace cache drop alter use set".split())
_MAY_DEFINE = pattern(rf"\b(?:{'|'.join(sorted(_DEFINES))})\b", re.IGNORECASE)
_UNWRITABLE = "what would be inserted cannot be written here: {}"


@dataclass(frozen=True, slots=True, eq=False)
class ReadRegion:
    """A region that is read: its number in the file, and the catalog that holds in it."""

    number: int
    region: Region
    catalog: Warehouse


@dataclass(frozen=True, slots=True, eq=False)
class RegionResult:
    """What became of a region: what is told of it, and what changes in its SQL."""

    part: ReadRegion
    told: Rewrite
    changes: tuple[Change, ...]


def parts(host: Host, catalog: Warehouse) -> list[ReadRegion]:
    """The regions of SQL, each with the catalog that holds in it."""
    found, catalog = [], in_force(catalog, host.text, runs_once=False)
    definitions = [_definitions(region, catalog.refer) for region in host.regions]
    after: _After = {}
    for number, region in enumerate(host.regions):
        if region.written:
            here = _before(number, host.regions, definitions, catalog, after)
            found.append(ReadRegion(number, region, here))
    return found


_After = dict[tuple[int, int, bool], tuple[Warehouse, Warehouse]]
"""The catalog after a definition, with the one before it: by what both are, and whether it may not
have run. Of most regions the definitions before them are followed just as for the one before."""


def _definitions(region: Region, refer: Refer) -> list[Statement]:
    """The statements of a region that change what names mean, as tokens."""
    if not _MAY_DEFINE.search(region.text):
        return []
    found = enumerate(pieces(region.text, lex(region.text, refer).tokens))
    return [
        Statement(index, it.tokens[0].start, it.tokens, None)
        for index, it in found
        if it.tokens[0].text.lower() in _DEFINES
    ]


def _before(
    number: int,
    regions: Sequence[Region],
    definitions: Sequence[Sequence[Statement]],
    catalog: Warehouse,
    after: _After,
) -> Warehouse:
    """The catalog that holds in a region: what surely has run before it in that order, and then
    what may have run. In a function, a branch or a loop that may be anything in the file."""
    block, unsure = regions[number].block, list[int]()
    for index, region in enumerate(regions):
        before = index < number
        if not (region.text or region.written) and (before or (block and index > number)):
            return replace(catalog, relations={})
        if index == number or not definitions[index]:
            continue
        if before and region.block == block[: len(region.block)]:
            for statement in definitions[index]:
                catalog = _followed(statement, region.text, catalog, after, maybe=False)
        elif before or block:
            unsure.append(index)
    for index in unsure:
        for statement in definitions[index]:
            catalog = _followed(statement, regions[index].text, catalog, after, maybe=True)
    return catalog


def _followed(
    statement: Statement, text: str, before: Warehouse, after: _After, *, maybe: bool
) -> Warehouse:
    key = id(statement), id(before), maybe
    if key not in after:
        ran = replace(statement, maybe=True) if maybe else statement
        after[key] = before, followed(ran, text, before, "the text")
    return after[key][1]


def documents(
    host: Host, catalog: Warehouse, limits: Limits, *, heed: bool = True, named: bool = False
) -> Iterator[tuple[ReadRegion, Document]]:
    """Each region as a document, in the file's lines and columns."""
    for part in parts(host, catalog):
        lines, text = host.lines_of(part.region), part.region.text
        yield part, read(text, part.catalog, limits, heed=heed, lines=lines, named=named)


def rewrite(
    path: str,
    host: Host,
    catalog: Warehouse,
    options: Options,
    observe: DocumentObserver | None = None,
) -> Rewrite:
    """What ``rewriting.rewrite_with_options`` makes of a text, of all regions of a file."""
    with at_rest(host.text):
        read_parts = list(documents(host, catalog, options.limits, named=observe is not None))
        if observe is not None:
            for _, document in read_parts:
                observe(document)
        asked = [it for _, it in read_parts if it.directives.whole_file is not None]
        if asked:  # one of them speaks for the file
            told = result(decide(asked[0], options))
            return replace(told, original=host.text, sql=host.text)
        done = [_done(part, decide(document, options)) for part, document in read_parts]
        return _together(path, host, done)


def as_sql(host: Host, catalog: Warehouse, options: Options) -> Rewrite:
    """The regions of a file, before and after, as one text of SQL, where each begins in the line
    that it stands in: for who runs it."""
    with at_rest(host.text):
        read = list(documents(host, catalog, options.limits))
        left = any(it.directives.whole_file is not None for _, it in read)
        done = [] if left else [_done(part, decide(it, options)) for part, it in read]
    before = [(it.part.region, it.part.region.text) for it in done]
    after = [(it.part.region, changed(it.part.region.text, it.changes)) for it in done]
    told = _summed([it.told for it in done], ())
    return replace(told, original=_in_lines(host, before), sql=_in_lines(host, after))


def _in_lines(host: Host, texts: Sequence[tuple[Region, str]]) -> str:
    """Texts of SQL, each a statement or several, in the lines of their regions."""
    found = ""
    for region, text in texts:
        line = host.lines_of(region).place(0)[0]
        found += "\n" * (line - 1 - found.count("\n")) + text.rstrip().removesuffix(";") + "\n;"
    return found


def _done(part: ReadRegion, decision: Decision) -> RegionResult:
    return RegionResult(part, result(decision), tuple(changes(decision)))


def strip(path: str, host: Host) -> Rewrite:
    """A file without any predicate of ours: ``--strip``."""
    done = []
    for part in parts(host, Warehouse()):
        told, text = taken_out(part.region.text, host.lines_of(part.region))
        done.append(RegionResult(part, told, tuple(text.changes(()))))
    return _together(path, host, done)


def _together(path: str, host: Host, done: Sequence[RegionResult]) -> Rewrite:
    """One account of all regions, and the file with what changes in each of them."""
    mapped: list[Change] = []
    kept: list[RegionResult] = []
    refused: list[Problem] = [_left(host, at, why) for at, why in host.left]
    for it in done:
        try:
            mapped += [host.in_file(it.part.region, change) for change in it.changes]
        except Unwritable as why:
            refused.append(_left(host, it.part.region.sql.offsets[0], _UNWRITABLE.format(why)))
            it = _unwritten(it)
        kept.append(it)
    text = changed(host.text, mapped)
    if mapped and not _holds(path, text, host, kept):
        refused.append(_left(host, 0, _UNWRITABLE.format("the file would then be read otherwise")))
        text, kept = host.text, [_unwritten(it) for it in kept]
    return replace(_summed([it.told for it in kept], refused), original=host.text, sql=text)


def _unwritten(it: RegionResult) -> RegionResult:
    """A region that stays as it is."""
    return RegionResult(it.part, replace(it.told, candidates=(), plans=(), removed=()), ())


def _holds(path: str, text: str, host: Host, done: Iterable[RegionResult]) -> bool:
    """Whether the regions of a changed file hold what they should, and all others what they did."""
    again = host_of(path, text)
    expected = [region.text for region in host.regions]
    for it in done:
        expected[it.part.number] = changed(it.part.region.text, it.changes)
    return again is not None and [region.text for region in again.regions] == expected


def _left(host: Host, at: int, why: str) -> Problem:
    return Problem(NOT_PARSED, why, *host.lines.place(at))


def _summed(told: Sequence[Rewrite], refused: Sequence[Problem]) -> Rewrite:
    """Several accounts as one; statements are counted through all of them."""
    before, found = 0, list[Rewrite]()
    for it in told:
        found.append(_moved(it, before))
        before += it.statements
    every = (*_NUMBERED, "errors", "skipped", "notes", "grouped")
    parts = {name: tuple(item for it in found for item in getattr(it, name)) for name in every}
    parts["skipped"] += tuple(refused)
    return Rewrite("", "", before + len(refused), **parts)


_NUMBERED = ("candidates", "plans", "removed")
"""The parts of an account that name the numbers of statements."""


def _moved(told: Rewrite, by: int) -> Rewrite:
    """An account with statements numbered from another one on."""
    parts: dict[str, Any] = {
        name: tuple(replace(it, statement=it.statement + by) for it in getattr(told, name))
        for name in _NUMBERED
    }
    return replace(told, **parts, grouped=tuple(it + by for it in told.grouped))
