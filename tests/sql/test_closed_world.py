"""The closed world: what is not in the table is unknown, and each row of the table is needed."""

from __future__ import annotations

import pytest
from sqlglot import exp

from sqlrewrite.sql.bind import closed_world
from sqlrewrite.sql.parse.statements import parse_tokens, tokenize

# Of the arguments that sqlglot knows, those that no row allows. A release of sqlglot that has more
# of them shows here: read what they mean, and decide.
REFUSED: dict[str, str] = {
    "Select": "connect exclude for_ format into kind locks match operation_modifiers options "
    "pivots prewhere sample settings",
    "Lambda": "colon",  # before 30.25
    "Join": "directed expressions global_ hint match_condition nearest",
    "Group": "totals",
    "LimitOptions": "percent with_ties",
    "Order": "siblings this",
    "Sort": "siblings this",
    "Distribute": "siblings this",
    "Ordered": "with_fill",
    "Limit": "expressions limit_options offset this",
    "Offset": "expressions this",
    "Window": "first",
    "WindowSpec": "exclude",
    "Star": "ilike rename replace",
    "Column": "join_mark shadow",
    "Identifier": "global_ temporary",
    "HexString": "is_integer",
    "Placeholder": "jdbc kind widget",
    "Cast": "action default format safe",
    "TryCast": "action default format null_on_text_overflow probe_date_format safe",
    "DataType": "kind nullable values",
    "DataTypeParam": "expression",
    "ColumnDef": "constraints default exists output position",
    "Concat": "safe",
    "Between": "symmetric",
    "In": "field is_global unnest",
    "Is": "negate",
    "RegexpLike": "flag full_match",
    "Exists": "expression",
    "If": "false",
    "Div": "safe typed",
    "DPipe": "safe",
    "BitwiseAnd": "padside",
    "BitwiseOr": "padside",
    "BitwiseXor": "padside",
    "BitwiseLeftShift": "requires_int128",
    "BitwiseRightShift": "requires_int128",
    "Bracket": "json_access offset returns_list_for_maps safe",
    "JSONExtract": "emits expressions json_query on_condition only_json_types option quote",
    "Distinct": "on",
    "StrPosition": "clamp_position occurrence position",
    "Trim": "collation",
}

TEXTS = [
    "WITH c AS (SELECT 1) SELECT /*+ BROADCAST(t) */ DISTINCT a AS b, t.*, x.y.z FROM c t",
    "SELECT * EXCEPT (a) FROM t JOIN u ON t.a = u.a LEFT JOIN v USING (b) NATURAL JOIN w",
    "SELECT stack(1, a, b) AS (c, d) FROM t LATERAL VIEW explode(a) x AS y WHERE a <> 1",
    "SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 1 QUALIFY rank() OVER w = 1 WINDOW w AS"
    " (PARTITION BY a ORDER BY b DESC NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "SELECT a FROM t GROUP BY ALL ORDER BY a LIMIT 1 OFFSET 2",
    "SELECT a FROM t GROUP BY a, CUBE (b), ROLLUP (c), GROUPING SETS ((a), ())",
    "SELECT a FROM t GROUP BY a WITH ROLLUP",
    "SELECT a FROM t GROUP BY a, b GROUPING SETS ((a), (b))",
    "SELECT a FROM t FETCH FIRST 1 ROWS ONLY",
    "SELECT a FROM t DISTRIBUTE BY a SORT BY b",
    "SELECT a FROM t CLUSTER BY a",
    "SELECT 'x', r'x', X'1F', true, NULL, ?, :p, INTERVAL 1 DAY, INTERVAL '1 2' DAY TO HOUR",
    "SELECT CAST(a AS STRUCT<x: DECIMAL(7, 2)>), TRY_CAST(a AS STRING COLLATE UTF8_LCASE), a::int",
    "SELECT a COLLATE UTF8_LCASE, 'a' 'b', dateadd(DAY, 1, a)",
    "SELECT 1 WHERE NOT (a AND b OR c = d) AND a <=> b AND a IS DISTINCT FROM b AND a IS NULL",
    "SELECT 1 WHERE a < b AND a <= b AND a >= b AND a BETWEEN 1 AND 2 AND a IN (1) AND b > 1",
    "SELECT 1 WHERE a IN (SELECT 1) AND a LIKE ANY ('x') AND a NOT ILIKE ALL ('x') AND a RLIKE 'x'",
    "SELECT 1 WHERE a LIKE b ESCAPE '/' AND EXISTS (SELECT 1) AND CASE a WHEN 1 THEN 2 ELSE b END",
    "SELECT a + b - c * d / e % f DIV g || h & i | j ^ ~k << l >> -m, a[1], f(a).b, (a, b), a:b",
    "SELECT count(DISTINCT a) FILTER (WHERE b), f(a => 1), g(a, x -> x), first(a) IGNORE NULLS",
    "SELECT listagg(a) WITHIN GROUP (ORDER BY b), lead(a) RESPECT NULLS OVER (ORDER BY a)",
    "SELECT EXTRACT(year FROM a), POSITION(a IN b), TRIM(BOTH 'x' FROM a)",
]

STRANGE = [
    "SELECT AS STRUCT a FROM t",
    "SELECT [1]",
    "SELECT TRANSFORM (a) USING 'cat' AS (b) FROM t",
    "SELECT a FROM t FOR UPDATE",
    "SELECT INTERVAL + 1",
    "SELECT a FROM t FETCH FIRST 1 ROWS WITH TIES",
]


def parsed(text: str) -> exp.Expr:
    return parse_tokens(tokenize(text), text)


def reasons(text: str) -> list[str]:
    tree = parsed(text)
    return [
        reason
        for node in tree.find_all(exp.Select)
        for reason in closed_world.not_understood(node, text)
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_understood_is_not_strange(text: str) -> None:
    assert reasons(text) == []


@pytest.mark.parametrize("text", STRANGE)
def test_what_is_not_in_the_table_is_strange(text: str) -> None:
    assert reasons(text) != []


@pytest.mark.parametrize("kind", closed_world.UNDERSTOOD, ids=lambda kind: kind.__name__)
def test_without_its_row_a_kind_is_strange(
    kind: type[exp.Expr], monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind is exp.Select:
        return  # the walk begins at one
    monkeypatch.delitem(closed_world.UNDERSTOOD, kind)
    assert any(reasons(text) for text in TEXTS)


def test_an_argument_beyond_its_row_is_strange() -> None:
    for kind, allowed in closed_world.UNDERSTOOD.items():
        refused = set(kind.arg_types) - allowed
        named = set(REFUSED.get(kind.__name__, "").split())
        assert refused == named & set(kind.arg_types), kind  # an older sqlglot has fewer
        for name in refused:
            odd = kind(**{name: exp.Literal.string("x")})
            select = odd if isinstance(odd, exp.Select) else exp.Select(where=exp.Where(this=odd))
            assert list(closed_world.not_understood(select, "")), (kind, name)


def test_a_kind_without_a_row_is_strange() -> None:
    unknown = {
        kind
        for kind in exp.Expression.__subclasses__()
        if kind not in closed_world.UNDERSTOOD and kind not in closed_world._ELSEWHERE
    }
    assert unknown
    for kind in unknown:
        if not issubclass(kind, exp.Query):
            select = exp.Select(where=exp.Where(this=kind()))
            assert list(closed_world.not_understood(select, "")), kind
