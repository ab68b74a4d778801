"""The cache: quick, never wrong, and never in the way."""

from __future__ import annotations

import os
import pickle
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from click.testing import CliRunner

import sqlrewrite
from sqlrewrite import Catalog
from sqlrewrite.cli.commands import program
from sqlrewrite.find import reading
from sqlrewrite.linting import files as lint_files
from sqlrewrite.linting.findings import Finding, Place, Severity
from sqlrewrite.results import Problem
from sqlrewrite.run import cache, file_content, jobs, runner
from sqlrewrite.run.cache import VERSION, Cache, fingerprint, packed, unpacked
from sqlrewrite.run.jobs import Job, each
from sqlrewrite.run.pool import WORTH
from sqlrewrite.run.runner import Request
from sqlrewrite.text.edits import Span
from sqlrewrite.text.markers import MARKER
from tests.lint.conftest import DDL


@dataclass
class Upper:
    """A job that tells how often it was done."""

    done: list[str] = field(default_factory=list)

    def __call__(self, path: str, data: bytes) -> str:
        self.done.append(path)
        return data.decode().upper()

    limit: int = 1000
    kept_type: Any = str | int
    cache_key: tuple[object, ...] = ()

    def of_stdin(self, name: str, data: bytes) -> str:
        return self(name, data)

    def unread(self, path: str, why: Problem) -> str:
        return why.message

    def keep(self, result: str) -> str | int | None:
        return {"NEVER": None, "QUIET": 0}.get(result, result)

    def recall(self, path: str, data: bytes | None, kept: str | int) -> str | None:
        if isinstance(kept, int):
            return "QUIET"
        return None if data is None and kept.startswith("WANTED") else kept


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        Path(name).write_text(f"text {name}")
    return list("abc")


def _run(files: list[str], print_of: bytes = b"one") -> tuple[str, list[str]]:
    job = Upper()
    results = list(each(job, files, 1, Cache(print_of, "cache")))
    return ", ".join(results), job.done


def test_what_was_done_is_recalled(files: list[str]) -> None:
    assert _run(files) == ("TEXT A, TEXT B, TEXT C", ["a", "b", "c"])
    assert _run(files) == ("TEXT A, TEXT B, TEXT C", [])
    Path("b").write_text("other")
    assert _run(files) == ("TEXT A, OTHER, TEXT C", ["b"])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder is another")
def test_the_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPP_REWRITE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == str(tmp_path / "dpp-rewrite")
    monkeypatch.setenv("DPP_REWRITE_CACHE_DIR", "elsewhere")
    assert cache.folder() == "elsewhere"


def test_another_fingerprint_knows_nothing(files: list[str]) -> None:
    _run(files)
    assert _run(files, b"two")[1] == files


def test_what_is_not_to_be_kept_is_done_again(files: list[str]) -> None:
    Path("b").write_text("never")
    _run(files)
    assert _run(files)[1] == ["b"]


def test_a_file_that_changes_meanwhile(files: list[str]) -> None:
    _run(files)
    job = Upper()
    results = each(job, files, 1, Cache(b"one", "cache"))
    assert next(results) == "TEXT A"
    Path("b").write_text("other")
    assert list(results) == ["OTHER", "TEXT C"]
    assert _run(files)[0] == "TEXT A, OTHER, TEXT C"


def test_a_broken_cache_is_replaced(files: list[str]) -> None:
    """Also where only what is read of it shows that it is broken."""
    for number in range(40):
        Path("a").write_text(f"{number} " * 100)
        _run(files)
    (path,) = Path("cache").glob("*.sqlite")
    data = bytearray(path.read_bytes())
    data[4096:] = b"\x5a" * (len(data) - 4096)
    path.write_bytes(data)
    assert _run(files)[1] == files
    _run(files)
    assert _run(files)[1] == []


def test_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "q.sql"
    path.write_text("SELECT 1")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError):  # which the one who opens it takes for no cache
        Cache(b"one", str(tmp_path / "cache"))


@pytest.fixture
def lasting_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now count as written long ago."""
    monkeypatch.setattr(file_content, "_RACY", 0)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read, as they are."""
    found: list[str] = []
    read = file_content.read_file

    def noted(path: str, limit: int) -> tuple[bytes, os.stat_result]:
        found.append(path)
        return read(path, limit)

    for module in (file_content, jobs):
        monkeypatch.setattr(module, "read_file", noted)
    return found


@pytest.mark.usefixtures("lasting_stamps")
def test_an_unchanged_file_is_read_again_where_its_text_is_needed(
    files: list[str], reads: list[str]
) -> None:
    Path("b").write_text("quiet")
    Path("c").write_text("wanted")
    files.append("d")
    Path("d").write_text("wanted " * 1000)
    long = "WANTED " * 1000
    job = Upper(limit=10_000)
    said = ["TEXT A", "QUIET", "WANTED", long]
    assert list(each(job, files, 1, Cache(b"one", "cache"))) == said
    assert job.done == files
    reads.clear()
    assert list(each(job, files, 1, Cache(b"one", "cache"))) == said
    assert job.done == files
    assert [it for it in reads if it != "d"] == ["c"]
    assert _run(files, b"two")[1] == files[:-1]


JOIN = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = "


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], None]:
    """Writes as many queries as a cache is made for, of the texts in turn; beside them their DDL,
    and a cache of their own."""
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
    done = CliRunner().invoke(program, command, prog_name="dpp-rewrite")
    return done.exit_code, done.stdout, done.stderr


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
def test_what_is_long_is_kept_once(files: list[str], reads: list[str]) -> None:
    """A folder's index would grow with it, and is read as a whole."""
    Path("b").write_text("b" * 900)
    for _ in range(2):
        reads.clear()
        assert _run(files)[0] == f"TEXT A, {'B' * 900}, TEXT C"
    assert reads == []
    Path("b").write_text("b" * 5000)
    for _ in range(2):
        reads.clear()
        assert list(each(Upper(limit=10_000), files, 1, Cache(b"one", "cache")))[1] == "B" * 5000
    assert set(reads) == {"b"}


@pytest.mark.usefixtures("lasting_stamps")
def test_a_change_of_the_same_size_and_time_is_seen(files: list[str]) -> None:
    Path("b").write_text("quiet")
    _run(files)
    status = os.stat("b")
    Path("b").write_text("loud!")
    os.utime("b", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert os.stat("b").st_mtime_ns == status.st_mtime_ns
    assert _run(files) == ("TEXT A, LOUD!, TEXT C", ["b"])


@pytest.mark.usefixtures("lasting_stamps")
def test_another_file_of_the_name_is_seen(files: list[str]) -> None:
    Path("b").write_text("quiet")
    _run(files)
    os.rename("a", "b")
    Path("a").write_text("quiet")
    assert _run(files)[0] == "QUIET, TEXT A, TEXT C"


def test_a_file_that_was_written_just_now_is_read_again(files: list[str], reads: list[str]) -> None:
    """It might be written again within what the file system takes for the same moment."""
    Path("b").write_text("quiet")
    _run(files)
    reads.clear()
    assert _run(files) == ("TEXT A, QUIET, TEXT C", [])
    assert "b" in reads


@pytest.mark.usefixtures("lasting_stamps")
def test_a_file_that_is_touched_is_known_by_its_text(files: list[str], reads: list[str]) -> None:
    Path("b").write_text("quiet")
    _run(files)
    os.utime("b")
    assert _run(files)[1] == []
    reads.clear()
    assert _run(files)[1] == []
    assert "b" not in reads


@pytest.mark.usefixtures("lasting_stamps")
def test_folders_of_the_same_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    where = str(tmp_path / "cache")
    for folder, text in (("one", "quiet"), ("two", "loud")):
        Path(folder).mkdir()
        Path(folder, "a").write_text(text)

    def run(folder: str) -> list[str]:
        monkeypatch.chdir(tmp_path / folder)
        return list(each(Upper(), ["a"], 1, Cache(b"one", where)))

    for _ in range(2):
        assert (run("one"), run("two")) == (["QUIET"], ["LOUD"])


def _others_can_write() -> None:
    Path("cache").mkdir()
    os.chmod("cache", 0o777)


def _a_file() -> None:
    Path("cache").write_text("")


def _read_only() -> None:
    _run(list("abc"), b"another")
    os.chmod(f"cache/results-{VERSION}.sqlite", 0o400)


@pytest.mark.parametrize("spoil", [_others_can_write, _a_file, _read_only])
@pytest.mark.usefixtures("lasting_stamps")
def test_a_cache_that_cannot_be_used_is_not(files: list[str], spoil: Callable[[], None]) -> None:
    spoil()
    for _ in range(3):
        assert _run(files)[0] == "TEXT A, TEXT B, TEXT C"
    if spoil is _others_can_write:
        assert not list(Path("cache").iterdir())


def _broken_file() -> None:
    Path(DATABASE).write_bytes(b"not a database, and long enough to be read" * 9)


def _of_an_earlier_version() -> None:
    """Whose values were pickles."""
    os.rename(DATABASE, "cache/results-3.sqlite")
    _each_value(lambda value: pickle.dumps(RunsWhenRead()), "cache/results-3.sqlite")


def _of_another_program() -> None:
    with sqlite3.connect(DATABASE) as database:
        database.execute("ALTER TABLE results RENAME TO kept")
        database.execute("CREATE VIEW results AS SELECT * FROM kept")


def _with_a_trigger() -> None:
    with sqlite3.connect(DATABASE) as database:
        database.execute(
            "CREATE TRIGGER lies AFTER INSERT ON results BEGIN"
            " UPDATE results SET value = x'00' WHERE key = NEW.key; END"
        )


DATABASE = f"cache/results-{VERSION}.sqlite"


class RunsWhenRead:
    """Its pickle makes a folder in the moment in which it is read."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("it-ran",)


def _each_value(changed: Callable[[bytes], object], path: str = DATABASE) -> None:
    with sqlite3.connect(path) as database:
        for key, value in database.execute("SELECT key, value FROM results").fetchall():
            row = (changed(value), key)
            database.execute("UPDATE results SET value = ? WHERE key = ?", row)


def sealed(data: bytes) -> bytes:
    """As the cache would have written it."""
    return crc32(data).to_bytes(4, "big") + data


HOSTILE: dict[str, Callable[[bytes], object]] = {
    "a pickle that runs something": lambda value: sealed(pickle.dumps(RunsWhenRead())),
    "the same without a checksum": lambda value: pickle.dumps(RunsWhenRead()),
    "another type": lambda value: sealed(b"\x81\xa1a\xc0"),
    "another type in it": lambda value: sealed(value[4:].replace(b"TEXT", b"\x93\x01\x02\x03")),
    "cut off": lambda value: sealed(value[4:-1]),
    "nothing": lambda value: b"",
    "too long": lambda value: sealed(value[4:] + b"\x00"),
    "not UTF-8": lambda value: sealed(value[4:].replace(b"TEXT", b"TE\xff\xff")),
    "nested deep": lambda value: sealed(b"\x91" * 1_000_000 + b"\x90"),
    "a list that says it is long": lambda value: sealed(b"\xdd\xff\xff\xff\xff"),
    "a map that says it is long": lambda value: sealed(b"\xdf\xff\xff\xff\xff"),
    "changed by the disk": lambda value: value.replace(b"TEXT", b"LIES").replace(b"text", b"lies"),
    "a text": lambda value: "text",
    "a number": lambda value: -1,
    "no value": lambda value: None,
}


@pytest.mark.parametrize("how", HOSTILE)
@pytest.mark.usefixtures("lasting_stamps")
def test_a_value_that_is_not_ours_is_not_there(files: list[str], how: str) -> None:
    """It runs nothing, the work is done anew, and the next run knows it again."""
    assert _run(files) == ("TEXT A, TEXT B, TEXT C", files)
    _each_value(HOSTILE[how])
    assert _run(files) == ("TEXT A, TEXT B, TEXT C", files)
    assert not Path("it-ran").exists()
    assert _run(files) == ("TEXT A, TEXT B, TEXT C", [])


@pytest.mark.parametrize(
    "spoil", [_broken_file, _of_an_earlier_version, _of_another_program, _with_a_trigger]
)
@pytest.mark.usefixtures("lasting_stamps")
def test_a_file_that_is_not_ours_is_not_there(files: list[str], spoil: Callable[[], None]) -> None:
    """It runs nothing, and is made anew by one of the next runs."""
    _run(files)
    spoil()
    assert _run(files) == ("TEXT A, TEXT B, TEXT C", files)
    assert not Path("it-ran").exists()
    _run(files)
    assert _run(files) == ("TEXT A, TEXT B, TEXT C", [])


REQUEST = Request(Catalog())
JOBS: dict[str, Job[Any]] = {
    "lint": lint_files.LintTask(REQUEST),
    "rewrite": runner.RewriteTask(REQUEST),
}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("how", HOSTILE)
def test_what_a_command_keeps_is_read_as_that_alone(job: str, how: str) -> None:
    """What is read from a cache is of the command's own type, or nothing."""
    changed = HOSTILE[how](sealed(packed(["TEXT"]) or b""))
    found = changed[4:] if isinstance(changed, bytes) else b""
    assert unpacked(found, JOBS[job].kept_type) is None


def test_a_finding_of_another_release_is_not_recalled() -> None:
    place = Place(Span(0, 1), 1, 1, 1, 2)
    found = Finding("DPP999", "a message", place, "", "", Severity.NOTE)
    kept = packed(((found,), ()))
    job = JOBS["lint"]
    assert unpacked(kept, job.kept_type) == ((found,), ())
    assert job.recall("a", None, unpacked(kept, job.kept_type)) is None


def test_all_of_the_program_is_in_the_fingerprint() -> None:
    root = Path(sqlrewrite.__file__).parent
    named = {Path(str(it[0])) for it in cache._program() if isinstance(it, tuple)}
    assert named >= set(root.rglob("*.py"))
    assert [it for it in named if it.name == "spark.toml"]


def test_a_fingerprint_tells_settings_and_catalogs_apart() -> None:
    one, other = Catalog.from_ddl(DDL), Catalog.from_ddl(DDL.replace("PARTITIONED BY (day)", ""))
    same = Catalog.from_ddl("CREATE TABLE t (a INT) USING parquet")
    found = [
        fingerprint(one, "lint", "spark"),
        fingerprint(one, "lint", "trino"),
        fingerprint(one, "rewrite", "spark"),
        fingerprint(other, "lint", "spark"),
        fingerprint(same, "lint", "spark"),
        fingerprint(Catalog(), "lint", "spark"),
    ]
    assert len(set(found)) == len(found)
    assert fingerprint(one, "lint", "spark") == found[0]


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
    assert Path("cache").exists()
    assert invoke(*command) == without


@pytest.mark.usefixtures("lasting_stamps")
def test_what_is_recalled_is_written(repository: Callable[[list[str]], None]) -> None:
    """Changed files, too, are recalled: what --write finds done before it has still to write."""

    def status(*words: str) -> int:
        return invoke(*words, "-q")[0]

    repository([f"{JOIN}1"])
    assert [status("--check"), status("--check")] == [1, 1]
    for _ in range(2):
        assert status("-w") == 0
        assert [MARKER in it.read_text() for it in Path("q").iterdir()] == [True] * WORTH
        assert status("--check") == 0
        repository([f"{JOIN}1"])  # as a checkout of the branch before does


@pytest.mark.parametrize("command", [("lint",), ("--check",)])
def test_another_folder_to_stand_in_knows_the_same(
    command: tuple[str, ...],
    repository: Callable[[list[str]], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The catalog's own path, as it is written from there, is nothing that a result depends on."""
    repository(["SELECT {n} FROM sales"])
    Path("pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = "ddl.sql"\n')
    done: list[str] = []

    def noted(of: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: str, data: bytes, request: Request, **given: Any) -> Any:
            done.append(path)
            return of(path, data, request, **given)

        return call

    for module, name in ((lint_files, "lint_file"), (runner, "run")):
        monkeypatch.setattr(module, name, noted(getattr(module, name)))

    def run(path: str) -> int:
        done.clear()
        CliRunner().invoke(program, [*command, "-j", "1", path])
        return len(done)

    assert (run("q"), run("q"), run(str(tmp_path / "q"))) == (WORTH, 0, 0)
    monkeypatch.chdir("q")
    assert (run("."), run("../q")) == (0, 0)
    Path("../ddl.sql").write_text(DDL.replace("amount INT", "amount DOUBLE"))
    assert run(".") == WORTH
