"""A ``Proposal``: one pair with everything that the rules judge and the forms write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.reading import StatementContext
from sqlrewrite.find.restrictions import Restriction
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.forms import AUTO, IN, SET
from sqlrewrite.settings.options import Options
from sqlrewrite.sql.managed.recognition import normalized_value
from sqlrewrite.sql.places import ConditionClause
from sqlrewrite.text.limits import SPARK
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.templates import is_template, on_one_line

Judgement = tuple[Outcome, str]
"""A rule's outcome and its reason."""

Objection = tuple[str, str]
"""The code of the rule that raises the objection, and the reason."""


_HIVE = frozenset({None, "hive", "parquet", "orc", "csv", "json", "text", "avro"})
"""The providers of tables that Hive's connector reads; an unknown provider (None) is taken to be
one of them."""


class Predicate(Struct, frozen=True):
    """A predicate without its marker.

    ``value`` is what it bounds (under an OR, the first one), ``queries`` are its key queries, each
    in parentheses, ``note`` is the comment behind the marker of a predicate of literals.
    """

    text: str
    value: str
    queries: tuple[str, ...] = ()
    note: str = ""

    @property
    def bounded(self) -> str:
        """The bounded value in the form in which managed predicates are compared."""
        return normalized_value(self.value)

    @property
    def marked(self) -> str:
        """The predicate as it is written, with its marker."""
        return f"{self.text} {MARKER}{self.note}"


class Slot(NamedTuple):
    """The clause to insert into: an ON, or the WHERE of a block. Equal for the same clause."""

    clause: ConditionClause
    block: int
    on: ra.Clause | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """The proposal to write a predicate for one pair, of all ``pairs`` of a statement.

    ``restrictions`` are the conditions on the dimension that the key query repeats, ``dropped``
    the objections to repeating the others, ``objections`` those to reading the dimension again.

    Once judged it has the results of all ``rules`` and a ``verdict``; if it passed, the
    ``predicates`` to write into a ``slot``. ``stands``: an earlier run wrote them there already.
    ``unasked``: the value that literals would bound, if there was no way to ask for the keys.

    ``memo`` caches answers about this proposal (``plan/memo.py``); a changed copy starts empty.
    ``shared`` caches answers that all proposals over the same plan and options share.
    """

    plan: ra.Plan
    pair: Pair
    pairs: tuple[Pair, ...]
    options: Options
    context: StatementContext
    restrictions: tuple[Restriction, ...] = ()
    dropped: tuple[Objection, ...] = ()
    objections: tuple[Objection, ...] = ()
    rules: tuple[RuleResult, ...] = ()
    verdict: Verdict = Verdict.REJECTED
    predicates: tuple[Predicate, ...] = ()
    slot: Slot | None = None
    stands: bool = False
    unasked: str | None = None
    memo: dict[object, Any] = field(init=False, repr=False)
    shared: dict[object, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memo", {})
        options, shared = self.plan.memo.get("proposals", (None, {}))
        if options is not self.options:
            options, shared = self.plan.memo["proposals"] = self.options, {}
        object.__setattr__(self, "shared", shared)

    def decided(self, **decision: Any) -> Proposal:
        """A copy with another verdict or other predicates, which shares the memo."""
        copy = replace(self, **decision)
        object.__setattr__(copy, "memo", self.memo)
        return copy

    @property
    def failing(self) -> frozenset[str]:
        """The codes of the rules that did not pass."""
        return frozenset(rule.code for rule in self.rules if rule.outcome is not Outcome.PASS)

    @property
    def engine(self) -> Engine:
        """The engine's settings and tables."""
        return self.options.engine

    @property
    def form(self) -> str:
        """The form that the options ask for. If the engine does not prune at run time, ``auto``
        means a set, and so does ``in`` with ``when = auto``: an IN would prune nothing."""
        form = self.options.form
        left_open = form == AUTO or (form == IN and self.options.when == "auto")
        spark = self.options.limits.dialect == SPARK  # a set is written in Spark's functions
        return SET if left_open and spark and not self.engine.enabled else form

    @property
    def other_form(self) -> str:
        """The advice if an IN would not prune: the option with another form."""
        if self.options.limits.dialect == SPARK:
            return "`--predicate auto` writes a set"
        return "`--predicate values` writes constants"

    def type_of(self, expression: ra.Expression) -> Type | None:
        """The type that Spark's analyzer gives an expression; None if unknown."""
        return type_of(self.plan, expression)

    @property
    def target_block(self) -> ra.Block:
        """The block whose text gets the predicate."""
        return self.plan.blocks[self.plan.owner[self.pair.target.relation]]

    @property
    def clustered(self) -> bool:
        """Whether the table is clustered by the fact's column, and not partitioned by it."""
        table, column = self.pair.scan.table, self.pair.path.column
        if column not in table.clustered_by or self.pair.derived is not None:
            return False
        parts = (field for field in table.partitioned_by if field.column.lower() == column)
        return not any(part.transform in self.engine.transforms for part in parts)

    def objection(self, code: str) -> str | None:
        """The first objection under a rule's code to reading the dimension again; None if none."""
        return next((reason for own, reason in self.objections if own == code), None)

    def label(self, ref: ra.ColumnRef) -> str:
        """A column with its alias in backquotes, as a message names it."""
        relation = self.plan.relations[ref.relation]
        return f"`{relation.alias}.{ref.name}`" if relation.alias else f"`{ref.name}`"

    @property
    def dimension_query(self) -> ra.Query | None:
        """The query of a dimension that is a derived table, a view or a CTE."""
        dimension = self.pair.dimension
        return dimension.query if isinstance(dimension, ra.Derived | ra.CteReference) else None

    @property
    def dimension_name(self) -> str:
        """The dimension's name; ``a derived table`` for one without a name."""
        return relation_name(self.pair.dimension)

    @property
    def quoted_dimension(self) -> str:
        """The dimension's name in backquotes, as a message names it."""
        return quoted_relation(self.pair.dimension)


def quoted_relation(relation: object) -> str:
    """A relation's name in backquotes, as a message names it."""
    name = relation_name(relation)
    return name if name in (_UNNAMED, _UNKNOWN) else f"`{name}`"


_UNNAMED, _UNKNOWN = "a derived table", "a relation"


def relation_name(relation: object) -> str:
    """A relation's name; ``a derived table`` for one without a name."""
    match relation:
        case ra.Scan(parts=parts):
            return ".".join(parts)
        case ra.Derived(view=view, parts=parts) if view:
            return ".".join(parts)
        case ra.CteReference(name=name, alias=alias):
            return name or alias
        case ra.Derived(alias=alias) | ra.Inline(alias=alias) | ra.Opaque(alias=alias):
            return alias or _UNNAMED
        case _:
            return _UNKNOWN


def takes_keys(engine: Engine, scan: ra.Scan, column: str) -> bool:
    """Whether the fact's connector prunes by keys of this column; an unknown connector counts as
    Hive."""
    table_column = scan.table.column(column)
    kind = (table_column.type if table_column is not None else None) or ""
    provider = "hive" if scan.table.provider in _HIVE else str(scan.table.provider)
    return not {provider, f"{provider} {kind.split('(')[0]}"}.isdisjoint(engine.takes_keys)


def called(name: str) -> str:
    """A function, or a template read as one, in backquotes as a message names it."""
    return f"`{on_one_line(name) if is_template(name) else f'{name}()'}`"


def passed(message: str) -> Judgement:
    """The judgement that a rule holds."""
    return Outcome.PASS, message


def failed(message: str) -> Judgement:
    """The judgement that a rule does not hold."""
    return Outcome.FAIL, message


def unknown(message: str) -> Judgement:
    """The judgement that a rule cannot be decided."""
    return Outcome.UNKNOWN, message
