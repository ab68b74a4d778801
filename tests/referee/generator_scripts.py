"""Random texts of several statements that make, rename, drop and hide names.

In: a random number generator. Out: a ``World``, tables of one name in the current schema, in
another, and in one that is really called ``session``, each of a shape of its own; and a script,
which makes temporary views, views and tables under the same names, with star queries between.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .generator_text import JOINT, dotted

SCHEMAS = ("default", "other", "session")
NAMES = ("f", "d", "e")
FACTS = {
    "x INT, p INT": "(1, 1), (2, 2), (3, 9), (4, NULL)",
    "x INT, p STRING": "(1, '1'), (2, '02'), (3, ' 9'), (4, '2')",
    "x INT, c STRING, p INT": "(1, 'a', 1), (2, 'b', 2), (3, 'a', 9)",
}
DIMENSIONS = {
    "k INT, c STRING": "(1, 'a'), (2, 'a'), (9, 'b')",
    "k STRING, c STRING": "('01', 'a'), ('2', 'a'), ('9', 'a')",
    "k INT, e STRING": "(2, 'a'), (9, 'a'), (1, 'b')",
    "k INT, c STRING, x INT": "(1, 'a', 7), (9, 'a', 8)",
}
_DIMENSION_ITEMS = ("k, c", "k + 1 AS k, c", "CAST(k AS STRING) AS k, c")
_ALWAYS = frozenset({"default.f", "default.d", "default.e", "other.f"})
SHAPES = {**FACTS, **DIMENSIONS}


@dataclass(frozen=True, slots=True)
class World:
    """The shape of each table by its qualified name, and the schemas that the catalog knows. What
    is not ``stored`` is a permanent view in Spark, which takes a tenth of the time."""

    shapes: dict[str, str]
    stored: tuple[str, ...]
    names: tuple[str, ...]
    ansi: bool

    def ddl(self) -> str:
        """The tables as the rewriter's catalog."""
        return ";\n".join(
            f"CREATE TABLE {name.removeprefix('default.')} ({shape}) USING parquet{_by(shape)}"
            for name, shape in self.shapes.items()
            if name.partition(".")[0] in self.names
        )


def random_world(rng: random.Random) -> World:
    """Tables of the same names in all schemas, a few of them missing."""
    shapes = {
        f"{schema}.{name}": rng.choice(_shapes(rng, name))
        for schema in SCHEMAS
        for name in NAMES
        if f"{schema}.{name}" in _ALWAYS or rng.random() < 0.5
    }
    schemas = SCHEMAS if rng.random() < 0.7 else ("default", "other")
    stored = tuple(rng.sample(sorted(shapes), 2))
    return World(shapes, stored, schemas, rng.random() < 0.3)


def statement(rng: random.Random) -> str:
    """A statement that makes, moves or drops a name, or a setting."""
    makers = (temporary, temporary, temporary, stored, stored, renamed, renamed, dropped, cached)
    return rng.choice((*makers, used, settings, block))(rng)


def temporary(rng: random.Random) -> str:
    """A temporary view, also of the names that are those of tables."""
    head = rng.choice(("TEMP VIEW", "OR REPLACE TEMP VIEW", "OR REPLACE TEMPORARY VIEW"))
    name = _short(rng)
    if rng.random() < 0.1:
        return f"CREATE {head.replace('TEMP', 'GLOBAL TEMP', 1)} {name} AS {_rows(rng, name)}"
    before = rng.choice(((), (), (), ("session",), ("system", "session")))
    written = dotted(rng, *before, name).replace(JOINT, "")
    return f"CREATE {head} {written} AS {_rows(rng, name)}"


def stored(rng: random.Random) -> str:
    """A table or permanent view."""
    name = _long(rng)
    shape = rng.choice(_shapes(rng, name))
    return rng.choice(
        (
            f"CREATE TABLE {name} ({shape}) USING parquet{_by(shape)}",
            f"CREATE TABLE IF NOT EXISTS {name} ({shape}) USING parquet",
            f"CREATE TABLE {name} LIKE {_long(rng)} USING parquet",
            f"CREATE TABLE {name} USING parquet AS {_rows(rng, name)}",
            f"CREATE OR REPLACE VIEW {name} AS {_rows(rng, name)}",
            f"CREATE VIEW IF NOT EXISTS {name} AS {_rows(rng, name)}",
        )
    )


def renamed(rng: random.Random) -> str:
    """A view or table under another name."""
    kind, new = rng.choice(("VIEW", "VIEW", "TABLE")), rng.choice((_short(rng), _long(rng)))
    new = f"IDENTIFIER('{new}')" if rng.random() < 0.15 else new
    return f"ALTER {kind} {rng.choice((_short(rng), _long(rng)))} RENAME TO {new}"


def dropped(rng: random.Random) -> str:
    """A view or table that is no more."""
    exists = rng.choice(("", "IF EXISTS "))
    return f"DROP {rng.choice(('VIEW', 'VIEW', 'TABLE'))} {exists}{_long(rng)}"


def cached(rng: random.Random) -> str:
    """A temporary view that CACHE makes."""
    name = _short(rng)
    return f"CACHE LAZY TABLE {name} AS {_rows(rng, name)}"


def used(rng: random.Random) -> str:
    """Another current schema."""
    return f"USE {rng.choice(('', 'SCHEMA '))}{rng.choice((*SCHEMAS, 'default'))}"


def settings(rng: random.Random) -> str:
    """A setting by which names may be read otherwise, or not."""
    return rng.choice(
        (
            *("SET spark.sql.shuffle.partitions = 2", "SET schema_name = other"),
            *("RESET spark.sql.shuffle.partitions", "SET spark.sql.ansi.enabled = true"),
            "SET spark.sql.ansi.enabled = false",
        )
    )


def block(rng: random.Random) -> str:
    """A script of SQL, in which a part may not be run."""
    makers = (temporary, stored, renamed, dropped)
    inner = f"{rng.choice(makers)(rng)};"
    if rng.random() < 0.4:
        inner = f"IF {rng.choice(('1 = 1', '1 = 2'))} THEN {inner} END IF;"
    return f"BEGIN {inner} END"


def query(rng: random.Random) -> str:
    """A star query; of the columns that its names may have or not, some are named without alias."""
    fact = rng.choice((*("f",) * 5, "v", "e", _long(rng)))
    dimension = rng.choice((*("d",) * 4, "e", "v", "w", _long(rng), _long(rng)))
    column = rng.choice((*("d1.c",) * 5, "c", "d1.e"))
    on = rng.choice(("f1.p = d1.k", "f1.p = d1.k", "p = k"))
    head = rng.choice(("count(*), sum(f1.x)", "f1.x, k", "count(*), min(p)"))
    join = rng.choice(("JOIN", "JOIN", "JOIN", "LEFT SEMI JOIN", "RIGHT JOIN"))
    if join == "LEFT SEMI JOIN":
        return f"SELECT f1.x FROM {fact} f1 {join} {dimension} d1 ON {on} AND {column} = 'a'"
    text = f"SELECT {head} FROM {fact} f1 {join} {dimension} d1 ON {on} WHERE {column} = 'a'"
    if rng.random() < 0.2:
        name = rng.choice(NAMES)
        return f"WITH {name} AS ({_rows(rng, name)}) {text}"
    return text


def script(rng: random.Random) -> list[tuple[str, ...]]:
    """The statements of a text, with queries between them and behind; of each what to try instead
    if Spark refuses it."""
    texts: list[tuple[str, ...]] = []
    for _ in range(rng.randint(2, 7)):
        texts.append(tuple(statement(rng) for _ in range(3)))
        texts += [tuple(query(rng) for _ in range(4))] if rng.random() < 0.7 else []
    return [*texts, *(tuple(query(rng) for _ in range(6)) for _ in range(3))]


def _by(shape: str) -> str:
    return " PARTITIONED BY (p)" if shape in FACTS else ""


def _short(rng: random.Random) -> str:
    return rng.choice((*("d",) * 4, "e", "e", "f", "v", "w"))


def _long(rng: random.Random) -> str:
    before = rng.choice(("", "", "", "", "other.", "default.", "session.", "system.session."))
    before = "spark_catalog.other." if rng.random() < 0.03 else before
    return before + _short(rng)


def _shapes(rng: random.Random, name: str) -> tuple[str, ...]:
    """What a relation of this name mostly looks like, so that most queries have their columns."""
    if rng.random() < 0.1:
        return tuple(SHAPES)
    shapes = tuple(FACTS if name[-1] in "fv" else DIMENSIONS)
    return shapes[:2] if rng.random() < 0.8 else shapes


def _rows(rng: random.Random, name: str) -> str:
    """A query of a shape that is known, or one that reads a name."""
    other = _long(rng) if rng.random() < 0.5 else name
    if name == "v" or rng.random() < 0.4:
        other = "f" if name == "v" and rng.random() < 0.7 else other
        fact = other[-1] in "fv"
        columns = ("x, p", "x, CAST(p AS STRING) AS p") if fact else _DIMENSION_ITEMS
        return (
            f"SELECT {rng.choice(('*', *columns))} FROM {other}{rng.choice(('', '', ' LIMIT 2'))}"
        )
    return f"SELECT * FROM VALUES {values(rng.choice(_shapes(rng, name)))}"


def values(shape: str) -> str:
    """The rows of a shape, as VALUES has them."""
    names = ", ".join(column.split(" ")[0] for column in shape.split(", "))
    return f"{SHAPES[shape]} AS t({names})"
