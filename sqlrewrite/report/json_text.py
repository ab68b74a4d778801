"""The parts of the JSON reports: attributes of values by name, and the whole as text."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any


def attributes(it: object, names: str) -> dict[str, Any]:
    """Attributes of a value, in the order of ``names``; an enumeration as its value."""
    found = {name: getattr(it, name) for name in names.split()}
    return {name: it.value if isinstance(it, Enum) else it for name, it in found.items()}


def dumps(whole: object) -> str:
    """A report as it is written, with a newline at its end: in ASCII, which any console carries;
    bytes that are not UTF-8 as the lone surrogates of Python's ``surrogateescape``."""
    return json.dumps(whole, indent=2) + "\n"
