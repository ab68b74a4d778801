"""File names in reports for programs: the same from any folder of a repository and for any spelling
of a path, so that a program recognises a finding in two reports."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from sqlrewrite.linting.files import LintedFile


def named(results: Iterable[LintedFile], root: str) -> list[LintedFile]:
    """The results, with the paths of their files from ``root``, or in full where they lie outside
    of it, with forward slashes; ``given`` are those that they had."""

    @cache
    def beginning(folder: str) -> str:
        path = os.path.relpath(folder or os.curdir, root)
        if path == os.curdir:
            return ""
        if path.split(os.sep)[0] == os.pardir:
            path = os.path.abspath(folder)
        return os.path.join(path, "").replace(os.sep, "/")

    parts = ((it, *os.path.split(it.path)) for it in results)
    return [replace(it, path=beginning(at) + name, given=it.path) for it, at, name in parts]
