"""The syntax of templates: what opens and closes one, and how one may change a comment beside it.

Jinja knows nothing of SQL's comments. A ``-`` in a tag removes the white space beside it, and with
it the line end of a line comment; so does the option ``trim_blocks`` after a tag or a Jinja
comment. The next line is then part of the comment. dbt, Airflow and sqlfluff leave ``trim_blocks``
off, but a text does not say how it is rendered: it must mean the same either way.
"""

from __future__ import annotations

import re

from sqlrewrite.text.source import LINE_END
from sqlrewrite.text.templates import NOTE

# The signs that open a variable, and its pattern. A sign that Spark uses too (``a & b``, ``a
# %(b)``) opens one only where a value or a name is required.
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

# What opens a string, name, comment or template in SQL code; and in each, what may end it or open a
# template in it.
CODE = re.compile(
    rf"(?P<note>{NOTE.pattern})"
    r"|--|/\*|(?<!\w)[rR]['\"]|['\"]|`|\{[{%#]|\$\{|(?<![\w$])\$(?=[A-Za-z_])"
    r"|\{(?=[A-Za-z_])|#(?=\{)|@(?=\w+@|[A-Za-z_])|%(?=\(\w+\)s)|&(?=&?[A-Za-z_])",
    re.MULTILINE,
)
# In a comment, `@x` (Maven), a lone brace and a percent sign open no template.
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
"""Two characters that end or begin a comment, open a hint, or continue a line comment. A template
between them that renders to nothing would bring them together."""
_OPEN = frozenset("'\"`{*")


def goes_on(text: str, unit: str, end: int) -> int:
    """The offset of the code after a template, with the most white space trimmed."""
    if not unit.startswith(("{{", "{%", "{#")) or unit[-3] == "+":
        return end
    if unit[-3] == "-":
        match = _WHITE.match(text, end)
    else:
        match = None if unit.startswith("{{") else LINE_END.match(text, end)
    return end if match is None else match.end()


def takes_line_end(comment: str) -> bool:
    """Whether a template at the end of a line comment may remove the line end after it."""
    ending = comment.rstrip()[-3:]
    return ending.endswith(("#}", "%}", "-}}")) and not ending.startswith("+")


def drawn_into_comment(text: str, unit: str, end: int, *, inside: bool) -> int:
    """The end of the code that a template's trimming may append to a line comment: one that the
    template is ``inside``, or one before it. The template's own end if there is no such code."""
    since = goes_on(text, unit, end)
    if inside and LINE_END.search(text, end, since) is None:
        return end
    match = _LINE.match(text, since)
    assert match is not None
    line = match.group().strip()
    if not line or line.startswith("--"):
        return end
    # If that line opens a quote, comment or template, all that follows may be read otherwise.
    return len(text) if _OPEN.intersection(line) else match.end() + 1


def ends_elsewhere(text: str, unit: str, start: int, end: int) -> bool:
    """Whether a comment may end elsewhere, or not be a comment, if a template in it renders to
    nothing, so that the characters before and after it touch."""
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
