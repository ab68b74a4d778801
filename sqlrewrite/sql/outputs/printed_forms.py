"""How Spark prints operators and calls in the name of a column, given their printed operands.

The tables are in ``rules/printed.toml``; each row was asked of Spark 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.sql.outputs.literal_names import Printed
from sqlrewrite.text.data_files import read_toml

_BY_TYPE = frozenset({"lpad", "rpad", "to_char", "to_varchar"})


@cache
def _tables() -> Mapping[str, Any]:
    tables = read_toml(rules_folder() / "printed.toml")
    words = {key: frozenset(tables[key].split()) for key in ("upper", "untold")}
    return {**tables, **words, "families": tuple(tables["families"].split())}


def _texts(parts: Sequence[Printed]) -> list[str] | None:
    """The printed operands. None if one is unknown, or if a constant string stands beside a string
    with a collation, where Spark prints a cast."""
    if any(part.kind is not None and part.kind.collated for part in parts) and any(
        isinstance(part.constant, str) for part in parts
    ):
        return None
    texts = [part.text for part in parts if part.text is not None]
    return texts if len(texts) == len(parts) else None


def filled(form: str, *parts: Printed | str) -> str | None:
    """A format filled with texts and printed expressions; None if one of these is unknown."""
    texts = _texts([Printed(part) if isinstance(part, str) else part for part in parts])
    return None if texts is None else form.format(*texts)


def printed(name: str, parts: Sequence[Printed], distinct: bool) -> str | None:
    """A call as Spark prints it; None if that is unknown."""
    texts = _texts(parts)
    tables = _tables()
    if texts is None:
        return None
    texts = texts[: tables["hidden"].get(name, len(texts))]
    if name in _BY_TYPE:
        return _by_type(name, parts, texts)
    count = str(len(texts))
    form = tables["forms"].get(name, {}).get(count)
    if form is not None:
        return None if distinct else str(form.format(*texts))
    if name in tables["untold"] or name.startswith(tables["families"]):
        return None
    added = tables["defaults"].get(name, {}).get(count)
    arguments = ", ".join([*texts, *([] if added is None else [added])])
    name = name.upper() if name in tables["upper"] else tables["renamed"].get(name, name)
    return f"{name}({'DISTINCT ' * distinct}{arguments})"


def _by_type(name: str, parts: Sequence[Printed], texts: list[str]) -> str | None:
    """A call that Spark prints as another call by the type of its first argument; None if
    unknown."""
    kind = parts[0].kind if parts else None
    if kind is None or len(texts) < 2:
        return None
    if name in ("lpad", "rpad"):
        if len(texts) == 2:
            if kind != types.BINARY and not kind.is_string:
                return None
            texts = [*texts, "X'00'" if kind == types.BINARY else " "]
        return f"{name}({', '.join(texts)})"
    if kind == types.BINARY or len(texts) > 2:
        return None
    dates = kind.name.startswith(("date", "timestamp"))
    return f"{'date_format' if dates else 'to_char'}({', '.join(texts)})"


def replaced_by_analyzer(operator: str, one: Printed, other: Printed) -> bool:
    """Whether the analyzer replaces a comparison and so prints another one: of an integer with a
    constant decimal (``DecimalPrecision``), of a boolean with a constant number
    (``BooleanEquality``)."""
    for literal, operand in ((one, other), (other, one)):
        numeric = isinstance(literal.constant, Decimal | int) and literal.kind != types.BOOLEAN
        if not numeric or isinstance(operand.constant, str):
            continue
        kind = operand.kind
        if kind is None or kind == types.BOOLEAN:
            return True
        if isinstance(literal.constant, Decimal) and is_integral(kind):
            return operator not in ("=", "<=>", "<>")
    return False


def is_datetime(kind: Type) -> bool:
    """Whether a type is that of a date, time or interval."""
    return kind.name.startswith(("date", "time", "interval"))


def datetime_arithmetic(operator: str, left: Printed, right: Printed) -> str | None:
    """Arithmetic with dates, times and intervals as printed, which
    ``BinaryArithmeticWithDatetimeResolver`` replaces by calls; None if unknown."""
    one, other = left.kind, right.kind
    assert one is not None
    assert other is not None
    spans = types.fields_of(one) is not None, types.fields_of(other) is not None
    if types.VOID in (one, other) or types.INTERVAL in (one, other):
        return None
    if "time" in (one.name, other.name):
        return None
    if operator == "+" and (spans == (True, False) or (is_integral(one) and other == types.DATE)):
        return datetime_arithmetic(operator, right, left)
    if operator == "*" and spans == (False, True):
        return datetime_arithmetic(operator, right, left)
    if operator in "*/" or spans == (True, True) or (operator == "-" and spans == (False, False)):
        if one == types.DATE and is_integral(other):
            return filled("date_sub({}, {})", left, right)
        return filled("({} {} {})", left, operator, right)
    if one == types.DATE and is_integral(other):
        return filled("date_add({}, {})", left, right)
    if one == types.DATE and other == types.interval("day"):
        if operator == "-":
            return filled("date_add({}, (- extractansiintervaldays({})))", left, right)
        return filled("date_add({}, extractansiintervaldays({}))", left, right)
    if spans == (False, True):
        return filled("{} {} {}", left, operator, right)
    return None


def bare_call(name: str) -> str | None:
    """A function called without parentheses (``current_date``) as printed, by its lower-case
    name."""
    if name in ("user", "session_user"):
        name = "current_user"
    return printed(str(_tables()["renamed"].get(name, name)), [], False)


def cast_text(operand: Printed, kind: Type | None, *, safe: bool) -> Printed:
    """A cast to a type as printed."""
    if kind is None:
        return Printed(None)
    if kind.items or kind.name == "struct":
        return Printed(operand.text, kind)
    word = "TRY_CAST" if safe else "CAST"
    plain = kind.collation is None  # as ``DataType.sql`` writes it
    shown = str(kind).upper() if plain else f"STRING COLLATE {kind.collation}"
    return Printed(filled("{}({} AS {})", word, operand, shown), kind)
