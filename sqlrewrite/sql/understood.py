"""The closed world: each kind of node that the binder understands, with the arguments it may have.

Anything else in a block makes the block unknown, by the place where it stands: a syntax that a new
Spark brings, an argument that a new sqlglot sets, a construct of another dialect. What stands in
FROM is judged by ``relations``, which makes an unknown relation of it; nested queries are blocks of
their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

_BINARY = "this expression"
_LIST = "expressions"

UNDERSTOOD: dict[type[exp.Expr], frozenset[str]] = {
    kind: frozenset(arguments.split())
    for kind, arguments in {
        # Clauses. `kind` (SELECT AS STRUCT), `into`, `locks`, `connect` … are of other dialects.
        exp.Select: "with_ expressions hint distinct from_ joins laterals where group having "
        "qualify windows order sort distribute cluster limit offset",
        exp.Where: "this",
        exp.Having: "this",
        exp.Qualify: "this",
        exp.From: "this",
        exp.Join: "this on side kind using method pivots",
        exp.Group: "expressions all grouping_sets cube rollup",
        exp.GroupingSets: _LIST,
        exp.Cube: _LIST,
        exp.Rollup: _LIST,
        exp.Order: _LIST,
        exp.Sort: _LIST,
        exp.Distribute: _LIST,
        exp.Cluster: _LIST,
        exp.Ordered: "this desc nulls_first",
        exp.Limit: "expression",
        exp.Offset: "expression",
        exp.Window: "this partition_by order spec alias over",
        exp.WindowSpec: "kind start start_side end end_side",
        # A SELECT list.
        exp.Alias: "this alias",
        exp.Aliases: "this expressions",
        exp.Star: "except_",
        exp.Column: "this table db catalog",
        exp.Identifier: "this quoted",
        # Values.
        exp.Literal: "this is_string",
        exp.RawString: "this",
        exp.HexString: "this",
        exp.Boolean: "this",
        exp.Null: "",
        exp.Placeholder: "this",
        exp.Var: "this",
        exp.Interval: "this unit fraction_in_string",
        exp.IntervalSpan: _BINARY,
        exp.Cast: "this to",
        exp.TryCast: "this to requires_string",
        exp.DataType: "this expressions nested collate",
        exp.DataTypeParam: "this",
        exp.ColumnDef: "this kind",
        exp.Collate: _BINARY,
        exp.Concat: "expressions coalesce",
        # Conditions.
        exp.And: _BINARY,
        exp.Or: _BINARY,
        exp.Not: "this",
        exp.Paren: "this",
        exp.EQ: _BINARY,
        exp.NEQ: _BINARY,
        exp.NullSafeEQ: _BINARY,
        exp.NullSafeNEQ: _BINARY,
        exp.LT: _BINARY,
        exp.LTE: _BINARY,
        exp.GT: _BINARY,
        exp.GTE: _BINARY,
        exp.Between: "this low high",
        exp.In: "this expressions query",
        exp.Is: _BINARY,
        exp.Like: "this expression negate",
        exp.ILike: "this expression negate",
        exp.Any: "this",
        exp.All: "this",
        exp.Escape: _BINARY,
        exp.RegexpLike: _BINARY,
        exp.Exists: "this",
        exp.Case: "this ifs default",
        exp.If: "this true",
        # Operators.
        exp.Add: _BINARY,
        exp.Sub: _BINARY,
        exp.Mul: _BINARY,
        exp.Div: _BINARY,
        exp.Mod: _BINARY,
        exp.IntDiv: _BINARY,
        exp.DPipe: _BINARY,
        exp.BitwiseAnd: _BINARY,
        exp.BitwiseOr: _BINARY,
        exp.BitwiseXor: _BINARY,
        exp.BitwiseNot: "this",
        exp.BitwiseLeftShift: _BINARY,
        exp.BitwiseRightShift: _BINARY,
        exp.Neg: "this",
        exp.Bracket: "this expressions",
        exp.Dot: _BINARY,
        exp.Tuple: _LIST,
        exp.JSONExtract: "this expression variant_extract requires_json",
        # Calls.
        exp.Anonymous: "this expressions",
        exp.Distinct: _LIST,
        exp.Filter: _BINARY,
        exp.WithinGroup: _BINARY,
        exp.IgnoreNulls: "this",
        exp.RespectNulls: "this",
        exp.Lambda: "this expressions",
        exp.Kwarg: _BINARY,
        exp.Extract: _BINARY,
        exp.StrPosition: "this substr",
        exp.Trim: "this expression position",
    }.items()
}

# What stands around blocks: set operations, queries in parentheses. Those in FROM may have more,
# which is judged there.
_AROUND = frozenset("this expression distinct with_ order sort limit offset alias".split())

# Relations and hints: what these hold is read, or made unknown, elsewhere.
_ELSEWHERE = frozenset(
    {exp.Table, exp.Lateral, exp.Values, exp.Unnest, exp.Pivot, exp.Hint, exp.With, exp.JSONPath}
)

_LEAVES = frozenset({exp.Identifier, exp.Literal})

# What an argument must be, where it may be more than is understood.
_REFINED: dict[type[exp.Expr], Callable[[exp.Expr], bool]] = {
    exp.Alias: lambda node: isinstance(node.args.get("alias"), exp.Identifier),
    exp.Interval: lambda node: node.args.get("unit") is not None,
}


def plain(query: exp.Expr) -> bool:
    """Whether a query around blocks has nothing of its own but what is understood."""
    return all(name in _AROUND or not value for name, value in query.args.items())


def strange(select: exp.Select, text: str) -> Iterator[str]:
    """What in a block is not understood: a reason with its place for each."""
    stack: list[exp.Expr] = [select]
    while stack:
        node = stack.pop()
        kind = type(node)
        allowed = UNDERSTOOD.get(kind)
        if allowed is None or (kind is exp.Select and node is not select):
            if kind not in _ELSEWHERE and not isinstance(node, exp.Query):
                yield _reason(node, text)
            continue
        if kind in _REFINED and not _REFINED[kind](node):
            yield _reason(node, text)
        for name, value in node.args.items():
            if not value and (value is None or value is False or value == []):
                continue
            below = type(value)
            if name not in allowed:
                yield _reason(value if isinstance(value, exp.Expr) else node, text)
            elif below is list:
                stack += [item for item in value if isinstance(item, exp.Expr)]
            elif below in _LEAVES and value.args.keys() <= UNDERSTOOD.get(below, frozenset()):
                continue  # half of all nodes
            elif isinstance(value, exp.Expr):
                stack.append(value)


def _reason(node: exp.Expr, text: str) -> str:
    if isinstance(node, exp.QueryTransform):
        return "a script gives the rows (TRANSFORM, MAP or REDUCE)"
    start = next((it.meta["start"] for it in node.walk() if "start" in it.meta), None)
    if start is None:
        return "a part of this SELECT is not understood"
    line = text.count("\n", 0, start) + 1
    excerpt = " ".join(text[start : start + 30].split())
    return f"the syntax at line {line}, by {excerpt!r}, is not understood"
