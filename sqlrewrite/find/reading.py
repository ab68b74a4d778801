"""Reads one statement: binds it to a plan and finds the pairs that could prune a fact in it.

A statement that names no partitioned table and no view is not bound, and costs neither that work
nor the imports for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from sqlrewrite.copies import replace
from sqlrewrite.plan.memo import TooManyStepsError, within
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.options import ResolveError
from sqlrewrite.sql.managed.strip import RemovedPredicate, Stripped
from sqlrewrite.sql.parse.statements import Failure, Statement, passed_over, statements
from sqlrewrite.sql.python_runtime import TOO_DEEP, deep
from sqlrewrite.sql.statements.effects import targets, unknown
from sqlrewrite.sql.statements.two_readings import possible_names, why_unreadable
from sqlrewrite.sql.suppressed import Suppressed
from sqlrewrite.text.limits import SPARK, Limits, over_steps
from sqlrewrite.text.markers import group_insertions
from sqlrewrite.text.masking import mask
from sqlrewrite.text.variables import with_values
from sqlrewrite.warehouse import Name, View, Warehouse

if TYPE_CHECKING:
    from sqlrewrite.dialects import Dialect, Transliteration
    from sqlrewrite.find.pairs import Pair
    from sqlrewrite.sql.bind.binder import Bound
    from sqlrewrite.text.templates import Masked

BUG = "DPP999"

_BY_GROUPS = (
    "a join by groups of partitions, which an earlier run wrote, is left as it is: --strategy "
    "partition-wise writes it anew, --strip takes it out"
)

_WORDS = re.compile(r"\w+|`[^`]+`|\"[^\"]+\"")

T = TypeVar("T")

_TOO_DEEP = f"{TOO_DEEP} to be rewritten"


class Reading(Struct, frozen=True, eq=False):
    """One statement as it is read, with the ``catalog`` that holds for it.

    ``bound`` is None where nothing in it can be pruned; its tree, a hundred times the size of its
    text, is then dropped. ``words`` are the words of its tokens, ``changes`` those that may name
    what it changes. ``unread_join`` reports a join that was not understood. ``missing`` reports an
    unknown table in a statement with predicates of an earlier run. ``names`` are the relations that
    it names, where they were asked for.
    """

    statement: Statement
    catalog: Warehouse
    words: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    bound: Bound | None = None
    pairs: tuple[Pair, ...] = ()
    unread_join: Failure | None = None
    failure: Failure | None = None
    missing: Failure | None = None
    names: tuple[Name, ...] = ()


def read_statement(
    statement: Statement, text: str, catalog: Warehouse, limits: Limits, *, whole: bool
) -> Reading:
    """Reads a statement of a text under a ``catalog``; ``whole`` as in ``document.read``."""
    changes = targets(statement)
    if group_insertions(text[statement.start : statement.end + 1]):
        by_groups = Failure(statement.start, _BY_GROUPS, parsed=True)
        return Reading(replace(statement, tree=None), catalog, changes=changes, failure=by_groups)
    words = statement.last_words if catalog.relations.any_prunable else frozenset()
    unbound = Reading(statement, catalog, words, changes, failure=statement.failure)
    if statement.failure is not None or statement.tree is None:
        return unbound
    bound: Reading | Failure | None = None
    if catalog.relations.prunable(words):  # it names a partitioned table or a view
        bound = why_unreadable(statement, text, limits.double_quoted)
        are_strings = limits.double_quoted is False
        around = None if are_strings or bound is not None else possible_names(statement, text)
        bound = bound or guarded(
            lambda: _bound(unbound, text, around, whole), statement.start, limits
        )
    if isinstance(bound, Reading) and bound.bound is not None:
        return bound
    if isinstance(bound, Reading):
        bound = passed_over(statement, text)
    failure = bound if isinstance(bound, Failure) else None
    return replace(unbound, statement=replace(statement, tree=None), failure=failure)


def missing_relation(statement: Statement, catalog: Warehouse) -> Failure | None:
    """A report of a relation that is not in the catalog, because of which predicates of an earlier
    run stay; None if there is none."""
    relation = None if statement.tree is None else unknown(statement.tree, catalog)
    if relation is None:
        return None
    why = (
        f"`{'.'.join(relation.parts)}` is not in the catalog: what dpp-rewrite has written in this "
        "statement stays as it is"
    )
    return Failure(relation.span.start, why, parsed=True)


def _bound(reading: Reading, text: str, around: frozenset[str] | None, whole: bool) -> Reading:
    # Only here, so that a text without a partitioned table does not wait for the imports.
    from sqlrewrite.find.filter_pairs import find_filter_pairs, with_constants
    from sqlrewrite.find.pairs import find_pairs, unread_join
    from sqlrewrite.find.rank_pairs import find_rank_pairs
    from sqlrewrite.sql.bind.binder import bind

    tree = reading.statement.tree
    assert tree is not None
    bound = bind(tree, text, reading.catalog, around, whole=whole)
    if bound is None:
        return reading
    plan = bound.plan
    joined = [with_constants(plan, pair) for pair in find_pairs(plan)]
    pairs = (*find_filter_pairs(plan), *find_rank_pairs(plan), *joined)
    if not pairs and not whole:
        bound = replace(bound, selects={}, conditions={}, trees={})
    reading = replace(reading, bound=bound, pairs=pairs)
    why = None if pairs else unread_join(bound.plan)
    if why is None:
        return reading
    offset, reason = why
    at = reading.statement.start if offset is None else offset
    return replace(reading, unread_join=Failure(at, reason, parsed=True))


def guarded(action: Callable[[], T], at: int, limits: Limits) -> T | Failure:
    """The result of ``action`` on the statement at an offset. A bug of ours, or more steps than the
    limit, becomes a Failure of this statement alone. ``action`` may run twice (``deep``). Raises
    ConfigError and ResolveError."""
    try:
        return deep(lambda: within(limits.steps, action))
    except TooManyStepsError:
        return Failure(at, over_steps(limits.steps), parsed=True)
    except RecursionError:
        return Failure(at, _TOO_DEEP, parsed=True)
    except (ConfigError, ResolveError):
        raise
    except Exception as error:
        why = f"internal error, please report this: {type(error).__name__}: {error}"
        return Failure(at, why, code=BUG)


class StatementContext(Struct, frozen=True, eq=False):
    """What affects a statement from outside it: its ``catalog``; the ``text`` without what an
    earlier run wrote into it; and the author's comments that ask to leave something alone
    (``suppressed``; None if they are to be ignored).

    ``literals`` are predicates of literals that an earlier run wrote, by what they bound and their
    key query (``comparable``). ``changed`` are words that may name what the text itself changes.
    ``mended``: the values bounded by the predicates that were taken out of the statement; writing
    one of these predicates again adds nothing.
    """

    catalog: Warehouse
    text: Stripped
    suppressed: Suppressed | None = None
    literals: Mapping[tuple[str, tuple[str, ...]], RemovedPredicate] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    mended: frozenset[str] = frozenset()

    def suppresses(self, offset: int) -> str | None:
        """Why nothing may be added to the scan at an offset; None if it may."""
        if self.suppressed is None:
            return None
        return self.suppressed.reason(offset)

    def keeps(self, offset: int, mends: bool) -> str | None:
        """Why nothing may be inserted at an offset; None if it may be. ``mends``: the same
        predicate was there before."""
        if self.suppressed is None:
            return None
        return self.suppressed.frozen(offset, mends)


# --- texts of other dialects

_FLINK = "flink"


def to_spark(sql: str, limits: Limits) -> Transliteration | None:
    """The text in Spark's grammar; None if it is written for Spark."""
    dialect = _dialect(limits)
    return None if dialect is None else dialect.to_spark(sql)


def in_dialect(result: T, limits: Limits) -> T:
    """A result of reading a text, with every string in it back in the author's dialect."""
    dialect = _dialect(limits)
    return result if dialect is None else dialect.in_dialect(result)


def cross_checked(
    statement: Statement,
    masked: Callable[[], Masked],
    transliteration: Transliteration,
    limits: Limits,
    catalog: Warehouse,
) -> Statement:
    """The statement; a failed one if its dialect's own parser reads something else in it. That
    parser gets the text with its templates ``masked``."""
    from sqlrewrite.sql.statements.two_readings import disagreement

    why = next(
        (
            reason
            for at, reason in transliteration.unreadable
            if statement.start <= at < statement.end
        ),
        None,
    )
    failed = statement.failure is not None or statement.tree is None
    if why is None and not failed and catalog.relations.prunable(statement.words):
        why = disagreement(statement, masked(), limits.dialect)
    return statement if why is None else left_alone(statement, why)


def with_views_of(text: str, catalog: Warehouse, limits: Limits) -> Warehouse:
    """The catalog with the queries of the views that the text may read, also through other views,
    in Spark's grammar. A view whose query cannot be read is taken out."""
    dialect = _dialect(limits)
    if dialect is None:
        return catalog
    texts, names = [text], set[Name]()
    while texts:
        for name in _named_in(texts.pop(), catalog) - names:
            names.add(name)
            view = catalog.relations.get(name)
            if not isinstance(view, View):
                continue
            query = _view_query(dialect, view.query) if view.query else ""
            texts.append(view.query)
            catalog = (
                catalog.without(name)
                if query is None
                else catalog.with_relation(replace(view, query=query))
            )
    return catalog


def _named_in(text: str, catalog: Warehouse) -> set[Name]:
    """The relations that a text may read: by a word or quoted name in it, as written or with the
    values of variables, or by a reference in a template."""
    words = {word.strip('`"') for word in _WORDS.findall(with_values(text, catalog.refer).lower())}
    names = {name for word in words for name in catalog.relations.named(word)}
    for template in mask(text).templates if "{{" in text else ():
        name = catalog.refer(template.reference) if template.reference else None
        names |= set() if name is None else {catalog.qualify(name)}
    return names


def with_temporaries_of(before: Warehouse, after: Warehouse, limits: Limits) -> Warehouse:
    """The catalog after a statement, its temporary views as in its dialect: Flink's are in the
    current schema and hide a table of that name; Spark's are in no schema."""
    if limits.dialect != _FLINK or after is before:
        return after
    if after.namespace != before.namespace:
        for name in after.relations.temporary:
            after = after.without(name)
        return after
    for name, old, _ in before.relations.changes(after.relations):
        if len(name) == 1 and old is None:
            after = after.without(after.qualify(name))
    return after


def _view_query(dialect: Dialect, query: str) -> str | None:
    """The query of a view in Spark's grammar; None if it is not understood."""
    from sqlrewrite.sql.statements.two_readings import disagreement

    query_text = dialect.to_spark(query)
    if query_text.failure or query_text.unreadable:
        return None
    read = list(statements(query_text.text))
    alone = len(read) == 1 and read[0].tree is not None and read[0].failure is None
    same = alone and disagreement(read[0], mask(query_text.text), dialect.name) is None
    return query_text.text if same else None


def left_alone(statement: Statement, why: str) -> Statement:
    """The statement without its tree, and the reason why."""
    return replace(statement, tree=None, failure=Failure(statement.start, why, True))


def _dialect(limits: Limits) -> Dialect | None:
    if limits.dialect == SPARK:
        return None
    from sqlrewrite.dialects import dialect  # Spark's own texts do without this import

    return dialect(limits.dialect)
