"""What the directives in a text leave as it is: scans, and the managed predicates for them.

A managed predicate belongs to a scan of its block that it names, or whose table is partitioned by a
column that it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from sqlglot import exp

from sqlrewrite.sql.bind.trees import alias_of, alias_offset
from sqlrewrite.sql.managed.recognition import ManagedPredicate
from sqlrewrite.sql.managed.strip import strip
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.sql.statements.directives import ADDING, MENDING, Directive, Directives
from sqlrewrite.warehouse import Warehouse


class Suppressed(Struct, frozen=True):
    """The directives of a text, with answers to where they forbid to write or take out anything."""

    directives: Directives
    catalog: Warehouse

    def reason(self, offset: int) -> str | None:
        """Why nothing is added to the scan at an offset of the original text; None if something may
        be."""
        return _reason(self.directives.covering(offset, ADDING))

    def frozen(self, offset: int, mends: bool) -> str | None:
        """Why nothing is inserted at an offset of the original text; None if something may be. An
        insertion that ``mends`` what stood there is refused only in a region that keeps its
        predicates: there it would stay, and be written again on the next run."""
        codes = MENDING if mends else ADDING | MENDING
        return _reason(self.directives.region(offset, codes))

    def kept(self, predicates: Sequence[ManagedPredicate]) -> dict[ManagedPredicate, Directive]:
        """The managed predicates of a statement that stay, each with the directive for it, which
        covers a line of the predicate or of its scan. If one stays, so do all that bound the same
        value, as the two ends of a range do."""
        own = {
            predicate: directive
            for predicate in predicates
            if (directive := self._covering(predicate)) is not None
        }
        if not own:
            return own
        of = {_about(predicate): directive for predicate, directive in own.items()}
        both = (
            (predicate, own.get(predicate) or of.get(_about(predicate))) for predicate in predicates
        )
        return {predicate: directive for predicate, directive in both if directive is not None}

    def owners(self, text: str) -> dict[int, Directive]:
        """The directive by which each managed predicate of a text stays, by the predicate's
        offset."""
        kept = strip(text, lex(text), self.kept).kept
        return {predicate.span.start: predicate.directive for predicate in kept}

    def _covering(self, managed: ManagedPredicate) -> Directive | None:
        span = managed.span
        offsets = [span.start, span.end - 1]
        names = self._names(managed.value)
        offsets += [at for name, at in _scans(managed.clause.block) if name in names]
        lines = (self.directives.covering(at, MENDING) for at in offsets)
        return next(filter(None, lines), None)

    def _names(self, value: exp.Expr) -> frozenset[str]:
        """The names of a predicate's scan in a FROM: its qualifiers, or tables partitioned by its
        column."""
        names: set[str] = set()
        for column in value.find_all(exp.Column):
            if column.table:
                names.add(column.table.lower())
                continue
            name = column.name.lower()
            for table in self.catalog.tables:
                if any(field.column.lower() == name for field in table.partitioned_by):
                    names.add(table.name[-1].lower())
        return frozenset(names)


def _about(managed: ManagedPredicate) -> tuple[int, str]:
    """The block of a predicate, by its id, and the text of the value that it bounds."""
    return id(managed.clause.block), managed.bounded


def _scans(block: exp.Expr) -> Iterator[tuple[str, int]]:
    """The relations in the FROM of a block by their names and aliases, each with the offset of its
    table's name, or of its alias."""
    if isinstance(block, exp.Merge):
        return
    from_ = block.args.get("from_")
    stack = [block.this if from_ is None else from_.this]
    stack += [join.this for join in block.args.get("joins") or ()]
    while stack:
        relation = stack.pop()
        stack += [join.this for join in relation.args.get("joins") or ()]
        table = isinstance(relation, exp.Table)
        if isinstance(relation, exp.Subquery | exp.Paren) and not alias_of(relation):
            stack.append(relation.this)
            continue
        at = relation.this.meta.get("start") if table else alias_offset(relation)
        if at is not None:
            yield alias_of(relation).lower(), at
            if table:
                yield relation.name.lower(), at


def _reason(directive: Directive | None) -> str | None:
    return f"kept as it is: line {directive.line} says `{directive}`" if directive else None
