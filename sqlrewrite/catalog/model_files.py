"""Which file is which model of a dbt project.

In: a file's path, and what a catalog knows of models by the paths of their files, from the
project's folder on. Out: what belongs to that file. Raises nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeVar

from sqlrewrite.copies import replace
from sqlrewrite.warehouse import Warehouse

T = TypeVar("T")

_COPIES = (["target", "compiled"], ["target", "run"])
"""The folders with dbt's own copies of the models."""


def of_model(path: str, models: Mapping[str, T]) -> T | None:
    """The entry of ``models`` for a model's file; None for any other file, and for dbt's own copies
    of a model."""
    if not models or not path.endswith(".sql"):
        return None
    parts = os.path.abspath(path).replace(os.sep, "/").split("/")
    for start in range(len(parts)):
        entry = models.get("/".join(parts[start:]))
        if entry is not None:
            around = parts[:start]
            copied = around[-3:-1] in _COPIES or "dbt_packages" in around
            return None if copied else entry
    return None


def at_file(path: str, catalog: Warehouse) -> Warehouse:
    """The catalog for the text of a file: in a model, ``{{ this }}`` is the model's table."""
    table = of_model(path, catalog.files)
    return catalog if table is None else replace(catalog, this=table)
