"""The cache: quick, never wrong, and never in the way."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import msgpack

import sqlrewrite
from sqlrewrite import Catalog
from sqlrewrite.cli import file_runs
from sqlrewrite.cli.commands import program
from sqlrewrite.find import reading
from sqlrewrite.find.summary import StatementSummary
from sqlrewrite.linting import files as lint_files
from sqlrewrite.results import Problem
from sqlrewrite.run import cache, file_content, file_rewriting, jobs
from sqlrewrite.run.cache import Cache, fingerprint, packed
from sqlrewrite.run.jobs import run_each
from sqlrewrite.run.statistics import Silent
from sqlrewrite.text.markers import MARKER
from tests.linting.conftest import DDL

WORTH = 12


@dataclass
class Upper:
    """A job that tells how often it was done. Of a text of small letters there is nothing to
    report, of any other its capitals."""

    paths: list[str] = field(default_factory=list)

    def __call__(self, path: str, data: bytes) -> str:
        self.paths.append(path)
        text = data.decode()
        return "silent" if text.islower() else text

    limit: int = 1000
    cache_key: tuple[object, ...] = ()

    def of_stdin(self, name: str, data: bytes) -> str:
        return self(name, data)

    def unread(self, path: str, why: Problem) -> str:
        return why.message

    def keep(self, result: str) -> Silent | None:
        return (1, ()) if result == "silent" else None

    def recall(self, path: str, silent: Silent) -> str:
        assert silent == (1, ())
        return "silent"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        Path(name).write_text(f"text {name}")
    return list("abc")


ALL = "silent, silent, silent"


def _run(files: list[str], print_of: str = "one", limit: int = 1000) -> tuple[str, list[str]]:
    job = Upper(limit=limit)
    results = list(run_each(job, files, 1, Cache(print_of, "cache")))
    return ", ".join(results), job.paths


def test_only_silent_files_are_kept(files: list[str]) -> None:
    assert _run(files) == (ALL, ["a", "b", "c"])
    assert _run(files) == (ALL, [])
    Path("b").write_text("Other")
    for _ in range(2):
        assert _run(files) == ("silent, Other, silent", ["b"])
    Path("b").write_text("other")
    assert (_run(files), _run(files)) == ((ALL, ["b"]), (ALL, []))


def test_a_hook_that_names_some_files_forgets_no_others(files: list[str]) -> None:
    _run(files)
    Path("b").write_text("other")
    assert _run(["b"]) == ("silent", ["b"])
    assert _run(files) == (ALL, [])


def test_a_file_that_is_too_large_now_is_not_read(files: list[str]) -> None:
    _run(files)
    Path("b").write_text("b" * 2000)
    assert "is 2 kB, over the file-limit" in _run(files)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder is another")
def test_the_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPP_REWRITE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == str(tmp_path / "dpp-rewrite")
    monkeypatch.setenv("DPP_REWRITE_CACHE_DIR", "elsewhere")
    assert cache.folder() == "elsewhere"


def test_another_fingerprint_knows_nothing(files: list[str]) -> None:
    _run(files)
    assert _run(files, "two")[1] == files


def test_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "q.sql"
    path.write_text("SELECT 1")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError):  # which the one who opens it takes for no cache
        Cache("one", str(tmp_path / "cache"))


@pytest.fixture
def lasting_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now count as written long ago."""
    monkeypatch.setattr(file_content, "_RACY", 0)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read, as they are."""
    paths: list[str] = []
    read = file_content.read_file

    def noted(path: str, limit: int = sys.maxsize) -> tuple[bytes, os.stat_result]:
        paths.append(path)
        return read(path, limit)

    for module in (cache, jobs):
        monkeypatch.setattr(module, "read_file", noted)
    return paths


JOIN = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = "


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], None]:
    """Writes as many queries as a cache is made for, here a dozen, of the texts in turn; beside
    them their DDL, and a cache of their own."""
    monkeypatch.setattr(file_runs, "WORTH", WORTH)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPP_REWRITE_CACHE_DIR", str(tmp_path / "cache"))
    Path("ddl.sql").write_text(DDL)
    Path("q").mkdir()

    def write(texts: list[str]) -> None:
        for number in range(WORTH):
            text = texts[number % len(texts)]
            Path(f"q/{number:03}.sql").write_text(f"{text.replace('{n}', str(number))}\n")

    return write


def invoke(*words: str) -> tuple[int, str, str]:
    """The exit status, stdout and stderr of a run on the repository."""
    command = [*words, "-c", "ddl.sql", "-j", "1", "q"]
    result = CliRunner().invoke(program, command, prog_name="dpp-rewrite")
    return result.exit_code, result.stdout, result.stderr


WRITTEN = {"lint": "DPP001 [*]", "--check": "would rewrite"}


@pytest.mark.parametrize("command", WRITTEN)
def test_what_more_memory_might_mend_is_not_kept(
    command: str, repository: Callable[[list[str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository([f"{JOIN}1 AND s.id > {{n}}"])

    def run() -> str:
        _, out, err = invoke(command)
        return out + err

    with monkeypatch.context() as without:

        def little(work: Callable[[], object]) -> object:
            raise RecursionError

        without.setattr(reading, "deep", little)
        assert WRITTEN[command] not in run()
    assert run().count(WRITTEN[command]) == WORTH


@pytest.mark.usefixtures("lasting_stamps")
def test_a_change_of_the_same_size_and_time_is_seen(files: list[str]) -> None:
    _run(files)
    status = os.stat("b")
    Path("b").write_text("TEXT b")
    os.utime("b", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert os.stat("b").st_mtime_ns == status.st_mtime_ns
    assert _run(files) == ("silent, TEXT b, silent", ["b"])


@pytest.mark.usefixtures("lasting_stamps")
def test_another_file_of_the_name_is_seen(files: list[str]) -> None:
    Path("a").write_text("LOUD a")
    _run(files)
    os.rename("a", "b")
    Path("a").write_text("text b")
    assert _run(files)[0] == "silent, LOUD a, silent"


def test_a_file_that_was_written_just_now_is_read_again(files: list[str], reads: list[str]) -> None:
    """It might be written again within what the file system takes for the same moment."""
    _run(files)
    reads.clear()
    assert _run(files) == (ALL, [])
    assert reads == files


@pytest.mark.usefixtures("lasting_stamps")
def test_a_file_that_is_touched_is_known_by_its_text(files: list[str], reads: list[str]) -> None:
    _run(files)
    os.utime("b")
    for expected in (["b"], []):
        reads.clear()
        assert _run(files)[1] == []
        assert reads == expected


@pytest.mark.usefixtures("lasting_stamps")
def test_folders_of_the_same_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    where = str(tmp_path / "cache")
    for folder, text in (("one", "quiet"), ("two", "LOUD")):
        Path(folder).mkdir()
        Path(folder, "a").write_text(text)

    def run(folder: str) -> list[str]:
        monkeypatch.chdir(tmp_path / folder)
        return list(run_each(Upper(), ["a"], 1, Cache("one", where)))

    for _ in range(2):
        assert (run("one"), run("two")) == (["silent"], ["LOUD"])


def _others_can_write() -> None:
    Path("cache").mkdir()
    os.chmod("cache", 0o777)


def _a_file() -> None:
    Path("cache").write_text("")


def _read_only() -> None:
    _run(list("abc"))
    os.chmod(FILE, 0o400)
    Path("b").write_text("other")


FILE = "cache/one.msgpack"


@pytest.mark.parametrize("spoil", [_others_can_write, _a_file, _read_only])
@pytest.mark.usefixtures("lasting_stamps")
def test_a_cache_that_cannot_be_used_is_not(files: list[str], spoil: Callable[[], None]) -> None:
    spoil()
    for _ in range(3):
        assert _run(files)[0] == ALL
    if spoil is _others_can_write:
        assert not list(Path("cache").iterdir())


class RunsWhenRead:
    """Its pickle makes a folder in the moment in which it is read."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("it-ran",)


def sealed(data: bytes) -> bytes:
    """As the cache would have written it."""
    return sha256(data).digest() + data


def each_value(changed: Callable[[bytes], object]) -> Callable[[bytes], bytes]:
    """Changes what is kept of each file."""

    def change(data: bytes) -> bytes:
        entries = msgpack.decode(data[32:])
        return sealed(
            msgpack.encode({key: (*entry[:2], changed(entry[2])) for key, entry in entries.items()})
        )

    return change


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "a pickle that runs something": lambda data: sealed(pickle.dumps(RunsWhenRead())),
    "the same without a checksum": lambda data: pickle.dumps(RunsWhenRead()),
    "another type": lambda data: sealed(b"\x81\xa1a\xc0"),
    "cut off": lambda data: sealed(data[32:-1]),
    "nothing": lambda data: b"",
    "too long": lambda data: sealed(data[32:] + b"\x00"),
    "nested deep": lambda data: sealed(b"\x91" * 1_000_000 + b"\x90"),
    "a list that says it is long": lambda data: sealed(b"\xdd\xff\xff\xff\xff"),
    "a map that says it is long": lambda data: sealed(b"\xdf\xff\xff\xff\xff"),
    "changed by the disk": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "values that are pickles": each_value(lambda value: pickle.dumps(RunsWhenRead())),
    "values of another type": each_value(lambda value: b"\xa1a"),
    "values that are cut off": each_value(lambda value: value[:-1]),
    "values that are texts": each_value(lambda value: 7),
    "values nested deep": each_value(lambda value: b"\x91" * 1_000_000 + b"\x90"),
    "no values": each_value(lambda value: None),
}


@pytest.mark.parametrize("how", HOSTILE)
@pytest.mark.usefixtures("lasting_stamps")
def test_what_is_not_ours_is_not_there(files: list[str], how: str) -> None:
    """It runs nothing, the work is done anew, and the next run knows it again."""
    assert _run(files) == (ALL, files)
    Path(FILE).write_bytes(HOSTILE[how](Path(FILE).read_bytes()))
    assert _run(files) == (ALL, files)
    assert not Path("it-ran").exists()
    assert _run(files) == (ALL, [])


def test_what_utf_8_cannot_encode_is_not_kept() -> None:
    summary = StatementSummary(1, 1, "query", True, reason="\ud800")
    assert packed((1, (summary,))) is None


def test_what_no_run_has_written_for_a_month_is_deleted(files: list[str]) -> None:
    Path("cache").mkdir(mode=0o700)
    old, other, new = (Path("cache", name) for name in ("0" * 64, "notes", "1" * 64))
    for path in (old, other, new):
        path.with_suffix(".msgpack").write_bytes(b"")
    long_ago = time.time() - 40 * 86400
    for path in (old, other):
        os.utime(path.with_suffix(".msgpack"), (long_ago, long_ago))
    _run(files)
    assert sorted(path.stem for path in Path("cache").iterdir()) == ["1" * 64, "notes", "one"]


def test_all_of_the_program_is_in_the_fingerprint() -> None:
    root = Path(sqlrewrite.__file__).parent
    named = {Path(path) for path, _, _ in cache._program()}
    assert named >= set(root.rglob("*.py"))
    assert [name for name in named if name.name == "spark.toml"]


def test_a_fingerprint_tells_settings_and_catalogs_apart() -> None:
    one, other = Catalog.from_ddl(DDL), Catalog.from_ddl(DDL.replace("PARTITIONED BY (day)", ""))
    same = Catalog.from_ddl("CREATE TABLE t (a INT) USING parquet")
    fingerprints = [
        fingerprint(one, "lint", "spark"),
        fingerprint(one, "lint", "trino"),
        fingerprint(one, "rewrite", "spark"),
        fingerprint(other, "lint", "spark"),
        fingerprint(same, "lint", "spark"),
        fingerprint(Catalog(), "lint", "spark"),
    ]
    assert len(set(fingerprints)) == len(fingerprints)
    assert fingerprint(one, "lint", "spark") == fingerprints[0]


@pytest.mark.usefixtures("lasting_stamps")
@pytest.mark.parametrize(
    "command",
    [
        ("lint",),
        ("lint", "--format", "json"),
        ("lint", "--format", "sarif"),
        ("lint", "--format", "junit"),
        ("lint", "--statistics"),
        ("--diff", "-v"),
        ("rewrite", "--format", "json"),
        ("--check",),
        ("--check", "-v"),
        ("--check", "-q"),
        ("--check", "--format", "json"),
        ("--diff",),
        ("--diff", "--explain", "none"),
        ("--diff", "-q"),
        ("--strip", "--check"),
    ],
)
def test_the_commands_say_the_same_from_the_cache(
    command: tuple[str, ...], repository: Callable[[list[str]], None]
) -> None:
    repository(
        [
            f"{JOIN}{{n}}",
            "SELECT {n} FROM sales",
            "SELECT FROM WHERE",
            "SELECT {n} FROM sales s LEFT JOIN calendar c ON s.day = c.day AND c.year = 1",
            f"{JOIN}{{n}} AND s.day IN (SELECT 1 FROM calendar) {MARKER}",
            "{% if a %} SELECT 1 {% endif %}",
        ]
    )
    without = invoke(*command, "--no-cache")
    assert not Path("cache").exists()
    assert invoke(*command) == without
    assert invoke(*command) == without


@pytest.mark.usefixtures("lasting_stamps")
def test_what_is_left_to_write_is_written(repository: Callable[[list[str]], None]) -> None:
    def status(*words: str) -> int:
        return invoke(*words, "-q")[0]

    repository([f"{JOIN}1"])
    assert [status("--check"), status("--check")] == [1, 1]
    for _ in range(2):
        assert status("-w") == 0
        assert [MARKER in path.read_text() for path in Path("q").iterdir()] == [True] * WORTH
        assert [status("--check"), status("--check")] == [0, 0]
        repository([f"{JOIN}1"])  # as a checkout of the branch before does


@pytest.mark.parametrize("command", [("lint",), ("--check",)])
def test_another_folder_to_stand_in_knows_the_same(
    command: tuple[str, ...],
    repository: Callable[[list[str]], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The catalog's own path, as it is written from there, is nothing that a result depends on."""
    repository(["SELECT {n} FROM calendar"])
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = "ddl.sql"\n')
    jobs: list[str] = []

    def noted(of: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: str, data: bytes, *others: Any, **named: Any) -> Any:
            jobs.append(path)
            return of(path, data, *others, **named)

        return call

    for module, name in ((lint_files, "lint_file"), (file_rewriting, "run")):
        monkeypatch.setattr(module, name, noted(getattr(module, name)))

    def run(path: str) -> int:
        jobs.clear()
        CliRunner().invoke(program, [*command, "-j", "1", path])
        return len(jobs)

    assert (run("q"), run("q"), run(str(tmp_path / "q"))) == (WORTH, 0, 0)
    monkeypatch.chdir("q")
    assert (run("."), run("../q")) == (0, 0)
    Path("../ddl.sql").write_text(DDL.replace("amount INT", "amount DOUBLE"))
    assert run(".") == WORTH
