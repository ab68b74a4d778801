"""A dbt project from its manifest: models as they are written, and as dbt compiles them.

``fixtures/dbt``: ``target`` is what dbt writes, ``golden`` the queries of ``models`` and
``compiled`` rewritten.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from tests.support.strip_by_markers import without_predicates

PROJECT = Path(__file__).parents[2] / "fixtures" / "dbt"
MANIFEST = PROJECT / "target" / "manifest.json"
FILES = sorted([*PROJECT.glob("models/*.sql"), *PROJECT.glob("compiled/*.sql")])

every_file = pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(str(MANIFEST))


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


@every_file
def test_a_model_is_rewritten_to_its_golden(
    path: Path, catalog: Catalog, update_goldens: bool
) -> None:
    result = rewrite(text_of(path), catalog)
    golden = PROJECT / "golden" / path.parent.name / path.name
    if update_goldens:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_bytes(result.sql.encode())
    assert result.sql == text_of(golden)
    assert not result.errors


@every_file
def test_only_insertions_and_only_once(path: Path, catalog: Catalog) -> None:
    once = rewrite(text_of(path), catalog).sql
    assert without_predicates(once) == text_of(path)
    assert rewrite(once, catalog).sql == once


def compiled(text: str) -> str:
    """What dbt makes of the models without blocks, by the manifest's own relation names."""
    manifest = json.loads(MANIFEST.read_text())

    def named(match: re.Match[str]) -> str:
        kind, *names = re.findall(r"\w+", match.group())
        if kind == "source":
            return str(manifest["sources"][f"source.shop.{names[0]}.{names[1]}"]["relation_name"])
        return str(manifest["nodes"][f"model.shop.{names[-1]}"]["relation_name"])

    text = re.sub(r"\{\{ config\(.*?\) \}\}", "", text, flags=re.DOTALL)
    text = re.sub(r"\{\{ (ref|source)\(.*?\) \}\}", named, text)
    return text.replace("{{ var('year') }}", "2024").replace('{{ var("season", "winter") }}', "x")


@pytest.mark.parametrize("name", ["sales_by_season", "through_a_view"])
def test_compiling_and_rewriting_may_change_places(name: str, catalog: Catalog) -> None:
    model = text_of(PROJECT / "models" / f"{name}.sql")
    result = rewrite(model, catalog)
    assert result.changed
    assert rewrite(compiled(model), catalog).sql == compiled(result.sql)


def test_a_variable_that_is_set_within_a_statement(catalog: Catalog) -> None:
    """It may be one value where a condition stands, and another where it would be repeated."""
    joined = "select s.id from {{ ref('fct_sales') }} s join {{ ref('dim_dates') }} d "
    before = f"{joined}on d.day = s.day and d.season = '{{{{ s }}}}' "
    head = "-- {{ config(tags=['a']) }}\n{% set s = 'a' %}\n"
    assert rewrite(f"{head}{before}where s.id > 0", catalog).changed
    assert rewrite(f"select 1; {head}{before}where s.id > 0", catalog).changed
    for tag in ("{% set s = 'b' %}", "{% do s.append('b') %}"):
        result = rewrite(f"{head}{before}{tag} where s.id > 0", catalog)
        assert not result.changed
        assert "may change what follows it" in result.skipped[0].message


@pytest.mark.parametrize(
    "config",
    [
        """{{ config(post_hook="OPTIMIZE {{ this }} ZORDER BY (id)") }}""",
        """{{ config(pre_hook=["{% if is_incremental() %}DELETE FROM {{ this }}{% endif %}"]) }}""",
        """{{ config(alias="it's", tags=['a "b"']) }}""",
    ],
)
def test_braces_and_quotes_in_a_config(catalog: Catalog, config: str) -> None:
    text = text_of(PROJECT / "models" / "through_a_view.sql")
    result = rewrite(f"{config}\n\n{text}", catalog)
    assert result.sql == f"{config}\n\n{rewrite(text, catalog).sql}"
    assert result.changed


def test_a_string_that_does_not_end(catalog: Catalog) -> None:
    text = text_of(PROJECT / "models" / "through_a_view.sql")
    result = rewrite("{{ config(alias='a) }}\n" + text, catalog)
    assert not result.changed
    assert result.skipped


def test_a_source_that_a_known_project_does_not_describe_is_not_known() -> None:
    ddl = "CREATE TABLE a.big (id INT, day DATE) PARTITIONED BY (day); CREATE TABLE a.d (day DATE)"
    catalog = Catalog.from_ddl(ddl)
    source, model = ("source", "mart", "big"), ("ref", "d")
    assert catalog.refer(("source", "a", "big")) == ("spark_catalog", "a", "big")
    assert catalog.refer(source) is None  # without a project, a source is of the schema of its name
    nowhere = Catalog.from_ddl("CREATE TABLE big (id INT, day DATE) PARTITIONED BY (day)")
    assert nowhere.refer(source) == ("spark_catalog", "default", "big")
    changed = replace(catalog, references={model: ("spark_catalog", "a", "d")})
    assert changed.refer(model) is not None
    assert changed.refer(source) is None
    assert changed.refer(("source", "a", "big")) is None
