"""How columns are named in what is inserted: the fact's where the predicate stands, and those of an
expression that is repeated.

It is the author's own text; each column of it is named so that it can be taken for no other
(docs/soundness.md, "Names").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlrewrite.frozen import dataclass
from sqlrewrite.judge.case import Case
from sqlrewrite.plan.algebra import ColumnRef, Derived, Expression, Node, Relation, Scan
from sqlrewrite.plan.columns import column_names, harmless
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.facts.arithmetic import Wrapping
from sqlrewrite.plan.relations import joins, leaves
from sqlrewrite.sql.anchors import AnchorError, Anchors, Range
from sqlrewrite.write.hidden import refuse_lost

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Short words that are no good as an alias.
WORDS = frozenset(
    """
    all and any as asc at both by case cast cross desc div else end except false fetch for
    from full group having if in inner is join kind left like limit map natural no not null
    of on or order out outer over primary right row rows select semi set some start table
    then time to true union use user using values view when where window with
    """.split()
)


@dataclass(frozen=True, slots=True)
class Style:
    """How the author writes: the case of keywords."""

    lower: bool

    def word(self, keyword: str) -> str:
        """A keyword in the author's case."""
        return keyword.lower() if self.lower else keyword


def fact(case: Case, anchors: Anchors, style: Style) -> str:
    """The fact's column as it is to be named where the predicate stands, or the author's own
    expression over it, which stands in the same block."""
    pair = case.pair
    _no_field(case.target_block.source, pair.target.alias.lower())
    refuse_lost(case, anchors)
    if pair.derived is None and not pair.fact_plain:
        tokens = anchors.operand(pair.tie.condition, pair.fact_side.operand)
        expression = pair.fact_side.expression
        around = harmless(case.plan, expression)

        def clear(ref: ColumnRef) -> str:
            return _clear(case, ref, anchors)

        return computed(anchors, style, tokens, expression, clear, around)
    source = case.target_block.source
    same = pair.fact.relation == pair.target.relation and pair.derived is None
    if same and pair.fact.span is not None:
        column = spelled(pair.fact, anchors)
        written = anchors.copy(anchors.covering(pair.fact.span))
        # Written without its table, it is clear only where no other relation has the name.
        if written != column or _alone(source, pair.target_column):
            return written
    else:
        column = quoted(_declared(pair.target, pair.target_column))
    alone = len(list(leaves(source))) == 1 and _unnamed(pair.target)
    return column if alone else f"{quoted(pair.target.alias)}.{column}"


def computed(
    anchors: Anchors,
    style: Style,
    tokens: Range,
    expression: Expression,
    named: Callable[[ColumnRef], str],
    around: Wrapping | None = None,
) -> str:
    """The author's own text of an expression, each of its columns ``named`` anew; with ``around``
    it is written so that it gives a value, or NULL, where it would raise an error."""
    if around is not None and around.anew:
        return around.whole.format(*map(named, columns(expression)))
    column, whole = ("{}", "{}") if around is None else (around.column, around.whole)
    replaced = {}
    for ref in columns(expression):
        if ref.span is None:
            raise AnchorError("a column that the text does not name")
        replaced[ref.span] = style.word(column).format(named(ref))
    return style.word(whole).format(anchors.copy(tokens, replaced))


def spelled(ref: ColumnRef, anchors: Anchors) -> str:
    """A column's own name, as the author wrote it where that is still its name."""
    if ref.span is not None:
        written = anchors.raw(anchors.covering(ref.span).end - 1)
        if written.strip("`").lower() == ref.name:
            return written
    return quoted(ref.name)


def quoted(name: str) -> str:
    """An identifier, in backquotes where it needs them."""
    if _PLAIN.fullmatch(name) and name.lower() not in WORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def _no_field(source: Node, alias: str) -> None:
    """Raises AnchorError where ``alias.k`` could be the field k of a column: Spark takes it for one
    before it looks among the columns that USING and NATURAL have hidden."""
    if not any(join.using or join.natural for join in joins(source)):
        return
    for names in map(column_names, leaves(source)):
        if names is None or alias in names:
            may = "may be" if names is None else "is"
            raise AnchorError(f"{alias} {may} the name of a column, too")


def _clear(case: Case, ref: ColumnRef, anchors: Anchors) -> str:
    """A column of the fact in the author's expression. Written without its table in an ON, it is
    clear in WHERE only where no relation joined later has the name."""
    assert ref.span is not None
    written = anchors.copy(anchors.covering(ref.span))
    if written != spelled(ref, anchors) or _alone(case.target_block.source, ref.name):
        return written
    return f"{quoted(case.pair.target.alias)}.{written}"


def _unnamed(target: Relation) -> bool:
    """Whether a table goes by its own name, and not by an alias that the author would use."""
    parts = target.parts if isinstance(target, Scan | Derived) else ()
    return bool(parts) and target.alias.lower() == parts[-1]


def _alone(source: Node, name: str) -> bool:
    having = 0
    for leaf in leaves(source):
        names = column_names(leaf)
        having += names is None or name in names
    return having == 1


def _declared(relation: object, name: str) -> str:
    """A column's name as its table declares it."""
    if isinstance(relation, Scan):
        column = relation.table.column(name)
        return column.name if column is not None else name
    return name
