"""The regular expressions of the package, and texts made against each.

A matcher that goes back takes long where a repeat may end in several places and what stands behind
it never comes: where repeats share characters (``.*x.*x``, ``\\s*(.*?)\\s*``), or are nested, or
where a search begins anew at each place (``{{.*?}}`` in a text of ``{{``).
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import sqlrewrite

# The parser of the standard library, which has no public name.
from re import _constants as codes  # type: ignore[attr-defined]  # isort: skip
from re import _parser as parser  # type: ignore[attr-defined]  # isort: skip

PACKAGE = Path(sqlrewrite.__file__).parent
ANYWHERE = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
_CALLS = ANYWHERE | {"match", "fullmatch", "compile"}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
_MOST = 40
_FEW = 8
_COMMON = "x1 _\n\t'\"-/*.,(){%#$@"


@dataclass(frozen=True)
class Expression:
    """A regular expression of the package: where it stands, and whether it is looked for at every
    place of a text, or only at one."""

    place: str
    compiled: re.Pattern[Any]
    anywhere: bool

    def __str__(self) -> str:
        return f"{self.place} {self.compiled.pattern!r}"


@cache
def expressions() -> list[Expression]:
    """All that the package's source holds; what a variable puts into one is ``x``."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))
    }
    methods = defaultdict(set)
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                methods[node.value.id].add(node.attr)
    return [
        expression for path, tree in trees.items() for expression in _of_module(path, tree, methods)
    ]


def _of_module(path: Path, tree: ast.Module, methods: dict[str, set[str]]) -> Iterator[Expression]:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    if parts[-1] == "__main__" or not any(_is_call(node) for node in ast.walk(tree)):
        return
    module = importlib.import_module(".".join(parts))
    names = {
        id(node.value): node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not _is_call(node):
            continue
        source = _value(node.args[0], module)
        others = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        flags = [_value(other, module) for other in others if ast.unparse(other).startswith("re.")]
        if not isinstance(source, str | bytes):
            raise TypeError(f"{path}:{node.lineno}: not read: {ast.unparse(node)}")
        used = methods.get(names.get(id(node), ""), {"search"}) & _CALLS
        called = node.func.attr if isinstance(node.func, ast.Attribute) else "compile"
        used = used if called == "compile" else {called}
        compiled = re.compile(source, flags[0] if flags else 0)
        place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
        yield Expression(place, compiled, not used or bool(used & ANYWHERE))


def _is_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    match node.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return name in _CALLS
        case ast.Name(id="pattern"):
            return True
        case _:
            return False


class _Names(dict[str, Any]):
    """The names of a module; any other is text of a variable."""

    def __missing__(self, name: str) -> str:
        return "x"


def _value(node: ast.expr, module: ModuleType) -> Any:
    names = _Names({**vars(builtins), **vars(module)})
    try:
        return eval(ast.unparse(node), {}, names)
    except (KeyError, TypeError, SyntaxError):  # what only a run knows
        return "x"


def attacks(expression: Expression, size: int) -> Iterator[str | bytes]:
    """Texts of about so many characters on which a matcher that goes back would take long."""
    compiled = expression.compiled
    tree = parser.parse(compiled.pattern, compiled.flags & ~re.UNICODE)
    texts = dict.fromkeys(_attacks(list(tree), size, expression.anywhere))
    yield from (
        (text.encode("latin-1", "replace") for text in texts)
        if isinstance(compiled.pattern, bytes)
        else texts
    )


def _attacks(items: list[Any], size: int, anywhere: bool) -> Iterator[str]:
    opened = set()
    for prefix, bodies in _repeats(items, ""):
        opened.add(prefix)
        for body in bodies[:_FEW]:
            for end in ("\0", "x\n"):
                yield prefix + body * (size // len(body)) + end
    for prefix in opened if anywhere else ():
        for between in ("", " ") if prefix else ():
            yield (prefix + between) * (size // len(prefix + between)) + "\0"


def _repeats(items: list[Any], before: str) -> Iterator[tuple[str, list[str]]]:
    """The repeats in a sequence: a text that leads up to each, and texts that it repeats."""
    for code, value in items:
        match code:
            case codes.SUBPATTERN:
                yield from _repeats(list(value[-1]), before)
            case codes.ATOMIC_GROUP:
                yield from _repeats(list(value), before)
            case codes.ASSERT | codes.ASSERT_NOT:
                yield from _repeats(list(value[1]), before)
            case codes.BRANCH:
                for branch in value[1]:
                    yield from _repeats(list(branch), before)
            case _ if code in _REPEATS:
                _, most, body = value
                if most > 9:
                    yield before, [text for text in _texts(list(body)) if text]
                yield from _repeats(list(body), before)
        before += next(iter(_texts([(code, value)])), "")


def _texts(items: list[Any]) -> list[str]:
    """Some texts that a sequence matches, the shortest first."""
    texts = [""]
    for code, value in items:
        texts = [one + other for one in texts for other in _of_item(code, value)][:_MOST]
    return texts


def _of_item(code: Any, value: Any) -> list[str]:
    match code:
        case codes.LITERAL:
            return [chr(value)]
        case codes.NOT_LITERAL:
            return [word for word in _COMMON if word != chr(value)]
        case codes.ANY:
            return list(_COMMON)
        case codes.IN:
            return _of_set(value)
        case codes.SUBPATTERN:
            return _texts(list(value[-1]))
        case codes.ATOMIC_GROUP:
            return _texts(list(value))
        case codes.BRANCH:
            return [text for branch in value[1] for text in _texts(list(branch))]
        case _ if code in _REPEATS:
            least, _, body = value
            return [text * least for text in _texts(list(body))] if least else [""]
        case _:
            return [""]  # what has no width, and a group once more


def _of_set(members: list[Any]) -> list[str]:
    first = [
        chr(value if code is codes.LITERAL else value[0])
        for code, value in members
        if code in (codes.LITERAL, codes.RANGE)
    ]
    negated = members[0][0] is codes.NEGATE
    common = [
        word for word in _COMMON if any(_is_in(word, *member) for member in members) != negated
    ]
    return list(dict.fromkeys(common + ([] if negated else first)))


def _is_in(sign: str, code: Any, value: Any) -> bool:
    match code:
        case codes.LITERAL:
            return bool(ord(sign) == value)
        case codes.RANGE:
            return bool(value[0] <= ord(sign) <= value[1])
        case codes.CATEGORY:
            return re.match(_CATEGORIES[value], sign) is not None
        case _:
            return False
