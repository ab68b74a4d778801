"""The logical plan as a tree of lines, and what a rewrite adds to it.

Only ever additions: a rewrite puts a Filter right above a scan, so the plan after is the plan
before with some lines more, marked ``+``.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlrewrite.plan.algebra import (
    Aggregate,
    Call,
    Cast,
    ColumnRef,
    Condition,
    CteReference,
    Derived,
    Expression,
    Filter,
    Generate,
    Inline,
    Join,
    Limit,
    Literal,
    Node,
    Opaque,
    Parameter,
    Plan,
    Project,
    Scan,
    SetOperation,
    Subquery,
    Unknown,
    Unreadable,
    Variable,
    Window,
)
from sqlrewrite.results import PlanLine

_INFIX = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "div", "||",
                    "like", "ilike", "rlike", "is"})  # fmt: skip


def diff(plan: Plan, added: Mapping[int, tuple[str, ...]]) -> tuple[PlanLine, ...]:
    """The plan's lines with a marked Filter above each relation in ``added`` (by number, with the
    text of its predicates). A CTE stands once, before the query."""
    painter = _Painter(plan, added)
    lines: list[PlanLine] = []
    for cte in plan.ctes:
        lines.append(PlanLine(" ", f"CTE {cte.name}"))
        painter.paint(lines, cte.query.node, "", True)
    painter.paint(lines, plan.query.node, "", True, root=not plan.ctes)
    return tuple(lines)


class _Painter:
    """Draws nodes with guides; ``prefix`` is what stands left of a node's children."""

    def __init__(self, plan: Plan, added: Mapping[int, tuple[str, ...]]) -> None:
        self.plan = plan
        self.added = added

    def paint(
        self, lines: list[PlanLine], node: Node, prefix: str, last: bool, *, root: bool = False
    ) -> None:
        """Adds the lines of a node and all below it."""
        guide, below = ("", "") if root else (("└─ ", "   ") if last else ("├─ ", "│  "))
        number = getattr(node, "relation", None)
        for predicate in self.added.get(number, ()) if number is not None else ():
            lines.append(PlanLine("+", f"{prefix}{guide}Filter {predicate}"))
            prefix, guide, below = prefix + below, "└─ ", "   "
        lines.append(PlanLine(" ", prefix + guide + self.label(node)))
        children = _children(node)
        for index, child in enumerate(children):
            self.paint(lines, child, prefix + below, index == len(children) - 1)

    def label(self, node: Node) -> str:
        """A node in one line, in the words of the field."""
        match node:
            case Scan(table=table, alias=alias):
                fields = ", ".join(field.column for field in table.partitioned_by)
                return f"Scan {_named('.'.join(node.parts), alias)}" + (
                    f" [partitioned by {fields}]" if fields else ""
                )
            case Derived(alias=alias, view=view):
                return (
                    f"View {_named('.'.join(node.parts), alias)}" if view else f"Subquery {alias}"
                )
            case Inline(alias=alias, rows=rows):
                return f"Values {alias} ({len(rows)} rows)"
            case CteReference(name=name, alias=alias):
                return f"CteReference {_named(name, alias)}"
            case Opaque(alias=alias, reason=reason):
                return f"Opaque {alias} ({reason})".replace("  ", " ")
            case Join(type=kind, declared=declared, conditions=conditions):
                written = f" (written {declared.value.upper()})" if kind is not declared else ""
                return f"Join {kind.value}{written} {self.conditions(conditions)}".rstrip()
            case Filter(conditions=conditions, clause=clause):
                name = "Filter" if clause == "where" else f"Filter ({clause})"
                return f"{name} {self.conditions(conditions)}"
            case Aggregate(kind=kind, keys=keys):
                return f"Aggregate {', '.join(map(self.show, keys)) or kind}"
            case Window(partitions=partitions):
                return "Window partition by " + "; ".join(
                    ", ".join(map(self.show, keys)) or "nothing" for keys in partitions
                )
            case Project(outputs=outputs):
                return f"Project {', '.join(o.name or '…' for o in outputs) or '*'}"
            case Limit():
                return "Limit"
            case SetOperation(kind=kind, all=every):
                return f"{kind.capitalize()}{' all' if every else ''}"
            case Generate(alias=alias):
                return f"Generate {alias}".rstrip()
            case Unreadable(reason=reason):
                return f"Opaque ({reason})"

    def conditions(self, conditions: tuple[Condition, ...]) -> str:
        """Conjuncts in one line."""
        return " AND ".join(self.show(condition.expression) for condition in conditions)

    def show(self, expression: Expression) -> str:
        """An expression as SQL, near enough to be recognised."""
        match expression:
            case ColumnRef(relation=relation, name=name):
                alias = self.plan.relations[relation].alias
                return f"{alias}.{name}" if alias else name
            case Literal(kind=kind, text=text):
                shown = {"null": "NULL", "star": "*"}.get(kind, text)
                return f"'{text}'" if kind in ("string", "template", "typed") else shown
            case Parameter(positional=positional):
                return "?" if positional else ":parameter"
            case Cast(operand=operand, type=kind):
                return f"CAST({self.show(operand)} AS {kind.upper()})"
            case Subquery(kind=kind, operand=operand):
                shown = f"{self.show(operand)} " if operand is not None else ""
                return f"{shown}{'' if kind == 'scalar' else kind.upper()}(…)"
            case Variable(name=name):
                return name
            case Unknown():
                return "…"
            case Call(name=name, args=args):
                return self.call(name, [self.show(arg) for arg in args])

    def call(self, name: str, args: list[str]) -> str:
        """An operator or function over operands already shown."""
        word = name.upper()
        if name in ("and", "or"):
            return "(" + f" {word} ".join(args) + ")"
        if name in _INFIX and len(args) == 2:
            return f"{args[0]} {word} {args[1]}"
        if name == "not":
            return f"NOT {args[0]}"
        if name == "isnull" and len(args) == 1:
            return f"{args[0]} IS NULL"
        if name == "between":
            return f"{args[0]} BETWEEN {args[1]} AND {args[2]}"
        if name == "in":
            return f"{args[0]} IN ({', '.join(args[1:])})"
        return f"{name}({', '.join(args)})"


def _named(name: str, alias: str) -> str:
    return name if alias.lower() == name.split(".")[-1] else f"{name} {alias}"


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Join(left=left, right=right):
            return (left, right)
        case SetOperation(kind=kind, all=every):
            # A chain of one operation is one node: left-deep, it would run off the page.
            found: list[Node] = []
            top: Node = node
            while isinstance(top, SetOperation) and (top.kind, top.all) == (kind, every):
                found.append(top.right)
                top = top.left
            return (top, *reversed(found))
        case Filter(child=child) | Aggregate(child=child) | Window(child=child):
            return (child,)
        case Project(child=child) | Limit(child=child) | Generate(child=child):
            return (child,)
        case Derived(query=query):
            return (query.node,)
        case _:
            return ()
