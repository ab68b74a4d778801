"""Templates in an SQL text: what they are, and what is assumed about them.

A template is filled in by another program before Spark reads the text: Jinja of dbt or Airflow,
``${x}`` and other variables. ``masking`` replaces templates with names of the same length, so that
the SQL can be lexed; ``template_tokens`` then replaces those names' tokens by what they mean.

The value of a template is unknown. Three things are assumed:

- ``ref`` and ``source`` render to the name of their relation.
- An expression in the place of an operand renders to a complete operand (not to ``1 OR x = 2``).
- ``var('x')`` and ``${x}`` render to a constant, the same everywhere in a statement: so a condition
  with one may be repeated. Inside a string or a name they are a part of it.

Any other expression is read as an unknown function, and what contains it is never repeated. A
statement is left alone if an expression is a whole condition (it may contain an OR), touches
another token (it may change that token), or if a block changes the statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from sqlrewrite.text.template_kinds import TemplateKind
from sqlrewrite.warehouse import Name, Reference

Refer = Callable[[Reference], Name | None]
"""The name of the relation of a ``ref`` or ``source``, from a catalog; None if unknown."""


def no_name(reference: Reference) -> Name | None:
    """The ``Refer`` that knows no relation, for use without a catalog."""
    return None


_SIGN = re.compile(
    r"\{[{%#A-Za-z_]|\$[{A-Za-z_]|@\{?[A-Za-z_]|#\{?[A-Za-z_]|&\{?[A-Za-z_]|%\("
    r"|--[ \t]*(?:Databricks notebook source|COMMAND[ \t]+-)"
)
_IN_STRING = re.compile(
    r"\{[{%#]|\$[{A-Za-z_]|#?\{[A-Za-z_][\w.]*\}|@\w+@|(?<!\w)@[A-Za-z_]|%\(\w+\)s|^&&?[A-Za-z_]\w*$"
)
_NAMES = ("{", "$", "@", "#", "%", "&", "'", '"', "r'", 'r"', "R'", 'R"')
"""The beginning of the name of a function or parameter that is a template."""
_LONGEST = 60
_CALL = re.compile(r"\{\{[-+]?\s*[\w.]{1,50}(?=\s?\()")
_NAMED = re.compile(r"\{\{[-+]?\s*[\w.]+\s*[-+]?\}\}")

NOTE = re.compile(r"(?:^|(?<=;))[ \t]*//[^\r\n]*", re.MULTILINE)
"""A line that begins with ``//``: a note of its author's, which no engine reads. It is blanked."""
DEFINES = frozenset({"macro", "materialization", "operation", "docs"})
"""Blocks that define macros for other texts, and render to nothing themselves."""


class Template(Struct, frozen=True):
    """An expression that stands for a token; ``end`` is exclusive."""

    start: int
    end: int
    text: str
    kind: TemplateKind
    reference: Reference = ()


class Obstacle(Struct, frozen=True):
    """A template that cannot be masked, and why; ``end`` is exclusive."""

    start: int
    end: int
    message: str


class Masked(Struct, frozen=True):
    """A text fit for the lexer, and what was masked in it."""

    text: str
    templates: tuple[Template, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()


def is_template(name: str) -> bool:
    """Whether the name of a function or parameter is a template."""
    return name.startswith(_NAMES)


def is_name(unit: str) -> bool:
    """Whether an expression is a plain name, ``{{ x }}`` or ``{{ params.x }}``."""
    return _NAMED.fullmatch(unit) is not None


def templated(text: str) -> bool:
    """Whether there may be a template in a text."""
    return _SIGN.search(text) is not None or ("//" in text and NOTE.search(text) is not None)


def holds_template(string: str) -> bool:
    """Whether a string may hold a template, so that its value is unknown."""
    return _IN_STRING.search(string) is not None


def on_one_line(text: str) -> str:
    """An expression, or a piece of a text, as a reason shows it: on one line, and not too long. Of
    a long call its arguments are left out."""
    line = " ".join(text.split())
    if len(line) <= _LONGEST:
        return line
    call = _CALL.match(line)
    return f"{call.group()}(…) }}}}" if call else f"{line[: _LONGEST - 3]}…"
