"""The dataclass of this package: frozen for mypy, plain for the interpreter.

A frozen dataclass sets each field through ``object.__setattr__``: binding makes values by the ten
thousand. And each process makes every class, which takes the standard library twenty times what the
class itself does: it looks at each field for what it may be, and compiles three methods one by one.
Here ``__init__`` is compiled once a few values are made, the fields get their names and types
when they are asked for, and the other methods are functions shared by all classes. mypy reads
``frozen=True`` as it stands and refuses an assignment; equality and hash are those of a frozen
dataclass, and ``dataclasses.replace`` and ``fields`` know it as one.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

_FIELDS = "__dataclass_fields__"
_FEW = 20
"""How many values a class makes field by field before its ``__init__`` is compiled."""

_OF_THE_FIRST = ("__dict__", "__weakref__")

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """``dataclasses.dataclass``, where ``frozen`` is a promise that mypy keeps."""

        def made(cls: type) -> type:
            fields = _Fields(cls)
            left_out = {*fields.own, *_OF_THE_FIRST}
            body = {k: v for k, v in cls.__dict__.items() if k not in left_out}
            if slots:
                body["__slots__"] = tuple(fields.own)
            else:
                given = ((name, fields.given[name].default) for name in fields.own)
                body |= {name: it for name, it in given if it is not dataclasses.MISSING}
            body["__match_args__"] = tuple(k for k, it in fields.given.items() if it.init)
            body["__qualname__"] = cls.__qualname__
            body[_FIELDS], body["__init__"] = fields, _init(fields)
            body["__dataclass_params__"] = SimpleNamespace(frozen=frozen, repr=False)  # for pprint
            body.setdefault("__repr__", _shown)
            if eq:
                body["__eq__"], hashed = _by(k for k, it in fields.given.items() if it.compare)
                body.setdefault("__hash__", hashed if frozen else None)
            return type(cls)(cls.__name__, cls.__bases__, body)

        return made


_REQUIRED: dataclasses.Field[Any] = dataclasses.field()
"""The field of every name that is annotated and has no default."""


class _Fields:
    """The fields of a class by name: its ``own``, and all that its values are ``given``. As an
    attribute it is what the standard library knows a dataclass by."""

    def __init__(self, cls: type) -> None:
        self.own: Mapping[str, Any] = inspect.get_annotations(cls)
        self.kinds: dict[str, Any] = {}
        self.given: dict[str, dataclasses.Field[Any]] = {}
        for base in cls.__mro__[:0:-1]:
            if _FIELDS in base.__dict__:
                self.kinds |= base.__dict__[_FIELDS].kinds
                self.given |= base.__dict__[_FIELDS].given
        self.kinds |= self.own
        self.given |= {name: _field(cls, name) for name in self.own}
        self._named: Mapping[str, Any] | None = None

    def __get__(self, value: object, cls: type) -> Mapping[str, Any]:
        """The fields, with what only ``fields`` and ``replace`` need to know of them."""
        if self._named is None:
            # Without a docstring it would be given one, of a signature that is long to find.
            body: dict[str, Any] = {k: it for k, it in self.given.items() if it is not _REQUIRED}
            body |= {"__annotations__": self.kinds, "__module__": cls.__module__, "__doc__": "_"}
            make = dataclasses.dataclass(init=False, repr=False, eq=False)
            self._named = getattr(make(type("_", (), body)), _FIELDS)
        return self._named


def _field(cls: type, name: str) -> dataclasses.Field[Any]:
    declared = cls.__dict__.get(name, _REQUIRED)
    if isinstance(declared, dataclasses.Field):
        return declared
    return dataclasses.field(default=declared)  # type: ignore[no-any-return]


def _init(fields: _Fields) -> Any:
    """The ``__init__`` of a class. It fills the first values field by field, and then compiles the
    one that makes all others: most classes make a handful in a run, not worth a compilation."""
    names = [name for name, it in fields.given.items() if it.init]
    made = 0

    def first(self: Any, *given: Any, **named: Any) -> None:
        nonlocal made
        made += 1
        if made <= _FEW and _filled(self, fields.given, names, given, named):
            return
        cls = next(it for it in type(self).__mro__ if it.__dict__.get(_FIELDS) is fields)
        compiled = _compiled(cls, fields.given)
        setattr(cls, "__init__", compiled)  # noqa: B010 - mypy lets nobody assign a method
        compiled(self, *given, **named)  # which also raises where the arguments do not fit

    return first


def _filled(
    value: Any,
    fields: Mapping[str, dataclasses.Field[Any]],
    names: Sequence[str],
    given: Sequence[Any],
    named: Mapping[str, Any],
) -> bool:
    """Sets the fields of a value as its class is called; False where the arguments do not fit."""
    left = names[len(given) :]
    if len(given) > len(names) or not named.keys() <= set(left):
        return False
    for name, it in zip(names, given, strict=False):
        setattr(value, name, it)
    for name in left:
        field = fields[name]
        if name in named:
            setattr(value, name, named[name])
        elif field.default is not dataclasses.MISSING:
            setattr(value, name, field.default)
        elif field.default_factory is not dataclasses.MISSING:
            setattr(value, name, field.default_factory())
        else:
            return False
    if hasattr(value, "__post_init__"):
        value.__post_init__()
    return True


def _compiled(cls: type, fields: Mapping[str, dataclasses.Field[Any]]) -> Any:
    """The function that sets each field in turn, as a dataclass has it; one that is no parameter is
    left to ``__post_init__``."""
    names: dict[str, Any] = {"MISSING": dataclasses.MISSING}
    given, body = ["self"], []
    for name, it in fields.items():
        if not it.init:
            continue
        default, value = "", name
        if it.default is not dataclasses.MISSING:
            default = f"=default_{name}"
            names[f"default_{name}"] = it.default
        elif it.default_factory is not dataclasses.MISSING:
            default, value = "=MISSING", f"make_{name}() if {name} is MISSING else {name}"
            names[f"make_{name}"] = it.default_factory
        given.append(name + default)
        body.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(given)}):\n " + "\n ".join(body or ["pass"]), names)
    names["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return names["__init__"]


def _by(names: Iterable[str]) -> tuple[Any, Any]:
    """The equality of values by their fields of these names, and their hash."""
    compared = tuple(names)
    values = attrgetter(*compared) if compared else lambda _: ()

    def equal(one: Any, other: Any) -> Any:
        if one.__class__ is not other.__class__:
            return NotImplemented
        return values(one) == values(other)

    return equal, lambda it: hash(values(it))


def _shown(value: Any) -> str:
    """As a dataclass shows itself."""
    names = (it.name for it in dataclasses.fields(value) if it.repr)
    shown = ", ".join(f"{name}={getattr(value, name)!r}" for name in names)
    return f"{type(value).__qualname__}({shown})"


__all__ = ["dataclass"]
