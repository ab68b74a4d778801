"""Each code of lint has a page, and the page's examples are found, or not, as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.findings import CODES
from sqlrewrite.linting.linter import lint
from sqlrewrite.rulebook import Page, pages
from sqlrewrite.settings.options import make_options
from tests.test_rule_pages import CATALOG

_BLOCK = re.compile(r"^```sql (catalog|found|fine)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^```(.*)$", re.MULTILINE)

PAGES = [page for page in pages() if page.kind == "lint"]


def test_each_code_has_a_page() -> None:
    assert [(page.code, page.name) for page in PAGES] == [(rule.code, rule.name) for rule in CODES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_a_page_has_its_parts(page: Page) -> None:
    for heading in ("What it checks", "Why", "Examples", "What to do", "References"):
        assert f"\n## {heading}\n" in page.text
    severity = next(rule.severity for rule in CODES if rule.code == page.code).value
    assert f"Severity: {severity}" in page.text.replace("\n", " ")
    kinds = [kind for kind, _ in _BLOCK.findall(page.text)]
    assert "found" in kinds
    assert "fine" in kinds
    assert len(_FENCE.findall(page.text)) == 2 * len(kinds)
    assert not [line for line in _BLOCK.sub("", page.text).splitlines() if len(line) > 100]


def _examples() -> list[object]:
    examples: list[object] = []
    for page in PAGES:
        blocks = _BLOCK.findall(page.text)
        ddl = "".join(text for kind, text in blocks if kind == "catalog") or CATALOG
        for number, (kind, text) in enumerate(block for block in blocks if block[0] != "catalog"):
            examples.append(pytest.param(page.code, ddl, kind, text, id=f"{page.code} {number}"))
    return examples


@pytest.mark.parametrize(("code", "ddl", "kind", "text"), _examples())
def test_an_example_is_as_the_page_says(
    tmp_path: Path, code: str, ddl: str, kind: str, text: str
) -> None:
    engine = "trino" if code == "DPP012" else "spark"
    catalog, path = Catalog.from_ddl(ddl), tmp_path / "models" / "fct.sql"
    if code == "DPP014":  # its examples are models
        path.parent.mkdir()
        path.write_text(text, "utf-8")
        (tmp_path / "dbt_project.yml").write_text("name: shop\n")
        catalog = Catalog.load(str(tmp_path))
    findings, failures = lint(text, catalog, make_options(engine=engine), str(path))
    assert failures == ()
    codes = [finding.code for finding in findings if finding.suppression is None]
    if kind == "found":
        assert code in codes
    else:
        assert code not in codes
    if kind == "fine" and code != "DPP001":
        assert not {"DPP000", "DPP008", "DPP009"} & set(codes)
