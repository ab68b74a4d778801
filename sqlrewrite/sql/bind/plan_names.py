"""Names in the plan of what sqlglot has classes for: operators, functions, types, fields of
intervals."""

from __future__ import annotations

from sqlglot import exp

from sqlrewrite.text.templates import is_template

_SIGNS = (
    "EQ = NEQ <> NullSafeEQ <=> LT < LTE <= GT > GTE >= Add + Sub - Mul * Div / Mod % DPipe ||"
    " Dot . Bracket [] BitwiseAnd & BitwiseOr | BitwiseXor ^ BitwiseNot ~ StrPosition position"
    " RegexpLike rlike IntDiv div BitwiseLeftShift shiftleft BitwiseRightShift shiftright"
).split()
_WORDS = "Between Like ILike Case If Trim Distinct Order Ordered Tuple Concat".split()

OPERATORS: dict[type[exp.Expr], str] = {
    **{getattr(exp, kind): sign for kind, sign in zip(_SIGNS[::2], _SIGNS[1::2], strict=True)},
    **{getattr(exp, kind): kind.lower() for kind in _WORDS},
    exp.Filter: "filter where",
    exp.WithinGroup: "within group",
    exp.IgnoreNulls: "ignore nulls",
    exp.RespectNulls: "respect nulls",
}

# Functions called without parentheses if no column has the name (LiteralFunctionResolution).
LITERAL_FUNCTIONS = {
    **{name: name for name in ("current_date", "current_time", "current_timestamp", "localtime")},
    **dict.fromkeys(("current_user", "session_user", "user"), "current_user"),
}

_TYPE_NAMES = {
    "TEXT": "string",
    "DECIMAL": "decimal(10,0)",
    "TIMESTAMPTZ": "timestamp",
    "TIMESTAMPLTZ": "timestamp",
    "TIMESTAMPNTZ": "timestamp_ntz",
}

# Functions that cast to the type of their name (Spark's FunctionRegistry.castAlias).
CAST_FUNCTIONS = frozenset(
    "boolean tinyint smallint int bigint float double decimal date timestamp binary string".split()
)

# Fields of intervals by the units that they are written in (``IntervalUtils`` of Spark 4.3).
_FIELDS = {
    **{unit: unit for unit in ("year", "month", "day", "hour", "minute", "second")},
    "week": "day",
    "millisecond": "second",
    "microsecond": "second",
}


def function_name(node: exp.Expr) -> str:
    """The name of the function that is called, in lower case; a template as written."""
    name: str = node.name
    if is_template(name):
        return name
    # A function behind a qualifier (db.f) is the user's own, whatever its last name says.
    if isinstance(node.parent, exp.Dot) and node.parent.expression is node:
        return f"{node.parent.this.name.lower()}.{name.lower()}"
    return name.lower()


def type_name(node: exp.Expr) -> str:
    """A type as Spark writes it, lower case: ``int``, ``decimal(7,2)``, ``char(5)``."""
    plain = str(node.this.value) if hasattr(node.this, "value") else str(node.this)
    collation = node.args.get("collate")
    if collation is not None and collation.name.lower() != "utf8_binary":
        return f"string collate {collation.name.lower()}"
    if not node.expressions:
        return _TYPE_NAMES.get(plain, plain.lower())
    if plain == "DECIMAL" and all(
        isinstance(expression.this, exp.Literal) for expression in node.expressions
    ):
        return f"decimal({','.join(expression.name for expression in node.expressions)})"
    if plain in ("ARRAY", "MAP") and all(
        isinstance(expression, exp.DataType) for expression in node.expressions
    ):
        return f"{plain.lower()}<{','.join(map(type_name, node.expressions))}>"
    if plain == "STRUCT" and all(
        isinstance(expression, exp.ColumnDef) for expression in node.expressions
    ):
        return f"struct<{','.join(map(_field, node.expressions))}>"
    if plain == "TIME":  # which sqlglot writes as TIMESTAMP
        return f"time({','.join(expression.name for expression in node.expressions)})"
    return node.sql("spark").lower().replace(" ", "")


def _field(node: exp.Expr) -> str:
    """A field of a struct's type, its name as written."""
    name = node.name.replace("`", "``")
    return f"`{name}`:{type_name(node.args['kind'])}"


def interval_name(unit: exp.Expr) -> str:
    """The type of an interval by its unit; empty for an unknown unit."""
    names = (unit.this, unit.expression) if isinstance(unit, exp.IntervalSpan) else (unit,)
    fields = [_FIELDS.get(name.name.lower().removesuffix("s"), "") for name in names]
    return f"interval {' to '.join(fields)}" if all(fields) else ""
