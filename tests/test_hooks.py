"""The hooks of ``.pre-commit-hooks.yaml``, run by pre-commit itself in a repository of its own.

pre-commit installs this checkout, as it is on disk, into an environment that it makes: that takes
a package index. Without one the tests are skipped; with ``CI`` set that is a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sqlrewrite.text.markers import MARKER
from tests.linting.conftest import DDL

pytestmark = pytest.mark.long  # for which .ci/run installs pre-commit

ROOT = Path(__file__).resolve().parents[1]
JOIN = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2024\n"
UNBOUNDED = "SELECT s.id FROM sales s WHERE s.id > 1\n"
NO_INDEX = ("No matching distribution", "ConnectionError", "Connection refused", "ReadTimeout")

CONFIG = """\
repos:
  - repo: {hooks}
    rev: {revision}
    hooks:
      - id: {hook}
"""


@dataclass(frozen=True)
class Repository:
    """A git repository with the hooks' one beside it."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command in it."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=check,
            timeout=600,
        )

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs git in it."""
        return self.run("git", *arguments, check=check)

    def write(self, name: str, text: str) -> Path:
        """Writes a file and stages it."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self.git("add", name)
        return path

    def use(self, hook: str, hooks: Path, revision: str) -> None:
        """Configures one hook, and commits that without running any."""
        text = CONFIG.format(hooks=hooks, revision=revision, hook=hook)
        self.write(".pre-commit-config.yaml", text)
        self.git("commit", "-qm", hook, "--no-verify")


def _environment(home: Path) -> dict[str, str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GIT_", "DPP_REWRITE_", "PRE_COMMIT", "VIRTUAL_ENV"))
    }
    person = {"NAME": "A", "EMAIL": "a@example.com"}
    for role in ("AUTHOR", "COMMITTER"):
        kept |= {f"GIT_{role}_{key}": value for key, value in person.items()}
    path = os.pathsep.join((os.path.dirname(sys.executable), kept["PATH"]))
    return {**kept, "PRE_COMMIT_HOME": str(home), "PATH": path}


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, dict[str, str]]:
    """This checkout as a repository of one commit: its folder, its revision, an environment."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    pytest.importorskip("pre_commit")
    base = tmp_path_factory.mktemp("hooks")
    checkout = Repository(base / "hooks", _environment(base / "home"))
    checkout.folder.mkdir()
    for name in ("sqlrewrite", "rules"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, checkout.folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, checkout.folder / name)
    checkout.git("init", "-q", "-b", "main")
    checkout.git("add", "-A")
    checkout.git("commit", "-qm", "the checkout")
    return (
        checkout.folder,
        checkout.git("rev-parse", "HEAD").stdout.strip(),
        checkout.environment,
    )


@pytest.fixture
def repository(hooks: tuple[Path, str, dict[str, str]], tmp_path: Path) -> Repository:
    """A repository with a catalog, in which pre-commit is installed and can run our hooks."""
    folder, revision, environment = hooks
    checkout = Repository(tmp_path, environment)
    checkout.git("init", "-q", "-b", "main")
    checkout.write("ddl/tables.sql", DDL)
    checkout.write(
        "pyproject.toml", '[tool.dpp-rewrite]\ncatalog = "ddl"\nexclude = ["generated"]\n'
    )
    checkout.use("dpp-rewrite", folder, revision)
    result = checkout.run(
        sys.executable, "-m", "pre_commit", "install", "--install-hooks", check=False
    )
    if result.returncode:
        output = result.stdout + result.stderr
        if not os.environ.get("CI") and any(word in output for word in NO_INDEX):
            pytest.skip("pre-commit cannot install from a package index here")
        pytest.fail(output)
    return checkout


def test_the_hooks_are_of_files_by_their_ending_in_any_case() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    hooks = clientlib.load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))  # as pre-commit reads it
    assert len(hooks) == 3
    names = (
        "q.sql",
        "Q.SQL",
        "q.Hql",
        "a/q.DDL",
        "q.sparksql",
        "q.sql.j2",
        "q.j2",
        "q.sqlx",
        "sql",
    )
    for hook in hooks:
        taken = [name for name in names if re.search(hook["files"], name)]
        assert taken == ["q.sql", "Q.SQL", "q.Hql", "a/q.DDL", "q.sparksql", "q.sql.j2"]


def test_the_hook_fixes_and_then_passes(repository: Repository) -> None:
    names = ("q.sql", "P.SQL", "q.hql", "q.ddl")
    paths = [repository.write(name, JOIN) for name in names]
    other = [repository.write(name, JOIN) for name in ("generated/q.sql", "q.txt")]
    first = repository.git("commit", "-m", "a query", check=False)
    assert first.returncode == 1
    assert "files were modified by this hook" in first.stderr
    assert all(path.read_text().count(MARKER) == 1 for path in paths)
    assert all(path.read_text() == JOIN for path in other)
    repository.git("add", "-A")
    second = repository.git("commit", "-m", "a query", check=False)
    assert second.returncode == 0, second.stderr
    assert not repository.git("status", "--porcelain").stdout
    # Years later: the filter changes, and the predicate is forgotten.
    repository.write("q.sql", paths[0].read_text().replace("c.year = 2024", "c.year = 2025"))
    assert repository.git("commit", "-m", "another year", check=False).returncode == 1
    assert "2024" not in paths[0].read_text()


def test_a_statement_that_does_not_parse_stops_no_commit(repository: Repository) -> None:
    repository.write("q.sql", "SELECT FROM WHERE\n")
    completed = repository.git("commit", "-m", "not SQL", check=False)
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize(
    ("hook", "text"), [("dpp-rewrite-check", JOIN), ("dpp-rewrite-lint", UNBOUNDED)]
)
def test_the_checking_hooks_change_nothing(
    repository: Repository, hooks: tuple[Path, str, dict[str, str]], hook: str, text: str
) -> None:
    repository.use(hook, *hooks[:2])
    path = repository.write("q.sql", text)
    completed = repository.git("commit", "-m", "a query", check=False)
    assert completed.returncode == 1
    assert path.read_text() == text
    assert "q.sql:1:18:" in completed.stderr
    path = repository.write("q.sql", "SELECT id FROM sales WHERE day = DATE '2024-01-01'\n")
    assert repository.git("commit", "-m", "a query", check=False).returncode == 0
