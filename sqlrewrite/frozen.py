"""The dataclass of this package: frozen for mypy, plain for the interpreter.

A frozen dataclass sets each field through ``object.__setattr__``: binding makes values by the ten
thousand. And each process makes every class, of which the standard library compiles three methods
one by one. Here only ``__init__`` is compiled, when the first value is made, and the others are
functions shared by all classes. mypy reads ``frozen=True`` as it stands and refuses an
assignment; equality and hash are those of a frozen dataclass, and ``dataclasses.replace`` and
``fields`` know it as one.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """``dataclasses.dataclass``, where ``frozen`` is a promise that mypy keeps."""
        make = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)

        def made(cls: type) -> type:
            found = make(cls)
            found.__init__ = _init(found)
            if "__repr__" not in found.__dict__:
                found.__repr__ = _shown
            if eq:
                _compare(found, hashed=frozen)
            return found

        return made


def _init(cls: type) -> Any:
    """What makes the first value of a class, and compiles for that what makes all others: of the
    classes that a run imports it fills a few."""

    def first(self: Any, *given: Any, **named: Any) -> None:
        made = _compiled(cls)
        setattr(cls, "__init__", made)  # noqa: B010 - mypy lets nobody assign a method
        made(self, *given, **named)

    return first


def _compiled(cls: type) -> Any:
    """The function that sets each field in turn, as a dataclass has it; one that is no parameter is
    left to ``__post_init__``."""
    names: dict[str, Any] = {"MISSING": dataclasses.MISSING}
    given, body = ["self"], []
    for it in dataclasses.fields(cls):
        if not it.init:
            continue
        default, value = "", it.name
        if it.default is not dataclasses.MISSING:
            default = f"=default_{it.name}"
            names[f"default_{it.name}"] = it.default
        elif it.default_factory is not dataclasses.MISSING:
            default, value = "=MISSING", f"make_{it.name}() if {it.name} is MISSING else {it.name}"
            names[f"make_{it.name}"] = it.default_factory
        given.append(it.name + default)
        body.append(f"self.{it.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(given)}):\n " + "\n ".join(body or ["pass"]), names)
    names["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return names["__init__"]


def _compare(cls: type, *, hashed: bool) -> None:
    """Gives a class the equality of its fields, and their hash where it has none of its own."""
    compared = [it.name for it in dataclasses.fields(cls) if it.compare]
    values = attrgetter(*compared) if compared else lambda _: ()

    def equal(one: Any, other: Any) -> Any:
        if one.__class__ is not other.__class__:
            return NotImplemented
        return values(one) == values(other)

    setattr(cls, "__eq__", equal)  # noqa: B010 - mypy lets nobody assign a method
    if "__hash__" not in cls.__dict__:
        setattr(cls, "__hash__", (lambda it: hash(values(it))) if hashed else None)  # noqa: B010


def _shown(value: Any) -> str:
    """As a dataclass shows itself."""
    names = (it.name for it in dataclasses.fields(value) if it.repr)
    shown = ", ".join(f"{name}={getattr(value, name)!r}" for name in names)
    return f"{type(value).__qualname__}({shown})"


__all__ = ["dataclass"]
