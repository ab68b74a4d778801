"""docs/ is true: what code cites is there, its SQL is SQL, and its examples do what it says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.stripping import stripped

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FIXTURES = ROOT / "fixtures" / "queries"

_CITATION = re.compile(r'\bdocs/(\w+\.md)(?:,\s+"([^"]+)")?')
_LINK = re.compile(r'\]\((?!http)([^)#]+)\)(?:, "([^"]+)")?')
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```sql (\S+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_KIND = re.compile(r"^### (\d+)\. (.+?)\n(.*?)(?=^### |\Z)", re.DOTALL | re.MULTILINE)

# Where the project was planned, before docs/ was there; a test may read the corpus beside it.
_ELSEWHERE = re.compile(r"\b(SOUNDNESS|SPARK_FACTS|DESIGN|CONTRACT|FIELD|STYLE)\.md|\.\./shared")
_READS_THE_CORPUS = re.compile(r"\.\./shared/corpus")


@cache
def _texts() -> dict[str, str]:
    """The text files of the repository, this one left out."""
    names = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.toml", "*.sql", "*.yaml", ".ci/*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\n")
    if names == [""]:
        pytest.skip("not a git checkout")
    own = Path(__file__).relative_to(ROOT).as_posix()
    paths = {name: ROOT / name for name in names if name not in ("", own)}
    return {name: path.read_text("utf-8", "replace") for name, path in paths.items()}


def _plain(text: str) -> str:
    """A text with comment marks and line ends inside of sentences taken for spaces."""
    return re.sub(r"\s*\n\s*(?:#|--)?\s*", " ", text)


@cache
def _headings(name: str) -> frozenset[str]:
    return frozenset(_HEADING.findall((DOCS / name).read_text("utf-8")))


def _missing(citation: tuple[str, str]) -> bool:
    name, heading = citation
    return not (DOCS / name).is_file() or bool(heading and heading not in _headings(name))


def test_what_is_cited_is_there() -> None:
    citations = {name: _CITATION.findall(_plain(text)) for name, text in _texts().items()}
    assert sum(map(len, citations.values())) > 30
    wrong = [(name, path) for name, cited in citations.items() for path in cited if _missing(path)]
    assert not wrong


def test_what_the_docs_cite_of_each_other_is_there() -> None:
    for path in DOCS.glob("*.md"):
        for target, heading in _LINK.findall(path.read_text("utf-8")):
            assert (DOCS / target).exists(), (path.name, target)
            assert not heading or heading in _headings(target), (path.name, target, heading)


def test_paths_that_the_docs_name_are_there() -> None:
    for path in DOCS.glob("*.md"):
        text = path.read_text("utf-8")
        named = re.findall(r"`((?:tests|sqlrewrite|rules|benchmarks|fixtures)/[\w./]*)`", text)
        assert not [name for name in named if not (ROOT / name).exists()], path.name


def test_nothing_outside_of_the_repository_is_cited() -> None:
    for name, text in _texts().items():
        ours = _READS_THE_CORPUS.sub("", text) if name.startswith("tests/") else text
        assert not _ELSEWHERE.search(ours), (name, _ELSEWHERE.search(ours))


# The fourteen kinds


def kinds() -> Iterator[tuple[int, str, dict[str, str]]]:
    """Each kind's number, title and examples, by what they are."""
    text = (DOCS / "soundness.md").read_text("utf-8").partition("## The fourteen kinds")[2]
    for number, title, body in _KIND.findall(text):
        examples = {f"{kind}{more}": sql.strip() for kind, more, sql in _BLOCK.findall(body)}
        yield int(number), title, examples


def block(kind: str) -> str:
    """The one block of that kind."""
    text = (DOCS / "soundness.md").read_text("utf-8")
    (block_text,) = (str(sql) for name, _, sql in _BLOCK.findall(text) if name == kind)
    return block_text


@cache
def _catalog() -> Catalog:
    return Catalog.from_ddl(block("tables"))


def test_there_are_fourteen() -> None:
    assert [number for number, _, _ in kinds()] == list(range(1, 15))


@pytest.mark.parametrize(
    "examples", [pytest.param(examples, id=f"{number}") for number, _, examples in kinds()]
)
def test_a_counter_example_is_left_alone_and_its_neighbour_is_not(
    examples: dict[str, str],
) -> None:
    assert rewrite(examples["neighbour"], _catalog()).changed
    assert not rewrite(examples["counter-example"], _catalog()).changed
    assert not stripped(examples["counter-example"]).changed


def test_the_fixtures_of_a_kind_are_there_and_do_what_is_said() -> None:
    text = (DOCS / "soundness.md").read_text("utf-8").partition("## The fourteen kinds")[2]
    matches = re.findall(r"^Fixtures left alone: (.+?); rewritten: (.+?)\.$", text, re.MULTILINE)
    assert len(matches) == 13  # of the last a whole test module is named
    for column, changed in ((0, False), (1, True)):
        for name in re.findall(
            r"`([a-z]+/[a-z_]+)`(?! \()", " ".join(match_[column] for match_ in matches)
        ):
            query = FIXTURES / f"{name}.sql"
            assert (
                query.read_bytes() != query.with_suffix(".golden.sql").read_bytes()
            ) == changed, name
