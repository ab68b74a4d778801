"""The catalog after a statement: CREATE, REPLACE, DROP, ALTER, CACHE, USE and SET.

The DDL loader folds this over a file, the rewriter over a script. A definition that cannot be read
makes its relation unknown. So does a change of a table for the views that read it: Spark keeps the
column names and types that a view had when it was created.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import takewhile

from sqlglot import Token

from sqlrewrite.copies import replace
from sqlrewrite.relation_maps import Relations
from sqlrewrite.settings.spark_conf import TIME_PARSER_POLICY, known_setting
from sqlrewrite.sql.ddl.alter_table import altered
from sqlrewrite.sql.ddl.clauses import read_clauses, type_text
from sqlrewrite.sql.ddl.created_table import created_table
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.ddl.head import (
    SCHEMAS,
    in_global_schema,
    name_index,
    open_names,
    opens_with_template,
    take_head,
)
from sqlrewrite.sql.parse.scripts import runs_unread
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.warehouse import (
    Name,
    Table,
    TableOrView,
    View,
    Warehouse,
    has_template,
    may_be_temporary,
    may_render_to,
    temporary_name,
    written_apart,
)

UNKNOWN_NAMESPACE: Name = ("?", "?")
"""The namespace after a USE that cannot be read: it has no tables, so no short name resolves."""

_DEFAULT_SCHEMA = "default"
_TEMPORARY = frozenset({"temp", "temporary"})
_BLOCK = re.compile(r"\{%(?![-+]?\s*(?:set|do)\s)")
_CHANGE_MEANING = frozenset(
    {
        *("spark.sql.casesensitive", "spark.sql.timestamptype"),
        *("spark.sql.parser.quotedregexcolumnnames", "spark.sql.path.enabled"),
        "spark.sql.defaultcatalog",
    }
)
"""Settings that change what names or types mean (docs/soundness.md, "Settings of Spark"): after one
is set, nothing in the text is rewritten."""
_EXCEPTION_POLICY = re.compile(r"['\"`]?(?:exception\b|\?)", re.IGNORECASE)
"""The value, or a parameter for it, with which parsing a date by any pattern may raise an error."""
_DEFAULT_CATALOG = "spark.sql.defaultcatalog"
_TIME_ZONE = "spark.sql.session.timezone"
_RUNTIME_MODE, _FLINK_DIALECT = "execution.runtime-mode", "table.sql-dialect"
"""Flink's settings: tables are streams in any mode but batch; another dialect is another
language."""
_FLINK_SET = re.compile(r"set\s+'?([\w.-]+)'?(?:\s*=\s*'?([^']*?)'?)?", re.IGNORECASE)
_SET = re.compile(
    r"\s*set\s+(?:hivevar:|hiveconf:|var(?:iable)?\s+)?`?([\w.${}-]+)`?\s*=", re.IGNORECASE
)


def apply(statement: Statement, text: str, catalog: Warehouse, source: str) -> Warehouse:
    """The catalog after ``statement`` of ``text``, which came from ``source``; the same object if
    the statement defines nothing. Raises nothing."""
    if not statement.tokens:
        return catalog
    opened = open_names(statement.tokens, text)
    if opened:
        names = dict.fromkeys((*catalog.open_names, *opened))
        catalog = replace(catalog, open_names=tuple(names))
    cursor = Cursor(statement.tokens, text)
    if statement.maybe:
        return _apply_uncertain(cursor, catalog)
    if opens_with_template(cursor):
        return _unsure(catalog, take_head(cursor)[1])
    match cursor.word:
        case "create" | "replace":
            return without_stale(catalog, _create(cursor, statement, catalog, source))
        case "cache":
            return without_stale(catalog, _cache(cursor, catalog, source))
        case "drop":
            return without_stale(catalog, _drop(cursor, catalog))
        case "alter":
            return without_stale(catalog, _alter(cursor, catalog))
        case "use":
            return _in_namespace(catalog, _namespace_of_use(cursor, catalog))
        case "set" | "reset":
            return _set(cursor, catalog)
        case "execute" if runs_unread(statement.tokens):
            return _unknown(catalog)
    return catalog


def _unknown(catalog: Warehouse) -> Warehouse:
    """The catalog after a statement that may have changed anything: no relation is known."""
    return _in_namespace(replace(catalog, relations=Relations()).any_temporary(), UNKNOWN_NAMESPACE)


def _apply_uncertain(cursor: Cursor, catalog: Warehouse) -> Warehouse:
    """The catalog after a statement that a script may or may not have run: the names in it are
    unknown."""
    match cursor.word:
        case "create" | "replace" | "cache" | "alter":
            head, parts = take_head(cursor)
            if head & _TEMPORARY or cursor.tokens[0].text.lower() == "cache":
                after = catalog.without(_place(parts, head | _TEMPORARY, catalog))
                return after.without(parts[-1:]) if _may_hide(parts, head) else after
            if "not" in head and catalog.qualify(parts) in catalog.relations:
                return catalog  # the existing table stays, whether this runs or not
            new = cursor.name() if cursor.take("rename", "to") else ()
            return _unsure(_unsure(catalog, parts), new)
        case "drop":
            return _drop(cursor, catalog, certain=False)
        case "use":
            return _in_namespace(catalog, UNKNOWN_NAMESPACE)
        case "execute" if runs_unread(cursor.tokens):
            return _unknown(catalog)
        case "set" | "reset":
            if cursor.peek("set", "catalog"):
                return _in_namespace(catalog, UNKNOWN_NAMESPACE)
            after = _set(cursor, catalog)
            if after.namespace == UNKNOWN_NAMESPACE:
                return after
            policies = {each.settings.get(TIME_PARSER_POLICY) for each in (catalog, after)}
            doubt = {TIME_PARSER_POLICY: "?"} if len(policies) > 1 else {}
            return replace(
                catalog,
                settings={**catalog.settings, **doubt},
                zone_set=catalog.zone_set or after.zone_set,
                streaming=catalog.streaming or after.streaming,
            )
    return catalog


def defined_name(tokens: Sequence[Token], text: str) -> Name:
    """The name in a CREATE, REPLACE, DROP, ALTER or CACHE as written; else empty."""
    return _written_name(Cursor(tokens, text))[1]


def _written_name(cursor: Cursor) -> tuple[frozenset[str], Name]:
    """The words before the name of what is defined, and the name as written."""
    head, parts = take_head(cursor)
    return head, parts if head & _TEMPORARY else written_apart(parts)


def _place(parts: Name, head: Collection[str], catalog: Warehouse) -> Name:
    """The qualified name of the relation that a CREATE with these words before the name (``head``)
    makes; empty if the name is not written out."""
    if parts and not _TEMPORARY.isdisjoint(head) and "global" not in head:
        temporary = temporary_name(parts)
        if temporary:
            return temporary
    return catalog.qualify(in_global_schema(parts, head)) if parts else ()


def _may_hide(parts: Name, head: Collection[str]) -> bool:
    """Whether a CREATE with these words before the name may make a temporary view because its
    schema is a template, which may render to ``session``."""
    temporary = not _TEMPORARY.isdisjoint(head) and "global" not in head
    return temporary and not temporary_name(parts) and may_be_temporary(parts)


def created_name(tokens: Sequence[Token], text: str, catalog: Warehouse) -> Name:
    """The qualified name of what a CREATE makes; empty if the name is not written out."""
    cursor = Cursor(tokens, text)
    head, parts = _written_name(cursor)
    return _place(parts, head | _TEMPORARY if cursor.word_at(0) == "cache" else head, catalog)


def defines_relation(statement: Statement, text: str) -> bool:
    """Whether this is a CREATE or REPLACE of a table or view, readable or not."""
    cursor = Cursor(statement.tokens, text)
    return cursor.word in {"create", "replace"} and name_index(cursor) > 0


def renames(statement: Statement, text: str) -> bool:
    """Whether this is ALTER TABLE … RENAME TO another name."""
    cursor = Cursor(statement.tokens, text)
    renamed = cursor.word == "alter" and bool(take_head(cursor)[1]) and cursor.take("rename", "to")
    return renamed and bool(cursor.name())


def sets_variable(statement: Statement, text: str) -> bool:
    """Whether this is a SET of a variable or of a setting that changes no name or type."""
    match = _SET.match(text, statement.start)
    return match is not None and not _changes_meaning(text, match)


def _changes_meaning(text: str, match: re.Match[str]) -> bool:
    """Whether a SET changes a setting by which names or types get another meaning."""
    variable = match.group(1).lower()
    if variable == TIME_PARSER_POLICY.lower():
        return _EXCEPTION_POLICY.match(text[match.end() :].lstrip()) is not None
    computed = variable.startswith("spark.") and has_template(variable)
    return variable in _CHANGE_MEANING or (
        computed and any(may_render_to(variable, name) for name in _CHANGE_MEANING)
    )


def why_unreadable(statement: Statement, text: str) -> str:
    """Why a definition cannot be read."""
    cursor = Cursor(statement.tokens, text)
    take_head(cursor)
    return read_clauses(cursor).failure or "its text can be read in two ways"


def written_types(statement: Statement, text: str) -> dict[str, str]:
    """The types in the list of columns as the author wrote them, by column name."""
    cursor = Cursor(statement.tokens, text)
    take_head(cursor)
    items = cursor.group_items()
    return {name: type_text(item) for item in items if (name := item.name_part())}


def _create(cursor: Cursor, statement: Statement, catalog: Warehouse, source: str) -> Warehouse:
    head, parts = _written_name(cursor)
    name = _place(parts, head, catalog)
    if _may_hide(parts, head):
        return catalog.without(parts[-1:])
    if not name or ("exists" in head and name in catalog.relations):
        return catalog
    definition = read_clauses(cursor)
    # A default collation is that of the texts which its query computes, too.
    queried = definition.query is not None
    if definition.failure is not None or (queried and definition.collation is not None):
        return catalog.without(name)
    if _BLOCK.search(cursor.text, statement.start, cursor.tokens[cursor.end - 1].end):
        definition.complete = False
    # A materialized view is stored, and may be older than the tables of its query: it is read as a
    # table.
    if "view" in head and definition.query is not None and "materialized" not in head:
        names = tuple(column.name for column in definition.columns)
        relation: TableOrView = _view(name, cursor, definition.query, catalog, source, names)
    else:
        relation = created_table(definition, parts, catalog, source)
    return catalog.with_relation(replace(relation, name=name))


def _view(
    name: Name, cursor: Cursor, start: int, catalog: Warehouse, source: str, columns: Name = ()
) -> View:
    """The view whose query begins at the token ``start``. A permanent view reads no temporary
    views."""
    words = {token.text.lower() for token in cursor.tokens[start : cursor.end]}
    temporaries = catalog.temporaries(words) if len(name) == 1 else ()
    query = cursor.slice(start, cursor.end)
    return View(name, query, columns, catalog.namespace, source, temporaries)


def _cache(cursor: Cursor, catalog: Warehouse, source: str) -> Warehouse:
    """The catalog after ``CACHE TABLE x AS query``, which makes a temporary view; unchanged if
    there is no query."""
    _, parts = take_head(cursor)
    definition = read_clauses(cursor)
    if definition.query is None or len(parts) != 1:
        return catalog
    return catalog.with_relation(_view(parts, cursor, definition.query, catalog, source))


def created_query(tokens: Sequence[Token], text: str) -> tuple[tuple[str, ...], str]:
    """The columns listed in a CREATE or CACHE of a table or view, and the query behind its AS."""
    cursor = Cursor(tokens, text)
    if not take_head(cursor)[1]:
        return (), ""
    definition = read_clauses(cursor)
    names = tuple(column.name for column in definition.columns)
    return names, "" if definition.query is None else cursor.slice(definition.query, cursor.end)


def _unsure(catalog: Warehouse, parts: Name) -> Warehouse:
    """The catalog in which nothing is known of a name, as a temporary view or as a table."""
    if not parts:
        return catalog
    after = catalog.without(catalog.qualify(written_apart(parts)))
    temporary = temporary_name(parts)
    return after.without(temporary) if temporary else after


def _drop(cursor: Cursor, catalog: Warehouse, *, certain: bool = True) -> Warehouse:
    """The catalog after a DROP: without the temporary view of that name if there is one, else
    without the table (docs/spark.md)."""
    start = name_index(cursor)
    if start:
        cursor.index = start
        for item in cursor.items():
            parts = item.name()
            temporary = temporary_name(parts)
            if certain and temporary in catalog.relations:
                catalog = catalog.uncovered(temporary)
            elif certain and temporary not in catalog.hidden:
                name = catalog.qualify(written_apart(parts)) if parts else ()
                catalog = catalog.without(name) if parts else catalog
            else:
                catalog = _unsure(catalog, parts)
    elif cursor.word_at(1) in SCHEMAS:
        cursor.index = 4 if cursor.word_at(2) == "if" else 2
        catalog = _drop_namespace(catalog, cursor.name())
    return catalog


def _drop_namespace(catalog: Warehouse, parts: Name) -> Warehouse:
    if not parts:
        return catalog
    namespace = parts if len(parts) > 1 else (catalog.namespace[0], *parts)
    for name in catalog.relations.below(namespace):
        catalog = catalog.without(name)
    return catalog


def _namespace_of_use(cursor: Cursor, catalog: Warehouse) -> Name:
    """The namespace that a USE makes current; in another catalog its schema is ``default``."""
    cursor.index += 1
    kind = (
        cursor.word
        if cursor.word in {"catalog", *SCHEMAS} and cursor.index + 1 < cursor.end
        else ""
    )
    cursor.index += bool(kind)
    parts = cursor.name()
    if not parts or not cursor.done:
        return UNKNOWN_NAMESPACE
    if len(parts) > 1:
        return parts
    is_catalog = kind == "catalog"
    if not kind:
        # As in Spark: a name that a catalog has means the catalog.
        is_catalog = catalog.relations.has_catalog(parts[0])
    return (*parts, _DEFAULT_SCHEMA) if is_catalog else (catalog.namespace[0], *parts)


def _set(cursor: Cursor, catalog: Warehouse) -> Warehouse:
    """The catalog after SET CATALOG, a SET of a variable, or one of a setting."""
    if cursor.peek("set", "time", "zone"):
        return replace(catalog, zone_set=True)
    if cursor.take("set", "catalog"):
        parts = cursor.name()
        certain = len(parts) == 1 and cursor.done
        return _in_namespace(catalog, (*parts, _DEFAULT_SCHEMA) if certain else UNKNOWN_NAMESPACE)
    if cursor.word == "reset":
        return _reset(cursor, catalog)
    match = _SET.match(cursor.text, cursor.tokens[0].start)
    variable = match.group(1).lower() if match else ""
    if not variable or variable in (_RUNTIME_MODE, _FLINK_DIALECT):
        return _set_in_flink(cursor, catalog)
    if match is not None and _changes_meaning(cursor.text, match):
        return _unknown(catalog)
    of_spark = known_setting(variable)
    if match is not None and of_spark is not None:
        value = cursor.text[match.end() : cursor.tokens[-1].end + 1].strip().strip("`")
        return _with_setting(catalog, of_spark, value)
    if variable == _TIME_ZONE:
        return replace(catalog, zone_set=True)
    for name in catalog.relations.variable if variable else ():
        if _contains(name, variable):
            catalog = catalog.without(name)
    if variable and _contains(catalog.namespace, variable):
        return _in_namespace(catalog, UNKNOWN_NAMESPACE)
    return catalog


def _with_setting(catalog: Warehouse, name: str, value: str) -> Warehouse:
    before = catalog.settings if catalog.reset_settings is None else catalog.reset_settings
    return replace(catalog, settings={**catalog.settings, name: value}, reset_settings=before)


def _reset(cursor: Cursor, catalog: Warehouse) -> Warehouse:
    """The catalog after RESET of one setting, or of all: each has the project's value again, else
    its default."""
    name = cursor.slice(1, cursor.end).strip("`'").lower()
    if name == _DEFAULT_CATALOG:  # the session may have been started with any value
        return _unknown(catalog)
    if name == _RUNTIME_MODE or (not name and catalog.streaming is not None):
        catalog = replace(catalog, streaming=True)  # Flink's default
    before = catalog.reset_settings
    if before is None:
        return catalog
    if not name:
        return replace(catalog, settings=before)
    after = {key: value for key, value in catalog.settings.items() if key.lower() != name}
    values = {key: value for key, value in before.items() if key.lower() == name}
    return replace(catalog, settings={**after, **values})


def _set_in_flink(cursor: Cursor, catalog: Warehouse) -> Warehouse:
    """The catalog after Flink's ``SET 'name' = 'value'``."""
    match = _FLINK_SET.fullmatch(cursor.rest())
    name, value = (match[1].lower(), (match[2] or "").lower()) if match else ("", "")
    if name == _RUNTIME_MODE:
        return replace(catalog, streaming=value != "batch")
    if name == _FLINK_DIALECT and value not in ("", "default"):
        return _unknown(catalog)
    of_engine = known_setting(name)
    return catalog if of_engine is None else _with_setting(catalog, of_engine, value)


def _contains(name: Name, variable: str) -> bool:
    return any("$" in part and variable in re.split(r"[^\w.]+", part) for part in name)


def _in_namespace(catalog: Warehouse, namespace: Name) -> Warehouse:
    """The catalog with another current namespace, chosen by the text; temporary views have no
    namespace."""
    named = not any(map(has_template, namespace))
    return replace(catalog, namespace=namespace, schema_named=named)


def _alter(cursor: Cursor, catalog: Warehouse) -> Warehouse:
    """The catalog after an ALTER of the temporary view of that name if there is one, else of the
    table or view."""
    parts = take_head(cursor)[1]
    renamed = bool(parts) and cursor.take("rename", "to")
    new = cursor.name() if renamed else ()
    name = parts
    if parts and not (len(parts) == 1 and parts in catalog.relations):
        name = catalog.qualify(written_apart(parts))
    relation = catalog.relations.get(name)
    unsure = len(name) > 1 and len(parts) == 1 and catalog.may_hide(parts)
    if renamed and (unsure or relation is None):  # it may be a temporary view made elsewhere
        return _unsure(_unsure(catalog, parts), new)
    if relation is None:
        return catalog
    if renamed:
        return _renamed(catalog, relation, written_apart(parts), new)
    if unsure:
        return catalog.without(relation.name)
    after = altered(relation, cursor, catalog)
    if after is None:
        return catalog.without(relation.name)
    return catalog if after is relation else catalog.with_relation(after)


def _renamed(catalog: Warehouse, relation: TableOrView, old: Name, new: Name) -> Warehouse:
    if len(relation.name) == 1:
        after = catalog.uncovered(relation.name)
        return after.with_relation(replace(relation, name=new)) if len(new) == 1 else after
    catalog = catalog.without(relation.name)
    if not new:
        return catalog
    place = catalog.qualify(new if len(new) > 1 else (*old[:-1], *new))
    return catalog.with_relation(replace(relation, name=place))


def without_stale(before: Warehouse, after: Warehouse) -> Warehouse:
    """The catalog without the views that read a relation that a statement has changed, directly or
    through other views."""
    if after is before or len(after.relations) > len(before.relations):
        return after  # no change, or only a new relation
    changes = before.relations.changes(after.relations)
    changed = {name: (old, new) for name, old, new in changes if old is not None}
    while changed:
        stale = {
            view.name: (view, None)
            for name, change in changed.items()
            for view in after.relations.readers(name[-1])
            if isinstance(view, View)
            and view is before.relations.get(view.name)
            and _reads(view, name, *change)
        }
        for name in stale:
            after = after.without(name)
        changed = {**stale}
    return after


def _reads(view: View, name: Name, before: TableOrView, after: TableOrView | None) -> bool:
    """Whether a view may read the relation ``name``, and so change with it."""
    if len(name) == 1 and name not in view.temporaries:
        return False
    if not re.search(rf"(?<!\w){re.escape(name[-1])}(?!\w)", view.query, re.IGNORECASE):
        return False
    return "*" in view.query or not _only_more_columns(before, after)


def _only_more_columns(before: TableOrView, after: TableOrView | None) -> bool:
    if not isinstance(before, Table) or not isinstance(after, Table):
        return False
    pairs = zip(before.columns, after.columns, strict=False)
    alike = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return alike == len(before.columns)
