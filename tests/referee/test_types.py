"""Types: what a text means, what two have in common, what operators return: asked of Spark."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from sqlrewrite.plan.facts.types import collation, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

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
        found = parse(text)
        assert (found and str(found)) == expected, text
        if found is not None:
            assert parse(found.ddl) == found == pickle.loads(pickle.dumps(found))


def test_collations_are_spelled_as_spark_spells_them(spark: SparkSession) -> None:
    names = [row.NAME for row in spark.sql("SELECT name AS NAME FROM collations()").collect()]
    assert len(names) > 1000
    assert [name for name in names if collation(name.lower()) != name] == []
