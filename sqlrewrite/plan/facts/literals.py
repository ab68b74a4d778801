"""The type of a constant as it is written, and whether a constant can be cast without an error."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import is_decimal, is_integral
from sqlrewrite.plan.facts.types import Type

_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_DATE = (
    r"[12]\d{3}-((0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
)
_DAY = re.compile(_DATE, re.ASCII)
_MOMENT = re.compile(_DATE + r"( ([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,6})?)?", re.ASCII)


@lru_cache(1024)
def number_type(text: str) -> Type | None:
    """The type of a number without a suffix (``AstBuilder.visitIntegerLiteral`` etc.); None if the
    text is no number."""
    if not _NUMBER.fullmatch(text):
        return None
    if "e" in text.lower():
        return types.DOUBLE
    if "." in text:
        return _exactly(text)
    value = int(text)
    kind = next((kind for kind in (types.INT, types.BIGINT) if _in_range(value, kind)), None)
    return _exactly(text) if kind is None else kind


def row_count(text: str) -> int:
    """A literal number of rows, of nine digits at most; 0 for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def cast_fits(text: str, kind: Type) -> bool:
    """Whether a cast of this text to the type certainly raises no error: it is in the plainest
    form."""
    number = _NUMBER.fullmatch(text.strip()) is not None
    if is_integral(kind):
        return number and text.strip().lstrip("-").isdigit() and _in_range(int(text), kind)
    if is_decimal(kind):
        precision, scale = kind.numbers
        return number and abs(Decimal(text)) < 10 ** (precision - scale) - 1
    if kind in types.FLOATING:
        return number
    if kind == types.BOOLEAN:
        return text.lower() in ("true", "false", "0", "1")
    if kind == types.DATE:
        return _DAY.fullmatch(text) is not None
    if kind in (types.TIMESTAMP, types.TIMESTAMP_NTZ):
        return _MOMENT.fullmatch(text) is not None
    return kind.name in ("string", "varchar", "char")


def _in_range(value: int, kind: Type) -> bool:
    least, most = types.ends_of(kind)
    return least <= value <= most


def _exactly(text: str) -> Type | None:
    """The decimal type with exactly the digits of the number."""
    _, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits), scale)
    return types.decimal(precision, scale) if precision <= types.MAX_PRECISION else None
