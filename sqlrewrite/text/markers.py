"""The comments that dpp-rewrite writes, by which a later run recognizes its own insertions.

- ``/* dpp-rewrite */`` after each predicate.
- After a predicate of literals: when its keys were looked up and by which query, so that a later
  run can look them up again, or see that the query has changed.

    p IN (1, 2) /* dpp-rewrite */ /* keys as of 2026-01-31T09:30:00Z: SELECT d.k FROM d */

- Around each insertion of a join by groups of partitions: removing everything between these marks
  gives the author's text.
"""

from __future__ import annotations

import re

from sqlrewrite.text.edits import Edit, Span

MARKER = "/* dpp-rewrite */"
"""The comment behind each inserted predicate, which makes it ours to refresh or remove."""

GROUPS_BEGIN, GROUPS_END = "/* dpp-rewrite groups */", "/* groups end */"

_KEYS_NOTE = re.compile(
    r"\s*/\* keys as of (?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ): (?P<query>(?:(?!\*/|/\*).)+) \*/",
    re.DOTALL,
)
# Spark nests comments, other engines end one at the first `*/`: so the query in the note may hold
# neither `*/` nor `/*`. A backslash is put between the two characters (one more if there are any),
# so that reading the note can take it out again.
_SIGN = re.compile(r"(\*\\*)(?=/)|(/\\*)(?=\*)")
_ESCAPED_SIGN = re.compile(r"(\*\\*)\\(?=/)|(/\\*)\\(?=\*)")

_GROUPS = re.compile(
    rf"{re.escape(GROUPS_BEGIN)}(?:(?!{re.escape(GROUPS_BEGIN)}).)*?{re.escape(GROUPS_END)}",
    re.DOTALL,
)
"""The text from one mark to the other; a mark without a partner is the author's."""


# What ends a clause, and may stand before its marker after formatting: sqlfluff moves a marker
# behind `);` and a line end, sqlfmt behind `),` and `) do` (of a FOR in a script).
_BEHIND_CLAUSE = re.compile(rf"(\s*(?:;|,|(?i:do\b)))?\s*{re.escape(MARKER)}")

_MARKER = re.compile(rf"\s*{re.escape(MARKER)}")


def marker_within(text: str, start: int, end: int) -> bool:
    """Whether there is a marker between two offsets, or right after the second (``behind_clause``),
    where a formatter may have moved it."""
    return text.find(MARKER, start, end) >= 0 or behind_clause(text, end) is not None


def behind_clause(text: str, offset: int) -> re.Match[str] | None:
    """The match of a marker after an offset; group 1 is the ``;``, ``,`` or DO before it, behind
    which a formatter has moved it. None if there is no marker."""
    return _BEHIND_CLAUSE.match(text, offset)


def marker_behind(text: str, offset: int) -> Span | None:
    """The marker after an offset, with the white space before it; None if there is none. Formatters
    change that space: sqlfmt writes two blanks, sqlfluff a line end."""
    match = _MARKER.match(text, offset)
    return None if match is None else Span(*match.span())


def keys_note(at: str, query: str) -> str:
    """The comment with the time and the query of a key look-up, with a space before it."""
    inside = _SIGN.sub(lambda match: match.group() + "\\", query)
    return f" /* keys as of {at}: {inside} */"


def noted_queries(text: str) -> frozenset[str]:
    """The queries in the notes of a text, in their escaped form."""
    return frozenset(match["query"] for match in _KEYS_NOTE.finditer(text))


def read_keys_note(text: str, offset: int) -> tuple[str, str, int] | None:
    """The time, query and end of the note that begins at an offset; None if there is none."""
    match = _KEYS_NOTE.match(text, offset)
    if match is None:
        return None
    query = _ESCAPED_SIGN.sub(lambda sign: sign.group()[:-1], match["query"])
    return match["at"], query, match.end()


def between_group_marks(edit: Edit) -> Edit:
    """An insertion with the marks of a join by groups around it."""
    return Edit(edit.span, f"{GROUPS_BEGIN}{edit.text}{GROUPS_END}")


def group_insertions(text: str) -> list[Span]:
    """Spans of the insertions of a join by groups, their marks included."""
    return [Span(*match.span()) for match in _GROUPS.finditer(text)] if GROUPS_BEGIN in text else []
