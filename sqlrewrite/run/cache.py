"""A cache of the files with nothing to report, so that checking an unchanged repository is quick.

As in black, a file is known by its size and times, else by a hash of its content. Everything else
that a result depends on is in a fingerprint: the program, its parser, the settings, the catalog.
Each fingerprint has a MessagePack file in the user's own cache folder, read and written as a whole.
Values of an unexpected type are ignored; if the cache fails, the run continues without it.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_type_hints

import platformdirs
from msgspec import DecodeError, Struct, defstruct, msgpack, structs

from sqlrewrite.copies import replace
from sqlrewrite.relation_maps import PersistentMap, Relations
from sqlrewrite.run.file_content import (
    Stamp,
    UnreadFileError,
    content_hash,
    lasting_stamp,
    read_file,
    stamp,
)
from sqlrewrite.run.statistics import Silent
from sqlrewrite.settings.table import decisive
from sqlrewrite.text.source import write_file
from sqlrewrite.warehouse import Name, Table, View, Warehouse

if TYPE_CHECKING:
    from sqlrewrite.run.file_rewriting import Request

Entry = tuple[Stamp | None, bytes, bytes]
"""A file's stamp, if it can be relied on; the hash of its content; its packed ``Silent``."""

_SILENT: msgpack.Decoder[Silent] = msgpack.Decoder(Silent)
_ENTRIES: msgpack.Decoder[dict[bytes, Entry]] = msgpack.Decoder(dict[bytes, Entry])
_KEPT_DAYS = 30
_OURS = re.compile(r"[0-9a-f]{64}\.msgpack")


def folder() -> str:
    """The folder of the cache: ``DPP_REWRITE_CACHE_DIR``, else in the user's own cache folder."""
    return os.environ.get("DPP_REWRITE_CACHE_DIR") or platformdirs.user_cache_dir(
        "dpp-rewrite", appauthor=False
    )


def fingerprint(catalog: Warehouse, *settings: object) -> str:
    """A hash of the program, its parser, the settings and the catalog."""
    digest = sha256()
    for part in (sys.version, version("sqlglot"), *_program(), *settings, catalog):
        digest.update(repr(part).encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def _program() -> Iterator[tuple[str, int, int]]:
    """The program's files with their sizes and times: while it is developed, it changes under one
    version."""
    from sqlrewrite.rulebook import rules_folder

    folders = [str(files("sqlrewrite")), str(rules_folder())]
    for folder in folders:  # grows in the loop
        with os.scandir(folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
        folders += [entry.path for entry in entries if entry.is_dir()]
        for entry in entries:
            if entry.name.endswith((".py", ".toml")):
                status = entry.stat()
                yield (entry.path, status.st_size, status.st_mtime_ns)


def packed(silent: Silent) -> bytes | None:
    """The bytes to keep; None for a text with a lone surrogate, which UTF-8 cannot encode."""
    try:
        return msgpack.encode(silent)
    except UnicodeEncodeError:
        return None


def cache_for(request: Request, job_key: tuple[object, ...] | None) -> Cache | None:
    """The cache of a job under a request; None with --no-cache, for a job without a key, and if the
    folder cannot be used."""
    if job_key is None or not request.settings.cache or request.asks:
        return None  # an engine may give other keys tomorrow
    choices = decisive(request.settings)
    try:
        if request.settings.engine.endswith(".toml"):
            choices["engine"] = str(read_file(request.settings.engine)[0])
        # No result depends on the paths of the catalog's files, which differ from folder to folder.
        relations = {
            name: replace(relation, source="")
            for name, relation in request.catalog.relations.items()
        }
        placeless = replace(request.catalog.with_relations(relations), sources=(), left_out=())
        return Cache(fingerprint(placeless, job_key, request.strip, choices))
    except (OSError, UnreadFileError):  # the current folder or the engine's file does not exist
        return None


class Cache:
    """The silent files of one fingerprint. New ones are written at ``close``."""

    def __init__(self, fingerprint: str, where: str | None = None) -> None:
        self._here = os.getcwd()
        self._path = os.path.join(where or folder(), f"{fingerprint}.msgpack")
        self._entries = _read(self._path)
        self._new: dict[bytes, Entry] = {}

    def _key(self, path: str) -> bytes:
        return os.fsencode(os.path.normpath(os.path.join(self._here, path)))

    def get(self, path: str, limit: int) -> Silent | None:
        """The value for a file, None if it has changed. A file is read only if its stamp has
        changed."""
        key = self._key(path)
        entry = self._entries.get(key)
        if entry is None:
            return None
        last, digest, value = entry
        try:
            if last is None or stamp(os.stat(path)) != last:
                data, status = read_file(path, limit)
                if content_hash(data, path) != digest:
                    return None
                self._new[key] = (lasting_stamp(status), digest, value)
            return _SILENT.decode(value)
        except (OSError, UnreadFileError, DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def put(self, path: str, entry: Entry) -> None:
        """Adds a silent file."""
        self._new[self._key(path)] = entry

    def close(self) -> None:
        """Writes the new files."""
        if self._new:
            write_kept(self._path, msgpack.encode({**self._entries, **self._new}))


def _read(path: str) -> dict[bytes, Entry]:
    """The entries in a file of the cache; none if it is not valid."""
    try:
        data = read_kept(path)
        return {} if data is None else _ENTRIES.decode(data)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def read_kept(path: str) -> bytes | None:
    """The bytes in a file of the cache; None if it is damaged, or somebody else may have written
    it."""
    try:
        if not _is_private(os.path.dirname(path)):
            return None
        with open(path, "rb") as file:
            digest, data = file.read(32), file.read()
    except OSError:
        return None
    return data if sha256(data).digest() == digest else None


def write_kept(path: str, data: bytes) -> None:
    """Writes a file of the cache, and deletes those that no run has written for a month."""
    if not _is_private(os.path.dirname(path)):
        return
    with suppress(OSError):
        write_file(path, sha256(data).digest() + data)
        _delete_old(os.path.dirname(path))


# --- catalogs

_NAMES = ("forgotten", "hidden")


@cache
def _kept_catalog() -> type[Struct]:
    """The stored form of a catalog: tables and views apart, and its other fields as they are."""
    types = get_type_hints(Warehouse)
    names = [field.name for field in fields(Warehouse)]
    lists = {"relations": tuple[list[Table], list[View]], **dict.fromkeys(_NAMES, list[Name])}
    return defstruct("KeptCatalog", [(name, lists.get(name, types[name])) for name in names])


def write_catalog(path: str, catalog: Warehouse) -> None:
    """Writes a catalog to a file of the cache, if UTF-8 can encode its texts."""
    values = {field.name: getattr(catalog, field.name) for field in fields(Warehouse)}
    values |= {name: list(values[name]) for name in _NAMES}
    views = [each for each in catalog.relations.values() if isinstance(each, View)]
    values["relations"] = (catalog.tables, views)
    with suppress(UnicodeEncodeError):
        write_kept(path, msgpack.encode(values))


def read_catalog(path: str) -> Warehouse | None:
    """The catalog in a file of the cache; None if there is none."""
    data = read_kept(path)
    try:
        kept = None if data is None else msgpack.decode(data, type=_kept_catalog())
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if kept is None:
        return None
    values: dict[str, Any] = structs.asdict(kept)
    values |= {name: PersistentMap(dict.fromkeys(values[name], True)) for name in _NAMES}
    relations = {relation.name: relation for each in values["relations"] for relation in each}
    return Warehouse(**{**values, "relations": Relations(relations)})


def _is_private(folder: str) -> bool:
    """Whether only the user can write to a folder, which is created if it does not exist. A forged
    entry would hide findings."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError:
        return False
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _delete_old(folder: str) -> None:
    oldest = time.time() - _KEPT_DAYS * 86400
    with os.scandir(folder) as entries:
        for entry in entries:
            if _OURS.fullmatch(entry.name) and entry.stat().st_mtime < oldest:
                os.unlink(entry.path)
