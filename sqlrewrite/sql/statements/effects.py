"""What a statement changes for somebody who keeps what a catalog said: settings of the session,
relations by the words of their names, or anything at all.

In: a statement. Out: an ``Effect``; a statement that no table here names may change everything.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sqlrewrite.frozen import dataclass
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.sql.statements.queries import targets

_READS = frozenset("select values table describe desc explain show list".split())
_SETS = frozenset("set reset use declare".split())
_WRITES = frozenset("insert merge update delete from with".split())
_DEFINES = frozenset(
    "alter analyze cache clear comment create drop load msck refresh repair replace truncate "
    "uncache".split()
)
_KEPT = frozenset({"view", "function", "materialized", "streaming", "procedure", "index", "policy"})


@dataclass(frozen=True, slots=True)
class Effect:
    """``settings``: those of the session may be others. ``words``: a relation that has one of them
    in its name may be another; None: any may. ``kept``: Spark keeps the statement's text."""

    settings: bool = False
    words: frozenset[str] | None = frozenset()
    kept: bool = False


NOTHING = Effect()
ANYTHING = Effect(settings=True, words=None)


def effect(statement: Statement) -> Effect:
    """What a statement changes."""
    if isinstance(statement.tree, exp.Query):
        return NOTHING
    said = [token.text.lower() for token in statement.tokens]
    words = " ".join(said).split()
    first = words[0] if words else ""
    if first in _READS:
        return NOTHING
    if first in _SETS:
        return Effect(settings=True)
    if first in _WRITES and statement.tree is not None:
        return Effect(words=targets(statement))
    if first in _DEFINES:
        behind = words[1:6]
        kept = first in ("create", "alter", "replace") and not _KEPT.isdisjoint(behind)
        everything = frozenset(word for text in said for word in re.findall(r"\w+", text))
        return Effect(words=targets(statement) or everything, kept=kept)
    return ANYTHING
