"""What the catalog tests share: a script followed statement by statement."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.parse import statements as parse
from sqlrewrite.warehouse import Warehouse

Follow = Callable[..., Warehouse]


@pytest.fixture
def follow() -> Follow:
    """The catalog after a script."""

    def run(script: str, catalog: Warehouse | None = None) -> Warehouse:
        catalog = catalog or Warehouse()
        for statement in parse.statements(script):
            catalog = definitions.apply(statement, script, catalog, "script.sql")
        return catalog

    return run
