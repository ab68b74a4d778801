"""What the rules judge and the forms write: one pair, with all that decides on its predicate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

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
"""The code of the rule that it falls under, and the reason in a sentence."""


_HIVE = frozenset({None, "hive", "parquet", "orc", "csv", "json", "text", "avro"})
"""Providers of tables that may be Hive's."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate without its marker; the value that it bounds (of several under an OR the first);
    the key queries in it, each in parentheses; and the ``note`` behind the marker of a predicate of
    literals."""

    text: str
    value: str
    queries: tuple[str, ...] = ()
    note: str = ""

    @property
    def bounded(self) -> str:
        """The value that it bounds, as that of a managed predicate is compared."""
        return normalized_value(self.value)

    @property
    def marked(self) -> str:
        """The predicate as it is written, with its marker."""
        return f"{self.text} {MARKER}{self.note}"


class Slot(NamedTuple):
    """A clause to insert into: an ON, or else the WHERE of a block. Equal for all predicates that
    go to the same clause."""

    clause: ConditionClause
    block: int
    on: ra.Clause | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """The proposal to write a predicate for one pair, of all ``pairs`` of a statement.

    ``restrictions`` are the conditions on the dimension that the key query repeats, ``dropped``
    the objections to repeating the others, and ``objections`` those to reading the dimension again.

    Once judged it has what all ``rules`` said and a ``verdict``; if nothing speaks against it, the
    ``predicates`` to write into a ``slot``, where an earlier run's may ``stand`` already.
    ``unasked`` is the value that literals would bound, where nobody was asked for the keys.

    ``memo`` keeps what was worked out about it (``plan/memo.py``); a changed copy starts empty.
    ``shared`` keeps what is the same for all proposals over its plan with its options.
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
        """A copy with another verdict or other predicates. The question stays the same, and so
        does the memo."""
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
        """The form that is asked for. Where the engine prunes by no keys at run time, an IN would
        read all the same: with ``when = auto``, which writes what pays, it is a set."""
        form = self.options.form
        left_open = form == AUTO or (form == IN and self.options.when == "auto")
        spark = self.options.limits.dialect == SPARK  # no other dialect has words for a set
        return SET if left_open and spark and not self.engine.enabled else form

    @property
    def other_form(self) -> str:
        """What to ask for where an IN would not prune, as its option says it."""
        spark = self.options.limits.dialect == SPARK
        return f"--predicate {'auto writes a set' if spark else 'values writes constants'}"

    def type_of(self, expression: ra.Expression) -> Type | None:
        """The type of an expression, as Spark's analyzer gives it; None if that is not known."""
        return type_of(self.plan, expression)

    @property
    def target_block(self) -> ra.Block:
        """The block in whose text the predicate would be written."""
        return self.plan.blocks[self.plan.owner[self.pair.target.relation]]

    @property
    def clustered(self) -> bool:
        """Whether the fact's column orders the rows of its table, and partitions nothing."""
        table, column = self.pair.scan.table, self.pair.path.column
        if column not in table.clustered_by or self.pair.derived is not None:
            return False
        parts = (field for field in table.partitioned_by if field.column.lower() == column)
        return not any(part.transform in self.engine.transforms for part in parts)

    def objection(self, code: str) -> str | None:
        """The first reason under a rule's code not to read the dimension again."""
        return next((reason for own, reason in self.objections if own == code), None)

    def label(self, ref: ra.ColumnRef) -> str:
        """A column as a person would name it."""
        relation = self.plan.relations[ref.relation]
        return f"{relation.alias}.{ref.name}" if relation.alias else ref.name

    @property
    def dimension_query(self) -> ra.Query | None:
        """The query of a dimension that is a derived table, a view or a CTE."""
        dimension = self.pair.dimension
        return dimension.query if isinstance(dimension, ra.Derived | ra.CteReference) else None

    @property
    def dimension_name(self) -> str:
        """The dimension as a person would name it."""
        return relation_name(self.pair.dimension)


def relation_name(relation: object) -> str:
    """A relation as a person would name it."""
    match relation:
        case ra.Scan(parts=parts):
            return ".".join(parts)
        case ra.Derived(view=view, parts=parts) if view:
            return ".".join(parts)
        case ra.CteReference(name=name, alias=alias):
            return name or alias
        case ra.Derived(alias=alias) | ra.Inline(alias=alias) | ra.Opaque(alias=alias):
            return alias or "a derived table"
        case _:
            return "a relation"


def takes_keys(engine: Engine, scan: ra.Scan, column: str) -> bool:
    """Whether a fact's connector prunes by the keys of this column; one that is not known is taken
    for Hive's."""
    table_column = scan.table.column(column)
    kind = (table_column.type if table_column is not None else None) or ""
    provider = "hive" if scan.table.provider in _HIVE else str(scan.table.provider)
    return not {provider, f"{provider} {kind.split('(')[0]}"}.isdisjoint(engine.takes_keys)


def called(name: str) -> str:
    """A function, or a template read as one, as a reason names it."""
    return on_one_line(name) if is_template(name) else f"{name}()"


def passed(message: str) -> Judgement:
    """The rule holds."""
    return Outcome.PASS, message


def failed(message: str) -> Judgement:
    """The rule does not hold."""
    return Outcome.FAIL, message


def unknown(message: str) -> Judgement:
    """The rule cannot be decided from what is known."""
    return Outcome.UNKNOWN, message
