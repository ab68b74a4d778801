"""Which casts give a value for every value, in ANSI mode too (``Cast.canAnsiCast``,
``Cast.canUpCast`` and what they do at run time, in Spark 4.3)."""

from __future__ import annotations

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import (
    as_decimal,
    holds,
    is_atomic,
    is_decimal,
    is_integral,
    is_numeric,
)
from sqlrewrite.plan.facts.types import Type, fields_of

_MOMENTS = (types.DATE, types.TIMESTAMP, types.TIMESTAMP_NTZ)


def never_fails(given: Type, wanted: Type) -> bool:
    """Whether no value of a type makes its cast to another raise an error."""
    if given in (wanted, types.VOID):
        return True
    if wanted.name in ("string", "char", "varchar"):  # a cast to CHAR(n) is one to STRING
        return is_atomic(given) and given != types.BINARY and fields_of(given) is None
    if given in _MOMENTS and wanted in _MOMENTS:
        return True
    if wanted == types.BINARY:
        return given.name in ("string", "varchar")  # its bytes
    if wanted in (types.FLOAT, types.DOUBLE):
        return is_numeric(given) or given == types.BOOLEAN
    if wanted == types.BOOLEAN:
        return is_numeric(given)
    if is_integral(wanted):
        return given == types.BOOLEAN or (
            is_integral(given) and holds(as_decimal(wanted), as_decimal(given))
        )
    if is_decimal(wanted):
        exact = is_integral(given) or is_decimal(given)
        return exact and holds(wanted, as_decimal(given))
    return False
