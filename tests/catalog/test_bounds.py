"""PostgreSQL's partitions and their bounds, read from its DDL."""

from __future__ import annotations

from math import inf

import pytest

from sqlrewrite import Catalog
from sqlrewrite.warehouse import PartitionBound, Parts, Table

PARENT = "CREATE TABLE t (k int, j text, n numeric(8,2), at timestamp) PARTITION BY RANGE (k);\n"
FIRST = "CREATE TABLE t0 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (10);\n"


def _parts(ddl: str, name: str = "t") -> Parts | None:
    table = Catalog.from_ddl(ddl).resolve((name,))
    assert isinstance(table, Table)
    return table.parts


def _bounds(ddl: str) -> list[PartitionBound]:
    parts = _parts(ddl)
    assert parts is not None
    return [part.bound for part in parts.parts]


@pytest.mark.parametrize(
    ("by", "part", "bound"),
    [
        ("LIST (j)", "FOR VALUES IN ('a', 'bc', NULL)", PartitionBound(values=("a", "bc", None))),
        ("LIST (k)", "FOR VALUES IN (1, -2)", PartitionBound(values=(1, -2))),
        ("LIST (k)", "DEFAULT", PartitionBound(default=True)),
        ("RANGE (k)", "FOR VALUES FROM (1) TO (MAXVALUE)", PartitionBound(low=(1,), high=(inf,))),
        (
            "RANGE (k, j)",
            "FOR VALUES FROM (1, 'a') TO (2, 'b')",
            PartitionBound(low=(1, "a"), high=(2, "b")),
        ),
        (
            "RANGE (k, k)",
            "FOR VALUES FROM (MINVALUE, 3) TO (2, 3)",
            PartitionBound(low=(-inf, -inf), high=(2, 3)),
        ),
        ("HASH (k)", "FOR VALUES WITH (MODULUS 4, REMAINDER 1)", PartitionBound(values=(4, 1))),
        ("HASH (k)", "FOR VALUES WITH (REMAINDER 1, modulus 4)", PartitionBound(values=(4, 1))),
    ],
)
def test_a_part_of_a_table_has_its_bound(by: str, part: str, bound: PartitionBound) -> None:
    ddl = (
        f"CREATE TABLE t (k int, j text) PARTITION BY {by};\nCREATE TABLE p PARTITION OF t {part};"
    )
    assert _bounds(ddl) == [bound]


@pytest.mark.parametrize(
    "part",
    [
        "FOR VALUES IN (1 + 1)",
        "FOR VALUES FROM (1.5) TO (2)",
        "FOR VALUES SOMEHOW",
        "FOR VALUES IN ('a''b')",
        "FOR VALUES IN (f(1))",
    ],
)
def test_with_a_bound_that_cannot_be_read_none_is_known(part: str) -> None:
    assert _parts(PARENT + FIRST + f"CREATE TABLE t1 PARTITION OF t {part};") is None


def test_a_partition_has_the_columns_of_its_table_as_postgresql_types_them() -> None:
    catalog = Catalog.from_ddl(PARENT + FIRST)
    assert catalog.left_out == ()
    for name in ("t", "t0"):
        table = catalog.resolve((name,))
        assert isinstance(table, Table)
        assert [column.type for column in table.columns] == [
            "int",
            "string",
            "decimal(8,2)",
            "timestamp_ntz",
        ]


def test_partitions_of_partitions() -> None:
    below = "CREATE TABLE t0 PARTITION OF t FOR VALUES FROM (0) TO (9) PARTITION BY LIST (j);\n"
    parts = _parts(PARENT + below + "CREATE TABLE t00 PARTITION OF t0 FOR VALUES IN ('a');")
    assert parts is not None
    (part,) = parts.parts
    assert part.below is not None
    assert [inner.bound for inner in part.below.parts] == [PartitionBound(values=("a",))]


def test_attach_and_detach() -> None:
    table = "CREATE TABLE other (k int, j text);\n"
    attach = "ALTER TABLE ONLY t ATTACH PARTITION other FOR VALUES FROM (10) TO (20);\n"
    attached = PARENT + FIRST + table + attach
    assert [bound.high for bound in _bounds(attached)] == [(10,), (20,)]
    assert [bound.high for bound in _bounds(attached + "ALTER TABLE t DETACH PARTITION t0;")] == [
        (20,)
    ]


def test_a_partition_by_of_another_engine_says_nothing() -> None:
    assert _parts("CREATE TABLE t (k int) PARTITION BY toYYYYMM(k);") is None
    assert _parts("CREATE TABLE t (k int) PARTITION BY DATE(k);") is None


def test_partitions_in_a_circle_are_left_out() -> None:
    """PostgreSQL refuses them; they were followed without an end."""
    ddl = (
        "CREATE TABLE a (k int) PARTITION BY LIST (k);\n"
        "CREATE TABLE b (k int) PARTITION BY LIST (k);\n"
        "ALTER TABLE a ATTACH PARTITION b FOR VALUES IN (1);\n"
        "ALTER TABLE b ATTACH PARTITION a FOR VALUES IN (1);\n"
        "ALTER TABLE a ATTACH PARTITION c FOR VALUES IN (3);"
    )
    parts = _parts(ddl, "a")
    assert parts is not None
    assert [part.name[-1] for part in parts.parts] == ["b", "c"]
