"""Catalogs of many definitions are kept by the content of their files."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec import msgpack

from sqlrewrite import Catalog
from sqlrewrite.run import catalogs
from sqlrewrite.warehouse import Warehouse

DDL = """CREATE TABLE logs (ts TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), n INT)
USING delta PARTITIONED BY (day);
CREATE TABLE counts AS SELECT day, count(*) AS n FROM logs GROUP BY day;
CREATE VIEW today AS SELECT * FROM logs WHERE day = current_date();
CREATE TABLE events (id INT, at TIMESTAMP) USING iceberg PARTITIONED BY (days(at), bucket(16, id));
CREATE TABLE odd (x NO_TYPE) CLUSTERED BY (x) INTO 8 BUCKETS;
DROP TABLE gone; ALTER TABLE logs UNDERSTAND NOTHING;
SET spark.sql.ansi.enabled = false; SET TIME ZONE 'UTC';
CREATE TABLE measurement (city INT, day DATE) PARTITION BY RANGE (day);
CREATE TABLE measurement_1 PARTITION OF measurement FOR VALUES FROM ('2024-01-01') TO (MAXVALUE);
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of definitions, large enough to be kept, and a cache of its own."""
    monkeypatch.setenv("DPP_REWRITE_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "ddl"
    folder.mkdir()
    (folder / "a.sql").write_text(DDL)
    why = "x" * 2000
    many = ";\n".join(f"-- {why}\nCREATE TABLE t{n} (id INT, day DATE)" for n in range(9))
    (folder / "b.sql").write_text(many)
    return folder


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The paths of each catalog that is read from its files."""
    paths: list[object] = []
    load = Catalog.load

    def counted(*given: str, **options: Any) -> Catalog:
        paths.append(given)
        return load(*given, **options)

    monkeypatch.setattr(Catalog, "load", counted)
    return paths


def test_what_was_read_is_not_read_again(folder: Path, reads: list[object]) -> None:
    first = catalogs.load(str(folder), schema="dw")
    second = catalogs.load(str(folder), schema="dw")
    assert len(reads) == 1
    assert second == first == Catalog.load(str(folder), schema="dw")
    assert isinstance(second, Catalog)
    for name in Warehouse.__dataclass_fields__:  # also those that are not compared
        assert getattr(second, name) == getattr(first, name), name
    assert first.left_out
    assert first.forgotten


@pytest.mark.parametrize("change", ["changed", "new", "gone", "renamed", "same times"])
def test_a_change_is_seen(folder: Path, reads: list[object], change: str) -> None:
    catalogs.load(str(folder))
    path = folder / "a.sql"
    status = path.stat()
    match change:
        case "changed" | "same times":
            path.write_text(DDL.replace("n INT", "m INT"))
        case "new":
            (folder / "c.sql").write_text("CREATE TABLE more (id INT)")
        case "gone":
            path.unlink()
        case "renamed":
            path.rename(folder / "z.sql")
    if change == "same times":
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    catalog = catalogs.load(str(folder))
    assert len(reads) == 2
    assert catalog == Catalog.load(str(folder))


def test_what_a_name_means_is_a_part_of_the_key(folder: Path, reads: list[object]) -> None:
    for options in ({}, {"schema": "dw"}, {"variables": (("db", "prod"),)}):
        catalogs.load(str(folder), **options)
    catalogs.load(str(folder / "b.sql"), str(folder))
    assert len(reads) == 4


def test_many_files_are_kept(tmp_path: Path, folder: Path, reads: list[object]) -> None:
    """However short: each of these may need the one before."""
    chain = tmp_path / "chain"
    chain.mkdir()
    for number in range(30):
        text = f"CREATE TABLE t{number} AS SELECT k FROM t{number - 1}"
        (chain / f"{number}.sql").write_text(text)
    for _ in range(2):
        catalogs.load(str(chain))
    assert len(reads) == 1


def test_what_is_not_kept(folder: Path, reads: list[object], tmp_path: Path) -> None:
    (tmp_path / "small.sql").write_text(DDL)
    for _ in range(2):
        catalogs.load(str(tmp_path / "small.sql"))
        catalogs.load(str(folder), keep=False)
    (folder / "dbt_project.yml").write_text("name: shop")
    for _ in range(2):
        catalogs.load(str(folder))
    assert len(reads) == 6
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "forged",
    [b"", b"\x00", msgpack.encode({}), msgpack.encode([1]), msgpack.encode({"relations": 1}),
     msgpack.encode({"relations": [[{"name": 3}], []]}),
     msgpack.encode({"relations": [[], []], "namespace": [1, 2], "forgotten": []}),
     b"\x81" * 3000],
)  # fmt: skip
def test_what_is_no_catalog_is_read_anew(
    folder: Path, reads: list[object], tmp_path: Path, forged: bytes
) -> None:
    first = catalogs.load(str(folder))
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(sha256(forged).digest() + forged)
    assert catalogs.load(str(folder)) == first
    path.write_bytes(path.read_bytes()[:-1])
    assert catalogs.load(str(folder)) == first
    assert len(reads) == 3


def test_what_others_may_have_written_is_read_anew(
    folder: Path, reads: list[object], tmp_path: Path
) -> None:
    catalogs.load(str(folder))
    (tmp_path / "cache").chmod(0o777)
    catalogs.load(str(folder))
    assert len(reads) == 2
