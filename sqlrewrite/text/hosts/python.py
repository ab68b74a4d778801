"""Python: the SQL that ``spark.sql("…")`` is given, and what else a program does to names.

In: a text of Python. Out: regions of SQL, and what is left alone. Python's own parser says where a
call and its literal stand; ``literals`` says where each character of the SQL does.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count

from sqlrewrite.frozen import dataclass
from sqlrewrite.text.hosts.literals import Operand, Unmapped, line_end, sql_of
from sqlrewrite.text.hosts.names import Names, meant
from sqlrewrite.text.hosts.region import Embedded, Region
from sqlrewrite.text.source import Lines

_SPARK = re.compile(r"spark|sqlcontext|hivecontext|sqlctx", re.IGNORECASE)
_HINT = re.compile(
    r"\.\s*sql\s*\(|TempView|registerTempTable|setCurrent|saveAsTable|registerDataFrame|conf\s*\.\s*set"
)
_HIDES = re.compile(r"TempView|registerTempTable|setCurrent|saveAsTable|registerDataFrame")
_VIEWS = frozenset(
    """
    createOrReplaceTempView createTempView registerTempTable createOrReplaceGlobalTempView
    createGlobalTempView dropTempView dropGlobalTempView registerDataFrameAsTable
    """.split()
)
_TABLES = frozenset({"saveAsTable"})
_SCHEMAS = {"setCurrentDatabase": "USE", "setCurrentCatalog": "USE CATALOG"}
ANY = ""
"""What is said to make a view of a name that is not told: it may hide any table."""
_PLAIN_NAME = re.compile(r"[\w.`]+")
_SETTING = re.compile(r"spark\.[\w.]+")
_AGAIN = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try, ast.IfExp, ast.Match)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *_COMPREHENSIONS, ast.BoolOp)


@dataclass(frozen=True, slots=True)
class Read:
    """The regions of a text of Python, and what is left alone: its offset in the file, and why."""

    regions: tuple[Region, ...] = ()
    left: tuple[tuple[int, str], ...] = ()


def read(text: Embedded, numbers: Iterator[int] | None = None, *, notebook: bool = False) -> Read:
    """What a text of Python holds; ``numbers`` are those of the blocks in a file of several texts,
    and a ``notebook`` is a file that no other imports. Raises nothing."""
    if not _HINT.search(text.text):
        return Read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that mean nothing: the author's business
            tree = ast.parse(text.text)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        return _unread(text, f"not Python that can be read{line}: {error.msg}")
    except UnicodeEncodeError as error:  # bytes that are no UTF-8 are kept as half characters
        line = f", line {Lines(text.text).place(error.start)[0]}"
        why = f"not Python that can be read{line}: what stands there is not UTF-8"
        return _unread(text, why)
    except (ValueError, RecursionError, MemoryError) as error:
        why = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        return _unread(text, f"not Python that can be read: {why}")
    places = _Places(text.text)
    names = cache(lambda: meant(tree, whole=notebook))
    regions: list[Region] = []
    left: list[tuple[int, str]] = []
    for call, block in _calls(tree, numbers or count(1)):
        try:
            region = _region(call, block, text, places, names)
        except Unmapped as why:
            at = text.offsets[places.offset(call)]
            left.append((at, f"the SQL of this call is left alone: {why}"))
            continue
        if region is not None:
            regions.append(region)
    return Read(tuple(sorted(regions, key=lambda region: region.at)), tuple(sorted(left)))


def _unread(text: Embedded, why: str) -> Read:
    """What is said of a text that is no Python: where it speaks of making views, that it may make
    any, since its author will have mended it before it runs."""
    at = text.offsets[0]
    hides = _HIDES.search(text.text) is not None
    made = Region(Embedded(ANY, [at]), written=False)
    return Read((made,) if hides else (), ((at, why),))


class _Places:
    """Offsets of Python's nodes, whose columns are bytes of UTF-8."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_end = line_end(text)
        self._lines = Lines(text)

    def offset(self, node: ast.expr) -> int:
        """Where a node begins."""
        return self._at(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        """Where it ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)

    def _at(self, line: int, column: int) -> int:
        start = self._lines.offset(line)
        before = self.text[start : start + column]
        if before.isascii():
            return start + column
        return start + len(before.encode()[:column].decode())


def _calls(tree: ast.AST, numbers: Iterator[int]) -> Iterator[tuple[ast.Call, tuple[int, ...]]]:
    """The calls of methods, each with the way to it through what may run or not."""
    waiting: list[tuple[ast.AST, tuple[int, ...]]] = [(tree, ())]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node, inside
        if isinstance(node, _LATER):
            number = next(numbers)
            waiting += ((it, (*inside, number)) for it in ast.iter_child_nodes(node))
        elif isinstance(node, _AGAIN):  # each branch by itself
            for _, value in ast.iter_fields(node):
                number = next(numbers)
                items = value if isinstance(value, list) else [value]
                waiting += ((it, (*inside, number)) for it in items if isinstance(it, ast.AST))
        else:
            waiting += ((it, inside) for it in ast.iter_child_nodes(node))


def _region(
    call: ast.Call,
    block: tuple[int, ...],
    text: Embedded,
    places: _Places,
    names: Callable[[], Names],
) -> Region | None:
    """The region of a call, None for one that is no business of ours. Raises Unmapped."""
    assert isinstance(call.func, ast.Attribute)
    runs = text.offsets[places.offset(call)]
    if call.func.attr == "sql" and _SPARK.search(_last(call.func.value)):
        node, filled = _argument(call, names)
        return Region(_sql(node, text, filled, places), block, runs=runs)
    said = _effect(call)
    if said is None:
        return None
    nothing = Embedded(said, [runs] * (len(said) + 1))
    return Region(nothing, block, written=False)


def _last(node: ast.expr) -> str:
    """The last name of what a method is called on: ``spark`` of ``self.spark``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner):  # get_spark(), SparkSession.builder.getOrCreate()
            return ast.unparse(inner)
    return ""


def _argument(call: ast.Call, names: Callable[[], Names]) -> tuple[ast.expr, str]:
    """The text that a call of ``sql`` is given, and by what it is filled. Raises Unmapped."""
    named = {it.arg: it.value for it in call.keywords}
    node = call.args[0] if call.args else named.pop("sqlQuery", None)
    named.pop("args", None)
    node, filled = _meant(node, names), "{" if named else ""  # Spark fills it with what they say
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="format")) if not filled:
            node, filled = _meant(inner, names), "{"
        case ast.BinOp(left=inner, op=ast.Mod()) if not filled:
            node, filled = _meant(inner, names), "%"
    if isinstance(node, ast.Name):
        raise Unmapped(f"{node.id} is not a text that is written once, and used here alone")
    if node is None or not _is_text(next(_operands(node))):
        raise Unmapped("it is no literal that stands here alone")
    if filled and not isinstance(node, ast.Constant):
        raise Unmapped("it is filled more than once")
    return node, filled


def _meant(node: ast.expr | None, names: Callable[[], Names]) -> ast.expr | None:
    """A literal that a name stands for, or the expression itself."""
    return names().get(id(node), node) if isinstance(node, ast.Name) else node


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """What is added up to a text, from left to right."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _operands(left)
            yield from _operands(right)
        case _:
            yield node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _sql(node: ast.expr, text: Embedded, filled: str, places: _Places) -> Embedded:
    """The SQL of literals, which is what Python reads there too. Raises Unmapped."""
    operands = [*_operands(node)]
    sources = (text.cut(places.offset(it), places.end(it)) for it in operands)
    written = [Operand(it, _is_text(of)) for it, of in zip(sources, operands, strict=True)]
    read = sql_of(written, "", places.line_end)
    if read[1] != "".join(map(_value, operands)):
        raise Unmapped("Python reads it otherwise")
    return sql_of(written, filled, places.line_end)[0] if filled else read[0]


def _value(node: ast.expr) -> str:
    """What Python reads, with NUL for what is not written there."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_value, node.values))
    found = node.value if isinstance(node, ast.Constant) else None
    return found if isinstance(found, str) else "\0"


def _set(call: ast.Call) -> str | None:
    """The setting that a call sets; to what is not known, where its value is computed."""
    named = {it.arg: it.value for it in call.keywords}
    pair = [*call.args, *(named[it] for it in ("key", "value") if it in named)]
    key, value = pair if len(pair) == 2 else (None, None)
    if not isinstance(key, ast.Constant) or not _SETTING.fullmatch(str(key.value)):
        return None
    return f"SET {key.value!s} = {str(value.value) if isinstance(value, ast.Constant) else '?'}"


def _effect(call: ast.Call) -> str | None:
    """What a call that is no SQL does to names, as a statement that does it."""
    assert isinstance(call.func, ast.Attribute)
    name = call.func.attr
    if (name == "set" and _last(call.func.value) == "conf") or name == "config":
        return _set(call)  # spark.conf.set("spark.sql.…", value), and the same of a builder
    if name not in _VIEWS | _TABLES and name not in _SCHEMAS:
        return None
    last = -1 if name == "registerDataFrameAsTable" else 0
    value = call.args[last] if call.args else next((it.value for it in call.keywords), None)
    said = value.value if isinstance(value, ast.Constant) else None
    if not isinstance(said, str) or not _PLAIN_NAME.fullmatch(said):
        return "USE ?" if name in _SCHEMAS else ANY
    return f"{_SCHEMAS[name]} {said}" if name in _SCHEMAS else f"DROP TABLE {said}"
