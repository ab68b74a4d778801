"""How the predicate names the fact's column, or writes the expression over it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlrewrite.find.derived_columns import THROUGH
from sqlrewrite.find.pairs import by_day
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.derived_column import DerivedBound, derived_bound
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.relations import joins, leaves
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.write.attempts import repeated_side
from sqlrewrite.write.hidden_columns import refuse_lost_columns
from sqlrewrite.write.names import AuthorText, quoted, spelled


def fact_value(proposal: Proposal, author: AuthorText) -> str:
    """The fact's column as it is to be named where the predicate stands, or the author's own
    expression over it, which stands in the same block."""
    pair = proposal.pair
    _refuse_struct_fields(proposal.target_block.source, pair.target.alias.lower())
    refuse_lost_columns(proposal, author.places)
    if by_day(pair):
        return author.word("CAST({} AS DATE)").replace("{}", _column(proposal, author.places))
    if pair.derived is None and not pair.fact_plain:
        found = repeated_side(
            proposal, pair.fact_side, author, partial(_unambiguous, proposal, author.places)
        )
        if any(map(_is_phrase, walk(pair.fact_side.expression))):
            found = f"({found})"
        return found
    column = _column(proposal, author.places)
    bound = derived_bound(proposal) if pair.derived is not None else None
    if isinstance(bound, DerivedBound) and bound.step == THROUGH:
        return repeated_side(proposal, pair.fact_side, author, lambda _: column)
    return column


def fact_values(proposal: Proposal, author: AuthorText) -> list[str]:
    """The same; of a day that may be another elsewhere, for each that it may be."""
    bound = derived_bound(proposal) if proposal.pair.derived is not None else None
    if not isinstance(bound, DerivedBound) or not bound.apart:
        return [fact_value(proposal, author)]
    column = _column(proposal, author.places)
    days = (f"date_add({column}, {by})" if by else column for by in bound.apart)
    return [
        repeated_side(proposal, proposal.pair.fact_side, author, partial(_instead, day))
        for day in days
    ]


def _instead(day: str, _: ra.ColumnRef) -> str:
    return day


def disjunction(author: AuthorText, texts: Sequence[str]) -> str:
    """Predicates of which one holds."""
    joined = f" {author.word('OR')} ".join(texts)
    return joined if len(texts) == 1 else f"({joined})"


def _column(proposal: Proposal, places: Places) -> str:
    pair, source = proposal.pair, proposal.target_block.source
    same = pair.fact.relation == pair.target.relation and pair.derived is None
    if same and pair.fact.span is not None:
        column = spelled(pair.fact, places)
        written = places.copy(pair.fact.span)
        # Written without its table, it is clear only where no other relation has the name.
        if written != column or _is_unique_name(source, pair.target_column):
            return written
    else:
        column = quoted(_declared(pair.target, pair.target_column))
    alone = len(list(leaves(source))) == 1 and _unnamed(pair.target)
    return column if alone else f"{quoted(pair.target.alias)}.{column}"


def _is_phrase(node: ra.Expression) -> bool:
    """Whether words stand side by side in a node, by whose first a predicate is not told."""
    match node:
        case ra.Literal(type=kind):
            return kind.startswith("interval")
        case ra.Call(name=name):
            return name == "case"
        case _:
            return False


def _refuse_struct_fields(source: ra.Node, alias: str) -> None:
    """Raises NoPlaceError where ``alias.k`` could be the field k of a column: Spark takes it for
    one before it looks among the columns that USING and NATURAL have hidden."""
    if not any(join.using or join.natural for join in joins(source)):
        return
    for names in map(column_names, leaves(source)):
        if names is None or alias in names:
            may = "may be" if names is None else "is"
            raise NoPlaceError(f"{alias} {may} the name of a column, too")


def _unambiguous(proposal: Proposal, places: Places, ref: ra.ColumnRef) -> str:
    """A column of the fact in the author's expression. Written without its table in an ON, it is
    clear in WHERE only where no relation joined later has the name."""
    assert ref.span is not None
    written = places.copy(ref.span)
    if written != spelled(ref, places) or _is_unique_name(proposal.target_block.source, ref.name):
        return written
    return f"{quoted(proposal.pair.target.alias)}.{written}"


def _unnamed(target: ra.Relation) -> bool:
    """Whether a relation has no alias that the author would use: a table goes by its own name."""
    if not target.alias:
        return True
    parts = target.parts if isinstance(target, ra.Scan | ra.Derived) else ()
    return bool(parts) and target.alias.lower() == parts[-1]


def _is_unique_name(source: ra.Node, name: str) -> bool:
    having = 0
    for leaf in leaves(source):
        names = column_names(leaf)
        having += names is None or name in names
    return having == 1


def _declared(relation: object, name: str) -> str:
    """A column's name as its table declares it."""
    if isinstance(relation, ra.Scan):
        column = relation.table.column(name)
        return column.name if column is not None else name
    return name
