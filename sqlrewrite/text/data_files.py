"""Reads TOML files, and describes wrong values in words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from sqlrewrite.results import ConfigError

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


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The values in a file. Raises ConfigError if it cannot be read or is not TOML."""
    import tomllib  # a slow import

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def nearest(word: str, names: Iterable[str], likeness: float = 0.6) -> str | None:
    """The name most similar to a word, for "did you mean …?"; None if none is. ``likeness`` is the
    cutoff of ``difflib``."""
    from difflib import get_close_matches  # a slow import, needed only for a misspelt word

    return next(iter(get_close_matches(word, list(names), 1, likeness)), None)


def type_error(error: Exception) -> tuple[str, str]:
    """The path of a wrong value, empty for the whole file, and the expected type in words."""
    match = _MESSAGE.fullmatch(str(error))
    message, path = (match["message"], match["path"]) if match else (str(error), None)
    message = _TYPES.sub(_worded, message)
    for phrase, plain in _PHRASES:
        message = phrase.sub(plain, message)
    return path or "", message[:1].lower() + message[1:]


def _worded(types: re.Match[str]) -> str:
    """``str | int`` as "a string or a whole number"; ``null`` is left out."""
    names = [name for name in types[1].split(" | ") if name != "null"] or ["null"]
    words = [_WORDS[name] for name in names if name in _WORDS]
    return " or ".join(words) if len(words) == len(names) else f'"{types[1]}"'
