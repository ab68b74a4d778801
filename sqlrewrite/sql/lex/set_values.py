"""What a variable stands for whose values the same text shows by SET, ``SET day = '2024-01-01'``.

In: the values, as texts that Spark and Hive put in place of ``${day}``. Out: whether a value is a
constant, one operand that may vary, or a text that may hold more than one operand.
"""

from __future__ import annotations

import re
from enum import IntEnum

from sqlrewrite.plan.facts.functions import function


class SetValue(IntEnum):
    """What stands in place of a variable, the worst last."""

    CONSTANT = 0
    OPERAND = 1
    ANY_TEXT = 2


_STRINGS = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")
# Arithmetic over constants binds more tightly than a comparison.
_ARITHMETIC = re.compile(r"(?:[\d.]+|[sd]|[-+*/%(),\s])*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = ("--", "/*", ";")
_WORDS_OF_CONSTANTS = frozenset(
    "as int integer bigint smallint tinyint string date timestamp timestamp_ntz decimal double"
    " float boolean true false null day days month months year years hour hours minute minutes"
    " interval current_date current_timestamp".split()
)


def set_value(values: tuple[str, ...]) -> SetValue:
    """What a variable with these values stands for: the worst that one of them may be."""
    return max(map(_of_one, values), default=SetValue.CONSTANT)


def _of_one(value: str) -> SetValue:
    plain = _STRINGS.sub(" s ", value.strip())
    if not plain or any(sign in plain for sign in _COMMENT) or _depths(plain) is None:
        return SetValue.ANY_TEXT
    if _ARITHMETIC.fullmatch(plain):
        return SetValue.CONSTANT if "," not in _outside(plain) else SetValue.ANY_TEXT
    outside = _outside(plain).split()
    typed = len(outside) == 2 and outside[1] == "s" and outside[0].lower() in _WORDS_OF_CONSTANTS
    if not (typed or (len(outside) == 1 and _is_primary(outside[0]))):
        return SetValue.ANY_TEXT
    return SetValue.CONSTANT if _is_constant(plain) else SetValue.OPERAND


def _is_primary(outside: str) -> bool:
    """Whether a word, a dotted name, a call or a parenthesis is all that a value is."""
    name, call, rest = outside.partition("()")
    parts = name.split(".") if name else []
    return not rest and bool(name or call) and all(_WORD.fullmatch(part) for part in parts)


def _is_constant(plain: str) -> bool:
    """Whether a value calls nothing but functions that give the same again, of constants alone."""
    for match in _WORD.finditer(plain):
        word = match.group().lower()
        if word in _WORDS_OF_CONSTANTS or word == "s":
            continue
        row = function(word) if plain[match.end() :].lstrip().startswith("(") else None
        if row is None or not row.repeatable or row.kind != "scalar":
            return False
    return "." not in _outside(plain)


def _depths(plain: str) -> int | None:
    """0 where all parentheses are closed in order, else None."""
    depth = 0
    for sign in plain:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return None
    return None if depth else 0


def _outside(plain: str) -> str:
    """What stands outside of all parentheses, of which ``()`` is left."""
    depth, signs = 0, list[str]()
    for sign in plain:
        depth -= sign == ")"
        if depth == 0:
            signs.append(sign)
        depth += sign == "("
    return "".join(signs).replace(" (", "(")
