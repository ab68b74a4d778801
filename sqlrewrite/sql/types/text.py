"""A text of statements to what each returns; what one creates or sets holds for those behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.session import ExactSettings, SessionSettings
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.parse import statements as parse
from sqlrewrite.sql.types.analysis import analyze
from sqlrewrite.sql.types.cursor import Token, UnreadError, tokens
from sqlrewrite.sql.types.expression import typed
from sqlrewrite.sql.types.queries import Queries, query_in
from sqlrewrite.sql.types.scope import Context, ScopeColumns, TypeScope, UnknownError
from sqlrewrite.warehouse import Column, Table, Warehouse

StatementOutput = tuple[tuple[str | None, str | None], ...] | None
"""The columns that a statement returns: of each its name and its type, None where it is not known.
None for a statement that is no query, and for one that is not understood."""

_QUERY = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE", "("})
_HARMLESS = tuple(
    f"spark.sql.{it}"
    for it in """
    adaptive. autobroadcastjointhreshold binaryoutputstyle cbo. codegen. crossjoin. cterecursion
    datetime. exchange. execution. groupbyaliases groupbyordinal hive. inmemorycolumnarstorage.
    join. leafnodedefaultparallelism legacy.bucketedtablescan legacy.codingerroraction
    legacy.cteprecedencepolicy legacy.javacharsets legacy.nullinemptylistbehavior
    legacy.parser.havingwithoutgroupbyaswhere legacy.parsequerywithouteof
    legacy.percentiledisccalculation legacy.raiseerrorwithouterrorclass legacy.scalarsubquery
    legacy.sizeofnull legacy.timeparserpolicy limit. maxmetadatastringlength optimizer.
    orderbyordinal parquet. prioritizeordinalresolutioninsort session.timezone shuffle. sources.
    storeassignmentpolicy subquery. timetype. warehouse. window
    """.split()
)
"""Settings, by how their names begin, that change no name and no type."""

_BOOLEAN = {"true": True, "false": False}
_FIELDS = {
    "spark.sql.ansi.enabled": ("ansi", _BOOLEAN),
    "spark.sql.decimalOperations.allowPrecisionLoss": ("precision_loss", _BOOLEAN),
    "spark.sql.timestampType": ("ntz", {"timestamp_ntz": True, "timestamp_ltz": False}),
    "spark.sql.legacy.interval.enabled": ("legacy_interval", _BOOLEAN),
    "spark.sql.ansi.doubleQuotedIdentifiers": ("double_quoted", _BOOLEAN),
}
"""The fields of ``ExactSettings`` by setting, in Spark's spelling, which counts; their values."""

_MAKES = frozenset({"CREATE", "REPLACE", "CACHE"})
_DEFINITIONS = _MAKES | {"DROP", "ALTER", "USE"}
_OTHER_KIND = re.compile(
    r"\A\s*\w+\s+(?:or\s+replace\s+)?(?:temporary\s+|temp\s+)?(?:function|variable|macro|role)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(r"\bdefault\s+collation\b|\bwith\s+schema\b", re.IGNORECASE)
"""Clauses of a definition with which its columns are not those of its query."""


def outputs_of(
    text: str,
    catalog: Warehouse,
    session: SessionSettings,
    *,
    double_quoted: bool = False,
    legacy_interval: bool | None = None,
) -> tuple[StatementOutput, ...]:
    """For each statement what holds under all values that the session's settings may have."""
    possible = (
        replace(it, legacy_interval=legacy_interval, double_quoted=double_quoted)
        for it in session.possible()
    )
    states = [TextState(catalog, settings, settings) for settings in possible]
    found: list[StatementOutput] = []
    for statement in statements(text):
        behind = [state.after(statement) for state in states]
        states = [state for _, state in behind]
        found.append(_agreed([answer for answer, _ in behind]))
    return tuple(found)


def _agreed(answers: Sequence[StatementOutput]) -> StatementOutput:
    first = answers[0]
    if any(it is None or first is None or len(it) != len(first) for it in answers):
        return None
    columns = zip(*(it for it in answers if it is not None), strict=True)
    return tuple(
        (_same({name for name, _ in each}), _same({kind for _, kind in each})) for each in columns
    )


def _same(found: set[str | None]) -> str | None:
    return found.pop() if len(found) == 1 else None


def statements(text: str) -> Iterator[str]:
    """The statements of a text; a script from its BEGIN on is one."""
    found = tokens(text)
    start: Token | None = None
    for at, token in enumerate(found):
        if start is None:
            start = None if token.kind is None or token.word == ";" else token
            if start is not None and start.word == "BEGIN" and found[at + 1].word != ";":
                yield text[start.start :]
                return
        elif token.kind is None or token.word == ";":
            yield text[start.start : token.start]
            start = None


@dataclass(frozen=True, slots=True)
class TextState:
    """What a session knows between two statements; ``given`` are its settings before any SET,
    ``unsure`` whether one was set of which it is not known what it changes."""

    catalog: Warehouse
    settings: ExactSettings
    given: ExactSettings
    unsure: bool = False

    def after(self, text: str) -> tuple[StatementOutput, TextState]:
        """What a statement returns, and the state behind it."""
        reader = Queries(text, double_quoted=self.settings.double_quoted)
        token = reader.token
        if token.word in _QUERY:
            if self.unsure:
                return None, self
            return self._output(text), self
        if token.word in ("SET", "RESET"):
            return None, self._set(text, reader)
        if token.word in _DEFINITIONS and not _OTHER_KIND.search(text):
            return None, self._defined(text, token.word)
        if token.word in ("CREATE", "REPLACE") and _shadows(text):
            return None, replace(self, unsure=True)
        return None, self

    def _output(self, text: str) -> StatementOutput:
        columns = self._columns(text)
        if columns is None:
            return None
        # A name with a carriage return in it Spark's own answers do not keep.
        return tuple(
            (
                None if "\r" in (it.name or "") else it.name,
                None if it.type is None else str(it.type),
            )
            for it in columns
        )

    def _columns(self, text: str) -> ScopeColumns | None:
        """The columns of a query, None where it is not understood."""
        try:
            query = query_in(text, self.settings.double_quoted)
            context = Context(self.catalog, self.settings, analyze, typed)
            return analyze(query, TypeScope(context))
        except (UnreadError, UnknownError, RecursionError):
            return None

    def _set(self, text: str, reader: Queries) -> TextState:
        key, sign, value = (it.strip(' \t\r\n`"') for it in text[reader.token.end :].partition("="))
        if reader.token.word == "RESET":
            return self._reset(key)
        if key in _FIELDS:
            field, values = _FIELDS[key]
            if not sign:  # it is shown
                return self
            if value.lower() in values:
                return replace(
                    self, settings=replace(self.settings, **{field: values[value.lower()]})
                )
            return replace(self, unsure=True)
        if key.lower().startswith("spark.sql.") and not key.lower().startswith(_HARMLESS):
            return replace(self, unsure=True)
        return replace(self, catalog=self._defined_elsewhere(text))

    def _reset(self, key: str) -> TextState:
        """The state after RESET: of one setting, or of all where no key is given."""
        if not key:
            return replace(self, settings=self.given, unsure=False)
        if key not in _FIELDS:
            return self
        field, _ = _FIELDS[key]
        return replace(self, settings=replace(self.settings, **{field: getattr(self.given, field)}))

    def _defined(self, text: str, word: str) -> TextState:
        found = self._from_query(text) if word in _MAKES else None
        if found is not None:
            return replace(self, catalog=self.catalog.with_relation(found))
        if _UNSURE.search(text):
            return replace(self, unsure=True)
        return replace(self, catalog=self._defined_elsewhere(text))

    def _defined_elsewhere(self, text: str) -> Warehouse:
        """The catalog after a definition that holds no query."""
        catalog = self.catalog
        for statement in parse.statements(text):
            catalog = definitions.apply(statement, text, catalog, "")
        return catalog

    def _from_query(self, text: str) -> Table | None:
        """The view or table that is made of a query; None of any other statement."""
        tokens = parse.lex(text).tokens
        listed, query = definitions.created_query(tokens, text)
        if not query:
            return None
        name = definitions.created_name(tokens, text, self.catalog)
        unsure = self.unsure or _UNSURE.search(text[: text.rindex(query)])
        columns = None if unsure else self._columns(query)
        if columns is None or (listed and len(listed) != len(columns)):
            return Table(name)
        names: tuple[str | None, ...] = listed or tuple(it.name for it in columns)
        if None in names:
            return Table(name)
        pairs = zip(map(str, names), columns, strict=True)
        return Table(
            name, tuple(Column(it, None if of.type is None else of.type.ddl) for it, of in pairs)
        )


_FUNCTION = re.compile(r"\bfunction\s+(?:if\s+not\s+exists\s+)?([\w.`]+)", re.IGNORECASE)


def _shadows(text: str) -> bool:
    """Whether a function is made under the name of one of Spark's own."""
    found = _FUNCTION.search(text)
    return found is not None and function(found[1].split(".")[-1].strip("`").lower()) is not None
