"""The type of a function's result, from the types of its arguments, as Spark's analyzer finds it;
None if it is not known.

Most results follow from the signature in the table of functions; ``@round`` and others are rules in
``result_rules``. ``python -m benchmarks.functions`` compares the answers with Spark's.
"""

from __future__ import annotations

from functools import cache

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import is_decimal, is_integral
from sqlrewrite.plan.facts.functions import (
    Argument,
    Arguments,
    Function,
    function,
    letter_types,
    signature,
    type_of_pattern,
)
from sqlrewrite.plan.facts.operator_types import binary, unary
from sqlrewrite.plan.facts.result_rules import RESULTS
from sqlrewrite.plan.facts.types import Type, valued

_NTZ = frozenset({"to_timestamp", "try_to_timestamp"})
"""Functions whose type spark.sql.timestampType decides, as it does for the cast ``timestamp(x)``.
"""
_SCHEMAS = frozenset({"from_json", "from_csv", "from_xml"})
_OPERATOR = "@operator "
_FIXED = {
    str(kind): kind for kind in (types.BOOLEAN, types.INT, types.BIGINT, types.DOUBLE, types.DATE)
}
"""Result types in signatures that depend on no argument and no setting."""


@cache
def fixed_result(name: str, count: int) -> Argument:
    """The type of a call with ``count`` arguments if it does not depend on their types, as that of
    a comparison; else None."""
    row = function(name)
    if row is None or not takes(name, count):
        return None
    return _FIXED.get(signature(row.signature).result)


def takes(name: str, count: int) -> bool:
    """Whether a call of a function may have ``count`` arguments."""
    row = function(name)
    return row is not None and signature(row.signature).takes(count)


def result_type(name: str, call: Arguments) -> Argument:
    """The type of a call by name; for a generator a struct of its columns."""
    row = function(name)
    return None if row is None else result_type_of(row, call)


def result_type_of(row: Function, call: Arguments) -> Argument:
    """The type of a call of a function."""
    kinds = tuple(map(_plain, call.types))
    call = call if kinds == call.types else replace(call, types=kinds)
    form = signature(row.signature)
    rule = RESULTS.get(form.result)
    if form.result.startswith(_OPERATOR):
        kind = _operator(form.result.removeprefix(_OPERATOR), call)
    elif rule is not None:
        try:
            kind = rule(call)
        except IndexError:  # too few arguments, which Spark refuses
            kind = None
    else:
        kind = None
        if form.takes(len(call.types)):
            kind = type_of_pattern(form.result, letter_types(form, call.types, call.settings))
    if call.settings.ntz and row.name in _NTZ and kind == types.TIMESTAMP:
        return types.TIMESTAMP_NTZ
    if call.settings.ntz and row.name in _SCHEMAS and "timestamp" in str(kind):
        return None
    return None if kind is not None and _is_open(kind, call) else kind


def lambda_parameters(name: str, call: Arguments) -> tuple[tuple[Argument, ...], ...]:
    """The types of the parameters of each lambda in a call, in order."""
    row = function(name)
    if row is None:
        return ()
    form = signature(row.signature)
    letters = letter_types(form, tuple(map(_plain, call.types)), call.settings)
    return tuple(
        tuple(type_of_pattern(part, letters) for part in parameter.lambda_parameters)
        for parameter in form.parameters
        if parameter.lambda_parameters
    )


def _operator(sign: str, call: Arguments) -> Argument:
    """The type of an operator's result. A literal integer beside a decimal is a decimal of its own
    digits."""
    kinds = call.known()
    if kinds is None:
        return None
    if len(kinds) == 1:
        return unary(sign, kinds[0])
    if len(kinds) != 2:
        return None
    one, other = (
        _of_digits(kind, call.literal(at)) if is_decimal(beside) and is_integral(kind) else kind
        for at, (kind, beside) in enumerate(zip(kinds, kinds[::-1], strict=True))
    )
    return binary(sign, one, other, call.settings)


def _of_digits(kind: Type, text: str | None) -> Type:
    """``DecimalType.fromLiteral`` of a literal integer."""
    return kind if text is None else types.decimal(len(text.lstrip("-").lstrip("0")) or 1, 0)


def _plain(kind: Argument) -> Argument:
    """The type of an argument in an expression, where CHAR and VARCHAR are strings."""
    return None if kind is None else valued(kind)


def _is_open(kind: Type, call: Arguments) -> bool:
    """Whether the result's type also depends on something else than the types of the arguments: on
    which of several collations is explicit, or on the setting of legacy intervals."""
    text = str(kind)
    if call.settings.legacy_interval is not False and "interval" in text:
        return not any("interval" in str(argument) for argument in call.types)
    if "string" not in text:
        return False
    if None in call.types:
        return True
    collations = {name for type_ in call.types if type_ is not None for name in type_.collations}
    return len(collations) > 1 or (bool(collations) and collations != kind.collations)
