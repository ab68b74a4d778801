"""Regular expressions that are compiled at their first use.

The modules have some two hundred, of which a run uses a few: compiling all those of the modules
that every run imports would take a twentieth of the time of a short run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pattern = re.compile
else:

    class pattern:  # noqa: N801 - it stands in for re.compile
        """Stands for the compiled expression, whose methods it takes over as they are used."""

        def __init__(self, *said: Any) -> None:
            self._said = said

        def __getattr__(self, name: str) -> Any:
            found = getattr(re.compile(*self._said), name)
            setattr(self, name, found)
            return found


__all__ = ["pattern"]
