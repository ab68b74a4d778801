"""What was found out about a text before, so that an unchanged repository is done in a moment.

In: a fingerprint of all that a result depends on besides the text (the program, its parser, the
settings, the catalog). Out: a ``Cache`` of pickled results by the hash of the text under it. It is
a SQLite file in a folder of the user's own; whatever goes wrong with it, the work is done without.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlrewrite.schema import Catalog

VERSION = 1
"""Of the file's form: another form is another file."""

_DAYS = 30
_MOST = 1 << 20
_TABLE = "CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, day INTEGER, value BLOB)"
_FAILURES = (sqlite3.Error, OSError, pickle.PickleError, EOFError, AttributeError, ImportError)


def folder() -> str:
    """Where the cache is: ``DPP_REWRITE_CACHE_DIR``, else the user's own folder for caches."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("DPP_REWRITE_CACHE_DIR") or os.path.join(home, "dpp-rewrite")


def fingerprint(catalog: Catalog, *settings: object) -> bytes:
    """A hash of the program, its parser, the settings and the catalog."""
    found = sha256()
    for part in (VERSION, sys.version, version("sqlglot"), *_program(), *settings, catalog):
        found.update(repr(part).encode("utf-8", "surrogateescape") + b"\0")
    return found.digest()


def _program() -> Iterator[object]:
    """The files of the program, as a build or an edit leaves them: the version alone would not
    change while someone works on it."""
    from sqlrewrite.rulebook import rules_folder

    for root in (Path(__file__).parent, rules_folder()):
        for path in sorted(root.rglob("*.*")):
            if path.suffix in (".py", ".toml"):
                status = path.stat()
                yield (str(path), status.st_size, status.st_mtime_ns)


class Cache:
    """Results by text. Writes are kept until ``close``, which makes them all at once."""

    def __init__(self, fingerprint: bytes, where: str | None = None) -> None:
        self._fingerprint = fingerprint
        self._new: dict[bytes, bytes] = {}
        self._database = _open(where or folder())

    def key(self, digest: bytes) -> bytes:
        """The key of a file whose bytes have that hash."""
        return sha256(self._fingerprint + digest).digest()

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        """Which of the keys have a result."""
        if self._database is None:
            return set()
        try:
            rows = self._database.execute("SELECT key FROM results")
            return {key for (key,) in rows}.intersection(keys)
        except _FAILURES:
            return set()

    def get(self, key: bytes) -> Any | None:
        """The result under a key, or None."""
        if self._database is None:
            return None
        try:
            query = "SELECT value FROM results WHERE key = ?"
            row = self._database.execute(query, (key,)).fetchone()
            return pickle.loads(row[0]) if row is not None else None
        except Exception:  # a pickle of another program may raise anything
            return None

    def put(self, key: bytes, result: object) -> None:
        """Keeps a result, unless it is large."""
        if self._database is not None:
            try:
                value = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
            except Exception:
                return
            if len(value) <= _MOST:
                self._new[key] = value

    def close(self) -> None:
        """Writes what is new, in one transaction, and forgets what is old."""
        if self._database is None:
            return
        today = int(time.time() // 86400)
        try:
            if self._new:
                rows = [(key, today, value) for key, value in self._new.items()]
                with self._database:
                    self._database.execute("DELETE FROM results WHERE day < ?", (today - _DAYS,))
                    self._database.executemany("REPLACE INTO results VALUES (?, ?, ?)", rows)
            self._database.close()
        except _FAILURES:
            pass


def _open(where: str) -> sqlite3.Connection | None:
    """The database in a folder, made if need be; None where the folder is not ours alone."""
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        status = os.stat(where)
        # A pickle is a program: one that another user could have written is not read.
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            return None
        path = os.path.join(where, f"results-{VERSION}.sqlite")
        database = sqlite3.connect(path, timeout=2)
        try:
            database.execute(_TABLE)
        except sqlite3.OperationalError:  # another run writes just now
            database.close()
            return None
        except sqlite3.DatabaseError:  # broken: the next run begins anew
            database.close()
            os.unlink(path)
            return None
    except _FAILURES:
        return None
    return database
