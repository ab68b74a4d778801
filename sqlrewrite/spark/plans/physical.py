"""Spark's physical plan, from the text of EXPLAIN FORMATTED, which works over Connect too.

In comes the text, out goes a ``PhysicalPlan``: a tree of operators with their details, and the
subqueries of it. Numbers that Spark gives anew each time (to columns, plans, operators) stay in it,
because they tell which subquery is whose; ``plain`` takes them off what is shown or compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from sqlrewrite.frozen import dataclass

_TREE = re.compile(r"((?:   |:  |:- |\+- )*)(?:\* )?(\S.*?) \((\d+)\)")
_HEAD = re.compile(r"\((\d+)\) \S.*")
_DETAIL = re.compile(r"([A-Z][A-Za-z ]*?)(?: \[\d+\])? ?: (.*)")
_SUBQUERY = re.compile(
    r"Subquery:\d+ Hosting operator id = (\d+) Hosting Expression = (.*)", re.DOTALL
)
_SCAN = re.compile(r"(?:Batch)?Scan (?:\w+ )?([^\s()]+\.[^\s()]+)")

# What is numbered anew each time a query is planned.
_NUMBERS = (
    (re.compile(r",? ?\[plan_id=\d+\]"), ""),
    (re.compile(r",? ?\[id=#\d+\]"), ""),
    (re.compile(r"\[codegen id : \d+\]"), ""),
    (re.compile(r"#\d+L?"), ""),
    (re.compile(r"dynamicpruningexpression\((.*?) IN dynamicpruning\)"), r"\1 IN dynamic keys"),
    (re.compile(r"(?:Reused)?Subquery subquery"), "(subquery)"),
)
_DYNAMIC_NUMBER = re.compile(r"(dynamicpruning|subquery)#\d+|\[(plan_)?id=#?\d+\]|codegen id : \d+")

# What is shown of an operator beside its name.
_SHOWN = (
    ("Scan", ("PartitionFilters", "RuntimeFilters", "PushedFilters")),
    ("BatchScan", ("RuntimeFilters", "PushedFilters")),
    ("Filter", ("Condition",)),
    ("HashAggregate", ("Keys",)),
    ("Exchange", ("Arguments",)),
)
_WRAPPING = frozenset({"AdaptiveSparkPlan", "ColumnarToRow"})
_JOIN = re.compile(r"(?:BroadcastHash|SortMerge|ShuffledHash|BroadcastNestedLoop)Join|Cartesian")


@dataclass(frozen=True)
class PhysicalOperator:
    """One operator: its number in the text, its name, what is said of it, and what it reads."""

    number: int
    name: str
    children: tuple[PhysicalOperator, ...]
    details: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str | None:
        """The table that a scan reads, qualified; None for any other operator."""
        match = _SCAN.match(self.name)
        return match[1].replace("`", "") if match else None

    @cached_property
    def identity(self) -> str:
        """What two operators share that give the same result: all but the wrapping and the numbers
        of dynamic filters; those of columns tell them apart."""
        if self.name in _WRAPPING and self.children:
            return self.children[0].identity
        said = _DYNAMIC_NUMBER.sub("", f"{self.name} {sorted(self.details.items())}")
        return f"{said}({', '.join(child.identity for child in self.children)})"

    def walk(self) -> Iterator[PhysicalOperator]:
        """This operator and all below it, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class PhysicalSubquery:
    """A plan that is run for an expression of an operator."""

    host: int
    expression: str
    root: PhysicalOperator


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """A plan and its subqueries, each subquery once."""

    root: PhysicalOperator
    subqueries: tuple[PhysicalSubquery, ...]

    @property
    def operators(self) -> Iterator[PhysicalOperator]:
        """All operators of the plan, those of its subqueries last."""
        yield from self.root.walk()
        for subquery in self.subqueries:
            yield from subquery.root.walk()

    def lines(self) -> tuple[tuple[str, str], ...]:
        """The tree as it is shown: what draws its branches, and what an operator is and does."""
        return tuple(_lines(self.root, "", ""))


def parse(text: str) -> PhysicalPlan:
    """The plan in what EXPLAIN FORMATTED prints. Raises ValueError for any other text."""
    lines = text.splitlines()
    details = _details(lines)
    roots: list[tuple[str, PhysicalOperator]] = []
    at, heading = 0, ""
    while at < len(lines):
        if lines[at].startswith("Subquery:"):
            heading = lines[at]
        if _TREE.fullmatch(lines[at]):
            end = at
            while end < len(lines) and _TREE.fullmatch(lines[end]):
                end += 1
            roots.append((heading, _tree(lines[at:end], details)))
            at, heading = end, ""
        else:
            at += 1
    if not roots:
        raise ValueError(text.strip() or "an empty plan")
    subqueries = []
    for heading, root in roots[1:]:
        match = _SUBQUERY.match(heading)
        if match:
            subqueries.append(PhysicalSubquery(int(match[1]), match[2], root))
    return PhysicalPlan(roots[0][1], tuple(subqueries))


def plain(text: str) -> str:
    """Text of a plan without what Spark numbers anew each time."""
    for pattern, instead in _NUMBERS:
        text = pattern.sub(instead, text)
    return " ".join(text.split())


def items(text: str) -> tuple[str, ...]:
    """The items of ``[a, b(c, d)]``."""
    inner = text.strip().removeprefix("[").removesuffix("]")
    found: list[str] = []
    depth = start = 0
    for at, letter in enumerate(inner):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0 and inner.startswith(", ", at):
            found.append(inner[start:at])
            start = at + 2
    return tuple(item for item in (*found, inner[start:]) if item)


def _details(lines: list[str]) -> dict[int, dict[str, str]]:
    """What is said of each operator, in the paragraph that its number heads."""
    found: dict[int, dict[str, str]] = {}
    inside: dict[str, str] | None = None
    last = ""
    for line in lines:
        head = _HEAD.fullmatch(line)
        if head:
            inside = found.setdefault(int(head[1]), {})
        elif not line.strip():
            inside = None
        elif inside is not None:
            match = _DETAIL.fullmatch(line)
            if match:
                last = match[1].strip()
                inside[last] = match[2]
            elif last in inside:
                inside[last] += f" {line.strip()}"
    return found


def _tree(lines: list[str], details: dict[int, dict[str, str]]) -> PhysicalOperator:
    """The operator at the top of an indented tree; a line's depth is a third of its indentation."""
    below: dict[int, list[PhysicalOperator]] = {}
    for line in reversed(lines):
        match = _TREE.fullmatch(line)
        assert match is not None
        depth, number = len(match[1]) // 3, int(match[3])
        children = tuple(reversed(below.pop(depth + 1, [])))
        made = PhysicalOperator(number, match[2], children, details.get(number, {}))
        below.setdefault(depth, []).append(made)
    return below[0][0]


def _lines(operator: PhysicalOperator, first: str, rest: str) -> Iterator[tuple[str, str]]:
    if operator.name in _WRAPPING and operator.children:  # they say nothing of the query
        yield from _lines(operator.children[0], first, rest)
        return
    yield first, _shown(operator)
    for number, child in enumerate(operator.children, 1):
        branch, under = ("└─ ", "   ") if number == len(operator.children) else ("├─ ", "│  ")
        yield from _lines(child, rest + branch, rest + under)


def _shown(operator: PhysicalOperator) -> str:
    said = operator.details
    if _JOIN.match(operator.name):
        left, right = (plain(said.get(f"{side} keys", "")) for side in ("Left", "Right"))
        keys = f": {left} = {right}" if left else ""
        condition = plain(said.get("Join condition", "None"))
        return operator.name + keys + ("" if condition == "None" else f" and {condition}")
    wanted = next((keys for name, keys in _SHOWN if operator.name.startswith(name)), ())
    parts = [f"{key} {plain(said[key])}" for key in wanted if said.get(key, "[]") != "[]"]
    return operator.name + (f": {'; '.join(parts)}" if parts else "")
