"""Templates in comments and beside them, with Jinja as the referee: whatever a text is rendered
with, the predicates stand in it where the rewriter would put them into the rendered text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import groupby, product, zip_longest

import pytest
from jinja2 import TemplateError

from sqlrewrite import Catalog, rewrite
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.stripping import stripped
from sqlrewrite.text.masking import mask
from tests.support.cases import QUERIES, catalog
from tests.support.render_templates import rendered
from tests.support.turns import TODAY

_FROM = "FROM {{ ref('sales') }} s\nJOIN {{ ref('dates') }} d ON s.day = d.day"
_TEXTS = (
    f"SELECT s.id\n{_FROM}\nWHERE d.year = 2024\n  AND d.month = 1\n  AND s.qty > 0\n",
    f"SELECT s.id\n{_FROM}\nWHERE d.year = 2024 AND s.qty > 0\n   OR d.year = 2023\n",
    f"SELECT s.id\n{_FROM}\n AND d.year = 2024\nORDER BY s.id\n",
    f"SELECT s.id\n{_FROM}\nWHERE d.year = 2024;\nSELECT s.id\n{_FROM}\nWHERE d.month = 2\n",
    f"SELECT s.id {_FROM}\nWHERE d.year = 2024 AND\n  s.qty > 0\nLIMIT 3\n",
)
_COMMENTS = (
    *("-- %s", "-- %s", "-- a %s", "--%s b", "-- a %s b", "-- '%s'", "-- a \\%s", "/* %s */"),
    *("/* a %s */", "/*%s*/", "/* *%s/ */", "/*%s+ a */", "/* a\n%s\n*/", "-- %s\n-- b"),
    *("-- %s\n\n", "-- a\n-- %s", "-- %s %s", "-- %s%s"),
)
_BESIDE = ("-- a\n%s", "-- a\n%s b", "-- a\n  %s\n\n", "%s")
_SETTINGS = (
    *("{# a #}", "{# a -#}", "{#- a #}", "{#- a -#}", "{# a +#}", "{# a\n b #}", "{# a */ b #}"),
    *("{# /* #}", "{# ; #}", "{{ config(a=1) }}", "{{ config(a=1) -}}", "{{- config(a=1) -}}"),
    *("{% set q = 1 %}", "{% set q = 1 -%}", "{%- set q = 1 %}", "{%- set q = 1 -%}"),
    *("{% set q = 1 +%}", "{% if true %}a{% endif %}", "{% if true -%} a {%- endif %}"),
    *("{% if false %} a {% endif -%}", "{%- if true %}{% endif %}", "{% raw %}{{ x }}{% endraw %}"),
    *("{% raw %} {# {% endraw -%}", "{% for x in [1] %}{% endfor %}", "{% macro m() %}"),
    *("{%- macro m() %}{% endmacro %}", "{% macro m() %}\n{% endmacro -%}"),
)
"""Render to nothing, mostly."""
_NAMED = (
    *("{{ ds }}", "{{ ds -}}", "{{- ds }}", "{{- ds -}}", "{{ ds[:4] }}", "{{ ds | upper }}"),
    *("{{ ref('dates') }}", "{{ ref('dates') -}}", "{{ ref(\n'dates') }}"),
)
_UNKNOWN = (
    *("{{ note }}", "{{ note -}}", "{{ var('note') }}", "{{ recent() }}", "{{ '\\n OR 1 = 1' }}"),
    *("${note}", "{note}", "%(note)s", "#{note}", "@note@", "{{ ds ~ note }}"),
)
_VALUES = ("a", "a\nOR d.month = 2", "a\nAND d.month = 2 --", "a */ OR 1 = 1 /* b")
_OTHERS = re.compile(r"(?<![${])\{(note)\}|%\((note)\)s|#\{(note)\}|@(note)@")


@pytest.fixture(scope="module")
def known() -> Catalog:
    return catalog(QUERIES / "ddl.sql")


def _texts(seed: int, count: int) -> Iterator[str]:
    """Queries with templates in comments behind some of their lines, or on lines of their own."""
    rng = random.Random(seed)
    for _ in range(count):
        lines = rng.choice(_TEXTS).split("\n")
        for _ in range(rng.choice((1, 1, 1, 2))):
            inside = rng.random() < 0.7
            comment = rng.choice(_COMMENTS if inside else _BESIDE)
            kinds = (_SETTINGS, _SETTINGS, _NAMED, _UNKNOWN) if inside else (_SETTINGS,)
            units = tuple(rng.choice(rng.choice(kinds)) for _ in range(comment.count("%s")))
            at = rng.randrange(len(lines))
            lines[at] += rng.choice((" ", "\n", "\n  ")) + comment % units
        yield "\n".join(lines)


def _faults(text: str, known: Catalog) -> Iterator[str]:
    """What is wrong in what a rewritten text renders to."""
    result = rewrite(text, known)
    if not result.changed:
        return
    if stripped(result.sql).sql != text:
        yield f"not undone:\n{result.sql}"
    pairs = {
        tuple(
            rendered(_OTHERS.sub(note, each), trims=trims, strips=strips, note=note)
            for each in (text, result.sql)
        )
        for trims, strips, note in product((False, True), (False, True), _VALUES)
    }
    for before, after in sorted(pairs):
        plain = rewrite(before, known)
        if plain.errors:
            continue  # the author's text is broken there
        if stripped(after).sql.split() != before.split():
            yield f"not undone:\n{after}"
        statements = zip_longest(*map(_statements, (before, plain.sql, after)))
        if any(new not in (old, expected) for old, expected, new in statements):
            yield after


def _statements(text: str) -> list[list[str]]:
    """The tokens of a text, statement by statement."""
    words = [token.text for token in lex(text).tokens]
    return [[*part] for end, part in groupby(words, ";".__eq__) if not end]


@pytest.mark.parametrize(
    ("seed", "count"), [(1, 30), pytest.param(TODAY, 200, marks=pytest.mark.long)]
)
def test_predicates_stand_where_they_would_in_the_rendered_text(
    known: Catalog, seed: int, count: int
) -> None:
    changed = 0
    for text in _texts(seed, count):
        try:
            rendered(_OTHERS.sub("a", text), note="a")
        except TemplateError:
            continue
        faults = [*_faults(text, known)]
        assert not faults, f"{text}\n---\n{faults[0]}"
        changed += rewrite(text, known).changed
    assert changed > count // 5


_CODE = "SELECT s.id\nFROM sales s\nJOIN dates d ON s.day = d.day {}\nWHERE d.year = 2024 {}\n"


@pytest.mark.parametrize(
    "comment",
    [
        *("-- {# a -#}", "-- {{ ds -}}", "-- {{ ref('d') -}}", "-- {# a #}", "-- a {#- b #}"),
        *("-- {# a\n b #}", "-- {{ ref(\n'd') }}", "-- {{ x }}", "-- {{ var('x') }}", "-- ${x}"),
        *(
            "-- {x}",
            "-- %(x)s",
            "-- #{x}",
            "-- @x@",
            "-- {{ f() }}",
            "-- {{ '\\n' }}",
            "-- {{ ds ~ x }}",
        ),
        *("-- {{ ds | replace('-', x) }}", "-- {{ var(ds) }}", "-- {% raw %}{{ x }}{% endraw %}"),
        *("-- {{{ x }}}", "-- a \\{# b +#}", "/* {{ x }} */", "/* ${x} */", "/* *{# a #}/ */"),
        *("/* {{ f() }} */", "/*{# a #}+ b */", "/* *{#- a #}/ */", "/* *{# a #}{# b #}/ */"),
        *("-- {{ ti.xcom_pull('a') -}}", "-- {{ ti.xcom_pull('a') | replace(' ', '\\n') }}"),
        *(
            "-- {{ ds | replace('-', '\\n') }}",
            "-- {{ ti.xcom_pull('a') ~ x }}",
            "-- {{ macros.f() }}",
        ),
        *("-- a\n{%- set q = 1 %}", "-- a\n{#- b #}", "-- {# a #}\n{# b #}", "-- {{ ds }} {{ x }}"),
        *("-- a\n{#- b -#}", "-- {% if x %}", "-- $x {# a #}", "-- {% set q = 1 %}"),
    ],
)
def test_comment_that_may_end_elsewhere(known: Catalog, comment: str) -> None:
    assert not rewrite(_CODE.format(comment, ""), known).changed


@pytest.mark.parametrize(
    ("comment", "condition"),
    [
        *((text, "") for text in ("-- {{ ds }}", "-- '{{ ds_nodash }}' a", "-- {{ ref('d') }}")),
        *(
            (comment, "")
            for comment in ("-- a {{ source('a', 'd') }} b", "-- {{ this }}", "-- {{- ds }}")
        ),
        *(
            (text, "")
            for text in ("-- {{ macros.ds_add(ds, -1) }}", "-- {{ ds[:4] }}", "-- {# a +#}")
        ),
        *(
            (comment, "")
            for comment in ("-- {{ ti.xcom_pull(task_ids='a', key='b') }}", "-- {{ var.value.x }}")
        ),
        *(
            (comment, "")
            for comment in ("-- AND x = '{{ dag_run.conf['x'] }}'", "/* {{ ti.xcom_pull('a') }} */")
        ),
        *(
            (text, "")
            for text in ("-- {# a #} b", "-- {# a #}\n", "-- {# a #}\n  -- b", "-- 100%, $9")
        ),
        *(
            (text, "")
            for text in ("/* {# a #} */", "/* {# a */ b #} */", "/* {# /* #} */", "-- :x, R&D")
        ),
        *(
            (text, "")
            for text in ("/* {{ ds -}} */", "/* {{ ref('d') }} */", "-- {{ config(a=1) }}")
        ),
        *(
            (text, "")
            for text in ("-- {{ target.schema }}", "-- {{ dag.dag_id }}", "-- it costs $x")
        ),
        ("-- AND d.season = '${x}'", "AND d.season = '${x}'"),
        ("-- {x}", "AND d.season = '{x}'"),
        ("-- {{ var('x') }}", "AND d.month = {{ var('x') }}"),
        ("-- '{{ params.x }}'", "AND d.season = '{{ params.x }}'"),
        ("/* $x */", "AND d.month = $x"),
    ],
)
def test_comment_that_ends_where_it_seems_to(known: Catalog, comment: str, condition: str) -> None:
    assert rewrite(_CODE.format(comment, condition), known).changed


@pytest.mark.parametrize("comment", ["-- ${x}", "-- {{ x }}", "/* {{ var('x') }} */", "-- {x}"])
def test_values_before_a_statement(known: Catalog, comment: str) -> None:
    text = _CODE.format("", "")
    for whole in (f"{comment}\n{text}", f"{text};\n{comment}\n{text}"):
        assert rewrite(whole, known).sql.count("IN (") == whole.count("SELECT")


def test_statements_beside_one_that_is_drawn_into_a_comment(known: Catalog) -> None:
    text = _CODE.format("", "")
    drawn = f"SELECT 1 -- {{# a -#}}\n; {text.replace(chr(10), ' ')}\n;\n{text}"
    assert rewrite(drawn, known).sql.count("IN (") == 1


def test_values_in_comments_take_time_in_proportion() -> None:
    line = "-- ${x} {{ y }} '{z}' {# a -#}\n"
    assert len(mask(f"SELECT 1\n{line * 3_000}").text) > 90_000  # squared, it takes a minute
