"""Masks the templates of a text, so that its SQL can be lexed.

In: a text. Out: a ``Masked`` text of the same length and line ends, in which each template
expression that stands for a token is a quoted name. Offsets hold in both texts, so whatever is
repeated is cut from the author's text.
"""

from __future__ import annotations

from sqlrewrite.text.readable import cells, is_notebook, plain_commands
from sqlrewrite.text.templates import Masked, templated


def mask(text: str) -> Masked:
    """The text with its templates masked. Raises nothing."""
    readable = plain_commands(text)
    if not templated(text):
        return Masked(readable)
    # Its expressions are of no use to plain SQL.
    from sqlrewrite.text.template_scan import TemplateScan

    return TemplateScan(cells(readable) if is_notebook(text) else readable).run()


def untouched(masked: Masked, text: str) -> bool:
    """Whether nothing of a text was masked, and no quoted name in it may hold a variable."""
    return masked.text is text and not ("`" in text and templated(text))
