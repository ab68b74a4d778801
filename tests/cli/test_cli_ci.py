"""docs/ci.md: each command that it shows is run as CI would, and gives what CI reads."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.cli.conftest import Ran, invoke
from tests.cli.test_cli_files import DDL, TWO, git

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS: list[Any] = [
    yaml.safe_load(match)
    for match in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
]
COMMANDS = re.findall(r"\| `dpp-rewrite (.*?)` \|", PAGE)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Ran]:
    """Runs a command in a branch that has changed one statement of two files."""
    monkeypatch.chdir(tmp_path)
    Path("ddl").mkdir()
    Path("ddl/t.sql").write_text(DDL)
    Path("dpp-rewrite.toml").write_text('catalog = ["ddl"]\n')
    for name in ("a.sql", "b.sql"):
        Path(name).write_text(TWO)
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "all")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    git("checkout", "-b", "branch")
    Path("a.sql").write_text(TWO.replace("year = 2", "year = 3"))

    def ran(command: str) -> Ran:
        words = shlex.split(command.replace("$GITHUB_BASE_REF", "main"))
        assert words[0] == "dpp-rewrite"
        return invoke(*words[1:])

    return ran


def test_github_pull_request(run: Callable[[str], Ran]) -> None:
    checkout, _, lint = BLOCKS[0]
    assert checkout["with"] == {"fetch-depth": 0}
    ran = run(lint["run"])
    assert ran.status == 1
    assert re.findall(r"^::warning (?:.*,)?file=(a\.sql),line=7", ran.out.decode(), re.MULTILINE)
    assert ran.out.decode().count("::") == 2


def test_github_code_scanning(run: Callable[[str], Ran]) -> None:
    *_, lint, upload = BLOCKS[1]
    assert run(lint["run"]).status == 0
    report = json.loads(Path(upload["with"]["sarif_file"]).read_text())
    assert len(report["runs"][0]["results"]) == 4


def test_the_job_for_gitlab_writes_its_report(run: Callable[[str], Ran]) -> None:
    job = BLOCKS[2]["dpp-rewrite"]
    assert run(job["script"][-1]).status == 1
    report = json.loads(Path(job["artifacts"]["reports"]["codequality"]).read_text())
    assert [entry["location"]["path"] for entry in report] == ["a.sql"] * 2 + ["b.sql"] * 2


def test_five_lines_each() -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert [block.count("\n") for block in blocks[:3]] == [5, 5, 5]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_for_elsewhere_does_what_the_page_says(
    run: Callable[[str], Ran], command: str
) -> None:
    ran = run(f"dpp-rewrite {command}")
    assert ran.status == (0 if "--write-baseline" in command else 1)
    if "junit" in command:
        assert len(ElementTree.parse("dpp-rewrite.xml").getroot().findall(".//failure")) == 4
    if "--changed-since" in command:
        assert ("would rewrite a.sql" in ran.err, "b.sql" in ran.err) == (True, False)


def test_the_hook_is_one_of_ours() -> None:
    hooks = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    assert BLOCKS[3]["repos"][0]["hooks"][0]["id"] in {hook["id"] for hook in hooks}
    for hook in hooks:
        assert f"`{hook['id']}`" in PAGE
