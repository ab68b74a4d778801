"""The type of a function's result, read off the table of functions and its rules."""

from __future__ import annotations

import pytest

from sqlrewrite.plan.facts.functions import Arguments, function, names, signature
from sqlrewrite.plan.facts.result_rules import RESULTS
from sqlrewrite.plan.facts.result_types import lambda_parameters, result_type
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import ExactSettings

ANSI = ExactSettings(ansi=True)


def _call(kinds: str, literals: tuple[str | None, ...] = ()) -> Arguments:
    return Arguments(tuple(parse(part) for part in kinds.split(";") if part), ANSI, literals)


@pytest.mark.parametrize(
    ("name", "kinds", "literals", "expected"),
    [
        ("substr", "string;int", (), "string"),
        ("coalesce", "int;bigint", (), "bigint"),
        ("sum", "decimal(7,2)", (), "decimal(17,2)"),
        ("avg", "decimal(7,2)", (), "decimal(11,6)"),
        ("round", "decimal(7,2);int", (None, "1"), "decimal(7,1)"),
        ("round", "decimal(7,2);int", (), None),
        ("mod", "decimal(7,2);int", (None, "10"), "decimal(4,2)"),
        ("element_at", "map<string,int>;string", (), "int"),
        ("map_entries", "map<string,int>", (), "array<struct<key:string,value:int>>"),
        ("from_json", "string;string", (None, "a INT, b STRING"), "struct<a:int,b:string>"),
        ("upper", "string collate UTF8_LCASE", (), "string collate UTF8_LCASE"),
        ("no_such_function", "int", (), None),
    ],
)
def test_a_result_follows_from_the_arguments(
    name: str, kinds: str, literals: tuple[str | None, ...], expected: str | None
) -> None:
    result = result_type(name, _call(kinds, literals))
    assert (result and str(result)) == expected


def test_a_lambda_knows_its_parameters() -> None:
    lambdas = lambda_parameters("map_zip_with", _call("map<int,string>;map<int,double>;int"))
    assert [[str(parameter) for parameter in parameters] for parameters in lambdas] == [
        ["int", "string", "double"]
    ]


def test_an_argument_of_unknown_type_gives_none_where_the_result_depends_on_it() -> None:
    assert result_type("coalesce", Arguments((None, parse("int")), ANSI)) is None
    assert str(result_type("length", Arguments((None,), ANSI))) == "int"


def test_each_rule_is_used() -> None:
    used = {signature(row.signature).result for name in names() if (row := function(name))}
    assert set(RESULTS) <= used
