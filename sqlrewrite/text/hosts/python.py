"""Reads the SQL in a Python program: the strings passed to ``spark.sql("…")``.

In: a Python text. Out: regions of SQL, and the calls that are left alone, with reasons. Python's
own parser gives the places of a call and its literal, ``literals`` those of the SQL's characters.
Any other call that changes names or settings (``spark_calls``) becomes a region that is not
``written``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from sqlrewrite.text.hosts.literals import Operand, Unmapped, line_end, sql_of
from sqlrewrite.text.hosts.program import Cells, Names, Sessions, Way, in_order, meant
from sqlrewrite.text.hosts.region import Embedded, Region
from sqlrewrite.text.hosts.spark_calls import ANYTHING, NAMES, ProgramEffect, effects
from sqlrewrite.text.source import Lines

_SPARK = re.compile(r"spark|sqlcontext|hivecontext|sqlctx", re.IGNORECASE)
_CHANGES = re.compile(rf"\b(?:{'|'.join(sorted(NAMES))})\b|['\"]spark\.")
_HINT = re.compile(rf"\.\s*sql\b|{_CHANGES.pattern}")
_DEFINITION = r"\b(?i:create|replace|drop|alter|cache|use|set)\s"
_CELL_HINT = re.compile(rf"{_HINT.pattern}|\bspark\b|\bsqlContext\b|{_DEFINITION}")
_MAY_CHANGE = re.compile(rf"{_CHANGES.pattern}|{_DEFINITION}")


class Read(Struct, frozen=True):
    """The regions of a Python text, and the offset and reason of each call that is left alone."""

    regions: tuple[Region, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()


def read(text: Embedded, cells: Cells | None = None, *, notebook: bool = False) -> Read:
    """The SQL in a Python text. ``cells`` is shared by the texts of one file; ``notebook``: no
    other file imports this one. Raises nothing."""
    hint = _HINT if cells is None else _CELL_HINT
    if not hint.search(text.text):
        return Read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is not our concern
            tree = ast.parse(text.text)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        return _unread(text, f"not Python that can be read{line}: {error.msg}")
    except UnicodeEncodeError as error:  # bytes that are not UTF-8 are kept as surrogates
        line = f", line {Lines(text.text).place(error.start)[0]}"
        why = f"not Python that can be read{line}: it is not UTF-8"
        return _unread(text, why)
    except (ValueError, RecursionError, MemoryError) as error:
        why = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        return _unread(text, f"not Python that can be read: {why}")
    places = _Places(text.text)
    names = cache(lambda: meant(tree, whole=notebook))
    cells = cells or Cells()
    sessions = Sessions(tree, places.offset, cells)
    regions: list[Region] = []
    unread: list[tuple[int, str]] = []
    read_nodes: set[int] = set()
    nodes = [*in_order(tree, cells.numbers)]
    for call, called, way in _queries(nodes):
        try:
            node, filled = _argument(call, names)
            sql = _sql(node, text, filled, places)
        except Unmapped as why:
            at = text.offsets[places.offset(call)]
            unread.append((at, f"the SQL of this call is left alone: {why}"))
            continue
        read_nodes |= {id(operand) for operand in _operands(node)}
        session = sessions.session(called, way.scopes)
        runs = text.offsets[places.end(call)]
        regions.append(Region(sql, way.block, runs=runs, session=session))
    for effect in effects(nodes, read_nodes):
        number = () if effect.sure else (next(cells.numbers),)
        regions.append(_region(effect, number, text, places, sessions))
    sessions.end()
    ordered = sorted(regions, key=lambda region: region.at)
    return Read(tuple(ordered), tuple(sorted(unread)))


def _queries(
    nodes: Sequence[tuple[ast.AST, Way]],
) -> Iterator[tuple[ast.Call, ast.expr, Way]]:
    """The calls of ``spark.sql``, each with the expression before ``.sql``."""
    for node, way in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=called, attr="sql")):
                if _SPARK.search(_last(called)):
                    yield node, called, way


def _region(
    effect: ProgramEffect,
    number: tuple[int, ...],
    text: Embedded,
    places: _Places,
    sessions: Sessions,
) -> Region:
    """The region of an effect. One that is not sure gets a block of its own, with ``number``."""
    way, runs = effect.way, text.offsets[places.end(effect.node)]
    nothing = Embedded(effect.statement, [runs] * (len(effect.statement) + 1))
    on = effect.session
    session = None if on is None else sessions.session(on, way.scopes)
    return Region(nothing, (*way.block, *number), written=False, runs=runs, session=session)


def _unread(text: Embedded, why: str) -> Read:
    """The result for a text that Python cannot parse. If it seems to change names or settings, it
    may change any of them, since its author will mend it before it runs."""
    at = text.offsets[0]
    changes = _MAY_CHANGE.search(text.text)
    anything = Region(Embedded(ANYTHING, [at] * (len(ANYTHING) + 1)), written=False)
    return Read((anything,) if changes else (), ((at, why),))


class _Places:
    """Character offsets of Python's nodes, which count columns in bytes of UTF-8."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_end = line_end(text)
        self._lines = Lines(text)

    def offset(self, node: ast.expr | ast.arg | ast.alias) -> int:
        """Offset of a node's beginning."""
        return self._at(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        """Offset of a node's end."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)

    def _at(self, line: int, column: int) -> int:
        start = self._lines.offset(line)
        before = self.text[start : start + column]
        if before.isascii():
            return start + column
        return start + len(before.encode()[:column].decode())


def _last(node: ast.expr) -> str:
    """The last name of the expression before a method: ``spark`` of ``self.spark``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner):  # get_spark(), SparkSession.builder.getOrCreate()
            return ast.unparse(inner)
    return ""


def _argument(call: ast.Call, names: Callable[[], Names]) -> tuple[ast.expr, str]:
    """The argument of a call of ``sql``, and how its holes are filled: by ``{`` (``format``), by
    ``%``, or not at all. Raises Unmapped."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    node = call.args[0] if call.args else named.pop("sqlQuery", None)
    named.pop("args", None)
    node, filled = _meant(node, names), "{" if named else ""  # keywords fill the fields
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="format")) if not filled:
            node, filled = _meant(inner, names), "{"
        case ast.BinOp(left=inner, op=ast.Mod()) if not filled:
            node, filled = _meant(inner, names), "%"
    if isinstance(node, ast.Name):
        raise Unmapped(
            f"`{node.id}` is not a variable that is assigned one text and used only here"
        )
    if node is None or not _is_text(next(_operands(node))):
        raise Unmapped("it is no string literal, nor a variable that has one")
    if filled and not isinstance(node, ast.Constant):
        raise Unmapped("values are filled into it twice, as by an f-string and `format`")
    return node, filled


def _meant(node: ast.expr | None, names: Callable[[], Names]) -> ast.expr | None:
    """The value of a name, if it is known; else the expression itself."""
    return names().get(id(node), node) if isinstance(node, ast.Name) else node


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of ``+``, from left to right."""
    waiting = [node]  # no recursion: there may be thousands
    while waiting:
        match waiting.pop():
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                waiting += (right, left)
            case operand:
                yield operand


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _sql(node: ast.expr, text: Embedded, filled: str, places: _Places) -> Embedded:
    """The SQL in literals, checked to be what Python itself reads there. Raises Unmapped."""
    operands = [*_operands(node)]
    sources = (text.cut(places.offset(operand), places.end(operand)) for operand in operands)
    written = [Operand(source, _is_text(of)) for source, of in zip(sources, operands, strict=True)]
    read = sql_of(written, "", places.line_end)
    if read[1] != "".join(map(_value, operands)):
        raise Unmapped("Python reads its literals in another way")
    return sql_of(written, filled, places.line_end)[0] if filled else read[0]


def _value(node: ast.expr) -> str:
    """The value of a literal as Python reads it, with NUL for each hole."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_value, node.values))
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else "\0"
