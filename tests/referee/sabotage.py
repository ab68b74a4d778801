"""Switches that make the rewriter wrong on purpose, and which named case notices each.

A ``Switch`` takes one thing away that keeps a rewrite sound: a rule, a row of the join tables, or a
flag of a function (that it can raise an error, that NULL does not make it NULL, that it is not the
same when read twice, that it is an aggregate or makes rows), what the table says of a form that is
attempted, a word that it says of some functions and not of others; or a rule by which the type of a
key follows from its text. A case of ``fixtures/`` notices
if its golden is no longer what the rewriter makes of it; a case of
``tests/support/rule_witnesses.py`` likewise, whose rows DuckDB compares.
``python -m tests.referee.sabotage`` looks for a case for every switch and prints a line each, with
``-`` where no case notices: then it is not needed or not tested. ``witnesses.tsv`` is that table; a
test holds it. ``--spark`` asks Spark about each flag of a function that is turned round.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import functions as asked
from sqlrewrite import Catalog, rewrite
from sqlrewrite.copies import replace
from sqlrewrite.judge import form
from sqlrewrite.judge.rules import RULES
from sqlrewrite.judge.soundness import dimension, filters
from sqlrewrite.judge.soundness.join_type import LEGAL, ClauseKind
from sqlrewrite.plan import columns, joins
from sqlrewrite.plan.facts import error_free, functions, result_rules, result_types
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import STRING, Type
from tests.support.cases import catalog, query_cases, read, retail_cases
from tests.support.rule_witnesses import DDL, WITNESSES

WITNESS_TABLE = Path(__file__).with_name("witnesses.tsv")
NONE = "-"


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing to take away: its name, how, and a word that a query has to have to show it."""

    name: str
    off: Callable[[], AbstractContextManager[frozenset[str]]]
    word: str = ""


COPIED = (
    (form, "raising_for_keys"),
    (dimension, "raising_for_rows"),
    (dimension, "raising_where_tested"),
    (dimension, "raising_where_extended"),
    (filters, "raising_for_constant"),
)
"""Where what Spark copies (``judge/errors/``) is asked, and the question."""


def _reading(change: Callable[[Type], Type]) -> Callable[[str], Type | None]:
    """A reader of the texts of types that makes another type of each."""
    return lambda text: None if (kind := parse(text)) is None else change(kind)


_COLUMNS, _RESULTS = vars(columns), vars(result_types)
TYPES: dict[str, tuple[Any, str, Any]] = {
    "a folded cast": (_COLUMNS, "_constant_text", lambda arg: getattr(arg, "text", None)),
    "a literal integer": (_RESULTS, "_of_digits", lambda kind, text: kind),
    "VARCHAR in a call": (_RESULTS, "_plain", lambda kind: kind),
    "a field": (_COLUMNS, "field_of", lambda kind, name: kind.items[0]),
    "rows that differ": (_COLUMNS, "_common", lambda plan, kinds: kinds[0]),
    "what a setting decides": (_COLUMNS, "_agreed", lambda kinds: next(iter(kinds))),
    "a padded BINARY": (result_rules.RESULTS, "@pad", result_rules.RESULTS["@text"]),
    "a collated text": (
        *(_COLUMNS, "parse", _reading(lambda kind: replace(kind, collation=None))),
    ),
    "a TIME": (
        *(_COLUMNS, "parse", _reading(lambda kind: STRING if kind.name == "time" else kind)),
    ),
}
"""By what is typed: the place of the rule, and a wrong one: a literal's digits for a folded cast,
the first of several fields or rows, STRING for TIME, no collation."""


def switches() -> Iterator[Switch]:
    """All of them."""
    for rule in RULES:
        yield Switch(f"rule {rule.code}", lambda code=rule.code: _disabled(code))  # type: ignore[misc]
    for key, place in LEGAL.items():
        if place is not ClauseKind.WHERE:
            yield Switch(
                f"legal {key[0]}, {key[1]}",
                lambda key=key: _row(LEGAL, key, ClauseKind.WHERE),  # type: ignore[misc]
            )
    both = (joins.LEFT, joins.RIGHT)
    for label, table in (("preserved", joins.PRESERVED), ("on", joins.RESTRICTED_BY_ON)):
        for kind, sides in table.items():
            if len(sides) < len(both):
                yield Switch(
                    f"{label} {kind.name.lower()}",
                    lambda table=table, kind=kind: _row(table, kind, both),  # type: ignore[misc]
                )
    for module, question in COPIED:
        yield Switch(
            question.replace("_", " "),
            lambda module=module, question=question: nothing_asked(module, question),  # type: ignore[misc]
        )
    yield from _flags()
    for word in ("value", "null"):
        yield Switch(f"attempt {word}", lambda word=word: _exact(word))  # type: ignore[misc]
    for of in sorted(error_free._CLASSES.keys() - {"cast"}):  # that is asked elsewhere
        yield Switch(
            f"attempt of {of}",
            lambda of=of: _row(error_free._CLASSES, of, lambda kinds: True),  # type: ignore[misc]
        )
    for label, fault in TYPES.items():
        yield Switch(f"type of {label}", lambda fault=fault: _row(*fault))  # type: ignore[misc]
    for tag, *_ in map(str.split, functions._table()["tags"].splitlines()):
        yield Switch(f"tag {tag}", lambda tag=tag: _tag(tag))  # type: ignore[misc]


def _flags() -> Iterator[Switch]:
    """Of each function and operator, what it is said to do that is dangerous."""
    for name in functions.names():
        row = functions.function(name)
        assert row is not None
        if row.raises != "never":
            yield _flag(name, "raises", raises="never")
        if row.nulls != "all":
            yield _flag(name, "nulls", nulls="all")
        if row.again != "same":
            yield _flag(name, "again", again="same")
        if row.kind in ("aggregate", "generator"):
            yield _flag(name, row.kind, kind="scalar")


def _flag(name: str, label: str, **changed: str) -> Switch:
    return Switch(f"function {name} {label}", lambda: _function(name, changed), name)


@contextmanager
def _disabled(code: str) -> Iterator[frozenset[str]]:
    yield frozenset({code})


@contextmanager
def _row(table: Any, key: Any, value: Any) -> Iterator[frozenset[str]]:
    before = table[key]
    table[key] = value
    try:
        yield frozenset()
    finally:
        table[key] = before


def nothing_asked(module: ModuleType, question: str) -> AbstractContextManager[frozenset[str]]:
    """The question, which finds nothing to object to."""
    return _row(vars(module), question, lambda proposal: None)


@contextmanager
def _exact(said: str) -> Iterator[frozenset[str]]:
    """Forms of which the table says that are said to give what the function gives, in any mode."""
    rows = functions.attempts()
    before = dict(rows)
    rows.update({name: ("nullable", *row[1:]) for name, row in before.items() if row[0] == said})
    try:
        yield frozenset()
    finally:
        rows.update(before)


@contextmanager
def _tag(tag: str) -> Iterator[frozenset[str]]:
    """The word is said of every function."""
    table = functions._table()
    functions.tagged.cache_clear()
    with _row(table, "tags", f"{table['tags']}{tag} {' '.join(functions.names())}"):
        yield frozenset()
    functions.tagged.cache_clear()


@contextmanager
def _function(name: str, changed: dict[str, str]) -> Iterator[frozenset[str]]:
    rows = functions._rows()
    before = rows[name]
    kind, row = before
    fields = dict(zip(("name", "again", "nulls", "raises"), row.split(None, 4)[:4], strict=True))
    rest = row.split(None, 4)[4]
    fields |= {key: value for key, value in changed.items() if key != "kind"}
    rows[name] = (changed.get("kind", kind), " ".join([*fields.values(), rest]))
    functions.function.cache_clear()
    try:
        yield frozenset()
    finally:
        rows[name] = before
        functions.function.cache_clear()


# --- cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """A query with the text that it must become."""

    sql: str
    catalog: Catalog
    golden: str
    also: frozenset[str] = frozenset()

    def notices(self, switch: Switch) -> bool:
        """Whether it becomes another text with the switch off."""
        with switch.off() as disabled:
            return rewrite(self.sql, self.catalog, disabled=disabled | self.also).sql != self.golden


@cache
def cases() -> dict[str, Known]:
    """The named cases of the repository."""
    breakings = {
        case.name: Known(case.text(), catalog(case.ddl), read(case.golden))
        for case in (*query_cases(), *retail_cases())
    }
    needed = Catalog.from_ddl(DDL)
    for case in WITNESSES:
        kept = rewrite(case.sql, needed, disabled=case.also).sql
        breakings[f"{case.code}: {case.name}"] = Known(case.sql, needed, kept, case.also)
    return breakings


def witness(switch: Switch) -> str:
    """The first case that notices the switch, or ``NONE``."""
    word = re.compile(rf"(?<!\w){re.escape(switch.word)}(?!\w)", re.IGNORECASE)
    for name, case in cases().items():
        if (not switch.word or word.search(case.sql)) and case.notices(switch):
            return name
    return NONE


def recorded() -> dict[str, str]:
    """The table of ``witnesses.tsv``: a switch, and the case that notices it."""
    lines = WITNESS_TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {switch: case for switch, case, *_ in rows}


def reasons() -> dict[str, str]:
    """Of the switches that no named case notices, why: Spark contradicts the row without the flag,
    or what is taken away is not needed, or could not be asked."""
    lines = WITNESS_TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {row[0]: row[2] for row in rows if len(row) > 2 and row[1] == NONE}


def contradicted(session: Any) -> Iterator[tuple[str, bool]]:
    """Each flag of a function, and whether Spark contradicts the row without it."""
    spark = asked.Spark(session)
    flags = {"raises": "never", "nulls": "all", "again": "same"}
    for name in functions.names():
        row = functions.function(name)
        assert row is not None
        seen = asked.look(spark, row)
        before = asked.judged(row, seen)
        for flag, safe in flags.items():
            if getattr(row, flag) != safe:
                turned = replace(row, unless="", **{flag: safe})
                after = asked.judged(turned, seen)
                yield f"function {name} {flag}", any(one not in before for one in after)


def main(arguments: list[str]) -> int:
    """Prints the table; with ``--spark`` what Spark says of the functions."""
    if "--spark" in arguments:
        from pyspark.sql import SparkSession

        for name, problem in contradicted(SparkSession.builder.master("local[2]").getOrCreate()):
            print(f"{name}\t{problem}", flush=True)
        return 0
    for switch in switches():
        print(f"{switch.name}\t{witness(switch)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
