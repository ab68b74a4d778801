"""Formats: the same query as different people would have typed it.

In: canonical text, keywords in upper case and names in lower. Out: Spark SQL of the same meaning
with keyword case, line ends, comments and backquotes drawn at random.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

_TOKEN = re.compile(r"/\*\+.*?\*/|'[^']*'|[A-Z_][A-Z_0-9]*|[a-z_][a-z_0-9]*|\s+|\d[\d.]*|.", re.S)

# sqlglot reads these pairs as one token, and not at all with a comment between them.
_GLUED = re.compile(r"(ORDER|GROUP|PARTITION) BY|GROUPING SETS|WITH (?=ROLLUP|CUBE)")
_GLUED_WORDS = ("ORDER_BY", "GROUP_BY", "PARTITION_BY", "GROUPING_SETS", "WITH_ROLLUP", "WITH_CUBE")

# What a reader by regular expression would trip over.
_COMMENTS = ("it's", "WHERE d.yr = 1;", "FROM x)", "näher ☃", "(", "-- twice", "'", "SELECT", "`")


@dataclass(frozen=True, slots=True)
class Style:
    """One author's habits: the chance of each, for each token or gap."""

    keyword: str
    newline: float
    comment: float
    backquote: float
    shout: float
    line_end: str


def random_style(rng: random.Random) -> Style:
    """Half of all queries are plain, so that a failure is read easily."""
    keyword = rng.choice(("upper", "upper", "lower", "title", "mixed"))
    line_end = "\r\n" if rng.random() < 0.05 else "\n"
    if rng.random() < 0.5:
        return Style(keyword, 0.1, 0.0, 0.0, 0.0, line_end)
    return Style(
        keyword,
        rng.choice((0.05, 0.3)),
        rng.choice((0.0, 0.02, 0.1)),
        rng.choice((0.0, 0.1, 0.5, 1.0)),
        rng.choice((0.0, 0.1)),
        line_end,
    )


def styled(rng: random.Random, text: str) -> str:
    """The same query in a random format."""
    style = random_style(rng)
    end = rng.choice(("", "", "\n", ";", ";\n", " -- end", "\n;"))
    glued = _GLUED.sub(lambda m: m.group().replace(" ", "_"), text)
    made = "".join(_token(rng, style, m.group()) for m in _TOKEN.finditer(glued)) + end
    return made.replace("\n", style.line_end)


def _token(rng: random.Random, style: Style, token: str) -> str:
    first = token[0]
    if first.isspace():
        return _gap(rng, style)
    if first == "'" or token.startswith("/*+"):
        return token
    if first.isupper():
        words = token.split("_") if token in _GLUED_WORDS else [token]
        gap = "\n" if rng.random() < style.newline / 4 else " "
        return gap.join(_keyword(rng, style.keyword, word) for word in words)
    if first.islower():
        name = token.upper() if rng.random() < style.shout else token
        return f"`{name}`" if rng.random() < style.backquote else name
    return token


def _keyword(rng: random.Random, case: str, token: str) -> str:
    chosen = rng.choice(("upper", "lower", "title")) if case == "mixed" else case
    return {"upper": token, "lower": token.lower(), "title": token.title()}[chosen]


def _gap(rng: random.Random, style: Style) -> str:
    draw = rng.random()
    if draw < style.comment:
        note = rng.choice(_COMMENTS)
        return f" /* {note} */ " if rng.random() < 0.5 else f" -- {note}\n"
    if draw < style.comment + style.newline:
        return "\n" + " " * rng.choice((0, 2, 4, 7))
    return " "
