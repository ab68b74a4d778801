"""What an editor is told is what lint finds, whatever was typed before."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from sqlrewrite import Catalog, document, lint
from sqlrewrite.linting import host_files
from sqlrewrite.linting.findings import Finding
from sqlrewrite.server import analysis as module
from sqlrewrite.server.analysis import Reader, analyse
from sqlrewrite.server.hover import hover
from sqlrewrite.server.statement_pieces import pieces
from sqlrewrite.settings.options import make_options
from sqlrewrite.text.hosts import host_of
from tests.hosts.test_notebooks import CALL, SQL, cell, notebook
from tests.hosts.test_python import CATALOG

OPTIONS = make_options()
QUERIES = Path(__file__).resolve().parents[2] / "fixtures" / "queries"


def linted(path: str, text: str, catalog: Catalog) -> Sequence[Finding]:
    host = host_of(path, text)
    if host is None:
        return lint(text, catalog)
    return host_files.lint(host, catalog, OPTIONS)[0]


def check(path: str, text: str, catalog: Catalog, reader: Reader | None = None) -> None:
    done = analyse(path, text, catalog, OPTIONS, reader)
    assert list(done.findings) == list(linted(path, text, catalog))


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(str(QUERIES / "ddl.sql"))


def files() -> list[Path]:
    found = sorted(it for it in QUERIES.rglob("*.sql") if ".golden" not in it.name)
    return random.Random(16).sample(found, 90)


def test_many_statements_are_found_as_in_the_whole(catalog: Catalog) -> None:
    """Each file of some fixtures by itself, and several of them as one."""
    texts = [it.read_text("utf-8", "surrogateescape") for it in files()]
    for text in texts:
        check("a.sql", text, catalog)
    joined = [";\n".join(texts[at : at + 6]) for at in range(0, len(texts), 6)]
    for text in joined:
        check("a.sql", text, catalog)


def test_a_notebook_is_one_from_its_first_line_on(catalog: Catalog) -> None:
    cells = (QUERIES / "templates" / "cells.sql").read_text("utf-8")
    for text in (cells, f"SELECT 1;\n{cells}", f"{cells};\nSELECT 1"):
        check("a.sql", text, catalog)


SCRIPT = f"""\
SELECT 1;
{SQL};
CREATE TEMP VIEW one AS {SQL};
-- a note
{SQL.replace("sales s", "sales s -- dpp-rewrite: ignore")};
{SQL.replace("d.day = s.day", "d.day = s.day + 0")} AND upper(s.day) = 'x';
SELECT 'a;b', `c;d`, /* ; */ 1; {SQL}; SELECT * FROM one JOIN dates d ON one.item = d.day
"""
TYPED = (
    ";",
    "'",
    "/*",
    "/*+ ",
    "-- ",
    "\n",
    "SELECT",
    "`",
    "*/",
    "DROP TABLE sales;",
    "x",
    '"',
    "begin",
    "-- dpp-rewrite: off\n",
    "${x}",
    "{{ x }}",
    "{{ ref('sales') }}",
    "'{{ var(\"x\") }}'",
    "{{ x -}}",
    "é",
    "USE other;",
    "SET TIME ZONE 'Asia/Tokyo';",
)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_typed_is_found_as_if_it_had_always_stood_there(seed: int) -> None:
    draw, reader = random.Random(seed), Reader()
    text = SCRIPT
    for _ in range(40):
        at = draw.randrange(len(text) + 1)
        if draw.random() < 0.4:
            end = min(len(text), at + draw.choice((1, 3, 30)))
            text = text[:at] + text[end:]
        else:
            text = text[:at] + draw.choice(TYPED) + text[at:]
        check("a.sql", text, CATALOG, reader)
        if draw.random() < 0.3:
            text = SCRIPT


def test_files_of_python_too() -> None:
    reader = Reader()
    text = notebook(cell(f"{SQL};\n{SQL}"), f"{CALL}\n", cell(SQL))
    for typed in ("", "x = 1\n", "df.createOrReplaceTempView('sales')\n", "("):
        head, rest = text.split("\n", 1)
        check("a.py", f"{head}\n{typed}{rest}", CATALOG, reader)


def test_notebooks_of_sql_too() -> None:
    cells = (f"{SQL}\n", " %py\nit's none\n", "-- MAGIC %md it's none\n", f"{SQL};\n{SQL}\n")
    text, reader = notebook(*cells, sign="--"), Reader()
    for typed in ("", "SELECT 1\n", "x\n", "-- COMMAND ----------\n"):
        head, rest = text.split("\n", 1)
        check("a.sql", f"{head}\n{typed}{rest}", CATALOG, reader)
    whole = analyse("a.sql", text, CATALOG, OPTIONS)
    assert len(whole.pieces) == 3
    assert len(whole.findings) == 3


def test_templates_of_values_and_names_cut_nothing_short() -> None:
    text = "SELECT '{{ ds }}'; SELECT {{ var(\"a\") }}; SELECT 1"
    assert len(pieces(text)) == 3
    for whole in ("{{ 'a;b' }}", "{{ 'a--b' }}", "{{- x }}", "{% if a %}", "{{"):
        assert len(pieces(f"{text} {whole}")) == 1


def test_in_a_template_of_blocks_each_text_has_its_findings() -> None:
    text = f"{SQL}\n{{% if full %}} AND d.season < 'x' {{% endif %}}\n"
    found = hover(analyse("a.sql", text, CATALOG, OPTIONS), text.index("sales"))
    assert found is not None
    said, span = found
    assert said.count("Could be pruned by") == 2
    assert said.count("d2.season < 'x'") == 1
    assert text[span.start :].startswith("sales")
    assert hover(analyse("a.sql", text, CATALOG, OPTIONS), text.index("{%")) is None


def test_only_what_has_changed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, read = Reader(), list[str]()
    real = document.read

    def counted(sql: str, *given: object, **more: object) -> object:
        read.append(sql)
        return real(sql, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "read", counted)
    analyse("a.sql", SCRIPT, CATALOG, OPTIONS, reader)
    assert len(read) == len(pieces(SCRIPT))
    read.clear()
    analyse("a.sql", SCRIPT.replace("SELECT 1", "SELECT\n 12"), CATALOG, OPTIONS, reader)
    # The one that was typed into, and the one of which it is told in which line something stands.
    assert ["SELECT\n 12" in it or "upper(" in it for it in read] == [True, True]
    read.clear()
    analyse("a.sql", SCRIPT.replace("TEMP VIEW one", "TEMP VIEW two"), CATALOG, OPTIONS, reader)
    assert any("VIEW two" in it for it in read)
    assert any("FROM one" in it for it in read)  # which depends on it
    assert not any("SELECT\n 12" in it or "-- a note" in it for it in read)


def test_a_view_of_a_view_is_read_again() -> None:
    first = "CREATE TEMP VIEW a AS SELECT {} AS day, 1 AS item;\n"
    text = first + f"CREATE TEMP VIEW sales AS SELECT * FROM a;\n{SQL};\nSELECT 1 FROM dates;\n"
    reader = Reader()
    for query in ("1", "'x'", "1", "day FROM sales --"):
        check("a.sql", text.format(query), CATALOG, reader)


@pytest.mark.parametrize("seed", range(3))
def test_pieces_are_those_of_the_text_alone(seed: int) -> None:
    draw, text, before = random.Random(seed), SCRIPT, list[str]()
    for _ in range(200):
        at = draw.randrange(len(text) + 1)
        end = min(len(text), at + draw.randrange(4))
        text = text[:at] + draw.choice((*TYPED, "")) + text[end:]
        before = pieces(text, before)
        assert before == pieces(text)
        assert "".join(before) == text
        text = SCRIPT if len(text) > 2 * len(SCRIPT) or draw.random() < 0.05 else text
