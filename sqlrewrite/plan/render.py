"""The logical plan as a tree of lines, with our predicates as Filters; new ones have a ``+``."""

from __future__ import annotations

from collections.abc import Mapping

from sqlrewrite.plan import algebra as ra
from sqlrewrite.results import PlanLine

_INFIX = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "div", "||",
                    "like", "ilike", "rlike", "is"})  # fmt: skip
_FORMS = {("not", 1): "NOT {}", ("isnull", 1): "{} IS NULL", ("between", 3): "{} BETWEEN {} AND {}"}


Filters = Mapping[int, Mapping[str, str]]
"""The predicates above each relation, by its number, with their marks: ``+`` for one that this run
adds, a blank for one that stands in the text."""


def diff(plan: ra.Plan, filters: Filters) -> tuple[PlanLine, ...]:
    """The plan's lines, with the ``filters`` above their relations. CTEs stand before the query."""
    painter = _Painter(plan, filters)
    lines: list[PlanLine] = []
    for cte in plan.ctes:
        lines.append(PlanLine(" ", f"CTE {cte.name}"))
        painter.paint(lines, cte.query.node, "", True)
    if plan.ctes:
        lines.append(PlanLine(" ", "Query"))
    painter.paint(lines, plan.query.node, "", True, root=not plan.ctes)
    return tuple(lines)


class _Painter:
    """Draws nodes as a tree; ``prefix`` stands at the left of each line."""

    def __init__(self, plan: ra.Plan, filters: Filters) -> None:
        self.plan = plan
        self.filters = filters

    def paint(
        self, lines: list[PlanLine], node: ra.Node, prefix: str, last: bool, *, root: bool = False
    ) -> None:
        """Adds the lines of a node and of all below it."""
        guide, below = ("", "") if root else (("└─ ", "   ") if last else ("├─ ", "│  "))
        number = getattr(node, "relation", None)
        own = self.filters.get(number, {}) if number is not None else {}
        for predicate, mark in own.items():
            lines.append(PlanLine(mark, f"{prefix}{guide}Filter {predicate}"))
            prefix, guide, below = prefix + below, "└─ ", "   "
        lines.append(PlanLine(" ", prefix + guide + self.label(node)))
        children = _children(node)
        for index, child in enumerate(children):
            self.paint(lines, child, prefix + below, index == len(children) - 1)

    def label(self, node: ra.Node) -> str:
        """A node in one line."""
        match node:
            case ra.Scan(table=table, alias=alias):
                fields = ", ".join(field.column for field in table.partitioned_by)
                return f"Scan {_named('.'.join(node.parts), alias)}" + (
                    f" [partitioned by {fields}]" if fields else ""
                )
            case ra.Derived(alias=alias, view=view):
                return (
                    f"View {_named('.'.join(node.parts), alias)}" if view else f"Subquery {alias}"
                )
            case ra.Inline(alias=alias, rows=rows):
                return f"Values {alias} ({len(rows)} rows)"
            case ra.CteReference(name=name, alias=alias):
                return f"Scan of CTE {_named(name, alias)}"
            case ra.Opaque(alias=alias, reason=reason):
                return f"Not understood: {alias} ({reason})".replace("  ", " ")
            case ra.Join(type=kind, declared=declared, conditions=conditions):
                written = f" (written {declared.value.upper()})" if kind is not declared else ""
                return f"Join {kind.value}{written} {self.conditions(conditions)}".rstrip()
            case ra.Filter(conditions=conditions, clause=clause):
                name = "Filter" if clause == "where" else f"Filter ({clause})"
                return f"{name} {self.conditions(conditions)}"
            case ra.Aggregate(kind=kind, keys=keys):
                return f"Aggregate {', '.join(map(self.show, keys)) or kind}"
            case ra.Window(partitions=partitions):
                return "Window partition by " + "; ".join(
                    ", ".join(map(self.show, keys)) or "nothing" for keys in partitions
                )
            case ra.Project(outputs=outputs):
                return f"Project {', '.join(o.name or '…' for o in outputs) or '*'}"
            case ra.Limit():
                return "Limit"
            case ra.SetOperation(kind=kind, all=every):
                return f"{kind.capitalize()}{' all' if every else ''}"
            case ra.Generate(alias=alias):
                return f"Generate {alias}".rstrip()
            case ra.Unreadable(reason=reason):
                return f"Not understood ({reason})"

    def conditions(self, conditions: tuple[ra.Condition, ...]) -> str:
        """Conjuncts in one line."""
        return " AND ".join(self.show(condition.expression) for condition in conditions)

    def show(self, expression: ra.Expression) -> str:
        """An expression as SQL, roughly, for people."""
        match expression:
            case ra.ColumnRef(relation=relation, name=name):
                alias = self.plan.relations[relation].alias
                return f"{alias}.{name}" if alias else name
            case ra.Literal(kind=kind, text=text):
                shown = {"null": "NULL", "star": "*"}.get(kind, text)
                return f"'{text}'" if kind in ("string", "template", "typed") else shown
            case ra.Parameter(positional=positional):
                return "?" if positional else ":parameter"
            case ra.Cast(operand=operand, type=kind):
                return f"CAST({self.show(operand)} AS {kind.upper()})"
            case ra.Subquery(kind=kind, operand=operand):
                shown = f"{self.show(operand)} " if operand is not None else ""
                return f"{shown}{'' if kind == 'scalar' else kind.upper()}(…)"
            case ra.Variable(name=name):
                return name
            case ra.Unknown():
                return "…"
            case ra.Call(name=name, args=args):
                return self.call(name, [self.show(arg) for arg in args])

    def call(self, name: str, args: list[str]) -> str:
        """A call, from its operands as text."""
        word = name.upper()
        if name in ("and", "or"):
            return "(" + f" {word} ".join(args) + ")"
        if name in _INFIX and len(args) == 2:
            return f"{args[0]} {word} {args[1]}"
        form = _FORMS.get((name, len(args)))
        if form is not None:
            return form.format(*args)
        listed = ", ".join(args[name == "in" :])
        return f"{args[0]} IN ({listed})" if name == "in" else f"{name}({listed})"


def _named(name: str, alias: str) -> str:
    return name if alias.lower() == name.split(".")[-1] else f"{name} {alias}"


def _children(node: ra.Node) -> tuple[ra.Node, ...]:
    match node:
        case ra.Join(left=left, right=right):
            return (left, right)
        case ra.SetOperation(kind=kind, all=every):
            # A chain of one operation is shown as one node, because it would be too deep.
            branches: list[ra.Node] = []
            top: ra.Node = node
            while isinstance(top, ra.SetOperation) and (top.kind, top.all) == (kind, every):
                branches.append(top.right)
                top = top.left
            return (top, *reversed(branches))
        case ra.Filter(child=child) | ra.Aggregate(child=child) | ra.Window(child=child):
            return (child,)
        case ra.Project(child=child) | ra.Limit(child=child) | ra.Generate(child=child):
            return (child,)
        case ra.Derived(query=query):
            return (query.node,)
        case _:
            return ()
