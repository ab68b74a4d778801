"""Expressions of random operators are read as Spark reads them.

Each is parsed by us, written again with all its parentheses, and must then be the same to Spark's
own parser as the text was without them.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from sqlglot import exp
from sqlglot.errors import ParseError

from sqlrewrite.sql.parse.statements import parse_tokens, tokenize

pytestmark = pytest.mark.spark

BINARY: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseAnd: "&",
    exp.Add: "+",
    exp.Sub: "-",
    exp.DPipe: "||",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "DIV",
    exp.And: "AND",
    exp.Or: "OR",
    exp.RegexpLike: "RLIKE",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
    exp.Like: "LIKE",
    exp.ILike: "ILIKE",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.Is: "IS",
}
OPERATORS = [
    *("= <> == != < <= > >= <=> | ^ & + - || * / % DIV AND OR << >> >>> RLIKE LIKE ILIKE".split()),
    *("NOT LIKE", "NOT RLIKE", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN", "LIKE ANY"),
    *("NOT LIKE ALL", "IS NULL", "IS TRUE", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"),
]
OPERANDS = ["a", "b", "1", "'x'", "f(a)", "a[1]", "NULL", "a::int", "a COLLATE x", "(a OR b)"]
PREFIXES = [*[""] * 8, "- ", "~ ", "+ ", "NOT ", "!"]


def written(random: Random) -> str:
    def operand() -> str:
        return random.choice(PREFIXES) + random.choice(OPERANDS)

    text = operand()
    for _ in range(random.randint(1, 5)):
        operator = random.choice(OPERATORS)
        text += f" {operator}"
        if operator.endswith("BETWEEN"):
            text += f" {operand()} AND {operand()}"
        elif operator.endswith(("IN", "ANY", "ALL")):
            text += f" ({operand()}, {operand()})"
        elif operator not in ("IS NULL", "IS TRUE"):
            text += f" {operand()}"
    return text


def listed(nodes: list[exp.Expr]) -> str:
    return f"({', '.join(map(parenthesised, nodes))})"


def parenthesised(node: exp.Expr) -> str:
    operator = BINARY.get(type(node))
    match node:
        case exp.Paren():
            return parenthesised(node.this)
        case exp.Is() if isinstance(node.parent, exp.Not):
            return f"({parenthesised(node.this)} IS NOT {parenthesised(node.expression)})"
        case exp.Like(expression=exp.Any() | exp.All() as patterns):
            operator = f"{operator} {type(patterns).__name__.upper()}"
            operator = f"NOT {operator}" if node.args.get("negate") else operator
            parts = listed(patterns.this.expressions)
            return f"({parenthesised(node.this)} {operator} {parts})"
        case _ if operator is not None:
            operator = f"NOT {operator}" if node.args.get("negate") else operator
            return f"({parenthesised(node.this)} {operator} {parenthesised(node.expression)})"
        case exp.Not(this=exp.Is()):
            return parenthesised(node.this)
        case exp.Not() | exp.Neg() | exp.BitwiseNot():
            sign = {exp.Not: "NOT", exp.Neg: "-", exp.BitwiseNot: "~"}[type(node)]
            return f"({sign} {parenthesised(node.this)})"
        case exp.Between():
            low, high = parenthesised(node.args["low"]), parenthesised(node.args["high"])
            return f"({parenthesised(node.this)} BETWEEN {low} AND {high})"
        case exp.In():
            return f"({parenthesised(node.this)} IN {listed(node.expressions)})"
        case exp.Collate():
            return f"({parenthesised(node.this)} COLLATE {node.expression.name})"
        case exp.Bracket():
            return f"{parenthesised(node.this)}[{parenthesised(node.expressions[0])}]"
        case exp.Anonymous(name="positive"):
            return f"(+ {parenthesised(node.expressions[0])})"
        case exp.Anonymous(name="shiftrightunsigned", expressions=[left, right]):
            return f"({parenthesised(left)} >>> {parenthesised(right)})"
        case exp.Anonymous():
            return node.name + listed(node.expressions)
        case _:
            return node.sql("spark")


def test_operators_bind_as_in_spark(spark: Any) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()

    def read(text: str) -> str | None:
        try:
            shown: str = parser.parseExpression(text).toString()
        except Exception:  # what Spark refuses does not matter
            return None
        return shown.replace("NOT isnull(", "isnotnull(")

    random, same = Random(14), 0
    for _ in range(400):  # of which Spark 3.5 refuses the most
        text = written(random)
        query = f"SELECT {text}"
        try:
            (ours,) = parse_tokens(tokenize(query), query).expressions
        except ParseError:
            continue  # left alone
        theirs = read(text)
        if theirs is not None:
            assert read(parenthesised(ours)) == theirs, text
            same += 1
    assert same > 60
