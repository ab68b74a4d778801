"""How templates are written: what opens and closes one, and what one does beside a comment.

Jinja knows nothing of SQL's comments. A ``-`` takes away the line end that a line comment ends
with, or the one before the template; so does ``trim_blocks`` behind a tag or a comment of Jinja's.
The line that follows is a part of the comment then. dbt, Airflow and sqlfluff leave ``trim_blocks``
off; a text does not tell what it is rendered with, so both are asked.
"""

from __future__ import annotations

import re

from sqlrewrite.text.source import LINE_END
from sqlrewrite.text.templates import NOTE

# What opens a variable, and how each is written. Of a sign that Spark's grammar has as well it is
# one only where a value or a name must stand: ``a & b`` and ``a %(b)`` are none.
VARIABLES = {
    "${": re.compile(r"\$\{[^\s{}'\"`][^{}'\"`\r\n]*\}"),
    "$": re.compile(r"\$\w+"),
    "{": re.compile(r"\{[A-Za-z_][\w.]*\}"),
    "#": re.compile(r"#\{[A-Za-z_][\w.]*\}"),
    "@": re.compile(r"@\w+@|@[A-Za-z_]\w*"),
    "%": re.compile(r"%\(\w+\)s"),
    "&": re.compile(r"&&?[A-Za-z_]\w*"),
}
SPARKS_OWN = frozenset("%&@")
TO_A_VALUE = re.compile(
    r"(?:[(,=<>+*/|.-]|\b(?:and|or|not|in|between|like|rlike|regexp|select|where|on|having|then|else"
    r"|when|case|by|from|join|table|into|update|using|limit|values|div))\s*",
    re.IGNORECASE,
)
LONGEST_WORD = 40

# What may open in SQL code, and what matters inside of what it opens until it ends.
CODE = re.compile(
    rf"(?P<note>{NOTE.pattern})"
    r"|--|/\*|(?<!\w)[rR]['\"]|['\"]|`|\{[{%#]|\$\{|(?<![\w$])\$(?=[A-Za-z_])"
    r"|\{(?=[A-Za-z_])|#(?=\{)|@(?=\w+@|[A-Za-z_])|%(?=\(\w+\)s)|&(?=&?[A-Za-z_])",
    re.MULTILINE,
)
# In a comment `@x` is none of Maven's, and a lone brace or percent sign nobody's.
_IN_COMMENT = (
    r"\{[{%#]|\$\{|\$(?=[A-Za-z_])|\{(?=[A-Za-z_][\w.]*\})|#(?=\{[A-Za-z_])|@(?=\w+@)"
    r"|%(?=\(\w+\)s)|&(?=&?[A-Za-z_])"
)
INSIDE = {
    "--": re.compile(rf"[\r\n]|{_IN_COMMENT}"),
    "/*": re.compile(rf"\*/|{_IN_COMMENT}"),
    "'": re.compile(r"\\.|'|\{[{%#]|\$\{", re.DOTALL),
    '"': re.compile(r"\\.|\"|\{[{%#]|\$\{", re.DOTALL),
    "r'": re.compile(r"'|\{[{%#]|\$\{"),
    'r"': re.compile(r"\"|\{[{%#]|\$\{"),
    "`": re.compile(r"`|\{[{%#]|\$\{"),
}
CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
OPENS = frozenset({*CLOSES, *VARIABLES})

_WHITE = re.compile(r"\s*")
_LINE = re.compile(r"[^\r\n]*")
_ENDS_ELSEWHERE = frozenset({"*/", "/*", "*+", "\\\n", "\\\r", "\\"})
"""What may come together where a template between renders to nothing: a comment's end or
beginning, a hint, a backslash by which a line comment goes on."""
_OPEN = frozenset("'\"`{*")


def goes_on(text: str, unit: str, end: int) -> int:
    """Offset at which the text continues behind a template, if as much as possible is trimmed."""
    if not unit.startswith(("{{", "{%", "{#")) or unit[-3] == "+":
        return end
    if unit[-3] == "-":
        match = _WHITE.match(text, end)
    else:
        match = None if unit.startswith("{{") else LINE_END.match(text, end)
    return end if match is None else match.end()


def takes_line_end(comment: str) -> bool:
    """Whether a template at the end of a line comment may take away the line end behind it."""
    ending = comment.rstrip()[-3:]
    return ending.endswith(("#}", "%}", "-}}")) and not ending.startswith("+")


def drawn_into_comment(text: str, unit: str, end: int, *, inside: bool) -> int:
    """End of the code that a template may draw into a line comment: one that it is ``inside`` of,
    or one before it. The template's own end if there is none."""
    since = goes_on(text, unit, end)
    if inside and LINE_END.search(text, end, since) is None:
        return end
    match = _LINE.match(text, since)
    assert match is not None
    line = match.group().strip()
    if not line or line.startswith("--"):
        return end
    # A quote, comment or template that begins there would end elsewhere.
    return len(text) if _OPEN.intersection(line) else match.end() + 1


def ends_elsewhere(text: str, unit: str, start: int, end: int) -> bool:
    """Whether a comment may end at another place, or be none, where a template in it renders to
    nothing: by what then stands side by side."""
    if unit[2:3] == "-":
        while text[start - 1 : start].isspace():
            start -= 1
    before = text[start - 1 : start]
    for at in (end, goes_on(text, unit, end)):
        after = text[at : at + 1]
        another = (before in "*/\\" and after == "{") or (before == "}" and after in "*/+")
        if before + after in _ENDS_ELSEWHERE or (another and before and after):
            return True
    return False
