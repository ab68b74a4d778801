"""The comment beside a predicate of literals: when its keys were asked for, and by which query.

    p IN (1, 2) /* dpp-rewrite */ /* keys as of 2026-01-31T09:30:00Z: SELECT d2.k FROM d AS d2 */

In come a time and a query, out goes the comment, and the other way round: a later run finds there
which query to ask again, and whether that query still follows.
"""

from __future__ import annotations

import re

from sqlrewrite.patterns import pattern

_NOTE = pattern(
    r" /\* keys as of (?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ): (?P<query>(?:(?!\*/|/\*).)+) \*/",
    re.DOTALL,
)

# Spark nests comments, others end one at the first `*/`: inside, neither sign may stand. A
# backslash goes between the two characters, one more where there are some already, so that no two
# queries come out the same.
_SIGN = pattern(r"(\*\\*)(?=/)|(/\\*)(?=\*)")
_WRITTEN_SIGN = pattern(r"(\*\\*)\\(?=/)|(/\\*)\\(?=\*)")


def note(at: str, query: str) -> str:
    """The comment, with the space before it."""
    inside = _SIGN.sub(lambda match: match.group() + "\\", query)
    return f" /* keys as of {at}: {inside} */"


def queries(text: str) -> frozenset[str]:
    """The queries of all such comments in a text, as they are written there."""
    return frozenset(match["query"] for match in _NOTE.finditer(text))


def read(text: str, offset: int) -> tuple[str, str, int] | None:
    """The time, the query and the end of the comment that begins at an offset, if one does."""
    match = _NOTE.match(text, offset)
    if match is None:
        return None
    query = _WRITTEN_SIGN.sub(lambda sign: sign.group()[:-1], match["query"])
    return match["at"], query, match.end()
