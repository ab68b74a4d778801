"""Bytes to text and back, places, insertions, diffs, and writing whole or not at all."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlrewrite.text.edits import Edit, apply
from sqlrewrite.text.source import (
    Lines,
    Source,
    SourceError,
    decode,
    unified_diff,
    write_atomically,
    write_file,
)


@pytest.mark.parametrize(
    ("data", "source"),
    [
        (b"", Source("")),
        (b"select 1\r\n", Source("select 1\r\n")),
        (b"\xef\xbb\xbfx", Source("x", bom=True)),
        (b"\xef\xbb\xbf\xef\xbb\xbfx", Source("\ufeffx", bom=True)),
        (b"-- \xe9\xff", Source("-- \udce9\udcff")),
        ("-- é😀".encode(), Source("-- é😀")),
        (b"\xed\xa0\x80", Source("\udced\udca0\udc80")),  # a surrogate, which is not UTF-8
        (b"\x00\r\r\n\x1a", Source("\x00\r\r\n\x1a")),
    ],
)
def test_bytes_become_text_and_the_same_bytes_again(data: bytes, source: Source) -> None:
    assert decode(data) == source
    assert source.encode() == data


def test_any_bytes_become_the_same_bytes_again() -> None:
    chance = random.Random(7)
    for _ in range(300):
        data = chance.randbytes(chance.randrange(40))
        assert decode(b"x" + data).encode() == b"x" + data


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("utf-16", "UTF-16"), ("utf-32", "UTF-32")],
)
def test_other_encodings_are_refused(encoding: str, name: str) -> None:
    with pytest.raises(SourceError, match=f"{name} text is not supported: save the file as UTF-8"):
        decode("select 1".encode(encoding))
    big_endian = f"{encoding}-be"
    with pytest.raises(SourceError, match=name):
        decode("\ufeffselect 1".encode(big_endian))


def test_a_place_is_a_line_and_a_column() -> None:
    text = "a\nbc\r\nd\re\n\nf😀g"
    lines = Lines(text)
    places = {character: lines.place(text.index(character)) for character in "abcdefg"}
    assert places == {
        "a": (1, 1),
        "b": (2, 1),
        "c": (2, 2),
        "d": (3, 1),
        "e": (4, 1),
        "f": (6, 1),
        "g": (6, 3),
    }
    assert lines.place(len(text)) == (6, 4)
    assert lines.place(text.index("\r\n") + 1) == (2, 4)  # within a line end: still its line
    assert Lines("").place(0) == (1, 1)


@pytest.mark.parametrize(
    ("edits", "result"),
    [
        pytest.param([], "abc", id="none"),
        pytest.param([Edit.at(0, "x"), Edit.at(3, "y")], "xabcy", id="both ends"),
        pytest.param([Edit.at(2, "y"), Edit.at(1, "x")], "axbyc", id="any order"),
        pytest.param(
            [Edit.at(1, "1"), Edit.at(2, "-"), Edit.at(1, "2")], "a12b-c", id="same offset"
        ),
    ],
)
def test_edits_are_applied_in_order(edits: list[Edit], result: str) -> None:
    assert apply("abc", edits) == result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\n", "a\nx b\n"),
        ("a\r\nb\r\n", "a\r\nx b\r\n"),
        ("a\nb", "a\nx b"),
        ("a\n", "a\nb"),
        ("a\rb\x0cc\u2028d\n", "a\rb\x0cc\u2028x d\n"),
        ("", "a"),
    ],
)
def test_patch_understands_the_diff(tmp_path: Path, before: str, after: str) -> None:
    diff = unified_diff(before, after, "q.sql")
    assert diff.startswith("--- q.sql\n+++ q.sql\n@@ ")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    file = tmp_path / "q.sql"
    file.write_bytes(before.encode())
    apply_diff = ["git", "apply", "-p0", "--unidiff-zero", "-"]
    subprocess.run(apply_diff, input=diff.encode(), cwd=tmp_path, check=True)
    assert file.read_bytes() == after.encode()


def test_the_same_text_has_no_diff() -> None:
    assert unified_diff("a\n", "a\n", "q.sql") == ""


def test_write_keeps_mode_and_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "q.sql", tmp_path / "link.sql"
    file.write_bytes(b"old")
    file.chmod(0o754)
    link.symlink_to(file)
    write_atomically(str(link), b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert link.is_symlink()
    assert os.listdir(tmp_path / "real") == ["q.sql"]


@pytest.mark.parametrize("step", ["os.replace", "os.chmod"])
def test_a_failed_write_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    file = tmp_path / "q.sql"
    file.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(str(file), b"new")
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["q.sql"]


@pytest.mark.parametrize("write", [write_file, write_atomically])
def test_what_is_to_end_waits_until_a_file_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[str, bytes], None]
) -> None:
    file, beside, replaced = tmp_path / "q.sql", list[list[str]](), os.replace
    if write is write_atomically:
        file.write_bytes(b"old")

    def ended(one: str, other: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        replaced(one, other)

    monkeypatch.setattr(os, "replace", ended)
    before = signal.signal(signal.SIGTERM, lambda *_: beside.append(os.listdir(tmp_path)))
    try:
        write(str(file), b"new")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (file.read_bytes(), beside) == (b"new", [["q.sql"]])


def test_a_read_only_file_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "q.sql"
    file.write_bytes(b"old")
    monkeypatch.setattr("os.access", lambda *_: False)  # as root, everything may be written
    with pytest.raises(PermissionError, match="the file is read-only"):
        write_atomically(str(file), b"new")
    assert file.read_bytes() == b"old"
