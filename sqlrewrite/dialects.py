"""Texts of Trino, DuckDB and Flink, transliterated so that Spark's grammar reads them.

In: a text of Trino, DuckDB or Flink. Out: a text that means the same to Spark's grammar, with every
character in the same place, so that all places, names and clauses found in it are those of the
author's own text; and the way back. Three things change:

- a quoted name stands in backquotes;
- a character that has a meaning in one of the two grammars alone (a backslash in a string, ``/*+``)
  is replaced by a character of Unicode's private use area;
- the name of a function that Spark lacks or has with another meaning, and a word that is a keyword
  to Spark alone, begin with a letter of the dialect's own alphabet, wherever they stand: no table
  of Spark's has such a name, the dialect's own table in ``rules/functions`` may.

What has no reading in Spark's grammar is reported, and its statement left alone. The lexer and the
keywords of each dialect are data: ``rules/dialects``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.functions import dialect_names
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.text.data_files import nearest, read_toml
from sqlrewrite.text.limits import SPARK
from sqlrewrite.text.masking import mask
from sqlrewrite.text.template_kinds import UNITS

_PRIVATE = 0xE000
"""The number that is added to the code of a character that means something to Spark alone, such as
a backslash."""
_SPARK_ONLY = frozenset("\\`")
_PLUS = chr(_PRIVATE + ord("+"))
HINT = re.compile(rf"\s*/\*{_PLUS}(?:[^*]|\*(?!/))*\*/")
"""A hint in a text as Spark's grammar has it: a comment, which belongs to what stands before it."""
# Rendered before anything of SQL is known, so it is a template inside of strings, too.
_TEMPLATE = re.compile(
    "|".join((*(unit.pattern for unit in UNITS.values()), r"\{#.*?#\}", r"\$\{[^{}'\"`\r\n]+\}")),
    re.DOTALL,
)
# A hint of Flink's with the options of the table before it, and one of its options.
_OPTIONS = re.compile(r"/\*\+\s*options\s*\((?P<options>.*)\)\s*\*/", re.DOTALL | re.IGNORECASE)
_OPTION = re.compile(
    r"\s*'(?P<key>(?:[^']|'')*+)'\s*=\s*'(?:[^']|'')*+'\s*(?:,(?=.)|\Z)", re.DOTALL
)
_FILLER, _BACKSLASH = "\0", "\1"
"""The characters that stand for a template and a backslash while lexemes are looked for: Spark's
rules for templates would take the backslash for an escape."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

T = TypeVar("T")

_COMPARISONS = frozenset("= <> < <= > >= in is between".split())
_NOT_NAMES = frozenset("end null true false unknown not date string".split())
"""Words that are never a column, even before a comparison."""

# Behind these a name is defined, and the parentheses behind it hold its columns.
_BEFORE_DEFINED = frozenset({"as", "into", "table", "view", "exists"})
_TYPES = frozenset({"array", "map"})


class Transliteration(Struct, frozen=True):
    """A text in Spark's grammar. ``unreadable`` are the places that Spark's grammar cannot express,
    each an offset and the reason; ``failure``: why nothing of the text can be read, or empty."""

    text: str
    unreadable: tuple[tuple[int, str], ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """How a text is read, and what may be written into it.

    ``forms``: the forms of predicates that it has words for.
    ``lexeme``: one lexeme, the name of its group being the kind.
    ``nested``: whether comments nest.
    ``qualifies_merged``: whether a column that USING merges may have its table's name before it.
    ``hidden``: words that are keywords to Spark alone.
    ``lacking``: types and phrases that it does not have, and what each is called.
    ``clauses``: words that stand before parentheses and call nothing.
    ``same``: functions that mean what Spark's of that name do.
    ``alphabet``: the letters with which the names of all other functions begin.
    ``reader``: the name of sqlglot's dialect for the second reading.
    ``quote``: the sign around a quoted name.
    ``reserved``: words that are names only in quotes, which they do not need in Spark.
    ``same_rows``: options of a table in a hint with which a scan gives the same rows.
    """

    name: str
    forms: frozenset[str]
    lexeme: re.Pattern[str]
    nested: bool
    qualifies_merged: bool
    hidden: frozenset[str]
    lacking: Mapping[str, str]
    clauses: frozenset[str]
    same: frozenset[str]
    alphabet: str
    reader: str
    quote: str
    reserved: frozenset[str]
    same_rows: re.Pattern[str]

    def to_spark(self, text: str) -> Transliteration:
        """The text as Spark's grammar has it."""
        ours = _way_back(self.alphabet, '"')
        taken = next((sign for sign in text if ord(sign) in ours and sign != "`"), None)
        if taken is not None:
            return Transliteration(text, failure=f"{taken!r} stands for another character here")
        signs, unreadable = [_private(sign) if sign == "`" else sign for sign in text], []
        lexemes = list(self._lexemes(text))
        marked = self._marked_words(text, lexemes)
        for kind, start, end in lexemes:
            lexeme = text[start:end]
            if kind in ("comment", "hint"):
                signs[start:end] = self._comment(lexeme)
            elif kind == "string":
                signs[start:end] = [_private(sign) for sign in lexeme]
            elif kind == "quoted" and self.quote == '"':
                signs[start:end] = lexeme.replace("`", _private("`")).replace('"', "`")
            elif kind == "quoted":
                signs[start:end] = lexeme.replace("\\", _private("\\"))
            if kind in ("odd", "hint") and (why := self._why_unread(kind, lexeme)):
                unreadable.append((start, why))
            name = lexeme.strip(self.quote).lower()
            field = signs[start - 1 : start] == ["."] and not text.startswith("(", end)
            if kind in ("name", "quoted") and name in marked and not field:
                first = start + (kind == "quoted")
                signs[first] = self._letter(text[first])
        for template in _templates(text):
            unit = template.group().replace("`", _private("`"))
            signs[template.start() : template.end()] = unit
        return Transliteration("".join(signs), tuple(unreadable))

    def from_spark(self, text: str) -> str:
        """A text in Spark's grammar, back in the author's dialect."""
        return text.translate(_way_back(self.alphabet, self.quote))

    def for_sqlglot(self, text: str) -> str:
        """The text for sqlglot's ``reader``: names in double quotes, a hint as a comment."""
        return text.translate({**_way_back(self.alphabet, '"'), ord(_PLUS): _PLUS})

    def in_dialect(self, result: T) -> T:
        """A result with all its strings back in the dialect. A function becomes one whose results
        are in the dialect."""
        value: Any = result
        if type(result) is str:
            value = self.from_spark(str(result))
        elif isinstance(result, tuple) and type(result) is tuple:
            value = tuple([self.in_dialect(part) for part in result])
        elif is_dataclass(result) and not isinstance(result, type):
            names = (field.name for field in fields(result) if field.init)
            parts = {name: self.in_dialect(getattr(result, name)) for name in names}
            value = replace(result, **parts)
        elif callable(result) and not isinstance(result, type):
            value = lambda: self.in_dialect(result())  # noqa: E731
        return value  # type: ignore[no-any-return]

    def with_quotes(self, written: str) -> str:
        """Generated SQL, with backquotes around the names in it that the dialect reserves: after a
        dot, before a comparison, and in the list of an alias."""
        lexemes = list(self._lexemes(written)) if self.reserved else []
        words = ["", *(written[start:end].lower() for _, start, end in lexemes), ""]
        pieces, last, listed = [], 0, False
        for at, (kind, start, end) in enumerate(lexemes, 1):
            listed = words[at - 2 : at - 1] == ["as"] if words[at] == "(" else listed
            listed = listed and words[at] != ")"
            if kind != "name" or words[at] not in self.reserved or words[at + 1] == "(":
                continue
            compared = words[at + 1] in _COMPARISONS and words[at] not in _NOT_NAMES
            if listed or words[at - 1] == "." or words[at + 1] == "." or compared:
                pieces += [written[last:start], "`", written[start:end], "`"]
                last = end
        return "".join([*pieces, written[last:]])

    def why_unwritable(self, predicate: str) -> str | None:
        """Why a predicate cannot be written in the dialect, or None: every function in it that is
        not the author's must be one that the dialect has as Spark has it."""
        before, lexemes = "", list(self._lexemes(self.from_spark(predicate)))
        words = f" {' '.join(predicate[start:end].lower() for _, start, end in lexemes)} "
        for phrase, description in self.lacking.items():
            if f" {phrase} " in words:
                return f"{self.name} has no {description}"
        for kind, start, end in lexemes:
            lexeme = predicate[start:end]
            if kind == "odd":
                return f"{self.name} has no {lexeme}"
            called = kind == "name" and predicate[end:].lstrip().startswith("(")
            called, before = called and before not in _BEFORE_DEFINED, lexeme.lower()
            shared = self.same | self.clauses - _TYPES  # no function of theirs builds an array
            if called and lexeme.isascii() and lexeme.lower() not in shared:
                return f"{self.name} has no {lexeme}() as Spark has it"
        return None

    def _lexemes(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The kind, start and end of each lexeme, templates outside of strings, names and comments
        among them."""
        text, at = mask(_filled(text).replace("\\", _BACKSLASH)).text, 0
        while at < len(text):
            match = self.lexeme.match(text, at)
            assert match is not None
            kind, end = match.lastgroup or "odd", match.end()
            if kind == "comment" and self.nested and text.startswith("/*", at):
                end = _comment_end(text, at)
            if kind != "space":
                yield kind, at, end
            at = end

    def _why_unread(self, kind: str, lexeme: str) -> str | None:
        """Why a lexeme has no reading; None for a hint with options that change no row."""
        written = _OPTIONS.fullmatch(lexeme) if kind == "hint" else None
        keys, at = list[str](), 0
        while written and (option := _OPTION.match(written["options"], at)):
            keys.append(option["key"])
            at = option.end()
        if written is None or not keys or at < len(written["options"]):
            return f"{lexeme!r} is not understood in {self.name}'s SQL"
        other = next((key for key in keys if not self.same_rows.fullmatch(key)), None)
        return other and (
            f"`{other}` in an OPTIONS hint may choose other rows than a second scan of the table "
            "would: set it in the table's WITH"
        )

    def _marked_words(self, text: str, lexemes: list[tuple[str, int, int]]) -> frozenset[str]:
        """The words of a text that Spark would take for keywords or functions of its own."""
        words = [
            (kind, text[start:end].lower()) for kind, start, end in lexemes if kind != "comment"
        ]
        marked = {word for kind, word in words if kind == "name" and word in self.hidden}
        shared = self.same | self.clauses
        for at, (kind, word) in enumerate(words[:-1]):
            calls = kind == "name" and words[at + 1][1] == "(" and word not in shared
            defined = at > 0 and words[at - 1][1] in _BEFORE_DEFINED
            if calls and not defined and not _is_cte_with_columns(words, at):
                marked.add(word)
        return frozenset(marked)

    def _letter(self, sign: str) -> str:
        at = _LETTERS.find(sign.lower())
        if at < 0:
            return sign
        return self.alphabet[at + 26 * sign.isupper()]

    def _comment(self, comment: str) -> list[str]:
        """The characters of a comment, so that Spark's lexer ends it at the same place."""
        signs = [_private(sign) for sign in comment]
        if comment.startswith("/*+"):
            signs[2] = _PLUS
        if not self.nested and comment.startswith("/*"):
            for inner in re.finditer(r"/(?=\*)", comment[1:-1]):
                signs[inner.start() + 1] = chr(_PRIVATE + ord("/"))
        return signs


@cache
def dialect(name: str) -> Dialect | None:
    """The dialect of that name; None for Spark's, whose texts are read as they are. Raises
    ConfigError for an unknown name."""
    if name == SPARK:
        return None
    folder = rules_folder() / "dialects"
    names = sorted([SPARK, *(path.stem for path in folder.glob("*.toml"))])
    if name not in names:
        near = nearest(name, names)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(names)}"
        raise ConfigError(f"no dialect is called {name!r}: {hint}")
    rules = {**read_toml(folder.with_suffix(".toml")), **read_toml(folder / f"{name}.toml")}
    lexer = {"space": r"\s++", "template": f"{_FILLER}++", **rules["lexer"], "odd": r"\w++|."}
    pattern = "|".join(f"(?P<{kind}>{rule})" for kind, rule in lexer.items())
    called = dialect_names(name)
    same_rows = "|".join(rules.get("same_rows", ()))
    return Dialect(
        name,
        frozenset(rules["forms"]),
        re.compile(pattern, re.DOTALL),
        rules["nested_comments"],
        rules["qualifies_merged"],
        frozenset(rules["hidden"].split()),
        rules["lacking"],
        frozenset(rules["clauses"].split()),
        called.same,
        called.alphabet,
        rules.get("reader", name),
        rules["lexer"]["quoted"][0],
        frozenset(rules.get("reserved", "").split()),
        re.compile(same_rows),
    )


def check_form(name: str, form: str) -> None:
    """Raises ConfigError for an unknown dialect, and for a form of predicate that it lacks."""
    chosen = dialect(name)
    if chosen is not None and form not in chosen.forms:
        forms = ", ".join(sorted(chosen.forms))
        raise ConfigError(f"{name} has no words for the form {form!r}: it has {forms}")


@lru_cache(maxsize=8)
def _way_back(alphabet: str, quote: str) -> dict[int, str]:
    """The table for ``str.translate`` from stand-in characters back to the dialect's."""
    back = {_PRIVATE + code: chr(code) for code in range(0x20, 0x7F)}
    letters = dict(zip(map(ord, alphabet), _LETTERS + _LETTERS.upper(), strict=True))
    return {**back, **letters, ord("`"): quote}


def _templates(text: str) -> Iterator[re.Match[str]]:
    """The templates of Jinja in a text, and ``${x}``."""
    return _TEMPLATE.finditer(text) if "{" in text else iter(())


def _filled(text: str) -> str:
    """The text with a filler of the same length in place of each template."""
    if "{" not in text:
        return text
    return _TEMPLATE.sub(lambda match: _FILLER * len(match.group()), text)


def _private(sign: str) -> str:
    return chr(_PRIVATE + ord(sign)) if sign in _SPARK_ONLY else sign


def _is_cte_with_columns(words: Sequence[tuple[str, str]], at: int) -> bool:
    """Whether a word is the name of a CTE with a list of columns: ``w(a, b) AS (``."""
    end = next((n for n in range(at, len(words)) if words[n][1] == ")"), len(words))
    return [word for _, word in words[end + 1 : end + 3]] == ["as", "("]


def _comment_end(text: str, at: int) -> int:
    """The end of a comment that may hold others."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if match.group() == "/*" else -1
        if not depth:
            return match.end()
    return len(text)
