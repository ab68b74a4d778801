"""The fact's column in a predicate: its name there, or the expression over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from sqlrewrite.find.derived_columns import THROUGH
from sqlrewrite.find.pairs import by_day
from sqlrewrite.find.restrictions import Conjunct, flattened, neighbours
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.derived_column import DerivedBound, derived_bound
from sqlrewrite.judge.soundness.join_type import ClauseKind, clause_for
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.algebra import Generate, Join, JoinType, Node, Plan, Relation
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.memo import remembered, remembered_by_node
from sqlrewrite.plan.relations import joins, leaves, read_by, relations_of
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.warehouse import Name
from sqlrewrite.write.repeated_text import AuthorText, quoted, repeated_side, spelled


def fact_value(proposal: Proposal, author: AuthorText) -> str:
    """The fact's column as it is named where the predicate stands, or the author's own expression
    over it, which stands in the same block."""
    pair = proposal.pair
    _refuse_struct_fields(proposal.target_block.source, pair.target.alias.lower())
    refuse_lost_columns(proposal, author.places)
    if by_day(pair):
        return author.word("CAST({} AS DATE)").replace("{}", _column(proposal, author.places))
    if pair.derived is None and not pair.fact_plain:
        side_text = repeated_side(
            proposal, pair.fact_side, author, partial(_unambiguous, proposal, author.places)
        )
        if any(map(_is_phrase, walk(pair.fact_side.expression))):
            side_text = f"({side_text})"
        return side_text
    column = _column(proposal, author.places)
    bound = derived_bound(proposal) if pair.derived is not None else None
    if isinstance(bound, DerivedBound) and bound.step == THROUGH:
        return repeated_side(proposal, pair.fact_side, author, lambda _: column)
    return column


def fact_values(proposal: Proposal, author: AuthorText) -> list[str]:
    """``fact_value``; for a day that differs between time zones, one for each day that it may
    be."""
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
    """Predicates joined by OR, in parentheses if there are several."""
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
    """Whether a node is written as several words, so that a later run would not recognise a
    predicate that begins with it."""
    match node:
        case ra.Literal(type=kind):
            return kind.startswith("interval")
        case ra.Call(name=name):
            return name == "case"
        case _:
            return False


def _refuse_struct_fields(source: ra.Node, alias: str) -> None:
    """Raises NoPlaceError where ``alias.k`` may be the field k of a column: Spark tries that before
    the columns that USING and NATURAL have hidden."""
    if not any(join.using or join.natural for join in joins(source)):
        return
    for names in map(column_names, leaves(source)):
        if names is None or alias in names:
            may = "may be" if names is None else "is"
            raise NoPlaceError(
                f"`{alias}` {may} also the name of a column, and Spark would read `{alias}.…` as "
                "its field: use another alias"
            )


def _unambiguous(proposal: Proposal, places: Places, ref: ra.ColumnRef) -> str:
    """A column of the fact in the author's expression, qualified by its table's alias if the name
    alone is ambiguous in WHERE: a relation that is joined after the ON may have it, too."""
    assert ref.span is not None
    written = places.copy(ref.span)
    if written != spelled(ref, places) or _is_unique_name(proposal.target_block.source, ref.name):
        return written
    return f"{quoted(proposal.pair.target.alias)}.{written}"


def _unnamed(target: ra.Relation) -> bool:
    """Whether a relation has no alias but its own name."""
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


_LEFT = frozenset({JoinType.RIGHT, JoinType.FULL, JoinType.UNKNOWN})
_RIGHT = frozenset(JoinType) - {JoinType.RIGHT}


def refuse_lost_columns(proposal: Proposal, places: Places) -> None:
    """Raises NoPlaceError where the predicate could make Spark lose a column that USING or NATURAL
    hides."""
    plan, block = proposal.plan, proposal.target_block
    _refuse_below(proposal, places)
    _refuse_beside(proposal, places)
    first = block.parent is None and len(plan.query.top) == 1  # its columns keep their numbers
    if first and not plan.ctes:
        return
    hidden = {relation.relation for relation, _ in _hidden(block.source)}
    if proposal.pair.target.relation in hidden:
        raise NoPlaceError(
            "Spark may not find the column that USING or NATURAL hides once a predicate reads the "
            "same table again: write ON"
        )
    if not _cte_bodies(plan, block.number):
        return
    alias = _named_hidden_alias(places, plan)
    if alias is not None:
        raise NoPlaceError(
            f"the query names a column of `{alias}` that USING or NATURAL hides, and Spark may not "
            "find it once a CTE has a subquery: write ON"
        )


@remembered_by_node
def _named_hidden_alias(places: Places, plan: Plan) -> str | None:
    """The alias of the first relation of a plan with a hidden column that the text names."""
    hidden = (columns for block in plan.blocks for columns in _hidden(block.source))
    named = (relation for relation, keys in hidden if _is_named(places, relation, keys))
    return next((relation.alias for relation in named), None)


def _refuse_below(proposal: Proposal, places: Places) -> None:
    """Raises NoPlaceError where the predicate goes into an ON below a USING whose hidden column is
    named."""
    edge, block = proposal.pair.edge, proposal.target_block
    if block.number != edge.block.number or edge.join is None:
        return
    if clause_for(proposal.pair) is not ClauseKind.ON and not block.no_where:
        return
    for join in joins(block.source):
        if any(edge.join is below for side in (join.left, join.right) for below in joins(side)):
            for relation, keys in _hidden_by(join):
                if _is_named(places, relation, keys):
                    raise NoPlaceError(
                        f"the query names a column of `{relation.alias}` that USING or NATURAL "
                        "hides, and Spark may not find it once the ON of a join below has a "
                        "subquery: write ON"
                    )


def _refuse_beside(proposal: Proposal, places: Places) -> None:
    """Raises NoPlaceError if the predicate may stand on the left of a join or union whose right
    side reads one of its tables, and in which Spark may lose a column (``_losable_column``)."""
    plan, block = proposal.plan, proposal.target_block
    only = clause_for(proposal.pair) is ClauseKind.WHERE and not block.no_where
    if only and block.number in plan.query.top and len(plan.query.top) == 1:
        return
    bodies = _cte_bodies(plan, block.number)
    for other, lost in _losable_columns(places, plan):
        below = block.number in _enclosing_blocks(plan, other.number)
        if other is block or (below and only) or not _cte_bodies(plan, other.number) <= bodies:
            continue
        if other.number not in _enclosing_blocks(plan, block.number) and _reads_its_tables(
            proposal, other
        ):
            raise NoPlaceError(
                f"{lost}, and Spark may not find its columns once a subquery before it reads one "
                "of its tables"
            )


@remembered_by_node
def _losable_columns(places: Places, plan: Plan) -> list[tuple[ra.Block, str]]:
    """The blocks in which Spark may lose a column, each with the reason."""
    columns = ((block, _losable_column(block, places)) for block in plan.blocks)
    return [(block, lost) for block, lost in columns if lost]


def _losable_column(block: ra.Block, places: Places) -> str:
    """Why Spark may lose a column of a block; empty if it cannot. The names inside a view do not
    count."""
    if block.in_view:
        return ""
    nodes = (node for condition in block.having for node in walk(condition.expression))
    if any(isinstance(node, ra.Call) and node.name == "over" for node in nodes):
        return "another SELECT has a window in QUALIFY"
    for relation, keys in _hidden(block.source):
        if _is_named(places, relation, keys):
            return f"another SELECT names a column of `{relation.alias}` that USING hides"
    return ""


def _reads_its_tables(proposal: Proposal, other: ra.Block) -> bool:
    """Whether a block reads a table of the predicate and does not stand wholly on the left of the
    fact."""
    spans = [relation.span for relation in relations_of(proposal.plan, other.number)]
    if proposal.pair.at is not None and all(
        span is not None and span.start < proposal.pair.at for span in spans
    ):
        return False
    ours = _tables(proposal.plan, (proposal.pair.dimension, *neighbours(proposal.restrictions)))
    nodes = (
        node
        for item in flattened(proposal.restrictions)
        if isinstance(item, Conjunct)
        for node in walk(item.expression)
    )
    theirs = _tables(proposal.plan, relations_of(proposal.plan, other.number))
    asks = any(isinstance(node, ra.Subquery) for node in nodes)
    return asks or None in ours | theirs or not ours.isdisjoint(theirs)


def _tables(plan: Plan, relations: Iterable[Relation]) -> set[Name | None]:
    """The tables that relations read at any depth; None for one that is not known."""
    tables: set[Name | None] = set()
    for relation in relations:
        inner: Iterable[Relation | Generate] = (relation,)
        if isinstance(relation, ra.Derived | ra.CteReference):
            inner = read_by(plan, relation.query)
        tables |= {
            leaf.table.name if isinstance(leaf, ra.Scan) else None
            for leaf in inner
            if isinstance(leaf, ra.Scan | ra.Opaque)
        }
    return tables


def _enclosing_blocks(plan: Plan, number: int | None) -> Iterator[int]:
    """A block and the blocks around it."""
    while number is not None:
        yield number
        number = plan.blocks[number].parent


def _cte_bodies(plan: Plan, number: int) -> frozenset[int]:
    """The CTEs in whose bodies a block stands."""
    return _bodies_of_blocks(plan).get(number, frozenset())


@remembered
def _bodies_of_blocks(plan: Plan) -> dict[int, frozenset[int]]:
    by_block: dict[int, set[int]] = {}
    for cte in plan.ctes:
        for number in cte.query.blocks:
            by_block.setdefault(number, set()).add(cte.number)
    return {number: frozenset(bodies) for number, bodies in by_block.items()}


def _hidden(source: Node) -> Iterator[tuple[Relation | Generate, frozenset[str]]]:
    """The relations in a FROM whose columns USING or NATURAL hides, with these columns (empty:
    any)."""
    for join in joins(source):
        yield from _hidden_by(join)


def _hidden_by(join: Join) -> Iterator[tuple[Relation | Generate, frozenset[str]]]:
    """The relations whose columns one join hides, with these columns (empty: any)."""
    if join.using or join.natural:
        keys = frozenset(name.lower() for name in join.using)
        sides = [join.left] * (join.declared in _LEFT) + [join.right] * (join.declared in _RIGHT)
        yield from ((leaf, keys) for side in sides for leaf in leaves(side))


def _is_named(places: Places, relation: Relation | Generate, keys: frozenset[str]) -> bool:
    """Whether a key, or the star, is named after a relation's alias and a dot."""
    behind = _names_behind(places).get(relation.alias.lower(), set())
    return "*" in behind or (bool(behind) if not keys else not keys.isdisjoint(behind))


@remembered
def _names_behind(places: Places) -> dict[str, set[str]]:
    """The words that follow each word and a dot in a text."""
    texts = [token.text.lower() for token in places.tokens]
    behind: dict[str, set[str]] = {}
    for first, dot, last in zip(texts, texts[1:], texts[2:], strict=False):
        if dot == ".":
            behind.setdefault(first, set()).add(last)
    return behind
