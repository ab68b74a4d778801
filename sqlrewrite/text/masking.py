"""Masks templates in a text and blanks what is not SQL, so that the rest can be lexed.

In: a text. Out: one of the same length and line ends, so that offsets are the same in both: a
template expression that stands for a token becomes a quoted name; cells in other languages, notes
and unclosed quotes become blank. Raises nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlrewrite.text.edits import blank
from sqlrewrite.text.templates import Masked, templated

_NOTEBOOK = re.compile(r"\ufeff?\s*-- Databricks notebook source")
CELL_END = re.compile(r"^[ \t]*--[ \t]*COMMAND[ \t]+-+[ \t]*\r?$", re.MULTILINE)
# The language of a cell follows its title and comments, with or without `-- MAGIC`.
LANGUAGE = re.compile(r"(?:\s|--(?![ \t]*MAGIC)[^\n]*\n)*(--[ \t]*MAGIC[ \t]*)?(%(\w+))")
_MAGIC = re.compile(r"^[ \t]*--[ \t]*MAGIC\b", re.MULTILINE)

_OPENS = re.compile(r"^[ \t]*+(?P<note>//|\#(?!\w*\{))|--|/\*|['\"`]|\$\{|\{[{%\#]", re.MULTILINE)
_CLOSES = {
    "/*": re.compile(r"\*/"),
    "'": re.compile(r"(?:\\.|[^'\\])*+'", re.DOTALL),
    '"': re.compile(r"(?:\\.|[^\"\\])*+\"", re.DOTALL),
    "`": re.compile(r"`"),
    "${": re.compile(r"\}"),
    "{{": re.compile(r"\}\}"),
    "{%": re.compile(r"%\}"),
    "{#": re.compile(r"#\}"),
}
# An HDFS command in a script for Hive's shell, up to the semicolon that ends its line: comment
# signs and quotes in it (`dfs -rm /tmp/x/*;`) belong to a path.
_COMMAND = re.compile(
    r"""(?P<head>(?:\A|;)\s*(?:--[^\n]*\n\s*)*dfs[ \t]+-)
        (?P<rest>[^;\r\n]*)(?=;?[ \t]*(?:[\r\n]|\Z))
      | --[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_MARKS = re.compile(r"[/*'\"`-]")
_SIGNS = ("%", "COMMAND", "//", "#", "\\", "'", '"', "`", "/*")


def mask(text: str) -> Masked:
    """The text with its templates masked. Raises nothing."""
    sql = without_hdfs_patterns(text)
    if not templated(text):
        return Masked(sql)
    # Imported here: plain SQL does not need the module, which compiles many patterns.
    from sqlrewrite.text.template_scan import TemplateScan

    return TemplateScan(cells_as_statements(sql) if is_notebook(text) else sql).run()


def untouched(masked: Masked, text: str) -> bool:
    """Whether the text has no template, and no quoted name that may contain a variable."""
    return masked.text is text and not ("`" in text and templated(text))


def without_foreign_text(text: str) -> str:
    """The text with everything blanked that is not SQL (notes after ``//`` and comments continued
    by a backslash included), and a semicolon after each notebook cell. Definitions are searched in
    it."""
    text = without_hdfs_patterns(text)
    if not any(sign in text for sign in _SIGNS):
        return text
    return "".join(_blanked(cells_as_statements(text, magic=True)))


def without_hdfs_patterns(text: str) -> str:
    """The text without comment and quote signs in HDFS commands."""
    if "dfs" not in text and "DFS" not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        return match["head"] + _MARKS.sub("_", match["rest"]) if match["head"] else match[0]

    return _COMMAND.sub(plain, text)


def is_notebook(text: str) -> bool:
    """Whether a text is the source of a Databricks notebook: by its first line, or by a cell that
    begins with the name of its language (``%sql``), as no statement does."""
    if "Databricks notebook" in text and _NOTEBOOK.match(text):
        return True
    if "COMMAND" not in text or "%" not in text:
        return False
    ends = [match.end() for match in CELL_END.finditer(text)]
    return bool(ends) and any(LANGUAGE.match(text, at) for at in (0, *ends))


def cells_as_statements(text: str, *, magic: bool = False) -> str:
    """A notebook's text with a semicolon at the end of each cell and cells in other languages
    blanked. With ``magic``, a cell of SQL in comments becomes that SQL."""
    pieces: list[str] = []
    since = 0
    for match in CELL_END.finditer(text):
        pieces += (_sql_of_cell(text[since : match.start()], magic), ";", blank(match.group()[1:]))
        since = match.end()
    pieces.append(_sql_of_cell(text[since:], magic))
    return "".join(pieces)


def _sql_of_cell(text: str, magic: bool) -> str:
    language = LANGUAGE.match(text)
    if language is None or (language[1] and not magic and language[3].lower() == "sql"):
        return text
    if language[3].lower() != "sql":
        return blank(text)
    start, end = language.span(2)
    text = f"{text[:start]}{blank(language[2])}{text[end:]}"
    return _MAGIC.sub(lambda match: blank(match.group()), text) if magic else text


def _blanked(text: str) -> Iterator[str]:
    """The pieces of a text, with blanks for notes after ``//``, comments continued by a backslash,
    and the line of an unclosed comment, string or name."""
    end = at = 0
    endless: set[str] = set()  # signs that nothing closes from some place on
    while opening := _OPENS.search(text, at):
        start, sign = opening.start(), opening.group()
        line_end = text.find("\n", opening.end())
        line_end = len(text) if line_end < 0 else line_end
        skipped = sign == "--" and not text[start:line_end].removesuffix("\r").endswith("\\")
        if opening["note"] is None and sign != "--":
            close = None
            if sign not in endless:
                find = _CLOSES[sign].match if sign in ("'", '"') else _CLOSES[sign].search
                close = find(text, opening.end())
            if close is not None:
                at = close.end()
                continue
            endless.add(sign)
            skipped = sign.startswith(("$", "{"))  # an unclosed template: its text counts
            line_end = start + 1 if skipped else line_end
        at = line_end
        if not skipped:
            yield text[end:start]
            yield blank(text[start:at])
            end = at
    yield text[end:]
