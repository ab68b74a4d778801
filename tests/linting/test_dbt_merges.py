"""DPP014: dbt's own MERGE, which reads the whole table of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.files import lint_file
from sqlrewrite.linting.findings import Finding
from sqlrewrite.run.file_rewriting import Request

PROJECT = "name: shop\nmodels:\n  shop:\n    +file_format: delta\n"
PROPERTIES = """\
models:
  - name: fct
    columns: [{name: day, data_type: date}, {name: id, data_type: int}]
  - name: stg
    config: {materialized: table, contract: {enforced: true}}
    columns: [{name: id, data_type: int}, {name: day, data_type: date}]
"""
SELECT = "select id, day from {{ ref('stg') }}"
MERGE = "materialized='incremental', incremental_strategy='merge'"
KEY = f"{MERGE}, unique_key='id', partition_by='day'"


def model(config: str, select: str = SELECT) -> str:
    """A model's text."""
    return f"{{{{ config({config}) }}}}\n{select}\n"


def project(folder: Path, text: str, **files: str) -> Path:
    """A project's model ``fct`` in a folder, with other files beside it; its path."""
    written = {
        "dbt_project.yml": PROJECT,
        "models/schema.yml": PROPERTIES,
        "models/stg.sql": "select 1 as id, current_date() as day",
        "models/fct.sql": text,
        **files,
    }
    for name, content in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    return folder / "models" / "fct.sql"


def found(path: Path, catalog: Path, text: str | None = None) -> list[Finding]:
    """The findings of DPP014 in a file, suppressed ones and those about comments too."""
    data = path.read_bytes() if text is None else text.encode()
    linted = lint_file(str(path), data, Request(Catalog.load(str(catalog))))
    assert not linted.failures
    return [finding for finding in linted.findings if finding.code in ("DPP008", "DPP014")]


def manifest(folder: Path, text: str, adapter: str, config: Mapping[str, Any], **more: Any) -> Path:
    """A manifest with the model ``fct``, written by dbt's adapter of that name."""
    node = {
        "resource_type": "model",
        "name": "fct",
        "package_name": "shop",
        "relation_name": "lake.mart.fct",
        "original_file_path": "models/fct.sql",
        "patch_path": "shop://models/schema.yml",
        "raw_code": text,
        "config": {"enabled": True, "incremental_strategy": None, "unique_key": None, **config},
    }
    data = {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
            "adapter_type": adapter,
            "project_name": "shop",
        },
        "nodes": {"model.shop.fct": node},
        "sources": {},
        **more,
    }
    path = folder / "target" / "manifest.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def test_the_finding_says_what_why_and_what_to_do(tmp_path: Path) -> None:
    (finding,) = found(project(tmp_path, model(KEY)), tmp_path)
    assert finding.message == (
        "`incremental_strategy='merge'` with `unique_key='id'`: the MERGE that dbt writes reads "
        "all partitions of fct, as its ON compares `id` and not the partition column `day`"
    )
    assert finding.help == (
        'add `incremental_predicates=["DBT_INTERNAL_DEST.day >= date_sub(current_date(), 3)"]` '
        "to `config(…)`, where 3 is one more than the days that a run changes; first make sure "
        "that `day` never changes for a key: if it does, dbt does not find the old row, "
        "and inserts a second one"
    )
    assert (finding.place.line, finding.place.column, finding.place.end_column) == (1, 4, 10)
    assert finding.fix is None


@pytest.mark.parametrize(
    "config",
    [
        f"{MERGE}, unique_key=['id', 'shop'], partition_by='day'",
        f"{MERGE}, unique_key='id', partition_by=['day', 'hour']",
        f"{MERGE}, unique_key='id', partition_by='days(ts)', file_format='iceberg'",
        f"{KEY}, post_hook='a' ~ var('b')",
        f"{KEY}, target_alias='t', matched_condition='t.day > s.day'",
    ],
)
def test_a_merge_by_a_key_without_the_partition_is_found(tmp_path: Path, config: str) -> None:
    assert len(found(project(tmp_path, model(config)), tmp_path)) == 1


@pytest.mark.parametrize(
    "config",
    [
        f"{MERGE}, unique_key=['id', 'DAY'], partition_by='day'",
        f"{MERGE}, unique_key='id', partition_by='bucket(16, id)', file_format='iceberg'",
        f"{MERGE}, unique_key='id'",  # no partition
        f"{MERGE}, partition_by='day'",  # the ON is FALSE
        f"{MERGE}, unique_key=var('key'), partition_by='day'",
        f"{MERGE}, unique_key='concat(id, x)', partition_by='day'",
        f"{MERGE}, unique_key='id', partition_by=var('by')",
        f"{KEY}, incremental_predicates=['DBT_INTERNAL_DEST.day > 1']",
        f"{KEY}, predicates=var('predicates')",
        f"{KEY}, not_matched_by_source_action='delete'",
        f"{KEY}, enabled=false",
        f"{KEY}, enabled=var('on')",
        f"{KEY}, full_refresh=true",
        f"{KEY}, file_format='hudi'",
        f"{KEY}, file_format=var('format')",
        f"{KEY}, **more",
        f"{KEY}, post_hook=`a`",
        f"{KEY}) }}}} {{{{ config(materialized='table'",
        KEY.replace("'merge'", "'append'"),
        KEY.replace("'merge'", "'insert_overwrite'"),
        KEY.replace("'merge'", "var('strategy')"),
        KEY.replace("'incremental'", "'table'"),
        KEY.replace(", incremental_strategy='merge'", ""),  # dbt-spark's default is append
    ],
)
def test_any_other_configuration_is_none(tmp_path: Path, config: str) -> None:
    assert not found(project(tmp_path, model(config)), tmp_path)


_ALL = "date_sub(current_date(), 3)"


@pytest.mark.parametrize(
    ("select", "bounds"),
    [
        (f"{SELECT} where day >= '2024-03-01'", ["\"DBT_INTERNAL_DEST.day >= '2024-03-01'\""]),
        (
            f"{SELECT}\n"
            "{% if is_incremental() %}\nwhere day >= '{{ var(\"since\") }}'\n{% endif %}",
            ['"DBT_INTERNAL_DEST.day >= \'" ~ var("since") ~ "\'"'],
        ),
        (
            f"{SELECT}\n{{% if not is_incremental() %}}where day > '2020-01-01'\n"
            "{% else %}where day in (date '2024-01-01', date '2024-01-02')\n{% endif %}",
            ["\"DBT_INTERNAL_DEST.day IN (date '2024-01-01', date '2024-01-02')\""],
        ),
        (
            "with s as (select * from {{ ref('stg') }}) select id, day from s "
            "where day between '2024-01-01' and '2024-02-01' -- all",
            [
                "\"DBT_INTERNAL_DEST.day >= '2024-01-01'\"",
                "\"DBT_INTERNAL_DEST.day <= '2024-02-01'\"",
            ],
        ),
        (
            f"{SELECT} where day = '2024-01-01' union all {SELECT} where day = '2024-01-02'",
            ["\"DBT_INTERNAL_DEST.day IN ('2024-01-01', '2024-01-02')\""],
        ),
    ],
)
def test_the_line_repeats_what_the_select_says(
    tmp_path: Path, select: str, bounds: list[str]
) -> None:
    path = project(tmp_path, model(KEY, select))
    (finding,) = found(path, tmp_path)
    line = f"incremental_predicates=[{', '.join(bounds)}]"
    assert finding.help.startswith(
        f"add `{line}` to `config(…)`, as the WHERE of the model's own SELECT "
    )
    assert finding.fix is None  # a key may change its partition
    assert not found(path, tmp_path, model(f"{KEY}, {line}", select))


@pytest.mark.parametrize(
    "condition",
    [
        "{% if not is_incremental() %}where day >= '2020-01-01'{% endif %}",  # of the first run
        "where day >= date_sub(current_date(), 5)",  # it moves while the MERGE runs
        "where day > (select max(day) from {{ this }})",
        "where day = '2024-01-01' or id = 1",
        f"where day = '2024-01-01' union all {SELECT}",
        "where day >= '{{ ds }}'",  # dbt has no such name
        "where {{ bound('day') }}",
        "{% if is_incremental() and var('x') %}where day >= '2024-01-01'{% endif %}",
    ],
)
def test_any_other_condition_is_not_repeated(tmp_path: Path, condition: str) -> None:
    path = project(tmp_path, model(KEY, f"{SELECT}\n{condition}\n"))
    (finding,) = found(path, tmp_path)
    assert f'["DBT_INTERNAL_DEST.day >= {_ALL}"]' in finding.help


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("{% if target.name == 'dev' %}{% endif %}", 0),
        ("{# {{ config(materialized='table') }} #}\n{% set x = 1 %}\n", 1),
        ("{{ log(config.get('unique_key')) }}", 1),
        ("-- dpp-rewrite: ignore-file[DPP014] small\n", 1),
    ],
)
def test_what_stands_before_the_configuration(tmp_path: Path, before: str, expected: int) -> None:
    findings = found(project(tmp_path, before + model(KEY)), tmp_path)
    assert [finding.code for finding in findings] == ["DPP014"] * expected
    suppressed = [finding.suppression is not None for finding in findings]
    assert suppressed == ["ignore-file" in before] * expected


def test_a_configuration_that_stands_elsewhere_is_named(tmp_path: Path) -> None:
    files = {
        "dbt_project.yml": f"{PROJECT}    +incremental_strategy: merge\n    +partition_by: day\n",
        "models/schema.yml": PROPERTIES.replace(
            "fct\n", "fct\n    config: {materialized: incremental, unique_key: [id, shop]}\n"
        ),
    }
    (finding,) = found(project(tmp_path, SELECT, **files), tmp_path)
    assert finding.message.startswith(
        "`incremental_strategy: merge` (dbt_project.yml or models/schema.yml) with "
        "`unique_key: [id, shop]` (dbt_project.yml or models/schema.yml): the MERGE"
    )
    assert "at the head of the model as `{{ config(…) }}`" in finding.help
    assert (finding.place.line, finding.place.end_column) == (1, len(SELECT) + 1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("dbt_project.yml", f"{PROJECT}    +incremental_predicates: ['DBT_INTERNAL_DEST.x = 1']\n"),
        ("dbt_project.yml", f"{PROJECT}    predicates: ['DBT_INTERNAL_DEST.x = 1']\n"),
        ("models/schema.yml", PROPERTIES.replace("fct\n", "fct\n    config: {predicates: [a]}\n")),
        ("models/broken.yml", "models: ["),
        ("macros/merge.sql", "{% macro spark__get_merge_sql(a) %}{% endmacro %}"),
        ("macros/merge.sql", "{%- macro get_incremental_merge_sql(a) -%}{%- endmacro -%}"),
        ("macros/inc.sql", "{% materialization incremental, default %}{% endmaterialization %}"),
        ("dbt_packages/p/macros/m.sql", "{% macro get_merge_sql(a) %}{% endmacro %}"),
    ],
)
def test_what_another_file_of_the_project_says(tmp_path: Path, name: str, content: str) -> None:
    assert not found(project(tmp_path, model(KEY), **{name: content}), tmp_path)


def test_other_macros_change_nothing(tmp_path: Path) -> None:
    macro = "{% macro generate_schema_name(a) %}{% endmacro %}"
    assert found(project(tmp_path, model(KEY), **{"macros/name.sql": macro}), tmp_path)


DEFAULT = "materialized='incremental', unique_key='id', partition_by='day'"
CONFIG = {"materialized": "incremental", "unique_key": "id", "partition_by": "day"}


@pytest.mark.parametrize(
    ("adapter", "config", "expected"),
    [
        ("databricks", {}, 1),
        ("databricks", {"file_format": "delta"}, 1),
        ("databricks", {"file_format": "parquet"}, 0),
        ("spark", {}, 0),
        ("spark", {"file_format": "delta"}, 0),
        ("spark", {"incremental_strategy": "merge"}, 0),  # Parquet, of which dbt makes an error
        ("spark", {"incremental_strategy": "merge", "file_format": "delta"}, 1),
        ("glue", {"incremental_strategy": "merge", "file_format": "delta"}, 0),
        ("databricks", {"incremental_predicates": ["DBT_INTERNAL_DEST.x = 1"]}, 0),
    ],
)
def test_a_manifest_tells_the_adapter(
    tmp_path: Path, adapter: str, config: dict[str, Any], expected: int
) -> None:
    text = model(DEFAULT)
    path = project(tmp_path, text)
    assert len(found(path, manifest(tmp_path, text, adapter, {**CONFIG, **config}))) == expected


def test_the_default_strategy_is_called_so(tmp_path: Path) -> None:
    text = model(DEFAULT)
    catalog = manifest(tmp_path, text, "databricks", CONFIG)
    (finding,) = found(project(tmp_path, text), catalog)
    assert finding.message.startswith(
        "dbt-databricks' default strategy `merge` with `unique_key='id'`"
    )


def test_a_text_that_has_changed_since_the_manifest_is_read_anew(tmp_path: Path) -> None:
    text = model(DEFAULT)
    catalog = manifest(tmp_path, text, "databricks", CONFIG)
    path = project(tmp_path, text)
    for more in ("incremental_predicates=['x']", "incremental_strategy='append'"):
        assert not found(path, catalog, model(f"{DEFAULT}, {more}"))
    assert not found(path, catalog, model(DEFAULT.replace("'id'", "['id', 'day']")))


def test_a_macro_in_the_manifest(tmp_path: Path) -> None:
    text = model(DEFAULT)
    path = project(tmp_path, text)
    for package, expected in (("dbt_databricks", 1), ("shop", 0)):
        macros = {"macro.x": {"package_name": package, "name": "databricks__get_merge_sql"}}
        catalog = manifest(tmp_path, text, "databricks", CONFIG, macros=macros)
        assert len(found(path, catalog)) == expected


def test_only_the_model_itself_is_meant(tmp_path: Path) -> None:
    text = model(KEY)
    path = project(tmp_path, text)
    for other in (
        "target/compiled/shop/models/fct.sql",
        "dbt_packages/p/models/fct.sql",
        "fct.sql",
    ):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        assert not found(tmp_path / other, tmp_path, text)
    assert found(path, tmp_path)
