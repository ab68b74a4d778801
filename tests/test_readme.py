"""The README's snippets: the YAML is YAML, its commands run, its settings are settings."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sqlrewrite.cli.commands import program
from sqlrewrite.settings.config import load
from tests.lint.conftest import DDL

README = Path(__file__).resolve().parents[1].joinpath("README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)


def test_the_hook_s_snippet_names_a_hook() -> None:
    yaml = pytest.importorskip("yaml")
    offered = yaml.safe_load(Path(__file__).parents[1].joinpath(".pre-commit-hooks.yaml").open())
    (config,) = (it for it in map(yaml.safe_load, _blocks("yaml")) if "repos" in it)
    asked = {hook["id"] for repo in config["repos"] for hook in repo["hooks"]}
    assert asked <= {hook["id"] for hook in offered}


def test_the_commands_of_the_ci_snippets_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = pytest.importorskip("yaml")
    monkeypatch.chdir(tmp_path)
    Path("queries").mkdir()
    Path("queries/q.sql").write_text("SELECT id FROM sales\n")
    Path("ddl.sql").write_text(DDL)
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = "ddl.sql"\n')
    texts = [text for block in _blocks("yaml") for text in _texts(yaml.safe_load(block))]
    commands = [text for text in texts if text.startswith("dpp-rewrite ")]
    assert len(commands) == 4
    for command in commands:
        words = shlex.split(command.partition(" > ")[0])[1:]
        done = CliRunner().invoke(program, words, prog_name="dpp-rewrite")
        assert done.exit_code == (0 if "--exit-zero" in words else 1), command
        assert "sales is read whole" in done.stdout


def test_the_settings_are_settings(tmp_path: Path) -> None:
    (block,) = _blocks("toml")
    tomllib.loads(block)
    Path(tmp_path, "pyproject.toml").write_text(block)
    settings = load(str(tmp_path), environment={})
    assert settings.per_file_ignores == (("legacy/*", ("DPP00",)),)
    assert settings.severity == (("DPP004", "note"),)
    assert settings.force_exclude
