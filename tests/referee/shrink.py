"""The smallest text that still fails: what a person can read of a random query.

In: a text, and whether a text fails. Out: a text that fails, of which nothing more can be taken
away. Words are taken away in runs, long runs first, and only what keeps brackets in pairs; a run in
brackets is also put in the place of its brackets' whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

WORD = re.compile(
    r"""--[^\n]*\n?|/\*.*?\*/|[rR]?'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\d+\.\d+\w*"""
    r"""|\w+|\s+|[<>=!|:]+|.""",
    re.DOTALL,
)
PAIRS = {"(": ")", "[": "]"}
TRIES = 250
"""Each is a query or two; a text that is not small by then is small enough."""


def shrunk(text: str, fails: Callable[[str], bool]) -> str:
    """A part of the text that fails, as small as some hundred tries make it."""
    words = [word for word in WORD.findall(text) if word.strip()]
    plain = [word for word in words if not word.startswith(("--", "/*"))]
    words = plain if fails(" ".join(plain)) else words
    tries = 0
    size = max(1, len(words) // 2)
    while size and tries < TRIES:
        smaller = None
        for candidate in _smaller(words, size):
            tries += 1
            if fails(" ".join(candidate)):
                smaller = candidate
                break
            if tries >= TRIES:
                break
        if smaller is None:
            size //= 2
        else:
            words = smaller
            size = min(size, len(words) // 2 or 1)
    return " ".join(words) if fails(" ".join(words)) else text


def _smaller(words: list[str], size: int) -> Iterator[list[str]]:
    for at in range(0, len(words) - size + 1, max(1, size // 2)):
        if _paired(words[at : at + size]):
            yield words[:at] + words[at + size :]
    if size <= 2:
        for at, end in _brackets(words):
            yield words[:at] + words[at + 1 : end] + words[end + 1 :]
            yield words[:at] + words[end + 1 :]


def _brackets(words: list[str]) -> Iterator[tuple[int, int]]:
    open_: list[int] = []
    for at, word in enumerate(words):
        if word in PAIRS:
            open_.append(at)
        elif word in PAIRS.values() and open_:
            yield open_.pop(), at


def _paired(words: list[str]) -> bool:
    """Whether each bracket among the words has its partner there."""
    closing: list[str] = []
    for word in words:
        if word in PAIRS:
            closing.append(PAIRS[word])
        elif word in PAIRS.values() and (not closing or closing.pop() != word):
            return False
    return not closing
