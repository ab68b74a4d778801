"""What an editor is told is what lint finds, in SQL and in other languages."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from sqlrewrite import Catalog, lint
from sqlrewrite.linting import files
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.proposed_columns import Proposals
from sqlrewrite.linting.selection import finding_filter
from sqlrewrite.server.actions import actions, everything
from sqlrewrite.server.analysis import Analysis, ServerProject, Workspace, analyse, hover
from sqlrewrite.settings.options import make_options
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.edits import apply
from sqlrewrite.text.hosts import host_of
from tests.text.hosts.test_notebooks import CALL, SQL, cell, notebook
from tests.text.hosts.test_python import CATALOG

OPTIONS = make_options()
QUERIES = Path(__file__).resolve().parents[2] / "fixtures" / "queries"


def linted(path: str, text: str, catalog: Catalog) -> Sequence[Finding]:
    host = host_of(path, text)
    if host is None:
        return lint(text, catalog)
    return files.lint_host(host, catalog, OPTIONS)[0]


def analysed(path: str, text: str, catalog: Catalog = CATALOG) -> Analysis:
    settings = Settings()
    project = ServerProject(settings, catalog, OPTIONS, finding_filter(settings))
    return analyse(path, text, project)


def check(path: str, text: str, catalog: Catalog) -> None:
    assert list(analysed(path, text, catalog).findings) == list(linted(path, text, catalog))


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(str(QUERIES / "ddl.sql"))


def test_files_of_sql(catalog: Catalog) -> None:
    paths = sorted(path for path in QUERIES.rglob("*.sql") if ".golden" not in path.name)
    for path in random.Random(16).sample(paths, 30):
        check("a.sql", path.read_text("utf-8", "surrogateescape"), catalog)


def test_files_of_python() -> None:
    text = notebook(cell(f"{SQL};\n{SQL}"), f"{CALL}\n", cell(SQL))
    for typed in ("", "x = 1\n", "df.createOrReplaceTempView('sales')\n", "("):
        head, rest = text.split("\n", 1)
        check("a.py", f"{head}\n{typed}{rest}", CATALOG)


def test_notebooks_of_sql() -> None:
    cells = (f"{SQL}\n", " %py\nit's none\n", "-- MAGIC %md it's none\n", f"{SQL};\n{SQL}\n")
    text = notebook(*cells, sign="--")
    check("a.sql", text, CATALOG)
    assert len(analysed("a.sql", text).findings) == 3


def test_a_hover_in_each_region_of_a_notebook() -> None:
    text = notebook(f"{SQL}\n", f"{SQL}\n", sign="--")
    for at in (text.index("sales s"), text.rindex("sales s")):
        hovered = hover(analysed("a.sql", text), at)
        assert hovered is not None
        assert hovered[1].start == at


def test_in_a_template_of_blocks_each_text_has_its_hover() -> None:
    text = f"{SQL}\n{{% if full %}} AND d.season < 'x' {{% endif %}}\n"
    hovered = hover(analysed("a.sql", text), text.index("sales"))
    assert hovered is not None
    shown, span = hovered
    assert shown.count("Could be pruned by") == 2
    assert shown.count("d2.season < 'x'") == 1
    assert text[span.start :].startswith("sales")
    assert hover(analysed("a.sql", text), text.index("{%")) is None


def test_of_many_findings_only_the_first_have_their_comments_tried() -> None:
    analysis = analysed("a.sql", f"{SQL};\n" * 10)
    titles = [action.title for action in actions(analysis, analysis.findings)]
    assert sum(title.startswith("Write") for title in titles) == 10
    assert sum(title.startswith("Suppress") for title in titles) == 4


def test_a_condition_that_the_author_may_choose(tmp_path: Path) -> None:
    """The files of a project say what a partition column is computed from. The condition that
    follows is offered, and no part of all fixes, as nothing tells that they alone write it."""
    for name, text in {
        "dpp-rewrite.toml": 'catalog = ["ddl.sql"]',
        "ddl.sql": "CREATE TABLE orders (id INT, at DATE, month DATE) USING parquet "
        "PARTITIONED BY (month)",
        "load.sql": "INSERT INTO orders SELECT s.id, s.at, trunc(s.at, 'MM') FROM s",
    }.items():
        (tmp_path / name).write_text(text)
    path, workspace = str(tmp_path / "q.sql"), Workspace(None, {}, isolated=False)
    sql = "SELECT id FROM orders o WHERE o.at = DATE '2024-05-03'\n"
    analysis = analyse(path, sql, workspace.of(path))
    chosen, _ = actions(analysis, analysis.findings)
    assert chosen.title == "Add the condition on o, if nothing else writes the table"
    assert not chosen.preferred
    assert not everything(analysis)
    written = sql.replace(
        "'2024-05-03'", "'2024-05-03' AND o.month = trunc(DATE '2024-05-03', 'MM')"
    )
    assert apply(sql, chosen.changes) == written
    assert not analyse(path, written, analysis.project).findings

    (tmp_path / "load.sql").write_text("INSERT INTO orders SELECT s.id, s.at, s.month FROM s")
    again = analyse(path, sql, workspace.of(path))
    assert again.findings == analysis.findings
    workspace.look_again()
    (action,) = actions(again := analyse(path, sql, workspace.of(path)), again.findings)
    assert action.title.startswith("Suppress")


def test_a_condition_to_choose_in_python(tmp_path: Path) -> None:
    (tmp_path / "load.sql").write_text(
        "INSERT INTO orders SELECT s.id, s.at, trunc(s.at, 'MM') FROM s"
    )
    catalog = Catalog.from_ddl(
        "CREATE TABLE orders (id INT, at DATE, month DATE) USING parquet PARTITIONED BY (month)"
    )
    settings, path = Settings(), str(tmp_path / "q.py")
    project = ServerProject(
        settings,
        catalog,
        OPTIONS,
        finding_filter(settings),
        Proposals([str(tmp_path / "load.sql")], catalog),
    )
    text = "spark.sql(\"SELECT id FROM orders WHERE at = DATE '2024-05-03'\")\n"
    analysis = analyse(path, text, project)
    chosen, *_ = actions(analysis, analysis.findings)
    assert "'2024-05-03' AND month = trunc(DATE '2024-05-03', 'MM')\")" in apply(
        text, chosen.changes
    )
