"""How Spark prints a call in the name of a column: its ``prettyName``, and the default arguments
that it adds. The tables are in ``rules/printed.toml``; each row was asked of Spark 4.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlrewrite.plan.facts import types
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.sql.types.scope import TypedExpression
from sqlrewrite.text.data_files import read_toml


@cache
def _tables() -> Mapping[str, Any]:
    said = read_toml(rules_folder() / "printed.toml")
    words = {key: frozenset(said[key].split()) for key in ("upper", "untold")}
    return {**said, **words, "families": tuple(said["families"].split())}


def operand_texts(parts: Sequence[TypedExpression]) -> list[str] | None:
    """Operands as Spark prints them. None if one is not known, and if a constant string stands
    beside a string with a collation, since Spark prints a cast there."""
    if any(part.type is not None and part.type.collated for part in parts) and any(
        isinstance(part.constant, str) for part in parts
    ):
        return None
    known = [part.text for part in parts if part.text is not None]
    return known if len(known) == len(parts) else None


def filled(form: str, *parts: TypedExpression | str) -> str | None:
    """A form of ``str.format`` with texts and printed expressions in it; None if one of these is
    not known."""
    known = operand_texts([TypedExpression(it) if isinstance(it, str) else it for it in parts])
    return None if known is None else form.format(*known)


def printed(name: str, parts: Sequence[TypedExpression], distinct: bool) -> str | None:
    """A call as Spark prints it; None where that is not known."""
    known = operand_texts(parts)
    if known is None:
        return None
    tables = _tables()
    known = known[: tables["hidden"].get(name, len(known))]
    if name in _BY_TYPE:
        return _by_type(name, parts, known)
    count = str(len(known))
    form = tables["forms"].get(name, {}).get(count)
    if form is not None:
        return None if distinct else form.format(*known)
    if name in tables["untold"] or name.startswith(tables["families"]):
        return None
    added = tables["defaults"].get(name, {}).get(count)
    inner = ", ".join([*known, *([] if added is None else [added])])
    name = name.upper() if name in tables["upper"] else tables["renamed"].get(name, name)
    return f"{name}({'DISTINCT ' * distinct}{inner})"


_BY_TYPE = frozenset({"lpad", "rpad", "to_char", "to_varchar"})


def _by_type(name: str, parts: Sequence[TypedExpression], known: list[str]) -> str | None:
    """A call that Spark prints as another function, by the type of its first argument."""
    kind = parts[0].type if parts else None
    if kind is None or len(known) < 2:
        return None
    if name in ("lpad", "rpad"):
        if len(known) == 2:
            if kind != types.BINARY and not kind.is_string:
                return None
            known = [*known, "X'00'" if kind == types.BINARY else " "]
        return f"{name}({', '.join(known)})"
    if kind == types.BINARY or len(known) > 2:
        return None
    dates = kind.name.startswith(("date", "timestamp"))
    return f"{'date_format' if dates else 'to_char'}({', '.join(known)})"
