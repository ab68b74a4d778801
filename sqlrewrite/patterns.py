"""Regular expressions that are compiled when they are first asked.

The modules have some two hundred, and a run has use for a few: to compile those of the modules that
every run imports would take a short one a twentieth of its time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pattern = re.compile
else:

    class pattern:  # noqa: N801 - it stands in for re.compile
        """``re.compile``, of which each method is the expression's own from its first use on."""

        def __init__(self, *said: Any) -> None:
            self._said = said

        def __getattr__(self, name: str) -> Any:
            found = getattr(re.compile(*self._said), name)
            setattr(self, name, found)
            return found


__all__ = ["pattern"]
