"""What the catalog is after a statement: CREATE, REPLACE, DROP, ALTER, CACHE and USE, followed.

In comes a parsed statement and the catalog before it, out goes the catalog after it. The DDL loader
folds this over a file, the rewriter over a script. A definition that cannot be read makes its
relation unknown: what was known under that name before is no longer so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from sqlrewrite.sql import parse
from sqlrewrite.sql.table_definition import created_table
from sqlrewrite.warehouse import Name, Table, View, Warehouse

UNKNOWN_NAMESPACE: Name = ("?", "?")
"""The namespace after a USE that cannot be read: no table is there, so no short name resolves."""

_DEFAULT_SCHEMA = "default"
_TEMPLATE = re.compile(r"\{\{|\{%|\{#|\$\{")

# What a CREATE or DROP may be of before the word TABLE comes, in CREATE POLICY p ON TABLE t.
_OTHER_KINDS = frozenset(
    {"function", "schema", "database", "namespace", "index", "on", "procedure"}
)

# ALTER TABLE actions after which columns, keys and partition fields are what they were. An
# allow-list: an action that is not here makes the table unknown.
_HARMLESS = (
    ("set", "tblproperties"),
    ("set", "location"),
    ("set", "serde"),
    ("set", "serdeproperties"),
    ("set", "fileformat"),
    ("set", "owner"),
    ("set", "tags"),
    ("unset", "tblproperties"),
    ("unset", "tags"),
    ("add", "partition"),
    ("add", "if", "not", "exists", "partition"),
    ("add", "constraint"),
    ("drop", "partition"),
    ("drop", "if", "exists", "partition"),
    ("partition",),
    ("recover", "partitions"),
    ("cluster", "by"),
    ("write",),
    ("owner", "to"),
)
# … though the same words open Iceberg's ADD PARTITION FIELD and DROP PARTITION FIELD.
_PARTITION_FIELD = ("partition", "field")


def apply(statement: parse.Statement, text: str, catalog: Warehouse, source: str) -> Warehouse:
    """The catalog after ``statement`` of ``text``, which came from ``source``. Raises nothing.

    A statement that defines nothing returns the catalog it was given.
    """
    if not statement.tokens:
        return catalog
    tree = _tree(statement, text)
    if isinstance(tree, exp.Create | exp.Cache | exp.Drop | exp.Use):
        return _followed(tree, statement, text, catalog, source)
    return _guarded(statement, catalog)


def _followed(
    tree: exp.Expr, statement: parse.Statement, text: str, catalog: Warehouse, source: str
) -> Warehouse:
    """The catalog after a definition that was read."""
    match tree:
        case exp.Create():
            return _create(tree, statement, text, catalog, source)
        case exp.Cache():
            return _cache(tree, statement, text, catalog, source)
        case exp.Drop():
            return _drop(tree, catalog)
        case exp.Use():
            return _use(catalog, _used(tree, catalog))
    return catalog


def _guarded(statement: parse.Statement, catalog: Warehouse) -> Warehouse:
    """The catalog after a statement that has no tree: what it may have changed is unknown."""
    match statement.tokens[0].text.lower():
        case "create" | "replace" | "drop" | "cache":
            return _forget(catalog, defined_name(statement))
        case "alter":
            return _alter(statement, catalog)
        case "use":
            return _use(catalog, UNKNOWN_NAMESPACE)
        case "set":
            return _set_catalog(statement, catalog)
    return catalog


def defined_name(statement: parse.Statement) -> Name:
    """The table or view that a CREATE, REPLACE, DROP, ALTER or CACHE names, as written, from its
    tokens alone; empty where there is none."""
    return _name_at(statement.tokens, _after_kind(statement.tokens))[0]


def defines_relation(statement: parse.Statement) -> bool:
    """Whether this is a CREATE or REPLACE of a table or view, read or not."""
    if not statement.tokens or statement.tokens[0].text.lower() not in {"create", "replace"}:
        return False
    return _after_kind(statement.tokens) > 0


def unread(statement: parse.Statement) -> bool:
    """Whether sqlglot has no tree of this statement, or merely repeats its text as a command."""
    return statement.tree is None or isinstance(statement.tree, exp.Command)


# --- CREATE and CACHE


def _tree(statement: parse.Statement, text: str) -> exp.Expr | None:
    """The statement's tree, also of two kinds that are not parsed among queries: Iceberg's REPLACE
    TABLE, read as a CREATE, and a CREATE TABLE with template text in its literals alone."""
    tokens = statement.tokens
    first = tokens[0]
    replaces = first.text.lower() == "replace"
    templated = statement.failure is not None and _template_in_literals(statement, text)
    if not templated and (statement.failure is not None or not replaces):
        return statement.tree
    create = Token(TokenType.CREATE, "CREATE", first.line, first.col, first.start, first.end)
    try:
        return parse.parse_tokens([create if replaces else first, *tokens[1:]], text)
    except (SqlglotError, RecursionError):
        return None


def _template_in_literals(statement: parse.Statement, text: str) -> bool:
    """Whether a definition without a query has template text, all of it in string literals:
    ``LOCATION '${root}/sales'`` changes nothing that the catalog holds."""
    if not defines_relation(statement):
        return False
    outside, at = [], statement.start
    for token in statement.tokens:
        if token.token_type is TokenType.SELECT:
            return False
        if token.token_type is TokenType.STRING:
            outside.append(text[at : token.start])
            at = token.end + 1
    outside.append(text[at : statement.tokens[-1].end + 1])
    failure = statement.failure
    inside = failure is not None and _TEMPLATE.match(text, failure.offset) is not None
    return inside and not any(_TEMPLATE.search(part) for part in outside)


def _create(
    tree: exp.Create, statement: parse.Statement, text: str, catalog: Warehouse, source: str
) -> Warehouse:
    kind = str(tree.args.get("kind") or "").upper()
    parts = _parts(tree.find(exp.Table)) if kind in {"TABLE", "VIEW"} else ()
    if not parts:
        return catalog
    if tree.args.get("exists") and catalog.resolve(parts) is not None:
        return catalog
    properties = tree.args.get("properties")
    flags = {type(item) for item in properties.expressions} if properties else set()
    if kind == "VIEW" and tree.expression and exp.MaterializedProperty not in flags:
        query = query_text(statement.tokens, text)
        columns = tuple(item.name for item in tree.this.expressions if _names_column(item))
        relation: Table | View = View(
            parts, query, columns, namespace=catalog.namespace, source=source
        )
    else:
        # A materialised view is stored, and may be older than what its query reads today: a table.
        relation = created_table(tree, parts, catalog, source)
    if exp.TemporaryProperty in flags and exp.GlobalProperty not in flags and len(parts) == 1:
        return _create_temporary(catalog, relation, tree)
    if exp.GlobalProperty in flags and len(parts) == 1:
        parts = ("global_temp", *parts)
    return catalog.with_relation(replace(relation, name=catalog.qualify(parts)))


def _names_column(item: exp.Expr) -> bool:
    return isinstance(item, exp.ColumnDef | exp.Identifier)


def _cache(
    tree: exp.Cache, statement: parse.Statement, text: str, catalog: Warehouse, source: str
) -> Warehouse:
    """``CACHE TABLE x AS query`` makes a temporary view; without a query it defines nothing."""
    parts = _parts(tree.this)
    if not tree.expression or len(parts) != 1:
        return catalog
    query = query_text(statement.tokens, text)
    view = View(parts, query, namespace=catalog.namespace, source=source)
    return _create_temporary(catalog, view, tree)


def query_text(tokens: Sequence[Token], text: str) -> str:
    """The query of a CREATE VIEW or CACHE TABLE: from behind its AS to the end."""
    at = _name_at(tokens, _after_kind(tokens))[1]
    depth = 0
    while at < len(tokens):
        kind = tokens[at].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and kind is TokenType.ALIAS:
            at += 1
            break
        if depth == 0 and kind in {TokenType.SELECT, TokenType.WITH, TokenType.VALUES}:
            # CACHE TABLE may leave out its AS; the WITH of WITH SCHEMA begins no query.
            following = tokens[at + 1].text.lower() if at + 1 < len(tokens) else ""
            if following not in {"schema", "metrics"}:
                break
        at += 1
    return text[tokens[at].start : tokens[-1].end + 1] if at < len(tokens) else ""


# --- temporary views
#
# A temporary view has no namespace: it hides the table of its name whatever USE says, and only
# under its short name. The catalog knows qualified names only, so such a view stands in the current
# namespace where nothing else is known under that name; otherwise the name becomes unknown. The
# relation with the bare name says that there is such a view.


def _create_temporary(catalog: Warehouse, relation: Table | View, tree: exp.Expr) -> Warehouse:
    bare, place = catalog.qualify(relation.name)[-1:], catalog.qualify(relation.name)
    was_temporary, was_known = bare in catalog.relations, place in catalog.relations
    after = catalog.with_relation(replace(relation, name=bare))
    references = tree.expression.find_all(exp.Table) if tree.expression else ()
    # Its own name in its query means the table that it hides.
    recursive = any(catalog.qualify(_parts(table)) == place for table in references)
    if was_temporary != was_known or recursive:
        return after.without(place)
    return after.with_relation(replace(relation, name=place))


def _forget(catalog: Warehouse, parts: Name) -> Warehouse:
    return catalog.without(catalog.qualify(parts)) if parts else catalog


# --- DROP and USE


def _drop(tree: exp.Drop, catalog: Warehouse) -> Warehouse:
    tables = tree.args.get("tables") or [tree.this]
    kind = str(tree.args.get("kind") or "").upper()
    for table in tables:
        parts = _parts(table)
        if not parts:
            continue
        if kind in {"SCHEMA", "DATABASE", "NAMESPACE"}:
            catalog = _drop_namespace(catalog, parts)
        elif kind in {"TABLE", "VIEW"}:
            # DROP TABLE drops a temporary view of that name, too.
            catalog = _forget(catalog, parts)
            catalog = catalog.without(parts) if len(parts) == 1 else catalog
    return catalog


def _drop_namespace(catalog: Warehouse, parts: Name) -> Warehouse:
    namespace = parts if len(parts) > 1 else (catalog.namespace[0], *parts)
    for name in catalog.relations:
        if name[: len(namespace)] == namespace and len(name) > len(namespace):
            catalog = catalog.without(name)
    return catalog


def _used(tree: exp.Use, catalog: Warehouse) -> Name:
    """The namespace that a USE means; the default schema of a catalog is ``default``."""
    table = tree.this
    kind = tree.args.get("kind")
    parts = _parts(table)
    alias = table.alias.lower() if isinstance(table, exp.Table) else ""
    if alias and parts == ("namespace",):  # sqlglot reads USE NAMESPACE x as a table and its alias
        parts = (alias,)
    if not parts:
        return UNKNOWN_NAMESPACE
    if len(parts) > 1:
        return parts
    is_catalog = kind is not None and kind.name.upper() == "CATALOG"
    if kind is None and not alias:
        # As Spark does: a name that is a catalog's means the catalog.
        is_catalog = any(name[0] == parts[0] for name in catalog.relations if name[2:])
    return (*parts, _DEFAULT_SCHEMA) if is_catalog else (catalog.namespace[0], *parts)


def _set_catalog(statement: parse.Statement, catalog: Warehouse) -> Warehouse:
    match [token.text.lower() for token in statement.tokens]:
        case ["set", "catalog", name] if statement.failure is None:
            return _use(catalog, (name, _DEFAULT_SCHEMA))
        case ["set", "catalog", *_]:
            return _use(catalog, UNKNOWN_NAMESPACE)
    return catalog


def _use(catalog: Warehouse, namespace: Name) -> Warehouse:
    """The catalog in another namespace, where the names of temporary views are unknown."""
    for bare in [name for name in catalog.relations if len(name) == 1]:
        catalog = catalog.without((*catalog.namespace, *bare)).without((*namespace, *bare))
    return replace(catalog, namespace=namespace)


# --- ALTER


def _alter(statement: parse.Statement, catalog: Warehouse) -> Warehouse:
    """Harmless changes leave a relation as it was, any other makes it unknown."""
    tokens = statement.tokens
    parts, at = _name_at(tokens, _after_kind(tokens))
    # CLUSTER BY is one token.
    words = tuple(" ".join(token.text.lower() for token in tokens[at:]).split())
    harmless = any(words[: len(action)] == action for action in _HARMLESS)
    field = _PARTITION_FIELD in {words[1:3], words[3:5], words[4:6]}
    streaming = "dpp.streaming" in words
    return catalog if harmless and not field and not streaming else _forget(catalog, parts)


# --- names


def _parts(table: object) -> Name:
    """A table's name as written, lower case; empty for what is not a plain name."""
    if not isinstance(table, exp.Table):
        return ()
    parts = [part for part in table.parts if isinstance(part, exp.Identifier)]
    return tuple(part.name.lower() for part in parts)


def _after_kind(tokens: Sequence[Token]) -> int:
    """The index where the name of a defined table or view begins, 0 if nothing of the kind is."""
    for at, token in enumerate(tokens):
        if token.token_type in {TokenType.L_PAREN, TokenType.ALIAS, TokenType.SELECT}:
            break
        if token.text.lower() in {"table", "view"} and token.token_type is not TokenType.IDENTIFIER:
            after = at + 1
            while after < len(tokens) and tokens[after].text.lower() in {"if", "not", "exists"}:
                after += 1
            return after
        if token.text.lower() in _OTHER_KINDS:
            break
    return 0


def _name_at(tokens: Sequence[Token], at: int) -> tuple[Name, int]:
    """The dotted name that begins at an index, and the index behind it."""
    parts: list[str] = []
    while 0 < at < len(tokens):
        parts.append(tokens[at].text.lower())
        at += 1
        if at >= len(tokens) or tokens[at].token_type is not TokenType.DOT:
            break
        at += 1
    return tuple(parts), at
