"""SQL of other people: the rewriter survives all of it, and changes nothing but by insertions.

The corpus (sqlfluff's own test inputs for Spark SQL and Hive) is not part of the project: it is
read from ``../shared/corpus`` where that is there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.text.source import decode
from tests.support.cases import tree_problem
from tests.support.strip_by_markers import without_predicates
from tests.support.turns import turn

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
FILES = sorted(CORPUS.rglob("*.sql"))
TODAY = set(turn(FILES, 6))

pytestmark = pytest.mark.skipif(not FILES, reason=f"no corpus in {CORPUS}")


@pytest.fixture(scope="module", params=["retail", "empty"])
def catalog(request: pytest.FixtureRequest) -> Catalog:
    if request.param == "empty":
        return Catalog()
    return Catalog.load(str(ROOT / "fixtures" / "retail" / "ddl.sql"))


@pytest.mark.parametrize(
    "path",
    [path if path in TODAY else pytest.param(path, marks=pytest.mark.longest) for path in FILES],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_a_file_of_the_corpus(path: Path, catalog: Catalog) -> None:
    text = decode(path.read_bytes()).text
    result = rewrite(text, catalog)
    assert not [problem for problem in result.errors if problem.code != "DPP000"]
    if result.sql != text:
        assert without_predicates(result.sql) == text
        assert tree_problem(text, result) is None
        assert rewrite(result.sql, catalog).sql == result.sql
