"""Predicates for the ON of a MERGE by the constants of its source: ``t.p = '{{ ds }}'``."""

from __future__ import annotations

import re

from sqlrewrite.judge.proposal import Predicate, Proposal
from sqlrewrite.plan.algebra import Call, Cast, Expression, Literal
from sqlrewrite.sql.places import NoPlaceError
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.repeated_text import AuthorText

_ALONE = re.compile(
    r"\d+|(?:DATE|TIMESTAMP)?\s*'[^'\\]*'|:\w+|\{\{[^{}]*\}\}|\$\{[^{}]*\}", re.IGNORECASE
)
"""Literals, parameters and templates, which need no parentheses to be found again."""

_CALL = re.compile(r"\w+\s*\(")

_NOT_PLAIN = frozenset("'\\\n\r{}$%")
"""A string with one of these characters is not written anew: quotes, escapes, templates."""


def write_bounds(proposal: Proposal, author: AuthorText) -> list[Predicate]:
    """A predicate for each bound of the keys, the constants in the author's own spelling. Raises
    NoPlaceError for one that has no text in the statement and is no plain literal."""
    value = fact_value(proposal, author)
    predicates: dict[str, Predicate] = {}
    for bound in proposal.pair.bounds:
        texts = list(dict.fromkeys(_text(constant, author) for constant in bound.constants))
        if bound.operator != "in":
            compared = f"{bound.operator} {texts[0]}"
        elif len(texts) == 1:
            compared = f"= {texts[0]}"
        else:
            compared = f"{author.word('IN')} ({', '.join(texts)})"
        predicates.setdefault(compared, Predicate(f"{value} {compared}", value))
    return list(predicates.values())


def _text(constant: Expression, author: AuthorText) -> str:
    """A constant as the author wrote it, in parentheses where it is more than one operand; from a
    view's text, a plain literal."""
    try:
        text = author.places.copy(author.places.bare(constant))
    except NoPlaceError:
        text = _literal(constant)
    return text if _ALONE.fullmatch(text) or _is_call(constant, text) else f"({text})"


def _is_call(constant: Expression, text: str) -> bool:
    """Whether a text is one call of a function, and ends with its parenthesis."""
    called = isinstance(constant, Cast) or (
        isinstance(constant, Call) and constant.name.isidentifier()
    )
    return called and _CALL.match(text) is not None and text.endswith(")")


def _literal(constant: Expression) -> str:
    """A literal written anew. Raises NoPlaceError for one that is not plain."""
    match constant:
        case Literal(kind="number", text=text):
            return text
        case Literal(kind="string", text=text) if _NOT_PLAIN.isdisjoint(text):
            return f"'{text}'"
        case Literal(kind="typed", type="date", text=text) if _NOT_PLAIN.isdisjoint(text):
            return f"DATE '{text}'"
        case _:
            raise NoPlaceError("the constant is in a view, and no plain literal")
