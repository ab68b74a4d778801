"""What the JSON reports are made of: attributes of values by their names, and the whole as text."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any


def parts(it: object, names: str) -> dict[str, Any]:
    """Attributes of a value, in the order of their names; of an enumeration its value."""
    found = {name: getattr(it, name) for name in names.split()}
    return {name: it.value if isinstance(it, Enum) else it for name, it in found.items()}


def text(whole: object) -> str:
    """A report as it is written, with a newline at its end: in ASCII, which any console carries;
    bytes that are not UTF-8 as the lone surrogates of Python's ``surrogateescape``."""
    return json.dumps(whole, indent=2) + "\n"
