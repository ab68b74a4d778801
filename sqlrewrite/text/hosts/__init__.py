"""Files with SQL inside another language: which they are, and the SQL in them.

In: a file's name and text. Out: a ``Host``, or None for a file that is SQL itself. A new kind of
file is a module here and a line in ``host_of``; nothing else asks for a file's language.
"""

from __future__ import annotations

from sqlrewrite.text.hosts.region import Host
from sqlrewrite.text.masking import is_notebook

SUFFIXES = (".py", ".ipynb")
"""The suffixes of host files, in lower case."""


def kind_of(path: str) -> str:
    """The suffix that decides how a file is read; empty for SQL."""
    return next((suffix for suffix in SUFFIXES if path.lower().endswith(suffix)), "")


def host_of(path: str, text: str) -> Host | None:
    """The file as a host of SQL; None if it is SQL itself. Raises nothing."""
    kind = kind_of(path)
    if kind == ".ipynb":
        from sqlrewrite.text.hosts import notebooks

        return notebooks.read_jupyter(text)
    if kind or is_notebook(text):  # imported only here: a file of SQL does not need Python's parser
        from sqlrewrite.text.hosts import notebooks, python
        from sqlrewrite.text.hosts.region import plain

        if kind and notebooks.is_python(text):
            return notebooks.read_python(text)
        if kind:
            program = python.read(plain(text))
            return Host(text, program.regions, program.unread)
        return notebooks.read_sql(text)
    return None
