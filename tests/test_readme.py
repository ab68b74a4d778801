"""The README's snippets: the hook is one, the settings are settings."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from sqlrewrite.settings.config import load

README = Path(__file__).resolve().parents[1].joinpath("README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_hook_s_snippet_names_a_hook() -> None:
    yaml = pytest.importorskip("yaml")
    offered = yaml.safe_load(Path(__file__).parents[1].joinpath(".pre-commit-hooks.yaml").open())
    (config,) = (it for it in map(yaml.safe_load, _blocks("yaml")) if "repos" in it)
    asked = {hook["id"] for repo in config["repos"] for hook in repo["hooks"]}
    assert asked <= {hook["id"] for hook in offered}


def test_the_settings_are_settings(tmp_path: Path) -> None:
    (block,) = _blocks("toml")
    tomllib.loads(block)
    Path(tmp_path, "pyproject.toml").write_text(block)
    settings = load(str(tmp_path), environment={})
    assert settings.per_file_ignores == (("legacy/*", ("DPP00",)),)
    assert settings.severity == (("DPP004", "note"),)
    assert settings.force_exclude
