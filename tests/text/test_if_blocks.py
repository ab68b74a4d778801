"""Texts with ``{% if %}`` blocks: what they render to, and that a rewriting is right in all of it.

Jinja itself is the referee: whatever a rewritten text renders to is what the rewriter would make of
the text that the original renders to, or that text itself.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from sqlrewrite import Catalog, Verdict, lint, rewrite
from sqlrewrite.run.file_rewriting import Request, run
from sqlrewrite.stripping import stripped
from sqlrewrite.text.blocks import renderings
from tests.support.strip_by_markers import without_predicates

CATALOG = Catalog.load(
    str(Path(__file__).parents[2] / "fixtures" / "dbt" / "target" / "manifest.json")
)
HEAD = """\
select s.id
from {{ ref('fct_sales') }} s
join {{ ref('dim_dates') }} d on d.day = s.day
"""
TAIL = "where d.year = 2024\n"
OTHER_JOIN = HEAD.replace("join", "{% if x %}left{% endif %} join").strip() + " and d.year = 2024"
X, INCREMENTAL, END = "{% if x %}", "{% if is_incremental() %}", "{% endif %}"
OTHER = "join {{ ref('dim_dates') }} e on e.day = d.day "
NEW = "and s.day > (select max(day) from {{ this }})"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", []),
        ("a {% if x %}b{% endif %}", ["a", "a b"]),
        ("{% if x %}b{% else %}c d{% endif %}", ["b", "c d"]),
        ("{% if x %}a{% elif y %}b b{% endif %}", ["", "a", "b b"]),
        ("{% if x %}a {% if y %}b{% endif %}{% else %}c c c{% endif %}", ["a", "a b", "c c c"]),
        ("{% if flags.X %}a{% endif %} {% if flags.X %}b{% endif %}", ["", "a b"]),
        ("{% if not var('x') %}a{% endif %} {% if var('x') %}b c{% endif %}", ["a", "b c"]),
        ("{% if f() %}a{% endif %} {% if f() %}b{% endif %}", ["", "a", "b", "a b"]),
        ("{# {% if x %} #}a{% if y %}b{% endif %}", ["{# {% if x %} #}a", "{# {% if x %} #}a b"]),
        ("{% for x in y %}{% if x %}a{% endif %}{% endfor %}", []),
        ("{% raw %}{% if x %}a{% endif %}{% endraw %}", []),
        ("{% if x %}a", []),
        ("{% endif %}{% if x %}a{% endif %}", []),
        ("{% if x == '%}' %}a{% endif %}", ["", "a"]),
        ("{% if a %}{% endif %}" * 4, [""]),
        ("{% set x = var('y') %}{% if x %}{% endif %}", ["{% set x = var('y') %}"]),
        ("{% set target = f() %}{% if target.a %}a{% endif %}", []),
        ("{% macro is_incremental() %}{% endmacro %}{% if x %}a{% endif %}", []),
        ("".join(f"{{% if x{n} %}}a{{% endif %}}" for n in range(5)), []),
    ],
)
def test_what_a_text_renders_to(text: str, found: list[str]) -> None:
    every = renderings(text)
    assert sorted(" ".join(text.text.split()) for text in every) == sorted(found)
    assert all(len(rendering.text) == len(text) for rendering in every)


@pytest.mark.parametrize(
    "text",
    [
        "{% if x %}" * 50_000,
        "{% if x %}a{% endif %}" * 20_000,
        "{% if x %}" * 10_000 + "{% endif %}" * 10_000,
        "{% '" * 100_000,
        "{% if x %}a{% endif %}" + "{% a " * 100_000,
        "{% set x" * 100_000,
        "{{ ' }}" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_what_would_take_for_ever(text: str) -> None:
    assert renderings(text) == ()


def rendered(text: str, *, trim: bool = False, **known: Any) -> str:
    """What dbt makes of a text; ``known`` are what its conditions ask."""
    environment = Environment(trim_blocks=trim, lstrip_blocks=trim, keep_trailing_newline=True)
    names = {"fct_sales": "lake.mart.fct_sales", "dim_dates": "lake.mart.dim_dates"}
    return environment.from_string(text).render(
        ref=lambda name: names.get(name, f"lake.mart.{name}"),
        this="lake.mart.made",
        is_incremental=lambda: known.get("incremental", False),
        var=lambda name: known.get(name, False),
        **known,
    )


REWRITTEN = [
    pytest.param(f"{HEAD}{TAIL}{INCREMENTAL}\n  {NEW}\n{END}\n", id="at-the-end"),
    pytest.param(
        f"{HEAD}{TAIL}{{%- if is_incremental() %}}\n  {NEW}\n{{%- endif %}}\n", id="trimmed"
    ),
    pytest.param(f"{HEAD}{TAIL.strip()} {INCREMENTAL}{NEW}{END}", id="one-line"),
    pytest.param(
        f"{HEAD}where\n{INCREMENTAL}\n  s.id > 7 and\n{END}\n  d.year = 2024\n",
        id="at-the-beginning",
    ),
    pytest.param(f"select id{X}, 1 as one{END} from ({HEAD}{TAIL}) t\n", id="in-a-select-list"),
    pytest.param(
        f"{HEAD}-- dpp-rewrite: off\n{TAIL}-- dpp-rewrite: on\n{X} limit 1 {END};\n{HEAD}{TAIL}",
        id="with-a-comment-of-ours",
    ),
]

IN_A_BLOCK = [
    pytest.param(f"{HEAD}{X}{TAIL}{END}", id="the-where-itself"),
    pytest.param(f"{HEAD}{TAIL}{X} and d.season = 'w' {END}", id="other-keys"),
    pytest.param(
        f"{HEAD}{TAIL}{INCREMENTAL}{NEW}{{% else %}} and s.id > 0{END}\n{X} limit 10 {END}",
        id="two-blocks",
    ),
    pytest.param(f"{X}\n{HEAD}{TAIL}{{% else %}}\nselect 1 as id\n{END}", id="a-whole-query"),
    pytest.param(
        f"with s as (select * from {{{{ ref('fct_sales') }}}}\n{INCREMENTAL} where id > "
        f"(select max(id) from {{{{ this }}}}){END})\nselect s.id from s\n"
        f"join {{{{ ref('dim_dates') }}}} d on d.day = s.day\n{TAIL}",
        id="in-a-cte",
    ),
    pytest.param(
        f"{HEAD.strip()} and d.year = 2024\n"
        f"left join {{{{ ref('dim_dates') }}}} e on e.day = d.day {X} and e.season = 'w' {END}",
        id="an-on-that-goes-on",
    ),
    pytest.param(
        f"{HEAD.strip()} and d.year = 2024 {X}{OTHER}{{% else %}}left {OTHER}{END}",
        id="a-where-in-each",
    ),
    pytest.param(
        f"{HEAD}{X}where d.year = 2024 {{% else %}}where s.id > 7 and d.year = 2025 {END}",
        id="a-where-or-another",
    ),
]


def only_insertions(before: str, after: str) -> bool:
    rest = iter(after)
    return all(char in rest for char in before)


@pytest.mark.parametrize("text", REWRITTEN)
def test_right_in_all_that_it_renders_to(text: str) -> None:
    result = rewrite(text, CATALOG)
    assert result.changed
    assert not result.skipped
    assert only_insertions(text, result.sql)
    assert not rewrite(result.sql, CATALOG).changed
    assert stripped(result.sql).sql == text
    changed = 0
    for incremental, x, trim in product((False, True), repeat=3):
        values = {"incremental": incremental, "x": x, "trim": trim}
        before, after = (rendered(each, **values) for each in (text, result.sql))
        assert without_predicates(after) == before
        assert after == before or not rewrite(after, CATALOG).changed, after
        changed += after != before
    assert changed


@pytest.mark.parametrize("text", IN_A_BLOCK)
def test_what_would_stand_in_a_block_or_is_not_right_in_all_is_told(text: str) -> None:
    result = rewrite(text, CATALOG)
    assert not result.changed
    (problem,) = result.skipped
    assert "would stand in a template block" in problem.message
    assert all(finding.fix is None for finding in lint(text, CATALOG))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(OTHER_JOIN, id="another-join"),
        pytest.param(
            f"{HEAD}where d.year = 2024 or d.year = 2025 {X} and s.id > 7 {END}",
            id="an-or-that-goes-on",
        ),
        pytest.param(f"{HEAD}{TAIL}{X} and ({END}", id="does-not-parse"),
        pytest.param(
            f"{HEAD}{TAIL}-- note{{%- if x %}}\n {NEW}{END}\nlimit 1", id="into-a-comment"
        ),
        pytest.param(f"{HEAD}where d.year = 2024{{%- if x %}}5 {END}", id="one-token"),
        pytest.param(f"{HEAD}{TAIL}{X} and {{{{ f(s.day) }}}} {END}", id="not-read"),
        pytest.param(f"{HEAD}{TAIL}{X}\n-- dpp-rewrite: ignore-file\n{END}", id="comment-of-ours"),
        pytest.param(
            HEAD + TAIL + "".join(f"{{% if x{n} %}} and s.id > {n} {END}" for n in range(5)),
            id="too-many",
        ),
    ],
)
def test_what_one_of_the_texts_would_get_wrong_is_left_alone(text: str) -> None:
    """What would be wrong in one of them, or cannot be told, is written in none."""
    result = rewrite(text, CATALOG)
    assert not result.changed
    assert result.skipped or all(
        candidate.verdict is Verdict.REJECTED for candidate in result.candidates
    )


def test_outside_of_a_block_it_is_written_all_the_same() -> None:
    text = f"{HEAD}{TAIL};\n{X}{HEAD}{TAIL}{END}"
    result = rewrite(text, CATALOG)
    assert result.sql == f"{rewrite(HEAD + TAIL, CATALOG).sql};\n{X}{HEAD}{TAIL}{END}"
    assert [problem.line for problem in result.skipped] == [7]
    assert [candidate.verdict for candidate in result.candidates] == [Verdict.REWRITTEN]
    assert not rewrite(result.sql, CATALOG).changed
    assert stripped(result.sql).sql == text


def test_what_has_become_wrong_is_mended() -> None:
    text = f"{HEAD}{TAIL}{INCREMENTAL}\n  {NEW}\n{END}\n"
    other = rewrite(text, CATALOG).sql.replace("where d.year = 2024\n", "where d.year = 2025\n")
    mended = rewrite(other, CATALOG)
    assert mended.sql == rewrite(text.replace("2024", "2025"), CATALOG).sql


def test_what_an_author_goes_on_with_keeps_the_predicate_where_it_is() -> None:
    """What follows in a block would be left without its WHERE in one of the texts."""
    text = f"{HEAD}where s.day in (select dd.day from days as dd) /* dpp-rewrite */ {X} and x{END}"
    result = stripped(text)
    assert result.sql == text
    assert "{% if %}" in result.skipped[0].message


def test_findings_of_all_renderings() -> None:
    text = f"{HEAD}{TAIL}{INCREMENTAL}\n  {NEW}\n{END}\n"
    findings = lint(text, CATALOG)
    assert [(finding.code, finding.place.line) for finding in findings] == [("DPP001", 2)]
    assert findings[0].fix is not None
    (edit,) = findings[0].fix.replacements
    span = edit.place.span
    assert text[: span.start] + edit.text + text[span.end :] == rewrite(text, CATALOG).sql
    kept = text.replace(" s\n", " s -- dpp-rewrite: ignore[DPP001] small\n", 1)
    assert [finding.suppression is not None for finding in lint(kept, CATALOG)] == [True]
    assert not lint(rewrite(text, CATALOG).sql, CATALOG)


def test_findings_of_one_rendering_alone() -> None:
    text = "{% if x %}" + HEAD + TAIL + "{% else %}select 1{% endif %}"
    assert [finding.code for finding in lint(text, CATALOG)] == ["DPP001"]
    either = f"{HEAD}{TAIL}{{% if x %}} and s.day = date'2024-01-01' {{% endif %}}"
    assert not lint(either, CATALOG)


def test_the_report_has_its_statement() -> None:
    text = f"{HEAD}{TAIL}{INCREMENTAL}\n  {NEW}\n{END}\n"
    (statement,) = run("q.sql", text.encode(), Request(CATALOG), with_statements=True).statements
    assert (statement.understood, statement.joins, statement.reason) == (True, True, "")
    other = f"{HEAD}{TAIL}{{% if x %}} and ({{% endif %}}"
    (statement,) = run("q.sql", other.encode(), Request(CATALOG), with_statements=True).statements
    assert not statement.understood
