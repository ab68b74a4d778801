"""The dataclass of this package: frozen for mypy, plain for the interpreter.

A frozen dataclass sets each field through ``object.__setattr__``, and gets more methods made when
its class is: binding makes values by the ten thousand, and each process makes every class. mypy
reads ``frozen=True`` as it stands and refuses an assignment; equality and hash are those of a
frozen dataclass. Over the 99 TPC-DS queries that is 5 % of the instructions, and 9 % at the start.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, **options: Any) -> Any:
        """``dataclasses.dataclass``, where ``frozen`` is a promise that mypy keeps."""
        hashed = frozen and options.get("eq", True)
        make = dataclasses.dataclass(unsafe_hash=hashed, repr=False, **options)

        def made(cls: type) -> type:
            if "__repr__" not in cls.__dict__:
                cls.__repr__ = _shown
            return make(cls)

        return made


def _shown(value: Any) -> str:
    """As a dataclass shows itself, by one function for all: to make one for each class takes 4 % of
    the instructions of a start."""
    names = (it.name for it in dataclasses.fields(value) if it.repr)
    shown = ", ".join(f"{name}={getattr(value, name)!r}" for name in names)
    return f"{type(value).__qualname__}({shown})"


__all__ = ["dataclass"]
