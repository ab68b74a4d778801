"""``dataclass``, whose ``frozen`` mypy holds and the interpreter does not.

To make a value of a frozen dataclass takes four times as long, as each field is set through
``object.__setattr__``, and to make the class twice as long: a start makes 150 classes, and binding
makes values by the thousand. The types of the public face are the standard library's own.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """``dataclasses.dataclass`` with these options, as if nobody assigned to a field."""

        def decorated(cls: type) -> type:
            hashed = frozen and eq and "__hash__" not in vars(cls)
            return dataclasses.dataclass(slots=slots, eq=eq, unsafe_hash=hashed)(cls)

        return decorated


__all__ = ["dataclass"]
