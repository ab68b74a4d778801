"""Which files the paths of a command line mean."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite.run.search import Found, Patterns, find

TREE = ("b.sql", "a.sql", "note.txt", "d/c.SQL", "d/e/f.sql", ".hidden/x.sql", "target/t.sql")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("select 1")
    return tmp_path


def git(*args: str) -> None:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    subprocess.run(["git", "-c", "init.defaultBranch=main", *args], check=True, env=clean)


def test_walk(tree: Path) -> None:
    assert find(["."]) == Found(("a.sql", "b.sql", "d/c.SQL", "d/e/f.sql", "target/t.sql"), ())


def test_explicit_paths_are_taken_once(tree: Path) -> None:
    span = find(["note.txt", "-", ".hidden/x.sql", "d", "./d/c.SQL", "-", "none", "d/e"])
    assert span == Found(("note.txt", "-", ".hidden/x.sql", "d/c.SQL", "d/e/f.sql"), ("none",))


def test_git_ignores(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("init", "-q")
    Path(".gitignore").write_text("target/\na.sql\n!b.sql\n")
    Path("d/.gitignore").write_text("e\n")
    git("add", "b.sql")
    os.mkdir("deleted")
    Path("deleted/x.sql").write_text("")
    git("add", "deleted")
    os.unlink("deleted/x.sql")
    assert find(["."]).files == (".hidden/x.sql", "b.sql", "d/c.SQL")
    assert find(["d"]).files == ("d/c.SQL",)
    assert find(["a.sql"]).files == ("a.sql",)  # named: taken
    assert find(["target"]).files == ("target/t.sql",)  # named, and all of it is ignored
    monkeypatch.setenv("GIT_DIR", "elsewhere")  # as in a hook
    assert find(["d"]).files == ("d/c.SQL",)


def test_a_repository_within(tree: Path) -> None:
    git("init", "-q")
    git("init", "-q", "d/e")
    assert "d/e/f.sql" in find(["."]).files


def commit(folder: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    git("-C", folder, "add", "-A")
    git("-C", folder, *person, "commit", "-qm", "all")


def test_repositories_below_a_folder_that_is_in_none(tree: Path) -> None:
    for name in ("d", "target"):
        git("init", "-q", name)
        Path(name, ".gitignore").write_text("e\n")
    Path("target/e").mkdir()
    Path("target/e/x.sql").write_text("")
    Path("target/sub").mkdir()
    git("init", "-q", "target/sub")
    Path("target/sub/s.sql").write_text("")
    whole = ("a.sql", "b.sql", "d/c.SQL", "target/sub/s.sql", "target/t.sql")
    assert find(["."]) == Found(whole, ())


@pytest.mark.parametrize("own", [True, False])
def test_a_repository_that_another_one_refers_to(tree: Path, own: bool) -> None:
    """As a submodule does; in a copy it may be without its own .git."""
    git("init", "-q", ".")
    git("init", "-q", "d")
    commit("d")
    commit(".")
    if not own:
        shutil.rmtree("d/.git")
    assert {"d/c.SQL", "d/e/f.sql"} <= set(find(["."]).files)
    assert find(["d"]).files == ("d/c.SQL", "d/e/f.sql")
    assert find(["d/e"]).files == ("d/e/f.sql",)


def test_above_what_a_link_leads_to(tree: Path) -> None:
    Path("here").mkdir()
    os.symlink("../d/e", "here/link")
    assert find(["here/link/.."]).files == ("d/c.SQL", "d/e/f.sql")
    assert find(["here/../d/e"]).files == ("d/e/f.sql",)
    whole = tuple(str(tree / name) for name in ("d/c.SQL", "d/e/f.sql"))
    assert find([str(tree / "here/link/..")]).files == whole


def test_a_repository_that_git_refuses(tree: Path) -> None:
    git("init", "-q", "d")
    Path("d/.gitignore").write_text("e\n")
    Path("d/.git/HEAD").write_text("broken")
    span = find([".", "d"])
    assert span.files == ("a.sql", "b.sql", "d/c.SQL", "d/e/f.sql", "target/t.sql")
    ((folder, why),) = span.warnings
    assert folder == "d"
    assert why.startswith("not a git repository")


def test_settings_of_git_in_the_environment(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where containers say which repositories are safe."""
    git("init", "-q")
    Path("others").write_text("d\n")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tree / "others"))
    assert find(["."]).files == (".hidden/x.sql", "a.sql", "b.sql", "target/t.sql")


@pytest.mark.parametrize("repository", [True, False])
def test_a_folder_that_cannot_be_read(
    tree: Path, monkeypatch: pytest.MonkeyPatch, repository: bool
) -> None:
    if repository:
        git("init", "-q")
        git("add", "d/e")
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if os.path.normpath(path) == os.path.join("d", "e"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    span = find([".", "d"])
    assert "d/c.SQL" in span.files
    assert span.missing == ("d/e",)
    assert find(["."], lambda path, _: path == "d/e").missing == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads all folders")
@pytest.mark.parametrize("repository", [True, False])
def test_a_folder_of_another_mode(tree: Path, repository: bool) -> None:
    if repository:
        git("init", "-q")
    os.chmod("d/e", 0)
    try:
        assert find(["."]).missing == ("d/e",)
        assert find(["d"]).missing == ("d/e",)
    finally:
        os.chmod("d/e", 0o700)


def test_what_git_says_that_it_cannot_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("init", "-q")
    output = b"warning: x\nwarning: could not open directory 'd/e f/': Permission denied\n"
    run = subprocess.run

    def tell(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        result: subprocess.CompletedProcess[bytes] = run(command, **options)
        return subprocess.CompletedProcess(command, result.returncode, result.stdout, output)

    monkeypatch.setattr(subprocess, "run", tell)
    assert find(["."]).missing == ("d/e f",)
    assert find(["./d"]).missing == ("d/e f",)
    monkeypatch.chdir("d")
    assert find(["."]).missing == ("e f",)


def test_names_that_git_would_quote(tree: Path) -> None:
    git("init", "-q")
    name = os.fsdecode(b'd/\xc3\xa4 "\xff\n.sql')
    Path(name).write_text("")
    assert name in find(["d"]).files


def test_without_git(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("init", "-q")
    monkeypatch.setenv("PATH", "")
    span = find(["."])
    assert "target/t.sql" in span.files
    assert span.warnings == ((".", "git cannot be run: No such file or directory"),)


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (["e"], ("a.sql", "b.sql", "d/c.SQL", "target/t.sql")),
        (["d/e", "target/"], ("a.sql", "b.sql", "d/c.SQL")),
        (["*.sql"], ("d/c.SQL",)),
        (["d/*"], ("a.sql", "b.sql", "target/t.sql")),
    ],
)
def test_exclude(tree: Path, patterns: list[str], left: tuple[str, ...]) -> None:
    excluded = Patterns(patterns, ".")

    def out(path: str, searched: str | None) -> bool:
        return searched is not None and excluded.match(path)

    assert find(["."], out).files == left
    assert find(["d/e/f.sql"], out).files == ("d/e/f.sql",)


@pytest.mark.parametrize(
    ("pattern", "fits", "leaves"),
    [
        ("etl", "etl/q.sql gen/etl/q.sql gen/etl", "retl/q.sql etl.sql"),
        ("etl/", "etl/q.sql gen/etl/q.sql", "retl/q.sql"),
        ("/etl", "etl/q.sql etl", "gen/etl/q.sql"),
        ("./etl", "etl/q.sql", "gen/etl/q.sql"),
        ("./etl/*.sql", "etl/q.sql", "gen/etl/q.sql q.sql"),
        ("/q.sql", "q.sql", "etl/q.sql"),
        ("**/etl", "etl/q.sql gen/etl/q.sql a/b/etl/q.sql", "retl/q.sql gen/retl/q.sql"),
        ("/**/etl", "etl/q.sql gen/etl/q.sql", "retl/q.sql"),
        ("**/*.sql", "q.sql etl/q.sql", "q.hql"),
        ("**/a/b", "a/b/q.sql x/a/b/q.sql", "a/x/b/q.sql x/b/q.sql"),
        ("a/**/b", "a/b/q.sql a/x/b/q.sql a/x/y/b/q.sql", "x/a/b/q.sql ab/q.sql b/q.sql"),
        ("a/**/b/**/c", "a/b/c a/x/b/c a/b/y/c a/x/b/y/c", "a/c b/c"),
        ("a/**", "a/q.sql a/b/q.sql", "b/a/q.sql a.sql"),
        ("etl/*.sql", "etl/q.sql", "gen/etl/q.sql etl.sql"),
        (".etl/q.sql", ".etl/q.sql", "etl/q.sql"),
        ("e*l", "etl/q.sql gen/el", "ex/yl ex/yl/q.sql"),
    ],
)
def test_patterns_are_read_as_gitignore_s(pattern: str, fits: str, leaves: str) -> None:
    match = Patterns([pattern], "root").match
    assert [part for part in fits.split() if not match(f"root/{part}")] == []
    assert [part for part in leaves.split() if match(f"root/{part}")] == []


def test_no_patterns_on_another_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no relative path from one drive to another; where nothing is excluded, none is
    needed."""

    def refuse(path: str, start: str) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr("os.path.relpath", refuse)
    assert not Patterns((), ".").match("D:/queries/q.sql")
