"""What tells, without reading it, that a file has changed."""

from __future__ import annotations

import os
from pathlib import Path

from sqlrewrite.run.file_content import stamps


def test_a_file_of_the_same_time_and_another_size_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "ddl.sql"
    path.write_text("CREATE TABLE t (a INT)")
    before, status = stamps([str(path)]), path.stat()
    assert stamps([str(path)]) == before
    path.write_text("CREATE TABLE t (a INT, b INT)")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert stamps([str(path)]) != before


def test_a_file_that_takes_another_s_place_has_changed(tmp_path: Path) -> None:
    path, other = tmp_path / "a.sql", tmp_path / "b.sql"
    path.write_text("SELECT 1")
    other.write_text("SELECT 2")
    status = path.stat()
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    before = stamps([str(path)])
    other.replace(path)
    assert stamps([str(path)]) != before


def test_a_file_that_comes_or_goes_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    assert stamps([str(path)]) == {}
    path.write_text("SELECT 1")
    there = stamps([str(path)])
    assert there.keys() == {str(path)}
    path.unlink()
    assert stamps([str(path)]) == {} != there
