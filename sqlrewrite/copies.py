"""Changed copies of frozen values.

What the package hands around inside are msgspec's Structs: such a class is defined in a fortieth of
the time of a dataclass, and a start defines 160. What callers get, settings, and expressions, which
may be nested without a limit, are dataclasses.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, cast

from msgspec import Struct, structs

V = TypeVar("V")


def replace(value: V, /, **changes: Any) -> V:
    """A copy of a Struct or dataclass with other values in these fields, as ``copy.replace`` makes
    one from Python 3.13 on."""
    if isinstance(value, Struct):
        return cast("V", structs.replace(value, **changes))
    return cast("V", dataclasses.replace(cast("Any", value), **changes))
