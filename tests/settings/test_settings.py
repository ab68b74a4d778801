"""One row a setting: what is made of the table, and who wins where several say a setting."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sqlrewrite import rewrite
from sqlrewrite.cli.commands import COMMANDS, program
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.config import Projects, as_toml, load, reference, schema
from sqlrewrite.settings.options import make_options
from sqlrewrite.settings.table import TABLE, Setting, Settings, decisive
from sqlrewrite.text.limits import Limits

DOCS = Path(__file__).resolve().parents[2] / "docs"
BEGIN, END = "tests/settings/test_settings.py` -->\n", "<!-- settings end -->"

FILE = """
catalog = ["ddl"]
functions = { clean = "total" }
key-limit = "2MB"
ignore = ["DPP003"]
per-file-ignores = { "old/*" = ["DPP001", "DPP002"] }
severity = { DPP007 = "note" }
schema = 'a"b\\c'
strict = true
jobs = 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_reference_has_the_table(update_goldens: bool) -> None:
    path = DOCS / "reference.md"
    head, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    table, _, tail = rest.partition(END)
    if update_goldens:
        path.write_text(head + BEGIN + reference() + END + tail, encoding="utf-8")
    else:
        assert table == reference()


def test_the_schema_is_that_of_the_table(update_goldens: bool) -> None:
    path = DOCS / "dpp-rewrite.schema.json"
    if update_goldens:
        path.write_text(schema(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == schema()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.key)
def test_a_default_is_a_value(row: Setting) -> None:
    """What the schema names as the default may be written into a file."""
    value = json.loads(schema())["properties"][row.key].get("default")
    assert value is None or row.kind.read(value) == row.default


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.key)
def test_an_option_wherever_it_is_said(row: Setting) -> None:
    """A command without the option, as a row misspells it, would leave the setting out."""
    for command in row.commands:
        assert command.split()[0] in COMMANDS
        ran = CliRunner().invoke(program, [*command.split(), "--help"])
        assert f"{row.option} " in ran.output or f"{row.option}\n" in ran.output


def test_the_library_has_what_decides() -> None:
    keywords = inspect.signature(rewrite).parameters
    limits = {
        "file_limit",
        "statement_limit",
        "nesting_limit",
        "step_limit",
        "double_quoted_identifiers",
    }
    settings = {name: value for name, value in decisive(Settings()).items() if name not in limits}
    assert {name: keywords[name].default or value for name, value in settings.items()} == settings
    assert Settings().limits == Limits()


def test_an_option_wins_over_the_environment_and_that_over_files(folder: Path) -> None:
    Path("dpp-rewrite.toml").write_text("groups = 4\nhint = false\nwhen = 'missed'")
    environment = {"DPP_REWRITE_GROUPS": "2", "DPP_REWRITE_HINT": "yes"}
    settings = Projects(None, environment, {"groups": 3}).at(".")
    assert (settings.groups, settings.hint, settings.when, settings.predicate) == (
        3,
        True,
        "missed",
        "in",
    )
    assert settings.origins == {
        "groups": "--groups",
        "hint": "DPP_REWRITE_HINT",
        "when": "dpp-rewrite.toml",
    }


def test_what_options_add_and_hide(folder: Path) -> None:
    Path("dpp-rewrite.toml").write_text('ignore = ["DPP001"]\nselect = ["DPP002"]')
    more = Projects(None, {}, {"ignore": ("DPP003",)}).at(".")
    assert (more.select, more.ignore) == (("DPP002",), ("DPP001", "DPP003"))
    assert more.origins["ignore"] == "dpp-rewrite.toml and --ignore"
    other = Projects(None, {}, {"select": ("DPP004",)}).at(".")
    assert (other.select, other.ignore) == (("DPP004",), ())
    both = Projects(None, {}, {"select": ("DPP",), "ignore": ("DPP003",)}).at(".")
    assert (both.select, both.ignore) == (("DPP",), ("DPP003",))


def test_a_file_of_our_own(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    Path("a/dpp-rewrite.toml").write_text(FILE)
    Path("a/pyproject.toml").write_text("[tool.black]\n")
    catalog = load("a/b/q.sql")
    assert (catalog.catalog, catalog.engine, catalog.source) == (
        ("a/ddl",),
        "spark",
        "a/dpp-rewrite.toml",
    )
    assert (catalog.root, catalog.key_limit) == ("a", 2 << 20)
    assert load(".", "a/dpp-rewrite.toml").jobs == 2
    assert load(".").engine == "trino"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hnit = true", "a/dpp-rewrite.toml: has no key 'hnit'; did you mean 'hint'?"),
        ("hint = 1", "a/dpp-rewrite.toml: hint must be true or false, not 1"),
        ("[tool.dpp-rewrite]", "the keys stand at the top of a dpp-rewrite.toml"),
        ("hint = ", "a/dpp-rewrite.toml: not valid TOML: "),
    ],
)
def test_mistakes_in_a_file_of_our_own(folder: Path, text: str, message: str) -> None:
    (folder / "a").mkdir()
    Path("a/dpp-rewrite.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load("a")
    assert message in str(error.value)


def test_two_files_in_one_folder_are_refused(folder: Path) -> None:
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\nengine = "trino"\n')
    Path("dpp-rewrite.toml").write_text("")
    with pytest.raises(ConfigError) as error:
        load(".")
    assert str(error.value) == (
        "dpp-rewrite.toml: pyproject.toml has a [tool.dpp-rewrite] table too: "
        "keep the settings in one of the two"
    )


def test_isolated_still_reads_the_environment(folder: Path) -> None:
    Path("dpp-rewrite.toml").write_text("not TOML")
    environment = {"DPP_REWRITE_CONFIG": "none.toml", "DPP_REWRITE_DEPTH": "2"}
    settings = Projects(None, environment, isolated=True).of("a/q.sql")
    assert settings == Settings(depth=2)


def test_settings_shown_are_a_file_that_says_the_same(folder: Path) -> None:
    Path("dpp-rewrite.toml").write_text(FILE)
    before = load(".", environment={"DPP_REWRITE_EXCLUDE": "x y, z"})
    text = as_toml(before)
    assert 'exclude = ["x y", "z"]  # DPP_REWRITE_EXCLUDE\n' in text
    assert "# baseline: none\n" in text
    Path("dpp-rewrite.toml").write_text(text)
    assert load(".") == before


def test_show_settings_does_no_more(folder: Path) -> None:
    for name in "ab":
        (folder / name).mkdir()
        Path(name, "q.sql").write_text("SELECT 1")
        Path(name, "dpp-rewrite.toml").write_text("catalog = 'none.sql'")
    ran = CliRunner().invoke(program, ["--show-settings", "-w", "--groups", "3", "a", "b"])
    assert ran.exit_code == 0
    assert ran.stdout.count("groups = 3  # --groups\n") == 2
    assert '# Settings of a/q.sql\ncatalog = ["a/none.sql"]  # a/dpp-rewrite.toml\n' in ran.stdout


def test_isolated_reads_no_file(folder: Path) -> None:
    Path("q.sql").write_text("CREATE TABLE t (a INT)")

    def run(*args: str) -> Any:
        return CliRunner().invoke(program, ["lint", *args, "q.sql"])

    assert run("--isolated", "--config", "x.toml").exit_code == 2
    Path("dpp-rewrite.toml").write_text("hnit = 1")
    assert run().exit_code == 2
    assert run("--isolated").exit_code == 0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("rewrite", "--groups", "x"), "'--groups': 'x' is not a whole number from 2 to 64"),
        (("rewrite", "--groups", "65"), "'--groups': '65' is not a whole number from 2 to 64"),
        (("lint", "-j", "0"), "'--jobs': '0' is not a whole number, 1 or more"),
        (("verify", "--timeout", "0"), "'--timeout': '0' is not a number of seconds above 0"),
    ],
)
def test_an_option_says_which_values_it_takes(words: tuple[str, ...], error: str) -> None:
    ran = CliRunner().invoke(program, [*words, "q.sql"])
    assert (ran.exit_code, error in ran.output) == (2, True), ran.output


@pytest.mark.parametrize(("key", "value"), [("engine", "oracle"), ("dialect", "oracle")])
def test_an_unknown_name_is_told_with_its_file(tmp_path: Path, key: str, value: str) -> None:
    path, chosen = tmp_path / "dpp-rewrite.toml", {key: value}
    path.write_text(f'{key} = "{value}"\n')
    with pytest.raises(ConfigError, match=rf"dpp-rewrite\.toml: no {key} is called 'oracle'"):
        make_options(load(str(tmp_path)))
    with pytest.raises(ConfigError, match=rf"^no {key} is called 'oracle'"):
        make_options(Settings(**chosen))  # type: ignore[arg-type]
