"""Words of SQL as people and tools write them: gaps with comments, names in each spelling, strings.

A text is written with one blank at each gap; ``dressed`` then puts something else into some. A
blank that belongs to the text, as in a string, is written as ``KEPT``, and ``JOINT`` is a place
where nothing needs to stand and a comment may.
"""

from __future__ import annotations

import random
import re

KEPT, JOINT = "\x00", "\x01"

GAPS = (
    *("\n", "\n  ", "\t", "  ", "\r\n", " /* c */ ", "/**/", " -- a line\n", " --\n"),
    *(" /* it's */ ", ' /* " */ ', " /* ` */ ", " /* ; */ ", " /* a /* b */ c */ "),
    *(
        " -- it's\n",
        " -- /* \n",
        " -- */\n",
        " --+ BROADCAST(d)\n",
        " /* -- */ ",
        "/* + BROADCAST */",
    ),
    *(" -- WHERE 1 = 0\n", " /* JOIN d ON\n f.p = d.k */ ", " /* SELECT */ ", " -- ä\n", "\n\n"),
)
STRANGE_GAPS = (
    *(
        "/*/**/*/",
        " /* /*+ a */ ",
        " -- goes on\\\n still\n",
        " /*/ */ ",
        "/***/",
        " /* **/ ",
        "\u00a0",
        "\f",
    ),
    *(" /* /* /* */ */ */ ", " -- ends \\\\\n", " /* '/*' */ */ ", "--;\n", "\u3000", "\u00a0"),
)
"""Read otherwise by many a lexer."""

STRINGS = (
    *("'a'", "'b'", "'1'", "'01'", "'2024-01-02'", "''", "'x%'", "'it''s'", "'it\\'s'", '"a"'),
    *(r"r'\d'", "'a' 'b'", "'--'", "'/* */'", "'\\\\'", "'`'", "'\"'", '"it\'s"', "'\\n'", "'ä'"),
    *('"k"', '"p"', '"label"', "r'\\'", "'\\' OR 1 = 1 -- '", "'a' \"b\""),
    *('R"a"', "'a;b'", "'''a'", "'\\u0061'"),
)
ALIASES = (
    *("f", "d", "t", "x", "y1", "dd", "a_1", "_t", "t2", "src", "date", "key", "value", "year"),
    *("data", "order_", "row", "rows", "filter", "index", "p", "k", "sales", "days", "window"),
    *("first", "current", "default", "set", "all_", "id"),
)
QUOTED = ("a b", "select", "from", "order", "join", "ü", "1a", "a``b", "a.b", "--", "/*", "'", '"')
"""Names that have to stand in backquotes."""


def gaps(rng: random.Random) -> tuple[float, tuple[str, ...]]:
    """How often a text has something strange at a gap, and what."""
    kind = rng.random()
    if kind < 0.5:
        return 0.0, GAPS
    if kind < 0.97:
        return rng.choice((0.03, 0.1, 0.3)), GAPS
    return 0.05, GAPS + STRANGE_GAPS


def dressed(rng: random.Random, text: str) -> str:
    """The text with its gaps filled and its kept blanks put in."""
    chance, choice = gaps(rng)

    def gap(found: re.Match[str]) -> str:
        if rng.random() >= chance:
            return " " if found[0] == " " else ""
        return rng.choice(choice)

    return re.sub(f"[ {JOINT}]", gap, text).replace(KEPT, " ")


def plainly(text: str) -> str:
    """The text with a blank in each gap."""
    return text.replace(JOINT, "").replace(KEPT, " ")


def kept(text: str) -> str:
    """The text with blanks that no comment may replace."""
    return text.replace(" ", KEPT)


def string(rng: random.Random) -> str:
    """A literal string in one of its spellings."""
    if rng.random() < 0.005:
        return kept(rng.choice(("'{{ a }}'", "'${a}'")))
    return kept(rng.choice(STRINGS))


def name(rng: random.Random, raw: str) -> str:
    """The name as one may write it; names compare without regard to case."""
    if not re.fullmatch(r"[A-Za-z_]\w*", raw, re.ASCII):
        return f"`{kept(raw)}`"
    spelled = rng.random()
    if spelled < 0.9:
        return raw
    if spelled < 0.94:
        return raw.upper()
    return f"`{raw}`" if spelled < 0.98 else f"`{raw.capitalize()}`"


def dotted(rng: random.Random, *names: str) -> str:
    """A qualified name."""
    return f"{JOINT}.{JOINT}".join(name(rng, one) for one in names)
