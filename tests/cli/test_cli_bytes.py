"""Files as bytes through the command line: whatever they hold, no traceback, and no byte changes
but by an insertion."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqlrewrite.cli.commands import program
from sqlrewrite.text.markers import MARKER
from tests.support.cases import QUERIES, query_cases
from tests.support.stable_draws import Draws
from tests.support.strip_by_markers import without_predicates
from tests.support.turns import turn

DDL = QUERIES / "ddl.sql"
QUERY = b"SELECT s.id FROM sales s\nJOIN dates d ON s.day = d.day\nWHERE d.year = 2024\n"
PREDICATE = (
    b"AND s.day IN (SELECT /*+ BROADCAST(d2) */ d2.day FROM dates AS d2 "
    b"WHERE d2.year = 2024) /* dpp-rewrite */"
)
BOM = b"\xef\xbb\xbf"

# What must be rewritten all the same.
REWRITTEN = {
    "plain": QUERY,
    "bom": BOM + QUERY,
    "crlf": QUERY.replace(b"\n", b"\r\n"),
    "bom and crlf": BOM + QUERY.replace(b"\n", b"\r\n"),
    "no final newline": QUERY.rstrip(),
    "crlf, no final newline": QUERY.rstrip().replace(b"\n", b"\r\n"),
    "carriage returns alone": QUERY.replace(b"\n", b"\r"),
    "latin-1 in a comment": b"-- caf\xe9 \xff\n" + QUERY,
    "latin-1 in a comment behind": QUERY.rstrip() + b" -- caf\xe9\n",
    "latin-1 in a string": QUERY.rstrip() + b" AND s.id <> 'caf\xe9'\n",
    "half a utf-8 letter": b"-- \xc3\n" + QUERY,
    "a surrogate in utf-8": b"-- \xed\xa0\x80\n" + QUERY,
    "beyond the bmp": "-- 🙂🙂\n".encode() + QUERY,
    "combining and right-to-left": "-- e\u0301 \u202eabc\n".encode() + QUERY,
    "nul in a comment": b"-- a\x00b\n" + QUERY,
    "a second mark": BOM + b"-- " + BOM + b"\n" + QUERY,
    "form feed": QUERY.replace(b"WHERE", b"\x0cWHERE"),
    "a line separator in a comment": "-- a\u2028b\u0085c\n".encode() + QUERY,
    "blank lines around": b"\n\r\n \t\n" + QUERY + b"\n \n\r\n",
    "semicolons around": b";;" + QUERY + b";;\n;",
}

# What holds nothing to rewrite, or cannot be read.
LEFT_ALONE = {
    "empty": b"",
    "a mark alone": BOM,
    "blanks": b" \t\r\n\n",
    "a comment": b"-- nothing\n",
    "a comment without end of line": b"-- nothing",
    "block comments": b"/* a */ /* b\r\n */",
    "a semicolon": b";",
    "semicolons": b" ; ;\r\n;",
    "a comment and a semicolon": b"-- nothing\n;\n",
    "nul": b"\x00",
    "nul in a query": QUERY.replace(b"WHERE", b"WH\x00ERE"),
    "all bytes": bytes(range(256)),
    "utf-16": QUERY.decode().encode("utf-16"),
    "utf-32": QUERY.decode().encode("utf-32"),
    "an open string": QUERY.rstrip() + b" AND s.id = 'x\n",
    "an open comment": QUERY.rstrip() + b" /* x\n",
    "queries behind an open comment": b"SELECT 1 /* x;\n" + QUERY.rstrip() + b";\n" + QUERY,
    "queries behind an open string": b"SELECT 'x;\n" + QUERY.rstrip() + b";\n" + QUERY,
    "a blank name first": b"` ` " + QUERY,
    "an open name": QUERY.rstrip() + b" AND `x\n",
    "parentheses": b"(" * 3000,
    "closed parentheses": b"SELECT " + b"(" * 3000 + b"1" + b")" * 3000,
    "no words": b"'; -- \xe9 \" ` /*",
}


def cli(*args: str, data: bytes | None = None) -> Result:
    """The program in this process; an exception that leaves it is a failure."""
    result = CliRunner().invoke(program, ["-c", str(DDL), *args], input=data)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    assert "DPP999" not in result.stderr
    return result


def bare(data: bytes) -> bytes:
    """The bytes without insertions."""
    return without_predicates(data.decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )


@pytest.mark.parametrize("data", REWRITTEN.values(), ids=list(REWRITTEN))
def test_bytes_around_the_predicate_stay(data: bytes, tmp_path: Path) -> None:
    result = cli("-", data=data)
    assert result.exit_code == 0
    assert result.stdout_bytes.count(PREDICATE) == 1
    assert bare(result.stdout_bytes) == data
    assert cli("-", data=result.stdout_bytes).stdout_bytes == result.stdout_bytes
    assert_line_ends(data, result.stdout_bytes)
    file = tmp_path / "q.sql"
    file.write_bytes(data)
    assert cli("-w", str(file)).exit_code == 0
    assert file.read_bytes() == result.stdout_bytes


APPLY = {
    "git": ["git", "apply", "-p0", "-"],
    "patch": ["patch", "-p0", "--silent", "--no-backup-if-mismatch"],
}


def apply_diff(tool: str, diff: bytes, folder: Path) -> None:
    """Applies a patch in a folder, where no git repository of its own stands in the way."""
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    ran = subprocess.run(APPLY[tool], input=diff, cwd=folder, env=env, capture_output=True)
    assert ran.returncode == 0, (ran.stdout, ran.stderr, diff)


@pytest.mark.parametrize("tool", APPLY)
@pytest.mark.parametrize("data", REWRITTEN.values(), ids=list(REWRITTEN))
def test_a_diff_makes_what_writing_makes(
    data: bytes, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.sql").write_bytes(data)
    apply_diff(tool, cli("--diff", "q.sql").stdout_bytes, tmp_path)
    assert Path("q.sql").read_bytes() == cli("-", data=data).stdout_bytes
    assert os.listdir() == ["q.sql"]


@pytest.mark.parametrize("tool", APPLY)
@pytest.mark.parametrize(
    "name",
    [
        b"a query.sql",
        b"  two  spaces .sql",
        b"a folder/a query.sql",
        b"folder/query.sql",
        b"a\tb.sql",
        b"a\nb.sql",
        b"a\rb c.sql",
        b'"a" b.sql',
        b"a\\b.sql",
        b"\x01\x7f.sql",
        b"caf\xc3\xa9.sql",
        b"caf\xe9.sql",
        b"caf\xe9\t.sql",
    ],
)
def test_a_diff_of_a_file_of_any_name_applies(
    name: bytes, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = os.fsdecode(name)
    try:
        if os.path.dirname(path):
            os.mkdir(os.path.dirname(path))
        Path(path).write_bytes(QUERY)
    except OSError:
        pytest.skip("the file system takes no such name")
    apply_diff(tool, cli("--diff", path).stdout_bytes, tmp_path)
    assert Path(path).read_bytes() == cli("-", data=QUERY).stdout_bytes


def assert_line_ends(before: bytes, after: bytes) -> None:
    """A file of CRLF alone stays one."""
    if b"\r\n" in before and not re.search(rb"(?<!\r)\n", before):
        assert not re.search(rb"(?<!\r)\n", after)


@pytest.mark.parametrize("data", LEFT_ALONE.values(), ids=list(LEFT_ALONE))
def test_what_is_not_rewritten_keeps_its_bytes(data: bytes, tmp_path: Path) -> None:
    result = cli("-", data=data)
    assert result.exit_code in (0, 2)
    assert result.stdout_bytes == data
    file = tmp_path / "q.sql"
    file.write_bytes(data)
    cli("-w", str(file))
    assert file.read_bytes() == data
    assert cli("--diff", "-", data=data).stdout_bytes == b""
    assert cli("--check", "-", data=data).exit_code in (0, 2)


def test_mutilated_files_get_insertions_or_nothing() -> None:
    """Bytes dropped, doubled and exchanged in the fixtures' own queries: insertions or nothing."""
    cases = Draws({case.name: case.sql.read_bytes() for case in query_cases()})
    for number in turn(range(240), 4):
        rng = random.Random(f"20/{number}")
        data = bytearray(cases.draw(rng))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            piece = rng.choice([b"", b"\x00", b"'", b"`", b"(", b"*/", b"\r", b"\xe9", b";", b"--"])
            data[at : at + rng.randint(0, 2)] = piece
        before = bytes(data)
        if MARKER.encode() in before:
            continue  # taking out what an author has broken is another matter
        result = cli("-q", "-", data=before)
        assert bare(result.stdout_bytes) == before, f"number {number}: {before!r}"


def test_as_a_process(tmp_path: Path) -> None:
    """The pipes of a real process carry bytes as well."""
    data = BOM + b"-- caf\xe9\r\n" + QUERY.replace(b"\n", b"\r\n")
    command = [sys.executable, "-m", "sqlrewrite", "-q", "-c", str(DDL), "-"]
    ran = subprocess.run(command, input=data, capture_output=True, check=True)
    assert ran.stderr == b""
    assert bare(ran.stdout) == data
    assert PREDICATE in ran.stdout


def test_bytes_of_latin_1_are_shown_as_characters_and_noted_once(tmp_path: Path) -> None:
    path = tmp_path / "q.sql"
    path.write_bytes(b"-- \xe9 \xff\n" + QUERY.rstrip() + b" AND d.season = 'caf\xe9'\n")
    result = CliRunner().invoke(program, ["-c", str(DDL), str(path)])
    assert "season = 'caf\xe9'" in result.stderr
    assert "udc" not in result.stderr
    assert result.stderr.count("bytes that are not UTF-8") == 1
    path.write_bytes(QUERY)
    assert "not UTF-8" not in CliRunner().invoke(program, ["-c", str(DDL), str(path)]).stderr
