"""The names and types of the columns that each statement of a document returns.

Names and types are those of a statement's bound plan. What a statement creates or sets holds for
the statements behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from msgspec import Struct

from sqlrewrite.catalog.columnless import followed, query_columns
from sqlrewrite.copies import replace
from sqlrewrite.document import Document
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.types import ExactSettings
from sqlrewrite.results import Output
from sqlrewrite.settings.spark_conf import since
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.lex.keywords import word
from sqlrewrite.sql.outputs.output_binder import query_output
from sqlrewrite.sql.parse.scripts import Piece, Script, runs_unread
from sqlrewrite.sql.parse.statement_kinds import is_passed_over, opens_query
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.warehouse import Table, View, Warehouse

_QUERY = frozenset({"select", "with", "from", "values", "table", "map", "reduce", "("})
_HARMLESS = tuple(
    f"spark.sql.{prefix}"
    for prefix in """
    adaptive. autobroadcastjointhreshold binaryoutputstyle cbo. codegen. crossjoin. cterecursion
    datetime. exchange. execution. groupbyaliases hive. inmemorycolumnarstorage.
    join. leafnodedefaultparallelism legacy.bucketedtablescan legacy.codingerroraction
    legacy.cteprecedencepolicy legacy.javacharsets legacy.nullinemptylistbehavior
    legacy.parser.havingwithoutgroupbyaswhere legacy.parsequerywithouteof
    legacy.percentiledisccalculation legacy.raiseerrorwithouterrorclass legacy.scalarsubquery
    legacy.sizeofnull legacy.timeparserpolicy limit. maxmetadatastringlength optimizer.
    orderbyordinal parquet. prioritizeordinalresolutioninsort session.timezone shuffle. sources.
    storeassignmentpolicy subquery. timetype. warehouse. window
    """.split()
)
"""Prefixes of settings that change no name and no type. groupByOrdinal is not among them: with it
off, ``|> AGGREGATE … GROUP BY 1`` names its column `1`."""

_BOOLEAN = {"true": True, "false": False}
_FIELDS = {
    "spark.sql.ansi.enabled": ("ansi", _BOOLEAN),
    "spark.sql.decimalOperations.allowPrecisionLoss": ("precision_loss", _BOOLEAN),
    "spark.sql.timestampType": ("ntz", {"timestamp_ntz": True, "timestamp_ltz": False}),
    "spark.sql.legacy.interval.enabled": ("legacy_interval", _BOOLEAN),
    "spark.sql.ansi.doubleQuotedIdentifiers": ("double_quoted", _BOOLEAN),
}
"""Settings in Spark's own spelling, which must be exact; each with its field in ``ExactSettings``
and the values of that."""

_DEFAULTS: Mapping[str, tuple[bool, ...]] = {
    "ansi": (False, True),  # off in 3.5, on from 4.0
    "precision_loss": (True,),
    "ntz": (False,),
    "legacy_interval": (False,),
    "double_quoted": (False,),
}
"""The fields of ``ExactSettings`` with Spark's own defaults, in any of its versions."""

_KEY = re.compile(r"[\w.-]+")

_MAKES = frozenset({"create", "replace", "cache"})
_DEFINES = _MAKES | {"drop", "alter", "use"}
_OTHER_KIND = re.compile(
    r"\A\s*\w+\s+(?:or\s+replace\s+)?(?:temporary\s+|temp\s+)?(?:function|variable|macro|role)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(r"\bdefault\s+collation\b|\bwith\s+schema\b", re.IGNORECASE)
"""Clauses with which a table's columns differ from those of its query."""
_FUNCTION = re.compile(r"\bfunction\s+(?:if\s+not\s+exists\s+)?([\w.`]+)", re.IGNORECASE)


def outputs_of(document: Document, possible: Iterable[ExactSettings]) -> tuple[Output | None, ...]:
    """For each statement its columns, as far as they are the same under all ``possible`` settings;
    a script is one statement. None for a statement that is no query or not understood."""
    text, statements = document.stripped.text, tuple(document.pieces)
    settings = tuple(possible)
    resets = any(
        word(piece.tokens, 0) == "reset" for piece in statements if isinstance(piece, Piece)
    )
    ansi = since(document.catalog.settings, "4.0")
    start = _starts(settings, ansi) if resets else settings
    state = SessionState(document.catalog, settings, start)
    outputs: list[Output | None] = []
    for statement in statements:
        outputs.append(state.output(statement, text))
        state = state.after(statement, text)
    return tuple(outputs)


def _starts(possible: tuple[ExactSettings, ...], ansi: bool | None) -> tuple[ExactSettings, ...]:
    """Each combination of settings that a RESET may bring back: any of the ``possible`` ones, with
    which the session may have been started, or Spark's defaults. ``ansi``: the default of ANSI
    mode, None if the version is unknown."""
    by_default = _DEFAULTS if ansi is None else {**_DEFAULTS, "ansi": (ansi,)}
    values = {
        field: {getattr(exact, field) for exact in possible}.union(defaults)
        for field, defaults in by_default.items()
    }
    if None in values["legacy_interval"]:
        values["legacy_interval"] = {None}
    combinations = product(*(sorted(each, key=str) for each in values.values()))
    return tuple(
        ExactSettings(**dict(zip(values, combination, strict=True))) for combination in combinations
    )


class SessionState(Struct, frozen=True):
    """The state of a session between two statements: its possible ``settings``, and in ``start``
    those after a RESET; ``unsure_settings``: a setting of unknown effect was set; ``unsure``: a
    statement of unknown effect ran."""

    catalog: Warehouse
    settings: tuple[ExactSettings, ...]
    start: tuple[ExactSettings, ...]
    unsure: bool = False
    unsure_settings: bool = False

    def output(self, statement: Piece | Script, text: str) -> Output | None:
        """What a statement of a text returns in this state."""
        if self.unsure or self.unsure_settings or isinstance(statement, Script):
            return None
        if statement.tokens[0].text.lower() not in _QUERY:
            return None
        return query_output(_written(statement, text), self.catalog, self.settings)

    def after(self, statement: Piece | Script, text: str) -> SessionState:
        """The state behind a statement of a text."""
        if isinstance(statement, Script):
            return self._after_script(statement, text)
        first, written = word(statement.tokens, 0), _written(statement, text)
        if runs_unread(statement.tokens):
            return replace(self, catalog=self._followed(statement, text), unsure=True)
        if first in ("set", "reset"):
            return self._set(statement, text)
        if first in _DEFINES and not _OTHER_KIND.search(written):
            return self._defined(statement, text)
        if first in ("create", "replace") and _shadows(written):
            return replace(self, unsure=True)
        read = opens_query(statement.tokens) or is_passed_over(statement.tokens)
        return self if read else replace(self, unsure=True)

    def _after_script(self, script: Script, text: str) -> SessionState:
        """The state after a script: whatever it may have defined is unknown."""
        state = self
        for piece in script.statements:
            if word(piece.tokens, 0) in ("set", "reset") or runs_unread(piece.tokens):
                state = replace(state, unsure=True)
            elif piece.defines:
                state = replace(state, catalog=state._followed(piece, text))
        return state

    def _set(self, piece: Piece, text: str) -> SessionState:
        behind = text[piece.tokens[0].end + 1 : piece.until]
        key, sign, value = (part.strip(' \t\r\n`"') for part in behind.partition("="))
        if word(piece.tokens, 0) == "reset":
            return self._reset(key)
        if key in _FIELDS:
            field, values = _FIELDS[key]
            if not sign:  # SET without a value only shows it
                return self
            if value.lower() not in values:
                return replace(self, unsure_settings=True)
            return self._with_setting(field, {values[value.lower()]})
        if key.lower().startswith("spark.sql.") and not key.lower().startswith(_HARMLESS):
            return replace(self, unsure_settings=True)
        return replace(self, catalog=self._followed(piece, text))

    def _reset(self, key: str) -> SessionState:
        """The state after RESET: of one setting, or of all where no key is given."""
        if not key:
            return replace(self, settings=self.start, unsure_settings=False)
        if key not in _FIELDS:
            return self if _KEY.fullmatch(key) else replace(self, unsure_settings=True)
        field, _ = _FIELDS[key]
        return self._with_setting(field, {getattr(exact, field) for exact in self.start})

    def _with_setting(self, field: str, values: Iterable[Any]) -> SessionState:
        settings = {replace(exact, **{field: value}) for exact in self.settings for value in values}
        return replace(self, settings=tuple(sorted(settings, key=str)))

    def _defined(self, piece: Piece, text: str) -> SessionState:
        after = self._followed(piece, text)
        makes = word(piece.tokens, 0) in _MAKES
        listed, query = definitions.created_query(piece.tokens, text) if makes else ((), "")
        if not query:
            unsure = self.unsure or _UNSURE.search(_written(piece, text)) is not None
            return replace(self, catalog=after, unsure=unsure)
        if after is self.catalog:  # IF NOT EXISTS: there is one already
            return self
        name = definitions.created_name(piece.tokens, text, self.catalog)
        head = text[piece.tokens[0].start : text.rindex(query, 0, piece.until)]
        if self.unsure or self.unsure_settings or _UNSURE.search(head):
            return replace(self, catalog=after.with_relation(Table(name)))
        if isinstance(after.relations.get(name), View) or len(name) == 1:
            # Typed now, under the settings that hold now.
            columns = query_columns(query, self.catalog, self.settings, listed)
            after = after.with_relation(Table(name, columns or ()))
        return replace(self, catalog=after)

    def _followed(self, piece: Piece, text: str) -> Warehouse:
        """The catalog after a definition, or after one that a script may run."""
        statement = Statement(0, piece.tokens[0].start, piece.tokens, None, maybe=piece.defines)
        return followed(statement, text, self.catalog, "", settings=self.settings)


def _written(piece: Piece, text: str) -> str:
    """A statement's text from its first token on, with the comments after it."""
    return text[piece.tokens[0].start : piece.until]


def _shadows(text: str) -> bool:
    """Whether a function is made under the name of one of Spark's own."""
    name = _FUNCTION.search(text)
    return name is not None and function(name[1].split(".")[-1].strip("`").lower()) is not None
