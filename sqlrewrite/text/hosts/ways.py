"""How an insertion is written into SQL inside a host language: one class for each way.

Each turns the text that is to be read there into what must stand in the file. What has no such form
(a quote in a raw literal that it would end) raises Unwritable.
"""

from __future__ import annotations

import ast
import json
import re

from sqlrewrite.frozen import dataclass
from sqlrewrite.text.hosts.region import Unwritable
from sqlrewrite.text.source import LINE_END


@dataclass(frozen=True, slots=True)
class Prefixed:
    """In comments that hold SQL: each line begins with a ``prefix``."""

    prefix: str

    def write(self, text: str) -> str:
        """The text with the prefix behind each line's end."""
        return LINE_END.sub(lambda end: end.group() + self.prefix, text)


@dataclass(frozen=True, slots=True)
class LiteralText:
    """In a literal of Python between ``quote``, one or three; ``line_end`` is the file's."""

    quote: str
    raw: bool
    line_end: str

    def write(self, text: str) -> str:
        """The text with its escapes. Raises Unwritable."""
        if self.raw:
            return self._raw(text)
        text = text.replace("\\", "\\\\").replace("\r\n", "\n").replace("\r", "\\r")
        sign = self.quote[0]
        if len(self.quote) == 1:
            return text.replace(sign, f"\\{sign}").replace("\n", "\\n")
        # Alone between other characters a quote ends nothing; beside another one it might.
        text = re.sub(rf"(?<![^{sign}]){sign}|{sign}(?![^{sign}])", rf"\\{sign}", text)
        return text.replace("\n", self.line_end)

    def _raw(self, text: str) -> str:
        """The text as it is, where Python reads it so: after what is no quote and no backslash."""
        plain = LINE_END.sub("\n", text)
        try:
            same = ast.literal_eval(f"r{self.quote} {plain} {self.quote}") == f" {plain} "
        except (SyntaxError, ValueError):
            same = False
        if not same:
            raise Unwritable(f"a raw literal between {self.quote} cannot hold it")
        return plain.replace("\n", self.line_end)


@dataclass(frozen=True, slots=True)
class Filled:
    """In a text whose ``holes`` Python fills: each ``${name}`` is written as its hole, if it can be
    written there, and each of ``doubled`` (braces, or ``%``), which would begin one, twice."""

    holes: tuple[tuple[str, str], ...]
    doubled: str

    def write(self, text: str) -> str:
        """The text with its holes. Raises Unwritable."""
        holes = dict(self.holes)
        signs = [*map(re.escape, holes), *([f"[{self.doubled}]"] if self.doubled else [])]

        def written(found: re.Match[str]) -> str:
            hole = holes.get(found.group())
            if hole == "":
                raise Unwritable(
                    "a value given by position, or in another literal, has no name to repeat"
                )
            return found.group() * 2 if hole is None else hole

        return re.sub("|".join(signs), written, text) if signs else text


@dataclass(frozen=True, slots=True)
class Spliced:
    """In a literal with variables added: it ends before each, and ``opens`` again behind it."""

    opens: str
    quote: str
    variables: tuple[tuple[str, str], ...]

    def write(self, text: str) -> str:
        """The text with its variables."""
        for shown, variable in self.variables:
            text = text.replace(shown, f"{self.quote} + {variable} + {self.opens}")
        return text


@dataclass(frozen=True, slots=True)
class Outside:
    """Before or behind a variable that is added, where no literal is."""

    def write(self, text: str) -> str:
        """Never: raises Unwritable."""
        raise Unwritable("no literal is there that it could stand in")


@dataclass(frozen=True, slots=True)
class Json:
    """In a string of JSON; ``line_end`` is what stands for the end of a line, which may be the end
    of the string and the beginning of the next in a list of lines."""

    line_end: str
    ascii: bool

    def write(self, text: str) -> str:
        """The text with its escapes."""
        written = json.dumps(text, ensure_ascii=self.ascii)[1:-1]
        # A backslash that is escaped stands before another: the pairs are taken first.
        return re.sub(r"\\(.)", lambda it: self.line_end if it[1] == "n" else it.group(), written)
