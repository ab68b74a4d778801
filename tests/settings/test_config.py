"""``[tool.dpp-rewrite]``: where it is found, what it may say, and what is said of mistakes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sqlrewrite.results import ConfigError
from sqlrewrite.settings import config
from sqlrewrite.settings.config import Projects, load
from sqlrewrite.settings.table import Settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_key_of_a_file_is_read(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        """
        [tool.dpp-rewrite]
        catalog = ["ddl", "stats.json", "/abs.sql"]
        schema = "lake.retail"
        engine = "trino"
        predicate = "in"
        when = "eligible"
        hint = false
        explain = "none"
        strict = true
        select = ["DPP"]
        ignore = ["DPP003"]
        extend-select = ["DPP001"]
        baseline = "known.json"
        exclude = ["archive", "etl/*.sql"]
        force-exclude = true
        per-file-ignores = { "old/*" = ["DPP001", "DPP002"] }
        severity = { DPP007 = "note" }
        """
    )
    assert load(".") == Settings(
        catalog=("ddl", "stats.json", "/abs.sql"),
        schema="lake.retail",
        engine="trino",
        when="eligible",
        hint=False,
        explain="none",
        strict=True,
        select=("DPP",),
        ignore=("DPP003",),
        extend_select=("DPP001",),
        baseline="known.json",
        exclude=("archive", "etl/*.sql"),
        force_exclude=True,
        per_file_ignores=(("old/*", ("DPP001", "DPP002")),),
        severity=(("DPP007", "note"),),
        root=".",
        source="pyproject.toml",
    )


def test_nearest_that_mentions_us(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "pyproject.toml").write_text(
        '[tool.dpp-rewrite]\ncatalog = "ddl.sql"\nengine = "own.toml"\n'
    )
    (folder / "a" / "b" / "pyproject.toml").write_text("[tool.ruff]\nthis is not TOML")
    settings = load("a/b/c/none.sql")
    assert settings.catalog == ("a/ddl.sql",)
    assert settings.engine == "a/own.toml"
    assert (settings.root, settings.source) == ("a", "a/pyproject.toml")
    monkeypatch.chdir(folder / "a" / "b" / "c")
    assert load(".").catalog == ("../../ddl.sql",)


def test_without_a_section_no_toml_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tomllib", raising=False)
    (folder / "pyproject.toml").write_text('[project]\ndependencies = ["dpp-rewrite"]\n')
    assert load(".") == Settings()
    assert "tomllib" not in sys.modules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hnit = true", "[tool.dpp-rewrite] has no key 'hnit'; did you mean 'hint'?"),
        ("catalogs = []", "has no key 'catalogs'; did you mean 'catalog'?"),
        ("zzz = 1", "has no key 'zzz' (known: catalog, schema, engine, "),
        ('hint = "yes"', "[tool.dpp-rewrite] hint must be true or false, not 'yes'"),
        ("schema = 1", "schema must be a string, not 1"),
        ('time-zone = ""', "time-zone must be a time zone, as 'Europe/Berlin', 'UTC' or '+02:00'"),
        ('time-zone = "Central European"', "time-zone must be a time zone"),
        ("catalog = [1]", "catalog must be a string or a list of strings, not [1]"),
        ('exclude = "x"', "exclude must be a list of strings, not 'x'"),
        (
            'predicate = "sets"',
            "predicate must be 'in' or 'set' or 'range' or 'values' or 'auto', not 'sets'",
        ),
        ('explain = "x"', "explain must be 'logical' or 'spark' or 'none', not 'x'"),
        ('per-file-ignores = "x"', "must be a table of patterns, each with a list of codes, not"),
        ("severity = { DPP007 = 1 }", "severity must be a table of codes, each with its severity"),
        ("hint = ", "pyproject.toml: not valid TOML: "),
    ],
)
def test_a_mistake_is_told_with_its_file(folder: Path, text: str, message: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.dpp-rewrite]\n{text}\n")
    with pytest.raises(ConfigError) as error:
        load(".")
    assert str(error.value).startswith("pyproject.toml: ")
    assert message in str(error.value)


def test_a_file_by_name(folder: Path) -> None:
    (folder / "conf").mkdir()
    (folder / "conf" / "own.toml").write_text('[tool.dpp-rewrite]\ncatalog = ["x.sql"]\n')
    assert load(".", "conf/own.toml").catalog == ("conf/x.sql",)
    with pytest.raises(ConfigError, match=r"none\.toml: No such file or directory"):
        load(".", "none.toml")
    (folder / "empty.toml").write_text("[tool.black]\n")
    with pytest.raises(ConfigError, match=r"empty\.toml: has no \[tool\.dpp-rewrite\] table"):
        load(".", "empty.toml")


def test_a_table_in_two_cases_has_the_columns_of_both(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.dpp-rewrite.derived]\nLogs = { dt = "to_date(ts)" }\nlogs = { h = "hour(ts)" }\n'
    )
    assert load(".").derived == {"logs": {"dt": "to_date(ts)", "h": "hour(ts)"}}


def test_the_environment_wins(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\nhint = true\n')
    settings = load(
        ".",
        environment={
            "DPP_REWRITE_HINT": "0",
            "DPP_REWRITE_CATALOG": "a.sql:b",
            "DPP_REWRITE_IGNORE": "DPP001, DPP002",
            "DPP_REWRITE_PER_FILE_IGNORES": "old/*:DPP001,old/*:DPP002",
            "DPP_REWRITE_SEVERITY": "DPP007=note",
            "DPP_REWRITE_DERIVED": "Logs.e.dt=to_date(ts); logs.e.h = hour(ts)",
            "HOME": "/",
        },
    )
    assert settings == Settings(
        catalog=("a.sql", "b"),
        engine="trino",
        hint=False,
        ignore=("DPP001", "DPP002"),
        per_file_ignores=(("old/*", ("DPP001", "DPP002")),),
        severity=(("DPP007", "note"),),
        derived={"logs.e": {"dt": "to_date(ts)", "h": "hour(ts)"}},
        source="pyproject.toml",
    )


def test_the_environment_names_the_file(folder: Path) -> None:
    (folder / "own.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    assert load(".", environment={"DPP_REWRITE_CONFIG": "own.toml"}).engine == "trino"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("HNIT", "0", "DPP_REWRITE_HNIT is no setting; did you mean DPP_REWRITE_HINT?"),
        ("ZZZ", "0", "the environment's DPP_REWRITE_ZZZ is no setting"),
        ("HINT", "maybe", "DPP_REWRITE_HINT must be true or false, not 'maybe'"),
        ("SEVERITY", "DPP007", "DPP_REWRITE_SEVERITY must be CODE=LEVEL, with commas"),
        (
            "DERIVED",
            "dt=1",
            "must be TABLE.COLUMN=EXPRESSION, with semicolons between several, not",
        ),
        ("PER_FILE_IGNORES", "x", "must be PATTERN:CODE, with commas between several, not 'x'"),
    ],
)
def test_mistakes_in_the_environment(folder: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(".", environment={f"DPP_REWRITE_{name}": text})
    assert message in str(error.value)


def test_limits_are_read_as_sizes(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.dpp-rewrite]\nfile-limit = "2MB"\nnesting-limit = 99\n')
    environment = {"DPP_REWRITE_STATEMENT_LIMIT": "5kB"}
    catalog = load(str(tmp_path), environment=environment)
    assert (catalog.file_limit, catalog.statement_limit, catalog.nesting_limit) == (
        2 << 20,
        5 << 10,
        99,
    )
    with pytest.raises(
        ConfigError, match="NESTING_LIMIT must be a whole number from 1 to 1000, not '2k'"
    ):
        load(str(tmp_path), environment={"DPP_REWRITE_NESTING_LIMIT": "2k"})
    path.write_text("[tool.dpp-rewrite]\nnesting-limit = 5000\n")
    with pytest.raises(ConfigError, match="nesting-limit must be a whole number from 1 to 1000"):
        load(str(tmp_path), environment={})


def test_each_file_has_the_settings_nearest_to_it(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "pyproject.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    (folder / "c").mkdir()
    projects = Projects(environment={"DPP_REWRITE_DEPTH": "1"})
    settings = [
        projects.of(path) for path in ("a/q.sql", "a/b/q.sql", "./a/b/../x", "c/q.sql", "q")
    ]
    assert [setting.engine for setting in settings] == ["trino", "trino", "trino", "spark", "spark"]
    assert {setting.depth for setting in settings} == {1}
    assert settings[0] is settings[1] is settings[2]
    assert settings[0].root == "a"
    assert projects.at("a") is settings[0]
    assert projects.at("a/none/x.sql") is settings[0]
    own = Projects("a/pyproject.toml", {})
    assert own.of("c/q.sql") is own.of("a/q.sql") is own.at(".")


def test_each_folder_is_looked_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    looked: list[str] = []

    def look(path: str) -> bool:
        looked.append(path)
        return False

    monkeypatch.setattr(config, "_mentions_us", look)
    projects = Projects(environment={})
    for path in ("a/q.sql", "a/p.sql", "a/b/q.sql", "q.sql", "./a/q.sql"):
        projects.of(path)
    below = [path for path in looked if path.startswith(str(folder))]
    assert len(below) == len(set(looked) & set(below)) == 3


def test_the_file_that_is_named_wins_over_the_environment_s(folder: Path) -> None:
    (folder / "own.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    assert load(".", "own.toml", {"DPP_REWRITE_CONFIG": "none.toml"}).engine == "trino"


def test_codes_in_small_letters_are_codes(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        """
        [tool.dpp-rewrite]
        select = ["dpp001"]
        extend-select = ["Dpp002"]
        ignore = ["dpp"]
        per-file-ignores = { "Old/*" = ["dpp003"] }
        severity = { dpp007 = "note" }
        """
    )
    catalog = load(".", environment={})
    assert (catalog.select, catalog.extend_select, catalog.ignore) == (
        ("DPP001",),
        ("DPP002",),
        ("DPP",),
    )
    assert catalog.per_file_ignores == (("Old/*", ("DPP003",)),)
    assert catalog.severity == (("DPP007", "note"),)
    texts = {
        "DPP_REWRITE_IGNORE": "dpp004",
        "DPP_REWRITE_PER_FILE_IGNORES": "Old/*:dpp005",
        "DPP_REWRITE_SEVERITY": "dpp006=error",
    }
    catalog = load(".", environment=texts)
    assert catalog.ignore == ("DPP004",)
    assert catalog.per_file_ignores == (("Old/*", ("DPP005",)),)
    assert catalog.severity == (("DPP006", "error"),)


@pytest.mark.parametrize(
    "text",
    [
        "# see [tool.dpp-rewrite] in the folder above",
        '[tool.x]\nhint = "[tool.dpp-rewrite]"',
        "[tool.dpp-rewriter]\nhint = true",
    ],
)
def test_a_file_that_only_mentions_the_table_is_passed_over(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    (folder / "a").mkdir()
    (folder / "a" / "pyproject.toml").write_text(text)
    assert load("a").engine == "trino"
    with pytest.raises(ConfigError, match="has no"):
        load("a", "a/pyproject.toml")


def test_an_empty_table_is_one(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    (folder / "a").mkdir()
    (folder / "a" / "pyproject.toml").write_text("[tool.dpp-rewrite]\n")
    assert load("a").engine == "spark"


def test_an_empty_name_of_a_file_is_none(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    assert load(".", environment={"DPP_REWRITE_CONFIG": ""}).engine == "trino"
