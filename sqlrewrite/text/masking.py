"""Masks the templates of a text, so that its SQL can be lexed.

In: a text. Out: a ``Masked`` text of the same length and line ends, in which each template
expression that stands for a token is a quoted name. Offsets hold in both texts, so whatever is
repeated is cut from the author's text.
"""

from __future__ import annotations

from sqlrewrite.text.blanking import cells_as_statements, is_notebook, without_hdfs_patterns
from sqlrewrite.text.templates import Masked, templated


def mask(text: str) -> Masked:
    """The text with its templates masked. Raises nothing."""
    sql = without_hdfs_patterns(text)
    if not templated(text):
        return Masked(sql)
    # Plain SQL does without the patterns that this import compiles.
    from sqlrewrite.text.template_scan import TemplateScan

    return TemplateScan(cells_as_statements(sql) if is_notebook(text) else sql).run()


def untouched(masked: Masked, text: str) -> bool:
    """Whether nothing in a text was masked, and no quoted name in it can hold a variable."""
    return masked.text is text and not ("`" in text and templated(text))
