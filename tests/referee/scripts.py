"""``python -m tests.referee.scripts --seed S --from N --count M``: random texts of several
statements that make, rename, drop and hide names, refereed by Spark.

What Spark refuses is left out of a script. Then the text and its rewriting are run, each in a
session and schemas of its own. Script N of seed S is always the same. Exit status 1 if anything was
wrong or too few queries were rewritten.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlrewrite import rewrite

from . import numbered
from .generator_scripts import SCHEMAS, SHAPES, World, random_world, script, values
from .harness import Answer, answer, differ, quick
from .rows import MANNERS, SPEED, catalog_of, local

END = ";\n"
"""Between the statements of a text; nowhere else does a line end behind a semicolon."""


@dataclass(slots=True)
class Count:
    """What became of the scripts of a run."""

    scripts: int = 0
    queries: int = 0
    rewritten: int = 0
    wrong: list[str] = field(default_factory=list)


class Stage:
    """The schemas of a Spark, laid out anew for each run of a text."""

    def __init__(self, spark: Any, folder: str) -> None:
        self.spark, self.files = spark, {}
        self.kept = {row.tableName for row in spark.sql("SHOW TABLES IN default").collect()}
        for number, shape in enumerate(SHAPES):
            path = f"{folder}/{number}"
            spark.sql(f"SELECT * FROM VALUES {values(shape)}").coalesce(1).write.parquet(path)
            self.files[shape] = path

    def laid(self, world: World) -> Any:
        """A session in which the world is as it was."""
        self.clear()
        session = quick(self.spark.newSession())
        session.sql("USE default")
        session.conf.set("spark.sql.ansi.enabled", str(world.ansi).lower())
        for schema in SCHEMAS[1:]:
            session.sql(f"CREATE SCHEMA {schema}")
        for name, shape in world.shapes.items():
            statement = f"CREATE VIEW spark_catalog.{name} AS SELECT * FROM VALUES {values(shape)}"
            if name in world.stored:
                columns = f"TABLE spark_catalog.{name} ({shape}) USING parquet"
                statement = f"CREATE {columns} LOCATION '{self.files[shape]}'"
            session.sql(statement)
        return session

    def clear(self) -> None:
        """Takes away all that a text has made."""
        session = self.spark.newSession()
        session.catalog.clearCache()
        for schema in SCHEMAS[1:]:
            session.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        rows = session.sql("SHOW TABLE EXTENDED IN default LIKE '*'").collect()
        for name, kind in ((row.tableName, row.information) for row in rows):
            if name not in self.kept:
                word = "VIEW" if "Type: VIEW" in kind else "TABLE"
                session.sql(f"DROP {word} spark_catalog.default.{name}")
        for row in session.sql("SHOW VIEWS IN global_temp").collect():
            if row.namespace == "global_temp":
                session.sql(f"DROP VIEW global_temp.{row.viewName}")


def valid(session: Any, texts: Sequence[Sequence[str]]) -> list[tuple[str, Answer]]:
    """The statements that Spark takes, with its answers; a script that fails ends the text."""
    answers = []
    for text in texts:
        for choice in text:
            reply = answer(session, choice)
            if not reply.error or (_asks(choice) and reply.columns):
                answers.append((choice, reply))
                break
            if choice.startswith("BEGIN"):
                return answers
    return answers


def _asks(text: str) -> bool:
    return text.startswith(("SELECT", "WITH"))


def referee(stage: Stage, seed: int, index: int, count: Count) -> None:
    """Runs one script both ways and counts."""
    rng = random.Random(f"{seed}/script/{index}")
    world, texts = random_world(rng), script(rng)
    manner = dict(rng.choice(MANNERS)) | {"disabled": SPEED}
    before = valid(stage.laid(world), texts)
    original = END.join(text for text, _ in before)
    count.scripts += 1
    count.queries += sum(_asks(text) for text, _ in before)
    result = rewrite(original, catalog_of(world.ddl()), **manner)
    if not result.changed:
        return
    session = stage.laid(world)
    for (text, reply), ours in zip(before, result.sql.split(END), strict=True):
        count.rewritten += text != ours
        problem = differ(reply, answer(session, ours))
        if problem:
            head = f"--seed {seed} --from {index} --count 1: {problem}; ANSI {world.ansi}, {manner}"
            count.wrong.append(f"\n=== {head}\n{world.ddl()}\n---\n{original}\n--- written\n{ours}")
            return


def run(
    spark: Any, folder: str, seed: int, first: int, number: int, seconds: float = 1e9
) -> tuple[Count, int]:
    """Referees ``number`` scripts from ``first``, and says from where to go on."""
    count, stage, until = Count(), Stage(spark, folder), time.monotonic() + seconds
    index = first
    while index < first + number and time.monotonic() < until:
        referee(stage, seed, index, count)
        index += 1
    stage.clear()
    return count, index


def main(arguments: list[str] | None = None) -> int:
    """Runs what the arguments ask for and returns the exit status."""
    parser = numbered.options("scripts", __doc__, 200)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        session = local(folder)
        count, index = run(
            session, f"{folder}/rows", args.seed, args.first, args.count, args.seconds
        )
        session.stop()
    print(*count.wrong, sep="\n")
    print(
        f"scripts {count.scripts}, queries {count.queries}, rewritten {count.rewritten}, ", end=""
    )
    print(f"wrong {len(count.wrong)}; go on with --seed {args.seed} --from {index}")
    return 1 if count.wrong or count.rewritten * 10 < count.queries else 0


if __name__ == "__main__":
    sys.exit(main())
