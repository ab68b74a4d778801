"""What the catalog tests share: a script followed statement by statement."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sqlrewrite.schema import Catalog
from sqlrewrite.sql import definitions, parse

Follow = Callable[..., Catalog]


@pytest.fixture
def follow() -> Follow:
    """The catalog after a script."""

    def run(script: str, catalog: Catalog | None = None) -> Catalog:
        catalog = catalog or Catalog()
        for statement in parse.statements(script):
            catalog = definitions.apply(statement, script, catalog, "script.sql")
        return catalog

    return run
