"""Rewriting a template and rendering it may change places: on every query of the fixtures, with a
``ref`` in place of each table's name in a FROM."""

from __future__ import annotations

import re

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.warehouse import Name
from tests.support.cases import Case, catalog, query_cases, retail_cases
from tests.support.strip_by_markers import LEXEME, void
from tests.support.turns import turn

pytestmark = pytest.mark.long

# In a template a hint ends at its first `*/`, also in a string: such a text is left alone.
_NOT_PLAIN = re.compile(
    r"\{[{%#]|\$\{|dpp-rewrite|\b(?:create|use|drop)\b|/\*\+[^)]*'\*/'", re.IGNORECASE
)
_REF = re.compile(r"\{\{ ref\('(\w+)'\) \}\}")

CASES = turn([c for c in (*query_cases(), *retail_cases()) if not _NOT_PLAIN.search(c.text())], 9)


def tables(known: Catalog) -> dict[str, Name]:
    """The relations that a ref can name without a manifest."""
    names = {name[-1]: name for name in known.relations if len(name) > 1}
    return {last: name for last, name in names.items() if known.refer(("ref", last)) == name}


def templated(text: str, names: dict[str, Name]) -> str:
    """The text with a ref for each name of a table, unless a CTE may be meant."""
    lexemes = [match.group() for match in LEXEME.finditer(text)]
    places = [index for index, lexeme in enumerate(lexemes) if not void(lexeme)]
    words = ["", *(lexemes[index].lower() for index in places), "", ""]
    ctes = {words[n] for n in range(len(places)) if words[n + 1 : n + 3] == ["as", "("]}
    for number, index in enumerate(places, start=1):
        before, word, behind = words[number - 1 : number + 2]
        if word in names and word not in ctes and before in ("from", "join", ",") and behind != ".":
            lexemes[index] = f"{{{{ ref('{word}') }}}}"
    return "".join(lexemes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rewriting_and_rendering_may_change_places(case: Case) -> None:
    loaded = catalog(case.ddl)
    names = tables(loaded)

    def rendered(text: str) -> str:
        return _REF.sub(lambda match: ".".join(names[match.group(1)]), text)

    template = templated(case.text(), names)
    result, plain = rewrite(template, loaded), rewrite(rendered(template), loaded)
    assert rendered(result.sql) == plain.sql
    assert [c.verdict for c in result.candidates] == [c.verdict for c in plain.candidates]


def test_there_is_something_to_see() -> None:
    results = [rewrite(templated(c.text(), tables(catalog(c.ddl))), catalog(c.ddl)) for c in CASES]
    assert sum(result.changed and "{{ ref('" in result.sql for result in results) > 20
