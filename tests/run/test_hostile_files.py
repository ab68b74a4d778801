"""What is read from disk is data: it runs nothing, and a wrong value is an error that says where.

Each kind of file is read as bytes that are none of its kind, and as a good one in which one value
after the other is replaced by one of another type. The cache's own are in ``test_cache.py``.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite import Catalog, CatalogError, rulebook
from sqlrewrite.linting import baseline
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.config import Projects
from sqlrewrite.settings.table import KEYS
from sqlrewrite.spark.catalog import Partial


class RunsWhenRead:
    """Its pickle makes a folder in the moment in which it is read."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("it-ran",)


DEEP = 100_000
BYTES = {
    "a pickle": pickle.dumps(RunsWhenRead()),
    "a pickle of text": pickle.dumps(RunsWhenRead(), 0),
    "nothing": b"",
    "not UTF-8": b'{"version": "\xff"}',
    "a zero byte": b"\0",
    "another value": b"[1]",
    "null": b"null",
    "a word": b"NaN",
    "a long number": b"9" * 10_000,
    "nested deep": b"[" * DEEP + b"]" * DEEP,
    "nested deep by name": b'{"version":' * DEEP + b"1" + b"}" * DEEP,
    "nested deep in a value": b"version = " + b"[" * DEEP + b"]" * DEEP,
}
VALUES: tuple[Any, ...] = (None, True, -1, 10**30, float("inf"), "", "\ud800\0", [[]], {"x": []})
TOML_VALUES = ("true", "-1", "1e999", "nan", "''", "'x'", "[[]]", "[1]", "{x = [{}]}", "1979-05-27")

SNAPSHOT: dict[str, Any] = {
    "version": 1,
    "generated": {"by": "dpp-rewrite", "at": "now", "from": "spark"},
    "namespace": "lake.retail",
    "tables": [
        {
            "name": "sales",
            "columns": [
                {"name": "day", "type": "date", "distinct_count": 5, "nullable": False},
                {"name": "id", "type": "int"},
            ],
            "partitioned_by": ["day", {"column": "id", "transform": "bucket"}],
            "primary_key": ["id"],
            "streaming": True,
            "provider": "delta",
            "size_in_bytes": 1,
            "row_count": 2,
            "partition_count": 3,
            "complete": True,
        }
    ],
    "views": [{"name": "v", "columns": ["a"], "query": "SELECT 1", "namespace": "lake.web"}],
}
BASELINE: dict[str, Any] = {
    "version": 1,
    "findings": [
        {"path": "a.sql", "code": "DPP001", "statement": "0", "subject": "sales", "count": 1}
    ],
}
MANIFEST: dict[str, Any] = {
    "metadata": {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "project_name": "shop",
        "adapter_type": "spark",
    },
    "nodes": {
        "model.shop.fct_sales": {
            "resource_type": "model",
            "name": "fct_sales",
            "package_name": "shop",
            "version": 2,
            "latest_version": 2,
            "relation_name": "lake.mart.fct_sales",
            "config": {"materialized": "table", "file_format": "delta", "partition_by": ["id"]},
            "contract": {"enforced": True},
            "columns": {"id": {"name": "id", "data_type": "int"}},
        },
        "model.shop.of_a_year": {
            "resource_type": "model",
            "name": "of_a_year",
            "relation_name": "lake.mart.of_a_year",
            "config": {"materialized": "view"},
            "raw_code": "SELECT * FROM {{ ref('fct_sales') }}",
        },
    },
    "sources": {
        "source.shop.raw.clicks": {
            "resource_type": "source",
            "source_name": "raw",
            "name": "clicks",
            "relation_name": "lake.raw.clicks",
            "external": {"partitions": [{"name": "dt", "data_type": "date"}]},
        }
    },
}
DBT_CATALOG: dict[str, Any] = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json"},
    "nodes": {
        "model.shop.fct_sales": {"columns": {"id": {"name": "id", "type": "int", "index": 1}}}
    },
    "sources": {},
}


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, who reads it, what a wrong one may raise, and a good one."""

    name: str
    read: Callable[[str], object]
    raises: type[Exception] | tuple[()]
    good: Any


def _engine(path: str) -> object:
    return rulebook.engine.__wrapped__(path)  # without its cache


def _stored(path: str) -> object:
    """dbt's catalog.json, which is read beside a manifest."""
    Path("manifest.json").write_text(json.dumps(MANIFEST))
    return Catalog.load("manifest.json")


def _baseline(path: str) -> object:
    """Read, and written anew with what it knew."""
    findings = baseline.load(path).counts
    writing = baseline.Writing(".")
    baseline.write(path, writing)
    return findings


def _partial(path: str) -> object:
    return Partial(Path(path), "a warehouse").read()


JSON = (
    Kind("snapshot.json", Catalog.load, CatalogError, SNAPSHOT),
    Kind("manifest.json", Catalog.load, CatalogError, MANIFEST),
    Kind("catalog.json", _stored, CatalogError, DBT_CATALOG),
    Kind("baseline.json", _baseline, ConfigError, BASELINE),
)
TOML = (
    Kind("pyproject.toml", Projects, ConfigError, [f"tool.dpp-rewrite.{key}" for key in KEYS]),
    Kind("engine.toml", _engine, ConfigError, [field.name for field in fields(rulebook.Engine)]),
)
KINDS = (*JSON, *TOML, Kind("tables.json.partial", _partial, (), None))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("data", BYTES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda it: it.name)
def test_bytes_of_no_such_file(kind: Kind, data: str) -> None:
    assert not _crash(kind, BYTES[data])
    assert not Path("it-ran").exists()


def _crash(kind: Kind, data: bytes) -> str:
    """What goes wrong with a file of those bytes; nothing where it is read, or refused by name."""
    Path(kind.name).write_bytes(data)
    try:
        kind.read(kind.name)
    except kind.raises as error:
        return "" if kind.name in str(error) else f"does not name the file: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _replaced(value: Any) -> Iterator[tuple[str, Any]]:
    """The same with one value in it replaced, each by each, with the path to it."""
    for path in _paths(value):
        for other in VALUES:
            copy = deepcopy(value)
            inner = copy
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = other
            yield f"{path} = {other!r}", copy


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield (key,)
        if isinstance(inner, dict | list):
            yield from ((key, *rest) for rest in _paths(inner))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("kind", JSON, ids=lambda it: it.name)
def test_a_value_of_another_type(kind: Kind) -> None:
    Path(kind.name).write_bytes(_json(kind.good))
    kind.read(kind.name)
    crashed = [
        f"{where}: {crash}"
        for where, value in _replaced(kind.good)
        if (crash := _crash(kind, _json(value)))
    ]
    assert not crashed


@pytest.mark.parametrize("kind", TOML, ids=lambda it: it.name)
def test_a_setting_of_another_type(kind: Kind) -> None:
    lines = [f"{key} = {value}" for key in kind.good for value in TOML_VALUES]
    crashed = [f"{line}: {crash}" for line in lines if (crash := _crash(kind, line.encode()))]
    assert not crashed
