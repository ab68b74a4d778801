"""Turns msgspec's message about a value of a wrong type into words for the author of the file."""

from __future__ import annotations

import re

_MESSAGE = re.compile(r"(?P<message>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
_TYPES = re.compile(r"`([a-z |]+)`")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a fraction",
    "int": "a whole number",
    "null": "null",
    "object": "an object",
    "str": "a string",
}


_PHRASES = (
    (re.compile(r"Object missing required field (.*)"), r"\1 is missing"),
    (re.compile(" of length >= 1"), " that is not empty"),
    (re.compile(" >= 0"), ", 0 or more"),
)


def type_error(error: Exception) -> tuple[str, str]:
    """The path to the value, empty for the whole, and in words what was expected there."""
    found = _MESSAGE.fullmatch(str(error))
    message, path = (found["message"], found["path"]) if found else (str(error), None)
    message = _TYPES.sub(_worded, message)
    for phrase, plain in _PHRASES:
        message = phrase.sub(plain, message)
    return path or "", message[:1].lower() + message[1:]


def _worded(types: re.Match[str]) -> str:
    """``str | int`` as "a string or a whole number"; null, for what is not there, is left out."""
    names = [name for name in types[1].split(" | ") if name != "null"] or ["null"]
    words = [_WORDS[name] for name in names if name in _WORDS]
    return " or ".join(words) if len(words) == len(names) else f'"{types[1]}"'
