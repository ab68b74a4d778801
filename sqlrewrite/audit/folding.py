"""A text of a history, folded: whether it can be judged, and the fingerprint of its shape."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlrewrite.sql.fingerprint import fingerprint, shape

TEXT, EMPTY, MASKED, CUT, OTHER = "text", "empty", "masked", "cut", "other"
"""What a text is: one to be judged; nothing; made unreadable; cut off; no query and no write."""

_MASKED = re.compile(r"\W*(?:(?:redacted|masked|hidden|confidential|x+)\W*)*", re.IGNORECASE)
_CUT = ("...", "…")
_WORD = re.compile(r"[^a-z(]*([a-z]+|\()")
_JUDGED = frozenset(
    "( select with from insert merge create replace cache values table as update delete".split()
)


@lru_cache(maxsize=10_000)
def folded(text: str | None) -> str:
    """What a text is, and for one to be judged its fingerprint: ``text:0f…``. Raises nothing."""
    if text is None or not text.strip():
        return f"{EMPTY}:"
    if _MASKED.fullmatch(text):
        return f"{MASKED}:"
    if text.rstrip().endswith(_CUT):
        return f"{CUT}:"
    found = shape(text)
    word = _WORD.match(found)
    what = TEXT if word is not None and word[1] in _JUDGED else OTHER
    return f"{what}:{fingerprint(found)}" if what == TEXT else f"{OTHER}:"
