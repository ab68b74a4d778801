"""The tables and views that a query names, and the query with other names in their place.

In comes the text of one statement, out come its references; what a WITH of it defines is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from sqlrewrite.sql.parse.statements import statements
from sqlrewrite.text.edits import Span, spliced
from sqlrewrite.warehouse import Name, Table, Warehouse

# What may stand behind a name and its alias whatever the name means.
_ANYWHERE = frozenset({"this", "db", "catalog", "alias", "joins", "laterals", "pivots"})
_OF_FILES = "_metadata"
_WRITES = (exp.Insert, exp.Create, exp.Cache, exp.Schema, exp.Merge, exp.Update, exp.Delete)


@dataclass(frozen=True, slots=True)
class TableReference:
    """A name in a FROM, its parts in lower case, and where it stands.

    ``alias``: what the query calls it by where it writes no other alias.
    ``plain``: False where the query uses it as only a table can be used: a version of it,
    ``schema.table.column``, its files.
    """

    parts: Name
    span: Span
    alias: str = ""
    plain: bool = True


def references(text: str) -> tuple[TableReference, ...]:
    """The references of a text that is one statement, in order; none where it is not understood."""
    trees = [statement.tree for statement in statements(text)]
    if len(trees) != 1 or trees[0] is None:
        return ()
    tree = trees[0]
    columns = list(tree.find_all(exp.Column))
    files = any(part.name.lower() == _OF_FILES for column in columns for part in column.parts)
    qualified = {(it.db.lower(), it.table.lower()) for it in columns if it.db}
    found = []
    for table, names, parts in _named(tree):
        plain = not (files or parts[-2:] in qualified) and all(
            not value or key in _ANYWHERE for key, value in table.args.items()
        )
        span = Span(names[0].meta["start"], names[-1].meta["end"] + 1)
        found.append(TableReference(parts, span, "" if table.alias else names[-1].name, plain))
    return tuple(sorted(found, key=lambda it: it.span.start))


def relations_of(tree: exp.Expr, *, read: bool = False) -> tuple[Name, ...]:
    """The names of the relations of a statement, each once, CTEs left out. With ``read`` only those
    that it reads, and not those that it only makes or inserts into."""
    found: dict[Name, None] = {}
    for table, _, parts in _named(tree):
        changes = isinstance(table.parent, exp.Merge | exp.Update | exp.Delete)
        if not read or changes or not _is_written(table):
            found[parts] = None
    return tuple(found)


def relations_in(text: str) -> tuple[Name, ...]:
    """The names of all relations of a text's statements, each once."""
    trees = (statement.tree for statement in statements(text))
    names = (name for tree in trees if tree is not None for name in relations_of(tree))
    return tuple(dict.fromkeys(names))


def unknown(tree: exp.Expr, catalog: Warehouse) -> TableReference | None:
    """The first relation that a statement reads and whose partitioning is not known, or None."""
    for table, names, parts in _named(tree):
        if _is_written(table):
            continue
        found = catalog.resolve(parts)
        vague = isinstance(found, Table) and not (found.names or found.partitioned_by)
        if found is None or vague:
            return TableReference(parts, Span(names[0].meta["start"], names[-1].meta["end"] + 1))
    return None


def _is_written(table: exp.Table) -> bool:
    """Whether a table is one that its statement writes into."""
    holder = table.parent.parent if isinstance(table.parent, exp.Tuple) else table.parent
    return isinstance(holder, _WRITES) and (holder is not table.parent or table.arg_key == "this")


def _named(tree: exp.Expr) -> Iterator[tuple[exp.Table, list[exp.Identifier], Name]]:
    """The relations of a statement, each with its identifiers and its name in lower case, CTEs left
    out."""
    for table in tree.find_all(exp.Table):
        names = [part for part in table.parts if isinstance(part, exp.Identifier)]
        hint = len(names) != len(table.parts) or table.find_ancestor(exp.Hint)
        if not hint and not _is_cte(table):
            yield table, names, tuple(name.name.lower() for name in names)


def renamed(text: str, names: Iterable[tuple[TableReference, str]]) -> str:
    """The text with another name in place of each reference given, under the same alias."""
    changes: list[tuple[Span, str]] = []
    for reference, name in sorted(names, key=lambda it: it[0].span.start):
        alias = reference.alias.replace("`", "``")
        changes.append((reference.span, f"{name} AS `{alias}`" if alias else name))
    return spliced(text, changes)


def _is_cte(table: exp.Table) -> bool:
    """Whether a name means a CTE of a WITH around it that is defined before it."""
    if table.args.get("db"):
        return False
    name = table.name.lower()
    inside: set[int] = set()
    node: exp.Expr | None = table
    while node is not None:
        inside.add(id(node))
        with_ = node.args.get("with_") or exp.With(expressions=[])
        for cte in with_.expressions:
            if id(cte) in inside and not with_.args.get("recursive"):
                break
            if cte.alias.lower() == name:
                return True
        node = node.parent
    return False
