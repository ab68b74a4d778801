"""``lint --add-suppressions``: comments at the ends of lines, where they do what they are for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, beside_catalog

DDL = """\
CREATE TABLE sales (id INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE calendar (day DATE, year INT) USING parquet;
"""
REST = "JOIN calendar c ON s.day = c.day WHERE c.year = 2000;\n"
OURS = "-- dpp-rewrite: ignore[DPP001]"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    return beside_catalog(monkeypatch, tmp_path, DDL)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(f"SELECT 1 FROM sales s\n{REST}", f"sales s  {OURS}\n", id="plain"),
        pytest.param(f"SELECT 1\r\nFROM sales s\r\n{REST}", f"sales s  {OURS}\r\n", id="crlf"),
        pytest.param(f"SELECT 1 FROM sales s {REST}".strip(), f"= 2000;  {OURS}", id="no-line-end"),
        pytest.param(
            f"SELECT 1 FROM sales s -- it's\n{REST}", f"s -- it's  {OURS}\n", id="comment"
        ),
        pytest.param(
            f"SELECT 1 FROM sales s -- dpp-rewrite: ignore[DPP007] why\n{REST}",
            "s -- dpp-rewrite: ignore[DPP007, DPP001] why\n",
            id="codes",
        ),
        pytest.param(
            f"SELECT 1 FROM {{{{ ref('sales') }}}} s\n{REST}", f"s  {OURS}\n", id="template"
        ),
    ],
)
def test_where_the_comment_goes(run: Callable[..., Ran], before: str, after: str) -> None:
    Path("q.sql").write_bytes(before.encode())
    assert run("lint", "q.sql").status == 1
    ran = run("lint", "--add-suppressions", "q.sql")
    assert (ran.status, ran.out) == (0, b"")
    assert "1 finding suppressed in 1 file" in ran.err
    assert after in Path("q.sql").read_bytes().decode()
    assert run("lint", "--select", "DPP001", "q.sql").status == 0
    assert run("--check", "q.sql").status == 0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"SELECT 1 FROM sales s /* a\nb */ {REST}", id="in-a-comment"),
        pytest.param(f"SELECT 1 FROM sales s, (SELECT 'a\nb') t {REST}", id="in-a-string"),
        pytest.param(f"SELECT 1 FROM {{{{ ref(\n'sales') }}}} s {REST}", id="in-a-template"),
    ],
)
def test_where_none_can_stand(run: Callable[..., Ran], text: str) -> None:
    """The others of the file get theirs."""
    Path("q.sql").write_text(text + f"SELECT 2 FROM sales s\n{REST}")
    ran = run("lint", "--add-suppressions", "q.sql")
    assert ran.status == 0
    assert "q.sql:1:" in ran.err
    assert "(not suppressed: no comment at the end of its line does that" in ran.err
    assert Path("q.sql").read_text() == text + f"SELECT 2 FROM sales s  {OURS}\n{REST}"


PYTHON = """\
spark.sql(\"\"\"SELECT 1 FROM sales s
JOIN calendar c ON s.day = c.day WHERE c.year = 2000\"\"\")
spark.sql("SELECT 1 FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2000")
"""


def test_in_a_file_of_python(run: Callable[..., Ran]) -> None:
    """Within the SQL there, and not behind a literal, where it would be Python."""
    Path("q.py").write_text(PYTHON)
    assert run("lint", "--add-suppressions", "q.py").status == 0
    done = PYTHON.replace("sales s\n", f"sales s  {OURS}\n").replace(
        '2000")\n', f'2000  {OURS}")\n'
    )
    assert Path("q.py").read_text() == done
    assert "0 findings suppressed" in run("lint", "--add-suppressions", "q.py").err


@pytest.mark.parametrize(
    ("literal", "count"), [('f"{}"', 1), ('"{}".format(x)', 1), ('"{}" + x', 0)]
)
def test_in_a_literal_of_python(run: Callable[..., Ran], literal: str, count: int) -> None:
    """At the end of the SQL, if that is in the literal."""
    text = "SELECT 1 FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2000 "
    Path("q.py").write_text(f"spark.sql({literal.replace('{}', text)})\n")
    run("lint", "--add-suppressions", "q.py")
    assert Path("q.py").read_text().count(OURS) == count


def test_only_what_counts(run: Callable[..., Ran]) -> None:
    """What the settings leave out, or the baseline knows, gets none."""
    text = f"SELECT 1 FROM sales s\n{REST}SELECT id FROM sales\n"
    Path("q.sql").write_text(text)
    assert run("lint", "--add-suppressions", "--ignore", "DPP001", "q.sql").status == 0
    assert Path("q.sql").read_text() == text.rstrip() + "  -- dpp-rewrite: ignore[DPP007]\n"
    assert run("lint", "--write-baseline", "q.sql").status == 0
    assert "0 findings suppressed" in run("lint", "--add-suppressions", ".").err


def test_what_cannot_be_read_or_written(run: Callable[..., Ran]) -> None:
    ran = run("lint", "--add-suppressions", "none.sql")
    assert (ran.status, "none.sql: error: cannot be read" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--write-baseline", "q.sql"), "--add-suppressions cannot go with --write-baseline"),
        (("--statistics", "q.sql"), "--add-suppressions cannot go with --statistics"),
        (("--watch", "q.sql"), "--add-suppressions cannot go with --watch"),
        (("--format", "json", "q.sql"), "--add-suppressions cannot go with --format json"),
        (("-",), "--add-suppressions needs files"),
    ],
)
def test_what_it_cannot_go_with(
    run: Callable[..., Ran], options: tuple[str, ...], message: str
) -> None:
    ran = run("lint", "--add-suppressions", *options)
    assert ran.status == 2
    assert message in ran.err
