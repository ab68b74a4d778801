"""Parameter markers, ``:name`` and ``?``, replaced by literals.

What is inserted into the text with literals can be inserted into the one with markers: it repeats
the literals, and needs no parameter.
"""

from __future__ import annotations

import datetime
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct
from sqlglot import Token, TokenType

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.text.edits import Edit, Span, apply

Literals = Mapping[str, str] | Sequence[str]
"""Named or positional parameters, each as a literal of SQL."""

_NAME = re.compile(r"[^\W\d]\w*")
# Quotes and backslashes depend on settings, braces may be templates.
_PLAIN_TEXT = re.compile(r"[^\\'\"{}$\x00-\x1f\x7f]*")
_LONG = 1 << 63

# Behind one of these a colon asks for a field of a VARIANT: ``v:field``.
_OPERANDS = token_types("var identifier r_paren r_bracket string number")


class FilledText(Struct, frozen=True):
    """A text with literals in place of its markers; ``shifts``: by how much offsets after each of
    ``ends`` have moved."""

    text: str
    ends: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()

    def original(self, edits: Sequence[Edit]) -> list[Edit]:
        """Insertions into this text, as insertions into the text with the markers."""
        return [Edit.at(span.start - self._shift(span.start), text) for span, text in edits]

    def _shift(self, offset: int) -> int:
        before = bisect_right(self.ends, offset)
        return self.shifts[before - 1] if before else 0


def literals(args: object) -> Literals | None:
    """The parameters of ``spark.sql(text, args)`` as literals; None if one has none."""
    if not args:
        return ()
    if isinstance(args, Mapping):
        named = {str(name): _literal(value) for name, value in args.items()}
        literals_by_name = {name: value for name, value in named.items() if value is not None}
        return literals_by_name if len(literals_by_name) == len(named) else None
    if isinstance(args, list | tuple):
        values = [value for arg in args if (value := _literal(arg)) is not None]
        return tuple(values) if len(values) == len(args) else None
    return None


def filled(text: str, parameters: Literals) -> FilledText | None:
    """The text with literals in place of its markers; None if the parameters do not fit them."""
    tokens = lex(text).tokens
    values: list[Edit] = []
    for number, (span, name) in enumerate(_markers(tokens)):
        if isinstance(parameters, Mapping):
            value = parameters.get(name)
        else:
            value = parameters[number] if not name and number < len(parameters) else None
        if value is None:
            return None
        values.append(Edit(span, value))
    if not isinstance(parameters, Mapping) and len(values) != len(parameters):
        return None
    shifts = tuple(accumulate(len(value) - (span.end - span.start) for span, value in values))
    ends = tuple(edit.span.end + shift for edit, shift in zip(values, shifts, strict=True))
    return FilledText(apply(text, values), ends, shifts)


def _markers(tokens: Sequence[Token]) -> Iterator[tuple[Span, str]]:
    """The markers in order, with their names; that of a ``?`` is empty."""
    before: Token | None = None
    for token, behind in zip(tokens, [*tokens[1:], None], strict=True):
        kind = token.token_type
        if kind is TokenType.PLACEHOLDER:
            yield Span(token.start, token.end + 1), ""
        elif kind is TokenType.COLON and behind is not None and behind.start == token.end + 1:
            field = before is not None and before.token_type in _OPERANDS
            if not field and _NAME.fullmatch(behind.text):
                yield Span(token.start, behind.end + 1), behind.text
        before = token


def _literal(value: Any) -> str | None:
    """A value as PySpark's ``lit`` takes it, by its exact type."""
    write = _WRITERS.get(type(value))
    return write(value) if write is not None else None


# A Decimal is missing: over Connect its parameter has another type than its literal.
_WRITERS: Mapping[type, Any] = {
    type(None): lambda _: "NULL",
    bool: lambda value: "true" if value else "false",
    int: lambda value: f"({value})" if -_LONG < value < _LONG else None,
    float: lambda value: f"({value!r}D)" if math.isfinite(value) else None,
    datetime.date: lambda value: f"DATE'{value:%Y-%m-%d}'" if value.year >= 1000 else None,
    str: lambda value: f"'{value}'" if _PLAIN_TEXT.fullmatch(value) else None,
}
