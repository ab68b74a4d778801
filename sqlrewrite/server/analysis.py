"""The findings of a file that is being edited: an unchanged statement is not read again.

In: a file's name and text, the catalog, the options. Out: an ``Analysis``, in the file's own
places, with just what ``lint`` finds. ``Reader`` keeps, from one text of a file to the next, the
findings of each piece, by its text and the catalog that holds there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlrewrite import embedded
from sqlrewrite.catalog.inherited_columns import followed
from sqlrewrite.document import Document, read
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.host_files import RegionFindings, file_findings, region_findings
from sqlrewrite.linting.linter import lint
from sqlrewrite.linting.not_known import of_file
from sqlrewrite.results import Problem
from sqlrewrite.server.statement_pieces import pieces
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import Options
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.hosts.region import Host, Region, plain
from sqlrewrite.text.if_blocks import renderings
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import View, Warehouse

_WORD = re.compile(r"\w+")
_NAMES_A_LINE = re.compile(r"\bline \d")


@dataclass(frozen=True, slots=True, eq=False)
class OpenPiece:
    """A piece of a file: its text there, and the catalog that holds in it."""

    region: Region
    catalog: Warehouse


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """All findings of a file, also those that a comment suppresses."""

    path: str
    host: Host
    options: Options
    pieces: tuple[OpenPiece, ...] = ()
    findings: tuple[Finding, ...] = ()
    bugs: tuple[Problem, ...] = ()

    def piece_at(self, offset: int) -> tuple[OpenPiece, int] | None:
        """The piece that holds an offset of the file, and the offset in its text."""
        for it in self.pieces:
            offsets = it.region.sql.offsets
            if offsets[0] <= offset <= offsets[-1]:
                return it, local(it.region, offset)
        return None

    def documents(self, piece: OpenPiece) -> Iterator[Document]:
        """A piece as a document; with template blocks one for each of its renderings."""
        text, lines = piece.region.text, self.host.lines_of(piece.region)
        rendered = renderings(text) if text == self.host.text else ()
        for it in [one.text for one in rendered] or [text]:
            yield read(it, piece.catalog, self.options.limits, lines=lines)


def local(region: Region, offset: int) -> int:
    """The offset in a region's text of one in the file that it holds."""
    offsets = region.sql.offsets
    return max(0, min(bisect_right(offsets, offset) - 1, len(offsets) - 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """The findings of a piece and the catalogs before and after it; ``place`` is where it stood, if
    its findings name lines."""

    before: Warehouse
    after: Warehouse
    found: RegionFindings
    place: tuple[int, int] | None


class Reader:
    """Reads the texts of one file, one after the other."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], _Kept] = {}
        self._met: dict[tuple[str, int], _Kept] = {}
        self._pieces: dict[int, list[str]] = {}
        self._catalogs: list[Warehouse] = []
        self._by_text: dict[str, _Kept] = {}
        self._changed: dict[tuple[int, int], frozenset[str] | None] = {}
        self._options: Options | None = None

    def steps(
        self, path: str, text: str, catalog: Warehouse, options: Options
    ) -> Iterator[Analysis | None]:
        """Reads a text a piece at a time: None while there is more to do, then the analysis. A
        caller that stops in between loses nothing that is done."""
        if options != self._options:
            self._options, self._kept = options, {}
        self._met, self._changed = {}, {}
        self._by_text = {text: kept for (text, _), kept in self._kept.items()}
        self._catalogs = [catalog, *(it for it in self._catalogs if it is not catalog)]
        host = host_of(path, text)
        whole = Host(text, (Region(plain(text)),)) if host is None else host
        done: list[RegionFindings] = []
        read_pieces: list[OpenPiece] = []
        for number, (region, here) in enumerate(self._regions(whole, catalog, host is None)):
            # The keys of literals may be those of what another statement changes.
            cut = [region] if options.form == VALUES else self._cut(number, region)
            for piece in cut:
                kept = self._read(whole, piece, here, options)
                read_pieces.append(OpenPiece(piece, here))
                done.append(kept.found)
                here = kept.after
                yield None
        self._kept = self._met
        self._catalogs = [*{id(it.after): it.after for it in self._met.values()}.values()]
        bugs = tuple(bug for it in done for bug in it.bugs)
        findings = of_file(path, catalog, file_findings(whole, done))
        yield Analysis(path, whole, options, tuple(read_pieces), findings, bugs)

    def _regions(
        self, host: Host, catalog: Warehouse, sql: bool
    ) -> Iterator[tuple[Region, Warehouse]]:
        if sql:  # of which a piece does not see what is set in another
            yield host.regions[0], self._same(in_force(catalog, host.text))
            return
        for it in embedded.read_regions(host, catalog):
            yield it.region, self._same(it.catalog)

    def _cut(self, number: int, region: Region) -> Iterator[Region]:
        """The pieces of a region."""
        found = self._pieces[number] = pieces(region.text, self._pieces.get(number, ()))
        if len(found) <= 1:
            yield region
            return
        at = 0
        for piece in found:
            yield replace(region, sql=region.sql.cut(at, at + len(piece)))
            at += len(piece)

    def _read(self, host: Host, piece: Region, catalog: Warehouse, options: Options) -> _Kept:
        """The findings of a piece: the earlier ones, if nothing that they depend on has changed."""
        key = (piece.text, id(catalog))
        kept = self._met.get(key) or self._kept.get(key) or self._elsewhere(piece.text, catalog)
        place = host.lines.place(piece.sql.offsets[0])
        if kept is None or (kept.place is not None and kept.place != place):
            lines = host.lines_of(piece)
            document = read(piece.text, catalog, options.limits, heed=False, lines=lines)
            if "{%" in piece.text and piece.text == host.text:  # its blocks are read both ways
                whole_file = document.directives.whole_file
                done = RegionFindings(piece, *lint(piece.text, catalog, options), whole_file)
            else:
                done = region_findings(piece, document, options)
            texts = (f"{it.message} {it.help}" for it in done.findings)
            where = place if any(map(_NAMES_A_LINE.search, texts)) else None
            kept = _Kept(catalog, self._after(document), done, where)
        self._met[key] = self._kept[key] = kept
        return replace(kept, found=replace(kept.found, region=piece))

    def _elsewhere(self, text: str, catalog: Warehouse) -> _Kept | None:
        """The findings of the same text under another catalog, if the two differ in nothing that
        the text may name, and if the text itself changes nothing."""
        kept = self._by_text.get(text)
        if kept is None or kept.after is not kept.before:
            return None
        pair = (id(kept.before), id(catalog))
        if pair not in self._changed:
            self._changed[pair] = changed_names(kept.before, catalog)
        names = self._changed[pair]
        if names is None or not names.isdisjoint(_words(text)):
            return None
        return replace(kept, before=catalog, after=catalog)

    def _after(self, document: Document) -> Warehouse:
        """The catalog after a document."""
        if not document.statements:
            return document.catalog
        last = document.statements[-1]
        text = document.stripped.text
        after = followed(last.statement, text, last.catalog, "the text")
        return after if after is document.catalog else self._same(after)

    def _same(self, catalog: Warehouse) -> Warehouse:
        """An equal catalog that was met before, else this one."""
        for it in self._catalogs:
            if it == catalog and it.forgotten == catalog.forgotten:
                return it
        self._catalogs.append(catalog)
        return catalog


def changed_names(one: Warehouse, other: Warehouse) -> frozenset[str] | None:
    """The last parts of names that differ in meaning between two catalogs, also of views whose
    query may name them; None where any name may."""
    if replace(one, relations={}) != replace(other, relations={}):
        return None  # the schema, or what holds for all of the session
    if one.takes_subqueries != other.takes_subqueries:
        return None
    before, after = one.relations, other.relations
    names = set(one.forgotten ^ other.forgotten)
    names |= {it for it in (*before, *after) if before.get(it) != after.get(it)}
    if any(len(name) == 2 or not name[-1].isidentifier() for name in names):
        return None  # a schema's name may be a catalog's; in quotes a name is written otherwise
    found = {name[-1] for name in names}
    views = [it for it in (*before.values(), *after.values()) if isinstance(it, View)]
    while more := {it.name[-1] for it in views if not found.isdisjoint(_words(it.query))} - found:
        found |= more
    return frozenset(found)


def _words(text: str) -> list[str]:
    """Everything in a text that may be a name."""
    return _WORD.findall(text.lower())


def analyse(
    path: str, text: str, catalog: Warehouse, options: Options, reader: Reader | None = None
) -> Analysis:
    """The analysis of a text, without steps in between."""
    found: Sequence[Analysis | None] = [*(reader or Reader()).steps(path, text, catalog, options)]
    assert found[-1] is not None
    return found[-1]
