"""Texts of other dialects than Spark's, heard as Spark: the same text, of the same length.

In: a text of Trino, DuckDB or Flink. Out: one that means the same to Spark's grammar, character for
character in the same place, so that all that is known of places, names and clauses holds for the
author's own text; and back again. A quoted name stands in backquotes. What means something to one
of the two alone (a backslash in a string, ``/*+``) is a private character. A function that Spark
does not have, or has with another meaning, and a word that is a keyword to Spark alone, begin with
a letter of the dialect's own alphabet, wherever they stand: no table of Spark's knows such a name,
``rules/functions`` of the dialect may. What has no reading in Spark's grammar is told, and its
statement left alone.

The rules of each are data: ``rules/dialects``, and which functions there are, ``rules/functions``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any, TypeVar

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.facts.functions import names_of
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.text.limits import SPARK
from sqlrewrite.text.masking import mask
from sqlrewrite.text.nearest import nearest
from sqlrewrite.text.toml import read_toml

_PRIVATE = 0xE000
"""Characters that mean something to Spark alone, such as a backslash, stand here, by their code."""
_HELD = frozenset("\\`")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

T = TypeVar("T")

_COMPARING = frozenset("= <> < <= > >= in is between".split())
_VALUES = frozenset("end null true false unknown not date string".split())
"""Before a comparison these are no names."""

# Behind these a name is made, whose columns are in the parentheses.
_NAMING = frozenset({"as", "into", "table", "view", "exists"})
_TYPES = frozenset({"array", "map"})


@dataclass(frozen=True, slots=True)
class Heard:
    """A text as Spark's grammar has it, and what of it has no reading there: offsets and why.
    ``strange`` says why the whole of it cannot be heard, if that is so."""

    text: str
    unheard: tuple[tuple[int, str], ...] = ()
    strange: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """How a text is read and what is written into it. ``forms`` are the predicates it can say;
    ``hidden`` are words that are keywords to Spark alone, ``lacking`` types and phrases and what
    each is called, ``clauses`` what stands before parentheses and calls nothing, ``same`` the
    functions that mean what Spark's of that name do, ``alphabet`` the letters with which all others
    begin, ``reader`` the dialect of sqlglot that reads it, too, ``quote`` what stands around a
    name, and ``reserved`` the words that are a name only in it, where Spark takes them for one."""

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

    def hear(self, text: str) -> Heard:
        """The text as Spark's grammar has it."""
        taken = next(
            (it for it in text if ord(it) in _said(self.alphabet, '"') and it != "`"), None
        )
        if taken is not None:
            return Heard(text, strange=f"{taken!r} stands for another character here")
        made, unheard = [_held(sign) if sign == "`" else sign for sign in text], []
        found = list(self._lexemes(mask(text).text))
        hidden = self._hidden(text, found)
        for kind, start, end in found:
            said = text[start:end]
            if kind in ("comment", "hint"):
                made[start:end] = self._comment(said)
            elif kind in ("string", "quoted"):
                made[start:end] = [_held(sign) for sign in said]
                if kind == "quoted" and self.quote == '"':
                    made[start:end] = said.replace("`", _held("`")).replace('"', "`")
                elif kind == "quoted":
                    made[start:end] = said.replace("\\", _held("\\"))
            if kind in ("odd", "hint"):
                unheard.append((start, f"{said!r} is not understood in {self.name}'s SQL"))
            name = said.strip(self.quote).lower()
            field = made[start - 1 : start] == ["."] and not text.startswith("(", end)
            if kind in ("name", "quoted") and name in hidden and not field:
                first = start + (kind == "quoted")
                made[first] = self._letter(text[first])
        return Heard("".join(made), tuple(unheard))

    def say(self, text: str) -> str:
        """The text as its author wrote it, or would."""
        return text.translate(_said(self.alphabet, self.quote))

    def read_by_sqlglot(self, text: str) -> str:
        """The text as sqlglot's ``reader`` has it: names in double quotes, a hint a comment."""
        hint = _PRIVATE + ord("+")
        return text.translate({**_said(self.alphabet, '"'), hint: chr(hint)})

    def said(self, value: T) -> T:
        """A result, all texts in it as in the dialect."""
        found: Any = value
        if type(value) is str:
            found = self.say(str(value))
        elif isinstance(value, tuple) and type(value) is tuple:
            found = tuple([self.said(it) for it in value])
        elif is_dataclass(value) and not isinstance(value, type):
            its = {it.name: getattr(value, it.name) for it in fields(value) if it.init}
            found = replace(value, **{name: self.said(it) for name, it in its.items()})
        elif callable(value) and not isinstance(value, type):
            found = lambda: self.said(value())  # noqa: E731
        return found  # type: ignore[no-any-return]

    def named(self, written: str) -> str:
        """What is written, its names in quotes where they are no names here without: behind a dot,
        before a comparison, and in the list of an alias."""
        found = list(self._lexemes(written)) if self.reserved else []
        words = ["", *(written[start:end].lower() for _, start, end in found), ""]
        made, done, listed = [], 0, False
        for at, (kind, start, end) in enumerate(found, 1):
            listed = words[at - 2 : at - 1] == ["as"] if words[at] == "(" else listed
            listed = listed and words[at] != ")"
            if kind != "name" or words[at] not in self.reserved or words[at + 1] == "(":
                continue
            compared = words[at + 1] in _COMPARING and words[at] not in _VALUES
            if listed or words[at - 1] == "." or words[at + 1] == "." or compared:
                made += [written[done:start], "`", written[start:end], "`"]
                done = end
        return "".join([*made, written[done:]])

    def unwritable(self, predicate: str) -> str | None:
        """What of a predicate the dialect has no words for: whatever is called in it, and is not of
        the author's own, must be one of its functions."""
        before, found = "", list(self._lexemes(self.say(predicate)))
        words = f" {' '.join(predicate[start:end].lower() for _, start, end in found)} "
        for phrase, said in self.lacking.items():
            if f" {phrase} " in words:
                return f"{self.name} has no {said}"
        for kind, start, end in found:
            said = predicate[start:end]
            if kind == "odd":
                return f"{self.name} has no {said}"
            called = kind == "name" and predicate[end:].lstrip().startswith("(")
            called, before = called and before not in _NAMING, said.lower()
            known = self.same | self.clauses - _TYPES  # no function of theirs builds an array
            if called and said.isascii() and said.lower() not in known:
                return f"{self.name} has no {said}() as Spark has it"
        return None

    def _lexemes(self, text: str) -> Iterator[tuple[str, int, int]]:
        at = 0
        while at < len(text):
            match = self.lexeme.match(text, at)
            assert match is not None
            kind, end = match.lastgroup or "odd", match.end()
            if kind == "comment" and self.nested and text.startswith("/*", at):
                end = _behind(text, at)
            if kind != "space":
                yield kind, at, end
            at = end

    def _hidden(self, text: str, found: list[tuple[str, int, int]]) -> frozenset[str]:
        """The words of a text that stand for no word of Spark's."""
        words = [(kind, text[start:end].lower()) for kind, start, end in found if kind != "comment"]
        hidden = {said for kind, said in words if kind == "name" and said in self.hidden}
        known = self.same | self.clauses
        for at, (kind, said) in enumerate(words[:-1]):
            calls = kind == "name" and words[at + 1][1] == "(" and said not in known
            if calls and not (at and words[at - 1][1] in _NAMING) and not _names_columns(words, at):
                hidden.add(said)
        return frozenset(hidden)

    def _letter(self, sign: str) -> str:
        at = _LETTERS.find(sign.lower())
        if at < 0:
            return sign
        return self.alphabet[at + 26 * sign.isupper()]

    def _comment(self, said: str) -> list[str]:
        made = [_held(sign) for sign in said]
        if said.startswith("/*+"):
            made[2] = chr(_PRIVATE + ord("+"))
        if not self.nested and said.startswith("/*"):
            for inner in re.finditer(r"/(?=\*)", said[1:-1]):
                made[inner.start() + 1] = chr(_PRIVATE + ord("/"))
        return made


@cache
def dialect(name: str) -> Dialect | None:
    """The dialect of that name; None for Spark's, whose texts are read as they are. Raises
    ConfigError with what would do."""
    if name == SPARK:
        return None
    folder = rules_folder() / "dialects"
    known = sorted([SPARK, *(found.stem for found in folder.glob("*.toml"))])
    if name not in known:
        near = nearest(name, known)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
        raise ConfigError(f"no dialect is called {name!r}: {hint}")
    rules = {**read_toml(folder.with_suffix(".toml")), **read_toml(folder / f"{name}.toml")}
    lexer = {"space": r"\s++", **rules["lexer"], "odd": r"\w++|."}
    pattern = "|".join(f"(?P<{kind}>{rule})" for kind, rule in lexer.items())
    called = names_of(name)
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
    )


def able(name: str, form: str) -> None:
    """Raises ConfigError for a dialect that is not there, and for a form that it has no words
    for."""
    found = dialect(name)
    if found is not None and form not in found.forms:
        forms = ", ".join(sorted(found.forms))
        raise ConfigError(f"{name} has no words for the form {form!r}: it has {forms}")


@lru_cache(maxsize=8)
def _said(alphabet: str, quote: str) -> dict[int, str]:
    back = {_PRIVATE + code: chr(code) for code in range(0x20, 0x7F)}
    letters = dict(zip(map(ord, alphabet), _LETTERS + _LETTERS.upper(), strict=True))
    return {**back, **letters, ord("`"): quote}


def _held(sign: str) -> str:
    return chr(_PRIVATE + ord(sign)) if sign in _HELD else sign


def _names_columns(words: Sequence[tuple[str, str]], at: int) -> bool:
    """Whether a word is the name of a CTE with a list of columns: ``w(a, b) AS (``."""
    end = next((n for n in range(at, len(words)) if words[n][1] == ")"), len(words))
    return [said for _, said in words[end + 1 : end + 3]] == ["as", "("]


def _behind(text: str, at: int) -> int:
    """The end of a comment that may hold others."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if match.group() == "/*" else -1
        if not depth:
            return match.end()
    return len(text)
