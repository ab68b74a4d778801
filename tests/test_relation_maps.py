"""Relations by name: each change leaves what it was made of as it was."""

from __future__ import annotations

import itertools
import pickle
import random
import subprocess
import sys

import pytest

from sqlrewrite.relation_maps import PersistentMap, Relations
from sqlrewrite.warehouse import Column, Name, PartitionField, Table, TableOrView, View

NAMES: list[Name] = [
    *(("spark_catalog", schema, f"t{n}") for schema in ("a", "b") for n in range(20)),
    *((f"v{n}",) for n in range(8)),
    *(("lake", "${db}", f"t{n}") for n in range(3)),
]


def relation(name: Name, rng: random.Random) -> TableOrView:
    if rng.random() < 0.4:
        return View(name, f"SELECT * FROM t{rng.randrange(20)} JOIN v{rng.randrange(8)}")
    return Table(name, (Column("p"),), (PartitionField("p"),) if rng.random() < 0.5 else ())


@pytest.mark.parametrize("seed", range(20))
def test_changed_relations_are_as_if_made_anew(seed: int) -> None:
    rng = random.Random(seed)
    expected: dict[Name, TableOrView] = {}
    relations: Relations[TableOrView] = Relations()
    versions = [(relations, dict(expected))]
    for _ in range(120):
        name = rng.choice(NAMES)
        new = None if rng.random() < 0.3 else relation(name, rng)
        expected.pop(name, None)
        if new is not None:
            expected[name] = new
        if rng.random() < 0.3:
            relations.readers("t1")  # from here on the index is carried along
        relations = relations.changed(name, new)
        versions.append((relations, dict(expected)))
    for (version, content), (later, after) in itertools.pairwise(versions):
        assert dict(version) == content
        assert list(version) == sorted(content)
        assert same_answers(version, Relations(content))
        changes = {name: (old, new) for name, old, new in version.changes(later)}
        assert changes == {
            name: (content.get(name), after.get(name))
            for name in {*content, *after}
            if content.get(name) is not after.get(name)
        }


def same_answers(one: Relations[TableOrView], two: Relations[TableOrView]) -> bool:
    lasts = [name[-1] for name in NAMES]
    return (
        one == two
        and repr(one) == repr(two)
        and one.any_prunable == two.any_prunable
        and dict(one.temporary) == dict(two.temporary)
        and list(one.variable) == list(two.variable)
        and [one.prunable([last]) for last in lasts] == [two.prunable([last]) for last in lasts]
        and [set(one.named(last)) for last in lasts] == [set(two.named(last)) for last in lasts]
        and [readers(one, last) for last in lasts] == [readers(two, last) for last in lasts]
        and [one.has_schema(s) for s in ("a", "b", "c")] == [two.has_schema(s) for s in "abc"]
        and one.has_catalog("lake") == two.has_catalog("lake")
    )


def readers(relations: Relations[TableOrView], last: str) -> set[Name]:
    return {
        relation.name
        for relation in relations.readers(last)
        if f" {last} " in f"{relation.query} "  # a name may have been another view's before
    }


def test_in_another_process_they_are_the_same() -> None:
    """There a string has another hash."""
    relations = Relations({name: Table(name) for name in NAMES})
    data = pickle.dumps((relations, PersistentMap(dict.fromkeys(NAMES, True))))
    program = (
        "import pickle, sys\n"
        "relations, names = pickle.load(sys.stdin.buffer)\n"
        "assert all(relations[name].name == name and name in names for name in [*relations])\n"
        "print(repr((relations, names)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], input=data, capture_output=True, check=True
    ).stdout
    assert printed.decode().strip() == repr(pickle.loads(data))
