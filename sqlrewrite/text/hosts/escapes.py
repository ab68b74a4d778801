"""How an insertion is written into SQL inside a host language: one function for each form.

Each takes the text that is to be read there, as its last argument, and gives what must stand in the
file. What has no such form (a quote in a raw literal that it would end) raises Unwritable.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping

from sqlrewrite.text.hosts.region import Unwritable
from sqlrewrite.text.source import LINE_END


def prefixed(prefix: str, text: str) -> str:
    """In comments that hold SQL: each line begins with a ``prefix``."""
    return LINE_END.sub(lambda end: end.group() + prefix, text)


def in_literal(quote: str, line_end: str, text: str) -> str:
    """In a literal of Python between ``quote``, one or three; ``line_end`` is the file's."""
    text = text.replace("\\", "\\\\").replace("\r\n", "\n").replace("\r", "\\r")
    sign = quote[0]
    if len(quote) == 1:
        return text.replace(sign, f"\\{sign}").replace("\n", "\\n")
    # Alone between other characters a quote ends nothing; beside another one it might.
    text = re.sub(rf"(?<![^{sign}]){sign}|{sign}(?![^{sign}])", rf"\\{sign}", text)
    return text.replace("\n", line_end)


def in_raw_literal(quote: str, line_end: str, text: str) -> str:
    """In a raw literal: as it is, where Python reads it so after what is no quote or backslash."""
    plain = LINE_END.sub("\n", text)
    try:
        same = ast.literal_eval(f"r{quote} {plain} {quote}") == f" {plain} "
    except (SyntaxError, ValueError):
        same = False
    if not same:
        raise Unwritable(f"a raw literal between {quote} cannot hold it")
    return plain.replace("\n", line_end)


def filled(holes: Mapping[str, str], doubled: str, text: str) -> str:
    """In a text whose ``holes`` Python fills: each ``${name}`` is written as its hole, if it can be
    written there, and each of ``doubled`` (braces, or ``%``), which would begin one, twice."""
    signs = [*map(re.escape, holes), *([f"[{doubled}]"] if doubled else [])]

    def written(found: re.Match[str]) -> str:
        hole = holes.get(found.group())
        if hole == "":
            raise Unwritable(
                "a value given by position, or in another literal, has no name to repeat"
            )
        return found.group() * 2 if hole is None else hole

    return re.sub("|".join(signs), written, text) if signs else text


def spliced(opens: str, quote: str, variables: Mapping[str, str], text: str) -> str:
    """In a literal with variables added: it ends before each, and ``opens`` again behind it."""
    for shown, variable in variables.items():
        text = text.replace(shown, f"{quote} + {variable} + {opens}")
    return text


def outside(_: str) -> str:
    """Before or behind a variable that is added, where no literal is: never."""
    raise Unwritable("no literal is there that it could stand in")


def in_json(line_end: str, ascii_only: bool, text: str) -> str:
    """In a string of JSON; ``line_end`` is what stands for the end of a line, which may be the end
    of the string and the beginning of the next in a list of lines."""
    written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
    # A backslash that is escaped stands before another: the pairs are taken first.
    return re.sub(r"\\(.)", lambda it: line_end if it[1] == "n" else it.group(), written)
