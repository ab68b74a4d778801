"""A cache of the results of earlier runs, so that an unchanged repository takes almost no time.

It keeps, by the hash of a file's content, what a job keeps of its result and, as in git's index,
the stamp of each file in a folder, so that an unchanged file need not be read. Each key includes a
fingerprint of everything else that a result depends on: the program, its parser, the settings, the
catalog. The cache is a SQLite file in a folder of the user's own. Its values are MessagePack and
decoded as the one type that is expected (msgspec): reading a forged value runs nothing, and a value
of another type is a cache miss. Where the cache fails, the run goes on without it.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from zlib import crc32

import platformdirs
from msgspec import DecodeError, msgpack

from sqlrewrite.run.file_content import Stamp, file_hash, stamp
from sqlrewrite.settings.table import decisive
from sqlrewrite.warehouse import Warehouse

if TYPE_CHECKING:
    from sqlrewrite.run.runner import Request

VERSION = 4
"""The version of the file's form; each has a file of its own."""

Seen = tuple[bytes, bytes | None]
"""What is known of an unchanged file: the hash of its content, and what is kept of its result where
that is short."""

_Folder = dict[bytes, tuple[Stamp, bytes, bytes | None]]

_KEPT_DAYS = 30
_MAX_VALUE = 1 << 20
_MAX_SHORT = 4096
_MAX_PENDING = 4 << 20
_BATCH = 500
_TABLE = "CREATE TABLE results (key BLOB PRIMARY KEY, day INTEGER, value BLOB)"
_SCHEMA = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
_FAILURES = (sqlite3.Error, OSError)


def folder() -> str:
    """Where the cache is: ``DPP_REWRITE_CACHE_DIR``, else the user's own folder for caches."""
    given = os.environ.get("DPP_REWRITE_CACHE_DIR")
    return given or platformdirs.user_cache_dir("dpp-rewrite", appauthor=False)


def fingerprint(catalog: Warehouse, *settings: object) -> bytes:
    """A hash of the program, its parser, the settings and the catalog."""
    found = sha256()
    for it in (VERSION, sys.version, version("sqlglot"), *_program(), *settings, catalog):
        found.update(repr(it).encode("utf-8", "surrogateescape") + b"\0")
    return found.digest()


def _program() -> Iterator[object]:
    """The program's files with their sizes and times: its version alone does not change while it is
    being worked on."""
    from sqlrewrite.rulebook import rules_folder

    folders = [str(files("sqlrewrite")), str(rules_folder())]
    for folder in folders:  # grows in the loop
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda it: it.name)
        folders += [it.path for it in entries if it.is_dir()]
        for entry in entries:
            if entry.name.endswith((".py", ".toml")):
                status = entry.stat()
                yield (entry.path, status.st_size, status.st_mtime_ns)


def packed(value: object) -> bytes | None:
    """A value's bytes; None for one with half a surrogate pair, which UTF-8 cannot encode."""
    try:
        return msgpack.encode(value)
    except UnicodeEncodeError:
        return None


def unpacked(data: bytes | None, kind: Any) -> Any | None:
    """The value of that type; None for bytes that are not one."""
    try:
        return None if data is None else _decoder(kind).decode(data)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None


@cache
def _decoder(kind: Any) -> msgpack.Decoder[Any]:
    return msgpack.Decoder(kind)


def cache_for(request: Request, job_key: tuple[object, ...]) -> Cache | None:
    """The cache of a job's results under a request; None where none is to be kept, or can be."""
    if not request.settings.cache or request.asks:  # an engine may answer otherwise tomorrow
        return None
    choices = decisive(request.settings)
    if request.settings.engine.endswith(".toml"):
        choices["engine"] = str(file_hash(request.settings.engine))
    # No result depends on where the catalog was read, whose paths differ from folder to folder.
    relations = {name: replace(it, source="") for name, it in request.catalog.relations.items()}
    placeless = replace(request.catalog, relations=relations, sources=(), left_out=())
    try:
        return Cache(fingerprint(placeless, job_key, request.strip, choices))
    except OSError:  # the current folder is gone
        return None


class Cache:
    """Results by the hash of a text, and hashes by a file's stamp. What is new is written now and
    then, and the rest at ``close``."""

    def __init__(self, fingerprint: bytes, where: str | None = None) -> None:
        self._fingerprint = fingerprint
        self._new: dict[bytes, bytes] = {}
        self._pending = 0
        self._folders: dict[str, _Folder] = {}
        self._noted: dict[str, _Folder] = {}
        self._here = os.getcwd()
        self._path = os.path.join(where or folder(), f"results-{VERSION}.sqlite")
        self._database = _open(self._path)

    def _key(self, digest: bytes) -> bytes:
        return sha256(self._fingerprint + digest).digest()

    def seen(self, path: str) -> Seen | None:
        """What is known of a file whose stamp is unchanged; None of any other."""
        above, name = _folder_and_name(path)
        entries = self._folders.get(above)
        if entries is None:
            entries = self._folders[above] = self._folder(above)
            self._noted[above] = {}
        entry = entries.get(name)
        if entry is None:
            return None
        try:
            as_it_was = stamp(os.stat(path)) == entry[0]
        except OSError:
            return None
        return entry[1:] if as_it_was else None

    def note(self, path: str, found: Stamp | None, digest: bytes, kept: bytes) -> None:
        """Keeps a file's stamp, with what ``seen`` tells of it."""
        above, name = _folder_and_name(path)
        if found is not None and above in self._noted:
            short = None if len(kept) > _MAX_SHORT else kept
            self._noted[above][name] = (found, digest, short)

    def known(self, digests: Iterable[bytes]) -> set[bytes]:
        """Those of the hashes that have a result."""
        keys = {self._key(digest): digest for digest in digests}
        return {keys[key] for batch in _batches(list(keys)) for key, _ in self._stored(batch, "1")}

    def values(self, digests: Sequence[bytes]) -> Iterator[bytes | None]:
        """What was kept for each hash in turn, or None; read in batches, so that many take no more
        memory."""
        for batch in _batches([self._key(digest) for digest in digests]):
            stored = dict(self._stored(batch, "value"))
            yield from (_unsealed(stored.get(key)) for key in batch)

    def put(self, digest: bytes, kept: bytes) -> None:
        """Keeps a result under the hash of its text, unless it is large."""
        value = _sealed(kept)
        if self._database is not None and len(value) <= _MAX_VALUE:
            self._new[self._key(digest)] = value
            self._pending += len(value)
            if self._pending > _MAX_PENDING:
                self._write()

    def close(self) -> None:
        """Writes what is new, and deletes what is old."""
        if self._database is None:
            return
        for above, noted in self._noted.items():
            files = {**self._folders[above], **noted}  # a hook names some of the files
            if noted and files != self._folders[above]:
                self._new[self._folder_key(above)] = _sealed(msgpack.encode(files))
        self._write()
        with suppress(*_FAILURES):
            self._database.close()

    def _folder_key(self, above: str) -> bytes:
        path = os.path.normpath(os.path.join(self._here, above))
        return self._key(b"folder\0" + os.fsencode(path))

    def _folder(self, above: str) -> _Folder:
        """The entries of the files in a folder."""
        for _, value in self._stored([self._folder_key(above)], "value"):
            return unpacked(_unsealed(value), _Folder) or {}
        return {}

    def _stored(self, keys: Sequence[bytes], what: str) -> list[tuple[bytes, Any]]:
        """The rows of those of the keys that are stored."""
        if self._database is None:
            return []
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, {what} FROM results WHERE key IN ({marks})"
        try:
            return self._database.execute(query, keys).fetchall()
        except sqlite3.OperationalError:  # another run writes just now
            return []
        except _FAILURES:  # broken: the next run makes a new one
            with suppress(*_FAILURES):
                self._database.close()
                os.unlink(self._path)
            self._database = None
            return []

    def _write(self) -> None:
        """Writes what is new in one transaction, and once a day deletes what is old."""
        if self._database is None or not self._new:
            return
        today = int(time.time() // 86400)
        rows = [(key, today, value) for key, value in self._new.items()]
        self._new, self._pending = {}, 0
        with suppress(*_FAILURES), self._database:
            if self._database.execute("PRAGMA user_version").fetchone() != (today,):
                self._database.execute("DELETE FROM results WHERE day < ?", (today - _KEPT_DAYS,))
                self._database.execute(f"PRAGMA user_version = {today}")
            self._database.executemany("REPLACE INTO results VALUES (?, ?, ?)", rows)


def _folder_and_name(path: str) -> tuple[str, bytes]:
    """A path's folder, with its separator, and its name, faster than ``os.path.split``."""
    cut = path.rfind(os.sep) + 1
    return path[:cut], os.fsencode(path[cut:])


def _batches(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(keys), _BATCH):
        yield keys[start : start + _BATCH]


def _sealed(data: bytes) -> bytes:
    """Bytes after their checksum. SQLite has none, and bytes that a disk has garbled might be
    written into a file of the author's."""
    return crc32(data).to_bytes(4, "big") + data


def _unsealed(value: object) -> bytes | None:
    """The bytes without their checksum; None where it does not fit."""
    if not isinstance(value, bytes) or int.from_bytes(value[:4], "big") != crc32(value[4:]):
        return None
    return value[4:]


def _open(path: str) -> sqlite3.Connection | None:
    """The database, created if need be; None where others can write to its folder. One that is
    broken, or has anything but our table, is deleted: the next run makes a new one."""
    where = os.path.dirname(path)
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        status = os.stat(where)
        # What is recalled may be written into files, so nobody else may have put it here.
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            return None
        database = sqlite3.connect(path, timeout=2)
    except _FAILURES:
        return None
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        if not database.execute(_SCHEMA).fetchall():
            database.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1))
        if database.execute(_SCHEMA).fetchall() == [(_TABLE,)]:
            return database
    except sqlite3.OperationalError:  # another run writes just now
        database.close()
        return None
    except sqlite3.DatabaseError:
        pass
    with suppress(*_FAILURES):
        database.close()
        os.unlink(path)
    return None
