"""Whether texts say the same but for what formatters change: white space, and the case of words.

In: predicates or key queries, as they stand and as they would be written now. Out: what is compared
of each, its tokens.
"""

from __future__ import annotations

import re

from sqlglot.errors import SqlglotError

from sqlrewrite.sql.lex.tokens import tokenize
from sqlrewrite.text.masking import mask

_WORD, _HINT = re.compile(r"\w+", re.ASCII), re.compile(r"/\*\+.*", re.DOTALL)


def comparable(text: str) -> tuple[str, ...]:
    """The tokens of a text; keywords, names without quotes and hints in lower case, as Spark reads
    them. Strings and templates are as they are written, and so are names where one may be that of
    a parameter (``:x``); what cannot be lexed, or holds a template that is no token, is one
    token."""
    masked = mask(text)
    try:
        tokens = tokenize(masked.text)
    except SqlglotError:
        return (text,)
    if masked.obstacles:
        return (text,)
    written = tuple(text[token.start : token.end + 1] for token in tokens)
    folds = _HINT if ":" in written else _WORD
    return tuple(
        " ".join(token.lower().split()) if folds.fullmatch(token) or _HINT.match(token) else token
        for token in written
    )
