"""The closed world: each kind of node that the binder understands, with the arguments it may have.

Anything else in a block makes the block unknown: a syntax that a new Spark brings, an argument that
a new sqlglot sets, a construct of another dialect. What stands in FROM is judged by
``from_clause``, which makes an unknown relation of it; nested queries are blocks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

_UNDERSTOOD = """
with_ expressions hint distinct from_ joins laterals where group having qualify windows order sort \
distribute cluster limit offset: Select
this: Where Having Qualify From RawString HexString Placeholder Var DataTypeParam Not Paren Any \
All Exists BitwiseNot Neg IgnoreNulls RespectNulls Boolean
this on side kind using method pivots: Join
expressions all grouping_sets cube rollup: Group
expressions: GroupingSets Cube Rollup Order Sort Distribute Cluster Tuple Distinct
this desc nulls_first: Ordered
expression: Limit Offset
direction count limit_options: Fetch
rows: LimitOptions
this partition_by order spec alias over: Window
kind start start_side end end_side: WindowSpec
this alias: Alias
this expressions: Aliases Bracket Anonymous Lambda
except_: Star
this table db catalog: Column
this quoted: Identifier
this is_string: Literal
: Null
this unit fraction_in_string: Interval
this to: Cast
this to requires_string: TryCast
this expressions nested collate: DataType
this kind: ColumnDef
expressions coalesce: Concat
this expression: IntervalSpan Collate And Or EQ NEQ NullSafeEQ NullSafeNEQ LT LTE GT GTE Is Escape \
RegexpLike Add Sub Mul Div Mod IntDiv DPipe BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift \
BitwiseRightShift Dot Filter WithinGroup Kwarg Extract
this low high: Between
this expressions query: In
this expression negate: Like ILike
this ifs default: Case
this true: If
this expression variant_extract requires_json: JSONExtract
this substr: StrPosition
this expression position: Trim
"""
"""The understood arguments, each with the nodes that may have it; other dialects' (SELECT AS
STRUCT) are missing."""

UNDERSTOOD: dict[type[exp.Expr], frozenset[str]] = {
    getattr(exp, kind): frozenset(arguments.split())
    for arguments, _, kinds in (row.partition(":") for row in _UNDERSTOOD.strip().splitlines())
    for kind in kinds.split()
}

# Arguments of set operations and queries in parentheses. Those in FROM may have more, which
# ``from_clause`` judges.
_AROUND = frozenset(
    "this expression distinct with_ order sort distribute cluster limit offset alias".split()
)

# Relations and hints, which the modules of FROM read or make unknown.
_ELSEWHERE = frozenset(
    {exp.Table, exp.Lateral, exp.Values, exp.Unnest, exp.Pivot, exp.Hint, exp.With, exp.JSONPath}
)

_LEAVES = frozenset({exp.Identifier, exp.Literal})

# Nodes that are understood only if their arguments are of this kind.
_REFINED: dict[type[exp.Expr], Callable[[exp.Expr], bool]] = {
    exp.Alias: lambda node: isinstance(node.args.get("alias"), exp.Identifier),
    exp.Interval: lambda node: node.args.get("unit") is not None,
}


def is_plain_query(query: exp.Expr) -> bool:
    """Whether a query around SELECTs (a set operation, parentheses) has only clauses that are
    understood."""
    return all(name in _AROUND or not value for name, value in query.args.items())


def not_understood(select: exp.Select, text: str) -> Iterator[str]:
    """The reasons why a block is not understood, each with its line and text; none if it is."""
    stack: list[exp.Expr] = [select]
    while stack:
        node = stack.pop()
        kind = type(node)
        allowed = UNDERSTOOD.get(kind)
        if allowed is None or (kind is exp.Select and node is not select):
            if kind not in _ELSEWHERE and not isinstance(node, exp.Query):
                yield syntax_reason(node, text)
            continue
        if kind in _REFINED and not _REFINED[kind](node):
            yield syntax_reason(node, text)
        for name, value in node.args.items():
            below = type(value)
            if name not in allowed:
                if value is not None and value is not False and value != []:
                    yield syntax_reason(value if isinstance(value, exp.Expr) else node, text)
            elif below is list:
                stack += [item for item in value if isinstance(item, exp.Expr)]
            elif below in _LEAVES and value.args.keys() <= UNDERSTOOD.get(below, frozenset()):
                continue  # half of all nodes
            elif isinstance(value, exp.Expr):
                stack.append(value)


def syntax_reason(node: exp.Expr, text: str) -> str:
    """Why a node is unknown: the line in the text, and what stands there."""
    if isinstance(node, exp.QueryTransform):
        return "an external script computes the rows (TRANSFORM, MAP or REDUCE)"
    start = next((part.meta["start"] for part in node.walk() if "start" in part.meta), None)
    if start is None:
        return "a part of this statement is not understood"
    line = text.count("\n", 0, start) + 1
    excerpt = " ".join(text[start : start + 30].split())
    return f"the syntax `{excerpt}` in line {line} is not understood"
