"""What the catalog is after a statement: CREATE, REPLACE, DROP, ALTER, CACHE, USE and SET.

In comes a statement's tokens and the catalog before it, out goes the catalog after it. The DDL
loader folds this over a file, the rewriter over a script. A definition that cannot be read makes
its relation unknown: what was known under that name before is no longer so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlglot import Token

from sqlrewrite.patterns import pattern
from sqlrewrite.settings.regime import setting
from sqlrewrite.sql.ddl.alter_table import altered
from sqlrewrite.sql.ddl.clauses import Definition, read
from sqlrewrite.sql.ddl.columns import type_text
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.ddl.head import SCHEMAS, after_kind, defined
from sqlrewrite.sql.ddl.stale_views import without_stale
from sqlrewrite.sql.ddl.table import created_table
from sqlrewrite.sql.parse.scripts import runs_unread
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.warehouse import Name, TableOrView, View, Warehouse, written_apart

UNKNOWN_NAMESPACE: Name = ("?", "?")
"""The namespace after a USE that cannot be read: no table is there, so no short name resolves."""

_DEFAULT_SCHEMA = "default"
_TEMPORARY = frozenset({"temp", "temporary"})
_BLOCK = pattern(r"\{%(?![-+]?\s*(?:set|do)\s)")
_OTHER_NAMES = frozenset(
    {
        *("spark.sql.casesensitive", "spark.sql.timestamptype"),
        *("spark.sql.parser.quotedregexcolumnnames", "spark.sql.path.enabled"),
    }
)
"""Settings under which names or types are others than they are here (docs/soundness.md, "Settings
of Spark"): a text that sets one is not followed further."""
_PARSES = "spark.sql.legacy.timeparserpolicy"
_BOTH_PARSERS = pattern(r"['\"`]?(?:exception\b|\?)", re.IGNORECASE)
"""Under EXCEPTION no form of a date that is read by a pattern is without an error."""
_ZONE = "spark.sql.session.timezone"
_MODE, _DIALECT = "execution.runtime-mode", "table.sql-dialect"
"""Settings of Flink's: any mode but batch makes streams; another dialect, another language."""
_FLINK = pattern(r"(?:re)?set\s+'?([\w.-]+)'?(?:\s*=\s*'?([^']*?)'?)?", re.IGNORECASE)
_SET = pattern(r"\s*set\s+(?:hivevar:|hiveconf:|var(?:iable)?\s+)?`?([\w.-]+)`?\s*=", re.IGNORECASE)


def apply(statement: Statement, text: str, catalog: Warehouse, source: str) -> Warehouse:
    """The catalog after ``statement`` of ``text``, which came from ``source``. Raises nothing.

    A statement that defines nothing returns the catalog it was given.
    """
    if not statement.tokens:
        return catalog
    at = Cursor(statement.tokens, text)
    if statement.maybe:
        return _perhaps(at, catalog)
    match at.word:
        case "create" | "replace":
            return without_stale(catalog, _create(at, statement, catalog, source))
        case "cache":
            return without_stale(catalog, _cache(at, catalog, source))
        case "drop":
            return without_stale(catalog, _drop(at, catalog))
        case "alter":
            return without_stale(catalog, _alter(at, catalog))
        case "use":
            return _use(catalog, _used(at, catalog))
        case "set" | "reset":
            return _set(at, catalog)
        case "execute" if runs_unread(statement.tokens):
            return replace(catalog, relations={}, namespace=UNKNOWN_NAMESPACE)
    return catalog


def _perhaps(at: Cursor, catalog: Warehouse) -> Warehouse:
    """The catalog after what a script may have done, and may have not: what it names is unknown."""
    match at.word:
        case "create" | "replace" | "cache" | "alter":
            _, parts = defined(at)
            return _forget(catalog.without(parts), parts) if parts else catalog
        case "drop":
            return _drop(at, catalog)
        case "use":
            return _use(catalog, UNKNOWN_NAMESPACE)
        case "set":
            if at.follow("set", "catalog"):
                return _use(catalog, UNKNOWN_NAMESPACE)
            after = _set(at, catalog)
            zone_set = catalog.zone_set or after.zone_set
            return replace(
                catalog, zone_set=zone_set, streaming=catalog.streaming or after.streaming
            )
    return catalog


def defined_name(tokens: Sequence[Token], text: str) -> Name:
    """The name in a CREATE, REPLACE, DROP, ALTER or CACHE as written; empty where there is none."""
    return _defined(Cursor(tokens, text))[1]


def _defined(at: Cursor) -> tuple[frozenset[str], Name]:
    """The words before the name of what is defined, and the name as written."""
    head, parts = defined(at)
    return head, parts if head & _TEMPORARY else written_apart(parts)


def made_name(tokens: Sequence[Token], text: str, catalog: Warehouse) -> Name:
    """The qualified name under which a CREATE makes something, empty where it is not written."""
    head, parts = _defined(Cursor(tokens, text))
    return catalog.qualify(_placed(parts, head)) if parts else ()


def _placed(parts: Name, head: Collection[str]) -> Name:
    """A name as written, in the schema of global temporary views if it is one's."""
    return ("global_temp", *parts) if len(parts) == 1 and "global" in head else parts


def defines_relation(statement: Statement, text: str) -> bool:
    """Whether this is a CREATE or REPLACE of a table or view, read or not."""
    at = Cursor(statement.tokens, text)
    return at.word in {"create", "replace"} and after_kind(at) > 0


def renames(statement: Statement, text: str) -> bool:
    """Whether this is ALTER TABLE … RENAME TO another name."""
    at = Cursor(statement.tokens, text)
    renamed = at.word == "alter" and bool(defined(at)[1]) and at.take("rename", "to")
    return renamed and bool(at.name())


def sets_variable(statement: Statement, text: str) -> bool:
    """Whether this is a SET of a variable, and of no setting by which names or types are others."""
    found = _SET.match(text, statement.start)
    return found is not None and not _reads_otherwise(text, found)


def _reads_otherwise(text: str, found: re.Match[str]) -> bool:
    """Whether a SET is of a setting under which texts mean something else than here."""
    variable = found.group(1).lower()
    if variable == _PARSES:
        return _BOTH_PARSERS.match(text[found.end() :].lstrip()) is not None
    return variable in _OTHER_NAMES


def unread(statement: Statement, text: str) -> str:
    """Why a definition cannot be read."""
    at = Cursor(statement.tokens, text)
    defined(at)
    return read(at).unread or "it may be one of two"


def written_types(statement: Statement, text: str) -> dict[str, str]:
    """The types in the list of columns as the author wrote them, by the columns' names."""
    at = Cursor(statement.tokens, text)
    defined(at)
    columns = at.group() if at.opens else None
    items = columns.items() if columns is not None else ()
    return {name: type_text(it) for it in items if (name := it.part())}


def _create(at: Cursor, statement: Statement, catalog: Warehouse, source: str) -> Warehouse:
    head, parts = _defined(at)
    if not parts or ("exists" in head and catalog.qualify(parts) in catalog.relations):
        return catalog
    said = read(at)
    if said.unread is not None:
        return _forget(catalog, parts)
    if _BLOCK.search(at.text, statement.start, at.tokens[at.end - 1].end):
        said.complete = False
    # A materialised view is stored, and may be older than what its query reads today: a table.
    if "view" in head and said.query is not None and "materialized" not in head:
        names = tuple(column.name for column in said.columns)
        query = at.slice(said.query, at.end)
        relation: TableOrView = View(parts, query, names, catalog.namespace, source)
    else:
        relation = created_table(said, parts, catalog, source, streaming="streaming" in head)
    if len(parts) == 1 and head & _TEMPORARY and "global" not in head:
        return _create_temporary(catalog, relation, at, said)
    name = catalog.qualify(_placed(parts, head))
    return catalog.with_relation(replace(relation, name=name))


def _cache(at: Cursor, catalog: Warehouse, source: str) -> Warehouse:
    """``CACHE TABLE x AS query`` makes a temporary view; without a query it defines nothing."""
    _, parts = defined(at)
    said = read(at)
    if said.query is None or len(parts) != 1:
        return catalog
    query = at.slice(said.query, at.end)
    view = View(parts, query, namespace=catalog.namespace, source=source)
    return _create_temporary(catalog, view, at, said)


def query_of(tokens: Sequence[Token], text: str) -> tuple[tuple[str, ...], str]:
    """The columns listed in a CREATE or CACHE of a table or view, and the query behind its AS."""
    at = Cursor(tokens, text)
    if not defined(at)[1]:
        return (), ""
    said = read(at)
    names = tuple(column.name for column in said.columns)
    return names, "" if said.query is None else at.slice(said.query, at.end)


# --- temporary views
#
# A temporary view has no namespace: it hides the table of its name whatever USE says, and only
# under its short name. The catalog knows qualified names only, so such a view stands in the current
# namespace where nothing else is known under that name; otherwise the name becomes unknown. The
# relation with the bare name says that there is such a view.


def _create_temporary(
    catalog: Warehouse, relation: TableOrView, at: Cursor, said: Definition
) -> Warehouse:
    bare, place = catalog.qualify(relation.name)[-1:], catalog.qualify(relation.name)
    was_temporary, was_known = bare in catalog.relations, place in catalog.relations
    after = catalog.with_relation(replace(relation, name=bare))
    # Its own name in its query means the table that it hides.
    words = range(at.end if said.query is None else said.query, at.end)
    recursive = any(at.tokens[n].text.lower() == bare[0] for n in words)
    if was_temporary != was_known or recursive:
        return after.without(place)
    return after.with_relation(replace(relation, name=place))


def _forget(catalog: Warehouse, parts: Name) -> Warehouse:
    return catalog.without(catalog.qualify(parts)) if parts else catalog


def _drop(at: Cursor, catalog: Warehouse) -> Warehouse:
    behind = after_kind(at)
    if behind:
        at.at = behind
        for item in at.items():
            parts = item.name()
            # DROP TABLE drops a temporary view of that name, too.
            catalog = _forget(catalog, parts)
            catalog = catalog.without(parts) if len(parts) == 1 else catalog
    elif at.word_at(1) in SCHEMAS:
        at.at = 4 if at.word_at(2) == "if" else 2
        catalog = _drop_namespace(catalog, at.name())
    return catalog


def _drop_namespace(catalog: Warehouse, parts: Name) -> Warehouse:
    if not parts:
        return catalog
    namespace = parts if len(parts) > 1 else (catalog.namespace[0], *parts)
    for name in catalog.relations:
        if name[: len(namespace)] == namespace and len(name) > len(namespace):
            catalog = catalog.without(name)
    return catalog


def _used(at: Cursor, catalog: Warehouse) -> Name:
    """The namespace that a USE means; the default schema of a catalog is ``default``."""
    at.at += 1
    kind = at.word if at.word in {"catalog", *SCHEMAS} and at.at + 1 < at.end else ""
    at.at += bool(kind)
    parts = at.name()
    if not parts or not at.done:
        return UNKNOWN_NAMESPACE
    if len(parts) > 1:
        return parts
    is_catalog = kind == "catalog"
    if not kind:
        # As Spark does: a name that is a catalog's means the catalog.
        is_catalog = any(name[0] == parts[0] for name in catalog.relations if name[2:])
    return (*parts, _DEFAULT_SCHEMA) if is_catalog else (catalog.namespace[0], *parts)


def _set(at: Cursor, catalog: Warehouse) -> Warehouse:
    """SET CATALOG; a SET of a variable: whatever has it in its name may be another now; and one of
    a setting under which nothing is what it was."""
    if at.follow("set", "time", "zone"):
        return replace(catalog, zone_set=True)
    if at.take("set", "catalog"):
        parts = at.name()
        known = len(parts) == 1 and at.done
        return _use(catalog, (*parts, _DEFAULT_SCHEMA) if known else UNKNOWN_NAMESPACE)
    found = _SET.match(at.text, at.tokens[0].start)
    variable = found.group(1).lower() if found else ""
    if not variable or variable in (_MODE, _DIALECT):
        return _set_in_flink(at, catalog)
    of_spark = setting(variable)
    if found is not None and of_spark is not None:
        value = at.text[found.end() : at.tokens[-1].end + 1].strip().strip("`")
        return replace(catalog, settings={**catalog.settings, of_spark: value})
    if variable == _ZONE:
        return replace(catalog, zone_set=True)
    if found is not None and _reads_otherwise(at.text, found):
        return replace(catalog, relations={}, namespace=UNKNOWN_NAMESPACE)
    for name in catalog.relations if variable else ():
        if _holds(name, variable):
            catalog = catalog.without(name)
    if variable and _holds(catalog.namespace, variable):
        return replace(catalog, namespace=UNKNOWN_NAMESPACE)
    return catalog


def _set_in_flink(at: Cursor, catalog: Warehouse) -> Warehouse:
    """``SET 'name' = 'value'``, and RESET, which brings back its default: streaming."""
    found = _FLINK.fullmatch(at.rest())
    name, value = (found[1].lower(), (found[2] or "").lower()) if found else ("", "")
    reset = at.word == "reset" and at.end == 1 and catalog.streaming is not None
    if name == _MODE or reset:
        return replace(catalog, streaming=value != "batch")
    if name == _DIALECT and value not in ("", "default"):
        return replace(catalog, relations={}, namespace=UNKNOWN_NAMESPACE)
    of_engine = setting(name)
    if of_engine is not None:
        return replace(catalog, settings={**catalog.settings, of_engine: value})
    return catalog


def _holds(name: Name, variable: str) -> bool:
    return any("$" in part and variable in re.split(r"[^\w.]+", part) for part in name)


def _use(catalog: Warehouse, namespace: Name) -> Warehouse:
    """The catalog in another namespace, where the names of temporary views are unknown."""
    for bare in [name for name in catalog.relations if len(name) == 1]:
        catalog = catalog.without((*catalog.namespace, *bare)).without((*namespace, *bare))
    return replace(catalog, namespace=namespace)


def _alter(at: Cursor, catalog: Warehouse) -> Warehouse:
    """The catalog after an ALTER, which is followed as far as it is understood."""
    parts = written_apart(defined(at)[1])
    relation = catalog.relations.get(catalog.qualify(parts)) if parts else None
    if relation is None:
        return catalog
    if at.take("rename", "to"):
        return _renamed(catalog, relation, parts, at.name())
    after = altered(relation, at, catalog)
    if after is None:
        return catalog.without(relation.name)
    return catalog if after is relation else catalog.with_relation(after)


def _renamed(catalog: Warehouse, relation: TableOrView, old: Name, new: Name) -> Warehouse:
    catalog = catalog.without(relation.name)
    if not new or relation.name[-1:] in catalog.relations:  # which of two it was is not told
        return catalog
    place = catalog.qualify(new if len(new) > 1 else (*old[:-1], *new))
    return catalog.with_relation(replace(relation, name=place))
