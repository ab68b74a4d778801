"""The README's snippets: the hook is one, the settings are settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.settings.config import load
from sqlrewrite.text.markers import MARKER

ROOT = Path(__file__).resolve().parents[1]
README = ROOT.joinpath("README.md").read_text(encoding="utf-8")
GUIDE = ROOT.joinpath("docs/guide.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "fixtures" / "winter"


def _blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def test_the_hook_s_snippet_names_a_hook() -> None:
    yaml = pytest.importorskip("yaml")
    offered = yaml.safe_load(Path(__file__).parents[1].joinpath(".pre-commit-hooks.yaml").open())
    (config,) = (
        settings for settings in map(yaml.safe_load, _blocks("yaml")) if "repos" in settings
    )
    ids = {hook["id"] for repo in config["repos"] for hook in repo["hooks"]}
    assert ids <= {hook["id"] for hook in offered}


def test_the_settings_are_settings(tmp_path: Path) -> None:
    """Those of the README, and of the guide."""
    for page in (README, GUIDE):
        (block,) = _blocks("toml", page)
        Path(tmp_path, "pyproject.toml").write_text(block)
        settings = load(str(tmp_path), environment={})
        assert settings.severity == (("DPP004", "note"),)
    assert settings.per_file_ignores == (("legacy/*", ("DPP00",)),)
    assert settings.force_exclude


def test_the_example_is_what_the_program_writes() -> None:
    """Of the README's two queries the one that Spark reads whole is rewritten."""
    catalog = Catalog.load(str(EXAMPLE / "tables.sql"))
    before, after = _blocks("sql", README)
    result = rewrite(before, catalog, when="missed")
    assert result.sql.startswith(after.strip().removesuffix(";"))
    assert result.sql.count(MARKER) == 1
    queries = EXAMPLE.joinpath("query.sql").read_text(encoding="utf-8")
    assert re.sub(r"^--.*\n", "", queries, flags=re.MULTILINE) == before


def test_it_is_read_in_two_minutes() -> None:
    assert len(README.split()) <= 1600
