"""The columns of ``*`` and ``t.*`` over random join trees: as Spark names and orders them, and each
the column of that relation which the binder says it is (docs/soundness.md, "Names").

``*`` is expanded by the binder, written out column by column, and both texts are run.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import pytest

from sqlrewrite.catalog import Catalog
from sqlrewrite.plan.algebra import ColumnRef, Derived, Expression, Plan, Project, Relation, Unknown
from sqlrewrite.sql.bind.binder import bind
from sqlrewrite.sql.parse.statements import statements
from sqlrewrite.warehouse import Column, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TEXTS = 30
LEAST_KNOWN = 20

# Names are shared in other places, so that what is merged stands elsewhere than the rest.
TABLES = {
    "t1": ("k", "a", "b"),
    "t2": ("a", "k", "c"),
    "t3": ("b", "k", "a", "d"),
    "t4": ("k", "e"),
    "t5": ("e", "c", "q"),
    "t6": ("z", "y"),
}
JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")


@pytest.mark.long
def test_columns_of_a_star(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.leafNodeDefaultParallelism", "1")
    session.conf.set("spark.sql.adaptive.enabled", "false")
    for number, (table, listed) in enumerate(TABLES.items()):
        rows = [
            tuple(row + (name != "k") * (number + at) for at, name in enumerate(listed))
            for row in range(1 + number % 2, 4)
        ]
        values = f"VALUES {', '.join(map(str, rows))} AS t({', '.join(listed)})"
        session.sql(f"CREATE TEMPORARY VIEW {table} AS SELECT * FROM {values}")
    count = 0
    for seed in range(TEXTS):
        expanded = _expanded(*_text(random.Random(seed)))
        if expanded is None:
            continue
        text, names, written_out = expanded
        was = session.sql(text)
        assert [name.lower() for name in was.columns] == names, text
        rows_of_star, rows_of_columns = was.collect(), session.sql(written_out).collect()
        assert Counter(map(tuple, rows_of_star)) == Counter(map(tuple, rows_of_columns)), text
        count += 1
    assert count >= LEAST_KNOWN  # else the generator, or the binder, knows too little


def _text(rng: random.Random) -> tuple[str, str]:
    """A SELECT list of stars, and a FROM."""
    shown: dict[str, tuple[str, ...]] = {}
    source = _leaf(rng, shown)
    visible = dict(shown)
    for _ in range(rng.choice((1, 2, 2, 3))):
        before = {name for names in visible.values() for name in names}
        added: dict[str, tuple[str, ...]] = {}
        other = _leaf(rng, added, taken=shown)
        shown |= added
        kind, names = rng.choice(JOINS), next(iter(added.values()))
        common = sorted(before & {*names})
        how = rng.choice(("using", "natural", "on", "cross"))
        if how == "cross":
            source += f" CROSS JOIN {other}"
        elif how == "natural" and "SEMI" not in kind and "ANTI" not in kind:
            source += f" NATURAL {kind} {other}"
        elif how == "using" and common:
            using = rng.sample(common, min(len(common), rng.choice((1, 2))))
            source += f" {kind} {other} USING ({', '.join(using)})"
        else:
            source += f" {kind} {other} ON true"
        if how == "cross" or ("SEMI" not in kind and "ANTI" not in kind):
            visible |= added
    alias = rng.choice(list(visible))
    return rng.choice(("*", f"{alias}.*", f"{alias}.*, *")), source


def _leaf(
    rng: random.Random, shown: dict[str, tuple[str, ...]], taken: Collection[str] = ()
) -> str:
    table = rng.choice(list(TABLES))
    alias = next(column for column in _aliases(table) if column not in taken)
    shown[alias] = TABLES[table]
    return table if alias == table else f"{table} AS {alias}"


def _aliases(table: str) -> Iterator[str]:
    yield table
    yield from (f"{table}_{number}" for number in range(9))


def _expanded(shown: str, source: str) -> tuple[str, list[str], str] | None:
    """The text, the names of its columns as the binder reads them, and the text with each column
    written out; None where they are not known."""
    text = f"SELECT {shown} FROM {source}"
    around = f"SELECT * FROM ({text}) AS around"
    (statement,) = statements(around)
    assert statement.tree is not None
    bound = bind(statement.tree, around, _CATALOG)
    assert bound is not None
    (inner,) = [relation for relation in bound.plan.relations.values() if _is_around(relation)]
    assert isinstance(inner, Derived)
    project = inner.query.node
    if inner.query.names is None or not isinstance(project, Project):
        return None
    columns = [_written(bound.plan, output.expression) for output in project.outputs]
    return text, list(inner.query.names), f"SELECT {', '.join(columns)} FROM {source}"


def _is_around(relation: object) -> bool:
    return isinstance(relation, Derived) and relation.alias == "around"


def _written(plan: Plan, expression: Expression) -> str:
    match expression:
        case ColumnRef(relation=number, name=name):
            relation = plan.relations[number]
            assert isinstance(relation, Relation)
            return f"{relation.alias}.{name}"
        case Unknown(args=(one, other)):  # merged by a FULL JOIN
            return f"coalesce({_written(plan, one)}, {_written(plan, other)})"
        case _:
            raise AssertionError(expression)


_CATALOG = Catalog().with_relations(
    {
        ("spark_catalog", "default", table): Table(
            ("spark_catalog", "default", table), tuple(Column(name, "int") for name in names)
        )
        for table, names in TABLES.items()
    }
)
