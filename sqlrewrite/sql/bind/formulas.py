"""The expression that computes a derived column, read as Spark reads it.

In: a table, and the text of an expression over its columns. Out: a ``Formula``, which gives the
text with something else in place of the column; or why it cannot be read.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct
from sqlglot import exp

from sqlrewrite.plan.algebra import Call, Expression, Plan, Unknown
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.sql.bind.binder import bind
from sqlrewrite.sql.parse.statements import Statement, statements
from sqlrewrite.warehouse import Table, Warehouse

_BEFORE, _BEHIND = "SELECT 1 FROM spark_catalog.default.t WHERE (", ") IS NULL"
_NO_EXPRESSION = "it cannot be read as an expression"
_NAME = ("spark_catalog", "default", "t")
_NAMED = re.compile(r"[\w.`]+")
_OPENS_CALL = re.compile(r"\w+\(")
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_COMMENT = re.compile(r"--|/\*|;")
_TO_INT = re.compile(r"('[^']*')|\bAS\s+(?:INT|INTEGER|BIGINT|LONG)\s*\)", re.IGNORECASE)
_CALLED = re.compile(r"\b(cast|to_date)(?=(\s*\())", re.IGNORECASE)


class Formula(Struct, frozen=True, eq=False):
    """An expression over one column of a table: its text and plan, and the spans of the column's
    name in the text."""

    text: str
    expression: Expression
    plan: Plan
    source: str
    spans: tuple[tuple[int, int], ...]

    def of(self, expression: Expression) -> Type | None:
        """The type of a part of this expression; None if unknown."""
        return type_of(self.plan, expression)

    def over(self, value: str) -> str:
        """The text of this expression with a value in place of the column."""
        inside = value if is_call(value) or _NAMED.fullmatch(value) else f"({value})"
        replaced, end = "", 0
        for start, stop in self.spans:
            around = self.text[end:start].endswith(("(", ", ")) and self.text[stop:][:1] in ",)"
            replaced += self.text[end:start] + (value if around else inside)
            end = stop
        return replaced + self.text[end:]


def is_call(text: str) -> bool:
    """Whether a text is one call, from its first to its last character."""
    if not (_OPENS_CALL.match(text) and text.endswith(")")):
        return False
    return _arguments(_without_strings(text))[0] == len(text) - 1


def with_try_casts(text: str) -> str:
    """The text with casts that give NULL in place of an error, in functions that Spark 3.5 has."""
    for call in reversed(list(_CALLED.finditer(_without_strings(text)))):
        start, behind = call.start(), text[call.end() :]
        if call[1].lower() == "cast":
            text = f"{text[:start]}try_cast{behind}"
            continue
        end, pattern = _arguments(_without_strings(behind))
        inside, rest = behind[len(call[2]) : end], behind[end + 1 :]
        day = f"CAST(try_to_timestamp({inside})" if pattern else f"try_cast({inside}"
        text = f"{text[:start]}{day} AS DATE){rest}"
    return text


def _without_strings(text: str) -> str:
    """The text with each string blanked by quotes, so that offsets stay the same."""
    return _STRING.sub(lambda it: "'" * len(it[0]), text)


def _arguments(call: str) -> tuple[int, bool]:
    """The offset of the parenthesis at the end of a call's arguments, and whether these are
    several."""
    depth, comma = 0, False
    for at, sign in enumerate(call):
        depth += (sign == "(") - (sign == ")")
        comma = comma or (sign == "," and depth == 1)
        if sign == ")" and depth == 0:
            return at, comma
    return len(call), comma


def with_bigint_casts(text: str) -> str | None:
    """The text with its casts to INT or BIGINT made casts to BIGINT; None if it has none."""
    casts = [match for match in _TO_INT.finditer(text) if match[1] is None]
    return _TO_INT.sub(lambda it: it[1] or "AS BIGINT)", text) if casts else None


def why_unreadable(text: str) -> str | None:
    """Why a text is not an expression of SQL; None if it is one."""
    tree = _read(text)
    return tree if isinstance(tree, str) else None


def _read(text: str) -> tuple[exp.Expr, str] | str:
    """The tree and the text of a query that holds the expression in its WHERE; or why it cannot be
    read."""
    if _COMMENT.search(_STRING.sub("''", text)):
        return "it holds a comment or a semicolon"
    whole = f"{_BEFORE}{text}{_BEHIND}"
    parts: list[Statement] = list(statements(whole))
    tree = parts[0].tree if len(parts) == 1 and parts[0].failure is None else None
    return (tree, whole) if tree is not None and text.strip() else _NO_EXPRESSION


@lru_cache(maxsize=256)
def formula(text: str, table: Table) -> Formula | str:
    """The expression of a derived column of a table; or the reason why it cannot be used."""
    read = _read(text)
    if isinstance(read, str):
        return read
    bare = Table(_NAME, table.columns, complete=table.complete)
    bound = bind(*read, Warehouse().with_relation(bare))
    if bound is None or len(bound.plan.blocks) != 1 or len(bound.plan.blocks[0].where) != 1:
        return _NO_EXPRESSION
    block = bound.plan.blocks[0]
    condition = block.where[0].expression
    if not isinstance(condition, Call) or condition.name != "isnull" or block.unknown_syntax:
        return _NO_EXPRESSION
    expression = condition.args[0]
    strange = next((node for node in walk(expression) if isinstance(node, Unknown)), None)
    if strange is not None:
        return strange.reason
    refs = columns(expression)
    names = {ref.name for ref in refs}
    if len(names) != 1:
        return "it is over several columns" if names else "it names no column of the table"
    if any(ref.span is None for ref in refs):
        return _NO_EXPRESSION
    at = len(_BEFORE)
    spans = sorted((ref.span.start - at, ref.span.end - at) for ref in refs if ref.span is not None)
    return Formula(text, expression, bound.plan, names.pop(), tuple(spans))
