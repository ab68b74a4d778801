"""Names that are no literals, ``${n}``, ``tmp_{{ ds }}``, ``IDENTIFIER(:n)``, of what is defined.

In: a statement's tokens. Out: the names under which it may make, move or drop a temporary view or a
table, which then are asked about with every name that they can be rendered to.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token

from sqlrewrite.sql.ddl.clauses import read_clauses
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.ddl.head import GLOBAL, in_global_schema, name_index, opens_with_template
from sqlrewrite.warehouse import ANY_NAME, Name, has_template

_NAMING = frozenset({"create", "replace", "cache", "drop", "alter"})


def open_names(tokens: Sequence[Token], text: str) -> list[Name]:
    """The names of one part, or of ``global_temp``, that a statement makes, moves or drops and that
    are no literals: they may be any name that they can be rendered to."""
    cursor = Cursor(tokens, text)
    kind, start = cursor.word, name_index(cursor)
    if not start or not (kind in _NAMING or opens_with_template(cursor)):
        return []
    cursor.index = start
    names = [item.name() for item in cursor.items()] if kind == "drop" else [cursor.name()]
    renames = kind == "alter" and cursor.take("rename", "to")
    if renames:
        names.append(cursor.name()[-1:])
    if kind == "alter" and not renames:
        return []
    if kind == "cache" and read_clauses(cursor).query is None:
        return []
    between = text[tokens[start - 1].end + 1 : tokens[min(start, len(tokens) - 1)].start]
    if "{%" in between or () in names:
        names = [ANY_NAME]  # it is computed, ``IDENTIFIER(x)``
    head = frozenset(map(cursor.word_at, range(start)))
    names = [in_global_schema(name, head) for name in names if has_template(name[-1])]
    return [name for name in names if len(name) == 1 or name[:-1] == (GLOBAL,)]
