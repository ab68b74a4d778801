"""Spark's physical plan, from the text of EXPLAIN FORMATTED, which works over Connect, too.

In: the text. Out: a ``PhysicalPlan``: a tree of operators with their details, and its subqueries.
The numbers that Spark gives to columns, plans and operators stay in it, because they connect a
subquery with its place; ``plain`` removes them from what is shown or compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

_TREE = re.compile(r"((?:   |:  |:- |\+- )*)(?:\* )?(\S.*?) \((\d+)\)")
_HEAD = re.compile(r"\((\d+)\) \S.*")
_DETAIL = re.compile(r"([A-Z][A-Za-z ]*?)(?: \[\d+\])? ?: (.*)")
_SUBQUERY = re.compile(
    r"Subquery:\d+ Hosting operator id = (\d+) Hosting Expression = (.*)", re.DOTALL
)
_SCAN = re.compile(r"(?:Batch)?Scan (?:\w+ )?([^\s()]+\.[^\s()]+)")

# Numbers that differ each time a query is planned.
_NUMBERS = (
    (re.compile(r",? ?\[plan_id=\d+\]"), ""),
    (re.compile(r",? ?\[id=#\d+\]"), ""),
    (re.compile(r"\[codegen id : \d+\]"), ""),
    (re.compile(r"#\d+L?"), ""),
    (re.compile(r"dynamicpruningexpression\((.*?) IN dynamicpruning\)"), r"\1 IN dynamic keys"),
    (re.compile(r"(?:Reused)?Subquery subquery"), "(subquery)"),
)
_DYNAMIC_NUMBER = re.compile(r"(dynamicpruning|subquery)#\d+|\[(plan_)?id=#?\d+\]|codegen id : \d+")

# The details that are shown of an operator.
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
    """One operator: its number in the text, its name, its inputs, and its details."""

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
        """A text that is the same for two operators with the same result: without wrappers and the
        numbers of dynamic filters, but with those of columns."""
        if self.name in _WRAPPING and self.children:
            return self.children[0].identity
        details = _DYNAMIC_NUMBER.sub("", f"{self.name} {sorted(self.details.items())}")
        return f"{details}({', '.join(child.identity for child in self.children)})"

    def walk(self) -> Iterator[PhysicalOperator]:
        """This operator and all below it, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class PhysicalSubquery:
    """The plan of a subquery in an ``expression`` of the operator with the number ``host``."""

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
        """The tree as it is shown: for each operator the branches before it, and its text."""
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
    """A plan's text without the numbers that differ each time."""
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
    """The details of each operator, from the paragraph that begins with its number."""
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
    if operator.name in _WRAPPING and operator.children:  # wrappers say nothing about the query
        yield from _lines(operator.children[0], first, rest)
        return
    yield first, _shown(operator)
    for number, child in enumerate(operator.children, 1):
        branch, under = ("└─ ", "   ") if number == len(operator.children) else ("├─ ", "│  ")
        yield from _lines(child, rest + branch, rest + under)


def _shown(operator: PhysicalOperator) -> str:
    details = operator.details
    if _JOIN.match(operator.name):
        left, right = (plain(details.get(f"{side} keys", "")) for side in ("Left", "Right"))
        keys = f": {left} = {right}" if left else ""
        condition = plain(details.get("Join condition", "None"))
        return operator.name + keys + ("" if condition == "None" else f" and {condition}")
    names = next((names for name, names in _SHOWN if operator.name.startswith(name)), ())
    parts = [f"{key} {plain(details[key])}" for key in names if details.get(key, "[]") != "[]"]
    return operator.name + (f": {'; '.join(parts)}" if parts else "")
