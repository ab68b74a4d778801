"""A text of a history, folded: whether it can be judged, and the fingerprint of its shape."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlrewrite.sql.statements.fingerprint import fingerprint, shape

TEXT, EMPTY, MASKED, CUT, OTHER = "text", "empty", "masked", "cut", "other"
"""What a text is: one to be judged; nothing; made unreadable; cut off; no query and no write."""

_REMEMBERED = 10_000
"""Texts of more characters are not remembered: a process holds some 50 MB of them at most."""

_MASKED = re.compile(r"\W*+(?:(?:redacted|masked|hidden|confidential|x++)\W*+)*+", re.IGNORECASE)
_CUT = ("...", "…")
_WORD = re.compile(r"[^a-z(]*([a-z]+|\()")
_JUDGED = frozenset(
    "( select with from insert merge create replace cache values table as update delete".split()
)


def folded(text: str | None) -> str:
    """What a text is, and for one to be judged its fingerprint: ``text:0f…``. Raises nothing."""
    if text is None or not text.strip():
        return f"{EMPTY}:"
    return _known(text) if len(text) <= _REMEMBERED else _folded(text)


def _folded(text: str) -> str:
    if _MASKED.fullmatch(text):
        return f"{MASKED}:"
    if text.rstrip().endswith(_CUT):
        return f"{CUT}:"
    found = shape(text)
    word = _WORD.match(found)
    what = TEXT if word is not None and word[1] in _JUDGED else OTHER
    return f"{what}:{fingerprint(found)}" if what == TEXT else f"{OTHER}:"


_known = lru_cache(maxsize=5_000)(_folded)
