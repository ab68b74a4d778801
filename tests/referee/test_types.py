"""Types: what a text means, what two have in common, what operators return: asked of Spark."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from sqlrewrite.plan.facts.coercion import common_of_all, comparison_type, in_list
from sqlrewrite.plan.facts.operator_types import binary, unary
from sqlrewrite.plan.facts.type_text import collation, parse
from sqlrewrite.plan.facts.types import ExactSettings, Type
from tests.referee.matrix import analysed, create, result_types

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.usefixtures("settings_kept"),
]

# Both what Spark reads and what it does not.
TEXTS = """
boolean|bool|tinyint|byte|SMALLINT|short|int|Integer|bigint|LONG|float|real|double|double precision
decimal|dec|numeric|decimal(5)|dec(5)|DECIMAL (5 , 2)|numeric(38,38)|decimal(39,1)|decimal(5,6)
decimal(5,-2)|decimal(0,0)|decimal(5,2,1)|decimal(+5)|string|string(5)|text|binary|binary(5)|bytes
string collate unicode_ci|string collate UTF8_BINARY|string collate utf8_lcase|string collate foo
string collate DE_RTRIM_CI|string  COLLATE  `unicode`|string collate sr_cyrl_srb_as_ci_rtrim
string collate de_ci_cs|char(5) collate unicode|varchar(5) collate unicode_ci|bytes
variant collate unicode
char(5)|character(5)|char|varchar(10)|varchar|char(0)|nchar(5)|int(5)|int unsigned|float(5)|date(3)
date|timestamp|timestamp_ltz|timestamp_ntz|timestamp without time zone|timestamp(3)|timestamp(6)
timestamp with local time zone|timestamp with time zone|timestamp_ltz(6)|timestamp_ntz(6)
time|time(6)|time(0)|time without time zone|time(3) without time zone
interval|interval year|interval month|interval year to month|interval month to year|interval week
interval day|interval day to hour|interval day to minute|interval day to second|interval hour
interval hour to minute|interval hour to second|interval minute to second|interval minute
interval second|interval second to second|variant|void|null|json|object|udt|`int`
array<int>|ARRAY <array<decimal>>|array<int|array<int,int>|array<int not null>
map<string,int>|map<int>
struct<>|struct<a:int,b:string>|struct<a int, b: string collate unicode_ci comment 'x'>|struct<int>
struct<A:int not null,`b c`:int,`x``y`:int>|struct<`a.b`:int>|struct<a:int comment "x" r'y\\'>
struct<a:int comment 'it\\'s' >|struct<a:int,a:int>|struct<1a:int>
struct<select:array<map<int,date>>>
struct<"a":int>|struct<'a':int>|struct<a:int,>|struct<a:int default 5>|geometry|geometry(4326)
geometry(any)|geography(4326)|geography(any)
"""


def test_texts_are_read_as_spark_reads_them(spark: SparkSession) -> None:
    assert spark._jvm is not None
    ddl = spark._jvm.org.apache.spark.sql.types.DataType
    for text in TEXTS.strip().replace("\n", "|").split("|"):
        try:
            expected = ddl.fromDDL(text).catalogString()
        except Exception:
            expected = None
        parsed = parse(text)
        assert (parsed and str(parsed)) == expected, text
        if parsed is not None:
            assert parse(parsed.ddl) == parsed == pickle.loads(pickle.dumps(parsed))


def test_collations_are_spelled_as_spark_spells_them(spark: SparkSession) -> None:
    names = [row.NAME for row in spark.sql("SELECT name AS NAME FROM collations()").collect()]
    assert len(names) > 1000
    assert [name for name in names if collation(name.lower()) != name] == []


# Each kind of type, and of those with numbers some that meet in one that is too wide.
TYPES = """
boolean|tinyint|int|bigint|float|double|decimal(5,2)|decimal(10,0)|decimal(38,0)|decimal(38,18)|
decimal(38,37)|string|string collate UNICODE_CI|binary|date|timestamp|timestamp_ntz|time(3)|time(6)|
interval|interval year|interval month|interval day|interval hour to second|array<int>|array<string>|
map<string,int>|map<string,bigint>|struct<a:int>|struct<A:bigint>|struct<a:int,b:date>|variant|void
""".replace("\n", "").split("|")

PAIRS = [(one, other) for one in TYPES for other in TYPES]
NUMBERS = [(TYPES.index(one), TYPES.index(other)) for one, other in PAIRS]

# A date and a string that has a collation of its own: Spark takes some of them, we none.
_LEFT_OPEN = "string collate UNICODE_CI"


@pytest.fixture(scope="module")
def typed(spark: SparkSession) -> SparkSession:
    create(spark, TYPES)
    return spark


@pytest.mark.turns(3)
@pytest.mark.parametrize("ansi", [True, False])
@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "%", "div", "&", "||", "coalesce"])
def test_results_of_operators(typed: SparkSession, sign: str, ansi: bool) -> None:
    typed.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    form = "coalesce(c{}, c{})" if sign == "coalesce" else f"(c{{}} {sign} c{{}})"
    expected = result_types(typed, [form.format(*number) for number in NUMBERS])
    assert any(expected)
    for (one, other), spark_type in zip(PAIRS, expected, strict=True):
        result = _result(sign, _read(one), _read(other), ExactSettings(ansi))
        open_here = sign in "+-" and result is None and _LEFT_OPEN in (one, other)
        assert open_here or result == spark_type, (one, sign, other)


def _result(sign: str, one: Type, other: Type, settings: ExactSettings) -> str | None:
    if sign == "coalesce":
        result = common_of_all((one, other), settings.ansi)
    else:
        result = binary(sign, one, other, settings)
    return None if result is None else str(result)


@pytest.mark.parametrize("ansi", [True, False])
def test_decimals_without_loss_of_precision(typed: SparkSession, ansi: bool) -> None:
    numbers = [n for n, kind in enumerate(TYPES) if kind.startswith("decimal") or kind == "bigint"]
    pairs = [(one, sign, other) for one in numbers for other in numbers for sign in "+-*/%"]
    typed.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    typed.conf.set("spark.sql.decimalOperations.allowPrecisionLoss", "false")
    try:
        results = result_types(typed, [f"(c{one} {sign} c{other})" for one, sign, other in pairs])
    finally:
        typed.conf.unset("spark.sql.decimalOperations.allowPrecisionLoss")
    for (one, sign, other), expected in zip(pairs, results, strict=True):
        settings = ExactSettings(ansi, precision_loss=False)
        assert _result(sign, _read(TYPES[one]), _read(TYPES[other]), settings) == expected


@pytest.mark.parametrize("ansi", [True, False])
def test_results_of_unary_operators(typed: SparkSession, ansi: bool) -> None:
    typed.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    for sign in "-+~":
        expected = result_types(typed, [f"({sign} c{n})" for n in range(len(TYPES))])
        results = [unary(sign, _read(kind)) for kind in TYPES]
        assert [result and str(result) for result in results] == expected


@pytest.mark.turns(3)
@pytest.mark.parametrize("ansi", [True, False])
@pytest.mark.parametrize("sign", ["=", "<=>", "<", "IN"])
def test_comparisons_cast_both_sides_to_one_type(
    typed: SparkSession, sign: str, ansi: bool
) -> None:
    typed.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    form = "c{} IN (c{})" if sign == "IN" else f"(c{{}} {sign} c{{}})"
    for (one, other), text in zip(
        PAIRS, analysed(typed, [form.format(*number) for number in NUMBERS]), strict=True
    ):
        first, second = _read(one), _read(other)
        if sign == "IN":
            type_ = in_list((first, second), ansi)
        else:
            type_ = comparison_type(first, second, ansi, sign != "<")
        if text is None or type_ is None:
            assert (text, type_) == (None, None), (one, sign, other)
            continue
        sides = text.removesuffix(")").split(f" {sign} ", 1)
        for side, own in zip(sides, (one, other), strict=True):
            if "null" in side:
                continue  # NULL itself takes the type of the other side
            cast = side.rsplit(" as ", 1)[-1] if "cast(" in side else own
            assert cast.rstrip(")").lower() == str(type_).rstrip(")").lower(), (one, other, text)


def _read(text: str) -> Type:
    parsed = parse(text)
    assert parsed is not None
    return parsed
