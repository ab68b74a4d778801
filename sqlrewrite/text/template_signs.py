"""What opens a template, in code and inside of strings, names and comments, and what closes it."""

from __future__ import annotations

import re

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
