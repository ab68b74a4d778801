"""Masking: offsets and line ends stay, what is no template stays, and each expression is read for
what it stands for."""

from __future__ import annotations

import random
import re
import time

import pytest
from sqlglot import exp

from sqlrewrite import Catalog, rewrite
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.text.blocks import loop
from sqlrewrite.text.masking import mask
from sqlrewrite.text.template_kinds import TemplateKind
from sqlrewrite.warehouse import Name, Reference
from tests.support.cases import QUERIES, query_cases
from tests.support.strip_by_markers import without_predicates
from tests.support.turns import TODAY

NAMES: dict[Reference, Name] = {
    ("ref", "sales"): ("lake", "mart", "sales"),
    ("source", "raw", "s"): ("raw", "s"),
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(str(QUERIES / "ddl.sql"))


@pytest.mark.parametrize(
    ("text", "kind", "reference"),
    [
        ("{{ ref('sales') }}", TemplateKind.REFERENCE, ("ref", "sales")),
        ('{{ref("sales")}}', TemplateKind.REFERENCE, ("ref", "sales")),
        ("{{ ref('shop', 'sales') }}", TemplateKind.REFERENCE, ("ref", "shop", "sales")),
        ("{{ ref('sales', v=2) }}", TemplateKind.REFERENCE, ("ref", "sales.v2")),
        (
            "{{ ref('shop', 'sales', version=1) }}",
            TemplateKind.REFERENCE,
            ("ref", "shop", "sales.v1"),
        ),
        ("{{\n  ref(\n 'sales'\n)\n}}", TemplateKind.REFERENCE, ("ref", "sales")),
        ("{{ source('raw', 's') }}", TemplateKind.REFERENCE, ("source", "raw", "s")),
        ("{{ this }}", TemplateKind.THIS, ("this",)),
        ("{{ var('x') }}", TemplateKind.VALUE, ()),
        ("{{ var('x', 3) }}", TemplateKind.VALUE, ()),
        ("{{ env_var('x') }}", TemplateKind.VALUE, ()),
        ("{{ ds_nodash }}", TemplateKind.VALUE, ()),
        ("${x}", TemplateKind.VALUE, ()),
        ("${hiveconf:a.b}", TemplateKind.VALUE, ()),
        # Nobody knows what these are.
        ("{{ ref(name) }}", TemplateKind.OTHER, ()),
        ("{{ ref('a', 'b', 'c') }}", TemplateKind.OTHER, ()),
        ("{{ ref('a') | upper }}", TemplateKind.OTHER, ()),
        ("{{ ref('a').identifier }}", TemplateKind.OTHER, ()),
        ("{{ ref('a', x=1) }}", TemplateKind.OTHER, ()),
        ("{{ source('raw') }}", TemplateKind.OTHER, ()),
        ("{{ source('raw', t) }}", TemplateKind.OTHER, ()),
        ("{{ var(x) }}", TemplateKind.OTHER, ()),
        ("{{ var('x') ~ 'y' }}", TemplateKind.OTHER, ()),
        ("{{ var('x') or run_started_at }}", TemplateKind.OTHER, ()),
        ("{{ var('x', run_started_at) }}", TemplateKind.OTHER, ()),
        ("{{ this.schema }}", TemplateKind.OTHER, ()),
        ("{{ x }}", TemplateKind.OTHER, ()),
        ("{{ config(a=1) ~ ' OR 1' }}", TemplateKind.OTHER, ()),
        ("{{ config.get('x') }}", TemplateKind.OTHER, ()),
        ("{{ macro('x') }}", TemplateKind.OTHER, ()),
        ("{{ }}", TemplateKind.OTHER, ()),
        ("{{ ref('a' }}", TemplateKind.OTHER, ()),
    ],
)
def test_what_an_expression_stands_for(text: str, kind: TemplateKind, reference: Reference) -> None:
    masked = mask(f"SELECT * FROM {text} t")
    (template,) = masked.templates
    assert not masked.obstacles
    assert (template.text, template.kind, template.reference) == (text, kind, reference)


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("FROM {{ ref('sales') }} t", ["FROM", "lake", ".", "mart", ".", "sales", "t"]),
        ("FROM {{ source('raw', 's') }}", ["FROM", "raw", ".", "s"]),
        ("a = {{ var('x') }} b", ["a", "=", ":", "{{ var('x') }}", "b"]),
        ("a = ${x}", ["a", "=", ":", "${x}"]),
        ("FROM ${x}.y", ["FROM", "${x}", ".", "y"]),
        ("a = {{ f(1) }}", ["a", "=", "{{ f(1) }}", "(", ")"]),
        ("a = @f(b, @c)", ["a", "=", "@f", "(", "b", ",", ":", "@c", ")"]),
        ("a {# b #} c", ["a", "c"]),
        ("{{ config(a=1) }}\na", ["a"]),
        ("{{ config(a=1) }} -- b\n{{ config(c=2) }} a", ["a"]),
        ("a; {{ config(a=1) }} b", ["a", ";", "b"]),
        ("// it's {none}\na // b\n\t// c\n; //d\nb", ["a", "/", "/", "b", ";", "b"]),
        ("a '\n// b' /*\n// c\n*/ -- d", ["a", "\n// b"]),
        ("a `\n// b`, r'\\' r'\n// c'", ["a", "\n// b", ",", "\\", "\n// c"]),
    ],
)
def test_a_template_becomes_tokens_of_its_own(text: str, texts: list[str]) -> None:
    lexed = lex(text, NAMES.get)
    assert [token.text for token in lexed.tokens] == texts
    assert not lexed.obstacles
    for template in lexed.templates:
        inside = [t for t in lexed.tokens if template.start <= t.start < template.end]
        assert "".join(text[t.start : t.end + 1] for t in inside) == template.text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tmp_${x}", "tmp_${x}"),
        ("${x}_tmp t", "${x}_tmp"),
        ("tmp_${x}_${y}.t", "tmp_${x}_${y}"),
        ("${db}${x}", "${db}${x}"),
        ("dates{{ suffix }} d", "dates{{ suffix }}"),
        ("{{ params.db }}.t", "{{ params.db }}"),
        ("{{ x }}", "{{ x }}"),
        ("`tmp_${x}`", "tmp_${x}"),
        ("{db}.t", "{db}"),
        ("tmp_{day}", "tmp_{day}"),
        ("a, ${x} b", "${x}"),
        ("@db@.t", "@db@"),
        ("&db", "&db"),
        ("#{db}.t", "#{db}"),
    ],
)
def test_names_with_variables(text: str, name: str) -> None:
    (statement,) = statements(f"SELECT 1 FROM {text}")
    assert statement.failure is None
    assert statement.tree is not None
    names = {part.name for node in statement.tree.find_all(exp.Table) for part in node.parts}
    assert name in names


@pytest.mark.parametrize(
    "value",
    ["${x}", "${hiveconf:x}", "${yyyy-mm-dd}", "$x", "&x", "&&x", "{x}", "@x@", "%(x)s", "#{x}"],
)
@pytest.mark.parametrize("place", ["a = {}", "a IN ({})", "b + {} > 1", "a BETWEEN {} AND {}"])
def test_values_that_are_variables(value: str, place: str) -> None:
    text = "SELECT a FROM t WHERE " + place.replace("{}", value)
    (statement,) = statements(text)
    assert statement.failure is None
    assert statement.tree is not None
    placeholders = statement.tree.find_all(exp.Placeholder)
    assert {placeholder.this for placeholder in placeholders} == {value}


@pytest.mark.parametrize("text", ["a & b", "a &b", "a %(b)", "a % (b)", "map('{x}', 1)", "a ^ b"])
def test_what_is_no_variable(text: str) -> None:
    assert not lex(f"SELECT {text} FROM t").templates


@pytest.mark.parametrize(
    "text", ["SELECT {} FROM t", "SELECT {} AS x FROM t", "SELECT a FROM t ORDER BY {}"]
)
def test_what_may_be_several_is_a_function_that_nobody_knows(text: str) -> None:
    (statement,) = statements(text.replace("{}", "${x}"))
    assert statement.tree is not None
    assert [node.this for node in statement.tree.find_all(exp.Anonymous)] == ["${x}"]


@pytest.mark.parametrize(
    "unit",
    [
        *("var('x')", 'var("x")', "env_var('x', 'y')", "x['a']", "ds | replace('-', '')"),
        *("ds[:4]", "macros.ds_add(ds, -7)", "(t - macros.timedelta(days=1)).strftime('%Y-%m-%d')"),
        *("data_interval_start | ds", 'x | default("a b")', "dag_run.conf.get('day') or ds"),
    ],
)
def test_what_repeats_is_a_part_of_a_string(unit: str, catalog: Catalog) -> None:
    string = f"'a{{{{ {unit} }}}}b'"
    text = f"SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE d.season = {string}"
    assert not lex(text).templates
    assert rewrite(text, catalog).sql.count(string) == 2


@pytest.mark.parametrize(
    "unit",
    [
        *("ti.xcom_pull(task_ids='a', key='b')", "task_instance.xcom_pull('g.a-b')[0]['y']"),
        *(
            "ti.xcom_pull(task_ids=['a', 'b'])[0]",
            "dag_run.conf['y']",
            "var.value.y",
            "var.json.a.b",
        ),
        *("ti.xcom_pull('a') | int", "ti.xcom_pull('a') or ds", "var.value.get('y', 2024)"),
        *("macros.ds_add(ds, -1)", "dag_run.get_task_instance('a').state", "(ti.xcom_pull('a'))"),
        *(
            "ti.xcom_pull('a') if dag_run.conf['b'] == 'c' else '2024'",
            "var.value.y.replace('-', '')",
        ),
        "macros.datetime.strptime(ds, '%Y-%m-%d').strftime('%Y')",
        *("data_interval_start.strftime('%Y')", "(ts or ds)", "data_interval_end | ds"),
        "(execution_date + macros.timedelta(days=1)).strftime('%Y')",
        "(logical_date - macros.timedelta(hours=dag_run.conf['h'])).date().year",
    ],
)
@pytest.mark.parametrize("quote", ["", "'"])
def test_what_a_task_is_given_is_a_constant(unit: str, quote: str, catalog: Catalog) -> None:
    value = f"{quote}{{{{ {unit} }}}}{quote}"
    where = f"d.{'season' if quote else 'year'} = {value}"
    text = f"SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE {where}"
    assert rewrite(text, catalog).sql.count(value) == 2
    set_again = "{% set ti, task_instance, dag_run, macros, var = x %}\n"
    set_again += "{% set ts, ds, data_interval_start, data_interval_end = x %}\n"
    set_again += "{% set execution_date, logical_date = x %}\n"
    assert quote or not rewrite(set_again + text, catalog).changed


@pytest.mark.parametrize(
    "unit",
    [
        *("macros.datetime.now()", "macros.uuid.uuid4()", "macros.random()", "macros.f(ds)"),
        *("macros.time.strftime('%Y')", "macros.hive.max_partition('a')", "x", "params.x"),
        *("ti.xcom_pull('a') | random", "ti.start_date.now()", "dag_run.conf.pop('x')", "f(ti)"),
        *("(ds + x).strftime('%Y')", "(ts or macros.random()).real", "execution_date.now()"),
        *("ti.xcom_pull(key=macros.uuid.uuid4())", "ti.xcom_pull('a') + x", "var.x", "ti"),
    ],
)
def test_what_may_be_another_value_each_time_is_no_constant(unit: str) -> None:
    assert mask(f"SELECT {{{{ {unit} }}}}").templates[0].kind is TemplateKind.OTHER


@pytest.mark.parametrize(
    "unit",
    [
        *("f()", "macros.datetime.now()", "x | random", "x | random()", "x ~ y", "x[f()]"),
        "macros.time.strftime('%Y')",
        *("x[' || a || ']", "x['%a LIKE']", "var(' || a || ')", """x | join("','")"""),
    ],
)
def test_of_what_may_not_repeat_a_string_is_not_known(unit: str, catalog: Catalog) -> None:
    string = f"'{{{{ {unit} }}}}'"
    text = f"SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE d.season = {string}"
    assert [token.text for token in lex(text).tokens][-3:] == [string, "(", ")"]
    (candidate,) = rewrite(text, catalog).candidates
    assert candidate.verdict.value == "rejected"


def test_a_name_that_a_tag_speaks_of_is_no_date_of_airflow() -> None:
    assert mask("SELECT {{ ds }}").templates[0].kind is TemplateKind.VALUE
    (template,) = mask("{% set ds = 'd.day' %}\nSELECT {{ ds }}").templates
    assert template.kind is TemplateKind.OTHER


@pytest.mark.parametrize("where", ["@f(d.year)", "d.year = @f(1)", "d.year = 1 AND @f(s.id, 'x')"])
def test_a_macro_of_sqlmesh_is_a_function_that_nobody_knows(where: str, catalog: Catalog) -> None:
    text = f"SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE {where}"
    result = rewrite(text, catalog)
    assert not result.changed
    assert not result.skipped
    assert [candidate.verdict.value for candidate in result.candidates] == ["rejected"]


@pytest.mark.parametrize(
    "text",
    [
        "MERGE INTO ${x}.sales s USING dates d ON s.day = d.day AND d.year = ${x} "
        "WHEN MATCHED AND s.amt > ${x} THEN UPDATE SET amt = ${x}",
        "UPDATE sales SET amt = ${x} WHERE day IN (SELECT day FROM dates WHERE year = ${x})",
        "DELETE FROM ${x}.sales WHERE day = ${x}",
        "CACHE TABLE c AS SELECT 1 FROM sales s JOIN dates d ON s.day = d.day WHERE d.year = ${x}",
    ],
)
def test_variables_in_a_statement_that_changes_no_name(text: str, catalog: Catalog) -> None:
    (statement,) = statements(text)
    assert statement.failure is None
    assert not rewrite(text, catalog).skipped


LONG = ", ".join(["ref(1)"] * 20)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "CREATE VIEW {{ f(1) }} AS SELECT 1",
            "`{{ f(1) }}` stands where the statement says what it defines",
        ),
        ("maybe a statement with {x}", "no statement begins with 'maybe'"),
        (
            "{{ f(1) }}",
            "it begins with what `{{ f(1) }}` renders to: rewrite what dbt compiles, in target/",
        ),
        (f"{{{{ f({LONG}) }}}}", "it begins with what `{{ f(…) }}` renders to: rewrite"),
        (f"{{{{- a.f(\n{LONG}\n) -}}}}", "it begins with what `{{- a.f(…) }}` renders to: rewrite"),
        (f"SELECT CAST(a AS {{{{ f({LONG}) }}}})", "expected a type after AS before `{{ f(…) }}`"),
        (f"'{LONG} join'", "text in quotes: are those around 'ref(1), ref(1), ref(1)"),
        (f"'{LONG} join'", "ref(1), r…' meant?"),
    ],
)
def test_what_is_no_query_says_so(text: str, why: str) -> None:
    (statement,) = statements(text)
    assert statement.failure is not None
    assert why in statement.failure.message


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a {} 1 FROM t",
        "SELECT 1 FROM t WHERE a {} 1",
        "SELECT 1 FROM t WHERE c = 1 AND NOT a {} b",
        "SELECT 1 FROM t JOIN u ON t.a {} u.b AND c = 1",
    ],
)
@pytest.mark.parametrize("operator", ["${x}", "$x", "{{ x }}"])
def test_an_operator_leaves_nothing_known_of_what_it_connects(text: str, operator: str) -> None:
    (statement,) = statements(text.replace("{}", operator))
    assert statement.tree is not None
    (node,) = statement.tree.find_all(exp.Anonymous)
    assert node.this == operator
    assert isinstance(node.parent, exp.Select | exp.Where | exp.Join)


@pytest.mark.parametrize(
    "text",
    [
        "'{{ f(\\'x\\') }}'",
        "`{{ var(1) }}`",
        "1{# x #}2",
        "a {{- x }}",
        "a {{ x -}} b",
        "{% if x %} a {% endif %}",
        "{% include 'x' %} a",
        "'{% endif %}'",
        "{% set a | replace(b='c') %} d {% endset %}",
        "{{ x",
        "${",
        "/*+ {{ x }} */ a",
        "-- {{ x() }}\na",
        "-{{ x }}",
        "{{ x }}(1)",
        "1 FROM raw.{{ ref('sales') }}",
        "a FROM t WHERE a = 1 ${x}",
        "a FROM t ${x} JOIN u ON t.a = u.a",
        "a FROM t ORDER BY a {{ x() }}, b",
    ],
)
def test_what_may_render_to_anything_is_an_obstacle(text: str) -> None:
    assert lex(f"SELECT {text}", NAMES.get).obstacles


PIECES = (
    "{{ ref('sales') }}",
    '{{ref("dates")}}',
    "{{ var('x') }}",
    "{{ var(\n 'x') }}",
    "{{ f('}') }}",
    "{{- x -}}",
    "{# c\r\n #}",
    "{% if x %}",
    "{% endif %}",
    "{% set a = 1 %}",
    "{{ config(a='é🙂') }}",
    "${x}",
    "${hiveconf:x}",
    "${",
    "{{",
    "}}",
    "{%",
    "#}",
    "'",
    '"',
    "`",
    "\\",
    "--",
    "/*",
    "*/",
    "/*+",
    "\n",
    "\r\n",
    "\r",
    " ",
    "é🙂",
    "SELECT",
    "s.day",
    "FROM",
    ",",
    ".",
    "(",
    ")",
    ";",
    "r'",
    "-- COMMAND ----------",
)


def line_ends(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"[\r\n]", text)]


def test_masking_keeps_offsets_and_line_ends() -> None:
    rng = random.Random(TODAY)
    templates = 0
    for number in range(1500):
        text = rng.choice(("", " ", " ")).join(rng.choices(PIECES, k=rng.randint(1, 14)))
        if number % 7 == 0:
            text = f"-- Databricks notebook source\n{text}"
        masked = mask(text)
        assert len(masked.text) == len(text), repr(text)
        assert line_ends(masked.text) == line_ends(text), repr(text)
        for template in masked.templates:
            assert text[template.start : template.end] == template.text
            inside = masked.text[template.start : template.end]
            assert re.fullmatch(r"`[_\r\n]*`|_+", inside), repr(text)
        templates += len(masked.templates)
        if not re.search(r"\{[{%#]|\$\{|COMMAND", text):
            assert masked.text == text
        lexed = lex(text, NAMES.get)
        ends = [0, *(token.end + 1 for token in lexed.tokens)]
        assert all(end <= t.start for end, t in zip(ends, lexed.tokens, strict=False)), repr(text)
    assert templates > 400


def test_rewriting_texts_with_templates_strewn_in(catalog: Catalog) -> None:
    """Insertions or nothing, and a second run changes nothing, wherever templates stand."""
    rng = random.Random(TODAY)
    cases = [c.text() for c in query_cases() if "(not for DuckDB)" not in c.text()]
    cases = [text for text in cases if "dpp-rewrite" not in text]
    pieces = [piece for piece in PIECES if piece[0] in "{$"]
    changed = 0
    for number in range(250):
        text = rng.choice(cases)
        for _ in range(rng.randint(1, 3)):
            gap = rng.choice([match.start() for match in re.finditer(r"\s|$", text)])
            text = f"{text[:gap]} {rng.choice(pieces)} {text[gap:]}"
        result = rewrite(text, catalog)
        assert without_predicates(result.sql) == text, f"number {number}: {text!r}"
        assert rewrite(result.sql, catalog).sql == result.sql, f"number {number}: {text!r}"
        assert not [e for e in result.errors if e.code != "DPP000"], f"number {number}: {text!r}"
        changed += result.changed
    assert changed > 5


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{{" * 9_000, id="opened"),
        pytest.param("{{ x }}" * 3_000, id="side by side"),
        pytest.param("{{ x }} " * 3_000, id="many"),
        pytest.param("{% if x %} " * 3_000, id="blocks not closed"),
        pytest.param("{% if x %} " * 900 + "{% endif %} " * 900, id="nested blocks"),
        pytest.param("{#- x -#} " * 3_000, id="comments"),
        pytest.param("{{ ' }} " * 3_000, id="quotes"),
        pytest.param("/* " + "{{ x }} " * 3_000, id="in a comment"),
        pytest.param("'" + "{{ x }} " * 3_000, id="in a string"),
        pytest.param("SELECT 1; " * 900 + "{{ x }}; " * 900, id="statements"),
    ],
)
def test_masking_takes_time_in_proportion(text: str) -> None:
    """24 kB of the worst in a third of a second: what grew with its square would take many."""
    started = time.process_time()
    assert len(mask(text).text) == len(text)
    assert list(statements(f"{text} SELECT 1"))
    assert time.process_time() - started < 5


def test_what_may_be_anything_is_named_as_it_is_written(catalog: Catalog) -> None:
    text = "SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE d.year = {{ this_year }}"
    (candidate,) = rewrite(text, catalog).candidates
    reason = candidate.reason
    assert reason is not None
    assert (
        "`{{ this_year }}` in the fact's SELECT is not known to be deterministic" in reason.message
    )


NOTEBOOK = """-- Databricks notebook source
 %md
 It isn't SQL; SELECT 1 FROM no

-- COMMAND ----------

 %sql
SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE d.year = 2024

-- COMMAND ----------

-- MAGIC %sql
-- MAGIC SELECT 2 FROM no
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_cells_in_other_languages_are_blank(catalog: Catalog, ends: str) -> None:
    text = NOTEBOOK.replace("\n", ends)
    masked = mask(text)
    assert len(masked.text) == len(text)
    assert masked.text.count(";") == 2
    assert "no" not in masked.text.replace("-- MAGIC SELECT 2 FROM no", "").split()
    result = rewrite(text, catalog)
    assert [candidate.verdict.value for candidate in result.candidates] == ["rewritten"]
    assert not result.errors


@pytest.mark.parametrize(
    "command", ["dfs -rm -r /tmp/x/*;", "  DFS -ls /a/*/b/'; ", "-- it's\ndfs -put a--b /x/`/*;"]
)
@pytest.mark.parametrize("before", ["", "USE dw;\n"])
def test_a_path_of_hdfs_opens_no_comment(before: str, command: str) -> None:
    text = f"{before}{command}\nSELECT 1 /* one */ FROM t;\nSELECT 2 FROM t"
    read_ones = [statement for statement in statements(text) if statement.tree is not None]
    assert [
        text[statement.tokens[0].start : statement.tokens[1].end + 1] for statement in read_ones
    ] == [
        "SELECT 1",
        "SELECT 2",
    ]


@pytest.mark.parametrize(
    "text", ["SELECT dfs -1 /* a; */ FROM t", "SELECT 'a;\ndfs -rm /*' FROM t"]
)
def test_what_is_no_command_of_hdfs_stays(text: str) -> None:
    assert mask(text).text.count("/*") == text.count("/*")


_JOINED = "{% if not loop.last %},{% endif %}"


@pytest.mark.parametrize(
    ("text", "commas"),
    [
        ("SELECT a{% for x in y %}, {{ x }} AS b_{{ x }}{% endfor %} FROM t", (True, False)),
        ("SELECT {% for x in y %} f({{ x }}, 1), {% endfor %} a FROM t", (False, True)),
        ("SELECT {% for x in y -%} f({{ x }}), {% endfor -%} a FROM t", (False, True)),
        (f"SELECT {{% for x in y %}} {{{{ x }}}}{_JOINED} {{% endfor %}} FROM t", (False, False)),
        (
            "SELECT a IN ({% for x in y %}'{{ x }}'{{ ',' if not loop.last }}{% endfor %})",
            (False,) * 2,
        ),
        (
            "SELECT {% for x in y %} {% if x %} a, {% else %} b, {% endif %} {% endfor %} c",
            (False, True),
        ),
        ("SELECT {% for x in y %} sum(a) OVER (ORDER BY b), {% endfor %} c", (False, True)),
        ("SELECT {% for x in y %} CASE WHEN a AND b THEN 1 END, {% endfor %} c", (False, True)),
    ],
)
def test_a_loop_over_items(text: str, commas: tuple[bool, bool]) -> None:
    block = loop(text, text.index("{%"))
    assert block is not None
    assert text[: block.end].endswith("endfor -%}" if "-%}" in text else "endfor %}")
    assert (block.leads, block.trails) == commas
    masked = mask(text)
    assert len(masked.text) == len(text)
    assert not masked.obstacles


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t {% for x in y %} JOIN u ON 1 {% endfor %}",
        "SELECT a FROM t WHERE b {% for x in y %} OR {{ x }} {% endfor %}",
        "SELECT {% for x in y %} (a, {% endfor %} b",
        "SELECT {% for x in y %} a), ( {% endfor %} b",
        "SELECT {% for x in y %} (SELECT 1), {% endfor %} b",
        "SELECT {% for x in y %} 'a, {% endfor %} b",
        "SELECT {% for x in y %} a, -- b\n {% endfor %} b",
        "SELECT {% for x in y %} a; {% endfor %} b",
        "SELECT {% for x in y %} {% set z = x %} a, {% endfor %} b",
        "SELECT {% for x in y %} {% for z in x %} a, {% endfor %} {% endfor %} b",
        "SELECT a {%- for x in y -%} b {%- endfor %} FROM t",
        "SELECT a{% for x in y %}, b {% endfor -%} c FROM t",
        "SELECT {% for x in y %} , a, {% endfor %} b",
        "SELECT {% for x in y %} {% if x %} a, {% else %} b {% endif %} {% endfor %} c",
        "SELECT a{% for x in y %}, 'b'{% endfor %}'c'",
        "SELECT {% for x in y %} {{- x }}, {% endfor %} a",
        "SELECT {% for x in y %} a",
    ],
)
def test_what_is_no_loop_over_items(text: str) -> None:
    assert loop(text, text.index("{%")) is None
    assert mask(text).obstacles


@pytest.mark.parametrize("word", ["test", "snapshot"])
def test_queries_of_blocks_are_statements(word: str) -> None:
    text = "\n".join(f"{{% {word} a{n} %}} SELECT {n} {{% end{word} %}}" for n in (1, 2))
    queries = list(statements(text))
    assert [query.failure for query in queries] == [None, None]
    assert [statement.tokens[-1].text for statement in queries] == ["1", "2"]
