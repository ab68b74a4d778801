"""Qualified names as text: parts separated by dots, in backquotes where needed."""

from __future__ import annotations

import re

from sqlrewrite.warehouse import Name

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
_PLAIN = re.compile(r"[^\W\d]\w*")


def quoted_name(name: Name) -> str:
    """A name as text, with backquotes around the parts that need them."""
    return ".".join(part if _PLAIN.fullmatch(part) else quoted(part) for part in name)


def quoted(part: str) -> str:
    """A part of a name in backquotes."""
    return "`" + part.replace("`", "``") + "`"


def literal_name(name: Name) -> str:
    """A name as SQL, each part in backquotes."""
    return ".".join(map(quoted, name))


def parsed_name(text: str) -> Name | None:
    """The name in a text as ``quoted_name`` writes it, in lower case; None if it is no name."""
    parts: list[str] = []
    at = 0
    while (match := _PART.match(text, at)) is not None:
        quoted, plain = match.groups()
        parts.append((quoted.replace("``", "`") if quoted is not None else plain).lower())
        at = match.end()
        if at == len(text):
            return tuple(parts)
        if text[at] != ".":
            return None
        at += 1
    return None
