"""The files of a catalog: finding them, reading them as text, naming places in them, and telling
which is which model of a dbt project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.text.hosts import SUFFIXES, host_of
from sqlrewrite.text.masking import without_foreign_text
from sqlrewrite.text.source import FOREIGN, OTHER_BOMS, SQL_SUFFIXES, Lines
from sqlrewrite.warehouse import CatalogError, Warehouse

_DEFINES = re.compile(rb"\bcreate\s[^;'\"]{0,60}\b(?:table|view)\b", re.IGNORECASE)
# GB 18030 fails for most other texts, and Latin-1 reads anything. Most names in DDL are ASCII,
# which is the same in all encodings.
_OTHERS = ("gb18030", "latin-1")


def read_text(path: Path) -> str:
    """A file's text, without a byte-order mark. Raises CatalogError."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 at byte {error.start}: save the file as UTF-8"
        raise CatalogError(message) from error


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises CatalogError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror or error}") from error


def decoded(data: bytes) -> tuple[str, str]:
    """The text in some bytes, whatever their encoding, and the name of that encoding."""
    for mark, name in OTHER_BOMS:
        if data.startswith(mark):
            return data.decode(name, "replace"), name
    for name in ("utf-8-sig", *_OTHERS):
        try:
            return data.decode(name), name
        except UnicodeDecodeError:
            continue
    raise AssertionError("Latin-1 reads any bytes")


def in_folder(directory: Path) -> list[Path]:
    """The files below a folder that may hold definitions, sorted, without those of libraries."""
    return sorted(
        path for path in directory.rglob("*") if _may_be_read(path, directory) and path.is_file()
    )


def files_named(directory: Path, name: str) -> list[Path]:
    """The files with this name below a folder, except hidden ones and those of libraries."""
    return sorted(
        path for path in directory.rglob(name) if _is_own(path, directory) and path.is_file()
    )


def _may_be_read(path: Path, directory: Path) -> bool:
    if not _is_host(path):
        return path.name.lower().endswith(SQL_SUFFIXES)
    return _is_own(path, directory)


def _is_own(path: Path, directory: Path) -> bool:
    folders = path.relative_to(directory).parts[:-1]
    return not any(name.startswith(".") or name in FOREIGN for name in folders)


def _is_host(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


def may_define(path: Path) -> bool:
    """Whether a file may hold a definition; a quick test, since parsing a program is slow."""
    try:
        return not _is_host(path) or _DEFINES.search(read_bytes(path)) is not None
    except CatalogError:
        return True  # reading it will report the error


def texts(text: str, source: str) -> Iterator[tuple[str, Where]]:
    """The SQL texts of a file, everything else blanked, each with a ``Where`` that names places in
    the file."""
    host = host_of(source, text)
    if host is None:
        yield without_foreign_text(text), Where(Lines(text), source)
        return
    for region in host.regions:
        if region.written:
            yield without_foreign_text(region.text), Where(host.lines_of(region), source)


class Where(Struct, frozen=True, eq=False):
    """Names the places in a file by their offsets in one of its texts."""

    lines: Lines
    source: str

    def __call__(self, offset: int) -> str:
        """``source:line:column`` of an offset."""
        line, column = self.lines.place(offset)
        return f"{self.source}:{line}:{column}"


T = TypeVar("T")

_COPIES = (["target", "compiled"], ["target", "run"])
"""The folders with dbt's own copies of the models."""


def of_model(path: str, models: Mapping[str, T]) -> T | None:
    """The entry of ``models`` for a model's file; None for any other file, and for dbt's own copies
    of a model."""
    if not models or not path.endswith(".sql"):
        return None
    parts = os.path.abspath(path).replace(os.sep, "/").split("/")
    for start in range(len(parts)):
        entry = models.get("/".join(parts[start:]))
        if entry is not None:
            around = parts[:start]
            copied = around[-3:-1] in _COPIES or "dbt_packages" in around
            return None if copied else entry
    return None


def at_file(path: str, catalog: Warehouse) -> Warehouse:
    """The catalog for the text of a file: in a model, ``{{ this }}`` is the model's table."""
    table = of_model(path, catalog.files)
    return catalog if table is None else replace(catalog, this=table)
